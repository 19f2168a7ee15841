"""Plain loops compiled by Numba, for works where a user of NumPy would write one.

A source defines f of the work's inputs by name. Loops over independent rows or columns
use span, which is prange on several threads and range on one.
"""
from functools import lru_cache

from form import Form, Ready
from inputs import summary

LOOPS = {
    "cumsum": """
def f(x):
    r, s = np.empty_like(x), x.dtype.type(0)
    for i in range(x.size):
        s += x[i]
        r[i] = s
    return r
""",
    "cumsum axis 0": """
def f(x):
    r = np.empty_like(x)
    r[0] = x[0]
    for i in range(1, x.shape[0]):
        for j in range(x.shape[1]):
            r[i, j] = r[i - 1, j] + x[i, j]
    return r
""",
    "cumsum axis 1": """
def f(x):
    r = np.empty_like(x)
    for i in span(x.shape[0]):
        s = x.dtype.type(0)
        for j in range(x.shape[1]):
            s += x[i, j]
            r[i, j] = s
    return r
""",
    "gather rows of 128": """
def f(x, i):
    r = np.empty_like(x)
    for k in span(i.size):
        for j in range(x.shape[1]):
            r[k, j] = x[i[k], j]
    return r
""",
    "scatter-add rows of 128": """
def f(x, i, t):
    r = t.copy()
    for k in range(i.size):
        for j in range(x.shape[1]):
            r[i[k], j] += x[k, j]
    return r
""",
    "gather along rows": """
def f(x, i):
    r = np.empty_like(x)
    for k in span(x.shape[0]):
        for j in range(x.shape[1]):
            r[k, j] = x[k, i[k, j]]
    return r
""",
    "scatter-add along rows": """
def f(x, i, t):
    r = t.copy()
    for k in span(x.shape[0]):
        for j in range(x.shape[1]):
            r[k, i[k, j]] += x[k, j]
    return r
""",
    "where": """
def f(a, b, m):
    r = np.empty_like(a)
    for k in span(a.size):
        r[k] = a[k] if m[k] else b[k]
    return r
""",
    "mask select": """
def f(x, m):
    r, n = np.empty_like(x), 0
    for k in range(x.size):
        if m[k]:
            r[n] = x[k]
            n += 1
    return r[:n]
""",
    "argmax axis 0": """
def f(x):
    r, best = np.zeros(x.shape[1], np.int64), x[0].copy()
    for i in range(1, x.shape[0]):
        for j in range(x.shape[1]):
            if x[i, j] > best[j]:
                best[j], r[j] = x[i, j], i
    return r
""",
    "argmax axis 1": """
def f(x):
    r = np.zeros(x.shape[0], np.int64)
    for i in span(x.shape[0]):
        best = x[i, 0]
        for j in range(1, x.shape[1]):
            if x[i, j] > best:
                best, r[i] = x[i, j], j
    return r
""",
    "histogram of 100 bins": """
def f(x):
    r = np.zeros(100, np.int64)
    for k in range(x.size):
        b = int((x[k] + 1) * 50)
        r[99 if b > 99 else b] += 1
    return r
""",
    "rgb to grey": """
def f(x):
    r = np.empty(x.shape[:2], np.float32)
    for i in span(x.shape[0]):
        for j in range(x.shape[1]):
            r[i, j] = np.float32(0.299) * x[i, j, 0] + np.float32(0.587) * x[i, j, 1] + np.float32(0.114) * x[i, j, 2]
    return r
""",
    "counts of 1000": """
def f(i):
    r = np.zeros(1000, np.int64)
    for k in range(i.size):
        r[i[k]] += 1
    return r
""",
    "means of 1000 groups": """
def f(x, i):
    r, n = np.zeros(1000, x.dtype), np.zeros(1000, x.dtype)
    for k in range(i.size):
        r[i[k]] += x[k]
        n[i[k]] += 1
    return r / n
""",
    "bags of 8 rows of 64": """
def f(x, i):
    r = np.zeros((i.shape[0], x.shape[1]), x.dtype)
    for k in span(i.shape[0]):
        for b in range(i.shape[1]):
            for j in range(x.shape[1]):
                r[k, j] += x[i[k, b], j]
    return r
""",
    "x.T+x": """
def f(x):
    r, b = np.empty_like(x), 32
    for bi in span(x.shape[0] // b):
        for bj in range(x.shape[1] // b):
            for i in range(bi * b, bi * b + b):
                for j in range(bj * b, bj * b + b):
                    r[i, j] = x[j, i] + x[i, j]
    return r
""",
}


@lru_cache(maxsize=None)
def compiled(case, parallel):
    import numba
    import numpy as np

    ns = {"np": np, "span": numba.prange if parallel else range}
    exec(LOOPS[case], ns)
    return numba.njit(parallel=parallel and "span(" in LOOPS[case])(ns["f"])


def loop_forms(case, arrays):
    """The form of the case's loop, if it has one; arrays(case, n, dtype) gives the inputs."""
    if case not in LOOPS:
        return

    def make(n, dtype, threads):
        f, inputs = compiled(case, threads > 1), arrays(case, n, dtype)
        names = ", ".join(inputs)
        ns = inputs | {"f": f}
        return Ready(f"f({names})", ns, lambda: summary(f(**inputs)))

    yield Form("numba loop", "numba", make)
