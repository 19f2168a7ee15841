"""Derives the piecewise polynomials of package vmath (the gamma family and the inverse of
the error function) and writes gammacoef.go.

    python3 gen/gamma.py | gofmt > gammacoef.go      (needs mpmath; a minute)

gammacoef.go names the SHA-256 of this file, as coef.go does that of minimax.py.

A piece is the interpolation in Chebyshev points of a function on an interval, in 60-digit
arithmetic, its coefficients rounded to float64. A table with pieces has one entry a piece,
so that the number of the interval looks up every coefficient: eight entries are one vector
register of 512 bits. Each comment gives the largest error reached, relative to what it says.
"""
import hashlib
import sys
from mpmath import mp, mpf
import mpmath as m

mp.dps = 60


def cheb(a, b, n):
    return [(a + b) / 2 - (b - a) / 2 * m.cos(m.pi * (i + mpf(1) / 2) / n) for i in range(n)]


def interpolate(f, a, b, n):
    """The coefficients, lowest power first, of the polynomial through f at n Chebyshev points."""
    xs = cheb(a, b, n)
    c = [f(x) for x in xs]
    for j in range(1, n):  # divided differences
        for i in range(n - 1, j - 1, -1):
            c[i] = (c[i] - c[i - 1]) / (xs[i] - xs[i - j])
    p = [c[-1]]
    for i in range(n - 2, -1, -1):  # p*(x - xs[i]) + c[i]
        q = [mpf(0)] + p
        for k, v in enumerate(p):
            q[k] -= xs[i] * v
        q[0] += c[i]
        p = q
    return p


def rnd(x):
    return mpf(float(x))


def fit(f, weight, a, b, n):
    c = [rnd(v) for v in interpolate(f, a, b, n)]
    err = max(abs(m.polyval(c[::-1], x) - f(x)) * weight(x) for x in cheb(a, b, 96))
    return c, err


def hexfloat(x):
    if x == 0:
        return "0"
    return float(x).hex().replace("p+", "p")


def bits(err):
    return "2^%.1f" % float(m.log(err, 2))


def row(name, doc, c, err):
    sys.stderr.write("%s: %s\n" % (name, bits(err)))
    print("// %s: %s. Error %s." % (name, doc, bits(err)))
    print("var %s = []float64{" % name)
    for x in c:
        print("\t%s, // %s" % (hexfloat(x), m.nstr(x, 12)))
    print("}\n")


def rows(name, doc, parts, err):
    """parts are the lists of constants of the pieces, all of one length."""
    sys.stderr.write("%s: %s\n" % (name, bits(err)))
    print("// %s: %s. Error %s." % (name, doc, bits(err)))
    print("var %s = [][]float64{" % name)
    for at in zip(*parts):
        print("\t{%s}," % ", ".join(hexfloat(x) for x in at))
    print("}\n")


def centered(f, center, value, a, b, n, weight):  # n even: no point is the center
    """The constants of f around center: it, what it lacks, value of f there and what that
    lacks, and the coefficients of (f(center+d) - value)/d."""
    c, err = fit(lambda d: (f(center + d) - value) / d, weight, a - center, b - center, n)
    return [rnd(center), center - rnd(center), rnd(value), value - rnd(value)] + c, err


ZERO = m.findroot(lambda x: m.psi(0, x), mpf("1.4616321449683623"))


def pieces(name, doc, f, n, zero=None):
    """f(1+y) around the multiples of 1/2 from 0 to 3.5."""
    parts, worst = [], mpf(0)
    for i in range(8):
        c = mpf(i) / 2
        a, b = c - mpf(1) / 4, c + mpf(1) / 4
        at = c
        if zero is not None and i == 1:
            at = zero - 1
        v = f(1 + at) if abs(f(1 + at)) > mpf(10) ** -50 else mpf(0)
        g = lambda y: f(1 + y)
        w = lambda d: abs(d / f(1 + at + d))
        p, err = centered(g, at, v, a, b, n, w)
        parts.append(p)
        worst = max(worst, err)
    rows(name, doc, parts, worst)


def gammas():
    head = "by piece i around y = i/2: that, what it lacks, the value, what that lacks, and the powers of y less that of "
    pieces("lgammaPieces", head + "lgamma(1+y), relative to it", m.loggamma, 20)
    pieces("digammaPieces", head + "digamma(1+y), piece 1 around its zero, relative to it", lambda x: m.psi(0, x), 20, ZERO)
    pieces("trigammaPieces", head + "trigamma(1+y), relative to it", lambda x: m.psi(1, x), 20)

    top = 1 / mpf("4.7") ** 2

    def far(f, first):
        def g(t):
            if t < mpf(10) ** -6:
                return m.polyval(first[::-1], t)
            return f(1 / m.sqrt(t))
        return g

    b = [m.bernoulli(2 * k) for k in range(1, 9)]
    lg = lambda x: (m.loggamma(x) - (x - mpf(1) / 2) * (m.log(x) - 1) - m.log(2 * m.pi) / 2 + mpf(1) / 2) * x
    c, err = fit(far(lg, [b[k - 1] / (2 * k * (2 * k - 1)) for k in range(1, 9)]), lambda t: m.sqrt(t) / m.loggamma(1 / m.sqrt(t)) if t else mpf(0), mpf(0), top, 10)
    row("lgammaFar", "x*(lgamma(x)-(x-1/2)(ln(x)-1)-ln(2 pi)/2+1/2) in 1/x^2 for x >= 4.7, relative to lgamma", c, err)
    dg = lambda x: (m.log(x) - 1 / (2 * x) - m.psi(0, x)) * x * x
    c, err = fit(far(dg, [b[k - 1] / (2 * k) for k in range(1, 9)]), lambda t: t / m.psi(0, 1 / m.sqrt(t)) if t else mpf(0), mpf(0), top, 11)
    row("digammaFar", "x^2*(ln(x)-1/(2x)-digamma(x)) in 1/x^2 for x >= 4.7, relative to digamma", c, err)
    tg = lambda x: (m.psi(1, x) - 1 / x - 1 / (2 * x * x)) * x ** 3
    c, err = fit(far(tg, b), lambda t: t * m.sqrt(t) / m.psi(1, 1 / m.sqrt(t)) if t else mpf(0), mpf(0), top, 12)
    row("trigammaFar", "x^3*(trigamma(x)-1/x-1/(2x^2)) in 1/x^2 for x >= 4.7, relative to trigamma", c, err)

    def sinpi(z):
        if z < mpf(10) ** -6:
            return sum((-1) ** (k + 1) * m.pi ** (2 * k + 2) / m.fac(2 * k + 3) * z ** k for k in range(9))
        r = m.sqrt(z)
        return (m.sin(m.pi * r) / (m.pi * r) - 1) / z
    c, err = fit(sinpi, lambda z: z * m.pi * m.sqrt(z) / m.sin(m.pi * m.sqrt(z)) if z else mpf(0), mpf(0), mpf(1) / 4, 9)
    row("sinPi64", "(sin(pi r)/(pi r)-1)/r^2 in r^2 for |r| <= 1/2, relative to sin", c, err)


