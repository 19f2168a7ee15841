"""Writes float64 arguments and exact results, computed with MPFR.

    python3 gen/vectors.py 150 > testdata/float64.txt                 (needs gmpy2)
    python3 gen/vectors.py 1000000 FOLDER [auto-libm-test-in [FUNCTION ...]]

The first form is the sample in the repository: a line is the function, the bits of
its one or two arguments, then the result as the nearest float64 and what that
lacks, both as bits, so that errors are measured in fractions of a unit in the
last place. The second form writes a file FOLDER/FUNCTION.f64 each, the same numbers
one after the other; auto-libm-test-in is glibc's list of arguments (in its folder
math), which are added.

The arguments are numbers spread over the range in which the function does not
overflow or vanish, random bit patterns, random exponents, and hard cases: the
neighbours of the numbers named below (where formulas change, results overflow,
underflow or cancel), what lies closest to the zeros of sine and cosine at every
exponent, and arguments whose results are close to a tie of rounding.
"""
import array
import math
import random
import re
import struct
import sys
import gmpy2
from gmpy2 import mpfr

# Enough for results of 53 bits and 100 behind them where nothing cancels.
PREC = 200
gmpy2.get_context().precision = PREC
ROOT2 = gmpy2.sqrt(mpfr(2))


def bits(x):
    return struct.unpack("<Q", struct.pack("<d", x))[0]


def from_bits(u):
    return struct.unpack("<d", struct.pack("<Q", u))[0]


def ordinary(x):
    return x == x and abs(x) != math.inf


def sigmoid(x):
    return 1 / (1 + gmpy2.exp(-x))


def newton(f, slope, y):
    """The root of f, whose derivative is slope, from y."""
    for _ in range(100):
        step = f(y) / slope(y)
        y -= step
        if abs(step) <= abs(y) * gmpy2.exp2(-PREC + 20):
            break
    return y


def bell(y):
    return 2 / gmpy2.sqrt(gmpy2.const_pi()) * gmpy2.exp(-y * y)


def erfcinv(x):
    """For x below 1: the root of ln(erfc), which is nearly a parabola."""
    if x > 1:
        return -erfcinv(2 - x)
    y = gmpy2.sqrt(-gmpy2.log(x * (2 - x))) if x < 1 else mpfr(0)
    ln = gmpy2.log(x)
    return newton(lambda y: gmpy2.log(gmpy2.erfc(y)) - ln, lambda y: -bell(y) / gmpy2.erfc(y), y)


def erfinv(x):
    if abs(x) > 0.5:
        y = erfcinv(1 - abs(x))
        return -y if x < 0 else y
    return newton(lambda y: gmpy2.erf(y) - x, bell, x * gmpy2.sqrt(gmpy2.const_pi()) / 2)


def bernoulli(n):
    b = []
    for k in range(n + 1):
        a = [gmpy2.mpq(1, j + 1) for j in range(k + 1)]
        for r in range(k, 0, -1):
            for j in range(r):
                a[j] = (j + 1) * (a[j] - a[j + 1])
        b.append(a[0])
    return b


B = bernoulli(60)


def trigamma(x):
    if x < 0.5:
        s = gmpy2.sin(gmpy2.const_pi() * (x - gmpy2.rint(x)))
        return (gmpy2.const_pi() / s) ** 2 - trigamma(1 - x)
    y = mpfr(0)
    while x < 60:
        y += 1 / (x * x)
        x += 1
    return y + 1 / x + 1 / (2 * x * x) + sum(B[2 * k] / x ** (2 * k + 1) for k in range(1, 30))


def digamma(x):
    """By reflection for x below 0, where MPFR takes long."""
    if x < -1e3:
        t = gmpy2.const_pi() * (x - gmpy2.rint(x))
        return gmpy2.digamma(1 - x) - gmpy2.const_pi() / gmpy2.tan(t)
    return gmpy2.digamma(x)


