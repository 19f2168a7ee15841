package nn_test

import (
	"fmt"

	"weft"
	"weft/nn"
)

// Filters of other shapes than squares, and a result as large as the picture.
func ExampleConv2dOpts() {
	c := nn.NewConv2d(3, 8, 0, nn.Conv2dOpts{Size: &[2]int{3, 5}, Same: true, PadMode: nn.PadReflect})
	fmt.Println(c.Weight.Shape(), c.Forward(weft.Zeros(1, 3, 10, 12)).Shape())
	// Output: [8 3 3 5] [1 8 10 12]
}

func ExampleNewConv3d() {
	net := nn.Sequential{nn.NewConv3d(1, 4, 3, nn.Conv3dOpts{Padding: 1, Stride: new(2)}), nn.NewConvTranspose3d(4, 1, 2, nn.ConvTranspose3dOpts{Stride: new(2)})}
	fmt.Println(net.Forward(weft.Zeros(2, 1, 8, 8, 8)).Shape())
	fmt.Println(nn.NewConvTranspose1d(4, 1, 2, nn.ConvTranspose1dOpts{Stride: new(2)}).Forward(weft.Zeros(2, 4, 5)).Shape())
	// Output:
	// [2 1 8 8 8]
	// [2 1 10]
}

func ExamplePad() {
	x := weft.From([][]float32{{1, 2, 3}})
	for _, mode := range []nn.PadMode{nn.PadConstant, nn.PadReflect, nn.PadReplicate, nn.PadCircular} {
		fmt.Println(nn.Pad{Pads: []int{2, 1}, Mode: mode}.Forward(x))
	}
	// Output:
	// [[0. 0. 1. 2. 3. 0.]]
	// [[3. 2. 1. 2. 3. 2.]]
	// [[1. 1. 1. 2. 3. 3.]]
	// [[2. 3. 1. 2. 3. 1.]]
}

// A picture in columns, and back: each pixel as often as windows cover it.
func ExampleUnfold() {
	x := weft.From([][]float32{{1, 2, 3}, {4, 5, 6}}).Reshape(1, 1, 2, 3)
	columns := nn.Unfold{Window: [2]int{2, 2}}.Forward(x)
	fmt.Println(columns.Squeeze(0))
	fmt.Println(nn.Fold{Size: [2]int{2, 3}, Window: [2]int{2, 2}}.Forward(columns).Squeeze(0, 1))
	// Output:
	// [[1. 2.]
	//  [2. 3.]
	//  [4. 5.]
	//  [5. 6.]]
	// [[ 1.  4.  3.]
	//  [ 4. 10.  6.]]
}

// Channels become pixels, and pixels channels.
func ExamplePixelShuffle() {
	x := weft.Arange(4).Reshape(1, 4, 1, 1)
	y := nn.PixelShuffle{Factor: 2}.Forward(x)
	fmt.Println(y.Squeeze(0, 1), nn.PixelUnshuffle{Factor: 2}.Forward(y).Flatten(0), nn.ChannelShuffle{Groups: 2}.Forward(x).Flatten(0))
	// Output:
	// [[0 1]
	//  [2 3]] [0 1 2 3] [0 2 1 3]
}

func ExampleInterpolate() {
	x := weft.From([][]float32{{0, 4, 8, 4}})
	fmt.Println(nn.Interpolate{Size: []int{2}}.Forward(x))
	fmt.Println(nn.Interpolate{Scale: []float64{1.5}, Mode: nn.ModeLinear, AlignCorners: true}.Forward(x).Shape())
	fmt.Println(nn.Interpolate{Size: []int{2}, Mode: nn.ModeArea}.Forward(x))
	// Output:
	// [[0. 8.]]
	// [1 6]
	// [[2. 6.]]
}

// The picture moved by one pixel to the left, with what was at the border repeated.
func ExampleGridSample() {
	x := weft.From([][]float32{{1, 2, 3, 4}}).Reshape(1, 1, 1, 4)
	theta := weft.From([][]float32{{1, 0, 0.5}, {0, 1, 0}}).Reshape(1, 2, 3)
	grid := nn.AffineGrid(theta, []int{1, 1, 1, 4}, false)
	fmt.Println(nn.GridSample(x, grid, nn.GridSampleOpts{Border: nn.PadReplicate}).Flatten(0))
	// Output: [2. 3. 4. 4.]
}
