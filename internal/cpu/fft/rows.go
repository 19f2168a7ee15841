package fft

import (
	"math"
	"runtime"
	"sync"
	"unsafe"

	"weft/internal/cpu/codegen"
	"weft/internal/cpu/transpose"
	"weft/internal/jit"
	"weft/internal/par"
)

// A pass transforms vectors of columns.
type pass struct {
	src, dst        unsafe.Pointer
	srcRow, dstRow  int // bytes from row to row
	blocks          int // vectors in a row
	tw              unsafe.Pointer
	perRow          bool // tw has one number for a row, not one for each element
	swapIn, swapOut bool
	scale           float64 // 0 for none
}

// columns transforms columns of complex numbers. work is twice the memory of them.
func (p *plan) columns(c *columns, a *pass, work, spill unsafe.Pointer) {
	for i := range c.stages {
		k, f := p.stage(c, i, a, work, spill)
		run(k, &f)
	}
}

// stage returns the kernel of a stage of columns and its arguments.
func (p *plan) stage(c *columns, i int, a *pass, work, spill unsafe.Pointer) (key, frame) {
	row := a.blocks * p.block()
	buffers := [2]unsafe.Pointer{work, unsafe.Add(work, c.n*row)}
	st := &c.stages[i]
	first, last := i == 0, i == len(c.stages)-1
	k := key{isa: p.isa, size: p.size, radix: st.radix, loads: first, stores: last, swapIn: first && a.swapIn, swapOut: last && a.swapOut}
	f := frame{src: buffers[(i+1)%2], dst: buffers[i%2], srcStep: st.m * st.s * row, srcOuter: st.s * row, dstStep: st.s * row, dstOuter: st.radix * st.s * row,
		outer: st.m, inner: st.s * a.blocks, spill: spill, tw: st.tw}
	if st.tw != nil {
		k.tw = uniform
	}
	if first {
		f.src, f.srcStep, f.srcOuter = a.src, st.m*a.srcRow, a.srcRow
	}
	if last {
		f.dst, f.dstStep = a.dst, st.s*a.dstRow
		if a.dstRow != row {
			f.outer, f.inner, f.srcOuter, f.dstOuter = st.s, a.blocks, row, a.dstRow
		}
		if a.tw != nil {
			k.tw, f.tw = varying, a.tw
		}
		if a.perRow { // an outer step is a row of inputs
			k.tw, f.outer, f.inner, f.srcOuter, f.dstOuter = whole, st.s, a.blocks, row, a.dstRow
		}
		if a.scale != 0 {
			k.scaled = true
			if p.size == 4 {
				*(*float32)(unsafe.Pointer(&f.scale)) = float32(a.scale)
			} else {
				*(*float64)(unsafe.Pointer(&f.scale)) = a.scale
			}
		}
	}
	return k, f
}

// scratch is memory that calls use one after the other.
type scratch struct {
	bytes []byte
	steps *steps // the last ones that were made in it
}

// pool has scratch of transforms, realPool has that for real rows beside it, so that steps are found again.
var pool, realPool = newPool(), newPool()

func newPool() *sync.Pool { return &sync.Pool{New: func() any { return new(scratch) }} }

// at returns n bytes, not set, at a multiple of pageBytes.
func (s *scratch) at(n int) unsafe.Pointer {
	if need := n + pageBytes; len(s.bytes) < need {
		s.bytes = make([]byte, need)
	}
	p := unsafe.Pointer(&s.bytes[0])
	return unsafe.Add(p, -uintptr(p)&(pageBytes-1))
}

// A Transform is the discrete Fourier transform of rows of N complex numbers of two numbers of Size bytes.
type Transform struct {
	ISA     jit.ISA
	Size    int
	N       int
	Inverse bool    // exponents have a positive sign
	Scale   float64 // by which results are multiplied; 0 means 1
}

// nanoseconds is about how long a transform of n numbers takes on one thread.
func nanoseconds(n int) int { return n * (2 + int(math.Log2(float64(n)))) / 8 }

