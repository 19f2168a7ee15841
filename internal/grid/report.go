package grid

import (
	"math"

	"weft/internal/loop"
)

// A Report is memory in which a kernel notes a number that it refuses, such as an index out of range,
// with its position. The one at the lowest position stays, whatever the order of threads.
//
// Word i has the position above a part of the number. Equal positions have equal numbers, so the
// least words belong together.
type Report [3]uint64

// partBits is the number of bits of a part. Positions have the other bits of a word.
const partBits = 24

// Clear makes a report one in which nothing was noted.
func (r *Report) Clear() { *r = Report{math.MaxUint64, math.MaxUint64, math.MaxUint64} }

// Refused returns what was noted, and whether there is something.
func (r *Report) Refused() (number int64, position int, ok bool) {
	if r[0] == math.MaxUint64 {
		return 0, 0, false
	}
	for i, w := range r {
		number |= int64(w&(1<<partBits-1)) << (partBits * i)
	}
	return number, int(r[0] >> partBits), true
}

// Report notes a number and its position, both I64, in the [Report] at an address, which may be memory
// of the host. Requires: positions are below 1<<39, and the same number is noted at a position by
// all threads.
func (b *Builder) Report(at, number, position Reg) {
	shift := func(op loop.Op, x Reg, n int64) Reg { return b.Do(op, loop.I64, 0, x, b.I64(n)) }
	high, mask := shift(loop.OpShl, position, partBits), b.I64(1<<partBits-1)
	first := b.Or(high, b.And(number, mask))
	seen := b.Var(loop.I64)
	// Without this look, threads that all refuse their number would wait in turn for the memory.
	b.Ins(Ins{Op: Load, Space: Global, Elem: W64, A: at, Fresh: true, Regs: []Reg{seen}})
	b.If(b.Do(loop.OpLtU, loop.B, 0, first, seen), false, func() {
		b.Ins(Ins{Op: Min, A: first, B: at})
		for i := 1; i < len(Report{}); i++ {
			part := b.And(shift(loop.OpShrU, number, int64(partBits*i)), mask)
			b.Ins(Ins{Op: Min, A: b.Or(high, part), B: at, Imm: int64(8 * i)})
		}
	}, nil)
}
