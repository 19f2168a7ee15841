package main

import (
	"math"

	"weft/kernel"
)

// The functions that the works of kernels.go compile; plain Go calls the same ones.

type real interface{ float32 | float64 }

// Escape counts the steps in which z*z + c leaves the circle of radius 2, 200 at most.
func Escape[T real](cr, ci T) int32 {
	var zr, zi T
	for n := range int32(200) {
		rr, ii := T(zr*zr), T(zi*zi)
		if rr+ii > 4 {
			return n
		}
		zr, zi = rr-ii+cr, T(2*zr*zi)+ci
	}
	return 200
}

// Jacobi is one step of Jacobi's iteration for Laplace's equation.
func Jacobi[T real](a kernel.Near2[T]) T {
	return 0.25 * (a.At(-1, 0) + a.At(1, 0) + a.At(0, -1) + a.At(0, 1))
}

// Mean9 is the mean of 3x3 elements.
func Mean9[T real](a kernel.Near2[T]) T {
	var s T
	for i := -1; i <= 1; i++ {
		for j := -1; j <= 1; j++ {
			s += a.At(i, j)
		}
	}
	return s * T(1.0/9)
}

// Seven is one explicit step of the heat equation.
func Seven[T real](a kernel.Near3[T]) T {
	return T(0.4*a.At(0, 0, 0)) +
		T(0.1*(a.At(-1, 0, 0)+a.At(1, 0, 0)+a.At(0, -1, 0)+a.At(0, 1, 0)+a.At(0, 0, -1)+a.At(0, 0, 1)))
}

// Mean31 is the mean of 31 neighbours.
func Mean31[T real](a kernel.Near1[T]) T {
	var s T
	for i := -15; i <= 15; i++ {
		s += a.At(i)
	}
	return s * T(1.0/31)
}

// Prices returns the prices of a European call and put by Black and Scholes, at a rate of 2 %
// and a volatility of 30 %.
func Prices[T real](stock, strike, years T) (call, put T) {
	const rate, volatility = 0.02, 0.3
	root := T(math.Sqrt(float64(years)))
	d1 := (T(math.Log(float64(stock/strike))) + (rate+0.5*volatility*volatility)*years) / (volatility * root)
	d2 := d1 - volatility*root
	present := strike * T(math.Exp(float64(-rate*years)))
	n1, n2 := normal(d1), normal(d2)
	call = T(stock*n1) - T(present*n2)
	put = T(present*(1-n2)) - T(stock*(1-n1))
	return
}

func normal[T real](x T) T {
	return 0.5 + 0.5*T(math.Erf(float64(x*T(math.Sqrt2/2))))
}

// One and Moments are count, mean and squared deviations of one element and of two sets
// (T. F. Chan, G. H. Golub, R. J. LeVeque, 1979).
func One[T real](x T) (n, mean, squares T) { return 1, x, 0 }

func Moments[T real](n, mean, squares, n1, mean1, squares1 T) (T, T, T) {
	all := n + n1
	part := n1 / all
	d := mean1 - mean
	return all, mean + T(d*part), squares + squares1 + T(T(d*d)*T(n*part))
}

// Add adds.
func Add[T real](x, y T) T { return x + y }

// Axpy is a small function.
func Axpy[T real](a, x, y T) T { return T(a*x) + y }
