package methods_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"weft"
	"weft/internal/tensortest"
)

// both calls f plainly and compiled, twice, and compares the bits of the results.
func both(t *testing.T, what string, f func(x ...*weft.Tensor) []*weft.Tensor, args ...*weft.Tensor) []*weft.Tensor {
	t.Helper()
	plain := f(args...)
	c := weft.Compile(func(x []*weft.Tensor) []*weft.Tensor { return f(x...) })
	for range 2 {
		var got []*weft.Tensor
		if err := weft.Try(func() { got = c.Func()(args) }); err != nil {
			t.Fatal(what, err)
		}
		if len(got) != len(plain) {
			t.Fatalf("%s: %d results compiled, %d plainly", what, len(got), len(plain))
		}
		for i := range got {
			tensortest.SameBits(t, fmt.Sprint(what, " result ", i), got[i].Clone(), plain[i].Clone())
		}
	}
	return plain
}

func list(ts ...*weft.Tensor) []*weft.Tensor { return ts }

// collatz are the steps of Collatz's sequence until 1.
func collatz(n *weft.Tensor, o ...weft.WhileOpts) []*weft.Tensor {
	return weft.While(func(s []*weft.Tensor) *weft.Tensor { return s[0].Gt(1) }, func(s []*weft.Tensor) []*weft.Tensor {
		next := weft.Cond(s[0].Mod(2).Eq(0), func() []*weft.Tensor { return list(s[0].FloorDiv(2)) },
			func() []*weft.Tensor { return list(s[0].Mul(3).Add(1)) })
		return list(next[0], s[1].Add(1))
	}, list(n, weft.ScalarOf(weft.Int64, 0)), o...)
}

// A loop of a branch runs as often as the elements say, from no step on, plainly, compiled and mapped.
func TestWhileOfCond(t *testing.T) {
	tensortest.OnBackends(t, func(t *testing.T) {
		want := map[int64]int64{1: 0, 2: 1, 7: 16, 27: 111}
		var ns, counts []int64
		for n, steps := range want {
			r := both(t, "collatz", func(x ...*weft.Tensor) []*weft.Tensor { return collatz(x[0]) }, weft.ScalarOf(weft.Int64, n))
			if r[0].ItemInt() != 1 || r[1].ItemInt() != steps {
				t.Errorf("collatz of %d ends at %v after %v steps, want %d", n, r[0], r[1], steps)
			}
			r = both(t, "at most ten", func(x ...*weft.Tensor) []*weft.Tensor { return collatz(x[0], weft.WhileOpts{Max: 10}) }, weft.ScalarOf(weft.Int64, n))
			if got := r[1].ItemInt(); got != min(steps, 10) {
				t.Errorf("collatz of %d with a bound of ten took %d steps", n, got)
			}
			ns, counts = append(ns, n), append(counts, steps)
		}
		for _, o := range []weft.WhileOpts{{}, {Max: 200}} {
			r := both(t, "mapped", func(x ...*weft.Tensor) []*weft.Tensor {
				return list(weft.Vmap(func(x ...*weft.Tensor) *weft.Tensor { return collatz(x[0], o)[1] })(x[0]))
			}, weft.FromSlice(ns))
			for i, n := range weft.Data[int64](r[0]) {
				if n != counts[i] {
					t.Errorf("mapped collatz of %d took %d steps, want %d", ns[i], n, counts[i])
				}
			}
		}
	})
}

// newton returns the square root of x by Newton's method, with the steps that its precision needs.
func newton(x *weft.Tensor, o ...weft.WhileOpts) *weft.Tensor {
	return weft.While(func(s []*weft.Tensor) *weft.Tensor { return s[0].Square().Sub(x).Abs().Gt(x.Mul(1e-13)).Any() },
		func(s []*weft.Tensor) []*weft.Tensor { return list(s[0].Add(x.Div(s[0])).Mul(0.5)) }, list(x), o...)[0]
}

