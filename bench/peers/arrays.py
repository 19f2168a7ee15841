"""Reductions, rows, layouts, order and indices: every formulation allocates its result anew.

One table: for each work its inputs and its texts, by library. An input is a
NumPy array; PyTorch's are the same as tensors.
"""
from functools import lru_cache

import numpy as np

from form import Form, Ready, available
from inputs import elements, indices, random, summary, uniform
from loops import loop_forms


scipy_sparse = available("scipy.sparse")
available("scipy.sparse.linalg")  # an attribute of scipy.sparse from here on


def wide(n, d):
    return {"x": uniform(n, 1, -4, 4, d)}


def rows(n, width, d, lo=-4, hi=4):
    return {"x": uniform(n * width, 1, lo, hi, d).reshape(n, width)}


def softmax(n, d):
    return rows(n, 1000, d)


def layer_norm(n, d):
    return rows(n, 1024, d) | {"w": uniform(1024, 2, -1, 1, d), "b": uniform(1024, 3, -1, 1, d)}


def square(n, d):
    return {"x": random((n, n), 1, d)}


def column_and_row(n, d):
    return {"a": uniform(n, 1, -1, 1, d).reshape(n, 1), "b": uniform(n, 2, -1, 1, d).reshape(1, n)}


def gather(n, d):
    return rows(n, 128, d, -1, 1) | {"i": indices(n, 2, n)}


def scatter(n, d):
    return gather(n, d) | {"t": uniform(n * 128, 3, -1, 1, d).reshape(n, 128)}


def masked(n, d):
    return {"x": uniform(n, 1, -1, 1, d), "m": random(n, 2, d) > 0}


def where(n, d):
    return {"a": uniform(n, 1, -1, 1, d), "b": uniform(n, 3, -1, 1, d), "m": random(n, 2, d) > 0}


def pictures(n, d):
    return {"x": random((n, 64, 112, 112), 1, d)}


def scrambled(n, d):
    return {"x": random(n, 1, d)}


def odd(n, d):
    return {"x": random(n + 1, 1, d)}


def rows_of_101(n, d):
    return {"x": random((n, 101), 1, d)}


def rows_of_100(n, d):
    return {"x": random((n, 100), 1, d)}


def two(n, d):
    return {"x": random(n, 1, d), "y": random(n, 2, d)}


def within(n, d):
    return square(n, d) | {"i": indices(n * n, 2, n).reshape(n, n)}


def added_within(n, d):
    return within(n, d) | {"t": random((n, n), 3, d)}


def pixels(n, d):
    return {"x": elements(n * n * 3, "uint8", 1).reshape(n, n, 3)}


def groups(n, d):
    return {"i": indices(n, 2, 1000)}


def grouped(n, d):
    return {"x": random(n, 1, d), "i": indices(n, 2, 1000)}


def bags(n, d):
    return {"x": random((100_000, 64), 1, d), "i": indices(n * 8, 2, 100_000).reshape(n, 8)}


def narrow(n, d):
    return {"x": random((n, 64, 224, 4), 1, d), "w": random((64, 64, 3, 3), 2, d)}


def entries(n, d, columns=None):
    """A matrix of n entries, ten a row on average, in compressed rows, and what it multiplies."""
    rows = n // 10
    offsets = np.zeros(rows + 1, "int32")
    np.cumsum(np.bincount(indices(n, 1, rows), minlength=rows), out=offsets[1:])
    shape = (rows,) if columns is None else (rows, columns)
    return {"v": random(n, 3, d), "i": indices(n, 2, rows).astype("int32"), "o": offsets, "x": random(shape, 4, d)}


def entries_64(n, d):
    return entries(n, d, 64)


