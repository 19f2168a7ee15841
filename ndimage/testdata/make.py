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
    if name == "center_of_mass":
        y = (np.array(y),)
    if name == "histogram" and y.dtype == object:
        y = tuple(y)
    if name in ("sum_labels", "minimum", "maximum", "median", "mean", "variance", "standard_deviation"):
        y = (np.asarray(y, None if "imum" in name else "float64"),)
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



def windows():
    for mode in MODES:
        case("correlate", noise(5, 6), noise(3, 4), mode=mode, cval=0.3, origin=[0, 1])
        case("convolve", noise(2, 3, 4), noise(3, 2, 9), mode=mode, cval=0.3, origin=[-1, 0, 2])
        case("uniform_filter", noise(7, 2), [3, 7], mode=mode, cval=0.3)
        case("uniform_filter1d", noise(3, 30), 12, axis=1, mode=mode, origin=-3, cval=1.0)
        case("sobel", noise(5, 6), axis=0, mode=mode, cval=1.0)
        case("prewitt", noise(3, 4, 3), axis=1, mode=mode, cval=1.0)
        case("laplace", noise(5, 6), mode=mode, cval=1.0)
        case("gaussian_laplace", noise(5, 6), 1.0, mode=mode, cval=1.0)
        case("gaussian_gradient_magnitude", noise(5, 6), [1.0, 0.5], mode=mode, cval=1.0)
        case("median_filter", noise(7, 6), size=[3, 5], mode=mode, cval=0.1)
        case("rank_filter", noise(20), 2, size=[9], mode=mode, cval=0.1, origin=2)
        case("minimum_filter", noise(3, 5), size=[7, 2], mode=mode, cval=0.1)
        case("maximum_filter", noise(4, 40), size=[4, 21], mode=mode, cval=0.1, origin=[-1, 3])
        case("grey_dilation", noise(6, 6), size=[2, 3], mode=mode, cval=0.1, origin=[-1, 0])
    case("correlate", noise(12, 9), noise(9, 9))  # more windows than a kernel reads
    case("correlate", noise(3, 4, 5), noise(2, 3), axes=[2, 0])
    cross = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]], bool)
    odd = np.array([[1, 0, 1, 1], [0, 0, 1, 0]], bool)
    for t in ["float64", "float32", "uint8", "int16", "int32", "bool"]:
        for f in [cross, odd]:
            case("median_filter", noise(6, 7, t=t), footprint=f)
            case("minimum_filter", noise(6, 7, t=t), footprint=f)
            case("maximum_filter", noise(6, 7, t=t), footprint=f, origin=[0, 1] if f is odd else [1, 0])
            case("rank_filter", noise(6, 7, t=t), -2, footprint=f)
            if t != "bool":
                case("grey_erosion", noise(6, 7, t=t, hi=100), footprint=f)
                case("grey_opening", noise(6, 7, t=t, hi=100), footprint=f)
                case("grey_closing", noise(6, 7, t=t, hi=100), footprint=f)
        case("median_filter", noise(4, 5, 6, t=t), size=3)
        case("percentile_filter", noise(8, 9, t=t), 30.0, size=4)
        case("percentile_filter", noise(8, 9, t=t), -10.0, size=5)
        if t != "bool":
            case("uniform_filter", noise(8, 9, t=t), 4)
            case("laplace", noise(8, 9, t=t))
            case("correlate", noise(8, 9, t=t), np.array([[1.5, 0], [-1, 2]]))
            case("morphological_gradient", noise(8, 9, t=t, hi=100), size=3)
            case("white_tophat", noise(8, 9, t=t, hi=100), size=3)
            case("black_tophat", noise(8, 9, t=t, hi=100), size=2)
            case("maximum_filter1d", noise(4, 20, t=t), 11, axis=1, origin=2)
            case("minimum_filter1d", noise(4, 20, t=t), 4, axis=0, mode="wrap")
    case("sobel", noise(8, 9, t="int16"), axis=-1)
    s = noise(3, 3)
    for f in ["grey_erosion", "grey_dilation", "morphological_laplace"]:
        case(f, noise(6, 7), structure=s)
        case(f, noise(6, 7), footprint=odd[:, :3], structure=noise(2, 3), mode="nearest")


