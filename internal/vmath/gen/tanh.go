package main

import "math"

// tanh is the hyperbolic tangent for x >= 0.
func tanh(x number) number {
	e := exp(mul(num(-2), x))
	return div(sub(num(1), e), add(num(1), e))
}

// tangents are 16 polynomials of tanh, each for the numbers from 0 on that have the same
// four bits above bit 21 when nearest is added to them; they are at that place of their
// tables. The first row is their centers, at which tanh is all but a float32, the others
// are coefficients. Coefficients of the interval around zero begin at the square, of what
// tanh(x)/x lacks of 1.
func tangents() {
	const nearest, terms = 0.625, 7
	rows := make([][]float64, 1+terms)
	for j := range rows {
		rows[j] = make([]float64, 16)
	}
	worst := 0.0
	for lo := float32(nearest); lo < 10; {
		bits := math.Float32bits(lo)
		hi := math.Float32frombits(bits + 1<<21)
		a, b := float64(lo)-nearest, float64(hi)-nearest
		var coef []number
		var err, center float64
		if a == 0 {
			coef, err = fit(func(r number) number { return div(sub(div(tanh(r), r), num(1)), r) }, func(r number) number { return r }, 0x1p-20, b, terms-2, 24)
			coef = append([]number{num(0), num(0)}, coef...)
		} else {
			center = nearFloat((a+b)/2, (b-a)/8)
			f := func(r number) number { return tanh(add(num(center), r)) }
			coef, err = fit(f, func(r number) number { return div(num(1), f(r)) }, a-center, b-center, terms, 24)
		}
		worst = max(worst, err)
		rows[0][bits>>21&15] = center
		for j, c := range coef {
			rows[1+j][bits>>21&15] = f64(c)
		}
		lo = hi
	}
	printf("\n// tanh32 is tanh by pieces, relative to it. Error 2^%.1f.\n", math.Log2(worst))
	printf("var tanh32 = [][]float64{\n")
	for _, r := range rows {
		row(r)
	}
	printf("}\n")
}

// nearFloat is a float32 at which tanh is closest to one, of those where it is one of the
// 1000 from tanh(x) on, no further from x than far.
func nearFloat(x, far float64) (best float64) {
	y, least := float32(f64(tanh(num(x)))), 1.0
	for range 1000 {
		at := float64(float32(math.Atanh(float64(y))))
		if rest := math.Abs(f64(sub(tanh(num(at)), num(float64(y))))); math.Abs(at-x) <= far && rest < least {
			best, least = at, rest
		}
		y = math.Nextafter32(y, 0)
	}
	return best
}
