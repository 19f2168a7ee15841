package main

import (
	"math"
)

// sines prints what float32's sine is put together from: with s and c the sine and cosine
// of the nearest multiple of pi/8, sin(r+k*pi/8) = s + (c*sin(r) + s*(cos(r)-1)).
func sines() {
	var sin, low, cos []float64
	for k := range 16 {
		s, c := math.Sincos(float64(k%8) * math.Pi / 8)
		if k%8 == 4 {
			c = 0
		}
		if k >= 8 {
			s, c = -s, -c
		}
		high := float64(float32(-s))
		sin, cos = append(sin, high), append(cos, float64(float32(c)))
		low = append(low, float64(float32(-s-high)))
	}
	for _, t := range [][]float64{sin, low, cos} {
		for i := range t {
			t[i] += 0 // no negative zero
		}
	}
	printf("\n// sin32Table and sin32Low add up to -sin(k*pi/8), cos32Table is the cosine.\n")
	list("sin32Table", sin)
	list("sin32Low", low)
	list("cos32Table", cos)

	// Of the sine's series from r^3 on, first 3, or the cosine's from r^2.
	series := func(first int) func(z number) number {
		return func(z number) number {
			sum := zero()
			for n := first + 24; n >= first; n -= 2 {
				sum = sub(inverseFactorial(n), mul(sum, z))
			}
			return sub(zero(), sum)
		}
	}
	top := math.Pow(math.Pi/16*1.01, 2)
	itself := func(z number) number { return z }
	c, err := fit(series(3), itself, 0, top, 2, 24)
	printf("\n// sin32Rest is (sin(r)/r-1)/r^2 in r^2 for |r| <= pi/16, the first 40 units in the last\n// place more, for what cos(pi/8) lacks: that costs the results there most. Error 2^%.1f without.\n", math.Log2(err))
	c[0] = add(c[0], num(40*0x1p-26))
	list("sin32Rest", floats(c))
	c, err = fit(series(2), itself, 0, top, 2, 24)
	printf("\n// cos32Rest is (cos(r)-1)/r^2 in r^2 for |r| <= pi/16. Error 2^%.1f.\n", math.Log2(err))
	list("cos32Rest", floats(c))
}

// inverseFactorial is 1/n!.
func inverseFactorial(n int) number {
	x := num(1)
	for i := 2; i <= n; i++ {
		x = div(x, num(float64(i)))
	}
	return x
}
