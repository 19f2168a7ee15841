"""Writes grid.txt: functions at the corners of their domains, by mpmath, and SciPy's errors.

    python3 grid.py > grid.txt            (needs mpmath, numpy, scipy; some minutes)
    python3 grid.py all > whole.txt       every point, not 36 of each function
    python3 grid.py all GammaInc StdTrIt  the lines of some functions alone

Arguments are denormal, tiny, moderate, large and huge numbers in all combinations, without cases that take
mpmath long. A line is the name, the arguments and the value as hexadecimal floats, and SciPy's error in units in
the last place; of denormal values that unit is 2^-1074.
"""
import itertools
import math
import sys
import warnings

import mpmath as m
import numpy as np
import scipy.special as sc
from mpmath import mpf

argv, sys.argv = sys.argv, sys.argv[:1]
from make import betaseries, gammainc, ndtr  # noqa: E402

warnings.simplefilter("ignore")
TINY = (5e-324, 1e-310, 1e-300, 1e-160, 1e-20)
SHAPE = (*TINY, 1e-5, 0.1, 0.7, 1, 3.5, 40, 199.5, 600)
POINT = (*TINY, 1e-3, 0.1, 0.9, 2.5, 30, 150, 800)
LEVEL = (*TINY, 1e-8, 0.01, 0.3, 0.5, 0.8, 1 - 2**-20, 1 - 2**-53)
WIDE = (*TINY, 1e-3, 0.2, 0.5, 1, 1.5, 7.3, 30, 170.5, 700, 1e5, 1e17, 1e160, 1e308)


def P(a, x):
    return gammainc(a, x) if x > 1e-30 else m.exp(a * m.log(x) - m.loggamma(a + 1))


def Q(a, x):
    """1 less P. For tiny a that is a*E1(x), up to a relative error of about a; P is 1 less it by then."""
    if a < 1e-30:
        return a * m.e1(x)
    with m.workdps(90 + int(x)):
        if x <= 1e-30:
            return 1 - m.exp(a * m.log(x) - m.loggamma(a + 1))
        t = u = mpf(1)
        n = a
        while t > u * mpf(10) ** -(m.mp.dps + 5):
            n += 1
            t *= x / n
            u += t
        return 1 - m.exp(a * m.log(x) - x - m.loggamma(a + 1)) * u


def I(a, b, x, y=None):
    """y is 1-x, if given with more digits."""
    y = 1 - x if y is None else y
    if x <= 0 or y <= 0:
        return mpf(x > 0)
    with m.workdps(450 if min(a, b) < 1e-30 else max(120, m.mp.dps)):
        return betaseries(a, b, x) if x <= 0.5 else 1 - betaseries(b, a, y)


def inverse(tail, slope, start, p, most=mpf(1000)):
    """Newton's method for log(tail) as a function of u up to most; slope is that of the tail."""
    u = mpf(start)
    for _ in range(400):
        t = tail(u)
        d = (m.log(t) - m.log(p)) * t / slope(u)
        if abs(d) > 50:
            d = 50 * m.sign(d)
        u = min(u - d, most)
        if abs(d) < mpf(10) ** -30:
            return u
    return m.nan


def gammainv(a, p, upper):
    weight = lambda u: m.exp(a * u - m.exp(u) - m.loggamma(a))
    start = min((m.log(p if not upper else 1 - p) + m.loggamma(a + 1)) / a, m.log(a + 800))
    if start < -1000:
        return mpf(0)
    if (p < 0.5) == (not upper):
        return m.exp(inverse(lambda u: P(a, m.exp(u)), weight, start, p if not upper else 1 - p, m.log(a + 900)))
    return m.exp(inverse(lambda u: Q(a, m.exp(u)), lambda u: -weight(u), m.log(a + 30), p if upper else 1 - p, m.log(a + 900)))


def logistic(u):
    return 1 / (1 + m.exp(-u))


