"""Lists of items of 0 to 64 elements: values of items, and elements with one value an item.

Peers get what they want to know of the items beforehand: NumPy the places where items that are not
empty begin, PyTorch lengths as
well as offsets, and the longest.
"""
from functools import lru_cache

import numpy as np

from form import Form, Ready, available
from inputs import random, scrambled, summary


@lru_cache(maxsize=1)  # the formulations of a row share their inputs
def arrays(n, dtype):
    sizes = (scrambled(n, 3) % np.uint64(65)).astype("int64")
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    full = sizes > 0
    return {"x": random(int(offsets[-1]), 1, dtype), "v": random(n, 2, dtype), "s": sizes, "o": offsets,
            "full": full, "starts": offsets[:-1][full], "some": sizes[full], "n": n, "np": np}  # fmt: skip


# work: texts of NumPy, of Awkward, of PyTorch. r is the result, whose elements or values are compared.
CASES = {
    "ragged sum": (
        ["r = np.zeros(n, x.dtype); r[full] = np.add.reduceat(x, starts)"],
        ["r = ak.sum(a, axis=1)"],
        ["r = torch.segment_reduce(x, 'sum', offsets=o)", "r = j.sum(1)"],
    ),
    "ragged max": (
        ["r = np.full(n, -np.inf, x.dtype); r[full] = np.maximum.reduceat(x, starts)"],
        ["r = ak.max(a, axis=1, mask_identity=False)"],
        ["r = torch.segment_reduce(x, 'max', offsets=o)"],
    ),
    "ragged softmax": (
        ["r = x - np.repeat(np.maximum.reduceat(x, starts), some); np.exp(r, out=r); r /= np.repeat(np.add.reduceat(r, starts), some)"],
        ["e = np.exp(a - ak.max(a, axis=1, mask_identity=False)); r = e / ak.sum(e, axis=1)", "r = ak.softmax(a, axis=1)"],
        ["r = torch.softmax(j, 1)",
         "r = torch.exp(x - torch.repeat_interleave(torch.segment_reduce(x, 'max', offsets=o), s, output_size=len(x))); "
         "r /= torch.repeat_interleave(torch.segment_reduce(r, 'sum', offsets=o), s, output_size=len(x))"],
    ),
    "ragged 2*l+v": (
        ["r = 2*x + np.repeat(v, s)", "r = np.repeat(v, s); r += x; r += x"],
        ["r = 2*a + v"],
        ["r = 2*j + v[:, None, None]", "r = 2*x + torch.repeat_interleave(v, s, output_size=len(x))", "r = torch.repeat_interleave(v, s, output_size=len(x)).add_(x, alpha=2)"],
    ),
}  # fmt: skip


def ready(case, text, ns, plain):
    def check():
        exec(text, ns)
        r = plain(ns.pop("r"))
        return summary(np.maximum(r, -2) if case == "ragged max" else r)

    return Ready(text, ns, check)


def numpy_form(case, text):
    return lambda n, dtype, threads: ready(case, text, dict(arrays(n, dtype)), np.asarray)


def awkward_form(case, text):
    def make(n, dtype, threads):
        import awkward as ak

        ns = dict(arrays(n, dtype))
        ns["ak"], ns["a"] = ak, ak.Array(ak.contents.ListOffsetArray(ak.index.Index64(ns["o"]), ak.contents.NumpyArray(ns["x"])))
        return ready(case, text, ns, lambda r: np.asarray(ak.flatten(r, axis=None)))

    return make


def torch_form(case, text):
    def make(n, dtype, threads):
        import torch

        ns = {k: torch.from_numpy(a) if isinstance(a, np.ndarray) else a for k, a in arrays(n, dtype).items()}
        ns["torch"], ns["j"] = torch, torch.nested.nested_tensor_from_jagged(ns["x"][:, None], ns["o"], min_seqlen=0, max_seqlen=64)
        return ready(case, text, ns, lambda r: (r.values() if r.is_nested else r).numpy().ravel())

    return make


def forms(case):
    for lib, make, texts in zip(("numpy", "awkward", "torch"), (numpy_form, awkward_form, torch_form), CASES[case]):
        if available(lib):
            for k, text in enumerate(texts):
                yield Form(lib + (f" {k + 1}" if k else ""), lib, make(case, text))


REGISTRY = dict.fromkeys(CASES, forms)
