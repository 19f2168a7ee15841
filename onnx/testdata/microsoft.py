"""Writes microsoft.tar.gz, models of operators of the domain com.microsoft and what ONNX Runtime computes of them.

The cases have the layout of nodes.tar.gz, which nodes.py describes. Run: python microsoft.py
"""

import gzip
import io
import os
import tarfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

rng = np.random.default_rng(7)
cases = []


def f(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def u8(*shape):
    return rng.integers(0, 256, shape).astype(np.uint8)


def i8(*shape):
    return rng.integers(-128, 128, shape).astype(np.int8)


def i32(*x):
    return np.array(x, np.int32)


def s(x):
    return np.float32(x)


def case(name, op, inputs, outputs=1, domain="com.microsoft", tolerance=(1e-4, 1e-5), **attributes):
    """A node with inputs, None for one that is not given, and a number of outputs, "" for one that is not used."""
    names = [f"x{i}" if x is not None else "" for i, x in enumerate(inputs)]
    outs = [f"y{i}" for i in range(outputs)] if isinstance(outputs, int) else outputs
    node = helper.make_node(op, names, outs, domain=domain, **attributes)
    given = [(n, np.asarray(x)) for n, x in zip(names, inputs) if x is not None]
    ports = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape) for n, x in given]
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    named = [o for o in outs if o]

    def model(types):
        graph = helper.make_graph([node], name, ports, [helper.make_tensor_value_info(o, t, None) for o, t in zip(named, types)])
        return helper.make_model(graph, opset_imports=imports, ir_version=8)

    for first in (TensorProto.STRING,) if op == "Tokenizer" else (TensorProto.FLOAT, TensorProto.UINT8, TensorProto.INT8):
        types = [first] + [TensorProto.INT32 if op == "EmbedLayerNormalization" and o == "y1" else TensorProto.FLOAT for o in named[1:]]
        m = model(types)
        try:
            session = onnxruntime.InferenceSession(m.SerializeToString(), providers=["CPUExecutionProvider"])
            break
        except Exception as e:
            problem = e
    else:
        raise SystemExit(f"{name}: {problem}")
    results = session.run(None, dict(given))
    files = [("model.onnx", m.SerializeToString(deterministic=True))]
    for what, values in (("in", given), ("out", list(zip(named, results)))):
        for j, (n, x) in enumerate(values):
            files.append((f"0.{what}.{j:02d}.t", numpy_helper.from_array(np.asarray(x), n).SerializeToString(deterministic=True)))
    files.append(("tolerance", f"{tolerance[0]} {tolerance[1]}".encode()))
    cases.append((name, files))


x = f(2, 3, 8)
case("gelu", "Gelu", [x])
case("fastgelu", "FastGelu", [x])
case("fastgelu_bias", "FastGelu", [x, f(8)])
case("quickgelu", "QuickGelu", [x], alpha=1.5)
case("biasgelu", "BiasGelu", [x, f(8)])
case("fusedmatmul", "FusedMatMul", [f(2, 4, 3), f(2, 5, 4)], transA=1, transB=1, alpha=0.5)
case("fusedmatmul_batch", "FusedMatMul", [f(3, 2, 4), f(2, 4, 5)], transBatchA=1)
case("fusedgemm", "FusedGemm", [f(3, 4), f(5, 4), f(5)], transB=1, alpha=0.5, beta=2.0, activation="LeakyRelu", activation_alpha=0.3)
case("fusedgemm_relu", "FusedGemm", [f(3, 4), f(4, 5), f(5)], activation="Relu")
image, filters = f(1, 4, 6, 6), f(4, 2, 3, 3)
case("fusedconv_relu", "FusedConv", [image, filters, f(4)], group=2, pads=[1, 1, 1, 1], activation="Relu")
case("fusedconv_sum", "FusedConv", [image, filters, f(4), f(1, 4, 4, 4)], group=2, activation="Relu")
case("fusedconv_clip", "FusedConv", [image, filters], group=2, activation="Clip", activation_params=[-0.5, 1.0])
case("fusedconv_hardsigmoid", "FusedConv", [image, filters], group=2, activation="HardSigmoid", activation_params=[0.3, 0.4])
case("skiplayernorm", "SkipLayerNormalization", [x, f(2, 3, 8), f(8), f(8), f(8)], ["y0", "", "", "y3"], epsilon=1e-5)
case("skiplayernorm_plain", "SkipLayerNormalization", [x, f(2, 3, 8), f(8)])
case("skipsimplified", "SkipSimplifiedLayerNormalization", [x, f(2, 3, 8), f(8), f(8)], ["y0", "", "", "y3"], epsilon=1e-5)
case("simplified", "SimplifiedLayerNormalization", [x, f(8)], domain="", axis=-1, epsilon=1e-5, stash_type=1)
ids = rng.integers(0, 6, (2, 3)).astype(np.int32)
tables = [f(6, 8), f(5, 8), f(2, 8), f(8), f(8)]
mask = np.array([[1, 1, 0], [1, 0, 0]], np.int32)
case("embedlayernorm", "EmbedLayerNormalization", [ids, ids % 2, *tables, mask], 3, epsilon=1e-5)
case("embedlayernorm_positions", "EmbedLayerNormalization", [ids, None, tables[0], tables[1], None, tables[3], tables[4], None, i32([1, 2, 3], [0, 4, 2])], 2)

