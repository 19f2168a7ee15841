package weft_test

import (
	"math"
	"strings"
	"testing"

	"weft"
)

// A product over one term is part of the kernel of what follows it in a compiled function, and
// has the bits of the routine and of Go's FMA: of zeros with a sign, of what is too small, of
// what is not finite.
func TestCompiledOuterProduct(t *testing.T) {
	list := []float64{0, math.Copysign(0, -1), 1, -1, 1.1, -3.7, 1e-30, -1e-30, 1e-200, -1e-200, 1e30, -1e300, math.Inf(1), math.Inf(-1), math.NaN(), 5e-324, -5e-324}
	f := weft.Compile(func(x, y *weft.Tensor) *weft.Tensor { return x.MatMul(y) })
	for _, d := range []weft.DType{weft.Float64, weft.Float32, weft.Float16} {
		x := weft.FromSlice(list, len(list), 1).To(d)
		y := x.T().Clone()
		want := x.MatMul(y).To(weft.Float64)
		res, err := f.Call(x, y)
		if err != nil {
			t.Fatal(err)
		}
		got := res.To(weft.Float64)
		for i := range list {
			for j := range list {
				a, b := at(x, i, 0), at(x, j, 0)
				exact := math.FMA(a, b, 0)
				if d == weft.Float32 {
					exact = float64(float32(float64(a*b) + 0)) // the product of two of them is exact
				}
				w, g := at(want, i, j), at(got, i, j)
				if sameFloat(w, g) && (d == weft.Float16 || sameFloat(exact, g)) {
					continue
				}
				t.Errorf("%v: %v * %v is %v compiled, %v eagerly, %v by FMA", d, a, b, g, w, exact)
			}
		}
	}
	// Beside what it is for: one kernel, no routine.
	w := weft.Zeros(3, 4)
	g := weft.Compile(func(x, y *weft.Tensor) { w.Assign(w.Sub(x.T().MatMul(y).Mul(0.1))) })
	if _, err := g.Call(weft.Ones(1, 3), weft.Ones(1, 4)); err != nil {
		t.Fatal(err)
	}
	if text := g.Explain(); !strings.Contains(text, "term") || strings.Contains(text, "routine") {
		t.Errorf("want one kernel with the product in it:\n%s", text)
	}
}

func sameFloat(x, y float64) bool {
	return math.Float64bits(x) == math.Float64bits(y) || x != x && y != y
}

func at(x *weft.Tensor, i, j int) float64 { return x.At(i, j).To(weft.Float64).Item() }