def betainv(a, b, p):
    """The logit of the inverse."""
    ln = m.loggamma(a) + m.loggamma(b) - m.loggamma(a + b)
    weight = lambda u: m.exp(-a * m.log(1 + m.exp(-u)) - b * m.log(1 + m.exp(u)) - ln)
    low, high = (m.log(p * a) + ln) / a, (m.log((1 - p) * b) + ln) / b
    if low < -1000 or high < -1000:
        return low if low < -1000 else -high
    start = low if low < -0.7 else -high if high < -0.7 else mpf(0)
    if p <= 0.5:
        return inverse(lambda u: I(a, b, logistic(u)), weight, start, p)
    return inverse(lambda u: I(b, a, logistic(-u)), lambda u: -weight(u), start, 1 - p)


def stdtr(df, t):
    y = I(df / 2, mpf(0.5), df / (df + t * t), t * t / (df + t * t)) / 2
    return y if t < 0 else 1 - y


def stdtrit(df, p):
    if p == 0.5:
        return mpf(0)
    with m.workdps(400 if p < 1e-30 else 60):
        u = betainv(df / 2, mpf(0.5), 2 * min(p, 1 - p))
        return m.sqrt(df * m.exp(-u)) * (-1 if p < 0.5 else 1)


def boxcox(x, l):
    return m.log(x) if l == 0 else m.expm1(l * m.log(x)) / l


def xlogratio(x, y):
    return x * m.log(x / y)


def cross(*of, keep=lambda *a: True):
    return [a for a in itertools.product(*of) if keep(*a)]


gammas = cross(SHAPE, POINT)
chis = cross(SHAPE[1:], POINT[1:])
betas = cross((1e-310, 1e-20, 0.1, 1, 3.5, 40, 300), (1e-310, 1e-20, 0.1, 1, 3.5, 40, 300), (5e-324, 1e-310, 1e-20, 0.01, 0.5, 0.8, 1 - 2**-53))
levels = cross((0.003, 0.1, 0.7, 1, 3.5, 40, 199.5, 600), LEVEL, keep=lambda a, p: a < 100 or p > 1e-30)
betalevels = cross((0.01, 0.5, 1, 3.5, 60), (1e-310, 0.01, 0.5, 1, 3.5, 60), (5e-324, 1e-310, 1e-20, 0.01, 0.5, 0.8, 1 - 2**-53))
positive = [(x,) for x in WIDE]
signed = [(s * x,) for x in WIDE for s in (1, -1)]
both = [(s * x, t * y) for x in WIDE[::2] for y in WIDE[1::2] for s in (1, -1) for t in (1, -1)]
orders = cross((5e-324, 1e-300, 1e-20, 1e-8, 0.3, 0.5, 1, 2.5, 20, 59.7, 75.2, 300), (5e-324, 1e-310, 1e-160, 1e-20, 1e-3, 0.7, 1.99, 2, 15, 60, 240, 690, 2e3))
ratios = cross((1e-310, 1e-5, 0.3, 1, 5, 60), (1e-310, 1e-160, 1e-20, 0.01, 1, 4, 50))
inside = [(s * x,) for x in (*TINY, 1e-3, 0.2, 0.5, 0.9, 1 - 2**-30, 1 - 2**-53) for s in (1, -1)]
unit = [(p,) for p in LEVEL]

# Points that are never left out.
WHOLE = {
    "FDtrI": [(d, n, p) for d, n in ((5e-324, 7e-310), (3, 5e-324), (3, 1e-310), (0.1, 7e-310)) for p in (5e-324, 3e-323, 5e-310, 0.3)],
    "BetaIncInv": [(a, b, p) for a, b in ((0.01, 0.01), (0.02, 1.5), (0.012, 0.3), (0.6, 0.01), (0.015, 3)) for p in (0.1, 0.45, 0.6, 0.93)],
}

