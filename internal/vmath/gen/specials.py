"""Derives the polynomials of the special functions of package vmath that stand in special.go
and writes specialcoef.go.

    python3 gen/specials.py | gofmt > specialcoef.go      (needs mpmath; some minutes)

specialcoef.go names the SHA-256 of this file, as coef.go does that of minimax.py.

Pieces are as in gen/gamma.py: a table has one entry a piece. Two ways to number them:
  - whole: piece i lies around x = i, from 0 to 7;
  - halves: pieces are half octaves, from 2^a to 2^(a+4). Piece i is that of the floats in whose
    bits the last two bits of the exponent and the first of the fraction are i.
"""
import hashlib
import sys
from concurrent.futures import ProcessPoolExecutor
from mpmath import mp, mpf
import mpmath as m
from gamma import centered, cheb, hexfloat, interpolate, rnd, bits

mp.dps = 50


def least(make, least_n, step, goal):
    """The first result of make(n) whose error is below 2^goal, or that of the last n."""
    best, at = None, 0
    for n in range(least_n, 44, step):
        r = make(n)
        if best is None or r[1] < best[1]:
            best, at = r, n
        if r[1] < mpf(2) ** goal or n > at + 5:
            break
    return best


def whole(name, doc, f, zero=False):
    """f around whole numbers; it is odd if zero."""
    def make(n):
        parts, worst = [], mpf(0)
        for i in range(8):
            a, b = mpf(i) - mpf(1) / 2, mpf(i) + mpf(1) / 2
            at = mpf(i)
            v = mpf(0) if zero and i == 0 else f(at)
            w = (lambda d: abs(d / f(at + d))) if abs(f(at + mpf(1) / 1000)) > 0 else None
            p, err = near(f, at, v, a, b, n, w)
            parts.append(p)
            worst = max(worst, err)
        return parts, worst
    return ("rows", name, doc + ", by pieces around whole numbers", *least(make, 14, 2, -53.5))


def near(f, center, value, a, b, n, weight):
    g = lambda d: (f(center + d) - value) / d
    c = [rnd(v) for v in interpolate(g, a - center, b - center, n)]
    err = max(abs(m.polyval(c[::-1], x) - g(x)) * weight(x) for x in cheb(a - center, b - center, 20))
    return [rnd(center), center - rnd(center), rnd(value), value - rnd(value)] + c, err


def halves(name, doc, f, first):
    """f on [2^first, 2^(first+4))."""
    def make(n):
        parts, worst = [None] * 8, mpf(0)
        for i in range(8):
            e = first + i // 2
            a = m.ldexp(1 + mpf(i % 2) / 2, e)
            b = a + m.ldexp(mpf(1) / 2, e)
            at = (a + b) / 2
            v = f(at)
            p, err = near(f, at, v, a, b, n, lambda d: abs(d / f(at + d)))
            parts[(2 * (1023 + e) + i % 2) % 8] = p
            worst = max(worst, err)
        return parts, worst
    return ("rows", name, doc + ", by half octaves from 2^%d to 2^%d" % (first, first + 4), *least(make, 14, 2, -53.5))


def one(name, doc, f, weight, a, b, goal=-55):
    """A polynomial for [a, b]."""
    a, b = mpf(a), mpf(b)

    def make(n):
        c = [rnd(v) for v in interpolate(f, a, b, n)]
        return c, max(abs(m.polyval(c[::-1], x) - f(x)) * weight(x) for x in cheb(a, b, 40))
    return ("row", name, doc, *least(make, 6, 1, goal))


def far(name, doc, f, limit, scale):
    """f(t), whose value at 0 is limit, around multiples of 1/scale from 0 to 7."""
    g = lambda t: f(t) if t > mpf(10) ** -18 else limit

    def make(n):
        parts, worst = [], mpf(0)
        for i in range(8):
            at = mpf(i) / scale
            a, b = max(at - mpf(1) / (2 * scale), mpf(0)), at + mpf(1) / (2 * scale)
            v = g(at)
            p, err = near(g, at, v, a, b, n, lambda d: abs(d / v))
            parts.append(p)
            worst = max(worst, err)
        return parts, worst
    return ("rows", name, doc + ", by pieces around multiples of 1/%d" % scale, *least(make, 6, 2, -54))


def series(name, doc, f, limit, scale):
    """f(x) in t = 1/x."""
    return far(name, doc + " in 1/x", lambda t: f(1 / t), limit, scale)


def ei_scaled(x):
    return m.exp(-x) * m.ei(x)


EIZERO = m.findroot(m.ei, mpf("0.3725074107813666"))


def ln_free(f):
    return lambda z: f(m.sqrt(max(z, mpf(10) ** -36)))


def scaled_i(nu, x):
    """exp(-x) I(x), for large x by the asymptotic series (DLMF 10.40.1)."""
    if x < 150:
        return m.exp(-x) * m.besseli(nu, x)
    s = t = mpf(1)
    k = 0
    while abs(t) > mpf(10) ** -48:
        k += 1
        t *= -(4 * nu * nu - (2 * k - 1) ** 2) / (8 * k * x)
        s += t
    return s / m.sqrt(2 * m.pi * x)


