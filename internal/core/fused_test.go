package core_test

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/device"
	"weft/internal/formula"
	"weft/internal/ir"
	"weft/internal/loop"
	"weft/internal/op"
	"weft/internal/par"
	"weft/internal/tensortest"
)

// TestFusedInto writes two results over their own arguments.
func TestFusedInto(t *testing.T) {
	f := newGiven("both", func(x []*ir.Node) []*ir.Node {
		return []*ir.Node{op.Apply(op.Mul, nil, x[1], x[2]), op.Apply(op.Add, nil, x[0], x[1])}
	})
	for _, c := range []struct {
		name string
		make func() (a, b *weft.Tensor)
	}{
		{"contiguous", func() (a, b *weft.Tensor) {
			return weft.FromSlice([]float32{1, 2, 3}), weft.FromSlice([]float32{4, 5, 6})
		}},
		{"strided", func() (a, b *weft.Tensor) {
			m := weft.FromSlice([]float32{1, 4, 2, 5, 3, 6}, 3, 2)
			return m.Slice(weft.All, weft.Index(0)), m.Slice(weft.All, weft.Index(1))
		}},
	} {
		a, b := c.make()
		if got := f.InPlace([]*weft.Tensor{a, b}, a, b, 1.0); got != (c.name == "contiguous") {
			t.Errorf("%s: in place is %v", c.name, got)
		}
		n := core.Plans.Stats().Made
		for _, k := range []float64{10, 100} {
			f.Into([]*weft.Tensor{a, b}, a, b, k)
			if k == 10 {
				n = core.Plans.Stats().Made
			}
		}
		if core.Plans.Stats().Made != n {
			t.Errorf("%s: another number made another plan", c.name)
		}
		// a' = 10b, b' = a+b; then a'' = 100(a+b) and b'' = 10b+a+b.
		if got := weft.Data[float32](a); !slices.Equal(got, []float32{500, 700, 900}) {
			t.Errorf("%s: first result %v", c.name, got)
		}
		if got := weft.Data[float32](b); !slices.Equal(got, []float32{45, 57, 69}) {
			t.Errorf("%s: second result %v", c.name, got)
		}
	}
	// One shifted over itself: the arguments are read as they were.
	m := weft.FromSlice([]float32{1, 2, 3, 4})
	f.Into([]*weft.Tensor{m.Slice(weft.Range(1, 4)), weft.Zeros(3)}, weft.Zeros(3), m.Slice(weft.Range(0, 3)), 1)
	if got := weft.Data[float32](m); !slices.Equal(got, []float32{1, 1, 2, 3}) {
		t.Errorf("shifted: %v", got)
	}
	// Several kernels write where the results belong, unless that is read or written twice.
	g := newGiven("cumulative", func(x []*ir.Node) []*ir.Node {
		s := op.Apply(op.CumSum, op.Axis(0), op.Apply(op.Mul, nil, x[0], x[1]))
		return []*ir.Node{s, op.Apply(op.Sub, nil, s, x[1])}
	})
	x, y := weft.FromSlice([]float32{1, 2, 3}), weft.FromSlice([]float32{4, 5, 6})
	u, v := weft.Zeros(3), weft.Zeros(3)
	for _, c := range []struct {
		name string
		dst  []*weft.Tensor
	}{{"apart", []*weft.Tensor{u, v}}, {"over arguments", []*weft.Tensor{y, x}}, {"both over one", []*weft.Tensor{u, u}}} {
		if g.InPlace(c.dst, x.Clone(), y.Clone()) {
			t.Errorf("%s: several kernels are said to be one", c.name)
		}
		g.Into(c.dst, x, y)
		if got := weft.Data[float32](c.dst[1]); !slices.Equal(got, []float32{0, 9, 26}) {
			t.Errorf("%s: second result %v", c.name, got)
		}
		if got := weft.Data[float32](c.dst[0]); c.name != "both over one" && !slices.Equal(got, []float32{4, 14, 32}) {
			t.Errorf("%s: first result %v", c.name, got)
		}
		x.Assign(weft.FromSlice([]float32{1, 2, 3}))
		y.Assign(weft.FromSlice([]float32{4, 5, 6}))
	}
	w := weft.Zeros(3).RequireGrad()
	for name, into := range map[string]func(){
		"leaf":  func() { f.Into([]*weft.Tensor{w, weft.Zeros(3)}, w, w, 1) },
		"shape": func() { f.Into([]*weft.Tensor{weft.Zeros(2), weft.Zeros(3)}, weft.Zeros(3), weft.Zeros(3), 1) },
		"expanded": func() {
			f.Into([]*weft.Tensor{weft.Zeros(1).Expand(3), weft.Zeros(3)}, weft.Zeros(3), weft.Zeros(3), 1)
		},
		"argument": func() { f.Into([]*weft.Tensor{weft.Zeros(3), weft.Zeros(3)}, weft.Zeros(3), "x", 1) },
	} {
		if weft.Try(into) == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestFusedSoftmaxesShareExp computes the two softmaxes of one array together: the exp
// that both need waits in the memory of one of the results.
func TestFusedSoftmaxesShareExp(t *testing.T) {
	f := newGiven("softmaxes", func(x []*ir.Node) []*ir.Node {
		a := op.Reduction{Axes: []int{1}}
		return []*ir.Node{op.Apply(op.LogSoftmax, a, x[0]), op.Apply(op.Softmax, a, x[0])}
	})
	x := tensortest.Noise(3, 4, 5, 90)
	tensortest.OnBackends(t, func(t *testing.T) {
		log, soft := weft.ZerosLike(x), weft.ZerosLike(x)
		f.Into([]*weft.Tensor{log, soft}, x)
		if weft.Digest(log, soft) != weft.Digest(x.LogSoftmax(1), x.Softmax(1)) {
			t.Error("together they have other bits than one after the other")
		}
	})
}

// fusedPair is one call of a formula: what it writes and its arguments.
type fusedPair struct {
	dst  []*weft.Tensor
	args []any
}

func pairs(ps []fusedPair) iter.Seq2[[]*weft.Tensor, []any] {
	return func(yield func([]*weft.Tensor, []any) bool) {
		var dst []*weft.Tensor
		var args []any
		for _, p := range ps { // in slices that are used again, as IntoAll allows
			dst, args = append(dst[:0], p.dst...), append(args[:0], p.args...)
			if !yield(dst, args) {
				return
			}
		}
	}
}

var pull = newGiven("pull", func(x []*ir.Node) []*ir.Node {
	v := op.Apply(op.Add, nil, op.Apply(op.Mul, nil, x[1], x[3]), x[2])
	return []*ir.Node{op.Apply(op.Sub, nil, x[0], op.Apply(op.Exp, nil, v)), v}
})

// TestFusedIntoAll compares many formulas at once with one after the other: places of
// all sizes, none and such that are not contiguous, and arguments that are broadcast.
func TestFusedIntoAll(t *testing.T) {
	tensortest.SkipLate(t, "it hands launches over one by one")
	parts := func() (ps []fusedPair, all []*weft.Tensor) {
		for i := range 40 {
			var w *weft.Tensor
			switch size := 7 << (i * 5 % 13); {
			case i == 11:
				w = weft.Zeros(0, 3)
			case i%10 == 3:
				w = tensortest.Noise(uint32(i), 2, size, 3).T()
			case i%10 == 6:
				w = tensortest.Noise(uint32(i), 2, 3, size)
			default:
				w = tensortest.Noise(uint32(i), 2, size)
			}
			v := weft.ZerosLike(w)
			g := tensortest.Noise(uint32(100+i), 2, w.Shape()...)
			if i%10 == 8 {
				g = tensortest.Noise(uint32(100+i), 2, 1).Expand(w.Shape()...)
			}
			ps = append(ps, fusedPair{[]*weft.Tensor{w, v}, []any{w, v, g, 0.5 + float64(i)}})
			all = append(all, w, v)
		}
		return ps, all
	}
	defer par.SetThreads(par.SetThreads(1))
	tensortest.OnBackends(t, func(t *testing.T) {
		par.SetThreads(1)
		single, one := parts()
		for range 3 {
			for _, p := range single {
				pull.Into(p.dst, p.args...)
			}
		}
		for _, threads := range []int{1, 2, 5} {
			par.SetThreads(threads)
			ps, all := parts()
			threaded, grouped := device.Get(0).Counters().Threaded.Load(), device.Get(0).Counters().Grouped.Load()
			for range 3 {
				pull.IntoAll(pairs(ps))
			}
			threaded, grouped = device.Get(0).Counters().Threaded.Load()-threaded, device.Get(0).Counters().Grouped.Load()-grouped
			// All but an empty one and four that are not contiguous, three times.
			if want := min(int64(threads)-1, 1) * 3 * 35; grouped != want {
				t.Errorf("%d threads: %d launches shared a hand-off, want %d", threads, grouped, want)
			}
			if threads == 1 && threaded != 0 {
				t.Errorf("one thread: %d hand-offs", threaded)
			}
			if weft.Digest(all...) != weft.Digest(one...) {
				t.Errorf("%d threads: other bits than one after the other", threads)
			}
			for i, x := range all {
				if a, b := tensortest.View(x).Store.Version(), tensortest.View(one[i]).Store.Version(); a != b {
					t.Fatalf("%d threads: tensor %d counts %d writes, want %d", threads, i, a, b)
				}
			}
		}
	})
}

// TestFusedIntoAllInOrder has formulas that read what others write: in order, each
// sees what those before it have written.
func TestFusedIntoAllInOrder(t *testing.T) {
	const n = 1 << 16
	defer par.SetThreads(par.SetThreads(3))
	base := make([]float32, n)
	for name, second := range map[string]func(a *weft.Tensor) (w, g *weft.Tensor){
		"reads what was written":      func(a *weft.Tensor) (w, g *weft.Tensor) { return weft.Zeros(n), a },
		"reads a part of it":          func(a *weft.Tensor) (w, g *weft.Tensor) { return weft.Zeros(n / 2), a.Slice(weft.Range(n/2, n)) },
		"writes it again":             func(a *weft.Tensor) (w, g *weft.Tensor) { return a, weft.Zeros(n) },
		"writes a part of it":         func(a *weft.Tensor) (w, g *weft.Tensor) { return a.Slice(weft.Range(7, 1007)), weft.Zeros(1000) },
		"another storage, one memory": func(a *weft.Tensor) (w, g *weft.Tensor) { return weft.FromSlice(base[1:]), weft.Zeros(n - 1) },
	} {
		run := func(into func([]fusedPair)) string {
			clear(base)
			a := weft.FromSlice(base)
			w, g := second(a)
			ps := []fusedPair{
				{[]*weft.Tensor{a, weft.Zeros(n)}, []any{a, tensortest.Noise(1, 1, n), tensortest.Noise(2, 1, n), 2.0}},
				{[]*weft.Tensor{w, weft.ZerosLike(w)}, []any{w, weft.ZerosLike(w), g, 3.0}},
				{[]*weft.Tensor{weft.Zeros(n), weft.Zeros(n)}, []any{tensortest.Noise(3, 1, n), a, tensortest.Noise(4, 1, n), 3.0}},
			}
			into(ps)
			var all []*weft.Tensor
			for _, p := range ps {
				all = append(all, p.dst...)
			}
			return fmt.Sprint(weft.Digest(all...))
		}
		one := run(func(ps []fusedPair) {
			for _, p := range ps {
				pull.Into(p.dst, p.args...)
			}
		})
		for range 5 {
			if got := run(func(ps []fusedPair) { pull.IntoAll(pairs(ps)) }); got != one {
				t.Errorf("%s: together %s, one after the other %s", name, got, one)
			}
		}
	}
	// What is released while the calls are asked for is not written.
	x, y := weft.Zeros(3), weft.Zeros(3)
	err := weft.Try(func() {
		pull.IntoAll(func(yield func([]*weft.Tensor, []any) bool) {
			yield([]*weft.Tensor{x, y}, []any{x, y, x, 1.0})
			x.Release()
		})
	})
	if err == nil || !slices.Equal(weft.Data[float32](y), []float32{0, 0, 0}) {
		t.Errorf("released: error %v, wrote %v", err, y)
	}
}

// The same tensors as arguments and results in other parts are another plan: what has
// been computed from one argument into two places is refused for two and one.
func TestFusedPlansDependOnAliasing(t *testing.T) {
	f := newGiven("parts", func(x []*ir.Node) []*ir.Node {
		y := op.Apply(op.Neg, nil, x[0])
		return []*ir.Node{y, op.Apply(op.Add, nil, x[0], y)}
	})
	x, a, b := weft.Ones(3), weft.Zeros(3), weft.Zeros(3)
	f.Into([]*weft.Tensor{a, b}, x)
	a.Fill(7)
	for name, into := range map[string]func(){
		"Into": func() { f.Into([]*weft.Tensor{b}, x, a) },
		"IntoAll": func() {
			f.IntoAll(func(yield func([]*weft.Tensor, []any) bool) { yield([]*weft.Tensor{b}, []any{x, a}) })
		},
	} {
		if err := weft.Try(into); err == nil {
			t.Errorf("%s: two arguments and one place pass for one and two", name)
		}
	}
	if got := weft.Data[float32](a); !slices.Equal(got, []float32{7, 7, 7}) {
		t.Errorf("an argument was written: %v", got)
	}
}

// A givenFused is a fused formula of tensors and Go numbers of any type.
type givenFused struct{ f *core.Fused }

func newGiven(name string, compose func([]*ir.Node) []*ir.Node) *givenFused {
	return &givenFused{core.NewFused(name, compose)}
}

// with calls do with args as operands.
func (f *givenFused) with(args []any, do func(ops []core.Operand)) {
	f.f.NotNil()
	var ops []core.Operand
	for _, x := range args {
		ops = append(ops, core.AsOperand[weft.Tensor](f.f.Def.Name, "", x))
	}
	do(ops)
}

func (f *givenFused) Into(dst []*weft.Tensor, args ...any) {
	f.with(args, func(ops []core.Operand) { f.f.Into(core.Inner(dst), ops) })
}

func (f *givenFused) IntoAll(calls iter.Seq2[[]*weft.Tensor, []any]) {
	f.f.IntoAll(func(yield func([]*core.Tensor, []core.Operand) bool) {
		for dst, args := range calls {
			more := false
			f.with(args, func(ops []core.Operand) { more = yield(core.Inner(dst), ops) })
			if !more {
				return
			}
		}
	})
}

func (f *givenFused) IntoRows(places *weft.Tensor, dst []*weft.Tensor, args ...any) {
	f.with(args, func(ops []core.Operand) { f.f.IntoRows((*core.Tensor)(places), core.Inner(dst), ops) })
}

func (f *givenFused) InPlace(dst []*weft.Tensor, args ...any) (in bool) {
	f.with(args, func(ops []core.Operand) { in = f.f.InPlace(core.Inner(dst), ops) })
	return in
}

// A cubes is a kernel of this test: s*x^3 and x+y, x and y by element; its derivatives
// by order.
type cubes struct{ order int }

func (c cubes) AppendKey(k []byte) []byte { return ir.Int(append(k, "test cubes"...), c.order) }
func (c cubes) Name() string              { return "cubes" }
func (c cubes) Cost() int                 { return 5 }
func (c cubes) Params() []op.Param {
	f := array.Float64
	return []op.Param{{Name: "x", DType: f}, {Name: "y", DType: f}, {Name: "s", DType: f}}
}
func (c cubes) Results() []array.DType {
	return slices.Repeat([]array.DType{array.Float64}, len(c.emit(loop.NewBuilder("", []loop.Axis{{}}, 0), 0, 0, 0)))
}
func (c cubes) EmitKernel(e *op.Emit) []loop.Value { return c.emit(e.B, e.X[0], e.X[1], e.X[2]) }

func (c cubes) emit(b *loop.Builder, x, y, s loop.Value) []loop.Value {
	n := func(v float64) loop.Value { return b.Float(loop.F64, v) }
	if b.Program().Name == "" { // only to count
		x, y, s = n(1), n(2), n(3)
	}
	cube := b.Mul(b.Mul(x, x), b.Mul(x, s))
	square := b.Mul(n(3), b.Mul(b.Mul(x, x), s))
	switch c.order {
	case 0:
		return []loop.Value{cube, b.Add(x, y)}
	case 1: // of both by x, y and s
		return []loop.Value{square, n(0), b.Mul(b.Mul(x, x), x), n(1), n(1), n(0)}
	}
	return nil
}

func (c cubes) Partials(results, args []bool) op.Body {
	if c.order == 1 {
		return cubesSecond{cubes{2}, slices.Clone(results), slices.Clone(args)}
	}
	return cubesSecond{cubes{1}, slices.Clone(results), slices.Clone(args)}
}

// cubesSecond is a choice of derivatives.
type cubesSecond struct {
	cubes
	results, args []bool
}

func (c cubesSecond) AppendKey(k []byte) []byte {
	k = c.cubes.AppendKey(k)
	for _, list := range [][]bool{c.results, c.args} {
		k = append(k, ';')
		for _, b := range list {
			k = ir.Flag(k, b)
		}
	}
	return k
}

func (c cubesSecond) Results() []array.DType {
	n := 0
	for _, r := range c.results {
		for _, a := range c.args {
			if r && a {
				n++
			}
		}
	}
	return slices.Repeat([]array.DType{array.Float64}, n)
}

func (c cubesSecond) EmitKernel(e *op.Emit) (out []loop.Value) {
	b, x, s := e.B, e.X[0], e.X[2]
	n := func(v float64) loop.Value { return b.Float(loop.F64, v) }
	all := c.emit(b, x, e.X[1], s)
	if c.order == 2 { // of the first derivatives that c.results names
		zero := n(0)
		square := b.Mul(n(3), b.Mul(x, x))
		all = []loop.Value{b.Mul(n(6), b.Mul(x, s)), zero, square, zero, zero, zero, square, zero, zero, zero, zero, zero, zero, zero, zero, zero, zero, zero}
	}
	for i, r := range c.results {
		for j, a := range c.args {
			if r && a {
				out = append(out, all[3*i+j])
			}
		}
	}
	return out
}

// eagerDef applies a kernel to arguments after converting them.
var eagerDef = &op.Def{Name: "test.map", Hash: 77, Class: op.Composite, Arity: -1,
	Composed: op.Composed{ComposeAll: func(args []*ir.Node, a ir.Attrs) []*ir.Node { return composeBody(args, a.(op.Body)) }}}

func composeBody(args []*ir.Node, b op.Body) []*ir.Node {
	args = slices.Clone(args)
	for i, p := range b.Params()[:min(len(args), len(b.Params()))] {
		args[i] = op.Convert(args[i], p.DType)
	}
	return op.ApplyAll(op.Kernel, b, args...)
}

// applied computes d of tensors and Go numbers, into dst if there is any.
func applied(d *op.Def, a ir.Attrs, dst []*weft.Tensor, args ...any) []*weft.Tensor {
	return core.Outer[weft.Tensor](core.Call(d, a, core.Inner(dst), asOperands(d.Name, args)...))
}

func asOperands(opName string, args []any) []core.Operand {
	ops := make([]core.Operand, len(args))
	for i, x := range args {
		ops[i] = core.AsOperand[weft.Tensor](opName, "", x)
	}
	return ops
}

func cubed(args ...any) []*weft.Tensor { return applied(eagerDef, cubes{}, nil, args...) }

func TestKernelsCalledEagerly(t *testing.T) {
	tensortest.OnBackends(t, func(t *testing.T) {
		x := weft.FromSlice([]float64{1, 2, -3}, 3)
		y := weft.FromSlice([]float64{10, 20}, 2, 1)
		out := cubed(x, y, 2)
		if got := weft.Data[float64](out[0]); !slices.Equal(got, []float64{2, 16, -54, 2, 16, -54}) {
			t.Errorf("cubes: %v", got)
		}
		if got := weft.Data[float64](out[1]); !slices.Equal(got, []float64{11, 12, 7, 21, 22, 17}) {
			t.Errorf("sums: %v", got)
		}
		// Gradients: of sum(s*x^3 * (x+y)) to second order, against the formula.
		x.RequireGrad()
		y.RequireGrad()
		s := weft.Scalar(2.0).To(weft.Float64).RequireGrad()
		out = cubed(x, y, s)
		loss := out[0].Mul(out[1]).Sum()
		text := "sum(s*x*x*x*(x+y))"
		vars := weft.Vars{"x": x, "y": y, "s": s}
		want := weft.Expr(text, vars)
		opts := weft.GradOpts{Create: true}
		got, ref := weft.Grad(loss, []*weft.Tensor{x, y, s}, opts), weft.Grad(want, []*weft.Tensor{x, y, s}, opts)
		near := func(what string, a, b *weft.Tensor) {
			t.Helper()
			p, q := weft.Data[float64](a), weft.Data[float64](b)
			for i := range p {
				if len(p) != len(q) || math.Abs(p[i]-q[i]) > 1e-9 {
					t.Errorf("%s: %v, want %v", what, p, q)
					return
				}
			}
		}
		for i, name := range []string{"x", "y", "s"} {
			near("gradient by "+name, got[i], ref[i])
			second := weft.GradOpts{AllowUnused: true, Retain: true}
			a, b := weft.Grad(got[i].Mul(got[i]).Sum(), []*weft.Tensor{x, y, s}, second), weft.Grad(ref[i].Mul(ref[i]).Sum(), []*weft.Tensor{x, y, s}, second)
			for j := range a {
				if a[j] == nil || b[j] == nil {
					if a[j] != nil && a[j].Mul(a[j]).Sum().Item() != 0 || b[j] != nil && b[j].Mul(b[j]).Sum().Item() != 0 {
						t.Errorf("second gradient %d of %s: %v, want %v", j, name, a[j], b[j])
					}
					continue
				}
				near("second gradient by "+name, a[j], b[j])
			}
		}
		if out := cubed(x.Detach(), y.Detach(), 2); out[0].RequiresGrad() {
			t.Error("a gradient is recorded without")
		}
		if got := cubed(x, y, s); !got[1].RequiresGrad() {
			t.Error("no gradient is recorded")
		}
		// A formula calls it.
		f := caller{Name: "first", Attrs: cubes{}, Compose: func(args []*ir.Node) []*ir.Node { return composeBody(args, cubes{})[:1] }}
		z := weft.Expr("1 + f(x, y, 2)*f(x, y, k)", weft.Vars{"f": &f, "x": x, "y": y, "k": 3})
		near("formula", z.Detach(), weft.Expr("1 + 6*x*x*x*x*x*x + 0*y", weft.Vars{"x": x, "y": y}).Detach())
		near("gradient of a formula", weft.Grad(z.Sum(), []*weft.Tensor{x})[0], weft.Grad(weft.Expr("sum(1 + 6*x*x*x*x*x*x + 0*y)", weft.Vars{"x": x, "y": y}), []*weft.Tensor{x})[0])
		// Another function of the same name is another formula.
		g := caller{Name: "second", Attrs: cubesSecond{cubes{1}, []bool{true, false}, []bool{true, false, false}},
			Compose: func(args []*ir.Node) []*ir.Node { return []*ir.Node{args[0]} }}
		if got := weft.Data[float64](weft.Expr("1 + f(x, y, 2)*f(x, y, k)", weft.Vars{"f": &g, "x": x.Detach(), "y": 1, "k": 3})); !slices.Equal(got, []float64{2, 5, 10}) {
			t.Errorf("another function: %v", got)
		}
		if err := weft.Try(func() { weft.Expr("h(x)", weft.Vars{"h": &f, "x": x}) }); err == nil || !strings.Contains(err.Error(), "takes 3 arguments, got 1\n\th(x)\n\t^") {
			t.Errorf("wrong number of arguments: %v", err)
		}
		both := caller{Name: "both", Attrs: cubes{}, Compose: func(args []*ir.Node) []*ir.Node { return composeBody(args, cubes{}) }}
		if err := weft.Try(func() { weft.Expr("b(x, x, x)", weft.Vars{"b": &both, "x": x}) }); err == nil || !strings.Contains(err.Error(), "gives 2 results") {
			t.Errorf("two results: %v", err)
		}
	})
}

type caller formula.Func

func (c *caller) ExprFunc() any { return (*formula.Func)(c) }

// TestCallIntoExistingTensors writes results into tensors of any layout, that overlap arguments or each
// other, and refuses what does not fit.
func TestCallIntoExistingTensors(t *testing.T) {
	tensortest.OnBackends(t, func(t *testing.T) {
		x := weft.FromSlice([]float64{1, 2, -3, 4, 5, 6}, 2, 3)
		wantCube, wantSum := weft.Data[float64](cubed(x, 1, 1)[0]), weft.Data[float64](cubed(x, 1, 1)[1])
		for name, place := range map[string]func() (*weft.Tensor, *weft.Tensor, *weft.Tensor){ // argument and places
			"apart": func() (*weft.Tensor, *weft.Tensor, *weft.Tensor) {
				return x.Clone(), weft.Zeros(2, 3).To(weft.Float64), weft.Zeros(2, 3).To(weft.Float64)
			},
			"transposed": func() (*weft.Tensor, *weft.Tensor, *weft.Tensor) {
				return x.Clone(), weft.Zeros(3, 2).To(weft.Float64).T(), weft.Zeros(3, 2).To(weft.Float64).T()
			},
			"steps": func() (*weft.Tensor, *weft.Tensor, *weft.Tensor) {
				return x.Clone(), weft.Zeros(2, 6).To(weft.Float64).Slice(weft.All, weft.Range(0, 6, 2)), weft.Zeros(4, 3).To(weft.Float64).Slice(weft.Range(0, 4, 2))
			},
			"in place": func() (*weft.Tensor, *weft.Tensor, *weft.Tensor) {
				y := x.Clone()
				return y, y, weft.Zeros(2, 3).To(weft.Float64)
			},
			"shifted": func() (*weft.Tensor, *weft.Tensor, *weft.Tensor) {
				m := weft.Zeros(9).To(weft.Float64)
				y := m.Slice(weft.Range(1, 7)).Reshape(2, 3)
				y.Assign(x)
				return y, m.Slice(weft.Range(0, 6)).Reshape(2, 3), weft.Zeros(2, 3).To(weft.Float64)
			},
		} {
			in, a, b := place()
			version := tensortest.View(a).Store.Version()
			applied(eagerDef, cubes{}, []*weft.Tensor{a, b}, in, 1, 1)
			if got := weft.Data[float64](a); !slices.Equal(got, wantCube) {
				t.Errorf("%s: %v, want %v", name, got, wantCube)
			}
			if got := weft.Data[float64](b); !slices.Equal(got, wantSum) {
				t.Errorf("%s: %v, want %v", name, got, wantSum)
			}
			if tensortest.View(a).Store.Version() == version {
				t.Errorf("%s: the write was not counted", name)
			}
		}
		z := func() *weft.Tensor { return weft.Zeros(2, 3).To(weft.Float64) }
		leaf := x.Clone().RequireGrad()
		for name, f := range map[string]func(){
			"too few": func() { applied(eagerDef, cubes{}, []*weft.Tensor{z()}, x, 1, 1) },
			"type":    func() { applied(eagerDef, cubes{}, []*weft.Tensor{z(), weft.Zeros(2, 3)}, x, 1, 1) },
			"shape":   func() { applied(eagerDef, cubes{}, []*weft.Tensor{z(), weft.Zeros(3).To(weft.Float64)}, x, 1, 1) },
			"expanded": func() {
				applied(eagerDef, cubes{}, []*weft.Tensor{z(), weft.Zeros(3).To(weft.Float64).Expand(2, 3)}, x, 1, 1)
			},
			"nil":          func() { applied(eagerDef, cubes{}, []*weft.Tensor{z(), nil}, x, 1, 1) },
			"gradient":     func() { applied(eagerDef, cubes{}, []*weft.Tensor{z(), z()}, leaf, 1, 1) },
			"leaf":         func() { applied(eagerDef, cubes{}, []*weft.Tensor{leaf, z()}, x, 1, 1) },
			"no arguments": func() { applied(eagerDef, cubes{}, nil) },
			"count":        func() { cubed(x, 1) },
			"no function":  func() { weft.Expr("f(x)", weft.Vars{"f": noFunction{}, "x": x}) },
		} {
			if err := weft.Try(f); err == nil {
				t.Errorf("%s: not refused", name)
			}
		}
	})
	if s := core.Explain(eagerDef, cubes{}, asOperands("cubes", []any{weft.Zeros(2).To(weft.Float64), 1, 1})...); !strings.Contains(s, "kernel point") {
		t.Errorf("explained: %s", s)
	}
}

type noFunction struct{}

func (noFunction) ExprFunc() any { return 1 }

// Operations with several results: values, gradients of each result alone and of
// all together, second order, and what is saved.
func TestOperationsWithSeveralResults(t *testing.T) {
	tensortest.OnBackends(t, func(t *testing.T) {
		x := weft.FromSlice([]float64{3, 1, 2, 9, 7, 8}, 2, 3).RequireGrad()
		v, i := x.Sort(-1, weft.SortOpts{})
		if got := weft.Data[float64](v); !slices.Equal(got, []float64{1, 2, 3, 7, 8, 9}) {
			t.Errorf("sorted: %v", got)
		}
		if got := weft.Data[int64](i); !slices.Equal(got, []int64{1, 2, 0, 1, 2, 0}) {
			t.Errorf("places: %v", got)
		}
		if i.RequiresGrad() || !v.RequiresGrad() {
			t.Error("only values have a gradient")
		}
		w := weft.FromSlice([]float64{1, 10, 100, 1000, 1e4, 1e5}, 2, 3)
		v.Mul(w).Sum().Backward()
		if got := weft.Data[float64](x.Grad()); !slices.Equal(got, []float64{100, 1, 10, 1e5, 1e3, 1e4}) {
			t.Errorf("gradient of sort: %v", got)
		}

		// d/dx of var + 3 mean of four numbers: 2(x-mean)/4 + 3/4, from one tape.
		y := weft.FromSlice([]float64{1, 2, 4, 9}).RequireGrad()
		for _, c := range []struct {
			name      string
			loss      func(va, m *weft.Tensor) *weft.Tensor
			wantVar   float64
			wantMean  float64
			wantOnVar float64 // second derivative
		}{
			{"both", func(va, m *weft.Tensor) *weft.Tensor { return va.Add(m.Mul(3)) }, 1, 3, 1},
			{"var", func(va, m *weft.Tensor) *weft.Tensor { return va }, 1, 0, 1},
			{"mean", func(va, m *weft.Tensor) *weft.Tensor { return m.Mul(3) }, 0, 3, 0},
			{"twice", func(va, m *weft.Tensor) *weft.Tensor { return va.Add(va).Add(m) }, 2, 1, 2},
		} {
			va, m := y.VarMean()
			if va.Item() != 9.5 || m.Item() != 4 {
				t.Fatalf("var %v, mean %v", va, m)
			}
			g := weft.Grad(c.loss(va, m), []*weft.Tensor{y}, weft.GradOpts{Create: true})[0]
			for k, x := range []float64{1, 2, 4, 9} {
				want := c.wantVar*(x-4)/2 + c.wantMean/4
				if got := g.At(k).Item(); math.Abs(got-want) > 1e-12 {
					t.Errorf("%s: gradient %d is %v, want %v", c.name, k, got, want)
				}
			}
			if c.wantOnVar == 0 {
				continue
			}
			// The second derivative of the variance: 2/4 on the diagonal less 2/16.
			h := weft.Grad(g.At(0), []*weft.Tensor{y})[0]
			for k := range 4 {
				want := -2. / 16 * c.wantOnVar
				if k == 0 {
					want += 2. / 4 * c.wantOnVar
				}
				if got := h.At(k).Item(); math.Abs(got-want) > 1e-12 {
					t.Errorf("%s: second derivative %d is %v, want %v", c.name, k, got, want)
				}
			}
		}
		// A result by itself can be asked for.
		va, m := y.VarMean()
		if g := weft.Grad(va.Mul(m), []*weft.Tensor{m}, weft.GradOpts{})[0]; g.Item() != 9.5 {
			t.Errorf("gradient of a product by one factor: %v", g)
		}
		// A result that was overwritten is reported.
		s, at := x.Sort(0, weft.SortOpts{Descending: true})
		at.Assign(0)
		if err := weft.Try(func() { s.Sum().Backward() }); err == nil {
			t.Error("places that were overwritten were used")
		}
	})
	if err := weft.Try(func() { weft.Zeros(2, 3).Sort(2, weft.SortOpts{}) }); err == nil {
		t.Error("an axis out of range is taken")
	}
	if err := weft.Try(func() { weft.Scalar(1).Sort(0, weft.SortOpts{}) }); err == nil {
		t.Error("an array of no dimensions has an axis")
	}
}
