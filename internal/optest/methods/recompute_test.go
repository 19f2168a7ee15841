package methods_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"weft"
	"weft/internal/jit"
	"weft/internal/tensortest"
)

// A remade is a function for Recompute with what it captures: a parameter, a buffer and a generator.
type remade struct {
	w, buffer *weft.Tensor
	g         *weft.Generator
	inner     func(f func(x *weft.Tensor) *weft.Tensor) func(x *weft.Tensor) *weft.Tensor // Recompute, or nothing
}

// remades are functions of an array [4 6] whose tapes keep values.
var remades = map[string]func(m *remade, x *weft.Tensor) *weft.Tensor{
	"chain":   func(m *remade, x *weft.Tensor) *weft.Tensor { return x.MatMul(m.w).Tanh().Exp().Sigmoid() },
	"itself":  func(m *remade, x *weft.Tensor) *weft.Tensor { return x },
	"nothing": func(m *remade, x *weft.Tensor) *weft.Tensor { return weft.Ones(4, 6).Mul(m.w.Sum()) },
	"draws": func(m *remade, x *weft.Tensor) *weft.Tensor {
		y := x.Dropout(0.3, m.g).Exp().Mul(m.g.Rand(4, 6)).Mul(m.g.Gamma(x.Exp(), 2))
		return y.MatMul(m.w).Mul(m.g.Randperm(6).To(weft.Float32))
	},
	"views": func(m *remade, x *weft.Tensor) *weft.Tensor {
		y := x.T().Slice(weft.Range(1, 5)).Exp()
		return y.Mul(x.Reshape(24).Slice(weft.Range(2, 6)).Sin()).Sum().Mul(m.w.Exp().At(2).Expand(4, 6))
	},
	"writes inside": func(m *remade, x *weft.Tensor) *weft.Tensor {
		y := x.Mul(2)
		y.MulAssign(m.w.Sum()).AddAssign(x.Exp())
		y.At(1).Assign(x.At(0).Sin())
		return y.Square().Exp()
	},
	"buffer": func(m *remade, x *weft.Tensor) *weft.Tensor {
		y := x.Exp()
		weft.WithoutGrad(func() { m.buffer.MulAssign(0.5).AddAssign(y.Mean(0)) })
		m.buffer.AddAssign(1)
		return y.Log1p().Mul(m.w.Sum())
	},
	"stopped": func(m *remade, x *weft.Tensor) *weft.Tensor {
		var s *weft.Tensor
		weft.WithoutGrad(func() { s = x.Exp() })
		return x.Sin().Mul(s).Mul(x.Cos().Detach()).MatMul(m.w.Exp())
	},
	"gathers": func(m *remade, x *weft.Tensor) *weft.Tensor {
		at := weft.FromSlice([]int64{3, 0, 0, 2})
		return x.Exp().IndexSelect(0, at).Mul(x.IndexSelect(0, at)).MatMul(m.w.IndexSelect(1, weft.Arange(6)))
	},
	"several": func(m *remade, x *weft.Tensor) *weft.Tensor {
		v, i := x.Exp().TopK(6, 1)
		a, b := x.MatMul(m.w).VarMean(1)
		return v.Square().Mul(i.To(weft.Float32)).Add(a.Mul(b).Exp().Reshape(4, 1))
	},
	"a function of one's own": func(m *remade, x *weft.Tensor) *weft.Tensor {
		f := &weft.Func{Name: "cube", Forward: func(c *weft.FuncContext, x ...*weft.Tensor) *weft.Tensor {
			c.Save(x[0])
			return x[0].Mul(x[0]).Mul(x[0])
		}, Backward: func(c *weft.FuncContext, dy *weft.Tensor) []*weft.Tensor {
			return list(c.Saved(0).Square().Mul(3).Mul(dy))
		}}
		return f.Apply(x.Sin()).MatMul(m.w)
	},
	"hooks": func(m *remade, x *weft.Tensor) *weft.Tensor {
		y := x.Exp()
		if y.RequiresGrad() {
			y.Hook(func(dy *weft.Tensor) *weft.Tensor { return dy.Mul(3) })
		}
		return y.Sin().MatMul(m.w)
	},
	"loop": func(m *remade, x *weft.Tensor) *weft.Tensor {
		return weft.While(func(s []*weft.Tensor) *weft.Tensor { return s[1].Lt(3) }, func(s []*weft.Tensor) []*weft.Tensor {
			return list(s[0].Sin().MatMul(m.w), s[1].Add(1))
		}, list(x.Exp(), weft.ScalarOf(weft.Int64, 0)), weft.WhileOpts{Max: 4})[0]
	},
	"mapped": func(m *remade, x *weft.Tensor) *weft.Tensor {
		return weft.Vmap(func(v ...*weft.Tensor) *weft.Tensor { return v[0].Exp().MatMul(m.w).Sin() })(x.Sin())
	},
	"nested": func(m *remade, x *weft.Tensor) *weft.Tensor {
		y := m.inner(func(y *weft.Tensor) *weft.Tensor {
			return m.inner(func(z *weft.Tensor) *weft.Tensor { return z.Exp().Dropout(0.2, m.g).Sin() })(y.Sin().MatMul(m.w)).Tanh()
		})(x.Dropout(0.1, m.g).Exp())
		return y.Add(m.g.Rand(4, 6)).Square().Exp()
	},
}

