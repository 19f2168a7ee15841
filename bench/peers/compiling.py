"""Cold compilation of a fused pointwise kernel: every run compiles a kernel that
has never been compiled before (another constant; neither library shares code
between two constants) and evaluates nothing large."""
import itertools

import numpy as np

from form import Form, Ready
from pointwise import NUMEXPR_TYPE

TEXT = "exp(-x*x)*sin(x) + {}*log1p(abs(x))"


def numexpr_compile(n, dtype, threads):
    import numexpr as ne

    fresh = itertools.count(2)
    signature = [("x", NUMEXPR_TYPE[dtype])]
    return Ready("ne.NumExpr(text.format(next(fresh)), signature)",
                 {"ne": ne, "text": TEXT, "fresh": fresh, "signature": signature})  # fmt: skip


def numexpr_first_call(n, dtype, threads):
    """As a user meets it: parse, compile, cache, and run on 16 elements."""
    import numexpr as ne

    ne.set_num_threads(threads)
    fresh = itertools.count(2)
    return Ready("ne.evaluate(text.format(next(fresh)), local_dict=d)",
                 {"ne": ne, "text": TEXT, "fresh": fresh, "d": {"x": np.ones(16, dtype)}})  # fmt: skip


def numba_compile(n, dtype, threads):
    import math

    import numba

    def compile_one():
        def f(x):
            r = np.empty_like(x)
            for i in range(x.size):
                r[i] = math.exp(-x[i] * x[i]) * math.sin(x[i]) + math.log1p(abs(x[i]))
            return r

        numba.njit(f).compile(f"({dtype}[::1],)")

    return Ready("compile_one()", {"compile_one": compile_one})


def forms(case):
    yield Form("numexpr NumExpr()", "numexpr", numexpr_compile)
    yield Form("numexpr first evaluate", "numexpr", numexpr_first_call)
    yield Form("numba njit", "numba", numba_compile, counts=False)


REGISTRY = {"cold compile": forms}
