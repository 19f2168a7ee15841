package cudart_test

import (
	"testing"

	"weft"
	"weft/internal/ptxsim"
)

// Scans run on the GPU, with their gradients and of parts of arrays, and have the CPU's bits.
func TestScansAsOnCPU(t *testing.T) {
	gpu, d := simulated(t, ptxsim.Options{Seed: 6})
	x := weft.Arange(0, 5*164, 1).Mul(0.37).Sin()
	first := func(x, _ *weft.Tensor) *weft.Tensor { return x }
	for name, f := range map[string]func(x *weft.Tensor) *weft.Tensor{
		"sum":        func(x *weft.Tensor) *weft.Tensor { return x.CumSum(0) },
		"odd part":   func(x *weft.Tensor) *weft.Tensor { return x.Slice(weft.Range(1, 641)).CumSum(0) },
		"rows":       func(x *weft.Tensor) *weft.Tensor { return x.Reshape(5, 164).CumSum(1) },
		"columns":    func(x *weft.Tensor) *weft.Tensor { return x.Reshape(164, 5).CumSum(0) },
		"transposed": func(x *weft.Tensor) *weft.Tensor { return x.Reshape(164, 5).T().CumSum(0) },
		"product":    func(x *weft.Tensor) *weft.Tensor { return x.Reshape(82, 10).CumProd(1) },
		"products":   func(x *weft.Tensor) *weft.Tensor { return x.Reshape(10, 82).CumProd(0) },
		"max":        func(x *weft.Tensor) *weft.Tensor { return first(x.Reshape(5, 164).CumMax(1)) },
		"min":        func(x *weft.Tensor) *weft.Tensor { return first(x.Reshape(164, 5).CumMin(0)) },
	} {
		for _, dt := range []weft.DType{weft.Float32, weft.Float64} {
			compute := func(x *weft.Tensor) (y, dx *weft.Tensor) {
				x = x.Detach().RequireGrad()
				y = f(x)
				if name == "max" || name == "min" { // their gradients scatter
					return y.Detach(), y.Detach()
				}
				y.Mul(y).Sum().Backward()
				return y.Detach(), x.Grad()
			}
			y := x.To(dt)
			want, wantGrad := compute(y)
			got, gotGrad := compute(on(y, gpu))
			if w, g := weft.Digest(want), weft.Digest(got); w != g {
				t.Errorf("%s of %s: digest %v, want %v", name, dt, g, w)
			}
			if w, g := weft.Digest(wantGrad), weft.Digest(gotGrad); w != g {
				t.Errorf("gradient of %s of %s: digest %v, want %v", name, dt, g, w)
			}
		}
	}
	if n := d.Counters().Fallbacks.Load(); n != 0 {
		t.Errorf("%d routines ran on the host", n)
	}
}
