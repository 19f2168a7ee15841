"""Writes the .safetensors files of this folder with the reference library.

Usage: python make_golden.py   (needs numpy, safetensors and torch)

Element k of a tensor has the value that value() gives, which golden_test.go
computes on its own.
"""

import numpy as np
import torch
from safetensors.numpy import save_file
from safetensors.torch import save_file as torch_file

SHAPES = {"0d": (), "empty": (0, 3), "1d": (5,), "3d": (2, 3, 4)}


def value(dtype, k):
    kind, bits = np.dtype(dtype).kind, 8 * np.dtype(dtype).itemsize
    if kind == "b":
        return k % 3 == 1
    if kind == "u":
        low = (k * 37 + 5) % 256
        return low if bits == 8 else low << bits - 8 | low
    if kind == "i":
        return (k - 3) * {8: 13, 16: 2**11 + 13, 32: 2**27 + 13, 64: 2**58 + 13}[bits]
    x = [np.inf, -np.inf, -0.0, 1 / 3, 1e-310][k] if k < 5 else k * 0.1 - 1.7
    return complex(x, k - 2.5) if kind == "c" else x


def tensor(dtype, shape):
    n = int(np.prod(shape))
    with np.errstate(over="ignore"):
        wide = "uint64" if np.dtype(dtype).kind == "u" else None
        return np.array([value(dtype, k) for k in range(n)], wide).astype(dtype).reshape(shape)


def torch_tensor(dtype, shape):
    if dtype == "bfloat16":
        return torch.from_numpy(tensor("float32", shape)).to(torch.bfloat16)
    return torch.from_numpy(tensor(dtype, shape))


supported = ["float32", "bool", "int64", "uint8", "float64", "int32", "complex64", "uint64", "int8", "float16", "bfloat16", "uint32", "int16", "uint16"]
tensors = {f"{d}.{s}": torch_tensor(d, SHAPES[s]) for s in SHAPES for d in supported}
torch_file(tensors, "supported.safetensors", metadata={"format": "np"})

other = {d: torch.zeros((2, 3), dtype=getattr(torch, d)) for d in ("float8_e4m3fn", "float8_e5m2")}
torch_file(other | {"float32": torch_tensor("float32", (5,))}, "other.safetensors")

names = ["", "a b", "\u00e9\u4e2d\U0001f600", 'q"b\\s/', "<&>\u2028\x7f", "tab\tnl\nnul\x00esc\x1b\b\f\r"]
save_file({n: tensor("uint8", (1,)) for n in names}, "names.safetensors", metadata={names[-1]: names[3]})

save_file({}, "empty.safetensors")
