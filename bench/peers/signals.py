"""Fourier transforms of SciPy (pocketfft) and PyTorch (MKL, or its own where it was built without), filters of SciPy.

Inputs are those of bench/ours/signals.go. scipy.signal and scipy.ndimage have one thread whatever is set."""

import numpy as np

from form import Form, Ready
from inputs import random, summary


def complexes(shape, dtype):
    part = "float32" if dtype == "complex64" else "float64"
    return random(shape, 1, part) + 1j * random(shape, 2, part)


def form(run, x):
    return Ready("run(x)", {"run": run, "x": x}, lambda: summary(np.asarray(run(x))))


# name: function, the input of n and dtype
TRANSFORMS = {
    "fft": ("fft", lambda n, d: complexes((n,), d)),
    "fft of a prime": ("fft", lambda n, d: complexes((n,), d)),
    "fft of 1000 rows of 16": ("fft", lambda n, d: complexes((n, 16), d)),
    "fft2 1000x1000": ("fft2", lambda n, d: complexes((n, 1000), d)),
    "rfft 1000x1024": ("rfft", lambda n, d: random((n, 1024), 1, d)),
    "irfft 1000x1024": ("irfft", lambda n, d: np.fft.rfft(random((n, 1024), 1, d)).astype("complex64" if d == "float32" else "complex128")),
    "dct 1000x1024": ("dct", lambda n, d: random((n, 1024), 1, d)),
}


def transform_forms(case):
    name, make = TRANSFORMS[case]

    def scipy_form(n, d, threads):
        from scipy import fft

        f = getattr(fft, name)
        return form(lambda x: f(x, workers=threads), make(n, d))

    def torch_form(n, d, threads):
        import torch

        return form(getattr(torch.fft, name), torch.from_numpy(make(n, d)))

    yield Form("scipy", "scipy", scipy_form)
    if name != "dct":
        yield Form("torch", "torch", torch_form, counts=False)


def _signal(f):
    """f: the filter of scipy.signal, which it prepares."""

    def forms(case):
        def make(n, d, threads):
            from scipy import signal

            return form(f(signal), random((n,), 1, d))

        yield Form("scipy", "scipy", make)

    return forms


def butter(s, order, output):
    return s.butter(order, 0.25, output=output)


def in_type(c, x):
    return [np.asarray(a, x.dtype) for a in c]


SIGNAL = {
    "lfilter": lambda s: lambda x: s.lfilter(*in_type(butter(s, 4, "ba"), x), x),
    "sosfilt": lambda s: lambda x: s.sosfilt(butter(s, 8, "sos").astype(x.dtype), x),
    "filtfilt": lambda s: lambda x: s.filtfilt(*in_type(butter(s, 4, "ba"), x), x),
    "find_peaks": lambda s: lambda x: s.find_peaks(x, height=0.5, distance=10)[0],
    "welch": lambda s: lambda x: s.welch(x, nperseg=1024)[1],
    "resample": lambda s: lambda x: s.resample(x, x.size * 3 // 4),
    "resample_poly": lambda s: lambda x: s.resample_poly(x, 3, 4),
    "medfilt": lambda s: lambda x: s.medfilt(x, 5),
    "savgol": lambda s: lambda x: s.savgol_filter(x, 11, 3),
    "hilbert": lambda s: lambda x: s.hilbert(x),
    "convolve by 31": lambda s: lambda x: s.convolve(x, random((31,), 2, x.dtype)),
    "convolve by 1000": lambda s: lambda x: s.convolve(x, random((1000,), 2, x.dtype)),
    "convolve by its size": lambda s: lambda x, y=[]: s.convolve(x, y[0] if y else y.append(random(x.shape, 2, x.dtype)) or y[0]),
}


def _picture(f):
    """f: the filter of scipy.ndimage of a picture x."""

    def forms(case):
        def make(n, d, threads):
            from scipy import ndimage

            w, at = random((7, 7), 2, d), (random((2, n, n), 2, "float64") + 1) * (n / 2 - 1)
            return form(lambda x: f(ndimage, x, w, at), random((n, n), 1, d))

        yield Form("scipy", "scipy", make)

    return forms


NDIMAGE = {
    "gaussian_filter": lambda s, x, w, at: s.gaussian_filter(x, 2),
    "uniform_filter 15": lambda s, x, w, at: s.uniform_filter(x, 15),
    "median_filter 3": lambda s, x, w, at: s.median_filter(x, 3),
    "median_filter 5": lambda s, x, w, at: s.median_filter(x, 5),
    "sobel": lambda s, x, w, at: s.sobel(x, 0),
    "laplace": lambda s, x, w, at: s.laplace(x),
    "grey_dilation 5": lambda s, x, w, at: s.grey_dilation(x, (5, 5)),
    "grey_opening 5": lambda s, x, w, at: s.grey_opening(x, (5, 5)),
    "distance_transform_edt": lambda s, x, w, at: s.distance_transform_edt(x > -0.9, return_indices=True)[0],
    "binary_erosion": lambda s, x, w, at: s.binary_erosion(x > -0.9),
    "label": lambda s, x, w, at: s.label(x > 0)[0],
    "zoom 2": lambda s, x, w, at: s.zoom(x, 2),
    "zoom 2, linear": lambda s, x, w, at: s.zoom(x, 2, order=1),
    "rotate": lambda s, x, w, at: s.rotate(x, 30),
    "correlate1d 31": lambda s, x, w, at: s.correlate1d(x, np.arange(31.0), 1),
    "correlate 7x7": lambda s, x, w, at: s.correlate(x, w),
    "map_coordinates": lambda s, x, w, at: s.map_coordinates(x, at, order=1),
}

REGISTRY = {
    **{case: transform_forms for case in TRANSFORMS},
    **{f"signal {name}": _signal(f) for name, f in SIGNAL.items()},
    **{f"ndimage {name}": _picture(f) for name, f in NDIMAGE.items()},
}  # fmt: skip
