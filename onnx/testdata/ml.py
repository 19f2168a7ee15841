"""Makes ml.tar.gz: small models of scikit-learn by skl2onnx, with ONNX Runtime's results, in the form of nodes.tar.gz.

    python ml.py
"""
import gzip
import io
import tarfile
import warnings

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper, TensorProto
from skl2onnx import to_onnx
from skl2onnx.common.data_types import FloatTensorType, StringTensorType
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import (GradientBoostingClassifier, GradientBoostingRegressor, RandomForestClassifier,
                              RandomForestRegressor)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Binarizer, Normalizer, OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC, OneClassSVM

warnings.filterwarnings("ignore")
X, y = load_iris(return_X_y=True)
X = X.astype(np.float32)
mixed = y > 0
names = np.array(["setosa", "versicolor", "virginica"])
D, d = load_diabetes(return_X_y=True)
D, d = (D * 10).astype(np.float32), d.astype(np.float32)
sample, small = X[::9], D[::50]
nan = sample.copy()
nan[::3, 1] = np.nan

cases = {}


def add(name, model, x, **options):
    m = to_onnx(model, x[:1], target_opset={"": 18, "ai.onnx.ml": 3}, **options)
    put(name, m, {m.graph.input[0].name: x})


def put(name, m, feed):
    cases[name] = (m, feed, onnxruntime.InferenceSession(m.SerializeToString()).run(None, feed))


add("forest", RandomForestClassifier(5, max_depth=4, random_state=0).fit(X, y), sample, options={"zipmap": False})
add("forest_zipmap", RandomForestClassifier(3, max_depth=3, random_state=0).fit(X, names[y]), sample[:3])
add("forest_binary", RandomForestClassifier(5, max_depth=3, random_state=0).fit(X[mixed], y[mixed]), sample, options={"zipmap": False})
add("forest_regressor", RandomForestRegressor(5, max_depth=4, random_state=0).fit(D, d), small)
add("boosting", GradientBoostingClassifier(n_estimators=4, random_state=0).fit(X, names[y]), sample, options={"zipmap": False})
add("boosting_binary", GradientBoostingClassifier(n_estimators=4, random_state=0).fit(X[mixed], y[mixed]), sample, options={"zipmap": False})
add("boosting_regressor", GradientBoostingRegressor(n_estimators=5, random_state=0).fit(D, d), small)
add("logistic", LogisticRegression(max_iter=500).fit(X, names[y]), sample, options={"zipmap": False})
add("logistic_binary", LogisticRegression().fit(X[mixed], y[mixed]), sample, options={"zipmap": False})
add("linear", LinearRegression().fit(D, d), small)
add("svc", SVC(probability=True, random_state=0).fit(X, y), sample, options={"zipmap": False})
add("svc_binary", SVC(kernel="poly", probability=True, random_state=0).fit(X[mixed], y[mixed]), sample, options={"zipmap": False})
add("svc_raw", SVC(kernel="sigmoid", gamma=0.01).fit(X, names[y]), sample, options={"zipmap": False})
add("svc_raw_binary", SVC(kernel="linear").fit(X[mixed], y[mixed]), sample, options={"zipmap": False})
add("svc_linear", LinearSVC().fit(X, y), sample)
add("svr", SVR(C=10).fit(D[:60], d[:60]), small)
add("svm_one_class", OneClassSVM(nu=0.5).fit(X), sample)
add("scaled", make_pipeline(SimpleImputer(), StandardScaler(), Normalizer(), LogisticRegression()).fit(X, y), nan, options={"zipmap": False})
add("normal_l1", make_pipeline(Binarizer(threshold=2.0), Normalizer("l1")).fit(X), sample)
colours = np.array(["red", "green", "blue"])[(np.arange(150) * 7) % 3][:, None]
column = colours[::9].copy()
column[3] = "violet"
m = to_onnx(make_pipeline(ColumnTransformer([("s", OneHotEncoder(handle_unknown="ignore"), [0])])).fit(colours),
            initial_types=[("s", StringTensorType([None, 1]))], target_opset={"": 18, "ai.onnx.ml": 3})
put("one_hot", m, {"s": column})


table = np.concatenate([X[:, :2].astype(object), colours.astype(object)], 1)
pipe = make_pipeline(ColumnTransformer([("n", StandardScaler(), [0, 1]), ("s", OneHotEncoder(handle_unknown="ignore"), [2])]),
                     LogisticRegression(max_iter=300)).fit(table, names[y])
m = to_onnx(pipe, initial_types=[("a", FloatTensorType([None, 1])), ("b", FloatTensorType([None, 1])), ("s", StringTensorType([None, 1]))],
            target_opset={"": 18, "ai.onnx.ml": 3}, options={"zipmap": False})
put("pipeline", m, {"a": sample[:, :1].copy(), "b": sample[:, 1:2].copy(), "s": column})


def node(name, op, feed, outs, opset=3, **attrs):
    ins = [helper.make_tensor_value_info(k, TensorProto.STRING if v.dtype.kind in "OU" else helper.np_dtype_to_tensor_dtype(v.dtype), v.shape) for k, v in feed.items()]
    g = helper.make_graph([helper.make_node(op, list(feed), [n for n, _ in outs], domain="ai.onnx.ml", **attrs)], name, ins,
                          [helper.make_tensor_value_info(n, t, None) for n, t in outs])
    m = helper.make_model(g, opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid("ai.onnx.ml", opset)], ir_version=8)
    put(name, m, feed)


