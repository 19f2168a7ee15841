package nn_test

import (
	"testing"

	"weft"
	"weft/internal/device"
	"weft/nn"
	"weft/optim"
)

// Layers that divide by the number of examples, their losses and an optimizer: a batch of another
// size compiles no kernel. (Division of arrays by a power of two is a product, another kernel.)
func TestNewBatchSizeReusesKernels(t *testing.T) {
	net := nn.Sequential{nn.NewLinear(20, 30), nn.NewBatchNorm1d(30), nn.Tanh{}, nn.NewLinear(30, 40), nn.NewLayerNorm([]int{40}), nn.Tanh{}, nn.NewLinear(40, 5)}
	opt := optim.NewAdam(nn.Params(net), optim.AdamOpts{LR: new(0.01)})
	step := weft.Compile(func(x, y *weft.Tensor) *weft.Tensor {
		p := net.Forward(x)
		d := p.Sub(y)
		l := d.Mul(d).Mean().Add(p.Std().Mul(0.1)).Add(p.Var(0).Mean())
		l.Backward()
		opt.Step()
		opt.ZeroGrad()
		return l
	})
	for i, n := range []int{60, 50, 61, 33, 40} {
		before := device.Get(0).Counters().Compiled.Load()
		if _, err := step.Call(weft.Rand(n, 20), weft.Rand(n, 5)); err != nil {
			t.Fatal(err)
		}
		if made := device.Get(0).Counters().Compiled.Load() - before; (i == 0) != (made > 0) {
			t.Errorf("%d kernels compiled for a batch of %d", made, n)
		}
	}
}
