"""Writes scipy.json: curves of scipy.interpolate. Needs numpy and scipy: python make.py > scipy.json"""
import json

import numpy as np
import scipy.interpolate as si

x = np.array([0, 0.7, 1.1, 2.0, 3.5, 4.0, 5.5])
y = np.array([1, 1.5, 3.0, 2.0, 2.1, 5.0, 4.0])
at = np.linspace(0, 5.5, 23)
curves = {"not-a-knot": si.CubicSpline(x, y), "natural": si.CubicSpline(x, y, bc_type="natural"), "clamped": si.CubicSpline(x, y, bc_type="clamped"),
          "akima": si.Akima1DInterpolator(x, y)}
r = np.random.default_rng(1)
xs = np.sort(np.round(r.random(40) * 10, 3))
ys = np.round(np.sin(xs) + 0.2 * r.normal(size=40), 3)
w = np.round(0.5 + r.random(40), 2)
smooth = {"0": si.make_smoothing_spline(xs, ys, lam=0), "1": si.make_smoothing_spline(xs, ys, lam=1), "weighted": si.make_smoothing_spline(xs, ys, w=w, lam=0.05), "gcv": si.make_smoothing_spline(xs, ys)}
ats = np.linspace(xs[0], xs[-1], 31)
grid = [np.array([0, 1, 2.5, 4]), np.array([-1, 0, 3]), np.array([0, 0.5])]
values = np.round(r.normal(size=(4, 3, 2, 2)), 3)
where = np.round(r.random((25, 3)) * [4, 4, 0.5] - [0, 1, 0], 3)
where[0], where[1] = [0, -1, 0], [4, 3, 0.5]
outside = np.array([[-1, 0, 0.2], [5, 4, 1]])
points = np.round(r.random((30, 2)), 3)
scattered = np.round(np.stack([np.sin(4 * points[:, 0]) * points[:, 1], points.sum(1)], 1), 3)
targets = np.concatenate([np.round(r.random((12, 2)) * 1.2, 3), points[:2]])
rbf = {k: si.RBFInterpolator(points, scattered, kernel=k, epsilon=None if k in ("thin_plate_spline", "linear", "cubic", "quintic") else 3)(targets).tolist()
       for k in ["thin_plate_spline", "linear", "cubic", "quintic", "multiquadric", "inverse_multiquadric", "inverse_quadratic", "gaussian"]}
rbf["smooth"] = si.RBFInterpolator(points, scattered, smoothing=0.1, degree=2)(targets).tolist()
rbf["none"] = si.RBFInterpolator(points, scattered, kernel="gaussian", epsilon=2.5, degree=-1)(targets).tolist()
lin, near = si.RegularGridInterpolator(grid, values), si.RegularGridInterpolator(grid, values, method="nearest")
more = {"xs": xs.tolist(), "ys": ys.tolist(), "w": w.tolist(), "ats": ats.tolist(), "smooth": {k: s(ats).tolist() for k, s in smooth.items()},
        "grid": [g.tolist() for g in grid], "values": values.tolist(), "where": where.tolist(), "outside3": outside.tolist(), "linear": lin(where).tolist(), "nearest": near(where).tolist(),
        "extrapolated": si.RegularGridInterpolator(grid, values, bounds_error=False, fill_value=None)(outside).tolist(),
        "points": points.tolist(), "scattered": scattered.tolist(), "targets": targets.tolist(), "rbf": rbf}
print(json.dumps({"x": x.tolist(), "y": y.tolist(), "at": at.tolist(), **more, "outside": float(curves["not-a-knot"](6.5)),
                  "curves": {k: [c(at).tolist(), c(at, 1).tolist()] for k, c in curves.items()}}))
