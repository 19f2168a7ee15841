"""Programs as they are first written, in NumPy and PyTorch: what bench/ours/plain.go does
without scopes, releases or formulas. jax.jit stands beside the chains."""
import math

import numpy as np

from form import Form, Ready
from inputs import summary, uniform

STEPS = 50  # of the chain with a gradient, each two operations


def side(n):
    return math.isqrt(n - 1) + 1


def two(n, d):
    return {"a": uniform(n, 1, -1, 1, d), "b": uniform(n, 2, -1, 1, d)}


def outer(n, d):
    return two(side(n), d)


def row(n, d):
    n = side(n)
    return {"a": uniform(n * n, 1, -1, 1, d).reshape(n, n), "b": uniform(n, 2, -1, 1, d).reshape(1, n)}


def column(n, d):
    v = row(n, d)
    return v | {"b": v["b"].reshape(-1, 1)}


def halves(n, d):
    return two(n // 2, d)


def thousand(n, d):
    return {"x": uniform(1000, 1, -1, 1, d)}


def ten_rows(n, d):
    return {"x": uniform(1000, 1, -1, 1, d).reshape(10, 100)}


def batch(n, d):
    return {k: uniform(n * 64, s, -1, 1, d).reshape(n, 8, 8) for k, s in (("a", 1), ("b", 2))}


def nothing(n, d):
    return {"n": n}


NUMPY_CHAIN, TORCH_CHAIN = "np.maximum(((a + b) * a - b) * 0.5 + a, b) * b", "torch.maximum(((a + b) * a - b) * 0.5 + a, b) * b"

# work: inputs, NumPy's text, PyTorch's text
CASES = {
    "plain a+b": (two, "a + b", "a + b"),
    "plain outer": (outer, "np.outer(a, b)", "torch.outer(a, b)"),
    "plain a+row": (row, "a + b", "a + b"),
    "plain a+column": (column, "a + b", "a + b"),
    "plain cat": (halves, "np.concatenate([a, b])", "torch.cat([a, b])"),
    "plain chain of ten": (two, f"({NUMPY_CHAIN} + 1 - a) * a", f"({TORCH_CHAIN} + 1 - a) * a"),
    "plain slice of 16": (thousand, "x[10:26]", "x[10:26]"),
    "plain x[3]": (ten_rows, "x[3]", "x[3]"),
    "plain reshape": (thousand, "x.reshape(10, 100)", "x.reshape(10, 100)"),
    "plain x[10:20]=0": (thousand, "x[10:20] = 0", "x[10:20] = 0"),
    "plain zeros of 16": (nothing, "np.zeros(n, 'f4')", "torch.zeros(n)"),
    "plain batch of 8x8": (batch, "a @ b", "a @ b"),
}
CHAINS = ("plain chain of ten", "plain chain in a scope", "plain chain, lazy")
CASES |= dict.fromkeys(CHAINS, CASES[CHAINS[0]])


def ready(text, ns):
    def check():
        if "] = " in text:
            exec(text, ns)
            return summary(ns["x"][10:20])
        return summary(eval(text, ns))

    return Ready(text, ns, check)


def numpy_form(case):
    inputs, text, _ = CASES[case]
    return lambda n, dtype, threads: ready(text, inputs(n, dtype) | {"np": np})


def torch_form(case):
    inputs, _, text = CASES[case]

    def make(n, dtype, threads):
        import torch

        values = {k: torch.from_numpy(v) if isinstance(v, np.ndarray) else v for k, v in inputs(n, dtype).items()}
        return ready(text, values | {"torch": torch})

    return make


def jax_chain(n, dtype, threads):
    import jax
    import jax.numpy as jnp

    f = jax.jit(lambda a, b: (jnp.maximum(((a + b) * a - b) * 0.5 + a, b) * b + 1 - a) * a)
    values = {k: jnp.asarray(v) for k, v in two(n, dtype).items()}
    return Ready("f(a, b).block_until_ready()", values | {"f": f}, lambda: summary(f(**values)))


def steps(w):
    for _ in range(STEPS):
        w = w * 0.99 + 0.01
    return w.sum()


def torch_gradient(n, dtype, threads):
    import torch

    w = torch.from_numpy(uniform(n, 1, 0.5, 1, dtype)).requires_grad_()

    def run():
        s = steps(w)
        return s, torch.autograd.grad(s, w)[0]

    def check():
        s, g = run()
        return summary(s.detach().numpy()) + summary(g.numpy())

    return Ready("run()", {"run": run}, check)


def jax_gradient(n, dtype, threads):
    import jax
    import jax.numpy as jnp

    w = jnp.asarray(uniform(n, 1, 0.5, 1, dtype))
    f = jax.jit(jax.value_and_grad(steps))

    def check():
        s, g = f(w)
        return summary(s) + summary(g)

    return Ready("jax.block_until_ready(f(w))", {"f": f, "w": w, "jax": jax}, check)


def forms(case):
    yield Form("numpy", "numpy", numpy_form(case))
    yield Form("torch", "torch", torch_form(case))
    if case in CHAINS:
        yield Form("jax.jit", "jax", jax_chain, counts=False)


def gradient_forms(case):
    yield Form("torch", "torch", torch_gradient)
    yield Form("jax.jit", "jax", jax_gradient)


GRAD = {"plain chain with gradient"}
REGISTRY = dict.fromkeys(CASES, forms) | dict.fromkeys(GRAD, gradient_forms)