def grid(n, d):
    """The five-point Laplacian of a grid of n x n, in compressed columns, and a right side."""
    line = scipy_sparse.diags_array([np.full(n, 2, d), np.full(n - 1, -1, d), np.full(n - 1, -1, d)], offsets=[0, 1, -1])
    eye = scipy_sparse.eye_array(n, dtype=d)
    return {"a": (scipy_sparse.kron(line, eye) + scipy_sparse.kron(eye, line)).tocsc(), "b": random((n * n,), 1, d)}


def factored_grid(n, d):
    """What solves equations of grid, by each order of SuperLU."""
    g = grid(n, d)
    splu = scipy_sparse.linalg.splu
    return {"b": g["b"], "columns": splu(g["a"]), "symmetric": splu(g["a"], "MMD_AT_PLUS_A", 0.1, options={"SymmetricMode": True})}


def samples(n, d):
    return {"x": random((n, 64), 1, d)}


def channels_last(n, d):
    return {"x": random((n, 224, 224, 3), 1, d)}


def matrix(n, d):
    return {"x": random((n, n), 1, d)}


def definite(n, d):
    x = random((n, n), 1, d)
    return {"x": x @ x.T / n + np.eye(n)}


def small(n, d):
    return {"x": random((n, 8, 8), 1, d)}


def small_definite(n, d):
    x = random((n, 8, 8), 1, d)
    return {"x": x @ x.swapaxes(1, 2) / 8 + np.eye(8)}


def factorizations():
    """Of one matrix, and of many of 8x8: NumPy has no LU factors."""
    for name, positive, torch, numpy in (
        ("cholesky", True, "torch.linalg.cholesky(x)", "np.linalg.cholesky(x)"),
        ("lu factor", False, "torch.linalg.lu_factor(x)[0]", None),
        ("qr", False, "torch.linalg.qr(x)[1]", "np.linalg.qr(x)[1]"),
        ("eigh", True, "torch.linalg.eigh(x)[0]", "np.linalg.eigh(x)[0]"),
        ("svd", False, "torch.linalg.svd(x)[1]", "np.linalg.svd(x)[1]"),
        ("inv", True, "torch.linalg.inv(x)", "np.linalg.inv(x)"),
        ("solve", True, "torch.linalg.solve(x, x[..., :1])", "np.linalg.solve(x, x[..., :1])"),
    ):
        if name not in ("inv", "solve"):
            yield name, (definite if positive else matrix, [torch], [numpy] if numpy else [])
        yield name + " of 8x8", (small_definite if positive else small, [torch], [numpy] if numpy else [])


def reductions(name, torch, numpy):
    return {
        f"{name} axis {axis}": (square, [t.format(axis) for t in torch], [t.format(axis) for t in numpy])
        for axis in (0, 1)
    }


SPARSE = (["torch.sparse_csr_tensor(o, i, v, (len(x), len(x))) @ x"], ["sparse.csr_array((v, i, o), shape=(len(x), len(x))) @ x"])

SPLU = ["sparse.linalg.splu(a).solve(b)", "sparse.linalg.splu(a, 'MMD_AT_PLUS_A', 0.1, options={'SymmetricMode': True}).solve(b)"]

TANH = "0.5*x*(1+tanh(0.7978845608028654*(x+0.044715*x*x*x)))"

