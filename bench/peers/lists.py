"""Lists whose rows move: sorted, padded and back, taken by places, and lists that grow and are
edited in their middle.

Peers get what they want to know of the items beforehand.
"""
from functools import lru_cache

import numpy as np

from form import Form, Ready, available
from inputs import random, scrambled, summary

PAD, ONE, INSERTIONS = 64, 3, 100  # as in bench/ours/lists.go


class TypedList:
    """How the founding document keeps a list: an array of elements and one of the starts and stops
    of items, which double when they are full and are moved by slices."""

    def __init__(self, dtype, data=None, size=1):
        self.data, self.items, self.rows, self.n = np.zeros(512, dtype), np.zeros((64, 2), np.int64), 0, 0
        if data is not None:
            self.data, self.rows, self.n = data.copy(), len(data), len(data) // size
            starts = np.arange(self.n) * size
            self.items = np.stack([starts, starts + size], 1)

    def insert(self, i, x):
        k = len(x)
        if self.rows + k > len(self.data):
            self.data = np.resize(self.data, 1 << int(self.rows + k - 1).bit_length())
        if self.n == len(self.items):
            self.items = np.resize(self.items, (1 << int(self.n).bit_length(), 2))
        start = self.items[i, 0] if i < self.n else self.rows
        if i < self.n:
            self.data[start + k : self.rows + k] = self.data[start : self.rows]
            self.items[i + 1 : self.n + 1] = self.items[i : self.n] + k
        self.data[start : start + k] = x
        self.items[i] = start, start + k
        self.rows, self.n = self.rows + k, self.n + 1

    def delete(self, i):
        start, stop = self.items[i]
        self.data[start : self.rows - (stop - start)] = self.data[stop : self.rows]
        self.items[i : self.n - 1] = self.items[i + 1 : self.n] - (stop - start)
        self.rows, self.n = self.rows - (stop - start), self.n - 1


@lru_cache(maxsize=1)  # the formulations of a row share their inputs
def arrays(n, dtype):
    sizes = (scrambled(n, 3) % np.uint64(PAD + 1)).astype("int64")
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    rows = int(offsets[-1])
    counts = np.where(sizes > 0, 4, 0)
    of = np.repeat(sizes, 4)
    places = scrambled(4 * n, 5).astype("int64")[of > 0] % of[of > 0]
    return {"x": random(rows, 1, dtype), "s": sizes, "o": offsets, "ids": np.repeat(np.arange(n), sizes), "mask": np.arange(PAD) < sizes[:, None],
            "b": places, "c": counts, "n": n, "np": np, "PAD": PAD}  # fmt: skip


def edited(n, dtype):
    return {"TypedList": TypedList, "np": np, "n": n, "one": random(ONE, 1, dtype), "l": TypedList(dtype, random(4 * n, 1, dtype), 4), "dtype": dtype}


MOVED = {
    "ragged sort": (["r = x[np.lexsort((x, ids))]"], ["r = ak.sort(a, axis=1)"], ["r, i = torch.sort(x); r = r[torch.sort(ids[i], stable=True)[1]]"]),
    "ragged pad": (["r = np.zeros((n, PAD), x.dtype); r[mask] = x"], ["r = ak.to_numpy(ak.fill_none(ak.pad_none(a, PAD, axis=1, clip=True), 0))"],
                   ["r = j.to_padded_tensor(0.0, (n, PAD, 1))"]),
    "ragged unpad": (["r = p[mask]"], [], ["r = p[mask]"]),
    "ragged index": (["r = x[np.repeat(o[:-1], c) + b]"], ["r = a[ab]"], ["r = x[torch.repeat_interleave(o[:-1], c, output_size=len(b)) + b]"]),
}  # fmt: skip
EDITS = {
    "ragged appends": [
        "l = TypedList(dtype)\nfor i in range(n): l.insert(i, one)\nr = l.data[:l.rows]",
        "l = []\nfor i in range(n): l.append(one)\nr = np.concatenate(l)",
    ],
    "ragged insert, delete": [f"for i in range({INSERTIONS}): l.insert(n//2, one); l.delete(n//2)\nr = l.data[:l.rows]"],
}


def ready(text, ns, plain):
    def check():
        exec(text, ns)
        return summary(plain(ns.pop("r")))

    return Ready(text, ns, check)


def numpy_form(case, text):
    def make(n, dtype, threads):
        ns = edited(n, dtype) if case in EDITS else dict(arrays(n, dtype))
        if case == "ragged unpad":
            ns["p"] = random((n, PAD), 1, dtype)
        return ready(text, ns, np.asarray)

    return make


def awkward_form(case, text):
    def make(n, dtype, threads):
        import awkward as ak

        ns = dict(arrays(n, dtype))
        lists = lambda o, x: ak.Array(ak.contents.ListOffsetArray(ak.index.Index64(o), ak.contents.NumpyArray(x)))
        ns["ak"], ns["a"], ns["ab"] = ak, lists(ns["o"], ns["x"]), lists(np.concatenate([[0], np.cumsum(ns["c"])]), ns["b"])
        return ready(text, ns, lambda r: np.asarray(r if isinstance(r, np.ndarray) else ak.flatten(r, axis=None)))

    return make


def torch_form(case, text):
    def make(n, dtype, threads):
        import torch

        ns = {k: torch.from_numpy(a) if isinstance(a, np.ndarray) else a for k, a in arrays(n, dtype).items()}
        ns["torch"], ns["j"] = torch, torch.nested.nested_tensor_from_jagged(ns["x"][:, None], ns["o"])
        if case == "ragged unpad":
            ns["p"] = torch.from_numpy(random((n, PAD), 1, dtype))
        return ready(text, ns, lambda r: r.numpy().ravel())

    return make


def forms(case):
    texts = (EDITS[case],) if case in EDITS else MOVED[case]
    for lib, make, of in zip(("numpy", "awkward", "torch"), (numpy_form, awkward_form, torch_form), texts):
        if available(lib):
            for k, text in enumerate(of):
                # Bars of edits are beside the first, which keeps a list that can be read at any time.
                yield Form(lib + (f" {k + 1}" if k else ""), lib, make(case, text), counts=not (k and case in EDITS))


REGISTRY = dict.fromkeys((*MOVED, *EDITS), forms)
