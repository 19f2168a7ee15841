package nn_test

import (
	"errors"
	"testing"

	"weft"
	"weft/nn"
)

// Convolutions, pads, folds, resizing and sampling refuse what does not fit with an error that names
// the layer and the argument.
func TestConvolutionRefuses(t *testing.T) {
	row, x, v := weft.Zeros(2, 4, 7), weft.Zeros(2, 4, 5, 6), weft.Zeros(2, 4, 3, 5, 6)
	same := nn.NewConv2d(4, 2, 3, nn.Conv2dOpts{Same: true, Stride: new(2)})
	mode := func(m nn.InterpolateMode) *nn.InterpolateMode { return &m }
	for _, c := range []struct {
		op, arg string
		f       func()
	}{
		{"conv2d", "Same", func() { same.Forward(x) }},
		{"conv1d", "PadMode", func() { nn.NewConv1d(4, 2, 3, nn.Conv1dOpts{PadMode: 9}).Forward(row) }},
		{"conv2d", "Pads", func() { nn.NewConv2d(4, 2, 3, nn.Conv2dOpts{Padding: 5, PadMode: nn.PadReflect}).Forward(x) }},
		{"conv3d", "x", func() { nn.NewConv3d(4, 2, 3).Forward(x) }},
		{"conv3d", "x", func() { nn.NewConv3d(4, 2, 4).Forward(v) }},
		{"conv3d", "Weight", func() { (*nn.Conv3d)(nil).Forward(v) }},
		{"conv3d", "Groups", func() { nn.NewConv3d(4, 2, 3, nn.Conv3dOpts{Groups: new(3)}) }},
		{"conv_transpose1d", "x", func() { nn.NewConvTranspose1d(4, 2, 3).Forward(x) }},
		{"conv_transpose1d", "OutputPadding", func() { nn.NewConvTranspose1d(4, 2, 3, nn.ConvTranspose1dOpts{OutputPadding: -1}) }},
		{"conv_transpose3d", "OutputPadding", func() { nn.NewConvTranspose3d(4, 2, 3, nn.ConvTranspose3dOpts{OutputPadding: 1}).Forward(v) }},
		{"conv_transpose3d", "Padding", func() { nn.NewConvTranspose3d(4, 2, 1, nn.ConvTranspose3dOpts{Padding: 2}).Forward(v) }},
		{"pad", "Pads", func() { nn.Pad{Pads: []int{1}}.Forward(x) }},
		{"pad", "Pads", func() { nn.Pad{Pads: []int{6, 0}, Mode: nn.PadReflect}.Forward(x) }},
		{"pad", "Pads", func() { nn.Pad{Pads: []int{7, 0}, Mode: nn.PadCircular}.Forward(x) }},
		{"pad", "Pads", func() { nn.Pad{Pads: []int{-4, -3}}.Forward(x) }},
		{"pad", "Mode", func() { nn.Pad{Mode: -1}.Forward(x) }},
		{"pixel_shuffle", "x", func() { nn.PixelShuffle{Factor: 3}.Forward(x) }},
		{"pixel_unshuffle", "x", func() { nn.PixelUnshuffle{Factor: 2}.Forward(x) }},
		{"pixel_shuffle", "Factor", func() { nn.PixelShuffle{}.Forward(x) }},
		{"channel_shuffle", "Groups", func() { nn.ChannelShuffle{Groups: 3}.Forward(x) }},
		{"unfold", "Window", func() { nn.Unfold{Window: [2]int{6, 1}}.Forward(x) }},
		{"fold", "x", func() { nn.Fold{Size: [2]int{4, 4}, Window: [2]int{2, 2}}.Forward(row) }},
		{"fold", "Size", func() { nn.Fold{Window: [2]int{2, 2}}.Forward(row) }},
		{"interpolate", "Size", func() { nn.Interpolate{}.Forward(x) }},
		{"interpolate", "Size", func() { nn.Interpolate{Size: []int{0}}.Forward(x) }},
		{"interpolate", "Mode", func() { nn.Interpolate{Size: []int{2}, Mode: 7}.Forward(x) }},
		{"interpolate", "Antialias", func() { nn.Interpolate{Size: []int{2}, Antialias: true}.Forward(x) }},
		{"grid_sample", "grid", func() { nn.GridSample(x, weft.Zeros(2, 3, 3, 3)) }},
		{"grid_sample", "Mode", func() { nn.GridSample(x, weft.Zeros(2, 3, 3, 2), nn.GridSampleOpts{Mode: mode(nn.ModeArea)}) }},
		{"grid_sample", "Border", func() { nn.GridSample(x, weft.Zeros(2, 3, 3, 2), nn.GridSampleOpts{Border: nn.PadCircular}) }},
		{"affine_grid", "theta", func() { nn.AffineGrid(weft.Zeros(2, 2, 2), []int{2, 1, 3, 3}, false) }},
		{"affine_grid", "size", func() { nn.AffineGrid(weft.Zeros(2, 2, 3), []int{2, 1, 3}, false) }},
	} {
		var e *weft.Error
		if err := weft.Try(c.f); !errors.As(err, &e) || e.Op != c.op || e.Arg != c.arg {
			t.Errorf("%s: %v, want an error of %s", c.op, err, c.arg)
		}
	}
}
