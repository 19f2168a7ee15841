"""Matrix products: NumPy, PyTorch, and BLAS libraries called directly.

The direct calls go through Numba-compiled loops over the C interface, so that
no Python is in the measurement: what a C program would get.
"""
import ctypes
import glob
import os

import numpy as np

from form import Form, Ready
from inputs import summary, uniform

ROW_MAJOR, NO_TRANS = 101, 111


def operands(n, dtype):
    return (uniform(n * n, s, -1, 1, dtype).reshape(n, n) for s in (1, 2))


def numpy_form(text):
    def make(n, dtype, threads):
        a, b = operands(n, dtype)
        ns = {"np": np, "a": a, "b": b, "c": np.zeros((n, n), dtype)}
        return Ready(text, ns, lambda: summary(eval(text, ns)))

    return make


def torch_form(text):
    def make(n, dtype, threads):
        import torch

        a, b = (torch.from_numpy(m).clone() for m in operands(n, dtype))
        ns = {"torch": torch, "a": a, "b": b, "c": torch.zeros_like(a)}
        return Ready(text, ns, lambda: summary(eval(text, ns)))

    return make


def bundled_openblas():
    """NumPy's own OpenBLAS: usually the newest build on the machine."""
    found = glob.glob(os.path.join(os.path.dirname(np.__file__), os.pardir, "numpy.libs", "libscipy_openblas*"))
    return found[0] if found else None


def library(path):
    """The C library at path with the names of its two products and its integer type."""
    lib = ctypes.CDLL(path)
    for names, integer in (
        (("scipy_cblas_sgemm64_", "scipy_cblas_dgemm64_"), ctypes.c_int64),
        (("scipy_cblas_sgemm", "scipy_cblas_dgemm"), ctypes.c_int32),
        (("cblas_sgemm", "cblas_dgemm"), ctypes.c_int32),
    ):
        if hasattr(lib, names[0]):
            return lib, names, integer
    raise OSError(f"{path}: no cblas_sgemm")


def direct_form(path):
    def make(n, dtype, threads):
        import numba

        lib, names, integer = library(path)
        real = ctypes.c_float if dtype == "float32" else ctypes.c_double
        gemm = getattr(lib, names[dtype == "float64"])
        enum, pointer = ctypes.c_int, ctypes.c_void_p
        gemm.argtypes = [enum] * 3 + [integer] * 3 + [real, pointer, integer, pointer, integer, real, pointer, integer]
        gemm.restype = None
        one, zero = np.dtype(dtype).type(1), np.dtype(dtype).type(0)

        @numba.njit
        def repeat(k, a, b, c):
            m = a.shape[0]
            for _ in range(k):
                gemm(ROW_MAJOR, NO_TRANS, NO_TRANS, m, m, m, one, a.ctypes.data, m, b.ctypes.data, m, zero, c.ctypes.data, m)

        a, b = operands(n, dtype)
        c = np.zeros((n, n), dtype)
        repeat(1, a, b, c)
        return Ready("", {}, lambda: summary(c), compiled=lambda k: repeat(k, a, b, c))

    return make


def forms(case):
    yield Form("numpy", "numpy", numpy_form("a @ b"))
    yield Form("numpy out=", "numpy", numpy_form("np.matmul(a, b, out=c)"))
    if bundled_openblas():
        yield Form("OpenBLAS of numpy, direct", "numpy", direct_form(bundled_openblas()))
    for part in filter(None, os.environ.get("WEFT_BENCH_BLAS", "").split(os.pathsep)):
        name, path = part.split("=", 1)
        yield Form(f"{name}, direct", name, direct_form(path))
    yield Form("torch", "torch", torch_form("a @ b"))
    yield Form("torch out=", "torch", torch_form("torch.mm(a, b, out=c)"))


REGISTRY = {"matmul": forms}
