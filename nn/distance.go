package nn

import (
	"weft"
	"weft/internal/array"
)

// PairwiseDistanceOpts are the options of [PairwiseDistance].
type PairwiseDistanceOpts struct {
	P       *float64 // the norm of the differences; nil means 2
	Eps     *float64 // added to each difference; nil means 1e-6
	KeepDim bool     // the last axis stays, with size 1
}

// PairwiseDistance is the norm of x - y + Eps over the last axis. x and y [..., width] broadcast.
// It panics with *weft.Error if they do not.
func PairwiseDistance(x, y *weft.Tensor, opts ...PairwiseDistanceOpts) *weft.Tensor {
	const name = "pairwise_distance"
	defer array.Named(name).End()
	vectors(name, x, y)
	o := array.Options(name, opts)
	d := weft.Expr("x - y + eps", weft.Vars{"x": x, "y": y, "eps": array.Or(o.Eps, 1e-6)})
	if o.KeepDim {
		return d.NormKeep(array.Or(o.P, 2), -1)
	}
	return d.Norm(array.Or(o.P, 2), -1)
}

// CosineSimilarityOpts are the options of [CosineSimilarity].
type CosineSimilarityOpts struct {
	Axis *int     // the axis of the vectors; nil means 1
	Eps  *float64 // the least length that counts; nil means 1e-8
}

// CosineSimilarity is the cosine of the angle between vectors of x and y, which lie along an
// axis and broadcast. The axis goes. It panics with *weft.Error if the shapes do not fit.
func CosineSimilarity(x, y *weft.Tensor, opts ...CosineSimilarityOpts) *weft.Tensor {
	const name = "cosine_similarity"
	defer array.Named(name).End()
	vectors(name, x, y)
	o := array.Options(name, opts)
	x, y = raised(x), raised(y)
	axis, eps := array.Or(o.Axis, 1), array.Or(o.Eps, 1e-8)
	if n := max(x.Rank(), y.Rank()); x.Rank() != y.Rank() { // the axis counts in the shape of the result
		x, y = leading(x, n), leading(y, n)
	}
	unit := func(x *weft.Tensor) *weft.Tensor {
		n := x.NormKeep(2, axis)
		// What a length lacks is a constant: its gradient stays, as in PyTorch.
		return weft.Expr("x/(n + where(d < eps, eps - d, 0))", weft.Vars{"x": x, "n": n, "d": n.Detach(), "eps": eps})
	}
	return unit(x).Mul(unit(y)).Sum(axis)
}

// NormalizeOpts are the options of [Normalize].
type NormalizeOpts struct {
	P    *float64 // the norm; nil means 2
	Axis *int     // the axis of the vectors; nil means 1
	Eps  *float64 // the least norm that counts; nil means 1e-12
}

// Normalize divides the vectors along an axis of x by their norms. It panics with *weft.Error if
// x is not of floats or has no such axis.
func Normalize(x *weft.Tensor, opts ...NormalizeOpts) *weft.Tensor {
	const name = "normalize"
	defer array.Named(name).End()
	floats(name, "x", x)
	o := array.Options(name, opts)
	return x.Div(atLeast(x.NormKeep(array.Or(o.P, 2), array.Or(o.Axis, 1)), array.Or(o.Eps, 1e-12)))
}

// atLeast is max(x, least), whose gradient is that of x where they are equal.
func atLeast(x *weft.Tensor, least float64) *weft.Tensor {
	return weft.Expr("where(x < least, least, x)", weft.Vars{"x": x, "least": least})
}

// leading puts axes of size 1 before the axes of x, so that it has n.
func leading(x *weft.Tensor, n int) *weft.Tensor {
	return x.Reshape(append(ones(n-x.Rank()), sizes(x)...)...)
}

// vectors checks two tensors of floats with axes.
func vectors(name string, x, y *weft.Tensor) {
	floats(name, "x", x)
	floats(name, "y", y)
	if x.Rank() == 0 || y.Rank() == 0 {
		array.Failf(name, "x", "has shape %s, y %s: want vectors", array.ShapeString(sizes(x)), array.ShapeString(sizes(y)))
	}
}

// floats checks an argument of floats.
func floats(name, arg string, x *weft.Tensor) {
	if x == nil {
		array.Failf(name, arg, "is nil")
	}
	if !x.DType().Float() {
		array.Failf(name, arg, "has elements of type %s, want floats", x.DType())
	}
}
