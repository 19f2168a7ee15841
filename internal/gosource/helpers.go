//go:build ignore

package gosource

import (
	"math"
	"math/bits"
)

// Printed programs call the functions of this file, whose text goes with them. So a function here
// uses nothing but Go's packages math and math/bits, and other declarations of this file.

type integer interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

type float interface{ float32 | float64 }

type numeric interface{ integer | float }

// choose returns a if c holds, else b.
func choose[T any](c bool, a, b T) T {
	if c {
		return a
	}
	return b
}

// one returns 1 for true.
func one(c bool) uint8 {
	if c {
		return 1
	}
	return 0
}

// abs32 clears the sign bit.
func abs32(x float32) float32 { return math.Float32frombits(math.Float32bits(x) &^ (1 << 31)) }

// lesser returns the lesser number, b where they are equal, and NaN where one is NaN.
func lesser[T float](a, b T) T {
	if a != a {
		return a
	}
	if a < b {
		return a
	}
	return b
}

// greater returns the greater number, b where they are equal, and NaN where one is NaN.
func greater[T float](a, b T) T {
	if a != a {
		return a
	}
	if a > b {
		return a
	}
	return b
}

// fma32 returns a*b+c rounded once. The product of two float32 is exact in float64. The sum may be
// rounded twice only if it lies halfway between two float32, or is subnormal.
func fma32(a, b, c float32) float32 {
	p := float64(a) * float64(b)
	s := float64(p + float64(c))
	if u := math.Float64bits(s); u<<35 == 1<<63 || u<<1 < (1023-126)<<53 {
		return odd32(p, float64(c))
	}
	return float32(s)
}

// odd32 rounds the exact sum of p and c to float32: by way of the float64 beside it whose last bit
// is odd, which is never halfway between two float32.
//
// Source: Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", IEEE Trans.
// Computers 57, 2008.
func odd32(p, c float64) float32 {
	s := p + c
	t := s - p
	e := (p - (s - t)) + (c - t)
	u := math.Float64bits(s)
	if e != 0 && u&1 == 0 {
		if (e > 0) == (s > 0) {
			u++
		} else {
			u--
		}
	}
	return float32(math.Float64frombits(u))
}

// exponent32 returns the exponent of a positive normal number.
func exponent32(x float32) float32 { return float32(int(math.Float32bits(x)>>23) - 127) }

// exponent64 returns the exponent of a positive normal number.
func exponent64(x float64) float64 { return float64(int(math.Float64bits(x)>>52) - 1023) }

// scale32 returns x times 2 to the power of k, a whole number, by two products. The first one is
// exact.
func scale32(x, k float32) float32 {
	n := uint32(int32(k)) + 2*127
	return float32(float32(x*math.Float32frombits(n>>1<<23)) * math.Float32frombits((n-n>>1)<<23))
}

// scale64 returns x times 2 to the power of k, a whole number, by two products. The first one is
// exact.
func scale64(x, k float64) float64 {
	n := uint64(int64(k)) + 2*1023
	return float64(float64(x*math.Float64frombits(n>>1<<52)) * math.Float64frombits((n-n>>1)<<52))
}

// fromFloat16 returns the number with these bits of IEEE 754 binary16.
func fromFloat16(h uint16) float32 {
	sign, exp, frac := uint32(h>>15)<<31, uint32(h>>10)&31, uint32(h)&1023
	switch exp {
	case 0: // zero and subnormals: frac * 2^-24
		return math.Float32frombits(math.Float32bits(float32(frac)*0x1p-24) | sign)
	case 31:
		if frac != 0 {
			frac |= 1 << 9
		}
		return math.Float32frombits(sign | 255<<23 | frac<<13)
	}
	return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
}