// steps computes loss, gradients, second gradients and what f left behind, with and without Recompute.
func (m *remade) steps(f func(m *remade, x *weft.Tensor) *weft.Tensor, again bool, x *weft.Tensor, create bool) (out []*weft.Tensor) {
	m.inner = func(f func(x *weft.Tensor) *weft.Tensor) func(x *weft.Tensor) *weft.Tensor { return f }
	if again {
		m.inner = weft.Recompute[func(x *weft.Tensor) *weft.Tensor]
	}
	call := m.inner(func(x *weft.Tensor) *weft.Tensor { return f(m, x) })
	x = x.Detach().RequireGrad()
	y := call(x.Sin().Mul(1.5))
	loss := y.Square().Sum()
	if create {
		d := weft.Grad(loss, list(x, m.w), weft.GradOpts{Create: true, AllowUnused: true})
		for _, g := range d {
			if g != nil {
				loss = loss.Add(g.Square().Sum())
			}
		}
	}
	out = append(out, loss.Detach())
	for _, g := range weft.Grad(loss, list(x, m.w), weft.GradOpts{AllowUnused: true}) {
		if g != nil {
			out = append(out, g)
		}
	}
	return append(out, m.g.Rand(2), m.buffer.Clone())
}

// newRemade returns what functions capture, the same each time.
func newRemade() *remade {
	return &remade{w: tensortest.Noise(4, 1, 6, 6).RequireGrad(), buffer: weft.Ones(6), g: weft.NewGenerator(3)}
}

// TestRecomputeKeepsBits: values, gradients, second gradients, draws and buffers have the bits that they have
// without Recompute, plainly and compiled.
func TestRecomputeKeepsBits(t *testing.T) {
	x := tensortest.Noise(2, 1, 4, 6)
	for name, f := range remades {
		for _, create := range []bool{false, true} {
			if create && name == "draws" {
				continue // the slope of Gamma has no gradient
			}
			for _, how := range []string{"plain", "compiled"} {
				run := func(again bool) []*weft.Tensor {
					m := newRemade()
					if how == "plain" {
						return m.steps(f, again, x, create)
					}
					return weft.Compile(func(x *weft.Tensor) []*weft.Tensor { return m.steps(f, again, x, create) }).Func()(x)
				}
				want, got := run(false), run(true)
				if len(got) != len(want) {
					t.Fatalf("%s, %s: %d results, want %d", name, how, len(got), len(want))
				}
				for i := range got {
					tensortest.SameBits(t, fmt.Sprint(name, ", ", how, ", result ", i, ", create ", create), got[i].Clone(), want[i].Clone())
				}
			}
		}
	}
}

