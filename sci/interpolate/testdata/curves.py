"""Writes curves.json: what PPoly's methods give. Needs numpy and scipy: python curves.py > curves.json"""
import json

import numpy as np
import scipy.interpolate as si

x = np.array([0, 0.7, 1.1, 2.0, 3.5, 4.0, 5.5])
y = np.array([1, -1.5, 3.0, 2.0, -2.1, 2.0, 4.0])
at = np.linspace(-1, 7, 33)
out = {}
for kind, c in {"not-a-knot": si.CubicSpline(x, y), "natural": si.CubicSpline(x, y, bc_type="natural"), "clamped": si.CubicSpline(x, y, bc_type="clamped"), "akima": si.Akima1DInterpolator(x, y, extrapolate=True)}.items():
    out[kind] = {"second": c(at, 2).tolist(), "slope": c.derivative()(at).tolist(), "anti": c.antiderivative()(at).tolist(), "anti2": c.antiderivative(2)(at).tolist(),
                 "integrals": [float(c.integrate(*ab)) for ab in [(0, 5.5), (0.3, 3.7), (3.7, 0.3), (-1, 7), (2, 2)]],
                 "solutions": {str(v): [np.unique(np.round(c.solve(v, extrapolate=e), 9)).tolist() for e in (False, True)] for v in (0.0, 2.0, -1.7, 3.0, 50.0)}}
print(json.dumps({"x": x.tolist(), "y": y.tolist(), "at": at.tolist(), "curves": out}))
