"""Writes conv.json: convolutions and their gradients as PyTorch computes them in float64.

Run in this folder: python conv.py
"""
import json
import random

import torch
import torch.nn.functional as F

torch.manual_seed(1)
random.seed(1)


def array(t):
    return {"Shape": list(t.shape), "Data": [float(v) for v in t.detach().flatten()]}


def case(kind, x, w, out, stride, padding, dilation, groups, output=None):
    # Eighths: sums are short and equal in any order but for the last bits.
    def eighths(*shape):
        return (torch.randint(-16, 17, shape, dtype=torch.float64) / 8).requires_grad_()

    x, w, b = eighths(*x), eighths(*w), eighths(out)
    args = dict(stride=stride, padding=padding, dilation=dilation, groups=groups)
    if kind == "transposed":
        y = F.conv_transpose2d(x, w, b, output_padding=output, **args)
    else:
        y = (F.conv1d if kind == "conv1d" else F.conv2d)(x, w, b, **args)
    dy = eighths(*y.shape).detach()
    y.backward(dy)
    return {"Kind": kind, "X": array(x), "W": array(w), "B": array(b), "DY": array(dy), "Y": array(y),
            "DX": array(x.grad), "DW": array(w.grad), "DB": array(b.grad),
            "Stride": stride, "Padding": padding, "Dilation": dilation, "Groups": groups, "Output": output or []}


cases = [
    case("conv2d", (2, 3, 5, 6), (4, 3, 3, 2), 4, [1, 1], [0, 0], [1, 1], 1),
    case("conv2d", (1, 2, 9, 8), (2, 2, 3, 3), 2, [1, 1], [0, 0], [2, 3], 1),
    case("conv2d", (2, 4, 6, 6), (4, 1, 3, 3), 4, [1, 1], [1, 1], [1, 1], 4),  # depthwise
    case("conv2d", (1, 3, 7, 7), (6, 1, 3, 3), 6, [2, 2], [1, 1], [1, 1], 3),  # with a multiplier
    case("conv2d", (1, 4, 9, 7), (6, 2, 3, 2), 6, [2, 1], [2, 1], [2, 2], 2),
    case("conv2d", (2, 6, 4, 4), (2, 3, 1, 1), 2, [1, 1], [0, 0], [1, 1], 2),
]
for _ in range(6):
    r = random.randint
    g = r(1, 3)
    ci, co, k, d = r(1, 2), r(1, 2), [r(1, 3), r(1, 3)], [r(1, 2), r(1, 2)]
    size = [(k[i] - 1) * d[i] + r(1, 4) for i in range(2)]
    cases.append(case("conv2d", (r(1, 2), g * ci, *size), (g * co, ci, *k), g * co, [r(1, 3), r(1, 3)], [r(0, 2), r(0, 2)], d, g))
for _ in range(5):
    g, ci, co, k, d = r(1, 3), r(1, 2), r(1, 2), r(1, 4), r(1, 3)
    cases.append(case("conv1d", (r(1, 2), g * ci, (k - 1) * d + r(1, 6)), (g * co, ci, k), g * co, [r(1, 2)], [r(0, 2)], [d], g))
for _ in range(8):
    g, ci, co, k = r(1, 3), r(1, 2), r(1, 2), [r(1, 3), r(1, 3)]
    s, d = [r(1, 3), r(1, 3)], [r(1, 3), r(1, 3)]
    output = [r(0, max(s[i], d[i]) - 1) for i in range(2)]
    padding = [r(0, min(1, (k[i] - 1) * d[i])) for i in range(2)]
    cases.append(case("transposed", (r(1, 2), g * ci, r(2, 4), r(2, 4)), (g * ci, co, *k), g * co, s, padding, d, g, output))

with open("conv.json", "w") as f:
    f.write("[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases) + "\n]\n")