def lgamma(x):
    if x < -1e3:
        s = gmpy2.sin(gmpy2.const_pi() * (x - gmpy2.rint(x)))
        return gmpy2.log(abs(gmpy2.const_pi() / s)) - gmpy2.lgamma(1 - x)[0]
    return gmpy2.lgamma(x)[0]


LGAMMA_ZEROS = [-2.4570247382208006, -2.7476826467274127, -3.1435808883499798, -3.955294284858598, -4.039361839740537, -4.991544640560047, -6.000000000000001, -15.0]
DIGAMMA_ZEROS = [-0.5040830082644554, -1.5734984731623905, -2.610720868444145, -3.6352933664369013, -9.702672540001864]

FUNCS = {
    # name: (function, spread of arguments, limits, hard arguments)
    "Exp": (gmpy2.exp, (-745, 709.7), (-746, 709.79), [709.782712893384, -708.3964185322641, -744.44, -745.1332191019411, 2.0**-54, -2.0**-54, -709.1862831234, 1.0, -708.5149065856863]),
    "Exp2": (gmpy2.exp2, (-1074.9, 1023.99), (-1075, 1024), [-1022.5, 0.5, -0.5, 2.0**-53, 1023.9999999999999, -1022.0, -1074.0, -1022.953, -1022.5000000000001]),
    "Expm1": (gmpy2.expm1, (-40, 709.7), (-50, 709.79), [0.34657359027997264, 0.3466, 0.41, -0.3466, -1.04, 17.1, 36.9, 1e-300, -1e-17, 709.782712893384, -37.42994775023705, 0.404004, 37.09998929520633]),
    "Log": (gmpy2.log, (1e-5, 5), (5e-324, math.inf), [1.0, 0.75, 1.5, 5e-324, 1e-310, 1.7e308, 2.2250738585072014e-308, math.sqrt(0.5), math.sqrt(2), 0.730877, math.e, 0.7308769999999999]),
    "Log2": (gmpy2.log2, (1e-5, 5), (5e-324, math.inf), [1.0, 0.7071, 1.4142, 5e-324, 8.0, 0.75, 1.5, math.sqrt(0.5), math.sqrt(2), 2.2250738585072014e-308, 1.35754, 1.3729166933402148]),
    "Log10": (gmpy2.log10, (1e-5, 5), (5e-324, math.inf), [1.0, 0.7071, 1.4142, 5e-324, 1000.0, 0.75, 1.5, math.sqrt(0.5), math.sqrt(2), 1e22, 2.2250738585072014e-308, 1.306172, 1.325462999422242]),
    "Log1p": (gmpy2.log1p, (-0.999, 5), (-1 + 2.0**-53, math.inf), [-0.25, 0.5, 0.4999999999999999, 1e-310, -1 + 2.0**-53, 1.7e308, 2.0**1022, 2.0**53, 2.0**54, math.sqrt(2) - 1, math.sqrt(0.5) - 1, 1.0, 0.451335, -0.2755477853030618]),
    "Sin": (gmpy2.sin, (-40, 40), (-math.inf, math.inf), [-573.43, math.pi, 2.0**-26, 2.0**-27, 821.6796054844528]),
    "Cos": (gmpy2.cos, (-40, 40), (-math.inf, math.inf), [-15.73724, math.pi, 2.0**-26, 2.0**-27, 12.712750893449858]),
    "Tan": (gmpy2.tan, (-40, 40), (-math.inf, math.inf), [-2.377076, math.pi / 4, 2.0**-26, 2.0**-27, -13.350711588235669]),
    "Asin": (gmpy2.asin, (-1, 1), (-1, 1), [0.5, 1.0, -1.0, -0.5, 1e-310, 2.0**-27, -0.468961, 0.5254213955104234]),
    "Acos": (gmpy2.acos, (-1, 1), (-1, 1), [0.5, 1.0, -1.0, -0.5, 1e-310, 2.0**-53, 0.606749, 0.5589928014572925]),
    "Atan": (gmpy2.atan, (-6, 6), (-math.inf, math.inf), [0.41421356237309503, 2.414213562373095, 1.0, 1e300, 2.0**-27, 2.0**53, -0.450492, 0.4142135625664152]),
    "Sinh": (gmpy2.sinh, (-12, 12), (-710.4758600739439, 710.4758600739439), [1.0, 1.0397, 710.4758, 709.8, 1e-310, 2.0**-27, 18.7, 22.0, -3.865355, -3.8405071063141243]),
    "Cosh": (gmpy2.cosh, (-12, 12), (-710.4758600739439, 710.4758600739439), [0.34657, 710.4758, 709.8, 1e-310, 2.0**-27, 18.7, 22.0, 0.005921, 1.7845283434396693e-05]),
    "Tanh": (gmpy2.tanh, (-20, 20), (-100, 100), [0.17, 0.2, 0.5, 18.8, 19.06, 19.07, 1e-310, 2.0**-27, 18.541932, 18.541703384520947]),
    "Erf": (gmpy2.erf, (-6, 6), (-100, 100), [1.0, 5.9, 5.94, 5.96, 1e-310, 2.0**-27, 0.47, 1.031412, -2.2560130450231087e-308]),
    "Erfc": (gmpy2.erfc, (-6, 27.2), (-100, 27.3), [0.47, 1.0, 26.5, 26.6, 27.2, 1e-310, 26.543258454, 15.064354, 2.0**-54, 27.226, 7.088502921862765]),
    "Sigmoid": (sigmoid, (-60, 40), (-746, 1000), [-708.5, -740.0, 36.7, 37.5, -745.13, -37.727908, -708.4999999999999]),
    "Softplus": (lambda x: gmpy2.log1p(gmpy2.exp(x)), (-60, 40), (-746, 1e4), [-708.5, -740.0, 36.7, -0.69, 0.56, -745.13, -0.7297991, -708.4999999999999]),
    "Silu": (lambda x: x * sigmoid(x), (-60, 40), (-760, 1e4), [-708.5, -740.0, 36.7, 1e-310, -1e-310, -751.7, -718.3250763432621]),
    "Gelu": (lambda x: x * gmpy2.erfc(-x / ROOT2) / 2, (-38, 10), (-39, 1e4), [-37.5, -38.4, -0.7, 8.2, 1e-310, -1e-310, -1.437514, -1.861628889215794]),
    "Asinh": (gmpy2.asinh, (-12, 12), (-math.inf, math.inf), [2.0**28, 2.0**27, 1.7e308, 1e-310, 1e-160, 0.5, 1.0, 2.0**-27, 2.0**511, 3.0]),
    "Acosh": (gmpy2.acosh, (1, 12), (1, math.inf), [2.0**28, 1.7e308, 1.0, 1.0000001, 1.5, 2.0, 2.0**52]),
    "Atanh": (gmpy2.atanh, (-1, 1), (-1 + 2.0**-53, 1 - 2.0**-53), [1 - 2.0**-53, 1 - 2.0**-30, 1e-310, 2.0**-27, 0.5, 1 / 3, 0.1]),
    "Erfinv": (erfinv, (-1, 1), (-1 + 2.0**-53, 1 - 2.0**-53), [0.5, -0.5, 1 - 2.0**-53, 1 - 2.0**-30, 0.75, 0.9999, 1e-310, 2.0**-27]),
    "Erfcinv": (erfcinv, (0, 2), (5e-324, 2 - 2.0**-52), [0.5, 1.5, 2 - 2.0**-52, 5e-324, 1e-310, 1e-16, 2.0**-60, 0.25, 1.75]),
    "Gamma": (gmpy2.gamma, (-10, 10), (-184, 171.6243769563027), [0.75, 1.0, 2.0, 4.75, 171.6243769563027, 1.4616321449683623, 1e-308, -1e-308, -170.5, -180.3, -183.9, 22.0, 100.3, -50.5]),
    "Cbrt": (gmpy2.cbrt, (-10, 10), (-math.inf, math.inf), [1.0, 8.0, 27.0, 1e-310, 5e-324, 1.7e308, 0.5, 2.0]),
    "J0": (gmpy2.j0, (-40, 40), (-1e6, 1e6), [2.404825557695773, 5.520078110286311, 8.653727912911013, 0.5, 7.5, 1e-310, 1e5]),
    "J1": (gmpy2.j1, (-40, 40), (-1e6, 1e6), [3.831705970207512, 7.015586669815619, 10.173468135062722, 0.5, 7.5, 1e-310, 1e5]),
    "Y0": (gmpy2.y0, (0, 40), (5e-324, 1e6), [0.8935769662791675, 3.957678419314858, 7.086051060301773, 1.5, 7.5, 1e-310, 1e5]),
    "Y1": (gmpy2.y1, (0, 40), (4e-309, 1e6), [2.197141326031017, 5.429681040794135, 8.596005868331169, 1.5, 7.5, 1e-307, 1e5]),
    "Lgamma": (lgamma, (-10, 10), (-(2.0**52), 2.559983327851638e305), [0.75, 1.0, 2.0, 4.75, 1.4616321449683623, 171.6, 1e-310, -1e-310, 2.559983327851638e305, 1e17, *LGAMMA_ZEROS]),
    "Digamma": (digamma, (-10, 10), (-(2.0**52), math.inf), [0.75, 1.0, 2.0, 4.75, 1.4616321449683623, 1e-307, -1e-307, 1.7e308, *DIGAMMA_ZEROS]),
    "Trigamma": (trigamma, (-10, 10), (-(2.0**52), math.inf), [0.75, 1.0, 2.0, 4.75, 1e-153, -1e-153, 1e-154, 7.5e-155, 1.7e308]),
}


