package nn_test

import (
	"fmt"

	"weft"
	"weft/nn"
	"weft/optim"
)

// Net is a module: any struct is one.
type Net struct {
	Conv *nn.Conv2d
	FC   *nn.Linear
}

func (n *Net) Forward(x *weft.Tensor) *weft.Tensor {
	return n.FC.Forward(n.Conv.Forward(x).Relu().Flatten(1))
}

func Example() {
	g := nn.Opts{Generator: weft.NewGenerator(1)}
	net := &Net{Conv: nn.NewConv2d(1, 4, 3, nn.Conv2dOpts{Opts: g, Padding: 1}), FC: nn.NewLinear(4*8*8, 10, g)}

	logits := net.Forward(weft.Zeros(2, 1, 8, 8))
	fmt.Println(logits.Shape())
	for name, p := range nn.Params(net) {
		fmt.Println(name, p.Shape())
	}
	// Output:
	// [2 10]
	// conv.weight [4 1 3 3]
	// conv.bias [4]
	// fc.weight [10 256]
	// fc.bias [10]
}

// A layer of one's own marks its parameters.
func ExampleParam() {
	type Scale struct{ By, Mean *weft.Tensor }
	s := &Scale{By: nn.Param(weft.Ones(3)), Mean: weft.Zeros(3)}
	for name := range nn.Params(s) {
		fmt.Println("parameter", name)
	}
	for name := range nn.Buffers(s) {
		fmt.Println("buffer", name)
	}
	// Output:
	// parameter by
	// buffer mean
}

func ExampleSequential() {
	mlp := nn.Sequential{
		nn.NewLinear(784, 100),
		nn.Tanh{},
		&nn.Dropout{P: 0.5},
		nn.NewLinear(100, 10, nn.Opts{NoBias: true, Weight: nn.XavierNormal}),
	}
	nn.Eval(mlp)
	fmt.Println(mlp.Forward(weft.Zeros(32, 784)).Shape())
	for name := range nn.Params(mlp) {
		fmt.Println(name)
	}
	// Output:
	// [32 10]
	// 0.weight
	// 0.bias
	// 3.weight
}

func ExampleLoadState() {
	trained := nn.NewLinear(2, 1)
	fresh := nn.NewLinear(2, 1)
	fmt.Println(nn.LoadState(fresh, nn.State(trained), true))
	fmt.Println(nn.LoadState(nn.NewLinear(3, 1), nn.State(trained), true))
	// Output:
	// <nil>
	// nn: the state does not fit the module: weight is float32[1 2], want float32[1 3]
}

func ExampleCrossEntropy() {
	logits := weft.FromSlice([]float32{2, 0, 0, 0, 2, 0}, 2, 3)
	target := weft.FromSlice([]int64{0, 1})
	fmt.Printf("%.4f\n", nn.CrossEntropy(logits, target).Item())
	fmt.Println(weft.Try(func() { nn.CrossEntropy(logits, weft.FromSlice([]int64{0, 3})).Item() }))
	// Output:
	// 0.2395
	// cross_entropy: target: 3 of row 1 is not a class: want 0 to 2
}

// Two models and two optimizers, as in the training of a generative adversarial
// network, need nothing more than Detach.
func ExampleParams_adversarial() {
	g := weft.NewGenerator(1)
	o := nn.Opts{Generator: g}
	G, D := nn.NewLinear(2, 2, o), nn.NewLinear(2, 2, o)
	optG := optim.NewSGD(nn.Params(G), optim.SGDOpts{LR: new(0.1)})
	optD := optim.NewSGD(nn.Params(D), optim.SGDOpts{LR: new(0.1)})
	real, yes, no := weft.Ones(4, 2), weft.ZerosOf(weft.Int64, 4), weft.OnesOf(weft.Int64, 4)
	for range 3 {
		fake := G.Forward(g.Randn(4, 2))
		optD.ZeroGrad()
		nn.CrossEntropy(D.Forward(real), yes).Add(nn.CrossEntropy(D.Forward(fake.Detach()), no)).Backward()
		fmt.Print(G.Weight.Grad() == nil, " ")
		optD.Step()

		optG.ZeroGrad()
		nn.CrossEntropy(D.Forward(fake), yes).Backward()
		optG.Step()
		G.Weight.SetGrad(nil)
	}
	fmt.Println()
	// Output: true true true
}

func ExampleLinear() {
	l := &nn.Linear{Weight: nn.Param(weft.FromSlice([]float32{1, 0, 2, 0, 1, 0}, 2, 3)), Bias: nn.Param(weft.FromSlice([]float32{10, 20}))}
	fmt.Println(l.Forward(weft.FromSlice([]float32{1, 2, 3}, 1, 3)))
	// Output: [[17. 22.]]
}

func ExampleConv2d() {
	c := nn.NewConv2d(3, 8, 5, nn.Conv2dOpts{Stride: new(2), Padding: 2})
	fmt.Println(c.Forward(weft.Zeros(1, 3, 32, 32)).Shape())
	// Output: [1 8 16 16]
}

func ExampleMaxPool2d() {
	x := weft.Arange(16).To(weft.Float32).Reshape(1, 1, 4, 4)
	fmt.Println(weft.Data[float32](nn.MaxPool2d{Window: [2]int{2, 2}}.Forward(x)))
	fmt.Println(weft.Data[float32](nn.AvgPool2d{Window: [2]int{2, 2}}.Forward(x)))
	// Output:
	// [5 7 13 15]
	// [2.5 4.5 10.5 12.5]
}

func ExampleDropout() {
	d := &nn.Dropout{P: 0.5, Generator: weft.NewGenerator(1)}
	fmt.Println(d.Forward(weft.Ones(1000)).Mean().Item() > 0.9)
	nn.Eval(d)
	fmt.Println(d.Forward(weft.Ones(3)))
	// Output:
	// true
	// [1. 1. 1.]
}

// Layers without parameters, one after the other.
func ExampleFunc() {
	s := nn.Sequential{nn.Func((*weft.Tensor).Neg), nn.Relu{}, nn.Tanh{}, nn.Sigmoid{}, nn.Gelu{}, nn.Silu{}, nn.Flatten{}}
	fmt.Println(s.Forward(weft.Ones(2, 3, 4)).Shape())
	// Output: [2 12]
}
