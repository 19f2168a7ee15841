"""Writes scattered.json: griddata and Delaunay by scipy. Needs numpy and scipy: python scattered.py > scattered.json"""
import json

import numpy as np
import scipy.interpolate as si
import scipy.spatial as ss

r = np.random.default_rng(5)
points = np.round(r.normal(size=(60, 2)) * [1, 40], 3)
values = np.round(r.normal(size=(60, 2)), 3)
targets = np.round(np.vstack([r.normal(size=(50, 2)) * [0.8, 30], points[:3], [[9, 9], [-5, 0]]]), 3)
t = ss.Delaunay(points).simplices
three = np.round(r.normal(size=(30, 3)), 3)
out = {"points": points, "values": values, "targets": targets, "linear": si.griddata(points, values, targets, fill_value=-7), "rescaled": si.griddata(points, values, targets, rescale=True, fill_value=-7),
       "nearest": si.griddata(points, values, targets, method="nearest"), "triangles": np.array(sorted(sorted(map(int, s)) for s in t)),
       "three": three, "threeTargets": three[:9] + 0.1, "threeNearest": si.NearestNDInterpolator(three, np.arange(30.0))(three[:9] + 0.1)}
ct = si.CloughTocher2DInterpolator(points, values, fill_value=-7, tol=1e-15, maxiter=20000)
out["cubic"] = ct(targets)
print(json.dumps({k: v.tolist() for k, v in out.items()}))
