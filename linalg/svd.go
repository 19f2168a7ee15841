package linalg

import (
	"math"

	"weft"
	"weft/internal/array"
	"weft/internal/op"
)

// SVDOpts are the options of [SVD].
type SVDOpts struct {
	Thin bool // u and vh have the vectors that belong to singular values only
}

// SVD returns the singular value decomposition of matrices a, [... m n]: a = u * diag(s) * vh. With
// k = min(m, n), s is [... k], real and descending; u, [... m m], and vh, [... n n], are unitary. With Thin they
// are [... m k] and [... k n].
//
// The first of the largest elements of each column of u is real and positive, as [Eigh] says. The gradient is
// that of losses that do not depend on the signs or phases of pairs of vectors, nor on vectors without a
// singular value. It is not finite where a loss depends on the vectors of equal singular values, or of 0.
// Where values are equal, gradients of u * diag(f(s)) * vh lack the part of the derivative of f between their
// vectors; losses of s alone are as in [SVDVals].
//
// It panics with *[weft.Error] where a matrix has elements that are not finite, or a is not a matrix.
func SVD(a *weft.Tensor, opts ...SVDOpts) (u, s, vh *weft.Tensor) {
	const name = "linalg.svd"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	r := applyAll(op.SVD, op.AllVectors(!o.Thin), matrix(name, "a", a))
	return r[0], r[1], r[2]
}

// SVDVals returns the singular values of matrices a, [... m n], descending, [... min(m, n)]. Their gradient is
// right for equal ones too, and for values of 0 in functions such as sums of squares.
//
// Second derivatives of smooth functions that do not depend on the order of values, such as SVDVals(a).Pow(4).Sum(),
// are right where values are equal or 0, up to differences of max(m, n) times the machine epsilon. Functions without a
// second derivative there, such as the largest of two equal values or the sum where one is 0, get a finite result
// of no meaning, and so do products of values of two calls. Third derivatives are right where values differ, and not
// finite where they are equal or 0. In a compiled loop whose results are values instead of the loss, second derivatives
// at equal values are NaN. Convert float16 and bfloat16 with To before.
//
// It panics with *[weft.Error] as [SVD] does.
func SVDVals(a *weft.Tensor) *weft.Tensor {
	const name = "linalg.svdvals"
	defer array.Named(name).End()
	return apply(op.SVDVals, nil, matrix(name, "a", a))
}

// RankOpts say which singular values count as 0: those up to RTol times the largest one. The default is
// max(m, n) times the machine epsilon of the element type.
type RankOpts struct{ RTol *float64 }

// rtol returns the tolerance for a matrix.
func (o RankOpts) rtol(name string, a *weft.Tensor) float64 {
	if o.RTol != nil {
		if t := *o.RTol; !(t >= 0) || math.IsInf(t, 0) {
			array.Failf(name, "RTol", "is %v, want 0 or more", t)
		}
		return *o.RTol
	}
	eps := 0x1p-23
	if d := a.DType(); d == weft.Float64 || d == weft.Complex128 {
		eps = 0x1p-52
	}
	return eps * float64(max(a.Dim(-1), a.Dim(-2)))
}

// PInv returns the Moore-Penrose pseudo-inverses of matrices a, [... m n], as [... n m]. Its gradient is that of
// matrices whose rank does not change nearby, also where singular values are equal.
//
// It panics with *[weft.Error] where a matrix has elements that are not finite, a is not a matrix, or RTol is
// negative.
func PInv(a *weft.Tensor, opts ...RankOpts) *weft.Tensor {
	const name = "linalg.pinv"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	a = matrix(name, "a", a)
	if d := a.DType(); d.Half() {
		return PInv(unhalved(a), o).To(d)
	}
	return applyAll(op.PInv, op.Cutoff(o.rtol(name, a)), a)[0]
}

// MatrixRank returns the numbers of singular values that do not count as 0, int64, one for each matrix of a.
//
// It panics with *[weft.Error] as [PInv] does.
func MatrixRank(a *weft.Tensor, opts ...RankOpts) *weft.Tensor {
	const name = "linalg.matrix_rank"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	a = matrix(name, "a", a)
	return rankOf(SVDVals(a), o.rtol(name, a))
}

// rankOf counts the singular values above a tolerance, which is relative to the first of them.
func rankOf(s *weft.Tensor, tolerance float64) *weft.Tensor {
	if s.Dim(-1) == 0 {
		return s.Device().ZerosOf(weft.Int64, s.Shape()[:s.Rank()-1]...)
	}
	return s.Gt(s.MaxKeep(-1).Mul(tolerance)).Sum(-1)
}

// Orth returns an orthonormal basis of the range of the matrix a, [m n], in columns, [m rank].
//
// It panics with *[weft.Error] where elements are not finite, a is not one matrix, or RTol is negative, and in
// compiled functions, since the shape depends on values.
func Orth(a *weft.Tensor, opts ...RankOpts) *weft.Tensor {
	const name = "linalg.orth"
	defer array.Named(name).End()
	d, u, _, rank := ranked(name, a, opts)
	return u.Slice(weft.All, weft.Range(0, rank)).To(d)
}

// NullSpace returns an orthonormal basis of the vectors x with a * x = 0 of the matrix a, [m n], in columns,
// [n n-rank].
//
// It panics with *[weft.Error] as [Orth] does.
func NullSpace(a *weft.Tensor, opts ...RankOpts) *weft.Tensor {
	const name = "linalg.null_space"
	defer array.Named(name).End()
	d, _, vh, rank := ranked(name, a, opts)
	return adjoint(vh.Slice(weft.Range(rank, vh.Dim(0)))).To(d)
}

// ranked returns the type of a, the vectors of a decomposition, in float32 for 16 bits, and the rank.
func ranked(name string, a *weft.Tensor, opts []RankOpts) (d weft.DType, u, vh *weft.Tensor, rank int) {
	o := array.Options(name, opts)
	a = matrix(name, "a", a)
	d, a = a.DType(), unhalved(a)
	if a.Rank() != 2 {
		array.Failf(name, "a", "has shape %s, want one matrix", array.ShapeString(a.Shape()))
	}
	u, s, vh := SVD(a)
	if s.Size() > 0 {
		rank = int(s.Gt(s.Max().Mul(o.rtol(name, a))).Sum().Item())
	}
	return d, u, vh, rank
}

// Polar returns the polar decomposition of matrices a, [... m n], m at least n: a = u * p with orthonormal
// columns of u, [... m n], and p, [... n n], positive semidefinite. It has derivatives where singular values are
// equal too: they divide by sums of two of them. Gradients are not finite where the rank is below n.
//
// It panics with *[weft.Error] where a matrix has elements that are not finite or fewer rows than columns.
func Polar(a *weft.Tensor) (u, p *weft.Tensor) {
	const name = "linalg.polar"
	defer array.Named(name).End()
	a = matrix(name, "a", a)
	if a.Dim(-2) < a.Dim(-1) {
		array.Failf(name, "a", "has shape %s, want rows >= columns", array.ShapeString(a.Shape()))
	}
	u = applyAll(op.PolarFactor, nil, a)[0]
	p = adjoint(u).MatMul(a)
	return u, p.Mul(0.5).Add(adjoint(p).Mul(0.5)) // halves, whose sum does not overflow
}