# work: inputs, PyTorch's texts, NumPy's texts
CASES = {
    "gelu(x)": (wide, ["F.gelu(x)"], []),
    TANH: (wide, ["F.gelu(x, approximate='tanh')"], []),
    "softmax 4096x1000": (
        softmax,
        ["torch.softmax(x, 1)"],
        ["r = x - x.max(1, keepdims=True); np.exp(r, out=r); r /= r.sum(1, keepdims=True)"],
    ),
    "layer norm 4096x1024": (
        layer_norm,
        ["F.layer_norm(x, (1024,), w, b, 1e-5)"],
        ["(x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * w + b"],
    ),
    **reductions("sum", ["x.sum({})"], ["x.sum({})"]),
    **reductions("max", ["x.amax({})", "x.max({}).values"], ["x.max({})"]),
    **reductions("argmax", ["x.argmax({})", "x.max({}).indices"], ["x.argmax({})"]),
    "transpose copy": (square, ["x.t().contiguous()"], ["np.ascontiguousarray(x.T)"]),
    "broadcast add": (column_and_row, ["a + b"], ["a + b"]),
    "gather rows of 128": (
        gather,
        ["x[i]", "torch.index_select(x, 0, i)", "F.embedding(i, x)"],
        ["x[i]", "x.take(i, 0)", "np.take(x, i, 0, mode='clip')"],
    ),
    "scatter-add rows of 128": (
        scatter,
        [
            "t.index_add(0, i, x)",
            "t.index_put((i,), x, accumulate=True)",
            "t.scatter_add(0, i[:, None].expand(-1, 128), x)",
        ],
        ["r = t.copy(); np.add.at(r, i, x)"],
    ),
    "mask select": (masked, ["x[m]", "torch.masked_select(x, m)"], ["x[m]", "np.compress(m, x)"]),
    "where": (where, ["torch.where(m, a, b)"], ["np.where(m, a, b)"]),
    "sort": (scrambled, ["x.sort().values"], ["np.sort(x)"]),
    "argsort": (scrambled, ["x.argsort(stable=True)"], ["np.argsort(x, kind='stable')"]),
    "partition": (scrambled, ["x.kthvalue(x.numel() // 2 + 1).values"], ["np.partition(x, x.size // 2)[x.size // 2]"]),
    "argpartition": (scrambled, ["x[x.kthvalue(x.numel() // 2 + 1).indices]"], ["x[np.argpartition(x, x.size // 2)[x.size // 2]]"]),
    "topk 100": (scrambled, ["x.topk(100).values"], ["np.sort(np.partition(x, x.size - 100)[-100:])[::-1]"]),
    "median": (odd, ["x.median()"], ["np.median(x)"]),
    "median of rows of 101": (rows_of_101, ["x.median(1).values"], ["np.median(x, 1)"]),
    "partition of rows of 100": (rows_of_100, ["x.kthvalue(51, 1, keepdim=True).values"], ["np.partition(x, 50, 1)[:, 50:51]"]),
    "histogram of 100 bins": (scrambled, ["torch.histc(x, 100, -1, 1)", "torch.histogram(x, 100, range=(-1, 1)).hist"], ["np.histogram(x, 100, (-1, 1))[0]"]),
    "cumsum": (scrambled, ["x.cumsum(0)"], ["x.cumsum()"]),
    "cumsum axis 0": (square, ["x.cumsum(0)"], ["x.cumsum(0)"]),
    "cumsum axis 1": (square, ["x.cumsum(1)"], ["x.cumsum(1)"]),
    "dot": (two, ["x.dot(y)"], ["x.dot(y)"]),
    "gather along rows": (within, ["x.gather(1, i)"], ["np.take_along_axis(x, i, 1)"]),
    "scatter-add along rows": (added_within, ["t.scatter_add(1, i, x)"], ["r = t.copy(); np.add.at(r, (np.arange(len(r))[:, None], i), x)"]),
    "rgb to grey": (
        pixels,
        ["x[..., 0] * 0.299 + x[..., 1] * 0.587 + x[..., 2] * 0.114", "x.float() @ torch.tensor([0.299, 0.587, 0.114])"],
        ["x @ np.float32([0.299, 0.587, 0.114])", "np.float32(0.299) * x[..., 0] + np.float32(0.587) * x[..., 1] + np.float32(0.114) * x[..., 2]"],
    ),
    "dot by matmul": (two, ["x[None, :] @ y[:, None]"], ["x[None, :] @ y[:, None]"]),
    "conv 64x224x4 to 64 3x3": (narrow, ["F.conv2d(x, w, padding=1)"], []),
    "counts of 1000": (groups, ["torch.bincount(i, minlength=1000)"], ["np.bincount(i, minlength=1000)"]),
    "means of 1000 groups": (
        grouped,
        ["torch.zeros(1000).index_add(0, i, x) / torch.bincount(i, minlength=1000)", "torch.zeros(1000).scatter_reduce(0, i, x, 'mean', include_self=False)"],
        ["np.bincount(i, x, 1000) / np.bincount(i, minlength=1000)"],
    ),
    "sparse by a vector": (entries, *SPARSE),
    "sparse by 64 columns": (entries_64, *SPARSE),
    "sparse lu of a grid": (grid, [], SPLU),
    "sparse cholesky of a grid": (grid, [], SPLU),
    "sparse solve on a grid": (factored_grid, [], ["columns.solve(b)", "symmetric.solve(b)"]),
    "bags of 8 rows of 64": (bags, ["F.embedding_bag(i, x, mode='sum')", "x[i].sum(1)"], ["x[i].sum(1)"]),
    "x.T+x": (square, ["x.t() + x"], ["x.T + x"]),
    "standardise": (samples, ["(x - x.mean(0)) / x.std(0, correction=0)"], ["(x - x.mean(0)) / x.std(0)"]),
    "channels first": (channels_last, ["x.permute(0, 3, 1, 2).contiguous()"], ["np.ascontiguousarray(x.transpose(0, 3, 1, 2))"]),
    **dict(factorizations()),
    "max pool 64x112^2 3x3 by 2": (pictures, ["F.max_pool2d(x, 3, 2, 1)"], []),
}

