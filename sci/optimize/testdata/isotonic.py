"""Writes isotonic.json: isotonic regressions of SciPy. Needs numpy and scipy: python isotonic.py > isotonic.json"""
import json

import numpy as np
import scipy.optimize as so

r = np.random.default_rng(4)
cases = []
for n in [1, 2, 3, 10, 31, 100]:
    y = np.round(np.arange(n) * 0.1 + r.normal(size=n), 3)
    w = np.round(r.random(n) + 0.1, 2)
    for weights in [None, w]:
        for inc in [True, False]:
            x = so.isotonic_regression(y, weights=weights, increasing=inc).x
            cases.append({"y": y.tolist(), "w": None if weights is None else w.tolist(), "decreasing": not inc, "x": x.tolist()})
print(json.dumps(cases))
