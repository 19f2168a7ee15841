"""Writes anneal.json: global minima of scipy.optimize by annealing and hops. Needs numpy and scipy: python anneal.py > anneal.json"""
import json

import numpy as np
import scipy.optimize as so

rastrigin = lambda x: 10 * len(x) + np.sum(x * x - 10 * np.cos(2 * np.pi * x))
ackley = lambda x: -20 * np.exp(-0.2 * np.sqrt(np.mean(x * x))) - np.exp(np.mean(np.cos(2 * np.pi * x))) + 20 + np.e
egg = lambda x: -(x[1] + 47) * np.sin(np.sqrt(abs(x[0] / 2 + x[1] + 47))) - x[0] * np.sin(np.sqrt(abs(x[0] - x[1] - 47)))
hops = lambda x: np.cos(14.5 * x[0] - 0.3) + (x[1] + 0.2) * x[1] + (x[0] + 0.2) * x[0]
dual, hop = {}, {}
for name, f, b in [("rastrigin", rastrigin, [(-5.12, 5.12)] * 3), ("ackley", ackley, [(-32, 20)] * 2), ("eggholder", egg, [(-512, 512)] * 2), ("hops", hops, [(-5, 5)] * 2)]:
    best = min((so.dual_annealing(f, b, rng=s) for s in range(3)), key=lambda m: m.fun)
    dual[name] = {"x": best.x.tolist(), "value": float(best.fun)}
for name, f, x0 in [("rastrigin", rastrigin, [1.1, -0.9, 2.2]), ("hops", hops, [1.0, 1.0])]:
    best = min((so.basinhopping(f, x0, niter=200, rng=s) for s in range(3)), key=lambda m: m.fun)
    hop[name] = {"x": best.x.tolist(), "value": float(best.fun)}
print(json.dumps({"dual": dual, "hop": hop}))
