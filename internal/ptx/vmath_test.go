package ptx

import (
	"testing"

	"weft/internal/array"
	"weft/internal/grid"
	"weft/internal/loop"
	"weft/internal/vmath"
)

// TestPtxasKeepsFunctionsInRegisters assembles functions of package vmath, whose tables and
// branches are the hardest kernels of a user. None may spill.
func TestPtxasKeepsFunctionsInRegisters(t *testing.T) {
	functions := map[string]func(*loop.Builder, loop.Value) loop.Value{
		"exp": vmath.Exp, "expm1": vmath.Expm1, "log": vmath.Log, "log1p": vmath.Log1p, "sin": vmath.Sin, "cos": vmath.Cos,
		"sinh": vmath.Sinh, "tanh": vmath.Tanh, "arctan": vmath.Atan, "lgamma": vmath.Lgamma, "sigmoid": vmath.Sigmoid,
		"pow": func(b *loop.Builder, x loop.Value) loop.Value { return vmath.Pow(b, x, x) },
	}
	var kernels []*grid.Kernel
	of := map[string]string{}
	for name, f := range functions {
		for _, d := range []array.DType{array.Float32, array.Float64} {
			b := loop.NewBuilder(name, []loop.Axis{{Kind: loop.Parallel}}, 0)
			in, out := b.Buf(d, false, loop.Unit), b.Buf(d, true, loop.Unit)
			b.Pass(func() { b.Store(out, f(b, b.Load(in))) })
			p, err := b.Done()
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range []grid.Variant{grid.Flat, grid.FlatVector} {
				if !grid.Legal(p, v) {
					continue
				}
				k, err := grid.Lower(p, v)
				if err != nil {
					t.Fatal(err)
				}
				kernels, of[k.Name] = append(kernels, k), name+" of "+d.String()
			}
		}
	}
	for _, target := range targets {
		for _, name := range assemble(t, target, kernels) {
			t.Errorf("%v: registers of %s spill in %s", target, of[name], name)
		}
	}
}
