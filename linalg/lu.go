package linalg

import (
	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/op"
)

// LU returns factors of matrices, [... m n]: p * l * u = a. p, [... m m], exchanges rows; l, [... m k], is
// lower triangular with a diagonal of ones, and u, [... k n], upper triangular, where k is the lesser of m
// and n. Each pivot is the greatest element of its column, the first of equal ones. Singular matrices
// have zeros on the diagonal of u. p has no gradient.
//
// It panics with *[weft.Error] where a is no matrix.
func LU(a *weft.Tensor) (p, l, u *weft.Tensor) {
	const name = "linalg.lu"
	defer array.Named(name).End()
	a = matrix(name, "a", a)
	f, pivots := factors(a)
	m, n := a.Dim(-2), a.Dim(-1)
	k := min(m, n)
	order := (*weft.Tensor)(core.WithAttrs(op.Permutation, op.Count(m), (*core.Tensor)(pivots)))
	p = order.Unsqueeze(-2).Eq(a.Device().Arange(m).Unsqueeze(-1)).To(f.DType())
	eye := a.Device().EyeOf(f.DType(), max(m, k)).Slice(weft.Range(0, m), weft.Range(0, k))
	return p, columns(f, 0, k).Tril(-1).Add(eye), rows(f, 0, k).Triu(0)
}

// LUFactor returns the factors l and u of [LU] in one matrix of the shape of a, without the diagonal of l,
// and the exchanges of rows, int64: row i was exchanged with row pivots[i], i ascending, as SciPy's
// lu_factor has them. [LUSolve] solves equations with both.
//
// It panics with *[weft.Error] where a is no matrix.
func LUFactor(a *weft.Tensor) (lu, pivots *weft.Tensor) {
	const name = "linalg.lu_factor"
	defer array.Named(name).End()
	return factors(matrix(name, "a", a))
}

func factors(a *weft.Tensor) (lu, pivots *weft.Tensor) {
	r := core.ApplyAll(op.LUFactor, nil, core.Operand{T: (*core.Tensor)(a)})
	return (*weft.Tensor)(r[0]), (*weft.Tensor)(r[1])
}

// rows and columns are n rows or columns of matrices from one on.
func rows(t *weft.Tensor, from, n int) *weft.Tensor { return along(t, 2, from, n) }

func columns(t *weft.Tensor, from, n int) *weft.Tensor { return along(t, 1, from, n) }

// along narrows an axis counted from the back.
func along(t *weft.Tensor, axis, from, n int) *weft.Tensor {
	spans := make([]weft.Span, t.Rank()-axis+1)
	for i := range spans {
		spans[i] = weft.Range(0, weft.End)
	}
	spans[len(spans)-1] = weft.Range(from, from+n)
	return t.Slice(spans...)
}

// LUSolveOpts are the options of [LUSolve].
type LUSolveOpts struct {
	Adjoint bool // the equations are a^H * x = b
}

// LUSolve returns the solutions x of a * x = b for the results of [LUFactor] of a. b is [n], a vector for
// each matrix, or [... n k].
//
// It panics with *[weft.Error] where a matrix is singular or shapes do not fit.
func LUSolve(lu, pivots, b *weft.Tensor, opts ...LUSolveOpts) *weft.Tensor {
	const name = "linalg.lu_solve"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	lu = square(name, "lu", lu)
	(*core.Tensor)(pivots).CheckArgument(name, "pivots")
	s := lu.Shape()
	if p := pivots.Shape(); pivots.DType() != weft.Int64 || !array.Equal(p, s[:len(s)-1]) {
		array.Failf(name, "pivots", "is %s, want int64 of shape %s for lu of shape %s", array.TypeString(pivots.DType(), p), array.ShapeString(s[:len(s)-1]), array.ShapeString(s))
	}
	return equations(name, lu, b, func(lu, b *weft.Tensor) *weft.Tensor {
		s := lu.Shape()
		return apply(op.LUSolve, op.Adjoined(o.Adjoint), lu, pivots.Expand(s[:len(s)-1]...), b)
	})
}

// Solve returns the solutions x of a * x = b for square matrices a, [... n n], by [LU] factors. b is [n], a
// vector for each matrix, or [... n k]: as in NumPy 2, b of two axes or more is matrices.
//
// It panics with *[weft.Error] where a matrix is singular, which is where a pivot is 0, or shapes do not
// fit.
func Solve(a, b *weft.Tensor) *weft.Tensor {
	const name = "linalg.solve"
	defer array.Named(name).End()
	return equations(name, square(name, "a", a), b, solve)
}

func solve(a, b *weft.Tensor) *weft.Tensor {
	r := core.ApplyAll(op.Solve, nil, core.Operand{T: (*core.Tensor)(a)}, core.Operand{T: (*core.Tensor)(b)})
	return (*weft.Tensor)(r[0])
}

// Inv returns the inverses of square matrices, [... n n]. To multiply by an inverse, [Solve] is faster and
// more accurate.
//
// It panics with *[weft.Error] where a matrix is singular or a has other shapes.
func Inv(a *weft.Tensor) *weft.Tensor {
	const name = "linalg.inv"
	defer array.Named(name).End()
	return inverse(square(name, "a", a))
}

func inverse(a *weft.Tensor) *weft.Tensor {
	return solve(a, a.Device().EyeOf(a.DType(), a.Dim(-1)).Expand(a.Shape()...))
}

// Det returns the determinants of square matrices, [... n n], in the shape of the axes before the last two;
// 1 for n = 0. The gradient of a singular matrix is the limit of that of regular ones: the adjugate.
//
// It panics with *[weft.Error] where a has other shapes.
func Det(a *weft.Tensor) *weft.Tensor {
	const name = "linalg.det"
	defer array.Named(name).End()
	a = square(name, "a", a)
	if d := a.DType(); d.Half() {
		return Det(unhalved(a)).To(d)
	}
	u, sign := diagonal(a)
	return u.Prod(-1).Mul(sign)
}

// SlogDet returns the signs of determinants of square matrices, [... n n], and the logarithms of their
// magnitudes, floats, both in the shape of the axes before the last two. A complex sign has length 1.
// The sign of a singular matrix is 0, and its logarithm -Inf.
//
// It panics with *[weft.Error] where a has other shapes.
func SlogDet(a *weft.Tensor) (sign, logabs *weft.Tensor) {
	const name = "linalg.slogdet"
	defer array.Named(name).End()
	a = square(name, "a", a)
	if d := a.DType(); d.Half() {
		return rounded(d)(SlogDet(unhalved(a)))
	}
	u, exchanged := diagonal(a)
	size := u.Abs()
	if u.DType().Complex() {
		zero := size.Eq(0)
		sign = u.Div(weft.Where(zero, weft.OnesLike(size), size))
	} else {
		sign = u.Sign()
	}
	return sign.Prod(-1).Mul(exchanged), size.Log().Sum(-1)
}

// diagonal is the diagonal of the factor u of square matrices, and the sign of the exchanges of rows in the
// same type.
func diagonal(a *weft.Tensor) (u, sign *weft.Tensor) {
	f, pivots := factors(a)
	odd := pivots.Ne(a.Device().Arange(a.Dim(-1))).Sum(-1).BitAnd(1)
	return f.Diagonal(0), odd.Mul(-2).Add(1).To(f.DType())
}
