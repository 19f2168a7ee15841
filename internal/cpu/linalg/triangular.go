package linalg

import (
	"fmt"

	"weft/internal/array"
	"weft/internal/jit"
)

// A Triangle says which triangle of a matrix counts.
type Triangle struct {
	Lower   bool
	Unit    bool // ones on the diagonal, which is not read
	Adjoint bool // the conjugate transpose stands in the place of the matrix
}

// SolveTriangular solves equations of triangular matrices: a*x = b, the matrices being in the last two
// axes. It fails where an element of the diagonal is 0.
func SolveTriangular(isa jit.ISA, x, a, b *array.View, t Triangle) error {
	r := len(a.Shape)
	n, w := a.Shape[r-1], b.Shape[r-1]
	batch := a.Shape[:r-2]
	switch x.DType {
	case array.Float32:
		return each("a", batch, n*n*w/2, func(i, threads int) string {
			return solveTriangularAt[float32](kit[float32]{isa, threads}, x, a, b, t, i)
		})
	case array.Float64:
		return each("a", batch, n*n*w/2, func(i, threads int) string {
			return solveTriangularAt[float64](kit[float64]{isa, threads}, x, a, b, t, i)
		})
	}
	return each("a", batch, 2*n*n*w, func(i, threads int) string {
		return solveTriangularAt[complex128](kit[complex128]{isa, threads}, x, a, b, t, i)
	})
}

func solveTriangularAt[T number](k kit[T], x, a, b *array.View, t Triangle, i int) string {
	r := len(a.Shape)
	n, w := a.Shape[r-1], b.Shape[r-1]
	if n == 0 || w == 0 {
		return ""
	}
	o, free := borrowed[T](matrixAt(a, i, 2), n, n)
	defer free()
	m, done := result[T](matrixAt(x, i, 2), n, w)
	defer done()
	k.load(m, matrixAt(b, i, 2))
	lower := t.Lower
	if t.Adjoint {
		lower, o.t, o.c = !lower, !o.t, true
	}
	if z := k.solve(o, lower, t.Unit, m); z > 0 {
		return fmt.Sprintf("is singular: element %d of its diagonal is 0", z-1)
	}
	return ""
}

// solve solves t*x = b in place of b, t being lower or upper triangular. It returns 0, or 1 more than the
// place of the first 0 on the diagonal.
func (k *kit[T]) solve(t operand[T], lower, unit bool, x matrix[T]) int {
	n := x.rows
	if !unit {
		for i := range n {
			if t.at(i, i) == 0 {
				return i + 1
			}
		}
	}
	size := min(blockSize, n)
	c, free := alloc[T](size * size)
	defer free()
	for done := 0; done < n; done += blockSize {
		b := min(blockSize, n-done)
		at, from := done, 0 // rows to solve, first row that is solved
		if !lower {
			at, from = n-done-b, n-done
		}
		rows := x.sub(at, 0, b, x.cols)
		if done > 0 {
			k.subtractProduct(rows, t.sub(at, from, b, done), operand[T]{matrix: x.sub(from, 0, done, x.cols)})
		}
		d := t.sub(at, at, b, b)
		if lower && unit {
			k.solveUnit(d, rows)
			continue
		}
		for i := range b {
			for j := range b {
				if j == i || j < i == lower {
					c[i*b+j] = d.at(i, j)
				}
			}
		}
		k.columns(x.cols, b*b/2, func(lo, hi int) { k.solveBlock(c, lower, unit, rows.sub(0, lo, b, hi-lo)) })
	}
	return 0
}

// solveUnit solves equations of a lower triangle with ones on its diagonal: by solveRows, and row by row what that
// leaves.
func (k *kit[T]) solveUnit(t operand[T], x matrix[T]) {
	n := x.rows
	s, free := alloc[T](n * (2*n + solveGroupMost))
	defer free()
	c, packed := s[:n*n], s[n*n:]
	for i := range n {
		row := c[i*n : i*n+i]
		switch {
		case t.c:
			for j := range row {
				row[j] = t.at(i, j)
			}
		case t.t:
			for j := range row {
				row[j] = t.x[j*t.ld+i]
			}
		default:
			copy(row, t.x[i*t.ld:])
		}
	}
	whole := packSolve(k.isa, packed, c, n)
	k.columns(x.cols, n*n/2, func(lo, hi int) {
		x := x.sub(0, lo, n, hi-lo)
		cols := k.solveRows(packed, x, whole)
		for i := range n {
			from := 0 // first column to solve
			if i < whole {
				from = cols
			}
			if from < x.cols {
				k.subtractRows(x.row(i)[from:], c[i*n:i*n+i], x.x[from:], x.ld)
			}
		}
	})
}

// solveBlock solves equations of a triangle, whose rows are contiguous in c.
func (k *kit[T]) solveBlock(c []T, lower, unit bool, x matrix[T]) {
	n := x.rows
	for step := range n {
		i := step
		if !lower {
			i = n - 1 - step
		}
		row := c[i*n : i*n+n]
		if lower {
			k.subtractRows(x.row(i), row[:i], x.x, x.ld)
		} else if i < n-1 {
			k.subtractRows(x.row(i), row[i+1:], x.x[(i+1)*x.ld:], x.ld)
		}
		if !unit {
			divideRow(x.row(i), row[i])
		}
	}
}
