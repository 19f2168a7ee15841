package nn_test

import (
	"fmt"

	"weft"
	"weft/nn"
)

// Maxima go back to where they were found.
func ExampleMaxUnpool() {
	x := weft.From([][]float32{{1, 5, 2, 3, 4}})
	values, index := nn.MaxPool1d{Window: 2, Ceil: true}.WithIndices(x)
	fmt.Println(values, index)
	fmt.Println(nn.MaxUnpool{Window: []int{2}}.Unpool(values, index, 5))
	fmt.Println(nn.MaxPool1d{Window: 2, Stride: new(1), Dilation: new(2)}.Forward(x))
	// Output:
	// [[5. 3. 4.]] [[1 3 4]]
	// [[0. 5. 0. 3. 4.]]
	// [[2. 5. 4.]]
}

func ExampleAvgPool1d() {
	x := weft.From([][]float32{{2, 4, 6, 8, 10}})
	fmt.Println(nn.AvgPool1d{Window: 2, Padding: 1}.Forward(x))
	fmt.Println(nn.AvgPool1d{Window: 2, Padding: 1, ExcludePad: true}.Forward(x))
	fmt.Println(nn.AvgPool1d{Window: 2, Ceil: true, Divisor: new(1)}.Forward(x))
	fmt.Println(nn.LPPool{P: 2, Window: []int{2}}.Forward(weft.From([][]float32{{3, 4}})))
	fmt.Println(nn.AdaptiveAvgPool1d{Size: new(2)}.Forward(x), nn.AdaptiveMaxPool1d{Size: new(2)}.Forward(x))
	// Output:
	// [[1. 5. 9.]]
	// [[2. 5. 9.]]
	// [[ 6. 14. 10.]]
	// [[5.]]
	// [[4. 8.]] [[ 6. 10.]]
}

func ExampleMaxPool3d() {
	x := weft.Arange(64).Reshape(1, 4, 4, 4).To(weft.Float32)
	fmt.Println(nn.MaxPool3d{Window: [3]int{2, 4, 4}}.Forward(x).Flatten(0))
	// Output: [31. 63.]
}

func ExampleNewInstanceNorm2d() {
	l := nn.NewInstanceNorm2d(3, nn.InstanceNormOpts{Affine: true, Running: true})
	fmt.Println(l.Forward(weft.Ones(2, 3, 4, 4)).Shape(), l.RunningMean)
	// Output: [2 3 4 4] [0.1 0.1 0.1]
}

func ExampleLocalResponseNorm() {
	x := weft.Ones(1, 3, 1, 1)
	fmt.Println(nn.LocalResponseNorm{Size: 3, Alpha: new(3.0), Beta: new(1.0)}.Forward(x).Flatten(0))
	// Output: [0.33333334 0.25       0.33333334]
}

// Whole channels are dropped in training.
func ExampleChannelDropout() {
	net := nn.Sequential{&nn.ChannelDropout{P: 0.5}, &nn.AlphaDropout{P: 0.1}}
	nn.Eval(net)
	fmt.Println(net.Forward(weft.Ones(1, 2, 2)))
	// Output:
	// [[[1. 1.]
	//   [1. 1.]]]
}
