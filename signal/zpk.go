package signal

import (
	"math"
	"math/cmplx"
	"slices"

	"weft"
	"weft/internal/array"
)

// TF returns the coefficients b and a of the filter for [LFilter], float64. High orders lose digits so: use
// [ZPK.SOS]. It panics with *[weft.Error] where there are more zeros than poles, or where complex ones have no
// conjugates.
func (f ZPK) TF() (b, a *weft.Tensor) {
	const name = "signal.zpk.tf"
	z, p := f.halves(name)
	return coefficients(full(z), f.K), coefficients(full(p), 1)
}

// full is roots with the conjugates of complex ones.
func full(half []complex128) []complex128 {
	var x []complex128
	for _, v := range half {
		x = append(x, v)
		if imag(v) != 0 {
			x = append(x, cmplx.Conj(v))
		}
	}
	return x
}

// coefficients is k times the polynomial that has roots.
func coefficients(roots []complex128, k float64) *weft.Tensor {
	return weft.FromSlice(expanded(roots, k), len(roots)+1)
}

func expanded(roots []complex128, k float64) []float64 {
	c := []complex128{1}
	for _, r := range roots {
		c = append(c, 0)
		for i := len(c) - 1; i > 0; i-- {
			c[i] -= multiply(r, c[i-1])
		}
	}
	x := make([]float64, len(c))
	for i, v := range c {
		x[i] = k * real(v)
	}
	return x
}

// halves checks zeros and poles, and returns one of each pair of conjugates, and then the real ones.
func (f ZPK) halves(name string) (z, p []complex128) {
	if len(f.Z) > len(f.P) {
		array.Failf(name, "Z", "has %s, more than P, which has %d", array.Count(len(f.Z), "zero"), len(f.P))
	}
	for i, x := range [2][]complex128{f.Z, f.P} {
		for k, v := range x {
			if cmplx.IsNaN(v) || cmplx.IsInf(v) {
				array.Failf(name, [2]string{"Z", "P"}[i], "has %v at place %d, want finite numbers", v, k)
			}
		}
	}
	return pairs(name, "Z", f.Z), pairs(name, "P", f.P)
}

// pairs returns the roots above the real axis, and then the real ones, each in ascending order. A root
// within 100 units of the last place of the axis is real.
func pairs(name, arg string, roots []complex128) []complex128 {
	const tol = 100 * 0x1p-52
	var up, down, flat []complex128
	for _, v := range roots {
		switch {
		case cmplx.IsNaN(v) || cmplx.IsInf(v):
			array.Failf(name, arg, "has %v, want finite numbers", v)
		case math.Abs(imag(v)) <= tol*modulus(v):
			flat = append(flat, complex(real(v), 0))
		case imag(v) > 0:
			up = append(up, v)
		default:
			down = append(down, cmplx.Conj(v))
		}
	}
	ascending := func(a, b complex128) int {
		switch {
		case math.Abs(real(a)-real(b)) > tol*modulus(a):
			return one(real(a) > real(b))*2 - 1
		case imag(a) != imag(b):
			return one(imag(a) > imag(b))*2 - 1
		}
		return 0
	}
	slices.SortStableFunc(up, ascending)
	slices.SortStableFunc(down, ascending)
	slices.SortStableFunc(flat, ascending)
	bad := len(up) != len(down)
	for i := range min(len(up), len(down)) {
		bad = bad || modulus(up[i]-down[i]) > 1e-6*modulus(up[i])
	}
	if bad {
		array.Failf(name, arg, "has complex numbers without conjugates")
	}
	return append(up, flat...)
}

// SOS returns the filter as sections of second order for [SOSFilt], [sections 6], float64. Poles nearest to
// the unit circle meet their nearest zeros, in the last section. It panics as [ZPK.TF] does.
func (f ZPK) SOS() *weft.Tensor {
	const name = "signal.zpk.sos"
	f.halves(name)
	z, p := slices.Clone(f.Z), slices.Clone(f.P)
	n := max((len(p)+1)/2, 1)
	for len(z) < 2*n {
		z = append(z, 0)
	}
	for len(p) < 2*n {
		p = append(p, 0)
	}
	z, p = pairs(name, "Z", z), pairs(name, "P", p)
	sos := make([]float64, 6*n)
	for i := n - 1; i >= 0; i-- {
		p1 := take(&p, func(v complex128) (float64, bool) { return math.Abs(1 - modulus(v)), true })
		nearest := func(isReal, isComplex bool) complex128 {
			return take(&z, func(v complex128) (float64, bool) {
				return modulus(v - p1), imag(v) == 0 && isReal || imag(v) != 0 && isComplex
			})
		}
		var zs, ps []complex128
		if imag(p1) != 0 {
			ps = []complex128{p1, cmplx.Conj(p1)}
		} else {
			ps = []complex128{p1, take(&p, func(v complex128) (float64, bool) { return math.Abs(1 - modulus(v)), imag(v) == 0 })}
		}
		z1 := nearest(true, true)
		if imag(z1) != 0 {
			zs = []complex128{z1, cmplx.Conj(z1)}
		} else {
			zs = []complex128{z1, nearest(true, false)}
		}
		copy(sos[6*i:], expanded(zs, 1))
		copy(sos[6*i+3:], expanded(ps, 1))
	}
	for i := range 3 {
		sos[i] *= f.K
	}
	return weft.FromSlice(sos, n, 6)
}

// take removes the first of the least of x by a measure, among those that it allows. There is one: real roots
// come in even numbers, since all roots do.
func take(x *[]complex128, measure func(v complex128) (d float64, allowed bool)) complex128 {
	best, at := math.Inf(1), -1
	for i, v := range *x {
		if d, ok := measure(v); ok && d < best {
			best, at = d, i
		}
	}
	v := (*x)[at]
	*x = slices.Delete(*x, at, at+1)
	return v
}
