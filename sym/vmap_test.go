package sym_test

import (
	"testing"

	"weft"
	"weft/internal/tensortest"
	"weft/sym"
)

// A mapped function with loops and branches gives what it gives for each example, bit for
// bit, with its gradients by what differs and by what examples share.
func TestVmapLoops(t *testing.T) {
	const n = 4
	gen := weft.NewGenerator(7)
	X, H, W := gen.RandnOf(weft.Float64, n, 5, 2), gen.RandnOf(weft.Float64, n, 1, 2), gen.RandnOf(weft.Float64, 2, 2)
	for name, f := range map[string]func(x, h, w *sym.Var) *sym.Var{
		"network": func(x, h, w *sym.Var) *sym.Var {
			return sym.Scan(sym.ScanOpts{Sequences: []any{x}, Initial: []any{h}}, func(s sym.Step) sym.Next {
				return sym.Next{H: []*sym.Var{s.H[0].MatMul(w).Add(s.X[0]).Tanh()}}
			}).Last[0]
		},
		"taps": func(x, h, w *sym.Var) *sym.Var {
			r := sym.Scan(sym.ScanOpts{Sequences: []any{sym.Taps{Var: x, At: []int{-1, 0, 1}}}, Initial: []any{sym.Taps{Var: x.Slice(weft.Range(0, 2)), At: []int{-2, -1}}}},
				func(s sym.Step) sym.Next {
					y := s.H[0].Mul(s.X[0]).Add(s.H[1].Sin()).Add(s.X[2])
					return sym.Next{H: []*sym.Var{y}, Out: []*sym.Var{y.Mul(s.X[1])}}
				})
			return r.Out[0].Add(r.H[0]).MatMul(w)
		},
		"until": func(x, h, w *sym.Var) *sym.Var {
			r := sym.Scan(sym.ScanOpts{Sequences: []any{x}, Initial: []any{h}}, func(s sym.Step) sym.Next {
				y := s.H[0].Abs().Add(s.X[0].Square()).MatMul(w.Abs())
				return sym.Next{H: []*sym.Var{y}, Out: []*sym.Var{y.Log()}, Until: y.Sum().Gt(3)}
			})
			return r.Last[0].Sum().Add(r.Out[0].Sin().Sum()).Add(r.H[0].Cos().Sum())
		},
		"branch": func(x, h, w *sym.Var) *sym.Var {
			s := x.Sum()
			return sym.IfElse(s.Gt(0), func() []*sym.Var { return []*sym.Var{s.Log().Mul(w).MatMul(w)} }, func() []*sym.Var { return []*sym.Var{s.Neg().Sqrt().Mul(w)} })[0]
		},
		"steps between": func(x, h, w *sym.Var) *sym.Var {
			return sym.Scan(sym.ScanOpts{Sequences: []any{x}, Initial: []any{h}, Checkpoint: new(2)}, func(s sym.Step) sym.Next {
				return sym.Next{H: []*sym.Var{s.H[0].MatMul(w).Add(s.X[0]).Sin()}}
			}).Last[0]
		},
		"gradient of one": func(x, h, w *sym.Var) *sym.Var {
			y := sym.FoldL(func(x, h *sym.Var) *sym.Var { return h.MatMul(w).Add(x).Sin() }, x, h)
			return sym.Grad(y.Square().Sum(), []*sym.Var{x})[0]
		},
	} {
		t.Run(name, func(t *testing.T) {
			x, h, w := sym.Tensor3("x", weft.Float64), sym.Tensor3("h", weft.Float64), sym.Matrix("w", weft.Float64)
			many := sym.Vmap(func(x ...*sym.Var) *sym.Var { return f(x[0], x[1], w) })(x, h)
			var list []*sym.Var
			for e := range n {
				list = append(list, f(x.Slice(weft.Index(e)), h.Slice(weft.Index(e)), w))
			}
			one := sym.Stack(list, 0)
			outs := []*sym.Var{many, one}
			for _, y := range outs[:2] {
				outs = append(outs, sym.Grad(y.Square().Sum(), []*sym.Var{x, h, w}, sym.GradOpts{Disconnected: true})...)
			}
			got := call(t, []*sym.Var{x, h, w}, outs, X, H, W)
			for i, v := range weft.Data[float64](got[0]) {
				if u := weft.Data[float64](got[1])[i]; u != v && (u == u || v == v) {
					t.Fatalf("element %d: %v, one by one %v", i, v, u)
				}
			}
			for i, what := range []string{"gradient by x", "by h", "by w"} {
				tensortest.Near(t, what, got[2+i], weft.Data[float64](got[5+i]), 1e-10)
			}
		})
	}
	// Axes, and what examples share.
	x, y := sym.Matrix("x", weft.Float64), sym.Vector("y", weft.Float64)
	d := sym.Vmap(func(x ...*sym.Var) *sym.Var { return x[0].Mul(x[1]).Sum() }, 1, weft.Unmapped)(x, y)
	tensortest.Near(t, "axes", call(t, []*sym.Var{x, y}, []*sym.Var{d}, weft.FromSlice([]float64{1, 2, 3, 4}, 2, 2), weft.FromSlice([]float64{1, 10}))[0], []float64{31, 42}, 1e-10)
}
