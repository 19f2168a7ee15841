// Package eager is how packages beside weft run operations of their own over its tensors:
// package weft says how, without a word of operations in what it exports.
package eager

import (
	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// What [Apply], [Explain], [Empty], [Write] and [Unfreeze] do. Package weft sets them; the
// type that this package must not name is that of T.
var (
	Run  any // func(d *op.Def, a ir.Attrs, dst []T, args []any) []T
	Show func(d *op.Def, a ir.Attrs, args []any) string
	New  any // func(d array.DType, shape []int) T
	Mark any // func(op string, t T)
	Thaw any // func(t T)
)

// Write says that memory of t is about to be written without an operation: it refuses memory
// that was given back or must not be written, and counts the write, so that a backward pass
// which needs the old elements reports it. op is the name in errors.
func Write[T any](op string, t T) { Mark.(func(string, T))(op, t) }

// Unfreeze makes a leaf again of one that RequireGrad(false) made a tensor like any other.
func Unfreeze[T any](t T) { Thaw.(func(T))(t) }

// Empty returns a new tensor, T is *weft.Tensor, whose elements are undefined until they
// are written: whoever takes one writes all of them.
func Empty[T any](d array.DType, shape []int) T {
	return New.(func(array.DType, []int) T)(d, shape)
}

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
	return Run.(func(*op.Def, ir.Attrs, []T, []any) []T)(d, a, dst, args)
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

// What package sym replays expressions by. Package weft sets them; T is *weft.Tensor.
var (
	// Infer is func(types []ir.Type, f func([]T) []T) []ir.Type: the types of what f gives for
	// tensors of these types without memory.
	Infer any
	// Function is func(name string, line *uintptr, types []ir.Type, f func([]T) []T) *op.Function:
	// what f gives for tensors of these types, as a function that operations run. It panics
	// with *array.Error if f uses tensors of another kind, or draws random numbers.
	Function any
	// Jacobian is func(y T, x []T, create bool) []T: the derivatives of each element of y,
	// all at once.
	Jacobian any
)
