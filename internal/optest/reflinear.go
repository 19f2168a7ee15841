package optest

import (
	"math"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// References of linear algebra, by the textbook's formulas in float64. Samples are well conditioned, so that
// a small multiple of the unit roundoff bounds errors.

// matrixOf returns element (i, j) of matrix number at of x.
func matrixOf(x *Array, at int) (rows, cols int, get func(i, j int) float64) {
	s := x.Shape
	rows, cols = s[len(s)-2], s[len(s)-1]
	return rows, cols, func(i, j int) float64 { return x.F[(at*rows+i)*cols+j] }
}

// floatMatrices refuses what is not floats of one type.
func floatMatrices(x []*Array) int {
	for _, a := range x {
		if !a.DType.Float() || a.DType != x[0].DType || len(a.Shape) < 2 {
			panic(refusal{})
		}
	}
	s := x[0].Shape
	return array.Size(s[:len(s)-2])
}

// inUnits is a result with a bound of some units of its greatest element.
func inUnits(y *Array, units float64) Result {
	greatest := 0.0
	for i, v := range y.F {
		greatest = max(greatest, math.Abs(v))
		y.F[i] = roundTo(y.DType, v)
	}
	bound := make([]float64, len(y.F))
	for i := range bound {
		bound[i] = units * (1 + greatest) * eps(computed(y.DType))
	}
	return Result{Array: y, Bound: bound}
}

func init() {
	references["cholesky"] = func(x []*Array, _ ir.Attrs) Result {
		y := New(x[0].DType, x[0].Shape)
		for at := range floatMatrices(x) {
			n, _, a := matrixOf(x[0], at)
			l := y.F[at*n*n:]
			for i := range n {
				for j := range i + 1 {
					s := a(i, j)
					for k := range j {
						s -= l[i*n+k] * l[j*n+k]
					}
					if i == j {
						l[i*n+i] = math.Sqrt(s)
					} else {
						l[i*n+j] = s / l[j*n+j]
					}
				}
			}
		}
		return inUnits(y, 200)
	}
	references["solve_triangular"] = func(x []*Array, attrs ir.Attrs) Result {
		t := attrs.(op.Triangle)
		y := New(x[1].DType, x[1].Shape)
		for at := range floatMatrices(x) {
			n, _, raw := matrixOf(x[0], at)
			_, w, b := matrixOf(x[1], at)
			a := func(i, j int) float64 {
				switch {
				case t.Adjoint:
					i, j = j, i
				}
				switch {
				case i == j && t.Unit:
					return 1
				case i != j && i > j != t.Lower:
					return 0
				}
				return raw(i, j)
			}
			solution := y.F[at*n*w:]
			for step := range n {
				i := step
				if t.Lower == t.Adjoint { // upper triangular
					i = n - 1 - step
				}
				for c := range w {
					s := b(i, c)
					for k := range n {
						if k != i {
							s -= a(i, k) * solution[k*w+c]
						}
					}
					solution[i*w+c] = s / a(i, i)
				}
			}
		}
		return inUnits(y, 200)
	}
}
