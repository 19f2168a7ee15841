"""Writes stable.txt: values and gradients of functions whose plain form is unstable.

    python3 testdata/stable.py > testdata/stable.txt      (needs mpmath)

A line is a name, a type and four lists: the arguments, the weights dy of the results, the
results, and the gradient of their weighted sum. Arguments are numbers of the type, exactly;
results are exact to 30 digits.
"""
import struct

from mpmath import erf, erfc, exp, expm1, log, log1p, mp, mpf, pi, sqrt

mp.dps = 2000  # exp(-1000) beside 1


def to32(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def sigmoid(x):
    return 1 / (1 + exp(-x))


each = {  # value, derivative
    "softplus": (lambda x: log(1 + exp(x)), sigmoid),
    "logsigmoid": (lambda x: -log(1 + exp(-x)), lambda x: sigmoid(-x)),
    "logsigmoid-": (lambda x: -log(1 + exp(x)), lambda x: -sigmoid(x)),
    "sigmoid": (sigmoid, lambda x: sigmoid(x) * sigmoid(-x)),
    "expm1": (expm1, exp),
    "log1p": (log1p, lambda x: 1 / (1 + x)),
    "erfc": (erfc, lambda x: -2 / sqrt(pi) * exp(-x * x)),
    "logerfc": (lambda x: log(erfc(x)), lambda x: -2 / sqrt(pi) * exp(-x * x) / erfc(x)),
    "erfm1": (lambda x: -erfc(x), lambda x: 2 / sqrt(pi) * exp(-x * x)),
    "erfcm1": (lambda x: -erf(x), lambda x: -2 / sqrt(pi) * exp(-x * x)),
    "log2pexp": (lambda x: log(2 + exp(x)), lambda x: exp(x) / (2 + exp(x))),
    "logthree": (
        lambda x: log(exp(x) + exp(2 * x) + exp(x / 2)),
        lambda x: (exp(x) + 2 * exp(2 * x) + exp(x / 2) / 2) / (exp(x) + exp(2 * x) + exp(x / 2)),
    ),
    "log1mexp": (lambda x: log(1 - exp(x)), lambda x: exp(x) / (exp(x) - 1)),
}
points = {
    "softplus": [1000, -1000, 0, 1, -1, 1e-10, 30, -30, 88.75, 709.5, 1e4, 0.3, 17.25, -80],
    "sigmoid": [0, 1, -1, 1e-10, 30, -30, 17.25, -80, 0.3, 5, -5],
    "expm1": [1e-10, -1e-10, 1e-5, 0.5, -0.5, 2, -30, 1e-20, 20],
    "log1p": [1e-10, -1e-10, 1e-5, 0.5, -0.5, 2, 30, 1e-20, 1e6],
    "erfc": [0, 1, -1, 3, 5, -5, 9.125, 0.25],  # whose squares are numbers of either type
    "erfm1": [0, 1, 3, 5, -5, 9.125, 0.25],
    "erfcm1": [1, -1, 3, -3, 0.25, 1e-3, -1e-8],
    "log2pexp": [1000, -1000, 0, 1, -1, 88.75, 709.5, 30, -30, 1e4],
    "logthree": [1000, -1000, 1, 2, 88.75, 500, -80, 30],
    "logerfc": [0.5, 1, -1, 3, 5, -5, 8.5, 10, 12.5, 26, 30, 100, 1e5, 1e10],
    "log1mexp": [-1e-10, -1e-5, -0.5, -0.693, -0.7, -2, -30, -80, -1000],
}
points["logsigmoid"] = points["logsigmoid-"] = points["softplus"]
weights = [1, -2, 0.5, 1, 4, -1, 0.25, 2, 1, -0.5, 1, 8, -4, 1]

rows = [[1000, 1000], [1e4, 1e4, 9999, 9990], [-1e4, -1e4, -9998], [0.5, 1.5, -2.25], [1e-10, 0], [300, 100, 299.5, 0], [-745, -744, -746], [88, 89, 90, 60]]


def vectors(x, dy):
    s = sum(exp(v) for v in x)
    p = [exp(v) / s for v in x]
    total, mixed = sum(dy), sum(d * v for d, v in zip(dy, p))
    yield "logsumexp", [log(s)], [dy[0] * v for v in p], dy[:1]
    yield "logmeanexp", [log(s / len(x))], [dy[0] * v for v in p], dy[:1]
    yield "softmax", p, [v * (d - mixed) for v, d in zip(p, dy)], dy
    yield "logsoftmax", [v - log(s) for v in x], [d - v * total for v, d in zip(p, dy)], dy


def text(v):
    return ",".join(mp.nstr(mpf(e), 30) for e in v)


for t in ["f64", "f32"]:
    exact = to32 if t == "f32" else float
    for name, (f, df) in each.items():
        x = [exact(v) for v in points[name]]
        dy = weights[:len(x)]
        print(name, t, text(x), text(dy), text([f(mpf(v)) for v in x]), text([d * df(mpf(v)) for v, d in zip(x, dy)]))
    for x in rows:
        x = [mpf(exact(v)) for v in x]
        dy = [mpf(v) for v in weights[:len(x)]]
        for name, y, g, d in vectors(x, dy):
            print(name, t, text(x), text(d), text(y), text(g))
