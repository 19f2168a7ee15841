package weft

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"weft/internal/core"
)

// waves are the numbers of testdata/transforms.py.
func waves(n int, k float64) *Tensor {
	x := make([]float64, n)
	for i := range x {
		x[i] = math.Sin(float64(i)*1.7 + k)
	}
	return FromSlice(x)
}

// transformed are the functions of testdata/transforms.py.
func transformed() (functions, scalars map[string]func(x *Tensor) *Tensor, at func(name string) *Tensor) {
	x6, w6, a := waves(6, 0.3), waves(6, 2.2), waves(24, 0.7).Reshape(4, 6)
	functions = map[string]func(x *Tensor) *Tensor{
		"tanh_linear": func(x *Tensor) *Tensor { return a.MatMul(x).Tanh() },
		"tall":        func(x *Tensor) *Tensor { return x.Exp().Outer(x.Sin()) },
		"gram":        func(x *Tensor) *Tensor { return x.MatMul(x.T()) },
		"softmax":     func(x *Tensor) *Tensor { return x.Softmax(1) },
		"norm":        func(x *Tensor) *Tensor { return x.Sub(x.MeanKeep(1)).Div(x.VarKeep(1).Add(0.1).Sqrt()) },
		"cumprod":     func(x *Tensor) *Tensor { return x.CumProd(0) },
		"sort": func(x *Tensor) *Tensor {
			s, _ := x.Sort(0, SortOpts{})
			return s.Mul(Arange(0, 6, 1).To(Float64))
		},
		"windows": func(x *Tensor) *Tensor { return x.Slice(Range(1, 5, 2)).Mul(x.Slice(Range(End, Begin, -3))) },
		"put": func(x *Tensor) *Tensor {
			y := x.Mul(2)
			y.Slice(Range(1, 3)).Assign(x.Slice(Range(3, 5)).Square())
			return y
		},
		"pick": func(x *Tensor) *Tensor { return x.IndexSelect(0, FromSlice([]int64{4, 0, 4, 2})).Square() },
		"conv": func(x *Tensor) *Tensor {
			return x.Reshape(1, 1, 1, 6).Conv2d(a.Slice(Range(0, 2), Range(0, 3)).Reshape(2, 1, 1, 3), nil, ConvOpts{})
		},
		"max":      func(x *Tensor) *Tensor { return Stack([]*Tensor{x.Max(), x.Min(), x.Prod()}, 0) },
		"constant": func(x *Tensor) *Tensor { return a.Slice(Index(0), Range(0, 2)) },
	}
	q := waves(36, 0.1).Reshape(6, 6)
	scalars = map[string]func(x *Tensor) *Tensor{
		"quadratic": func(x *Tensor) *Tensor { return x.Sin().Mul(q.MatMul(x)).Sum() },
		"logsumexp": func(x *Tensor) *Tensor { return a.MatMul(x).LogSumExp() },
		"mlp":       func(x *Tensor) *Tensor { return a.MatMul(x).Tanh().MatMul(a).Tanh().Pow(3).Sum() },
		"matrix":    func(x *Tensor) *Tensor { return x.MatMul(x.T()).Square().Sum() },
		"linear":    func(x *Tensor) *Tensor { return x.Mul(w6).Sum() },
	}
	return functions, scalars, func(name string) *Tensor {
		if slices.Contains([]string{"gram", "softmax", "norm", "matrix"}, name) {
			return x6.Reshape(2, 3)
		}
		return x6
	}
}

// TestTransformsAgainstJAX compares derivatives of Go functions with JAX's.
func TestTransformsAgainstJAX(t *testing.T) {
	text, err := os.ReadFile("testdata/transforms.json")
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]struct {
		Y, JVP, VJP, Jacobian, Gradient, Hessian, HessianVector, Third any
		Shape                                                          []int
	}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	compare := func(what string, got *Tensor, want any) {
		t.Helper()
		w, ok := want.([]any)
		if !ok || len(w) != got.Size() {
			t.Errorf("%s: %d elements, want %d", what, got.Size(), len(w))
			return
		}
		for i, x := range Data[float64](got) {
			if math.Abs(x-w[i].(float64)) > 1e-12*(1+math.Abs(w[i].(float64))) {
				t.Errorf("%s: element %d is %v, want %v", what, i, x, w[i])
				return
			}
		}
	}
	functions, scalars, at := transformed()
	if len(functions)+len(scalars) != len(want) {
		t.Errorf("%d functions, %d vectors", len(functions)+len(scalars), len(want))
	}
	for name, f := range functions {
		w, x := want[name], at(name)
		v := waves(6, 1.1).Reshape(x.Shape()...)
		y, dy := JVP(f, x, v)
		compare(name+" y", y, w.Y)
		compare(name+" jvp", dy, w.JVP)
		y, pull := VJP(f, x)
		compare(name+" y", y, w.Y)
		for range 2 {
			compare(name+" vjp", pull(waves(y.Size(), 0.9).Reshape(y.Shape()...)), w.VJP)
		}
		j := Jacobian(f, x)
		compare(name+" jacobian", j, w.Jacobian)
		if !slices.Equal(j.Shape(), w.Shape) {
			t.Errorf("%s: shape %v, want %v", name, j.Shape(), w.Shape)
		}
		if j.RequiresGrad() || y.RequiresGrad() {
			t.Errorf("%s: results are recorded, and nothing requires a gradient", name)
		}
	}
	for name, f := range scalars {
		w, x := want[name], at(name)
		v := waves(6, 1.1).Reshape(x.Shape()...)
		h := Hessian(f, x)
		compare(name+" hessian", h, w.Hessian)
		if !slices.Equal(h.Shape(), w.Shape) {
			t.Errorf("%s: shape %v, want %v", name, h.Shape(), w.Shape)
		}
		compare(name+" hessian times vector", HessianVector(f, x, v), w.HessianVector)
		compare(name+" gradient", Jacobian(f, x), w.Gradient)
		compare(name+" third derivatives", Jacobian(func(x *Tensor) *Tensor { return Hessian(f, x) }, x), w.Third)
	}
}

