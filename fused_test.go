package weft

import (
	"fmt"
	"iter"
	"slices"
	"testing"

	"weft/internal/core"
	"weft/internal/cpu"
	"weft/internal/ir"
	"weft/internal/op"
	"weft/internal/par"
)

// TestFusedInto writes two results over their own arguments.
func TestFusedInto(t *testing.T) {
	f := newGiven("both", func(x []*ir.Node) []*ir.Node {
		return []*ir.Node{op.Apply(op.Mul, nil, x[1], x[2]), op.Apply(op.Add, nil, x[0], x[1])}
	})
	for _, c := range []struct {
		name string
		make func() (a, b *Tensor)
	}{
		{"contiguous", func() (a, b *Tensor) { return FromSlice([]float32{1, 2, 3}), FromSlice([]float32{4, 5, 6}) }},
		{"strided", func() (a, b *Tensor) {
			m := FromSlice([]float32{1, 4, 2, 5, 3, 6}, 3, 2)
			return m.Slice(All, Index(0)), m.Slice(All, Index(1))
		}},
	} {
		a, b := c.make()
		if got := f.InPlace([]*Tensor{a, b}, a, b, 1.0); got != (c.name == "contiguous") {
			t.Errorf("%s: in place is %v", c.name, got)
		}
		n := core.Plans.Stats().Made
		for _, k := range []float64{10, 100} {
			f.Into([]*Tensor{a, b}, a, b, k)
			if k == 10 {
				n = core.Plans.Stats().Made
			}
		}
		if core.Plans.Stats().Made != n {
			t.Errorf("%s: another number made another plan", c.name)
		}
		// a' = 10b, b' = a+b; then a'' = 100(a+b) and b'' = 10b+a+b.
		if got := Data[float32](a); !slices.Equal(got, []float32{500, 700, 900}) {
			t.Errorf("%s: first result %v", c.name, got)
		}
		if got := Data[float32](b); !slices.Equal(got, []float32{45, 57, 69}) {
			t.Errorf("%s: second result %v", c.name, got)
		}
	}
	// One shifted over itself: the arguments are read as they were.
	m := FromSlice([]float32{1, 2, 3, 4})
	f.Into([]*Tensor{m.Slice(Range(1, 4)), Zeros(3)}, Zeros(3), m.Slice(Range(0, 3)), 1)
	if got := Data[float32](m); !slices.Equal(got, []float32{1, 1, 2, 3}) {
		t.Errorf("shifted: %v", got)
	}
	// Several kernels write where the results belong, unless that is read or written twice.
	g := newGiven("cumulative", func(x []*ir.Node) []*ir.Node {
		s := op.Apply(op.CumSum, op.Axis(0), op.Apply(op.Mul, nil, x[0], x[1]))
		return []*ir.Node{s, op.Apply(op.Sub, nil, s, x[1])}
	})
	x, y := FromSlice([]float32{1, 2, 3}), FromSlice([]float32{4, 5, 6})
	u, v := Zeros(3), Zeros(3)
	for _, c := range []struct {
		name string
		dst  []*Tensor
	}{{"apart", []*Tensor{u, v}}, {"over arguments", []*Tensor{y, x}}, {"both over one", []*Tensor{u, u}}} {
		if g.InPlace(c.dst, x.Clone(), y.Clone()) {
			t.Errorf("%s: several kernels are said to be one", c.name)
		}
		g.Into(c.dst, x, y)
		if got := Data[float32](c.dst[1]); !slices.Equal(got, []float32{0, 9, 26}) {
			t.Errorf("%s: second result %v", c.name, got)
		}
		if got := Data[float32](c.dst[0]); c.name != "both over one" && !slices.Equal(got, []float32{4, 14, 32}) {
			t.Errorf("%s: first result %v", c.name, got)
		}
		x.Assign(FromSlice([]float32{1, 2, 3}))
		y.Assign(FromSlice([]float32{4, 5, 6}))
	}
	w := Zeros(3).RequireGrad()
	for name, into := range map[string]func(){
		"leaf":     func() { f.Into([]*Tensor{w, Zeros(3)}, w, w, 1) },
		"shape":    func() { f.Into([]*Tensor{Zeros(2), Zeros(3)}, Zeros(3), Zeros(3), 1) },
		"expanded": func() { f.Into([]*Tensor{Zeros(1).Expand(3), Zeros(3)}, Zeros(3), Zeros(3), 1) },
		"argument": func() { f.Into([]*Tensor{Zeros(3), Zeros(3)}, Zeros(3), "x", 1) },
	} {
		if Try(into) == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestFusedTwoOfOneExp computes the two softmaxes of one array together: the exp
// that both need waits in the memory of one of the results.
func TestFusedTwoOfOneExp(t *testing.T) {
	f := newGiven("softmaxes", func(x []*ir.Node) []*ir.Node {
		a := op.Reduction{Axes: []int{1}}
		return []*ir.Node{op.Apply(op.LogSoftmax, a, x[0]), op.Apply(op.Softmax, a, x[0])}
	})
	x := noise(3, 4, 5, 90)
	onBackends(t, func(t *testing.T) {
		log, soft := ZerosLike(x), ZerosLike(x)
		f.Into([]*Tensor{log, soft}, x)
		if Digest(log, soft) != Digest(x.LogSoftmax(1), x.Softmax(1)) {
			t.Error("together they have other bits than one after the other")
		}
	})
}

// fusedPair is one call of a formula: what it writes and its arguments.
type fusedPair struct {
	dst  []*Tensor
	args []any
}

func pairs(ps []fusedPair) iter.Seq2[[]*Tensor, []any] {
	return func(yield func([]*Tensor, []any) bool) {
		var dst []*Tensor
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
	parts := func() (ps []fusedPair, all []*Tensor) {
		for i := range 40 {
			var w *Tensor
			switch size := 7 << (i * 5 % 13); {
			case i == 11:
				w = Zeros(0, 3)
			case i%10 == 3:
				w = noise(uint32(i), 2, size, 3).T()
			case i%10 == 6:
				w = noise(uint32(i), 2, 3, size)
			default:
				w = noise(uint32(i), 2, size)
			}
			v := ZerosLike(w)
			g := noise(uint32(100+i), 2, w.Shape()...)
			if i%10 == 8 {
				g = noise(uint32(100+i), 2, 1).Expand(w.Shape()...)
			}
			ps = append(ps, fusedPair{[]*Tensor{w, v}, []any{w, v, g, 0.5 + float64(i)}})
			all = append(all, w, v)
		}
		return ps, all
	}
	defer par.SetThreads(par.SetThreads(1))
	onBackends(t, func(t *testing.T) {
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
			threaded, grouped := cpu.Counters.Threaded.Load(), cpu.Counters.Grouped.Load()
			for range 3 {
				pull.IntoAll(pairs(ps))
			}
			threaded, grouped = cpu.Counters.Threaded.Load()-threaded, cpu.Counters.Grouped.Load()-grouped
			// All but an empty one and four that are not contiguous, three times.
			if want := min(int64(threads)-1, 1) * 3 * 35; grouped != want {
				t.Errorf("%d threads: %d launches shared a hand-off, want %d", threads, grouped, want)
			}
			if threads == 1 && threaded != 0 {
				t.Errorf("one thread: %d hand-offs", threaded)
			}
			if Digest(all...) != Digest(one...) {
				t.Errorf("%d threads: other bits than one after the other", threads)
			}
			for i, x := range all {
				if a, b := x.v().Store.Version(), one[i].v().Store.Version(); a != b {
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
	for name, second := range map[string]func(a *Tensor) (w, g *Tensor){
		"reads what was written":      func(a *Tensor) (w, g *Tensor) { return Zeros(n), a },
		"reads a part of it":          func(a *Tensor) (w, g *Tensor) { return Zeros(n / 2), a.Slice(Range(n/2, n)) },
		"writes it again":             func(a *Tensor) (w, g *Tensor) { return a, Zeros(n) },
		"writes a part of it":         func(a *Tensor) (w, g *Tensor) { return a.Slice(Range(7, 1007)), Zeros(1000) },
		"another storage, one memory": func(a *Tensor) (w, g *Tensor) { return FromSlice(base[1:]), Zeros(n - 1) },
	} {
		run := func(into func([]fusedPair)) string {
			clear(base)
			a := FromSlice(base)
			w, g := second(a)
			ps := []fusedPair{
				{[]*Tensor{a, Zeros(n)}, []any{a, noise(1, 1, n), noise(2, 1, n), 2.0}},
				{[]*Tensor{w, ZerosLike(w)}, []any{w, ZerosLike(w), g, 3.0}},
				{[]*Tensor{Zeros(n), Zeros(n)}, []any{noise(3, 1, n), a, noise(4, 1, n), 3.0}},
			}
			into(ps)
			var all []*Tensor
			for _, p := range ps {
				all = append(all, p.dst...)
			}
			return fmt.Sprint(Digest(all...))
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
	x, y := Zeros(3), Zeros(3)
	err := Try(func() {
		pull.IntoAll(func(yield func([]*Tensor, []any) bool) {
			yield([]*Tensor{x, y}, []any{x, y, x, 1.0})
			x.Release()
		})
	})
	if err == nil || !slices.Equal(Data[float32](y), []float32{0, 0, 0}) {
		t.Errorf("released: error %v, wrote %v", err, y)
	}
}

// The same tensors as arguments and results in other parts are another plan: what has
// been computed from one argument into two places is refused for two and one.
func TestFusedPartsInKey(t *testing.T) {
	f := newGiven("parts", func(x []*ir.Node) []*ir.Node {
		y := op.Apply(op.Neg, nil, x[0])
		return []*ir.Node{y, op.Apply(op.Add, nil, x[0], y)}
	})
	x, a, b := Ones(3), Zeros(3), Zeros(3)
	f.Into([]*Tensor{a, b}, x)
	a.Fill(7)
	for name, into := range map[string]func(){
		"Into":    func() { f.Into([]*Tensor{b}, x, a) },
		"IntoAll": func() { f.IntoAll(func(yield func([]*Tensor, []any) bool) { yield([]*Tensor{b}, []any{x, a}) }) },
	} {
		if err := Try(into); err == nil {
			t.Errorf("%s: two arguments and one place pass for one and two", name)
		}
	}
	if got := Data[float32](a); !slices.Equal(got, []float32{7, 7, 7}) {
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
		ops = append(ops, core.AsOperand[Tensor](f.f.Def.Name, "", x))
	}
	do(ops)
}

func (f *givenFused) Into(dst []*Tensor, args ...any) {
	f.with(args, func(ops []core.Operand) { f.f.Into(core.Inner(dst), ops) })
}

func (f *givenFused) IntoAll(calls iter.Seq2[[]*Tensor, []any]) {
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

func (f *givenFused) IntoRows(places *Tensor, dst []*Tensor, args ...any) {
	f.with(args, func(ops []core.Operand) { f.f.IntoRows(places.c(), core.Inner(dst), ops) })
}

func (f *givenFused) InPlace(dst []*Tensor, args ...any) (in bool) {
	f.with(args, func(ops []core.Operand) { in = f.f.InPlace(core.Inner(dst), ops) })
	return in
}
