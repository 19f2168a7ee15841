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

path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "vectors.json")
with open(path, "w") as f:
    json.dump(out, f, separators=(",", ":"))
    f.write("\n")
