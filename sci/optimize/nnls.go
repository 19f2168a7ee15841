package optimize

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"weft"
	"weft/internal/array"
)

// NNLSOpts are the options of [NNLS].
type NNLSOpts struct {
	MaxIter int             // 3 for each unknown if it is 0
	Context context.Context // ends the search, if it is not nil
}

// NNLS returns the x without negative elements that makes the length of a x - b least, [n] for a of shape [m n] and b
// of shape [m], and that length. It is the active set method of Lawson and Hanson ("Solving least squares problems",
// 1974, chapter 23), in float64. It returns a [*ConvergenceError] after MaxIter steps or where the context ends, and
// panics with a [*weft.Error] for bad arguments. SciPy's nnls.
func NNLS(a, b *weft.Tensor, opts ...NNLSOpts) (x *weft.Tensor, residual float64, err error) {
	const name = "optimize.nnls"
	o := array.Options(name, opts)
	matrix := realMatrix(name, "a", a)
	m, n := matrix.Dims()
	right := realVector(name, "b", b, m)
	// Columns and b are scaled by powers of two, which is exact: neither their units nor overflow change what is found.
	scales := make([]int, n)
	for j := range n {
		column := mat.Col(nil, j, matrix)
		scales[j] = unit(column)
		matrix.SetCol(j, column)
	}
	scale := unit(right)
	at := make([]float64, n)
	free := make([]bool, n)
	r := append([]float64(nil), right...)
	slope := func() []float64 { return gradient(matrix, r) }
	tol := 10 * float64(max(m, n)) * 0x1p-52 * mat.Norm(matrix, 1) * length(right)
	done := func(err error) (*weft.Tensor, float64, error) {
		for j := range at {
			at[j] = math.Ldexp(at[j], scale-scales[j])
		}
		return weft.FromSlice(at, n), math.Ldexp(length(r), scale), err
	}
	most := limit(name, "MaxIter", o.MaxIter, 3*n)
	for steps := 0; ; {
		w, best := slope(), -1
		for i, v := range w {
			if !free[i] && v > tol && (best < 0 || v > w[best]) {
				best = i
			}
		}
		if best < 0 {
			return done(nil)
		}
		free[best] = true
		for {
			if steps++; steps > most {
				return done(&ConvergenceError{Op: name, Reason: afterSteps(most)})
			}
			if err := ended(name, o.Context); err != nil {
				return done(err)
			}
			z := freeSolution(matrix, right, free)
			part, stop := 1.0, -1
			for i := range z {
				if free[i] && z[i] <= 0 {
					if p := at[i] / (at[i] - z[i]); stop < 0 || p < part {
						part, stop = p, i
					}
				}
			}
			if stop < 0 {
				copy(at, z)
				break
			}
			for i := range at {
				if at[i] += part * (z[i] - at[i]); free[i] && (i == stop || at[i] <= 0) {
					at[i], free[i] = 0, false
				}
			}
		}
		r = plus(right, matrix, negated(at))
	}
}

// unit scales x by a power of two, so that its greatest element is from 1/2 to 1, and returns the exponent that undoes it.
func unit(x []float64) int {
	most := 0.0
	for _, v := range x {
		most = max(most, math.Abs(v))
	}
	_, e := math.Frexp(most)
	for i, v := range x {
		x[i] = math.Ldexp(v, -e)
	}
	return e
}

func negated(x []float64) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = -v
	}
	return y
}

// freeSolution solves the least squares problem of the free columns; the others are 0.
func freeSolution(a *mat.Dense, b []float64, free []bool) []float64 {
	m, n := a.Dims()
	var columns []int
	for i, f := range free {
		if f {
			columns = append(columns, i)
		}
	}
	part := mat.NewDense(m, len(columns), nil)
	for k, c := range columns {
		part.SetCol(k, mat.Col(nil, c, a))
	}
	var svd mat.SVD
	z := make([]float64, n)
	if !svd.Factorize(part, mat.SVDThin) {
		return z
	}
	var y mat.Dense
	svd.SolveTo(&y, mat.NewDense(m, 1, b), max(1, svd.Rank(1e-15*float64(max(m, n)))))
	for k, c := range columns {
		z[c] = y.At(k, 0)
	}
	return z
}

func realMatrix(name, arg string, x *weft.Tensor) *mat.Dense {
	t, at := start(name, arg, x)
	if t.Rank() != 2 {
		array.Failf(name, arg, "has shape %s: want a matrix", array.ShapeString(t.Shape()))
	}
	for _, v := range at {
		if !finite(v) {
			array.Failf(name, arg, "has %v: want finite numbers", v)
		}
	}
	return mat.NewDense(t.Dim(0), t.Dim(1), append([]float64(nil), at...))
}

// realVector returns a copy of a vector of n finite numbers.
func realVector(name, arg string, x *weft.Tensor, n int) []float64 {
	t, at := start(name, arg, x)
	if t.Rank() != 1 {
		array.Failf(name, arg, "has shape %s: want one axis", array.ShapeString(t.Shape()))
	}
	if n >= 0 && len(at) != n {
		array.Failf(name, arg, "has shape %s: want [%d]", array.ShapeString(t.Shape()), n)
	}
	for _, v := range at {
		if !finite(v) {
			array.Failf(name, arg, "has %v: want finite numbers", v)
		}
	}
	return append([]float64(nil), at...)
}
