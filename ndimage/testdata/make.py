"""Writes vectors.json.gz: what scipy.ndimage gives, for the tests of package ndimage.

A case is [function, arguments by name, results]. Arrays are {"t": element type, "s": shape, "d": elements}.
"""
import gzip
import json

import numpy as np
import scipy
from scipy import ndimage as nd

rng = np.random.default_rng(32)
MODES = ["reflect", "constant", "nearest", "mirror", "wrap", "grid-mirror", "grid-constant", "grid-wrap"]
cases = []


def pack(x):
    if isinstance(x, np.ndarray) or isinstance(x, np.generic):
        x = np.asarray(x)
        d = x.ravel().tolist()
        if x.dtype.kind == "c":
            d = [v for z in d for v in (z.real, z.imag)]
        if x.dtype.kind == "b":
            d = [int(v) for v in d]
        return {"t": str(x.dtype), "s": list(x.shape), "d": d}
    if isinstance(x, (list, tuple)):
        return [pack(v) for v in x]
    return x


def case(name, *args, out=None, **kw):
    """Calls a function and keeps what it gave."""
    with np.errstate(all="ignore"):
        y = getattr(nd, name)(*args, **kw)
    if not isinstance(y, tuple):
        y = (y,)
    cases.append([name, [pack(a) for a in args], {k: pack(v) for k, v in kw.items()}, [pack(v) for v in y]])


def noise(*shape, t="float64", hi=200):
    if t == "bool":
        return rng.random(shape) < 0.5
    if np.dtype(t).kind in "iu":
        return rng.integers(0 if np.dtype(t).kind == "u" else -100, hi if np.dtype(t).kind == "u" else 100, shape).astype(t)
    if np.dtype(t).kind == "c":
        return (np.round(rng.standard_normal(shape), 4) + 1j * np.round(rng.standard_normal(shape), 4)).astype(t)
    return np.round(rng.standard_normal(shape), 4).astype(t)


def linear():
    for mode in MODES:
        case("gaussian_filter", noise(6, 5), 1.0, mode=mode, cval=0.7)
        case("gaussian_filter1d", noise(3), 2.5, axis=0, mode=mode, cval=-1.0)  # reaches far beyond the array
        case("gaussian_filter1d", noise(40), 0.9, axis=-1, mode=mode, order=1, cval=2.0)
        for n, k, o in [(7, 3, 0), (7, 4, 1), (2, 9, -3), (1, 5, 0), (30, 4, -2)]:
            case("correlate1d", noise(n), noise(k), axis=0, mode=mode, origin=o, cval=0.5)
        case("convolve1d", noise(3, 25), noise(4), axis=1, mode=mode, origin=1, cval=0.5)
    case("gaussian_filter", noise(4, 5, 6), [1.0, 0.0, 0.5], order=[1, 0, 2])
    case("gaussian_filter", noise(4, 5, 6), 0.8, axes=[0, 2], mode=["wrap", "nearest"])
    case("gaussian_filter", noise(9, 8), 1.5, truncate=2.0, order=3)
    case("gaussian_filter", noise(9, 8), [1.5, 0.7], radius=[1, 3])
    for t in ["uint8", "int16", "int32", "bool", "complex128", "float32"]:
        case("gaussian_filter", noise(6, 7, t=t), 1.0)
        case("correlate1d", noise(6, 7, t=t), np.array([1.0, -2.0, 0.5]), axis=0)


linear()
with gzip.GzipFile("vectors.json.gz", "wb", mtime=0) as f:
    f.write(json.dumps({"scipy": scipy.__version__, "cases": cases}).encode())
print(len(cases), "cases of SciPy", scipy.__version__)
