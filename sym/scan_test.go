package sym_test

import (
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/internal/tensortest"
	"weft/sym"
)

// call compiles a function of inputs and calls it.
func call(t *testing.T, in []*sym.Var, out []*sym.Var, args ...any) []*weft.Tensor {
	t.Helper()
	list := make([]any, len(in))
	for i, v := range in {
		list[i] = v
	}
	f, err := sym.Function(sym.In(list...), sym.Out(out...), sym.IgnoreUnused)
	if err != nil {
		t.Fatal(err)
	}
	res, err := f.Call(args...)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// A recurrent network by Scan gives what the same steps one after the other give, and its
// gradients, with sizes that are not known before, with all ways to keep states.
func TestScanUnrolled(t *testing.T) {
	const steps, batch, n = 7, 3, 4
	g := weft.NewGenerator(1)
	X, H, W := g.RandnOf(weft.Float64, steps, batch, n), g.RandnOf(weft.Float64, batch, n), g.RandnOf(weft.Float64, n, n)
	B := g.RandnOf(weft.Float64, n)
	unroll := func(truncate int) []*weft.Tensor {
		h0, w, b := H.Clone().RequireGrad(), W.Clone().RequireGrad(), B.Clone().RequireGrad()
		x := X.Clone().RequireGrad()
		h := h0
		cost := weft.ScalarOf(weft.Float64, 0.0)
		for i := range steps {
			if truncate > 0 && i == steps-truncate {
				h = h.Detach()
			}
			h = x.Slice(weft.Index(i)).Add(h.MatMul(w)).Add(b).Tanh()
			if truncate == 0 || i >= steps-truncate {
				cost = cost.Add(h.Square().Sum())
			}
		}
		cost.Backward()
		return []*weft.Tensor{h, h0.Grad(), w.Grad(), b.Grad(), x.Grad()}
	}
	for _, o := range []sym.ScanOpts{{}, {Checkpoint: new(2)}, {Checkpoint: new(3)}, {Checkpoint: new(sym.SqrtSteps)}, {Truncate: new(3)}, {Truncate: new(3), Checkpoint: new(2)}, {Steps: new(steps)}} {
		x, h0 := sym.Tensor3("x", weft.Float64), sym.Matrix("h0", weft.Float64)
		w, b := sym.Shared("w", W), sym.Shared("b", B)
		o.Sequences, o.Initial = []any{x}, []any{h0}
		r := sym.Scan(o, func(s sym.Step) sym.Next {
			h := s.X[0].Add(s.H[0].MatMul(w)).Add(b).Tanh()
			return sym.Next{H: []*sym.Var{h}, Out: []*sym.Var{h.Square().Sum()}}
		})
		cost := r.Out[0].Sum()
		d := sym.Grad(cost, []*sym.Var{h0, w, b, x}, sym.GradOpts{Disconnected: true})
		got := call(t, []*sym.Var{x, h0}, append([]*sym.Var{r.Last[0]}, d...), X, H)
		truncate := 0
		if o.Truncate != nil {
			truncate = *o.Truncate
		}
		want := unroll(truncate)
		for i, name := range []string{"last state", "gradient of h0", "of w", "of b", "of x"} {
			v := make([]float64, got[i].Size())
			if want[i] != nil {
				v = weft.Data[float64](want[i])
			}
			tensortest.Near(t, name, got[i], v, 1e-10)
		}
	}
}

// What overflows is mended in the body of a loop and in the sides of a branch too, and in their
// gradients.
func TestScanStable(t *testing.T) {
	x, h0, c := sym.Vector("x", weft.Float64), sym.Scalar("h0", weft.Float64), sym.Scalar("c", weft.Bool)
	soft := func(x *sym.Var) *sym.Var { return x.Exp().Add(1).Log() }
	y := sym.FoldL(func(x, h *sym.Var) *sym.Var { return h.Add(soft(x)) }, x, h0)
	z := sym.IfElse(c, func() []*sym.Var { return []*sym.Var{soft(x)} }, func() []*sym.Var { return []*sym.Var{x} })[0]
	outs := append([]*sym.Var{y, z}, sym.Grad(y.Add(z.Sum()), []*sym.Var{x})...)
	got := call(t, []*sym.Var{x, h0, c}, outs, weft.FromSlice([]float64{1000, -1000, 900}), 1.0, true)
	if os.Getenv("WEFT_COMPILE") == "off" { // nothing is rewritten: exp overflows, as it does eagerly
		if z := weft.Data[float64](got[1]); !math.IsInf(z[0], 1) || z[1] != 0 {
			t.Errorf("as written, the branch gives %v", z)
		}
		return
	}
	tensortest.Near(t, "loop", got[0], []float64{1901}, 1e-10)
	tensortest.Near(t, "branch", got[1], []float64{1000, 0, 900}, 1e-10)
	tensortest.Near(t, "gradient", got[2], []float64{2, 0, 2}, 1e-10)
}

func TestScanTaps(t *testing.T) {
	two := weft.FromSlice([]float64{0, 1})
	// Fibonacci's numbers, without a sequence.
	init := sym.Vector("init", weft.Float64)
	r := sym.Scan(sym.ScanOpts{Initial: []any{sym.Taps{Var: init, At: []int{-2, -1}}}, Steps: new(10)}, func(s sym.Step) sym.Next {
		return sym.Next{H: []*sym.Var{s.H[0].Add(s.H[1])}}
	})
	got := call(t, []*sym.Var{init}, []*sym.Var{r.H[0], r.Last[0]}, two)
	tensortest.Near(t, "Fibonacci", got[0], []float64{1, 2, 3, 5, 8, 13, 21, 34, 55, 89}, 1e-10)
	tensortest.Near(t, "the last", got[1], []float64{89}, 1e-10)
	// Its gradient: how often each of the first two goes into the last.
	d := sym.Grad(r.Last[0], []*sym.Var{init})[0]
	tensortest.Near(t, "its gradient", call(t, []*sym.Var{init}, []*sym.Var{d}, two)[0], []float64{55, 89}, 1e-10)

	// Neighbours of a sequence, from the front and from the back.
	x := sym.Vector("x", weft.Float64)
	for _, back := range []bool{false, true} {
		r := sym.Scan(sym.ScanOpts{Sequences: []any{sym.Taps{Var: x, At: []int{-1, 0, 2}}}, Backwards: back}, func(s sym.Step) sym.Next {
			return sym.Next{Out: []*sym.Var{s.X[0].Mul(100).Add(s.X[1].Mul(10)).Add(s.X[2])}}
		})
		want := []float64{124, 235, 346}
		if back {
			want = []float64{653, 542, 431}
		}
		tensortest.Near(t, "taps", call(t, []*sym.Var{x}, []*sym.Var{r.Out[0]}, weft.FromSlice([]float64{1, 2, 3, 4, 5, 6}))[0], want, 1e-10)
	}
}

func TestScanUntil(t *testing.T) {
	x := sym.Scalar("x", weft.Float64)
	r := sym.Scan(sym.ScanOpts{Initial: []any{x}, Steps: new(20)}, func(s sym.Step) sym.Next {
		h := s.H[0].Mul(2)
		return sym.Next{H: []*sym.Var{h}, Until: h.Gt(50)}
	})
	d := sym.Grad(r.Last[0], []*sym.Var{x})[0]
	got := call(t, []*sym.Var{x}, []*sym.Var{r.Count, r.Last[0], d, r.H[0]}, 3.0)
	tensortest.Near(t, "count", got[0], []float64{5}, 1e-10)
	tensortest.Near(t, "last", got[1], []float64{96}, 1e-10)
	tensortest.Near(t, "gradient", got[2], []float64{32}, 1e-10)
	tensortest.Near(t, "states", got[3].Slice(weft.Range(0, 7)), []float64{6, 12, 24, 48, 96, 0, 0}, 1e-10)
}

func TestFoldsAndMap(t *testing.T) {
	x, one := sym.Vector("x", weft.Float64), sym.Scalar("one", weft.Float64)
	horner := func(x, h *sym.Var) *sym.Var { return h.Mul(10).Add(x) }
	got := call(t, []*sym.Var{x, one}, []*sym.Var{
		sym.FoldL(horner, x, one), sym.FoldR(horner, x, one), sym.Reduce(horner, x, one),
		sym.Map(func(x ...*sym.Var) *sym.Var { return x[0].Mul(x[1]) }, x, x),
		// A loop in a loop: the sum of all products of two.
		sym.FoldL(func(a, h *sym.Var) *sym.Var {
			return h.Add(sym.FoldL(func(b, g *sym.Var) *sym.Var { return g.Add(a.Mul(b)) }, x, one))
		}, x, one),
	}, weft.FromSlice([]float64{2, 3, 4}), 1.0)
	for i, want := range [][]float64{{1234}, {1432}, {1234}, {4, 9, 16}, {85}} {
		tensortest.Near(t, "fold", got[i], want, 1e-10)
	}
}

// Of two branches only one is computed, gradients too.
func TestIfElse(t *testing.T) {
	x, c := sym.Vector("x", weft.Float64), sym.Scalar("c", weft.Bool)
	ran := map[string]int{}
	count := func(name string, v *sym.Var) *sym.Var {
		o := &sym.Op{Name: name, Forward: func(x []*weft.Tensor) ([]*weft.Tensor, error) {
			ran[name]++
			return []*weft.Tensor{x[0].Mul(1)}, nil
		}, Backward: func(x, y, dy []*weft.Tensor) []*weft.Tensor { return dy }}
		return o.Apply(v)[0]
	}
	double := x.Mul(2)
	y := sym.IfElse(c, func() []*sym.Var { return []*sym.Var{count("then", double.Mul(x))} }, func() []*sym.Var { return []*sym.Var{count("else", double.Exp())} })[0]
	d := sym.Grad(y.Sum(), []*sym.Var{x})[0]
	X := []float64{1, 2, 3}
	for _, yes := range []bool{true, false} {
		clear(ran)
		got := call(t, []*sym.Var{x, c}, []*sym.Var{y, d}, weft.FromSlice(slices.Clone(X)), yes)
		var want, slope []float64
		for _, v := range X {
			if yes {
				want, slope = append(want, 2*v*v), append(slope, 4*v)
			} else {
				want, slope = append(want, math.Exp(2*v)), append(slope, 2*math.Exp(2*v))
			}
		}
		tensortest.Near(t, "value", got[0], want, 1e-10)
		tensortest.Near(t, "gradient", got[1], slope, 1e-10)
		if (ran["then"] > 0) != yes || (ran["else"] > 0) == yes {
			t.Errorf("condition %v: ran %v", yes, ran)
		}
	}
}

func TestScanErrors(t *testing.T) {
	x, h, m := sym.Vector("x", weft.Float32), sym.Scalar("h", weft.Float32), sym.Matrix("m", weft.Float32)
	same := func(s sym.Step) sym.Next { return sym.Next{H: s.H} }
	for _, c := range []struct {
		want string
		f    func()
	}{
		{"step", func() { sym.Scan(sym.ScanOpts{}, nil) }},
		{"neither sequences nor", func() { sym.Scan(sym.ScanOpts{Initial: []any{h}}, same) }},
		{"no dimensions", func() { sym.Scan(sym.ScanOpts{Sequences: []any{h}}, same) }},
		{"gives 0 states, there are 1", func() {
			sym.Scan(sym.ScanOpts{Sequences: []any{x}, Initial: []any{h}}, func(sym.Step) sym.Next { return sym.Next{} })
		}},
		{"gives nothing", func() {
			sym.Scan(sym.ScanOpts{Sequences: []any{x}}, func(sym.Step) sym.Next { return sym.Next{} })
		}},
		{"before a step", func() {
			sym.Scan(sym.ScanOpts{Sequences: []any{x}, Initial: []any{h}}, func(s sym.Step) sym.Next { return sym.Next{H: []*sym.Var{m}} })
		}},
		{"below 0", func() {
			sym.Scan(sym.ScanOpts{Initial: []any{sym.Taps{Var: x, At: []int{0}}}, Steps: new(3)}, same)
		}},
		{"bool without", func() {
			sym.Scan(sym.ScanOpts{Sequences: []any{x}, Initial: []any{h}}, func(s sym.Step) sym.Next { return sym.Next{H: s.H, Until: x} })
		}},
		{"bool without", func() { sym.IfElse(h, func() []*sym.Var { return nil }, func() []*sym.Var { return nil }) }},
		{"two types", func() {
			sym.IfElse(h.Gt(0), func() []*sym.Var { return []*sym.Var{x} }, func() []*sym.Var { return []*sym.Var{m} })
		}},
	} {
		if err := weft.Try(c.f); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
	short := sym.Scan(sym.ScanOpts{Sequences: []any{x}, Initial: []any{h}, Steps: new(9)}, same)
	f, err := sym.Function(sym.In(x, h), sym.Out(short.Last[0]), sym.IgnoreUnused)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Call(weft.Ones(4), 1); err == nil || !strings.Contains(err.Error(), "want 9") {
		t.Errorf("got %v", err)
	}
}

// Gradients of one's own, and cuts, hold in loops as outside.
func TestScanOwnGradients(t *testing.T) {
	x, h0 := sym.Vector("x", weft.Float64), sym.Scalar("h0", weft.Float64)
	X := weft.FromSlice([]float64{1, 2, 3})
	for name, f := range map[string]func(x, h *sym.Var) *sym.Var{
		"clipped":  func(x, h *sym.Var) *sym.Var { return sym.GradClip(h.Mul(x), -1.5, 1.5) },
		"scaled":   func(x, h *sym.Var) *sym.Var { return sym.GradScale(h.Mul(x), 0.5) },
		"zero":     func(x, h *sym.Var) *sym.Var { return h.Mul(sym.ZeroGrad(x)) },
		"twofold":  func(x, h *sym.Var) *sym.Var { return h.Mul(x).Add(sym.ZeroGrad(h).Mul(x)) },
		"ordinary": func(x, h *sym.Var) *sym.Var { return h.Mul(x).Sin() },
	} {
		loop := sym.FoldL(func(x, h *sym.Var) *sym.Var { return f(x, h) }, x, h0)
		plain := h0
		for i := range 3 {
			plain = f(x.Slice(weft.Index(i)), plain)
		}
		var outs []*sym.Var
		for _, y := range []*sym.Var{loop, plain} {
			outs = append(outs, append(sym.Grad(y, []*sym.Var{x, h0}), y)...)
		}
		got := call(t, []*sym.Var{x, h0}, outs, X, 0.7)
		for i := range 3 {
			tensortest.Near(t, name, got[i], weft.Data[float64](got[3+i]), 1e-10)
		}
	}
}

func TestScanJacobian(t *testing.T) {
	x, h0 := sym.Vector("x", weft.Float64), sym.Vector("h0", weft.Float64)
	r := sym.Scan(sym.ScanOpts{Sequences: []any{x}, Initial: []any{h0}}, func(s sym.Step) sym.Next {
		return sym.Next{H: []*sym.Var{s.H[0].Mul(0.5).Add(s.X[0]).Sin()}}
	})
	plain := h0
	for i := range 3 {
		plain = plain.Mul(0.5).Add(x.Slice(weft.Index(i))).Sin()
	}
	var outs []*sym.Var
	for _, y := range []*sym.Var{r.Last[0], plain} {
		outs = append(outs, sym.Jacobian(y, x, h0)...)
	}
	hess := sym.Hessian(r.Last[0].Sum(), x)
	hess2 := sym.Hessian(plain.Sum(), x)
	got := call(t, []*sym.Var{x, h0}, append(append(outs, hess...), hess2...), weft.FromSlice([]float64{1, 2, 3}), weft.FromSlice([]float64{0.3, 0.4}))
	tensortest.Near(t, "jacobian x", got[0], weft.Data[float64](got[2]), 1e-10)
	tensortest.Near(t, "jacobian h", got[1], weft.Data[float64](got[3]), 1e-10)
	tensortest.Near(t, "hessian", got[4], weft.Data[float64](got[5]), 1e-10)
}
