"""Writes vectors.txt: arguments, exact values by mpmath, and SciPy's errors in units in the last place.

    python3 make.py > vectors.txt      (needs mpmath, numpy, scipy; some minutes)
    python3 make.py 30 Jv Yv >> vectors.txt    the lines of some functions alone

A line is the name, the arguments, the value and what it lacks as hexadecimal floats, and SciPy's error.
"""
import math
import sys

import mpmath as m
import numpy as np
import scipy.special as sc
from mpmath import mpf

m.mp.dps = 50
r = np.random.default_rng(7)
N = int(sys.argv[1]) if len(sys.argv) > 1 else 30


def pos(lo, hi, n=N):
    return np.concatenate([r.uniform(lo, hi, n), np.exp(r.uniform(np.log(max(lo, 1e-30)), np.log(hi), n))])


def both(hi, n=N):
    return np.concatenate([r.uniform(-hi, hi, n), r.choice([-1, 1], n) * np.exp(r.uniform(-30, np.log(hi), n))])


def ndtri(p):
    if p > 1e-10:
        return m.sqrt(2) * m.erfinv(2 * p - 1)
    return m.findroot(lambda y: m.log(m.erfc(-y / m.sqrt(2)) / 2) - m.log(p), mpf(float(sc.ndtri(float(p)))))


def erfcinv(x):
    if x > 1e-10:
        return m.erfinv(1 - x)
    return m.findroot(lambda y: m.log(m.erfc(y)) - m.log(x), mpf(float(sc.erfcinv(float(x)))))


ndtr = lambda x: m.erfc(-x / m.sqrt(2)) / 2
E = -float(1 / m.e)
joined = lambda *a: np.concatenate(a)



