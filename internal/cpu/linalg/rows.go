package linalg

import (
	"math"
	"unsafe"

	"weft/internal/cpu/tile"
	"weft/internal/fma"
)

// subtractRows subtracts c[0]*x[0] + c[1]*x[1] + ... from y, x being rows ld elements apart. An element is
// one chain of fused multiply-adds in ascending order; parts of complex ones are two chains.
func (k *kit[T]) subtractRows(y, c, x []T, ld int) {
	if len(c) == 0 || len(y) == 0 {
		return
	}
	switch y := any(y).(type) {
	case []float32:
		tile.SubtractRows(k.isa, y, any(c).([]float32), any(x).([]float32), ld)
	case []float64:
		tile.SubtractRows(k.isa, y, any(c).([]float64), any(x).([]float64), ld)
	case []complex128:
		subtractComplex(y, any(c).([]complex128), any(x).([]complex128), ld)
	}
}

func subtractComplex(y, c, x []complex128, ld int) {
	for i, f := range c {
		row := x[i*ld:][:len(y)]
		for j, v := range row {
			re := math.FMA(-real(f), real(v), real(y[j]))
			im := math.FMA(-real(f), imag(v), imag(y[j]))
			y[j] = complex(math.FMA(imag(f), imag(v), re), math.FMA(-imag(f), real(v), im))
		}
	}
}

// reciprocal returns 1/d, and whether it did not overflow.
func reciprocal[T number](d T) (r T, finite bool) {
	r = quotient(fromReal[T](1), d)
	m := magnitude(r)
	return r, !(m > math.MaxFloat64 || typeOf[T]() == typeOf[float32]() && m > math.MaxFloat32)
}

// divideRow divides a row by d: it multiplies by 1/d where that is finite.
func divideRow[T number](y []T, d T) {
	r, finite := reciprocal(d)
	if !finite {
		for j := range y {
			y[j] = quotient(y[j], d)
		}
		return
	}
	switch y := any(y).(type) {
	case []float32:
		r := any(r).(float32)
		for j := range y {
			y[j] *= r
		}
	case []float64:
		r := any(r).(float64)
		for j := range y {
			y[j] *= r
		}
	case []complex128:
		r := any(r).(complex128)
		for j := range y {
			y[j] = times(y[j], r)
		}
	}
}

// dot is the sum of conj(x[i])*y[i]: lanes of 64 bytes, each one a chain of fused multiply-adds, which are
// folded in halves. Complex numbers have one chain.
func dot[T number](x, y []T) T {
	switch x := any(x).(type) {
	case []float32:
		return any(dot32(x, any(y).([]float32))).(T)
	case []float64:
		return any(dot64(x, any(y).([]float64))).(T)
	}
	return any(dotComplex(any(x).([]complex128), any(y).([]complex128))).(T)
}

func dot64(x, y []float64) float64 {
	var s [8]float64
	y = y[:len(x)]
	for len(x) >= 8 {
		for l := range s {
			s[l] = math.FMA(x[l], y[l], s[l])
		}
		x, y = x[8:], y[8:]
	}
	for l := range x {
		s[l] = math.FMA(x[l], y[l], s[l])
	}
	for n := 4; n > 0; n /= 2 {
		for l := range n {
			s[l] += s[l+n]
		}
	}
	return s[0]
}

func dot32(x, y []float32) float32 {
	var s [16]float32
	y = y[:len(x)]
	for len(x) > 0 {
		n := min(len(x), len(s))
		for l := range n {
			s[l] = fma.Float32(x[l], y[l], s[l])
		}
		x, y = x[n:], y[n:]
	}
	for n := 8; n > 0; n /= 2 {
		for l := range n {
			s[l] += s[l+n]
		}
	}
	return s[0]
}

func dotComplex(x, y []complex128) complex128 {
	var re, im float64
	for i, v := range x {
		w := y[i]
		re = math.FMA(imag(v), imag(w), math.FMA(real(v), real(w), re))
		im = math.FMA(-imag(v), real(w), math.FMA(real(v), imag(w), im))
	}
	return complex(re, im)
}

// length is the Euclidean length of x. Elements are scaled where squares would overflow or vanish.
func length[T number](x []T) float64 {
	if len(x) == 0 {
		return 0
	}
	least, most := 0x1p-960, 0x1p1000
	if typeOf[T]() == typeOf[float32]() {
		least, most = 0x1p-90, 0x1p120
	}
	if s := re(dot(x, x)); s > least && s < most {
		return math.Sqrt(s)
	}
	top := 0.0
	for _, v := range x {
		top = max(top, magnitude(v))
	}
	if top == 0 || !(top <= math.MaxFloat64) {
		return top
	}
	return scaled(x, top)
}

// hypot is the length of (x, y), with one formula on every processor.
func hypot(x, y float64) float64 {
	v := [2]float64{x, y}
	top := max(math.Abs(x), math.Abs(y))
	if top == 0 || !(top <= math.MaxFloat64) {
		return top
	}
	return scaled(v[:], top)
}

// scaled is the length of x, whose greatest magnitude is top.
func scaled[T number](x []T, top float64) float64 {
	s := 0.0
	_, e := math.Frexp(top)
	for _, v := range x {
		a, b := math.Ldexp(re(v), -e), math.Ldexp(im(v), -e)
		s = math.FMA(a, a, math.FMA(b, b, s))
	}
	return math.Ldexp(math.Sqrt(s), e)
}

// greatest is the index of the first element of the greatest magnitude. NaN does not count unless it is
// the first.
func greatest[T number](x []T) int {
	switch x := any(x).(type) {
	case []float32:
		return greatestBits(unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(x))), len(x)), math.Float32bits(float32(math.Inf(1))))
	case []float64:
		return greatestBits(unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(x))), len(x)), math.Float64bits(math.Inf(1)))
	}
	at, most := 0, magnitude(x[0])
	for i, v := range x {
		if m := magnitude(v); m > most {
			at, most = i, m
		}
	}
	return at
}

// greatestBits is greatest for the bits of real numbers, which have the order of their magnitudes without the sign:
// branches on random signs would be predicted wrongly. What is above inf is NaN.
func greatestBits[B uint32 | uint64](x []B, inf B) int {
	sign := ^(^B(0) >> 1)
	if x[0]&^sign > inf {
		return 0
	}
	number := func(b B) B {
		if b &^= sign; b > inf {
			b = 0
		}
		return b
	}
	var most [4]B
	rest := x
	for ; len(rest) >= 4; rest = rest[4:] {
		most[0] = max(most[0], number(rest[0]))
		most[1] = max(most[1], number(rest[1]))
		most[2] = max(most[2], number(rest[2]))
		most[3] = max(most[3], number(rest[3]))
	}
	top := max(most[0], most[1], most[2], most[3])
	for _, b := range rest {
		top = max(top, number(b))
	}
	for i, b := range x {
		if b&^sign == top {
			return i
		}
	}
	return 0
}
