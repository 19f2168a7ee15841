"""Writes scipy.json: results of scipy.integrate. Needs numpy and scipy: python make.py > scipy.json"""
import json

import numpy as np
import scipy.integrate as si

tight = dict(rtol=1e-10, atol=1e-12)
lotka = lambda t, z: [1.5 * z[0] - z[0] * z[1], -3 * z[1] + z[0] * z[1]]
times = np.linspace(0, 15, 11)
l = si.solve_ivp(lotka, (0, 15), [10, 5], t_eval=times, method="DOP853", rtol=1e-13, atol=1e-13)
d = si.solve_ivp(lotka, (0, 15), [10, 5])
pol = lambda t, y: [y[1], 1000 * (1 - y[0] ** 2) * y[1] - y[0]]
v = si.solve_ivp(pol, (0, 1500), [2, 0], t_eval=[100, 500, 800, 1200, 1500], method="Radau", **tight)
robertson = lambda t, y: [-0.04 * y[0] + 1e4 * y[1] * y[2], 0.04 * y[0] - 1e4 * y[1] * y[2] - 3e7 * y[1] ** 2, 3e7 * y[1] ** 2]
stiff = {}
for m in ["Radau", "BDF"]:
    a = si.solve_ivp(pol, (0, 1500), [2, 0], method=m, rtol=1e-5, atol=1e-8)
    b = si.solve_ivp(robertson, (0, 1e5), [1, 0, 0], method=m, rtol=1e-6, atol=1e-10)
    stiff[m] = [len(a.t) - 1, len(b.t) - 1]
rob = si.solve_ivp(robertson, (0, 1e5), [1, 0, 0], t_eval=[1, 100, 1e4, 1e5], method="Radau", rtol=1e-11, atol=1e-15)
def event(f, terminal, direction):
    f.terminal, f.direction = terminal, direction
    return f


events = {}
for case, terminals in {"none": (False, False, False), "second": (False, 2, False), "first": (3, 2, True)}.items():
    s = si.solve_ivp(lotka, (0, 15), [10, 5], rtol=1e-6, events=[event(lambda t, z: z[0] - 3, terminals[0], 0), event(lambda t, z: z[1] - 2, terminals[1], 1), event(lambda t, z: z[0] - z[1] - 1, terminals[2], -1)])
    events[case] = {"t": [t.tolist() for t in s.t_events], "y": [y.tolist() for y in s.y_events], "end": float(s.t[-1]), "ended": s.status == 1, "steps": len(s.t) - 1}
back = si.solve_ivp(lotka, (15, 0), [10, 5], rtol=1e-6, events=[event(lambda t, z: z[0] - 3, False, 1)])
events["back"] = {"t": [t.tolist() for t in back.t_events], "y": [y.tolist() for y in back.y_events], "end": 0.0, "ended": False, "steps": len(back.t) - 1}
print(json.dumps({
    "events": events,
    "lotka": l.y.T.tolist(), "steps": len(d.t) - 1, "evals": int(d.nfev), "default": d.y[:, -1].tolist(), "vanderpol": v.y.T.tolist(),
    "robertson": rob.y.T.tolist(), "stiff": stiff,
    "quad": [si.quad(np.exp, 0, 1)[0], si.quad(lambda x: np.exp(-x * x / 2), -np.inf, np.inf)[0], si.quad(lambda x: 1 / (1 + x * x), 1, np.inf)[0],
             si.quad(lambda x: np.exp(x), -np.inf, 2)[0], si.quad(lambda x: np.sqrt(x), 0, 1)[0], si.quad(lambda x: np.cos(50 * x) ** 2, 0, 3)[0],
             si.quad(lambda x: np.log(x), 0, 1)[0], si.quad(lambda x: np.abs(x - 0.3), 0, 1, points=[0.3])[0], si.quad(np.sin, 3, 1)[0],
             si.quad(lambda x: np.exp(-x), np.inf, 0)[0]]}))
