"""Writes arrays.txt: what NumPy and SciPy give for the names that weft has from them.

    python arrays.py > arrays.txt

A line is: call | numbers | arguments | results, separated by " | ", arguments by "; ".
"""
import warnings

import numpy as np
from scipy import integrate, special, stats
from scipy.spatial import distance

warnings.simplefilter("ignore")
nan, inf = np.nan, np.inf
rng = np.random.default_rng(7)


def show(x):
    x = np.asarray(x)
    if x.dtype.kind == "c":  # parts in turn
        return f"{x.dtype}[{' '.join(map(str, x.shape))}] " + " ".join(repr(float(p)) for z in x.ravel() for p in (z.real, z.imag))
    values = x.ravel().astype(float) if x.dtype == np.float32 else x.ravel()
    words = [repr(int(v)) if x.dtype.kind in "biu" else repr(float(v)) for v in values]
    return f"{x.dtype}[{' '.join(map(str, x.shape))}] {' '.join(words)}".strip()


def case(call, numbers, args, *out):
    print(call, " ".join(repr(n) for n in numbers), "; ".join(show(a) for a in args), "; ".join(show(o) for o in out), sep=" | ")


f = np.round(rng.normal(size=(3, 5)), 3)
holes = f.copy()
holes[0, 1] = holes[1, :] = holes[2, 4] = nan
ints = rng.integers(-5, 6, size=(4, 3))
i8 = ints.astype(np.int8)
vec = np.array([3., 1., 2., 3., nan, 1., -inf, inf, 2., 3.])
u = np.array([4, 1, 4, 200, 7, 7, 1], np.uint8)
empty = np.zeros((0,))
cube = np.round(rng.normal(size=(2, 3, 4)), 2)

for name, g in [("nansum", np.nansum), ("nanprod", np.nanprod), ("nanmean", np.nanmean), ("nanvar", np.nanvar), ("nanstd", np.nanstd), ("nanmin", np.nanmin),
                ("nanmax", np.nanmax), ("nanmedian", np.nanmedian)]:
    for x in (f, holes, holes.astype(np.float32), np.array(nan), np.array([[inf, nan], [-inf, 2.]])):
        case(name, [], [x], g(x))
        for axis in range(-x.ndim, x.ndim):
            case(name, [axis], [x], g(x, axis=axis))
for name, g in [("nansum", np.nansum), ("nanprod", np.nanprod), ("nanmax", np.nanmax)]:
    case(name, [0], [ints], g(ints, axis=0))
case("nansum", [], [empty], np.nansum(empty))
for q in (0, 0.3, 0.5, 1):
    for x in (f, holes):
        case("nanquantile", [q, 1], [x], np.nanquantile(x, q, axis=1))
        case("nanquantile", [q, 0], [x], np.nanquantile(x, q, axis=0))
    case("nanpercentile", [100 * q, -1], [cube], np.nanpercentile(cube, 100 * q, axis=-1))
for name, g in [("nanargmin", np.nanargmin), ("nanargmax", np.nanargmax)]:
    for x in (f, holes[[0, 2]], np.array([[-inf, nan, inf], [nan, -inf, inf]])):
        case(name, [], [x], g(x))
        case(name, [1], [x], g(x, axis=1))
for name, g in [("nancumsum", np.nancumsum), ("nancumprod", np.nancumprod)]:
    for x in (holes, f, ints):
        case(name, [0], [x], g(x, axis=0))
        case(name, [-1], [x], g(x, axis=-1))
for x in (f, ints, i8, np.array([True, False, False]), np.array([[1, 250]], np.uint8), empty, np.array([2.])):
    for n in range(3):
        if x.dtype == bool and n > 1:
            continue
        case("diff", [x.ndim - 1, n], [x], np.diff(x, n=n))
    case("diff", [-x.ndim, 1], [x], np.diff(x, axis=0))
places = np.array([0., 0.5, 2., 2.25, 4.])
for edge in (1, 2):
    case("gradient", [0, edge, 2.], [f], np.gradient(f, 2., axis=0, edge_order=edge))
    case("gradient", [-1, edge], [f, places], np.gradient(f, places, axis=-1, edge_order=edge))
