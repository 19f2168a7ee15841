package linalg

import (
	"weft"
	"weft/internal/array"
	"weft/internal/op"
)

// LstSqOpts are the options of [LstSq].
type LstSqOpts struct {
	// RTol: singular values up to RTol times the largest one count as 0. The default is max(m, n) times the
	// machine epsilon of the element type, as in NumPy.
	RTol *float64
	// FullRank computes by [QR], without singular values: some ten times faster, for matrices of full rank alone.
	FullRank bool
}

// LstSq returns the x that make the length of b - a*x least, for matrices a, [... m n], and of these the
// shortest. It returns also the squares of those lengths, one for each column of b, which are 0 to rounding
// where the rank is m; the ranks, int64, one for each matrix; and the singular values, [... min(m, n)]. b is
// [m], a vector for each matrix, or [... m k]; x is [n] or [... n k].
//
// The method is that of [PInv], with a step of refinement. The gradient of x is that of matrices whose rank
// does not change nearby. With FullRank rank and s are nil.
//
// It panics with *[weft.Error] where a has elements that are not finite, RTol is negative, or shapes do not
// fit; with FullRank where an element on the diagonal of the triangular factor is 0.
func LstSq(a, b *weft.Tensor, opts ...LstSqOpts) (x, residuals, rank, s *weft.Tensor) {
	const name = "linalg.lstsq"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	a = matrix(name, "a", a)
	b = numbers(name, "b", b)
	if d := weft.PromoteTypes(a.DType(), b.DType()); d.Half() {
		x, residuals, rank, s = LstSq(unhalved(a), unhalved(b), o)
		if s != nil {
			s = s.To(d)
		}
		return x.To(d), residuals.To(d), rank, s
	}
	method := throughQR
	if tolerance := (RankOpts{o.RTol}).rtol(name, a); !o.FullRank {
		a = unhalved(a)
		s = SVDVals(a)
		rank = rankOf(s, tolerance)
		method = func(a, b *weft.Tensor) *weft.Tensor {
			p := applyAll(op.PInv, op.Cutoff(tolerance), a)[0]
			x := p.MatMul(b)
			return x.Add(p.MatMul(b.Sub(a.MatMul(x))))
		}
	}
	x = equations(name, a, b, func(a, b *weft.Tensor) *weft.Tensor {
		x := method(a, b)
		d := b.Sub(a.MatMul(x)).Abs()
		residuals = d.Mul(d).Sum(-2)
		return x
	})
	if b.Rank() == 1 {
		residuals = residuals.Squeeze(-1)
	}
	return x, residuals, rank, s
}

// throughQR solves least squares of full rank.
func throughQR(a, b *weft.Tensor) *weft.Tensor {
	if a.Dim(-2) >= a.Dim(-1) {
		q, r := orthogonal(a, false)
		return apply(op.SolveTriangular, op.Triangle{}, r, adjoint(q).MatMul(b))
	}
	q, r := orthogonal(adjoint(a), false)
	return q.MatMul(apply(op.SolveTriangular, op.Triangle{Adjoint: true}, r, b))
}

// TensorSolveOpts are the options of [TensorSolve].
type TensorSolveOpts struct {
	Axes []int // axes of a that go to the right, in this order, before it is split
}

// TensorSolve returns the array x whose product with a, summed over all axes of x, is b: as NumPy's
// tensorsolve. The shape of a is the shape of b followed by that of x, and both have one size.
//
// It panics with *[weft.Error] where sizes do not fit, an axis is out of range or given twice, or the matrix
// that a is has no inverse.
func TensorSolve(a, b *weft.Tensor, opts ...TensorSolveOpts) *weft.Tensor {
	const name = "linalg.tensorsolve"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	a, b = numbers(name, "a", a), numbers(name, "b", b)
	if len(o.Axes) > 0 {
		moved := make([]bool, a.Rank())
		var last, order []int
		for _, d := range o.Axes {
			at := d
			if at < 0 {
				at += a.Rank()
			}
			if at < 0 || at >= a.Rank() || moved[at] {
				array.Failf(name, "Axes", "has axis %d, want each axis of shape %s at most once", d, array.ShapeString(a.Shape()))
			}
			moved[at], last = true, append(last, at)
		}
		for d, m := range moved {
			if !m {
				order = append(order, d)
			}
		}
		a = a.Permute(append(order, last...)...)
	}
	n := b.Size()
	s := a.Shape()
	if len(s) < b.Rank() || array.Size(s[b.Rank():]) != n || a.Size() != n*n {
		array.Failf(name, "a", "has shape %s, want %d x %d elements, b having shape %s", array.ShapeString(s), n, n, array.ShapeString(b.Shape()))
	}
	x := equations(name, a.Reshape(n, n), b.Reshape(n), solve)
	return x.Reshape(s[b.Rank():]...)
}

// TensorInv returns the inverse of a as a linear map from arrays of the shape of its axes from ind on to
// arrays of the shape of its first ind axes. The product of the inverse with b, summed over the last ind
// axes, is TensorSolve(a, b). The sizes of both groups of axes are equal.
//
// It panics with *[weft.Error] where ind is not in 1..rank, sizes differ, or there is not an inverse.
func TensorInv(a *weft.Tensor, ind int) *weft.Tensor {
	const name = "linalg.tensorinv"
	defer array.Named(name).End()
	a = numbers(name, "a", a)
	s := a.Shape()
	if ind < 1 || ind > len(s) {
		array.Failf(name, "ind", "is %d, want 1 to %d for shape %s", ind, len(s), array.ShapeString(s))
	}
	n := array.Size(s[:ind])
	if array.Size(s[ind:]) != n {
		array.Failf(name, "a", "has shape %s, want as much before axis %d as behind", array.ShapeString(s), ind)
	}
	return inverse(a.Reshape(n, n)).Reshape(append(append([]int{}, s[ind:]...), s[:ind]...)...)
}
