package cpu

import (
	"math"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/codegen"
	"weft/internal/cpu/product"
	"weft/internal/cpu/tile"
	"weft/internal/device"
	"weft/internal/jit"
	"weft/internal/loop"
	"weft/internal/mem"
	"weft/internal/numbers"
	"weft/internal/op"
	"weft/internal/par"
)

// Attention by strips of queries: scores of a strip and all keys that it sees become weights where
// they lie, and are multiplied with the values. So memory is linear in the number of keys. Rows of
// weights are whole, so nothing is rescaled, and the formula in package op has the same bits:
// neither strips nor threads have a part in them. The backward pass computes the weights again.

// An attention is one application, forward or back.
type attention struct {
	op.Attending
	d             *Device
	dtype         array.DType
	size, lanes   int
	heads         []int // sizes of the axes before the last two
	queries       int
	keys          int
	width, vwidth int // of queries and keys; of values
	q, k, v       *array.View
	mask          *array.View // nil for none
	weights       *Program
	add           *Program // of gradients
	positive      *Program
	pitch, strip  int         // elements of a row of scores; queries of a strip
	leaves        []bool      // by head: keys that no query of a strip sees may be left out
	words         []uint64    // numbers of the program of weights
	draws         *Program    // of uniform numbers, which drop weights
	draw          []uint64    // its seed and number
	dy            *array.View // backward
}

// newAttention describes a call with queries, keys, values and perhaps a mask.
func newAttention(c *device.Call, x []array.View, kind rowKind) *attention {
	q, k, v := &x[0], &x[1], &x[2]
	r := len(q.Shape)
	a := &attention{d: c.Stream.Device().(*Device), Attending: c.Node.Attrs.(op.Attending), dtype: q.DType, size: q.DType.Size(),
		heads: q.Shape[:r-2], queries: q.Shape[r-2], keys: k.Shape[r-2], width: q.Shape[r-1], vwidth: v.Shape[r-1], q: q, k: k, v: v}
	a.lanes = 64 / a.size
	a.pitch = tile.Ceil(a.keys, a.lanes)*a.lanes + a.lanes
	key := rowKey{kind: kind, d: a.dtype, causal: a.Causal}
	a.words = []uint64{a.bits(a.Scale)}
	if key.drop = a.Drop > 0; key.drop {
		a.words = append(a.words, a.bits(a.Kept()), uint64(math.Float32bits(float32(a.Drop))))
		a.draws = a.d.rowProgram(rowKey{kind: rowDraws})
		for _, v := range x[len(x)-2:] {
			a.draw = append(a.draw, *(*uint64)(codegen.Ptr(&v)))
		}
	}
	if a.Masked(len(x)) {
		a.mask = &x[3]
		key.mask, key.step = a.mask.DType, loop.StepOf(a.mask.Strides[r-1])
	}
	a.weights = a.d.rowProgram(key)
	a.positive = a.d.rowProgram(rowKey{kind: rowPositive, d: a.dtype})
	return a
}

// bits returns x as an element.
func (a *attention) bits(x float64) uint64 {
	if a.size == 4 {
		return uint64(math.Float32bits(float32(x)))
	}
	return math.Float64bits(x)
}

// at returns the matrix of a head. One without elements does not move: there may be no memory behind
// its address.
func (a *attention) at(v *array.View, head int) tile.Mat {
	if v.Size() == 0 {
		return tile.Mat{Ptr: codegen.Ptr(v)}
	}
	offset := 0
	for i := len(a.heads) - 1; i >= 0; i-- {
		offset += head % a.heads[i] * v.Strides[i]
		head /= a.heads[i]
	}
	r := len(v.Shape)
	return tile.Mat{Ptr: codegen.Ptr(v), Row: v.Strides[r-2], Col: v.Strides[r-1]}.Offset(offset, v.DType.Size())
}

// transposedBytes returns the size of a head of v when it is transposed.
func (a *attention) transposedBytes(width int) int {
	return (tile.Ceil(width, a.lanes)*a.lanes*a.pitch + a.lanes) * a.size
}

