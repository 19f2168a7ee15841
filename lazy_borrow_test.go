package weft_test

import (
	"testing"

	"weft"
)

// A function that has a slice of elements may write: what waits for them is computed before,
// and nothing begins to wait for them meanwhile.
func TestLazyResultsBesideBorrow(t *testing.T) {
	places := weft.FromSlice(make([]int64, 100))
	for name, c := range map[string]struct {
		begin func(x *weft.Tensor) *weft.Tensor
		lent  func(x *weft.Tensor) *weft.Tensor
	}{
		"elementwise":        {func(x *weft.Tensor) *weft.Tensor { return x.Lazy().Mul(3) }, func(x *weft.Tensor) *weft.Tensor { return x }},
		"gathered rows":      {func(x *weft.Tensor) *weft.Tensor { return x.Lazy().IndexSelect(0, places).Mul(3) }, func(x *weft.Tensor) *weft.Tensor { return x }},
		"by a view":          {func(x *weft.Tensor) *weft.Tensor { return x.Lazy().Mul(3) }, func(x *weft.Tensor) *weft.Tensor { return x.Reshape(-1) }},
		"of a view":          {func(x *weft.Tensor) *weft.Tensor { return x.Reshape(64, 100).Lazy().Mul(3) }, func(x *weft.Tensor) *weft.Tensor { return x }},
		"chain":              {func(x *weft.Tensor) *weft.Tensor { return x.Lazy().Add(1).Sub(1).Mul(3) }, func(x *weft.Tensor) *weft.Tensor { return x }},
		"of a lazy result":   {func(x *weft.Tensor) *weft.Tensor { return x.Lazy().Add(0).Mul(3) }, func(x *weft.Tensor) *weft.Tensor { return x }},
		"with a second read": {func(x *weft.Tensor) *weft.Tensor { return x.Lazy().Add(x).Add(x) }, func(x *weft.Tensor) *weft.Tensor { return x }},
	} {
		x := weft.Full(2.0, 100, 64)
		y := c.begin(x)
		var inside *weft.Tensor
		weft.Borrow(c.lent(x), func(d []float32) {
			inside = c.begin(x)
			d[0] = 9
		})
		for when, r := range map[string]*weft.Tensor{"before": y, "inside": inside} {
			if got := r.At(0, 0).Item(); got != 6 {
				t.Errorf("%s, made %s: %v, want 6", name, when, got)
			}
		}
	}
	x, at := weft.Arange(6400.0).Reshape(100, 64), weft.FromSlice(make([]int64, 100))
	y := x.Lazy().IndexSelect(0, at)
	weft.Borrow(at, func(d []int64) { d[0] = 99 })
	if got := y.At(0, 0).Item(); got != 0 {
		t.Errorf("row %v/64 after the place was written, want row 0", got)
	}
}
