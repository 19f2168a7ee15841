package linalg

import (
	"math"

	"weft/internal/cpu/tile"
	"weft/internal/fma"
	"weft/internal/jit"
	"weft/internal/par"
)

// A luPanel holds a few columns that are being factored, as rows, and what updates of the columns right of them need.
type luPanel[T number] struct {
	at     int       // first column
	p      matrix[T] // its rows are the columns, from row at of the matrix on
	minus  matrix[T] // the rows below the block on the diagonal, negated
	pivots []int64   // counted from row at
}

// luWidth returns the number of columns of a panel. It depends on nothing but the matrix.
func luWidth(steps int) int {
	switch {
	case steps <= 2*base:
		return base
	case steps < 256:
		return 2 * base
	case steps < 1024:
		return 4 * base
	}
	return 8 * base
}

// lu factors a in place, panel of columns by panel. While the columns right of a panel are updated, the next panel
// is factored.
func (k *kit[T]) lu(a matrix[T], pivots []int64) {
	m, n := a.rows, a.cols
	steps := min(m, n)
	width := luWidth(steps)
	step := panelStep[T](m)
	s, free := alloc[T](2 * width * (step + m))
	defer free()
	one := kit[T]{k.isa, 1}
	panel := func(at int) luPanel[T] {
		b, rows := min(width, steps-at), m-at
		mem := s[at/width%2*width*(step+m):]
		return luPanel[T]{at, matrix[T]{mem[:b*step], b, rows, step}, matrix[T]{mem[width*step:][:(rows-b)*b], rows - b, b, b}, pivots[at : at+b]}
	}
	now := panel(0)
	one.luPanel(a, now)
	for now.at+now.p.rows < n {
		first := now.at + now.p.rows
		next := luPanel[T]{}
		if first < steps {
			next = panel(first)
		}
		k.ahead(first, next.p.rows, n, (m-now.at)*now.p.rows, func(lo, hi int) { one.luUpdate(a, now, lo, hi) }, func() { one.luPanel(a, next) })
		if first >= steps {
			break
		}
		now = next
	}
	// Rows left of panels are exchanged in the end.
	par.Run(tile.Ceil(steps, width), 1, tile.ThreadsFor(m*steps, k.threads), func(_, begin, end int) {
		for i := begin; i < end; i++ {
			lo := i * width
			for at := lo + width; at < steps; at += width {
				k.exchange(a.sub(at, lo, m-at, width), pivots[at:min(at+width, steps)], false)
			}
		}
	})
	for i := range pivots[:steps] {
		pivots[i] += int64(i / width * width)
	}
}

// luUpdate updates columns lo to hi-1 after a panel was factored.
func (k *kit[T]) luUpdate(a matrix[T], p luPanel[T], lo, hi int) {
	b, rows := p.p.rows, a.rows-p.at
	c := a.sub(p.at, lo, rows, hi-lo)
	k.exchange(c, p.pivots, false)
	top := c.sub(0, 0, b, hi-lo)
	k.solve(operand[T]{matrix: a.sub(p.at, p.at, b, b)}, true, true, top)
	if below := c.sub(b, 0, rows-b, hi-lo); typeOf[T]().Complex() {
		k.subtractProduct(below, operand[T]{matrix: a.sub(p.at+b, p.at, rows-b, b)}, operand[T]{matrix: top})
	} else {
		k.addProduct(below, operand[T]{matrix: p.minus}, operand[T]{matrix: top})
	}
}

// luPanel factors the columns of a panel of a, and leaves its minus.
func (k *kit[T]) luPanel(a matrix[T], p luPanel[T]) {
	b := p.p.rows
	c := a.sub(p.at, p.at, p.p.cols, b)
	k.copyTransposed(p.p, c)
	for i := range b {
		clear(p.p.x[i*p.p.ld+p.p.cols:][:padded[T](p.p.cols)-p.p.cols])
	}
	k.luRows(p.p, 0, b, p.pivots)
	k.copyTransposed(c, p.p)
	negate(p.minus, c.sub(b, 0, p.minus.rows, b))
}

// copyTransposed copies from^T to to.
func (k *kit[T]) copyTransposed(to, from matrix[T]) {
	if d := typeOf[T](); !d.Complex() {
		tile.CopyMat(tile.New(k.isa, d), from.rows, from.cols, matOf(to).T(), matOf(from))
		return
	}
	for i := range from.rows {
		for j, x := range from.row(i) {
			to.x[j*to.ld+i] = x
		}
	}
}

// luRows factors columns c0 to c1-1, the rows of p, by halves. Source: Toledo, "Locality of reference in LU
// decomposition with partial pivoting", SIAM J. Matrix Anal. Appl. 18, 1997.
func (k *kit[T]) luRows(p matrix[T], c0, c1 int, pivots []int64) {
	w := c1 - c0
	if w <= base {
		k.luBase(p, c0, c1, pivots)
		return
	}
	h := (w/2 + base - 1) / base * base
	k.luRows(p, c0, c0+h, pivots)
	s, free := alloc[T](h * (w - h))
	defer free()
	x := matrix[T]{s, h, w - h, w - h}
	top := p.sub(c0+h, c0, w-h, h)
	k.copyTransposed(x, top)
	k.solve(operand[T]{p.sub(c0, c0, h, h), true, false}, true, true, x)
	k.copyTransposed(top, x)
	rest := p.cols - c0 - h
	k.subtractProduct(p.sub(c0+h, c0+h, w-h, rest), operand[T]{x, true, false}, operand[T]{matrix: p.sub(c0, c0+h, h, rest)})
	k.luRows(p, c0+h, c1, pivots)
}

// luBase factors columns c0 to c1-1 one by one, and exchanges elements of all columns.
func (k *kit[T]) luBase(p matrix[T], c0, c1 int, pivots []int64) {
	if k.isa != jit.Portable {
		switch p := any(p).(type) {
		case matrix[float32]:
			luColumns(k.isa, p, c0, c1, pivots)
			return
		case matrix[float64]:
			luColumns(k.isa, p, c0, c1, pivots)
			return
		}
	}
	s, m := p.x, p.ld
	for j := c0; j < c1; j++ {
		col := p.row(j)
		solveColumn(col[c0:j], s[c0*m+c0:], m)
		k.subtractRows(col[j:], col[c0:j], s[c0*m+j:], m)
		at := j + greatest(col[j:])
		pivots[j] = int64(at)
		if at != j {
			for i := range p.rows {
				s[i*m+j], s[i*m+at] = s[i*m+at], s[i*m+j]
			}
		}
		if col[j] != 0 {
			divideRow(col[j+1:], col[j])
		}
	}
}

// solveColumn solves equations of a lower triangle with ones on its diagonal, whose columns are m elements apart,
// in place of x. It is for few equations, as subtractRows for the rows of a vector that machine code is slow to begin.
func solveColumn[T number](x, s []T, m int) {
	switch x := any(x).(type) {
	case []float32:
		s := any(s).([]float32)
		for q, v := range x {
			for i := q + 1; i < len(x); i++ {
				x[i] = fma.Float32(-v, s[q*m+i], x[i])
			}
		}
	case []float64:
		s := any(s).([]float64)
		for q, v := range x {
			below := x[q+1:]
			col := s[q*m+q+1:][:len(below)]
			for i, y := range col {
				below[i] = math.FMA(-v, y, below[i])
			}
		}
	case []complex128:
		for q := range x {
			subtractComplex(x[q+1:], x[q:q+1], any(s).([]complex128)[q*m+q+1:], m)
		}
	}
}