// Rows transforms rows that lie srcRow bytes apart, and writes them dstRow bytes apart. Source and
// destination do not overlap.
func (t Transform) Rows(dst, src unsafe.Pointer, rows, dstRow, srcRow int) {
	if rows == 0 || t.N == 0 {
		return
	}
	p := planFor(t.ISA, t.Size, t.N)
	defer runtime.KeepAlive(p)
	group := p.groupOf(rows)
	units := (rows + group - 1) / group
	cost := nanoseconds(t.N) * group
	threads := codegen.Threads(units * cost)
	if rows == 1 && (p.split || p.long != nil) {
		s := pool.Get().(*scratch)
		p.row(t, dst, src, s, threads)
		pool.Put(s)
		return
	}
	par.Run(units, max(20000/max(cost, 1), 1), threads, func(_, begin, end int) {
		s := pool.Get().(*scratch)
		defer pool.Put(s)
		var single *steps
		if p.single() && end-begin > 1 {
			single = p.steps(t, s)
			defer single.forget()
		}
		for u := begin; u < end; u++ {
			to, from := unsafe.Add(dst, u*group*dstRow), unsafe.Add(src, u*group*srcRow)
			switch {
			case single != nil:
				single.run(to, from, rowAhead{uintptr(to), uintptr(from) + uintptr(srcRow)})
			case group == 1:
				p.row(t, to, from, s, 1)
			default:
				p.group(t, to, from, min(group, rows-u*group), dstRow, srcRow, s, nil, nil)
			}
		}
	})
}

// turn transposes rows of complex numbers: row i of the source becomes column i of the destination.
func (p *plan) turn(dst, src unsafe.Pointer, rows, cols, dstRow, srcRow int) {
	transpose.Matrix(p.isa, 2*p.size, dst, src, rows, cols, dstRow, srcRow)
}

func (p *plan) pass(t Transform) pass {
	return pass{swapIn: t.Inverse, swapOut: t.Inverse, scale: t.Scale}
}

// groupBytes is about what a group of rows takes as columns.
const groupBytes = 256 << 10

// directBytes is the same for lengths that are not split: the first-level cache holds it three times.
const directBytes = 8 << 10

// groupRows is how many rows are transformed together as columns, 1 for lengths that are transformed row
// by row.
func (p *plan) groupRows() int {
	switch {
	case p.direct():
		return p.lanes() * min(max(directBytes/(p.n*p.block()), 1), 8)
	case p.split && !p.single() && p.n*p.block() <= groupBytes:
		most := groupBytes / (p.n * p.block())
		return p.lanes() * min(4, most, max(2, most/2)) // of more than two vectors, half of groupBytes is faster
	}
	return 1
}

// groupOf is groupRows where there are some rows.
func (p *plan) groupOf(rows int) int {
	if p.split && 2*rows < p.lanes() {
		return 1
	}
	return p.groupRows()
}

// group transforms at most groupRows rows, as columns. before and after, if not nil, run on the columns.
func (p *plan) group(t Transform, dst, src unsafe.Pointer, rows, dstRow, srcRow int, s *scratch, before, after func(x, spill unsafe.Pointer, blocks int)) {
	n, blocks := p.n, (rows+p.lanes()-1)/p.lanes()
	row := blocks * p.block()
	in := s.at(2*n*row + p.matrixMemory(blocks))
	out := unsafe.Add(in, n*row)
	if rows%p.lanes() != 0 {
		zero(in, n*row)
	}
	p.turn(in, src, rows, n, row, srcRow)
	work := unsafe.Add(out, n*row)
	if before != nil {
		before(in, work, blocks)
	}
	if n == 1 {
		p.one(t, out, in, blocks)
	} else {
		p.matrix(t, out, in, blocks, row, row, work)
	}
	if after != nil {
		after(out, work, blocks)
	}
	p.turn(dst, out, n, rows, dstRow, row)
}

// one is the transform of single numbers: themselves, scaled.
func (p *plan) one(t Transform, dst, src unsafe.Pointer, blocks int) {
	n := blocks * p.block() / p.size
	if p.size == 4 {
		scaled(unsafe.Slice((*float32)(dst), n), unsafe.Slice((*float32)(src), n), t.Scale)
	} else {
		scaled(unsafe.Slice((*float64)(dst), n), unsafe.Slice((*float64)(src), n), t.Scale)
	}
}

func scaled[T float](y, x []T, by float64) {
	copy(y, x)
	if by != 0 {
		for i := range y {
			y[i] *= T(by)
		}
	}
}

