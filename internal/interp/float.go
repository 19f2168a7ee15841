package interp

import (
	"math"

	"weft/internal/loop"
)

const (
	quiet32 = 1 << 22
	quiet64 = 1 << 51
)

func negF32(d, a []float32) {
	a = a[:len(d)]
	for i := range d {
		d[i] = math.Float32frombits(math.Float32bits(a[i]) ^ 1<<31)
	}
}

func negF64(d, a []float64) {
	a = a[:len(d)]
	for i := range d {
		d[i] = math.Float64frombits(math.Float64bits(a[i]) ^ 1<<63)
	}
}

func absF32(d, a []float32) {
	a = a[:len(d)]
	for i := range d {
		d[i] = math.Float32frombits(math.Float32bits(a[i]) &^ (1 << 31))
	}
}

func absF64(d, a []float64) {
	a = a[:len(d)]
	for i := range d {
		d[i] = math.Float64frombits(math.Float64bits(a[i]) &^ (1 << 63))
	}
}

// The choices below are made between bits, because the compiler then makes
// conditional moves of them.

func minOne32(a, b float32) float32 {
	x, y := math.Float32bits(a), math.Float32bits(b)
	r := y
	if a < b {
		r = x
	}
	if a != a {
		r = x | quiet32
	}
	if b != b {
		r = y | quiet32
	}
	return math.Float32frombits(r)
}

func minOne64(a, b float64) float64 {
	x, y := math.Float64bits(a), math.Float64bits(b)
	r := y
	if a < b {
		r = x
	}
	if a != a {
		r = x | quiet64
	}
	if b != b {
		r = y | quiet64
	}
	return math.Float64frombits(r)
}

func maxOne32(a, b float32) float32 {
	x, y := math.Float32bits(a), math.Float32bits(b)
	r := y
	if a > b {
		r = x
	}
	if a != a {
		r = x | quiet32
	}
	if b != b {
		r = y | quiet32
	}
	return math.Float32frombits(r)
}

func maxOne64(a, b float64) float64 {
	x, y := math.Float64bits(a), math.Float64bits(b)
	r := y
	if a > b {
		r = x
	}
	if a != a {
		r = x | quiet64
	}
	if b != b {
		r = y | quiet64
	}
	return math.Float64frombits(r)
}

func minF32(d, a, b []float32) {
	switch {
	case len(b) == 1:
		a, y := a[:len(d)], b[0]
		for i := range d {
			d[i] = minOne32(a[i], y)
		}
	case len(a) == 1:
		x, b := a[0], b[:len(d)]
		for i := range d {
			d[i] = minOne32(x, b[i])
		}
	default:
		a, b := a[:len(d)], b[:len(d)]
		for i := range d {
			d[i] = minOne32(a[i], b[i])
		}
	}
}

func minF64(d, a, b []float64) {
	switch {
	case len(b) == 1:
		a, y := a[:len(d)], b[0]
		for i := range d {
			d[i] = minOne64(a[i], y)
		}
	case len(a) == 1:
		x, b := a[0], b[:len(d)]
		for i := range d {
			d[i] = minOne64(x, b[i])
		}
	default:
		a, b := a[:len(d)], b[:len(d)]
		for i := range d {
			d[i] = minOne64(a[i], b[i])
		}
	}
}

func maxF32(d, a, b []float32) {
	switch {
	case len(b) == 1:
		a, y := a[:len(d)], b[0]
		for i := range d {
			d[i] = maxOne32(a[i], y)
		}
	case len(a) == 1:
		x, b := a[0], b[:len(d)]
		for i := range d {
			d[i] = maxOne32(x, b[i])
		}
	default:
		a, b := a[:len(d)], b[:len(d)]
		for i := range d {
			d[i] = maxOne32(a[i], b[i])
		}
	}
}

func maxF64(d, a, b []float64) {
	switch {
	case len(b) == 1:
		a, y := a[:len(d)], b[0]
		for i := range d {
			d[i] = maxOne64(a[i], y)
		}
	case len(a) == 1:
		x, b := a[0], b[:len(d)]
		for i := range d {
			d[i] = maxOne64(x, b[i])
		}
	default:
		a, b := a[:len(d)], b[:len(d)]
		for i := range d {
			d[i] = maxOne64(a[i], b[i])
		}
	}
}

// roundStep returns the step of a rounding or square root, or nil. In float64 the
// roundings of a float32 are exact, and its square root has enough bits that
// rounding it again is harmless.
func roundStep[T float](op loop.Op) step {
	switch op {
	case loop.OpSqrt:
		return unary(sqrt[T])
	case loop.OpFloor:
		return unary(floor[T])
	case loop.OpCeil:
		return unary(ceil[T])
	case loop.OpTrunc:
		return unary(trunc[T])
	case loop.OpRint:
		return unary(rint[T])
	}
	return nil
}

func sqrt[T float](d, a []T) {
	a = a[:len(d)]
	for i := range d {
		d[i] = T(math.Sqrt(float64(a[i])))
	}
}

func floor[T float](d, a []T) {
	a = a[:len(d)]
	for i := range d {
		d[i] = T(math.Floor(float64(a[i])))
	}
}

func ceil[T float](d, a []T) {
	a = a[:len(d)]
	for i := range d {
		d[i] = T(math.Ceil(float64(a[i])))
	}
}

func trunc[T float](d, a []T) {
	a = a[:len(d)]
	for i := range d {
		d[i] = T(math.Trunc(float64(a[i])))
	}
}

func rint[T float](d, a []T) {
	a = a[:len(d)]
	for i := range d {
		d[i] = T(math.RoundToEven(float64(a[i])))
	}
}

func logB32(d, a []float32) {
	a = a[:len(d)]
	for i := range d {
		d[i] = float32(int(math.Float32bits(a[i])>>23) - 127)
	}
}

func logB64(d, a []float64) {
	a = a[:len(d)]
	for i := range d {
		d[i] = float64(int(math.Float64bits(a[i])>>52) - 1023)
	}
}

// scaleB32 multiplies by two powers of two; the first product is exact.
func scaleB32(d, a, b []float32) {
	for i := range d {
		k := uint32(int32(at(b, i))) + 2*127
		s1, s2 := k>>1<<23, (k-k>>1)<<23
		d[i] = at(a, i) * math.Float32frombits(s1) * math.Float32frombits(s2)
	}
}

func scaleB64(d, a, b []float64) {
	for i := range d {
		k := uint64(int64(at(b, i))) + 2*1023
		s1, s2 := k>>1<<52, (k-k>>1)<<52
		d[i] = at(a, i) * math.Float64frombits(s1) * math.Float64frombits(s2)
	}
}

// at is element i of an operand, which may be one for all lanes.
func at[T float](x []T, i int) T {
	if len(x) == 1 {
		return x[0]
	}
	return x[i]
}
