// Package half has the Go types of the elements of float16 and bfloat16 tensors, for
// slices of them, and their conversion from and to Go's floats.
package half

import (
	"math"
	"strconv"
)

// A Float16 is an IEEE 754 binary16 number, as bits: 11 bits of precision, magnitudes
// from 2^-24 to 65504.
type Float16 uint16

// A BFloat16 is the upper half of an IEEE 754 binary32 number, as bits: 8 bits of
// precision, the range of a float32.
type BFloat16 uint16

// NewFloat16 rounds x once, to nearest, ties to even, and to infinity from 65520 on. NaN
// stays NaN.
func NewFloat16[T float32 | float64](x T) Float16 {
	u := math.Float32bits(odd(x))
	sign := Float16(u>>16) & 0x8000
	u &= 1<<31 - 1
	switch {
	case u > 255<<23:
		return sign | 0x7e00
	case u >= 0x477ff000:
		return sign | 0x7c00
	case u < 113<<23:
		// Below 2^-14 the unit is 2^-24, which is that of 0.5 to 1 in float32: adding
		// 0.5 rounds there.
		y := math.Float32frombits(u) + 0.5
		return sign | Float16(math.Float32bits(y)-126<<23)
	}
	// To nearest even in the 13 bits that go.
	u += 0xfff + u>>13&1
	return sign | Float16((u-112<<23)>>13)
}

// NewBFloat16 rounds x once, to nearest, ties to even. NaN stays NaN.
func NewBFloat16[T float32 | float64](x T) BFloat16 {
	u := math.Float32bits(odd(x))
	if u&(1<<31-1) > 255<<23 {
		return BFloat16(u>>16) | 1<<6
	}
	return BFloat16((u + 0x7fff + u>>16&1) >> 16)
}

// odd is x as a float32, rounded to odd: of the two numbers around x the one whose last
// bit is set. What is rounded again, to fewer bits, is then as x rounded at once (S.
// Boldo, G. Melquiond, "When double rounding is odd", IMACS 2005).
func odd[T float32 | float64](x T) float32 {
	y := float32(x)
	u := math.Float32bits(y)
	if T(y) == x || x != x || u&1 != 0 {
		return y
	}
	if math.Abs(float64(y)) > math.Abs(float64(x)) {
		return math.Float32frombits(u - 1)
	}
	return math.Float32frombits(u + 1)
}

// Float32 returns the same number. A NaN becomes quiet.
func (h Float16) Float32() float32 {
	sign := uint32(h>>15) << 31
	exp := uint32(h>>10) & 31
	frac := uint32(h) & 1023
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

// Float32 returns the same number.
func (h BFloat16) Float32() float32 { return math.Float32frombits(uint32(h) << 16) }

// String returns the fewest decimal digits that tell the number from its neighbours.
func (h Float16) String() string {
	return shortest(h.Float32(), func(x float64) bool { return NewFloat16(x) == h })
}

// String returns the fewest decimal digits that tell the number from its neighbours.
func (h BFloat16) String() string {
	return shortest(h.Float32(), func(x float64) bool { return NewBFloat16(x) == h })
}

// shortest formats x with the fewest significant digits that round back to it.
func shortest(x float32, same func(x float64) bool) string {
	for digits := 1; digits < 6; digits++ {
		s := strconv.FormatFloat(float64(x), 'g', digits, 64)
		if y, err := strconv.ParseFloat(s, 64); err == nil && same(y) {
			return s
		}
	}
	return strconv.FormatFloat(float64(x), 'g', -1, 32)
}