def tables():
    i0e, i1e = lambda x: scaled_i(0, x), lambda x: scaled_i(1, x)
    k0e, k1e = lambda x: m.exp(x) * m.besselk(0, x), lambda x: m.exp(x) * m.besselk(1, x)
    unit = lambda z: mpf(1)
    yield lambda: whole("i0ePieces", "exp(-x) I0(x)", i0e)
    yield lambda: whole("i1ePieces", "exp(-x) I1(x)", i1e, True)
    yield lambda: whole("i0Pieces", "I0(x)", lambda x: m.besseli(0, x))
    yield lambda: whole("i1Pieces", "I1(x)", lambda x: m.besseli(1, x), True)
    iroot = 1 / m.sqrt(2 * m.pi)
    yield lambda: series("i0eFar", "sqrt(x) exp(-x) I0(x)", lambda x: m.sqrt(x) * i0e(x), iroot, 56)
    yield lambda: series("i1eFar", "sqrt(x) exp(-x) I1(x)", lambda x: m.sqrt(x) * i1e(x), iroot, 56)
    yield lambda: halves("k0ePieces", "exp(x) K0(x)", k0e, -1)
    yield lambda: halves("k1ePieces", "exp(x) K1(x)", k1e, -1)
    root = m.sqrt(m.pi / 2)
    yield lambda: series("k0eFar", "sqrt(x) exp(x) K0(x)", lambda x: m.sqrt(x) * k0e(x), root, 56)
    yield lambda: series("k1eFar", "sqrt(x) exp(x) K1(x)", lambda x: m.sqrt(x) * k1e(x), root, 56)
    quarter = mpf("0.26")
    yield lambda: one("k0Rest", "K0(x) + ln(x/2) I0(x) in x^2 up to 1/4", ln_free(lambda x: m.besselk(0, x) + m.log(x / 2) * m.besseli(0, x)), unit, 0, quarter)
    yield lambda: one("k1Rest", "(K1(x) - ln(x/2) I1(x) - 1/x)/x in x^2 up to 1/4", ln_free(lambda x: (m.besselk(1, x) - m.log(x / 2) * m.besseli(1, x) - 1 / x) / x), unit, 0, quarter)
    yield lambda: one("i0Near", "(I0(x)-1)/x^2 in x^2 up to 1/4", ln_free(lambda x: (m.besseli(0, x) - 1) / x**2), unit, 0, quarter)
    yield lambda: one("i1Near", "I1(x)/x in x^2 up to 1/4", ln_free(lambda x: m.besseli(1, x) / x), unit, 0, quarter)

    dawson = lambda x: m.sqrt(m.pi) / 2 * m.exp(-x * x) * m.erfi(x)
    yield lambda: whole("dawsnPieces", "Dawson's function", dawson, True)

    def dawsonfar(t):
        x = 1 / m.sqrt(t)
        return x * dawson(x)
    yield lambda: far("dawsnFar", "x D(x) in 1/x^2", dawsonfar, mpf(1) / 2, 400)

    e1e = lambda x: m.exp(x) * m.e1(x)
    yield lambda: halves("exp1Pieces", "exp(x) E1(x)", e1e, -1)
    yield lambda: series("exp1Far", "x exp(x) E1(x)", lambda x: x * e1e(x), mpf(1), 56)
    yield lambda: one("einNear", "(E1(x) + ln(x) + gamma)/x up to 1/2", lambda x: (m.e1(x) + m.log(x) + m.euler) / x if x > mpf(10) ** -30 else mpf(1), unit, 0, 0.51)
    yield lambda: halves("expiPieces", "exp(-x) Ei(x)", ei_scaled, 0)
    yield lambda: series("expiFar", "x exp(-x) Ei(x)", lambda x: x * ei_scaled(x), mpf(1), 112)

    def eig(x):
        if abs(x - EIZERO) < mpf(10) ** -15:
            x = EIZERO + mpf(10) ** -15
        return (m.ei(x) - m.log(x / EIZERO)) / (x - EIZERO) if x > 0 else mpf(0)
    yield lambda: one("expiNear", "(Ei(x) - ln(x/z))/(x-z), z its zero, up to 1", eig, unit, mpf(10) ** -20, 1)

    # The dilogarithm of w = 1-exp(-u): u - u^2/4 + u^3 L(u^2).
    def dilog(z):
        u = m.sqrt(max(z, mpf(10) ** -12))
        return (m.re(m.polylog(2, -m.expm1(-u))) - u + u * u / 4) / u**3
    yield lambda: one("dilogRest", "(Li2(1-exp(-u)) - u + u^2/4)/u^3 in u^2 up to ln(2)^2", dilog, unit, 0, m.log(2) ** 2 + mpf(1) / 100, -52)

    k = lambda p: m.ellipk(1 - p)
    e = lambda p: m.ellipe(1 - p)
    yield lambda: halves("ellipkPieces", "K of 1-m", k, -4)
    yield lambda: halves("ellipePieces", "E of 1-m", e, -4)
    # K(1-p) = A(p) - ln(p) B(p) with B(p) = K(p)/pi, E(1-p) = A(p) - ln(p) B(p) with B = (K(p)-E(p))/pi.
    sixteenth = mpf(1) / 15
    some = lambda f, at0: (lambda p: f(p) if p > mpf(10) ** -30 else at0)
    yield lambda: one("ellipkA", "K(1-p) + ln(p) K(p)/pi up to 1/16", some(lambda p: k(p) + m.log(p) * m.ellipk(p) / m.pi, m.log(4)), unit, 0, sixteenth)
    yield lambda: one("ellipkB", "K(p)/pi up to 1/16", lambda p: m.ellipk(p) / m.pi, unit, 0, sixteenth)
    yield lambda: one("ellipeA", "(E(1-p) - 1 + ln(p) (K(p)-E(p))/pi)/p up to 1/16", some(lambda p: (e(p) - 1 + m.log(p) * (m.ellipk(p) - m.ellipe(p)) / m.pi) / p, m.log(2) - mpf(1) / 4), unit, 0, sixteenth)
    yield lambda: one("ellipeB", "(K(p)-E(p))/(pi p) up to 1/16", some(lambda p: (m.ellipk(p) - m.ellipe(p)) / (m.pi * p), mpf(1) / 4), unit, 0, sixteenth)

    # Sine and cosine integrals: beyond 7.5 as x f(x), x^2 g(x) in 1/x^2.
    yield lambda: whole("siPieces", "the sine integral", m.si, True)

    def aux(x):
        s, c = m.si(x) - m.pi / 2, m.ci(x)
        f = c * m.sin(x) - s * m.cos(x)
        g = -c * m.cos(x) - s * m.sin(x)
        return f, g
    yield lambda: far("sinIntF", "x f(x) in 1/x^2", lambda t: aux(1 / m.sqrt(t))[0] / m.sqrt(t), mpf(1), 400)
    yield lambda: far("sinIntG", "x^2 g(x) in 1/x^2", lambda t: aux(1 / m.sqrt(t))[1] / t, mpf(1), 400)
    yield ciPieces
    yield lambda: one("lambertNear", "(W(x)+1)/p in p = +-sqrt(2(e x+1)), of both real branches, up to 1/2", branch, lambda p: mpf(1), -0.5, 0.5, -54)
    zero = m.findroot(m.ci, mpf("0.6165"))
    yield lambda: one("ciNear", "(Ci(x) - ln(x/z))/(x^2-z^2), z its first zero, in x^2 up to 2.25", ln_free(lambda x: (m.ci(x) - m.log(x / zero)) / (x * x - zero**2)), unit, 0, mpf("2.26"))


