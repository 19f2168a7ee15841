package linalg

import (
	"math"

	"weft/internal/array"
	"weft/internal/cpu/tile"
	"weft/internal/jit"
	"weft/internal/par"
)

// qrBlock is the number of reflections that are applied at once: of columns that are reduced one by one, and
// with qrWide columns, which are reduced in blocks, to those right of them.
const (
	qrBlock = 32
	qrWide  = 128
)

// plainSide and plainSize are the shorter side and the elements of matrices whose reflections are applied one by one.
const (
	plainSide = 96
	plainSize = 1 << 14
)

// QR computes q*r = a, with orthonormal columns of q, and r upper triangular with a real diagonal. q is
// m x k and r is k x n, where k is m or the lesser of m and n. With q nil only r is computed.
func QR(isa jit.ISA, q, r, a *array.View) error {
	d := len(a.Shape)
	m, n := a.Shape[d-2], a.Shape[d-1]
	batch, work := a.Shape[:d-2], m*n*min(m, n)
	if q != nil {
		work *= 2
	}
	one := func(i, threads int) string { return qrAt(kit[complex128]{isa, threads}, q, r, a, i) }
	switch r.DType {
	case array.Float32:
		one = func(i, threads int) string { return qrAt(kit[float32]{isa, threads}, q, r, a, i) }
	case array.Float64:
		one = func(i, threads int) string { return qrAt(kit[float64]{isa, threads}, q, r, a, i) }
	}
	key, out := lanesKey{isa, r.DType, qrLanes, m, n, 0}, []lanesArray{matrices(r)}
	if q != nil {
		key.w = q.Shape[d-1]
		out = append(out, matrices(q))
	}
	if k := min(m, n); r.Shape[d-2] == k && (q == nil || key.w == k) {
		if alone, ok := lanes(key, work, []lanesArray{matrices(a)}, out, nil); ok {
			return only("a", batch, alone, one)
		}
	}
	if r.DType.Complex() {
		work *= 4
	}
	return each("a", batch, work, one)
}

func qrAt[T number](k kit[T], q, r, a *array.View, i int) string {
	d := len(a.Shape)
	m, n := a.Shape[d-2], a.Shape[d-1]
	rows, cols := r.Shape[d-2], 0
	if q != nil {
		cols = q.Shape[d-1]
	}
	s, free := alloc[T](m*n + m*cols)
	defer free()
	w, unitary := matrix[T]{s[:m*n], m, n, n}, matrix[T]{s[m*n:], m, cols, cols}
	if m*n > 0 {
		load(w, matrixAt(a, i, 2))
	}
	if !k.qrSmall(w, unitary) && !k.qrPlain(w, unitary) {
		h := k.qr(w)
		defer h.free()
		for i := range m {
			clear(w.row(i)[:min(i, n)])
		}
		for i := range m {
			row := unitary.row(i)
			clear(row)
			if i < cols {
				row[i] = fromReal[T](1)
			}
		}
		k.formQ(h, unitary)
	}
	if rows*n > 0 {
		store(matrixAt(r, i, 2), w.sub(0, 0, rows, n))
	}
	if m*cols > 0 {
		store(matrixAt(q, i, 2), unitary)
	}
	return ""
}

// qrSmall is smallQR where that is for the matrix.
func (k *kit[T]) qrSmall(a, q matrix[T]) bool {
	if !isSmallQR(a.rows, a.cols) {
		return false
	}
	s, free := alloc[T](a.rows * a.cols)
	defer free()
	copy(s, a.x)
	b, ok := matrix[T]{s, a.rows, a.cols, a.cols}, false
	switch b := any(b).(type) {
	case matrix[float32]:
		ok = smallQR(b, any(q).(matrix[float32]))
	case matrix[float64]:
		ok = smallQR(b, any(q).(matrix[float64]))
	}
	if ok {
		copy(a.x, s)
	}
	return ok
}

