package main

import "math"

// log2Q is the logarithm to base 2 of the upper tail of the normal distribution.
func log2Q(a float64) float64 { return math.Log2(math.Erfc(a/math.Sqrt2) / 2) }

// slopeQ is its derivative.
func slopeQ(a float64) float64 {
	return -math.Sqrt(2/math.Pi) * math.Exp(-a*a/2) / math.Erfc(a/math.Sqrt2) / math.Ln2
}

// log2Phi is the logarithm to base 2 of the normal distribution, and slopePhi its
// derivative.
func log2Phi(x float64) float64 {
	if x > 0 {
		return math.Log1p(-math.Erfc(x/math.Sqrt2)/2) / math.Ln2
	}
	return log2Q(-x)
}

func slopePhi(x float64) float64 { return -slopeQ(-x) * math.Exp2(log2Q(-x)-log2Phi(x)) }

// A piece of a function: steps/16 + coef[0] + coef[1]*(x-center) + ...
type piece struct {
	center float64
	steps  int
	coef   []number
	err    float64
}

// pieceOf finds the piece of f for lo <= x <= hi. Its center is a float32 at which
// coef[0] is small and coef[1] all but exact.
func pieceOf(f, slope func(float64) float64, lo, hi float64, terms int) piece {
	c := (lo + hi) / 2
	p := piece{steps: int(math.Round(16 * f(c)))}
	if p.steps != 0 {
		for range 40 {
			c -= (f(c) - float64(p.steps)/16) / slope(c)
		}
	}
	at, least := float32(c), 1.0
	for range 1000 {
		s := slope(float64(at))
		if rest := math.Abs(s - float64(float32(s))); rest < least {
			p.center, least = float64(at), rest
		}
		at = math.Nextafter32(at, 100)
	}
	rest := func(t number) number { return num(f(p.center+f64(t)) - float64(p.steps)/16) }
	p.coef, p.err = fit(rest, constant(1), lo-p.center, hi-p.center, terms, 24)
	return p
}

// pieces are n pieces of f, the first around first*width; entry i mod n is that around
// i*width.
func pieces(f, slope func(float64) float64, n, first int, width float64, terms int) (p []piece, worst float64) {
	p = make([]piece, n)
	for i := first; i < first+n; i++ {
		q := pieceOf(f, slope, (float64(i)-0.5)*width, (float64(i)+0.5)*width, terms)
		p[i&(n-1)], worst = q, max(worst, q.err)
	}
	return p, worst
}
