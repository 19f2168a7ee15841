"""Writes scipy.json: curves of scipy.interpolate. Needs numpy and scipy: python make.py > scipy.json"""
import json

import numpy as np
import scipy.interpolate as si

x = np.array([0, 0.7, 1.1, 2.0, 3.5, 4.0, 5.5])
y = np.array([1, 1.5, 3.0, 2.0, 2.1, 5.0, 4.0])
at = np.linspace(0, 5.5, 23)
curves = {"not-a-knot": si.CubicSpline(x, y), "natural": si.CubicSpline(x, y, bc_type="natural"), "clamped": si.CubicSpline(x, y, bc_type="clamped"),
          "akima": si.Akima1DInterpolator(x, y)}
print(json.dumps({"x": x.tolist(), "y": y.tolist(), "at": at.tolist(), "outside": float(curves["not-a-knot"](6.5)),
                  "curves": {k: [c(at).tolist(), c(at, 1).tolist()] for k, c in curves.items()}}))
