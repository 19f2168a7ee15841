package main

import (
	"math"
	"testing"

	"weft"
)

// Newton's method squares the error with each step; what it finds is where the gradient,
// by its formula in plain Go, is 0.
func TestNewton(t *testing.T) {
	x, y, _ := Data(1)
	w, lengths := Fit(x, y, 8)
	if last := lengths[len(lengths)-1]; last > 1e-14 {
		t.Errorf("the gradient is %v long after 7 steps: %v", last, lengths)
	}
	for i := 3; i < 6; i++ {
		if lengths[i] > 1e-12 && lengths[i] > 100*lengths[i-1]*lengths[i-1] {
			t.Errorf("step %d: from %v to %v", i, lengths[i-1], lengths[i])
		}
	}
	xs, ys, ws := weft.Data[float64](x), weft.Data[float64](y), weft.Data[float64](w)
	grad := make([]float64, features)
	for i := range examples {
		z := 0.0
		for j := range features {
			z += xs[i*features+j] * ws[j]
		}
		d := 1/(1+math.Exp(-z)) - ys[i]
		for j := range features {
			grad[j] += d * xs[i*features+j] / examples
		}
	}
	for j := range grad {
		if g := grad[j] + 2*ridge*ws[j]; math.Abs(g) > 1e-12 {
			t.Errorf("gradient %d is %v", j, g)
		}
	}
}
