"""Writes cdf.json: distribution functions by mpmath with 60 digits, for arguments that are exact in float64.

Run in this folder. Each row has the arguments and the probability: gamma [x a], beta [x a b], student_t
[x v], poisson [k r], binomial [k n p].
"""

import json

import mpmath as mp

mp.mp.dps = 60


def gamma(x, a):
    x, a = mp.mpf(x), mp.mpf(a)
    if a <= 2000 or x < a / 4 or x > 4 * a:
        if x > a + 30 * mp.sqrt(a) + 100:
            return 1 - mp.gammainc(a, x, mp.inf, regularized=True)
        return mp.gammainc(a, 0, x, regularized=True)
    # u = x*exp(-t) or x*exp(t), from x to the side that is away from a.
    s = 1 if x >= a else -1
    e = lambda t: s * a * t - x * mp.expm1(s * t)
    c = mp.exp(a * mp.log(x) - x - mp.loggamma(a))
    tail = c * mp.quad(lambda t: mp.exp(e(t)), [reach(e) * k / 40 for k in range(41)])
    return 1 - tail if s > 0 else tail


def reach(e):
    """Where the exponent e is about -100."""
    end = mp.mpf(1)
    while e(end) < -200:
        end /= 2
    while e(end) > -100:
        end *= mp.mpf("1.3")
    return end


def beta(x, a, b, y=None):
    x, a, b = mp.mpf(x), mp.mpf(a), mp.mpf(b)
    y = 1 - x if y is None else y
    if x > a / (a + b):
        return 1 - lower(y, b, a, x)
    return lower(x, a, b, y)


def lower(x, a, b, y):
    """For x at most the mean: x^a y^b / (a B(a, b)) times a series of positive terms."""
    if a > 1e7:
        return peak(x, a, b, y)
    first = mp.exp(a * mp.log(x) + b * mp.log(y) - mp.loggamma(a) - mp.loggamma(b) + mp.loggamma(a + b)) / a
    total, term, n = mp.mpf(1), mp.mpf(1), 0
    while term > total * mp.mpf(10) ** -40:
        term *= (a + b + n) / (a + 1 + n) * x
        total += term
        n += 1
        if n > 300000:
            return peak(x, a, b, y)
    return first * total


def peak(x, a, b, y):
    """By quadrature over logit(u) from that of x down."""
    e = lambda t: -a * t - (a + b) * mp.log1p(x * mp.expm1(-t))
    c = mp.exp(a * mp.log(x) + b * mp.log(y) - mp.loggamma(a) - mp.loggamma(b) + mp.loggamma(a + b))
    return c * mp.quad(lambda t: mp.exp(e(t)), [reach(e) * k / 40 for k in range(41)])


def student(x, v):
    x, v = mp.mpf(x), mp.mpf(v)
    tail = beta(v / (v + x * x), v / 2, mp.mpf(1) / 2, x * x / (v + x * x)) / 2
    return tail if x < 0 else 1 - tail


def row(f, *args):
    return [repr(float(a)) for a in args] + [mp.nstr(f(*args), 20)]


out = {"gamma": [], "beta": [], "student_t": [], "poisson": [], "binomial": []}
for a in [1e-100, 1e-5, 0.02, 0.3, 1.0, 1.7, 4.0, 7.9, 8.0, 8.1, 30.0, 1e3, 1e5, 1e8, 1e12]:
    xs = [1e-250, 1e-30, 1e-5, 0.01, 0.3, 1.0, 1.49, 1.51, 3.0, 12.0, 60.0]
    xs += [a * r for r in (0.05, 0.5, 0.9, 0.999, 1.0, 1.001, 1.2, 2.0)] if a > 1e-3 else []
    xs += [a + z * a**0.5 for z in (-30, -8, -3, -1, -0.1, 0.2, 2, 7)] if a > 1000 else []
    for x in xs:
        if x > 0 and (a < 1e6 or a / 4 < x < 4 * a):
            out["gamma"].append(row(gamma, x, a))
shapes = [1e-50, 1e-3, 0.3, 0.5, 1.0, 2.5, 7.9, 8.0, 20.0, 300.0, 1e5, 1e9]
for a in shapes:
    for b in shapes:
        m = a / (a + b)
        xs = [1e-200, 1e-9, 0.01, 0.3, 0.5, 0.75, 0.76, 0.9, 1 - 2.0**-30, 1 - 2.0**-53]
        if a > 1 and b > 1:
            s = (a * b / (a + b) ** 2 / (a + b + 1)) ** 0.5
            xs += [m, m - 3 * s, m + 2 * s, m - 15 * s, m + 0.1 * s]
        for x in xs[(shapes.index(a) + shapes.index(b)) % 3 :: 3] if a > 1e4 or b > 1e4 else xs[(shapes.index(a) + shapes.index(b)) % 2 :: 2]:
            if 0 < x < 1 and abs(x - m) < 1e3 * (m * (1 - m) / (a + b + 1)) ** 0.5 + 0.5:
                out["beta"].append(row(beta, x, a, b))
for v in [0.01, 0.5, 1.0, 2.0, 3.5, 15.9, 16.0, 100.0, 1e5, 1e12, 1e30]:
    for x in [-1e100, -1e5, -30.0, -6.0, -2.0, -1.0, -0.3, -1e-9, 0.0, 1e-5, 0.5, 1.01, 4.0, 9.0]:
        if x == 0:
            out["student_t"].append([repr(x), repr(v), "0.5"])
        elif v < 1e6:
            out["student_t"].append(row(student, x, v))
        else:  # the normal distribution, and the first correction of it by 1/v
            z = mp.mpf(x)
            phi = mp.exp(-z * z / 2) / mp.sqrt(2 * mp.pi)
            p = mp.ncdf(z) - phi * (z + z**3) / (4 * mp.mpf(v))
            if abs(x) < 9.5:
                out["student_t"].append([repr(x), repr(v), mp.nstr(p, 20)])
for r in [1e-10, 0.5, 4.5, 30.0, 2000.0]:
    for k in {0, 1, 3, int(r), int(1.2 * r + 2), int(r / 2), int(r - 6 * r**0.5)}:
        if k >= 0:
            p = mp.fsum(mp.exp(j * mp.log(mp.mpf(r)) - mp.mpf(r) - mp.loggamma(j + 1)) for j in range(k + 1))
            out["poisson"].append([repr(float(k)), repr(r), mp.nstr(p, 20)])
for n in [1, 7, 60, 3000]:
    for p in [2.0**-40, 0.125, 0.5, 0.875]:
        for k in {0, 1, n // 8, n // 2, n - 1}:
            q = mp.fsum(mp.binomial(n, j) * mp.mpf(p) ** j * (1 - mp.mpf(p)) ** (n - j) for j in range(k + 1))
            out["binomial"].append([repr(float(k)), repr(float(n)), repr(p), mp.nstr(q, 20)])
with open("cdf.json", "w") as f:
    f.write(json.dumps(out, separators=(",", ":")).replace("],[", "],\n[").replace("]],", "]],\n"))
    f.write("\n")
print({k: len(v) for k, v in out.items()})