w, b = f(8, 24), f(24)
case("attention", "Attention", [x, w, b], num_heads=2)
case("attention_lengths", "Attention", [x, w, b, i32(3, 2)], num_heads=2)
case("attention_mask", "Attention", [x, w, b, mask], num_heads=4)
case("attention_mask3", "Attention", [x, w, b, np.tril(np.ones((2, 3, 3), np.int32))], num_heads=4, scale=0.3)
case("attention_causal", "Attention", [x, w, b, None, f(2, 2, 2, 4, 4)], 2, num_heads=2, unidirectional=1)
case("attention_bias", "Attention", [x, w, b, None, None, f(2, 2, 3, 3)], num_heads=2)
case("attention_sizes", "Attention", [x, f(8, 28), f(28)], num_heads=2, qkv_hidden_sizes=[8, 8, 12])
q, k, v = f(2, 3, 8), f(2, 5, 8), f(2, 5, 8)
case("multihead", "MultiHeadAttention", [q, k, v], num_heads=2)
case("multihead_bias", "MultiHeadAttention", [q, k, v, b, i32([1, 1, 1, 0, 0], [1, 1, 1, 1, 0])], num_heads=2, mask_filter_value=-1000.0)
case("multihead_past", "MultiHeadAttention", [q, f(2, 3, 8), f(2, 3, 8), None, None, f(2, 2, 3, 7), f(2, 2, 4, 4), f(2, 2, 4, 4)], 3, num_heads=2)
case("multihead_causal", "MultiHeadAttention", [q, f(2, 3, 8), f(2, 3, 8)], num_heads=2, unidirectional=1, scale=0.4)
case("multihead_heads", "MultiHeadAttention", [q, f(2, 2, 5, 4), f(2, 2, 5, 4)], num_heads=2)
angles = np.arange(16, dtype=np.float32)[:, None] * np.array([1.0, 0.3, 0.1, 0.03], np.float32)
cos, sin = np.cos(angles), np.sin(angles)
for inter in (0, 1):
    case(f"rotary_{inter}", "RotaryEmbedding", [f(2, 3, 16), np.array([[1, 2, 3], [0, 4, 5]]), cos, sin], interleaved=inter)
case("rotary_offset", "RotaryEmbedding", [f(2, 2, 3, 8), np.array([5]), cos, sin])
case("rotary_partial", "RotaryEmbedding", [f(2, 3, 24), np.array([[1, 2, 3], [0, 4, 5]]), cos, sin], num_heads=2, rotary_embedding_dim=8)
gq, gk, gv = f(2, 3, 64), f(2, 3, 32), f(2, 3, 32)
angles = np.arange(16, dtype=np.float32)[:, None] * np.array([1.0, 0.5, 0.3, 0.2, 0.1, 0.05, 0.03, 0.01], np.float32)
cos, sin = np.cos(angles), np.sin(angles)
heads = dict(num_heads=4, kv_num_heads=2)
empty = np.zeros((2, 2, 0, 16), np.float32)
case("groupquery_first", "GroupQueryAttention", [gq, gk, gv, empty, empty, i32(2, 2), i32(3), cos, sin], 3, do_rotary=1, **heads)
case("groupquery_packed", "GroupQueryAttention", [f(2, 3, 128), None, None, empty, empty, i32(2, 2), i32(3), cos, sin], 3, do_rotary=1, rotary_interleaved=1, **heads)
case("groupquery_plain", "GroupQueryAttention", [gq, gk, gv, None, None, i32(2, 2), i32(3)], 3, softcap=2.0, scale=0.5, **heads)
old = f(2, 2, 4, 16), f(2, 2, 4, 16)
case("groupquery_next", "GroupQueryAttention", [f(2, 1, 64), f(2, 1, 32), f(2, 1, 32), *old, i32(4, 4), i32(5), cos, sin], 3, do_rotary=1, local_window_size=3, **heads)
case("groupquery_ragged", "GroupQueryAttention", [f(2, 1, 64), f(2, 1, 32), f(2, 1, 32), *old, i32(4, 3), i32(5), cos, sin], 3, do_rotary=1, **heads)
case("groupquery_bias", "GroupQueryAttention", [gq, gk, gv, None, None, i32(2, 2), i32(3), None, None, None, f(1, 1, 3, 3)], 3, **heads)
case("groupquery_sink", "GroupQueryAttention", [gq, gk, gv, None, None, i32(2, 2), i32(3), None, None, None, None, f(4)], 3, **heads)
case("groupquery_smooth", "GroupQueryAttention", [gq, gk, gv, None, None, i32(2, 2), i32(3)], 3, smooth_softmax=1, **heads)

