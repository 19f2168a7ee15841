package linalg_test

import (
	"math"
	"strings"
	"testing"

	"weft"
	"weft/linalg"
)

// TestCondOfRectangular checks tall, wide and batched matrices with known singular values, and that the norm is Two if
// none is given. NumPy's numpy.linalg.cond gives the same.
func TestCondOfRectangular(t *testing.T) {
	tall := weft.From([][]float64{{0, 2}, {0, 0}, {5, 0}})
	for name, c := range map[string]struct {
		got  *weft.Tensor
		want []float64
	}{
		"tall":    {linalg.Cond(tall), []float64{2.5}},
		"wide":    {linalg.Cond(tall.T(), linalg.NegTwo), []float64{0.4}},
		"empty":   {linalg.Cond(tall, ""), []float64{2.5}},
		"batched": {linalg.Cond(weft.Stack([]*weft.Tensor{tall, tall.Mul(0)}, 0)), []float64{2.5, math.Inf(1)}},
		"square":  {linalg.Cond(weft.From([][]float64{{0, -2}, {3, 0}})), []float64{1.5}},
	} {
		for i, x := range elements(c.got) {
			if d := math.Abs(real(x) - c.want[i]); d > 1e-14 {
				t.Errorf("%s: %v, want %v", name, c.got, c.want)
			}
		}
	}
	for name, f := range map[string]func(){
		"a: has shape [3 2], want square": func() { linalg.Cond(tall, linalg.One) },
		"a: has shape [0 2], want matric": func() { linalg.Cond(weft.Zeros(0, 2)) },
		"ord: 2 norms, want one":          func() { linalg.Cond(tall, linalg.Two, linalg.One) },
		"Ord: \"x\" is not the name":      func() { linalg.Cond(weft.Ones(2, 2), "x") },
	} {
		if err := weft.Try(f); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want an error with %q", err, name)
		}
	}
}

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

// TestNormsWithoutElements demands NumPy's: greatest sums over nothing are 0, least ones have no value.
func TestNormsWithoutElements(t *testing.T) {
	for _, shape := range [][]int{{0, 0}, {0, 3}, {3, 0}, {2, 0, 3}, {2, 3, 0}, {0, 2, 2}} {
		a := weft.Zeros(shape...)
		for _, ord := range []linalg.Ord{linalg.Fro, linalg.Nuc, linalg.One, linalg.Two, linalg.Inf} {
			y := linalg.MatrixNorm(a, linalg.MatrixNormOpts{Ord: ord})
			if want := weft.Zeros(shape[:len(shape)-2]...); weft.Digest(y) != weft.Digest(want) {
				t.Errorf("%s of %v is %v", ord, shape, y)
			}
		}
		if err := weft.Try(func() { linalg.MatrixNorm(a, linalg.MatrixNormOpts{Ord: linalg.NegTwo}) }); (err == nil) != (shape[0] == 0 && len(shape) == 3) {
			t.Errorf("-2 of %v: %v", shape, err)
		}
	}
}
