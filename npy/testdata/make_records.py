"""Writes records.zip: structured arrays made by NumPy, and what is in them, read by records_test.go.

Usage: python make_records.py   (needs only numpy)

NAME.npy is a file of numpy.save. NAME.json has its shape, the size of a record, and for each field of
elements, named "outer.inner" in nested records, its offset, shape and values in row-major order. Parts
of complex numbers follow each other.
"""

import io
import json
import zipfile

import numpy as np

vertex = [("position", "<f4", 2), ("color", "<f4", 3)]
CASES = {
    "vertices": (vertex, (3, 3), "C"),
    "packed": ([("a", "u1"), ("b", "<f8"), ("c", "<i2", (2,))], (4,), "C"),
    "aligned": (np.dtype([("a", "u1"), ("b", "<f8"), ("c", "<i2", (2,))], align=True), (4,), "C"),
    "swapped": ([("a", ">i4"), ("b", ">f4"), ("c", "<f8")], (2, 2), "C"),
    "kinds": ([("z", "<c16"), ("y", "<c8"), ("x", "<f8"), ("w", "<u8"), ("h", "<f2"), ("v", "<i2"), ("u", "i1"), ("t", "?"), ("s", "u1"), ("r", "i1")], (5,), "C"),
    "nested": ([("id", "<i4"), ("pairs", [("x", "<f4"), ("y", "<i4", (2,))], (2, 3)), ("box", [("lo", [("v", "<f4")]), ("hi", [("v", "<f4")])])], (2,), "C"),
    "nestedpacked": ([("id", "i1"), ("pairs", [("x", "<f4"), ("y", "i1")], 2)], (3,), "C"),
    "nestedaligned": (np.dtype([("id", "i1"), ("pairs", np.dtype([("y", "i1"), ("x", "<f8"), ("w", "i1")], align=True), 2)], align=True), (3,), "C"),
    "fortran": (vertex, (2, 3), "F"),
    "fortranpacked": ([("a", "u1"), ("b", "<f8")], (2, 3), "F"),
    "titles": ([(("a title", "a"), "<f4"), ("b", "<i4")], (2,), "C"),
    "offsets": (np.dtype({"names": ["a", "b"], "formats": ["<i2", "<f4"], "offsets": [2, 8], "itemsize": 20}), (3,), "C"),
    "unicode": ([("\u00e9\u4e2d", "<f4"), ("b", "<f4")], (2,), "C"),
    "empty": (vertex, (0, 2), "C"),
    "scalar": (vertex, (), "C"),
    "nothing": ([("a", "<f4", (0,)), ("b", "<f4")], (2,), "C"),
}
REFUSED = {
    "strings": [("name", "S5"), ("x", "<f4")],
    "dates": [("when", "<M8[s]"), ("x", "<f4")],
    "dotted": [("a.b", "<f4")],
}


def fields(a, path=""):
    """Yields the path, the offset and the array of each field of elements."""
    for name in a.dtype.names:
        sub, offset = a.dtype.fields[name][:2]
        if sub.base.names:
            for p, o, x in fields(a[name], path + name + "."):
                yield p, offset + o, x
        else:
            yield path + name, offset, a[name]


def values(x):
    flat = np.ascontiguousarray(x).reshape(-1)
    if flat.dtype.kind == "c":
        flat = flat.view(flat.dtype.type(0).real.dtype.newbyteorder(flat.dtype.byteorder))
    return [v.item() if flat.dtype.kind != "b" else int(v) for v in flat]


def fill(a, seed):
    for i, (_, _, x) in enumerate(fields(a)):
        n = np.arange(x.size).reshape(x.shape)
        if x.dtype.kind == "b":
            x[...] = n % 3 == 1
        elif x.dtype.kind == "c":
            x[...] = n / 4 + i - 1j * (n + seed)
        elif x.dtype.kind == "u":
            x[...] = n * 3 + i
        elif x.dtype.kind == "f":
            x[...] = n / 4 - i
        else:
            x[...] = n - i


def put(out, path, data):
    info = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
    info.compress_type = zipfile.ZIP_DEFLATED
    out.writestr(info, data)


with zipfile.ZipFile("records.zip", "w") as out:
    for seed, (name, (dtype, shape, order)) in enumerate(CASES.items()):
        a = np.zeros(shape, dtype, order)
        fill(a, seed)
        buf = io.BytesIO()
        np.save(buf, a)
        put(out, name + ".npy", buf.getvalue())
        put(out, name + ".json", json.dumps({"shape": shape, "size": a.dtype.itemsize, "fields": [{"name": p, "offset": o, "shape": x.shape, "values": values(x)} for p, o, x in fields(a)]}))
    for name, dtype in REFUSED.items():
        buf = io.BytesIO()
        np.save(buf, np.zeros(2, dtype))
        put(out, "refused/" + name + ".npy", buf.getvalue())
