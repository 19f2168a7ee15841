package onnx

// Optimizers as operators, of ai.onnx.preview.training.
var trainingOperators = []operator{}
