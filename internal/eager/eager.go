// Package eager is how packages beside weft run operations of their own over its tensors:
// package weft says how, without a word of operations in what it exports.
package eager

import (
	"hash/fnv"
	"iter"
	"math"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// What [Apply], [Explain], [Empty], [Write], [Open] and [Unfreeze] do. Package weft sets them; the
// type that this package must not name is that of T.
var (
	Run   any // func(d *op.Def, a ir.Attrs, dst []T, args []any) []T
	Show  func(d *op.Def, a ir.Attrs, args []any) string
	New   any // func(d array.DType, shape []int) T
	Mark  any // func(op string, t T)
	Begin any // func(lo, hi int, ts []T) func()
	Plain any // func(T) bool
	Thaw  any // func(t T)
	Sizes any // func(t T) []int
	Take  any // func(t T) array.View
	Keep  any // func(t T) (array.View, func())
	Alone any // func(op string, t T, f func())
	Wrap  any // func(v array.View) T
	Copy  any // func(t T) T
	Is    any // func(t, u T) bool
	Mine  any // func(t T) T
	Fuse  any // func(name string, compose func([]*ir.Node) []*ir.Node) Fused[T]
	Needs any // func(t T) bool
)

// Exclusively calls f, which writes into t, while no compiled function reads or writes the memory.
// It panics with *array.Error inside a call of one that does.
func Exclusively[T any](op string, t T, f func()) { Alone.(func(string, T, func()))(op, t, f) }

// View returns the strided window on the host that t is. It refuses memory that was given back.
func View[T any](t T) array.View { return Take.(func(T) array.View)(t) }

// Shape returns the sizes of t's axes without a copy: the caller must not write to the slice, nor
// append to a part of it.
func Shape[T any](t T) []int { return Sizes.(func(T) []int)(t) }

// Places returns x, integers of any type, as operations take places: int32 and int64 as they are,
// others as int64. A uint64 that an int64 does not hold becomes the greatest one, which is out of
// range of every axis.
func Places[T interface {
	DType() array.DType
	Minimum(any) T
	To(array.DType) T
}](x T) T {
	switch x.DType() {
	case array.Int32, array.Int64:
		return x
	case array.Uint64:
		x = x.Minimum(uint64(math.MaxInt64))
	}
	return x.To(array.Int64)
}

// Lend returns the strided window that t is, whose memory cannot be given back before done is
// called: for what hands it to others' code.
func Lend[T any](t T) (v array.View, done func()) {
	return Keep.(func(T) (array.View, func()))(t)
}

// FromView makes a tensor of a strided window.
func FromView[T any](v array.View) T { return Wrap.(func(array.View) T)(v) }

// Same reports that t and u are the same window on the same memory, which it does not read.
func Same[T any](t, u T) bool { return Is.(func(t, u T) bool)(t, u) }

// Own says that nobody else has the memory of t, a view of what the caller computed: its Release
// gives the memory back. It returns t.
func Own[T any](t T) T { return Mine.(func(T) T)(t) }

// CopyLeaf returns a copy of t outside any scope that is marked as t is: a leaf, with a
// gradient kept as rows, frozen; it has no gradient.
func CopyLeaf[T any](t T) T { return Copy.(func(T) T)(t) }

// A Fused is a formula with several results that are computed together and written into
// tensors that exist, such as the update of a parameter and its momentum.
type Fused[T any] interface {
	// Into computes the formula of args, tensors or Go numbers, and writes result i, which must
	// have that shape and element type, into dst[i]. Every result is computed from the arguments
	// as they were before. Numbers are given at run time: another value needs no other plan. No
	// gradient is recorded; a leaf that needs one is written through its Detach.
	Into(dst []T, args ...any)
	// IntoAll is Into for each dst and args that calls yields, in order; both slices may be used
	// again for the next. All tensors are checked before anything is written. What has nothing
	// to do with one another and needs no copies runs at once: many small formulas together are
	// worth waking threads for.
	IntoAll(calls iter.Seq2[[]T, []any])
	// IntoRows is Into for some rows of the tensors in dst, at places, ascending and each once.
	IntoRows(places T, dst []T, args ...any)
	// InPlace reports whether Into, with the same operands, is one kernel that writes the results
	// where they belong, without a copy.
	InPlace(dst []T, args ...any) bool
}

// NewFused returns the formula that compose builds from nodes of its arguments.
func NewFused[T any](name string, compose func(args []*ir.Node) []*ir.Node) Fused[T] {
	return Fuse.(func(string, func([]*ir.Node) []*ir.Node) Fused[T])(name, compose)
}

// A Composite is a formula with one or more results that are computed together by one plan and
// recorded for gradients, such as a normalisation with its mean and variance.
type Composite[T any] struct{ def *op.Def }

// NewComposite returns the formula that compose builds from nodes of its arguments. gradient,
// which may be nil, sets the gradients of the arguments; without it the parts are
// differentiated and what they need is computed again.
func NewComposite[T any](name string, compose func(args []*ir.Node) []*ir.Node, gradient func(v *op.VJP)) Composite[T] {
	h := fnv.New64a()
	h.Write([]byte("composite " + name))
	return Composite[T]{&op.Def{Name: name, Hash: h.Sum64(), Class: op.Composite, Arity: -1, VJP: gradient,
		ComposeAll: func(args []*ir.Node, _ ir.Attrs) []*ir.Node { return compose(args) }}}
}

// Apply computes the formula of args, tensors or Go numbers, and returns its results. Numbers
// are given at run time: another value needs no other plan.
func (c Composite[T]) Apply(args ...any) []T { return Apply[T](c.def, nil, nil, args...) }

// Write says that memory of t is about to be written without an operation: it refuses memory
// that was given back or must not be written, and counts the write, so that a backward pass
// which needs the old elements reports it. op is the name in errors.
func Write[T any](op string, t T) { Mark.(func(string, T))(op, t) }

// WritePlainly is [Write] of memory that is written with nothing more to do: it is false, and
// nothing is counted, where that would be refused, or where memory is tracked or somebody may
// wait to read it, so that [Open] is needed. t is contiguous.
func WritePlainly[T any](t T) bool { return Plain.(func(T) bool)(t) }

// Open says that rows lo to before hi of each of ts, which are contiguous, are written without
// an operation until done is called: what waits to read their memory is computed first, and
// tracked memory knows which bytes change. Nothing else may be written meanwhile.
func Open[T any](lo, hi int, ts ...T) (done func()) {
	return Begin.(func(int, int, []T) func())(lo, hi, ts)
}

// Recorded reports that operations on t are recorded: it needs a gradient, and the caller is not
// inside weft.WithoutGrad.
func Recorded[T any](t T) bool { return Needs.(func(T) bool)(t) }

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
// the scope, is as with every operation. Else result i is
// written into dst[i], which has exactly its shape and element type, any layout, and may
// overlap arguments; then no gradient is recorded, and an argument that needs one is
// refused.
func Apply[T any](d *op.Def, a ir.Attrs, dst []T, args ...any) []T {
	return Run.(func(*op.Def, ir.Attrs, []T, []any) []T)(d, a, dst, args)
}

// Explain returns the plan of [Apply] for these arguments: loop programs and machine code.
func Explain(d *op.Def, a ir.Attrs, args ...any) string { return Show(d, a, args) }
