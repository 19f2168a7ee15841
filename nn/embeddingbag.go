package nn

import (
	"fmt"
	"math"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/op"
)

// A BagMode is how [EmbeddingBag] combines the rows of a bag.
type BagMode int

const (
	BagMean BagMode = iota // their mean
	BagSum                 // their sum
	BagMax                 // the greatest, column by column; equal ones share the gradient
)

// EmbeddingBagOpts are the options of [NewEmbeddingBag].
type EmbeddingBagOpts struct {
	Mode BagMode // BagMean if not given
	// PaddingIdx is the index of a row that begins as zeros. No bag counts its entries, and
	// it gets no gradient. nil for none.
	PaddingIdx *int
	// IncludeLastOffset says that offsets have one element more than there are bags: the end
	// of the last bag.
	IncludeLastOffset bool
	MaxNorm           *float64        // as in EmbeddingOpts
	NormType          *float64        // as in EmbeddingOpts
	Weight            Init            // draws the rows; nil is a normal distribution of mean 0 and deviation 1
	Generator         *weft.Generator // what they are drawn from; nil is the default generator
}

// EmbeddingBag is a table of rows. It returns the sum, mean or maximum of the rows of each bag of
// indices, as [Embedding] and a reduction would, without storing the rows in between.
type EmbeddingBag struct {
	Weight            *weft.Tensor // [rows, width]
	Mode              BagMode
	PaddingIdx        *int     // the index whose entries no bag counts, nil for none
	IncludeLastOffset bool     // the last offset is the end of the last bag
	MaxNorm           *float64 // the greatest norm of a row that is used, nil for none
	NormType          *float64 // the order of that norm; nil means 2
}

// NewEmbeddingBag returns a table of float32. A layer over an existing table is
// &EmbeddingBag{Weight: table}. It panics with *weft.Error if PaddingIdx is not the index of a
// row, or Mode is unknown.
func NewEmbeddingBag(rows, width int, opts ...EmbeddingBagOpts) *EmbeddingBag {
	const name = "embedding_bag"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	e := NewEmbedding(rows, width, EmbeddingOpts{PaddingIdx: o.PaddingIdx, Weight: o.Weight, Generator: o.Generator})
	b := &EmbeddingBag{Weight: e.Weight, Mode: o.Mode, PaddingIdx: o.PaddingIdx, IncludeLastOffset: o.IncludeLastOffset, MaxNorm: o.MaxNorm, NormType: o.NormType}
	b.check()
	return b
}

func (e *EmbeddingBag) check() {
	const name = "embedding_bag"
	if e == nil || e.Weight == nil {
		array.Failf(name, "Weight", "is nil: NewEmbeddingBag makes a layer with rows")
	}
	if e.Weight.Rank() != 2 || !e.Weight.DType().Float() {
		array.Failf(name, "Weight", "is %s, want floats [rows width]", array.TypeString(e.Weight.DType(), e.Weight.Shape()))
	}
	if p := e.PaddingIdx; p != nil && (*p < 0 || *p >= e.Weight.Dim(0)) {
		array.Failf(name, "PaddingIdx", "is %d, want 0 to %d", *p, e.Weight.Dim(0)-1)
	}
	checkMaxNorm(name, e.MaxNorm, e.NormType)
	if e.Mode < BagMean || e.Mode > BagMax {
		array.Failf(name, "Mode", "is %d, want BagMean, BagSum or BagMax", e.Mode)
	}
}

// BagOpts are the options of [EmbeddingBag.Bags].
type BagOpts struct {
	// PerSampleWeights are factors of the rows before they are added, in the shape of the
	// indices and the element type of the table. Requires BagSum. nil for 1.
	PerSampleWeights *weft.Tensor
}

// Forward maps indices [bags, n], integers of any type, to [bags, width]: each row of x is a
// bag. A bag without indices gives 0. It panics with *weft.Error if one is not the index of a
// row.
func (e *EmbeddingBag) Forward(x *weft.Tensor) *weft.Tensor { return e.Bags(x, nil) }

