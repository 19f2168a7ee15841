package sym_test

import (
	"os"
	"testing"

	"weft"
	"weft/internal/tensortest"
	"weft/sym"
)

// counted returns its argument by an operation that counts its calls.
func counted(calls *int, v *sym.Var) *sym.Var {
	o := &sym.Op{Name: "counted", Forward: func(x []*weft.Tensor) ([]*weft.Tensor, error) {
		*calls++
		return []*weft.Tensor{x[0].Clone()}, nil
	}, Backward: func(_, _, dy []*weft.Tensor) []*weft.Tensor { return dy }}
	return o.Apply(v)[0]
}

// A state that no result is computed from is not computed, neither in the loop nor in the loop of
// its gradients, although it reads the state that is.
func TestScanUnreadState(t *testing.T) {
	const steps, n = 9, 4
	g := weft.NewGenerator(1)
	X, W := g.RandnOf(weft.Float64, steps, n), g.RandnOf(weft.Float64, n, n)
	calls := 0
	var got [2][]*weft.Tensor
	for k := range got {
		x, h0, w := sym.Matrix("x", weft.Float64), sym.Vector("h0", weft.Float64), sym.Shared("w", W)
		o := sym.ScanOpts{Sequences: []any{x}, Initial: []any{h0}}
		if k == 1 {
			o.Initial = append(o.Initial, h0, h0)
		}
		r := sym.Scan(o, func(s sym.Step) sym.Next {
			h := s.X[0].Add(w.MatMul(s.H[0])).Tanh()
			next := sym.Next{H: []*sym.Var{h}, Out: []*sym.Var{h.Exp()}}
			if k == 1 {
				next.H = append(next.H, s.H[2].Add(h).Sin(), counted(&calls, s.H[1].Mul(h)))
				next.Out = append(next.Out, s.H[2].Cos())
			}
			return next
		})
		cost := r.Last[0].Sum().Add(r.Out[0].Mul(0.1).Sum())
		outs := append([]*sym.Var{r.Last[0], r.H[0], r.Out[0]}, sym.Grad(cost, []*sym.Var{x, h0, w})...)
		got[k] = call(t, []*sym.Var{x, h0}, outs, X, weft.Ones(n).To(weft.Float64))
	}
	for i, want := range got[0] {
		tensortest.Near(t, "result", got[1][i], weft.Data[float64](want), 0)
	}
	if calls != 0 && os.Getenv("WEFT_COMPILE") != "off" { // where nothing is rewritten, all is computed
		t.Errorf("the unread states were computed %d times", calls)
	}
}
