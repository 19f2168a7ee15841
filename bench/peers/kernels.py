"""Functions of a user, compiled: stencils, an escape time, prices, moments, running sums.

For each work its inputs and its formulations by library; every one allocates its result anew. Checks
leave out the border of a stencil, which libraries treat in different ways.
"""
import ctypes
import os
from functools import lru_cache
from pathlib import Path

import numpy as np

from form import Form, Ready, available
from inputs import random, summary, uniform

INNER = {"jacobi": 1, "mean 3x3": 1, "7 points": 1, "mean of 31": 15}  # reach of the stencils
RANK = {"jacobi": 2, "mean 3x3": 2, "7 points": 3, "mean of 31": 1, "jacobi 100 steps": 2}


def axis(n, dtype, lo, width):
    return (lo + np.arange(n) * width / n).astype(dtype)


@lru_cache(maxsize=1)  # the formulations of a row share their inputs
def arrays(case, n, dtype):
    if case in RANK:
        return {"a": random((n,) * RANK[case], 1, dtype)}
    if case in ("mandelbrot", "cold kernel"):
        return {"x": axis(n, dtype, -2, 3), "y": axis(n, dtype, -1.5, 3)}
    if case == "black-scholes":
        return {k: uniform(n, seed, *span, dtype) for k, seed, span in (("s", 1, (5, 30)), ("k", 2, (1, 100)), ("t", 3, (0.25, 10)))}
    if case.startswith("mean and variance"):
        return {"a": random((n, n), 1, dtype)}
    if case == "prefix sum":
        return {"a": random(n, 1, dtype)}
    return {"x": uniform(n, 1, -1, 1, dtype), "y": uniform(n, 2, -1, 1, dtype)}


def checked(case, results):
    """The summaries of a result or of several, without the border of a stencil."""
    reach = INNER.get(case, 0)
    out = []
    for r in results if isinstance(results, (tuple, list)) else (results,):
        r = np.asarray(r)
        if reach:
            r = r.reshape(r.shape[-RANK[case]:])[(slice(reach, -reach),) * RANK[case]]
        out += summary(r)
    return out


def ready(case, text, ns):
    def check():
        exec(text if "r = " in text else f"r = {text}", ns)
        return checked(case, ns.pop("r"))

    return Ready(text, ns, check)


# Numba: sources of functions that allocate and return their results. prange is one thread's
# range on one thread.

