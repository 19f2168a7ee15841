package op

import (
	"math"

	"weft/internal/array"
	"weft/internal/ir"
)

// Derivatives of eigenvalues and singular values. The gradient of values w of a = q*diag(w)*q^H is q*diag(d)*q^H, where d
// is the gradient of w. Its derivative has the divided differences (d[j]-d[i]) / (w[j]-w[i]) in the basis of vectors.
// Where two values are equal, the quotient has a limit if the loss is a smooth symmetric function of the values, as
// sums of functions of each are: the derivative of d along a vector that takes equal values apart. [Slope] computes it.
// Sources: Lewis and Sendov, "Twice differentiable spectral functions", SIAM J. Matrix Anal. Appl. 23, 2001; Higham,
// Functions of Matrices, section 3.2.

// Slope is the product of its third argument with the Jacobian matrix of the first, a gradient, by the second, the value
// that it is the gradient for. The tape computes it, which knows how the first depends on the second. Where no tape is
// asked, as in the body of a compiled loop, it is NaN: only second derivatives at equal values read it.
var Slope *Def

func init() {
	Slope = unlisted(Def{Name: "slope", Arity: 3,
		Elementwise: Elementwise{Rule: Keep, Cost: 1, Expr: func(b *bld, _ *node, x []val) val { return b.Number(b.Type(x[0]), math.NaN()) }}})
}

// slopeAlong is [Slope] of the gradient d of y along a ramp. In a graph that has both it is a gradient. seeds are what
// that graph has of the loss. One that is an input may depend on y in ways that the graph does not have. With fewer
// elements than y it is that of a sum over values, whose slope is the same for equal ones.
func slopeAlong(d, y *node, seeds []*node) *node {
	graph := true
	reach := ir.Reach([]*node{d})
	for _, s := range seeds {
		if s != nil && s.Op == ir.Input && s.ID < len(reach) && reach[s.ID] {
			graph = graph && s != d && s.Size() < y.Size()
		}
	}
	if !graph || d.Op == ir.Input {
		return apply(Slope, d, y, ramp(y))
	}
	if g := Gradient([]*node{d}, []*node{ramp(y)}, []*node{y})[0]; g != nil {
		return g
	}
	return expand(num(y, 0), y.Shape)
}

// ramp is a vector 1, 2, ... in the place of each vector of values.
func ramp(like *node) *node {
	n := like.Shape[len(like.Shape)-1]
	place := Apply(Expand, Shape{n}, like.Graph.Number(0, array.Float32, false))
	return expand(Convert(apply(Add, Apply(Iota, Axis(0), place), num(place, 1)), like.DType), like.Shape)
}

// epsilon is the machine epsilon of the parts of elements.
func epsilon(x *node) float64 {
	if x.DType.Part() == array.Float32 {
		return 0x1p-23
	}
	return 0x1p-52
}

// leastGap is the difference of values, or their sum, that counts as 0, as a factor of matrices of n rows or columns:
// n times the machine epsilon times the greatest magnitude.
func leastGap(values *node, n int) *node {
	r := len(values.Shape)
	top := Apply(Stop, nil, withKeep(Max, apply(Abs, values), []int{r - 1}))
	return asRows(scale(top, float64(n)*epsilon(values)))
}

// betweenValues is the matrix of divided differences of x along e, 0 on the diagonal.
func betweenValues(x, e *node) *node {
	return div(onDiagonal(num(x, 0), gaps(x)), onDiagonal(num(e, 1), gaps(e)))
}

// across is x/gap. It is limit where the gap counts as 0, and where limit*gap is x up to noise, so that values
// that rounding took apart do not divide it. Its derivative is not finite where the gap counts as 0, and that of x/gap
// elsewhere.
func across(x, gap, limit, least, noise *node) *node {
	closed := apply(Le, apply(Abs, gap), least)
	noisy := apply(Le, apply(Abs, sub(x, mul(limit, gap))), noise)
	ratio := div(x, where(closed, num(gap, 0), gap))
	ratio = add(ratio, Apply(Stop, nil, where(noisy, sub(limit, ratio), num(ratio, 0))))
	return where(closed, limit, ratio)
}

// unlessNoise is x/gap. Where the gap counts as 0 it is 0 for an x that is not more than noise, and not finite for
// others: a loss that depends on which vectors of equal values there are has no derivative.
func unlessNoise(x, gap, least, noise *node) *node {
	closed := apply(Le, apply(Abs, gap), least)
	nothing := apply(LogicalAnd, closed, apply(Le, apply(Abs, x), noise))
	return div(where(nothing, num(x, 0), x), Convert(where(nothing, num(gap, 1), where(closed, num(gap, 0), gap)), x.DType))
}

