"""Writes nodes.tar.gz, ONNX's own node tests: python nodes.py

The cases are collected from the onnx package (onnx/backend/test/case/node, Apache License 2.0, see NODES.md).
Each case is a folder with model.onnx, and input and output values as serialized messages. Cases that compute
the same operator by its function body, whose names end in _expanded, are kept. Cases above LIMIT bytes are left out:
each differs from a smaller one in its sizes.
"""

import gzip
import io
import os
import tarfile
import warnings

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases

LIMIT = 100_000


def kind(t):
    return t.WhichOneof("value")


def encode(x, t, name):
    """The value as a message, with a letter for its kind: tensor, sequence, optional or map."""
    if kind(t) == "optional_type":
        if x is None:
            return "o", onnx.OptionalProto(name=name, elem_type=onnx.OptionalProto.UNDEFINED)
        return "o", numpy_helper.from_optional(x, name)
    if kind(t) == "sequence_type":
        return "s", numpy_helper.from_list(list(x), name)
    if kind(t) == "map_type":
        return "m", numpy_helper.from_dict(x, name)
    if isinstance(x, onnx.TensorProto):
        y = onnx.TensorProto()
        y.CopyFrom(x)
        y.name = name
        return "t", y
    want = t.tensor_type.elem_type
    a = np.asarray(x)
    if want not in (0, onnx.TensorProto.STRING) and onnx.helper.np_dtype_to_tensor_dtype(a.dtype) != want:
        a = a.astype(onnx.helper.tensor_dtype_to_np_dtype(want))
    return "t", numpy_helper.from_array(a, name)


def main():
    warnings.simplefilter("ignore")
    raw = io.BytesIO()
    large, count = 0, 0
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as tar:

        def add(name, data):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))

        for case in sorted(collect_testcases(None), key=lambda c: c.name):
            files = [("model.onnx", case.model.SerializeToString(deterministic=True))]
            for i, (inputs, outputs) in enumerate(case.data_sets):
                for what, values, ports in (("in", inputs, case.model.graph.input), ("out", outputs, case.model.graph.output)):
                    for j, (x, p) in enumerate(zip(values, ports, strict=True)):
                        letter, message = encode(x, p.type, p.name)
                        files.append((f"{i}.{what}.{j:02d}.{letter}", message.SerializeToString(deterministic=True)))
            size = sum(len(d) for _, d in files)
            if size > LIMIT:
                large += 1
                continue
            tolerance = f"{case.rtol} {case.atol}"
            files.append(("tolerance", tolerance.encode()))
            for name, data in files:
                add(f"{case.name}/{name}", data)
            count += 1
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "nodes.tar.gz")
    with open(path, "wb") as f, gzip.GzipFile("", "wb", 9, f, 0) as z:
        z.write(raw.getvalue())
    print(onnx.__version__, count, "cases,", large, "too large,", os.path.getsize(path), "bytes")


main()