def zeros():
    """The numbers closest to a multiple of pi/2, at every exponent: denominators of
    convergents of 2^e/(pi/2) are the significands m for which m*2^e is closest."""
    out = []
    with gmpy2.context(gmpy2.get_context(), precision=2300):
        half = gmpy2.const_pi() / 2
        for e in range(-52, 972):
            x = gmpy2.exp2(mpfr(e)) / half
            p0, q0, p1, q1 = 0, 1, 1, 0
            while True:
                a = int(gmpy2.floor(x))
                p0, q0, p1, q1 = p1, q1, a * p1 + p0, a * q1 + q0
                if q1 >= 1 << 53:
                    break
                if q1 >> 40 and p1:
                    out.append(math.ldexp(q1, e))
                x -= a
                if x == 0:
                    break
                x = 1 / x
    return out


class Sink:
    """What one function's vectors go to, and how results become two float64."""

    def __init__(self, name, folder):
        self.name, self.folder, self.data = name, folder, array.array("d")

    def emit(self, args, exact):
        hi = float(exact)
        if not ordinary(hi):
            return False
        lo = float(exact - mpfr(hi, PREC))
        if self.folder:
            self.data.extend(args)
            self.data.append(hi)
            self.data.append(lo)
        else:
            print(self.name, *["%016x" % bits(v) for v in (*args, hi, lo)])
        return True

    def close(self):
        if self.folder:
            with open("%s/%s.f64" % (self.folder, self.name), "wb") as f:
                self.data.tofile(f)