// toFloat16 rounds to the nearest number of IEEE 754 binary16, ties to even.
func toFloat16(x float32) uint16 {
	u := math.Float32bits(x)
	sign := uint16(u>>16) & 0x8000
	u &= 1<<31 - 1
	switch {
	case u > 255<<23:
		return sign | 0x7e00
	case u >= 0x477ff000:
		return sign | 0x7c00
	case u < 113<<23: // the unit is 2^-24, as from 0.5 to 1 in float32
		return sign | uint16(math.Float32bits(math.Float32frombits(u)+0.5)-126<<23)
	}
	u += 0xfff + u>>13&1
	return sign | uint16((u-112<<23)>>13)
}

// fromBFloat16 returns the number with these bits as the upper half.
func fromBFloat16(h uint16) float32 { return math.Float32frombits(uint32(h) << 16) }

// toBFloat16 rounds to the nearest number whose lower half is zero, ties to even.
func toBFloat16(x float32) uint16 {
	u := math.Float32bits(x)
	if u&(1<<31-1) > 255<<23 {
		return uint16(u>>16) | 1<<6
	}
	return uint16((u + 0x7fff + u>>16&1) >> 16)
}

// truncated returns the integer part of x, the nearest limit of the type beyond them, and 0 for NaN.
func truncated[T integer](x float64, least, most T) T {
	switch {
	case x >= 2*float64(most/2+1):
		return most
	case x <= float64(least):
		return least
	case x == x:
		return T(x)
	}
	return 0
}

// quotient returns a/b, 0 for b = 0.
func quotient[T integer](a, b T) T {
	if b == 0 {
		return 0
	}
	return a / b
}

// remainder returns a%b, 0 for b = 0.
func remainder[T integer](a, b T) T {
	if b == 0 {
		return 0
	}
	return a % b
}

// highProduct returns the upper 64 bits of a product.
func highProduct(a, b int64) int64 {
	hi, _ := bits.Mul64(uint64(a), uint64(b))
	return int64(hi) - a>>63&b - b>>63&a
}

// highProductU returns the upper 64 bits of a product of numbers without sign.
func highProductU(a, b uint64) uint64 {
	hi, _ := bits.Mul64(a, b)
	return hi
}

func sum[T numeric](a, b T) T { return a + b }

func product[T numeric](a, b T) T { return T(a * b) }

// A reduction combines the elements of a row in a fixed order. A block of 4096 elements is combined
// in lanes, element i in lane i modulo their number. Lanes are folded by halves. Blocks are combined
// by a tree of neighbours: tree[l] has 1<<l of them if bit l of blocks is set.
type reduction[T numeric] struct {
	lanes  [256]T
	tree   [64]T
	blocks uint64
	used   int // lanes of the block at hand; what others would add changes nothing
}

// open begins a block. At most n elements are left in the row.
func (r *reduction[T]) open(n, lanes int, identity T) {
	r.used = max(min(n, lanes), 1)
	for i := range r.lanes[:r.used] {
		r.lanes[i] = identity
	}
}

// close ends a block.
func (r *reduction[T]) close(lanes int, combine func(a, b T) T) {
	n := r.used
	for half := lanes / 2; half > 0; half /= 2 {
		for i := half; i < n; i++ {
			r.lanes[i-half] = combine(r.lanes[i-half], r.lanes[i])
		}
		n = min(n, half)
	}
	r.put(r.lanes[0], combine)
}

// put takes the value of a block.
func (r *reduction[T]) put(x T, combine func(a, b T) T) {
	level := 0
	for ; r.blocks>>level&1 != 0; level++ {
		x = combine(r.tree[level], x)
	}
	r.tree[level] = x
	r.blocks++
}

// result returns what is left of the tree, identity if there was no block, and begins a row.
func (r *reduction[T]) result(identity T, combine func(a, b T) T) T {
	if r.blocks == 0 {
		return identity
	}
	level := bits.TrailingZeros64(r.blocks)
	x := r.tree[level]
	for level++; r.blocks>>level != 0; level++ {
		if r.blocks>>level&1 != 0 {
			x = combine(r.tree[level], x)
		}
	}
	r.blocks = 0
	return x
}
