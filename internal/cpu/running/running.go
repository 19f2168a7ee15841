// Package running computes cumulative sums of floats: along contiguous rows, or along many columns
// of an array at once.
//
// All backends add in the order of package numbers, so that their bits are the same: blocks of 64
// bytes, groups of 16 blocks, groups of 16 groups, and so on.
package running

import (
	"math"
	"unsafe"

	"weft/internal/cpu/codegen"
	"weft/internal/jit"
	"weft/internal/numbers"
	"weft/internal/processor"
)

type float interface{ float32 | float64 }

// maxCall is the maximum number of elements in one call of machine code, which cannot be
// interrupted.
const maxCall = 1 << 17

// Block returns the number of elements of a block.
func Block[T float]() int { return numbers.ScanBlockBytes / int(unsafe.Sizeof(T(0))) }

// minusZero is the neutral element of addition: x + -0 is x, for zeros of both signs too.
var minusZero = math.Copysign(0, -1)

// levels is the maximum number of levels of groups: 16^levels blocks exceed any sequence.
const levels = 16

// carries holds the carry into the next block, by level.
type carries[T float] struct {
	// before[k] is the carry into the group of level k that contains the next block. A block is a
	// group of level 0.
	before [levels + 1]T
	// sums[k] and counts[k] are the total and the number of finished groups of level k inside the
	// current group of level k+1.
	sums   [levels]T
	counts [levels]int
}

func newCarries[T float]() *carries[T] {
	c := new(carries[T])
	for k := range c.before {
		c.before[k] = T(minusZero)
	}
	for k := range c.sums {
		c.sums[k] = T(minusZero)
	}
	return c
}

// add accounts for a finished group of level k with total s.
func (c *carries[T]) add(k int, s T) {
	for c.sums[k], c.counts[k] = c.sums[k]+s, c.counts[k]+1; c.counts[k] == numbers.ScanGroup; k++ {
		c.sums[k+1], c.counts[k+1] = c.sums[k+1]+c.sums[k], c.counts[k+1]+1
		c.sums[k], c.counts[k] = T(minusZero), 0
	}
	c.settle(k)
}

// settle computes the carries of levels k and below.
func (c *carries[T]) settle(k int) {
	for ; k >= 0; k-- {
		c.before[k] = c.before[k+1] + c.sums[k]
	}
}

// Sums writes the cumulative sums of contiguous rows of n elements of x to y. Requires len(y) ==
// len(x). With reverse each row is added from its end, so that its last block is the first one
// added.
func Sums[T float](isa jit.ISA, y, x []T, n int, reverse bool) {
	switch {
	case n == 0:
	case isa != jit.Portable && n <= numbers.ScanGroup*Block[T]():
		for most := n * max(maxCall/n, 1); len(x) > 0; {
			part := min(most, len(x))
			shortRows(isa, y[:part], x[:part], n, reverse)
			y, x = y[part:], x[part:]
		}
	default:
		for at := 0; at < len(x); at += n {
			longRow(isa, y[at:at+n], x[at:at+n], reverse)
		}
	}
}

// shortRows writes the cumulative sums of rows that hold at most one group.
func shortRows[T float](isa jit.ISA, y, x []T, n int, reverse bool) {
	size, per := int(unsafe.Sizeof(T(0))), Block[T]()
	rest := n % per
	f := shortFrame{rows: len(x) / n, blocks: n / per, next: rest * size, bits: 1<<rest - 1}
	from := 0
	if reverse {
		f.first = (n - per) * size
		f.next, f.bits, from = (2*n-rest)*size, f.bits<<(per-rest), per-rest
	}
	for i := range rest * size / 4 {
		f.mask[from*size/4+i] = -1
	}
	f.x, f.y = unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0])
	jit.Call(codegen.Kernel(codes, key{wide: isa == jit.AVX512, size: size, reverse: reverse, short: true}), 0, unsafe.Pointer(&f))
}

