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
	opt := optim.NewAdam(nn.Params(net), optim.AdamOpts{LR: new(0.1)})
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
	opt := optim.NewSGD(nn.Params([]*weft.Tensor{w}), optim.SGDOpts{LR: new(0.25), Momentum: 0.5})
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
	var opt optim.Optimizer = optim.NewSGD(nn.Params(params), optim.SGDOpts{LR: new(0.5), Momentum: 0.9})
	w.Sum().Backward()
	opt.Step()
	fmt.Println(weft.Data[float32](opt.State()["momentum.w"]), opt.State()["steps.w"].ItemInt())
	// Output: [1 1] 1
}

// The head of a network learns faster than its body, and both ever slower.
func ExampleMethod_AddGroup() {
	body, head := weft.Ones(1).RequireGrad(), weft.Ones(1).RequireGrad()
	opt := optim.NewSGD(nn.Params(map[string]*weft.Tensor{"body": body}), optim.SGDOpts{LR: new(0.01)})
	opt.AddGroup(nn.Params(map[string]*weft.Tensor{"head": head}), optim.SGDOpts{LR: new(0.1)})
	schedule := optim.NewScheduler(opt, optim.Exponential{Gamma: 0.5})
	for range 2 {
		opt.ZeroGrad()
		body.Add(head).Sum().Backward()
		opt.Step()
		schedule.Step()
		fmt.Printf("%.3f %.3f\n", body.Item(), head.Item())
	}
	// Output:
	// 0.990 0.900
	// 0.985 0.850
}

// Schedules are values: what they say of a step can be asked for.
func ExampleSequence() {
	s := optim.Sequence{
		Schedules: []optim.Schedule{optim.Linear{Steps: 2, From: 0, To: 1}, optim.Cosine{Steps: 4}},
		Steps:     []int{2},
	}
	for step := range 7 {
		fmt.Printf("%.3f ", s.At(step, 0.1))
	}
	// Output: 0.000 0.050 0.100 0.085 0.050 0.015 0.000
}

// A Plateau is told a metric after each epoch.
func ExamplePlateau() {
	w := weft.Ones(1).RequireGrad()
	opt := optim.NewSGD(nn.Params([]*weft.Tensor{w}), optim.SGDOpts{LR: new(0.1)})
	plateau := optim.NewPlateau(opt, optim.PlateauOpts{Patience: new(1), Factor: new(0.5)})
	for _, loss := range []float64{3, 2, 2, 2, 1} {
		plateau.Step(loss)
		fmt.Print(opt.LR(), " ")
	}
	// Output: 0.1 0.1 0.1 0.05 0.05
}

func ExampleLBFGS() {
	w := weft.FromSlice([]float64{-1.2, 1}).RequireGrad() // Rosenbrock's valley
	opt := optim.NewLBFGS(nn.Params([]*weft.Tensor{w}), optim.LBFGSOpts{MaxIter: new(50)})
	opt.Step(func() *weft.Tensor {
		opt.ZeroGrad()
		x, y := w.Slice(weft.Index(0)), w.Slice(weft.Index(1))
		loss := y.Sub(x.Square()).Square().Mul(100).Add(x.Sub(1).Square())
		loss.Backward()
		return loss
	})
	fmt.Printf("%.4f\n", weft.Data[float64](w))
	// Output: [1.0000 1.0000]
}

func ExampleClipNorm() {
	w := weft.Zeros(2).RequireGrad()
	w.SetGrad(weft.FromSlice([]float32{3, 4}))
	norm := optim.ClipNorm(nn.Params([]*weft.Tensor{w}), 1)
	fmt.Printf("%.0f %.1f\n", norm, weft.Data[float32](w.Grad()))
	// Output: 5 [0.6 0.8]
}

// A scheduler that is made anew goes on where another one stopped.
func ExampleScheduler() {
	w := weft.Ones(1).RequireGrad()
	opt := optim.NewAdagrad(nn.Params([]*weft.Tensor{w}), optim.AdagradOpts{LR: new(0.1)})
	first := optim.NewScheduler(opt, optim.StepDecay{Every: 2, Gamma: 0.5})
	for range 3 {
		first.Step()
	}
	again := optim.NewScheduler(opt, optim.StepDecay{Every: 2, Gamma: 0.5})
	if err := again.LoadState(first.State()); err != nil {
		fmt.Println(err)
	}
	again.Step()
	fmt.Println(opt.LR())
	// Output: 0.025
}

