package onnx

// Quantised forms: integers that stand for scaled floats.
var quantizeOperators = []operator{}
