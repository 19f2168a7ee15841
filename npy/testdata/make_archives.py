"""Writes the files that archive_test.go and columns_test.go read.

Usage: python make_archives.py   (needs only numpy)

stored.npz and deflated.npz are what numpy.savez and numpy.savez_compressed write.
structured.zip has .npy files of structured arrays; field k of record i has the value
10*k + i in every element, as text for what is no number.
"""

import io
import zipfile

import numpy as np

arrays = {
    "scalar": np.float64(2.5),
    "rows": np.arange(6, dtype="<f4").reshape(2, 3),
    "columns": np.asfortranarray(np.arange(6, dtype="<i4").reshape(2, 3)),
    "big": np.arange(5, dtype=">i8"),
    "flags": np.array([True, False, True]),
    "empty": np.zeros((3, 0), "<u2"),
    "with space/and slash": np.arange(300, dtype="|u1"),
    "text": np.array(["a", "bc"]),
}
np.savez("stored.npz", **arrays)
np.savez_compressed("deflated.npz", **arrays)


def filled(dtype, shape):
    a = np.zeros(shape, dtype)

    def fill(part, counter):
        for name in part.dtype.names:
            f = part[name]
            if f.dtype.names:
                fill(f, counter)
                continue
            k = counter[0]
            counter[0] += 1
            for i in range(a.size):
                f.reshape((a.size,) + f.shape[a.ndim:])[i] = 10 * k + i
    fill(a, [0])
    return a


structured = {
    "packed": ([("a", "<f4"), ("b", "<i2"), ("c", "|u1")], (3,)),
    "aligned": (np.dtype([("a", "|u1"), ("b", "<f8"), ("c", "<i2")], align=True), (3,)),
    "big": ([("a", ">f4"), ("b", "<f4"), ("c", ">c8")], (3,)),
    "arrays": ([("a", "<f4", (2, 3)), ("b", "<i8", (1,)), ("c", "<f4")], (3,)),
    "nested": ([("p", [("x", "<f4"), ("y", "<f4")], (2,)), ("q", [("r", [("s", "<i4")])])], (3,)),
    "text": ([("name", "<U5"), ("x", "<f4"), ("code", "|S4"), ("raw", "|V2"), ("t", "<M8[s]")], (3,)),
    "titles": ([(("a title", "a"), "<f4"), ("b", "<f4")], (3,)),
    "latin": ([("h\u00f6he", "<f4")], (3,)),
    "chinese": ([("\u9ad8", "<f4"), ("x", "<i4")], (3,)),
    "matrix": ([("a", "<f4"), ("b", "<i4")], (2, 3)),
    "flags": ([("a", "|b1"), ("b", "<f2")], (3,)),
    "none": ([("a", "<f4"), ("b", "<i4")], (0,)),
    "zerod": ([("a", "<f4"), ("b", "<i4")], ()),
}
with zipfile.ZipFile("structured.zip", "w") as out:
    for name, (dtype, shape) in structured.items():
        dtype = np.dtype(dtype)
        a = filled(dtype, shape) if name != "text" else np.zeros(shape, dtype)
        if name == "text":
            a["x"] = [10, 11, 12]
        for order in "CF" if name == "matrix" else "C":
            buf = io.BytesIO()
            np.lib.format.write_array(buf, np.array(a, order=order), version=None)
            info = zipfile.ZipInfo(name + order + ".npy", (1980, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            out.writestr(info, buf.getvalue())
