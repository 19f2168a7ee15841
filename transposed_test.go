package weft_test

import (
	"fmt"
	"slices"
	"testing"

	"weft"
)

// Elementwise work on an array and others that lie across it, large enough to go by tiles, is
// that of plain Go, in every order of axes, also in place.
func TestElementwiseAcross(t *testing.T) {
	for _, c := range []struct {
		shape, perm []int
		dtype       weft.DType
	}{
		{[]int{700, 800}, []int{1, 0}, weft.Float32}, {[]int{512, 1024}, []int{1, 0}, weft.Float64}, {[]int{1100, 1000}, []int{1, 0}, weft.Float16},
		{[]int{4, 300, 600}, []int{0, 2, 1}, weft.Float32}, {[]int{3, 60, 70, 48}, []int{0, 3, 1, 2}, weft.Float32}, {[]int{3, 48, 60, 70}, []int{0, 2, 3, 1}, weft.Float32},
		{[]int{40, 60, 300}, []int{2, 1, 0}, weft.Float32}, {[]int{200_000, 3}, []int{1, 0}, weft.Float32}, {[]int{3, 200_000}, []int{1, 0}, weft.Float32}, {[]int{20, 30_000}, []int{1, 0}, weft.Float32},
	} {
		n := 1
		for _, s := range c.shape {
			n *= s
		}
		x := weft.Arange[int](n).Mul(7).Mod(64).Reshape(c.shape...).To(c.dtype)
		y := x.Permute(c.perm...)
		z := weft.Arange[int](n).Mul(5).Mod(32).Reshape(y.Shape()...).To(c.dtype)
		// Row-major elements of y, by indices alone.
		xs, ys := weft.Data[float64](x.To(weft.Float64)), make([]float64, n)
		at := make([]int, len(c.shape))
		for i := range ys {
			from := 0
			for a, s := range c.shape {
				from = from*s + at[slices.Index(c.perm, a)]
			}
			ys[i] = xs[from]
			for a := len(at) - 1; a >= 0; a-- {
				if at[a]++; at[a] < y.Dim(a) {
					break
				}
				at[a] = 0
			}
		}
		zs := weft.Data[float64](z.To(weft.Float64))
		check := func(path string, got *weft.Tensor, want func(i int) float64) {
			t.Helper()
			for i, v := range weft.Data[float64](got.To(weft.Float64)) {
				if v != want(i) {
					t.Errorf("%v permuted %v, %s, %s: element %d is %v, want %v", c.shape, c.perm, c.dtype, path, i, v, want(i))
					return
				}
			}
		}
		sum := func(i int) float64 { return ys[i] + zs[i] }
		check("eager", y.Add(z), sum)
		f := weft.Compile(func(y, z *weft.Tensor) []*weft.Tensor { return []*weft.Tensor{y.Add(z), y.Sub(z).Abs()} }).Func()
		got := f(y, z)
		check("compiled", got[0], sum)
		check("compiled, second result", got[1], func(i int) float64 { return max(ys[i]-zs[i], zs[i]-ys[i]) })
		w := z.Clone()
		w.AddAssign(y)
		check("in place", w, sum)
		if n := len(c.shape); fmt.Sprint(c.shape) == fmt.Sprint(y.Shape()) || n == 2 && c.shape[0] == c.shape[1] {
			w = x.Clone()
			w.AddAssign(w.Permute(c.perm...))
			check("onto itself", w, func(i int) float64 { return xs[i] + ys[i] })
		}
	}
	x := weft.Arange[int](800*800).Mod(128).Reshape(800, 800).To(weft.Float32)
	want := weft.Data[float32](x.T().Contiguous().Add(x))
	g := weft.Compile(func(x *weft.Tensor) *weft.Tensor { x.AddAssign(x.T()); return x.Clone() }).Func()
	if got := g(x); !slices.Equal(weft.Data[float32](got), want) || !slices.Equal(weft.Data[float32](x), want) {
		t.Error("a transpose added in place, compiled: other elements")
	}
}
