"""Writes scipy.json: results of scipy.optimize. Needs numpy and scipy: python make.py > scipy.json"""
import json

import numpy as np
import scipy.optimize as so

x = np.linspace(0, 4, 25)
y = 2.5 * np.exp(-1.3 * x) + 0.5 + 0.05 * np.sin(17 * x)
sigma = 0.02 + 0.01 * np.arange(25)
model = lambda x, a, b, c: a * np.exp(-b * x) + c
p, c = so.curve_fit(model, x, y, [1, 1, 1])
ps, cs = so.curve_fit(model, x, y, [1, 1, 1], sigma=sigma)
pa, ca = so.curve_fit(model, x, y, [1, 1, 1], sigma=sigma, absolute_sigma=True)
r = so.root(lambda v: [v[0] * np.cos(v[1]) - 4, v[1] * v[0] - v[1] - 5], [1, 1], tol=1e-14)
print(json.dumps({
    "x": x.tolist(), "y": y.tolist(), "sigma": sigma.tolist(),
    "fit": p.tolist(), "cov": c.tolist(), "fit_sigma": ps.tolist(), "cov_sigma": cs.tolist(), "cov_absolute": ca.tolist(),
    "root": r.x.tolist(), "brentq": so.brentq(lambda v: v ** 3 - 2 * v - 5, 2, 3, xtol=1e-14),
    "rosen": so.minimize(so.rosen, [1.3, 0.7, 0.8, 1.9, 1.2], jac=so.rosen_der, method="BFGS", tol=1e-10).x.tolist()}))