def near_tie(f, x):
    """Walks from x to an argument whose result is close to a tie, if one is near."""
    best, at = 1.0, x
    for _ in range(64):
        y = f(mpfr(x, PREC))
        hi = float(y)
        if not ordinary(hi) or hi == 0:
            break
        lo = abs(float(y - mpfr(hi, PREC))) / math.ulp(hi)
        if abs(lo - 0.5) < best:
            best, at = abs(lo - 0.5), x
        x = math.nextafter(x, math.inf)
    return at


def unary(name, n, folder, extra):
    f, (lo, hi), (least, most), hard = FUNCS[name]
    r = random.Random(name)
    ok = lambda x: ordinary(x) and x != 0 and least <= x <= most
    s = Sink(name, folder)
    xs = []
    for h in hard:
        k = 1 + n // 2000
        xs += [h, math.nextafter(h, math.inf), math.nextafter(h, -math.inf)]
        for _ in range(k if folder else 0):
            xs.append(h * (1 + r.choice((-1, 1)) * 2.0 ** r.uniform(-53, -10)))
    if name in ("Sin", "Cos", "Tan"):
        z = zeros()
        z = z if folder else r.sample(z, 20)
        xs += z + [-x for x in z] + [math.nextafter(x, math.inf) for x in z]
    xs += extra
    xs = [x for x in xs if ok(x)]
    ties = n // 1000 if folder else 5
    for _ in range(ties):
        x = near_tie(f, r.uniform(lo, hi))
        if ok(x):
            xs.append(x)
    for x in xs:
        s.emit((x,), f(mpfr(x, PREC)))
    left = max(n - len(xs), n // 2)
    while left > 0:
        k = r.random()
        if k < 0.6:
            x = r.uniform(lo, hi)
        elif k < 0.75:
            x = from_bits(r.getrandbits(64))
        else:
            x = r.choice((-1, 1)) * r.uniform(0.5, 1) * 2.0 ** r.uniform(-40, 10)
        if ok(x) and s.emit((x,), f(mpfr(x, PREC))):
            left -= 1
    s.close()


def power(n, folder, extra):
    r = random.Random("Pow")
    s = Sink("Pow", folder)

    def emit(x, y):
        if not (ordinary(x) and ordinary(y)) or x == 0 or x < 0 and y != math.floor(y):
            return False
        # The logarithm's error is multiplied by the exponent: up to 2^11 here.
        e = mpfr(x, PREC) ** mpfr(y, PREC)
        if not gmpy2.is_finite(e) or e == 0 or abs(e) < 2.0**-1076:
            return False
        return s.emit((x, y), e)

    for x, y in ((1 + 2.0**-52, 2.0**61), (1 - 2.0**-53, 2.0**62), (5e-324, -0.9), (1.5, 1750.0), (0.75, 2500.0), (10.0, 22.0), (1e-310, 1.01), (2.0, -1074.0), (-3.0, 5.0), (-3.0, -4.0), (0.7430913942460574, 2347.0242577578765), *extra):
        emit(x, y)
    left = n
    while left > 0:
        k = r.random()
        if k < 0.35:
            x = r.uniform(0.5, 2)
        elif k < 0.5:
            x = 1 + r.choice((-1, 1)) * 2.0 ** r.uniform(-52, -1)
        elif k < 0.6:
            x = from_bits(r.getrandbits(63))
        else:
            x = r.uniform(0.5, 2) * 2.0 ** r.randint(-1060, 1020)
        if not ordinary(x) or x in (0, 1):
            continue
        log = float(gmpy2.log(mpfr(x, PREC)))
        k = r.random()
        if k < 0.15:  # the result close to overflow or underflow
            y = r.choice((709.78, -708.4, -745.1)) / log * (1 + r.uniform(-1, 1) * 2.0 ** r.uniform(-30, -5))
        elif k < 0.3:
            y = float(r.randint(-40, 40)) * r.choice((1, 0.5))
        else:
            y = r.uniform(-745, 709) / log * r.choice((1, 1, 0.1, 0.001))
        if y == math.floor(y) and r.random() < 0.3:
            x = -x
        if emit(x, y):
            left -= 1
    s.close()


def angle(n, folder, extra):
    r = random.Random("Atan2")
    s = Sink("Atan2", folder)

    def emit(y, x):
        if not (ordinary(y) and ordinary(x)) or x == 0 or y == 0:
            return False
        return s.emit((y, x), gmpy2.atan2(mpfr(y, PREC), mpfr(x, PREC)))

    for y, x in ((5e-324, 5e-324), (1e308, -1.7e308), (1e-310, -1.0), (3e-320, 1e-310), (1e300, 1e-300), (1e-10, 1e305), (1.0, 1.0), (-2.0, -2.0), (-2.5e-323, 5.4e-323), (0.35921434708337746, 0.8672201484772437), *extra):
        emit(y, x)
    left = n
    while left > 0:
        k = r.random()
        y, x = r.gauss(0, 1), r.gauss(0, 1)
        if k < 0.5:
            y, x = y * 2.0 ** r.randint(-9, 9), x * 2.0 ** r.randint(-3, 3)
        elif k < 0.65:  # both of any exponent, results subnormal ones among them
            y, x = from_bits(r.getrandbits(64)), from_bits(r.getrandbits(64))
        elif k < 0.8:  # close to where the argument of the polynomial changes
            y = x * r.choice((1, 0.41421356237309503, 2.414213562373095, -1)) * (1 + r.uniform(-1, 1) * 2.0 ** r.uniform(-52, -5))
        elif k < 0.9:
            e = r.randint(-1070, 1020)
            y, x = math.ldexp(y, e), math.ldexp(x, e)
        if emit(y, x):
            left -= 1
    s.close()


def length(n, folder, extra):
    r = random.Random("Hypot")
    s = Sink("Hypot", folder)

    def emit(x, y):
        return ordinary(x) and ordinary(y) and s.emit((x, y), gmpy2.hypot(mpfr(x, PREC), mpfr(y, PREC)))

    for x, y in ((5e-324, 5e-324), (3.0, -4.0), (1e308, 1e308), (1e-310, -1e-310), (1e300, 1e-300), (0.0, -2.0), (2.0**500, 2.0**499), (2.0**-450, 2.0**-451), (1e-200, 1e-160), *extra):
        emit(x, y)
    left = n
    while left > 0:
        k = r.random()
        x, y = r.gauss(0, 1), r.gauss(0, 1) * 2.0 ** r.randint(-30, 0)
        if k < 0.2:
            x, y = from_bits(r.getrandbits(64)), from_bits(r.getrandbits(64))
        elif k < 0.6:
            e = r.choice((r.randint(-1070, 1020), r.randint(-460, -440), r.randint(490, 510)))
            x, y = math.ldexp(x, e), math.ldexp(y, e)
        if emit(x, y):
            left -= 1
    s.close()


def glibc(path):
    """The arguments of glibc's tests that are float64, by function."""
    out = {}
    for line in open(path):
        w = line.split()
        if len(w) < 2 or w[0].startswith("#"):
            continue
        try:
            v = [float.fromhex(a) if "0x" in a else float(a) for a in w[1:] if re.match(r"[-+0-9.]", a)]
        except (ValueError, OverflowError):
            continue
        v = [x for x in v if ordinary(x)]
        out.setdefault(w[0].capitalize(), []).append(v)
    return out


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 150
    folder = sys.argv[2] if len(sys.argv) > 2 else None
    more = glibc(sys.argv[3]) if len(sys.argv) > 3 else {}
    for name in sys.argv[4:] or [*FUNCS, "Pow", "Atan2", "Hypot"]:
        extra = more.get(name, [])
        if name == "Pow":
            power(n, folder, [v for v in extra if len(v) == 2])
        elif name in ("Atan2", "Hypot"):
            (angle if name == "Atan2" else length)(n, folder, [v for v in extra if len(v) == 2])
        else:
            unary(name, n, folder, [v[0] for v in extra if len(v) == 1])


main()
