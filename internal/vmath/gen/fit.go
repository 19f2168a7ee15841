package main

import (
	"math"
	"math/big"
)

// prec is the precision of all that is computed here, in bits.
const prec = 240

type number = *big.Float

func num(x float64) number { return new(big.Float).SetPrec(prec).SetFloat64(x) }

func zero() number           { return new(big.Float).SetPrec(prec) }
func add(a, b number) number { return zero().Add(a, b) }
func sub(a, b number) number { return zero().Sub(a, b) }
func mul(a, b number) number { return zero().Mul(a, b) }
func div(a, b number) number { return zero().Quo(a, b) }
func f64(a number) float64   { x, _ := a.Float64(); return x }

// round is x rounded to a float of this many significant bits.
func round(x number, bits uint) number {
	return zero().Set(new(big.Float).SetPrec(bits).Set(x))
}

// exp is e^x for small |x|, by its series.
func exp(x number) number {
	const halvings = 8
	x = div(x, num(1<<halvings))
	sum, term := num(1), num(1)
	for i := 1; i < 60; i++ {
		term = div(mul(term, x), num(float64(i)))
		sum = add(sum, term)
	}
	for range halvings {
		sum = mul(sum, sum)
	}
	return sum
}

// log is ln(x).
func log(x number) number {
	y := num(math.Log(f64(x)))
	for range 3 { // Newton's method doubles the digits
		y = add(y, sub(div(x, exp(y)), num(1)))
	}
	return y
}

var ln2 = log(num(2))

// constant is a function that is x everywhere.
func constant(x float64) func(number) number { return func(number) number { return num(x) } }

// poly is the value at x of a polynomial, lowest power first.
func poly(x number, coef []number) number {
	sum := zero()
	for i := len(coef) - 1; i >= 0; i-- {
		sum = add(mul(sum, x), coef[i])
	}
	return sum
}

// points are n points of Chebyshev between a and b, where the least squares are
// nearly the least maximum.
func points(a, b float64, n int) []number {
	x := make([]number, n)
	for i := range x {
		x[i] = num((a+b)/2 - (b-a)/2*math.Cos(math.Pi*(float64(i)+0.5)/float64(n)))
	}
	return x
}

// fit is a polynomial of n coefficients near f, the error weighted by w. They are
// rounded to bits one after the other, the lowest power first, and those that are
// left are fitted again each time.
func fit(f, w func(x number) number, a, b float64, n int, bits uint) (coef []number, worst float64) {
	x := points(a, b, 12*n+20)
	fx, wx := make([]number, len(x)), make([]number, len(x))
	for i := range x {
		fx[i], wx[i] = f(x[i]), w(x[i])
	}
	for len(coef) < n {
		coef = append(coef, round(least(x, fx, wx, coef, n)[0], bits))
	}
	for i := range x {
		e := math.Abs(f64(mul(sub(fx[i], poly(x[i], coef)), wx[i])))
		worst = max(worst, e)
	}
	return coef, worst
}

// least is the coefficients behind done, of n in all, that make the squares least.
func least(x, fx, wx, done []number, n int) []number {
	k, m := len(done), n-len(done)
	mat := make([][]number, m)
	for i := range mat {
		mat[i] = make([]number, m+1)
		for j := range mat[i] {
			mat[i][j] = zero()
		}
	}
	for p := range x {
		power := make([]number, 2*n)
		power[0] = mul(wx[p], wx[p])
		for i := 1; i < len(power); i++ {
			power[i] = mul(power[i-1], x[p])
		}
		rest := sub(fx[p], poly(x[p], done))
		for i := range m {
			for j := range m {
				mat[i][j] = add(mat[i][j], power[2*k+i+j])
			}
			mat[i][m] = add(mat[i][m], mul(rest, power[k+i]))
		}
	}
	// The matrix is positive definite: no pivots to look for.
	for i := range mat {
		for r := range mat {
			if r == i {
				continue
			}
			q := div(mat[r][i], mat[i][i])
			for j := i; j <= m; j++ {
				mat[r][j] = sub(mat[r][j], mul(q, mat[i][j]))
			}
		}
	}
	c := make([]number, m)
	for i := range c {
		c[i] = div(mat[i][m], mat[i][i])
	}
	return c
}
