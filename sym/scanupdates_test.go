package sym_test

import (
	"strings"
	"testing"

	"weft"
	"weft/internal/tensortest"
	"weft/sym"
)

// fn compiles a function and fails the test if that fails.
func fn(t *testing.T, in sym.Inputs, out sym.Outputs, opts ...sym.Option) func(args ...any) []*weft.Tensor {
	t.Helper()
	f, err := sym.Function(in, out, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return func(args ...any) []*weft.Tensor {
		t.Helper()
		res, err := f.Call(args...)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
}

// Shared variables that a step updates go on from step to step and from call to call. What was
// computed from one outside sees what it is at a step. The unrolled graph has the same gradients.
func TestScanUpdates(t *testing.T) {
	for _, every := range []*int{nil, new(2)} {
		x := sym.Vector("x", weft.Float64)
		total, calls := sym.Shared("total", weft.ScalarOf(weft.Float64, 1.0)), sym.Shared("calls", weft.ScalarOf(weft.Int64, int64(10)))
		double := total.Mul(2)
		r := sym.Scan(sym.ScanOpts{Sequences: []any{x}, Checkpoint: every}, func(s sym.Step) sym.Next {
			return sym.Next{Out: []*sym.Var{double.Mul(s.X[0])}, Updates: sym.Updates{total: total.Mul(s.X[0]).Add(1), calls: calls.Add(1)}}
		})
		at, steps := total, []*sym.Var{}
		for i := range 3 {
			e := x.Slice(weft.Index(i))
			steps = append(steps, at.Mul(2).Mul(e))
			at = at.Mul(e).Add(1)
		}
		plain := sym.Stack(steps, 0)
		loop, unrolled := sym.Grad(r.Out[0].Square().Sum(), []*sym.Var{x, total}), sym.Grad(plain.Square().Sum(), []*sym.Var{x, total})
		f := fn(t, sym.In(x), sym.Out(append(append([]*sym.Var{r.Out[0]}, loop...), append([]*sym.Var{plain}, unrolled...)...)...), r.Updates)
		want, n := 1.0, 10
		for range 2 {
			X := []float64{2, 3, 0.5}
			got := f(weft.FromSlice(append([]float64{}, X...)))
			for i := range 3 {
				tensortest.Near(t, "result", got[i], weft.Data[float64](got[3+i]), 0)
			}
			for _, e := range X {
				want, n = want*e+1, n+1
			}
			tensortest.Near(t, "total", total.Tensor(), []float64{want}, 0)
			tensortest.Near(t, "calls", calls.Tensor(), []float64{float64(n)}, 0)
		}
	}
}

// Draws of MRGStreams in a step are the numbers that calls of a function draw one after the other,
// which equal Theano's. They go on in the next call, in loops within loops, behind conditions, and
// with Givens.
func TestScanDrawsOfMRG(t *testing.T) {
	const steps, n = 4, 5
	var want [][]float64 // by draw
	draws := func() func() []float64 {
		f := fn(t, sym.In(), sym.Out(sym.NewMRGStreams(7).Uniform(weft.Float64, 0, 1, n)))
		return func() []float64 { return weft.Data[float64](f()[0]) }
	}()
	for range 5 * steps {
		want = append(want, draws())
	}
	x := sym.Vector("x", weft.Float64)
	zero := sym.Const(weft.ScalarOf(weft.Float64, 0.0))
	X := weft.Zeros(steps).To(weft.Float64)
	check := func(what string, from int, got *weft.Tensor) {
		t.Helper()
		for i := range got.Dim(0) {
			tensortest.Near(t, what, got.Slice(weft.Index(i)), want[from+i], 0)
		}
	}
	for what, step := range map[string]func(u, e *sym.Var) *sym.Var{
		"draw": func(u, e *sym.Var) *sym.Var { return u.Add(e) },
		"behind a condition": func(u, e *sym.Var) *sym.Var {
			return sym.IfElse(e.Ge(0), func() []*sym.Var { return []*sym.Var{u.Add(e)} }, func() []*sym.Var { return []*sym.Var{u} })[0]
		},
	} {
		m := sym.NewMRGStreams(7)
		r := sym.Scan(sym.ScanOpts{Sequences: []any{x}}, func(s sym.Step) sym.Next {
			return sym.Next{Out: []*sym.Var{step(m.Uniform(weft.Float64, 0, 1, n), s.X[0])}}
		})
		if len(r.Updates) != 1 {
			t.Fatalf("%d updates", len(r.Updates))
		}
		explicit := fn(t, sym.In(x), sym.Out(r.Out[0]), r.Updates)
		check(what, 0, explicit(X)[0])
		check(what, steps, explicit(X)[0])
		y := sym.Vector("y", weft.Float64)
		byDefault := fn(t, sym.In(y), sym.Out(r.Out[0]), sym.Givens{x: y.Mul(1)})
		check(what, 2*steps, byDefault(X)[0])
		held := fn(t, sym.In(x), sym.Out(r.Out[0]), sym.NoDefaultUpdates{})
		check(what, 3*steps, held(X)[0])
		check(what, 3*steps, held(X)[0])
		slope := sym.Grad(r.Out[0].Square().Sum(), []*sym.Var{x})[0]
		got := fn(t, sym.In(x), sym.Out(r.Out[0], slope))(X)
		check(what, 3*steps, got[0])
		tensortest.Near(t, "gradient", got[1], weft.Data[float64](got[0].Mul(2).Sum(1)), 1e-14)
	}
	m := sym.NewMRGStreams(7)
	r := sym.Scan(sym.ScanOpts{Sequences: []any{x}}, func(s sym.Step) sym.Next {
		in := sym.Scan(sym.ScanOpts{Initial: []any{zero}, Steps: new(2)}, func(in sym.Step) sym.Next {
			return sym.Next{H: in.H, Out: []*sym.Var{m.Uniform(weft.Float64, 0, 1, n).Add(s.X[0])}}
		})
		return sym.Next{Out: in.Out}
	})
	nested := fn(t, sym.In(x), sym.Out(r.Out[0].Reshape(-1, n)))
	check("nested", 0, nested(X)[0])
	check("nested", 2*steps, nested(X)[0])
}

func TestScanUpdatesErrors(t *testing.T) {
	x, w := sym.Vector("x", weft.Float64), sym.Shared("w", weft.ScalarOf(weft.Float64, 0.0))
	scan := func(u func(e *sym.Var) sym.Updates) func() {
		return func() {
			sym.Scan(sym.ScanOpts{Sequences: []any{x}}, func(s sym.Step) sym.Next { return sym.Next{Updates: u(s.X[0])} })
		}
	}
	for _, c := range []struct {
		want string
		f    func()
	}{
		{"not a shared variable", scan(func(e *sym.Var) sym.Updates { return sym.Updates{x: x} })},
		{"its update float32", scan(func(e *sym.Var) sym.Updates { return sym.Updates{w: e.To(weft.Float32)} })},
		{"is nil", scan(func(e *sym.Var) sym.Updates { return sym.Updates{w: nil} })},
		{"one example", func() {
			m := sym.NewMRGStreams(1)
			sym.Vmap(func(e ...*sym.Var) *sym.Var {
				return sym.Map(func(x ...*sym.Var) *sym.Var { return x[0].Add(m.Uniform(weft.Float64, 0, 1)) }, e[0])
			})(sym.Matrix("m", weft.Float64))
		}},
	} {
		if err := weft.Try(c.f); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}
