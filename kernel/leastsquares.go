package kernel

import (
	"math"
	"math/cmplx"

	"weft"
	"weft/internal/array"
	"weft/internal/par"
)

// Systems of pages that are not square are solved by least squares: QR with Householder
// reflections and column pivoting (G. H. Golub and C. F. Van Loan, Matrix Computations, 5.4.2), in
// float64. Columns whose rest is below max(m, n) units of the first pivot are taken as dependent;
// their unknowns are 0. It is the basic solution, MATLAB's.

// leastSquares is x that minimises |a*x - b| for pages of d of m rows and n columns.
func leastSquares(name string, a, b *weft.Tensor, d array.DType) *weft.Tensor {
	wide := array.Float64
	if d.Complex() {
		wide = array.Complex128
	}
	return basic(name, array.Epsilon(d)).Apply(a.To(wide), b.To(wide)).To(d)
}

// basic is the operation of pages. Its gradient is that of the normal equations of the columns
// that are not dependent: with w = inverse(a'a)*dx, b gets a*w, a gets (b-a*x)*w' - a*w*x'.
func basic(name string, eps float64) *weft.Func {
	return &weft.Func{
		Name: name,
		Forward: func(c *weft.FuncContext, x ...*weft.Tensor) *weft.Tensor {
			var y, kept *weft.Tensor
			if x[0].DType().Complex() {
				y, kept = qrPages(x[0], x[1], eps, cmplx.Conj, cmplx.Abs)
			} else {
				y, kept = qrPages(x[0], x[1], eps, func(x float64) float64 { return x }, math.Abs)
			}
			c.Save(x[0], x[1], y, kept)
			return y
		},
		Backward: func(c *weft.FuncContext, dy *weft.Tensor) []*weft.Tensor {
			a, b, y, kept := c.Saved(0), c.Saved(1), c.Saved(2), c.Saved(3)
			n := a.Dim(-1)
			used := a.Mul(kept.Unsqueeze(-2))
			// Dependent columns have 1 on the diagonal, so that the rest is a system of its own.
			normal := adjoint(used).MatMul(used).Add(kept.Neg().Add(1).Unsqueeze(-1).Mul(a.Device().EyeOf(a.DType(), n)))
			w := solution(name).Apply(normal, dy.Mul(kept.Unsqueeze(-1)))
			db := used.MatMul(w)
			if !c.Need[0] {
				return []*weft.Tensor{nil, db}
			}
			rest := b.Sub(used.MatMul(y))
			da := rest.MatMul(adjoint(w)).Sub(db.MatMul(adjoint(y)))
			return []*weft.Tensor{da.Mul(kept.Unsqueeze(-2)), db}
		},
	}
}

// qrPages returns the solutions of all pages, and 1 for each column that is not dependent, else 0.
func qrPages[T float64 | complex128](a, b *weft.Tensor, eps float64, conj func(T) T, size func(T) float64) (x, kept *weft.Tensor) {
	shape := b.Shape()
	m, n, cols := a.Dim(-2), a.Dim(-1), b.Dim(-1)
	pages := 1
	for _, k := range shape[:len(shape)-2] {
		pages *= k
	}
	as, bs := weft.Data[T](a), weft.Data[T](b)
	xs, keep := make([]T, pages*n*cols), make([]T, pages*n)
	par.Run(pages, max(1, 1<<14/(1+m*n*(n+cols))), 0, func(_, begin, end int) {
		q := qr[T]{m: m, n: n, cols: cols, a: make([]T, m*n), b: make([]T, m*cols), v: make([]T, m), order: make([]int, n), eps: eps, conj: conj, size: size}
		for p := begin; p < end; p++ {
			copy(q.a, as[p*m*n:])
			copy(q.b, bs[p*m*cols:])
			q.solve(xs[p*n*cols:(p+1)*n*cols], keep[p*n:(p+1)*n])
		}
	})
	shape[len(shape)-2] = n
	x = weft.FromSlice(xs, shape...).On(b.Device())
	return x, weft.FromSlice(keep, shape[:len(shape)-1]...).On(b.Device())
}

// A qr is one page: a of m rows and n columns, b of m rows and cols columns. Both are used up.
type qr[T float64 | complex128] struct {
	m, n, cols int
	a, b, v    []T
	order      []int // the columns by pivot
	eps        float64
	conj       func(T) T
	size       func(T) float64
}

// solve writes the solution, n rows of cols, and which columns it uses.
func (q *qr[T]) solve(x, keep []T) {
	for j := range q.order {
		q.order[j] = j
	}
	rank, first := 0, 0.0
	for k := range min(q.m, q.n) {
		norm := q.pivot(k)
		if k == 0 {
			first = norm
		}
		if norm <= float64(max(q.m, q.n))*q.eps*first { // NaN goes on, into the results
			break
		}
		q.reflect(k, norm)
		rank++
	}
	for k := rank - 1; k >= 0; k-- {
		row := q.b[k*q.cols : (k+1)*q.cols]
		for j := range row {
			row[j] /= q.a[k*q.n+q.order[k]]
		}
		for i := range k {
			for j, v := range row {
				q.b[i*q.cols+j] -= q.a[i*q.n+q.order[k]] * v
			}
		}
	}
	for k := range rank {
		copy(x[q.order[k]*q.cols:(q.order[k]+1)*q.cols], q.b[k*q.cols:])
		keep[q.order[k]] = 1
	}
}

// pivot moves the column whose rows from k on are longest to place k, and returns the length.
func (q *qr[T]) pivot(k int) float64 {
	best, most := k, -1.0
	for j := k; j < q.n; j++ {
		norm := 0.0
		for i := k; i < q.m; i++ {
			norm = math.Hypot(norm, q.size(q.a[i*q.n+q.order[j]]))
		}
		if !(norm <= most) {
			best, most = j, norm
		}
	}
	q.order[k], q.order[best] = q.order[best], q.order[k]
	return most
}

// reflect makes column k zero below row k: by I - 2*v*v'/(v'v), where v is the column with its
// first element moved away from 0 by the column's length.
func (q *qr[T]) reflect(k int, norm float64) {
	c := q.order[k]
	phase := T(1)
	if first := q.a[k*q.n+c]; first != 0 {
		phase = first / q.real(q.size(first))
	}
	sum := 0.0
	for i := k; i < q.m; i++ {
		q.v[i] = q.a[i*q.n+c] / q.real(norm)
		if i == k {
			q.v[i] += phase
		}
		s := q.size(q.v[i])
		sum += s * s
	}
	apply := func(x []T, stride, j int) {
		var dot T
		for i := k; i < q.m; i++ {
			dot += q.conj(q.v[i]) * x[i*stride+j]
		}
		dot *= q.real(2 / sum)
		for i := k; i < q.m; i++ {
			x[i*stride+j] -= q.v[i] * dot
		}
	}
	for _, j := range q.order[k:] {
		apply(q.a, q.n, j)
	}
	for j := range q.cols {
		apply(q.b, q.cols, j)
	}
}

// real is a real number as an element.
func (q *qr[T]) real(x float64) T {
	switch any(T(0)).(type) {
	case float64:
		return any(x).(T)
	}
	return any(complex(x, 0)).(T)
}
