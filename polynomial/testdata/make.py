"""Writes vectors.json: polynomials, and what NumPy makes of them.

    python polynomial/testdata/make.py

Made with numpy 2. Numbers are pairs of real and imaginary parts.
"""
import json
import os

import numpy as np
from numpy.polynomial import polynomial as p

r = np.random.default_rng(6)
out = {}


def enc(x):
    x = np.asarray(x)
    z = x.astype(complex).ravel()
    return {"shape": list(x.shape), "c": np.stack([z.real, z.imag], -1).ravel().tolist(), "real": not np.iscomplexobj(x)}


def put(name, args, results):
    out[name] = {"args": [enc(a) for a in args], "results": [enc(a) for a in results]}


for c in (False, True):
    s = ".complex" if c else ".real"

    def some(*shape):
        x = np.round(r.standard_normal(shape), 3)
        return x + 1j * np.round(r.standard_normal(shape), 3) if c else x

    for n in (1, 2, 5, 30):
        a, x = some(n), some(2, 3)
        put(f"val{s}{n}", [x, a], [p.polyval(x, a)])
    a, b = some(7), some(3)
    put("add" + s, [b, a], [p.polyadd(b, a), p.polysub(b, a)])
    put("mul" + s, [a, b], [p.polymul(a, b)])
    put("div" + s, [a, b], list(p.polydiv(a, b)))
    put("pow" + s, [b], [p.polypow(b, 0), p.polypow(b, 5)])
    put("der" + s, [a], [p.polyder(a)])
    put("int" + s, [a], [p.polyint(a), p.polyint(a, k=[2], lbnd=0.3)])
    put("companion" + s, [a], [p.polycompanion(a)])
    put("roots" + s, [a], [p.polyroots(a).astype(complex)])
    for n in (1, 2, 5, 8):
        x = some(n)
        put(f"fromroots{s}{n}", [x], [p.polyfromroots(x)])
x = np.linspace(-2, 3, 20)
y = r.standard_normal((2, 20))
w = r.uniform(0.5, 2, 20)
put("fit", [x, y], [p.polyfit(x, y.T, 3).T])
put("fit_w", [x, y, w], [p.polyfit(x, y.T, 3, w=w).T])
put("fit_rtol", [x, y], [p.polyfit(x, y.T, 6, rcond=0.1).T])
a, b = r.standard_normal((2, 1, 4)), r.standard_normal((3, 2))
put("mul.batch", [a, b], [np.array([[p.polymul(u, v) for v in b] for u in a[:, 0]])])
qr = [[p.polydiv(u, v) for v in b] for u in a[:, 0]]
put("div.batch", [a, b], [np.array([[v[i] for v in u] for u in qr]) for i in range(2)])
put("roots.batch", [a], [np.array([p.polyroots(u).astype(complex) for u in a[:, 0]])[:, None]])
put("fromroots.batch", [a], [np.array([p.polyfromroots(u) for u in a[:, 0]])[:, None]])

at = np.linspace(-1.5, 3, 9)
for name, module, cls in [("chebyshev", np.polynomial.chebyshev, np.polynomial.Chebyshev), ("legendre", np.polynomial.legendre, np.polynomial.Legendre), ("hermite", np.polynomial.hermite, np.polynomial.Hermite),
                          ("hermitee", np.polynomial.hermite_e, np.polynomial.HermiteE), ("laguerre", np.polynomial.laguerre, np.polynomial.Laguerre), ("power", p, np.polynomial.Polynomial)]:
    short = {"chebyshev": "cheb", "legendre": "leg", "hermite": "herm", "hermitee": "herme", "laguerre": "lag", "power": "poly"}[name]
    fn = lambda what: getattr(module, short + what)
    to_power = (lambda c: c) if name == "power" else getattr(module, short + "2poly")
    from_power = (lambda c: c) if name == "power" else getattr(module, "poly2" + short)
    for n, cplx in [(1, False), (5, True)] if name != "power" else []:
        c = np.round(r.standard_normal(n), 3) + (1j * np.round(r.standard_normal(n), 3) if cplx else 0)
        tag = f"{name}{n}" + ("complex" if cplx else "")
        put(f"basis_{name}.{tag}", [at, c], [fn("val")(at, c), fn("vander")(at, n), fn("der")(c), fn("int")(c), fn("int")(c, k=[2], lbnd=0.3), to_power(c), from_power(c)])
        put(f"roots_{name}.{tag}", [c], [fn("roots")(c).astype(complex)])
    put(f"fit_{name}", [x, y, w], [fn("fit")(x, y.T, 3).T, fn("fit")(x, y.T, 4, w=w).T])
    s = cls.fit(x, y[0], 3, domain=[-2, 4])
    lower = s.integ(lbnd=0.5, k=[3])
    plain = s.convert(kind=np.polynomial.Polynomial)
    put(f"series_{name}", [x, y[0], at], [s.coef, s(at), s.deriv()(at), lower(at), plain.coef, s.convert(kind=np.polynomial.Chebyshev).coef])
    put(f"roots_series_{name}", [s.coef], [s.roots().astype(complex)])

path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "vectors.json")
with open(path, "w") as f:
    json.dump(out, f, separators=(",", ":"))
    f.write("\n")
