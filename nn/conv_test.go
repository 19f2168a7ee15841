package nn_test

import (
	"slices"
	"testing"

	"weft"
	"weft/internal/tensortest"
	"weft/nn"
)

// TestConvolutionLayers compares the shapes of parameters with PyTorch's, and results with
// the operations, which other tests compare with PyTorch's.
func TestConvolutionLayers(t *testing.T) {
	g := weft.NewGenerator(1)
	o := nn.Opts{Generator: g}
	x := g.Randn(2, 4, 6, 7)

	grouped := nn.NewConv2d(4, 6, 3, nn.Conv2dOpts{Opts: o, Stride: new(2), Padding: 1, Dilation: new(2), Groups: new(2)})
	if got := grouped.Weight.Shape(); !slices.Equal(got, []int{6, 2, 3, 3}) {
		t.Errorf("Conv2d in groups has weights %v", got)
	}
	want := x.Conv2d(grouped.Weight, grouped.Bias, weft.ConvOpts{Stride: new([2]int{2, 2}), Padding: [2]int{1, 1}, Dilation: new([2]int{2, 2}), Groups: new(2)})
	tensortest.SameBits(t, "Conv2d", grouped.Forward(x), want)

	rows := nn.NewConv1d(4, 8, 3, nn.Conv1dOpts{Opts: o, Stride: new(2), Padding: 1, Dilation: new(2), Groups: new(4)})
	if got := rows.Weight.Shape(); !slices.Equal(got, []int{8, 1, 3}) {
		t.Errorf("Conv1d in groups has weights %v", got)
	}
	line := g.Randn(3, 4, 11)
	tensortest.SameBits(t, "Conv1d", rows.Forward(line), line.Conv1d(rows.Weight, rows.Bias, weft.Conv1dOpts{Stride: new(2), Padding: 1, Dilation: new(2), Groups: new(4)}))

	// A transposed layer undoes the shape of one of the same options.
	for _, stride := range []int{1, 2, 3} {
		down := nn.NewConv2d(4, 8, 3, nn.Conv2dOpts{Opts: o, Stride: new(stride), Padding: 1, Groups: new(2)})
		up := nn.NewConvTranspose2d(8, 4, 3, nn.ConvTranspose2dOpts{Opts: o, Stride: new(stride), Padding: 1, Groups: new(2)})
		if got := up.Weight.Shape(); !slices.Equal(got, []int{8, 2, 3, 3}) {
			t.Errorf("ConvTranspose2d in groups has weights %v", got)
		}
		picture := g.Randn(2, 4, 3*stride+1, 2*stride+1)
		if got := up.Forward(down.Forward(picture)).Shape(); !slices.Equal(got, picture.Shape()) {
			t.Errorf("stride %d: %v there and back is %v", stride, picture.Shape(), got)
		}
	}
	wide := nn.NewConvTranspose2d(4, 3, 2, nn.ConvTranspose2dOpts{Opts: nn.Opts{Generator: g, NoBias: true}, Stride: new(2), OutputPadding: 1, Dilation: new(3)})
	if wide.Bias != nil {
		t.Error("a layer without bias has one")
	}
	want = x.ConvTranspose2d(wide.Weight, nil, weft.ConvTransposeOpts{Stride: new([2]int{2, 2}), OutputPadding: [2]int{1, 1}, Dilation: new([2]int{3, 3})})
	tensortest.SameBits(t, "ConvTranspose2d", wide.Forward(x), want)
}
