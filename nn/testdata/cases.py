"""What the scripts of this folder share: cases of PyTorch, and the file that they go to.

Inputs and weights are float32 numbers; PyTorch computes with them in float64, so that
what is compared is our rounding alone. For a case named c a file holds

    c/in.N     arguments              c/out.N   results
    c/dout.N   gradients of results   c/din.N   gradients of arguments
    c/state.P  the state dict         c/dp.P    gradients of parameters
    c/after.P  the state dict after the call, where it changes
"""
import json
import struct

import torch

torch.manual_seed(1)
tensors = {}


def put(name, t):
    t = t.detach()
    if t.dtype == torch.float64:
        t = t.to(torch.float32)
    assert name not in tensors, name
    tensors[name] = t.contiguous()


def exact(t):
    """t in float64, rounded to float32 numbers."""
    return t.to(torch.float32).to(torch.float64) if t.is_floating_point() else t


def case(name, f, args, module=None, train=True):
    """f is called with args; those that are floats, and parameters, get gradients."""
    if module is not None:
        module.to(torch.float64).train(train)
        with torch.no_grad():
            for p in module.state_dict().values():
                if p.is_floating_point():
                    p.copy_(exact(p))
        before = {k: v.clone() for k, v in module.state_dict().items()}
        for k, v in before.items():
            put(f"{name}/state.{k}", v)
    args = [exact(a) for a in args]
    for i, a in enumerate(args):
        put(f"{name}/in.{i}", a)
        if a.is_floating_point():
            a.requires_grad_()
    outs = f(*args)
    outs = outs if isinstance(outs, tuple) else (outs,)
    total = 0
    for i, o in enumerate(outs):
        put(f"{name}/out.{i}", o)
        d = exact(torch.randn(o.shape, dtype=torch.float64))
        put(f"{name}/dout.{i}", d)
        total = total + (o * d).sum()
    total.backward()
    for i, a in enumerate(args):
        if a.is_floating_point() and a.grad is not None:
            put(f"{name}/din.{i}", a.grad)
    if module is not None:
        for k, p in module.named_parameters():
            put(f"{name}/dp.{k}", p.grad.to_dense() if p.grad.is_sparse else p.grad)
        for k, v in module.state_dict().items():
            if not torch.equal(v, before[k]):
                put(f"{name}/after.{k}", v)


def layer(name, m, *args, train=True):
    case(name, m, args, module=m, train=train)


def shaken(m):
    """m with weights and buffers that are not ones and zeros."""
    with torch.no_grad():
        for k, p in m.state_dict().items():
            if p.is_floating_point():
                p.copy_(torch.rand_like(p) + (0.5 if "var" in k or "weight" in k else -0.5))
    return m


def write(path):
    """Writes the cases as a safetensors file."""
    kinds = {torch.float32: "F32", torch.int64: "I64", torch.bool: "BOOL"}
    header, data = {}, b""
    for name, t in sorted(tensors.items()):
        raw = t.numpy().tobytes()
        header[name] = {"dtype": kinds[t.dtype], "shape": list(t.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)
    print(len(tensors), "tensors,", len(data), "bytes")
