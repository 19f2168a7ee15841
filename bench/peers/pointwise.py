"""Pointwise expressions: every formulation allocates its result anew.

One table: for each expression its text per library. In the texts a, b (or x)
are the inputs, t and u are preallocated temporaries of the same size, and r the
fresh result.
"""
from functools import lru_cache

import numpy as np

from form import Form, Ready
from inputs import summary, uniform

EXP = "exp(-x*x)*sin(x)+log1p(abs(x))"

# NumPy and PyTorch: statements; the last value is the result. NumPy's with
# out= into the temporaries save it allocations (t *= b would make t a local
# variable of the timed function).
NUMPY = {
    "a+1": ["a + 1"],
    "2*a+3*b": [
        "2 * a + 3 * b",
        "r = np.multiply(a, 2); np.multiply(b, 3, out=t); r += t",
        "r = 2 * a; r += 3 * b",
    ],
    "pow(a,2)+pow(b,2)+2*a*b": [
        "a**2 + b**2 + 2 * a * b",
        "r = a * a; np.multiply(b, b, out=t); r += t; np.multiply(a, 2, out=t); np.multiply(t, b, out=t); r += t",
    ],
    "2*a+pow(b,10)": [
        "2 * a + b**10",
        "r = np.multiply(a, 2); np.power(b, 10, out=t); r += t",
        "np.multiply(b, b, out=t); np.multiply(t, t, out=u); np.multiply(u, u, out=u); np.multiply(u, t, out=u); r = np.multiply(a, 2); r += u",
    ],
    EXP: [
        "np.exp(-x * x) * np.sin(x) + np.log1p(np.abs(x))",
        "np.multiply(x, x, out=t); np.negative(t, out=t); r = np.exp(t); np.sin(x, out=t); r *= t; "
        "np.abs(x, out=t); np.log1p(t, out=t); r += t",
    ],
}

TORCH = {
    "a+1": ["a + 1", "torch.add(a, 1)"],
    "2*a+3*b": ["2 * a + 3 * b", "torch.add(2 * a, b, alpha=3)", "r = 2 * a; r.add_(b, alpha=3)"],
    "pow(a,2)+pow(b,2)+2*a*b": [
        "a**2 + b**2 + 2 * a * b",
        "r = a * a; r.addcmul_(b, b).addcmul_(a, b, value=2)",
    ],
    "2*a+pow(b,10)": [
        "2 * a + b**10",
        "r = b.pow(10); r.add_(a, alpha=2)",
        "torch.mul(b, b, out=t); r = t * t; r.mul_(r).mul_(t).add_(a, alpha=2)",
    ],
    EXP: [
        "torch.exp(-x * x) * torch.sin(x) + torch.log1p(torch.abs(x))",
        "r = x * x; r.neg_().exp_(); torch.sin(x, out=t); r.mul_(t); torch.abs(x, out=t); t.log1p_(); r.add_(t)",
    ],
}

NUMEXPR = {
    "a+1": "a + 1",
    "2*a+3*b": "2*a + 3*b",
    "pow(a,2)+pow(b,2)+2*a*b": "a**2 + b**2 + 2*a*b",
    "2*a+pow(b,10)": "2*a + b**10",
    EXP: "exp(-x*x)*sin(x) + log1p(abs(x))",
}

NUMEXPR_TYPE = {"float32": float, "float64": np.float64}  # as numexpr names them

# Numba and JAX: the body of a scalar function and of an array function; one,
# two and three are constants of the arrays' dtype, m the library of functions.
SCALAR = {
    "a+1": "a + one",
    "2*a+3*b": "two * a + three * b",
    "pow(a,2)+pow(b,2)+2*a*b": "a * a + b * b + two * a * b",
    "2*a+pow(b,10)": "two * a + b ** 10",
    EXP: "m.exp(-x * x) * m.sin(x) + m.log1p(abs(x))",
}

CASES = list(NUMPY)