FUNCTIONS = {
    "GammaInc": (P, sc.gammainc, gammas),
    "GammaIncC": (Q, sc.gammaincc, gammas),
    "GammaIncInv": (lambda a, p: gammainv(a, p, False), sc.gammaincinv, levels),
    "GammaIncCInv": (lambda a, p: gammainv(a, p, True), sc.gammainccinv, levels),
    "BetaInc": (I, sc.betainc, betas),
    "BetaIncInv": (lambda a, b, p: logistic(betainv(a, b, p)), sc.betaincinv, betalevels),
    "Beta": (m.beta, sc.beta, cross(WIDE[:-3], WIDE[:-3])),
    "BetaLn": (lambda a, b: m.loggamma(a) + m.loggamma(b) - m.loggamma(a + b), sc.betaln, cross(WIDE[:-2], WIDE[:-2])),
    "Binom": (m.binomial, sc.binom, cross((1e-310, 1e-20, 0.3, 2.5, 7, 50, 1e3, 1e6, 1e17), (5e-324, 1e-310, 1e-20, 0.4, 1, 2.5, 7, 49, 400))),
    "Poch": (m.rf, sc.poch, cross((5e-324, 1e-310, 1e-20, 0.3, 1, 2.5, 50, 1e3, 1e6), (5e-324, 1e-310, 1e-20, 0.4, 1, 2.5, 20, 70))),
    "Zeta": (m.zeta, sc.zeta, cross((1 + 2**-52, 1 + 1e-8, 1.5, 2, 8.3, 60, 1100), (5e-324, 1e-310, 1e-160, 1e-20, 0.01, 1, 7.5, 300, 1e10, 1e160))),
    "StdTr": (stdtr, sc.stdtr, [(d, s * t) for d in (1e-310, 1e-20, 0.1, 1, 7.5, 80) for t in (5e-324, 1e-310, 1e-160, 1e-20, 0.3, 2, 40, 1e5, 1e50) for s in (1, -1)]),
    "StdTrIt": (stdtrit, sc.stdtrit, cross((1e-310, 0.1, 1, 7.5, 80), LEVEL)),
    "ChDtr": (lambda v, x: P(v / 2, x / 2), sc.chdtr, chis),
    "ChDtrC": (lambda v, x: Q(v / 2, x / 2), sc.chdtrc, chis),
    "ChDtrI": (lambda v, p: 2 * gammainv(v / 2, p, True), sc.chdtri, levels),
    "FDtr": (lambda d, n, x: I(d / 2, n / 2, d * x / (d * x + n), n / (d * x + n)), sc.fdtr, cross((0.1, 3, 40), (0.1, 3, 40), (1e-310, 1e-20, 0.5, 3, 1e10, 1e300))),
    "FDtrC": (lambda d, n, x: I(n / 2, d / 2, n / (d * x + n), d * x / (d * x + n)), sc.fdtrc, cross((0.1, 3, 40), (0.1, 3, 40), (1e-310, 1e-20, 0.5, 3, 1e10, 1e300))),
    "FDtrI": (lambda d, n, p: n / d * m.exp(betainv(d / 2, n / 2, p)), sc.fdtri, cross((1e-310, 0.1, 3, 40), (1e-310, 0.1, 3, 40), (5e-324, 1e-310, 1e-20, 0.3, 0.8, 1 - 2**-53))),
    "BDtr": (lambda k, n, p: I(n - m.floor(k), m.floor(k) + 1, 1 - p), sc.bdtr, cross((0, 2.7, 19), (20,), LEVEL)),
    "BDtrC": (lambda k, n, p: I(m.floor(k) + 1, n - m.floor(k), p), sc.bdtrc, cross((0, 2.7, 19), (20,), LEVEL)),
    "PDtr": (lambda k, x: Q(m.floor(k) + 1, x), sc.pdtr, cross((0, 0.5, 3, 40, 400), POINT)),
    "PDtrC": (lambda k, x: P(m.floor(k) + 1, x), sc.pdtrc, cross((0, 0.5, 3, 40, 400), POINT)),
    "Kv": (m.besselk, sc.kv, orders),
    "Kve": (lambda v, x: m.exp(x) * m.besselk(v, x), sc.kve, orders),
    "Iv": (m.besseli, sc.iv, orders),
    "Ive": (lambda v, x: m.exp(-x) * m.besseli(v, x), sc.ive, orders),
    "Jv": (m.besselj, sc.jv, orders),
    "Yv": (m.bessely, sc.yv, orders),
    "Expn": (m.expint, sc.expn, cross((0, 1, 2, 7, 60, 1000), (5e-324, 1e-310, 1e-160, 1e-20, 0.01, 1.59, 1.61, 40, 700, 740))),
    "BoxCox": (boxcox, sc.boxcox, cross((5e-324, 1e-310, 0.01, 1 - 2**-53, 1 + 2**-52, 3, 1e300), (0, 1e-310, -1e-20, 1e-10, 0.5, -2))),
    "BoxCox1p": (lambda x, l: boxcox(1 + x, l), sc.boxcox1p, cross((5e-324, -1e-310, 1e-160, 1e-20, -0.999, 3, 1e300), (0, 1e-310, -1e-20, 1e-10, 0.5, -2))),
    "InvBoxCox": (lambda y, l: m.exp(y) if l == 0 else m.exp(m.log1p(l * y) / l), sc.inv_boxcox, cross((5e-324, -1e-310, 1e-20, -0.4, 3, 300), (0, 1e-310, -1e-20, 1e-10, 0.5))),
    "InvBoxCox1p": (lambda y, l: m.expm1(y) if l == 0 else m.expm1(m.log1p(l * y) / l), sc.inv_boxcox1p, cross((5e-324, -1e-310, 1e-160, 1e-20, -0.4, 3, 300), (0, 1e-310, -1e-20, 1e-10, 0.5))),
    "XLog1PY": (lambda x, y: x * m.log1p(y), sc.xlog1py, cross((5e-324, 1e-310, 0.3, 1e160), (5e-324, -1e-310, 1e-20, -0.9, 5, 1e300))),
    "RelEntr": (xlogratio, sc.rel_entr, ratios),
    "KLDiv": (lambda x, y: xlogratio(x, y) - x + y, sc.kl_div, ratios),
    "PseudoHuber": (lambda d, r: r * r / (1 + m.sqrt(1 + (r / d) ** 2)), sc.pseudo_huber, cross((5e-324, 1e-310, 1e-160, 0.3, 1e160), (5e-324, 1e-310, 1e-160, 1e-20, 0.3, 5, 1e160))),
    "Gamma": (m.gamma, sc.gamma, signed),
    "RGamma": (m.rgamma, sc.rgamma, signed),
    "LogGamma": (m.loggamma, sc.loggamma, positive),
    "Factorial": (lambda x: m.gamma(x + 1), sc.factorial, positive),
    "Digamma": (m.digamma, sc.digamma, [*positive, (-0.3,), (-7.7,), (-1e-20,), (-1e-310,)]),
    "Trigamma": (lambda x: m.polygamma(1, x), lambda x: sc.polygamma(1, x), positive),
    "ErfcInv": (lambda x: -ndtri(x / 2) / m.sqrt(2), sc.erfcinv, unit),
    "Erfinv": (m.erfinv, sc.erfinv, inside),
    "Erf": (m.erf, sc.erf, signed),
    "Erfc": (m.erfc, sc.erfc, signed),
    "Erfcx": (lambda x: m.exp(x * x) * m.erfc(x) if x < 1e8 else 1 / (x * m.sqrt(m.pi)), sc.erfcx, [a for a in signed if a[0] > -30]),
    "Ndtr": (ndtr, sc.ndtr, signed),
    "LogNdtr": (lambda x: m.log(ndtr(x)), sc.log_ndtr, [a for a in signed if abs(a[0]) < 1e4]),
    "Ndtri": (lambda x: ndtri(x), sc.ndtri, unit),
    "Dawsn": (lambda x: m.sqrt(m.pi) / 2 * m.exp(-x * x) * m.erfi(x) if x < 1e4 else (1 + 1 / (2 * x * x)) / (2 * x), sc.dawsn, positive),
    "I0": (lambda x: m.besseli(0, x), sc.i0, [a for a in positive if a[0] < 1e3]),
    "I1": (lambda x: m.besseli(1, x), sc.i1, [a for a in positive if a[0] < 1e3]),
    "K0": (lambda x: m.besselk(0, x), sc.k0, [a for a in positive if a[0] < 1e3]),
    "K1": (lambda x: m.besselk(1, x), sc.k1, [a for a in positive if a[0] < 1e3]),
    "Y0": (lambda x: m.bessely(0, x), sc.y0, [a for a in positive if a[0] < 1e3]),
    "Y1": (lambda x: m.bessely(1, x), sc.y1, [a for a in positive if a[0] < 1e3]),
    "J1": (lambda x: m.besselj(1, x), sc.j1, [a for a in positive if a[0] < 1e3]),
    "Exp1": (m.e1, sc.exp1, [a for a in positive if a[0] < 1e3]),
    "Expi": (m.ei, sc.expi, [a for a in signed if abs(a[0]) < 1e3]),
    "Si": (m.si, lambda x: sc.sici(x)[0], signed),
    "Ci": (m.ci, lambda x: sc.sici(x)[1], [a for a in positive if a[0] < 1e6]),
    "Spence": (lambda x: m.re(m.polylog(2, 1 - x)), sc.spence, [a for a in positive if a[0] < 1e6]),
    "EllipK": (m.ellipk, sc.ellipk, [*unit, *((-a[0],) for a in positive[:-2])]),
    "EllipE": (m.ellipe, sc.ellipe, [*unit, *((-a[0],) for a in positive[:-2])]),
    "LambertW": (m.lambertw, lambda x: sc.lambertw(x, 0).real, [*positive, (-0.1,), (-1e-20,), (-1e-310,)]),
    "LambertWMinus": (lambda x: m.lambertw(x, -1), lambda x: sc.lambertw(x, -1).real, [(-x,) for x in (*TINY, 1e-3, 0.2, 0.36)]),
    "ExpRel": (lambda x: m.expm1(x) / x, sc.exprel, [a for a in signed if abs(a[0]) < 1e4]),
    "Entr": (lambda x: -x * m.log(x), sc.entr, positive),
}


