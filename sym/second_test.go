package sym_test

import (
	"testing"

	"weft"
	"weft/internal/tensortest"
	"weft/sym"
)

// Second and third derivatives of loops and branches, of functions with gradients of their own,
// equal those computed by the same steps one after the other.
func TestScanOwnSecond(t *testing.T) {
	x, h0 := sym.Vector("x", weft.Float64), sym.Scalar("h0", weft.Float64)
	X := weft.FromSlice([]float64{1, 2, 3})
	a, b := sym.Scalar("a", weft.Float64), sym.Scalar("b", weft.Float64)
	// The gradient is another function's, which is no constant.
	other := sym.OpFromGraph([]*sym.Var{a, b}, []*sym.Var{a.Sin().Mul(b)}, sym.GraphOpts{Name: "other", Gradient: func(in, y, dy []*sym.Var) []*sym.Var {
		return []*sym.Var{dy[0].Mul(in[0].Square()).Mul(in[1]), dy[0].Mul(y[0])}
	}})
	for name, f := range map[string]func(x, h *sym.Var) *sym.Var{
		"clipped":  func(x, h *sym.Var) *sym.Var { return sym.GradClip(h.Mul(x).Sin(), -1.5, 1.5) },
		"scaled":   func(x, h *sym.Var) *sym.Var { return sym.GradScale(h.Mul(x).Sin(), 0.5).Square() },
		"zero":     func(x, h *sym.Var) *sym.Var { return h.Mul(sym.ZeroGrad(x.Sin())).Sin() },
		"cut":      func(x, h *sym.Var) *sym.Var { return h.Square().Mul(sym.DisconnectedGrad(h.Mul(x))) },
		"override": func(x, h *sym.Var) *sym.Var { return other(h, x)[0].Add(h.Square()) },
		"nested": func(x, h *sym.Var) *sym.Var {
			return sym.FoldL(func(z, h *sym.Var) *sym.Var { return other(h.Mul(z), x)[0] }, sym.Stack([]*sym.Var{x, h.Cos()}, 0), h)
		},
		"branch": func(x, h *sym.Var) *sym.Var {
			return sym.IfElse(h.Gt(0.3), func() []*sym.Var { return []*sym.Var{other(h, x)[0]} }, func() []*sym.Var { return []*sym.Var{sym.GradScale(h.Mul(x).Cos(), 2)} })[0]
		},
		"ordinary": func(x, h *sym.Var) *sym.Var { return h.Mul(x).Sin() },
	} {
		t.Run(name, func(t *testing.T) {
			loop := sym.FoldL(func(x, h *sym.Var) *sym.Var { return f(x, h) }, x, h0)
			plain := h0
			for i := range 3 {
				plain = f(x.Slice(weft.Index(i)), plain)
			}
			var outs []*sym.Var
			ask := []*sym.Var{x, h0}
			o := sym.GradOpts{Disconnected: true}
			for _, y := range []*sym.Var{loop, plain} {
				d := sym.Grad(y, ask, o)
				second := sym.Grad(d[0].Sin().Sum().Add(d[1].Square()), ask, o)
				third := sym.Grad(second[0].Mul(x).Sum().Add(second[1]), ask, o)
				outs = append(append(append(append(outs, y), d...), second...), third...)
			}
			got := call(t, []*sym.Var{x, h0}, outs, X, 0.7)
			n := len(outs) / 2
			for i := range n {
				tensortest.Near(t, "derivative "+string(rune('0'+(i+1)/2)), got[i], weft.Data[float64](got[n+i]), 1e-10)
			}
		})
	}
}

// The second derivative of a loop over functions whose own gradients are right is how its first
// derivative changes.
func TestScanSecondByDifferences(t *testing.T) {
	a, b := sym.Scalar("a", weft.Float64), sym.Scalar("b", weft.Float64)
	own := sym.OpFromGraph([]*sym.Var{a, b}, []*sym.Var{a.Mul(b).Sin()}, sym.GraphOpts{Name: "own", Gradient: func(in, y, dy []*sym.Var) []*sym.Var {
		c := dy[0].Mul(in[0].Mul(in[1]).Cos())
		return []*sym.Var{c.Mul(in[1]), c.Mul(in[0])}
	}})
	// A tanh whose gradient is computed from its result.
	tanh := sym.OpFromGraph([]*sym.Var{a}, []*sym.Var{a.Tanh()}, sym.GraphOpts{Name: "tanh", Gradient: func(_, y, dy []*sym.Var) []*sym.Var {
		return []*sym.Var{dy[0].Mul(y[0].Square().Neg().Add(1))}
	}})
	x, h0 := sym.Vector("x", weft.Float64), sym.Scalar("h0", weft.Float64)
	for name, step := range map[string]func(s sym.Step) sym.Next{
		"state": func(s sym.Step) sym.Next { return sym.Next{H: []*sym.Var{own(s.H[0], s.X[0])[0]}} },
		"until": func(s sym.Step) sym.Next {
			h := tanh(own(s.H[0], s.X[0])[0].Add(s.X[0]))[0]
			return sym.Next{H: []*sym.Var{h}, Until: h.Gt(0.99)}
		},
		"nested": func(s sym.Step) sym.Next {
			return sym.Next{H: []*sym.Var{sym.FoldL(func(z, h *sym.Var) *sym.Var { return tanh(own(h, z)[0].Add(s.X[0]))[0] }, x, s.H[0])}}
		},
	} {
		y := sym.Scan(sym.ScanOpts{Sequences: []any{x}, Initial: []any{h0}}, step).Last[0]
		slope := sym.Grad(y.Square(), []*sym.Var{x, h0})
		bend := sym.Grad(slope[0].Sin().Sum().Add(slope[1]), []*sym.Var{x, h0})
		f, err := sym.Function(sym.In(x, h0), sym.Out(slope[0].Sin().Sum().Add(slope[1]), bend[0], bend[1]))
		if err != nil {
			t.Fatal(err)
		}
		at := []float64{0.5, -1.2, 0.8, 1.1, 0.3}
		run := func(p []float64) []*weft.Tensor {
			res, err := f.Call(weft.FromSlice(append([]float64{}, p[:4]...)), p[4])
			if err != nil {
				t.Fatal(err)
			}
			return res
		}
		got := run(at)
		d := append(weft.Data[float64](got[1]), got[2].Item())
		for i := range at {
			const eps = 1e-5
			p := append([]float64{}, at...)
			p[i] += eps
			up := run(p)[0].Item()
			p[i] -= 2 * eps
			if want := (up - run(p)[0].Item()) / (2 * eps); !(d[i]-want <= 1e-7*(1+want*want) && want-d[i] <= 1e-7*(1+want*want)) {
				t.Errorf("%s: derivative %d is %v, by differences %v", name, i, d[i], want)
			}
		}
	}
}
