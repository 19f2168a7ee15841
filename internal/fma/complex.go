package fma

import "math"

// Quotient returns x/y by the scaling of Smith, "Algorithm 116: complex division", Comm. ACM 5, 1962. Each
// product is rounded before it is added, so that the bits are the same on every processor. It takes no
// fused multiply-adds: without hardware for them they cost more than the division.
func Quotient(x, y complex128) complex128 {
	a, b, c, d := real(x), imag(x), real(y), imag(y)
	if math.Abs(c) >= math.Abs(d) {
		r := d / c
		s := c + float64(d*r)
		return complex((a+float64(b*r))/s, (b-float64(a*r))/s)
	}
	r := c / d
	s := d + float64(c*r)
	return complex((float64(a*r)+b)/s, (float64(b*r)-a)/s)
}
