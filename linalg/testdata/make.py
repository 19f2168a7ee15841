"""Writes vectors.json: matrices, and what NumPy, SciPy and PyTorch make of them.

    python linalg/testdata/make.py

Made with numpy 2, scipy 1, torch 2. Numbers are float64; a complex array is a list of pairs under "c".
"""
import json
import os

import numpy as np
import scipy.linalg as sl
import torch

r = np.random.default_rng(32)
out = {}


def enc(x):
    x = np.asarray(x)
    if np.iscomplexobj(x):
        return {"shape": list(x.shape), "c": np.stack([x.real, x.imag], -1).ravel().tolist()}
    return {"shape": list(x.shape), "x": x.astype(float).ravel().tolist()}


def put(name, args, results):
    out[name] = {"args": [enc(a) for a in args], "results": [enc(a) for a in results]}


def general(*shape, c=False):
    x = np.round(r.standard_normal(shape), 3)
    return x + 1j * np.round(r.standard_normal(shape), 3) if c else x


def definite(*shape, c=False):
    x = general(*shape, c=c)
    return x @ np.conj(np.swapaxes(x, -1, -2)) + shape[-1] * np.eye(shape[-1])


def grads(f, *args):
    """PyTorch's gradients of a weighted sum of the results of f."""
    ts = [torch.tensor(a, requires_grad=True) for a in args]
    ys = f(*ts)
    if not isinstance(ys, (tuple, list)):
        ys = [ys]
    loss = 0
    for k, y in enumerate(ys):
        w = torch.cos(torch.arange(y.numel(), dtype=torch.float64) * 0.7 + k).reshape(y.shape)
        loss = loss + (w * y.real).sum()
        if y.is_complex():
            loss = loss + (torch.sin(torch.arange(y.numel(), dtype=torch.float64) * 0.3 + k).reshape(y.shape) * y.imag).sum()
    return [g.numpy() for g in torch.autograd.grad(loss, ts)]


for c in (False, True):
    s = "_complex" if c else ""
    a = definite(2, 4, 4, c=c)
    put("cholesky" + s, [a], [np.linalg.cholesky(a)])
    g = grads(torch.linalg.cholesky, a)[0]  # whose diagonal has imaginary parts
    put("cholesky_grad" + s, [a], [(g + np.conj(np.swapaxes(g, -1, -2))) / 2])
    t, b = general(4, 4, c=c) + 4 * np.eye(4), general(4, 3, c=c)
    put("solve_triangular" + s, [t, b], [sl.solve_triangular(t, b), sl.solve_triangular(t, b, lower=True), sl.solve_triangular(t, b, trans="C"), sl.solve_triangular(t, b, lower=True, unit_diagonal=True)])
    put("solve_triangular_grad" + s, [t, b], grads(lambda a, b: torch.linalg.solve_triangular(a, b, upper=False), t, b))

