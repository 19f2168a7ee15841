"""What generated loops meet beside long contiguous rows: short rows, elements at steps, truth
values, and pairs of functions. bench/ours/shapes.go has ours."""

from functools import lru_cache

import numpy as np

from form import Form, Ready
from inputs import random, summary, uniform


def rows(width):
    return lambda n, d: {"x": uniform(n * width, 1, -4, 4, d).reshape(n, width)}


def one(n, d):
    return {"x": random(n, 1, d)}


def two(n, d):
    return {"x": random(n, 1, d), "y": random(n, 2, d)}


def pair(n, d):
    return {"x": uniform(n, 1, -4, 4, d), "y": random(n, 2, d)}


def columns(n, d):
    return {"x": random((n, n), 1, d), "y": random((n, n // 2), 2, d)}


def mask(n, d):
    return {"m": random(n, 1, d) > -2}


# work: inputs, and the texts of PyTorch, NumPy and JAX, which compiles its own
CASES = {
    "sum of rows of 10": (rows(10), ["x.sum(1)"], ["x.sum(1)", "np.add.reduce(x, 1)", "np.einsum('ij->i', x)", "x @ np.ones(10, x.dtype)"], "x.sum(1)"),
    "max of rows of 17": (rows(17), ["x.amax(1)", "x.max(1).values"], ["x.max(1)"], "x.max(1)"),
    "logsumexp of rows of 32": (rows(32), ["torch.logsumexp(x, 1)"], ["m = x.max(1, keepdims=True); r = np.log(np.exp(x - m).sum(1)) + m[:, 0]"], "jax.nn.logsumexp(x, 1)"),
    "softmax of rows of 40": (rows(40), ["torch.softmax(x, 1)"], ["r = x - x.max(1, keepdims=True); np.exp(r, out=r); r /= r.sum(1, keepdims=True)"], "jax.nn.softmax(x, 1)"),
    "x[::-1]": (one, ["x.flip(0)"], ["x[::-1].copy()"], "x[::-1]"),
    "x[::-2]": (one, ["x.flip(0)[::2].contiguous()"], ["x[::-2].copy()"], "x[::-2]"),
    "stack of two on the last axis": (two, ["torch.stack([x, y], 1)"], ["np.stack([x, y], 1)", "r = np.empty((len(x), 2), x.dtype); r[:, 0] = x; r[:, 1] = y"], "jnp.stack([x, y], 1)"),
    "x[:,::2] = y": (columns, ["x[:, ::2] = y; r = x", "x[:, ::2].copy_(y); r = x"], ["x[:, ::2] = y; r = x"], None),
    "all of a mask": (mask, ["m.all()"], ["m.all()"], "m.all()"),
    "any(x>2)": (one, ["(x > 2).any()"], ["(x > 2).any()"], "(x > 2).any()"),
    "sigmoid(x)*tanh(y)": (pair, ["torch.sigmoid(x) * torch.tanh(y)"], ["r = np.exp(-x); r += 1; np.divide(np.tanh(y), r, out=r)"], "jax.nn.sigmoid(x) * jnp.tanh(y)"),
    "sin(x)*cos(x)+y": (pair, ["torch.sin(x) * torch.cos(x) + y"], ["np.sin(x) * np.cos(x) + y"], "jnp.sin(x) * jnp.cos(x) + y"),
}  # fmt: skip


@lru_cache(maxsize=1)  # the formulations of a row share their inputs
def arrays(case, n, dtype):
    return CASES[case][0](n, dtype)


def ready(text, ns):
    def check():
        exec(text if "r = " in text else f"r = {text}", ns)
        return summary(ns.pop("r"))

    return Ready(text, ns, check)


def numpy_form(case, text):
    return lambda n, dtype, threads: ready(text, {k: a.copy() for k, a in arrays(case, n, dtype).items()} | {"np": np})


def tensors(case, n, dtype):
    import torch

    return {k: torch.from_numpy(a).clone() for k, a in arrays(case, n, dtype).items()} | {"torch": torch}


def torch_form(case, text):
    return lambda n, dtype, threads: ready(text, tensors(case, n, dtype))


@lru_cache(maxsize=None)
def compiled(text, names):
    import torch

    ns = {"torch": torch}
    exec(f"def f({names}): return {text}", ns)
    return torch.compile(ns["f"], dynamic=True)


def torch_compile_form(case, text):
    def make(n, dtype, threads):
        names = ", ".join(arrays(case, n, dtype))
        return ready(f"f({names})", tensors(case, n, dtype) | {"f": compiled(text, names)})

    return make


def jax_form(case, text):
    def make(n, dtype, threads):
        import jax
        import jax.numpy as jnp

        inputs = {k: jnp.asarray(a) for k, a in arrays(case, n, dtype).items()}
        names = ", ".join(inputs)
        f = jax.jit(eval(f"lambda {names}: {text}", {"jax": jax, "jnp": jnp}))
        return ready(f"f({names}).block_until_ready()", inputs | {"f": f})

    return make


def forms(case):
    _, torch_texts, numpy_texts, jax_text = CASES[case]
    for k, text in enumerate(torch_texts):
        yield Form("torch" + (f" {k + 1}" if k else ""), "torch", torch_form(case, text))
    if "r = " not in torch_texts[0]:
        yield Form("torch.compile", "torch", torch_compile_form(case, torch_texts[0]), slow_start=True)
    for k, text in enumerate(numpy_texts):
        yield Form("numpy" + (f" {k + 1}" if k else ""), "numpy", numpy_form(case, text))
    if jax_text:
        yield Form("jax.jit", "jax", jax_form(case, jax_text))


REGISTRY = dict.fromkeys(CASES, forms)
