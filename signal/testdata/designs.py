"""Writes designs.json: designs of notch, least squares and equiripple filters, and what SciPy says of systems.

    python signal/testdata/designs.py

Made with numpy 2, scipy 1.17, torch 2 (for gradients), in the form of make.py.
"""
import json
import os

import numpy as np
import scipy.signal as ss
import torch

out = {}


def enc(x):
    x = np.asarray(x)
    if np.iscomplexobj(x):
        return {"shape": list(x.shape), "c": np.stack([x.real, x.imag], -1).ravel().tolist()}
    return {"shape": list(x.shape), "x": x.astype(float).ravel().tolist()}


def put(name, args, results):
    out[name] = {"args": [enc(a) for a in args], "results": [enc(a) for a in results]}


def grads(f, *args):
    """PyTorch's gradients of a weighted sum of the results of f."""
    ts = [torch.tensor(a, requires_grad=True) for a in args]
    loss = 0
    for k, y in enumerate(f(*ts)):
        w = torch.cos(torch.arange(y.numel(), dtype=torch.float64) * 0.7 + k).reshape(y.shape)
        loss = loss + (w * y).sum()
    return [g.numpy() for g in torch.autograd.grad(loss, ts)]


put("iirnotch", [], [*ss.iirnotch(0.3, 30), *ss.iirnotch(60, 2.5, fs=1000), *ss.iirnotch(0.5, 0.6)])
put("iirpeak", [], [*ss.iirpeak(0.3, 30), *ss.iirpeak(60, 2.5, fs=1000), *ss.iirpeak(0.5, 0.6)])
put("iircomb", [], [c for ftype in ("notch", "peak") for zero in (False, True) for c in ss.iircomb(50, 7, ftype, fs=350, pass_zero=zero)]
    + [*ss.iircomb(0.5, 1.5)])


def delay(b, a):
    """The frequencies and delays of group_delay, by derivatives of logarithms."""
    w = torch.arange(16, dtype=torch.float64) * torch.pi / 16

    def part(c):
        k = torch.arange(len(c), dtype=torch.float64)
        z = torch.exp(-1j * w[:, None] * k)
        return ((z * (k * c)).sum(1) / (z * c).sum(1)).real

    return w, part(b) - part(a)


def delays(b, a):
    """What group_delay gives for three sets of frequencies, in extended precision: SciPy's own error is 2e-11 near zeros."""
    out = []
    for o in ({}, {"w": 9, "whole": True, "fs": 100}, {"w": [0.1, 0.9, 2.5]}):
        w, rough = ss.group_delay((b, a), **o)
        z = np.exp(-1j * (w * (2 * np.pi / o.get("fs", 2 * np.pi))).astype(np.longdouble))

        def part(c):
            k = np.arange(len(c))
            return ((z[:, None] ** k * (k * c)).sum(1) / (z[:, None] ** k * c).sum(1)).real

        exact = (part(b) - part(a)).astype(float)
        assert np.allclose(exact, rough, rtol=1e-9)
        out += [w, exact]
    return out


b, a = ss.ellip(4, 1, 40, 0.4)
put("group_delay", [b, a], delays(b, a))
b, a = np.array([1.0, 2.5, 2, 0.3]), np.array([2.0])
put("group_delay_fir", [b, a], delays(b, a))
b, a = np.array([1 + 0.5j, 0.3 - 2j, 0.25]), np.array([1, 0.4j, -0.2])
put("group_delay_complex", [b, a], delays(b, a))
b, a = np.array([1.0, 2.5, 2, 0.3]), np.array([2.0, -0.4, 0.6])
assert all(np.allclose(x, y) for x, y in zip(delay(torch.tensor(b), torch.tensor(a)), ss.group_delay((b, a), 16)))
put("delay16_grad", [b, a], grads(delay, b, a))

here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(here, "designs.json"), "w") as f:
    json.dump(out, f, separators=(",", ":"))
    f.write("\n")
