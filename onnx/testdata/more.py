"""Makes more.tar.gz: nodes of attributes and versions that ONNX's node tests lack, with ONNX Runtime's results.

    python more.py
"""
import gzip
import io
import tarfile

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

cases = {}
F, I, S, B = TensorProto.FLOAT, TensorProto.INT64, TensorProto.STRING, TensorProto.BOOL
rng = np.random.default_rng(0)
x = rng.standard_normal((2, 3, 4)).astype(np.float32)
text = np.array([["a", "bb", "c"], ["d", "e", "ff"]], object)


def i64(*v):
    return np.array(v, np.int64)


def info(name, v):
    t = S if v.dtype.kind == "O" else helper.np_dtype_to_tensor_dtype(v.dtype)
    return helper.make_tensor_value_info(name, t, v.shape)


def put(name, nodes, feed, outs, opset=18):
    g = helper.make_graph(nodes, name, [info(k, v) for k, v in feed.items()], [helper.make_tensor_value_info(n, t, None) for n, t in outs])
    m = helper.make_model(g, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    cases[name] = (m, feed, onnxruntime.InferenceSession(m.SerializeToString()).run(None, feed))


def node(name, op, feed, outs, opset=18, **attrs):
    put(name, [helper.make_node(op, list(feed), [n for n, _ in outs], **attrs)], feed, outs, opset)


y, ys = [("y", F)], [("y", S)]
# Strings move as numbers do.
node("gather_strings", "Gather", {"x": text, "i": i64(1, -2, 0)}, ys, axis=1)
node("reshape_strings", "Reshape", {"x": text, "s": i64(3, -1)}, ys)
node("transpose_strings", "Transpose", {"x": text}, ys)
node("slice_strings", "Slice", {"x": text, "a": i64(2), "b": i64(-9), "c": i64(1), "d": i64(-1)}, ys)
node("split_strings", "Split", {"x": text, "s": i64(1, 2)}, [("y", S), ("z", S)], axis=1)
node("concat_strings", "Concat", {"x": text, "z": text[:, :1].copy()}, ys, axis=-1)
node("expand_strings", "Expand", {"x": text[:, :1].copy(), "s": i64(2, 2)}, ys)
node("tile_strings", "Tile", {"x": text, "r": i64(1, 2)}, ys)
node("compress_strings", "Compress", {"x": text, "c": np.array([True, False, True])}, ys, axis=1)
node("squeeze_strings", "Squeeze", {"x": text[:1].copy(), "a": i64(0)}, ys)
node("gather_elements_strings", "GatherElements", {"x": text, "i": i64([1, 0, 1])}, ys, axis=0)
node("gather_nd_strings", "GatherND", {"x": text, "i": i64([1, 2], [0, -1])}, ys)
node("cast_strings", "Cast", {"x": np.array(["1.5", "-2e3", "NaN", "-INF", "7"], object)}, y, to=F)
node("cast_strings_int", "Cast", {"x": np.array(["12", "-7"], object)}, [("y", I)], to=I)
node("cast_int_text", "Cast", {"x": i64(3, -4)}, ys, to=S)
node("cast_float_text", "Cast", {"x": np.array([1.5, -0.25, 3, 1e10, np.nan, np.inf], np.float32)}, ys, to=S)
# Attributes that later versions take as inputs.
node("pad_2", "Pad", {"x": x}, y, opset=7, pads=[0, 1, -1, 1, 0, 2], value=1.5)
node("pad_2_reflect", "Pad", {"x": x}, y, opset=7, pads=[0, 1, 2, 1, 0, 1], mode="reflect")
node("pad_reflect_crop", "Pad", {"x": x, "p": i64(0, -1, 2, 0, 0, -1)}, y, mode="edge")
node("pad_bool", "Pad", {"x": x > 0, "p": i64(0, 1, 0, 0, 0, 0), "v": np.array(True)}, [("y", B)])
node("slice_1", "Slice", {"x": x}, y, opset=9, starts=[-2, 1], ends=[100, -1], axes=[1, 2])
node("squeeze_1", "Squeeze", {"x": x[:1].copy()}, y, opset=11)
node("unsqueeze_1", "Unsqueeze", {"x": x}, y, opset=11, axes=[0, -1])
node("split_2", "Split", {"x": x}, [("y", F), ("z", F)], opset=11, axis=2, split=[1, 3])
node("scatter_9", "Scatter", {"x": x, "i": np.zeros((1, 3, 4), np.int64), "u": x[:1] + 1}, y, opset=9)
node("depth_to_space_1", "DepthToSpace", {"x": np.arange(32, dtype=np.float32).reshape(1, 8, 2, 2)}, y, opset=7, blocksize=2)
node("gather_nd_batch", "GatherND", {"x": x, "i": i64([[0, 3], [2, -1]], [[1, 1], [0, 0]])}, y, batch_dims=1)
node("one_hot_float", "OneHot", {"x": np.array([1, -1, 5], np.float32), "d": np.array(3, np.float32), "v": np.array([2, 7], np.float32)}, y, axis=0)
node("scatter_nd_mul_rows", "ScatterND", {"x": x, "i": i64([1, 2], [0, 0], [1, 2]), "u": x[0, :3] + 2}, y, reduction="mul")
node("nonzero_empty", "NonZero", {"x": np.zeros((2, 3), np.float32)}, [("y", I)])
node("tile_empty", "Tile", {"x": x, "r": i64(1, 0, 2)}, y)
node("col2im_uneven", "Col2Im", {"x": rng.standard_normal((2, 12, 12)).astype(np.float32), "s": i64(5, 6), "b": i64(2, 3)}, y,
     strides=[2, 1], dilations=[1, 1], pads=[0, 0, 1, 0])
node("reverse_sequence_rank3", "ReverseSequence", {"x": x, "l": i64(3, 1)}, y, batch_axis=0, time_axis=1)
# Words.
words = np.array([["a", "b", "a", "c", "b"], ["c", "c", "a", "b", "x"]], object)
for mode in ["TF", "IDF", "TFIDF"]:
    node("tfidf_" + mode.lower(), "TfIdfVectorizer", {"x": words}, y, mode=mode, min_gram_length=1, max_gram_length=2, max_skip_count=2,
         ngram_counts=[0, 3], ngram_indexes=[2, 0, 1, 3, 4], pool_strings=["a", "b", "c", "a", "b", "c", "a"], weights=[0.5, 2., 3, 4, 5])
node("normalize_words", "StringNormalizer", {"x": np.array(["Straße", "ÉCOLE", "the", "The"], object)}, ys, stopwords=["the"], case_change_action="LOWER",
     is_case_sensitive=1, locale="C.UTF-8")


def body(name, ins, outs, nodes):
    return helper.make_graph(nodes, name, [helper.make_tensor_value_info(n, t, s) for n, t, s in ins], [helper.make_tensor_value_info(n, t, s) for n, t, s in outs])


# A loop with a state, a value of the graph around it, values that are collected, and many steps.
def loop(name, steps, cond=True):
    g = body("b", [("i", I, []), ("c", B, []), ("s", F, [3])], [("d", B, []), ("t", F, [3]), ("o", F, [3])], [
        helper.make_node("Mul", ["s", "w"], ["t"]),
        helper.make_node("ReduceSum", ["t"], ["r"], keepdims=0),
        helper.make_node("Less", ["r", "limit"], ["d"]),
        helper.make_node("Cast", ["i"], ["f"], to=F),
        helper.make_node("Add", ["t", "f"], ["o"]),
    ])
    put(name, [helper.make_node("Loop", ["n", "c0", "s0"], ["y", "z"], body=g)],
        {"n": np.array(steps, np.int64), "c0": np.array(cond), "s0": np.array([1, 2, 3], np.float32), "w": np.array([1.01, 1.1, 0.9], np.float32),
         "limit": np.array(50, np.float32)}, [("y", F), ("z", F)])


loop("loop_few", 4)
loop("loop_stops", 200)
loop("loop_none", 0)
loop("loop_false", 5, False)
step = [helper.make_node("Add", ["s", "v"], ["t"]), helper.make_node("Mul", ["t", "w"], ["o"])]
for name, n, attrs in [("scan_forward", 5, {}), ("scan_long", 40, {}), ("scan_back", 5, {"scan_input_directions": [1], "scan_output_directions": [1]}),
                       ("scan_axes", 5, {"scan_input_axes": [1], "scan_output_axes": [-1]})]:
    g = body("b", [("s", F, [2]), ("v", F, [2])], [("t", F, [2]), ("o", F, [2])], step)
    v = rng.standard_normal((n, 2)).astype(np.float32)
    put(name, [helper.make_node("Scan", ["s0", "v0"], ["y", "z"], body=g, num_scan_inputs=1, **attrs)],
        {"s0": np.zeros(2, np.float32), "v0": v.T.copy() if "scan_input_axes" in attrs else v, "w": np.array([2, 3], np.float32)}, [("y", F), ("z", F)])
# Sequences.
put("split_concat_sequence", [
    helper.make_node("SplitToSequence", ["x", "n"], ["q"], axis=1),
    helper.make_node("SequenceErase", ["q", "e"], ["q2"]),
    helper.make_node("ConcatFromSequence", ["q2"], ["y"], axis=-2, new_axis=0)], {"x": x, "n": np.array(1, np.int64), "e": np.array(-2, np.int64)}, y)
put("sequence_new_axis", [
    helper.make_node("SequenceConstruct", ["x", "x"], ["q"]),
    helper.make_node("ConcatFromSequence", ["q"], ["y"], axis=-1, new_axis=1)], {"x": x}, y)

with open("more.tar.gz", "wb") as f, gzip.GzipFile("", "wb", 9, f, 0) as z, tarfile.open(fileobj=z, mode="w") as tar:
    def write(name, data):
        entry = tarfile.TarInfo(name)
        entry.size = len(data)
        tar.addfile(entry, io.BytesIO(data))
    for name, (m, feed, outs) in cases.items():
        write(f"{name}/model.onnx", m.SerializeToString())
        write(f"{name}/tolerance", b"1e-5 1e-5")
        for kind, values in (("in", [feed[i.name] for i in m.graph.input]), ("out", outs)):
            for i, v in enumerate(values):
                v = np.asarray(v)
                v = numpy_helper.from_array(v.astype(object) if v.dtype.kind == "U" else v)
                write(f"{name}/0.{kind}.{i:02}.t", v.SerializeToString())
