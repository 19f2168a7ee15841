"""Reads files that package torchfile wrote, by torch.load(weights_only=True), in the folder that is
the argument, and compares them with the files of this folder."""
import os
import sys

import numpy as np
import torch

HERE = os.path.dirname(os.path.abspath(__file__))


def same(a, b):
    if isinstance(a, torch.Tensor):
        a, b = a.detach(), torch.as_tensor(b).detach()
        return a.shape == b.shape and (a.dtype == b.dtype) and a.flatten().tolist() == b.flatten().tolist()
    if isinstance(a, np.ndarray):
        return (a == b.numpy()).all()
    if isinstance(a, dict):
        return a.keys() == b.keys() and list(a) == list(b) and all(same(a[k], b[k]) for k in a if k not in ("set", "frozenset", "float8", "counter"))
    if isinstance(a, (list, tuple)) and not isinstance(a, torch.Size):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    return a == b


for name in ["containers2.pt", "dtypes.pt", "views.pt", "checkpoint.pt"]:
    want = torch.load(os.path.join(HERE, name), weights_only=False)
    for mmap in [False, True]:
        got = torch.load(os.path.join(sys.argv[1], name), weights_only=True, mmap=mmap)
        for k in want:
            if k not in ("set", "frozenset", "float8"):
                assert same(want[k], got[k]), (name, k, want[k], got[k])
v = torch.load(os.path.join(sys.argv[1], "views.pt"))
assert v["x"].data_ptr() == v["same"].data_ptr() and v["param"].requires_grad
w = torch.load(os.path.join(sys.argv[1], "state.pth"), weights_only=True)
assert type(w).__name__ == "OrderedDict" and w["w"].tolist() == [[0, 3], [1, 4], [2, 5]], w
