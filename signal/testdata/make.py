"""Writes vectors.json: signals, and what SciPy makes of them.

    python signal/testdata/make.py

Made with numpy 2, scipy 1, torch 2 (for gradients). Numbers are float64; a complex array is a list of pairs
under "c". vectors_test.go has the computation of each name.
"""
import json
import os

import numpy as np
import scipy.signal as ss
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


def noise(*shape, c=False):
    x = np.round(r.standard_normal(shape), 3)
    return x + 1j * np.round(r.standard_normal(shape), 3) if c else x


def grads(f, *args):
    """PyTorch's gradients of a weighted sum of the results of f."""
    ts = [torch.tensor(a, requires_grad=True) for a in args]
    loss = 0
    for k, y in enumerate(f(*ts)):
        w = torch.cos(torch.arange(y.numel(), dtype=torch.float64) * 0.7 + k).reshape(y.shape)
        loss = loss + (w * y.real).sum()
        if y.is_complex():
            loss = loss + (torch.sin(torch.arange(y.numel(), dtype=torch.float64) * 0.3 + k).reshape(y.shape) * y.imag).sum()
    return [g.numpy() for g in torch.autograd.grad(loss, ts)]


def steps(b, a, x, zi):
    """lfilter in PyTorch, step by step."""
    m = zi.shape[-1]
    b = torch.cat([b / a[0], torch.zeros(m + 1 - len(b), dtype=b.dtype)])
    a = torch.cat([a / a[0], torch.zeros(m + 1 - len(a), dtype=a.dtype)])
    z = [zi[..., i] for i in range(m)] + [torch.zeros_like(zi[..., 0])]
    y = []
    for i in range(x.shape[-1]):
        o = b[0] * x[..., i] + z[0]
        z = [b[k + 1] * x[..., i] + z[k + 1] - a[k + 1] * o for k in range(m)] + [z[m]]
        y.append(o)
    return torch.stack(y, -1), torch.stack(z[:m], -1)


for c in (False, True):
    s = "_complex" if c else ""
    b, a, x = noise(4, c=c), np.r_[2, noise(2, c=c) * 0.4], noise(2, 11, c=c)
    zi = noise(2, 3, c=c)
    put("lfilter" + s, [b, a, x, zi], ss.lfilter(b, a, x, zi=zi))
    put("lfilter_grad" + s, [b, a, x, zi], grads(steps, b, a, x, zi))
    sos = np.concatenate([noise(3, 3, c=c), np.ones((3, 1)), noise(3, 2, c=c) * 0.3], 1)
    zs = noise(3, 2, 2, c=c)
    put("sosfilt" + s, [sos, x, zs], ss.sosfilt(sos, x, zi=zs))

    def cascade(sos, x, zs):
        zf = []
        for i in range(3):
            x, z = steps(sos[i, :3], sos[i, 3:], x, zs[i])
            zf.append(z)
        return x, torch.stack(zf)

    put("sosfilt_grad" + s, [sos, x, zs], grads(cascade, sos, x, zs))
    u, v = noise(9, c=c), noise(4, c=c)
    for mode in ("full", "same", "valid"):
        put(f"convolve_{mode}" + s, [u, v], [ss.convolve(u, v, mode, "direct")])
        put(f"convolve_{mode}_short" + s, [v, u], [ss.convolve(v, u, mode, "direct")])
        put(f"correlate_{mode}" + s, [u, v], [ss.correlate(u, v, mode, "direct")])
        put(f"correlate_{mode}_short" + s, [v, u], [ss.correlate(v, u, mode, "direct")])
for name, order in (("2", 2), ("4", 4), ("5", 5)):
    b, a = ss.butter(order, 0.3)
    x = noise(40)
    put("lfilter_order" + name, [b, a, x, np.zeros(order)], ss.lfilter(b, a, x, zi=np.zeros(order)))
    put("lfilter_zi_order" + name, [b, a], [ss.lfilter_zi(b, a)])
    sos = ss.butter(order, 0.3, output="sos")
    put("sosfilt_zi_order" + name, [sos], [ss.sosfilt_zi(sos)])
    for pad in ("odd", "even", "constant"):
        put(f"filtfilt_{pad}_order" + name, [b, a, x], [ss.filtfilt(b, a, x, padtype=pad)])
        put(f"sosfiltfilt_{pad}_order" + name, [sos, x], [ss.sosfiltfilt(sos, x, padtype=pad)])
x0 = noise(30, 3)
put("lfilter_axis", [b, a, x0], [ss.lfilter(b, a, x0, axis=0)])
put("sosfilt_axis", [sos, x0], [ss.sosfilt(sos, x0, axis=0)])
put("sosfiltfilt_axis", [sos, x0], [ss.sosfiltfilt(sos, x0, axis=0)])

here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(here, "vectors.json"), "w") as f:
    json.dump(out, f, separators=(",", ":"))
    f.write("\n")
