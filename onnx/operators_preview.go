package onnx

// Operators of ai.onnx.preview.
var previewOperators = []operator{}
