package main

import "math"

// Price is the value of a European call and of a put by the formula of Black and Scholes:
// spot price s, strike k, years t, interest r and volatility v.
func Price(s, k, t, r, v float64) (call, put float64) {
	root := v * math.Sqrt(t)
	d1 := (math.Log(s/k) + (r+v*v/2)*t) / root
	d2 := d1 - root
	later := k * math.Exp(-r*t)
	call = s*normal(d1) - later*normal(d2)
	put = later*normal(-d2) - s*normal(-d1)
	return
}

// normal is the chance that a standard normal number is below x.
func normal(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }
