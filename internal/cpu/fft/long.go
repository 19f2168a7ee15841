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
	full, wide := n2/lanes, p.runs[0]
	rest := n2 % lanes
	runs := (full + wide - 1) / wide
	if rest != 0 {
		runs++
	}
	par.Run(runs, 1, threads, func(_, begin, end int) {
		s := pool.Get().(*scratch)
		defer pool.Put(s)
		memory := s.at(4*n1*wide*block + maxSpills*block/2)
		spill := unsafe.Add(memory, 4*n1*wide*block)
		for r := begin; r < end; r++ {
			at := min(r*wide, full)
			a := pass{src: unsafe.Add(src, at*block), srcRow: row, dst: unsafe.Add(dst, at*block), dstRow: row, blocks: min(wide, full-at), tw: unsafe.Add(p.tw, at*n1*block), swapIn: t.Inverse, swapOut: t.Inverse}
			if at < full {
				p.columns(&p.first, &a, memory, spill)
				continue
			}
			in, out := unsafe.Add(memory, 2*n1*block), unsafe.Add(memory, 3*n1*block)
			move(in, a.src, n1, rest*item, block, row)
			to := a.dst
			a.src, a.srcRow, a.dst, a.dstRow, a.blocks = in, block, out, block, 1
			p.columns(&p.first, &a, memory, spill)
			move(to, out, n1, rest*item, row, block)
		}
	})
	par.Run(n1, 1, threads, func(_, begin, end int) {
		s := pool.Get().(*scratch)
		defer pool.Put(s)
		for k := begin; k < end; k++ {
			p.long.single(Transform{Inverse: t.Inverse, Scale: t.Scale}, unsafe.Add(rows, k*row), unsafe.Add(dst, k*row), s)
		}
	})
	const strip = 64
	par.Run((n2+strip-1)/strip, 1, threads, func(_, begin, end int) {
		for c := begin * strip; c < min(end*strip, n2); c += strip {
			p.turn(unsafe.Add(dst, c*n1*item), unsafe.Add(rows, c*item), n1, min(strip, n2-c), n1*item, row)
		}
	})
}
