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

for n in (1, 2, 7, 8):
    for sym in (False, True):
        for w in ("hann hamming blackman nuttall blackmanharris flattop boxcar bartlett triang cosine tukey".split()
                  + [("kaiser", 8.6), ("gaussian", 2.5)]):
            name = w if isinstance(w, str) else w[0]
            put(f"window_{name}_{n}_{int(sym)}", [], [ss.get_window(w, n, fftbins=not sym)])
designs = {
    "butter": lambda n, w, b, o: ss.butter(n, w, b, output=o),
    "cheby1": lambda n, w, b, o: ss.cheby1(n, 1, w, b, output=o),
    "cheby2": lambda n, w, b, o: ss.cheby2(n, 40, w, b, output=o),
}
for d, f in designs.items():
    for n in (1, 2, 3, 4, 7):
        for b, w in (("lowpass", 0.2), ("highpass", 0.3), ("bandpass", [0.2, 0.4]), ("bandstop", [0.25, 0.5])):
            put(f"design_{d}_{n}_{b}", [], [*f(n, w, b, "ba"), f(n, w, b, "sos")])
# Made from here on with generators of their own, so that what is above keeps its numbers.
more = {
    "ellip": lambda n, w, b, o: ss.ellip(n, 1, 40, w, b, output=o),
    "ellip_steep": lambda n, w, b, o: ss.ellip(n, 0.1, 80, w, b, output=o),
    "bessel": lambda n, w, b, o: ss.bessel(n, w, b, output=o),
    "bessel_delay": lambda n, w, b, o: ss.bessel(n, w, b, output=o, norm="delay"),
    "bessel_mag": lambda n, w, b, o: ss.bessel(n, w, b, output=o, norm="mag"),
}
for d, f in more.items():
    for n in (1, 2, 5) if "_" in d else (1, 2, 3, 4, 7):
        for b, w in (("lowpass", 0.2), ("highpass", 0.3), ("bandpass", [0.2, 0.4]), ("bandstop", [0.25, 0.5])):
            put(f"design_{d}_{n}_{b}", [], [*f(n, w, b, "ba"), f(n, w, b, "sos")])
for name in ("buttord", "cheb1ord", "cheb2ord", "ellipord"):
    for k, (wp, ws, fs) in enumerate((([0.2], [0.3], 2), ([30], [20], 100), ([0.2, 0.5], [0.1, 0.6], 2), ([0.1, 0.6], [0.2, 0.5], 2), ([0.1, 0.8], [0.3, 0.35], 2))):
        put(f"{name}_{k}", [], [np.atleast_1d(v) for v in getattr(ss, name)(np.array(wp), np.array(ws), 1, 40, fs=fs)])
r2 = np.random.default_rng(7)
t = np.round(r2.uniform(-1, 12, 40), 3)
put("chirp", [t], [ss.chirp(t, 2, 3, 5, phi=30), ss.chirp(t, 2, 3, 5, "quadratic"), ss.chirp(t, 5, 3, 2, "quadratic", vertex_zero=False),
                   ss.chirp(t, 1, 9, 2, "logarithmic"), ss.chirp(t, -2, 9, -2, "logarithmic"), ss.chirp(t, 1, 20, 3, "hyperbolic"), ss.chirp(t, 3, 20, 3, "hyperbolic")])
w = np.round(r2.uniform(0, 1, 40), 2)
w[:4] = 0, 1, 0, 1
put("sawtooth", [t, w], [ss.sawtooth(t), ss.sawtooth(t, w)])
put("square", [t, w], [ss.square(t), ss.square(t, w)])
t = np.linspace(-0.4, 0.4, 33)
put("gausspulse", [t], [*ss.gausspulse(t, fc=5, retquad=True, retenv=True), *ss.gausspulse(t, fc=3, bw=0.8, bwr=-10, retquad=True, retenv=True)])
put("unit_impulse", [], [ss.unit_impulse(5), ss.unit_impulse((3, 4), "mid"), ss.unit_impulse((3, 4), 2), ss.unit_impulse((3, 4), (1, -1))])
v = np.round(r2.standard_normal((7, 9)), 3)
put("wiener", [v], [ss.wiener(v), ss.wiener(v, (3, 4)), ss.wiener(v, 5, 0.7), ss.wiener(v[0], 5)])

z = np.round(np.cumsum(noise(60)), 1)
p = ss.find_peaks(z)[0]
put("peaks", [z], [p, *ss.peak_prominences(z, p), *ss.peak_widths(z, p)])
put("peaks_height", [z], [ss.find_peaks(z, height=(-1, 3))[0]])
put("peaks_threshold", [z], [ss.find_peaks(z, threshold=0.4)[0]])
put("peaks_distance", [z], [ss.find_peaks(z, distance=5)[0]])
put("peaks_prominence", [z], [ss.find_peaks(z, prominence=1.1)[0]])
put("peaks_width", [z], [ss.find_peaks(z, width=(2, 9))[0]])
put("peaks_plateau", [z], [ss.find_peaks(np.round(z), plateau_size=2)[0]])
put("savgol_coeffs", [], [ss.savgol_coeffs(7, 2), ss.savgol_coeffs(5, 3, deriv=1, delta=0.5), ss.savgol_coeffs(9, 4, pos=1)])
for mode in ("interp", "mirror", "nearest", "wrap", "constant"):
    put("savgol_" + mode, [x0.T], [ss.savgol_filter(x0.T, 7, 3, mode=mode)])
