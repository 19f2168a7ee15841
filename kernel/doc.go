// Package kernel compiles Go functions of scalars and runs them over arrays.
//
// A kernel is an ordinary Go function in an ordinary file:
//
//	func Escape(cr, ci float32) int32 { ... }
//
// Its source comes in as text, usually embedded, and is compiled for the processor when it
// first runs:
//
//	//go:embed kernels.go
//	var source string
//	var kernels = kernel.MustParse(source)
//
//	n := kernels.Func("Escape").Map(cr, ci)
//
// The function stays callable as plain Go, which is how it is tested.
package kernel