case("trapezoid", [0, 2.], [f], np.trapezoid(f, dx=2., axis=0))
case("trapezoid", [-1], [f, places], np.trapezoid(f, places, axis=-1))
case("trapezoid", [0, 1.], [empty], np.trapezoid(empty))
twice = np.array([0., 1., 1., 2., 2.5])
for name, g in [("simpson", integrate.simpson), ("cumulativetrapezoid", integrate.cumulative_trapezoid)]:
    for x in (f, f[:, :4], f[:2, :3], f[:, :2], f[:, :1], ints.astype(float)):
        case(name, [0, 2.], [x], g(x, dx=2., axis=0))
        case(name, [-1, 0.5], [x], g(x, dx=0.5, axis=-1))
        for p in (places, -places):
            case(name, [-1], [x, p[:x.shape[1]]], g(x, x=p[:x.shape[1]], axis=-1))
    case(name + "_equal", [1], [f, twice], g(f, x=twice, axis=1))
queries = np.array([[-1., 0., 0.3, nan], [2.1, 4., 9., 0.5]])
case("interp", [], [queries, places, f[1]], np.interp(queries, places, f[1]))
case("interp", [], [queries[1], places[:1], f[1, :1]], np.interp(queries[1], places[:1], f[1, :1]))
w = np.abs(f) + 0.1
case("average", [], [f, w], np.average(f, weights=w))
case("average", [1], [f, w[0]], np.average(f, weights=w[0], axis=1))
case("average", [-2], [f, w], np.average(f, weights=w, axis=-2))
case("interp", [], [np.array([0., 0.5, 1., 1.5, 2., 2.5]), np.array([0., 1., 2., 3.]), np.array([inf, 2., -inf, -inf])], np.interp([0., 0.5, 1., 1.5, 2., 2.5], [0., 1., 2., 3.], [inf, 2., -inf, -inf]))
case("cov", [0, 0], [np.zeros((2, 0))], np.full((2, 2), nan))
for name, g in [("cov", np.cov), ("corrcoef", np.corrcoef)]:
    case(name, [0, 0], [f], g(f))
    case(name, [1, 0], [f], g(f, rowvar=False))
    case(name, [0, 0], [f[0]], g(f[0]))
case("cov", [0, 1], [f], np.cov(f, bias=True))
often, weight = np.arange(f.shape[1]) % 3, np.abs(f[0]) + 0.25
for bias in (0, 1):
    case("cov", [0, bias, 1], [f, often], np.cov(f, bias=bool(bias), fweights=often))
    case("cov", [0, bias, 2], [f, weight], np.cov(f, bias=bool(bias), aweights=weight))
    case("cov", [0, bias, 3], [f, often, weight], np.cov(f, bias=bool(bias), fweights=often, aweights=weight))
case("cov", [0, 0, 3], [f[1], often, weight], np.cov(f[1], fweights=often, aweights=weight))
case("cov", [1, 0, 2], [f.T, weight], np.cov(f.T, rowvar=False, aweights=weight))
edges = np.array([-1., 0., 0.5, 2.])
for right in (False, True):
    for e in (edges, edges[::-1]):
        x = np.array([-5., -1., 0.2, 0.5, 2., 3., nan, -1.5])
        case("digitize", [int(right)], [x, e], np.digitize(x, e, right=right))
points = rng.normal(size=(40, 2))
h, (a, b) = np.histogramdd(points, bins=[3, 4])
case("histogramdd", [0, 3, 4], [points], h.astype(int), a, b)
h, (a, b) = np.histogramdd(points, bins=[3, 4], density=True)
case("histogramdd", [1, 3, 4], [points], h, a, b)
h, (a, b) = np.histogramdd(points, bins=[2, 2], range=[[-1, 1], [0, 2]])
case("histogramdd", [0, 2, 2, -1, 1, 0, 2], [points], h.astype(int), a, b)
case("ptp", [1], [f], np.ptp(f, axis=1))
case("ptp", [], [u], np.ptp(u))
for x in (np.array([[3, 1, 3, 1], [2, 2, 0, 5]]), np.array([[1.5, 1.5, 0.], [2., 1., 0.]]), u):
    for axis in range(-x.ndim, x.ndim):
        m = stats.mode(x, axis=axis)
        case("mode", [axis], [x], m.mode, m.count)
