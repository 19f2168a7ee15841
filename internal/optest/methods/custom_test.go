package methods_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"weft"
	"weft/internal/tensortest"
)

// sincos has three results: sine, cosine, and where the argument is above 0, which has no gradient. given
// notes which gradients Backward was given.
func sincos(given *[]bool) *weft.Func {
	return &weft.Func{
		Name: "sincos",
		ForwardAll: func(c *weft.FuncContext, x ...*weft.Tensor) []*weft.Tensor {
			s, k := x[0].Sin(), x[0].Cos()
			c.Save(s, k)
			return list(s, k, x[0].Gt(0))
		},
		BackwardAll: func(c *weft.FuncContext, dys []*weft.Tensor) []*weft.Tensor {
			*given = []bool{dys[0] != nil, dys[1] != nil, dys[2] != nil}
			var g *weft.Tensor
			if dys[0] != nil {
				g = dys[0].Mul(c.Saved(1))
			}
			if dys[1] != nil {
				d := dys[1].Mul(c.Saved(0)).Neg()
				if g == nil {
					g = d
				} else {
					g = g.Add(d)
				}
			}
			return list(g)
		},
	}
}

// A Func of several results gets the gradients of those that were used, nil for the others, to second
// order too.
func TestFuncOfSeveralResults(t *testing.T) {
	v := weft.FromSlice([]float64{0.3, -1, 2})
	var given []bool
	f := sincos(&given)
	x := v.Clone().RequireGrad()
	ys := f.ApplyAll(x)
	if ys[2].RequiresGrad() || !ys[0].RequiresGrad() || !ys[1].RequiresGrad() {
		t.Error("results of floats alone need gradients")
	}
	check := func(what string, got *weft.Tensor, want func(x float64) float64) {
		t.Helper()
		var w []float64
		for _, x := range weft.Data[float64](v) {
			w = append(w, want(x))
		}
		tensortest.Near(t, what, got, w, 1e-14)
	}
	g := weft.Grad(ys[1].Sum(), list(x), weft.GradOpts{Create: true, Retain: true})[0]
	if given[0] || !given[1] || given[2] {
		t.Errorf("gradients given for the cosine alone: %v", given)
	}
	check("first", g, func(x float64) float64 { return -math.Sin(x) })
	check("second", weft.Grad(g.Sum(), list(x), weft.GradOpts{Retain: true})[0], func(x float64) float64 { return -math.Cos(x) })
	g = weft.Grad(ys[0].Mul(ys[1]).Sum(), list(x))[0]
	if !given[0] || !given[1] {
		t.Errorf("gradients given for both: %v", given)
	}
	check("product", g, func(x float64) float64 { return math.Cos(2 * x) })
	j := weft.Jacobian(func(x *weft.Tensor) *weft.Tensor {
		ys := f.ApplyAll(x)
		return weft.Cat(list(ys[0], ys[1]), 0)
	}, v)
	for i, x := range weft.Data[float64](v) {
		if a, b := j.At(i, i).Item(), j.At(3+i, i).Item(); math.Abs(a-math.Cos(x)) > 1e-14 || math.Abs(b+math.Sin(x)) > 1e-14 {
			t.Errorf("row %d of the Jacobian has %v and %v", i, a, b)
		}
	}
	slope := func(x ...*weft.Tensor) []*weft.Tensor {
		p := x[0].Detach().RequireGrad()
		ys := f.ApplyAll(p)
		return weft.Grad(ys[0].Mul(ys[1]).Sum(), list(p))
	}
	both(t, "compiled", slope, v)
	check("mapped", weft.Vmap(func(x ...*weft.Tensor) *weft.Tensor { return slope(x...)[0] })(v), func(x float64) float64 { return math.Cos(2 * x) })
	// In a loop: d/dx sin(sin(x) + cos(x)) + cos(sin(x) + cos(x)).
	loop := func(x ...*weft.Tensor) []*weft.Tensor {
		p := x[0].Detach().RequireGrad()
		last, _ := weft.ScanSteps(2, func(_ *weft.Tensor, s []*weft.Tensor) (next, out []*weft.Tensor) {
			ys := f.ApplyAll(s[0])
			return list(ys[0].Add(ys[1])), nil
		}, list(p))
		return weft.Grad(last[0].Sum(), list(p))
	}
	want := func(x float64) float64 {
		y := math.Sin(x) + math.Cos(x)
		return (math.Cos(y) - math.Sin(y)) * (math.Cos(x) - math.Sin(x))
	}
	check("loop", loop(v)[0], want)
	check("compiled loop", weft.Compile(func(x *weft.Tensor) *weft.Tensor { return loop(x)[0] }).Func()(v), want)
}

