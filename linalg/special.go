package linalg

import (
	"weft"
	"weft/internal/array"
	"weft/internal/core"
)

// Kron returns the Kronecker product: each element of a times all of b, in blocks. An array of fewer axes
// gets axes of size 1 in front, as in NumPy. Integers stay integers.
//
// It panics with *[weft.Error] where the result would be too large.
func Kron(a, b *weft.Tensor) *weft.Tensor {
	const name = "linalg.kron"
	defer array.Named(name).End()
	(*core.Tensor)(a).CheckArgument(name, "a")
	(*core.Tensor)(b).CheckArgument(name, "b")
	r := max(a.Rank(), b.Rank())
	x, y, whole := make([]int, 0, 2*r), make([]int, 0, 2*r), make([]int, 0, r)
	for d := -r; d < 0; d++ {
		m, n := 1, 1
		if -d <= a.Rank() {
			m = a.Dim(d)
		}
		if -d <= b.Rank() {
			n = b.Dim(d)
		}
		x, y, whole = append(x, m, 1), append(y, 1, n), append(whole, m*n)
	}
	return a.Reshape(x...).Mul(b.Reshape(y...)).Reshape(whole...)
}

// vector checks an argument of one axis or more.
func vector(name, arg string, t *weft.Tensor) *weft.Tensor {
	(*core.Tensor)(t).CheckArgument(name, arg)
	if t.Rank() == 0 {
		array.Failf(name, arg, "has shape [], want a vector in the last axis")
	}
	return t
}

// picked is matrices of m x n elements of vectors, element (i, j) being element at(i, j).
func picked(v *weft.Tensor, m, n int, at func(i, j *weft.Tensor) *weft.Tensor) *weft.Tensor {
	i, j := v.Device().Arange(m).Unsqueeze(1), v.Device().Arange(n)
	shape := append(v.Shape()[:v.Rank()-1], m, n)
	return v.IndexSelect(-1, at(i, j).Reshape(m*n)).Reshape(shape...)
}

// ToeplitzOpts are the options of [Toeplitz] and [Hankel].
type ToeplitzOpts struct {
	R *weft.Tensor // the first row of Toeplitz, the last of Hankel; its first element does not count
}

// Toeplitz returns matrices with constant diagonals, [... m n], from their first columns c, [... m]. The
// first row is R, or the conjugate of c if that is not given.
//
// It panics with *[weft.Error] where c or R has no axis, or axes before the last differ.
func Toeplitz(c *weft.Tensor, opts ...ToeplitzOpts) *weft.Tensor {
	const name = "linalg.toeplitz"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	c = vector(name, "c", c)
	r := o.R
	if r == nil {
		r = c
		if c.DType().Complex() {
			r = c.Conj()
		}
	}
	r = vector(name, "R", r)
	m, n := c.Dim(-1), r.Dim(-1)
	if m*n == 0 {
		return c.Device().ZerosOf(array.Promote(c.DType(), r.DType()), append(c.Shape()[:c.Rank()-1], m, n)...)
	}
	v := weft.Cat([]*weft.Tensor{along(r.Flip(-1), 1, 0, n-1), c}, -1)
	return picked(v, m, n, func(i, j *weft.Tensor) *weft.Tensor { return i.Sub(j).Add(n - 1) })
}

// Hankel returns matrices with constant antidiagonals, [... m n], from their first columns c, [... m]. The
// last row is R, or zeros behind the last element of c if that is not given.
//
// It panics with *[weft.Error] where c or R has no axis, or axes before the last differ.
func Hankel(c *weft.Tensor, opts ...ToeplitzOpts) *weft.Tensor {
	const name = "linalg.hankel"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	c = vector(name, "c", c)
	r := o.R
	if r == nil {
		r = weft.ZerosLike(c)
	}
	r = vector(name, "R", r)
	m, n := c.Dim(-1), r.Dim(-1)
	if m*n == 0 {
		return c.Device().ZerosOf(array.Promote(c.DType(), r.DType()), append(c.Shape()[:c.Rank()-1], m, n)...)
	}
	v := weft.Cat([]*weft.Tensor{c, along(r, 1, 1, n-1)}, -1)
	return picked(v, m, n, func(i, j *weft.Tensor) *weft.Tensor { return i.Add(j) })
}

