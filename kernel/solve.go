package kernel

import (
	"math"
	"slices"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/par"
)

// solve returns x with a*x = b, whose axes but the last two broadcast; of pages that are not
// square, by least squares.
func solve(name string, a, b *weft.Tensor) *weft.Tensor {
	as, bs := (*core.Tensor)(a).Sizes(), (*core.Tensor)(b).Sizes()
	na, nb := len(as)-2, len(bs)-2
	n, cols := as[na], as[na+1]
	if cols != n && name == "inv" {
		array.Failf(name, "", "pages of %d rows and %d columns are not square", n, cols)
	}
	if bs[nb] != n {
		array.Failf(name, "", "pages of %d rows and of %d do not fit", n, bs[nb])
	}
	d := array.Promote(a.DType(), b.DType())
	in := d
	switch {
	case d.Integer() || d == array.Bool:
		d, in = array.Float32, array.Float32
	case d.Float() && d.Size() < 4:
		in = array.Float32
	}
	batch := array.Broadcast(name, as[:na], bs[:nb])
	a = a.To(in).Expand(append(slices.Clone(batch), n, cols)...)
	b = b.To(in).Expand(append(slices.Clone(batch), n, bs[nb+1])...)
	if cols != n {
		return leastSquares(name, a, b, d)
	}
	return solution(name).Apply(a, b).To(d)
}

// solution is the operation of pages as many as in both arguments. Its gradient is PyTorch's:
// b gets that of x solved by the adjoint, a minus the product of that with the adjoint of x.
func solution(name string) *weft.Func {
	return &weft.Func{
		Name: name,
		Forward: func(c *weft.FuncContext, x ...*weft.Tensor) *weft.Tensor {
			y := eliminated(x[0], x[1])
			c.Save(x[0], y)
			return y
		},
		Backward: func(c *weft.FuncContext, dy *weft.Tensor) []*weft.Tensor {
			a, y := c.Saved(0), c.Saved(1)
			db := solution(name).Apply(adjoint(a), dy)
			if !c.Need[0] {
				return []*weft.Tensor{nil, db}
			}
			return []*weft.Tensor{db.MatMul(adjoint(y)).Neg(), db}
		},
	}
}

func eliminated(a, b *weft.Tensor) *weft.Tensor {
	switch a.DType() {
	case array.Float32:
		return pagesOf(a, b, func(x float32) float64 { return math.Abs(float64(x)) })
	case array.Float64:
		return pagesOf(a, b, math.Abs)
	case array.Complex64:
		return pagesOf(a, b, func(x complex64) float64 { return math.Abs(float64(real(x))) + math.Abs(float64(imag(x))) })
	}
	return pagesOf(a, b, func(x complex128) float64 { return math.Abs(real(x)) + math.Abs(imag(x)) })
}

// pagesOf solves the systems of all pages; size is what pivots are chosen by.
func pagesOf[T float32 | float64 | complex64 | complex128](a, b *weft.Tensor, size func(T) float64) *weft.Tensor {
	shape := (*core.Tensor)(b).Sizes()
	n, m := shape[len(shape)-2], shape[len(shape)-1]
	x := weft.Data[T](b)
	if len(x) == 0 {
		return b.Device().ZerosOf(b.DType(), shape...)
	}
	lu := weft.Data[T](a)
	par.Run(len(x)/(n*m), max(1, 1<<14/(n*n*(n+m))), 0, func(_, begin, end int) {
		page := make([]T, n*n)
		for p := begin; p < end; p++ {
			copy(page, lu[p*n*n:])
			eliminate(page, x[p*n*m:(p+1)*n*m], n, m, size)
		}
	})
	return weft.FromSlice(x, shape...).On(b.Device())
}

// eliminate puts the solution into b, n rows of m; a, n rows of n, is used up.
func eliminate[T float32 | float64 | complex64 | complex128](a, b []T, n, m int, size func(T) float64) {
	for k := range n {
		pivot := k
		for i := k + 1; i < n; i++ {
			if size(a[i*n+k]) > size(a[pivot*n+k]) {
				pivot = i
			}
		}
		if pivot != k {
			for j := k; j < n; j++ {
				a[k*n+j], a[pivot*n+j] = a[pivot*n+j], a[k*n+j]
			}
			for j := range m {
				b[k*m+j], b[pivot*m+j] = b[pivot*m+j], b[k*m+j]
			}
		}
		for i := k + 1; i < n; i++ {
			f := a[i*n+k] / a[k*n+k]
			if f == 0 {
				continue
			}
			subtract(a[i*n+k+1:(i+1)*n], a[k*n+k+1:(k+1)*n], f)
			subtract(b[i*m:(i+1)*m], b[k*m:(k+1)*m], f)
		}
	}
	for k := n - 1; k >= 0; k-- {
		row := b[k*m : (k+1)*m]
		for j := range row {
			row[j] /= a[k*n+k]
		}
		for i := range k {
			subtract(b[i*m:(i+1)*m], row, a[i*n+k])
		}
	}
}

// subtract takes f times y from x.
func subtract[T float32 | float64 | complex64 | complex128](x, y []T, f T) {
	for i, v := range y[:len(x)] {
		x[i] -= f * v
	}
}
