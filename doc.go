// Package weft is an array library with automatic differentiation whose
// operations run as machine code made at run time, in plain Go without cgo.
//
// A [Tensor] is an n-dimensional array. Operations are methods and chain:
//
//	y := x.T().MatMul(x).Add(1).Sqrt()
//
// Wrong shapes, types and ranges panic with a typed [*Error]; [Try] turns that
// into an error. [Tensor.RequireGrad] and [Tensor.Backward] give gradients;
// packages weft/nn, weft/optim and weft/data build training on them.
//
// The results of every operation have the same bits on every backend, instruction
// set and number of threads.
package weft
