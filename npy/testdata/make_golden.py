"""Writes golden.zip: .npy files made by NumPy, read by golden_test.go.

Usage: python make_golden.py   (needs only numpy)

A member is named VERSION/DESCR/ORDER/SHAPE.npy. Element k in row-major order
has the value that value() gives, which golden_test.go computes on its own.
"""

import io
import zipfile

import numpy as np

SHAPES = [(), (0, 3), (5,), (2, 3, 4)]
DESCRS = ["|b1", "|u1", "|i1"] + [o + k for k in ("i2", "i4", "i8", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16") for o in "<>"]
UNSUPPORTED = ["<M8[ns]", "<m8[s]", "|S3", "<U3", "|V5"]


def value(descr, k):
    kind, bits = np.dtype(descr).kind, 8 * np.dtype(descr).itemsize
    if kind == "b":
        return k % 3 == 1
    if kind == "u":
        low = (k * 37 + 5) % 256
        return low if bits == 8 else low << bits - 8 | low
    if kind == "i":
        return (k - 3) * {8: 13, 16: 2**11 + 13, 32: 2**27 + 13, 64: 2**58 + 13}[bits]
    x = [np.inf, -np.inf, -0.0, 1 / 3, 1e-310][k] if k < 5 else k * 0.1 - 1.7
    return complex(x, k - 2.5) if kind == "c" else x


def name(s):
    return "x".join(map(str, s)) or "0d"


def pack(out, path, array, version):
    buf = io.BytesIO()
    np.lib.format.write_array(buf, array, version=version, allow_pickle=True)
    info = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
    info.compress_type = zipfile.ZIP_DEFLATED
    out.writestr(info, buf.getvalue())


with zipfile.ZipFile("golden.zip", "w") as out:
    for descr in DESCRS:
        for shape in SHAPES:
            n = int(np.prod(shape))
            with np.errstate(over="ignore"):
                wide = "uint64" if np.dtype(descr).kind == "u" else None
                flat = np.array([value(descr, k) for k in range(n)], wide).astype(descr)
            for order in "CF":
                a = np.array(flat.reshape(shape), order=order)
                for version in [(1, 0), (2, 0), (3, 0)] if shape == (2, 3, 4) else [(1, 0)]:
                    pack(out, f"{version[0]}/{descr}/{order}/{name(shape)}.npy".replace("|", "-").replace("<", "l").replace(">", "b"), a, version)
    # The padding depends on which dimension is the slowest; with these the
    # length of the header shows it.
    for order, last in [("C", 100), ("F", 1000)]:
        shape = (2,) + (1,) * 12 + (last,)
        flat = np.array([value("|u1", k) for k in range(2 * last)]).astype("|u1")
        pack(out, f"1/-u1/{order}/{name(shape)}.npy", np.array(flat.reshape(shape), order=order), (1, 0))
    for descr in UNSUPPORTED:
        path = descr.replace("|", "-").replace("<", "l").replace("[", "_").replace("]", "")
        pack(out, f"unsupported/{path}.npy", np.zeros(2, descr), (1, 0))
    pack(out, "unsupported/object.npy", np.array([None, {}], dtype=object), (1, 0))
    pack(out, "unsupported/structured.npy", np.zeros(2, [("a", "<f4"), ("b", "<i4", (2,))]), (1, 0))
    pack(out, "unsupported/unicode-field.npy", np.zeros(2, [("\u00e9\u4e2d", "<f4")]), (3, 0))
