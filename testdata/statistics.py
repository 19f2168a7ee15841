"""Writes statistics.json: what NumPy and PyTorch give where statistics_test.go asks.

    python3 testdata/statistics.py > testdata/statistics.json      (needs numpy and torch)

A case names a function of the test, its tensors, numbers and text, the results and, where
PyTorch has them, the gradients of the sum of the results weighted by (7*i mod 5) - 1.5,
i being the place of an element. A tensor is its type, its shape and its elements, as text.
"""
import json
import warnings

import numpy as np
import torch

warnings.simplefilter("ignore")
inf, nan = np.inf, np.nan
rng = np.random.default_rng(11)
cases = []


def text(x):
    x = np.asarray(x)
    if x.dtype == bool:
        values = [str(int(v)) for v in x.ravel()]
    elif x.dtype.kind == "f":
        values = [np.format_float_positional(v, trim="-") if np.isfinite(v) and (v == 0 or 1e-3 < abs(v) < 1e6) else repr(float(v)) for v in x.ravel()]
    else:
        values = [str(v) for v in x.ravel()]
    return "%s[%s] %s" % (x.dtype, " ".join(map(str, x.shape)), " ".join(values))


def case(call, ins, outs, n=(), s="", grads=None):
    c = {"call": call, "in": [text(x) for x in ins], "out": [text(y) for y in outs]}
    if n:
        c["n"] = [repr(v) for v in n]
    if s:
        c["s"] = s
    if grads:
        c["grad"] = grads
    cases.append(c)


def by_torch(call, f, *ins, n=(), s="", grad=True):
    ts = [torch.tensor(x, requires_grad=grad and np.asarray(x).dtype.kind == "f") for x in ins]
    outs = f(*ts)
    outs = list(outs) if isinstance(outs, (tuple, list)) else [outs]
    grads = None
    if any(t.requires_grad for t in ts):
        total = 0
        for y in outs:
            if y.is_floating_point():
                w = torch.arange(y.numel()).mul(7).remainder(5).sub(1.5).reshape(y.shape).to(y.dtype)
                total = total + (y * w).sum()
        total.backward()
        # None stands for zeros.
        grads = [text((torch.zeros_like(t) if t.grad is None else t.grad).numpy()) if t.requires_grad else "" for t in ts]
    case(call, ins, [y.detach().numpy() for y in outs], n, s, grads)


def normal(*shape, dtype=np.float64):
    return np.round(rng.standard_normal(shape), 3).astype(dtype)


# Running results.
zeros = np.array([[2, 3, -1, 4], [0, 3, 2, -1], [2, 0, 3, 4], [2, 0, 3, 0], [0, 0, 1, 2], [1, 2, 3, 0]], float)
ties = np.array([[1, 3, 3, 2, 5, 5], [4, 4, 1, 0, 0, -1], [2, 5, nan, 7, 1, nan]])
for d in (np.float32, np.float64):
    for axis in (0, 1, -1):
        by_torch("cumsum", lambda x: x.cumsum(axis), normal(3, 5, dtype=d), n=[axis])
        by_torch("cumprod", lambda x: x.cumprod(axis), normal(3, 5, dtype=d), n=[axis])
        by_torch("cumprod", lambda x: x.cumprod(axis), zeros.astype(d), n=[axis])
by_torch("cumsum", lambda x: x.cumsum(0), np.array([1, inf, 2, -inf, 3.0]), n=[0])
for x in (np.array([True, False, True]), np.array([200, 100], np.uint8), np.array([2**31 - 1, 5, -7], np.int32), np.array([3, -4], np.int64)):
    by_torch("cumsum", lambda x: x.cumsum(0), x, n=[0])
    by_torch("cumprod", lambda x: x.cumprod(0), x, n=[0])
for axis in (0, 1):
    by_torch("cummax", lambda x: x.cummax(axis), ties, n=[axis])
    by_torch("cummin", lambda x: x.cummin(axis), ties, n=[axis])