// A pair is an argument and a result of a recomputed function that holds tensors.
type pair struct {
	A, B *weft.Tensor
	Name string
}

// TestRecomputeTypes: arguments and results are of any type that holds tensors, and others.
func TestRecomputeTypes(t *testing.T) {
	runs := 0
	f := func(scale float64, p pair, m map[string]*weft.Tensor, rest ...*weft.Tensor) (pair, int, []*weft.Tensor, error) {
		runs++
		return pair{p.A.Exp().Mul(scale), p.B.Sin(), p.Name + "!"}, runs, list(m["k"].Exp(), rest[1].Mul(rest[0])), errors.New("none")
	}
	x := tensortest.Noise(2, 1, 5).RequireGrad()
	run := func(f func(float64, pair, map[string]*weft.Tensor, ...*weft.Tensor) (pair, int, []*weft.Tensor, error)) *weft.Tensor {
		p, n, l, err := f(2, pair{x.Sin(), x, "name"}, map[string]*weft.Tensor{"k": x.Cos()}, x.Mul(2), x.Mul(3))
		if p.Name != "name!" || n != runs || err == nil || err.Error() != "none" {
			t.Fatal(p.Name, n, err)
		}
		return weft.Grad(p.A.Mul(p.B).Add(l[0]).Add(l[1]).Sum(), list(x))[0]
	}
	want := run(f)
	tensortest.SameBits(t, "gradient", run(weft.Recompute(f)), want)
	if runs != 3 {
		t.Errorf("the function ran %d times, want one and two", runs)
	}
	weft.WithoutGrad(func() { weft.Recompute(func(x *weft.Tensor) *weft.Tensor { runs++; return x.Exp() })(x) })
	weft.Recompute(func(x *weft.Tensor) *weft.Tensor { runs++; return x.Exp() })(x.Detach())
	if runs != 5 {
		t.Errorf("without gradients the function ran %d times, want one each", runs-3)
	}
	// A pass that keeps the values can be followed by another; rows of gradients are a pass too.
	y := weft.Recompute(func(x *weft.Tensor) *weft.Tensor { return x.Exp().Sin() })(x)
	a := weft.Grad(y.Sum(), list(x), weft.GradOpts{Retain: true})[0]
	tensortest.SameBits(t, "second pass", weft.Grad(y.Sum(), list(x))[0], a)
	j := weft.Jacobian(weft.Recompute(func(x *weft.Tensor) *weft.Tensor { return x.Exp().Sin() }), x.Detach())
	tensortest.SameBits(t, "jacobian", j.Diagonal(0).Clone(), a)
}

