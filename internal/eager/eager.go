// Package eager is how packages beside weft run operations of their own over its tensors:
// package weft says how, without a word of operations in what it exports.
package eager

import (
	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// Run and Show are what [Apply] and [Explain] do, over tensors as any, and New is what
// [Empty] does. Package weft sets them.
var (
	Run  func(d *op.Def, a ir.Attrs, dst, args []any) []any
	Show func(d *op.Def, a ir.Attrs, args []any) string
	New  func(d array.DType, shape []int) any
)

// Empty returns a new tensor whose elements are undefined until they are written: whoever
// takes one writes all of them.
func Empty[T any](d array.DType, shape []int) T { return New(d, shape).(T) }

// Apply computes an operation of args, tensors (T is *weft.Tensor) or Go numbers, and
// returns its results. One plan is made for each d, key of attributes, types, shapes and
// strides; numbers are given at run time. d is mostly of class Composite and of the
// caller's own.
//
// Without dst results are new tensors: gradients are recorded, and whether that is, and
// the scope, is inherited from the arguments, as with every operation. Else result i is
// written into dst[i], which has exactly its shape and element type, any layout, and may
// overlap arguments; then no gradient is recorded, and an argument that needs one is
// refused.
func Apply[T any](d *op.Def, a ir.Attrs, dst []T, args ...any) []T {
	var to []any
	if dst != nil {
		to = make([]any, len(dst))
		for i, t := range dst {
			to[i] = t
		}
	}
	got := Run(d, a, to, args)
	out := make([]T, len(got))
	for i, t := range got {
		out[i] = t.(T)
	}
	return out
}

// Explain returns the plan of [Apply] for these arguments: loop programs and machine code.
func Explain(d *op.Def, a ir.Attrs, args ...any) string { return Show(d, a, args) }

// A Func is a function that formulas call: a value of weft.Vars is one if it has the
// method ExprFunc, without arguments, which returns a *Func as any.
type Func struct {
	Name  string
	Attrs ir.Attrs // whose key says, with their type, what Compose computes
	// Compose returns the one result of arguments, arrays or numbers.
	Compose func(args []*ir.Node) []*ir.Node
}