phase = np.cumsum(np.array([[0., 3, 3, -3, -3.2, 6], [1, 1, 2, 2, 2, -7]]), axis=1) % (2 * np.pi)
case("unwrap", [1], [phase], np.unwrap(phase, axis=1))
case("unwrap", [0], [phase], np.unwrap(phase, axis=0))
case("logcumsumexp", [1], [f], np.logaddexp.accumulate(f, axis=1))
case("logcumsumexp", [0], [np.array([-1000., -inf, -999., 0., 800.])], np.logaddexp.accumulate([-1000., -inf, -999., 0., 800.]))
case("cross", [], [f[:, :3], f[:, 2:]], np.cross(f[:, :3], f[:, 2:]))
case("cross", [], [ints, ints[0]], np.cross(ints, ints[0]))
case("trace", [1], [f], np.trace(f, 1))
case("trace", [-1], [i8], np.trace(i8, -1).astype(np.int64))
case("vdot", [], [f, f * 2], np.vdot(f, f * 2))
case("inner", [], [f, f[:2]], np.inner(f, f[:2]))
case("inner", [], [cube, f[0, :4]], np.inner(cube, f[0, :4]))
for p in (1, 2, 3):
    case("cdist", [p], [f, f[:2] * 2], distance.cdist(f, f[:2] * 2, "minkowski", p=p))
    case("pdist", [p], [f], distance.pdist(f, "minkowski", p=p))
case("cdist", [inf], [f, f[:2] * 2], distance.cdist(f, f[:2] * 2, "chebyshev"))

for x, y in ((u, np.array([7, 3, 200, 200])), (np.array([[1., 2.], [2., 3.]]), np.array([3., 9.])), (ints, empty.astype(int)), (empty, f)):
    case("union1d", [], [x, y], np.union1d(x, y))
    case("intersect1d", [], [x, y], np.intersect1d(x, y))
    case("setdiff1d", [], [x, y], np.setdiff1d(x, y).astype(np.promote_types(x.dtype, y.dtype)))
    case("setxor1d", [], [x, y], np.setxor1d(x, y))
    case("isin", [], [x, y], np.isin(x, y))
case("isin", [], [vec, np.array([nan, 3., inf])], np.isin(vec, [nan, 3., inf]))
rows = np.array([[1, 0, 2], [1, 0, 1], [0, 5, 5], [1, 0, 2]])
for axis in (0, 1, -1):
    v, inv, c = np.unique(rows, axis=axis, return_inverse=True, return_counts=True)
    case("uniqueaxis", [axis], [rows], v, inv.ravel(), c)
case("lexsort", [0], [u, u[::-1]], np.lexsort((u, u[::-1])))
case("lexsort", [1], [f, np.sign(f)], np.lexsort((f, np.sign(f)), axis=1))
for x in (ints, np.array(3), np.array(0), np.zeros((0, 2)), vec):
    case("argwhere", [], [x], np.argwhere(x))
flat = np.array([[0, 5], [11, 7]])
case("unravel_index", [3, 4], [flat], *np.unravel_index(flat, (3, 4)))
case("ravel_multi_index", [3, 4], [flat % 3, flat % 4], np.ravel_multi_index((flat % 3, flat % 4), (3, 4)))
for n, m, k in ((3, 4, 0), (4, 2, -1), (2, 5, 2), (3, 3, -5), (3, 3, 5), (0, 3, 0)):
    case("tril_indices", [n, m, k], [], *np.tril_indices(n, k, m))
    case("triu_indices", [n, m, k], [], *np.triu_indices(n, k, m))
    case("tri", [n, m, k], [], np.tri(n, m, k, dtype=np.float32))
case("indices", [2, 3], [], np.indices((2, 3)))
case("ix", [], [np.array([0, 2]), np.array([True, False, True])], *np.ix_([0, 2], [True, False, True]))
case("partition", [2, 0], [np.sort(vec[:4])], np.partition(vec[:4], 2))
for x, axis, at, v in ((f, 1, [1], np.array([9., 8., 7.])[:, None]), (f, 0, [0, -1, 3], np.arange(15.).reshape(3, 5)), (f, 0, [1], np.arange(10.).reshape(2, 5)),
                       (u, 0, [2, 2, 0], np.array([1, 2, 3], np.uint8))):
    case("insert", [axis] + at, [x, v], np.insert(x, at if len(at) > 1 else at[0], v.T if v.shape == (3, 1) else v, axis=axis))
