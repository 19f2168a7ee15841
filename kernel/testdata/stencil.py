"""Writes numba.json: what Numba's @stencil gives, for numba_test.go.

    python kernel/testdata/stencil.py > kernel/testdata/numba.json

The calls basicNN are those of Numba's own tests (numba.tests.test_stencils), recorded as
they run; the others are written here. An entry has the arguments, the options and the
result, or the text of the error.
"""
import json
import unittest

import numpy as np
import numba
from numba import stencil
from numba.tests import test_stencils

entries = {}


def number(x):
    x = x.item() if hasattr(x, "item") else x
    if isinstance(x, complex):
        return [number(x.real), number(x.imag)]
    if isinstance(x, float) and not np.isfinite(x):
        return repr(x)
    if isinstance(x, float) and x == int(x):
        return int(x)
    return x


def array(x):
    x = np.asarray(x)
    e = {"dtype": str(x.dtype), "shape": list(x.shape)}
    flat = x.ravel()
    if x.dtype.kind in "iuf" and np.array_equal(flat, np.arange(flat.size).astype(x.dtype)):
        return e
    e["values"] = [number(v) for v in flat]
    return e


def record(name, kernel, *args, out=None, **options):
    e = {"args": [array(a) if isinstance(a, np.ndarray) else {"number": number(a)} for a in args]}
    if "cval" in options:
        e["cval"] = number(options["cval"])
    if "neighborhood" in options:
        e["neighborhood"] = options["neighborhood"]
    if out is not None:
        e["out"] = array(out)
    try:
        y = stencil(kernel, **options)(*args, **({} if out is None else {"out": out}))
        e["result"] = array(y)
    except Exception as err:
        e["error"] = str(err).strip().splitlines()[0] or type(err).__name__
    entries[name] = e


class Recorded(test_stencils.TestManyStencils):
    def check_against_expected(self, kernel, expected, *args, options={}, **kw):
        self.note(kernel, args, options)

    def check_exceptions(self, kernel, *args, options={}, **kw):
        self.note(kernel, args, options)

    def note(self, kernel, args, options):
        name = self._testMethodName.removeprefix("test_")
        while name in entries:
            name += "+"
        record(name, kernel, *[a.copy() if isinstance(a, np.ndarray) else a for a in args], **options)


unittest.TextTestRunner(stream=open("/dev/null", "w")).run(unittest.defaultTestLoader.loadTestsFromTestCase(Recorded))


def grid(n, dtype=np.int64):
    return np.arange(n * n, dtype=dtype).reshape(n, n)


def cross(a):
    return 0.25 * (a[0, 1] + a[1, 0] + a[0, -1] + a[-1, 0])


def difference(a):
    return a[0, 0] - a[1, 0]


record("stencil1", cross, grid(6))
record("stencil1Out", cross, grid(6), out=np.full((6, 6), 9.0))


def trailing(a):
    s = a[-5]
    for i in range(-4, 1):
        s += a[i]
    return 0.3 * s


record("stencil2", trailing, np.arange(20), neighborhood=((-5, 0),))


def window(a, w):
    s = a[-w]
    for i in range(-w + 1, w + 1):
        s += a[i]
    return 0.3 * s


record("stencil2Window", window, np.arange(20), 3, neighborhood=((-3, 3),))


def corner(a):
    return a[-1, 0] + a[0, -1]


record("stencil3", corner, grid(5), cval=1.0)


def weighted(a, b):
    return a[-1] * b[0] + a[0] * b[1]


record("standardIndexing1d", weighted, np.arange(9), np.array([3.0, 7.0]), standard_indexing=("b",))


def crossed(a, b):
    return a[0, 1] * b[0, 1] + a[1, 0] * b[1, 0] + a[0, -1] * b[0, -1] + a[-1, 0] * b[-1, 0]


record("standardIndexing2d", crossed, grid(5), np.full((3, 3), 0.5), standard_indexing=("b",))


def two(a, b):
    return 0.25 * (a[0, 1] + a[1, 0] + a[0, -1] + a[-1, 0] + b[0, 1] + b[1, 0] + b[0, -1] + b[-1, 0])


def twoScaled(a, b, w):
    return w * (a[0, 1] + a[1, 0] + a[0, -1] + a[-1, 0] + b[0, 1] + b[1, 0] + b[0, -1] + b[-1, 0])


record("multipleInputs", two, grid(3), grid(3))
record("multipleInputsScalar", twoScaled, grid(3), grid(3), 0.25)


def chosen(a, b, s):
    return a[0, 0] if s[0, 0] else b[0, 0]


record("mixedTypes", chosen, grid(3, np.float64), 9 - grid(3, np.float64), np.eye(3, dtype=np.bool_))
record("call1D", lambda a: 0.3 * (a[-1] + a[0] + a[1]), np.arange(9))
record("callConst", lambda a, c: 0.3 * (a[-c] + a[0] + a[c]), np.arange(9), 1)


def nested(a):
    c = 2
    return a[-c + 1]


record("nested1", lambda a: a[-1], np.arange(10))
for name, cval in {"7": 7, "7.0": 7.0, "1j": 1j, "7.9": 7.9, "-7.9": -7.9}.items():
    record("outCval" + name, difference, np.arange(12).reshape(3, 4), cval=cval, out=np.ones((3, 4), np.int64))
    record("cval" + name, difference, np.arange(12).reshape(3, 4), cval=cval)
for cval in (np.nan, np.inf, -np.inf):
    record("outCval" + repr(float(cval)), difference, np.arange(12.0).reshape(3, 4), cval=cval, out=np.ones((3, 4)))
record("cvalNanInt", difference, np.arange(12).reshape(3, 4), cval=np.nan)
record("cval300Uint8", lambda a: a[1], np.arange(5, dtype=np.uint8), cval=300)
record("cvalBoolOfInt", lambda a: a[1] > 2, np.arange(5), cval=2)
record("outUntouched", difference, np.arange(12).reshape(3, 4), out=np.full((3, 4), 5))


def oneBranch(a):
    if a[0] > 3:
        return a[2]
    return a[-1]


record("branchesUnited", oneBranch, np.arange(9.0))


def never(a):
    x = a[0]
    if 2 == 0:
        x = a[3]
    return x


record("branchNever", never, np.arange(9.0))
record("arraysUnited", lambda a, b: a[1] + b[-2], np.arange(9.0), np.arange(9.0) * 2)
record("secondaryLarger", lambda a, b: a[1] + b[-2], np.arange(9.0), np.arange(12.0) * 2)
record("secondarySmaller", lambda a, b: a[1] + b[-2], np.arange(9.0), np.arange(8.0) * 2)
record("dtypesDiffer", lambda a, b: a[1] + b[-1], np.arange(9.0), np.arange(9, dtype=np.int8))
record("zeroIsInside", lambda a: a[2] + 0, np.arange(6.0))
record("smallerThanKernel", lambda a: a[2] + a[-2], np.arange(3.0), cval=4.0)
record("empty", lambda a: a[1] + a[-1], np.arange(0.0))
record("neighborhoodWider", lambda a: a[1], np.arange(9.0), neighborhood=((-2, 3),))
record("neighborhoodPositive", lambda a: a[5], np.arange(12.0), neighborhood=((5, 10),))

print("{")
print(",\n".join("%s: %s" % (json.dumps(k), json.dumps(v)) for k, v in entries.items()))
print("}")