F, I, S = TensorProto.FLOAT, TensorProto.INT64, TensorProto.STRING
x = np.array([[1, -2, 0], [0, 0, 0], [-1, -3, -0.5], [3, 4, 5]], np.float32)
for norm in ["MAX", "L1", "L2"]:
    node("normalizer_" + norm.lower(), "Normalizer", {"x": x}, [("y", F)], norm=norm)
for post in ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"]:
    node("linear_" + post.lower(), "LinearClassifier", {"x": x}, [("l", S), ("p", F)], coefficients=[1., 2, 3, -1, 0.5, 0, 2, 0, 0],
         intercepts=[0.5, 0., -1], classlabels_strings=["a", "b", "c"], post_transform=post)
for post in ["NONE", "LOGISTIC"]:
    node("linear_one_" + post.lower(), "LinearClassifier", {"x": x}, [("l", I), ("p", F)], coefficients=[1., 2, 3],
         intercepts=[0.5], classlabels_ints=[7, 9], post_transform=post)
node("imputer_int", "Imputer", {"x": np.array([[1, 2], [0, 0]], np.int64)}, [("y", I)], imputed_value_int64s=[5, 6], replaced_value_int64=0)
node("category_mapper", "CategoryMapper", {"x": np.array(["a", "z", "b"], object)}, [("y", I)], cats_strings=["a", "b"], cats_int64s=[4, 5], default_int64=-3)
node("category_mapper_back", "CategoryMapper", {"x": np.array([[4], [9]], np.int64)}, [("y", S)], cats_strings=["a", "b"], cats_int64s=[4, 5], default_string="?")
node("feature_vectorizer", "FeatureVectorizer", {"x": x, "z": x[:, :1].copy()}, [("y", F)], inputdimensions=[3, 1])
node("one_hot_int", "OneHotEncoder", {"x": np.array([[3], [1], [8]], np.int64)}, [("y", F)], cats_int64s=[1, 2, 3], zeros=1)
node("label_encoder_float", "LabelEncoder", {"x": np.array([np.nan, 1.5, 2], np.float32)}, [("y", S)], opset=4, keys_floats=[float("nan"), 1.5], values_strings=["none", "some"], default_string="?")
node("trees_missing", "TreeEnsembleRegressor", {"x": np.array([[np.nan, 1], [np.nan, np.nan], [0, np.nan], [2, 3]], np.float32)}, [("y", F)], n_targets=2,
     nodes_treeids=[0] * 5, nodes_nodeids=list(range(5)), nodes_featureids=[0, 1, 0, 0, 0], nodes_values=[1., 2, 0, 0, 0],
     nodes_modes=["BRANCH_LT", "BRANCH_GTE", "LEAF", "LEAF", "LEAF"], nodes_truenodeids=[1, 3, 0, 0, 0], nodes_falsenodeids=[2, 4, 0, 0, 0],
     nodes_missing_value_tracks_true=[1, 0, 0, 0, 0], target_treeids=[0] * 6, target_nodeids=[2, 2, 3, 3, 4, 4],
     target_ids=[0, 1, 0, 1, 0, 1], target_weights=[1., 7, 8, 2, 3, 4], base_values=[0.5, -0.5], aggregate_function="MIN")
node("scaler", "Scaler", {"x": x}, [("y", F)], offset=[1., 2, 3], scale=[0.5, 2, -1])


def message(v):
    if isinstance(v, list) and v and isinstance(v[0], dict):
        seq = onnx.SequenceProto(elem_type=onnx.SequenceProto.MAP)
        for row in v:
            mp = seq.map_values.add()
            keys = list(row)
            if isinstance(keys[0], str):
                mp.key_type = TensorProto.STRING
                mp.string_keys.extend(k.encode() for k in keys)
            else:
                mp.key_type = TensorProto.INT64
                mp.keys.extend(keys)
            mp.values.elem_type = onnx.SequenceProto.TENSOR
            mp.values.tensor_values.add().CopyFrom(numpy_helper.from_array(np.array(list(row.values()), np.float32)))
        return "s", seq
    a = np.asarray(v)
    return "t", numpy_helper.from_array(a.astype(object) if a.dtype.kind == "U" else a)


with open("ml.tar.gz", "wb") as f, gzip.GzipFile("", "wb", 9, f, 0) as z, tarfile.open(fileobj=z, mode="w") as tar:
    def write(name, data):
        info = tarfile.TarInfo(name)
        info.size = len(data)
        tar.addfile(info, io.BytesIO(data))
    for name, (m, feed, outs) in cases.items():
        write(f"{name}/model.onnx", m.SerializeToString())
        write(f"{name}/tolerance", b"1e-4 1e-4")
        for kind, values in (("in", [feed[i.name] for i in m.graph.input]), ("out", outs)):
            for i, v in enumerate(values):
                letter, msg = message(v)
                write(f"{name}/0.{kind}.{i:02}.{letter}", msg.SerializeToString())