// transposed returns the transposed matrix of a head of v: keys side by side, in memory at to, so that
// each strip reads them in long runs. It is a view where one strip alone reads them, and where they lie
// side by side already.
func (a *attention) transposed(v *array.View, head int, to unsafe.Pointer) tile.Mat {
	m := a.at(v, head)
	if a.queries <= a.strip || m.Row == 1 || a.d.isa == jit.Portable {
		return m.T()
	}
	width := v.Shape[len(v.Shape)-1]
	tile.New(a.d.isa, a.dtype).Pack(tile.Panel{Ptr: to, Pitch: a.pitch * a.size, Rows: a.keys, K: width}, m)
	return tile.Mat{Ptr: to, Row: a.pitch, Col: 1}
}

// product computes c = x y on this thread, of m x n elements and k terms.
func (a *attention) product(m, n, k int, x, y, c tile.Mat) {
	product.Product{ISA: a.d.isa, DType: a.dtype, M: m, N: n, K: k, A: x, B: y, C: c, Threads: 1}.Run()
}

// rows returns a matrix as the argument of a row program.
func (a *attention) rows(m tile.Mat) rowArg { return rowArg{m.Ptr, m.Row * a.size, m.Col * a.size} }

// within returns the rows of m from row on.
func (a *attention) within(m tile.Mat, row int) tile.Mat { return m.Offset(row*m.Row, a.size) }

// seen returns the number of the first keys with all that queries before end see.
func (a *attention) seen(head, end int) int {
	if a.leaves[head] {
		return min(a.keys, end)
	}
	return a.keys
}

// settle finds the heads whose unseen keys may be left out: weights of 0 times finite numbers add
// nothing. limits are what bounds the products of the greatest magnitudes of views, by pairs.
func (a *attention) settle(threads int, pairs ...[2]*array.View) {
	heads := array.Size(a.heads)
	a.leaves = make([]bool, heads)
	if !a.Causal || a.mask != nil && a.mask.DType != array.Bool {
		return
	}
	limit := math.MaxFloat32 / 16
	if a.dtype == array.Float64 {
		limit = math.MaxFloat64 / 16
	}
	programs := map[*array.View]*Program{}
	for _, pair := range pairs {
		for _, v := range pair {
			programs[v] = a.d.rowProgram(rowKey{kind: rowGreatest, d: a.dtype, step: loop.StepOf(v.Strides[len(v.Strides)-1])})
		}
	}
	par.Run(heads, 1, threads, func(_, begin, end int) {
		for head := begin; head < end; head++ {
			ok := true
			for _, pair := range pairs {
				x, y := a.greatestOf(programs, pair[0], head), a.greatestOf(programs, pair[1], head)
				terms := float64(pair[0].Shape[len(pair[0].Shape)-1])
				ok = ok && x <= limit && y <= limit && x*y*max(terms, 1)*max(1, math.Abs(a.Scale))*max(1, a.Kept()) <= limit
			}
			a.leaves[head] = ok
		}
	})
}

// greatestOf returns the greatest magnitude of a head of v, NaN if one is NaN.
func (a *attention) greatestOf(programs map[*array.View]*Program, v *array.View, head int) float64 {
	r := len(v.Shape)
	rows, cols := v.Shape[r-2], v.Shape[r-1]
	if rows*cols == 0 {
		return 0
	}
	const most = 128
	var buffer [most]float64
	top := 0.0
	m := a.at(v, head)
	for i := 0; i < rows; i += most {
		n := min(most, rows-i)
		programs[v].run(nil, rowRange{rows: n, cols: cols}, rowArg{unsafe.Pointer(&buffer), a.size, 0}, a.rows(a.within(m, i)))
		if a.size == 4 {
			for _, x := range unsafe.Slice((*float32)(unsafe.Pointer(&buffer)), n) {
				top = max(top, float64(x))
			}
		} else {
			for _, x := range buffer[:n] {
				top = max(top, x)
			}
		}
	}
	return top
}

// A strip is the memory of some queries of a head from row r0 on: scores, which become weights;
// backward also gradients of weights, which become gradients of scores; and the uniform numbers that
// drop weights.
type strip struct {
	head, r0 int
	p, ds    tile.Mat
	keys     tile.Mat // backward: transposed, as values
	values   tile.Mat
	at       unsafe.Pointer // memory of the numbers
	uniform  unsafe.Pointer // the number of row r0 and column 0: rows follow one another
}

