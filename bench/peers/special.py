"""Special functions and distances of SciPy and PyTorch; group-by and join of pandas, Polars and Arrow.

Inputs are those of bench/ours/special.go. SciPy has one thread whatever is set."""

import numpy as np

from form import Form, Ready, available
from inputs import indices, random, summary

# ranges of the arguments, by name of scipy.special
RANGES = {
    "gamma": [(0.5, 20)], "gammaln": [(0.5, 50)], "digamma": [(0.5, 50)], "erf": [(-3, 3)], "erfc": [(-3, 6)], "erfinv": [(-1, 1)],
    "ndtr": [(-5, 5)], "ndtri": [(0, 1)], "i0": [(-20, 20)], "i1": [(-20, 20)], "i0e": [(-20, 20)], "i1e": [(-20, 20)],
    "k0": [(0, 20)], "k1": [(0, 20)], "expi": [(0, 20)], "exp1": [(0, 20)], "lambertw": [(0, 20)], "factorial": [(0, 30)],
    "expit": [(-8, 8)], "logit": [(0, 1)], "entr": [(0, 5)], "log_softmax": [(-8, 8)], "logsumexp": [(-8, 8)],
    "gammainc": [(0.5, 20), (0, 30)], "gammaincc": [(0.5, 20), (0, 30)], "gammaincinv": [(0.5, 20), (0, 1)],
    "betainc": [(0.5, 20), (0.5, 20), (0, 1)], "betaincinv": [(0.5, 20), (0.5, 20), (0, 1)], "zeta": [(1.1, 20), (0.5, 20)],
    "comb": [(20, 60), (0, 20)], "kv": [(0, 10), (0.1, 20)], "xlogy": [(-3, 3), (0, 5)], "rel_entr": [(0, 5), (0.1, 5)],
    "jv": [(0, 10), (0.1, 20)], "expn": [(2, 2), (0.1, 20)], "voigt_profile": [(-20, 20), (0.2, 3), (0.1, 3)], "erfi": [(-5, 5)],
    "airy": [(-10, 10)], "fresnel": [(-10, 10)], "hyp2f1": [(0.5, 3), (0.5, 3), (1, 5), (-2, 0.95)], "hyp1f1": [(0.5, 3), (1, 5), (-10, 10)],
    "struve": [(0, 5), (0.1, 30)], "ellipkinc": [(-3, 3), (-2, 0.9)], "elliprf": [(0.1, 5), (0.1, 5), (0.1, 5)],
    "elliprj": [(0.1, 5), (0.1, 5), (0.1, 5), (0.1, 5)],
}  # fmt: skip
TORCH = {"gammaln": "lgamma", "digamma": "digamma", "erf": "erf", "erfc": "erfc", "erfinv": "erfinv", "ndtr": "special.ndtr",
         "ndtri": "special.ndtri", "i0": "special.i0", "i1": "special.i1", "i0e": "special.i0e", "i1e": "special.i1e",
         "expit": "sigmoid", "logit": "logit", "entr": "special.entr", "gammainc": "special.gammainc", "gammaincc": "special.gammaincc",
         "xlogy": "xlogy", "zeta": "special.zeta"}  # fmt: skip
ROWS = ("log_softmax", "logsumexp")
STATS = ("sum", "mean", "count", "min", "max")
KEYS = {"1e3": 1000, "1e6": 1_000_000}


def scaled(n, seed, lo, hi, dtype):
    return ((random((n,), seed, "float64") + 1) * ((hi - lo) / 2) + lo).astype(dtype)


def special_forms(case):
    name = case.removeprefix("special ")
    inputs = lambda n, d: [scaled(n, 1 + i, lo, hi, d) for i, (lo, hi) in enumerate(RANGES[name])]

    def scipy_form(n, d, threads):
        from scipy import special

        x, f = inputs(n, d), getattr(special, name)
        run = lambda: f(x[0].reshape(-1, 1000), axis=1) if name in ROWS else f(*x)
        first = lambda y: y[0] if isinstance(y, tuple) else y
        return Ready("run()", {"run": run}, lambda: summary(np.real(first(run()))))

    def torch_form(n, d, threads):
        import torch

        x, f = [torch.from_numpy(a) for a in inputs(n, d)], torch
        for part in TORCH[name].split("."):
            f = getattr(f, part)
        return Ready("f(*x)", {"f": f, "x": x}, lambda: summary(f(*x).numpy()))

    yield Form("scipy", "scipy", scipy_form)
    if TORCH.get(name):
        yield Form("torch", "torch", torch_form, counts=False)


