package array_test

import (
	"testing"

	"weft"
	"weft/internal/array"
)

// TestEpsilonIsTheNextNumber rounds 1+epsilon, which a float type has, and 1 plus half of it, which is 1.
func TestEpsilonIsTheNextNumber(t *testing.T) {
	for _, d := range array.DTypes() {
		eps := array.Epsilon(d)
		if !d.Differentiable() {
			if eps != 0 {
				t.Errorf("%s has epsilon %v", d, eps)
			}
			continue
		}
		rounded := func(x float64) float64 { return weft.FullOf(weft.Float64, x).To(d.Part()).To(weft.Float64).Item() }
		if next, half := rounded(1+eps), rounded(1+eps/2); next != 1+eps || half != 1 || eps == 0 {
			t.Errorf("%s: epsilon %v, the next number is %v, 1 plus half of it %v", d, eps, next, half)
		}
	}
}
