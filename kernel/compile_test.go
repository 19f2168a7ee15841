package kernel_test

import (
	"math"
	"testing"

	"weft"
	"weft/half"
	"weft/kernel"
)

// Kernels within compiled functions give the bits that they give eagerly, from the same draws,
// and write into results of the caller, in place or not.
func TestKernelsInCompiledFunctions(t *testing.T) {
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

// What a stencil reads or writes beside its array is a Go number, for which a compiled function
// asks no tensor: every border and every type of number.
func TestCompiledBorders(t *testing.T) {
	src := kernel.MustParse(`package k

import "weft/kernel"

func Xor(a kernel.Near1[bool]) bool { return a.At(-1) != a.At(1) }
func Turned(a kernel.Near1[complex128]) complex128 { return a.At(-1) + 1i*a.At(1) }
func Complex(a kernel.Near1[float64]) complex128 { return complex(a.At(-1), a.At(1)) }
func Diff(a kernel.Near1[float64]) float64 { return a.At(1) - a.At(-1) }
func U8(a kernel.Near1[uint8]) uint8 { return a.At(1) - a.At(-1) }
func I64(a kernel.Near1[int64]) int64 { return a.At(1) - a.At(-1) }
`)
	for _, c := range []struct {
		name  string
		dtype weft.DType
		cvals []any
	}{
		{"Xor", weft.Bool, []any{nil, true, false, 1, 0, 2.5}},
		{"Turned", weft.Complex128, []any{nil, 1 + 2i, 7, 1.5, true}},
		{"Complex", weft.Float64, []any{nil, 7, 1.5, float32(2.5)}},
		{"Diff", weft.Float64, []any{nil, 7, 1.5, math.NaN(), math.Inf(-1), true, uint64(math.MaxUint64), half.NewFloat16(1.5)}},
		{"U8", weft.Uint8, []any{nil, 200, 3.9, true}},
		{"I64", weft.Int64, []any{nil, 1 << 60, 1<<60 + 1, int64(math.MinInt64), -0x1p62, 3.9, true}},
	} {
		f, x := src.Func(c.name), weft.FromSlice([]float64{1, 0, 1, 1, 3, 0}).To(c.dtype)
		for _, border := range []kernel.Border{kernel.Constant, kernel.Fill, kernel.Wrap, kernel.Reflect, kernel.Mirror, kernel.Nearest, kernel.Valid} {
			for _, cval := range c.cvals {
				o := kernel.StencilOpts{Border: border, Cval: cval}
				want := f.Stencil(x, o)
				got, err := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return f.Stencil(x, o) }).Call(x)
				if border == kernel.Fill && c.name == "I64" && cval == 1<<60+1 && weft.Data[int64](want)[0] != -(1<<60+1) {
					t.Errorf("%s fills with %v", c.name, want)
				}
				if err != nil || weft.Digest(got) != weft.Digest(want) {
					t.Errorf("%s, border %s, Cval %v: %v, outside %v: %v", c.name, border, cval, got, want, err)
				}
			}
		}
	}
}

// A kernel whose offsets are not constant reads beyond the view that it gets. Rules move that view
// neither into the parts of a joint array nor below what computes the array.
func TestCompiledStencilsOfViews(t *testing.T) {
	wide := kernel.MustParse(sliceSource).Func("Wide")
	valid := func(x *weft.Tensor) *weft.Tensor {
		return wide.Stencil(x, 3, kernel.StencilOpts{Border: kernel.Valid, Neighborhood: [][2]int{{-3, 3}}})
	}
	filled := func(x *weft.Tensor) *weft.Tensor {
		return wide.Stencil(x, 3, kernel.StencilOpts{Border: kernel.Fill, Neighborhood: [][2]int{{-3, 3}}})
	}
	join := func(x ...*weft.Tensor) *weft.Tensor { return weft.Cat(x, 0) }
	a, b := weft.FromSlice(wave(10), 10), weft.FromSlice(wave(30)[20:], 10)
	for name, f := range map[string]func(a, b *weft.Tensor) *weft.Tensor{
		"joint":        func(a, b *weft.Tensor) *weft.Tensor { return filled(join(a, b).Slice(weft.Range(2, 18))) },
		"joint, cut":   func(a, b *weft.Tensor) *weft.Tensor { return valid(join(a.Mul(2), b.Exp())).Slice(weft.Range(0, 5)) },
		"elementwise":  func(a, _ *weft.Tensor) *weft.Tensor { return valid(a.Mul(2).Slice(weft.Range(1, 9)).Add(1)) },
		"constant":     func(_, b *weft.Tensor) *weft.Tensor { return valid(join(weft.FullOf(weft.Float64, 2, 30), b)) },
		"padded":       func(a, b *weft.Tensor) *weft.Tensor { return valid(join(a, b).Pad(0, 4, 3)).Slice(weft.Range(2, 3)) },
		"backwards":    func(a, b *weft.Tensor) *weft.Tensor { return valid(join(a, b).Flip(0)).Slice(weft.Range(5, 7)) },
		"transposed":   func(a, _ *weft.Tensor) *weft.Tensor { return valid(a.Exp().Reshape(5, 2).Transpose(0, 1).Flatten(0)) },
		"repeated":     func(_, b *weft.Tensor) *weft.Tensor { return valid(b.Exp().Expand(3, 10).Reshape(30)) },
		"sum of stack": func(a, b *weft.Tensor) *weft.Tensor { return valid(weft.Stack([]*weft.Tensor{a, b.Mul(2)}, 1).Sum(1)) },
	} {
		want := f(a, b)
		got, err := weft.Compile(f).Call(a, b)
		if err != nil || weft.Digest(got) != weft.Digest(want) {
			t.Errorf("%s: %v, want %v: %v", name, got, want, err)
		}
	}
}