for c in (False, True):
    s = "_complex" if c else ""
    for name, shape in (("", (2, 4, 4)), ("_tall", (5, 3)), ("_wide", (3, 5))):
        a = general(*shape, c=c)
        p, l, u = (torch.linalg.lu(torch.tensor(a)))
        put("lu" + name + s, [a], [p.numpy().real, l.numpy(), u.numpy()])
        put("lu" + name + "_grad" + s, [a], grads(lambda a: torch.linalg.lu(a)[1:], a))
        put("qr" + name + s, [a], np.linalg.qr(a))
        put("qr" + name + "_grad" + s, [a], grads(lambda a: torch.linalg.qr(a), a))
        if not (c or name == "_wide"):
            put("qr_r" + name + "_grad" + s, [a], grads(lambda a: torch.linalg.qr(a)[1], a))
    a = general(4, 3, c=c)
    put("qr_complete" + s, [a], np.linalg.qr(a, mode="complete"))
    a = general(4, 4, c=c)
    f, piv = sl.lu_factor(a)
    put("lu_factor" + s, [a], [f, piv])
    b = general(4, 2, c=c)
    put("lu_solve" + s, [f, piv, b], [sl.lu_solve((f, piv), b), sl.lu_solve((f, piv), b, trans=2)])
    a, b = general(2, 4, 4, c=c), general(4, 3, c=c)
    put("solve" + s, [a, b], [np.linalg.solve(a, b), np.linalg.solve(a, b[:, 0])])
    put("solve_grad" + s, [a, b], grads(torch.linalg.solve, a, b))
    put("inv" + s, [a], [np.linalg.inv(a), np.linalg.cond(a, 1), np.linalg.cond(a, "fro"), np.linalg.cond(a, np.inf)])
    put("inv_grad" + s, [a], grads(torch.linalg.inv, a))
    put("det" + s, [a], [np.linalg.det(a)])
    put("det_grad" + s, [a], grads(torch.linalg.det, a))
    put("slogdet" + s, [a], np.linalg.slogdet(a))
    put("slogdet_grad" + s, [a], grads(lambda a: torch.linalg.slogdet(a)[1], a))
    for name, shape in (("", (5, 3)), ("_wide", (3, 5))):
        a, b = general(*shape, c=c), general(shape[0], 2, c=c)
        x, res, rank, sv = np.linalg.lstsq(a, b)
        for method in ("", "_qr"):
          put("lstsq" + method + name + s, [a, b], [x, np.sum(np.abs(b - a @ x) ** 2, 0)])
          put("lstsq" + method + name + "_grad" + s, [a, b], grads(lambda a, b: torch.linalg.lstsq(a, b).solution if a.shape[0] >= a.shape[1] else a.mH @ torch.linalg.solve(a @ a.mH, b), a, b))
    l, b = np.linalg.cholesky(definite(4, 4, c=c)), general(4, 2, c=c)
    put("cholesky_solve" + s, [l, b], [sl.cho_solve((l, True), b), sl.cho_solve((np.conj(l.T), False), b)])
    a = general(2, 3, 4, c=c)
    put("matrix_norm" + s, [a], [np.linalg.matrix_norm(a, ord=o) for o in ("fro", 1, -1, np.inf, -np.inf)])
    put("vector_norm" + s, [a], [np.linalg.vector_norm(a), np.linalg.vector_norm(a, axis=1, ord=1), np.linalg.vector_norm(a, axis=(0, 2), ord=np.inf), np.linalg.vector_norm(a, axis=-1, ord=3, keepdims=True)])
    a = general(3, 3, c=c)
    put("matrix_power" + s, [a], [np.linalg.matrix_power(a, k) for k in (0, 1, 2, 5, -3)])
    x, y, z, w = general(4, c=c), general(4, 5, c=c), general(5, 2, c=c), general(2, c=c)
    put("multi_dot" + s, [x, y, z, w], [np.linalg.multi_dot([x, y, z, w]), np.linalg.multi_dot([y, z, w]), np.linalg.multi_dot([y, z])])
    put("kron" + s, [y, z, x], [np.kron(y, z), np.kron(x, y), np.kron(x, x)])
    r3 = general(3, c=c)
    put("toeplitz" + s, [x, r3], [sl.toeplitz(x), sl.toeplitz(x, r3), sl.hankel(x), sl.hankel(x, r3), sl.circulant(x)])
    put("vander" + s, [x], [np.vander(x), np.vander(x, 3), np.vander(x, 5, increasing=True), sl.hilbert(4)])
    put("block_diag" + s, [y, x, z], [sl.block_diag(y, x, z, 3.0)])

singular = np.array([[1.0, 2, 3], [2, 4, 6], [1, 0, 1]])
put("det_singular", [singular], [np.array(0.0)])
# of rank 2: cofactors
cof = np.array([[(-1) ** (i + j) * np.linalg.det(np.delete(np.delete(singular, i, 0), j, 1)) for j in range(3)] for i in range(3)])
put("det_singular_grad", [singular], [cof])

deficient = general(6, 2) @ general(2, 4)
b = general(6, 3)
for name, rcond in (("deficient", None), ("cut", 0.3)):
    x, _, rank, sv = np.linalg.lstsq(deficient, b, rcond=rcond)
    put("lstsq_" + name, [deficient, b], [x, np.sum((b - deficient @ x) ** 2, 0), np.array(rank), sv])
put("lstsq_deficient_grad", [deficient, b], grads(lambda a, b: torch.linalg.pinv(a) @ b, deficient, b))
a, b = general(2, 3, 6), general(2, 3)
c = general(2, 2, 3, 3)  # axes 0 and 2 go last: 2 x 3 before them
put("tensorsolve", [a, b, c], [np.linalg.tensorsolve(a, b), np.linalg.tensorsolve(c, b, axes=(0, 2))])
put("tensorsolve_grad", [a, b], grads(lambda a, b: torch.linalg.tensorsolve(a, b), a, b))
c = general(6, 3, 2)
put("tensorinv", [a, c], [np.linalg.tensorinv(a.reshape(2, 3, 3, 2)), np.linalg.tensorinv(c, ind=1)])
out["tensorinv"]["args"][0] = enc(a.reshape(2, 3, 3, 2))

path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "vectors.json")
with open(path, "w") as f:
    json.dump(out, f, separators=(",", ":"))
    f.write("\n")
