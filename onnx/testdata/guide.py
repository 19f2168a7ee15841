"""Makes iris.onnx, a pipeline of scikit-learn by skl2onnx, and custom.onnx, whose nodes are of an unknown domain.

    python guide.py
"""
import numpy as np
import onnx
from onnx import TensorProto, helper
from skl2onnx import to_onnx
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

X, y = load_iris(return_X_y=True)
X = X.astype(np.float32)
names = np.array(["setosa", "versicolor", "virginica"])
pipeline = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, names[y])
x = np.array([[5.1, 3.5, 1.4, 0.2], [7, 3.2, 4.7, 1.4]], np.float32)
print(pipeline.predict(x), pipeline.predict_proba(x))
with open("iris.onnx", "wb") as f:
    f.write(to_onnx(pipeline, X[:1]).SerializeToString())

nodes = [helper.make_node("Relu", ["x"], ["a"]),
         helper.make_node("Warp", ["a"], ["b"], name="warp", domain="com.example"),
         helper.make_node("Blend", ["a", "b"], ["y"], name="blend", domain="com.example")]
port = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [2]) for n in "xy"]
graph = helper.make_graph(nodes, "custom", port[:1], port[1:])
opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.example", 1)]
onnx.save(helper.make_model(graph, opset_imports=opsets), "custom.onnx")
