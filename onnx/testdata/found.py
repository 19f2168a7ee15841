"""Makes found.tar.gz: nodes and graphs that random models found other results for than ONNX Runtime's, with its results.

    python found.py
"""
import gzip
import io
import tarfile

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

cases = {}
F, I, B = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
rng = np.random.default_rng(5)


def f(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def info(name, v):
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape)


def put(name, nodes, feed, outs, opset=19, inits=(), ir=9):
    """A case whose inits are initializers, and inputs too where feed has them."""
    ports = [helper.make_tensor_value_info(n, t, None) for n, t in outs]
    inits = [numpy_helper.from_array(v, k) for k, v in inits]
    g = helper.make_graph(nodes, name, [info(k, v) for k, v in feed.items()], ports, inits)
    m = helper.make_model(g, opset_imports=[helper.make_opsetid("", opset)], ir_version=ir)
    cases[name] = (m, feed, onnxruntime.InferenceSession(m.SerializeToString()).run(None, feed))


def node(name, op, feed, out=F, opset=19, **attrs):
    put(name, [helper.make_node(op, [k if v is not None else "" for k, v in feed.items()], ["y"], **attrs)],
        {k: v for k, v in feed.items() if v is not None}, [("y", out)], opset)


# Which element is the nearest one depends on the rounding of float32.
for scale, size in ((1.3, 6), (0.7, 7), (0.6, 5), (2.5, 3)):
    for mode in ("half_pixel", "pytorch_half_pixel", "asymmetric"):
        for nearest in ("round_prefer_floor", "floor"):
            node(f"nearest_{mode}_{scale}_{nearest}", "Resize", {"x": f(1, size, 9), "roi": None, "s": np.array([1, scale, scale], np.float32)},
                 mode="nearest", coordinate_transformation_mode=mode, nearest_mode=nearest)
# The sizes that scales give are whole.
for mode in ("nearest", "linear", "cubic"):
    node(f"corners_{mode}", "Resize", {"x": f(1, 2, 5, 7), "roi": None, "s": np.array([1, 1, 1.5, 0.6], np.float32)}, mode=mode,
         coordinate_transformation_mode="align_corners")
node("crop_scales", "Resize", {"x": f(1, 1, 4, 5), "r": np.array([0, 0, .2, .1, 1, 1, .8, 1.2], np.float32), "s": np.array([1, 1, .7, 1.3], np.float32)},
     mode="linear", coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=2.)
node("pytorch_one", "Resize", {"x": f(1, 1, 4, 5), "roi": None, "s": None, "n": np.array([1, 1, 1, 3], np.int64)}, mode="cubic",
     coordinate_transformation_mode="pytorch_half_pixel")
# Means of integers round towards 0.
for t in (np.int32, np.int64):
    node(f"mean_{t.__name__}", "ReduceMean", {"x": rng.integers(-9, 9, (4, 5)).astype(t), "a": np.array([1], np.int64)}, helper.np_dtype_to_tensor_dtype(np.dtype(t)))

with open("found.tar.gz", "wb") as file, gzip.GzipFile("", "wb", 9, file, 0) as z, tarfile.open(fileobj=z, mode="w") as tar:
    def write(name, data):
        entry = tarfile.TarInfo(name)
        entry.size = len(data)
        tar.addfile(entry, io.BytesIO(data))
    for name, (m, feed, outs) in cases.items():
        write(f"{name}/model.onnx", m.SerializeToString())
        write(f"{name}/tolerance", b"1e-5 1e-5")
        given = [feed[i.name] for i in m.graph.input if i.name in feed]
        for kind, values in (("in", given), ("out", outs)):
            for i, v in enumerate(values):
                write(f"{name}/0.{kind}.{i:02}.t", numpy_helper.from_array(np.asarray(v)).SerializeToString())
