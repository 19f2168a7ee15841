"""Writes indexing.json: what NumPy's brackets make of arange(n).reshape(shape), and of writes
through them.

    python testdata/indexing.py > testdata/indexing.json

An index is a list: an int; ":" with start, stop and step (null if not given); "new"; "...";
an array of places or of truth values with its shape. "out" is x[index], null if NumPy refuses.
"put" has values, x with those written in row-major order (the last of several for one element
stays) and x with them added by add.at."""
import json
import random

import numpy as np

random.seed(11)
cases = []


def encode(i):
    if i is None:
        return {"kind": "new"}
    if i is Ellipsis:
        return {"kind": "..."}
    if isinstance(i, slice):
        return {"kind": ":", "bounds": [i.start, i.stop, i.step]}
    if isinstance(i, int):
        return {"kind": "int", "at": i}
    kind = "mask" if i.dtype == bool else "places"
    return {"kind": kind, "shape": list(i.shape), "values": [int(v) for v in i.reshape(-1)]}


def array(a):
    return {"shape": list(a.shape), "values": [int(v) for v in a.reshape(-1)]}


def case(shape, index):
    x = np.arange(int(np.prod(shape)), dtype=np.int64).reshape(shape)
    c = {"shape": list(shape), "index": [encode(i) for i in index], "out": None}
    try:
        y = x[tuple(index)]
    except IndexError:
        cases.append(c)
        return
    y = np.asarray(y)
    c["out"] = array(y)
    if y.size <= 24 and x.size <= 24:
        s = list(y.shape)
        for k in range(len(s)):
            if random.random() < 0.3:
                s[k] = 1
        s = s[random.randint(0, len(s)):] if random.random() < 0.3 else s
        if random.random() < 0.1:
            s = [1] + s
        v = np.array([random.randint(-9, 9) for _ in range(int(np.prod(s)))], dtype=np.int64).reshape(s)
        written, added = x.copy(), x.copy()
        full = np.broadcast_to(v.reshape(s[len(s) - y.ndim:] if len(s) > y.ndim else s), y.shape)
        for at, value in zip(np.asarray(y).reshape(-1), full.reshape(-1)):
            written.reshape(-1)[at] = value  # the elements of x are their places
        np.add.at(added, tuple(index), v.reshape(s[len(s) - y.ndim:] if len(s) > y.ndim else s))
        c["put"] = {"values": array(v), "written": array(written), "added": array(added)}
    cases.append(c)


def places(shape, size, bad):
    lo, hi = (-size - 1, size) if bad else (-size, size - 1)
    return np.array([random.randint(lo, max(hi, lo)) for _ in range(int(np.prod(shape)))], dtype=np.int64).reshape(shape)


def draw(shape):
    """A random index that mostly fits."""
    together = random.choice([[], [1], [2], [3], [1, 2], [2, 1], [2, 3], [0]])
    index, axis, ellipsis = [], 0, False
    bad = random.random() < 0.06
    while axis < len(shape) and len(index) < 7:
        n, r = shape[axis], random.random()
        if r < 0.12:
            index.append(random.randint(-n - bad, max(n - 1 + bad, -n)))
            axis += 1
        elif r < 0.34:
            part = slice(*[random.choice([None, None, random.randint(-n - 1, n + 1)]) for _ in range(2)], random.choice([None, None, 1, 2, -1, -2]))
            index.append(part)
            axis += 1
        elif r < 0.42:
            index.append(None)
        elif r < 0.50 and not ellipsis:
            ellipsis = True
            index.append(Ellipsis)
            axis += random.randint(0, len(shape) - axis)
        elif r < 0.84:
            s = together if random.random() < 0.7 else together[random.randint(0, len(together)):]
            s = [1 if random.random() < 0.2 else k for k in s]
            if random.random() < 0.03:
                s = [4] + s
            index.append(places(s, n, bad))
            axis += 1
        elif r < 0.97:
            k = random.randint(1, min(2, len(shape) - axis))
            s = list(shape[axis:axis + k])
            if random.random() < 0.05:
                s[0] += 1
            index.append(np.array([random.random() < 0.4 for _ in range(int(np.prod(s)))], dtype=bool).reshape(s))
            axis += k
        else:
            index.append(np.array(random.random() < 0.5))
    return index


shapes = [(), (4,), (2, 3), (3, 2, 2), (2, 3, 4), (2, 1, 3, 2), (0, 3), (2, 2, 2, 3)]
# By hand: where axes go, masks, and what is refused.
i, j, m = np.array([1, 0, 1]), np.array([[0], [2]]), np.array([[True, False, True], [False, True, True]])
for shape, index in [
    ((), []), ((), [None, Ellipsis]), ((), [np.array(True)]), ((), [np.array(False)]), ((), [0]), ((3,), [3]), ((3,), [-4]),
    ((2, 3, 4), []), ((2, 3, 4), [i]), ((2, 3, 4), [slice(None), i]), ((2, 3, 4), [i, slice(None), i]), ((2, 3, 4), [0, slice(None), i]),
    ((2, 3, 4), [slice(None), 0, i]), ((2, 3, 4), [i, Ellipsis, 0]), ((2, 3, 4), [slice(None), i, 1]), ((2, 3, 4), [i, None, i]),
    ((2, 3, 4), [None, i, i]), ((2, 3, 4), [Ellipsis, i, i]), ((2, 3, 4), [i, i, Ellipsis, i]), ((2, 3, 4), [slice(None), i, Ellipsis, i]),
    ((2, 3, 4), [slice(None), i, Ellipsis, 2]), ((2, 3, 4), [slice(None), 1, Ellipsis, i]), ((2, 3, 4), [m]), ((2, 3, 4), [m, slice(1, 3)]), ((2, 3, 4), [m, 0]),
    ((2, 3, 4), [m, np.array([3, 2, 1, 0])]), ((2, 3, 4), [m, i]), ((2, 3, 4), [np.array([True, False]), j]), ((2, 3, 4), [np.array([True, True]), slice(None), np.array([1, 2])]),
    ((2, 3), [m]), ((2, 3), [m, None]), ((2, 3), [None, m]), ((2, 3), [np.array(True), m]), ((2, 3), [slice(None), np.array(True), i]), ((2, 3), [np.array(False)]),
    ((2, 3), [m.T]), ((2, 3), [slice(None), m]), ((2, 3), [i, i, i]), ((2, 3), [Ellipsis, Ellipsis]), ((2, 3), [i, np.array([0, 1])]),
    ((0, 3), [np.zeros(0, dtype=np.int64)]), ((0, 3), [np.array([0])]), ((0, 3), [slice(None), i]), ((2, 0), [np.zeros((2, 0), dtype=bool)]),
    ((2, 3), [np.zeros(0, dtype=np.int64), np.array([7])]), ((2, 3), [j, slice(None, None, -1)]), ((3, 2, 2), [slice(2, None, -2), j[:1], slice(None)]),
]:
    case(shape, index)
for _ in range(320):
    s = random.choice(shapes)
    case(s, draw(s))

print("[" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases) + "]")
