"""Writes bspline.json: B-splines of scipy.interpolate. Needs numpy and scipy: python bspline.py > bspline.json"""
import json

import numpy as np
import scipy.interpolate as si

r = np.random.default_rng(3)
x = np.array([0, 0.7, 1.1, 2.0, 3.5, 4.0, 5.5, 6.0])
y = np.round(r.normal(size=(8, 2)), 3)
at = np.linspace(0, 6, 25)
out = np.array([-0.4, 6.3])
cases = {}


def case(name, b):
    d = 1 if name == "double" else min(b.k, 2)
    cases[name] = {"t": b.t.tolist(), "c": b.c.tolist(), "k": b.k, "order": d, "at": b(at).tolist(), "derivative": b.derivative(d)(at).tolist(), "antiderivative": b.antiderivative(2)(at).tolist(),
                   "integral": np.asarray(b.integrate(0.3, 5.1)).tolist(), "back": np.asarray(b.integrate(7.5, -2.2)).tolist(), "outside": b(out).tolist()}


for k in range(6):
    case(f"k{k}", si.make_interp_spline(x, y, k=k))
case("natural", si.make_interp_spline(x, y, bc_type="natural"))
case("clamped", si.make_interp_spline(x, y, bc_type="clamped"))
case("ends", si.make_interp_spline(x, y, k=5, bc_type=([(1, [1, 2]), (2, [0, -1])], [(1, [0.5, 0]), (3, [0, 3])])))
case("knots", si.make_interp_spline(x, y, k=3, t=[0, 0, 0, 0, 0.9, 1.6, 3, 4.5, 6, 6, 6, 6]))
circular = np.concatenate([y[:-1], y[:1]])
for k in (2, 3, 4, 5):
    case(f"periodic{k}", si.make_interp_spline(x, circular, k=k, bc_type="periodic"))
case("double", si.BSpline(np.array([0, 0, 0, 1, 2, 2, 3, 5, 6, 6, 6.]), np.round(r.normal(size=8), 3), 2))
xs = np.sort(np.round(r.random(60) * 6, 3))
ys = np.round(np.sin(xs) + 0.1 * r.normal(size=60), 3)
w = np.round(0.3 + r.random(60), 2)
t = np.array([xs[0]] * 4 + [1, 2.2, 3, 4.5] + [xs[-1]] * 4)
lsq, weighted = si.make_lsq_spline(xs, ys, t, 3), si.make_lsq_spline(xs, ys, t, 3, w=w)
dm = si.BSpline.design_matrix(at, np.array(cases["k3"]["t"]), 3).toarray()
print(json.dumps({"x": x.tolist(), "y": y.tolist(), "circular": circular.tolist(), "at": at.tolist(), "out": out.tolist(), "cases": cases, "xs": xs.tolist(), "ys": ys.tolist(), "w": w.tolist(), "t": t.tolist(),
                  "lsq": lsq.c.tolist(), "weighted": weighted.c.tolist(), "design": dm[7].tolist()}))
