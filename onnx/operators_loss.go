package onnx

// Losses.
var lossOperators = []operator{}