def airys(far):
    return joined(r.uniform(-5, 12, N), r.uniform(-60, 20, N), r.uniform(10, far, N // 2), -pos(1e-10, 5, N // 4))


one = {
    "Gamma": (m.gamma, sc.gamma, joined(r.uniform(-30, 170, N), pos(1e-10, 30))),
    "ErfcInv": (erfcinv, sc.erfcinv, joined(r.uniform(0, 2, N), np.exp(r.uniform(-600, 0, N)))),
    "Erfcx": (lambda x: m.exp(x * x) * m.erfc(x), sc.erfcx, joined(r.uniform(-26, 60, N), pos(1e-20, 90))),
    "Ndtr": (ndtr, sc.ndtr, joined(r.uniform(-37, 9, N), r.normal(size=N))),
    "LogNdtr": (lambda x: m.log(ndtr(x)), sc.log_ndtr, joined(r.uniform(-60, 9, N), r.normal(size=N))),
    "Ndtri": (ndtri, sc.ndtri, joined(r.uniform(0, 1, N), np.exp(r.uniform(-600, 0, N)))),
    "Dawsn": (lambda x: m.sqrt(m.pi) / 2 * m.exp(-x * x) * m.erfi(x), sc.dawsn, both(60)),
    "Erfi": (m.erfi, sc.erfi, both(26)),
    "AiryAi": (m.airyai, lambda x: sc.airy(x)[0], airys(100)),
    "AiryAip": (lambda x: m.airyai(x, derivative=1), lambda x: sc.airy(x)[1], airys(100)),
    "AiryBi": (m.airybi, lambda x: sc.airy(x)[2], airys(100)),
    "AiryBip": (lambda x: m.airybi(x, derivative=1), lambda x: sc.airy(x)[3], airys(100)),
    "FresnelS": (m.fresnels, lambda x: sc.fresnel(x)[0], both(60)),
    "FresnelC": (m.fresnelc, lambda x: sc.fresnel(x)[1], both(60)),
    "J0": (lambda x: m.besselj(0, x), sc.j0, both(60)),
    "J1": (lambda x: m.besselj(1, x), sc.j1, both(60)),
    "Y0": (lambda x: m.bessely(0, x), sc.y0, pos(1e-30, 60)),
    "Y1": (lambda x: m.bessely(1, x), sc.y1, pos(1e-30, 60)),
    "I0": (lambda x: m.besseli(0, x), sc.i0, both(700)),
    "I1": (lambda x: m.besseli(1, x), sc.i1, both(700)),
    "I0e": (lambda x: m.exp(-abs(x)) * m.besseli(0, x), sc.i0e, both(900)),
    "I1e": (lambda x: m.exp(-abs(x)) * m.besseli(1, x), sc.i1e, both(900)),
    "K0": (lambda x: m.besselk(0, x), sc.k0, pos(1e-30, 690)),
    "K1": (lambda x: m.besselk(1, x), sc.k1, pos(1e-30, 690)),
    "K0e": (lambda x: m.exp(x) * m.besselk(0, x), sc.k0e, pos(1e-30, 900)),
    "K1e": (lambda x: m.exp(x) * m.besselk(1, x), sc.k1e, pos(1e-30, 900)),
    "Exp1": (m.e1, sc.exp1, pos(1e-30, 690)),
    "Expi": (m.ei, sc.expi, joined(pos(1e-30, 700), pos(0.1, 1, 10), -pos(1e-20, 500, 10))),
    "Si": (m.si, lambda x: sc.sici(x)[0], both(60)),
    "Ci": (m.ci, lambda x: sc.sici(x)[1], pos(1e-30, 60)),
    "Spence": (lambda x: m.polylog(2, 1 - x), sc.spence, joined(pos(1e-20, 3, 20), pos(1e-5, 1e5, 20), 1 + both(0.1, 10))),
    "EllipK": (m.ellipk, sc.ellipk, joined(r.uniform(0, 1, N), 1 - np.exp(r.uniform(-30, 0, 20)), -pos(1e-10, 1e4, 10))),
    "EllipE": (m.ellipe, sc.ellipe, joined(r.uniform(0, 1, N), 1 - np.exp(r.uniform(-30, 0, 20)), -pos(1e-10, 1e4, 10))),
    "LambertW": (lambda x: m.lambertw(x, 0), lambda x: sc.lambertw(x, 0).real, joined(pos(1e-30, 1e5, 20), np.exp(r.uniform(0, 700, 10)), -pos(1e-10, 0.3678, 10), E * (1 - np.exp(r.uniform(-25, -1, 20))))),
    "LambertWMinus": (lambda x: m.lambertw(x, -1), lambda x: sc.lambertw(x, -1).real, joined(-pos(1e-30, 0.3678, 20), -np.exp(r.uniform(-700, -1, 10)), E * (1 - np.exp(r.uniform(-25, -1, 20))))),
}


def gammainc(a, x):
    """The series of P (DLMF 8.11.4) in many digits."""
    with m.workdps(60 + int(x / 2)):
        t = u = mpf(1)
        n = a
        while t > u * mpf(10) ** -(m.mp.dps + 5):
            n += 1
            t *= x / n
            u += t
        return m.exp(a * m.log(x) - x - m.loggamma(a + 1)) * u


def gammaincc(a, x):
    with m.workdps(60 + int(x / 2)):
        return 1 - gammainc(a, x)


def betainc(a, b, x):
    """The series of DLMF 8.17.8, whose terms are positive, in many digits."""
    with m.workdps(80 + int(a + b) // 2):
        if x > a / (a + b):
            return 1 - betaseries(b, a, 1 - x)
        return betaseries(a, b, x)


def betaseries(a, b, x):
    t = u = mpf(1)
    n = mpf(0)
    while t > u * mpf(10) ** -(m.mp.dps + 5):
        t *= (a + b + n) / (a + 1 + n) * x
        n += 1
        u += t
    ln = m.loggamma(a + b) - m.loggamma(a) - m.loggamma(b)
    return m.exp(ln + a * m.log(x) + b * m.log(1 - x)) / a * u


def root(f, start, slope):
    """Newton's method from start, for f(x) = 0."""
    x = mpf(start)
    for _ in range(12):
        d = f(x) / slope(x)
        x -= d
        if abs(d) < abs(x) * mpf(10) ** -40:
            return x
    return m.nan


def density(a, x):
    return m.exp((a - 1) * m.log(x) - x - m.loggamma(a))


def betadensity(a, b, x):
    return m.exp((a - 1) * m.log(x) + (b - 1) * m.log(1 - x) + m.loggamma(a + b) - m.loggamma(a) - m.loggamma(b))


def shapes(n=N, hi=200):
    return np.exp(r.uniform(np.log(0.02), np.log(hi), n))


def gammas():
    a = shapes()
    return list(zip(a, np.maximum(a + 3 * np.sqrt(a) * r.normal(size=N), a * r.uniform(0.05, 1, N))))


def betas():
    a, b = shapes(), shapes()
    return list(zip(a, b, r.beta(a, b).clip(1e-12, 1 - 1e-12)))


def orders(most, least=0, far=300, n=N):
    """Orders of both signs, whole ones and halves among them, with arguments near and far."""
    v = np.concatenate([r.uniform(0, 3, n), r.uniform(0, most, n), r.uniform(least, 0, n // 2), r.integers(-4, 9, n // 2), r.integers(-4, 9, n // 3) + 0.5])
    x = np.concatenate([np.exp(r.uniform(-5, 3, len(v) // 2)), r.uniform(1, 60, len(v) // 4), np.exp(r.uniform(1, np.log(far), len(v) - len(v) // 2 - len(v) // 4))])
    return list(zip(v, r.permutation(x)))


def wofz(x, y):
    with m.workdps(100 + int(min(x * x + y * y, 2000))):
        z = m.mpc(x, y)
        if abs(z) > 1e4:  # the continued fraction of DLMF 7.9.3
            return 1j / m.sqrt(m.pi) / (z - 0.5 / (z - 1 / (z - 1.5 / (z - 2 / (z - 2.5 / (z - 3 / z))))))
        return m.exp(-z * z) * m.erfc(-1j * z)


def planes():
    """Points of the upper half plane: near, far, by the real line."""
    x, y = r.uniform(-7, 7, 3 * N), r.uniform(0, 8, 3 * N)
    y[:N] = np.exp(r.uniform(-40, 0, N))
    x[N : N + 10], y[N : N + 10] = 10 ** r.uniform(-8, 12, 10), 10 ** r.uniform(-8, 12, 10)
    return list(zip(x, y))


def amplitudes():
    phi = joined(r.uniform(-1.5, 1.5, N), r.uniform(-12, 12, N), np.exp(r.uniform(-20, 0.4, N // 2)))
    k = joined(r.uniform(-1, 1, N), 1 - np.exp(r.uniform(-20, 0, N)), -np.exp(r.uniform(-5, 9, N // 2)))
    return list(zip(phi, r.permutation(k)))


def symmetric(n):
    """Arguments of one size, of all sizes, some equal, some 0."""
    x = joined(r.uniform(0.1, 5, (N, n)), np.exp(r.uniform(-9, 9, (N, n))), np.exp(r.uniform(-60, 60, (N // 2, n))))
    x[:5, 1], x[5:10, 0], x[N : N + 5, 0], x[N + 5, :] = x[:5, 0], x[5:10, -1] * (1 + 1e-12), 0, 0.7
    if n == 2 or n == 4:  # principal values
        x[10:20, -1] *= -1
    return [tuple(v) for v in x]


def gausses():
    """Parameters of both signs, whole ones among them, at all kinds of arguments."""
    n = 4 * N
    a, b, c = r.uniform(-5, 8, n), r.uniform(-5, 8, n), r.uniform(0.3, 9, n)
    b[: n // 4], c[: n // 3] = a[: n // 4] + r.integers(-3, 4, n // 4), r.integers(1, 8, n // 3)
    x = joined(r.uniform(-1, 1, N), 1 - np.exp(r.uniform(-14, 0, N)), -np.exp(r.uniform(-1, 12, N)), r.uniform(-3, 1, N))
    return list(zip(a, b, c, r.permutation(x)))


def struves():
    v = joined(r.uniform(-4, 6, 2 * N), r.uniform(0, 20, N), r.integers(-3, 6, N), r.integers(-3, 5, N) + 0.5)
    return list(zip(v, joined(np.exp(r.uniform(-5, 3, 2 * N)), r.uniform(5, 60, 2 * N), r.uniform(30, 400, N))))


several = {
    "GammaInc": (gammainc, sc.gammainc, gammas()),
    "GammaIncC": (gammaincc, sc.gammaincc, gammas()),
    "GammaIncInv": (lambda a, p: root(lambda x: gammainc(a, x) - p, sc.gammaincinv(float(a), float(p)), lambda x: density(a, x)), sc.gammaincinv, list(zip(shapes(), r.uniform(0.01, 0.99, N)))),
    "GammaIncCInv": (lambda a, p: root(lambda x: p - gammaincc(a, x), sc.gammainccinv(float(a), float(p)), lambda x: density(a, x)), sc.gammainccinv, list(zip(shapes(), np.exp(r.uniform(-20, 0, N))))),
    "BetaInc": (betainc, sc.betainc, betas()),
    "BetaIncInv": (lambda a, b, p: root(lambda x: betainc(a, b, x) - p, sc.betaincinv(float(a), float(b), float(p)), lambda x: betadensity(a, b, x)), sc.betaincinv, list(zip(shapes(hi=40), shapes(hi=40), r.uniform(0.01, 0.99, N)))),
    "Beta": (m.beta, sc.beta, list(zip(shapes(2 * N), shapes(2 * N)))),
    "BetaLn": (lambda a, b: m.log(m.beta(a, b)), sc.betaln, list(zip(shapes(2 * N, 1e5), shapes(2 * N, 1e5)))),
    "Kv": (m.besselk, sc.kv, list(zip(np.concatenate([r.uniform(0, 6, N), r.uniform(0, 40, 15)]), np.exp(r.uniform(-4, 5, N + 15))))),
    "Kve": (lambda v, x: m.exp(x) * m.besselk(v, x), sc.kve, list(zip(np.concatenate([r.uniform(0, 6, N), r.uniform(0, 40, 15)]), np.exp(r.uniform(-4, 7, N + 15))))),
    "Zeta": (lambda x, q: m.zeta(x, q), sc.zeta, list(zip(1 + np.exp(r.uniform(-5, 3.5, N)), np.exp(r.uniform(-4, 4, N)))) + [(x, 1.0) for x in 1 + np.exp(r.uniform(-5, 3.5, 15))]),
    "Jv": (m.besselj, sc.jv, orders(45, -12)),
    "Yv": (m.bessely, sc.yv, orders(45, -12)),
    "Iv": (m.besseli, sc.iv, orders(120, -6, 600)),
    "Ive": (lambda v, x: m.exp(-x) * m.besseli(v, x), sc.ive, orders(120, -6, 5000)),
    "WofzReal": (lambda x, y: m.re(wofz(x, y)), lambda x, y: sc.wofz(complex(x, y)).real, planes()),
    "WofzImag": (lambda x, y: m.im(wofz(x, y)), lambda x, y: sc.wofz(complex(x, y)).imag, planes()),
    "VoigtProfile": (lambda x, s, g: m.re(wofz(x / s / m.sqrt(2), g / s / m.sqrt(2))) / s / m.sqrt(2 * m.pi), sc.voigt_profile,
                     [(x, np.exp(r.uniform(-2, 2)), np.exp(r.uniform(-25, 2))) for x in r.uniform(-20, 20, 2 * N)]),
    "EllipKInc": (m.ellipf, sc.ellipkinc, amplitudes()),
    "EllipEInc": (m.ellipe, sc.ellipeinc, amplitudes()),
    "ElliprC": (m.elliprc, sc.elliprc, symmetric(2)),
    "ElliprD": (m.elliprd, sc.elliprd, symmetric(3)),
    "ElliprF": (m.elliprf, sc.elliprf, symmetric(3)),
    "ElliprG": (m.elliprg, sc.elliprg, symmetric(3)),
    "ElliprJ": (m.elliprj, sc.elliprj, symmetric(4)),
    "Hyp2F1": (m.hyp2f1, sc.hyp2f1, gausses()),
    "Hyp1F1": (m.hyp1f1, sc.hyp1f1, list(zip(r.uniform(-6, 10, 4 * N), r.uniform(0.2, 10, 4 * N), joined(r.uniform(-5, 5, N), r.uniform(-60, 60, 2 * N), r.uniform(-900, 600, N))))),
    "Hyp0F1": (m.hyp0f1, sc.hyp0f1, list(zip(joined(r.uniform(0.2, 20, 2 * N), r.uniform(-9, 9, N)), joined(r.uniform(-5, 5, N), r.uniform(-900, 900, N), r.uniform(-9, 90, N))))),
    "Struve": (m.struveh, sc.struve, struves()),
    "ModStruve": (m.struvel, sc.modstruve, struves()),
    "Expn": (m.expint, sc.expn, [(n, x) for n in (0, 1, 2, 3, 5, 8, 13, 40, 200) for x in np.exp(r.uniform(-6, 4, 8))]),
}


def plane(least, most, n=N):
    """Complex numbers in a square, near 0, 1, 2 and the real line."""
    x, y = r.uniform(least, most, 2 * n), r.uniform(-most, most, 2 * n)
    x[:n // 2], y[:n // 2] = r.integers(-2, 3, n // 2) + r.normal(size=n // 2) * 0.3, r.normal(size=n // 2) * 0.3
    y[n // 2:n] *= 10 ** r.uniform(-8, 0, n - n // 2)
    return list(zip(x, y))


# Of complex numbers: the parts, whose errors are relative to the absolute value.
planar = {
    "LogGamma": (m.loggamma, sc.loggamma, plane(-20, 20)),
    "Gamma": (m.gamma, sc.gamma, plane(-20, 20)),
    "LambertW0": (m.lambertw, sc.lambertw, plane(-4, 4, 2 * N) + plane(-400, 400)),
    "LambertW1": (lambda z: m.lambertw(z, 1), lambda z: sc.lambertw(z, 1), plane(-4, 4) + plane(-400, 400)),
    "LambertW-1": (lambda z: m.lambertw(z, -1), lambda z: sc.lambertw(z, -1), plane(-4, 4, 2 * N) + plane(-400, 400)),
    "AiryAi": (m.airyai, lambda z: sc.airy(z)[0], plane(-12, 12, N // 2) + plane(-60, 40, N // 4)),
    "AiryAip": (lambda z: m.airyai(z, derivative=1), lambda z: sc.airy(z)[1], plane(-12, 12, N // 2) + plane(-60, 40, N // 4)),
    "AiryBi": (m.airybi, lambda z: sc.airy(z)[2], plane(-12, 12, N // 2) + plane(-60, 40, N // 4)),
    "AiryBip": (lambda z: m.airybi(z, derivative=1), lambda z: sc.airy(z)[3], plane(-12, 12, N // 2) + plane(-60, 40, N // 4)),
}


def line(name, f, scipy, args, height=None):
    y = m.re(f(*[mpf(a) for a in args]))
    if not m.isfinite(y) or not 1e-290 < abs(y) < 1.7e308:
        return
    hi = float(y)
    off = abs(mpf(float(scipy(*args))) - y) / math.ulp(height or hi)
    print(name, *[float(a).hex() for a in args], hi.hex(), "%.3e" % float(y - mpf(hi)), "%.3g" % float(min(off, 1e18)))


def main():
    only = sys.argv[2:]
    for name, (f, scipy, xs) in one.items():
        if only and name not in only:
            continue
        for x in xs:
            line(name, f, scipy, [float(x)])
    for name, (f, scipy, xs) in several.items():
        if only and name not in only:
            continue
        for args in xs:
            line(name, f, scipy, [float(x) for x in args])
    for name, (f, scipy, zs) in planar.items():
        if only and name + "Plane" not in only:
            continue
        for x, y in zs:
            w, v = f(m.mpc(x, y)), scipy(complex(x, y))
            line(name + "Real", lambda *_: m.re(w), lambda *_: v.real, [float(x), float(y)], float(abs(w)))
            line(name + "Imag", lambda *_: m.im(w), lambda *_: v.imag, [float(x), float(y)], float(abs(w)))


if __name__ == "__main__":
    main()