def names_of(case):
    return "x" if case == EXP else "a" if case == "a+1" else "ab"


@lru_cache(maxsize=1)  # the formulations of a row share their inputs and temporaries
def arrays(case, n, dtype):
    if case == EXP:
        return {"x": uniform(n, 1, -4, 4, dtype)}
    return {v: uniform(n, seed, -1, 1, dtype) for seed, v in enumerate(names_of(case), 1)}


@lru_cache(maxsize=1)
def temporaries(n, dtype):
    return {"t": np.zeros(n, dtype), "u": np.zeros(n, dtype)}


@lru_cache(maxsize=1)
def tensors(case, n, dtype):
    import torch

    inputs = {k: torch.from_numpy(v).clone() for k, v in arrays(case, n, dtype).items()}
    return inputs | {"t": torch.zeros(n, dtype=getattr(torch, dtype))}


def evaluated(text, ns):
    """The result of a timed text: of its variable r, or of the text itself."""
    ns = dict(ns)
    if "r = " in text:
        exec(text, ns)
        return ns["r"]
    return eval(text, ns)


def ready(text, ns):
    return Ready(text, ns, lambda: summary(evaluated(text, ns)))


def numpy_form(case, text):
    def make(n, dtype, threads):
        return ready(text, arrays(case, n, dtype) | temporaries(n, dtype) | {"np": np})

    return make


def torch_form(case, text):
    def make(n, dtype, threads):
        import torch

        return ready(text, tensors(case, n, dtype) | {"torch": torch})

    return make


@lru_cache(maxsize=None)
def torch_compiled(case):
    import torch

    ns = {"torch": torch}
    exec(f"def f({', '.join(names_of(case))}): return {TORCH[case][0]}", ns)
    return torch.compile(ns["f"], dynamic=True)


def torch_compile_form(case):
    def make(n, dtype, threads):
        return ready(f"f({', '.join(names_of(case))})", tensors(case, n, dtype) | {"f": torch_compiled(case)})

    return make


def numexpr_form(case, how):
    def make(n, dtype, threads):
        import numexpr as ne

        ne.set_num_threads(threads)
        inputs = arrays(case, n, dtype)
        if how == "evaluate":
            return ready(f"ne.evaluate({NUMEXPR[case]!r}, local_dict=d)", {"ne": ne, "d": dict(inputs)})
        signature = [(v, NUMEXPR_TYPE[dtype]) for v in names_of(case)]
        f = ne.NumExpr(NUMEXPR[case], signature)
        return ready(f"f({', '.join(names_of(case))})", inputs | {"f": f})

    return make


@lru_cache(maxsize=None)
def numba_compiled(case, dtype, how, parallel):
    import math

    import numba

    T = np.dtype(dtype).type
    v = names_of(case)
    args, elements = ", ".join(v), ", ".join(f"{name}[i]" for name in v)
    loop = f"    for i in span(r.size): r[i] = s({elements})"
    fast = "fastmath" in how
    ns = {"np": np, "m": math, "one": T(1), "two": T(2), "three": T(3), "span": numba.prange}
    exec(f"def s({args}): return {SCALAR[case]}", ns)
    if how == "vectorize":
        target = "parallel" if parallel else "cpu"
        return numba.vectorize([f"{dtype}({', '.join([dtype] * len(v))})"], target=target)(ns["s"])
    ns["s"] = numba.njit(fastmath=fast)(ns["s"])
    if how in ("numpy.empty", "out="):
        exec(f"def f({args}, r):\n{loop}", ns)
    else:
        exec(f"def f({args}):\n    r = np.empty_like({v[0]})\n{loop}\n    return r", ns)
    return numba.njit(fastmath=fast, parallel=parallel)(ns["f"])