func ExampleClipValue() {
	w := weft.Zeros(3).RequireGrad()
	w.SetGrad(weft.FromSlice([]float32{-3, 0.5, 4}))
	optim.ClipValue(nn.Params([]*weft.Tensor{w}), 1)
	fmt.Println(w.Grad())
	// Output: [-1.   0.5  1. ]
}

// Muon is for the matrices of hidden layers; another optimizer takes what is left.
func ExampleMuon() {
	g := weft.NewGenerator(1)
	net := &struct{ Hidden, Out *nn.Linear }{nn.NewLinear(4, 16, nn.Opts{Generator: g}), nn.NewLinear(16, 1, nn.Opts{Generator: g})}
	matrices := map[string]*weft.Tensor{"hidden": net.Hidden.Weight}
	others := map[string]*weft.Tensor{"hidden": net.Hidden.Bias, "out": net.Out.Weight, "bias": net.Out.Bias}
	muon := optim.NewMuon(nn.Params(matrices), optim.MuonOpts{LR: new(0.02)})
	adam := optim.NewAdam(nn.Params(others), optim.AdamOpts{LR: new(0.01)})
	x := g.Randn(64, 4)
	y := x.Square().SumKeep(1)
	var first, last float64
	for step := range 200 {
		loss := nn.MSE(net.Out.Forward(net.Hidden.Forward(x).Relu()), y)
		muon.ZeroGrad()
		adam.ZeroGrad()
		loss.Backward()
		muon.Step()
		adam.Step()
		if last = loss.Item(); step == 0 {
			first = last
		}
	}
	fmt.Println(last < first/20)
	// Output: true
}

// Warm-up and a cosine are one schedule.
func ExampleWarmCosine() {
	s := optim.WarmCosine{Warm: 2, Steps: 6}
	for step := range 7 {
		fmt.Printf("%.3f ", s.At(step, 0.1))
	}
	// Output: 0.000 0.050 0.100 0.085 0.050 0.015 0.000
}

// A chain is schedules at once.
func ExampleChain() {
	s := optim.Chain{optim.Constant{Steps: 2, Factor: 0.1}, optim.Exponential{Gamma: 0.5}}
	for step := range 4 {
		fmt.Print(s.At(step, 1), " ")
	}
	// Output: 0.1 0.05 0.25 0.125
}

func ExampleCyclic() {
	s := optim.Cyclic{Min: 0.1, Max: 0.5, Up: new(2), Halve: true}
	for step := range 8 {
		fmt.Printf("%.1f ", s.At(step, 0))
	}
	// Output: 0.1 0.3 0.5 0.3 0.1 0.2 0.3 0.2
}

// Another module holds the averages of the weights.
func ExampleAverage() {
	net := &struct{ W *weft.Tensor }{nn.Param(weft.Ones(1))}
	ema := nn.Copy(net)
	average := optim.NewAverage(nn.Params(ema), nn.Params(net), optim.AverageOpts{Decay: new(0.5)})
	opt := optim.NewSGD(nn.Params(net), optim.SGDOpts{LR: new(1.0)})
	for range 3 {
		opt.ZeroGrad()
		net.W.Sum().Backward()
		opt.Step()
		average.Update()
		fmt.Print(net.W.Item(), " ", ema.W.Item(), "; ")
	}
	// Output: 0 0; -1 -0.5; -2 -1.25;
}

func ExampleScaler() {
	w := weft.Ones(2).RequireGrad()
	params := func(yield func(string, *weft.Tensor) bool) { yield("w", w) }
	opt, scaler := optim.NewSGD(params, optim.SGDOpts{LR: new(0.1)}), optim.NewScaler()
	for _, x := range []float64{1, 1e38} { // the second loss has an infinite gradient
		var loss *weft.Tensor
		weft.Autocast(weft.BFloat16, func() { loss = w.Mul(x).Sum() })
		opt.ZeroGrad()
		scaler.Scale(loss).Backward()
		fmt.Println(scaler.Step(opt, params), w)
		scaler.Update()
	}
	fmt.Println(scaler.Value())
	// Output:
	// true [0.9 0.9]
	// false [0.9 0.9]
	// 32768
}
