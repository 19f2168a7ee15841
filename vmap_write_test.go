package weft_test

import (
	"fmt"
	"testing"

	"weft"
)

// A mapped function writes into what it computed of captured tensors alone: each example into its
// own, with the gradients of the same without Vmap.
func TestVmapWritesIntoWhatItComputed(t *testing.T) {
	for name, write := range map[string]func(w, x *weft.Tensor) *weft.Tensor{
		"in place":    func(w, x *weft.Tensor) *weft.Tensor { return w.Mul(2).AddAssign(x).Mul(3) },
		"a view":      func(w, x *weft.Tensor) *weft.Tensor { z := w.Mul(2); z.At(0).MulAssign(x.At(1)); return z.Mul(z) },
		"a value":     func(w, x *weft.Tensor) *weft.Tensor { z := w.Mul(2); z.At(1).Assign(x.At(0)); return z.Mul(z) },
		"all of it":   func(w, x *weft.Tensor) *weft.Tensor { z := w.Mul(2); z.Assign(x); return z.Mul(w) },
		"constants":   func(w, x *weft.Tensor) *weft.Tensor { z := w.Mul(2); z.At(0).Assign(7); return z.Mul(x).Add(z.Sum()) },
		"two times":   func(w, x *weft.Tensor) *weft.Tensor { z := w.Mul(2); z.AddAssign(w); z.AddAssign(x); return z.Mul(z) },
		"read before": func(w, x *weft.Tensor) *weft.Tensor { z := w.Mul(2); y := z.Add(x); z.AddAssign(x); return z.Mul(y) },
	} {
		values := func() (w, x *weft.Tensor) {
			return weft.FromSlice([]float64{1, 2}).RequireGrad(), weft.FromSlice([]float64{10, 20, 30, 40}, 2, 2).RequireGrad()
		}
		w, x := values()
		want := weft.Stack([]*weft.Tensor{write(w, x.At(0)), write(w, x.At(1))}, 0)
		want.Sum().Backward()
		v, u := values()
		if err := weft.Try(func() {
			got := weft.Vmap(func(x ...*weft.Tensor) *weft.Tensor { return write(v, x[0]) })(u)
			got.Sum().Backward()
			if a, b := fmt.Sprint(got, u.Grad(), v.Grad()), fmt.Sprint(want, x.Grad(), w.Grad()); a != b {
				t.Errorf("%s: %s, want %s", name, a, b)
			}
		}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	w := weft.Ones(2)
	if err := weft.Try(func() {
		weft.Vmap(func(x ...*weft.Tensor) *weft.Tensor { z := w.Mul(2); z.AddAssign(x[0]); z.Sum().Item(); return z })(weft.Ones(3, 2))
	}); err == nil {
		t.Error("what an example wrote was read on the host")
	}
}
