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


BATCHED = "matmul 64 of 64x64x64"
SHAPES = {
    f"matmul {m}x{k}x{n}": (m, k, n)
    for m, k, n in (
        (64, 784, 500), (784, 60, 500), (60, 500, 10), (8, 4096, 4096), (1, 4096, 4096), (4096, 4096, 1)
    )
}  # fmt: skip


def operands(case, n, dtype):
    m, k, l = SHAPES.get(case, (n, n, n))
    left, right = ((n, 64, 64), (n, 64, 64)) if case == BATCHED else ((m, k), (k, l))
    return (uniform(int(np.prod(s)), seed, -1, 1, dtype).reshape(s) for seed, s in ((1, left), (2, right)))


def numpy_form(case, text):
    def make(n, dtype, threads):
        a, b = operands(case, n, dtype)
        ns = {"np": np, "a": a, "b": b, "c": a @ b}
        return Ready(text, ns, lambda: summary(eval(text, ns)))

    return make


def torch_form(case, text):
    def make(n, dtype, threads):
        import torch

        a, b = (torch.from_numpy(m).clone() for m in operands(case, n, dtype))
        ns = {"torch": torch, "a": a, "b": b, "c": a @ b}
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


def direct_form(case, path):
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
            m, n, l = a.shape[1], b.shape[2], a.shape[2]
            for _ in range(k):
                for i in range(a.shape[0]):
                    gemm(ROW_MAJOR, NO_TRANS, NO_TRANS, m, n, l, one, a[i].ctypes.data, l, b[i].ctypes.data, n, zero, c[i].ctypes.data, n)

        a, b = (m if case == BATCHED else m[None] for m in operands(case, n, dtype))
        c = np.zeros((a.shape[0], a.shape[1], b.shape[2]), dtype)
        repeat(1, a, b, c)
        return Ready("", {}, lambda: summary(c), compiled=lambda k: repeat(k, a, b, c))

    return make


def ort_form(case, bound):
    """ONNX Runtime on a model of one product; bound: its result in the same memory."""

    def make(n, dtype, threads):
        import onnx
        import onnxruntime as ort
        from onnx import TensorProto, helper

        a, b = (np.ascontiguousarray(m) for m in operands(case, n, dtype))
        kind = TensorProto.FLOAT if dtype == "float32" else TensorProto.DOUBLE
        value = lambda name, v: helper.make_tensor_value_info(name, kind, v.shape)
        c = np.zeros_like(a @ b)
        graph = helper.make_graph([helper.make_node("MatMul", ["a", "b"], ["c"])], "product", [value("a", a), value("b", b)], [value("c", c)])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
        options = ort.SessionOptions()
        options.intra_op_num_threads = threads
        session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        if not bound:
            ns = {"run": session.run, "inputs": {"a": a, "b": b}}
            return Ready("run(None, inputs)", ns, lambda: summary(session.run(None, ns["inputs"])[0]))
        binding = session.io_binding()
        binding.bind_cpu_input("a", a)
        binding.bind_cpu_input("b", b)
        binding.bind_output("c", "cpu", 0, c.dtype, c.shape, c.ctypes.data)
        ns = {"run": session.run_with_iobinding, "binding": binding, "kept": (a, b, c)}
        return Ready("run(binding)", ns, lambda: (session.run_with_iobinding(binding), summary(c))[1])

    return make


def forms(case):
    yield Form("numpy", "numpy", numpy_form(case, "a @ b"))
    yield Form("numpy out=", "numpy", numpy_form(case, "np.matmul(a, b, out=c)"))
    if bundled_openblas():
        yield Form("OpenBLAS of numpy, direct", "numpy", direct_form(case, bundled_openblas()))
    for part in filter(None, os.environ.get("WEFT_BENCH_BLAS", "").split(os.pathsep)):
        name, path = part.split("=", 1)
        yield Form(f"{name}, direct", name, direct_form(case, path))
    yield Form("onnxruntime", "onnxruntime", ort_form(case, False))
    yield Form("onnxruntime bound", "onnxruntime", ort_form(case, True))
    yield Form("torch", "torch", torch_form(case, "a @ b"))
    yield Form("torch out=", "torch", torch_form(case, "torch.matmul(a, b, out=c)"))


REGISTRY = dict.fromkeys(["matmul", BATCHED, *SHAPES], forms)
