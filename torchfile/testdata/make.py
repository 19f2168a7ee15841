"""Writes the files of this folder with PyTorch: python3 make.py

Values of tensors are small integers by position, so that the tests can say them.
"""
import collections
import os

import numpy as np
import torch

HERE = os.path.dirname(os.path.abspath(__file__))
DTYPES = "float32 float64 float16 bfloat16 int64 int32 int16 int8 uint8 bool complex64 complex128 uint16 uint32 uint64 float8_e4m3fn float8_e5m2".split()


def save(name, value, **k):
    torch.save(value, os.path.join(HERE, name), **k)


def dtypes():
    x = torch.arange(6).reshape(2, 3)
    return {d: (x % 2 if d == "bool" else x).to(getattr(torch, d)) for d in DTYPES}


def containers():
    return {
        "none": None, "true": True, "int": -7, "long": 1 << 40, "big": -(1 << 80), "float": 1.5, "complex": 1 + 2j,
        "str": "häßlich", "bytes": b"\x00\xffxy", "bytearray": bytearray(b"ab"), "list": [1, [2, "x"]], "tuple": (1, (2,)), "empty": (),
        "set": {3}, "frozenset": frozenset([4]), "ordered": collections.OrderedDict([("b", 1), ("a", 2)]),
        "default": collections.defaultdict(list, {"k": [1]}), "counter": collections.Counter("aab"),
        1: "int key", (1, "x"): "tuple key", 2.5: "float key", None: "none key",
        "size": torch.Size([2, 3]), "device": torch.device("cuda:1"), "dtype": torch.bfloat16, "float8": torch.float8_e5m2,
        "np_float": np.float32(1.5), "np_int": np.int64(-3), "np_bool": np.bool_(True), "np_array": np.arange(6, dtype=">i4").reshape(2, 3),
        "np_fortran": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    }


def views():
    x = torch.arange(24.0).reshape(4, 6)
    p = torch.nn.Parameter(torch.ones(3))
    return {"x": x, "t": x.t(), "part": x[1:3, ::2], "row": x[2], "same": x, "expand": x[0, :1].expand(3), "scalar": x[3, 5], "empty": x[:0],
            "param": p, "alias": p, "grad": torch.zeros(2, requires_grad=True), "none": torch.zeros(0, 3)}


def trained():
    """A checkpoint of a training: a network, its optimizer, numbers."""
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.Linear(4, 2, bias=False))
    with torch.no_grad():
        for i, p in enumerate(net.parameters()):
            p.copy_((torch.arange(p.numel()).reshape(p.shape) + i) / 8)
    opt = torch.optim.Adam(net.parameters(), lr=0.01)
    net(torch.ones(2, 3) * torch.tensor([[1.0], [2.0]])).sum().backward()
    before = {k: v.clone() for k, v in net.state_dict().items()}
    opt.step()
    return {"epoch": 3, "model_state_dict": before, "optimizer_state_dict": opt.state_dict()}, net


class Args:
    def __init__(self):
        self.lr, self.tensor = 0.5, torch.ones(2)


def main():
    for p in (2, 3, 4, 5):
        save(f"containers{p}.pt", containers(), pickle_protocol=p)
    save("dtypes.pt", dtypes())
    save("views.pt", views())
    save("views_old.pt", views(), _use_new_zipfile_serialization=False)
    old = dtypes()
    for d in DTYPES[12:]:
        del old[d]
    save("dtypes_old.pt", old, _use_new_zipfile_serialization=False)
    checkpoint, net = trained()
    save("checkpoint.pt", checkpoint)
    save("state.pth", net.state_dict())
    save("module.pt", net)
    save("object.pt", {"args": Args(), "state_dict": net.state_dict()})
    save("sparse.pt", {"sparse": torch.eye(3).to_sparse(), "dense": torch.eye(2)})
    save("list.pt", [1, torch.ones(2)])
    torch.jit.save(torch.jit.trace(torch.nn.Linear(2, 2), torch.ones(1, 2)), os.path.join(HERE, "script.pt"))


if __name__ == "__main__":
    main()
