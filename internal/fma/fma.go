// Package fma multiplies and adds with one rounding, and divides complex numbers, in portable Go.
package fma

import "math"

// Float32 returns a*b+c rounded once to float32, in portable Go. It is too large to
// be inlined; a hot loop writes out
//
//	s := float64(a)*float64(b) + float64(c)
//	r := float32(s)
//	if Hard32(s) {
//		r = Float32(a, b, c)
//	}
func Float32(a, b, c float32) float32 {
	p := float64(a) * float64(b)
	s := p + float64(c)
	if Hard32(s) {
		return odd32(p, float64(c))
	}
	return float32(s)
}

// Hard32 reports whether rounding s = a*b+c, computed in float64 from float32
// operands, to float32 may differ from rounding the exact result. It is inlined.
//
// The product of two float32 is exact in float64 (so it does not matter whether
// the compiler contracts product and sum), and s is the exact result rounded to
// 53 bits. Rounding s again can go wrong only where s lies halfway between two
// float32: its low 29 bits are then 1 and zeros, or the result is subnormal.
func Hard32(s float64) bool {
	u := math.Float64bits(s)
	return u<<35 == 1<<63 || u<<1 < minNormal32
}

// minNormal32 is the bits of the least normal float32 as a float64, 2^-126,
// without the place of the sign.
const minNormal32 = (1023 - 126) << 53

// odd32 rounds the exact sum of p and c to float32. A sum that is not exact is first rounded to
// odd: to the one of the two float64 around it whose last bit is odd. That one is never halfway
// between two float32, and does not hide on which side the sum is.
//
// Source: Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", IEEE Trans.
// Computers 57, 2008.
//
//go:noinline
func odd32(p, c float64) float32 {
	// Knuth's two-sum: s, and the exact error of s.
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
