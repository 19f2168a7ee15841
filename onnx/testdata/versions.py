"""Writes versions.tar.gz: elementwise operators, reductions and losses in their versions from operator set 7 on, with
attributes, element types and shapes that ONNX's node tests lack, and what ONNX Runtime computes of them.

The cases have the layout of nodes.tar.gz, which nodes.py describes. Run: python versions.py
"""

import gzip
import io
import itertools
import os
import tarfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

rng = np.random.default_rng(3)
wanted = []
KEEP = 8  # of the combinations for an operator in a version


def f(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def n(*shape, lo=-9, hi=9, t=np.int64):
    return rng.integers(lo, hi, shape).astype(t)


def s(x, t=np.float32):
    return np.array(x, t)


def want(op, version, inputs, outputs=1, **attributes):
    wanted.append((op, version, [None if x is None else np.asarray(x) for x in inputs], outputs, attributes))


def reductions():
    names = "L1 L2 LogSum LogSumExp Max Mean Min Prod Sum SumSquare".split()
    for op, version in itertools.product(["Reduce" + x for x in names], (7, 11, 12, 13, 18, 20)):
        inputs = version >= 18 or version >= 13 and op == "ReduceSum"
        shapes = [(2, 3, 4), (5,), (), (2, 0, 3)]
        for shape, axes, keep, noop in itertools.product(shapes, (None, [0], [-1], [0, -1], []), (0, 1), (0, 1)):
            if noop > inputs or axes and len(axes) > len(shape) or 0 in shape and op == "ReduceMean":
                continue
            x, attributes = np.abs(f(*shape)) + s(0.1), {"keepdims": keep}
            if noop:
                attributes["noop_with_empty_axes"] = 1
            if inputs:
                want(op, version, [x] if axes is None else [x, np.array(axes, np.int64)], **attributes)
            elif axes != []:
                want(op, version, [x], **attributes, **({} if axes is None else {"axes": axes}))


def orders():
    for op, version, t, axis, keep, last in itertools.product(
        ("ArgMax", "ArgMin"), (7, 11, 12, 13), (np.float32, np.int32, np.int8), (0, 1, -1), (0, 1), (0, 1)
    ):
        if axis >= 0 or version >= 11:
            more = {"select_last_index": last} if version >= 12 else {}
            want(op, version, [n(3, 5, 4, lo=0, hi=3, t=t)], axis=axis, keepdims=keep, **more)
    for version, t, exclusive, reverse, axis in itertools.product((11, 14), (np.float32, np.int32), (0, 1), (0, 1), (0, -1)):
        want("CumSum", version, [n(3, 4, t=t), s(axis, np.int32)], exclusive=exclusive, reverse=reverse)
    want("TopK", 7, [f(3, 6)], 2, k=2, axis=0)
    want("TopK", 10, [n(3, 6, lo=0, hi=4).astype(np.float32), s([4], np.int64)], 2)
    for largest, axis in itertools.product((0, 1), (0, 1, -1)):
        want("TopK", 11, [n(3, 6, lo=0, hi=4), s([3], np.int64)], 2, largest=largest, axis=axis)
    for t, ordered, axis in itertools.product((np.float32, np.int64, object), (0, 1), (None, 0, -1)):
        x = n(4, 3, lo=0, hi=2)
        x = x.astype(str).astype(object) if t is object else x.astype(t)
        want("Unique", 11, [x], 4, sorted=ordered, **({} if axis is None else {"axis": axis}))


def elementwise():
    for x in (f(3, 4), s(7), f(0)):
        want("Clip", 7, [x], min=-0.5)
        for version in (11, 13):
            want("Clip", version, [x, None, s(0.5)])
    for t in (np.int8, np.int16, np.int32, np.int64, np.uint8, np.float16, np.float32, np.float64):
        x, y = n(40, lo=1, hi=40, t=t), n(40, lo=1, hi=7, t=t)
        if t != np.uint8:
            x, y = (v * np.where(rng.random(40) < 0.5, -1, 1).astype(t) for v in (x, y))
        want("Mod", 13, [x, y], fmod=1)
        want("Div", 14, [x, y])
        if t not in (np.float16, np.float32, np.float64):
            want("Mod", 10, [x, y])
    want("Mod", 13, [s([-0.0, 5, 5, -5, np.inf, 1e10, -7.3]), s([3, np.inf, -np.inf, np.inf, 2, 0.3, -2.1])], fmod=1)
    for op, version in itertools.product(("Max", "Min", "Sum", "Mean"), (8, 13)):
        want(op, version, [f(3, 1), f(1, 4), f(2, 1, 1)])
    want("Max", 13, [s([np.nan, 1, 2]), s([1, np.nan, 3])])
    for x in (f(2, 3, 4, 4), f(0, 2, 2), np.zeros((3, 3), np.float32), s([[0, 1], [1, 0]]), np.ones((2, 4, 4), np.float32)):
        want("Det", 11, [x])
    for equation, shapes in (("ij->", [(3, 4)]), ("ij,kj", [(3, 4), (5, 4)]), (",ij->ij", [(), (2, 3)]), ("i,j,k->ijk", [(2,), (3,), (4,)])):
        want("Einsum", 12, [f(*x) for x in shapes], equation=equation)
    for low, high in itertools.product((0, 1), (0, 1)):
        want("IsInf", 10, [s([1, np.inf, -np.inf, np.nan, 0])], detect_negative=low, detect_positive=high)
    for t, direction in itertools.product((np.uint8, np.uint64), ("LEFT", "RIGHT")):
        want("BitShift", 11, [n(4, 3, lo=0, hi=200, t=t), n(3, lo=0, hi=7, t=t)], direction=direction)
    want("Where", 16, [s([[True], [False]], bool), s(["a", "b", "c"], object), s("z", object)])
    for a, b in ((np.float32, np.int64), (np.int32, np.float32), (np.int64, np.int64), (np.float64, np.float32)):
        want("Pow", 15, [n(6, lo=1, hi=5, t=a), n(6, lo=0, hi=3, t=b)])
    for a, b in (((3, 4), (4,)), ((4,), (4,)), ((2, 1, 3, 4), (5, 4, 2)), ((0, 4), (4, 2)), ((3, 0), (0, 2))):
        want("MatMul", 13, [f(*a), f(*b)])


def losses():
    for op, version, shape, t, weighted, reduction, ignored in itertools.product(
        ("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"), (12, 13), ((5, 4), (2, 4, 3, 2)), (np.int32, np.int64),
        (False, True), ("mean", "sum", "none"), (None, 2, -1),
    ):
        target = n(shape[0], *shape[2:], lo=0, hi=4, t=t)
        attributes = {"reduction": reduction}
        if ignored is not None:
            target.flat[0] = attributes["ignore_index"] = ignored
        outputs = 2 if op[0] == "S" and reduction != "sum" else 1
        want(op, version, [f(*shape), target] + ([np.abs(f(4))] if weighted else []), outputs, **attributes)


def result(op, version, inputs, outputs, attributes):
    """The model, named inputs and named outputs of a case."""
    given = [(f"x{i}", x) for i, x in enumerate(inputs) if x is not None]
    names = [f"x{i}" if x is not None else "" for i, x in enumerate(inputs)]
    results = [f"y{i}" for i in range(outputs)]
    node = helper.make_node(op, names, results, **attributes)

    def info(pairs):
        kind = lambda x: TensorProto.STRING if x.dtype == object else helper.np_dtype_to_tensor_dtype(x.dtype)
        return [helper.make_tensor_value_info(k, kind(x), x.shape) for k, x in pairs]

    def model(ports):
        graph = helper.make_graph([node], "g", info(given), ports)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)], ir_version=7).SerializeToString()

    m = model([onnx.ValueInfoProto(name=r) for r in results])
    session = onnxruntime.InferenceSession(m, providers=["CPUExecutionProvider"])
    out = [(k, np.asarray(y)) for k, y in zip(results, session.run(None, dict(given)))]
    return model(info(out)), given, out


def main():
    for make in (reductions, orders, elementwise, losses):
        make()
    raw = io.BytesIO()
    count = 0
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as tar:

        def add(name, data):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))

        for (op, version), group in itertools.groupby(sorted(wanted, key=lambda w: w[:2]), key=lambda w: w[:2]):
            group = [w for _, w in sorted(enumerate(group), key=lambda w: (w[0] * 7919 + 13) % 101)]
            keep = len(group) if op in ("Mod", "Unique", "Div") else min(KEEP, len(group))
            for i in range(keep):
                model, given, out = result(*group[i])
                name = f"{op}_{version}_{i}"
                add(f"{name}/model.onnx", model)
                for what, list_ in (("in", given), ("out", out)):
                    for j, (k, x) in enumerate(list_):
                        add(f"{name}/0.{what}.{j:02d}.t", numpy_helper.from_array(x, k).SerializeToString(deterministic=True))
                add(f"{name}/tolerance", b"1e-4 1e-5")
                count += 1
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "versions.tar.gz")
    with open(path, "wb") as file, gzip.GzipFile("", "wb", 9, file, 0) as z:
        z.write(raw.getvalue())
    print(onnxruntime.__version__, count, "cases,", os.path.getsize(path), "bytes")


main()
