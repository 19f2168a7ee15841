package onnx

// Operators of ai.onnx.ml: models of scikit-learn.
var mlOperators = []operator{}
