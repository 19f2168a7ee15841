package main

import (
	"math"
	"testing"

	"weft"
)

// A textbook's option: prices and Greeks as they are printed there.
func TestTextbook(t *testing.T) {
	one := func(x float64) *weft.Tensor { return weft.From([]float64{x}) }
	call, put, g := Calls(one(100), one(100), one(1), one(0.05), one(0.2))
	for _, c := range []struct {
		name      string
		got       *weft.Tensor
		want, tol float64
	}{
		{"call", call, 10.4506, 5e-5}, {"put", put, 5.5735, 5e-5}, {"delta", g.Delta, 0.6368, 5e-5},
		{"gamma", g.Gamma, 0.018762, 5e-7}, {"vega", g.Vega, 37.524, 5e-4}, {"theta", g.Theta, -6.414, 5e-4}, {"rho", g.Rho, 53.2325, 5e-5},
	} {
		if got := c.got.Item(); math.Abs(got-c.want) > c.tol {
			t.Errorf("%s is %v, want %v", c.name, got, c.want)
		}
	}
}

// Gradients are the closed forms of the Greeks, and prices keep put-call parity.
func TestClosedForm(t *testing.T) {
	n := 20000
	if testing.Short() {
		n = 2000
	}
	ts, tk, tt, tr, tv := Book(7, n)
	call, put, g := Calls(ts, tk, tt, tr, tv)
	read := weft.Data[float64]
	ss, ks, times, rs, vs := read(ts), read(tk), read(tt), read(tr), read(tv)
	calls, puts := read(call), read(put)
	delta, gamma, vega, theta, rho := read(g.Delta), read(g.Gamma), read(g.Vega), read(g.Theta), read(g.Rho)
	for i := range n {
		s, k, y, r, v := ss[i], ks[i], times[i], rs[i], vs[i]
		root := v * math.Sqrt(y)
		d1 := (math.Log(s/k) + (r+v*v/2)*y) / root
		d2 := d1 - root
		cdf := func(x float64) float64 { return 0.5 * (1 + math.Erf(x/math.Sqrt2)) }
		pdf := math.Exp(-d1*d1/2) / math.Sqrt(2*math.Pi)
		later := k * math.Exp(-r*y)
		for _, c := range []struct {
			name      string
			got, want float64
		}{
			{"call", calls[i], s*cdf(d1) - later*cdf(d2)},
			{"parity", calls[i] - puts[i], s - later},
			{"delta", delta[i], cdf(d1)},
			{"gamma", gamma[i], pdf / (s * root)},
			{"vega", vega[i], s * pdf * math.Sqrt(y)},
			{"theta", theta[i], -s*pdf*v/(2*math.Sqrt(y)) - r*later*cdf(d2)},
			{"rho", rho[i], k * y * math.Exp(-r*y) * cdf(d2)},
		} {
			if math.Abs(c.got-c.want) > 1e-11*(1+math.Abs(c.want)) {
				t.Fatalf("%s of option %d is %v, want %v", c.name, i, c.got, c.want)
			}
		}
	}
}
