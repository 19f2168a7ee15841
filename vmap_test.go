package weft

import (
	"math"
	"slices"
	"strings"
	"testing"

	"weft/internal/array"
)

// TestVmap compares mapped functions with the functions of one example after the other, with
// their gradients by arguments and by what is captured.
func TestVmap(t *testing.T) {
	g := NewGenerator(4)
	f64 := func(shape ...int) *Tensor { return g.RandnOf(Float64, shape...) }
	w, k := f64(4, 3), f64(2, 1, 3, 3)
	w.RequireGrad()
	cases := []struct {
		name string
		f    func(x ...*Tensor) *Tensor
		axes []int
		x    []*Tensor
	}{
		{"affine", func(x ...*Tensor) *Tensor { return x[0].MatMul(w).Tanh() }, nil, []*Tensor{f64(5, 4)}},
		{"turned weights", func(x ...*Tensor) *Tensor { return w.T().MatMul(x[0]) }, nil, []*Tensor{f64(5, 4, 2)}},
		{"two", func(x ...*Tensor) *Tensor { return x[0].Mul(x[1]).Sum() }, []int{0, 1}, []*Tensor{f64(5, 4), f64(4, 5)}},
		{"shared", func(x ...*Tensor) *Tensor { return x[0].Sub(x[1]).Norm(2) }, []int{0, Unmapped}, []*Tensor{f64(5, 4), f64(4)}},
		{"no mapped axis in the result", func(x ...*Tensor) *Tensor { return x[1].Exp() }, []int{0, Unmapped}, []*Tensor{f64(5, 4), f64(4)}},
		{"convolution", func(x ...*Tensor) *Tensor {
			return x[0].Conv2d(k, nil, ConvOpts{}).MaxPool2d(PoolOpts{Window: [2]int{2, 2}})
		}, nil, []*Tensor{f64(3, 2, 1, 6, 6)}},
		{"filters", func(x ...*Tensor) *Tensor { return x[0].Conv2d(x[1], nil, ConvOpts{}) }, nil, []*Tensor{f64(3, 2, 1, 6, 6), f64(3, 2, 1, 3, 3)}},
		{"statistics", func(x ...*Tensor) *Tensor { return x[0].Softmax(0).Add(x[0].Var()).CumSum(0) }, []int{1}, []*Tensor{f64(7, 3)}},
		{"places", func(x ...*Tensor) *Tensor { return x[0].IndexSelect(0, x[1].To(Int64)) }, nil, []*Tensor{f64(3, 6), FromSlice([]float64{1, 0, 5, 5, 2, 2}, 3, 2)}},
		{"written", func(x ...*Tensor) *Tensor {
			y := x[0].Mul(2)
			y.Slice(Range(1, 3)).Assign(x[0].Slice(Range(3, 5)).Square())
			y.At(0).AddAssign(3)
			return y
		}, nil, []*Tensor{f64(3, 5)}},
		{"mapped twice", func(x ...*Tensor) *Tensor {
			return Vmap(func(r ...*Tensor) *Tensor { return r[0].Mul(x[1]).Sum().Sin() }, 1)(x[0])
		}, []int{0, Unmapped}, []*Tensor{f64(3, 4, 5), f64(4)}},
	}
	for _, c := range cases {
		axis := func(i int) int {
			if i < len(c.axes) {
				return c.axes[i]
			}
			return 0
		}
		run := func(each bool) (*Tensor, []*Tensor) {
			x := make([]*Tensor, len(c.x))
			for i, t := range c.x {
				x[i] = t.Detach().RequireGrad()
			}
			var y *Tensor
			if each {
				var all []*Tensor
				for e := range x[0].Dim(max(axis(0), 0)) {
					one := make([]*Tensor, len(x))
					for i := range x {
						if one[i] = x[i]; axis(i) != Unmapped {
							one[i] = x[i].MoveAxis(axis(i), 0).At(e)
						}
					}
					all = append(all, c.f(one...))
				}
				y = Stack(all, 0)
			} else {
				y = Vmap(c.f, c.axes...)(x...)
			}
			return y, Grad(y.Mul(waves(y.Size(), 0.3).Reshape(y.Shape()...)).Sum(), append(x, w), GradOpts{AllowUnused: true})
		}
		y, got := run(false)
		want, grads := run(true)
		if !slices.Equal(y.Shape(), want.Shape()) || !y.AllClose(want, CloseOpts{Relative: new(1e-12), Absolute: new(0.0)}) {
			t.Errorf("%s: %v, want %v", c.name, y, want)
			continue
		}
		for i := range grads {
			if (got[i] == nil) != (grads[i] == nil) {
				t.Errorf("%s: gradient %d: %v, want %v", c.name, i, got[i], grads[i])
			} else if got[i] != nil && !got[i].AllClose(grads[i], CloseOpts{Relative: new(1e-10), Absolute: new(1e-12)}) {
				t.Errorf("%s: gradient %d: %v, want %v", c.name, i, got[i], grads[i])
			}
		}
	}

	// Gradients of each example by parameters that all share, and by the example.
	x := f64(6, 4)
	each := Vmap(func(x ...*Tensor) *Tensor {
		return Grad(x[0].MatMul(w).Square().Sum(), []*Tensor{w})[0]
	})(x)
	own := Vmap(func(x ...*Tensor) *Tensor {
		return Jacobian(func(x *Tensor) *Tensor { return x.MatMul(w).Square() }, x[0])
	})(x)
	for e := range 6 {
		want := Grad(x.At(e).MatMul(w).Square().Sum(), []*Tensor{w})[0]
		if !each.At(e).AllClose(want, CloseOpts{Relative: new(1e-12), Absolute: new(0.0)}) {
			t.Errorf("example %d: %v, want %v", e, each.At(e), want)
		}
		want = Jacobian(func(x *Tensor) *Tensor { return x.MatMul(w).Square() }, x.At(e))
		if !own.At(e).AllClose(want, CloseOpts{Relative: new(1e-12), Absolute: new(0.0)}) {
			t.Errorf("jacobian of example %d: %v, want %v", e, own.At(e), want)
		}
	}

	// Inside Compile, and the same function again with other values.
	m := Vmap(func(x ...*Tensor) *Tensor { return x[0].MatMul(w).Sum().Exp() })
	c := Compile(func(x *Tensor) *Tensor { return m(x.Mul(2)).Sum() })
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

// A tensor that is a part of its memory, which drawn ones and parameters of modules can be, has
// a gradient for each example like any other.
func TestVmapCapturesParts(t *testing.T) {
	g := NewGenerator(5)
	for name, w := range map[string]*Tensor{
		"drawn": g.Randn(6), "rows": g.Randn(4, 6).Slice(Range(1, 3)).Detach(), "turned": g.Randn(6, 7).Slice(Range(1, 4)).T().Detach(),
	} {
		w.RequireGrad()
		x := g.Randn(append([]int{5}, w.Shape()...)...)
		loss := func(x ...*Tensor) *Tensor { return x[0].Mul(w).Tanh().Sum().Sigmoid() }
		each := Vmap(func(x ...*Tensor) *Tensor { return Grad(loss(x...), []*Tensor{w})[0] })(x)
		all := Grad(Vmap(loss)(x).Sum(), []*Tensor{w})[0]
		for i := range 5 {
			if want := Grad(loss(x.At(i)), []*Tensor{w})[0]; !each.At(i).AllClose(want, CloseOpts{}) {
				t.Errorf("%s: the gradient of example %d is %v, want %v", name, i, each.At(i), want)
			}
		}
		if !each.Sum(0).AllClose(all, CloseOpts{}) {
			t.Errorf("%s: the gradient of the sum is %v, want %v", name, all, each.Sum(0))
		}
	}
}

// A view that is captured has its gradient whether or not somebody asked for its history before.
func TestVmapCapturesViews(t *testing.T) {
	for name, view := range map[string]func(w *Tensor) *Tensor{
		"row":  func(w *Tensor) *Tensor { return w.At(1) },
		"part": func(w *Tensor) *Tensor { return w.Slice(All, Range(0, 1)).T() },
		"all":  func(w *Tensor) *Tensor { return w.Reshape(-1) },
	} {
		for _, asked := range []bool{false, true} {
			w := FromSlice([]float64{1, 2, 3, 4, 5, 6}, 2, 3).RequireGrad()
			v := view(w)
			if asked && !v.RequiresGrad() {
				t.Fatal(name)
			}
			x := FromSlice([]float64{1, 2, 3})
			f := func(x ...*Tensor) *Tensor { return v.Mul(x[0]).Square().Sum() }
			got := Grad(Vmap(f)(x).Sum(), []*Tensor{w})[0]
			want := Grad(Stack([]*Tensor{f(x.At(0)), f(x.At(1)), f(x.At(2))}, 0).Sum(), []*Tensor{w})[0]
			if !got.AllClose(want, CloseOpts{}) {
				t.Errorf("%s, asked %v: %v, want %v", name, asked, got, want)
			}
		}
	}
}

func TestVmapMisuse(t *testing.T) {
	before := array.Tracing.On()
	x := Ones(3, 2)
	held := Ones(2)
	one := func(f func(x ...*Tensor) *Tensor, axes ...int) func() {
		return func() { Vmap(f, axes...)(x, Ones(4, 2)) }
	}
	same := func(x ...*Tensor) *Tensor { return x[0] }
	for want, f := range map[string]func(){
		"vmap: f: is nil":             func() { Vmap(nil) },
		"argument 1 has 4 examples":   one(same),
		"axes: are 3 for 2 arguments": one(same, 0, 0, 0),
		"no argument has an axis":     one(same, Unmapped, Unmapped),
		"out of range":                one(same, 7),
		"reads a traced value":        one(func(x ...*Tensor) *Tensor { x[0].Sum().Item(); return x[0] }, 0, Unmapped),
		"draws random numbers":        one(func(x ...*Tensor) *Tensor { return x[0].Add(Rand(2)) }, 0, Unmapped),
		"writes into its argument":    one(func(x ...*Tensor) *Tensor { return x[0].MulAssign(3) }, 0, Unmapped),
		"that Detach or WithoutGrad gave": func() {
			Vmap(func(x ...*Tensor) *Tensor {
				y := x[0].Mul(2)
				y.Detach().AddAssign(1)
				return y
			})(Ones(3, 2).RequireGrad())
		},
		"Backward draws random numbers": func() {
			noisy := &Func{Name: "noisy", Forward: func(_ *FuncContext, x ...*Tensor) *Tensor { return x[0].Mul(2) },
				Backward: func(_ *FuncContext, dy *Tensor) []*Tensor { return []*Tensor{dy.Add(Rand(2))} }}
			Vmap(func(x ...*Tensor) *Tensor { return noisy.Apply(x[0]) })(Ones(3, 2).RequireGrad())
		},
		"writes into a tensor":    one(func(x ...*Tensor) *Tensor { held.AddAssign(x[0]); return x[0] }, 0, Unmapped),
		"vmap: the tensor is nil": one(func(x ...*Tensor) *Tensor { return nil }, 0, Unmapped),
	} {
		if err := Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if array.Tracing.On() && !before {
		t.Error("a trace is left")
	}
}

// TestVmapOwnGradients takes gradients through functions that say themselves what theirs are,
// by arguments and by what is captured: they are those of the function on one example after
// the other.
func TestVmapOwnGradients(t *testing.T) {
	times := &Func{Name: "times",
		Forward: func(c *FuncContext, x ...*Tensor) *Tensor {
			c.Save(x[0], x[1])
			return x[0].Mul(x[1])
		},
		Backward: func(c *FuncContext, dy *Tensor) []*Tensor {
			return []*Tensor{dy.Mul(c.Saved(1)).Mul(10), dy.Mul(c.Saved(0)).Mul(-1)}
		}}
	for name, f := range map[string]func(x, w *Tensor) *Tensor{
		"own":               func(x, w *Tensor) *Tensor { return times.Apply(x, w) },
		"own of captured":   func(x, w *Tensor) *Tensor { return times.Apply(x.Square(), w.Exp()) },
		"detached":          func(x, w *Tensor) *Tensor { return x.Mul(x.Detach()).Mul(w) },
		"detached inside":   func(x, w *Tensor) *Tensor { return x.Mul(w.Mul(x).Detach()).Add(w) },
		"captured detached": func(x, w *Tensor) *Tensor { return x.Mul(w.Detach()).Add(w.Mul(2)) },
		"in place": func(x, w *Tensor) *Tensor {
			y := x.Mul(2)
			y.MulAssign(w)
			return times.Apply(y, x)
		},
	} {
		data := []float64{0.5, -1, 2, 0.25, 1.5, -0.75}
		var want, got [2][]float64
		for k, run := range []func(x, w *Tensor) *Tensor{
			func(x, w *Tensor) *Tensor { // one after the other
				var ys []*Tensor
				for i := range 3 {
					ys = append(ys, f(x.Index(i), w))
				}
				return Stack(ys, 0)
			},
			func(x, w *Tensor) *Tensor {
				return Vmap(func(x ...*Tensor) *Tensor { return f(x[0], w) })(x)
			},
			func(x, w *Tensor) *Tensor { // examples of examples
				return Vmap(func(x ...*Tensor) *Tensor {
					return Vmap(func(x ...*Tensor) *Tensor { return f(x[0], x[1]) })(x[0].Reshape(2, 1), w.Reshape(2, 1)).Reshape(2)
				})(x)
			},
		} {
			x, w := FromSlice(slices.Clone(data), 3, 2).RequireGrad(), FromSlice([]float64{3, -2}).RequireGrad()
			run(x, w).Mul(FromSlice([]float64{1, 2, 3, 4, 5, 6}, 3, 2)).Sum().Backward()
			g := [2][]float64{Data[float64](x.Grad()), Data[float64](w.Grad())}
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
