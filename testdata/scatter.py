"""Writes scatter.json: what PyTorch's scatter_reduce gives, with its gradients, and NumPy's
take_along_axis.

    python testdata/scatter.py > testdata/scatter.json

Gradients are those of the sum of the squares of the result. Where a tensor's own element is
left out it never equals a value for its place: PyTorch then counts it among those that share
the gradient of an extreme."""
import json
import random

import numpy as np
import torch

random.seed(5)
reduce, take = [], []


def floats(a):
    return {"shape": list(a.shape), "floats": [float(v) for v in a.reshape(-1)]}


def ints(a):
    return {"shape": list(a.shape), "values": [int(v) for v in a.reshape(-1)]}


for shape, axis, index in [((5,), 0, (8,)), ((3,), 0, (0,)), ((4, 3), 0, (6, 3)), ((4, 3), 1, (4, 5)), ((4, 3), 0, (2, 2)), ((4, 3), -1, (1, 7)), ((2, 3, 2), 1, (2, 4, 2))]:
    for op in ("sum", "mean", "amin", "amax", "prod"):
        for own in (True, False):
            n = shape[axis]
            i = torch.tensor([random.randint(0, n - 1) for _ in range(int(np.prod(index)))], dtype=torch.int64).reshape(index)
            x = torch.tensor([random.randint(-4, 4) + (0 if own else 0.5) for _ in range(int(np.prod(shape)))], dtype=torch.float64).reshape(shape).requires_grad_()
            v = torch.tensor([random.randint(-4, 4) for _ in range(int(np.prod(index)))], dtype=torch.float64).reshape(index).requires_grad_()
            y = x.scatter_reduce(axis, i, v, op, include_self=own)
            (y * y).sum().backward()
            c = {"op": op, "axis": axis, "own": own, "index": ints(i), "x": floats(x.detach()), "v": floats(v.detach()), "y": floats(y.detach()), "dx": floats(x.grad), "dv": floats(v.grad)}
            c["whole"] = ints(x.detach().long().scatter_reduce(axis, i, v.detach().long(), op, include_self=own))
            reduce.append(c)
for shape, axis, index in [((5,), 0, (8,)), ((4, 3), 0, (6, 3)), ((4, 3), 0, (2, 1)), ((4, 1), 0, (2, 3)), ((4, 3), 1, (1, 5)), ((4, 3), -1, (4, 0)), ((2, 3, 2), 1, (1, 4, 2)), ((0, 3), 1, (1, 2))]:
    x = np.arange(int(np.prod(shape)), dtype=np.int64).reshape(shape)
    i = np.array([random.randint(-shape[axis], shape[axis] - 1) for _ in range(int(np.prod(index)))], dtype=np.int64).reshape(index)
    take.append({"x": ints(x), "axis": axis, "index": ints(i), "y": ints(np.take_along_axis(x, i, axis))})

print('{"reduce":[' + ",\n".join(json.dumps(c, separators=(",", ":")) for c in reduce) + '],\n"take":[' + ",\n".join(json.dumps(c, separators=(",", ":")) for c in take) + "]}")