NUMBA = {
    "mandelbrot": """
def f(x, y):
    r = np.empty((y.size, x.size), np.int32)
    for i in prange(y.size):
        for j in range(x.size):
            zr = zero
            zi = zero
            c = np.int32(200)
            for k in range(200):
                rr = zr * zr
                ii = zi * zi
                if rr + ii > four:
                    c = np.int32(k)
                    break
                zi = two * zr * zi + y[i]
                zr = rr - ii + x[j]
            r[i, j] = c
    return r
""",
    "jacobi": """
def f(a):
    r = np.zeros_like(a)
    for i in prange(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            r[i, j] = quarter * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])
    return r
""",
    "mean 3x3": """
def f(a):
    r = np.zeros_like(a)
    for i in prange(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            r[i, j] = (a[i - 1, j - 1] + a[i - 1, j] + a[i - 1, j + 1] + a[i, j - 1] + a[i, j] + a[i, j + 1] + a[i + 1, j - 1] + a[i + 1, j] + a[i + 1, j + 1]) * ninth
    return r
""",
    "7 points": """
def f(a):
    r = np.zeros_like(a)
    for i in prange(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            for k in range(1, a.shape[2] - 1):
                r[i, j, k] = c4 * a[i, j, k] + c1 * (a[i - 1, j, k] + a[i + 1, j, k] + a[i, j - 1, k] + a[i, j + 1, k] + a[i, j, k - 1] + a[i, j, k + 1])
    return r
""",
    "mean of 31": """
def f(a):
    r = np.zeros_like(a)
    for i in prange(15, a.size - 15):
        s = zero
        for k in range(-15, 16):
            s += a[i + k]
        r[i] = s * part31
    return r
""",
    "black-scholes": """
def f(s, k, t):
    c = np.empty_like(s)
    p = np.empty_like(s)
    for i in prange(s.size):
        root = sqrt(t[i])
        d1 = (log(s[i] / k[i]) + rate * t[i]) / (volatility * root)
        d2 = d1 - volatility * root
        present = k[i] * exp(-interest * t[i])
        n1 = half + half * erf(d1 * root_half)
        n2 = half + half * erf(d2 * root_half)
        c[i] = s[i] * n1 - present * n2
        p[i] = present * (one - n2) - s[i] * (one - n1)
    return c, p
""",
    "mean and variance axis 1": """
def f(a):
    mean = np.empty(a.shape[0], a.dtype)
    var = np.empty(a.shape[0], a.dtype)
    for i in prange(a.shape[0]):
        s = zero
        q = zero
        for j in range(a.shape[1]):
            s += a[i, j]
            q += a[i, j] * a[i, j]
        mean[i] = s / a.shape[1]
        var[i] = q / a.shape[1] - mean[i] * mean[i]
    return mean, var
""",
    "mean and variance axis 0": """
def f(a):
    mean = np.empty(a.shape[1], a.dtype)
    var = np.empty(a.shape[1], a.dtype)
    for b in prange(a.shape[1] // 512):
        s = np.zeros(512, a.dtype)
        q = np.zeros(512, a.dtype)
        for i in range(a.shape[0]):
            for j in range(512):
                v = a[i, b * 512 + j]
                s[j] += v
                q[j] += v * v
        for j in range(512):
            mean[b * 512 + j] = s[j] / a.shape[0]
            var[b * 512 + j] = q[j] / a.shape[0] - mean[b * 512 + j] * mean[b * 512 + j]
    return mean, var
""",
    "prefix sum": """
def f(a):
    r = np.empty_like(a)
    s = zero
    for i in range(a.size):
        s += a[i]
        r[i] = s
    return r
""",
    "kernel of 16": """
def f(x, y):
    r = np.empty_like(x)
    for i in range(x.size):
        r[i] = two * x[i] + y[i]
    return r
""",
    "jacobi 100 steps": """
def f(a):
    r = a.copy()
    s = a.copy()
    for n in range(100):
        for i in prange(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                s[i, j] = quarter * (r[i - 1, j] + r[i + 1, j] + r[i, j - 1] + r[i, j + 1])
        r, s = s, r
    return r
""",
}

# numba.stencil: the kernel, called from a compiled function.
STENCIL = {
    "jacobi": "quarter * (a[-1, 0] + a[1, 0] + a[0, -1] + a[0, 1])",
    "mean 3x3": "(a[-1, -1] + a[-1, 0] + a[-1, 1] + a[0, -1] + a[0, 0] + a[0, 1] + a[1, -1] + a[1, 0] + a[1, 1]) * ninth",
    "7 points": "c4 * a[0, 0, 0] + c1 * (a[-1, 0, 0] + a[1, 0, 0] + a[0, -1, 0] + a[0, 1, 0] + a[0, 0, -1] + a[0, 0, 1])",
    "mean of 31": "(" + " + ".join(f"a[{k}]" for k in range(-15, 16)) + ") * part31",
}


def constants(dtype):
    T = np.dtype(dtype).type
    return {"zero": T(0), "one": T(1), "two": T(2), "four": T(4), "half": T(0.5), "quarter": T(0.25), "ninth": T(1 / 9), "part31": T(1 / 31),
            "c4": T(0.4), "c1": T(0.1), "rate": T(0.02 + 0.5 * 0.3 * 0.3), "interest": T(0.02), "volatility": T(0.3), "root_half": T(0.5**0.5)}  # fmt: skip