// Circulant returns matrices, [... n n], whose first columns are c, [... n], each further column being the
// one before it moved down by one.
//
// It panics with *[weft.Error] where c has no axis.
func Circulant(c *weft.Tensor) *weft.Tensor {
	const name = "linalg.circulant"
	defer array.Named(name).End()
	c = vector(name, "c", c)
	n := c.Dim(-1)
	if n == 0 {
		return c.Device().ZerosOf(c.DType(), append(c.Shape(), 0)...)
	}
	return picked(c, n, n, func(i, j *weft.Tensor) *weft.Tensor { return i.Sub(j).Mod(n) })
}

// Hilbert returns the n x n matrix of 1/(i+j+1), float32.
//
// It panics with *[weft.Error] where n is negative or too large.
func Hilbert(n int) *weft.Tensor { return HilbertOf(weft.Float32, n) }

// HilbertOf is [Hilbert] of an element type, a float type.
func HilbertOf(d weft.DType, n int) *weft.Tensor {
	const name = "linalg.hilbert"
	defer array.Named(name).End()
	if n < 0 {
		array.Failf(name, "n", "%d is negative", n)
	}
	if !d.Float() {
		array.Failf(name, "d", "%s is not a float type", d)
	}
	i := weft.Arange[int](n)
	return i.Unsqueeze(1).Add(i).Add(1).To(weft.Float64).Reciprocal().To(d)
}

// VanderOpts are the options of [Vander].
type VanderOpts struct {
	N          *int // the number of columns; that of rows if not given
	Increasing bool // powers ascend
}

// Vander returns matrices, [... m n], whose columns are powers of the vectors x, [... m], from n-1 down to 0
// as in NumPy, or ascending.
//
// It panics with *[weft.Error] where x has no axis or N is negative.
func Vander(x *weft.Tensor, opts ...VanderOpts) *weft.Tensor {
	const name = "linalg.vander"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	x = vector(name, "x", x)
	n := x.Dim(-1)
	if o.N != nil {
		n = *o.N
	}
	if n < 0 {
		array.Failf(name, "N", "%d is negative", n)
	}
	if n == 0 {
		return x.Device().ZerosOf(x.DType(), append(x.Shape(), 0)...)
	}
	x = x.Unsqueeze(-1)
	y := weft.OnesLike(x)
	for k := 1; k < n; k *= 2 { // k powers times the k-th
		y, x = weft.Cat([]*weft.Tensor{y, y.Mul(x)}, -1), x.Mul(x)
	}
	y = along(y, 1, 0, n)
	if !o.Increasing {
		y = y.Flip(-1)
	}
	return y
}

// BlockDiag returns the matrix with matrices on its diagonal, one behind the other, and zeros elsewhere.
// Vectors are rows, and arrays without axes are 1 x 1, as in SciPy.
//
// It panics with *[weft.Error] where there are none, or an array has more than two axes.
func BlockDiag(ts ...*weft.Tensor) *weft.Tensor {
	const name = "linalg.block_diag"
	defer array.Named(name).End()
	blocks, n := core.Outer[weft.Tensor](core.MeetWhole(name, core.Inner(ts))), 0
	for i, t := range blocks {
		switch t.Rank() {
		case 0:
			t = t.Reshape(1, 1)
		case 1:
			t = t.Unsqueeze(0)
		case 2:
		default:
			array.Failf(name, "ts", "%d has shape %s, want a matrix", i, array.ShapeString(t.Shape()))
		}
		blocks[i] = t
		n += t.Dim(1)
	}
	at := 0
	for i, t := range blocks {
		w := t.Dim(1)
		blocks[i] = t.Pad(0, 0, 0, at, n-at-w)
		at += w
	}
	return weft.Cat(blocks, 0)
}
