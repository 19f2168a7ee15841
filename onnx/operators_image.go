package onnx

// Pictures: resizing, sampling at places, regions.
var imageOperators = []operator{}
