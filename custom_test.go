package weft

import (
	"math"
	"strings"
	"testing"
)

// cube is x^3 with a gradient written by hand.
var cube = &Func{
	Name: "cube",
	Forward: func(c *FuncContext, x ...*Tensor) *Tensor {
		c.Save(x[0])
		return x[0].Mul(x[0]).Mul(x[0])
	},
	Backward: func(c *FuncContext, dy *Tensor) []*Tensor {
		return []*Tensor{c.Saved(0).Square().Mul(3).Mul(dy)}
	},
}

func TestFunc(t *testing.T) {
	x := FromSlice([]float64{1, -2, 0.5}).RequireGrad()
	y := cube.Apply(x)
	g := Grad(y.Sum(), []*Tensor{x}, GradOpts{Create: true})[0]
	h := Grad(g.Sum(), []*Tensor{x})[0]
	for i, v := range []float64{1, -2, 0.5} {
		if got := g.At(i).Item(); math.Abs(got-3*v*v) > 1e-12 {
			t.Errorf("gradient %d: %v", i, got)
		}
		if got := h.At(i).Item(); math.Abs(got-6*v) > 1e-12 {
			t.Errorf("second derivative %d: %v", i, got)
		}
	}
	x = FromSlice([]float64{1, 2}).Mul(1).RequireGrad()
	z := x.Mul(2)
	y = cube.Apply(z)
	z.MulAssign(2)
	if err := Try(func() { y.Sum().Backward() }); err == nil || !strings.Contains(err.Error(), "argument 0 of cube") || !strings.Contains(err.Error(), "custom_test.go") {
		t.Errorf("overwritten saved value: %v", err)
	}
	bad := &Func{Name: "bad", Forward: func(_ *FuncContext, x ...*Tensor) *Tensor { return x[0].Sum() },
		Backward: func(_ *FuncContext, dy *Tensor) []*Tensor { return []*Tensor{dy} }}
	if err := Try(func() { bad.Apply(FromSlice([]float32{1, 2}).RequireGrad()).Backward() }); err == nil || !strings.Contains(err.Error(), "gradient of argument 0") {
		t.Errorf("wrong gradient shape: %v", err)
	}
}
