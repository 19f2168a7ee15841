"""Writes tails.json: distribution functions, their inverses and log densities far from the middle, by mpmath.

    python distributions/testdata/tails.py

Made with mpmath 1.3 and 50 digits. Probabilities are those of p, and of 1 - p where that is a float.
"""
import json
import os

import mpmath as mp

mp.mp.dps = 50
half = mp.mpf(1) / 2
m, s, v = mp.mpf(0.5), mp.mpf(2), mp.mpf(0.25)
z = lambda x: (mp.mpf(x) - m) / s


def laplace_icdf(p):
    p = mp.mpf(p)
    return m + s * mp.log(2 * p) if p < half else m - s * mp.log(2 - 2 * p)


families = {
    "normal": {"cdf": lambda x: mp.erfc(-z(x) / mp.sqrt(2)) / 2, "icdf": lambda p: m + s * normal(p), "log_prob": lambda x: -z(x) ** 2 / 2 - mp.log(s) - mp.log(2 * mp.pi) / 2},
    "log_normal": {"icdf": lambda p: mp.exp(m + s * normal(p))},
    "laplace": {"cdf": lambda x: mp.exp(z(x)) / 2 if z(x) < 0 else 1 - mp.exp(-z(x)) / 2, "icdf": laplace_icdf, "log_prob": lambda x: -abs(z(x)) - mp.log(2 * s)},
    "cauchy": {"cdf": lambda x: mp.atan2(1, -z(x)) / mp.pi, "icdf": lambda p: m - s / mp.tan(mp.pi * mp.mpf(p)), "log_prob": lambda x: -mp.log(mp.pi * s) - mp.log1p(z(x) ** 2)},
    "student_t": {"log_prob": lambda x: mp.loggamma((v + 1) / 2) - mp.loggamma(v / 2) - mp.log(v * mp.pi) / 2 - mp.log(s) - (v + 1) / 2 * mp.log1p(z(x) ** 2 / v)},
}


def normal(p):
    """The inverse of the normal distribution function, by Newton's method from a start in the tail."""
    p = mp.mpf(p)
    sign, q = (1, 1 - p) if p > half else (-1, p)
    x = mp.sqrt(-2 * mp.log(q)) if q < 0.4 else mp.mpf(0)
    for _ in range(400):
        x += (mp.erfc(x / mp.sqrt(2)) / 2 - q) / (mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi))
    return sign * x


places = [-1e300, -1e160, -1e25, -1e5, -60.0, -10.0, 0.25, 0.75, 10.0, 60.0, 1e5, 1e25, 1e160, 1e300]
probabilities = [1e-300, 1e-30, 1e-10, 1e-3, 0.2, 0.3, 0.499, 0.75, 0.9, 0.999, 1 - 2.0**-20]
out = {}
for name, f in families.items():
    for kind, g in f.items():
        at = probabilities if kind == "icdf" else places if name in ("cauchy", "student_t") else places[3:-3]
        out[f"{name} {kind}"] = {"x": at, "want": [float(g(x)) for x in at]}
with open(os.path.join(os.path.dirname(__file__), "tails.json"), "w") as w:
    json.dump(out, w)