// TestJacobianOfPenalty differentiates a Jacobian by parameters that the function captures
// and by its argument, against differences.
func TestJacobianOfPenalty(t *testing.T) {
	w, x := waves(12, 0.4).Reshape(3, 4), waves(4, 0.8)
	penalty := func(w, x *Tensor) *Tensor {
		return Jacobian(func(x *Tensor) *Tensor { return w.MatMul(x).Tanh() }, x).Square().Sum()
	}
	for i, of := range []*Tensor{w, x} {
		of.RequireGrad()
		got := Data[float64](Grad(penalty(w, x), []*Tensor{of})[0])
		of.RequireGrad(false)
		for k := range got {
			at := func(h float64) float64 {
				moved := Data[float64](of)
				moved[k] += h
				args := []*Tensor{w, x}
				args[i] = FromSlice(moved, of.Shape()...)
				return penalty(args[0], args[1]).Item()
			}
			if d := (at(1e-6) - at(-1e-6)) / 2e-6; math.Abs(d-got[k]) > 1e-7 {
				t.Errorf("argument %d, element %d: %v, by differences %v", i, k, got[k], d)
			}
		}
	}
}

// TestJacobianRunsEachOperationOnce: rows are not computed one after the other.
func TestJacobianRunsEachOperationOnce(t *testing.T) {
	calls := 0
	twice := &Func{Name: "twice", Forward: func(_ *FuncContext, x ...*Tensor) *Tensor { return x[0].Mul(2) },
		Backward: func(_ *FuncContext, dy *Tensor) []*Tensor { calls++; return []*Tensor{dy.Mul(2)} }}
	j := Jacobian(func(x *Tensor) *Tensor { return twice.Apply(x.Sin()) }, waves(5, 0))
	if calls != 5 {
		t.Errorf("a gradient in Go ran %d times for 5 rows", calls)
	}
	for i := range 5 {
		if got, want := j.At(i, i).Item(), 2*math.Cos(math.Sin(float64(i)*1.7)); math.Abs(got-want) > 1e-14 {
			t.Errorf("%d: %v, want %v", i, got, want)
		}
	}
	before := core.TapeSeq.Load()
	Jacobian(func(x *Tensor) *Tensor { return x.Sin().Mul(x).CumSum(0) }, waves(200, 0))
	few := core.TapeSeq.Load() - before
	before = core.TapeSeq.Load()
	Jacobian(func(x *Tensor) *Tensor { return x.Sin().Mul(x).CumSum(0) }, waves(2, 0))
	if n := core.TapeSeq.Load() - before; n != few {
		t.Errorf("200 rows took %d entries of the tape, 2 rows %d", few, n)
	}
}

func TestTransformMisuse(t *testing.T) {
	x := waves(3, 0)
	for want, f := range map[string]func(){
		"jacobian: f: is nil":         func() { Jacobian(nil, x) },
		"hessian: f: returns shape":   func() { Hessian(func(x *Tensor) *Tensor { return x }, x) },
		"only floats":                 func() { Jacobian(func(x *Tensor) *Tensor { return x }, FromSlice([]int64{1})) },
		"jvp: v: is float64[2]":       func() { JVP(func(x *Tensor) *Tensor { return x }, x, waves(2, 0)) },
		"vjp: dy: is float64[2]":      func() { _, p := VJP(func(x *Tensor) *Tensor { return x }, x); p(waves(2, 0)) },
		"jacobian: the tensor is nil": func() { Jacobian(func(x *Tensor) *Tensor { return nil }, x) },
	} {
		if err := Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
