"""Derives the polynomial coefficients of package vmath and writes coef.go.

    python3 gen/minimax.py | gofmt > coef.go      (needs mpmath; about a minute)

coef.go names the SHA-256 of this file, so that a test without Python can tell whether
it was written by it; TestCoefficients also holds the hash of what was written.

Each polynomial is the weighted minimax fit, by Lawson's iteration in 60-digit
arithmetic, of a function on an interval. The weight turns the error of the
polynomial into the relative error of the function that it serves. The
coefficients are rounded to the working precision one after the other, lowest
power first, and the free ones are fitted again after each rounding, so that the
set as rounded is nearly as good as the real one. Each table's comment gives the
largest relative error reached.
"""
import hashlib
import sys
from mpmath import mp, mpf, matrix, lu_solve
import mpmath as m

mp.dps = 60


def rnd(x, bits):
    """x rounded to a float of this many significant bits."""
    if x == 0:
        return mpf(0)
    mant, e = m.frexp(x)
    return m.ldexp(m.nint(m.ldexp(mant, bits)), e - bits)


def minimax(f, w, a, b, powers, rounds):
    """Nearly minimax coefficients of sum c_i x^powers[i] near f, error weighted by w.

    Lawson's iteration: least squares on Chebyshev points, whose weights grow
    where the error is large. Unlike an exchange it does not need the powers to
    be a Haar system, which they are not around zero once the constant is fixed.
    """
    n = len(powers)
    xs = cheb(a, b, 16 * n + 40)
    fx = [f(x) * w(x) for x in xs]
    px = [[x ** p * w(x) for x in xs] for p in powers]
    weight = [mpf(1)] * len(xs)
    best = None
    for _ in range(rounds):
        mat, rhs = matrix(n, n), matrix(n, 1)
        for i in range(n):
            row = [u * v for u, v in zip(px[i], weight)]
            for j in range(i + 1):
                mat[i, j] = mat[j, i] = m.fdot(row, px[j])
            rhs[i] = m.fdot(row, fx)
        sol = lu_solve(mat, rhs)
        err = [abs(fx[k] - sum(sol[i] * px[i][k] for i in range(n))) for k in range(len(xs))]
        top = max(err)
        if best is None or top < best[0]:
            best = (top, [sol[i] for i in range(n)])
        if top == 0:
            break
        weight = [v * (e / top) + mpf(10) ** -12 for v, e in zip(weight, err)]
        scale = max(weight)
        weight = [v / scale for v in weight]
    return best[1]


def cheb(a, b, n):
    a, b = mpf(a), mpf(b)
    return [(a + b) / 2 - (b - a) / 2 * m.cos(m.pi * (i + mpf(1) / 2) / n) for i in range(n)]


def fit(f, w, a, b, powers, bits, first=None, rounds=12):
    """minimax, with coefficients rounded to bits one by one (the first to first)."""
    done, rest = [], list(powers)
    while rest:
        g = lambda x: f(x) - sum(c * x ** p for c, p in done)
        c = minimax(g, w, a, b, rest, rounds)
        n = bits
        if not done and first:
            n = first
        done.append((rnd(c[0], n), rest.pop(0)))
    err = max(abs((f(x) - sum(c * x ** p for c, p in done)) * w(x)) for x in cheb(a, b, 1500))
    return [c for c, _ in done], err


def hexfloat(x):
    if x == 0:
        return "0"
    s = "-" if x < 0 else ""
    mant, e = m.frexp(abs(x))
    n, e = int(m.ldexp(mant, 53)), e - 1  # 1.f form
    frac = "%013x" % (n - 2 ** 52)
    frac = frac.rstrip("0")
    return "%s0x1%sp%d" % (s, "." + frac if frac else "", e)


def table(name, doc, f, w, a, b, n, bits, first=None):
    c, err = fit(f, w, a, b, range(n), bits, first)
    sys.stderr.write("%s: 2^%.2f\n" % (name, float(m.log(err, 2))))
    print("// %s: %s. Error 2^%.1f." % (name, doc, float(m.log(err, 2))))
    print("var %s = []float64{" % name)
    if first:  # in two floats
        c[:1] = [rnd(c[0], bits), rnd(c[0] - rnd(c[0], bits), bits)]
    for x in c:
        print("\t%s, // %s" % (hexfloat(x), m.nstr(x, 12)))
    print("}\n")


def small(f, series):
    """f, but by its power series near zero, where f cancels."""
    def g(x):
        if abs(x) > mpf(10) ** -6:
            return f(x)
        return sum(mpf(c) * x ** i for i, c in enumerate(series))
    return g


L2 = m.log(2)
TABLES = {}


def spec(fn):
    TABLES[fn.__name__] = fn
    return fn


