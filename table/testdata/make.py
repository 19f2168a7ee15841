"""Writes expected.json: what pandas makes of a small table, grouped, joined, pivoted, unpivoted, sorted, described.

python3 make.py > expected.json    (pandas 3.1)
"""

import json
import sys

import numpy as np
import pandas as pd

r = np.random.default_rng(5)
N = 60
t = pd.DataFrame({
    "city": r.choice(["Rome", "Oslo", "Paris", "Ärö", "a"], N),
    "year": r.choice([2020, 2021, -3], N),
    "rent": np.where(r.random(N) < 0.2, np.nan, r.normal(size=N) * 10.0 ** r.integers(-3, 9, N)),
    "big": r.integers(-(2**62), 2**62, N) // 64,
    "own": r.random(N) < 0.5,
    "zone": np.where(r.random(N) < 0.3, np.nan, r.integers(0, 3, N)),
    "note": [None if r.random() < 0.3 else "n%d" % r.integers(0, 9) for _ in range(N)],
})
cities = pd.DataFrame({"city": ["Oslo", "Rome", "Bern", "Rome", "a"], "people": [7, 28, 1, 29, 0], "year": [1, 2, 3, 4, 5]})


def columns(f):
    out = []
    for name in f.columns:
        c = f[name]
        if c.dtype == object or str(c.dtype).startswith("str"):
            values = ["" if pd.isna(v) else str(v) for v in c]
        else:
            values = [None if pd.isna(v) else (float(v) if c.dtype.kind == "f" else int(v)) for v in c]
        out.append({"name": str(name), "type": str(c.dtype) if c.dtype.kind in "ifb" else "texts", "values": values})
    return out


def stats(keys):
    g = t.groupby(keys, dropna=False)
    q = lambda x: x.quantile(0.3)
    out = g.agg(
        rent_sum=("rent", "sum"), rent_mean=("rent", "mean"), rent_min=("rent", "min"), rent_max=("rent", "max"),
        rent_std=("rent", "std"), rent_var=("rent", "var"), rent_median=("rent", "median"), rent_quantile=("rent", q),
        rent_count=("rent", "count"), rent_first=("rent", "first"), rent_last=("rent", "last"), rent_nunique=("rent", "nunique"),
        big_sum=("big", "sum"), big_min=("big", "min"), big_max=("big", "max"), big_mean=("big", "mean"), big_first=("big", "first"), big_last=("big", "last"),
        own_sum=("own", "sum"), size=("city", "size"),
        note_count=("note", "count"), note_min=("note", lambda x: min(x.dropna(), default=None)), note_max=("note", lambda x: max(x.dropna(), default=None)),
        note_first=("note", "first"), note_last=("note", "last"), note_nunique=("note", "nunique"),
    ).reset_index()
    return columns(out)


json.dump({
    "table": columns(t), "cities": columns(cities),
    "groups": {k: stats(k.split(",")) for k in ["city", "year", "zone", "own", "note", "city,year", "zone,city,own"]},
    "joins": {h: columns(t[["city", "year", "big"]].merge(cities, on="city", how=h, suffixes=("", "_right"), sort=False)) for h in ["inner", "left"]},
    "sorted": columns(t.sort_values(["zone", "city", "big"], ascending=[False, True, False], na_position="first")),
    "pivot": columns(t.pivot_table(index="city", columns="year", values="rent", aggfunc="sum").reset_index()),
    "unpivot": columns(t[["city", "rent", "big"]].melt(id_vars="city")),
    "describe": columns(t[["rent", "big"]].describe().T.reset_index(names="column")),
}, sys.stdout, separators=(",", ":"))
print()
