package onnx

// Sequences and optionals.
var sequenceOperators = []operator{}
