package weft_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
)

// waves are the numbers of testdata/transforms.py.
func waves(n int, k float64) *weft.Tensor {
	x := make([]float64, n)
	for i := range x {
		x[i] = math.Sin(float64(i)*1.7 + k)
	}
	return weft.FromSlice(x)
}

// transformed are the functions of testdata/transforms.py.
func transformed() (functions, scalars map[string]func(x *weft.Tensor) *weft.Tensor, at func(name string) *weft.Tensor) {
	x6, w6, a := waves(6, 0.3), waves(6, 2.2), waves(24, 0.7).Reshape(4, 6)
	functions = map[string]func(x *weft.Tensor) *weft.Tensor{
		"tanh_linear": func(x *weft.Tensor) *weft.Tensor { return a.MatMul(x).Tanh() },
		"tall":        func(x *weft.Tensor) *weft.Tensor { return x.Exp().Outer(x.Sin()) },
		"gram":        func(x *weft.Tensor) *weft.Tensor { return x.MatMul(x.T()) },
		"softmax":     func(x *weft.Tensor) *weft.Tensor { return x.Softmax(1) },
		"norm":        func(x *weft.Tensor) *weft.Tensor { return x.Sub(x.MeanKeep(1)).Div(x.VarKeep(1).Add(0.1).Sqrt()) },
		"cumprod":     func(x *weft.Tensor) *weft.Tensor { return x.CumProd(0) },
		"sort": func(x *weft.Tensor) *weft.Tensor {
			s, _ := x.Sort(0, weft.SortOpts{})
			return s.Mul(weft.Arange(0, 6, 1).To(weft.Float64))
		},
		"windows": func(x *weft.Tensor) *weft.Tensor {
			return x.Slice(weft.Range(1, 5, 2)).Mul(x.Slice(weft.Range(weft.End, weft.Begin, -3)))
		},
		"put": func(x *weft.Tensor) *weft.Tensor {
			y := x.Mul(2)
			y.Slice(weft.Range(1, 3)).Assign(x.Slice(weft.Range(3, 5)).Square())
			return y
		},
		"pick": func(x *weft.Tensor) *weft.Tensor {
			return x.IndexSelect(0, weft.FromSlice([]int64{4, 0, 4, 2})).Square()
		},
		"conv": func(x *weft.Tensor) *weft.Tensor {
			return x.Reshape(1, 1, 1, 6).Conv2d(a.Slice(weft.Range(0, 2), weft.Range(0, 3)).Reshape(2, 1, 1, 3), nil, weft.ConvOpts{})
		},
		"max":      func(x *weft.Tensor) *weft.Tensor { return weft.Stack([]*weft.Tensor{x.Max(), x.Min(), x.Prod()}, 0) },
		"constant": func(x *weft.Tensor) *weft.Tensor { return a.Slice(weft.Index(0), weft.Range(0, 2)) },
	}
	q := waves(36, 0.1).Reshape(6, 6)
	scalars = map[string]func(x *weft.Tensor) *weft.Tensor{
		"quadratic": func(x *weft.Tensor) *weft.Tensor { return x.Sin().Mul(q.MatMul(x)).Sum() },
		"logsumexp": func(x *weft.Tensor) *weft.Tensor { return a.MatMul(x).LogSumExp() },
		"mlp":       func(x *weft.Tensor) *weft.Tensor { return a.MatMul(x).Tanh().MatMul(a).Tanh().Pow(3).Sum() },
		"matrix":    func(x *weft.Tensor) *weft.Tensor { return x.MatMul(x.T()).Square().Sum() },
		"linear":    func(x *weft.Tensor) *weft.Tensor { return x.Mul(w6).Sum() },
	}
	return functions, scalars, func(name string) *weft.Tensor {
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
	compare := func(what string, got *weft.Tensor, want any) {
		t.Helper()
		w, ok := want.([]any)
		if !ok || len(w) != got.Size() {
			t.Errorf("%s: %d elements, want %d", what, got.Size(), len(w))
			return
		}
		for i, x := range weft.Data[float64](got) {
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
		y, dy := weft.JVP(f, x, v)
		compare(name+" y", y, w.Y)
		compare(name+" jvp", dy, w.JVP)
		y, pull := weft.VJP(f, x)
		compare(name+" y", y, w.Y)
		for range 2 {
			compare(name+" vjp", pull(waves(y.Size(), 0.9).Reshape(y.Shape()...)), w.VJP)
		}
		j := weft.Jacobian(f, x)
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
		h := weft.Hessian(f, x)
		compare(name+" hessian", h, w.Hessian)
		if !slices.Equal(h.Shape(), w.Shape) {
			t.Errorf("%s: shape %v, want %v", name, h.Shape(), w.Shape)
		}
		compare(name+" hessian times vector", weft.HessianVector(f, x, v), w.HessianVector)
		compare(name+" gradient", weft.Jacobian(f, x), w.Gradient)
		compare(name+" third derivatives", weft.Jacobian(func(x *weft.Tensor) *weft.Tensor { return weft.Hessian(f, x) }, x), w.Third)
	}
}

// TestJacobianOfPenalty differentiates a Jacobian by parameters that the function captures
// and by its argument, against differences.
func TestJacobianOfPenalty(t *testing.T) {
	w, x := waves(12, 0.4).Reshape(3, 4), waves(4, 0.8)
	penalty := func(w, x *weft.Tensor) *weft.Tensor {
		return weft.Jacobian(func(x *weft.Tensor) *weft.Tensor { return w.MatMul(x).Tanh() }, x).Square().Sum()
	}
	for i, of := range []*weft.Tensor{w, x} {
		of.RequireGrad()
		got := weft.Data[float64](weft.Grad(penalty(w, x), []*weft.Tensor{of})[0])
		of.RequireGrad(false)
		for k := range got {
			at := func(h float64) float64 {
				moved := weft.Data[float64](of)
				moved[k] += h
				args := []*weft.Tensor{w, x}
				args[i] = weft.FromSlice(moved, of.Shape()...)
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
	twice := &weft.Func{Name: "twice", Forward: func(_ *weft.FuncContext, x ...*weft.Tensor) *weft.Tensor { return x[0].Mul(2) },
		Backward: func(_ *weft.FuncContext, dy *weft.Tensor) []*weft.Tensor { calls++; return []*weft.Tensor{dy.Mul(2)} }}
	j := weft.Jacobian(func(x *weft.Tensor) *weft.Tensor { return twice.Apply(x.Sin()) }, waves(5, 0))
	if calls != 5 {
		t.Errorf("a gradient in Go ran %d times for 5 rows", calls)
	}
	for i := range 5 {
		if got, want := j.At(i, i).Item(), 2*math.Cos(math.Sin(float64(i)*1.7)); math.Abs(got-want) > 1e-14 {
			t.Errorf("%d: %v, want %v", i, got, want)
		}
	}
	before := core.TapeSeq.Load()
	weft.Jacobian(func(x *weft.Tensor) *weft.Tensor { return x.Sin().Mul(x).CumSum(0) }, waves(200, 0))
	few := core.TapeSeq.Load() - before
	before = core.TapeSeq.Load()
	weft.Jacobian(func(x *weft.Tensor) *weft.Tensor { return x.Sin().Mul(x).CumSum(0) }, waves(2, 0))
	if n := core.TapeSeq.Load() - before; n != few {
		t.Errorf("200 rows took %d entries of the tape, 2 rows %d", few, n)
	}
}

func TestTransformMisuse(t *testing.T) {
	x := waves(3, 0)
	for want, f := range map[string]func(){
		"jacobian: f: is nil":         func() { weft.Jacobian(nil, x) },
		"hessian: f: returns shape":   func() { weft.Hessian(func(x *weft.Tensor) *weft.Tensor { return x }, x) },
		"only floats":                 func() { weft.Jacobian(func(x *weft.Tensor) *weft.Tensor { return x }, weft.FromSlice([]int64{1})) },
		"jvp: v: is float64[2]":       func() { weft.JVP(func(x *weft.Tensor) *weft.Tensor { return x }, x, waves(2, 0)) },
		"vjp: dy: is float64[2]":      func() { _, p := weft.VJP(func(x *weft.Tensor) *weft.Tensor { return x }, x); p(waves(2, 0)) },
		"jacobian: the tensor is nil": func() { weft.Jacobian(func(x *weft.Tensor) *weft.Tensor { return nil }, x) },
	} {
		if err := weft.Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestVmap compares mapped functions with the functions of one example after the other, with
// their gradients by arguments and by what is captured.
func TestVmap(t *testing.T) {
	g := weft.NewGenerator(4)
	f64 := func(shape ...int) *weft.Tensor { return g.RandnOf(weft.Float64, shape...) }
	w, k := f64(4, 3), f64(2, 1, 3, 3)
	w.RequireGrad()
	cases := []struct {
		name string
		f    func(x ...*weft.Tensor) *weft.Tensor
		axes []int
		x    []*weft.Tensor
	}{
		{"affine", func(x ...*weft.Tensor) *weft.Tensor { return x[0].MatMul(w).Tanh() }, nil, []*weft.Tensor{f64(5, 4)}},
		{"turned weights", func(x ...*weft.Tensor) *weft.Tensor { return w.T().MatMul(x[0]) }, nil, []*weft.Tensor{f64(5, 4, 2)}},
		{"two", func(x ...*weft.Tensor) *weft.Tensor { return x[0].Mul(x[1]).Sum() }, []int{0, 1}, []*weft.Tensor{f64(5, 4), f64(4, 5)}},
		{"shared", func(x ...*weft.Tensor) *weft.Tensor { return x[0].Sub(x[1]).Norm(2) }, []int{0, weft.Unmapped}, []*weft.Tensor{f64(5, 4), f64(4)}},
		{"no mapped axis in the result", func(x ...*weft.Tensor) *weft.Tensor { return x[1].Exp() }, []int{0, weft.Unmapped}, []*weft.Tensor{f64(5, 4), f64(4)}},
		{"convolution", func(x ...*weft.Tensor) *weft.Tensor {
			return x[0].Conv2d(k, nil, weft.ConvOpts{}).MaxPool2d(weft.PoolOpts{Window: [2]int{2, 2}})
		}, nil, []*weft.Tensor{f64(3, 2, 1, 6, 6)}},
		{"filters", func(x ...*weft.Tensor) *weft.Tensor { return x[0].Conv2d(x[1], nil, weft.ConvOpts{}) }, nil, []*weft.Tensor{f64(3, 2, 1, 6, 6), f64(3, 2, 1, 3, 3)}},
		{"statistics", func(x ...*weft.Tensor) *weft.Tensor { return x[0].Softmax(0).Add(x[0].Var()).CumSum(0) }, []int{1}, []*weft.Tensor{f64(7, 3)}},
		{"places", func(x ...*weft.Tensor) *weft.Tensor { return x[0].IndexSelect(0, x[1].To(weft.Int64)) }, nil, []*weft.Tensor{f64(3, 6), weft.FromSlice([]float64{1, 0, 5, 5, 2, 2}, 3, 2)}},
		{"written", func(x ...*weft.Tensor) *weft.Tensor {
			y := x[0].Mul(2)
			y.Slice(weft.Range(1, 3)).Assign(x[0].Slice(weft.Range(3, 5)).Square())
			y.At(0).AddAssign(3)
			return y
		}, nil, []*weft.Tensor{f64(3, 5)}},
		{"mapped twice", func(x ...*weft.Tensor) *weft.Tensor {
			return weft.Vmap(func(r ...*weft.Tensor) *weft.Tensor { return r[0].Mul(x[1]).Sum().Sin() }, 1)(x[0])
		}, []int{0, weft.Unmapped}, []*weft.Tensor{f64(3, 4, 5), f64(4)}},
	}
	for _, c := range cases {
		axis := func(i int) int {
			if i < len(c.axes) {
				return c.axes[i]
			}
			return 0
		}
		run := func(each bool) (*weft.Tensor, []*weft.Tensor) {
			x := make([]*weft.Tensor, len(c.x))
			for i, t := range c.x {
				x[i] = t.Detach().RequireGrad()
			}
			var y *weft.Tensor
			if each {
				var all []*weft.Tensor
				for e := range x[0].Dim(max(axis(0), 0)) {
					one := make([]*weft.Tensor, len(x))
					for i := range x {
						if one[i] = x[i]; axis(i) != weft.Unmapped {
							one[i] = x[i].MoveAxis(axis(i), 0).At(e)
						}
					}
					all = append(all, c.f(one...))
				}
				y = weft.Stack(all, 0)
			} else {
				y = weft.Vmap(c.f, c.axes...)(x...)
			}
			return y, weft.Grad(y.Mul(waves(y.Size(), 0.3).Reshape(y.Shape()...)).Sum(), append(x, w), weft.GradOpts{AllowUnused: true})
		}
		y, got := run(false)
		want, grads := run(true)
		if !slices.Equal(y.Shape(), want.Shape()) || !y.AllClose(want, weft.CloseOpts{Relative: new(1e-12), Absolute: new(0.0)}) {
			t.Errorf("%s: %v, want %v", c.name, y, want)
			continue
		}
		for i := range grads {
			if (got[i] == nil) != (grads[i] == nil) {
				t.Errorf("%s: gradient %d: %v, want %v", c.name, i, got[i], grads[i])
			} else if got[i] != nil && !got[i].AllClose(grads[i], weft.CloseOpts{Relative: new(1e-10), Absolute: new(1e-12)}) {
				t.Errorf("%s: gradient %d: %v, want %v", c.name, i, got[i], grads[i])
			}
		}
	}

	// Gradients of each example by parameters that all share, and by the example.
	x := f64(6, 4)
	each := weft.Vmap(func(x ...*weft.Tensor) *weft.Tensor {
		return weft.Grad(x[0].MatMul(w).Square().Sum(), []*weft.Tensor{w})[0]
	})(x)
	own := weft.Vmap(func(x ...*weft.Tensor) *weft.Tensor {
		return weft.Jacobian(func(x *weft.Tensor) *weft.Tensor { return x.MatMul(w).Square() }, x[0])
	})(x)
	for e := range 6 {
		want := weft.Grad(x.At(e).MatMul(w).Square().Sum(), []*weft.Tensor{w})[0]
		if !each.At(e).AllClose(want, weft.CloseOpts{Relative: new(1e-12), Absolute: new(0.0)}) {
			t.Errorf("example %d: %v, want %v", e, each.At(e), want)
		}
		want = weft.Jacobian(func(x *weft.Tensor) *weft.Tensor { return x.MatMul(w).Square() }, x.At(e))
		if !own.At(e).AllClose(want, weft.CloseOpts{Relative: new(1e-12), Absolute: new(0.0)}) {
			t.Errorf("jacobian of example %d: %v, want %v", e, own.At(e), want)
		}
	}

	// Inside Compile, and the same function again with other values.
	m := weft.Vmap(func(x ...*weft.Tensor) *weft.Tensor { return x[0].MatMul(w).Sum().Exp() })
	c := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return m(x.Mul(2)).Sum() })
	for range 2 {
		x := f64(5, 4)
		got, err := c.Call(x)
		if err != nil {
			t.Fatal(err)
		}
		if want := x.Mul(2).MatMul(w).Sum(1).Exp().Sum(); math.Abs(got.Item()-want.Item()) > 1e-9*math.Abs(want.Item()) {
			t.Errorf("compiled: %v, want %v", got, want)
		}
	}
}

// A Backward that applies its own Func has two derivatives in a mapped function, one that applies another Func has all.
func TestVmapOfBackwardsThatApplyFuncs(t *testing.T) {
	exp := func(name string, derivative func(x *weft.Tensor) *weft.Tensor) *weft.Func {
		return &weft.Func{Name: name, Forward: func(c *weft.FuncContext, x ...*weft.Tensor) *weft.Tensor {
			c.Save(x[0])
			return x[0].Exp()
		}, Backward: func(c *weft.FuncContext, dy *weft.Tensor) []*weft.Tensor {
			return []*weft.Tensor{dy.Mul(derivative(c.Saved(0)))}
		}}
	}
	plain := exp("plain", (*weft.Tensor).Exp)
	var own *weft.Func
	own = exp("own", func(x *weft.Tensor) *weft.Tensor { return own.Apply(x) })
	for f, orders := range map[*weft.Func]int{plain: 4, exp("other", func(x *weft.Tensor) *weft.Tensor { return plain.Apply(x) }): 4, own: 2} {
		x := weft.FromSlice([]float64{1, 2, 3}).RequireGrad()
		y := weft.Vmap(func(x ...*weft.Tensor) *weft.Tensor { return f.Apply(x[0]) })(x)
		g := y
		for order := range orders {
			g = weft.Grad(g.Sum(), []*weft.Tensor{x}, weft.GradOpts{Create: true})[0]
			if d := g.Sub(y).Abs().Max().Item(); !(d < 1e-13) {
				t.Errorf("derivative %d of %s differs by %g", order+1, f.Name, d)
			}
		}
		if f != own {
			continue
		}
		if err := weft.Try(func() { weft.Grad(g.Sum(), []*weft.Tensor{x}) }); err == nil || !strings.Contains(err.Error(), "own has no third derivative") {
			t.Error(err)
		}
	}
}

// A tensor that is a part of its memory, which drawn ones and parameters of modules can be, has
// a gradient for each example like any other.
func TestVmapCapturesParts(t *testing.T) {
	g := weft.NewGenerator(5)
	for name, w := range map[string]*weft.Tensor{
		"drawn": g.Randn(6), "rows": g.Randn(4, 6).Slice(weft.Range(1, 3)).Detach(), "turned": g.Randn(6, 7).Slice(weft.Range(1, 4)).T().Detach(),
	} {
		w.RequireGrad()
		x := g.Randn(append([]int{5}, w.Shape()...)...)
		loss := func(x ...*weft.Tensor) *weft.Tensor { return x[0].Mul(w).Tanh().Sum().Sigmoid() }
		each := weft.Vmap(func(x ...*weft.Tensor) *weft.Tensor { return weft.Grad(loss(x...), []*weft.Tensor{w})[0] })(x)
		all := weft.Grad(weft.Vmap(loss)(x).Sum(), []*weft.Tensor{w})[0]
		for i := range 5 {
			if want := weft.Grad(loss(x.At(i)), []*weft.Tensor{w})[0]; !each.At(i).AllClose(want, weft.CloseOpts{}) {
				t.Errorf("%s: the gradient of example %d is %v, want %v", name, i, each.At(i), want)
			}
		}
		if !each.Sum(0).AllClose(all, weft.CloseOpts{}) {
			t.Errorf("%s: the gradient of the sum is %v, want %v", name, all, each.Sum(0))
		}
	}
}

// A view that is captured has its gradient whether or not somebody asked for its history before.
func TestVmapCapturesViews(t *testing.T) {
	for name, view := range map[string]func(w *weft.Tensor) *weft.Tensor{
		"row":  func(w *weft.Tensor) *weft.Tensor { return w.At(1) },
		"part": func(w *weft.Tensor) *weft.Tensor { return w.Slice(weft.All, weft.Range(0, 1)).T() },
		"all":  func(w *weft.Tensor) *weft.Tensor { return w.Reshape(-1) },
	} {
		for _, asked := range []bool{false, true} {
			w := weft.FromSlice([]float64{1, 2, 3, 4, 5, 6}, 2, 3).RequireGrad()
			v := view(w)
			if asked && !v.RequiresGrad() {
				t.Fatal(name)
			}
			x := weft.FromSlice([]float64{1, 2, 3})
			f := func(x ...*weft.Tensor) *weft.Tensor { return v.Mul(x[0]).Square().Sum() }
			got := weft.Grad(weft.Vmap(f)(x).Sum(), []*weft.Tensor{w})[0]
			want := weft.Grad(weft.Stack([]*weft.Tensor{f(x.At(0)), f(x.At(1)), f(x.At(2))}, 0).Sum(), []*weft.Tensor{w})[0]
			if !got.AllClose(want, weft.CloseOpts{}) {
				t.Errorf("%s, asked %v: %v, want %v", name, asked, got, want)
			}
		}
	}
}

func TestVmapMisuse(t *testing.T) {
	before := array.Tracing.On()
	x := weft.Ones(3, 2)
	held := weft.Ones(2)
	one := func(f func(x ...*weft.Tensor) *weft.Tensor, axes ...int) func() {
		return func() { weft.Vmap(f, axes...)(x, weft.Ones(4, 2)) }
	}
	same := func(x ...*weft.Tensor) *weft.Tensor { return x[0] }
	for want, f := range map[string]func(){
		"vmap: f: is nil":             func() { weft.Vmap(nil) },
		"argument 1 has 4 examples":   one(same),
		"axes: are 3 for 2 arguments": one(same, 0, 0, 0),
		"no argument has an axis":     one(same, weft.Unmapped, weft.Unmapped),
		"out of range":                one(same, 7),
		"reads a traced value":        one(func(x ...*weft.Tensor) *weft.Tensor { x[0].Sum().Item(); return x[0] }, 0, weft.Unmapped),
		"draws random numbers":        one(func(x ...*weft.Tensor) *weft.Tensor { return x[0].Add(weft.Rand(2)) }, 0, weft.Unmapped),
		"writes into its argument":    one(func(x ...*weft.Tensor) *weft.Tensor { return x[0].MulAssign(3) }, 0, weft.Unmapped),
		"that Detach or WithoutGrad gave": func() {
			weft.Vmap(func(x ...*weft.Tensor) *weft.Tensor {
				y := x[0].Mul(2)
				y.Detach().AddAssign(1)
				return y
			})(weft.Ones(3, 2).RequireGrad())
		},
		"Backward draws random numbers": func() {
			noisy := &weft.Func{Name: "noisy", Forward: func(_ *weft.FuncContext, x ...*weft.Tensor) *weft.Tensor { return x[0].Mul(2) },
				Backward: func(_ *weft.FuncContext, dy *weft.Tensor) []*weft.Tensor { return []*weft.Tensor{dy.Add(weft.Rand(2))} }}
			weft.Vmap(func(x ...*weft.Tensor) *weft.Tensor { return noisy.Apply(x[0]) })(weft.Ones(3, 2).RequireGrad())
		},
		"writes into a tensor":    one(func(x ...*weft.Tensor) *weft.Tensor { held.AddAssign(x[0]); return x[0] }, 0, weft.Unmapped),
		"vmap: the tensor is nil": one(func(x ...*weft.Tensor) *weft.Tensor { return nil }, 0, weft.Unmapped),
	} {
		if err := weft.Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if array.Tracing.On() && !before {
		t.Error("a trace is left")
	}
}

// Vmap of a Func that computes its own gradient: the gradients with respect to arguments and to
// captured tensors equal the ones of the function on one example after the other.
func TestVmapOfFuncGradients(t *testing.T) {
	times := &weft.Func{Name: "times",
		Forward: func(c *weft.FuncContext, x ...*weft.Tensor) *weft.Tensor {
			c.Save(x[0], x[1])
			return x[0].Mul(x[1])
		},
		Backward: func(c *weft.FuncContext, dy *weft.Tensor) []*weft.Tensor {
			return []*weft.Tensor{dy.Mul(c.Saved(1)).Mul(10), dy.Mul(c.Saved(0)).Mul(-1)}
		}}
	for name, f := range map[string]func(x, w *weft.Tensor) *weft.Tensor{
		"own":               func(x, w *weft.Tensor) *weft.Tensor { return times.Apply(x, w) },
		"own of captured":   func(x, w *weft.Tensor) *weft.Tensor { return times.Apply(x.Square(), w.Exp()) },
		"detached":          func(x, w *weft.Tensor) *weft.Tensor { return x.Mul(x.Detach()).Mul(w) },
		"detached inside":   func(x, w *weft.Tensor) *weft.Tensor { return x.Mul(w.Mul(x).Detach()).Add(w) },
		"captured detached": func(x, w *weft.Tensor) *weft.Tensor { return x.Mul(w.Detach()).Add(w.Mul(2)) },
		"in place": func(x, w *weft.Tensor) *weft.Tensor {
			y := x.Mul(2)
			y.MulAssign(w)
			return times.Apply(y, x)
		},
	} {
		data := []float64{0.5, -1, 2, 0.25, 1.5, -0.75}
		var want, got [2][]float64
		for k, run := range []func(x, w *weft.Tensor) *weft.Tensor{
			func(x, w *weft.Tensor) *weft.Tensor { // one after the other
				var ys []*weft.Tensor
				for i := range 3 {
					ys = append(ys, f(x.Index(i), w))
				}
				return weft.Stack(ys, 0)
			},
			func(x, w *weft.Tensor) *weft.Tensor {
				return weft.Vmap(func(x ...*weft.Tensor) *weft.Tensor { return f(x[0], w) })(x)
			},
			func(x, w *weft.Tensor) *weft.Tensor { // examples of examples
				return weft.Vmap(func(x ...*weft.Tensor) *weft.Tensor {
					return weft.Vmap(func(x ...*weft.Tensor) *weft.Tensor { return f(x[0], x[1]) })(x[0].Reshape(2, 1), w.Reshape(2, 1)).Reshape(2)
				})(x)
			},
		} {
			x, w := weft.FromSlice(slices.Clone(data), 3, 2).RequireGrad(), weft.FromSlice([]float64{3, -2}).RequireGrad()
			run(x, w).Mul(weft.FromSlice([]float64{1, 2, 3, 4, 5, 6}, 3, 2)).Sum().Backward()
			g := [2][]float64{weft.Data[float64](x.Grad()), weft.Data[float64](w.Grad())}
			if got = g; k == 0 {
				want = g
			}
			for i := range want {
				if !slices.EqualFunc(got[i], want[i], func(a, b float64) bool { return math.Abs(a-b) <= 1e-14*math.Abs(b) }) {
					t.Errorf("%s, way %d: gradient %d is %v, want %v", name, k, i, got[i], want[i])
				}
			}
		}
	}
}

// A mapped function writes into what it computed of captured tensors alone: each example into its
// own, with the gradients of the same without Vmap.
func TestVmapInPlaceWrites(t *testing.T) {
	for name, write := range map[string]func(w, x *weft.Tensor) *weft.Tensor{
		"in place":    func(w, x *weft.Tensor) *weft.Tensor { return w.Mul(2).AddAssign(x).Mul(3) },
		"a view":      func(w, x *weft.Tensor) *weft.Tensor { z := w.Mul(2); z.At(0).MulAssign(x.At(1)); return z.Mul(z) },
		"a value":     func(w, x *weft.Tensor) *weft.Tensor { z := w.Mul(2); z.At(1).Assign(x.At(0)); return z.Mul(z) },
		"all of it":   func(w, x *weft.Tensor) *weft.Tensor { z := w.Mul(2); z.Assign(x); return z.Mul(w) },
		"constants":   func(w, x *weft.Tensor) *weft.Tensor { z := w.Mul(2); z.At(0).Assign(7); return z.Mul(x).Add(z.Sum()) },
		"two times":   func(w, x *weft.Tensor) *weft.Tensor { z := w.Mul(2); z.AddAssign(w); z.AddAssign(x); return z.Mul(z) },
		"read before": func(w, x *weft.Tensor) *weft.Tensor { z := w.Mul(2); y := z.Add(x); z.AddAssign(x); return z.Mul(y) },
	} {
		values := func() (w, x *weft.Tensor) {
			return weft.FromSlice([]float64{1, 2}).RequireGrad(), weft.FromSlice([]float64{10, 20, 30, 40}, 2, 2).RequireGrad()
		}
		w, x := values()
		want := weft.Stack([]*weft.Tensor{write(w, x.At(0)), write(w, x.At(1))}, 0)
		want.Sum().Backward()
		v, u := values()
		if err := weft.Try(func() {
			got := weft.Vmap(func(x ...*weft.Tensor) *weft.Tensor { return write(v, x[0]) })(u)
			got.Sum().Backward()
			if a, b := fmt.Sprint(got, u.Grad(), v.Grad()), fmt.Sprint(want, x.Grad(), w.Grad()); a != b {
				t.Errorf("%s: %s, want %s", name, a, b)
			}
		}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	w := weft.Ones(2)
	if err := weft.Try(func() {
		weft.Vmap(func(x ...*weft.Tensor) *weft.Tensor { z := w.Mul(2); z.AddAssign(x[0]); z.Sum().Item(); return z })(weft.Ones(3, 2))
	}); err == nil {
		t.Error("what an example wrote was read on the host")
	}
}

// cube is x^3 with a gradient written by hand.
var cube = &weft.Func{
	Name: "cube",
	Forward: func(c *weft.FuncContext, x ...*weft.Tensor) *weft.Tensor {
		c.Save(x[0])
		return x[0].Mul(x[0]).Mul(x[0])
	},
	Backward: func(c *weft.FuncContext, dy *weft.Tensor) []*weft.Tensor {
		return []*weft.Tensor{c.Saved(0).Square().Mul(3).Mul(dy)}
	},
}

func TestFunc(t *testing.T) {
	x := weft.FromSlice([]float64{1, -2, 0.5}).RequireGrad()
	y := cube.Apply(x)
	g := weft.Grad(y.Sum(), []*weft.Tensor{x}, weft.GradOpts{Create: true})[0]
	h := weft.Grad(g.Sum(), []*weft.Tensor{x})[0]
	for i, v := range []float64{1, -2, 0.5} {
		if got := g.At(i).Item(); math.Abs(got-3*v*v) > 1e-12 {
			t.Errorf("gradient %d: %v", i, got)
		}
		if got := h.At(i).Item(); math.Abs(got-6*v) > 1e-12 {
			t.Errorf("second derivative %d: %v", i, got)
		}
	}
	x = weft.FromSlice([]float64{1, 2}).Mul(1).RequireGrad()
	z := x.Mul(2)
	y = cube.Apply(z)
	z.MulAssign(2)
	if err := weft.Try(func() { y.Sum().Backward() }); err == nil || !strings.Contains(err.Error(), "argument 0 of cube") || !strings.Contains(err.Error(), "_test.go:") {
		t.Errorf("overwritten saved value: %v", err)
	}
	bad := &weft.Func{Name: "bad", Forward: func(_ *weft.FuncContext, x ...*weft.Tensor) *weft.Tensor { return x[0].Sum() },
		Backward: func(_ *weft.FuncContext, dy *weft.Tensor) []*weft.Tensor { return []*weft.Tensor{dy} }}
	if err := weft.Try(func() { bad.Apply(weft.FromSlice([]float32{1, 2}).RequireGrad()).Backward() }); err == nil || !strings.Contains(err.Error(), "gradient of argument 0") {
		t.Errorf("wrong gradient shape: %v", err)
	}
}
