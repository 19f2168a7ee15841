package nn

import (
	"fmt"
	"math"

	"weft"
	"weft/internal/array"
)

// EmbeddingOpts are the options of [NewEmbedding].
type EmbeddingOpts struct {
	// PaddingIdx is a number whose row begins as zeros and gets no gradient, such as
	// new(0); nil for none.
	PaddingIdx *int
	// Sparse keeps the gradient as the rows that were used, so that a step costs what
	// those cost; see [weft.Tensor.SparseGrad] for what optimizers make of it.
	Sparse bool
	// MaxNorm is the greatest norm of a row, above 0: Forward scales longer rows that it uses, in
	// place and without a gradient. nil for none. It costs a pass over the table.
	MaxNorm   *float64
	NormType  *float64        // the order of that norm, above 0; nil means 2
	Weight    Init            // draws the rows; nil is a normal distribution of mean 0 and deviation 1
	Generator *weft.Generator // what they are drawn from; nil is the default generator
}

// Embedding is a table of rows. Forward returns the rows at the given indices.
type Embedding struct {
	Weight     *weft.Tensor // [rows, width]
	PaddingIdx *int         // whose row gets no gradient, nil for none
	Sparse     bool         // the gradient is kept as the rows that were used
	MaxNorm    *float64     // the greatest norm of a row that is used, nil for none
	NormType   *float64     // the order of that norm; nil means 2
}

// NewEmbedding returns a table of float32. A layer over an existing table is
// &Embedding{Weight: table}. It panics with *weft.Error if PaddingIdx is
// not the number of a row.
func NewEmbedding(rows, width int, opts ...EmbeddingOpts) *Embedding {
	defer array.Named("embedding").End()
	o := array.Options("embedding", opts)
	if o.Weight == nil {
		o.Weight = Normal(0, 1)
	}
	e := &Embedding{Weight: o.Weight(o.Generator, rows, width), PaddingIdx: o.PaddingIdx, Sparse: o.Sparse, MaxNorm: o.MaxNorm, NormType: o.NormType}
	e.check()
	if e.PaddingIdx != nil {
		e.Weight = e.Weight.Clone()
		e.Weight.Slice(weft.Index(*e.PaddingIdx)).Zero()
	}
	Param(e.Weight)
	return e
}

func (e *Embedding) check() {
	if e == nil || e.Weight == nil {
		array.Failf("embedding", "Weight", "is nil: NewEmbedding makes a layer with rows")
	}
	if e.Weight.Rank() != 2 {
		array.Failf("embedding", "Weight", "has shape %s, want [rows width]", array.ShapeString(e.Weight.Shape()))
	}
	if p := e.PaddingIdx; p != nil && (*p < 0 || *p >= e.Weight.Dim(0)) {
		array.Failf("embedding", "PaddingIdx", "is %d, want 0 to %d", *p, e.Weight.Dim(0)-1)
	}
	checkMaxNorm("embedding", e.MaxNorm, e.NormType)
}

// Forward maps numbers of rows, integers of any type and shape, to those rows, [..., width].
// It panics with *weft.Error if one is not the number of a row.
func (e *Embedding) Forward(x *weft.Tensor) *weft.Tensor { return Call(e, x, (*Embedding).forward) }

func (e *Embedding) forward(x *weft.Tensor) *weft.Tensor {
	defer array.Named("embedding").End()
	e.check()
	if x == nil {
		array.Failf("embedding", "x", "is nil")
	}
	if d := x.DType(); !d.Integer() {
		array.Failf("embedding", "x", "has elements of type %s, want integers: numbers of rows", d)
	}
	x = asIndices(x)
	x = checkRange(x, "embedding", "x", 0, math.MaxInt64, fmt.Sprintf("has %%d, want 0 to %d", e.Weight.Dim(0)-1)) // IndexSelect looks at the other end
	shorten(e.Weight, x, e.MaxNorm, e.NormType)
	if e.Sparse && e.Weight.IsLeaf() && e.Weight.RequiresGrad() {
		e.Weight.SparseGrad()
	}
	y := e.Weight.IndexSelect(0, x.Reshape(x.Size()))
	if e.PaddingIdx != nil && e.Weight.RequiresGrad() {
		pad := x.Reshape(x.Size(), 1).Eq(*e.PaddingIdx)
		y = weft.Where(pad, y.Detach(), y)
	}
	return own(y.Reshape(append(sizes(x), e.Weight.Dim(1))...))
}

// checkMaxNorm checks the options of tables whose rows have a greatest norm.
func checkMaxNorm(name string, most, order *float64) {
	if most != nil && !(*most > 0) {
		array.Failf(name, "MaxNorm", "is %v, want a number above 0", *most)
	}
	if order != nil && !(*order > 0) {
		array.Failf(name, "NormType", "is %v, want a number above 0", *order)
	}
}

// shorten scales the rows of a table at indices x, in place, so that none has a norm above most.
func shorten(table, x *weft.Tensor, most, order *float64) {
	if most == nil || x.Size() == 0 {
		return
	}
	w := table.Detach()
	used := w.Device().ZerosOf(weft.Int64, w.Dim(0)).IndexPut(1, x.Reshape(x.Size()))
	scale := weft.Expr("where((u > 0) && (n > m), m/(n + 1e-7), 1)", weft.Vars{"u": used.Reshape(w.Dim(0), 1), "n": w.NormKeep(array.Or(order, 2), 1), "m": *most})
	w.MulAssign(scale.To(w.DType()))
}
