package cudart_test

import (
	"testing"

	"weft"
	"weft/internal/ptxsim"
)

// Pooling runs on the GPU, with its gradients and their gradients, and has the CPU's bits.
func TestPoolingAsOnCPU(t *testing.T) {
	gpu, d := simulated(t, ptxsim.Options{Seed: 5})
	x := weft.Arange(0, 2*3*9*14, 1).Reshape(2, 3, 9, 14).Mul(0.37).Sin()
	at := func(k, stride, pad int) weft.PoolOpts {
		return weft.PoolOpts{Window: [2]int{k, k}, Stride: &[2]int{stride, stride}, Padding: [2]int{pad, pad}}
	}
	for _, d := range []weft.DType{weft.Float32, weft.Float64, weft.BFloat16} {
		for _, o := range []weft.PoolOpts{at(2, 2, 0), at(3, 2, 1), at(3, 1, 1), at(5, 3, 2), at(9, 1, 0)} {
			for name, f := range map[string]func(x *weft.Tensor) *weft.Tensor{
				"max": func(x *weft.Tensor) *weft.Tensor { return x.MaxPool2d(o) },
				"odd": func(x *weft.Tensor) *weft.Tensor {
					return x.Reshape(756).Slice(weft.Range(1, 721)).Reshape(6, 10, 12).MaxPool2d(o)
				},
				"mean": func(x *weft.Tensor) *weft.Tensor { return x.AvgPool2d(o) },
				"cut":  func(x *weft.Tensor) *weft.Tensor { return x.Slice(weft.Range(0, 2), weft.Range(1, 3)).MaxPool2d(o) },
			} {
				compute := func(x *weft.Tensor) (y, dx *weft.Tensor) {
					x = x.Detach().RequireGrad()
					y = f(x)
					y.Mul(y).Sum().Backward()
					return y.Detach(), x.Grad()
				}
				y := x.To(d)
				want, wantGrad := compute(y)
				got, gotGrad := compute(on(y, gpu))
				if w, g := weft.Digest(want), weft.Digest(got); w != g {
					t.Errorf("%s, %s of %+v: digest %v, want %v", d, name, o, g, w)
				}
				if w, g := weft.Digest(wantGrad), weft.Digest(gotGrad); w != g {
					t.Errorf("gradient of %s, %s of %+v: digest %v, want %v", d, name, o, g, w)
				}
			}
		}
	}
	if n := d.Counters().Fallbacks.Load(); n != 0 {
		t.Errorf("%d routines ran on the host", n)
	}
}