case("delete", [1, 0, -1, 0], [f], np.delete(f, [0, -1, 0], axis=1))
case("delete", [0], [u], np.delete(u, [], axis=0))
case("append", [0], [f, f[:1]], np.append(f, f[:1], axis=0))
case("compress", [1], [f, np.array([True, False, True])], np.compress([True, False, True], f, axis=1))
case("select", [], [f > 0.5, f > 0, f, -f], np.select([f > 0.5, f > 0], [f, -f], 42.))
case("choose", [], [np.array([[0, 1], [1, 2]]), np.array([1., 2.]), np.array([[3.], [4.]]), np.array(5.)], np.choose([[0, 1], [1, 2]], [np.array([1., 2.]), np.array([[3.], [4.]]), np.array(5.)]))
case("piecewise", [], [f], np.piecewise(f, [f < 0, f > 0.5], [lambda x: -x, 7., lambda x: x * 2]))

for x in (np.array(2.), f[0], f, cube):
    for k in (1, 2, 3):
        case("atleast", [k], [x], [np.atleast_1d, np.atleast_2d, np.atleast_3d][k - 1](x))
case("dstack", [], [f, f], np.dstack([f, f]))
case("dstack", [], [f[0], f[1]], np.dstack([f[0], f[1]]))
case("column_stack", [], [f[:, 0], f], np.column_stack([f[:, 0], f]))
case("array_split", [1, 3], [f], *np.array_split(f, 3, axis=1))
case("array_split", [0, 4], [f], *np.array_split(f, 4, axis=0))
for k in range(-1, 5):
    case("rot90", [k, 0, 1], [f], np.rot90(f, k))
    case("rot90", [k, 2, 0], [cube], np.rot90(cube, k, (2, 0)))
case("rollaxes", [0, 1, 1, -2], [f], np.roll(f, (1, -2), (0, 1)))
case("resize", [4, 5], [f], np.resize(f, (4, 5)))
case("resize", [2], [f], np.resize(f, (2,)))
case("sliding_window_view", [1, 3], [f], np.lib.stride_tricks.sliding_window_view(f, 3, axis=1))
case("sliding_window_view", [-2, 2], [cube], np.lib.stride_tricks.sliding_window_view(cube, 2, axis=-2))
case("as_strided", [1, 2, 3, 2, 1], [u], np.lib.stride_tricks.as_strided(u[1:], (2, 3), (2, 1)))
for mode in ("edge", "reflect", "symmetric", "wrap", "maximum", "minimum", "mean", "median", "linear_ramp"):
    for x, pads in ((f, ((2, 7), (0, 9))), (ints, ((1, 0), (4, 1))), (u, ((3, 2),)), (np.array([5.]), ((2, 3),))):
        case("pad_" + mode, [n for p in pads for n in p], [x], np.pad(x, pads, mode))
for mode in ("maximum", "mean", "edge"):
    case("pad_" + mode, [0, 0, 1, 1], [np.zeros((0, 2))], np.pad(np.zeros((0, 2)), ((0, 0), (1, 1)), mode))
case("logspace", [-2, 3, 6], [], np.logspace(-2, 3, 6))
case("logspace", [1, 3, 1], [], np.logspace(1, 3, 1))
case("geomspace", [1, 1000, 4], [], np.geomspace(1, 1000, 4))
case("geomspace", [-2, -64, 6], [], np.geomspace(-2, -64, 6))

pairs = np.array([[7., -7., 7., -7., 0., -0., nan, inf, 5.5], [3., 3., -3., -3., 2., 2., 1., 2., inf]])
for name, g in [("fmod", np.fmod), ("copysign", np.copysign), ("fmin", np.fmin), ("fmax", np.fmax), ("heaviside", np.heaviside), ("nextafter", np.nextafter),
                ("logaddexp", np.logaddexp), ("logaddexp2", np.logaddexp2), ("xlogy", special.xlogy)]:
    case(name, [], [pairs[0], pairs[1]], g(pairs[0], pairs[1]))
    case(name, [], [f.astype(np.float32), f[0].astype(np.float32)], g(f.astype(np.float32), f[0].astype(np.float32)))
for name, g in [("fmod", np.fmod), ("gcd", np.gcd), ("lcm", np.lcm), ("fmax", np.fmax)]:
    case(name, [], [i8, np.array([3, 4, -2], np.int8)], g(i8, np.array([3, 4, -2], np.int8)))
    case(name, [], [ints, np.array([3, 4, -2])], g(ints, np.array([3, 4, -2])))