put("savgol_deriv", [x0], [ss.savgol_filter(x0, 5, 2, deriv=1, delta=0.5, axis=0)])
u, v = noise(6, 5), noise(3, 2)
for mode in ("full", "same", "valid"):
    put("twod_" + mode, [u, v], [ss.convolve2d(u, v, mode), ss.correlate2d(u, v, mode), ss.fftconvolve(u, v, mode)])
x1, x2 = noise(2, 50), noise(2, 50)
put("welch", [x1], ss.welch(x1, fs=4, nperseg=16))
put("periodogram", [x1], ss.periodogram(x1, window="hamming", scaling="spectrum"))
put("csd", [x1, x2], ss.csd(x1, x2, nperseg=15, noverlap=4))
put("coherence", [x1, x2], ss.coherence(x1, x2, nperseg=16))
put("spectrogram", [x1], ss.spectrogram(x1, fs=2, window="hann", nperseg=16))
put("spectra_windows", [x1], [
    *ss.spectrogram(x1, nperseg=16),
    ss.spectrogram(x1, window=("tukey", 0.75), nperseg=16)[2],
    ss.welch(x1, window=("kaiser", 8.6), nperseg=16)[1],
    ss.welch(x1, window=("gaussian", 3.5), nperseg=16)[1],
    ss.welch(x1, window=ss.windows.tukey(16, 0.5), nperseg=16)[1],
])
put("hilbert", [x1], [ss.hilbert(x1), ss.hilbert(x1[:, :9])])
put("resample", [x1], [ss.resample(x1, k, axis=-1) for k in (20, 21, 50, 64, 77)])
put("detrend", [x1], [ss.detrend(x1), ss.detrend(x1, type="constant")])

for k, (n, w, o) in enumerate([(9, 0.3, {}), (8, 0.3, {"window": "hann"}), (11, 0.4, {"pass_zero": "highpass"}), (21, [0.2, 0.5], {"pass_zero": "bandpass"}),
                               (21, [0.2, 0.5], {"pass_zero": "bandstop"}), (12, 0.3, {"window": ("kaiser", 5.0), "scale": False}), (1, 0.3, {})]):
    put(f"firwin_{k}", [], [ss.firwin(n, w, **o)])
b, a = ss.cheby1(5, 1, 0.3)
sos = ss.cheby1(5, 1, 0.3, output="sos")
put("freqz", [b, a], [*ss.freqz(b, a), *ss.freqz(b, a, worN=7, whole=True, fs=2), *ss.freqz(b, [1], worN=np.array([0.1, 0.3, 2]))])
put("sosfreqz", [sos], [*ss.freqz_sos(sos, worN=20)])
put("tf2sos", ss.cheby2(4, 40, 0.3), [ss.tf2sos(*ss.cheby2(4, 40, 0.3))])
put("sos2tf", [sos], [*ss.sos2tf(sos)])
z, p, k = ss.tf2zpk(b, a)
put("tf2zpk_values", [b, a], [np.poly(z), np.poly(p), k])
h, x = noise(7), noise(3, 11)
put("upfirdn", [h, x], [ss.upfirdn(h, x, u, d) for u, d in ((1, 1), (3, 1), (1, 2), (3, 2), (9, 4))])
put("upfirdn_axis", [h, x], [ss.upfirdn(h, x, 2, 3, axis=0)])
put("upfirdn_complex", [h + 1j * h[::-1], x + 2j], [ss.upfirdn(h + 1j * h[::-1], x + 2j, 2, 3)])
x = noise(2, 90)
put("resample_poly", [x, h], [*(ss.resample_poly(x, u, d, axis=-1) for u, d in ((1, 2), (3, 1), (3, 2), (4, 6), (5, 7), (2, 2))), ss.resample_poly(x, 3, 2, axis=-1, window=h)])
put("decimate", [x], [ss.decimate(x, 3), ss.decimate(x, 2, n=4, zero_phase=False), ss.decimate(x, 3, ftype="fir"), ss.decimate(x, 3, n=10, ftype="fir", zero_phase=False)])
x = noise(9, 8)
put("medfilt", [x], [ss.medfilt(x), ss.medfilt(x, [5, 1]), ss.medfilt2d(x, [3, 5]), ss.medfilt(x[0], 5)])
r3 = np.random.default_rng(11)
times, w = np.round(np.sort(r3.random(60) * 30), 3), np.round(r3.random(60), 3)
y = np.round(1.5 * np.cos(1.3 * times + 0.4) + 0.7 + 0.3 * r3.standard_normal(60), 3)
freqs = np.round(np.linspace(0.3, 6, 41), 3)
put("lombscargle", [times, y, freqs, w], [ss.lombscargle(times, y, freqs), ss.lombscargle(times, y, freqs, weights=w, normalize=True), ss.lombscargle(times, y, freqs, weights=w, floating_mean=True),
                                          ss.lombscargle(times, y, freqs, floating_mean=True, normalize=True), ss.lombscargle(times, y, freqs, normalize="amplitude"), ss.lombscargle(times, y, freqs, floating_mean=True, weights=w, normalize="amplitude")])

here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(here, "vectors.json"), "w") as f:
    json.dump(out, f, separators=(",", ":"))
    f.write("\n")
