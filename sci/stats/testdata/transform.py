"""Writes transform.json: ranks, Box and Cox's transformation, isotonic regression of SciPy. Needs numpy and scipy: python transform.py > transform.json"""
import json

import numpy as np
import scipy.optimize as so
import scipy.stats as st

r = np.random.default_rng(3)
x = np.round(r.normal(size=17) * 2)
ranks = {m: st.rankdata(x, m).tolist() for m in ["average", "min", "max", "dense", "ordinal"]}
boxes = []
for y in [r.lognormal(1, 0.7, 25), r.gamma(2, 3, 30), r.normal(100, 4, 40), r.random(20) * 1e-6, r.lognormal(0, 3, 15), np.array([1.0, 2.0, 5.0])]:
    y = np.round(y, 9)
    t, lam = st.boxcox(y, optimizer=lambda f: so.minimize_scalar(f, bracket=(-2, 2), tol=1e-12))
    boxes.append({"x": y.tolist(), "lambda": lam, "y": t.tolist()})
print(json.dumps({"x": x.tolist(), "ranks": ranks, "boxes": boxes}))