// Gradients go through a loop to what it begins with and captures; a compiled loop wants a bound.
func TestWhileGradient(t *testing.T) {
	v := weft.FromSlice([]float64{0.3, 2, 50})
	slope := func(o ...weft.WhileOpts) func(x ...*weft.Tensor) []*weft.Tensor {
		return func(x ...*weft.Tensor) []*weft.Tensor {
			p := x[0].Detach().RequireGrad()
			y := newton(p.Mul(1), o...)
			return append(weft.Grad(y.Sum(), list(p)), y)
		}
	}
	for _, f := range []func() []*weft.Tensor{
		func() []*weft.Tensor { return slope()(v) },
		func() []*weft.Tensor { return slope(weft.WhileOpts{Max: 30})(v) },
		func() []*weft.Tensor {
			return weft.Compile(func(x *weft.Tensor) []*weft.Tensor { return slope(weft.WhileOpts{Max: 30})(x) }).Func()(v)
		},
	} {
		r := f()
		for i, x := range weft.Data[float64](v) {
			y, d := weft.Data[float64](r[1])[i], weft.Data[float64](r[0])[i]
			if math.Abs(y-math.Sqrt(x)) > 1e-12*y || math.Abs(d-0.5/math.Sqrt(x)) > 1e-10 {
				t.Errorf("root of %v is %v with slope %v", x, y, d)
			}
		}
	}
	_, err := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return slope()(x)[0] }).Call(v)
	if err == nil || !strings.Contains(err.Error(), "Max") {
		t.Errorf("a gradient through a compiled loop without a bound: %v", err)
	}
	// One example at a time, mapped: each has its own number of steps.
	m := weft.Vmap(func(x ...*weft.Tensor) *weft.Tensor {
		p := x[0].Detach().RequireGrad()
		return weft.Grad(newton(p, weft.WhileOpts{Max: 30}), list(p))[0]
	})(v)
	tensortest.Near(t, "mapped gradient", m, []float64{0.5 / math.Sqrt(0.3), 0.5 / math.Sqrt2, 0.5 / math.Sqrt(50)}, 1e-10)
}

// A recurrent network by ScanSteps: captured weights, a step number, kept values, and gradients by a
// backward pass inside the compiled function equal a Go loop.
func TestScanStepsGradient(t *testing.T) {
	g := weft.NewGenerator(3)
	X, h0 := g.RandnOf(weft.Float64, 6, 2, 3), g.RandnOf(weft.Float64, 2, 4)
	w, u := g.RandnOf(weft.Float64, 3, 4).RequireGrad(), g.RandnOf(weft.Float64, 4, 4).RequireGrad()
	forward := func(x, h *weft.Tensor) (last *weft.Tensor, outs []*weft.Tensor) {
		l, o := weft.ScanSteps(6, func(i *weft.Tensor, s []*weft.Tensor) (next, out []*weft.Tensor) {
			at := x.IndexSelect(0, i.Reshape(1)).Reshape(2, 3)
			h := at.MatMul(w).Add(s[0].MatMul(u)).Tanh()
			return list(h), list(h.Square().Sum(1), i.Mul(2))
		}, list(h))
		return l[0], o
	}
	train := func(x ...*weft.Tensor) []*weft.Tensor {
		w.SetGrad(nil)
		u.SetGrad(nil)
		last, outs := forward(x[0], x[1])
		loss := last.Sum().Add(outs[0].Sum())
		loss.Backward()
		return list(loss.Detach(), outs[0].Detach(), outs[1])
	}
	r := both(t, "values", func(x ...*weft.Tensor) []*weft.Tensor {
		last, outs := forward(x[0], x[1])
		return append(outs, last)
	}, X, h0)
	tensortest.Near(t, "steps", r[1].To(weft.Float64), []float64{0, 2, 4, 6, 8, 10}, 0)
	train(X, h0)
	want := list(w.Grad().Clone(), u.Grad().Clone())
	weft.Compile(func(x, h *weft.Tensor) []*weft.Tensor { return train(x, h) }).Func()(X, h0)
	tensortest.SameBits(t, "gradient of w", w.Grad(), want[0])
	tensortest.SameBits(t, "gradient of u", u.Grad(), want[1])
	// No steps: the state stays, and what is kept is empty.
	r = both(t, "none", func(x ...*weft.Tensor) []*weft.Tensor {
		last, outs := weft.ScanSteps(0, func(i *weft.Tensor, s []*weft.Tensor) (next, out []*weft.Tensor) { return s, list(s[0].Sum()) }, list(x[0]))
		return append(last, outs...)
	}, h0)
	if r[1].Size() != 0 || r[1].Rank() != 1 {
		t.Errorf("without steps %v is kept", r[1])
	}
}

