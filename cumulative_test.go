package weft_test

import (
	"math"
	"testing"

	"weft"
)

// Running sums and products of a million numbers are as accurate as sums, along every axis and
// back through the gradient.
func TestRunningSumsOfAMillion(t *testing.T) {
	const n = 1_000_000
	check := func(what string, got *weft.Tensor, want func(i int) float64, relative float64) {
		t.Helper()
		for i, g := range weft.Data[float32](got.Contiguous()) {
			if w := want(i); math.Abs(float64(g)-w) > relative*math.Abs(w) {
				t.Fatalf("%s: element %d is %v, want %v", what, i, g, w)
			}
		}
	}
	tenth, levels := float64(float32(0.1)), 4.0
	bound := (4 + 17*levels) * 0x1p-24
	for what, shape := range map[string][]int{"a row": {n}, "a column": {n, 1}, "the first of two axes": {n, 2}} {
		x := weft.Full(0.1, shape...).RequireGrad()
		y := x.CumSum(0)
		wide := y.Size() / n
		check("sums along "+what, y, func(i int) float64 { return tenth * float64(i/wide+1) }, bound)
		y.Mul(weft.Scalar(0.1)).Sum().Backward()
		check("gradient along "+what, x.Grad(), func(i int) float64 { return tenth * float64(n-i/wide) }, bound)
	}
	factor := float64(float32(1.00001))
	x := weft.Full(1.00001, n)
	check("products", x.CumProd(0), func(i int) float64 { return math.Pow(factor, float64(i+1)) }, 0x1p-23)
	near := weft.Full(1.0, n).RequireGrad()
	near.CumProd(0).Mul(weft.Scalar(0.1)).Sum().Backward()
	check("gradient of products", near.Grad(), func(i int) float64 { return tenth * float64(n-i) }, 0x1p-23)
}

// The order of a running sum depends on the length of the axis alone: neither on which axis it
// is, nor on what is beside it, nor on strides; the gradient has the order from the end.
func TestRunningSumsHaveOneOrder(t *testing.T) {
	for _, d := range []weft.DType{weft.Float16, weft.BFloat16, weft.Float32, weft.Float64} {
		for _, n := range []int{1, 7, 8, 15, 16, 17, 40, 255, 256, 257, 1000, 5000} {
			g := weft.NewGenerator(uint64(n))
			x := g.Randn(n).To(d)
			want := weft.Digest(x.CumSum(0))
			spread := weft.ZerosOf(d, 3*n, 5)
			for what, y := range map[string]*weft.Tensor{
				"a row of several":   weft.Stack([]*weft.Tensor{x.Neg(), x, x}, 0).CumSum(1).Slice(weft.Index(1)),
				"a column of few":    weft.Stack([]*weft.Tensor{x.Neg(), x, x}, 1).CumSum(0).Slice(weft.All, weft.Index(1)),
				"a column of many":   x.Unsqueeze(1).Expand(n, 70).Contiguous().CumSum(0).Slice(weft.All, weft.Index(67)),
				"a column repeated":  x.Unsqueeze(1).Expand(n, 3).CumSum(0).Slice(weft.All, weft.Index(2)),
				"a strided row":      spread.IndexPut(x, weft.Range(0, 3*n, 3), 2).Slice(weft.Range(0, 3*n, 3), weft.Index(2)).CumSum(0),
				"a row turned twice": x.Flip(0).Flip(0).CumSum(0),
				"the middle axis":    weft.Stack([]*weft.Tensor{x.Neg(), x}, 0).Unsqueeze(2).Expand(2, n, 20).CumSum(1).Slice(weft.Index(1), weft.All, weft.Index(17)),
			} {
				if weft.Digest(y.Contiguous()) != want {
					t.Errorf("%s of %d, %s: other bits", d, n, what)
				}
			}
			leaf := weft.ZerosOf(d, n).RequireGrad()
			back := weft.Grad(leaf.CumSum(0), []*weft.Tensor{leaf}, weft.GradOpts{Seeds: []*weft.Tensor{x}})[0]
			if weft.Digest(back.Flip(0).Contiguous()) != weft.Digest(x.Flip(0).CumSum(0)) {
				t.Errorf("%s of %d: the gradient has another order", d, n)
			}
		}
	}
}
