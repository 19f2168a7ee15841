// Package weft is an array library with automatic differentiation whose
// operations run as machine code made at run time, in plain Go without cgo.
//
// A [Tensor] is an n-dimensional array. Operations are methods and chain:
//
//	y := x.T().MatMul(x).Add(1).Sqrt()
//
// A formula is compiled as one kernel by [Expr]:
//
//	z := weft.Expr("exp(-x*x) * sin(x)", weft.Vars{"x": x})
//
// Gradients are recorded for leaves marked with [Tensor.RequireGrad]:
//
//	w := weft.Randn(3).RequireGrad()
//	x.MatMul(w).Square().Mean().Backward()
//	w.NoGrad().SubAssign(w.Grad().Mul(0.1))
//
// Packages weft/nn, weft/optim and weft/data build training on them, weft/npy,
// weft/safetensors and weft/checkpoint keep tensors in files.
//
// Wrong shapes, types and ranges panic with a typed [*Error]; [Try] turns
// that into an error.
//
// The results of every operation have the same bits on every backend, instruction
// set and number of threads.
package weft
