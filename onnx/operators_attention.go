package onnx

// Attention and what goes with it.
var attentionOperators = []operator{}
