"""Writes rearrange.json: what NumPy and PyTorch make of arange(n).reshape(shape).

    python testdata/rearrange.py > testdata/rearrange.json

Each case has the name of a method, the shape of the argument, integer arguments and the
results, each as its shape and elements."""
import json

import numpy as np
import torch

cases = []


def case(name, shape, args, *results):
    cases.append({"op": name, "shape": list(shape), "args": list(args),
                  "out": [{"shape": list(r.shape), "values": [int(v) for v in np.asarray(r).reshape(-1)]} for r in results]})


shapes = [(), (5,), (0,), (1,), (2, 3), (3, 2), (4, 4), (0, 3), (3, 0), (2, 1, 3), (2, 3, 4)]
for s in shapes:
    n = int(np.prod(s))
    x = np.arange(n, dtype=np.int64).reshape(s)
    t = torch.from_numpy(x.copy())
    r = len(s)
    for a in [*range(r), -1][:r + (r > 1)]:
        for sizes in ([1], [2], [9]):
            case("split", s, [a] + sizes, *torch.split(t, sizes[0], a))
        for sizes in ([s[a], 0], [0, s[a] // 2, s[a] - s[a] // 2]):
            case("split", s, [a] + sizes, *torch.split(t, sizes, a))
        for k in (1, 2, 3, 7):
            case("chunk", s, [a, k], *torch.chunk(t, k, a))
        case("unbind", s, [a], *torch.unbind(t, a))
        case("flip", s, [a], np.flip(x, a))
        for k in (0, 1, -1, 11):
            case("roll", s, [a, k], np.roll(x, k, a))
        for b in range(-r, r, 2):
            case("moveaxis", s, [a, b], np.moveaxis(x, a, b))
        for k in (0, 1, 3):
            case("repeat_interleave", s, [a, k], np.repeat(x, k, a))
        counts = [(3 * i + 1) % 4 for i in range(s[a])]
        if s[a] > 1:
            case("repeat_interleave each", s, [a] + counts, np.repeat(x, counts, a))
        case("unflatten", s, [a, -1, 1], x.reshape(s[:a % r] + (s[a], 1) + s[a % r + 1:]))
        if s[a] == 4:
            case("unflatten", s, [a, 2, -1], x.reshape(s[:a % r] + (2, 2) + s[a % r + 1:]))
    if r > 1:
        case("flip", s, [0, -1], np.flip(x, (0, -1)))
        for k in (-9, -2, -1, 0, 1, 2, 9):
            case("tril", s, [k], np.tril(x, k))
            case("triu", s, [k], np.triu(x, k))
    case("flip", s, [], np.flip(x))
    if r in (1, 2):
        for k in (-2, -1, 0, 1, 2):
            case("diag", s, [k], np.diag(x, k))
    for reps in ([], [2], [3, 1], [2, 2, 2], [1, 1, 1, 1], [0, 2], [2, 1, 3, 1]):
        case("tile", s, reps, np.tile(x, reps))
        if reps and len(reps) >= r:
            case("repeat", s, reps, t.repeat(*reps))
    case("hstack", s, [], np.hstack([x, x + 1, x]))
    case("vstack", s, [], np.vstack([x, x + 1, x]))
for s in [(3,), (2, 3), (2, 1, 3), (0, 2)]:
    case("meshgrid", s, [], *np.meshgrid(*[np.arange(n) for n in s], indexing="ij"))

print("[" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases) + "]")
