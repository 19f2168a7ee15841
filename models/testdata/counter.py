"""What the scripts of this folder share: weights by a formula, and the file of results.

counter(name, shape) gives numbers between -1 and 1 from a hash of the name and of each
element's index; the tests have the same function. fill gives a model weights by it, so
that no weights are stored. PyTorch computes with these float32 numbers in float64, so
that what is compared is our rounding alone.

A case of a file NAME.json has

    names       SHA-256 of the lines "name dtype shape", sorted, of the state dict
    parameters  their number
    out, eval   the first numbers of the results in training and afterwards out of it
    grads       of each parameter: norm, product with counter(name), one element
    buffers     the same of each buffer of floats, after the call in training
"""
import hashlib
import json
import math

import numpy as np
import torch

FIRST = 48  # numbers of a result


def fnv(name):
    h = 0xCBF29CE484222325
    for b in name.encode():
        h = ((h ^ b) * 0x100000001B3) % 2**64
    return h


def counter(name, shape):
    n = math.prod(shape)
    with np.errstate(over="ignore"):
        z = np.arange(1, n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(fnv(name))
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    u = (z >> np.uint64(40)).astype(np.float64) / 2**23 - 1
    return torch.from_numpy(u.reshape(shape))


def weight(name, t):
    """The value of the tensor t of that name in a state dict."""
    shape = tuple(t.shape)
    if not t.is_floating_point():
        return torch.zeros_like(t)
    u = counter(name, shape)
    if len(shape) >= 2:
        u = u * math.sqrt(6 / math.prod(shape[1:]))
    elif name.endswith("running_var"):
        u = u * 0.5 + 1
    elif name.endswith("weight"):
        u = u * 0.25 + 1
    else:
        u = u * 0.125
    return u.to(torch.float32).to(torch.float64)


def renamed(tensors, rename):
    """Named tensors by the names that files have: rename(name in the module), None for none."""
    return {rename(k): t for k, t in tensors if rename(k) is not None}


def fill(model, rename=lambda name: name):
    """Gives model the weights by the names that files have."""
    model.to(torch.float64)
    with torch.no_grad():
        for name, t in renamed(model.state_dict().items(), rename).items():
            t.copy_(weight(name, t))


def fingerprint(state):
    lines = sorted(f"{k} {str(v.dtype).removeprefix('torch.').replace('float64', 'float32')} {list(v.shape)}\n".replace(",", "") for k, v in state.items())
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def short(x):
    return float(f"{x:.9g}")


def sums(name, t):
    t = t.detach().to(torch.float64)
    at = fnv(name) % t.numel()
    return [short(t.norm().item()), short((t * counter(name, tuple(t.shape))).sum().item()), short(t.reshape(-1)[at].item())]


def first(t):
    return [short(x) for x in t.detach().reshape(-1)[:FIRST].tolist()]


def case(name, model, run, rename=lambda name: name, evaluated=True):
    """Calls run(model), which returns a tensor, in training and out of it.

    The gradients are of the sum of results times counter("dout").
    """
    fill(model, rename)
    model.train()
    out = run(model)
    (out * counter("dout", tuple(out.shape))).sum().backward()
    c = {
        "names": fingerprint(renamed(model.state_dict().items(), rename)),
        "parameters": sum(p.numel() for p in model.parameters()),
        "shape": list(out.shape),
        "out": first(out),
        "grads": {k: sums(k, p.grad) for k, p in renamed(model.named_parameters(), rename).items()},
        "buffers": {k: sums(k, p) for k, p in renamed(model.named_buffers(), rename).items() if p.is_floating_point()},
    }
    if evaluated:
        model.eval()
        with torch.no_grad():
            c["eval"] = first(run(model))
    return name, c


def count(name, make, rename=lambda name: name):
    """The names and the number of parameters alone, without weights."""
    with torch.device("meta"):
        model = make()
    return name, {"names": fingerprint(renamed(model.state_dict().items(), rename)), "parameters": sum(p.numel() for p in model.parameters())}


def write(path, cases):
    with open(path, "w") as f:
        f.write("{\n")
        f.write(",\n".join(f"{json.dumps(name)}: {json.dumps(c)}" for name, c in cases))
        f.write("\n}\n")
