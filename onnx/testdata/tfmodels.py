"""Writes tfmodels.tar.gz: models that tf2onnx made of Keras networks and TensorFlow functions, with the results
of TensorFlow itself, in the form of nodes.tar.gz: python tfmodels.py

Made with tensorflow 2.21, keras 3.15, tf2onnx 1.17. The converter turns Keras' recurrent layers into LSTM and GRU
where it can, and into Loop where it cannot.
"""
import io
import os
import tarfile

os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import tensorflow as tf
import tf2onnx
from onnx import numpy_helper as nh

K = tf.keras
L = K.layers
K.utils.set_random_seed(3)
rng = np.random.default_rng(3)
tar = tarfile.open("tfmodels.tar.gz", "w:gz")
f = lambda *s: rng.standard_normal(s).astype(np.float32)


def add(name, data):
    info = tarfile.TarInfo(name)
    info.size = len(data)
    tar.addfile(info, io.BytesIO(data))


def write(name, model, fn, calls):
    add(f"{name}/model.onnx", model.SerializeToString())
    add(f"{name}/tolerance", b"1e-5 1e-5")
    for k, args in enumerate(calls):
        out = fn(*[tf.constant(a) for a in args])
        out = out if isinstance(out, (list, tuple)) else [out]
        for side, values in (("in", args), ("out", [o.numpy() for o in out])):
            for i, a in enumerate(values):
                add(f"{name}/{k}.{side}.{i:02}.t", nh.from_array(np.asarray(a)).SerializeToString())
    print(name, len(model.SerializeToString()), sorted({n.op_type for n in model.graph.node}))


def function(name, fn, spec, *calls, opset=17, **opts):
    fn = tf.function(fn, input_signature=spec)
    model, _ = tf2onnx.convert.from_function(fn, spec, opset=opset, **opts)
    write(name, model, fn, calls)


def network(name, net, shape, *calls, dtype=tf.float32, **opts):
    for layer in net.layers:
        if isinstance(layer, L.BatchNormalization):
            layer.moving_mean.assign(f(*layer.moving_mean.shape) * 0.3)
            layer.moving_variance.assign(np.abs(f(*layer.moving_variance.shape)) + 0.5)
    function(name, lambda x: net(x, training=False), [tf.TensorSpec(shape, dtype)], *[(c,) for c in calls], **opts)


net = K.Sequential([L.Input((16, 16, 3)), L.Conv2D(6, 3, strides=2, padding="same", use_bias=False), L.BatchNormalization(), L.ReLU(6.0),
    L.DepthwiseConv2D(3, padding="same"), L.Conv2D(8, 1, activation="swish"), L.MaxPooling2D(2, padding="same"), L.ZeroPadding2D(1),
    L.SeparableConv2D(8, 3), L.GlobalAveragePooling2D(), L.Dense(5, activation="softmax")])
network("convnet", net, (None, 16, 16, 3), f(2, 16, 16, 3), f(5, 16, 16, 3))
net = K.Sequential([L.Input((12, 10, 2)), L.Conv2D(4, 3, dilation_rate=2, padding="same", activation="elu"), L.AveragePooling2D(3, strides=2, padding="same"),
    L.Conv2DTranspose(3, 3, strides=2, padding="same"), L.UpSampling2D(2, interpolation="bilinear"), L.LayerNormalization(), L.LeakyReLU(), L.Conv2D(1, 1, activation="sigmoid")])