// scale doubles its argument in place and gives it back with its sum.
var scale = &weft.Func{
	Name: "scale",
	ForwardAll: func(c *weft.FuncContext, x ...*weft.Tensor) []*weft.Tensor {
		x[0].MulAssign(2)
		c.MarkDirty(x[0])
		return list(x[0], x[0].Sum())
	},
	BackwardAll: func(c *weft.FuncContext, dys []*weft.Tensor) []*weft.Tensor {
		var g *weft.Tensor
		for _, dy := range dys {
			if dy != nil && g == nil {
				g = dy.Mul(2)
			} else if dy != nil {
				g = g.Add(dy.Mul(2))
			}
		}
		if g.Rank() == 0 { // of the sum alone
			g = g.Add(weft.ZerosOf(weft.Float64, 3))
		}
		return list(g)
	},
}

// A Func that writes in place gives its argument back, whose history goes on, through views too.
func TestFuncInPlace(t *testing.T) {
	v := weft.FromSlice([]float64{1, 2, 3})
	f := func(x ...*weft.Tensor) []*weft.Tensor {
		p := x[0].Detach().RequireGrad()
		y := p.Mul(5)
		before := y.Add(1) // keeps the history that y has here
		ys := scale.ApplyAll(y)
		if ys[0] != y {
			t.Error("the result is not the argument")
		}
		loss := y.Square().Sum().Add(before.Sum()).Add(ys[1])
		return append(weft.Grad(loss, list(p)), ys[0].Detach())
	}
	// y = 10p: the gradient is 2*10p*10 + 5 + 10.
	r := both(t, "in place", f, v)
	tensortest.Near(t, "gradient", r[0], []float64{215, 415, 615}, 0)
	tensortest.Near(t, "value", r[1], []float64{10, 20, 30}, 0)
	m := weft.Vmap(func(x ...*weft.Tensor) *weft.Tensor { return f(x[0])[0] })(weft.Stack(list(v, v.Mul(2)), 0))
	tensortest.Near(t, "mapped gradient", m, []float64{215, 415, 615, 415, 815, 1215}, 0)
	view := func(x ...*weft.Tensor) []*weft.Tensor {
		p := x[0].Detach().RequireGrad()
		y := p.Mul(1)
		scale.ApplyAll(y.Slice(weft.All, weft.Index(1)))
		return weft.Grad(y.Square().Sum(), list(p))
	}
	r = both(t, "through a view", view, weft.FromSlice([]float64{1, 2, 3, 4, 5, 6}, 3, 2))
	tensortest.Near(t, "gradient through a view", r[0], []float64{2, 16, 6, 32, 10, 48}, 0)

	unreturned := &weft.Func{Name: "unreturned", Forward: func(c *weft.FuncContext, x ...*weft.Tensor) *weft.Tensor {
		c.MarkDirty(x[0].MulAssign(2))
		return x[0].Clone()
	}}
	foreign := &weft.Func{Name: "foreign", Forward: func(c *weft.FuncContext, x ...*weft.Tensor) *weft.Tensor {
		c.MarkDirty(v)
		return x[0]
	}}
	of := &weft.Func{Name: "one", ForwardAll: sincos(new([]bool)).ForwardAll,
		Backward: func(c *weft.FuncContext, dy *weft.Tensor) []*weft.Tensor { return list(dy) }}
	leaf := func() *weft.Tensor { return v.Clone().RequireGrad() }
	for want, f := range map[string]func(){
		"leaf that requires a gradient": func() { scale.ApplyAll(leaf()) },
		"not among the results":         func() { unreturned.Apply(v.Clone()) },
		"not an argument":               func() { foreign.Apply(v.Clone()) },
		"ApplyAll":                      func() { sincos(new([]bool)).Apply(v) },
		"BackwardAll":                   func() { of.ApplyAll(leaf())[0].Sum().Backward() },
		"modified in place":             func() { y := leaf().Exp(); scale.ApplyAll(y); y.Sum().Backward() },
	} {
		var e *weft.Error
		if err := weft.Try(f); !errors.As(err, &e) || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
	weft.WithoutGrad(func() {
		x := leaf()
		if y := scale.ApplyAll(x)[0]; y != x || x.At(2).Item() != 6 {
			t.Error("a leaf is not written to inside WithoutGrad")
		}
	})
}

// Version counts writes, through every view of the memory, eagerly and by compiled functions.
func TestVersion(t *testing.T) {
	x := weft.Zeros(4, 2)
	row := x.Slice(weft.Index(1))
	n := x.Version()
	for i, write := range []func(){
		func() { x.AddAssign(1) }, func() { row.Fill(3) }, func() { x.Set(7.0, 2, 1) }, func() { x.T().MulAssign(2) },
	} {
		write()
		if x.Version() <= n || x.Version() != row.Version() {
			t.Errorf("write %d: version %d, of a view %d, before %d", i, x.Version(), row.Version(), n)
		}
		n = x.Version()
	}
	x.Add(1)
	if x.Clone(); x.Version() != n {
		t.Error("reading counts")
	}
	add := weft.Compile(func() *weft.Tensor { return x.AddAssign(1) })
	for range 2 {
		if _, err := add.Call(); err != nil || x.Version() <= n {
			t.Errorf("a compiled write: version %d after %d, %v", x.Version(), n, err)
		}
		n = x.Version()
	}
	if _, err := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return x.Add(x.Version()) }).Call(x); err == nil {
		t.Error("the version of a traced tensor is given")
	}
}
