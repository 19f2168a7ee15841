"""Works over all element types: NumPy's, PyTorch's and Numba's formulations.

One table: for each work its texts, by library; a and b are the inputs. bfloat16 is
PyTorch's alone.
"""
from functools import lru_cache

import numpy as np

from form import Form, Ready
from inputs import elements, summary

# work: NumPy's texts, PyTorch's texts, the expression of one element for Numba
CASES = {
    "types 2*a+3*b": (["2 * a + 3 * b", "r = 2 * a; r += 3 * b"], ["2 * a + 3 * b", "torch.add(2 * a, b, alpha=3)"], "2 * a[i] + 3 * b[i]"),
    "types max(a,b)*3": (["np.maximum(a, b) * 3"], ["torch.maximum(a, b) * 3"], "max(a[i], b[i]) * 3"),
    "types a<b": (["a < b"], ["a < b"], "a[i] < b[i]"),
    "types a//7": (["a // 7"], ["torch.div(a, 7, rounding_mode='floor')"], "a[i] // 7"),
    "types a//b": (["a // b"], ["torch.div(a, b, rounding_mode='floor')"], "a[i] // b[i]"),
    "types a%b": (["a % b"], ["torch.remainder(a, b)"], "a[i] % b[i]"),
    "types a*b": (["a * b"], ["a * b"], "a[i] * b[i]"),
    "types abs(a)": (["np.abs(a)"], ["torch.abs(a)"], "abs(a[i])"),
    "types matmul": (["a @ b"], ["a @ b"], None),
    "types linear of a row": (["a[:1] @ b.T"], ["torch.nn.functional.linear(a[:1], b)"], None),
}
TARGETS = ("bool", "uint8", "int16", "int32", "int64", "uint64", "float16", "bfloat16", "float32", "float64")
for target in TARGETS:
    numpy_text = [] if target == "bfloat16" else [f"a.astype('{target}')"]
    CASES[f"types to {target}"] = (numpy_text, [f"a.to(torch.{target})"], None)

HALVES = ("float16", "bfloat16")
NOT_TORCH = ("uint16", "uint32", "uint64")  # PyTorch has no arithmetic on these


@lru_cache(maxsize=1)
def arrays(case, n, dtype):
    shape = (n, n) if case in ("types matmul", "types linear of a row") else (n,)
    count = int(np.prod(shape))
    return {v: elements(count, dtype, seed).reshape(shape) for seed, v in ((1, "a"), (2, "b"))}


def ready(text, ns, to_numpy=np.asarray):
    def check():
        exec(text if text.startswith("r = ") else f"r = {text}", ns)
        return summary(to_numpy(ns.pop("r")))

    return Ready(text, ns, check)


def numpy_form(case, text):
    def make(n, dtype, threads):
        if dtype == "bfloat16":
            raise ValueError("not for bfloat16: NumPy has none")
        return ready(text, arrays(case, n, dtype) | {"np": np})

    return make


def torch_form(case, text):
    def make(n, dtype, threads):
        import torch

        if dtype in NOT_TORCH and not case.startswith("types to"):
            raise ValueError(f"not for {dtype}: PyTorch does not compute in it")
        source = "float16" if dtype == "bfloat16" else dtype
        inputs = {k: torch.from_numpy(v).to(getattr(torch, dtype)).clone() for k, v in arrays(case, n, source).items()}
        as_numpy = lambda r: (r.to(torch.complex128) if r.is_complex() else r.to(torch.float64)).numpy()
        return ready(text, inputs | {"torch": torch}, as_numpy)

    return make


@lru_cache(maxsize=None)
def loop(expression):
    import numba

    ns = {}
    exec(f"def f(a, b, r):\n  for i in range(a.size):\n    r[i] = {expression}\n  return r", ns)
    return numba.njit(ns["f"])


def numba_form(case, expression):
    def make(n, dtype, threads):
        if dtype in HALVES:
            raise ValueError(f"not for {dtype}: Numba has none")
        inputs = arrays(case, n, dtype)
        kind = "bool" if case == "types a<b" else "float32" if case == "types abs(a)" and dtype == "complex64" else dtype
        ns = inputs | {"f": loop(expression), "np": np, "kind": kind}
        return ready("f(a, b, np.empty(a.size, kind))", ns)

    return make


def forms(case):
    numpy_texts, torch_texts, expression = CASES[case]
    for k, text in enumerate(torch_texts):
        yield Form("torch" + (f" {k + 1}" if k else ""), "torch", torch_form(case, text))
    for k, text in enumerate(numpy_texts):
        yield Form("numpy" + (f" {k + 1}" if k else ""), "numpy", numpy_form(case, text))
    if expression:
        yield Form("numba", "numba", numba_form(case, expression))


REGISTRY = dict.fromkeys(CASES, forms)