network("decoder", net, (None, 12, 10, 2), f(1, 12, 10, 2), f(3, 12, 10, 2))
net = K.Sequential([L.Input((None, 5)), L.LSTM(8, return_sequences=True), L.LSTM(6), L.Dense(3)])
network("lstm", net, (None, None, 5), f(2, 7, 5), f(3, 4, 5))
net = K.Sequential([L.Input((None, 5)), L.Bidirectional(L.GRU(7, return_sequences=True)), L.SimpleRNN(4), L.Dense(3, activation="tanh")])
network("gru", net, (None, None, 5), f(2, 7, 5), f(1, 9, 5))
net = K.Sequential([L.Input((None, 5)), L.LSTM(6, recurrent_activation="hard_sigmoid", go_backwards=True), L.Dense(2)])
network("lstm_hard", net, (None, None, 5), f(2, 40, 5), f(3, 3, 5))
ids = L.Input((None,), dtype="int32")
x = L.Embedding(30, 16)(ids)
x = L.LayerNormalization()(x + L.MultiHeadAttention(4, 4)(x, x, use_causal_mask=True))
x = L.LayerNormalization()(x + L.Dense(16)(L.Dense(32, activation=lambda x: K.activations.gelu(x, approximate=True))(x)))
net = K.Model(ids, L.Dense(30)(x))
network("transformer", net, (None, None), rng.integers(0, 30, (2, 7)).astype(np.int32), rng.integers(0, 30, (3, 11)).astype(np.int32), dtype=tf.int32)
net = K.Sequential([L.Input((20, 4)), L.Conv1D(6, 5, padding="causal", dilation_rate=2, activation="softplus"), L.MaxPooling1D(3), L.Flatten(), L.Dense(4, activation="selu")])
network("conv1d", net, (None, 20, 4), f(2, 20, 4), f(3, 20, 4))
net = K.Sequential([L.Input((4, 6, 7, 2)), L.Conv3D(3, 3, padding="same", activation="relu"), L.MaxPooling3D(2), L.Flatten(), L.Dense(3)])
network("conv3d", net, (None, 4, 6, 7, 2), f(2, 4, 6, 7, 2), f(1, 4, 6, 7, 2))

spec = lambda *s, d=tf.float32: tf.TensorSpec(s, d)


def newton(x, n):
    y = tf.ones_like(x)
    i = tf.constant(0)
    while i < n and tf.reduce_max(tf.abs(y * y - x)) > 1e-6:
        y = 0.5 * (y + x / y)
        i += 1
    return y, i


function("while", newton, [spec(None), spec(d=tf.int32)], (np.abs(f(5)) + 0.1, np.int32(50)), (np.abs(f(3)) + 0.1, np.int32(2)))


def branches(x):
    if tf.reduce_sum(x) > 0:
        y = tf.nn.top_k(x, 3)[0]
    else:
        y = tf.sort(x, axis=-1)[:, :3]
    return y


function("cond", branches, [spec(None, 6)], (np.abs(f(4, 6)),), (-np.abs(f(2, 6)),))


def moves(x, i):
    y = tf.gather(x, i, axis=1)
    z = tf.tensor_scatter_nd_update(tf.reverse(x, [1]), [[0, 1], [1, 2]], [5.0, 6.0])
    onehot = tf.one_hot(i, 6)
    m = tf.reduce_logsumexp(x[:, 1:-1:2], axis=1, keepdims=True)
    s = tf.math.cumsum(x, axis=1, exclusive=True)
    w = tf.where(x > 0, tf.math.log(tf.nn.relu(x) + 1.5), tf.math.softsign(x))
    return y, z, onehot, m, s, tf.einsum("ab,cb->ac", w, x), tf.tile(tf.pad(x, [[0, 0], [1, 2]], mode="REFLECT"), [1, 2])


function("moves", moves, [spec(None, 6), spec(None, d=tf.int32)], (f(3, 6), np.array([1, 5, 0, 2], np.int32)), (f(2, 6), np.array([3], np.int32)))


def segments(x, i):
    return tf.math.unsorted_segment_sum(x, i, 4), tf.unique(i)[0], tf.boolean_mask(x, x[:, 0] > 0), tf.linalg.band_part(tf.matmul(x, x, transpose_b=True), 1, 0)


function("segments", segments, [spec(None, 3), spec(None, d=tf.int32)], (f(6, 3), np.array([1, 3, 0, 1, 1, 3], np.int32)), (f(2, 3), np.array([2, 2], np.int32)))
tar.close()
