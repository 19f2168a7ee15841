package sym_test

import (
	"fmt"
	"os"
	"testing"

	"weft"
	"weft/internal/device"
	"weft/internal/device/deferred"
	"weft/internal/tensortest"
	"weft/sym"
)

// Whatever states a loop keeps, results and gradients of states and sequences have the same bits:
// with loops that end early, gradients through the last steps alone, states further back and draws.
// Gradients of constants of the loop are summed in another order.
func TestCheckpointSameBits(t *testing.T) {
	const steps, n = 11, 3
	g := weft.NewGenerator(1)
	X, H, W := g.RandnOf(weft.Float64, steps, n), g.RandnOf(weft.Float64, 2, n), g.RandnOf(weft.Float64, n, n)
	V := g.RandnOf(weft.Float64, n)
	for name, o := range map[string]sym.ScanOpts{"all": {}, "until": {}, "until at once": {}, "truncated": {Truncate: new(5)}, "truncated far": {Truncate: new(40)}, "backwards": {Backwards: true}} {
		var plain []*weft.Tensor
		for _, every := range []*int{nil, new(2), new(4), new(10), new(11), new(sym.SqrtSteps)} {
			x, h0, w, v := sym.Matrix("x", weft.Float64), sym.Matrix("h0", weft.Float64), sym.Shared("w", W), sym.Shared("v", V)
			u := sym.NewRandomStreams(5)
			o.Sequences, o.Initial, o.Checkpoint = []any{x}, []any{sym.Taps{Var: h0, At: []int{-2, -1}}, sym.Const(weft.ScalarOf(weft.Int64, int64(0)))}, every
			r := sym.Scan(o, func(s sym.Step) sym.Next {
				h := s.X[0].Add(w.MatMul(s.H[0])).Add(s.H[1].Mul(v)).Tanh().Mul(u.Uniform(weft.Float64, 0.5, 1, n))
				next := sym.Next{H: []*sym.Var{h, s.H[2].Add(1)}, Out: []*sym.Var{h.Square().Sum()}}
				switch name {
				case "until":
					next.Until = s.H[2].Ge(6)
				case "until at once":
					next.Until = s.H[2].Ge(0)
				}
				return next
			})
			cost := r.Last[0].Sum().Add(r.Out[0].Mul(0.3).Sum()).Add(r.H[0].Mul(0.2).Sum())
			outs := append([]*sym.Var{r.Last[0], r.Last[1], r.H[0], r.Out[0]}, sym.Grad(cost, []*sym.Var{x, h0, w, v})...)
			if r.Count != nil {
				outs = append(outs, r.Count)
			}
			got := call(t, []*sym.Var{x, h0}, outs, X, H)
			if plain == nil {
				plain = got
				continue
			}
			for i, want := range plain {
				bound := 0.0
				if i == 6 || i == 7 || os.Getenv("WEFT_COMPILE") == "off" {
					bound = 1e-13
				}
				tensortest.Near(t, fmt.Sprint(name, " every ", *every, " result ", i), got[i], weft.Data[float64](want.To(weft.Float64)), bound)
			}
		}
	}
}

// Second derivatives go through loops that keep some states.
func TestCheckpointSecondDerivative(t *testing.T) {
	X := weft.FromSlice([]float64{1, 2, 3, 0.5, -1, 0.25, 2})
	var plain *weft.Tensor
	for _, every := range []*int{nil, new(2), new(sym.SqrtSteps)} {
		x, h0 := sym.Vector("x", weft.Float64), sym.Scalar("h0", weft.Float64)
		r := sym.Scan(sym.ScanOpts{Sequences: []any{x}, Initial: []any{h0}, Checkpoint: every}, func(s sym.Step) sym.Next {
			return sym.Next{H: []*sym.Var{s.H[0].Mul(0.5).Add(s.X[0]).Sin()}}
		})
		got := call(t, []*sym.Var{x, h0}, sym.Hessian(r.Last[0].Square(), x), X, 0.7)[0]
		if plain == nil {
			plain = got
		}
		tensortest.Near(t, "Hessian", got, weft.Data[float64](plain), 1e-12)
	}
}

// Gradients that keep states by SqrtSteps need memory of the order of the square root of the steps.
func TestCheckpointMemory(t *testing.T) {
	if os.Getenv("WEFT_COMPILE") == "off" {
		t.Skip("SKIPPED: the tape keeps what each operation needs")
	}
	if _, late := device.Get(0).(*deferred.Device); late {
		t.Skip("SKIPPED: a device that works late gives memory back late")
	}
	const steps, n = 900, 4096 // 14 MiB of states
	var peaks []int64
	for _, o := range []sym.ScanOpts{{}, {Checkpoint: new(sym.SqrtSteps)}, {Checkpoint: new(7)}, {Checkpoint: new(sym.SqrtSteps), Truncate: new(600)}} {
		x, h0, w := sym.Vector("x", weft.Float32), sym.Vector("h0", weft.Float32), sym.Shared("w", weft.Full(0.9, n))
		o.Sequences, o.Initial = []any{x}, []any{h0}
		r := sym.Scan(o, func(s sym.Step) sym.Next {
			h := s.H[0].Mul(w).Add(s.X[0]).Tanh()
			return sym.Next{H: []*sym.Var{h}, Out: []*sym.Var{h.Square().Sum()}}
		})
		f, err := sym.Function(sym.In(x, h0), sym.Out(sym.Grad(r.Out[0].Sum(), []*sym.Var{x, w})...))
		if err != nil {
			t.Fatal(err)
		}
		peaks = append(peaks, tensortest.Peak(func() { _, err = f.Call(weft.Ones(steps), weft.Ones(n)) }))
		if err != nil {
			t.Fatal(err)
		}
	}
	for i, part := range []int64{8, 4, 8} {
		if peaks[i+1] > peaks[0]/part {
			t.Errorf("peak %d is %d bytes, want at most an %dth of %d", i+1, peaks[i+1], part, peaks[0])
		}
	}
}