def ciPieces():
    zeros = [m.findroot(m.ci, z) for z in (mpf("3.384"), mpf("6.427"))]

    def make(n):
        parts, worst = [], mpf(0)
        for i in range(8):
            j = max(i, 2)
            a, b = mpf(j) - mpf(1) / 2, mpf(j) + mpf(1) / 2
            at, v = mpf(j), m.ci(mpf(j))
            for z in zeros:
                if a <= z <= b:
                    at, v = z, mpf(0)
            p, err = near(m.ci, at, v, a, b, n, lambda d: abs(d / m.ci(at + d)) if abs(m.ci(at + d)) > mpf(10) ** -20 else mpf(0))
            parts.append(p)
            worst = max(worst, err)
        return parts, worst
    return ("rows", "ciPieces", "the cosine integral, by pieces around whole numbers from 2 on or its zeros", *least(make, 20, 2, -53.5))


def branch(p):
    """(W+1)/p for p = +-sqrt(2(e x+1)), of the branch of p's sign."""
    if abs(p) < mpf(10) ** -12:
        return 1 - p / 3
    x = (p * p / 2 - 1) / m.e
    with m.workdps(80):
        return (m.re(m.lambertw(x, 0 if p > 0 else -1)) + 1) / p


def run(i):
    return list(tables())[i]()


def main():
    with open(__file__, "rb") as f:
        print("// Code generated by gen/specials.py; DO NOT EDIT.\n// SHA-256 of gen/specials.py: %s\n" % hashlib.sha256(f.read()).hexdigest())
    print("package vmath\n")
    print("// Coefficients, lowest power first. The error is that of the polynomial alone, relative to the function.")
    print("// Rows of pieces are: the center, what it lacks, the value there, what that lacks, and the powers of x less the center.\n")
    with ProcessPoolExecutor(2) as pool:
        for kind, name, doc, c, err in pool.map(run, range(len(list(tables())))):
            sys.stderr.write("%s: %s, %d\n" % (name, bits(err), len(c) if kind == "row" else len(c[0])))
            print("// %s: %s. Error %s." % (name, doc, bits(err)))
            if kind == "row":
                print("var %s = []float64{\n\t%s,\n}\n" % (name, ", ".join(hexfloat(x) for x in c)))
            else:
                print("var %s = [][]float64{" % name)
                for at in zip(*c):
                    print("\t{%s}," % ", ".join(hexfloat(x) for x in at))
                print("}\n")


if __name__ == "__main__":
    main()
