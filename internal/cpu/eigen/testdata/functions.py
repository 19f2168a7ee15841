"""Writes functions.json: logarithms, square roots and exponentials of hard matrices.

    python internal/cpu/eigen/testdata/functions.py

Made with mpmath 1 at 120 digits from the matrices as rounded to float64. "scipy" is the error of SciPy 1,
relative to the largest element, "rounding" what changes of elements by a rounding make of the result.
"""
import json
import os
import warnings

import mpmath as mp
import numpy as np
import scipy.linalg as sl

warnings.simplefilter("ignore")
mp.mp.dps = 120
r = np.random.default_rng(32)
out = []


def definite(n):
    x = r.standard_normal((n, n))
    return x @ x.T / n + np.eye(n)


def jordan(n, value, above):
    return value * np.eye(n) + above * np.eye(n, k=1)


def rotation(angle):
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def mixed(x):
    """A similar matrix that is not triangular."""
    q, _ = np.linalg.qr(r.standard_normal(x.shape))
    return q @ x @ q.T


powers = np.arange(6)
invertible = {
    "columns 2^-4j": definite(6) * 2.0 ** (-4 * powers),
    "columns 2^-8j": definite(6) * 2.0 ** (-8 * powers),
    "columns 2^4j": definite(6) * 2.0 ** (4 * powers),
    "rows 2^-4j": definite(6) * 2.0 ** (-4 * powers)[:, None],
    "rows 2^8j": definite(6) * 2.0 ** (8 * powers)[:, None],
    "both 2^-4j": definite(6) * 2.0 ** (-4 * powers) * 2.0 ** (-4 * powers)[:, None],
    "similar to graded": definite(6) * 2.0 ** (-6 * powers) * 2.0 ** (6 * powers)[:, None],
    "jordan block": jordan(6, 1, 1),
    "jordan block, far above": jordan(5, 1, 1e3),
    "jordan block, mixed": mixed(jordan(4, 2, 1)),
    "nearly defective": mixed(np.array([[1, 1, 0], [0, 1 + 1e-7, 1], [0, 0, 3.0]])),
    "nearly equal, far above": np.array([[1, 1e6, 1e3], [0, 1 + 1e-7, 1e5], [0, 0, 1 - 1e-6]]),
    "near the identity": np.eye(5) + 1e-9 * r.standard_normal((5, 5)),
    "rotation": sl.block_diag(rotation(0.3), rotation(3.14)) @ np.eye(4),
    "rotations that are equal": mixed(sl.block_diag(rotation(2), rotation(2), 1.5)),
    "near the negative axis": mixed(sl.block_diag(rotation(np.pi - 1e-6), 2)),
    "pairs, coupled": np.block([[rotation(1), 50 * r.standard_normal((2, 2))], [np.zeros((2, 2)), 1e-4 * rotation(2)]]),
    "huge": definite(4) * 1e250,
    "complex graded": (definite(5) + 1j * r.standard_normal((5, 5)) / 4) * 2.0 ** (-5 * powers[:5]),
    "complex triangular": np.triu(r.standard_normal((5, 5)) + 1j * r.standard_normal((5, 5))) + 2 * np.eye(5),
    "triangular, from 1 to 1e-12": np.triu(r.standard_normal((5, 5)), 1) + np.diag([1, 1e-3, 1e-6, 1e-9, 1e-12]),
    "triangular, from 1e-12 to 1": np.triu(r.standard_normal((5, 5)), 1) + np.diag([1e-12, 1e-9, 1e-6, 1e-3, 1]),
}
exponents = {
    "columns 2^-4j": 4 * definite(6) * 2.0 ** (-4 * powers),
    "rows 2^4j": r.standard_normal((6, 6)) * 2.0 ** (-4 * powers)[::-1, None],
    "similar to graded": r.standard_normal((6, 6)) * 2.0 ** (-6 * powers) * 2.0 ** (6 * powers)[:, None],
    "nilpotent": np.triu(1e3 * r.standard_normal((6, 6)), 1),
    "nilpotent, mixed": mixed(np.triu(10 * r.standard_normal((5, 5)), 1)),
    "jordan block": jordan(6, -2, 1e4),
    "jordan block, lower": jordan(6, -2, 1e4).T,
    "nearly defective": mixed(np.array([[1, 1, 0], [0, 1 + 1e-7, 1], [0, 0, 3.0]])),
    "overscaled": np.array([[1, 1e6], [0, -1]]),
    "overscaled, wide": np.array([[-1, 1e8, 1e15], [0, 2, 1e7], [0, 0, -300.0]]),
    "decays": -100 * definite(5),
    "decays by thousands": np.diag([-1e3, -2, -1e4, -5.0]) + np.triu(100 * r.standard_normal((4, 4)), 1),
    "rotations": 1e3 * np.kron(np.eye(2), np.array([[0, 1.0], [-1, 0]])) + np.triu(r.standard_normal((4, 4)), 2),
    "stochastic": 300 * (lambda p: p / p.sum(1, keepdims=True) - np.eye(5))(r.random((5, 5))),
    "grows": 120 * definite(4),
    "complex triangular": np.triu(30 * r.standard_normal((5, 5)) + 30j * r.standard_normal((5, 5))),
    "complex graded": (definite(5) + 1j * r.standard_normal((5, 5)) / 4) * 2.0 ** (5 * powers[:5]) / 2**14,
    "tiny": 1e-200 * r.standard_normal((4, 4)),
}