@spec
def exp():
    q = small(lambda r: (m.exp(r) - 1 - r) / r ** 2, [1 / m.fac(i + 2) for i in range(12)])
    lim = L2 / 2 * mpf("1.001")
    for name, n, bits in (("exp32", 5, 24), ("exp64", 10, 53)):
        table(name, "(e^r-1-r)/r^2 for |r| <= ln(2)/2, relative to e^r", q, lambda r: r ** 2 / m.exp(r), -lim, lim, n, bits)
    e1 = lambda r: r ** 2 / (m.expm1(r) if r else mpf(1)) if r else mpf(0)
    for name, n, bits in (("expm132", 6, 24), ("expm164", 11, 53)):
        table(name, "(e^r-1-r)/r^2 for |r| <= ln(2)/2, relative to e^r-1", q, e1, -lim, lim, n, bits)


@spec
def log():
    t = small(lambda f: (m.log1p(f) - f) / f ** 2, [-(-1) ** i / mpf(i + 2) for i in range(12)])
    v = lambda f: f ** 2 / m.log1p(f) if f else mpf(0)
    for name, base in (("2", 2), ("10", 10)):
        k = 1 / m.log(base)
        table("log%s32" % name, "(log%s(1+f)-f/ln(%s))/f^2 for 11/16 <= 1+f < 11/8, relative to log%s" % ((name,) * 3), lambda f: t(f) * k, lambda f: v(f) / k, -0.3125, 0.375, 10, 24)
    # s = f/(2+f), z = s^2: ln(1+f) = 2 atanh(s) = 2s + s z L(z).
    l = small(lambda z: (2 * m.atanh(m.sqrt(z)) / m.sqrt(z) - 2) / z, [mpf(2) / (2 * i + 3) for i in range(12)])
    table("log64", "(2 atanh(s)/s-2)/s^2 in s^2 for |s| <= 1/5, relative to atanh", l, lambda z: z / 2, 0, 0.04, 8, 53)


@spec
def sin():
    f = small(lambda z: (m.sin(m.sqrt(z)) / m.sqrt(z) - 1) / z, [(-1) ** (i + 1) / m.fac(2 * i + 3) for i in range(12)])
    w = lambda z: z * m.sqrt(z) / m.sin(m.sqrt(z)) if z else mpf(0)
    table("sin64", "(sin(r)/r-1)/r^2 in r^2 for |r| <= pi/2, relative to sin", f, w, 0, (m.pi / 2 * mpf("1.001")) ** 2, 9, 53)
    ser = [mpf(1) / 3, mpf(2) / 15, mpf(17) / 315, mpf(62) / 2835, mpf(1382) / 155925, mpf(21844) / 6081075]
    t = small(lambda z: (m.tan(m.sqrt(z)) / m.sqrt(z) - 1) / z, ser)
    wt = lambda z: z * m.sqrt(z) / m.tan(m.sqrt(z)) if z else mpf(0)
    table("tan32", "(tan(r)/r-1)/r^2 in r^2 for |r| <= pi/4, relative to tan", t, wt, 0, (m.pi / 4 * mpf("1.01")) ** 2, 7, 24)
    table("tan64", "(tan(r)/r-1)/r^2 in r^2 for |r| <= pi/4, relative to tan", t, wt, 0, (m.pi / 4 * mpf("1.001")) ** 2, 15, 53)


@spec
def hyper():
    f = small(lambda z: (m.sinh(m.sqrt(z)) / m.sqrt(z) - 1) / z, [1 / m.fac(2 * i + 3) for i in range(12)])
    w = lambda z: z * m.sqrt(z) / m.sinh(m.sqrt(z)) if z else mpf(0)
    c = small(lambda z: (m.cosh(m.sqrt(z)) - 1) / z, [1 / m.fac(2 * i + 2) for i in range(12)])
    lim = (L2 / 2 * mpf("1.001")) ** 2
    for bits, wide, near, even in ((24, 4, 2, 3), (53, 8, 5, 6)):
        n = "32" if bits == 24 else "64"
        table("sinh" + n, "(sinh(r)/r-1)/r^2 in r^2 for |r| <= 1, relative to sinh", f, w, 0, 1, wide, bits)
        table("sinhr" + n, "(sinh(r)/r-1)/r^2 in r^2 for |r| <= ln(2)/2, relative to 1", f, lambda z: z * m.sqrt(z), 0, lim, near, bits)
        table("cosh" + n, "(cosh(r)-1)/r^2 in r^2 for |r| <= ln(2)/2, relative to 1", c, lambda z: z, 0, lim, even, bits)