@lru_cache(maxsize=None)
def numba_compiled(case, dtype, parallel, fast, stencil):
    import math

    import numba

    ns = {"np": np, "prange": numba.prange, "sqrt": math.sqrt, "log": math.log, "exp": math.exp, "erf": math.erf} | constants(dtype)
    if stencil:
        exec(f"def k(a): return {STENCIL[case]}", ns)
        ns["k"] = numba.stencil(ns["k"])
        exec("def f(a): return k(a)", ns)
    else:
        exec(NUMBA[case], ns)
    return numba.njit(fastmath=fast, parallel=parallel)(ns["f"])


def numba_form(case, fast=False, stencil=False):
    def make(n, dtype, threads):
        inputs = arrays(case, n, dtype)
        f = numba_compiled(case, dtype, threads > 1 and case != "kernel of 16", fast, stencil)
        return ready(case, f"f({', '.join(inputs)})", inputs | {"f": f})

    return make


def numba_cold(n, dtype, threads):
    """The whole of it: compiled from source, and run once."""
    import numba

    def once(x, y):
        ns = {"np": np, "prange": numba.prange} | constants(dtype)
        exec(NUMBA["mandelbrot"], ns)
        return numba.njit(ns["f"])(x, y)

    return Ready("once(x, y)", arrays("cold kernel", 4, dtype) | {"once": once})


# NumPy and SciPy; a text with r = leaves its result there.

NUMPY = {
    "mandelbrot": [
        "r = np.zeros((y.size, x.size), np.int32); live = np.arange(r.size); c = np.ravel(x[None, :] + 1j * y[:, None]); z = np.zeros_like(c)\n"
        "for k in range(200):\n"
        "    z = z * z + c; stay = z.real * z.real + z.imag * z.imag <= 4; r.ravel()[live] = k + 1; live = live[stay]; z = z[stay]; c = c[stay]"
    ],
    "jacobi": [
        "r = np.zeros_like(a); r[1:-1, 1:-1] = 0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])",
        "r = np.zeros_like(a); t = r[1:-1, 1:-1]; np.add(a[:-2, 1:-1], a[2:, 1:-1], out=t); t += a[1:-1, :-2]; t += a[1:-1, 2:]; t *= 0.25",
    ],
    "mean 3x3": [
        "r = np.zeros_like(a); t = a[:-2] + a[1:-1]; t += a[2:]; u = r[1:-1, 1:-1]; np.add(t[:, :-2], t[:, 1:-1], out=u); u += t[:, 2:]; u *= 1 / 9",
    ],
    "7 points": [
        "r = np.zeros_like(a); t = r[1:-1, 1:-1, 1:-1]; np.add(a[:-2, 1:-1, 1:-1], a[2:, 1:-1, 1:-1], out=t); t += a[1:-1, :-2, 1:-1]; t += a[1:-1, 2:, 1:-1]; "
        "t += a[1:-1, 1:-1, :-2]; t += a[1:-1, 1:-1, 2:]; t *= 0.1; t += 0.4 * a[1:-1, 1:-1, 1:-1]",
    ],
    "mean of 31": [
        "r = np.zeros_like(a); s = np.cumsum(a, dtype='float64'); r[15] = s[30] / 31; r[16:-15] = (s[31:] - s[:-31]) * (1 / 31)",
        "r = np.convolve(a, np.full(31, 1 / 31, a.dtype), 'same')",
    ],
    "mean and variance axis 0": ["r = (a.mean(0), a.var(0))", "m = a.mean(0); r = (m, np.einsum('ij,ij->j', a, a) / a.shape[0] - m * m)"],
    "mean and variance axis 1": ["r = (a.mean(1), a.var(1))", "m = a.mean(1); r = (m, np.einsum('ij,ij->i', a, a) / a.shape[1] - m * m)"],
    "prefix sum": ["np.cumsum(a)"],
    "kernel of 16": ["2 * x + y"],
    "jacobi 100 steps": [
        "r, s = a.copy(), a.copy()\n"
        "for _ in range(100):\n"
        "    t = s[1:-1, 1:-1]; np.add(r[:-2, 1:-1], r[2:, 1:-1], out=t); t += r[1:-1, :-2]; t += r[1:-1, 2:]; t *= 0.25; r, s = s, r"
    ],
}

