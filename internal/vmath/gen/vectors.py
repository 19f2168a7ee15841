"""Writes testdata/float64.txt: float64 arguments and exact results.

    python3 gen/vectors.py [points] > testdata/float64.txt     (needs mpmath)

A line is: function, argument bits, second argument bits (Pow and Atan2 only),
then the result as the nearest float64 and what that lacks, both as bits: the
test measures errors in fractions of a unit in the last place. The arguments are
random bit patterns, numbers spread over the range in which the function does
not overflow or vanish, and hard cases named below.
"""
import random
import struct
import sys
from mpmath import mp, mpf
import mpmath as m

mp.prec = 1400
random.seed(1)
N = int(sys.argv[1]) if len(sys.argv) > 1 else 150


def bits(x):
    return "%016x" % struct.unpack("<Q", struct.pack("<d", x))[0]


def from_bits(u):
    return struct.unpack("<d", struct.pack("<Q", u))[0]


def nearest(x):
    """x to the nearest float64, subnormal ones included, or None if it overflows."""
    if x == 0:
        return 0.0
    _, e = m.frexp(x)
    ulp = m.ldexp(1, max(e - 53, -1074))
    n = m.nint(x / ulp)
    r = n * ulp
    return None if abs(r) >= m.ldexp(1, 1024) else float(r)


def sigmoid(x):
    return 1 / (1 + m.exp(-x))


FUNCS = {
    # name: (function, spread of arguments, hard arguments)
    "Exp": (m.exp, (-745, 709.7), [709.782712893384, -708.3964185322641, -744.44, 2.0**-54, -2.0**-54]),
    "Exp2": (lambda x: m.mpf(2) ** x, (-1074.9, 1023.99), [-1022.5, 0.5, -0.5, 2.0**-53]),
    "Expm1": (m.expm1, (-40, 709.7), [0.34657359027997264, 0.3466, 0.41, -0.3466, -1.04, 17.1, 36.9, 1e-300, -1e-17]),
    "Log": (m.log, (1e-5, 5), [1 + 2.0**-52, 1 - 2.0**-53, 0.75, 1.5, 5e-324, 1e-310, 1.7e308]),
    "Log2": (lambda x: m.log(x, 2), (1e-5, 5), [1 + 2.0**-52, 1 - 2.0**-53, 0.7071, 1.4142, 5e-324, 8.0]),
    "Log10": (lambda x: m.log(x, 10), (1e-5, 5), [1 + 2.0**-52, 1 - 2.0**-53, 0.7071, 1.4142, 5e-324, 1000.0]),
    "Log1p": (m.log1p, (-0.999, 5), [-0.25, 0.5, 0.4999999999999999, 1e-310, -1 + 2.0**-53, 1.7e308, 2.0**1022]),
    "Sin": (m.sin, (-40, 40), []),
    "Cos": (m.cos, (-40, 40), []),
    "Tan": (m.tan, (-40, 40), []),
    "Asin": (m.asin, (-1, 1), [0.5, 0.5000000000000001, 1 - 2.0**-53, 1e-310]),
    "Acos": (m.acos, (-1, 1), [0.5, 0.5000000000000001, 1 - 2.0**-53, -1 + 2.0**-53, 1e-310]),
    "Atan": (m.atan, (-6, 6), [0.41421356237309503, 0.4142135623730951, 2.414213562373095, 1 + 2.0**-52, 1e300]),
    "Sinh": (m.sinh, (-12, 12), [0.9999999999999999, 1.0, 1.0397, 710.4758, 709.8, 1e-310]),
    "Cosh": (m.cosh, (-12, 12), [0.34657, 710.4758, 709.8, 1e-310]),
    "Tanh": (m.tanh, (-20, 20), [0.17, 0.2, 0.5, 18.8, 19.06, 19.07, 1e-310]),
    "Erf": (m.erf, (-6, 6), [0.9999999999999999, 1.0, 5.9, 5.94, 5.96, 1e-310]),
    "Erfc": (m.erfc, (-6, 27.2), [0.47, 1.0, 26.5, 26.6, 27.2, 1e-310]),
    "Sigmoid": (sigmoid, (-60, 40), [-708.5, -740.0, 36.7, 37.5]),
    "Softplus": (lambda x: m.log1p(m.exp(x)), (-60, 40), [-708.5, -740.0, 36.7, -0.69, 0.56]),
    "Silu": (lambda x: x * sigmoid(x), (-60, 40), [-708.5, -740.0, 36.7, 1e-310, -1e-310]),
    "Gelu": (lambda x: x * m.erfc(-x / m.sqrt(2)) / 2, (-38, 10), [-37.5, -38.4, -0.7, 8.2, 1e-310, -1e-310]),
}
# Close to multiples of pi/2 (the second is the closest float64; Kahan, McDonald).
NEAR = [6381956970095103 * 2.0**797, float.fromhex("0x1.6ac5b262ca1ffp+849"), float.fromhex("0x1.dd06c8b2b3efap+1014"), 1e22, 1e300, 2.0**30, 1073741823.9]
NEAR += [float(n * m.pi / 2) for n in (1, 2, 3, 4, 5, 22, 355, 710, 103993, 2**20, 10**8, 683565275, 10**9)]