def binary():
    for rank in range(1, 4):
        for c in range(0, 4):
            case("generate_binary_structure", rank, c)
    case("iterate_structure", nd.generate_binary_structure(2, 1), 3)
    case("iterate_structure", np.array([1, 1, 0, 1]), 3)
    odd = np.array([[1, 0, 1, 1], [0, 1, 1, 0]], bool)
    x = rng.random((9, 11)) < 0.7
    thin = rng.random((9, 11)) < 0.15
    mask = rng.random((9, 11)) < 0.6
    for s in [None, odd, np.ones((3, 3), bool)]:
        for it in [1, 2, 0]:
            for border in [0, 1]:
                case("binary_erosion", x, structure=s, iterations=it, border_value=border)
                case("binary_dilation", thin, structure=s, iterations=it, border_value=border)
                case("binary_dilation", thin, structure=s, iterations=it, border_value=border, mask=mask)
                case("binary_erosion", x, structure=s, iterations=it, border_value=border, mask=mask)
        case("binary_opening", x, structure=s)
        case("binary_closing", thin, structure=s)
        case("binary_fill_holes", x, structure=s)
        case("binary_propagation", thin, structure=s, mask=mask)
    case("binary_dilation", thin.astype("float64"), structure=odd, origin=[-1, 1])
    case("binary_hit_or_miss", x, structure1=np.array([[1, 0, 0], [0, 1, 1], [0, 0, 0]]))
    case("binary_hit_or_miss", x, structure1=np.array([[1, 0], [0, 1]]), structure2=np.array([[0, 1, 0]]), origin1=[0, 0], origin2=[0, 1])
    case("binary_erosion", rng.random((4, 5, 6)) < 0.9)
    case("binary_fill_holes", rng.random((4, 5, 6)) < 0.8)



def objects():
    for p in [0.3, 0.5, 0.7]:
        x = rng.random((30, 23)) < p
        case("label", x)
        case("label", x, structure=np.ones((3, 3), bool))
        case("label", x, structure=np.eye(3, dtype=bool))
        case("distance_transform_edt", x)
        case("distance_transform_edt", x, sampling=[2.5, 0.75])
        case("distance_transform_cdt", x)
        case("distance_transform_cdt", x, metric="taxicab")
    for shape in [(17,), (5, 6, 7)]:
        x = rng.random(shape) < 0.6
        case("label", x)
        case("distance_transform_edt", x)
        case("distance_transform_edt", x, sampling=0.5)
        case("distance_transform_cdt", x)
        case("distance_transform_cdt", x, metric="taxicab")
    case("distance_transform_cdt", np.ones((3, 4), bool))
    labels, n = nd.label(rng.random((12, 13)) < 0.4)
    for t in ["float64", "uint8", "int32"]:
        x = noise(12, 13, t=t)
        for f in ["sum_labels", "mean", "variance", "standard_deviation", "center_of_mass", "minimum", "maximum", "median"]:
            case(f, x)
            case(f, x, labels=labels)
            case(f, x, labels=labels, index=list(range(n, 0, -1)))
    case("sum_labels", x, labels=labels, index=[1, 999, 1])



def splines():
    for order in range(6):
        for mode in MODES:
            x = noise(7, 5)
            places = np.concatenate([rng.uniform(-3, 10, (2, 30)), np.array([[0, 6, 6, -0.2, 6.1, 2], [4, 0, 4, 2, 3, 3]])], 1)
            case("map_coordinates", x, np.round(places, 3), order=order, mode=mode, cval=0.3)
        if order > 1:
            case("spline_filter", noise(6, 9), order=order)
        for mode in ["mirror", "reflect", "grid-wrap"]:
            case("spline_filter1d", noise(2, 3, 4), order=order, axis=1, mode=mode)
    for mode in MODES:
        case("zoom", noise(6, 5), [1.7, 0.6], mode=mode, cval=0.3)
        case("zoom", noise(6, 5), 2.0, mode=mode, cval=0.3, order=1)
        case("shift", noise(6, 5), [1.3, -2.6], mode=mode, cval=0.3)
        case("rotate", noise(6, 5), 33.0, mode=mode, cval=0.3)
        case("affine_transform", noise(6, 5), np.array([[0.9, 0.3], [-0.2, 1.1]]), np.array([0.4, -1.0]), mode=mode, cval=0.3, order=2)
    case("zoom", noise(6, 5), 1.5, grid_mode=True, mode="grid-constant")
    case("zoom", noise(3, 4, 5), 2.0)
    case("rotate", noise(6, 5), 90.0, order=1)
    case("rotate", noise(4, 5, 3), -20.0, order=1, axes=[1, 2], reshape=False)
    for t in ["uint8", "int16", "float32"]:
        case("zoom", noise(6, 5, t=t), 2.0)
        case("shift", noise(6, 5, t=t), 0.5, order=1)