// Draws inside compiled steps equal draws of the Go loop, by two generators in turns. The next ones go on
// from there.
func TestScanStepsDraws(t *testing.T) {
	run := func(compiled bool) (out []*weft.Tensor) {
		g, h := weft.NewGenerator(1), weft.NewGenerator(2)
		f := func(x *weft.Tensor) []*weft.Tensor {
			last, _ := weft.ScanSteps(4, func(_ *weft.Tensor, s []*weft.Tensor) (next, out []*weft.Tensor) {
				a := g.Randn(3)
				b := h.Poisson(s[0].Abs().Add(5))
				in, _ := weft.ScanSteps(2, func(_ *weft.Tensor, s []*weft.Tensor) (next, out []*weft.Tensor) {
					return list(s[0].Add(g.Rand(3))), nil
				}, list(a))
				return list(s[0].Mul(0.5).Add(in[0]).Add(b).Add(g.Rand(3))), nil
			}, list(x))
			return list(last[0], g.Rand(2), h.Rand(2))
		}
		c := weft.Compile(f).Func()
		for range 2 {
			if compiled {
				out = append(out, c(weft.Ones(3))...)
			} else {
				out = append(out, f(weft.Ones(3))...)
			}
		}
		return out
	}
	plain, compiled := run(false), run(true)
	for i := range plain {
		tensortest.SameBits(t, fmt.Sprint("result ", i), compiled[i], plain[i])
	}
}

// Both sides of a branch have gradients, by what they capture.
func TestCondGradient(t *testing.T) {
	w := weft.FromSlice([]float64{3, 4}).RequireGrad()
	f := func(x ...*weft.Tensor) []*weft.Tensor {
		y := weft.Cond(x[0].Sum().Gt(0), func() []*weft.Tensor { return list(w.Mul(x[0]), w) },
			func() []*weft.Tensor { return list(w.Square(), x[0]) })
		return list(y[0].Detach(), y[1].Detach(), weft.Grad(y[0].Sum(), list(w))[0])
	}
	for _, v := range [][]float64{{1, 2}, {-1, -2}} {
		r := both(t, "branch", f, weft.FromSlice(v))
		want := v
		if v[0] < 0 {
			want = []float64{6, 8}
		}
		tensortest.Near(t, "gradient", r[2], want, 0)
	}
}

