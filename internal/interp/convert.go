package interp

import (
	"math"

	"weft/internal/loop"
)

// cvtStep returns the step of a conversion.
func cvtStep(to, from loop.Type) step {
	switch to {
	case loop.I32:
		switch from {
		case loop.B:
			return unary(convert[uint8, int32])
		case loop.I64:
			return unary(convert[int64, int32])
		case loop.F32:
			return unary(toInt32[float32])
		}
		return unary(toInt32[float64])
	case loop.I64:
		switch from {
		case loop.B:
			return unary(convert[uint8, int64])
		case loop.I32:
			return unary(convert[int32, int64])
		case loop.F32:
			return unary(toInt64[float32])
		}
		return unary(toInt64[float64])
	case loop.F32:
		switch from {
		case loop.B:
			return unary(convert[uint8, float32])
		case loop.I32:
			return unary(convert[int32, float32])
		case loop.I64:
			return unary(convert[int64, float32])
		}
		return unary(convert[float64, float32])
	}
	switch from {
	case loop.B:
		return unary(convert[uint8, float64])
	case loop.I32:
		return unary(convert[int32, float64])
	case loop.I64:
		return unary(convert[int64, float64])
	}
	return unary(convert[float32, float64])
}

// convert is for what Go's own conversion defines.
func convert[T, D uint8 | number](d []D, a []T) {
	a = a[:len(d)]
	for i := range d {
		d[i] = D(a[i])
	}
}

func toInt32[T float](d []int32, a []T) {
	a = a[:len(d)]
	for i := range d {
		x := float64(a[i])
		switch {
		case x > math.MinInt32-1 && x < math.MaxInt32+1:
			d[i] = int32(x)
		case x > 0:
			d[i] = math.MaxInt32
		case x < 0:
			d[i] = math.MinInt32
		default: // NaN
			d[i] = 0
		}
	}
}

func toInt64[T float](d []int64, a []T) {
	a = a[:len(d)]
	for i := range d {
		x := float64(a[i])
		switch {
		case x >= math.MinInt64 && x < math.MaxInt64+1:
			d[i] = int64(x)
		case x > 0:
			d[i] = math.MaxInt64
		case x < 0:
			d[i] = math.MinInt64
		default: // NaN
			d[i] = 0
		}
	}
}

// fromHalf widens an IEEE 754 binary16.
func fromHalf(h uint16) float32 {
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

// toHalf rounds to binary16, to nearest even.
func toHalf(x float32) uint16 {
	u := math.Float32bits(x)
	sign := uint16(u>>16) & 0x8000
	u &= 1<<31 - 1
	switch {
	case u > 255<<23:
		return sign | 0x7e00
	case u >= 0x477ff000: // 65520 and above round to infinity
		return sign | 0x7c00
	case u < 113<<23:
		// Below 2^-14 the unit is 2^-24, which is that of 0.5 to 1 in float32:
		// adding 0.5 rounds there.
		y := math.Float32frombits(u) + 0.5
		return sign | uint16(math.Float32bits(y)-126<<23)
	}
	// To nearest even in the 13 bits that go.
	u += 0xfff + u>>13&1
	return sign | uint16((u-112<<23)>>13)
}

// fromBrain widens a bfloat16, the upper half of a float32.
func fromBrain(h uint16) float32 {
	return math.Float32frombits(uint32(h) << 16)
}

// toBrain rounds to bfloat16, to nearest even.
func toBrain(x float32) uint16 {
	u := math.Float32bits(x)
	if u&(1<<31-1) > 255<<23 {
		return uint16(u>>16) | 1<<6
	}
	return uint16((u + 0x7fff + u>>16&1) >> 16)
}
