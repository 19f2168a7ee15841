package nn

import (
	"reflect"

	"weft"
	"weft/internal/array"
)

// An OrthogonalMap makes matrices with orthogonal rows or columns of others.
type OrthogonalMap int

const (
	// OrthogonalDefault is MatrixExp for square matrices and Householder for others.
	OrthogonalDefault OrthogonalMap = iota
	Householder                     // a product of reflections, one for each row or column
	MatrixExp                       // the exponential of a skew-symmetric matrix
	Cayley                          // inverse(1 - A/2) (1 + A/2) of a skew-symmetric matrix A
)

// Orthogonalized is a layer whose weight has orthogonal rows, or columns if there are fewer, of length 1,
// and keeps them so while Original is trained (Lezcano-Casado, Trivializations for gradient-based
// optimization on manifolds, 2019). The weight is Base times a map of Original. A weight with more than
// two axes is a batch of matrices. It is torch.nn.utils.parametrizations.orthogonal, with its names.
type Orthogonalized struct {
	Layer    Layer         `nn:""`                                 // its Weight is nil
	Original *weft.Tensor  `nn:"parametrizations.weight.original"` // in the shape of the weight
	Base     *weft.Tensor  `nn:"parametrizations.weight.0.base"`   // [..., n, n], n the longer side of the weight; a buffer
	Map      OrthogonalMap // how Original becomes orthogonal
}

// OrthogonalizedOpts are the options of [NewOrthogonalized].
type OrthogonalizedOpts struct {
	Map       OrthogonalMap
	Generator *weft.Generator // draws what a weight that is not square lacks; nil is the default generator
}

// NewOrthogonalized returns a layer with the weight of the given one, made orthogonal, as [NewWeightNorm]
// does. It panics with *weft.Error if the weight has fewer than two axes or no elements, NaN or infinities, a
// row (or column where there are fewer) that is zero or depends on others exactly, or if there is no such map.
func NewOrthogonalized(layer Layer, opts ...OrthogonalizedOpts) *Orthogonalized {
	const name = "orthogonalized"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	if o.Map < OrthogonalDefault || o.Map > Cayley {
		array.Failf(name, "Map", "is %d: want Householder, MatrixExp, Cayley or nothing", int(o.Map))
	}
	if w := weightField(name, layer).Interface().(*weft.Tensor); w != nil && (w.Rank() < 2 || w.Size() == 0) {
		array.Failf(name, "layer", "has a weight of shape %s, want two axes or more, with elements", array.ShapeString(sizes(w)))
	}
	original := takeWeight(name, layer)
	w := original.Detach()
	base := completed(w, o.Generator)
	if base.IsFinite().All().Item() == 0 {
		weightField(name, layer).Set(reflect.ValueOf(original))
		array.Failf(name, "layer", "has a weight with NaN, infinities, or rows or columns that are zero or depend on others")
	}
	if o.Map == OrthogonalDefault {
		o.Map = Householder
		if w.Dim(-1) == w.Dim(-2) {
			o.Map = MatrixExp
		}
	}
	start := w.Device().ZerosOf(w.DType(), w.Shape()...)
	start.Diagonal(0).Fill(-1) // whose map is 1 under all of them
	return &Orthogonalized{Layer: layer, Original: Param(start), Base: base, Map: o.Map}
}

// completed returns square matrices with orthogonal columns [..., n, n]. They begin with the columns of w, or
// its rows where w is wider than tall, made orthogonal one after the other.
func completed(w *weft.Tensor, g *weft.Generator) *weft.Tensor {
	long, short := max(w.Dim(-1), w.Dim(-2)), min(w.Dim(-1), w.Dim(-2))
	if w.Dim(-2) >= w.Dim(-1) {
		w = w.Transpose(-2, -1)
	}
	count := w.Size() / (long * short)
	rows := w.To(weft.Float64).On(weft.CPU).Reshape(count, short, long)
	if short < long {
		rows = weft.Cat([]*weft.Tensor{rows, source(g).On(weft.CPU).Randn(count, long-short, long).To(weft.Float64)}, 1)
	}
	q := weft.Data[float64](rows.Clone())
	for i := range count {
		orthonormalize(q[i*long*long:(i+1)*long*long], long)
	}
	lead := w.Shape()[:w.Rank()-2]
	return weft.FromSlice(q, append(lead, long, long)...).Transpose(-2, -1).To(w.DType()).On(w.Device()).Clone()
}

// Weight returns the weight that calls compute with.
func (n *Orthogonalized) Weight() *weft.Tensor {
	const name = "orthogonalized"
	if n == nil || n.Layer == nil || n.Original == nil || n.Base == nil {
		failNil(name, "NewOrthogonalized")
	}
	defer array.Named(name).End()
	x := n.Original
	if x.Rank() < 2 || n.Base.Rank() != x.Rank() || n.Base.Dim(-1) != max(x.Dim(-1), x.Dim(-2)) {
		array.Failf(name, "Base", "has shape %s, which does not fit Original %s", array.ShapeString(sizes(n.Base)), array.ShapeString(sizes(x)))
	}
	wide := x.Dim(-2) < x.Dim(-1)
	if wide {
		x = x.Transpose(-2, -1)
	}
	var q *weft.Tensor
	switch n.Map {
	case Householder:
		q = reflections(x)
	case MatrixExp:
		q = exponential(skew(x))
	case Cayley:
		q = cayley(skew(x))
	default:
		array.Failf(name, "Map", "is %d: want Householder, MatrixExp or Cayley", int(n.Map))
	}
	q = n.Base.MatMul(columnsOf(q, 0, x.Dim(-1)))
	if wide {
		q = q.Transpose(-2, -1)
	}
	return q
}

