# Writes vectors.json: results of NumPy, SciPy and PyTorch for the calls of vectors_test.go.
import json
import numpy as np
import scipy.fft as sf
import torch


def reals(*shape):
    i = np.arange(int(np.prod(shape)))
    return ((i * 7919 % 1009) / 1009 - 0.5).reshape(shape)


def complexes(*shape):
    i = np.arange(int(np.prod(shape)))
    return reals(*shape) + 1j * ((i * 104729 % 997) / 997 - 0.5).reshape(shape)


v = {}


def put(name, y):
    y = np.asarray(y)
    flat = y.ravel()
    x = np.stack([flat.real, flat.imag], 1).ravel() if np.iscomplexobj(y) else flat
    v[name] = {"Shape": list(y.shape), "Complex": bool(np.iscomplexobj(y)), "X": [float("%.17g" % f) for f in x]}


x, z = reals(2, 3, 8), complexes(2, 3, 8)
for norm in ["backward", "ortho", "forward"]:
    put("fft " + norm, np.fft.fft(z, norm=norm))
    put("ifft " + norm, np.fft.ifft(z, norm=norm))
    put("rfft " + norm, np.fft.rfft(x, norm=norm))
    put("irfft " + norm, np.fft.irfft(z, norm=norm))
    put("hfft " + norm, np.fft.hfft(z, norm=norm))
    put("ihfft " + norm, np.fft.ihfft(x, norm=norm))
    put("fftn " + norm, np.fft.fftn(z, norm=norm))
    for kind in (1, 2, 3, 4):
        put("dct%d %s" % (kind, norm), sf.dct(x, kind, norm=norm, axis=1))
        put("idct%d %s" % (kind, norm), sf.idct(x, kind, norm=norm))
        put("dst%d %s" % (kind, norm), sf.dst(x, kind, norm=norm, axis=1))
        put("idst%d %s" % (kind, norm), sf.idst(x, kind, norm=norm))
put("fft axis 1", np.fft.fft(z, axis=1))
put("fft axis 0, n 4", np.fft.fft(z, n=4, axis=0))
put("fft n 6", np.fft.fft(z, n=6))
put("rfft n 11", np.fft.rfft(x, n=11))
put("irfft n 7 axis 1", np.fft.irfft(z, n=7, axis=1))
put("fft2", np.fft.fft2(x))
put("ifft2", np.fft.ifft2(z, s=(4, 6)))
put("rfft2", np.fft.rfft2(x, axes=(0, 1)))
put("irfft2", np.fft.irfft2(z))
put("ifftn", np.fft.ifftn(z, axes=(0, 2)))
put("rfftn", np.fft.rfftn(x))
put("irfftn", np.fft.irfftn(z, s=(3, 5, 9)))
put("fftshift", np.fft.fftshift(x))
put("ifftshift", np.fft.ifftshift(x, axes=(1,)))
put("fftfreq 7", np.fft.fftfreq(7, 0.25))
put("fftfreq 8", np.fft.fftfreq(8))
put("rfftfreq 9", np.fft.rfftfreq(9, 2))

s = torch.from_numpy(reals(2, 50))
w = torch.from_numpy(np.cos(np.arange(12)) + 2)
put("stft", torch.stft(s, 16, return_complex=True, window=torch.ones(16, dtype=torch.float64)))
S = torch.stft(s, 15, 5, 12, w, return_complex=True, normalized=True)
put("stft window", S)
put("stft constant", torch.stft(s, 16, 6, 12, w, pad_mode="constant", return_complex=True))
put("stft plain", torch.stft(s, 16, 6, 12, w, center=False, onesided=False, return_complex=True))
put("stft complex", torch.stft(torch.from_numpy(complexes(40)), 16, 6, 12, w, return_complex=True, onesided=False))
put("istft", torch.istft(S * 2, 15, 5, 12, w, normalized=True))
put("istft length", torch.istft(S * 2, 15, 5, 12, w, normalized=True, length=47))

xt = torch.from_numpy(reals(3, 7)).requires_grad_()
(torch.fft.rfft(xt, norm="ortho").abs() ** 3).sum().backward()
put("gradient rfft", xt.grad)
zt = torch.from_numpy(complexes(3, 6)).requires_grad_()
(torch.fft.irfft(zt, n=9) ** 3).sum().backward()
put("gradient irfft", zt.grad)
zt = torch.from_numpy(complexes(3, 6)).requires_grad_()
(torch.fft.fft(zt, n=9).abs() ** 3).sum().backward()
put("gradient fft", zt.grad)
with open("vectors.json", "w") as f:
    json.dump(v, f)