@spec
def arcs():
    dfac = lambda i: m.fac2(2 * i - 1) / (m.fac2(2 * i) * (2 * i + 1))
    f = small(lambda z: (m.asin(m.sqrt(z)) / m.sqrt(z) - 1) / z, [dfac(i + 1) for i in range(12)])
    w = lambda z: z * m.sqrt(z) / m.asin(m.sqrt(z)) if z else mpf(0)
    for name, n, bits in (("asin32", 6, 24), ("asin64", 12, 53)):
        table(name, "(asin(s)/s-1)/s^2 in s^2 for |s| <= 1/2, relative to asin", f, w, 0, 0.25, n, bits)
    g = small(lambda z: (m.atan(m.sqrt(z)) / m.sqrt(z) - 1) / z, [mpf((-1) ** (i + 1)) / (2 * i + 3) for i in range(12)])
    v = lambda z: z * m.sqrt(z) / m.atan(m.sqrt(z)) if z else mpf(0)
    table("atan32", "(atan(q)/q-1)/q^2 in q^2 for |q| <= 1, relative to atan", g, v, 0, 1, 10, 24)
    table("atan64", "(atan(q)/q-1)/q^2 in q^2 for |q| <= sqrt(2)-1, relative to atan", g, v, 0, (m.sqrt(2) - 1) ** 2 * mpf("1.001"), 12, 53)


@spec
def erf():
    two = 2 / m.sqrt(m.pi)
    ser = [two * (-1) ** i / (m.fac(i) * (2 * i + 1)) for i in range(14)]
    ser[0] -= 1
    f = small(lambda z: m.erf(m.sqrt(z)) / m.sqrt(z) - 1, ser)
    w = lambda z: m.sqrt(z) / m.erf(m.sqrt(z)) if z else 1 / two
    for name, n, bits in (("erf32", 7, 24), ("erf64", 13, 53)):
        table(name, "erf(x)/x-1 in x^2 for |x| <= 1, relative to erf", f, w, 0, 1, n, bits)
    g = lambda a: m.log(m.erfc(a))
    v = lambda a: m.erfc(a) / m.erf(a)
    for name, top, n, bits in (("lnErfc32", "3.95", 8, 24), ("lnErfc64", "5.95", 20, 53)):
        table(name, "ln(erfc(a)) for 1 <= a <= %s, relative to erf" % top, g, v, 1, mpf(top), n, bits)

    def scaled(t):
        a = 4 * (1 + t) / (1 - t)
        return (1 + 2 * a) * m.exp(a * a) * m.erfc(a)

    hi = lambda a: (a - 4) / (mpf(a) + 4)
    one = lambda t: mpf(1)
    table("erfcx64", "(1+2a)exp(a^2)erfc(a) in (a-4)/(a+4) for 0 <= a <= 28, the constant in two floats, relative to 1", scaled, one, -1, hi(28), 23, 53, 106)
    slope = lambda t: m.diff(scaled, t) * (1 - t) / 8
    table("erfcxSlope", "its derivative times (1-t)/8, relative to 1", slope, one, -1, mpf("0.7"), 5, 53)
    table("erfcxShort", "(1+2a)exp(a^2)erfc(a) in (a-4)/(a+4) for 0 <= a <= 10.2, relative to 1", scaled, one, -1, hi(mpf("10.2")), 12, 53)
    q = small(lambda r: (m.exp(r) - 1 - r) / r ** 2, [1 / m.fac(i + 2) for i in range(12)])
    lim = L2 / 2 * mpf("1.001")
    table("expShort", "(e^r-1-r)/r^2 for |r| <= ln(2)/2, relative to e^r", q, lambda r: r ** 2 / m.exp(r), -lim, lim, 6, 53)


@spec
def power():
    f = small(lambda x: m.log1p(x) / x / L2, [(-1) ** i / (mpf(i + 1) * L2) for i in range(12)])
    w = lambda x: x / m.log1p(x) if x else mpf(1)
    table("log2Short", "log2(1+f)/f for 0.75 <= 1+f < 1.5, relative to log2", f, w, -0.25, 0.5, 13, 53)
    q = small(lambda r: (m.mpf(2) ** r - 1) / r, [L2 ** (i + 1) / m.fac(i + 1) for i in range(12)])
    table("exp2Short", "(2^r-1)/r for |r| <= 1/2, relative to 2^r", q, lambda r: r / mpf(2) ** r, -0.5, 0.5, 7, 53)
    l = small(lambda z: ((2 * m.atanh(m.sqrt(z)) / m.sqrt(z) - 2) / z - mpf(2) / 3) / z, [mpf(2) / (2 * i + 5) for i in range(12)])
    table("powLog", "((2 atanh(s)/s-2)/s^2-2/3)/s^2 in s^2 for |s| <= 1/5, relative to atanh", l, lambda z: z * z / 2, 0, 0.04, 9, 53)


def main():
    with open(__file__, "rb") as f:
        print("// Code generated by gen/minimax.py; DO NOT EDIT.\n// SHA-256 of gen/minimax.py: %s\n" % hashlib.sha256(f.read()).hexdigest())
    print("package vmath\n")
    print("// Coefficients, lowest power first. The error is the largest relative error of\n// the function named, from the polynomial alone.\n")
    for name in sys.argv[1:] or TABLES:
        TABLES[name]()


main()
