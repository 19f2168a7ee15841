package sym_test

import (
	"testing"

	"weft"
	"weft/internal/tensortest"
	"weft/sym"
)

// drawn are n draws of a variable, by n calls of a function.
func drawn(t *testing.T, n int, v *sym.Var) (out []*weft.Tensor) {
	t.Helper()
	f, err := sym.Function(sym.In(), sym.Out(v))
	if err != nil {
		t.Fatal(err)
	}
	for range n {
		r, err := f.Call()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r[0])
	}
	return out
}

// Each step of a loop draws what a call of its own would draw, and each call of the function
// goes on from there; gradients see the same draws, whatever they keep.
func TestScanDraws(t *testing.T) {
	const steps = 6
	list := drawn(t, 2*steps, sym.NewRandomStreams(7).Normal(weft.Float64, 0, 1, 3))
	x, h0 := sym.Matrix("x", weft.Float64), sym.Vector("h0", weft.Float64)
	g := weft.NewGenerator(3)
	X, H := g.RandnOf(weft.Float64, steps, 3), g.RandnOf(weft.Float64, 3)
	for name, step := range map[string]func(x, h, r *sym.Var) *sym.Var{
		"plain":        func(x, h, r *sym.Var) *sym.Var { return h.Mul(r).Add(x.Mul(r).Sin()) },
		"own gradient": func(x, h, r *sym.Var) *sym.Var { return sym.GradClip(h.Mul(r), -0.3, 0.3).Add(x.Mul(r).Sin()) },
	} {
		for _, o := range []sym.ScanOpts{{}, {Checkpoint: new(2)}, {Checkpoint: new(4)}} {
			rs := sym.NewRandomStreams(7)
			o.Sequences, o.Initial = []any{x}, []any{h0}
			s := sym.Scan(o, func(s sym.Step) sym.Next {
				return sym.Next{H: []*sym.Var{step(s.X[0], s.H[0], rs.Normal(weft.Float64, 0, 1, 3))}}
			})
			cost := s.H[0].Square().Sum()
			f, err := sym.Function(sym.In(x, h0), sym.Out(append([]*sym.Var{s.H[0]}, sym.Grad(cost, []*sym.Var{x, h0})...)...))
			if err != nil {
				t.Fatal(err)
			}
			for k := range 2 {
				got, err := f.Call(X, H)
				if err != nil {
					t.Fatal(err)
				}
				h := h0
				var by []*sym.Var
				for i := range steps {
					h = step(x.Slice(weft.Index(i)), h, sym.Const(list[k*steps+i]))
					by = append(by, h)
				}
				plain := sym.Stack(by, 0)
				want := call(t, []*sym.Var{x, h0}, append([]*sym.Var{plain}, sym.Grad(plain.Square().Sum(), []*sym.Var{x, h0})...), X, H)
				for i := range want {
					tensortest.Near(t, name, got[i], weft.Data[float64](want[i]), 1e-10)
				}
			}
		}
	}
}

// A loop in a loop draws for each of its steps; a draw from outside is the same in all of them;
// a draw alone, which depends on nothing of the step, is one of the step all the same.
func TestScanDrawsNested(t *testing.T) {
	list := drawn(t, 12, sym.NewRandomStreams(5).Integers(0, 1000))
	rs := sym.NewRandomStreams(5)
	x := sym.Vector("x", weft.Int64)
	var outside *sym.Var
	r := sym.Scan(sym.ScanOpts{Steps: new(3)}, func(sym.Step) sym.Next {
		in := sym.Scan(sym.ScanOpts{Sequences: []any{x}}, func(s sym.Step) sym.Next {
			return sym.Next{Out: []*sym.Var{s.X[0].Add(rs.Integers(0, 1000))}}
		})
		return sym.Next{Out: []*sym.Var{in.Out[0]}}
	})
	outside = sym.NewRandomStreams(6).Integers(0, 1000)
	same := sym.Scan(sym.ScanOpts{Steps: new(3)}, func(sym.Step) sym.Next { return sym.Next{Out: []*sym.Var{outside.Add(0)}} })
	got := call(t, []*sym.Var{x}, []*sym.Var{r.Out[0], same.Out[0], outside}, weft.FromSlice([]int64{0, 1000, 2000, 3000}))
	v := weft.Data[int64](got[0])
	for i := range v {
		if want := list[i].ItemInt() + int64(i%4*1000); v[i] != want {
			t.Errorf("place %d is %d, want %d", i, v[i], want)
		}
	}
	for i, y := range weft.Data[int64](got[1]) {
		if y != got[2].ItemInt() {
			t.Errorf("step %d drew %d, outside it is %d", i, y, got[2].ItemInt())
		}
	}
}

// Both sides of a branch may draw, in loops too; each call is another draw, whichever is taken.
func TestIfElseDraws(t *testing.T) {
	rs := sym.NewRandomStreams(9)
	c, x := sym.Vector("c", weft.Float64), sym.Scalar("x", weft.Float64)
	loop := sym.Scan(sym.ScanOpts{Sequences: []any{c}, Initial: []any{x}}, func(s sym.Step) sym.Next {
		h := sym.IfElse(s.X[0].Gt(0), func() []*sym.Var { return []*sym.Var{s.H[0].Mul(rs.Normal(weft.Float64, 0, 1))} },
			func() []*sym.Var { return []*sym.Var{s.H[0].Add(rs.Uniform(weft.Float64, 0, 1))} })
		return sym.Next{H: h}
	})
	d := sym.Grad(loop.Last[0], []*sym.Var{x})[0]
	f, err := sym.Function(sym.In(c, x), sym.Out(loop.Last[0], d))
	if err != nil {
		t.Fatal(err)
	}
	two := sym.NewRandomStreams(9)
	normal, uniform := drawn(t, 8, two.Normal(weft.Float64, 0, 1)), drawn(t, 8, two.Uniform(weft.Float64, 0, 1))
	for k := range 2 {
		cond := []float64{1, -1, -1, 1}
		got, err := f.Call(weft.FromSlice(cond), 2.0)
		if err != nil {
			t.Fatal(err)
		}
		h, slope := 2.0, 1.0
		for i, c := range cond {
			if c > 0 {
				h *= normal[4*k+i].Item()
				slope *= normal[4*k+i].Item()
			} else {
				h += uniform[4*k+i].Item()
			}
		}
		tensortest.Near(t, "value", got[0], []float64{h}, 1e-10)
		tensortest.Near(t, "gradient", got[1], []float64{slope}, 1e-10)
	}
}