PRICES = """root = {m}.sqrt(t); d1 = ({m}.log(s / k) + (0.02 + 0.5 * 0.3 * 0.3) * t) / (0.3 * root); d2 = d1 - 0.3 * root; present = k * {m}.exp(-0.02 * t)
n1 = 0.5 + 0.5 * {erf}(d1 * 0.7071067811865476); n2 = 0.5 + 0.5 * {erf}(d2 * 0.7071067811865476)
r = (s * n1 - present * n2, present * (1 - n2) - s * (1 - n1))"""

SCIPY = {
    "jacobi": ["ndimage.convolve(a, np.array([[0, 0.25, 0], [0.25, 0, 0.25], [0, 0.25, 0]], a.dtype), mode='constant')"],
    "mean 3x3": ["ndimage.uniform_filter(a, 3, mode='constant')"],
    "7 points": ["ndimage.convolve(a, star.astype(a.dtype), mode='constant')"],
    "mean of 31": ["ndimage.uniform_filter1d(a, 31, mode='constant')"],
    "black-scholes": [PRICES.format(m="np", erf="special.erf")],
}


def star():
    k = np.zeros((3, 3, 3))
    k[1, 1, :] = k[1, :, 1] = k[:, 1, 1] = 0.1
    k[1, 1, 1] = 0.4
    return k


def numpy_form(case, text):
    return lambda n, dtype, threads: ready(case, text, arrays(case, n, dtype) | {"np": np})


def scipy_form(case, text):
    def make(n, dtype, threads):
        from scipy import ndimage, special

        return ready(case, text, arrays(case, n, dtype) | {"np": np, "ndimage": ndimage, "special": special, "star": star()})

    return make


# PyTorch: texts; those of slices leave the border out.

TORCH = {
    "jacobi": ["0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])", "F.conv2d(a[None, None], w, padding=1)"],
    "mean 3x3": [
        "(a[:-2, :-2] + a[:-2, 1:-1] + a[:-2, 2:] + a[1:-1, :-2] + a[1:-1, 1:-1] + a[1:-1, 2:] + a[2:, :-2] + a[2:, 1:-1] + a[2:, 2:]) * (1 / 9)",
        "F.conv2d(a[None, None], w, padding=1)",
        "F.avg_pool2d(a[None, None], 3, 1, 1)",
    ],
    "7 points": [
        "0.4 * a[1:-1, 1:-1, 1:-1] + 0.1 * (a[:-2, 1:-1, 1:-1] + a[2:, 1:-1, 1:-1] + a[1:-1, :-2, 1:-1] + a[1:-1, 2:, 1:-1] + a[1:-1, 1:-1, :-2] + a[1:-1, 1:-1, 2:])",
        "F.conv3d(a[None, None], w, padding=1)",
    ],
    "mean of 31": ["F.conv1d(a[None, None], w, padding=15)", "F.avg_pool1d(a[None, None], 31, 1, 15)"],
    "black-scholes": [PRICES.format(m="torch", erf="torch.erf")],
    "mean and variance axis 0": ["torch.var_mean(a, 0, correction=0)[::-1]"],
    "mean and variance axis 1": ["torch.var_mean(a, 1, correction=0)[::-1]"],
    "prefix sum": ["torch.cumsum(a, 0)"],
    "kernel of 16": ["torch.add(y, x, alpha=2)", "2 * x + y"],
}
WEIGHTS = {
    "jacobi": lambda: [[0, 0.25, 0], [0.25, 0, 0.25], [0, 0.25, 0]],
    "mean 3x3": lambda: [[1 / 9] * 3] * 3,
    "7 points": lambda: star().tolist(),
    "mean of 31": lambda: [1 / 31] * 31,
}


@lru_cache(maxsize=1)
def tensors(case, n, dtype):
    import torch

    ns = {k: torch.from_numpy(v).clone() for k, v in arrays(case, n, dtype).items()}
    if case in WEIGHTS:
        ns["w"] = torch.tensor(WEIGHTS[case](), dtype=getattr(torch, dtype))[None, None]
    return ns | {"torch": torch, "F": torch.nn.functional}