// bytesOf returns the size of a strip of scores and of further matrices like them.
func (a *attention) bytesOf(matrices int) int {
	n := matrices * a.strip * a.pitch * a.size
	if a.Drop > 0 {
		n += (a.strip*a.keys + 2*drawn) * 4
	}
	return n
}

// stripAt returns the strip whose memory, for some matrices, begins at at.
func (a *attention) stripAt(at unsafe.Pointer, matrices int) strip {
	m := tile.Mat{Ptr: at, Row: a.pitch, Col: 1}
	return strip{p: m, ds: a.within(m, (matrices-1)*a.strip), at: a.within(m, matrices*a.strip).Ptr}
}

const (
	drawn     = 4       // numbers of a block of random numbers
	drawChunk = 4 << 10 // blocks for which machine code is entered once
)

// of makes s the strip of rows r0 to r1-1 of a head, and draws its numbers on some threads. Blocks of
// numbers begin at multiples of [drawn] of all weights.
func (a *attention) of(s *strip, head, r0, r1, threads int) {
	s.head, s.r0 = head, r0
	if a.Drop == 0 {
		return
	}
	first, end := (head*a.queries+r0)*a.keys, (head*a.queries+r1)*a.keys
	block := first / drawn
	s.uniform = unsafe.Add(s.at, first%drawn*4)
	par.Run(tile.Ceil(end, drawn)-block, drawChunk, threads, func(_, from, to int) {
		var args [drawn]rowArg
		for i := range args {
			args[i] = rowArg{unsafe.Add(s.at, (from*drawn+i)*4), 0, drawn * 4}
		}
		a.draws.run(a.draw, rowRange{rows: 1, col: block + from, cols: to - from}, args[:]...)
	})
}

// weigh makes weights of the scores of rows of a strip from row on; more are the matrices of the
// program.
func (a *attention) weigh(s *strip, row, rows, keys int, more ...tile.Mat) {
	var list [4]rowArg
	args := list[:0]
	for _, m := range more {
		args = append(args, a.rows(m))
	}
	if a.mask != nil {
		m, size := a.at(a.mask, s.head), a.mask.DType.Size()
		m = m.Offset(row*m.Row, size)
		args = append(args, rowArg{m.Ptr, m.Row * size, m.Col * size})
	}
	if a.Drop > 0 {
		args = append(args, rowArg{unsafe.Add(s.uniform, (row-s.r0)*a.keys*4), a.keys * 4, 4})
	}
	a.weights.run(a.words, rowRange{row: row, rows: rows, cols: keys}, args...)
}

const (
	// stripBytes is the size of the scores of a strip of queries: half of an L2 cache of 512 KB.
	stripBytes = 256 << 10
	leastStrip = 32
)

// scratch returns memory for each worker, bytes each.
func scratch(workers, bytes int) (b mem.Block, per int) {
	per = tile.Ceil(bytes, 64) * 64
	return tile.Alloc(max(per*workers, 64)), per
}

// attend computes attention.
func attend(c *device.Call) error {
	a := newAttention(c, c.Args, rowWeights)
	y := &c.Out[0]
	if y.Size() == 0 {
		return nil
	}
	heads := array.Size(a.heads)
	threads := tile.ThreadsFor(heads*a.queries*a.keys*(a.width+a.vwidth), 0)
	a.settle(threads, [2]*array.View{a.v, a.v})
	a.strip = min(a.queries, max(leastStrip, tile.Ceil(stripBytes/(a.pitch*a.size), a.lanes)*a.lanes))
	strips := tile.Ceil(a.queries, a.strip)
	workers, bytes := par.Width(heads*strips, 1, threads), tile.Ceil(a.bytesOf(1), 64)*64
	memory, per := scratch(workers, bytes+a.transposedBytes(a.width))
	defer mem.Free(memory)
	of, keys := make([]int, workers), make([]tile.Mat, workers) // by worker: its head from 1 on, and the head's keys
	par.Run(heads*strips, 1, threads, func(worker, begin, end int) {
		at := unsafe.Add(memory.Ptr(), worker*per)
		s := a.stripAt(at, 1)
		for i := begin; i < end; i++ {
			head, r0 := i/strips, i%strips*a.strip
			if of[worker] != head+1 {
				of[worker], keys[worker] = head+1, a.transposed(a.k, head, unsafe.Add(at, bytes))
			}
			r1 := min(r0+a.strip, a.queries)
			n := a.seen(head, r1)
			a.of(&s, head, r0, r1, 1)
			a.product(r1-r0, n, a.width, a.within(a.at(a.q, head), r0), keys[worker], s.p)
			a.weigh(&s, r0, r1-r0, n, s.p)
			to := a.within(a.at(y, head), r0)
			a.product(r1-r0, a.vwidth, n, s.p, a.at(a.v, head), to)
			a.positive.run(nil, rowRange{rows: r1 - r0, cols: a.vwidth}, a.rows(to))
		}
	})
	return nil
}