def ndtri(p):
    if p > 0.01:
        with m.workdps(60):
            return m.sqrt(2) * m.erfinv(2 * p - 1)
    start = -m.sqrt(-2 * m.log(p)) if p < 1e-5 else mpf(float(sc.ndtri(float(p))))
    return m.findroot(lambda y: m.log(ndtr(y)) - m.log(p), start)


def rounded(y):
    """The float next to y; denormal ones are whole multiples of 2^-1074."""
    if not m.isfinite(y):
        return float(y)
    if abs(y) < 2.3e-308:
        return float(int(m.nint(m.ldexp(y, 1074)))) * 5e-324
    return float(y)


def main():
    m.mp.dps = 50
    for name, (f, scipy, points) in FUNCTIONS.items():
        names = [a for a in argv[1:] if a != "all"]
        if names and name not in names:
            continue
        step = 1 if "all" in argv else -(-len(points) // 36)
        for args in points[::step] + WHOLE.get(name, []):
            args = [float(a) for a in args]
            try:
                y = rounded(m.re(f(*[mpf(a) for a in args])))
            except (ValueError, ZeroDivisionError, OverflowError, m.libmp.NoConvergence) as e:
                print(name, args, e, file=sys.stderr)
                continue
            if y != y or (np.isnan(scipy(*args)) and args not in map(list, WHOLE.get(name, []))):
                print(name, args, "no value", file=sys.stderr)
                continue
            theirs = float(scipy(*args))
            off = 0 if theirs == y else math.inf if math.isnan(theirs) else abs(theirs - y) / math.ulp(y) if math.isfinite(y) else math.inf
            print(name, *[a.hex() for a in args], y.hex(), "%.2g" % off)


if __name__ == "__main__":
    main()
