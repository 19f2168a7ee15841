"""Writes complexgrad.json: values and gradients of complex functions by PyTorch.

    python3 testdata/complexgrad.py > testdata/complexgrad.json      (needs torch)

A case has a name, by which complex_test.go knows its function, x [2 3] and y [3 2] of
complex128, the results with their shape, and the gradients of a loss: the sum of the real
parts of the results, the i-th weighted by (7*i mod 5) - 1.5, and of 0.7 of the imaginary
parts with the same weights. Numbers are pairs of parts.
"""
import json

import torch

inf = float("inf")
vector_norm = torch.linalg.vector_norm
functions = {
    "matmul": lambda x, y: x @ y,
    "linear": lambda x, y: torch.nn.functional.linear(x, y.T),
    "norm": lambda x, y: vector_norm(x, 2),
    "norm1": lambda x, y: vector_norm(x, 1, 0),
    "norm3": lambda x, y: vector_norm(x, 3, 1),
    "norm0.5": lambda x, y: vector_norm(x, 0.5),
    "norm1.5": lambda x, y: vector_norm(x, 1.5, 0),
    "norminf": lambda x, y: vector_norm(x, inf, 1),
    "norm0": lambda x, y: vector_norm(x, 0),
    "std": lambda x, y: torch.std(x, 1, correction=0),
    "var": lambda x, y: torch.var(x, 0, correction=0),
    "prod": lambda x, y: torch.prod(x, 1),
    "einsum": lambda x, y: torch.einsum("ij,jk->ki", x, y),
    "outer": lambda x, y: torch.outer(x.reshape(-1), y.reshape(-1)),
    "dot": lambda x, y: torch.dot(x.reshape(-1), y.reshape(-1)),
    "div": lambda x, y: x / y.T,
    "pow": lambda x, y: x ** y.T,
    "root": lambda x, y: x ** 0.5,
    "inverse": lambda x, y: x ** -2.0,
    "angle": lambda x, y: torch.angle(x),
    "tanh": lambda x, y: torch.tanh(x),
    "conj": lambda x, y: torch.conj(x) * x,
}
X = [[1 + 2j, -0.5 + 0.25j, 0.75 - 1j], [0.3 - 0.6j, 2 + 0.5j, -1.25 - 0.5j]]
Y = [[0.5 - 1j, 1.5 + 0.5j], [-2 + 0.25j, 0.75j + 0.5], [1 - 0.5j, -0.25 + 1j]]
ZERO = [[0, -0.5 + 0.25j, 0], [0, 2 + 0.5j, -1.25 - 0.5j]]
ZEROS = [[0, 0, 0], [0, 0, 0]]


def pairs(t):
    t = t.detach().to(torch.complex128).reshape(-1)
    return [[z.real + 0.0, z.imag + 0.0] for z in t.tolist()]


def case(name, x, y):
    x = torch.tensor(x, dtype=torch.complex128, requires_grad=True)
    y = torch.tensor(y, dtype=torch.complex128, requires_grad=True)
    z = functions[name](x, y)
    w = torch.tensor([(7 * i) % 5 - 1.5 for i in range(z.numel())], dtype=torch.float64).reshape(z.shape)
    loss = (torch.real(z) * w).sum()
    if z.is_complex():
        loss = loss + 0.7 * (z.imag * w).sum()
    loss.backward()
    zero = torch.zeros(6, dtype=torch.complex128)
    return {"name": name, "x": pairs(x), "y": pairs(y), "out": pairs(z), "shape": list(z.shape),
            "dx": pairs(zero if x.grad is None else x.grad), "dy": pairs(zero if y.grad is None else y.grad)}


cases = [case(name, X, Y) for name in functions]
cases += [case(name, ZERO, Y) for name in functions if name.startswith("norm") or name == "prod"]
cases += [case(name, ZEROS, Y) for name in ("norm", "norm1", "norm3", "norm1.5", "norm0", "std")]
print("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]")