// noiseOf is what rounding leaves of sums over n products that are 0, as a factor of matrices.
func noiseOf(n int, xs ...*node) *node {
	var top *node
	for _, x := range xs {
		r := len(x.Shape)
		y := withKeep(Max, apply(Abs, Apply(Stop, nil, x)), []int{r - 2, r - 1})
		if top == nil {
			top = y
		} else {
			top = apply(Maximum, top, y)
		}
	}
	return scale(top, 8*float64(n)*epsilon(xs[0]))
}

// spectralBack is y, the gradient of a matrix from the gradient d of its values w, with a derivative of its own.
func (v *VJP) spectralBack(y, w, d *node, back func(a, d, bend, dy *node) (da, dd *node)) *node {
	if y.Size() == 0 {
		return y
	}
	a := v.X[0]
	bend := slopeAlong(d, w, v.Seeds)
	g := ir.New()
	reads := []*node{a, d, bend, y}
	types := make([]ir.Type, len(reads))
	ins := make([]*node, len(reads))
	for i, x := range reads {
		types[i] = ir.Type{DType: x.DType, Shape: x.Shape}
		ins[i] = g.Input(i, x.DType, x.Shape)
	}
	da, dd := back(ins[0], ins[1], ins[2], ins[3])
	o := Owned{Name: v.Node.Op.OpName() + " backward", X: 2, At: []int{0, 1}, Back: NewFunction(types, []*node{da, dd})}
	return owned(y, o, a, d, a, d, bend)
}

// diagonalOf is the real part of the diagonal of matrices.
func diagonalOf(x *node) *node {
	x = realOf(x)
	return Apply(Sum, Reduction{Axes: []int{len(x.Shape) - 2}}, onDiagonal(x, num(x, 0)))
}

// eigenvaluesBack is the gradient of Hermitian matrices from the gradient d of their eigenvalues w, by vectors q.
func eigenvaluesBack(v *VJP, w, d, q *node) *node {
	y := hermitianPart(product2(mul(q, asColumns(d)), adjoint(q)))
	return v.spectralBack(y, w, d, func(a, d, bend, dy *node) (da, dd *node) {
		r := ApplyAll(Eigh, nil, a)
		w, q := r[0], r[1]
		n := w.Shape[len(w.Shape)-1]
		m := hermitianPart(product2(adjoint(q), product2(hermitianPart(dy), q)))
		limit := betweenValues(bend, ramp(d))
		ratio := across(gaps(d), onDiagonal(num(w, 1), gaps(w)), limit, leastGap(w, n), noiseOf(n, asRows(d)))
		return product2(q, product2(mul(m, ratio), adjoint(q))), diagonalOf(m)
	})
}

// singularValuesBack is the gradient of matrices from the gradient d of their singular values s, by vectors of both
// sides. The derivative of u*diag(d)*vh has two parts between a pair of vectors. The Hermitian part of u^H*dy*v is
// multiplied by the divided differences of eigenvalues, the skew part by the quotient of sums
// (d[j]+d[i]) / (s[j]+s[i]). Vectors of the longer side that belong to no value have the quotient for a value of 0.
func singularValuesBack(v *VJP, s, d, u, vh *node) *node {
	y := product2(mul(u, asColumns(d)), vh)
	return v.spectralBack(y, s, d, func(a, d, bend, dy *node) (da, dd *node) {
		r := ApplyAll(SVD, AllVectors(false), a)
		u, s, vh := r[0], r[1], r[2]
		m, n := rowsCols(a)
		least, noise := leastGap(s, max(m, n)), noiseOf(max(m, n), asRows(d))
		sums := func(x *node) *node { return add(asColumns(x), asRows(x)) }
		left := product2(adjoint(u), dy)
		inner := product2(left, adjoint(vh))
		e := ramp(d)
		differences := across(gaps(d), onDiagonal(num(s, 1), gaps(s)), betweenValues(bend, e), least, noise)
		quotients := across(sums(d), sums(s), div(sums(bend), sums(e)), least, noise)
		both := mul(hermitianPart(inner), differences)
		both = add(both, mul(scale(sub(inner, adjoint(inner)), 0.5), quotients))
		da = product2(product2(u, both), vh)
		single := across(asColumns(d), asColumns(s), div(asColumns(bend), asColumns(e)), least, noise)
		if m > n {
			over := mul(product2(dy, adjoint(vh)), single)
			da = add(da, product2(sub(over, product2(u, product2(adjoint(u), over))), vh))
		}
		if n > m {
			over := mul(left, swapLast(single))
			da = add(da, product2(u, sub(over, product2(product2(over, adjoint(vh)), vh))))
		}
		return da, diagonalOf(inner)
	})
}
