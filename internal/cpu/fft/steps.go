package fft

import (
	"unsafe"

	"weft/internal/cpu/transpose"
	"weft/internal/jit"
)

// steps are the kernels that transform one row after the other on one thread, with their arguments. Few
// rows stay in the first-level cache from the first kernel to the last.
type steps struct {
	p    *plan
	list []call
}

// A call is one of a kernel, or a transpose.
type call struct {
	key       key
	code      *jit.Code // of the key, nil in portable code
	f         frame
	outer     int // of the frame, which the kernel changes
	src, dst  int // bytes from the beginning of the row, or -1 for memory of the frame
	transpose bool
	rows      int // of the transpose
	cols      int
}

// single reports that steps transform rows of the length: its columns fill vectors both times, and it is
// faster one by one than in groups.
func (p *plan) single() bool {
	return p.split && p.first.n%p.lanes() == 0 && p.second.n%p.lanes() == 0
}

// steps returns what transforms a row in the memory of s, as [plan.row] does. Requires single.
func (p *plan) steps(t Transform, s *scratch) *steps {
	n1, n2, lanes, block, item := p.first.n, p.second.n, p.lanes(), p.block(), 2*p.size
	from, to := cover{n2, lanes}, cover{n1, lanes}
	own := max(p.runs[0]*n1, p.runs[1]*n2) * block
	memory := s.at(p.n*item + 3*own + maxSpills*block/2)
	mine := unsafe.Add(memory, p.n*item)
	work, spill := unsafe.Add(mine, own), unsafe.Add(mine, 3*own)
	l := &steps{p: p}
	for r := range from.runs(p.runs[0]) {
		at, blocks, tw := from.run(r, p.runs[0])
		a := pass{srcRow: n2 * item, dst: mine, dstRow: blocks * block, blocks: blocks, tw: unsafe.Add(p.tw, tw*n1*block), swapIn: t.Inverse}
		l.columns(&p.first, &a, work, spill, at*item, -1)
		l.list = append(l.list, call{transpose: true, f: frame{src: mine, dst: unsafe.Add(memory, at*n1*item), srcStep: blocks * block, dstStep: n1 * item}, rows: n1, cols: blocks * lanes})
	}
	for r := range to.runs(p.runs[1]) {
		at, blocks, _ := to.run(r, p.runs[1])
		a := pass{src: unsafe.Add(memory, at*item), srcRow: n1 * item, dstRow: n1 * item, blocks: blocks, swapOut: t.Inverse, scale: t.Scale}
		l.columns(&p.second, &a, work, spill, -1, at*item)
	}
	return l
}

// columns adds the stages of columns. src and dst are as in a call.
func (l *steps) columns(c *columns, a *pass, work, spill unsafe.Pointer, src, dst int) {
	for i := range c.stages {
		s := call{src: -1, dst: -1}
		s.key, s.f = l.p.stage(c, i, a, work, spill)
		if s.outer = s.f.outer; l.p.isa != jit.Portable {
			s.code = s.key.kernel()
		}
		if i == 0 {
			s.src = src
		}
		if i == len(c.stages)-1 {
			s.dst = dst
		}
		l.list = append(l.list, s)
	}
}

// run transforms a row. Source and destination do not overlap.
func (l *steps) run(dst, src unsafe.Pointer) {
	for i := range l.list {
		s := &l.list[i]
		f := &s.f
		if s.transpose {
			transpose.Matrix(l.p.isa, 2*l.p.size, f.dst, f.src, s.rows, s.cols, f.dstStep, f.srcStep)
			continue
		}
		if s.src >= 0 {
			f.src = unsafe.Add(src, s.src)
		}
		if s.dst >= 0 {
			f.dst = unsafe.Add(dst, s.dst)
		}
		f.outer = s.outer
		if s.code != nil {
			jit.Call(s.code, 0, unsafe.Pointer(f))
		} else {
			run(s.key, f)
		}
	}
}
