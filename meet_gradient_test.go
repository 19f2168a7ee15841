package weft_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"weft"
	"weft/internal/array"
	"weft/internal/op"
	"weft/internal/optest"
)

// precision is half the distance from 1 to the next number of a type.
func precision(d weft.DType) float64 {
	switch d {
	case weft.Float16:
		return 0x1p-11
	case weft.BFloat16:
		return 0x1p-8
	case weft.Float32, weft.Complex64:
		return 0x1p-24
	}
	return 0x1p-53
}

// ofArray is an array of floats as a tensor of type d.
func ofArray(x *optest.Array, d weft.DType) *weft.Tensor {
	return weft.FromSlice(x.F, x.Shape...).To(d)
}

// Operands of several types meet, and the gradient of each has the type, the shape and the value
// that it has where all of them are converted before.
func TestGradientsHaveTheTypesOfTheirOperands(t *testing.T) {
	types := []weft.DType{weft.Float16, weft.BFloat16, weft.Float32, weft.Float64, weft.Complex64, weft.Complex128}
	tested := 0
	for _, d := range op.Table() {
		for _, s := range meetSamples(d) {
			floats := 0
			for i := range s.Shapes {
				if len(s.DTypes) <= i || s.DTypes[i].Float() {
					floats++
				}
			}
			if floats < 2 {
				continue
			}
			for _, a := range types {
				for _, b := range types {
					if a != b && meetOperands(t, d, s, a, b) {
						tested++
					}
				}
			}
		}
	}
	t.Log(tested, "operations on several types")
	if tested < 300 {
		t.Errorf("only %d operations on several types had gradients", tested)
	}
}

// meetSamples are the first two samples of an operation.
func meetSamples(d *op.Def) []op.Sample {
	if d.Samples != nil {
		return d.Samples[:min(len(d.Samples), 2)]
	}
	if d.Class != op.Pointwise && d.Class != op.Composite || d.Arity < 2 {
		return nil
	}
	return []op.Sample{{Shapes: [][]int{{3, 4}, {4}, {3, 1}}[:d.Arity], Attrs: d.Attrs}}
}