// TestBodiesCaptureArguments: loops, branches and mapped functions of a compiled function capture arguments
// that are parts of larger memory. Random tensors are: memory is drawn in blocks.
func TestBodiesCaptureArguments(t *testing.T) {
	g := weft.NewGenerator(1)
	big := g.Randn(9, 7)
	args := map[string]*weft.Tensor{
		"random": g.Randn(3, 3), "rows": big.Slice(weft.Range(2, 9)), "transposed": big.Slice(weft.Range(2, 9)).T(),
		"with gaps": big.Slice(weft.Range(2, 5), weft.Range(1, 4)), "repeated": big.Slice(weft.Range(2, 3), weft.Range(0, 5)).Expand(5, 5),
	}
	branch := func(x *weft.Tensor) *weft.Tensor {
		return weft.Cond(x.Sum().Gt(0), func() []*weft.Tensor { return list(x.Mul(2)) }, func() []*weft.Tensor { return list(x.Square()) })[0]
	}
	scaled := func(x *weft.Tensor) *weft.Tensor {
		return weft.Vmap(func(r ...*weft.Tensor) *weft.Tensor { return r[0].Mul(x.Sum(0)) })(x)
	}
	gradient := func(f func(x *weft.Tensor) *weft.Tensor) func(x *weft.Tensor) *weft.Tensor {
		return func(x *weft.Tensor) *weft.Tensor {
			x = x.Detach().RequireGrad()
			return weft.Grad(f(x).Sum(), list(x))[0]
		}
	}
	for what, f := range map[string]func(x *weft.Tensor) *weft.Tensor{
		"branch": branch, "map": scaled, "gradient of a branch": gradient(branch), "gradient of a map": gradient(scaled),
		"branch in a loop": func(x *weft.Tensor) *weft.Tensor {
			last, _ := weft.ScanSteps(2, func(i *weft.Tensor, s []*weft.Tensor) (next, out []*weft.Tensor) {
				return list(weft.Cond(s[0].Sum().Gt(0), func() []*weft.Tensor { return list(s[0].Mul(x)) }, func() []*weft.Tensor { return list(s[0].Add(x.T())) })[0]), nil
			}, list(x))
			return last[0]
		},
	} {
		for name, x := range args {
			if strings.HasPrefix(what, "gradient") && !x.T().IsContiguous() && !x.IsContiguous() {
				continue // refused: parts with gaps have no gradient there
			}
			got, err := weft.Compile(f).Call(x)
			if err != nil {
				t.Errorf("%s of %s: %v", what, name, err)
				continue
			}
			tensortest.SameBits(t, what+" of "+name, got, f(x.Clone()))
		}
	}
}

// What loops and branches cannot do is refused, plainly where that can be seen and else when traced.
func TestControlRefuses(t *testing.T) {
	x, yes := weft.Ones(3), weft.ScalarOf(weft.Bool, true)
	p := weft.Ones(3).RequireGrad()
	same := func(s []*weft.Tensor) []*weft.Tensor { return s }
	never := func([]*weft.Tensor) *weft.Tensor { return weft.ScalarOf(weft.Bool, false) }
	once := func(f func(s []*weft.Tensor) []*weft.Tensor) func() {
		return func() {
			weft.ScanSteps(1, func(_ *weft.Tensor, s []*weft.Tensor) (next, out []*weft.Tensor) { return f(s), nil }, list(x.Clone()))
		}
	}
	g := weft.NewGenerator(1)
	for what, c := range map[string]struct {
		f       func()
		plainly bool // refused too
	}{
		"type of a condition":   {func() { weft.Cond(x, nil, nil) }, true},
		"nil function":          {func() { weft.Cond(yes, nil, nil) }, true},
		"nil condition":         {func() { weft.While(nil, same, list(x)) }, true},
		"no state":              {func() { weft.While(never, same, nil) }, true},
		"negative bound":        {func() { weft.While(never, same, list(x), weft.WhileOpts{Max: -1}) }, true},
		"negative steps":        {func() { weft.ScanSteps(-1, nil, list(x)) }, true},
		"state of another type": {once(func(s []*weft.Tensor) []*weft.Tensor { return list(s[0].Sum()) }), true},
		"longer state":          {once(func(s []*weft.Tensor) []*weft.Tensor { return list(s[0], s[0]) }), true},
		"nil state":             {once(func(s []*weft.Tensor) []*weft.Tensor { return list(nil) }), true},
		"write into the state":  {once(func(s []*weft.Tensor) []*weft.Tensor { return list(s[0].AddAssign(1)) }), true},
		"no results":            {func() { weft.Cond(yes, func() []*weft.Tensor { return nil }, func() []*weft.Tensor { return nil }) }, true},
		"results of two types": {func() {
			weft.Cond(yes, func() []*weft.Tensor { return list(x) }, func() []*weft.Tensor { return list(x.Sum()) })
		}, false},
		"write into a captured tensor": {once(func(s []*weft.Tensor) []*weft.Tensor {
			x.AddAssign(1)
			return s
		}), false},
		"backward": {once(func(s []*weft.Tensor) []*weft.Tensor {
			p.Sum().Backward()
			return s
		}), false},
		"draw in a branch": {func() {
			weft.Cond(yes, func() []*weft.Tensor { return list(g.Rand(2)) }, func() []*weft.Tensor { return list(weft.Zeros(2)) })
		}, false},
		"draw in a loop": {func() {
			weft.While(func(s []*weft.Tensor) *weft.Tensor { return s[0].Sum().Lt(10) }, func(s []*weft.Tensor) []*weft.Tensor { return list(s[0].Add(g.Rand(3))) }, list(x))
		}, false},
	} {
		var e *weft.Error
		if err := weft.Try(c.f); (err != nil) != c.plainly || err != nil && !errors.As(err, &e) {
			t.Errorf("%s, plainly: %v", what, err)
		}
		_, err := weft.Compile(func(x *weft.Tensor) *weft.Tensor { c.f(); return x }).Call(x)
		if !errors.As(err, &e) || (e.Op != "cond" && e.Op != "while" && e.Op != "scansteps") {
			t.Errorf("%s, compiled: %v", what, err)
		}
	}
}

