package nn

import (
	"weft"
	"weft/internal/array"
)

// sequences are the steps of a padded batch [steps, batch, ...] that belong to its sequences.
type sequences struct {
	seen     *weft.Tensor // [steps, batch, 1] bool; nil: all steps
	backward *weft.Tensor // [steps*batch]: the rows in the reverse order of each sequence, padding in place
	final    *weft.Tensor // [batch]: the rows of the last steps
}

// newSequences returns the sequences of these lengths in x, [steps, batch, in]; nil means all steps.
func newSequences(name string, x, lengths *weft.Tensor) (s sequences) {
	if lengths == nil {
		return s
	}
	steps, batch := x.Dim(0), x.Dim(1)
	if d := lengths.DType(); d == weft.Bool || d.Float() || d.Complex() || !array.Equal(sizes(lengths), []int{batch}) {
		array.Failf(name, "Lengths", "are %s, want integers [%d]", array.TypeString(d, lengths.Shape()), batch)
	}
	n := checkRange(asIndices(lengths), name, "Lengths", 1, int64(steps), "have %d, want 1 to the steps of x").To(weft.Int64)
	at, column := x.Device().Arange(0, steps, 1).Unsqueeze(1), x.Device().Arange(0, batch, 1)
	seen := at.Lt(n)
	s.seen = seen.Unsqueeze(2)
	s.backward = weft.Where(seen, n.Sub(1).Sub(at), at).Mul(batch).Add(column).Reshape(steps * batch)
	s.final = n.Sub(1).Mul(batch).Add(column)
	return s
}

// cut returns x with zeros behind the ends of sequences.
func (s sequences) cut(x *weft.Tensor) *weft.Tensor {
	if s.seen == nil {
		return x
	}
	return weft.Where(s.seen, x, 0)
}

// reverse returns x with each sequence in reverse order, its padding where it was.
func (s sequences) reverse(x *weft.Tensor) *weft.Tensor {
	if s.seen == nil {
		return x.Flip(0)
	}
	return rowsOf(x).IndexSelect(0, s.backward).Reshape(sizes(x)...)
}

// last returns the last step of each sequence, [batch, ...].
func (s sequences) last(x *weft.Tensor) *weft.Tensor {
	if s.seen == nil {
		return x.Slice(weft.Index(x.Dim(0) - 1))
	}
	return rowsOf(x).IndexSelect(0, s.final)
}

// rowsOf returns x, [steps, batch, width], as [steps*batch, width].
func rowsOf(x *weft.Tensor) *weft.Tensor { return x.Reshape(x.Dim(0)*x.Dim(1), x.Dim(2)) }
