package sym_test

import (
	"math"
	"strings"
	"testing"

	"weft"
	"weft/internal/tensortest"
	"weft/sym"
)

// evaluate compiles a function and calls it.
func evaluate(t *testing.T, in []*sym.Var, out []*sym.Var, args ...*weft.Tensor) []*weft.Tensor {
	t.Helper()
	inputs := make([]any, len(in))
	for i, v := range in {
		inputs[i] = v
	}
	f, err := sym.Function(sym.In(inputs...), sym.Out(out...))
	if err != nil {
		t.Fatal(err)
	}
	given := make([]any, len(args))
	for i, x := range args {
		given[i] = x
	}
	res, err := f.Call(given...)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// expect compares tensors of float64 with numbers.
func expect(t *testing.T, what string, got *weft.Tensor, want ...float64) {
	t.Helper()
	tensortest.Near(t, what, got, want, 1e-9)
}

func TestDerivatives(t *testing.T) {
	x := sym.Vector("x", weft.Float64)
	v := sym.Vector("v", weft.Float64)
	y := x.Mul(x).Mul(x) // x^3
	cost := y.Sum()
	at, dir := weft.FromSlice([]float64{1, -2, 0.5}), weft.FromSlice([]float64{1, 1, 2})
	one := func(what string, out *sym.Var, want ...float64) {
		t.Helper()
		in, args := []*sym.Var{x}, []*weft.Tensor{at}
		if strings.HasSuffix(what, " v") {
			in, args = append(in, v), append(args, dir)
		}
		expect(t, what, evaluate(t, in, []*sym.Var{out}, args...)[0], want...)
	}
	g := sym.Grad(cost, []*sym.Var{x})[0]
	one("gradient", g, 3, 12, 0.75)
	one("second", sym.Grad(g.Sum(), []*sym.Var{x})[0], 6, -12, 3)
	one("third", sym.Grad(sym.Grad(g.Sum(), []*sym.Var{x})[0].Sum(), []*sym.Var{x})[0], 6, 6, 6)
	one("jacobian", sym.Jacobian(y, x)[0], 3, 0, 0, 0, 12, 0, 0, 0, 0.75)
	one("hessian", sym.Hessian(cost, x)[0], 6, 0, 0, 0, -12, 0, 0, 0, 3)
	one("rop of v", sym.Rop([]*sym.Var{y}, []*sym.Var{x}, []*sym.Var{v})[0], 3, 12, 1.5)
	one("lop of v", sym.Lop([]*sym.Var{y}, []*sym.Var{x}, []*sym.Var{v})[0], 3, 12, 1.5)
	one("hessian times v", sym.HessianVector(cost, []*sym.Var{x}, []*sym.Var{v})[0], 6, -12, 6)

	// By what is computed on the way.
	z := x.Sin()
	one("by a computed variable", sym.Grad(z.Square().Sum(), []*sym.Var{z})[0], 2*math.Sin(1), 2*math.Sin(-2), 2*math.Sin(0.5))

	// Constants, known gradients, and what changes gradients.
	sq := x.Square()
	c := sq.Mul(x).Sum()
	one("with a constant", sym.Grad(c, []*sym.Var{x}, sym.GradOpts{Constant: []*sym.Var{sq}})[0], 1, 4, 0.25)
	one("known, v", sym.Grad(nil, []*sym.Var{x}, sym.GradOpts{Known: map[*sym.Var]*sym.Var{sq: v}})[0], 2, -4, 2)
	one("known beside a cost, v", sym.Grad(c, []*sym.Var{x}, sym.GradOpts{Known: map[*sym.Var]*sym.Var{sq: v}})[0], 3, 0, 2.25)
	one("zero", sym.Grad(sym.ZeroGrad(sq).Add(x).Sum(), []*sym.Var{x})[0], 1, 1, 1)
	one("disconnected", sym.Grad(sym.DisconnectedGrad(sq).Mul(x).Sum(), []*sym.Var{x})[0], 1, 4, 0.25)
	one("clip", sym.Grad(sym.GradClip(x, -1, 1).Mul(weft.FromSlice([]float64{5, -7, 0.5})).Sum(), []*sym.Var{x})[0], 1, -1, 0.5)
	one("scale", sym.Grad(sym.GradScale(x, -3).Sum(), []*sym.Var{x})[0], -3, -3, -3)
	other := sym.Vector("other", weft.Float64)
	d := sym.Grad(cost, []*sym.Var{x, other}, sym.GradOpts{Disconnected: true})
	expect(t, "disconnected input", evaluate(t, []*sym.Var{x, other}, []*sym.Var{d[0].Add(d[1]), other}, at, dir)[0], 3, 12, 0.75)
}

// TestPenalty: a gradient in a cost, by a shared variable.
func TestPenalty(t *testing.T) {
	x := sym.Vector("x", weft.Float64)
	w := sym.Shared("w", weft.FromSlice([]float64{2, 3}))
	g := sym.Grad(x.Mul(w).Square().Sum(), []*sym.Var{x})[0] // 2 w^2 x
	p := sym.Grad(g.Square().Sum(), []*sym.Var{w})[0]        // 16 w^3 x^2
	expect(t, "penalty", evaluate(t, []*sym.Var{x}, []*sym.Var{p}, weft.FromSlice([]float64{1, -1}))[0], 128, 432)
}

func TestVerifyGrad(t *testing.T) {
	f := func(x []*sym.Var) *sym.Var { return x[0].MatMul(x[1]).Tanh().Softmax(-1) }
	g := weft.NewGenerator(1)
	pts := []*weft.Tensor{g.RandnOf(weft.Float64, 3, 4), g.RandnOf(weft.Float64, 4, 2)}
	if err := sym.VerifyGrad(f, pts, sym.VerifyOpts{}); err != nil {
		t.Error(err)
	}
	wrong := func(x []*sym.Var) *sym.Var { return sym.GradScale(x[0].Sin(), 1.01) }
	if err := sym.VerifyGrad(wrong, pts[:1], sym.VerifyOpts{}); err == nil || !strings.Contains(err.Error(), "argument 0") {
		t.Errorf("a gradient that is off by a hundredth: %v", err)
	}
}

// TestOpFromGraph: graphs as operations, and gradients of one's own.
func TestOpFromGraph(t *testing.T) {
	a, b := sym.Vector("a", weft.Float64), sym.Vector("b", weft.Float64)
	f := sym.OpFromGraph([]*sym.Var{a, b}, []*sym.Var{a.Mul(b).Add(a)}, sym.GraphOpts{})
	own := sym.OpFromGraph([]*sym.Var{a, b}, []*sym.Var{a.Mul(b).Add(a)}, sym.GraphOpts{Name: "own",
		Gradient: func(x, y, dy []*sym.Var) []*sym.Var { return []*sym.Var{dy[0].Mul(x[0]).Mul(10), nil} }})
	x := sym.Vector("x", weft.Float64)
	at := weft.FromSlice([]float64{1, 2})
	for _, c := range []struct {
		f    func(...*sym.Var) []*sym.Var
		grad []float64
	}{{f, []float64{2*1 + 1, 2*2 + 1}}, {own, []float64{10, 20}}} {
		y := c.f(x, x)[0]
		out := evaluate(t, []*sym.Var{x}, []*sym.Var{y, sym.Grad(y.Sum(), []*sym.Var{x})[0]}, at)
		expect(t, "value", out[0], 2, 6)
		expect(t, "gradient", out[1], c.grad...)
	}
}

// TestGoFunctionAsOp: Go functions as operations.
func TestGoFunctionAsOp(t *testing.T) {
	calls := 0
	cube := &sym.Op{Name: "cube",
		Forward: func(x []*weft.Tensor) ([]*weft.Tensor, error) {
			calls++
			y := weft.Data[float64](x[0])
			for i := range y {
				y[i] = y[i] * y[i] * y[i]
			}
			return []*weft.Tensor{weft.FromSlice(y, x[0].Shape()...)}, nil
		},
		Backward: func(x, y, dy []*weft.Tensor) []*weft.Tensor {
			return []*weft.Tensor{x[0].Square().Mul(3).Mul(dy[0])}
		}}
	x := sym.Vector("x", weft.Float64)
	y := cube.Apply(x.Mul(1))[0]
	g := sym.Grad(y.Sum(), []*sym.Var{x})[0]
	f, err := sym.Function(sym.In(x), sym.Out(y, g, sym.Grad(g.Sum(), []*sym.Var{x})[0]))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		out, err := f.Call(weft.FromSlice([]float64{1, float64(i)}))
		if err != nil {
			t.Fatal(err)
		}
		k := float64(i)
		expect(t, "value", out[0], 1, k*k*k)
		expect(t, "gradient", out[1], 3, 3*k*k)
		expect(t, "second", out[2], 6, 6*k)
	}
	if calls != 3 {
		t.Errorf("called %d times in 3 calls", calls)
	}
	fails := &sym.Op{Name: "fails", Forward: func([]*weft.Tensor) ([]*weft.Tensor, error) { return nil, weft.Try(func() { weft.Zeros(-1) }) }}
	f, err = sym.Function(sym.In(x), sym.Out(fails.Apply(x)...))
	if err != nil {
		t.Fatal(err)
	}
	if _, err = f.Call(weft.FromSlice([]float64{1})); err == nil || !strings.Contains(err.Error(), "zeros") {
		t.Errorf("an operation that fails: %v", err)
	}
}

func TestPrintAndAssert(t *testing.T) {
	var out strings.Builder
	x := sym.Vector("x", weft.Float64)
	y := sym.Assert(sym.Print(x, "x is", &out).Mul(2), x.Gt(0).All(), "x must be positive")
	f, err := sym.Function(sym.In(x), sym.Out(y, sym.Grad(y.Sum(), []*sym.Var{x})[0]))
	if err != nil {
		t.Fatal(err)
	}
	if out.Len() > 0 {
		t.Errorf("printed while it was made: %q", out.String())
	}
	for range 2 {
		res, err := f.Call(weft.FromSlice([]float64{1, 2}))
		if err != nil {
			t.Fatal(err)
		}
		expect(t, "value", res[0], 2, 4)
		expect(t, "gradient", res[1], 2, 2)
	}
	if want := "x is [1. 2.]\nx is [1. 2.]\n"; out.String() != want {
		t.Errorf("printed %q, want %q", out.String(), want)
	}
	if _, err := f.Call(weft.FromSlice([]float64{1, -2})); err == nil || !strings.Contains(err.Error(), "x must be positive") {
		t.Errorf("an assertion that fails: %v", err)
	}
}