by_torch("cummax", lambda x: x.cummax(0), np.array([3, 1, 4, 4, 2], np.int32), n=[0])

# Order.
for axis in (0, 1):
    for down in (0, 1):
        by_torch("sort", lambda x: x.sort(dim=axis, descending=bool(down), stable=True), ties, n=[axis, down])
    by_torch("max_with_index", lambda x: x.max(axis), ties, n=[axis])
    by_torch("min_with_index", lambda x: x.min(axis), ties, n=[axis])
by_torch("sort", lambda x: x.sort(stable=True), np.array([7, -1, 2**40, -(2**40), 7], np.int64), n=[0, 0])
x = normal(3, 20)
by_torch("topk", lambda x: x.topk(4, 1), x, n=[4, 1, 0])
by_torch("topk", lambda x: x.topk(2, 0, largest=False), x, n=[2, 0, 1])
for x in (np.array([5, 2, 5, 9, 2, 5]), np.array([[2.5, nan, -1], [nan, 2.5, inf]]), np.array([True, False, True]), np.array([], np.float32)):
    values, inverse, counts = np.unique(x, return_inverse=True, return_counts=True)
    case("unique", [x], [values, inverse.reshape(x.shape).astype(np.int64), counts.astype(np.int64)])
rows = np.array([-inf, -1, 0, 0, 0, 2.5, inf, nan])
queries = np.array([[-inf, -2, -1, 0, 1], [2.5, 3, inf, nan, -0.0]])
for right in (0, 1):
    case("searchsorted", [rows, queries], [np.searchsorted(rows, queries, "right" if right else "left").astype(np.int64)], n=[right])
    a, b = np.sort(rng.integers(0, 9, (2, 6)), 1), rng.integers(-1, 10, (2, 4))
    case("searchsorted", [a, b], [torch.searchsorted(torch.tensor(a), torch.tensor(b), right=bool(right)).numpy()], n=[right])

# Counting.
k = rng.integers(0, 7, 30)
case("bincount", [k], [np.bincount(k)], n=[0])
case("bincount", [k.astype(np.uint8)], [np.bincount(k, minlength=12)], n=[12])
w = normal(30)
case("bincount", [k, w], [np.bincount(k, w)], n=[0])
x = np.concatenate([normal(200), [0, 1, -1, 3, 3]])
for n in ([10, 0, 0], [7, -1, 1], [3, 0, 2.5]):
    limits = None if n[1:] == [0, 0] else n[1:]
    case("histogram", [x], np.histogram(x, n[0], limits), n=n)
    case("histogram", [x], np.histogram(x, n[0], limits, density=True), n=n, s="density")
    case("histogram", [x, np.abs(x)], np.histogram(x, n[0], limits, weights=np.abs(x)), n=n)
case("histogram", [x.astype(np.float32)], np.histogram(x.astype(np.float32), 8), n=[8, 0, 0])
case("histogram", [np.full(4, 2.0)], np.histogram(np.full(4, 2.0), 2), n=[2, 0, 0])
case("histogram", [k], np.histogram(k, 5), n=[5, 0, 0])
case("histogram", [np.array([])], np.histogram([], 2), n=[2, 0, 0])
edges = np.array([-2, -0.5, 0, 0.25, 3])
case("histogram", [x, edges], np.histogram(x, edges), n=[0, 0, 0], s="edges")
edges = np.array([0, 1, inf])
y = np.array([0.5, inf, 2, -1, nan, 1, inf])
case("histogram", [y, edges], np.histogram(y, edges), n=[0, 0, 0], s="edges")
x = np.array([[0, 1, nan], [0, -0.0, 5]])
case("count_nonzero", [x], [np.array(np.count_nonzero(x), np.int64)])
case("count_nonzero", [x], [np.count_nonzero(x, 1).astype(np.int64)], n=[1])