def uncut(case, text):
    """Results of slices have no border, the others' is cut off for the check."""
    return case in RANK and "[:-2" in text


def torch_form(case, text):
    def make(n, dtype, threads):
        r = ready(case, text, dict(tensors(case, n, dtype)))
        if uncut(case, text):
            r.check = lambda: summary(eval(text, r.ns).numpy())
        return r

    return make


@lru_cache(maxsize=None)
def torch_compiled(case):
    import torch

    ns = {"torch": torch, "F": torch.nn.functional}
    names = "s, k, t" if case == "black-scholes" else "a"
    text = TORCH[case][0]
    body = "\n    ".join(text.splitlines()) + "\n    return r" if "r = " in text else f"return {text}"
    exec(f"def f({names}):\n    {body}", ns)
    return torch.compile(ns["f"])


def torch_compile_form(case):
    def make(n, dtype, threads):
        inputs = {k: v for k, v in tensors(case, n, dtype).items() if k in arrays(case, n, dtype)}
        ns = inputs | {"f": torch_compiled(case)}
        r = ready(case, f"f({', '.join(inputs)})", ns)
        if uncut(case, TORCH[case][0]):
            r.check = lambda: summary(ns["f"](*inputs.values()).numpy())
        return r

    return make


# C, compiled by bench/run: one thread.

C = {"mandelbrot": ("mandelbrot", "mandelbrot_blocks"), "jacobi": ("jacobi",), "mean 3x3": ("mean_9",), "7 points": ("seven",), "mean of 31": ("mean_31",)}


def c_library():
    path = os.environ.get("BENCH_C_LIBRARY", "")
    return path if Path(path).is_file() else None


def c_form(case, name):
    def make(n, dtype, threads):
        if threads > 1:
            raise ValueError("not for two threads: C is measured on one")
        f = getattr(ctypes.CDLL(c_library()), f"{name}_{'float' if dtype == 'float32' else 'double'}")
        f.restype, inputs = None, arrays(case, n, dtype)
        pointers = [ctypes.c_void_p(a.ctypes.data) for a in inputs.values()]
        kind = np.int32 if case == "mandelbrot" else dtype
        shape = (n, n) if case == "mandelbrot" else inputs["a"].shape

        def call():
            r = np.empty(shape, kind)
            f(*pointers, ctypes.c_void_p(r.ctypes.data), ctypes.c_size_t(n))
            return r

        return ready(case, "call()", {"call": call, "keep": inputs})

    return make


def forms(case):
    if case == "cold kernel":
        yield Form("numba njit", "numba", numba_cold)
        return
    for k, text in enumerate(NUMPY.get(case, ())):
        yield Form("numpy" + (f" {k + 1}" if k else ""), "numpy", numpy_form(case, text))
    if available("scipy"):
        for text in SCIPY.get(case, ()):
            yield Form("scipy", "scipy", scipy_form(case, text))
    yield Form("numba", "numba", numba_form(case))
    yield Form("numba fastmath", "numba", numba_form(case, fast=True))
    if case in STENCIL:
        yield Form("numba.stencil", "numba", numba_form(case, stencil=True))
    counts = case != "black-scholes"  # whose bar names Numba and NumPy
    for k, text in enumerate(TORCH.get(case, ())):
        yield Form("torch" + (f" {k + 1}" if k else ""), "torch", torch_form(case, text), counts=counts)
    if case in TORCH and case not in ("kernel of 16", "mean of 31"):
        yield Form("torch.compile", "torch", torch_compile_form(case), counts=counts, slow_start=True)
    if c_library():
        for name in C.get(case, ()):
            yield Form("gcc" if "blocks" not in name else "gcc, blocks", "gcc", c_form(case, name), counts=False)


REGISTRY = dict.fromkeys([*NUMBA, "cold kernel"], forms)
