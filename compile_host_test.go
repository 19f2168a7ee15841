package weft_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"weft"
	"weft/nn"
	"weft/optim"
)

// What decides by values on the host eagerly is computed by each call of a compiled function,
// with the same bits: limits of gradients' norms, on both sides of the limit, shares of
// batches, random orders.
func TestCompileDecides(t *testing.T) {
	for _, limit := range []float64{0.05, 1e6} {
		step := func() (func(x, y *weft.Tensor) *weft.Tensor, func() []*weft.Tensor) {
			g := weft.NewGenerator(4)
			m := &struct {
				A, B *nn.Linear
				N    *nn.BatchNorm1d
			}{nn.NewLinear(6, 8, nn.Opts{Generator: g}), nn.NewLinear(8, 3, nn.Opts{Generator: g}), nn.NewBatchNorm1d(8, nn.BatchNormOpts{Cumulative: true})}
			o := optim.NewSGD(nn.Params(m), optim.SGDOpts{LR: new(0.1), Momentum: 0.9})
			order := weft.NewGenerator(8)
			return func(x, y *weft.Tensor) *weft.Tensor {
					p := order.Randperm(x.Dim(0))
					loss := nn.CrossEntropy(m.B.Forward(m.N.Forward(m.A.Forward(x.IndexSelect(0, p)))), y.IndexSelect(0, p))
					loss.Backward()
					optim.ClipNorm(nn.Params(m), limit)
					o.Step()
					o.ZeroGrad()
					return loss
				}, func() []*weft.Tensor {
					return []*weft.Tensor{m.A.Weight, m.B.Bias, m.N.RunningMean, m.N.RunningVar, m.N.NumBatchesTracked}
				}
		}
		f, want := step()
		h, got := step()
		c := weft.Compile(h)
		g := weft.NewGenerator(5)
		for i := range 4 {
			x, y := g.Randn(10, 6), g.Randint(0, 3, 10)
			loss, err := c.Call(x, y)
			if err != nil {
				t.Fatal(i, err)
			}
			sameBits(t, "loss", loss, f(x, y))
		}
		for i, w := range want() {
			sameBits(t, "state", got()[i], w)
		}
	}
	// A gradient that is not finite makes all of them so, as eagerly.
	w := weft.Ones(2).RequireGrad()
	clip := weft.Compile(func(x *weft.Tensor) *weft.Tensor {
		w.Mul(x).Sum().Backward()
		norm := optim.ClipNorm(nn.Params([]*weft.Tensor{w}), 1)
		if !math.IsNaN(norm) {
			t.Errorf("the norm of a traced gradient is %v", norm)
		}
		d := w.Grad().Clone()
		w.SetGrad(nil)
		return d
	})
	for _, x := range []*weft.Tensor{weft.FromSlice([]float32{3, 4}), weft.FromSlice([]float32{float32(math.NaN()), 1}), weft.FromSlice([]float32{float32(math.Inf(1)), 1})} {
		w.Mul(x).Sum().Backward()
		optim.ClipNorm(nn.Params([]*weft.Tensor{w}), 1)
		want := w.Grad().Clone()
		w.SetGrad(nil)
		got, err := clip.Call(x)
		if err != nil {
			t.Fatal(err)
		}
		sameBits(t, "clipped", got, want)
	}
}

// A call ends when its context does.
func TestCompileContext(t *testing.T) {
	c := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return x.MatMul(x).Exp().Sum() })
	x := weft.Ones(30, 30)
	if _, err := c.CallContext(context.Background(), x); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var e *weft.Error
	if _, err := c.CallContext(ctx, x); !errors.Is(err, context.Canceled) || !errors.As(err, &e) {
		t.Errorf("got %v", err)
	}
	var none context.Context
	if _, err := c.CallContext(none, x); !errors.As(err, &e) {
		t.Errorf("got %v", err)
	}
}