func meetOperands(t *testing.T, d *op.Def, s op.Sample, a, b weft.DType) bool {
	r := rand.New(rand.NewPCG(5, 6))
	domain := d.Domain
	if domain == [2]float64{} {
		domain = [2]float64{-2, 2}
	}
	var args, wide []any
	var leaves, refs []*weft.Tensor
	meet, least := array.Promote(a, b), math.Max(precision(a), precision(b))
	whole := weft.Float64
	if meet.Complex() {
		whole = weft.Complex128
	}
	for i, shape := range s.Shapes {
		if array.Size(shape) > 200 {
			return false
		}
		if len(s.DTypes) > i && !s.DTypes[i].Float() {
			x := optest.Random(r, s.DTypes[i], shape, domain, s.Max)
			if s.Ascending {
				return false
			}
			y := weft.FromSlice(x.I, shape...).To(s.DTypes[i])
			args, wide = append(args, y), append(wide, y)
			continue
		}
		x := ofArray(optest.Random(r, weft.Float64, shape, domain, 0), []weft.DType{a, b}[len(leaves)%2]).RequireGrad()
		ref := x.Detach().To(whole).RequireGrad()
		leaves, refs = append(leaves, x), append(refs, ref)
		args, wide = append(args, x), append(wide, ref)
	}
	var ys, zs []*weft.Tensor
	if err := weft.Try(func() { ys = evaluated(d, s.Attrs, args) }); err != nil {
		return false // refused before anything is computed
	}
	if err := weft.Try(func() { zs = evaluated(d, s.Attrs, wide) }); err != nil {
		return false // not defined for what the operands meet in
	}
	var outs, wants, seeds, wantSeeds []*weft.Tensor
	for i, y := range ys {
		if !y.DType().Differentiable() || !zs[i].DType().Differentiable() {
			continue
		}
		w := weft.NewGenerator(uint64(i)).Rand(y.Shape()...).To(y.DType())
		outs, wants = append(outs, y), append(wants, zs[i])
		seeds, wantSeeds = append(seeds, w), append(wantSeeds, w.To(zs[i].DType()))
	}
	if len(outs) == 0 {
		return false
	}
	var got, want []*weft.Tensor
	if err := weft.Try(func() { want = weft.GradAll(wants, refs, weft.GradOpts{Seeds: wantSeeds, AllowUnused: true}) }); err != nil {
		return false // has no gradient
	}
	if err := weft.Try(func() { got = weft.GradAll(outs, leaves, weft.GradOpts{Seeds: seeds, AllowUnused: true, Retain: true}) }); err != nil {
		t.Errorf("%s of %s and %s: %v", d.Name, a, b, err)
		return true
	}
	if a.Float() && b.Float() && !d.Once { // and recorded
		if err := weft.Try(func() {
			for i, g := range weft.GradAll(outs, leaves, weft.GradOpts{Seeds: seeds, AllowUnused: true, Create: true}) {
				if g != nil && (g.DType() != leaves[i].DType() || !array.Equal(g.Shape(), leaves[i].Shape())) {
					t.Errorf("%s of %s and %s: recorded gradient of operand %d is %s", d.Name, a, b, i, array.TypeString(g.DType(), g.Shape()))
				}
			}
		}); err != nil {
			t.Errorf("%s of %s and %s, recorded: %v", d.Name, a, b, err)
		}
	}
	for i, g := range got {
		x := leaves[i]
		if g == nil || want[i] == nil {
			if (g == nil) != (want[i] == nil) {
				t.Errorf("%s of %s and %s: gradient of operand %d is %v, want %v", d.Name, a, b, i, g, want[i])
			}
			continue
		}
		if g.DType() != x.DType() || !array.Equal(g.Shape(), x.Shape()) {
			t.Errorf("%s of %s and %s: gradient of operand %d is %s, want %s", d.Name, a, b, i,
				array.TypeString(g.DType(), g.Shape()), array.TypeString(x.DType(), x.Shape()))
			continue
		}
		if x.Size() == 0 {
			continue
		}
		w := want[i]
		if w.DType().Complex() && !x.DType().Complex() {
			w = w.Real()
		}
		p, q := g.To(w.DType()), w
		limit := 200 * least * (1 + q.Abs().Max().Item())
		if off := p.Sub(q).Abs().Max(); !(off.Item() <= limit) {
			t.Errorf("%s of %s and %s: gradient of operand %d is off by %v:\n%v\nwant\n%v", d.Name, a, b, i, off, g, w)
		}
	}
	return true
}

// What a Func returns as a gradient is converted to the type of its argument.
func TestGradientsOfFuncHaveTheTypesOfItsArguments(t *testing.T) {
	f := &weft.Func{Name: "product",
		Forward: func(c *weft.FuncContext, x ...*weft.Tensor) *weft.Tensor {
			c.Save(x...)
			return x[0].Mul(x[1])
		},
		Backward: func(c *weft.FuncContext, dy *weft.Tensor) []*weft.Tensor {
			return []*weft.Tensor{dy.Mul(c.Saved(1)), dy.Mul(c.Saved(0))}
		}}
	x, y := weft.FullOf(weft.Float32, 3, 2).RequireGrad(), weft.FullOf(weft.Float64, 5, 2).RequireGrad()
	var e *weft.Error
	if err := weft.Try(func() { f.Apply(x, y).Sum().Backward() }); errors.As(err, &e) {
		t.Fatal(err)
	}
	if g := x.Grad(); g.DType() != weft.Float32 || g.Sum().Item() != 10 {
		t.Errorf("gradient of float32: %s %v", g.DType(), g)
	}
	if g := y.Grad(); g.DType() != weft.Float64 || g.Sum().Item() != 6 {
		t.Errorf("gradient of float64: %s %v", g.DType(), g)
	}
}
