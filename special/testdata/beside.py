"""Writes beside.txt: functions at arguments where terms cancel, where orders lose a digit, or where powers overflow.

    python3 beside.py > beside.txt      (needs mpmath, numpy, scipy)

The lines are those of vectors.txt.
"""
import math

import mpmath as m
import numpy as np
import scipy.special as sc

m.mp.dps = 60
r = np.random.default_rng(5)


def log_uniform(lo, hi):
    return float(np.exp(r.uniform(np.log(lo), np.log(hi))))


def units(y, want):
    if not np.isfinite(y):
        return 1e18
    return float(abs(m.mpf(float(y)) - want) / m.mpf(2) ** (math.frexp(float(want))[1] - 53))


def write(name, args, want, scipy):
    hi = float(want)
    if 1e-290 < abs(hi) < 1e300:
        print(name, *[float(a).hex() for a in args], hi.hex(), "%.3e" % float(want - hi), "%.3g" % units(scipy, want))


def beside(n):
    """A number next to n."""
    return float(n + r.choice([-1, 1]) * 10 ** r.uniform(-16, -1))


def kummer(i):
    """Parameters beside whole numbers, whose series has a small and then growing term, and those of few and of many terms."""
    b, x = float(r.uniform(0.05, 20)), float(r.uniform(-15, 15))
    if i % 4 == 0:
        a = beside(-r.integers(0, 4))
    elif i % 4 == 1:
        a, x = beside(b + r.integers(0, 4)), -abs(x)
    elif i % 4 == 2:
        a, b = float(r.uniform(-3.5, 6)), float(r.uniform(0.05, 6))
    else:
        a = float(r.uniform(-3.5, 20))
    return a, b, x


def struve(i):
    """Orders below a power of two, to which a half is added with a rounding, orders from -1/2 to 1/2, and small x."""
    n = 2.0 ** r.integers(-1, 6)
    v = n - float(r.uniform(0, 0.5))
    if i % 3 == 0:
        v = -(n + float(r.uniform(-0.5, 0.5)))
    if i % 5 == 0:
        v = float(r.uniform(-0.5, 0.5))
    return v, log_uniform(1e-3, 60) if i % 2 else log_uniform(1e-200, 1e-3)


for i in range(240):
    a, b, x = kummer(i)
    write("Hyp1F1", (a, b, x), m.hyp1f1(a, b, x), sc.hyp1f1(a, b, x))
for i in range(120):
    v, x = struve(i)
    write("Struve", (v, x), m.struveh(v, x), sc.struve(v, x))
    write("ModStruve", (v, x), m.struvel(v, x), sc.modstruve(v, x))
write("Struve", (15.717, 0.0349), m.struveh(15.717, 0.0349), sc.struve(15.717, 0.0349))
for i in range(160):
    a, x = log_uniform(1e-12, 2), log_uniform(0.3, 8)
    write("GammaIncC", (a, x), m.gammainc(a, x, regularized=True), sc.gammaincc(a, x))