def more():
    """What came later, with numbers of its own."""
    global rng
    rng = np.random.default_rng(33)
    for shape, n, axis in [((5,), -1, -1), ((4, 6), -1, -1), ((4, 4), 6, 1), ((3, 4), 5, 0), ((3, 4, 5), -1, -1), ((3, 4, 3), 5, 2)]:
        for t in ["complex128", "float64", "complex64", "float32", "int32"]:
            for name, per in [("fourier_gaussian", 0.7), ("fourier_uniform", 2.5), ("fourier_shift", 1.25), ("fourier_ellipsoid", 3.5)]:
                if (name, t) != ("fourier_shift", "float32"):  # SciPy's result is complex128
                    case(name, noise(*shape, t=t), per, n=n, axis=axis)
        case("fourier_gaussian", noise(*shape), [0.3 + 0.2 * i for i in range(len(shape))], n=n, axis=axis)
    x, labels = noise(5, 6), rng.integers(0, 4, (5, 6))
    case("histogram", x, -1.0, 1.0, 4)
    case("histogram", x, -1.0, 1.0, 4, labels=labels)
    case("histogram", x, -1.0, 1.5, 3, labels=labels, index=[3, 1, 2])
    for t in ["uint64", "uint32", "int64", "uint8"]:
        y = noise(6, 7, t=t)
        for f in ["laplace", "prewitt", "sobel"]:
            case(f, y)
        case("correlate1d", y, np.array([-1.5, 0.25, 0.5]))
        case("uniform_filter", y, 3)
        case("shift", y, 0.4, order=1)
        case("zoom", y, 1.5)
    v = noise(4, 5, t="int16") // 40
    for ignore in (None, 0):
        d = nd.value_indices(v, ignore_value=ignore)
        flat = np.concatenate([np.stack([np.full(len(i[0]), k), *i], 1) for k, i in sorted(d.items())])
        cases.append(["value_indices", [pack(v)], {"ignore": ignore}, [pack(flat.astype("int64"))]])
    spread = lambda w: w.max() - 2 * w.min() + 0.5 * w[1]
    for mode in MODES:
        for origin in (0, [1, -1]):
            x = noise(5, 4)
            y = nd.generic_filter(x, spread, size=3, mode=mode, cval=0.4, origin=origin)
            cases.append(["generic_filter", [pack(x)], {"mode": mode, "cval": 0.4, "origin": origin}, [pack(y)]])
        x = noise(6, 5)
        y = nd.geometric_transform(x, lambda at: (at[0] * 0.8 + at[1] * 0.3 - 0.5, at[1] * 1.1 - at[0] * 0.2), (4, 7), mode=mode, cval=0.3)
        cases.append(["geometric_transform", [pack(x)], {"mode": mode, "cval": 0.3, "order": 3}, [pack(y)]])


def last():
    """What came after that, with numbers of its own."""
    global rng
    rng = np.random.default_rng(34)
    for mode in MODES:
        x = noise(5, 6)
        for axis, size, origin in [(1, 3, 0), (0, 4, 1), (1, 2, -1)]:
            f = lambda line, out: out.__setitem__(slice(None), np.lib.stride_tricks.sliding_window_view(line, size).max(-1) * line[0])
            y = nd.generic_filter1d(x, f, size, axis, mode=mode, cval=0.4, origin=origin)
            cases.append(["generic_filter1d", [pack(x)], {"mode": mode, "cval": 0.4, "origin": origin, "axis": axis, "size": size}, [pack(y)]])
        second = lambda x, axis, output, mode, cval: nd.correlate1d(x, [1, -2.5, 1, 0.5, 0], axis, output, mode, cval)
        cases.append(["generic_laplace", [pack(x)], {"mode": mode, "cval": 0.4}, [pack(nd.generic_laplace(x, second, mode=mode, cval=0.4))]])
        cases.append(["generic_gradient_magnitude", [pack(x)], {"mode": mode, "cval": 0.4}, [pack(nd.generic_gradient_magnitude(x, nd.prewitt, mode=mode, cval=0.4))]])
        for origin in (0, [1, -1]):
            y = nd.vectorized_filter(x, np.ptp, size=(3, 4), mode=mode, cval=0.4 if mode == "constant" else None, origin=origin) if not mode.startswith("grid") else nd.generic_filter(x, np.ptp, size=(3, 4), mode=mode, cval=0.4, origin=origin)
            cases.append(["vectorized_filter", [pack(x)], {"mode": mode, "cval": 0.4, "origin": origin}, [pack(y)]])
    # SciPy's watershed_ift joins the end of a row with the next row: walls keep paths from there.
    for shape, t, levels, marks in [((30,), "uint8", 4, "int16"), ((40,), "uint16", 60000, "int64"), ((7, 8), "uint8", 200, "int32"), ((12, 11), "uint16", 60000, "int32")]:
        for seeds in (2, 5, 12):
            x, m = rng.integers(0, levels, shape).astype(t), np.zeros(shape, marks)
            if len(shape) == 2:
                x[:, 0], x[:, -1] = 0, np.iinfo(t).max
            m.ravel()[rng.choice(x.size, seeds, replace=False)] = rng.integers(-2 if len(shape) == 1 else 1, 6, seeds)
            cases.append(["watershed_ift", [pack(x), pack(m)], {}, [pack(nd.watershed_ift(x, m))]])
            full = np.ones((3,) * len(shape), int)
            cases.append(["watershed_ift", [pack(x), pack(m)], {"structure": pack(full)}, [pack(nd.watershed_ift(x, m, full))]])


linear()
windows()
binary()
objects()
splines()
more()
last()
with gzip.GzipFile("vectors.json.gz", "wb", mtime=0) as f:
    f.write(json.dumps({"scipy": scipy.__version__, "cases": cases}).encode())
print(len(cases), "cases of SciPy", scipy.__version__)