case("ldexp", [], [f[0], np.array([3, -2, 0, 1, -1000])], np.ldexp(f[0], [3, -2, 0, 1, -1000]))
for name, g in [("cbrt", np.cbrt), ("sinc", np.sinc), ("degrees", np.degrees), ("radians", np.radians), ("spacing", np.spacing), ("signbit", np.signbit)]:
    case(name, [], [f], g(f))
    case(name, [], [pairs[0]], g(pairs[0]))
case("logit", [], [np.array([0., 1e-9, 0.2, 0.5, 0.75, 1., 2.])], special.logit([0., 1e-9, 0.2, 0.5, 0.75, 1., 2.]))
case("frexp", [], [vec], *np.frexp(vec))
case("modf", [], [vec * 1.25], *np.modf(vec * 1.25))
case("divmod", [], [ints, np.array([3, 2, -2])], *np.divmod(ints, [3, 2, -2]))
for d in (-1, 0, 2, 3):
    case("roundto", [d], [f * 100], np.round(f * 100, d))
case("roundto", [-2], [np.array([1250, 1350, -149, -150, 49])], np.array([1200, 1400, -100, -200, 0]))

# Sets, searches and selections of every kind of element, and of none.
holed = np.array([2., nan, -0., 0., inf, -inf, 2., nan])
few = [np.array([True, False, True, True]), i8[:, 0], u, np.array([3, -1, 3], np.int32), np.array([2**31, -2**31, 5, 5]), holed.astype(np.float32), holed,
       np.zeros((0,), np.int8), np.zeros((0,), bool), np.zeros((0, 3)), np.array(4.), np.array(True), np.array([[3, 1], [1, 3]])]
