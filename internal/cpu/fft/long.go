package fft

import (
	"unsafe"

	"weft/internal/par"
)

// direct reports that rows are transformed in groups, as columns.
func (p *plan) direct() bool { return !p.split && p.chirp == nil && p.long == nil }

// longRow transforms one row that exceeds the second-level cache, as a matrix [n1 n2] of a few rows: its
// columns in runs, which read long pieces of each row, then its rows, then it is transposed.
func (p *plan) longRow(t Transform, dst, src unsafe.Pointer, threads int) {
	n1, n2, lanes, block, item := p.first.n, p.second.n, p.lanes(), p.block(), 2*p.size
	row := n2 * item
	whole := pool.Get().(*scratch)
	defer pool.Put(whole)
	rows := whole.at(p.n * item)
	over := cover{n2, lanes}
	par.Run(over.runs(p.runs[0]), 1, threads, func(_, begin, end int) {
		s := pool.Get().(*scratch)
		defer pool.Put(s)
		bytes := 2 * n1 * p.runs[0] * block
		memory := s.at(bytes + maxSpills*block/2)
		for r := begin; r < end; r++ {
			at, blocks, before := over.run(r, p.runs[0])
			a := pass{src: unsafe.Add(src, at*item), srcRow: row, dst: unsafe.Add(dst, at*item), dstRow: row, blocks: blocks, tw: unsafe.Add(p.tw, before*n1*block), swapIn: t.Inverse, swapOut: t.Inverse}
			p.columns(&p.first, &a, memory, unsafe.Add(memory, bytes))
		}
	})
	par.Run(n1, 1, threads, func(_, begin, end int) {
		s := pool.Get().(*scratch)
		defer pool.Put(s)
		for k := begin; k < end; k++ {
			p.long.alone(Transform{Inverse: t.Inverse, Scale: t.Scale}, unsafe.Add(rows, k*row), unsafe.Add(dst, k*row), s)
		}
	})
	const strip = 64
	par.Run((n2+strip-1)/strip, 1, threads, func(_, begin, end int) {
		for c := begin * strip; c < min(end*strip, n2); c += strip {
			p.turn(unsafe.Add(dst, c*n1*item), unsafe.Add(rows, c*item), n1, min(strip, n2-c), n1*item, row)
		}
	})
}
