package fft

import (
	"unsafe"

	"weft/internal/cpu/transpose"
	"weft/internal/jit"
	"weft/internal/processor"
)

// steps are the kernels that transform one row after the other on one thread, with their arguments. Few
// rows stay in the first-level cache from the first kernel to the last.
type steps struct {
	p     *plan
	t     Transform
	at    unsafe.Pointer // of the memory
	list  []call
	lines int // prefetched by the calls so far of these columns
}

// A call is one of a kernel, or a transpose.
type call struct {
	key       key
	code      *jit.Code // of the key, nil in portable code
	f         frame
	outer     int // of the frame, which the kernel changes
	src, dst  int // bytes from the beginning of the row, or -1 for memory of the frame
	ahead     int // bytes from the beginning of the row that is prefetched
	transpose bool
	rows      int // of the transpose
	cols      int
}

// aheadBytes bounds the rows for which steps prefetch: of longer ones, what is prefetched leaves the first-level
// cache before it is used.
const aheadBytes = 4 << 10

// A rowAhead holds addresses that steps prefetch while they transform a row. They may lie behind arrays.
type rowAhead struct {
	written uintptr // the result of this row, which the first columns prefetch
	read    uintptr // the next row, which the second ones prefetch
}

// single reports that steps transform rows of the length: its columns fill vectors both times, and it is
// faster one by one than in groups.
func (p *plan) single() bool {
	return p.split && p.first.n%p.lanes() == 0 && p.second.n%p.lanes() == 0
}

// steps returns what transforms a row in the memory of s, as [plan.row] does. s keeps it for the next call.
// Requires single. [steps.forget] must follow.
func (p *plan) steps(t Transform, s *scratch) *steps {
	n1, n2, lanes, block, item := p.first.n, p.second.n, p.lanes(), p.block(), 2*p.size
	from, to := cover{n2, lanes}, cover{n1, lanes}
	own := max(p.runs[0]*n1, p.runs[1]*n2) * block
	memory := s.at(p.n*item + 3*own + maxSpills*block/2)
	if l := s.steps; l != nil && l.p == p && l.t == t && l.at == memory {
		return l
	}
	mine := unsafe.Add(memory, p.n*item)
	work, spill := unsafe.Add(mine, own), unsafe.Add(mine, 3*own)
	l := &steps{p: p, t: t, at: memory}
	s.steps = l
	for r := range from.runs(p.runs[0]) {
		at, blocks, tw := from.run(r, p.runs[0])
		a := pass{srcRow: n2 * item, dst: mine, dstRow: blocks * block, blocks: blocks, tw: unsafe.Add(p.tw, tw*n1*block), swapIn: t.Inverse}
		l.columns(&p.first, &a, work, spill, at*item, -1)
		l.list = append(l.list, call{transpose: true, src: -1, dst: -1, f: frame{src: mine, dst: unsafe.Add(memory, at*n1*item), srcStep: blocks * block, dstStep: n1 * item}, rows: n1, cols: blocks * lanes})
	}
	l.lines = 0
	for r := range to.runs(p.runs[1]) {
		at, blocks, _ := to.run(r, p.runs[1])
		a := pass{src: unsafe.Add(memory, at*item), srcRow: n1 * item, dstRow: n1 * item, blocks: blocks, swapOut: t.Inverse, scale: t.Scale}
		l.columns(&p.second, &a, work, spill, -1, at*item)
	}
	return l
}

// prefetches reports that kernels prefetch.
func (l *steps) prefetches() bool {
	return l.p.isa != jit.Portable && 2*l.p.n*l.p.size <= aheadBytes
}

// columns adds the stages of columns. src and dst are as in a call.
func (l *steps) columns(c *columns, a *pass, work, spill unsafe.Pointer, src, dst int) {
	for i := range c.stages {
		s := call{src: -1, dst: -1}
		s.key, s.f = l.p.stage(c, i, a, work, spill)
		if l.prefetches() {
			if s.key.ahead, s.key.stages = fetch, len(c.stages); c == &l.p.first {
				s.key.ahead = claim
			}
			s.ahead = l.lines * processor.Line
			l.lines += s.key.lines() * s.f.outer * s.f.inner
		}
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
func (l *steps) run(dst, src unsafe.Pointer, ahead rowAhead) {
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
		switch s.key.ahead {
		case claim:
			f.ahead = ahead.written + uintptr(s.ahead)
		case fetch:
			f.ahead = ahead.read + uintptr(s.ahead)
		}
		if s.code != nil {
			jit.Call(s.code, 0, unsafe.Pointer(f))
		} else {
			run(s.key, f)
		}
	}
}

// forget removes pointers to the rows of a caller.
func (l *steps) forget() {
	for i := range l.list {
		s := &l.list[i]
		if s.src >= 0 {
			s.f.src = nil
		}
		if s.dst >= 0 {
			s.f.dst = nil
		}
	}
}
