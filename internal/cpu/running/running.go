// Package running adds up rows: each element and all before it, in blocks.
//
// A sum in order waits for one addition an element. Here a row is cut into blocks of
// [BlockBytes], whatever the vectors of the processor, and the last block may be short.
// Inside a block, the running sums of its pairs are found first, then those of fours,
// eights and so on: the last sum of each lower half goes before those of the upper half.
// Then the sum of all blocks before goes before each of the block: one addition waits for
// another once a block. All backends add in this order, so that their bits are the same.
package running

import (
	"math"
	"unsafe"

	"weft/internal/cpu/gen"
	"weft/internal/jit"
)

// BlockBytes is the size of a block of a row.
const BlockBytes = 64

type float interface{ float32 | float64 }

// Block returns the number of elements of a block.
func Block[T float]() int { return BlockBytes / int(unsafe.Sizeof(T(0))) }

// minusZero is what added to any number gives that number, zeros of both signs too.
var minusZero = math.Copysign(0, -1)

// Sums writes the running sums of x to y, which is as long.
func Sums[T float](isa jit.ISA, y, x []T) {
	done, before := 0, T(minusZero)
	if blocks := len(x) / Block[T](); isa != jit.Portable && blocks > 0 {
		size := int(unsafe.Sizeof(before))
		f := frame{unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0]), blocks}
		past := 2*len(x)*size >= gen.StreamMin && uintptr(f.y)%gen.Line == 0
		jit.Call(gen.Kernel(codes, key{wide: isa == jit.AVX512, past: past, size: size}), 0, unsafe.Pointer(&f))
		done = blocks * Block[T]()
		before = y[done-1]
	}
	steps(y, x, done, 1, before)
}

// Back writes the running sums of x from its end to y. The first block is the last one.
func Back[T float](y, x []T) { steps(y, x, len(x)-1, -1, T(minusZero)) }

// steps adds from place at to the end of the row, which is its begin if step is -1.
func steps[T float](y, x []T, at, step int, before T) {
	n := len(x) - at
	if step < 0 {
		n = at + 1
	}
	block := Block[T]()
	for ; n >= block; n -= block {
		sum := eight(y, x, at, step, before, T(minusZero))
		at += 8 * step
		if block > 8 {
			sum = eight(y, x, at, step, before, sum)
			at += 8 * step
		}
		before += sum
	}
	var v [BlockBytes / 4]T
	for i := range n {
		v[i] = x[at+i*step]
	}
	for half := 1; half < n; half *= 2 {
		for i := range n {
			if i&half != 0 {
				v[i] = v[i&^(2*half-1)|(half-1)] + v[i]
			}
		}
	}
	for i := range n {
		y[at+i*step] = before + v[i]
	}
}

// eight writes the running sums of eight elements, before which their block has those of sum
// low and the row has the blocks of sum before, and returns their last one in the block.
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