// qrPlain replaces a by r, and q by the first columns of Q, by reflections one by one, where the matrix is so small that
// they cost less than products of blocks.
func (k *kit[T]) qrPlain(a, q matrix[T]) bool {
	m, n := a.rows, a.cols
	steps := min(m, n)
	if steps == 0 || steps > plainSide || m*n > plainSize || typeOf[T]().Complex() {
		return false
	}
	ld := padded[T](m)
	s, free := alloc[T]((n+q.cols+1)*ld + steps)
	defer free()
	clear(s)
	p, qt := matrix[T]{s[:n*ld], n, m, ld}, matrix[T]{s[n*ld : (n+q.cols)*ld], q.cols, m, ld} // transposed
	v, taus := s[(n+q.cols)*ld:][:ld], s[(n+q.cols+1)*ld:]
	for i := range m {
		for j, x := range a.row(i) {
			p.x[j*ld+i] = x
		}
	}
	for c := range steps {
		taus[c] = reflector(p.row(c)[c:])
		if taus[c] != 0 {
			k.applyVector(v, p.row(c), c, taus[c], p, c+1, n)
		}
	}
	for i := range m {
		row := a.row(i)
		clear(row[:min(i, n)])
		for j := i; j < n; j++ {
			row[j] = p.x[j*ld+i]
		}
	}
	for j := range q.cols {
		qt.x[j*ld+j] = fromReal[T](1)
	}
	for c := steps - 1; c >= 0; c-- {
		if c < q.cols && taus[c] != 0 {
			k.applyVector(v, p.row(c), c, taus[c], qt, c, q.cols)
		}
	}
	for i := range m {
		row := q.row(i)
		for j := range row {
			row[j] = qt.x[j*ld+i]
		}
	}
	return true
}

// Reflections are products of Householder reflections I - v t v^H, in blocks of qrBlock.
type reflections[T number] struct {
	blocks []reflectionBlock[T]
	free   func()
}

// A reflectionBlock is I - v t v^H: v has as its rows the vectors, from row at of the matrix on, and t is
// upper triangular. Source: Schreiber and Van Loan, "A storage-efficient WY representation for products
// of Householder transformations", SIAM J. Sci. Stat. Comput. 10, 1989.
type reflectionBlock[T number] struct {
	at   int
	v, t matrix[T]
}

// qr replaces a by r, whose part below the diagonal is arbitrary. Reflections of a block are applied while the next
// is reduced.
func (k *kit[T]) qr(a matrix[T]) reflections[T] {
	m, n := a.rows, a.cols
	steps := min(m, n)
	size, wide := 0, qrBlock
	if steps >= 8*qrWide {
		wide = qrWide
	}
	for j := 0; j < steps; j += wide {
		b := min(wide, steps-j)
		size += b * (panelStep[T](m-j) + b)
	}
	s, free := alloc[T](size)
	h := reflections[T]{free: free}
	clear(s)
	for j := 0; j < steps; j += wide {
		b, rows := min(wide, steps-j), m-j
		ld := panelStep[T](rows)
		h.blocks = append(h.blocks, reflectionBlock[T]{j, matrix[T]{s[:b*ld], b, rows, ld}, matrix[T]{s[b*ld : b*ld+b*b], b, b, b}})
		s = s[b*ld+b*b:]
	}
	one := kit[T]{k.isa, 1}
	for i, b := range h.blocks {
		if i == 0 {
			one.qrBlocks(a, b)
		}
		first, next := b.at+b.v.rows, reflectionBlock[T]{}
		if i+1 < len(h.blocks) {
			next = h.blocks[i+1]
		}
		k.ahead(first, next.v.rows, n, 2*b.v.rows*b.v.cols, func(lo, hi int) {
			one.reflect(b.v, b.t, true, a.sub(b.at, lo, m-b.at, hi-lo))
		}, func() { one.qrBlocks(a, next) })
	}
	return h
}