for x in few:
    case("unique", [], [x], *(np.asarray(r).reshape(x.shape) if i == 1 else r for i, r in enumerate(np.unique(x, return_inverse=True, return_counts=True))))
    for y in (x.ravel()[:1], x, np.array([2, 3], x.dtype), np.zeros((0,), x.dtype)):
        case("union1d", [], [x, y], np.union1d(x, y))
        case("intersect1d", [], [x, y], np.intersect1d(x, y))
        case("setdiff1d", [], [x, y], np.setdiff1d(x, y))
        case("setxor1d", [], [x, y], np.setxor1d(x, y))
        case("isin", [], [x, y], np.isin(x, y))
    ranks = np.sort(x.ravel())
    for right in (0, 1):
        case("searchsorted", [right], [ranks, x], np.searchsorted(ranks, x, "right" if right else "left"))
    if x.size and x.ndim:
        for k in (0, -1, x.shape[-1] // 2):
            case("kth", [k, -1], [x], np.take(np.partition(x, k, axis=-1), k, axis=-1))
            case("kth", [k % x.shape[0], 0], [x], np.take(np.partition(x, k % x.shape[0], axis=0), k % x.shape[0], axis=0))
for x in (np.zeros((0, 3), np.int8), np.zeros((3, 0)), np.array([[True, False], [True, False]]), np.array([[0., -0.], [-0., 0.], [1., -1.]]), np.array([[[1, 2]], [[1, 2]], [[0, 9]]])):
    for axis in range(x.ndim):
        if x.shape[axis] == 0 or x.size == 0:
            continue
        v, inv, c = np.unique(x, axis=axis, return_inverse=True, return_counts=True)
        case("uniqueaxis", [axis], [x], v, inv.ravel(), c)
for keys in ([np.array([True, False, True]), np.array([1, 1, 0])], [holed, -holed], [np.zeros((0,))], [np.array([[3, 1, 2], [1, 1, 0]])] * 2):
    case("lexsort", [-1], keys, np.lexsort(keys))
case("digitize", [0], [np.array([[3, 1], [7, 2]]), np.array([1, 3, 3, 7])], np.digitize([[3, 1], [7, 2]], [1, 3, 3, 7]))
case("digitize", [1], [np.array([[3, 1], [7, 2]]), np.array([1, 3, 3, 7])], np.digitize([[3, 1], [7, 2]], [1, 3, 3, 7], right=True))
case("digitize", [0], [np.array(2.), np.array([1., 3.])], np.digitize(2., [1., 3.]))
case("digitize", [0], [np.zeros((0,)), np.array([1., 3.])], np.digitize(np.zeros((0,)), [1., 3.]))
case("digitize", [0], [holed, np.zeros((0,))], np.digitize(holed, np.zeros((0,))))
case("digitize", [0], [np.array([1., nan, 5.]), np.array([2.])], np.digitize([1., nan, 5.], [2.]))
for x, bins in ((np.array([1., 1., 1.]), 4), (np.zeros((0,)), 3), (np.array([0., 0.5, 1., 1., 0.25]), 4), (np.array([3, 1, 2, 2, 9]), 4), (np.array([[1., 2.], [3., 4.]], np.float32), 3),
                (np.array([-5.5]), 1), (np.array([1e-300, 2e-300, 3e-300]), 2), (np.array(7.), 2), (np.array([True, False, True]).astype(np.uint8), 2)):
    h, e = np.histogram(x, bins)
    case("histogram", [bins], [x], h, e)
    h, e = np.histogram(x, bins, range=(0, 2))
    case("histogram", [bins, 0, 2], [x], h, e)
xs = np.array([0., 1., 1., 2.])
for q in (np.array([0., 1., 2., -inf, inf, nan, 1.5]), np.array(0.5), np.zeros((0, 2))):
    case("interp", [], [q, xs, np.array([1., 2., 5., 7.])], np.interp(q, xs, [1., 2., 5., 7.]))
    case("interp", [], [q, np.array([0, 1, 3]), np.array([2, 4, 4])], np.interp(q, [0, 1, 3], [2, 4, 4]))
case("interp", [], [np.array([0, 1, 2]), np.array([0., 2.]), np.array([nan, 1.])], np.interp([0, 1, 2], [0., 2.], [nan, 1.]))
case("gradient", [0, 1], [np.array([1., 5.]), np.array([0., 4.])], np.gradient([1., 5.], [0., 4.]))
case("gradient", [0, 1], [np.array([1., 5., 2.]), np.array([0., 4., 4.5])], np.gradient([1., 5., 2.], [0., 4., 4.5]))
case("gradient", [0, 2], [np.array([1., 5., 2.]), np.array([4., 2., -1.])], np.gradient([1., 5., 2.], [4., 2., -1.], edge_order=2))
case("gradient", [1, 1, 1.], [np.array([[1., inf, 3.], [nan, 2., 0.]])], np.gradient([[1., inf, 3.], [nan, 2., 0.]], axis=1))
for mode in ("edge", "reflect", "symmetric", "wrap", "maximum", "minimum", "mean", "median", "linear_ramp"):
    for x, pads in ((np.array([True, False]), ((1, 2),)), (np.zeros((2, 0)), ((1, 1), (0, 0))), (np.array([[1., nan, 3.]]), ((0, 0), (2, 1))), (f[:, :2].astype(np.float32), ((0, 0), (3, 0)))):
        if mode in ("mean", "linear_ramp") and x.dtype == bool or mode == "median" and x.dtype == bool:
            continue
        case("pad_" + mode, [n for p in pads for n in p], [x], np.pad(x, pads, mode))
case("argwhere", [], [np.array([[nan, -0.], [0., 1.]])], np.argwhere([[nan, -0.], [0., 1.]]))
case("delete", [0, 0], [np.array([True, False])], np.delete([True, False], [0]))
case("insert", [0, 0], [np.zeros((0,)), np.array([1.])], np.insert(np.zeros((0,)), 0, [1.]))
case("array_split", [0, 3], [np.zeros((0, 2))], *np.array_split(np.zeros((0, 2)), 3))
for x in (np.zeros((0, 2)), np.array([[True, False]])):
    case("compress", [1], [x, np.array([False, True])], np.compress([False, True], x, axis=1))
case("nanmedian", [0], [np.array([[nan, 1.], [nan, inf], [3., -inf]])], np.nanmedian(np.array([[nan, 1.], [nan, inf], [3., -inf]]), axis=0))
z = np.round(rng.normal(size=(3, 5)) + 1j * rng.normal(size=(3, 5)), 3)
steps = z / np.abs(z)
for x in (z, z.astype(np.complex64), 0.01 * z, np.array(1 + 2j), np.zeros((0, 2), complex), np.array([0, 2, -3, 1e-9j])):
    for name, g in [("expm1", np.expm1), ("log1p", np.log1p), ("sinc", np.sinc), ("round", np.round)]:
        case(name, [], [x], g(x))
    case("round_to", [1], [x], np.round(x, 1))
    case("round_to", [-1], [100 * x], np.round(100 * x, -1))
for x in (z, np.tile(steps, (2, 3)), np.array([[0, 1j, 2, 0, 1 + 1j]]), np.zeros((0, 3), complex)):
    for axis in (0, -1):
        case("cumsum", [axis], [x], np.cumsum(x, axis=axis))
        case("cumprod", [axis], [x], np.cumprod(x, axis=axis))
for x in (z, np.array([[1j, 2, 1], [1, 1, 1j]])):
    case("cov", [0, 0], [x], np.cov(x))
    case("cov", [1, 1], [x], np.cov(x, rowvar=False, bias=True))
    case("corrcoef", [0], [x], np.corrcoef(x))
case("interp", [], [queries[1], places, z[1]], np.interp(queries[1], places, z[1]))
whole = rng.integers(-1, 2, (3, 4)) + 1j * rng.integers(-1, 2, (3, 4))
other = np.array([1, 1j, 0, -1 - 1j, 1, complex(0., -0.)])
broken = np.array([complex(nan, 1), 1, complex(1, nan), 1, 2j])
for x in (whole, broken, np.zeros((0,), complex)):
    case("unique", [], [x], *np.unique(x, return_inverse=True, return_counts=True))
    case("isin", [], [x, other], np.isin(x, other))
    case("isin", [], [x, np.array([0., 1., nan])], np.isin(x, [0., 1., nan]))
    for name, g in [("union1d", np.union1d), ("intersect1d", np.intersect1d), ("setdiff1d", np.setdiff1d), ("setxor1d", np.setxor1d)]:
        if x is not broken:
            case(name, [], [x, other], g(x, other))
case("uniqueaxis", [0], [whole.reshape(6, 2)], *np.unique(whole.reshape(6, 2), axis=0, return_inverse=True, return_counts=True))

# The keywords keepdims and ddof of reductions.
for name, g in [("any", np.any), ("all", np.all), ("argmin", np.argmin), ("argmax", np.argmax), ("count_nonzero", np.count_nonzero), ("median", np.median)]:
    for x in (f, ints.astype(float)):
        for axis in (None, 0, -1):
            case(name + "_keep", [] if axis is None else [axis], [x], g(x, axis=axis, keepdims=True))
for name, g in [("nansum", np.nansum), ("nanprod", np.nanprod), ("nanmean", np.nanmean), ("nanvar", np.nanvar), ("nanstd", np.nanstd), ("nanmin", np.nanmin),
                ("nanmax", np.nanmax), ("nanmedian", np.nanmedian), ("nanargmin", np.nanargmin), ("nanargmax", np.nanargmax)]:
    for axis in (None, 1):
        case(name + "_keep", [] if axis is None else [axis], [holes[[0, 2]]], g(holes[[0, 2]], axis=axis, keepdims=True))
for axis in (0, 1):
    case("quantile_keep", [0.3, axis], [f], np.quantile(f, 0.3, axis=axis, keepdims=True))
    case("nanquantile_keep", [0.3, axis], [holes], np.nanquantile(holes, 0.3, axis=axis, keepdims=True))
for keep in ("", "_keep"):
    for ddof in (0, 1, 2, 3, 4):
        for axis in ((), (0,), (1,), (-1, 0)):
            x, over = f, {"axis": axis or None, "ddof": ddof, "keepdims": bool(keep)}
            case("var_ddof" + keep, [ddof, *axis], [x], np.var(x, **over))
            case("std_ddof" + keep, [ddof, *axis], [x], np.std(x, **over))
    for axis in ((), (0,), (1,)):
        for x in (f, holes, np.array([[nan, 1.0], [2.0, 5.0]])):
            over = {"axis": axis or None, "ddof": 1, "keepdims": bool(keep)}
            case("nanvar_sample" + keep, axis, [x], np.nanvar(x, **over))
            case("nanstd_sample" + keep, axis, [x], np.nanstd(x, **over))

# The keywords of eye and interp: left, right (nan for none), period (0 for none).
for n, m, k in ((3, 4, 1), (4, 2, -1), (3, 3, 5), (2, 5, -2), (3, 0, 0), (0, 3, 0), (2, 3, 2)):
    case("eye", [n, m, k], [], np.eye(n, m, k))
for left, right in ((-5.0, nan), (nan, 7.5), (-5.0, 7.5)):
    for y, at in ((f[1], queries), (z[1], queries[1])):
        case("interp_opts", [left, right, 0], [at, places, y], np.interp(at, places, y, None if np.isnan(left) else left, None if np.isnan(right) else right))
angles, turned = np.array([-725., -180., -0.5, 0., 5., 190., 359., 360., 1000., nan]), np.array([350., 10., -170., 420., 100.])
for y in (f[1], z[1]):
    angles = angles[:9] if np.iscomplexobj(y) else angles
    case("interp_opts", [nan, nan, 360.0], [angles, turned, y], np.interp(angles, turned, y, period=360))
    case("interp_opts", [-5.0, 7.5, -360.0], [angles, turned[:1], y[:1]], np.interp(angles, turned[:1], y[:1], -5, 7.5, period=-360))

# The keywords of pad; their numbers stand behind the widths.
odd = np.array([[3, -1, 4], [1, 5, -9]], np.int8)
for mode in ("reflect", "symmetric"):
    for x, pads in ((f, ((2, 7), (0, 9))), (f, ((11, 0), (1, 13))), (ints, ((1, 0), (4, 1))), (u, ((30, 2),)), (np.array([5.]), ((2, 3),)), (odd, ((3, 4), (9, 2))), (z, ((1, 2), (7, 0))),
                    (np.array([[1., inf, 3.]]), ((0, 0), (5, 5))), (f[:, :2].astype(np.float32), ((0, 0), (3, 0))), (np.array([True, False, False]), ((2, 7),)), (np.array([1., 2.]), ((0, 40),))):
        case("padodd_" + mode, [n for p in pads for n in p], [x], np.pad(x, pads, mode, reflect_type="odd"))
for mode in ("maximum", "minimum", "mean", "median"):
    for x, pads, lengths in ((f, ((2, 7), (0, 3)), ((1, 2), (3, 4))), (f, ((1, 1), (1, 1)), ((2, 9), (5, 5))), (ints, ((1, 0), (4, 1)), ((2, 2), (2, 3))), (u, ((3, 2),), ((2, 4),)), (z, ((1, 2), (7, 0)), ((2, 2), (3, 3)))):
        if np.iscomplexobj(x) and mode != "mean":
            continue
        case("padlengths_" + mode, [n for p in pads + lengths for n in p], [x], np.pad(x, pads, mode, stat_length=lengths))
for mode, key in (("constant", "constant_values"), ("linear_ramp", "end_values")):
    for x, pads, values in ((f, ((2, 7), (0, 3)), ((1.5, -2.5), (3., nan))), (ints, ((1, 0), (4, 1)), ((2, 2), (-7, 30))), (u, ((3, 2),), ((100, 7),)), (z, ((1, 2), (7, 0)), ((2, 1), (0, 0.5))),
                            (np.array([5.]), ((2, 3),), ((-inf, 1),)), (f.astype(np.float32), ((3, 1), (2, 2)), ((0.1, 0.3), (7, -0.7))), (np.zeros((2, 3)), ((0, 0), (0, 0)), ((1, 1), (1, 1)))):
        case(f"padvalues_{mode}", [n for p in pads + values for n in p], [x], np.pad(x, pads, mode, **{key: values}))
case("padvalues_constant", [0, 0, 1, 2, 5, 5, 7, 8], [np.zeros((2, 0))], np.pad(np.zeros((2, 0)), ((0, 0), (1, 2)), constant_values=((5, 5), (7, 8))))

# The keyword ddof of nanvar and nanstd.
for keep in ("", "_keep"):
    for ddof in (0, 1, 2, 4):
        for axis in ((), (0,), (1,), (-1, 0)):
            for x in (f, holes, np.array([[nan, 1.0, 4.0], [2.0, 5.0, nan]])):
                over = {"axis": axis or None, "ddof": ddof, "keepdims": bool(keep)}
                case("nanvar_ddof" + keep, [ddof, *axis], [x], np.nanvar(x, **over))
                case("nanstd_ddof" + keep, [ddof, *axis], [x], np.nanstd(x, **over))
