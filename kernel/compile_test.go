package kernel_test

import (
	"testing"

	"weft"
	"weft/kernel"
)

// Kernels within compiled functions give the bits that they give eagerly, from the same draws,
// and write into results of the caller, in place or not.
func TestCompiled(t *testing.T) {
	grid := weft.NewGenerator(1).Rand(5, 6)
	scale := weft.Ones(1)
	var draws [2]*weft.Generator
	var outs [2]*weft.Tensor
	step := func(k int) func(x *weft.Tensor) *weft.Tensor {
		draws[k], outs[k] = weft.NewGenerator(4), weft.Zeros(5, 6)
		return func(x *weft.Tensor) *weft.Tensor {
			y := kernels.Func("Noisy").Map(x, kernel.MapOpts{Generator: draws[k]})
			y = kernels.Func("Bilinear").Map(grid, y.Abs(), x.Mul(scale))
			y = kernels.Func("Diffuse").Stencil(y, kernel.StencilOpts{Border: kernel.Wrap})
			kernels.Func("Hypot3").Map(y, outs[k], 0.5, kernel.MapOpts{Out: []*weft.Tensor{outs[k]}})
			return y.Add(kernels.Func("Sum").Reduce(y).Mul(0.01))
		}
	}
	eager, compiled := step(0), weft.Compile(step(1))
	for i := range 4 {
		x := weft.NewGenerator(uint64(i)).Randn(5, 6)
		want := eager(x)
		got, err := compiled.Call(x)
		if err != nil {
			t.Fatal(err)
		}
		if weft.Digest(got) != weft.Digest(want) {
			t.Errorf("call %d: %v, want %v", i, got, want)
		}
		if weft.Digest(outs[0]) != weft.Digest(outs[1]) {
			t.Errorf("call %d: written %v, want %v", i, outs[1], outs[0])
		}
		if draws[0].State() != draws[1].State() {
			t.Errorf("call %d: %v, want %v", i, draws[1].State(), draws[0].State())
		}
		scale.MulAssign(1.5)
	}
}
