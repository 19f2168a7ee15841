package linalg_test

import (
	"math"
	"testing"

	"weft"
	"weft/linalg"
)

// TestCondOfSingular checks the condition numbers of a singular matrix, of a regular one and of zeros in one
// batch against NumPy's numpy.linalg.cond.
func TestCondOfSingular(t *testing.T) {
	inf := math.Inf(1)
	x := [][][]float64{{{1, 0}, {0, 0}}, {{2, 0}, {0, 4}}, {{0, 0}, {0, 0}}}
	for ord, want := range map[linalg.Ord][]float64{
		linalg.One: {inf, 2, inf}, linalg.Inf: {inf, 2, inf}, linalg.Fro: {inf, 2.5, inf},
		linalg.Two: {inf, 2, inf}, linalg.NegTwo: {0, 0.5, inf},
	} {
		a := weft.From(x)
		y := linalg.Cond(a, ord)
		for i, w := range want {
			if got := real(elements(y)[i]); got != w && !(math.Abs(got-w) < 1e-14) {
				t.Errorf("%s: condition number %d is %v, want %v", ord, i, got, w)
			}
		}
	}
}