# Quantiles.
x = normal(4, 7)
qs = [0, 0.1, 0.25, 0.5, 0.6, 0.75, 1]
for method in ("linear", "lower", "higher", "midpoint", "nearest"):
    for axis in (0, 1):
        case("quantiles", [x], [np.quantile(x, qs, axis=axis, method=method)], n=[axis, *qs], s=method)
        if method != "nearest":
            by_torch("quantiles", lambda t: torch.quantile(t, torch.tensor(qs, dtype=t.dtype), dim=axis, interpolation=method), x, n=[axis, *qs], s=method)
for v in ([1.0, 2, 3, 4, 5], [1.0, 2, 3, 4]):
    case("quantiles", [np.array(v)], [np.quantile(v, [0.125, 0.375, 0.5, 0.625, 0.875], method="nearest")], n=[0, 0.125, 0.375, 0.5, 0.625, 0.875], s="nearest")
case("quantiles", [np.array([[1, nan, 2], [3, 1, 2]])], [np.quantile(np.array([[1, nan, 2], [3, 1, 2]]), [0, 0.5], axis=1)], n=[1, 0, 0.5])
case("median", [x], [np.median(x)])
case("median", [x], [np.median(x, 1)], n=[1])
y = normal(3, 4, 5)
case("median", [y], [np.median(y, (0, 2))], n=[0, 2])
case("percentile", [y], [np.percentile(y, 30, axis=1)], n=[30, 1])

# Distances.
x = np.array([[3, -4, 0], [0, 0, 0], [1, 2, -2], [5, -5, 5]], float)
for p in (2, 1, 0, inf, -inf, 3, 0.5, 1.5, 2.5, -1):
    norm = torch.linalg.vector_norm
    by_torch("norm", lambda t: norm(t, p, dim=1), x if p != -1 else x[2:] , n=[p, 1])
    by_torch("norm", lambda t: norm(t, p), x[2:], n=[p])
by_torch("norm", lambda t: norm(t, 2, dim=(0, 2)), normal(2, 3, 4), n=[2, 0, 2])
for p in (2, inf, -inf, 1, 3):
    by_torch("norm", lambda t: norm(t, p, dim=1), np.array([[1, nan, 2], [1, inf, -inf]]), n=[p, 1], grad=False)
a = np.array([1, 1, 1, inf, inf, -inf, nan, nan, 0, 1e10, 1e-9])
b = np.array([1 + 1e-6, 1.1, 1 + 2e-5, inf, -inf, -inf, nan, 1, 1e-9, 1.00001e10, 0])
for n in ([1e-5, 1e-8, 0], [1e-5, 1e-8, 1], [0.2, 0, 0], [0, 0.5, 0]):
    case("isclose", [a, b], [np.isclose(a, b, n[0], n[1], bool(n[2]))], n=n)
case("isclose", [np.array([1, 100, 2**62]), np.array([2, 101, 2**62 + 1])], [np.isclose(np.array([1, 100, 2**62]), np.array([2, 101, 2**62 + 1]), 0.01)], n=[0.01, 1e-8, 0])
for d in (np.float32, np.float64):
    v = np.array([nan, inf, -inf, 1.5, -0.0], d)
    case("nan_to_num", [v], [np.nan_to_num(v)], n=[0])
    by_torch("nan_to_num", lambda t: torch.nan_to_num(t, 7, 8, -9), v, n=[7, 8, -9])
case("nan_to_num", [np.array([1, 2])], [np.array([1, 2])], n=[0])
by_torch("hypot", torch.hypot, np.array([3, 1e200, 5e-324, inf, nan, -3, 1e-200]), np.array([4, 1e200, 5e-324, nan, 1, -4, 1e-180]), grad=False)
by_torch("hypot", torch.hypot, normal(5), normal(5))
by_torch("lerp", torch.lerp, normal(3, 4), normal(4), normal(3, 4))
by_torch("lerp", torch.lerp, np.array([1.0, 2, 3]), np.array([5.0, 6, 7]), np.array([0.0, 0.5, 1]))