def cdist_forms(case):
    inputs = lambda n, d: [random((n, 64), seed, d) for seed in (1, 2)]

    def scipy_form(n, d, threads):
        from scipy.spatial.distance import cdist

        x, y = inputs(n, d)
        return Ready("cdist(x, y)", {"cdist": cdist, "x": x, "y": y}, lambda: summary(cdist(x, y)))

    def torch_form(mode):
        def make(n, d, threads):
            import torch

            x, y = (torch.from_numpy(a) for a in inputs(n, d))
            run = lambda: torch.cdist(x, y, compute_mode=mode)
            return Ready("run()", {"run": run}, lambda: summary(run().numpy()))

        return make

    yield Form("scipy", "scipy", scipy_form)
    yield Form("torch", "torch", torch_form("donot_use_mm_for_euclid_dist"))
    # Near rows cancel in the form of a product.
    yield Form("torch by products", "torch", torch_form("use_mm_for_euclid_dist"), counts=False)


def checked(column):
    return summary(np.sort(np.asarray(column, dtype="float64")))


def table_forms(names):
    """names: of the library and the function (n, dtype, threads) -> (statement, names, check)."""
    for lib, make in names.items():
        if available(lib):
            yield Form(lib, lib, lambda n, d, t, make=make: Ready(*make(n, d, t)))


def group_forms(case):
    _, stat, _, keys, _ = case.split()
    arrays = lambda n, d: {"k": indices(n, 2, KEYS[keys]), "v": random((n,), 1, d)}

    def by_pandas(n, d, t):
        import pandas

        frame = pandas.DataFrame(arrays(n, d))
        run = lambda: frame.groupby("k")["v"].agg(stat)
        return "run()", {"run": run}, lambda: checked(run())

    def by_polars(n, d, t):
        import polars

        frame = polars.DataFrame(arrays(n, d))
        run = lambda: frame.group_by("k").agg(getattr(polars.col("v"), stat)())
        return "run()", {"run": run}, lambda: checked(run()["v"])

    def by_arrow(n, d, t):
        import pyarrow

        pyarrow.set_cpu_count(t)
        frame = pyarrow.table(arrays(n, d))
        run = lambda: frame.group_by("k").aggregate([("v", stat)])
        return "run()", {"run": run}, lambda: checked(run()[f"v_{stat}"])

    return table_forms({"pandas": by_pandas, "polars": by_polars, "pyarrow": by_arrow})


def join_forms(case):
    left = lambda n, d: {"k": indices(n, 2, n), "a": random((n,), 1, d)}
    right = lambda n, d: {"k": indices(n, 3, n), "b": random((n,), 4, d)}

    def by_pandas(n, d, t):
        import pandas

        l, r = pandas.DataFrame(left(n, d)), pandas.DataFrame(right(n, d))
        run = lambda: l.merge(r, on="k")
        return "run()", {"run": run}, lambda: checked(run()["b"])

    def by_polars(n, d, t):
        import polars

        l, r = polars.DataFrame(left(n, d)), polars.DataFrame(right(n, d))
        run = lambda: l.join(r, on="k")
        return "run()", {"run": run}, lambda: checked(run()["b"])

    def by_arrow(n, d, t):
        import pyarrow

        pyarrow.set_cpu_count(t)
        l, r = pyarrow.table(left(n, d)), pyarrow.table(right(n, d))
        run = lambda: l.join(r, "k", join_type="inner")
        return "run()", {"run": run}, lambda: checked(run()["b"])

    return table_forms({"pandas": by_pandas, "polars": by_polars, "pyarrow": by_arrow})


REGISTRY = {
    **{f"special {name}": special_forms for name in RANGES}, "cdist 2000x64": cdist_forms, "join on keys": join_forms,
    **{f"group-by {stat} of {keys} keys": group_forms for stat in STATS for keys in KEYS},
}  # fmt: skip
