"""Writes univariate.json: smoothing splines of scipy.interpolate. Needs numpy and scipy: python univariate.py > univariate.json"""
import json
import warnings

import numpy as np
import scipy.interpolate as si

warnings.simplefilter("error")
r = np.random.default_rng(5)
cases = []
for m, k, s, weighted, wide in [(30, 3, None, False, False), (30, 3, 0.5, False, True), (40, 1, 0.4, False, False), (40, 2, 0.6, True, False), (50, 4, 0.3, False, False),
                                (50, 5, 0.5, True, True), (25, 3, 0, False, False), (25, 4, 0, True, False), (60, 3, 0.02, False, False), (60, 3, 1e3, False, False), (200, 3, 1.2, True, False),
                                (4, 3, 0.1, False, False), (6, 5, 1e-3, False, False), (100, 2, 0.002, False, False)]:
    x = np.sort(np.round(r.random(m) * 6, 4))
    y = np.round(np.sin(2 * x) * np.exp(-x / 4) + 0.1 * r.normal(size=m), 4)
    w = np.round(0.5 + r.random(m), 3) if weighted else None
    bbox = [-0.5, 6.5] if wide else [None, None]
    # More knots than m/2 are SciPy's splrep's.
    u = si.UnivariateSpline(x, y, w=w, bbox=bbox, k=k, s=s)
    (t, c, _), fp, ier, _ = si.splrep(x, y, w=w, xb=bbox[0], xe=bbox[1], k=k, s=m if s is None else s, full_output=True)
    b = si.BSpline(t, c[:len(t) - k - 1], k)
    at = np.linspace(b.t[k], b.t[-k - 1], 19)
    same = len(u.get_coeffs()) == len(t) - k - 1 and np.allclose(u(at), b(at), atol=1e-12)
    cases.append({"x": x.tolist(), "y": y.tolist(), "w": None if w is None else w.tolist(), "k": k, "s": s, "wide": wide, "t": t.tolist(), "residual": float(fp), "at": at.tolist(), "value": b(at).tolist(),
                  "slope": b.derivative(1)(at).tolist(), "integral": float(b.integrate(at[2], at[15])), "outside": b(np.array([-1.0, 7.0])).tolist(),
                  "roots": si.PPoly.from_spline(b).roots(extrapolate=False).tolist(), "same": bool(same)})
print(json.dumps(cases))
