package running

import (
	"unsafe"

	"weft/internal/jit"
	"weft/internal/numbers"
)

// Columns writes the cumulative sums of adjacent columns over n rows with stride step. The first
// row begins at index at of x and y. step is negative for sums from the end.
func Columns[T float](isa jit.ISA, y, x []T, at, step, n, columns int) {
	c, per := newColumnCarries[T](n, columns), Block[T]()
	for n >= per {
		blocks := min(n/per, numbers.ScanGroup-c.counts[0])
		c.write(isa, y, x, at, step, per, blocks)
		c.add(blocks)
		at += blocks * per * step
		n -= blocks * per
	}
	if n > 0 {
		c.write(isa, y, x, at, step, n, 1)
	}
}

// columnCarries holds carries with one element per column.
type columnCarries[T float] struct {
	// sums[k] and counts[k] are the totals and the number of finished groups of level k inside the
	// current group of level k+1. sums[k] is unset while counts[k] is 0.
	sums   [][]T
	counts []int
	// before[k], for k >= 1, is the carry into the group of level k that contains the next block,
	// if any.
	before [][]T
}

func newColumnCarries[T float](n, columns int) *columnCarries[T] {
	depth := 1
	for units := n / Block[T](); units >= numbers.ScanGroup; units /= numbers.ScanGroup {
		depth++
	}
	all := make([]T, 2*depth*columns)
	c := &columnCarries[T]{counts: make([]int, depth)}
	for k := range depth {
		c.sums = append(c.sums, all[2*k*columns:][:columns])
		c.before = append(c.before, all[(2*k+1)*columns:][:columns])
	}
	return c
}

// goesBefore returns the carry into the group of level k that contains the next block, or nil.
func (c *columnCarries[T]) goesBefore(k int) []T {
	for i := k; i < len(c.counts); i++ {
		if c.counts[i] > 0 {
			return c.before[k]
		}
	}
	return nil
}

// write writes the cumulative sums of blocks of one group, and adds the blocks' totals to the total
// of the group so far. A block with fewer rows than others is the last of all: its total is not added.
func (c *columnCarries[T]) write(isa jit.ISA, y, x []T, at, step, rows, blocks int) {
	group, sums, columns := c.goesBefore(1), c.sums[0], len(c.sums[0])
	size := int(unsafe.Sizeof(T(0)))
	if isa == jit.Portable {
		for range blocks {
			for j := range columns {
				before := T(minusZero)
				if group != nil {
					before = group[j]
				}
				if c.counts[0] == 0 {
					sums[j] = T(minusZero)
				}
				before += sums[j]
				sums[j] += block(y, x, at+j, step, rows, before)
			}
			c.counts[0]++
			at += rows * step
		}
		c.counts[0] -= blocks
		return
	}
	lanes := isa.VectorBytes() / size
	whole := columns / lanes
	k := columnKey{wide: isa == jit.AVX512, size: size, first: c.counts[0] == 0, grouped: group != nil}
	f := columnFrame{step: step * size, next: rows*step*size - whole*isa.VectorBytes(), blocks: blocks, rows: rows, vectors: whole, rest: columns % lanes}
	if rows < Block[T]() {
		f.hasSums, f.hasGroup = number(!k.first), number(k.grouped)
		k = columnKey{wide: k.wide, size: size, part: true}
	}
	f.bits = 1<<f.rest - 1
	for i := range min(f.rest*size/4, len(f.mask)) {
		f.mask[i] = -1
	}
	f.x, f.y, f.sums = unsafe.Pointer(&x[at]), unsafe.Pointer(&y[at]), unsafe.Pointer(&sums[0])
	if group != nil {
		f.group = unsafe.Pointer(&group[0])
	}
	jit.Call(columnKernel(k), 0, unsafe.Pointer(&f))
}

// add accounts for blocks that were written.
func (c *columnCarries[T]) add(blocks int) {
	k := 0
	for c.counts[0] += blocks; c.counts[k] == numbers.ScanGroup; k++ {
		s, up := c.sums[k], c.sums[k+1]
		if c.counts[k+1] == 0 {
			copy(up, s)
		} else {
			for j := range up {
				up[j] += s[j]
			}
		}
		c.counts[k] = 0
		c.counts[k+1]++
	}
	for ; k > 0; k-- {
		var above []T
		if k+1 < len(c.counts) {
			above = c.goesBefore(k + 1)
		}
		b, s := c.before[k], c.sums[k]
		switch {
		case c.counts[k] == 0:
			copy(b, above)
		case above == nil:
			copy(b, s)
		default:
			for j := range b {
				b[j] = above[j] + s[j]
			}
		}
	}
}

// number returns 1 for true and 0 for false.
func number(b bool) int {
	if b {
		return 1
	}
	return 0
}
