package ptx

import (
	"fmt"
	"testing"

	"weft/internal/array"
	"weft/internal/grid"
	"weft/internal/loop"
	"weft/internal/vmath"
)

// TestPtxasKeepsFunctionsInRegisters assembles functions of package vmath, whose tables and
// branches are the hardest kernels of a user. None may spill, except a list.
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
				if v == grid.FlatVector {
					of[k.Name] += ", vector"
				}
			}
		}
	}
	// ptxas keeps this one to 80 registers, so that three blocks fit, and spills 8 bytes.
	listed := map[string]bool{"{9 0} pow of float32, vector": true}
	for _, target := range targets {
		for _, name := range assemble(t, target, kernels) {
			what := fmt.Sprint(target, " ", of[name])
			if !listed[what] {
				t.Errorf("registers of %s spill in %s", what, name)
			}
			delete(listed, what)
		}
	}
	for what := range listed {
		t.Errorf("%s no longer spills: take it off the list", what)
	}
}