// qrBlocks reduces the columns of a block, and leaves its vectors and t, which were 0.
func (k *kit[T]) qrBlocks(a matrix[T], h reflectionBlock[T]) {
	b, rows := h.v.rows, h.v.cols
	for i := 0; i < b; i += qrBlock {
		w := min(qrBlock, b-i)
		k.qrBlock(a.sub(h.at+i, h.at+i, rows-i, b-i), h.v.sub(i, i, w, rows-i), h.t.sub(i, i, w, w))
	}
	k.finishT(h.v, h.t)
}

// qrBlock reduces the first v.rows columns of a, and reflects the others. It leaves the vectors
// in v, and t.
func (k *kit[T]) qrBlock(a, v, t matrix[T]) {
	b, rows := v.rows, v.cols
	for i := range rows {
		for c, x := range a.row(i)[:b] {
			v.x[c*v.ld+i] = x
		}
	}
	k.qrPanel(v, t)
	for i := range b { // r above, vectors below
		row := a.row(i)
		for c := i; c < b; c++ {
			row[c] = v.x[c*v.ld+i]
		}
	}
	for c := range b {
		row := v.row(c)
		clear(row[:c])
		row[c] = fromReal[T](1)
	}
	if a.cols > b {
		k.finishT(v, t)
		k.reflect(v, t, true, a.sub(0, b, rows, a.cols-b))
	}
}

// qrPanel reduces the columns of a panel, the rows of p, to upper triangular form. Below the diagonal it
// leaves the vectors of reflections, whose first elements are 1, and on the diagonal of t their factors.
// Requires: memory behind the rows up to padded elements, which is 0.
func (k *kit[T]) qrPanel(p, t matrix[T]) {
	v, free := alloc[T](padded[T](p.cols))
	defer free()
	for c := range p.rows {
		tau := reflector(p.row(c)[c:])
		t.x[c*t.ld+c] = tau
		if tau != 0 {
			k.applyVector(v, p.row(c), c, conj(tau), p, c+1, p.rows)
		}
	}
}

// applyVector applies I - tau v v^H to the rows from begin to end of p: v has 0 before element c, 1 there, and
// elements of x behind it. It takes memory for v.
func (k *kit[T]) applyVector(v, x []T, c int, tau T, p matrix[T], begin, end int) {
	if begin == end {
		return
	}
	from := padded[T](c+1) - padded[T](1)
	clear(v[from:c])
	v[c] = fromReal[T](1)
	clear(v[c+copy(v[c+1:], x[c+1:])+1:])
	rows := p.x[begin*p.ld+from : cap(p.x)]
	switch rows := any(rows).(type) {
	case []float32:
		reflectRows(k.isa, rows, p.ld, end-begin, any(v).([]float32)[from:], any(tau).(float32))
		return
	case []float64:
		reflectRows(k.isa, rows, p.ld, end-begin, any(v).([]float64)[from:], any(tau).(float64))
		return
	}
	for r := begin; r < end; r++ {
		w := times(tau, dot(v[c:len(x)], p.row(r)[c:]))
		k.subtractRows(p.row(r)[c:], []T{w}, v[c:len(x)], len(x)-c)
	}
}

// reflector makes x a multiple of the first unit vector: it returns tau, and leaves the multiple, which is
// real, in x[0] and the vector of the reflection I - tau v v^H behind it. As LAPACK, it leaves a vector
// that is such a multiple as it is, with tau 0.
func reflector[T number](x []T) (tau T) {
	alpha := x[0]
	rest := length(x[1:])
	if rest == 0 && im(alpha) == 0 {
		return tau
	}
	norm := hypot(hypot(re(alpha), im(alpha)), rest)
	least, up := 0x1p-960, 600 // below which digits are lost
	if typeOf[T]() == typeOf[float32]() {
		least, up = 0x1p-100, 80
	}
	if norm < least {
		f, back := fromReal[T](math.Ldexp(1, up)), fromReal[T](math.Ldexp(1, -up))
		for i := range x {
			x[i] = times(x[i], f)
		}
		tau = reflector(x)
		x[0] = times(x[0], back)
		return tau
	}
	beta := -math.Copysign(norm, re(alpha))
	b := fromReal[T](beta)
	tau = quotient(b-alpha, b)
	divideRow(x[1:], alpha-b)
	x[0] = b
	return tau
}

