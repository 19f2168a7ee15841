package onnx

// Operators of ONNX Runtime's domain com.microsoft, which its optimizer and exporters write.
var microsoftOperators = []operator{}
