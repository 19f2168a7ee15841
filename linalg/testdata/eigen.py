"""Writes eigen.json: eigenvalues, singular values and functions of matrices by NumPy, SciPy, PyTorch and mpmath.

    python linalg/testdata/eigen.py

Made with numpy 2, scipy 1, torch 2, mpmath 1. Numbers are float64; a complex array is a list of pairs under "c".
Vectors have the signs and phases of package linalg: the first largest element is real and positive.
"""
import json
import os

import mpmath
import numpy as np
import scipy.linalg as sl
import torch

r = np.random.default_rng(33)
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


def adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


def phases(u):
    """The factors that give the columns of u their phases."""
    k = np.abs(u).argmax(-2)
    top = np.take_along_axis(u, k[..., None, :], -2)
    return np.conj(top) / np.abs(top)


def weights(y, k):
    return torch.cos(torch.arange(y.numel(), dtype=torch.float64) * 0.7 + k).reshape(y.shape)


def grad(loss, a):
    t = torch.tensor(a, requires_grad=True)
    return torch.autograd.grad(loss(t), t)[0].numpy()


def size(x):
    return (x * x.conj()).real


def weighted(y):
    loss = (weights(y, 0) * y.real).sum()
    if y.is_complex():
        loss = loss + (torch.sin(torch.arange(y.numel(), dtype=torch.float64) * 0.3).reshape(y.shape) * y.imag).sum()
    return loss


def eigh_loss(a):
    w, v = torch.linalg.eigh(a)
    return (weights(w, 0) * w).sum() + (weights(v, 1) * size(v)).sum()


def svd_loss(a):
    u, s, vh = torch.linalg.svd(a, full_matrices=False)
    both = (u * torch.exp(-s)[..., None, :]) @ vh
    return (weights(s, 0) * s).sum() + (weights(u, 1) * size(u)).sum() + (weights(vh, 2) * size(vh)).sum() + weighted(both)


def eig_loss(a):
    w, v = torch.linalg.eig(a)
    return (w.real**3 + w.imag**2).sum() + (torch.arange(a.shape[-1], dtype=torch.float64)[:, None] * size(v) * size(w)[..., None, :]).sum()


def exact(f, a):
    """f of mpmath with 40 digits."""
    with mpmath.workdps(40):
        y = f(mpmath.matrix(a.tolist()))
        z = np.array([[complex(y[i, j]) for j in range(y.cols)] for i in range(y.rows)])
    return z if np.iscomplexobj(a) else z.real


for c in (False, True):
    s = "_complex" if c else ""
    a = general(2, 5, 5, c=c)
    a = a + adjoint(a)
    w, v = np.linalg.eigh(a)
    put("eigh" + s, [a], [w, v * phases(v)])
    g = grad(eigh_loss, a)
    put("eigh_grad" + s, [a], [(g + adjoint(g)) / 2])
    for shape in ((2, 5, 3), (3, 5), (4, 4)):
        a = general(*shape, c=c)
        u, d, vh = np.linalg.svd(a, full_matrices=False)
        p = phases(u)
        put("svd%d%d" % shape[-2:] + s, [a], [u * p, d, np.conj(np.swapaxes(p, -1, -2)) * vh])
        put("svd%d%d_grad" % shape[-2:] + s, [a], [grad(svd_loss, a)])
        put("pinv%d%d" % shape[-2:] + s, [a], [np.linalg.pinv(a)])
        put("pinv%d%d_grad" % shape[-2:] + s, [a], [grad(lambda t: weighted(torch.linalg.pinv(t)), a)])
    a = general(5, 5, c=c)
    w = np.linalg.eigvals(a)
    put("eigvals" + s, [a], [w[np.lexsort((w.imag, w.real))]])
    put("eig_grad" + s, [a], [grad(eig_loss, a)])
    for k in (0.05, 1, 7):
        a = general(4, 4, c=c) * k
        put("expm%g" % k + s, [a], [exact(mpmath.expm, a)])
    a = general(4, 4, c=c)
    put("expm_grad" + s, [a], [grad(lambda t: weighted(torch.linalg.matrix_exp(t)), a)])
    a = general(4, 4, c=c) + 4 * np.eye(4)
    put("sqrtm" + s, [a], [exact(mpmath.sqrtm, a)])
    put("logm" + s, [a], [exact(mpmath.logm, a)])
    x = sl.sqrtm(a)
    n = np.arange(16.0)
    d = np.cos(n * 0.7).reshape(4, 4) + (1j * np.sin(n * 0.3).reshape(4, 4) if c else 0)
    put("sqrtm_grad" + s, [a], [sl.solve_sylvester(adjoint(x), adjoint(x), d)])
    # The adjoint of the derivative of exp at log a, as a matrix, is solved for that of log.
    x = sl.logm(a)
    m = np.zeros((16, 16), dtype=x.dtype)
    for k in range(16):
        e = np.zeros(16)
        e[k] = 1
        m[:, k] = sl.expm_frechet(adjoint(x), e.reshape(4, 4), compute_expm=False).ravel()
    put("logm_grad" + s, [a], [np.linalg.solve(m, d.ravel()).reshape(4, 4)])

path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "eigen.json")
with open(path, "w") as f:
    json.dump(out, f, separators=(",", ":"))
    f.write("\n")
