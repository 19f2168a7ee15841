package nn_test

import (
	"fmt"

	"weft"
	"weft/nn"
)

// A depthwise layer, with a filter for each channel, and one that mixes the channels.
func ExampleNewConv2d() {
	block := nn.Sequential{
		nn.NewConv2d(8, 8, 3, nn.Conv2dOpts{Padding: 1, Groups: new(8)}),
		nn.NewConv2d(8, 16, 1),
	}
	fmt.Println(block.Forward(weft.Zeros(1, 8, 10, 10)).Shape())
	for name, p := range nn.Params(block) {
		fmt.Println(name, p.Shape())
	}
	// Output:
	// [1 16 10 10]
	// 0.weight [8 1 3 3]
	// 0.bias [8]
	// 1.weight [16 8 1 1]
	// 1.bias [16]
}

func ExampleNewConv1d() {
	wide := nn.NewConv1d(2, 4, 3, nn.Conv1dOpts{Dilation: new(4)}) // sees nine elements
	fmt.Println(wide.Forward(weft.Zeros(1, 2, 20)).Shape())
	// Output: [1 4 12]
}

// Generators grow pictures so.
func ExampleNewConvTranspose2d() {
	up := nn.NewConvTranspose2d(16, 8, 4, nn.ConvTranspose2dOpts{Stride: new(2), Padding: 1})
	fmt.Println(up.Forward(weft.Zeros(1, 16, 7, 7)).Shape())
	// Output: [1 8 14 14]
}