def emit(name, args, exact):
    r = nearest(exact)
    if r is None:
        return
    low = nearest(exact - mpf(r))
    print(name, *[bits(a) for a in args], bits(r), bits(low))


def ordinary(x):
    return x == x and abs(x) != float("inf")


def main():
    for name, (f, (lo, hi), hard) in FUNCS.items():
        xs = list(hard)
        if name in ("Sin", "Cos", "Tan"):
            xs += NEAR + [-x for x in NEAR]
        xs += [random.uniform(lo, hi) for _ in range(N * 2 // 3)]
        xs += [from_bits(random.getrandbits(64)) for _ in range(N // 6)]
        xs += [random.choice((-1, 1)) * random.uniform(0.5, 1) * 2.0 ** random.randint(-30, 10) for _ in range(N // 6)]
        for x in xs:
            if not ordinary(x) or x == 0 or name in ("Log", "Log2", "Log10") and x < 0 or name == "Log1p" and x <= -1:
                continue
            if name in ("Asin", "Acos") and abs(x) > 1:
                continue
            if name not in ("Sin", "Cos", "Tan", "Atan", "Tanh", "Erf") and not name.startswith("Log"):
                x = max(-2000.0, min(x, 1e4)) if name in ("Softplus", "Silu", "Gelu") else max(-2000.0, min(x, 2000.0))
            if name in ("Tanh", "Erf"):
                x = max(-100.0, min(x, 100.0))
            emit(name, [x], f(mpf(x)))
    for _ in range(N):
        x = random.uniform(0.5, 2) * 2.0 ** random.choice((0, 0, 0, random.randint(-1060, 1020)))
        x = float(x)
        y = random.uniform(-745, 709) / float(m.log(mpf(x))) * random.choice((1, 0.1, 0.001)) if x != 1 else 3.0
        emit("Pow", [x, y], mpf(x) ** mpf(y))
    for x, y in ((1 + 2.0**-52, 2.0**61), (1 - 2.0**-53, 2.0**62), (5e-324, -0.9), (1.5, 1750.0), (0.75, 2500.0), (10.0, 22.0), (1e-310, 1.01), (2.0, -1074.0), (-3.0, 5.0), (-3.0, -4.0)):
        emit("Pow", [x, y], mpf(x) ** mpf(y))
    for _ in range(N):
        y, x = random.gauss(0, 1) * 2.0 ** random.randint(-9, 9), random.gauss(0, 1) * 2.0 ** random.randint(-3, 3)
        emit("Atan2", [y, x], m.atan2(mpf(y), mpf(x)))
    for y, x in ((5e-324, 5e-324), (1e308, -1.7e308), (1e-310, -1.0), (3e-320, 1e-310), (1e300, 1e-300), (1e-10, 1e305), (1.0, 1.0), (-2.0, -2.0)):
        emit("Atan2", [y, x], m.atan2(mpf(y), mpf(x)))


main()