// longRow writes the cumulative sums of one row.
func longRow[T float](isa jit.ISA, y, x []T, reverse bool) {
	size, per := int(unsafe.Sizeof(T(0))), Block[T]()
	c, blocks := newCarries[T](), len(x)/per
	done := 0
	for isa != jit.Portable && done < blocks {
		f := rowFrame{groups: min((blocks-done)/numbers.ScanGroup, numbers.ScanGroup-c.counts[1]), blocks: numbers.ScanGroup}
		if f.groups == 0 {
			f.groups, f.blocks = 1, blocks-done
		}
		from := done * per
		if reverse {
			from = len(x) - from - per
		}
		f.x, f.y = unsafe.Pointer(&x[from]), unsafe.Pointer(&y[from])
		before, sum1, sum0 := c.before[2], c.sums[1], T(0)
		f.before, f.sum1, f.sum0 = unsafe.Pointer(&before), unsafe.Pointer(&sum1), unsafe.Pointer(&sum0)
		nonTemporal := 2*len(x)*size >= processor.Host.NonTemporalFrom && uintptr(f.y)%processor.Line == 0
		jit.Call(codegen.Kernel(codes, key{wide: isa == jit.AVX512, nonTemporal: nonTemporal, size: size, reverse: reverse}), 0, unsafe.Pointer(&f))
		done += f.groups * f.blocks
		if f.blocks < numbers.ScanGroup {
			c.sums[0], c.counts[0] = sum0, f.blocks
			c.settle(0)
			break
		}
		// The last group is added again together with the levels above.
		if c.counts[1] += f.groups; c.counts[1] == numbers.ScanGroup {
			c.sums[1], c.counts[1] = T(minusZero), 0
			c.add(2, sum1)
		} else {
			c.sums[1] = sum1
			c.settle(1)
		}
	}
	at, step := done*per, 1
	if reverse {
		at, step = len(x)-1-at, -1
	}
	for rest := len(x) - done*per; rest > 0; rest -= per {
		n := min(rest, per)
		s := block(y, x, at, step, n, c.before[0])
		if n == per {
			c.add(0, s)
		}
		at += n * step
	}
}

// block writes the cumulative sums of n elements, at most one block, at index at with stride step,
// plus the carry. It returns their total.
func block[T float](y, x []T, at, step, n int, before T) T {
	sum := T(minusZero)
	for ; n >= 8; n -= 8 {
		sum = eight(y, x, at, step, before, sum)
		at += 8 * step
	}
	if n == 0 {
		return sum
	}
	var v [8]T
	for i := range n {
		v[i] = x[at+i*step]
	}
	v[1], v[3], v[5], v[7] = v[0]+v[1], v[2]+v[3], v[4]+v[5], v[6]+v[7]
	v[2], v[3], v[6], v[7] = v[1]+v[2], v[1]+v[3], v[5]+v[6], v[5]+v[7]
	v[4], v[5], v[6] = v[3]+v[4], v[3]+v[5], v[3]+v[6]
	for i := range n {
		y[at+i*step] = before + (sum + v[i])
	}
	return sum + v[n-1]
}

// eight writes the cumulative sums of eight elements whose block holds the total low before them.
// It returns their last sum in the block.
func eight[T float](y, x []T, at, step int, before, low T) T {
	i1, i2, i3, i4, i5, i6, i7 := at+step, at+2*step, at+3*step, at+4*step, at+5*step, at+6*step, at+7*step
	a, c, e, g := x[at], x[i2], x[i4], x[i6]
	b, d, f, h := a+x[i1], c+x[i3], e+x[i5], g+x[i7]
	c, d, g, h = b+c, b+d, f+g, f+h
	e, f, g, h = d+e, d+f, d+g, d+h
	h = low + h
	y[at], y[i1], y[i2], y[i3] = before+(low+a), before+(low+b), before+(low+c), before+(low+d)
	y[i4], y[i5], y[i6], y[i7] = before+(low+e), before+(low+f), before+(low+g), before+h
	return h
}
