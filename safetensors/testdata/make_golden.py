"""Writes the .safetensors files of this folder with the reference library.

Usage: python make_golden.py   (needs numpy and safetensors)

Element k of a tensor has the value that value() gives, which golden_test.go
computes on its own.
"""

import numpy as np
from safetensors.numpy import save_file

SHAPES = {"0d": (), "empty": (0, 3), "1d": (5,), "3d": (2, 3, 4)}


def value(dtype, k):
    kind = np.dtype(dtype).kind
    if kind == "b":
        return k % 3 == 1
    if kind == "u":
        return (k * 37 + 5) % 256
    if kind == "i":
        return (k - 3) * (2**27 + 13 if dtype == "int32" else 2**58 + 13)
    return [np.inf, -np.inf, -0.0, 1 / 3, 1e-310][k] if k < 5 else k * 0.1 - 1.7


def tensor(dtype, shape):
    n = int(np.prod(shape))
    with np.errstate(over="ignore"):
        return np.array([value(dtype, k) for k in range(n)]).astype(dtype).reshape(shape)


supported = ["float32", "bool", "int64", "uint8", "float64", "int32"]
tensors = {f"{d}.{s}": tensor(d, SHAPES[s]) for s in SHAPES for d in supported}
save_file(tensors, "supported.safetensors", metadata={"format": "np"})

other = ["float16", "int8", "int16", "uint16", "uint32", "uint64", "complex64"]
save_file(
    {d: np.zeros((2, 3), d) for d in other} | {"float32": tensor("float32", (5,))},
    "other.safetensors",
)

names = ["", "a b", "\u00e9\u4e2d\U0001f600", 'q"b\\s/', "<&>\u2028\x7f", "tab\tnl\nnul\x00esc\x1b\b\f\r"]
save_file({n: tensor("uint8", (1,)) for n in names}, "names.safetensors", metadata={names[-1]: names[3]})

save_file({}, "empty.safetensors")
