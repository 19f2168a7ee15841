"""Writes bounds.json: minima under constraints by scipy.optimize. Needs numpy and scipy: python bounds.py > bounds.json"""
import json

import numpy as np
import scipy.optimize as so

r = np.random.default_rng(3)
big = 1e300
lists = lambda a: None if a is None else np.asarray(a, float).tolist()
bounded = []
for x0, lo, hi in [([1.3, 0.7, 0.8, 1.9, 1.2], [-big] * 5, [big] * 5), ([-1.2, 1], [-2, -2], [0.5, 2]), ([0, 0, 0, 0], [1.5, -big, -big, 0], [2, 0.5, big, 3]),
                   ([3, -2, 2, 0, 1], [0] * 5, [0.8] * 5), ([2, 2, 2], [1.1, 1.1, 1.1], [big, big, 1.1])]:
    m = so.minimize(so.rosen, x0, jac=so.rosen_der, method="L-BFGS-B", bounds=list(zip(lo, hi)), options=dict(ftol=1e-16, gtol=1e-10, maxiter=5000))
    bounded.append(dict(X0=lists(x0), Lower=lists(lo), Upper=lists(hi), X=m.x.tolist()))
nnls = []
for m, n in [(5, 3), (20, 8), (8, 8), (4, 7)]:
    a, b = np.round(r.normal(size=(m, n)), 3), np.round(r.normal(size=m), 3)
    if m < n:
        a, b = np.abs(a), -np.abs(b)
    x, res = so.nnls(a, b)
    nnls.append(dict(A=a.tolist(), B=b.tolist(), X=x.tolist(), R=res))
programs = []
def program(c, aub=None, bub=None, aeq=None, beq=None, lo=None, hi=None):
    n = len(c)
    lo, hi = [0] * n if lo is None else lo, [big] * n if hi is None else hi
    bounds = [(None if l <= -big else l, None if h >= big else h) for l, h in zip(lo, hi)]
    m = so.linprog(c, aub, bub, aeq, beq, bounds=bounds)
    programs.append(dict(C=lists(c), AUb=lists(aub), BUb=lists(bub), AEq=lists(aeq), BEq=lists(beq), Lower=lists(lo), Upper=lists(hi), Status=int(m.status), Value=float(m.fun) if m.status == 0 else 0))
program([-1, 4], [[-3, 1], [1, 2]], [6, 4], lo=[-big, -3])
program([-0.75, 150, -0.02, 6], [[0.25, -60, -0.04, 9], [0.5, -90, -0.02, 3], [0, 0, 1, 0]], [0, 0, 1])  # Beale's cycle
program([1, 1], [[-1, -1]], [-3], [[1, -1]], [1])
program([1, 1], [[1, 1]], [-1])
program([-1, -1], [[1, -1]], [1])
program([1, 2, 3], None, None, [[1, 1, 1], [2, 2, 2]], [2, 4])  # a row twice
program([1, 2, 3], None, None, [[1, 1, 1], [2, 2, 2]], [2, 5])
program([-2, -3, 1], None, None, None, None, [-1, -2, -3], [4, 5, 6])
program([1, -1], None, None, [[1, 1]], [0], [-big, -big], [3, 5])
for m, k, n in [(6, 2, 8), (15, 5, 20), (30, 0, 12), (10, 10, 40)]:
    aub, aeq, x = np.round(r.normal(size=(m, n)), 2), np.round(r.normal(size=(k, n)), 2), r.integers(0, 3, n)
    lo, hi = np.where(r.random(n) < 0.2, -big, -1), np.where(r.random(n) < 0.5, big, 4)
    y = np.round(r.normal(size=n), 2)
    program(np.abs(y) + (aub.T @ -r.random(m)).round(2) * 0.1, aub, (aub @ x + r.integers(0, 2, m)).round(6), aeq if k else None, (aeq @ x).round(6) if k else None, lo, hi)
    program(y, aub, (aub @ x + r.integers(0, 2, m)).round(6), aeq if k else None, (aeq @ x).round(6) if k else None, np.full(n, -5), np.full(n, 7))
f = lambda x: (x - 2) * x * (x + 2) ** 2
scalar = []
for method in ["brent", "golden", "bounded"]:
    m = so.minimize_scalar(f, method=method, bounds=(-3, -1) if method == "bounded" else None)
    scalar.append(dict(Method=method, X=float(m.x), Least=float(m.fun)))
print(json.dumps(dict(Bounded=bounded, NNLS=nnls, Programs=programs, Scalar=scalar)))