// alone transforms one row on one thread.
func (p *plan) alone(t Transform, dst, src unsafe.Pointer, s *scratch) {
	if !p.direct() {
		p.row(t, dst, src, s, 1)
		return
	}
	row := 2 * p.n * p.size
	p.group(t, dst, src, 1, row, row, s, nil, nil)
}

// row transforms one row whose length is split, or is none of the others.
func (p *plan) row(t Transform, dst, src unsafe.Pointer, s *scratch, threads int) {
	if p.chirp != nil {
		p.chirp.row(p, t, dst, src, s)
		return
	}
	if p.long != nil {
		p.longRow(t, dst, src, threads)
		return
	}
	n1, n2, lanes, block, item := p.first.n, p.second.n, p.lanes(), p.block(), 2*p.size
	from, to := cover{n2, lanes}, cover{n1, lanes}
	own := max(p.runs[0]*n1, p.runs[1]*n2) * block
	each := 3*own + maxSpills*block/2
	padded := max(n1*from.padding(), n2*to.padding()) * item
	width := max(par.Width(from.runs(p.runs[0]), 1, threads), par.Width(to.runs(p.runs[1]), 1, threads))
	turnedRow := to.width() * item
	memory := s.at(n2*turnedRow + padded + width*each)
	pad := unsafe.Add(memory, n2*turnedRow)
	work := unsafe.Add(pad, padded)
	srcAt, srcRow := src, n2*item
	if from.padded() {
		srcAt, srcRow = pad, from.width()*item
		zero(pad, n1*srcRow)
		move(pad, src, n1, n2*item, srcRow, n2*item)
	}
	par.Run(from.runs(p.runs[0]), 1, threads, func(w, begin, end int) {
		mine := unsafe.Add(work, w*each)
		for r := begin; r < end; r++ {
			at, blocks, tw := from.run(r, p.runs[0])
			a := pass{src: unsafe.Add(srcAt, at*item), srcRow: srcRow, dst: mine, dstRow: blocks * block, blocks: blocks, tw: unsafe.Add(p.tw, tw*n1*block), swapIn: t.Inverse}
			p.columns(&p.first, &a, unsafe.Add(mine, own), unsafe.Add(mine, 3*own))
			skip := tw*lanes - at // columns that another run turns
			p.turn(unsafe.Add(memory, (at+skip)*turnedRow), unsafe.Add(mine, skip*item), n1, min(blocks*lanes, n2-at)-skip, turnedRow, blocks*block)
		}
	})
	dstAt, dstRow := dst, n1*item
	if to.padded() {
		dstAt, dstRow = pad, turnedRow
	}
	if to.padded() {
		zeroColumns(memory, n2, n1*item, turnedRow)
	}
	par.Run(to.runs(p.runs[1]), 1, threads, func(w, begin, end int) {
		mine := unsafe.Add(work, w*each)
		for r := begin; r < end; r++ {
			at, blocks, _ := to.run(r, p.runs[1])
			a := pass{src: unsafe.Add(memory, at*item), srcRow: turnedRow, dst: unsafe.Add(dstAt, at*item), dstRow: dstRow, blocks: blocks, swapOut: t.Inverse, scale: t.Scale}
			p.columns(&p.second, &a, unsafe.Add(mine, own), unsafe.Add(mine, 3*own))
		}
	})
	if to.padded() {
		move(dst, pad, n2, n1*item, n1*item, turnedRow)
	}
}

// zero clears memory that pads columns. Arithmetic on what was there before may be slow: denormal numbers
// take microcode.
func zero(at unsafe.Pointer, bytes int) { clear(unsafe.Slice((*byte)(at), bytes)) }

// zeroColumns clears what is behind the bytes of rows.
func zeroColumns(at unsafe.Pointer, rows, bytes, row int) {
	for i := range rows {
		zero(unsafe.Add(at, i*row+bytes), row-bytes)
	}
}

// move copies rows of bytes.
func move(dst, src unsafe.Pointer, rows, bytes, dstRow, srcRow int) {
	for i := range rows {
		copy(unsafe.Slice((*byte)(unsafe.Add(dst, i*dstRow)), bytes), unsafe.Slice((*byte)(unsafe.Add(src, i*srcRow)), bytes))
	}
}