CHANNELS_LAST = ("max pool 64x112^2 3x3 by 2",)


@lru_cache(maxsize=1)  # the formulations of a row share their inputs
def arrays(case, n, dtype):
    return CASES[case][0](n, dtype)


@lru_cache(maxsize=2)
def tensors(case, n, dtype, channels_last=False):
    import torch

    layout = torch.channels_last if channels_last else torch.contiguous_format
    return {k: torch.from_numpy(a).clone(memory_format=layout) for k, a in arrays(case, n, dtype).items()}


def ready(text, ns):
    def check():
        exec(text if text.startswith("r = ") else f"r = {text}", ns)
        return summary(ns.pop("r"))

    return Ready(text, ns, check)


def numpy_form(case, text):
    return lambda n, dtype, threads: ready(text, arrays(case, n, dtype) | {"np": np, "sparse": scipy_sparse})


def torch_form(case, text, channels_last=False):
    def make(n, dtype, threads):
        import torch

        ns = {"torch": torch, "F": torch.nn.functional}
        return ready(text, tensors(case, n, dtype, channels_last) | ns)

    return make


@lru_cache(maxsize=None)
def compiled(text, names):
    import torch

    ns = {"torch": torch, "F": torch.nn.functional}
    exec(f"def f({names}): return {text}", ns)
    return torch.compile(ns["f"], dynamic=True)


def torch_compile_form(case, text):
    def make(n, dtype, threads):
        inputs = tensors(case, n, dtype)
        names = ", ".join(inputs)
        return ready(f"f({names})", inputs | {"f": compiled(text, names)})

    return make


def forms(case):
    _, torch_texts, numpy_texts = CASES[case]
    for k, text in enumerate(torch_texts):
        yield Form("torch" + (f" {k + 1}" if k else ""), "torch", torch_form(case, text))
        if case in CHANNELS_LAST:
            yield Form("torch channels_last", "torch", torch_form(case, text, channels_last=True))
    if torch_texts:
        yield Form("torch.compile", "torch", torch_compile_form(case, torch_texts[0]), slow_start=True)
    for k, text in enumerate(numpy_texts):
        yield Form("numpy" + (f" {k + 1}" if k else ""), "numpy", numpy_form(case, text))
    yield from loop_forms(case, arrays)


REGISTRY = dict.fromkeys(CASES, forms)
