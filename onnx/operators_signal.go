package onnx

// Signals: Fourier transforms and windows.
var signalOperators = []operator{}
