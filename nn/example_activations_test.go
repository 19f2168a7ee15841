package nn_test

import (
	"fmt"

	"weft"
	"weft/nn"
)

// Activations of PyTorch stand in Sequential, and their Forward is the function of
// torch.nn.functional.
func ExampleHardswish() {
	x := weft.FromSlice([]float32{-4, -1, 0.5, 4})
	for _, l := range []nn.Layer{nn.Hardswish{}, nn.Relu6{}, nn.Gelu{Tanh: true}, nn.Selu{}, nn.Mish{}, nn.Softplus{Beta: new(2.0)}, nn.Hardshrink{}} {
		fmt.Printf("%T %.2f\n", l, l.Forward(x))
	}
	// Output:
	// nn.Hardswish [ 0.00 -0.33  0.29  4.00]
	// nn.Relu6 [0.00 0.00 0.50 4.00]
	// nn.Gelu [-0.00 -0.16  0.35  4.00]
	// nn.Selu [-1.73 -1.11  0.53  4.20]
	// nn.Mish [-0.07 -0.30  0.38  4.00]
	// nn.Softplus [0.00 0.06 0.66 4.00]
	// nn.Hardshrink [-4.00 -1.00  0.00  4.00]
}

// The slopes are a parameter.
func ExampleNewPRelu() {
	l := nn.NewPRelu(nn.PReluOpts{Channels: new(2), Slope: new(0.5)})
	fmt.Println(l.Forward(weft.From([][]float32{{-1, 2}, {3, -4}})))
	// Output:
	// [[-0.5  2. ]
	//  [ 3.  -2. ]]
}

func ExampleGlu() {
	fmt.Println(nn.Glu{}.Forward(weft.From([][]float32{{3, 5, 0, 100}})))
	// Output: [[1.5 5. ]]
}

func ExampleOneHot() {
	fmt.Println(nn.OneHot(weft.FromSlice([]int64{2, 0}), 3))
	// Output:
	// [[0 0 1]
	//  [1 0 0]]
}

// Draws are rows with one 1, whose gradient reaches the logits.
func ExampleGumbelSoftmax() {
	logits := weft.Zeros(4, 3).RequireGrad()
	y := nn.GumbelSoftmax(logits, nn.GumbelSoftmaxOpts{Hard: true, Tau: new(0.5), Generator: weft.NewGenerator(1)})
	fmt.Printf("%.0f\n", y.Detach().Sum(1))
	// Output: [1 1 1 1]
}

func ExampleUnflatten() {
	net := nn.Sequential{nn.NewLinear(4, 12), nn.Unflatten{Axis: 1, Sizes: []int{3, 2, 2}}, nn.Softmax{Axis: new(1)}, nn.Flatten{Start: new(2)}}
	fmt.Println(net.Forward(weft.Zeros(5, 4)).Shape())
	// Output: [5 3 4]
}
