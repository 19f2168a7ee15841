package onnx

// Recurrent layers: RNN, GRU and LSTM.
var recurrentOperators = []operator{}
