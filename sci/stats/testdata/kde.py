"""Writes kde.json: density estimates of scipy.stats. Needs numpy and scipy: python kde.py > kde.json"""
import json

import numpy as np
import scipy.stats as st

r = np.random.default_rng(5)
x = np.round(np.concatenate([r.normal(-1, 0.5, 14), r.normal(2, 1, 11)]), 3)
w = np.round(r.random(25), 2)
w[3] = 0
at = np.linspace(-4, 6, 11)
plane = np.round(np.stack([x, 0.95 * x + r.normal(0, 0.4, 25)]), 3)
places = np.round(r.normal(size=(2, 9)) * 2, 3)
space = np.round(np.stack([x, 0.5 * x + r.normal(size=25), r.normal(size=25) - x]), 3)
spots = np.round(r.normal(size=(3, 6)), 3)
cases = {}
for name, data, points, kw in [("scott", x, at, {}), ("silverman", x, at, {"bw_method": "silverman"}), ("factor", x, at, {"bw_method": 0.2}), ("weights", x, at, {"weights": w}),
                               ("plane", plane, places, {}), ("plane weights", plane, places, {"weights": w, "bw_method": "silverman"}), ("space", space, spots, {}), ("space weights", space, spots, {"weights": w})]:
    k = st.gaussian_kde(data, **kw)
    cases[name] = {"factor": k.factor, "neff": float(k.neff), "cov": np.atleast_2d(k.covariance).tolist(), "density": k(points).tolist(), "log": k.logpdf(points).tolist()}
    low, high = [-1.5, -0.7, -2.5][:k.d], [1.2, 2.5, 1][:k.d]
    # Boxes from integrals of normal densities: SciPy's cumulative function of two coordinates is good to 1e-15, of three to about 1e-6.
    cdf = lambda lo, hi: float(np.sum(k.weights * [st.multivariate_normal.cdf(hi, p, k.covariance, lower_limit=lo, abseps=1e-8, releps=1e-8, maxpts=300000, rng=np.random.default_rng(1)) for p in k.dataset.T]))
    cases[name]["box"] = k.integrate_box_1d(low[0], high[0]) if k.d == 1 else cdf(low, high)
print(json.dumps({"x": x.tolist(), "w": w.tolist(), "at": at.tolist(), "plane": plane.tolist(), "places": places.tolist(), "space": space.tolist(), "spots": spots.tolist(), "cases": cases}))