// A loop captures an argument that is a part of its memory.
func TestLoopCapturesWindow(t *testing.T) {
	for name, x := range map[string]*weft.Tensor{
		"columns":   weft.Rand(9, 8).Slice(weft.All, weft.Range(0, 6)),
		"middle":    weft.Rand(9, 8).Slice(weft.Range(2, 5), weft.Range(1, 7)),
		"transpose": weft.Rand(9, 8).T().Slice(weft.Range(3, 7)),
		"backwards": weft.Rand(40).Flip(0).Slice(weft.Range(3, 30, 2)),
	} {
		f := func(x *weft.Tensor) *weft.Tensor {
			part := x.Slice(weft.Range(0, 2)).Sum()
			return weft.While(func(s []*weft.Tensor) *weft.Tensor { return s[0].Sum().Lt(100) },
				func(s []*weft.Tensor) []*weft.Tensor {
					return []*weft.Tensor{s[0].Add(x).Add(part).Add(x.Slice(weft.Range(1, 2)))}
				}, []*weft.Tensor{x})[0]
		}
		got, err := weft.Compile(f).Call(x)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		tensortest.SameBits(t, name, got, f(x))
	}
}

// TestLoopDrawsByState: steps draw by elements of the state and of what they capture, with no Detach. The
// gradient of gamma numbers goes through the state.
func TestLoopDrawsByState(t *testing.T) {
	g := weft.DefaultGenerator()
	walk := func(p *weft.Tensor) *weft.Tensor {
		last, _ := weft.ScanSteps(3, func(_ *weft.Tensor, s []*weft.Tensor) (next, out []*weft.Tensor) {
			y := g.Gamma(s[0].Abs().Add(1), p)
			return list(y.Add(g.Poisson(s[0].Abs())).Add(g.TruncatedNormal(s[0], 1, -1, 1)).Add(g.Binomial(5, s[0].Sigmoid()))), nil
		}, list(p))
		return last[0]
	}
	slope := func(p *weft.Tensor) *weft.Tensor {
		p = p.Detach().RequireGrad()
		return weft.Grad(walk(p).Sum(), list(p))[0]
	}
	x := weft.FromSlice([]float64{0.5, 2, 7})
	for what, f := range map[string]func(*weft.Tensor) *weft.Tensor{"numbers": walk, "gradient": slope} {
		weft.Seed(3)
		plain := f(x)
		weft.Seed(3)
		tensortest.SameBits(t, what, weft.Compile(f).Func()(x), plain)
	}
}