// TestRecomputeRefuses: what would give wrong gradients is an error.
func TestRecomputeRefuses(t *testing.T) {
	w := weft.Ones(3).RequireGrad()
	back := func(f func(x *weft.Tensor) *weft.Tensor, between func(x *weft.Tensor)) func() {
		return func() {
			x := w.Mul(2)
			y := weft.Recompute(f)(x)
			between(x)
			y.Sum().Backward()
		}
	}
	none := func(*weft.Tensor) {}
	exp := func(x *weft.Tensor) *weft.Tensor { return x.Exp() }
	captured, total, n, k := weft.Ones(3), weft.Ones(3), 0, 0
	for what, c := range map[string]struct {
		f    func()
		text string
	}{
		"nil":      {func() { weft.Recompute[func()](nil) }, "recompute: f: is func(): want a function"},
		"a number": {func() { weft.Recompute(3) }, "recompute: f: is int"},
		"argument written between": {back(exp, func(x *weft.Tensor) { x.AddAssign(1) }),
			"argument 0 of recompute, float32[3], was modified in place"},
		"argument written inside": {back(func(x *weft.Tensor) *weft.Tensor { return x.AddAssign(1) }, none),
			"writes in place into argument 0"},
		"captured and written between": {back(func(x *weft.Tensor) *weft.Tensor { return x.Mul(captured).Exp() }, func(*weft.Tensor) { captured.AddAssign(1) }),
			"was modified in place after a function of Recompute had read it"},
		"written inside after it was saved": {back(func(x *weft.Tensor) *weft.Tensor { y := x.Exp(); y.Exp(); return y.AddAssign(1).Exp() }, none),
			"modified in place after it was saved"},
		"a gradient written outside": {back(func(x *weft.Tensor) *weft.Tensor { total.AddAssign(x); return x.Exp() }, none),
			"into memory from outside: return the value instead"},
		"fewer operations": {back(func(x *weft.Tensor) *weft.Tensor {
			if n++; n == 1 {
				return x.Exp().Sin()
			}
			return x.Exp()
		}, none), "did not do the same operations"},
		"other operations": {back(func(x *weft.Tensor) *weft.Tensor {
			if k++; k%2 == 0 {
				return x.Exp()
			}
			return x.Sin()
		}, none), "did not do the same operations"},
		"a pass inside": {func() {
			weft.Recompute(func(x *weft.Tensor) *weft.Tensor { y := x.Exp(); y.Sum().Backward(); return y })(w.Mul(2))
		}, "run the pass outside"},
		"used up": {func() {
			y := weft.Recompute(exp)(w.Mul(2)).Sum()
			y.Backward()
			y.Backward()
		}, "was already used"},
	} {
		var e *weft.Error
		if err := tensortest.Try(c.f); !errors.As(err, &e) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v, want %q", what, err, c.text)
		}
	}
}

// TestRecomputeTakesLessMemory: of eight blocks one is alive at a time, plainly and compiled. Results that nobody
// has any more are collected in each block: when the collector would run by itself depends on other tests.
func TestRecomputeTakesLessMemory(t *testing.T) {
	tensortest.SkipLate(t, "memory of a late device is given back late")
	n := 1 << 17
	if jit.Chosen().ISA == jit.Portable {
		n = 1 << 14 // interpreted
	}
	x := tensortest.Noise(2, 1, n).RequireGrad()
	step := func(again bool) *weft.Tensor {
		h := x.Mul(1)
		for range 8 {
			f := func(h *weft.Tensor) *weft.Tensor {
				runtime.GC()
				for range 12 {
					h = h.CumSum(0).Mul(1e-3).Sin()
				}
				return h
			}
			if again {
				f = weft.Recompute(f)
			}
			h = f(h)
		}
		return weft.Grad(h.Sum(), list(x))[0]
	}
	for how, f := range map[string]func(again bool) func() *weft.Tensor{
		"plain": func(again bool) func() *weft.Tensor { return func() *weft.Tensor { return step(again) } },
		"compiled": func(again bool) func() *weft.Tensor {
			return weft.Compile(func() *weft.Tensor { return step(again) }).Func()
		},
	} {
		peak := func(again bool) (int64, *weft.Tensor) {
			f := f(again)
			f() // compiles
			var d *weft.Tensor
			most := tensortest.Peak(func() { d = f() })
			return most, d
		}
		a, want := peak(false)
		b, got := peak(true)
		tensortest.SameBits(t, how, got, want)
		if b > a*6/10 {
			t.Errorf("%s: %d bytes with Recompute, %d without", how, b, a)
		}
	}
}

// TestRecomputeInGoroutines: each goroutine has its own runs.
func TestRecomputeInGoroutines(t *testing.T) {
	w := tensortest.Noise(1, 1, 8).RequireGrad()
	f := weft.Recompute(func(x *weft.Tensor) *weft.Tensor { return x.Exp().Mul(w).Sin() })
	want := weft.Grad(f(w.Mul(2)).Sum(), list(w))[0]
	var all sync.WaitGroup
	got := make([]*weft.Tensor, 16)
	for i := range got {
		all.Go(func() {
			for range 20 {
				got[i] = weft.Grad(f(w.Mul(2)).Sum(), list(w))[0]
			}
		})
	}
	all.Wait()
	for _, g := range got {
		tensortest.SameBits(t, "gradient", g, want)
	}
}
