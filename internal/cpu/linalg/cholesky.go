package linalg

import (
	"fmt"
	"math"

	"weft/internal/array"
	"weft/internal/jit"
)

// Cholesky computes lower triangular matrices out with out*out^H = a, from the lower triangles of the
// matrices in the last two axes of a. It fails where a matrix is not positive definite.
func Cholesky(isa jit.ISA, out, a *array.View) error {
	r := len(a.Shape)
	n := a.Shape[r-1]
	batch := a.Shape[:r-2]
	one := func(i, threads int) string { return choleskyAt(kit[complex128]{isa, threads}, out, a, i) }
	switch out.DType {
	case array.Float32:
		one = func(i, threads int) string { return choleskyAt(kit[float32]{isa, threads}, out, a, i) }
	case array.Float64:
		one = func(i, threads int) string { return choleskyAt(kit[float64]{isa, threads}, out, a, i) }
	}
	key := lanesKey{isa, out.DType, choleskyLanes, n, n, 0}
	if alone, ok := lanes(key, n*n*n/3, []lanesArray{matrices(a)}, []lanesArray{matrices(out)}, nil); ok {
		return only("a", batch, alone, one)
	}
	work := n * n * n
	if !out.DType.Complex() {
		work /= 6
	}
	return each("a", batch, work, one)
}

func choleskyAt[T number](k kit[T], out, a *array.View, i int) string {
	n := a.Shape[len(a.Shape)-1]
	if n == 0 {
		return ""
	}
	m, done := result[T](matrixAt(out, i, 2), n, n)
	defer done()
	k.load(m, matrixAt(a, i, 2))
	if minor := k.cholesky(m); minor > 0 {
		return fmt.Sprintf("is not positive definite: its leading minor of order %d is not positive", minor)
	}
	for i := range n {
		clear(m.row(i)[i+1:])
	}
	return ""
}

// cholesky factors the lower triangle of a in place, block of columns by block: the products with the
// columns before it are subtracted at once. It returns 0, or the order of the first leading minor that
// is not positive.
func (k *kit[T]) cholesky(a matrix[T]) int {
	n := a.rows
	s, free := alloc[T](min(blockSize, n) * n)
	defer free()
	for j := 0; j < n; j += blockSize {
		b, w := min(blockSize, n-j), n-j
		p := matrix[T]{s[:b*w], b, w, w} // columns of the block as rows
		if j > 0 {
			k.multiply(p, operand[T]{a.sub(j, 0, b, j), false, true}, operand[T]{a.sub(j, 0, w, j), true, false})
		} else {
			clear(p.x)
		}
		for r := range w {
			row := a.row(j + r)[j:]
			for i := range min(b, r+1) {
				p.x[i*w+r] = row[i] - p.x[i*w+r]
			}
		}
		if minor := k.choleskyPanel(p); minor > 0 {
			return j + minor
		}
		for r := range w {
			row := a.row(j + r)[j:]
			for i := range min(b, r+1) {
				row[i] = p.x[i*w+r]
			}
		}
	}
	return 0
}

// choleskyPanel factors the first columns of a matrix, the rows of p.
func (k *kit[T]) choleskyPanel(p matrix[T]) int {
	b := p.rows
	c, free := alloc[T](b * b) // conjugate of the triangle on the diagonal
	defer free()
	for i := range b {
		row := c[i*b : i*b+i+1]
		for q := range i {
			row[q] = conj(p.x[q*p.ld+i])
		}
		y := p.row(i)[i:b]
		k.subtractRows(y, row[:i], p.x[i:], p.ld)
		d := re(y[0])
		if !(d > 0) {
			return i + 1
		}
		y[0] = fromReal[T](math.Sqrt(d))
		row[i] = y[0]
		divideRow(y[1:], y[0])
	}
	rest := p.sub(0, b, b, p.cols-b)
	if rest.cols == 0 {
		return 0
	}
	k.columns(rest.cols, b*b/2, func(lo, hi int) { k.solveBlock(c, true, false, rest.sub(0, lo, b, hi-lo)) })
	return 0
}