a8, w8 = u8(4, 6), u8(6, 5)
case("dynamicquantizematmul", "DynamicQuantizeMatMul", [f(4, 6), w8, f(5) ** 2 + s(0.01), u8(5), f(5)])
case("dynamicquantizematmul_plain", "DynamicQuantizeMatMul", [f(4, 6), i8(6, 5), s(0.02)])
case("matmulintegertofloat", "MatMulIntegerToFloat", [a8, w8, s(0.1), f(5) ** 2, np.uint8(120), u8(5), f(5)])
case("qattention", "QAttention", [u8(2, 3, 8), i8(8, 24), f(24), s(0.02), s(0.01), i32(3, 2), np.uint8(120), np.int8(3)], num_heads=2)
for bits in (4, 8):
    n, kk, block = 5, 40, 16
    blocks = 3
    packed, scales = u8(n, blocks, block * bits // 8), f(n * blocks)
    zeros = u8(n * ((blocks * bits + 7) // 8))
    case(f"matmulnbits_{bits}", "MatMulNBits", [f(2, 3, kk), packed, scales], K=kk, N=n, bits=bits, block_size=block)
    case(f"matmulnbits_{bits}_zeros", "MatMulNBits", [f(3, kk), packed, scales, zeros, None, f(n)], K=kk, N=n, bits=bits, block_size=block)
# Scales whose ratios are not halves: with ties, ONNX Runtime rounds after it added the zero point.
case("qlinearadd", "QLinearAdd", [u8(3, 4), s(0.1), np.uint8(100), u8(4), s(0.05), np.uint8(7), s(0.23), np.uint8(90)])
case("qlinearadd_int8", "QLinearAdd", [i8(3, 4), s(0.1), np.int8(10), i8(3, 4), s(0.05), np.int8(-7), s(0.23), np.int8(3)])
case("qlinearmul", "QLinearMul", [u8(3, 4), s(0.1), np.uint8(100), u8(3, 4), s(0.05), np.uint8(7), s(0.4), np.uint8(90)])
case("qlinearsigmoid", "QLinearSigmoid", [u8(3, 4), s(0.03), np.uint8(100), s(0.004), np.uint8(0)])
case("qlinearleakyrelu", "QLinearLeakyRelu", [i8(3, 4), s(0.03), np.int8(9), s(0.04), np.int8(-20)], alpha=0.2)
case("qlinearglobalaveragepool", "QLinearGlobalAveragePool", [u8(1, 3, 4, 5), s(0.03), np.uint8(9), s(0.04), np.uint8(20)])
pool = dict(kernel_shape=[2, 3], strides=[1, 2], pads=[0, 1, 1, 1])
case("qlinearaveragepool", "QLinearAveragePool", [u8(1, 3, 4, 5), s(0.03), np.uint8(9), s(0.037), np.uint8(20)], **pool)
case("qlinearaveragepool_pad", "QLinearAveragePool", [u8(1, 4, 5, 3), s(0.03), np.uint8(9), s(0.037), np.uint8(20)], channels_last=1, count_include_pad=1, **pool)
case("qlinearconcat", "QLinearConcat", [s(0.1), np.uint8(10), u8(2, 3), s(0.05), np.uint8(5), u8(2, 2), s(0.2), np.uint8(100)], axis=1)
case("qlinearsoftmax", "QLinearSoftmax", [u8(3, 8), s(0.05), np.uint8(9), s(1 / 256), np.uint8(0)], axis=-1, opset=13)
case("quantizelinear", "QuantizeLinear", [f(3, 4), s(0.02), np.uint8(128)])
case("dequantizelinear", "DequantizeLinear", [u8(3, 4), f(3), u8(3)], axis=0)

texts = np.array([["The quick, brown fox", "", "aab abc  a"], ["\u00e9t\u00e9 \u6f22\u5b57", " ,", "x_1 foo(bar)"]], object)
token = dict(mark=0, mincharnum=1, pad_value="#")
case("tokenizer", "Tokenizer", [texts], tokenexp="[a-zA-Z0-9_]+", **token)  # as skl2onnx writes it
case("tokenizer_longest", "Tokenizer", [texts], tokenexp="a|ab|abc|(foo).b", **token)
case("tokenizer_characters", "Tokenizer", [texts], separators=[""], mark=1, mincharnum=1, pad_value="")
case("tokenizer_separators", "Tokenizer", [texts], separators=[" ", "[,(]", "ab"], mark=1, mincharnum=2, pad_value="pad")
case("tokenizer_vector", "Tokenizer", [texts[0]], separators=["a|ab|abc"], **token)
case("tokenizer_both", "Tokenizer", [texts[0]], separators=[" "], tokenexp="[a-z]", **token)
case("tokenizer_none", "Tokenizer", [texts[:, 1]], tokenexp="[a-z]", mark=1, mincharnum=1, pad_value="#")
case("tokenizer_empty", "Tokenizer", [texts[:, :0]], tokenexp="[a-z]", **token)

raw = io.BytesIO()
with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as tar:
    for name, files in cases:
        for file, data in files:
            info = tarfile.TarInfo(f"{name}/{file}")
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "microsoft.tar.gz")
with open(path, "wb") as out, gzip.GzipFile("", "wb", 9, out, 0) as z:
    z.write(raw.getvalue())
print(onnxruntime.__version__, len(cases), "cases,", os.path.getsize(path), "bytes")