def exact(a):
    return mp.matrix(a.tolist())


def rounded(x, a):
    y = np.array([[complex(x[i, j]) for j in range(x.cols)] for i in range(x.rows)])
    return y if np.iscomplexobj(a) else y.real


def error(got, want):
    return float(abs(got - want).max() / abs(want).max())


def enc(x):
    return np.stack([x.real, x.imag], -1).ravel().tolist() if np.iscomplexobj(x) else x.ravel().tolist()


def log(a):
    # Square roots to the identity, then a series.
    x, k, one = a, 0, mp.eye(a.rows)
    while mp.mnorm(x - one, 1) > mp.mpf("0.01"):
        x, k = root(x), k + 1
    y = x - one
    s, p = y * 0, one
    for i in range(1, 90):
        p = p * y
        s += p * ((-1) ** (i + 1) / mp.mpf(i))
    return s * 2**k


def root(a):
    # Newton's product form of Denman and Beavers, with scaling, at many digits.
    n = a.rows
    m, x = a.copy(), a.copy()
    for _ in range(400):
        mu = abs(mp.det(m)) ** (mp.mpf(-1) / (2 * n)) if mp.mnorm(m - mp.eye(n), 1) > mp.mpf("0.01") else mp.mpf(1)
        inv = m**-1
        x = mu * x * (mp.eye(n) + inv / mu**2) / 2
        m = (mp.eye(n) + (mu**2 * m + inv / mu**2) / 2) / 2
        if mp.mnorm(m - mp.eye(n), 1) < mp.mpf(10) ** (-mp.mp.dps + 40):
            break
    assert mp.mnorm(x * x - a, 1) < mp.mpf(10) ** -40 * mp.mnorm(a, 1)
    return x


def exp(a):
    k = max(0, int(mp.log(mp.mnorm(a, 1) + 1, 2)) + 8)
    y = a / 2**k
    s = p = mp.eye(a.rows)
    for i in range(1, 60):
        p = p * y / i
        s = s + p
    for _ in range(k):
        s = s * s
    return s


for what, cases, f, theirs in (("log", invertible, log, sl.logm), ("sqrt", invertible, root, sl.sqrtm), ("exp", exponents, exp, sl.expm)):
    for name, a in cases.items():
        want = rounded(f(exact(a)), a)
        try:
            scipy = error(theirs(a), want)
        except Exception:
            scipy = 1.0
        scipy = scipy if np.isfinite(scipy) else 1.0
        rounding = 0
        for _ in range(3):
            near = a * (1 + r.choice([-1, 1], a.shape) * 2.0**-44)
            rounding = max(rounding, error(rounded(f(exact(near)), a), want) * 2.0**-9)
        print(f"{what:5} {name:30} {scipy:.1e} {rounding:.1e}")
        out.append({"function": what, "name": name, "n": len(a), "complex": np.iscomplexobj(a), "a": enc(a), "want": enc(want), "scipy": scipy, "rounding": rounding})

path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "functions.json")
with open(path, "w") as f:
    json.dump(out, f, separators=(",", ":"))
    f.write("\n")