# Products.
by_torch("dot", torch.dot, normal(7), normal(7))
by_torch("dot", torch.dot, np.array([2**30, 3], np.int32), np.array([4, -5], np.int32))
by_torch("outer", torch.outer, normal(3), normal(4))
by_torch("tensordot", lambda a, b: torch.tensordot(a, b, ([1, 2], [0, 1])), normal(2, 3, 4), normal(3, 4, 5), n=[1, 2, 0, 1])
by_torch("tensordot", lambda a, b: torch.tensordot(a, b, ([2, 0], [1, 2])), normal(2, 3, 4), normal(5, 4, 2), n=[-1, 0, 1, 2])
by_torch("tensordot", lambda a, b: torch.tensordot(a, b, 0), normal(2), normal(3, 2))
for formula, *shapes in (
    ("ij,jk->ik", (2, 3), (3, 4)), ("bij,bjk->bik", (2, 3, 4), (2, 4, 5)), ("ii", (3, 3)), ("ii->i", (3, 3)), ("ij->ji", (2, 3)), ("ij->", (2, 3)), ("ij->j", (2, 3)),
    ("i,i", (5,), (5,)), ("i,j->ij", (2,), (3,)), ("i,j", (2,), (3,)), ("ij,kj->ik", (2, 3), (4, 3)), ("ij,ij->ij", (2, 3), (2, 3)), ("ij,ij", (2, 3), (2, 3)),
    ("...ij,...jk->...ik", (2, 1, 3, 4), (5, 4, 2)), ("...i->...", (2, 3)), ("i...,i...->...", (3, 2), (3, 2)), ("b...,b...->b", (2, 3, 4), (2, 3, 4)), ("...ii->...i", (2, 3, 3)),
    ("ij,jk,kl->il", (2, 3), (3, 4), (4, 5)), ("ij,jk,kl,lm", (2, 3), (3, 4), (4, 5), (5, 2)), ("abc,abd,cd->ab", (2, 3, 4), (2, 3, 5), (4, 5)), ("bn,anm,bm->ba", (2, 3), (4, 3, 5), (2, 5)),
    ("bhqd,bhkd->bhqk", (2, 2, 3, 4), (2, 2, 5, 4)), ("ba", (2, 3)), ("Ba,bC", (2, 3), (4, 5)), ("iij,jjk->ik", (2, 2, 3), (3, 3, 4)), ("ij,j->ij", (1, 3), (3,)), ("ij,ij->i", (2, 1), (2, 3)),
    ("i j, j k -> k i", (2, 3), (3, 4)), ("ijk,ljm->kmil", (2, 3, 4), (5, 3, 2)), (",", (), ()), ("i,->i", (3,), ()), ("aab,b->a", (2, 2, 3), (3,)), ("ab,ab,ab->a", (2, 3), (2, 3), (2, 3)),
):
    by_torch("einsum", lambda *t: torch.einsum(formula.replace(" ", ""), *t), *[normal(*s) for s in shapes], s=formula)
a, b = rng.integers(-9, 9, (2, 3)), rng.integers(-9, 9, (3, 4))
case("einsum", [a, b], [np.einsum("ij,jk->ik", a, b)], s="ij,jk->ik")
a = a.astype(np.int32)
case("einsum", [a], [np.einsum("ij->i", a)], s="ij->i")
for n in (1, 4, 5, 10):
    x = normal(n, 2)
    qs = [0, 0.1, 0.25, 0.3, 0.5, 0.7, 0.75, 1]
    for method in ("inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull", "median_unbiased", "normal_unbiased"):
        case("quantiles", [x], [np.quantile(x, qs, axis=0, method=method)], n=[0, *qs], s=method)

print("[")
print(",\n".join(json.dumps(c) for c in cases))
print("]")
