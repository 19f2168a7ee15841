package optim_test

import (
	"fmt"

	"weft"
	"weft/nn"
	"weft/optim"
)

func Example() {
	g := weft.NewGenerator(1)
	x := g.Randn(100, 3)
	y := x.MatMul(weft.FromSlice([]float32{1, -2, 3}, 3, 1)).Add(0.5)

	net := nn.NewLinear(3, 1, nn.Opts{Generator: g})
	opt := optim.NewAdam(nn.Params(net), optim.AdamOpts{LR: 0.1})
	for range 500 {
		scope := weft.NewScope() // gives the temporaries of a step back at once
		loss := nn.MSE(net.Forward(scope.Track(x)), y)
		opt.ZeroGrad()
		loss.Backward()
		opt.Step()
		scope.Close()
	}
	fmt.Printf("%.2f %.2f\n", weft.Data[float32](net.Weight), weft.Data[float32](net.Bias))
	// Output: [1.00 -2.00 3.00] [0.50]
}

// A learning rate that falls from step to step is a call.
func ExampleSGD() {
	w := weft.FromSlice([]float32{1}).RequireGrad()
	opt := optim.NewSGD(nn.Params([]*weft.Tensor{w}), optim.SGDOpts{LR: 0.25, Momentum: 0.5})
	for step := range 3 {
		opt.ZeroGrad()
		w.Square().Sum().Backward()
		opt.Step()
		fmt.Printf("step %d  rate %.4f  w %.4f\n", step, opt.LR(), w.Item())
		opt.SetLR(opt.LR() / 2)
	}
	// Output:
	// step 0  rate 0.2500  w 0.5000
	// step 1  rate 0.1250  w 0.2500
	// step 2  rate 0.0625  w 0.1562
}

// The state of an optimizer is tensors by name, as that of a module.
func ExampleOptimizer() {
	w := weft.FromSlice([]float32{1, 2}).RequireGrad()
	params := map[string]*weft.Tensor{"w": w}
	var opt optim.Optimizer = optim.NewSGD(nn.Params(params), optim.SGDOpts{LR: 0.5, Momentum: 0.9})
	w.Sum().Backward()
	opt.Step()
	fmt.Println(weft.Data[float32](opt.State()["momentum.w"]), opt.State()["steps.w"].ItemInt())
	// Output: [1 1] 1
}