// TestBodiesCaptureEmptyArrays: arrays without elements that loops, branches and mapped functions capture, begin
// with or compute with have gradients without elements.
func TestBodiesCaptureEmptyArrays(t *testing.T) {
	x := weft.FromSlice([]float64{1, 2})
	for what, body := range map[string]func(x, w *weft.Tensor) *weft.Tensor{
		"loop": func(x, w *weft.Tensor) *weft.Tensor {
			last, _ := weft.ScanSteps(2, func(_ *weft.Tensor, s []*weft.Tensor) (next, out []*weft.Tensor) {
				return list(s[0].Add(w.Mul(2).Reshape(3, 0).Sum()), s[1].Mul(w)), nil
			}, list(x, w))
			return last[0].Add(last[1].Sum())
		},
		"branch": func(x, w *weft.Tensor) *weft.Tensor {
			return weft.Cond(x.Sum().Gt(0), func() []*weft.Tensor { return list(x.Add(w.T().Sum())) }, func() []*weft.Tensor { return list(x) })[0]
		},
		"map": func(x, w *weft.Tensor) *weft.Tensor {
			return weft.Vmap(func(r ...*weft.Tensor) *weft.Tensor { return r[0].Add(w.Sum()) })(x)
		},
	} {
		both(t, what, func(a ...*weft.Tensor) []*weft.Tensor {
			x, w := a[0].Detach().RequireGrad(), a[1].Detach().RequireGrad()
			y := body(x, w)
			return append(weft.Grad(y.Sum(), list(x, w)), y.Detach())
		}, x, weft.ZerosOf(weft.Float64, 0, 3))
	}
}

// TestLoopsKeepState: an eager loop refuses a write into its state before it changes an element, also by a view,
// in a condition and in a loop inside. What a step makes it may write into.
func TestLoopsKeepState(t *testing.T) {
	yes := func([]*weft.Tensor) *weft.Tensor { return weft.ScalarOf(weft.Bool, true) }
	for what, f := range map[string]func(x *weft.Tensor){
		"step": func(x *weft.Tensor) {
			weft.While(yes, func(s []*weft.Tensor) []*weft.Tensor { return list(s[0].MulAssign(0)) }, list(x))
		},
		"view": func(x *weft.Tensor) {
			weft.ScanSteps(2, func(_ *weft.Tensor, s []*weft.Tensor) (next, out []*weft.Tensor) {
				weft.WithoutGrad(func() { s[0].At(1).Fill(3) })
				return s, nil
			}, list(x))
		},
		"condition": func(x *weft.Tensor) {
			weft.While(func(s []*weft.Tensor) *weft.Tensor { return s[0].Fill(0).Sum().Gt(0) }, func(s []*weft.Tensor) []*weft.Tensor { return s }, list(x))
		},
		"loop inside": func(x *weft.Tensor) {
			weft.ScanSteps(2, func(_ *weft.Tensor, s []*weft.Tensor) (next, out []*weft.Tensor) {
				next, _ = weft.ScanSteps(2, func(_ *weft.Tensor, in []*weft.Tensor) (next, out []*weft.Tensor) {
					s[0].Assign(weft.Zeros(3))
					return in, nil
				}, list(weft.Ones(3)))
				return next, nil
			}, list(x))
		},
	} {
		x := weft.Ones(3)
		var e *weft.Error
		if err := weft.Try(func() { f(x) }); !errors.As(err, &e) || !strings.Contains(e.Error(), "tensor 0 of the state") || e.Op != "while" && e.Op != "scansteps" {
			t.Errorf("%s: %v", what, err)
		}
		tensortest.Near(t, what, x, []float64{1, 1, 1}, 0)
	}
	last, _ := weft.ScanSteps(2, func(_ *weft.Tensor, s []*weft.Tensor) (next, out []*weft.Tensor) {
		return list(s[0].Clone().AddAssign(1)), nil
	}, list(weft.Ones(3)))
	tensortest.Near(t, "own memory", last[0].AddAssign(1), []float64{4, 4, 4}, 0)
}