// attendBack computes the gradients of attention for queries, keys and values. Gradients of keys
// and values are sums over queries. Products add terms in blocks of numbers.KBlock: a strip is one.
func attendBack(c *device.Call) error {
	a := newAttention(c, c.Args[1:], rowBack)
	a.dy = &c.Args[0]
	a.add = a.d.rowProgram(rowKey{kind: rowAdd, d: a.dtype})
	for i := range c.Out {
		clear(unsafe.Slice((*byte)(codegen.Ptr(&c.Out[i])), c.Out[i].Size()*a.size))
	}
	heads := array.Size(a.heads)
	if heads*a.queries*a.keys == 0 {
		return nil
	}
	work := heads * a.queries * a.keys * (3*a.width + 2*a.vwidth)
	threads := tile.ThreadsFor(work, 0)
	a.settle(threads, [2]*array.View{a.q, a.k}, [2]*array.View{a.v, a.dy})
	a.strip = min(a.queries, numbers.KBlock)
	b := &backward{attention: a, out: c.Out}
	if wide := max(threads, 1); wide > 1 && heads < 4*wide && heads%wide != 0 {
		b.inside(heads, threads)
	} else {
		b.beside(heads, threads)
	}
	return nil
}

// A backward is the backward pass of an attention.
type backward struct {
	*attention
	out []array.View // gradients of queries, keys, values
}

// turn gives s the transposed keys and values of a head, in memory at to.
func (b *backward) turn(s *strip, head int, to unsafe.Pointer) {
	s.keys = b.transposed(b.k, head, to)
	s.values = b.transposed(b.v, head, unsafe.Add(to, b.transposedBytes(b.width)))
}

// turnedBytes returns the size of the transposed keys and values of a head.
func (b *backward) turnedBytes() int { return b.transposedBytes(b.width) + b.transposedBytes(b.vwidth) }

// termsBytes returns the size of what a worker adds to the gradients of keys.
func (b *backward) termsBytes() int { return keyBlock * max(b.width, b.vwidth) * b.size }

// keyBlock is the number of keys whose gradients are added at a time.
const keyBlock = 256

// beside gives each thread whole heads.
func (b *backward) beside(heads, threads int) {
	bytes := tile.Ceil(b.bytesOf(2), 64) * 64
	turned := bytes + tile.Ceil(b.termsBytes(), 64)*64
	memory, per := scratch(par.Width(heads, 1, threads), turned+b.turnedBytes())
	defer mem.Free(memory)
	par.Run(heads, 1, threads, func(worker, begin, end int) {
		at := unsafe.Add(memory.Ptr(), worker*per)
		s := b.stripAt(at, 2)
		for head := begin; head < end; head++ {
			b.turn(&s, head, unsafe.Add(at, turned))
			for r0 := 0; r0 < b.queries; r0 += b.strip {
				r1 := min(r0+b.strip, b.queries)
				n := b.seen(head, r1)
				b.of(&s, head, r0, r1, 1)
				b.rowsOf(&s, r0, r1, r1)
				for k0 := 0; k0 < n; k0 += keyBlock {
					b.keysOf(&s, r1, k0, min(k0+keyBlock, n), unsafe.Add(at, bytes))
				}
			}
		}
	})
}

