"""Writes least.json: least squares within bounds by scipy.optimize. Needs numpy and scipy: python least.py > least.json"""
import json

import numpy as np
import scipy.optimize as so

big = 1e300
fits = []
def fit(kind, f, x0, lo, hi):
    t = dict(ftol=1e-15, xtol=1e-15, gtol=1e-12, max_nfev=5000)
    m = so.least_squares(f, np.clip(x0, np.array(lo) + 1e-9, np.array(hi) - 1e-9), bounds=(np.where(np.abs(lo) >= big, -np.inf, lo), np.where(np.abs(hi) >= big, np.inf, hi)), jac="3-point", **t)
    fits.append(dict(Kind=kind, X0=list(map(float, x0)), Lower=list(map(float, lo)), Upper=list(map(float, hi)), X=m.x.tolist(), Cost=float(m.cost), Active=np.where(m.x - lo < 1e-6, -1, np.where(hi - m.x < 1e-6, 1, 0)).tolist()))
rosen = lambda x: np.concatenate([10 * (x[1:] - x[:-1] ** 2), 1 - x[:-1]])
u = np.linspace(0, 4, 25)
v = 2.5 * np.exp(-1.3 * u) + 0.5 + 0.05 * np.sin(17 * u)
decay = lambda p: p[0] * np.exp(-p[1] * u) + p[2] - v
beale = lambda x: np.array([1.5, 2.25, 2.625]) - x[0] * (1 - x[1] ** np.arange(1, 4))
for x0, lo, hi in [([-2, 1], [-big, 1.5], [big, big]), ([-2, 1], [-2, -2], [0.5, 2]), ([2, 2], [1.2, -big], [3, 1.3]), ([1.3, 0.7, 0.8, 1.9], [-3] * 4, [0.9, 4, 4, 4]), ([-1.2, 1], [-big] * 2, [big] * 2)]:
    fit("rosen", rosen, x0, lo, hi)
for lo, hi in [([0] * 3, [2, 2, 2]), ([0] * 3, [2, 1, 0.3]), ([0, 1.4, -big], [big] * 3), ([-5] * 3, [5] * 3)]:
    fit("decay", decay, [1, 1, 1], lo, hi)
fit("beale", beale, [1, 0.5], [0, 0], [2.5, 0.4])
fit("beale", beale, [4, 0.9], [3.5, 0.6], [10, 10])
model = lambda x, a, b, c: a * np.exp(-b * x) + c
p, c = so.curve_fit(model, u, v, [1, 1, 1], bounds=([0] * 3, [3, 1.2, 2]), ftol=1e-14, xtol=1e-14, gtol=1e-14)
print(json.dumps(dict(Fits=fits, Curve=p.tolist(), Cov=c.tolist())))
