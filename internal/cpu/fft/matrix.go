package fft

import (
	"runtime"
	"unsafe"

	"weft/internal/cpu/codegen"
	"weft/internal/par"
)

// matrixBytes is about what a run of columns takes that are transformed in place of rows: half of a
// second-level cache.
const matrixBytes = 512 << 10

// TakesColumns reports that [Transform.Columns] transforms matrices of some columns.
func (t Transform) TakesColumns(cols int) bool {
	return t.N > 1 && cols >= vector(t.ISA)/t.Size && smooth(t.N) && t.N*2*t.Size <= longBytes && t.N*2*vector(t.ISA) <= 2*matrixBytes
}

// Columns transforms the columns of count matrices [N cols], which lie one behind the other. Results have
// the bits of [Transform.Rows]. The destination is the source or does not overlap it. Requires TakesColumns.
func (t Transform) Columns(dst, src unsafe.Pointer, count, cols int) {
	p := planFor(t.ISA, t.Size, t.N)
	defer runtime.KeepAlive(p)
	lanes, block, row := p.lanes(), p.block(), cols*2*t.Size
	full := cols / lanes
	wide := min(max(matrixBytes/(t.N*block), 1), full)
	runs := (full + wide - 1) / wide
	rest := cols % lanes
	if rest != 0 {
		runs++
	}
	cost := nanoseconds(t.N) * wide * lanes
	par.Run(count*runs, max(20000/max(cost, 1), 1), codegen.Threads(count*cols*nanoseconds(t.N)), func(_, begin, end int) {
		s := pool.Get().(*scratch)
		defer pool.Put(s)
		memory := s.at(p.matrixMemory(wide) + 2*t.N*block)
		in := unsafe.Add(memory, p.matrixMemory(wide))
		for u := begin; u < end; u++ {
			at := u / runs * t.N * row
			first := u % runs * wide
			to, from := unsafe.Add(dst, at+first*block), unsafe.Add(src, at+first*block)
			if first < full {
				p.matrix(t, to, from, min(wide, full-first), row, row, memory)
				continue
			}
			at += full * block
			out := unsafe.Add(in, t.N*block)
			zero(in, t.N*block)
			move(in, unsafe.Add(src, at), t.N, rest*2*t.Size, block, row)
			p.matrix(t, out, in, 1, block, block, memory)
			move(unsafe.Add(dst, at), out, t.N, rest*2*t.Size, row, block)
		}
	})
}

// matrixMemory is the number of bytes that matrix needs.
func (p *plan) matrixMemory(blocks int) int {
	row, spills := blocks*p.block(), maxSpills*p.block()/2
	if p.split {
		return (p.n+2*max(p.first.n, p.second.n))*row + spills
	}
	return 2*p.n*row + spills
}

// matrix transforms vectors of columns, with the arithmetic of row. It takes matrixMemory bytes.
func (p *plan) matrix(t Transform, dst, src unsafe.Pointer, blocks, dstRow, srcRow int, memory unsafe.Pointer) {
	row := blocks * p.block()
	if !p.split {
		a := p.pass(t)
		a.src, a.dst, a.srcRow, a.dstRow, a.blocks = src, dst, srcRow, dstRow, blocks
		p.columns(&p.first, &a, memory, unsafe.Add(memory, 2*p.n*row))
		return
	}
	n1, n2 := p.first.n, p.second.n
	mine := unsafe.Add(memory, p.n*row)
	spill := unsafe.Add(mine, 2*max(n1, n2)*row)
	factors := p.rowFactors()
	for j := range n2 {
		a := pass{src: unsafe.Add(src, j*srcRow), srcRow: n2 * srcRow, dst: unsafe.Add(memory, j*row), dstRow: n2 * row, blocks: blocks,
			tw: unsafe.Add(factors, 2*j*n1*p.size), perRow: true, swapIn: t.Inverse}
		p.columns(&p.first, &a, mine, spill)
	}
	for k := range n1 {
		a := pass{src: unsafe.Add(memory, k*n2*row), srcRow: row, dst: unsafe.Add(dst, k*dstRow), dstRow: n1 * dstRow, blocks: blocks, swapOut: t.Inverse, scale: t.Scale}
		p.columns(&p.second, &a, mine, spill)
	}
}

// rowFactors are the factors between the transforms of columns, one for all columns of a matrix, in the
// order in which the last stage of the first one reads them.
func (p *plan) rowFactors() unsafe.Pointer {
	p.whole.once.Do(func() {
		w := roots(p.n)
		last := p.first.stages[len(p.first.stages)-1]
		x := make([]float64, 0, 2*p.n)
		for c := range p.second.n {
			for q := range last.s {
				for k := range last.radix {
					at := c * (q + last.s*k) % p.n
					x = append(x, w[2*at], w[2*at+1])
				}
			}
		}
		p.whole.w = p.table(x)
	})
	return p.whole.w
}