// finishT computes t, which is 0 off the diagonal or has been computed for some first rows of v, from its diagonal
// and the vectors v.
func (k *kit[T]) finishT(v, t matrix[T]) {
	b := t.rows
	s, free := alloc[T](b * (b + 1))
	defer free()
	g, w := matrix[T]{s[:b*b], b, b, b}, s[b*b:] // products of the vectors
	if b <= qrBlock/2 {
		for i := range b {
			for j := range i {
				g.x[j*b+i] = dot(v.row(j)[i:], v.row(i)[i:])
			}
		}
	} else {
		k.multiply(g, operand[T]{v, false, true}, operand[T]{v, true, false})
	}
	for i := 1; i < b; i++ {
		tau := t.x[i*t.ld+i]
		if tau == 0 {
			continue
		}
		for j := range i {
			w[j] = times(-tau, g.x[j*b+i])
		}
		for j := range i {
			var s T
			for q := j; q < i; q++ {
				s += times(t.x[j*t.ld+q], w[q])
			}
			t.x[j*t.ld+i] = s
		}
	}
}

// reflect applies a block of reflections, or its adjoint, to a.
func (k *kit[T]) reflect(v, t matrix[T], adjoint bool, a matrix[T]) {
	if a.cols == 0 || a.rows == 0 {
		return
	}
	b := v.rows
	s, free := alloc[T](2 * b * a.cols)
	defer free()
	w, tw := matrix[T]{s[:b*a.cols], b, a.cols, a.cols}, matrix[T]{s[b*a.cols:], b, a.cols, a.cols}
	k.multiply(w, operand[T]{v, false, true}, operand[T]{matrix: a})
	if typeOf[T]().Complex() {
		k.multiply(tw, operand[T]{t, adjoint, adjoint}, operand[T]{matrix: w})
		k.subtractProduct(a, operand[T]{v, true, false}, operand[T]{matrix: tw})
		return
	}
	minus, done := operand[T]{t, adjoint, adjoint}.negated()
	defer done()
	k.multiply(tw, minus, operand[T]{matrix: w})
	k.addProduct(a, operand[T]{v, true, false}, operand[T]{matrix: tw})
}

// formQ multiplies columns of the identity by the reflections: each piece of the columns by all that change it.
func (k *kit[T]) formQ(h reflections[T], q matrix[T]) {
	if len(h.blocks) == 0 || q.cols == 0 {
		return
	}
	threads := tile.ThreadsFor(q.rows*q.cols*len(h.blocks)*h.blocks[0].v.rows, k.threads)
	piece := q.cols
	if threads > 1 {
		piece = min(2*qrWide, max(2*qrBlock, tile.Ceil(tile.Ceil(q.cols, 4*threads), qrBlock)*qrBlock))
	}
	one := kit[T]{k.isa, 1}
	pieces := tile.Ceil(q.cols, piece)
	par.Run(pieces, 1, threads, func(_, begin, end int) {
		for p := begin; p < end; p++ {
			lo := (pieces - 1 - p) * piece // the last have the most reflections
			hi := min(lo+piece, q.cols)
			for i := len(h.blocks) - 1; i >= 0; i-- {
				if b := h.blocks[i]; b.at < hi {
					from := max(lo, b.at)
					one.reflect(b.v, b.t, false, q.sub(b.at, from, q.rows-b.at, hi-from))
				}
			}
		}
	})
}