def numba_form(case, how):
    """how: the result made inside the compiled function ("fresh") or by NumPy
    ("numpy.empty"), or not made at all but written over ("out=", which nobody else
    may), a ufunc ("vectorize"), or "fresh" with fastmath."""

    def make(n, dtype, threads):
        args = ", ".join(names_of(case))
        ns = arrays(case, n, dtype) | {"f": numba_compiled(case, dtype, how, threads > 1), "np": np}
        text = f"f({args})"
        if how == "numpy.empty":
            text = f"r = np.empty_like({names_of(case)[0]}); f({args}, r)"
        elif how == "out=":
            out = np.zeros(n, dtype)
            return Ready(f"f({args}, out)", ns | {"out": out}, lambda: (ns["f"](*(ns[v] for v in names_of(case)), out), summary(out))[1])
        return ready(text, ns)

    return make


@lru_cache(maxsize=None)
def jax_compiled(case, dtype):
    import jax
    import jax.numpy as jnp

    T = np.dtype(dtype).type
    ns = {"m": jnp, "one": T(1), "two": T(2), "three": T(3)}
    exec(f"def f({', '.join(names_of(case))}): return {SCALAR[case]}", ns)
    return jax.jit(ns["f"])


def jax_form(case):
    def make(n, dtype, threads):
        import jax.numpy as jnp

        inputs = {k: jnp.asarray(a) for k, a in arrays(case, n, dtype).items()}
        return ready(f"f({', '.join(inputs)}).block_until_ready()", inputs | {"f": jax_compiled(case, dtype)})

    return make


def forms(case):
    any_peer = case == EXP  # the bars of the other expressions name their peers
    for k, text in enumerate(NUMPY[case]):
        yield Form("numpy" + (f" {k + 1}" if k else ""), "numpy", numpy_form(case, text))
    for how in ("NumExpr()", "evaluate"):
        yield Form(f"numexpr {how}", "numexpr", numexpr_form(case, how))
    for how in ("fresh", "fresh fastmath", "numpy.empty", "out=", "vectorize"):
        yield Form(f"numba {how}", "numba", numba_form(case, how))
    for k, text in enumerate(TORCH[case]):
        yield Form("torch" + (f" {k + 1}" if k else ""), "torch", torch_form(case, text))
    yield Form("torch.compile", "torch", torch_compile_form(case), slow_start=True)
    yield Form("jax.jit", "jax", jax_form(case), counts=any_peer)


def copy_form(n, dtype, threads):
    ns = {"np": np, "a": uniform(n, 1, -1, 1, dtype), "r": np.zeros(n, dtype)}
    return Ready("np.copyto(r, a)", ns, lambda: (np.copyto(ns["r"], ns["a"]), summary(ns["r"]))[1])


def copy_forms(case):
    yield Form("numpy", "numpy", copy_form)


def add16_form(text, lib):
    def make(n, dtype, threads):
        ns = {"a": uniform(n, 1, -1, 1, dtype), "b": uniform(n, 2, -1, 1, dtype), "np": np}
        if lib == "torch":
            import torch

            ns = {k: torch.from_numpy(v) for k, v in ns.items() if k != "np"} | {"torch": torch}
        return Ready(text, ns, lambda: summary(eval(text, ns)))

    return make


def add16_forms(case):
    for text in ("a + b", "np.add(a, b)"):
        yield Form(f"numpy {text}", "numpy", add16_form(text, "numpy"))
    for text in ("a + b", "torch.add(a, b)"):
        yield Form(f"torch {text}", "torch", add16_form(text, "torch"), counts=False)


def item_form(lib):
    def make(n, dtype, threads):
        ns = {"x": uniform(n, 1, -1, 1, dtype)}
        if lib == "torch":
            import torch

            ns = {"x": torch.from_numpy(ns["x"])}
        return Ready("x.item()", ns, lambda: summary(ns["x"].item()))

    return make


def item_forms(case):
    yield Form("numpy x.item()", "numpy", item_form("numpy"))
    yield Form("torch x.item()", "torch", item_form("torch"), counts=False)


REGISTRY = {c: forms for c in CASES} | {"copy": copy_forms, "add 16": add16_forms, "expr 16": add16_forms, "item": item_forms}
