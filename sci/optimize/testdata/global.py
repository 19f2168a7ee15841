"""Writes global.json: assignments and global minima of scipy.optimize. Needs numpy and scipy: python global.py > global.json"""
import json

import numpy as np
import scipy.optimize as so

r = np.random.default_rng(11)
cases = []
for shape in [(1, 1), (4, 4), (3, 7), (9, 5), (20, 20)]:
    cost = np.round(r.normal(size=shape) * 10, 2)
    row, col = so.linear_sum_assignment(cost)
    up = so.linear_sum_assignment(cost, maximize=True)
    cases.append({"cost": cost.tolist(), "row": row.tolist(), "col": col.tolist(), "up": [a.tolist() for a in up]})
ties = r.integers(0, 3, size=(12, 15))
row, col = so.linear_sum_assignment(ties)
rastrigin = lambda x: 10 * len(x) + np.sum(x * x - 10 * np.cos(2 * np.pi * x))
ackley = lambda x: -20 * np.exp(-0.2 * np.sqrt(np.mean(x * x))) - np.exp(np.mean(np.cos(2 * np.pi * x))) + 20 + np.e
egg = lambda x: -(x[1] + 47) * np.sin(np.sqrt(abs(x[0] / 2 + x[1] + 47))) - x[0] * np.sin(np.sqrt(abs(x[0] - x[1] - 47)))
minima = {}
for name, f, b in [("rastrigin", rastrigin, [(-5.12, 5.12)] * 3), ("ackley", ackley, [(-32, 20)] * 2), ("eggholder", egg, [(-512, 512)] * 2)]:
    best = min((so.differential_evolution(f, b, seed=s, tol=1e-8, maxiter=3000, popsize=40) for s in range(5)), key=lambda m: m.fun)
    minima[name] = {"x": best.x.tolist(), "value": float(best.fun)}
print(json.dumps({"cases": cases, "ties": ties.tolist(), "least": int(ties[row, col].sum()), "minima": minima}))
