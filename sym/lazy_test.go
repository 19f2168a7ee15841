package sym_test

import (
	"math"
	"testing"

	"weft"
	"weft/internal/tensortest"
	"weft/sym"
)

// counting returns operations that give their arguments and count their calls by name, and their
// gradients, which count too.
func counting(ran map[string]int) func(name string, v *sym.Var) *sym.Var {
	return func(name string, v *sym.Var) *sym.Var {
		count := func(name string) func(x []*weft.Tensor) ([]*weft.Tensor, error) {
			return func(x []*weft.Tensor) ([]*weft.Tensor, error) {
				ran[name]++
				return []*weft.Tensor{x[0].Clone()}, nil
			}
		}
		a := sym.Vector("a", weft.Float64)
		o := sym.Op{Name: name, Forward: count(name)}
		back := sym.Op{Name: name + " backward", Forward: count(name + " backward")}
		return sym.OpFromGraph([]*sym.Var{a}, o.Apply(a), sym.GraphOpts{Name: name, Gradient: func(x, y, dy []*sym.Var) []*sym.Var {
			return back.Apply(dy[0])
		}})(v)[0]
	}
}

// What was made outside of a branch and one side alone needs is computed, and differentiated, where
// that side is taken: chains of operations, in branches within branches, in loops, with Givens.
func TestIfElseIsLazyOutside(t *testing.T) {
	ran := map[string]int{}
	op := counting(ran)
	x, c := sym.Vector("x", weft.Float64), sym.Scalar("c", weft.Bool)
	X := []float64{1, 2, 3}
	side := func(v ...*sym.Var) func() []*sym.Var { return func() []*sym.Var { return v } }
	for name, k := range map[string]struct {
		make      func() *sym.Var
		yes, no   func(v float64) float64
		ran, lazy []string // where c holds, beyond what always runs; and where it does not
		both      []string
	}{
		"chain": {make: func() *sym.Var {
			a := op("a", x.Mul(2))
			b := op("b", a.Exp())
			return sym.IfElse(c, side(b), side(op("d", x)))[0]
		}, yes: func(v float64) float64 { return math.Exp(2 * v) }, no: func(v float64) float64 { return v },
			ran: []string{"a", "b"}, lazy: []string{"d"}},
		"needed elsewhere": {make: func() *sym.Var {
			a := op("a", x.Mul(2))
			return sym.IfElse(c, side(op("b", a)), side(x))[0].Add(a)
		}, yes: func(v float64) float64 { return 4 * v }, no: func(v float64) float64 { return 3 * v },
			ran: []string{"b"}, both: []string{"a"}},
		"needed by both": {make: func() *sym.Var {
			a := op("a", x.Mul(2))
			return sym.IfElse(c, side(op("b", a)), side(a.Neg()))[0]
		}, yes: func(v float64) float64 { return 2 * v }, no: func(v float64) float64 { return -2 * v },
			ran: []string{"b"}, both: []string{"a"}},
		"nested": {make: func() *sym.Var {
			a, b := op("a", x.Mul(2)), op("b", x.Mul(3))
			in := sym.IfElse(x.Sum().Gt(1e9), side(a), side(b))[0]
			return sym.IfElse(c, side(in.Add(1)), side(x))[0]
		}, yes: func(v float64) float64 { return 3*v + 1 }, no: func(v float64) float64 { return v },
			ran: []string{"b"}},
		"made within": {make: func() *sym.Var {
			return sym.IfElse(c, func() []*sym.Var {
				a, b := op("a", x.Mul(2)), op("b", x.Mul(3))
				return sym.IfElse(x.Sum().Gt(1e9), side(a), side(b))
			}, side(x))[0]
		}, yes: func(v float64) float64 { return 3 * v }, no: func(v float64) float64 { return v },
			ran: []string{"b"}},
		"one after the other": {make: func() *sym.Var {
			a := op("a", x.Mul(2))
			first := sym.IfElse(c, side(a), side(x))[0]
			b := op("b", first.Mul(5))
			return sym.IfElse(c, side(first), side(b))[0]
		}, yes: func(v float64) float64 { return 2 * v }, no: func(v float64) float64 { return 5 * v },
			ran: []string{"a"}, lazy: []string{"b"}},
	} {
		y := k.make()
		z := sym.Vector("z", weft.Float64)
		g := sym.Grad(y.Sum(), []*sym.Var{x})[0]
		plain := fn(t, sym.In(x, c), sym.Out(y, g))
		given := fn(t, sym.In(z, c), sym.Out(y, g), sym.Givens{x: z.Mul(1)})
		for i, f := range []func(args ...any) []*weft.Tensor{plain, given} {
			for _, yes := range []bool{true, false} {
				clear(ran)
				got := f(weft.FromSlice(append([]float64{}, X...)), yes)
				want, h := k.no, 1e-6
				if yes {
					want = k.yes
				}
				var value, slope []float64
				for _, v := range X {
					value, slope = append(value, want(v)), append(slope, (want(v+h)-want(v-h))/(2*h))
				}
				tensortest.Near(t, name, got[0], value, 1e-12)
				tensortest.Near(t, name+": gradient", got[1], slope, 1e-6)
				allowed := map[string]bool{}
				list := k.lazy
				if yes {
					list = k.ran
				}
				for _, o := range append(append([]string{}, list...), k.both...) {
					allowed[o], allowed[o+" backward"] = true, true
					if ran[o] == 0 || ran[o+" backward"] == 0 {
						t.Errorf("%s, function %d, %v: %s did not run: %v", name, i, yes, o, ran)
					}
				}
				for o := range ran {
					if !allowed[o] {
						t.Errorf("%s, function %d, %v: %s ran", name, i, yes, o)
					}
				}
			}
		}
	}
	// In each step of a loop.
	clear(ran)
	o := &sym.Op{Name: "counted", Forward: func(x []*weft.Tensor) ([]*weft.Tensor, error) {
		ran["step"]++
		return []*weft.Tensor{x[0].Clone()}, nil
	}}
	steps := sym.Map(func(e ...*sym.Var) *sym.Var {
		a := o.Apply(e[0].Mul(2))[0]
		return sym.IfElse(e[0].Gt(1.5), side(a), side(e[0]))[0]
	}, x)
	tensortest.Near(t, "loop", fn(t, sym.In(x), sym.Out(steps))(weft.FromSlice(X))[0], []float64{1, 4, 6}, 0)
	if ran["step"] != 2 {
		t.Errorf("the operation ran in %d steps of 3", ran["step"])
	}
}

// Random numbers drawn outside and needed by one side are the same with and without it.
func TestLazyDraws(t *testing.T) {
	x, c := sym.New("x", weft.Float64, 3), sym.Scalar("c", weft.Bool)
	var got [2][]float64
	for k := range got {
		u := sym.NewRandomStreams(3).Uniform(weft.Float64, 0, 1, 3)
		m := sym.NewMRGStreams(3).Uniform(weft.Float64, 0, 1, 3)
		outs := sym.IfElse(c, func() []*sym.Var { return []*sym.Var{x.Add(u).Add(m)} }, func() []*sym.Var { return []*sym.Var{x} })
		if k == 1 {
			outs = append(outs, u, m) // needed elsewhere, so drawn outside
		}
		f := fn(t, sym.In(x, c), sym.Out(outs...))
		for i := range 4 {
			got[k] = append(got[k], weft.Data[float64](f(weft.FromSlice([]float64{1, 2, 3}), i != 1)[0])...)
		}
	}
	tensortest.Near(t, "draws", weft.FromSlice(got[0]), got[1], 0)
}