// Bags maps indices, integers of any type, to [bags, width]. If x is [bags, n], each row is a bag
// and offsets is nil. If x is a vector, bag i is x[offsets[i]:offsets[i+1]], and the last bag ends
// at the end of x. With IncludeLastOffset the last offset ends the last bag and begins none. Offsets
// are integers that begin at 0 and ascend. A bag without indices gives 0.
//
// It panics with *weft.Error if an index is not that of a row, if shapes or element types do
// not fit, or if offsets do not ascend from 0 to at most the length of x.
func (e *EmbeddingBag) Bags(x, offsets *weft.Tensor, opts ...BagOpts) *weft.Tensor {
	return CallAll(e, []*weft.Tensor{x, offsets}, func(in []*weft.Tensor) []*weft.Tensor {
		return []*weft.Tensor{e.bags(in[0], in[1], opts)}
	})[0]
}

func (e *EmbeddingBag) bags(x, offsets *weft.Tensor, opts []BagOpts) *weft.Tensor {
	const name = "embedding_bag"
	defer array.Named(name).End()
	e.check()
	o := array.Options(name, opts)
	if x == nil {
		array.Failf(name, "x", "is nil")
	}
	if d := x.DType(); !d.Integer() {
		array.Failf(name, "x", "has elements of type %s, want integers: indices of rows", d)
	}
	switch {
	case x.Rank() != 1 && x.Rank() != 2:
		array.Failf(name, "x", "has shape %s, want [bags n], or a vector with offsets", array.ShapeString(x.Shape()))
	case x.Rank() == 1 && offsets == nil:
		array.Failf(name, "offsets", "is nil: call Bags with the offset at which each bag of the vector begins")
	case x.Rank() == 2 && offsets != nil:
		array.Failf(name, "offsets", "are for a vector of indices, x has shape %s", array.ShapeString(x.Shape()))
	}
	x = asIndices(x)
	x = checkRange(x, name, "x", 0, math.MaxInt64, fmt.Sprintf("has %%d, want 0 to %d", e.Weight.Dim(0)-1)) // IndexSelect checks the upper bound
	shorten(e.Weight, x, e.MaxNorm, e.NormType)
	a := op.Bags{Mode: []op.BagMode{op.BagMean, op.BagSum, op.BagMax}[e.Mode], Padding: -1, Ends: e.IncludeLastOffset}
	if e.PaddingIdx != nil {
		a.Padding = *e.PaddingIdx
	}
	args := operands(name, e.Weight, x)
	if o.PerSampleWeights != nil {
		args = append(args, core.Of(name, (*core.Tensor)(o.PerSampleWeights)))
	}
	if offsets != nil {
		args = append(args, core.Of(name, (*core.Tensor)(e.begins(offsets))))
	}
	return (*weft.Tensor)(core.Call(op.EmbeddingBag, a, nil, args...)[0])
}

// begins returns offsets as int32 or int64. It panics if they do not begin at 0.
func (e *EmbeddingBag) begins(offsets *weft.Tensor) *weft.Tensor {
	const name = "embedding_bag"
	if d := offsets.DType(); !d.Integer() {
		array.Failf(name, "offsets", "has elements of type %s, want integers", d)
	}
	if offsets.Rank() != 1 {
		array.Failf(name, "offsets", "has shape %s, want one dimension", array.ShapeString(offsets.Shape()))
	}
	if e.IncludeLastOffset && offsets.Size() == 0 {
		array.Failf(name, "offsets", "is empty: IncludeLastOffset needs the end of the last bag")
	}
	offsets = asIndices(offsets)
	if offsets.Size() > 0 {
		first := offsets.Slice(weft.Range(0, 1))
		if zero := checkRange(first, name, "offsets", 0, 0, "begin at %d, want 0"); zero != first {
			offsets = offsets.Sub(zero) // a compiled call checks only what its results use
		}
	}
	return offsets
}
