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
