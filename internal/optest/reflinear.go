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

// eliminate factors a row-major matrix in place with row exchanges, which it returns.
func eliminate(a []float64, m, n int) []int64 {
	var pivots []int64
	for j := range min(m, n) {
		p := j
		for i := j; i < m; i++ {
			if math.Abs(a[i*n+j]) > math.Abs(a[p*n+j]) {
				p = i
			}
		}
		pivots = append(pivots, int64(p))
		for c := range n {
			a[j*n+c], a[p*n+c] = a[p*n+c], a[j*n+c]
		}
		for i := j + 1; i < m; i++ {
			a[i*n+j] /= a[j*n+j]
			for c := j + 1; c < n; c++ {
				a[i*n+c] -= a[i*n+j] * a[j*n+c]
			}
		}
	}
	return pivots
}

// gauss solves a*x = b by elimination with the greatest pivots.
func gauss(a [][]float64, b []float64) []float64 {
	n := len(a)
	for j := range n {
		p := j
		for i := j; i < n; i++ {
			if math.Abs(a[i][j]) > math.Abs(a[p][j]) {
				p = i
			}
		}
		a[j], a[p], b[j], b[p] = a[p], a[j], b[p], b[j]
		for i := range n {
			if f := a[i][j] / a[j][j]; i != j {
				for c := range n {
					a[i][c] -= f * a[j][c]
				}
				b[i] -= f * b[j]
			}
		}
	}
	for j := range n {
		b[j] /= a[j][j]
	}
	return b
}

// solved are solutions for matrices that get gives, of right sides b.
func solved(b *Array, batch int, get func(at int) func(i, j int) float64) *Array {
	y := New(b.DType, b.Shape)
	for at := range batch {
		n, w, rhs := matrixOf(b, at)
		a := get(at)
		for c := range w {
			m, v := make([][]float64, n), make([]float64, n)
			for i := range n {
				v[i] = rhs(i, c)
				for j := range n {
					m[i] = append(m[i], a(i, j))
				}
			}
			for i, x := range gauss(m, v) {
				y.F[(at*n+i)*w+c] = x
			}
		}
	}
	return y
}

// reflected multiplies a by reflections that make it upper triangular, and the identity by the same: a is
// r then, and q has the product. A last column of one element stays.
func reflected(a func(i, j int) float64, m, n int) (q, r [][]float64) {
	q, r = make([][]float64, m), make([][]float64, m)
	for i := range m {
		q[i], r[i] = make([]float64, m), make([]float64, n)
		q[i][i] = 1
		for j := range n {
			r[i][j] = a(i, j)
		}
	}
	for c := range min(m-1, n) {
		v, s := make([]float64, m), 0.0
		for i := c; i < m; i++ {
			v[i] = r[i][c]
			s += v[i] * v[i]
		}
		v[c] += math.Copysign(math.Sqrt(s), v[c])
		vv := 0.0
		for _, x := range v {
			vv += x * x
		}
		for j := range n {
			d := 0.0
			for i := range m {
				d += v[i] * r[i][j]
			}
			for i := range m {
				r[i][j] -= 2 * d / vv * v[i]
			}
		}
		for i := range m {
			d := 0.0
			for j := range m {
				d += q[i][j] * v[j]
			}
			for j := range m {
				q[i][j] -= 2 * d / vv * v[j]
			}
		}
	}
	return q, r
}

// fill stores the top left part of rows as matrix number at.
func fill(y *Array, at int, rows [][]float64, lower bool) {
	m, n, _ := matrixOf(y, at)
	for i := range m {
		for j := range n {
			if !lower || j >= i {
				y.F[(at*m+i)*n+j] = rows[i][j]
			}
		}
	}
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
	several["lu_factor"] = func(x []*Array, _ ir.Attrs) []Result {
		y := convert(x[0], x[0].DType)
		lu := &Array{DType: y.DType, Shape: y.Shape, F: append([]float64{}, y.F...)}
		shape := append([]int{}, y.Shape[:len(y.Shape)-1]...)
		var pivots []int64
		for at := range floatMatrices(x) {
			m, n, _ := matrixOf(lu, at)
			shape[len(shape)-1] = min(m, n)
			pivots = append(pivots, eliminate(lu.F[at*m*n:][:m*n], m, n)...)
		}
		r := len(y.Shape)
		shape[len(shape)-1] = min(y.Shape[r-2], y.Shape[r-1])
		return []Result{inUnits(lu, 200), {Array: &Array{DType: array.Int64, Shape: shape, I: pivots}, Exact: true}}
	}
	several["solve"] = func(x []*Array, _ ir.Attrs) []Result {
		y := solved(x[1], floatMatrices(x), func(at int) func(i, j int) float64 {
			_, _, a := matrixOf(x[0], at)
			return a
		})
		return append([]Result{inUnits(y, 200)}, several["lu_factor"](x[:1], nil)...)
	}
	references["pivots_to_permutation"] = func(x []*Array, a ir.Attrs) Result {
		n := int(a.(op.Count))
		y := New(array.Int64, append(append([]int{}, x[0].Shape[:len(x[0].Shape)-1]...), n))
		k := x[0].Shape[len(x[0].Shape)-1]
		for row := range y.Size() / max(n, 1) {
			order := y.I[row*n:][:n]
			for i := range order {
				order[i] = int64(i)
			}
			for i, p := range x[0].I[row*k:][:k] {
				order[i], order[p] = order[p], order[i]
			}
		}
		return Result{Array: y, Exact: true}
	}
	references["lu_solve"] = func(x []*Array, attrs ir.Attrs) Result {
		batch := floatMatrices([]*Array{x[0], x[2]})
		y := solved(x[2], batch, func(at int) func(i, j int) float64 {
			n, _, f := matrixOf(x[0], at)
			a := make([][]float64, n)
			for i := range n {
				for j := range n {
					s := 0.0
					for k := range min(i, j+1) {
						s += f(i, k) * f(k, j)
					}
					if i <= j {
						s += f(i, j)
					}
					a[i] = append(a[i], s)
				}
			}
			for i := n - 1; i >= 0; i-- {
				p := x[1].I[at*n+i]
				a[i], a[p] = a[p], a[i]
			}
			return func(i, j int) float64 {
				if attrs.(op.Adjoined) {
					i, j = j, i
				}
				return a[i][j]
			}
		})
		return inUnits(y, 500)
	}
	several["qr"] = func(x []*Array, attrs ir.Attrs) []Result {
		batch := floatMatrices(x)
		s := x[0].Shape
		m, n := s[len(s)-2], s[len(s)-1]
		k := min(m, n)
		if attrs.(op.Complete) {
			k = m
		}
		lead := s[: len(s)-2 : len(s)-2]
		q, r := New(x[0].DType, append(lead, m, k)), New(x[0].DType, append(lead, k, n))
		for at := range batch {
			_, _, a := matrixOf(x[0], at)
			u, v := reflected(a, m, n)
			fill(q, at, u, false)
			fill(r, at, v, true)
		}
		return []Result{inUnits(q, 200), inUnits(r, 200)}
	}
	references["qr_triangle"] = func(x []*Array, _ ir.Attrs) Result {
		var reduced op.Complete
		return several["qr"](x, reduced)[1]
	}
}
