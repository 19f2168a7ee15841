"""Writes linregress.json: SciPy's linear regressions. Needs numpy and scipy: python linregress.py > linregress.json"""
import json

import numpy as np
import scipy.stats as st

r = np.random.default_rng(11)
x = np.round(r.normal(3, 2, 25), 6)
points = [(x, np.round(1.5 - 0.3 * x + r.normal(0, 0.7, 25), 6)), (x, np.round(r.normal(size=25), 6)), (np.arange(6.) + 1e4, np.array([1., 2, 2, 4, 5, 5])),
          (np.array([1., 2, 4]), np.array([3., 5, 10])), (np.array([1., 3]), np.array([2., 7])), (np.array([1., 3]), np.array([2., 2]))]
names = ["slope", "intercept", "rvalue", "pvalue", "stderr", "intercept_stderr"]
cases = []
for x, y in points:
    for a in ["two-sided", "less", "greater"]:
        fit = st.linregress(x, y, alternative=a)
        cases.append({"x": x.tolist(), "y": y.tolist(), "alternative": a, "want": [None if np.isnan(v) else v for v in (float(getattr(fit, n)) for n in names)]})
print(json.dumps(cases))
