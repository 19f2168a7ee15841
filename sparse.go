package weft

import (
	"weft/internal/array"
	"weft/internal/core"
)

// SparseGrad makes a leaf keep its gradient as the rows that have one, where it is
// read by [Tensor.IndexSelect] along the first axis alone, as a table of embeddings is:
// a step then touches the rows that were used and no others. [BorrowRows] reads such a
// gradient; [Tensor.Grad] and [BorrowGrad] turn it into an array of t's shape, zeros
// elsewhere, and so does whatever else adds to it. It returns t, and panics with *[Error]
// unless t is a leaf with an axis.
func (t *Tensor) SparseGrad() *Tensor {
	t.c().Check("sparsegrad")
	n := t.c().Node()
	if n == nil || n.Leaf == nil {
		array.Failf("sparsegrad", "", "the tensor is not a leaf that requires a gradient: only those keep one")
	}
	if t.Rank() == 0 {
		array.Failf("sparsegrad", "", "a tensor of no axes has no rows")
	}
	n.Leaf.Sparse.Store(true)
	return t
}

// BorrowRows calls f with the gradient of a leaf, if the leaf keeps one as rows
// ([Tensor.SparseGrad]), and reports that: places holds the numbers of the rows that
// have a gradient, int64, ascending and each once, values [len(places), ...] the rows
// themselves. f may write into values, as clipping does, and must keep neither.
func BorrowRows(t *Tensor, f func(places, values *Tensor)) bool {
	t.c().NotNil("borrowrows")
	if f == nil {
		array.Failf("borrowrows", "f", "is nil")
	}
	return core.Lend(t.c(), func(h *core.History) *core.RowGrad { return h.Rows }, func(g *core.RowGrad) { f((*Tensor)(g.Places), (*Tensor)(g.Values)) })
}
