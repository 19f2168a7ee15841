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
// A function of tensors, such as a whole step of training, becomes one program:
//
//	step := weft.Compile(func(x, y *weft.Tensor) *weft.Tensor { ... })
//	loss, err := step.Call(x, y)
//
// Wrong shapes, types and ranges panic with a typed [*Error]; [Try] turns
// that into an error.
//
// The results of every operation have the same bits on every backend, instruction
// set and number of threads.
//
// # Compiled functions
//
// [Compile] runs a Go function once on tensors that have types and shapes and no memory, and
// notes what it does: operations, backward passes, writes, draws, updates of optimizers. What
// it noted is simplified by rules that keep every bit, planned and compiled, and calls run
// that. A call gives what the function gives, to the bit.
//
// What changes from call to call is asked for in each call: the elements of arguments and of
// captured tensors, which are read and written where they are; learning rates, the numbers of
// steps of optimizers, schedules; the seed and the number of each random draw. What is the same
// in every call is part of the program: shapes, layouts and types, Go numbers among the
// arguments, everything else that the function knows of Go. Arguments of another kind compile
// another program ([Compiled.Why]).
//
// A function that asks for elements while it is traced, to branch on them, print them or make a
// Go number of them, is refused with the line that does. [Where] and tensors of no axes
// take the place of branches and numbers; the loss is read from the result of the call.
// A tensor that a captured variable of Go has at the first call is the one that stays: a
// variable that is given another tensor later is not looked at again. Gradients pass within a
// function and not through a call.
//
// # Accuracy
//
// Mathematical functions are within 1 unit in the last place for float32 and 2 for
// float64; package weft/internal/vmath lists the worst case of each.
//
// A sum is off by at most h*u/(1-h*u) times the sum of the magnitudes, where u is
// 2^-24 for float32 and 2^-53 for float64, and h counts the additions that an
// element passes through, unless one overflows. Over the last axes, n elements in
// all, h is at most
//
//	69 + log2(n/4096) for float32, 132 + log2(n/4096) for float64
//
// with the logarithm rounded up and at least 0; over axes that others follow it is
// 15 + log2(n/16) for both. A sum over axes of both kinds, or with others between
// them, adds the h of each group of neighbours. One accumulator would have h = n-1.
package weft
