package kernel

import (
	"fmt"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
)

// A Paged is what [PageMap] applies to pages: a [PageOp] or a [*Func].
type Paged interface {
	pages(leading bool, args []any) *weft.Tensor
}

// PageOpts are the options of [PageMap], given behind its arguments.
type PageOpts struct {
	// Leading says that pages are the first two axes, as MATLAB has them, and that the axes
	// behind them meet from the first on.
	Leading bool
}

// PageMap applies f to every page of its arguments, a matrix in the last two axes, and
// returns an array of the results. The axes before them number the pages; they broadcast.
// A [*Func] is computed for every element of pages, which broadcast as well, as by
// [Func.Map]. It is MATLAB's pagefun, which has pages in front: see [PageOpts.Leading].
// Pages without elements, and no pages, give results without elements, or of 0 where
// nothing is summed. Gradients are recorded.
func PageMap(f Paged, args ...any) *weft.Tensor {
	var opts PageOpts
	if n := len(args) - 1; n >= 0 {
		switch o := args[n].(type) {
		case PageOpts:
			opts, args = o, args[:n]
		case *PageOpts:
			if o != nil {
				opts = *o
			}
			args = args[:n]
		}
	}
	if f == nil {
		array.Failf("pagemap", "f", "is nil")
	}
	return f.pages(opts.Leading, args)
}

func (f *Func) pages(leading bool, args []any) *weft.Tensor {
	return f.Map(append(args[:len(args):len(args)], MapOpts{Leading: leading})...)
}

// A PageOp is an operation on matrices for [PageMap]. Arguments are tensors of two axes or
// more.
type PageOp uint8

const (
	// MatMul is the product of two pages, MATLAB's mtimes.
	MatMul PageOp = iota
	// Transpose swaps rows and columns.
	Transpose
	// CTranspose is Transpose of the complex conjugate.
	CTranspose
	// FlipLR has the columns in reverse order.
	FlipLR
	// FlipUD has the rows in reverse order.
	FlipUD
	// Rot90 turns a page by 90 degrees against the clock.
	Rot90
	// Inv is the inverse of square pages.
	Inv
	// LeftDivide is x with A*x = B for arguments A and B: MATLAB's mldivide, A\B.
	LeftDivide
	// RightDivide is x with x*A = B for arguments B and A: MATLAB's mrdivide, B/A.
	RightDivide
)

// The solutions of Inv, LeftDivide and RightDivide are by elimination with pivots from the
// column, in the floats that the arguments meet in, float32 for integers; a singular page
// gives results that are not finite.
//
// LeftDivide and RightDivide of pages that are not square minimise the sum of squares of A*x-B, by
// QR with column pivoting in float64. If A has fewer independent columns than unknowns, the
// unknowns of the others are 0.

var pageOps = [...]struct {
	name  string
	arity int
	f     func(x []*weft.Tensor) *weft.Tensor
}{
	MatMul:     {"matmul", 2, func(x []*weft.Tensor) *weft.Tensor { return x[0].MatMul(x[1]) }},
	Transpose:  {"transpose", 1, func(x []*weft.Tensor) *weft.Tensor { return x[0].Transpose(-1, -2) }},
	CTranspose: {"ctranspose", 1, func(x []*weft.Tensor) *weft.Tensor { return adjoint(x[0]) }},
	FlipLR:     {"fliplr", 1, func(x []*weft.Tensor) *weft.Tensor { return x[0].Flip(-1) }},
	FlipUD:     {"flipud", 1, func(x []*weft.Tensor) *weft.Tensor { return x[0].Flip(-2) }},
	Rot90:      {"rot90", 1, func(x []*weft.Tensor) *weft.Tensor { return x[0].Transpose(-1, -2).Flip(-2) }},
	Inv: {"inv", 1, func(x []*weft.Tensor) *weft.Tensor {
		return solve("inv", x[0], x[0].Device().EyeOf(x[0].DType(), x[0].Dim(-2)))
	}},
	LeftDivide: {"leftdivide", 2, func(x []*weft.Tensor) *weft.Tensor { return solve("leftdivide", x[0], x[1]) }},
	RightDivide: {"rightdivide", 2, func(x []*weft.Tensor) *weft.Tensor {
		return solve("rightdivide", x[1].Transpose(-1, -2), x[0].Transpose(-1, -2)).Transpose(-1, -2)
	}},
}

// String returns the name in lower case.
func (o PageOp) String() string {
	if int(o) < len(pageOps) {
		return pageOps[o].name
	}
	return fmt.Sprintf("PageOp(%d)", uint8(o))
}

func (o PageOp) pages(leading bool, args []any) *weft.Tensor {
	if int(o) >= len(pageOps) {
		array.Failf("pagemap", "f", "is %s", o)
	}
	p := pageOps[o]
	if len(args) != p.arity {
		array.Failf(p.name, "", "takes %s, got %d", array.Count(p.arity, "argument"), len(args))
	}
	xs := make([]*weft.Tensor, len(args))
	rank := 0
	for i, a := range args {
		t, ok := a.(*weft.Tensor)
		if !ok || t == nil {
			array.Failf(p.name, "", "argument %d is a %T, want a tensor", i, a)
		}
		if t.Rank() < 2 {
			array.Failf(p.name, "", "argument %d is of shape %v: a page has two axes", i, t.Shape())
		}
		xs[i], rank = t, max(rank, t.Rank())
	}
	if !leading {
		return p.f(xs)
	}
	for i, t := range xs {
		xs[i] = turned(t.Reshape(padded((*core.Tensor)(t).Sizes(), rank)...), 2)
	}
	return turned(p.f(xs), rank-2)
}

// turned has the first n axes of t behind the others.
func turned(t *weft.Tensor, n int) *weft.Tensor {
	order := make([]int, t.Rank())
	for k := range order {
		order[k] = (k + n) % len(order)
	}
	return t.Permute(order...)
}

func adjoint(t *weft.Tensor) *weft.Tensor {
	if t.DType().Complex() {
		t = t.Conj()
	}
	return t.Transpose(-1, -2)
}