def inverses():
    k = m.sqrt(m.pi) / 2
    inv = [mpf(1)]  # of erfinv(x) = sum of c[k]/(2k+1)*(k x)^(2k+1)
    for j in range(1, 12):
        inv.append(sum(inv[i] * inv[j - 1 - i] / ((i + 1) * (2 * i + 1)) for i in range(j)))

    def near(z):
        if z < mpf(10) ** -6:
            return sum(inv[j] / (2 * j + 1) * k ** (2 * j + 1) * z ** (j - 1) for j in range(1, 12))
        return (m.erfinv(m.sqrt(z)) / m.sqrt(z) - k) / z
    c, err = fit(near, lambda z: z * m.sqrt(z) / m.erfinv(m.sqrt(z)) if z else mpf(0), mpf(0), mpf(1) / 4, 15)
    row("erfinvNear", "(erfinv(x)/x-sqrt(pi)/2)/x^2 in x^2 for |x| <= 1/2, relative to erfinv", c, err)

    def ratio(s):
        """erfinv(x)/s, where (1-x)(1+x) = exp(-s^2)."""
        w = s * s
        y = s * mpf("0.95")
        for _ in range(60):
            e = m.erfc(y)
            step = (m.log(e) + m.log(2 - e) + w) / (2 / m.sqrt(m.pi) * m.exp(-y * y) * (1 / e - 1 / (2 - e)))
            y += step
            if abs(step) < mpf(10) ** -45 * y:
                return y / s
        raise ValueError(s)

    def tail(name, doc, edges, centers, n):
        parts, worst = [], mpf(0)
        for (a, b), c in zip(edges, centers):
            v = m.nint(ratio(c) * 2 ** 20) / 2 ** 20  # short: what it lacks is in the polynomial
            p, err = fit(lambda d: ratio(c + d) - v, lambda d: mpf(1), a - c, b - c, n)
            parts.append([c, v] + p)
            worst = max(worst, err)
        rows(name, doc, parts, worst)

    doc = "by piece: center c, then of erfinv(x)/s for s = sqrt(-ln(1-x^2)) first a short part, then what is left, in powers of s-c, "
    step = mpf(3) / 4
    cs = [step * (i + 1) for i in range(8)]
    tail("erfinvTail", doc + "piece i around 3/4*(i+1), relative to 1", [(max(c - step / 2, mpf("0.53")), c + step / 2) for c in cs], cs, 18)
    step = mpf(3)
    cs = [mpf(7.5) + step * i for i in range(8)]
    tail("erfcinvTail", doc + "piece i around 7.5+3*i, relative to 1", [(c - step / 2, c + step / 2) for c in cs], cs, 18)


def normal():
    def ndtri(q):
        x = -m.sqrt(-2 * m.log(q)) * mpf("0.9")
        for _ in range(60):
            p = m.ncdf(x)
            step = m.log(p / q) * p * m.sqrt(2 * m.pi) * m.exp(x * x / 2)
            x -= step
            if abs(step) < mpf(10) ** -45:
                return x
        raise ValueError(q)

    def slope(q):
        return ndtri(q) / (q - mpf(1) / 2)

    parts, worst = [], mpf(0)
    for e in (1016, 1017, 1018, 1019, 1020, 1021, 1014, 1015):  # the exponent's bits, by their last three
        a = mpf(2) ** (e - 1023)
        c = a * 3 / 2
        v = rnd(slope(c))
        p, err = fit(lambda d: slope(c + d) - v, lambda d: 1 / slope(c + d), -a / 2, a / 2, 22)
        parts.append([c, v] + p)
        worst = max(worst, err)
    rows("ndtriPieces", "by the last bits of the exponent, octaves of q from 2^-9 to 1/2: center c, then of ndtri(q)/(q-1/2) a float, and what is left, in powers of q-c, relative to it", parts, worst)


def main():
    with open(__file__, "rb") as f:
        print("// Code generated by gen/gamma.py; DO NOT EDIT.\n// SHA-256 of gen/gamma.py: %s\n" % hashlib.sha256(f.read()).hexdigest())
    print("package vmath\n")
    print("// Coefficients, lowest power first. The error is that of the polynomial alone.\n")
    gammas()
    inverses()
    normal()


if __name__ == "__main__":
    main()