// inside takes one head after the other, each strip on all threads: first by rows, then by keys.
func (b *backward) inside(heads, threads int) {
	bytes := tile.Ceil(b.bytesOf(2), 64) * 64
	memory, _ := scratch(1, bytes+b.turnedBytes())
	defer mem.Free(memory)
	blocks := tile.Ceil(b.keys, keyBlock)
	terms, per := scratch(par.Width(blocks, 1, threads), b.termsBytes())
	defer mem.Free(terms)
	s := b.stripAt(memory.Ptr(), 2)
	for head := range heads {
		b.turn(&s, head, unsafe.Add(memory.Ptr(), bytes))
		for r0 := 0; r0 < b.queries; r0 += b.strip {
			r1 := min(r0+b.strip, b.queries)
			n := b.seen(head, r1)
			b.of(&s, head, r0, r1, threads)
			par.Run(r1-r0, leastStrip, threads, func(_, begin, end int) { b.rowsOf(&s, r0+begin, r0+end, r1) })
			par.Run(tile.Ceil(n, keyBlock), 1, threads, func(worker, begin, end int) {
				for i := begin; i < end; i++ {
					b.keysOf(&s, r1, i*keyBlock, min((i+1)*keyBlock, n), unsafe.Add(terms.Ptr(), worker*per))
				}
			})
		}
	}
}

// diagonal is the number of queries beside which keys that none of them sees are left out.
const diagonal = 64

// rowsOf computes weights, gradients of scores and of queries for rows from to end of a strip, which
// ends at r1. Rows up to the next multiple of [diagonal] of the strip have the same keys.
func (b *backward) rowsOf(s *strip, from, end, r1 int) {
	for at := from; at < end; {
		next := r1
		if b.leaves[s.head] {
			next = min(r1, at+diagonal-(at-s.r0)%diagonal)
		}
		rows, n := min(end, next)-at, b.seen(s.head, next)
		p, ds := b.within(s.p, at-s.r0), b.within(s.ds, at-s.r0)
		k := b.at(b.k, s.head)
		b.product(rows, n, b.width, b.within(b.at(b.q, s.head), at), s.keys, p)
		b.product(rows, n, b.vwidth, b.within(b.at(b.dy, s.head), at), s.values, ds)
		b.weigh(s, at, rows, n, p, ds)
		dq := b.within(b.at(&b.out[0], s.head), at)
		b.product(rows, b.width, n, ds, k, dq)
		b.positive.run(nil, rowRange{rows: rows, cols: b.width}, b.rows(dq))
		at += rows
	}
}

// keysOf adds the terms of the rows of a strip, up to r1-1, to the gradients of keys and values from to
// end. It computes them in memory at terms. Terms of rows that do not see a key are zeros, with which
// a sum begins, so rows before the first one that sees a key are left out.
func (b *backward) keysOf(s *strip, r1, from, end int, terms unsafe.Pointer) {
	for from < end {
		next, row := end, s.r0
		if b.leaves[s.head] && end > s.r0+diagonal {
			if from < s.r0+diagonal {
				next = s.r0 + diagonal
			} else {
				next = min(end, from+diagonal-(from-s.r0)%diagonal)
				row = from - (from-s.r0)%diagonal
			}
		}
		b.termsOf(s, row, r1, from, next, terms)
		from = next
	}
}

// termsOf adds the terms of rows row to r1-1 to the gradients of keys and values from to end.
func (b *backward) termsOf(s *strip, row, r1, from, end int, terms unsafe.Pointer) {
	for _, x := range []struct {
		weights tile.Mat
		of      *array.View
		width   int
		to      *array.View
	}{{s.p, b.dy, b.vwidth, &b.out[2]}, {s.ds, b.q, b.width, &b.out[1]}} {
		t := tile.Mat{Ptr: terms, Row: x.width, Col: 1}
		weights := b.within(x.weights, row-s.r0).Offset(from, b.size)
		b.product(end-from, x.width, r1-row, weights.T(), b.within(b.at(x.of, s.head), row), t)
		b.add.run(nil, rowRange{rows: end - from, cols: x.width}, b.rows(b.within(b.at(x.to, s.head), from)), b.rows(t))
	}
}
