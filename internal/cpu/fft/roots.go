package fft

import "math"

// A double is the unevaluated sum of two numbers, the second at most half an ulp of the first.
type double struct{ h, l float64 }

// sum2 is the exact sum of two numbers.
func sum2(a, b float64) double {
	s := a + b
	t := s - a
	return double{s, (a - (s - t)) + (b - t)}
}

// settled is the same number with its parts in order. Requires |l| <= |h|.
func (x double) settled() double {
	s := x.h + x.l
	return double{s, x.l - (s - x.h)}
}

func (x double) add(y double) double {
	s := sum2(x.h, y.h)
	s.l += x.l + y.l
	return s.settled()
}

func (x double) neg() double { return double{-x.h, -x.l} }

func (x double) mul(y double) double {
	p := float64(x.h * y.h)
	e := math.FMA(x.h, y.h, -p)
	e = math.FMA(x.h, y.l, math.FMA(x.l, y.h, e))
	return double{p, e}.settled()
}

func (x double) div(n float64) double {
	q := x.h / n
	r := math.FMA(-q, n, x.h) + x.l
	return double{q, r / n}.settled()
}

// halfPi is pi/2, from its binary digits.
var halfPi = double{0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54}

// rootOf is exp(-2 pi i j/n) with some 100 bits. Requires 0 <= j < n.
func rootOf(j, n int) (re, im double) {
	q, r := 4*j/n, 4*j%n // the quadrant, and n times the angle in it over pi/2
	swap := 2*r > n
	if swap {
		r = n - r
	}
	x := halfPi.mul(double{float64(r), 0}).div(float64(n))
	c, s := taylor(x)
	if swap {
		c, s = s, c
	}
	switch q {
	case 0:
		return c, s.neg()
	case 1:
		return s.neg(), c.neg()
	case 2:
		return c.neg(), s
	}
	return s, c
}

// taylor is the cosine and the sine of an angle from 0 to pi/4, by their series.
func taylor(x double) (c, s double) {
	square := x.mul(x).neg()
	c, s = double{1, 0}, x
	even, odd := c, s
	for k := 1; k < 32; k += 2 {
		even = even.mul(square).div(float64(k * (k + 1)))
		odd = odd.mul(square).div(float64((k + 1) * (k + 2)))
		c, s = c.add(even), s.add(odd)
	}
	return c, s
}

// roots returns the n-th roots of unity exp(-2 pi i j/n) in order of j, real and imaginary parts by
// turns, correctly rounded but for ties that some 100 bits do not decide.
func roots(n int) []float64 { return firstRoots(n, n) }

// firstRoots returns the first count of them.
func firstRoots(n, count int) []float64 {
	w := make([]float64, 2*count)
	step := 1
	for step*step < n {
		step++
	}
	type root struct{ re, im double }
	fine, coarse := make([]root, step), make([]root, (count+step-1)/step)
	for i := range min(step, n) {
		fine[i].re, fine[i].im = rootOf(i, n)
	}
	for i := range coarse {
		coarse[i].re, coarse[i].im = rootOf(i*step, n)
	}
	for j := range count {
		a, b := &coarse[j/step], &fine[j%step]
		re := a.re.mul(b.re).add(a.im.mul(b.im).neg())
		im := a.re.mul(b.im).add(a.im.mul(b.re))
		w[2*j], w[2*j+1] = re.h, im.h
	}
	for q := range 4 { // zeros are exact
		if q*n%4 == 0 && q*n/4 < count {
			w[2*(q*n/4)], w[2*(q*n/4)+1] = [4]float64{1, 0, -1, 0}[q], [4]float64{0, -1, 0, 1}[q]
		}
	}
	return w
}