// columnsOf returns columns of matrices [..., rows, columns].
func columnsOf(x *weft.Tensor, from, to int) *weft.Tensor {
	return x.Slice(weft.Ellipsis, weft.Range(from, to))
}

// skew returns the difference of the lower triangle of x [..., n, k] and its transpose, [..., n, n].
func skew(x *weft.Tensor) *weft.Tensor {
	x = x.Tril(0)
	if lack := x.Dim(-2) - x.Dim(-1); lack > 0 {
		shape := x.Shape()
		shape[x.Rank()-1] = lack
		x = weft.Cat([]*weft.Tensor{x, x.Device().ZerosOf(x.DType(), shape...)}, -1)
	}
	return x.Sub(x.Transpose(-2, -1))
}

// identityLike returns an identity as large as the matrices x.
func identityLike(x *weft.Tensor) *weft.Tensor {
	return x.Device().EyeOf(x.DType(), x.Dim(-2))
}

// reflections returns the first columns of the product of the Householder reflections whose vectors are
// below the diagonal of x [..., n, k], under a 1, times the whole numbers on the diagonal.
func reflections(x *weft.Tensor) *weft.Tensor {
	k := x.Dim(-1)
	eye := columnsOf(identityLike(x), 0, k)
	v := x.Tril(-1).Add(eye)
	tau := v.Square().SumKeep(-2).Reciprocal().Mul(2)
	q := eye.Expand(x.Shape()...)
	for i := k - 1; i >= 0; i-- {
		w := columnsOf(v, i, i+1)
		q = q.Sub(w.MatMul(w.Transpose(-2, -1).MatMul(q)).Mul(columnsOf(tau, i, i+1)))
	}
	return q.Mul(x.Detach().Diagonal(0).Trunc().Unsqueeze(-2))
}

// maxSquarings bounds the norm of matrices that are exponentiated: beyond 2^30 no digit of angles is left.
const maxSquarings = 31

// exponential returns exp(a) of matrices: Taylor's series of a/2^s, whose norm is at most 1/2, squared s
// times (Moler and Van Loan, Nineteen dubious ways to compute the exponential of a matrix, 2003).
func exponential(a *weft.Tensor) *weft.Tensor {
	terms := 8 // 2^-9/9! is below half a digit
	if a.DType() == weft.Float64 {
		terms = 15
	}
	norm := a.Detach().Abs().Sum(-1).Max()
	squarings := norm.Mul(2).Maximum(1).Log2().Ceil().Minimum(maxSquarings)
	a = a.Div(squarings.Exp2())
	eye := identityLike(a)
	q := eye.Expand(a.Shape()...)
	for i := terms; i >= 1; i-- {
		q = a.MatMul(q).Div(i).Add(eye)
	}
	left := func(s []*weft.Tensor) *weft.Tensor { return s[1].Gt(0) }
	square := func(s []*weft.Tensor) []*weft.Tensor { return []*weft.Tensor{s[0].MatMul(s[0]), s[1].Sub(1)} }
	return weft.While(left, square, []*weft.Tensor{q, squarings}, weft.WhileOpts{Max: maxSquarings})[0]
}

// cayley returns inverse(1 - a/2) (1 + a/2) of skew-symmetric matrices by elimination. Pivots need no
// search: the symmetric part of 1 - a/2 is 1.
func cayley(a *weft.Tensor) *weft.Tensor {
	n, eye, half := a.Dim(-1), identityLike(a), a.Div(2)
	m := weft.Cat([]*weft.Tensor{eye.Sub(half), eye.Add(half)}, -1)
	for i := range n {
		row := m.Slice(weft.Ellipsis, weft.Range(i, i+1), weft.All)
		row = row.Div(columnsOf(row, i, i+1))
		m = m.Sub(columnsOf(m, i, i+1).Sub(columnsOf(eye, i, i+1)).MatMul(row))
	}
	return columnsOf(m, n, 2*n)
}

// Forward is the layer's.
func (n *Orthogonalized) Forward(x *weft.Tensor) *weft.Tensor {
	return Call(n, x, (*Orthogonalized).forward)
}

func (n *Orthogonalized) forward(x *weft.Tensor) *weft.Tensor {
	return forwardWith("orthogonalized", n.Layer, n.Weight(), x)
}

// Remove returns the layer with the weight of now as a parameter. n must not be called afterwards.
func (n *Orthogonalized) Remove() Layer { return restored("orthogonalized", n.Layer, n.Weight()) }
