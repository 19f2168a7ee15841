package onnx

// Strings.
var textOperators = []operator{}
