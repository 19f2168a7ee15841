package nn_test

import (
	"fmt"
	"testing"

	"weft"
	"weft/nn"
)

// Values and gradients of the convolutions, pads, folds, resizing and sampling of
// testdata/convolution.py are PyTorch's, of compiled functions too.
func TestConvolutionMatchesPyTorch(t *testing.T) {
	compareWithTorch(t, "convolution", convolutionCases)
}

func TestCompiledConvolutionMatchesPyTorch(t *testing.T) {
	compareCompiled(t, "convolution", convolutionCases)
}

func convolutionCases(map[string]*weft.Tensor) map[string]torchCase {
	cases := map[string]torchCase{}
	options3 := nn.NewConv3d(2, 4, 0, nn.Conv3dOpts{Size: &[3]int{3, 2, 1}, Groups: new(2)})
	options3.Stride, options3.Padding, options3.Dilation = [3]int{2, 1, 2}, [3]int{1, 2, 0}, [3]int{1, 2, 1}
	back3 := nn.NewConvTranspose3d(2, 2, 1, nn.ConvTranspose3dOpts{Groups: new(2)})
	back3.Weight = nn.Param(weft.Zeros(2, 1, 3, 2, 2))
	back3.Stride, back3.Padding, back3.OutputPadding, back3.Dilation = [3]int{2, 1, 2}, [3]int{1, 0, 1}, [3]int{1, 0, 1}, [3]int{2, 1, 1}
	window := nn.Unfold{Window: [2]int{2, 3}, Dilation: &[2]int{2, 1}, Padding: [2]int{1, 2}, Stride: &[2]int{1, 2}}
	for name, l := range map[string]nn.Layer{
		"conv 1d":               nn.NewConv1d(4, 2, 3, nn.Conv1dOpts{Stride: new(2), Padding: 1, Dilation: new(2), Groups: new(2)}),
		"conv 1d same":          nn.NewConv1d(4, 2, 4, nn.Conv1dOpts{Same: true, PadMode: nn.PadCircular}),
		"conv 1d reflect":       nn.NewConv1d(4, 2, 3, nn.Conv1dOpts{Padding: 2, PadMode: nn.PadReflect, Stride: new(2)}),
		"conv 2d same":          nn.NewConv2d(2, 3, 0, nn.Conv2dOpts{Size: &[2]int{3, 4}, Same: true, Dilation: new(2)}),
		"conv 2d same odd":      nn.NewConv2d(2, 3, 3, nn.Conv2dOpts{Same: true}),
		"conv 2d replicate":     nn.NewConv2d(2, 3, 3, nn.Conv2dOpts{Padding: 1, PadMode: nn.PadReplicate}),
		"conv 3d":               nn.NewConv3d(2, 3, 2),
		"conv 3d options":       options3,
		"conv 3d same":          nn.NewConv3d(2, 2, 0, nn.Conv3dOpts{Opts: nn.Opts{NoBias: true}, Size: &[3]int{2, 3, 3}, Same: true, PadMode: nn.PadReflect}),
		"transposed 1d":         nn.NewConvTranspose1d(4, 2, 3, nn.ConvTranspose1dOpts{Stride: new(2), Padding: 1, OutputPadding: 1, Groups: new(2)}),
		"transposed 2d":         nn.NewConvTranspose2d(2, 2, 3, nn.ConvTranspose2dOpts{Stride: new(2), Padding: 1, OutputPadding: 1, Dilation: new(2)}),
		"transposed 3d":         nn.NewConvTranspose3d(2, 3, 2),
		"transposed 3d options": back3,
		"pad constant":          nn.Pad{Pads: []int{1, 2, 0, 1}, Value: 3.5},
		"pad cut":               nn.Pad{Pads: []int{-1, 2, 1, -2}, Value: 0.5},
		"pad replicate far":     nn.Pad{Pads: []int{9, 9}, Mode: nn.PadReplicate},
		"pixel shuffle":         nn.PixelShuffle{Factor: 2},
		"pixel unshuffle":       nn.PixelUnshuffle{Factor: 2},
		"channel shuffle":       nn.ChannelShuffle{Groups: 3},
		"unfold":                window,
		"fold":                  nn.Fold{Size: [2]int{5, 6}, Window: window.Window, Dilation: window.Dilation, Padding: window.Padding, Stride: window.Stride},
		"fold plain":            nn.Fold{Size: [2]int{4, 6}, Window: [2]int{2, 2}, Stride: &[2]int{2, 2}},
		"nearest 1d":            nn.Interpolate{Size: []int{11}},
		"nearest 3d":            nn.Interpolate{Scale: []float64{1.5, 2, 1}},
		"exact 2d":              nn.Interpolate{Size: []int{3, 11}, Mode: nn.ModeNearestExact},
		"exact 1d":              nn.Interpolate{Scale: []float64{1.7}, Mode: nn.ModeNearestExact},
		"linear 1d":             nn.Interpolate{Size: []int{11}, Mode: nn.ModeLinear},
		"linear corners":        nn.Interpolate{Size: []int{4}, Mode: nn.ModeLinear, AlignCorners: true},
		"trilinear":             nn.Interpolate{Size: []int{6, 3, 5}, Mode: nn.ModeLinear},
		"bicubic":               nn.Interpolate{Size: []int{8, 9}, Mode: nn.ModeCubic},
		"bicubic factor":        nn.Interpolate{Scale: []float64{1.7, 0.6}, Mode: nn.ModeCubic},
		"bicubic corners":       nn.Interpolate{Size: []int{3, 11}, Mode: nn.ModeCubic, AlignCorners: true},
		"area":                  nn.Interpolate{Size: []int{3, 4}, Mode: nn.ModeArea},
		"antialias linear":      nn.Interpolate{Size: []int{2, 4}, Mode: nn.ModeLinear, Antialias: true},
		"antialias cubic":       nn.Interpolate{Size: []int{3, 9}, Mode: nn.ModeCubic, Antialias: true},
		"antialias corners":     nn.Interpolate{Size: []int{2, 4}, Mode: nn.ModeLinear, Antialias: true, AlignCorners: true},
	} {
		c := fromLayer(l)
		c.tolerance = 24
		cases[name] = c
	}
	for mode, name := range map[nn.PadMode]string{nn.PadReflect: "reflect", nn.PadReplicate: "replicate", nn.PadCircular: "circular"} {
		cases["pad "+name+" 1d"] = fromLayer(nn.Pad{Pads: []int{2, 1}, Mode: mode})
		cases["pad "+name+" 2d"] = fromLayer(nn.Pad{Pads: []int{1, 2, 3, 0}, Mode: mode})
		cases["pad "+name+" 3d"] = fromLayer(nn.Pad{Pads: []int{1, 2, 0, 3, 2, 1}, Mode: mode})
	}
	for align, name := range map[bool]string{false: "False", true: "True"} {
		for border, where := range map[nn.PadMode]string{nn.PadConstant: "zeros", nn.PadReplicate: "border", nn.PadReflect: "reflection"} {
			for mode, how := range map[nn.InterpolateMode]string{nn.ModeLinear: "bilinear", nn.ModeNearest: "nearest", nn.ModeCubic: "bicubic"} {
				c := fromLoss(func(x, grid *weft.Tensor) *weft.Tensor {
					return nn.GridSample(x, grid, nn.GridSampleOpts{Mode: &mode, Border: border, AlignCorners: align})
				})
				c.tolerance = 64 // coordinates are rounded too
				cases[fmt.Sprint("sample ", how, " ", where, " ", name)] = c
			}
		}
		cases["affine "+name] = torchCase{f: func(x ...*weft.Tensor) []*weft.Tensor {
			return []*weft.Tensor{nn.AffineGrid(x[0], []int{2, 3, 4, 5}, align)}
		}}
		cases["affine 3d "+name] = torchCase{f: func(x ...*weft.Tensor) []*weft.Tensor {
			return []*weft.Tensor{nn.AffineGrid(x[0], []int{2, 3, 4, 2, 3}, align)}
		}}
	}
	return cases
}
