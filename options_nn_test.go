package weft_test

import (
	"archive/tar"
	"bytes"
	"context"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"weft"
	"weft/data"
	"weft/data/transforms"
	published "weft/models"
	"weft/nn"
	"weft/optim"
	"weft/train"
)

// layerOptionCases are the options of layers and losses.
var layerOptionCases = map[string]optionCase{
	"nn.MaxPool1d":         windowed(nn.MaxPool1d{Window: 2}, new(2), new(1), false),
	"nn.MaxPool2d":         windowed(nn.MaxPool2d{Window: [2]int{2, 3}}, &[2]int{2, 3}, &[2]int{1, 1}, false),
	"nn.MaxPool3d":         windowed(nn.MaxPool3d{Window: [3]int{2, 2, 3}}, &[3]int{2, 2, 3}, &[3]int{1, 1, 1}, false),
	"nn.AvgPool1d":         windowed(nn.AvgPool1d{Window: 2}, new(2), nil, true),
	"nn.AvgPool2d":         windowed(nn.AvgPool2d{Window: [2]int{2, 3}}, &[2]int{2, 3}, nil, true),
	"nn.AvgPool3d":         windowed(nn.AvgPool3d{Window: [3]int{2, 2, 3}}, &[3]int{2, 2, 3}, nil, true),
	"nn.LPPool":            optionsOf(func(l nn.LPPool) []float64 { l.Window = []int{2}; return applied(l, pictures().Abs()) }, map[string]optionField{"P": {refused: true}}),
	"nn.AdaptiveAvgPool1d": activated(nn.AdaptiveAvgPool1d{}, map[string]optionField{"Size": {def: new(6), refused: true}}),
	"nn.AdaptiveMaxPool1d": activated(nn.AdaptiveMaxPool1d{}, map[string]optionField{"Size": {def: new(6), refused: true}}),
	"nn.AdaptiveMaxPool2d": activated(nn.AdaptiveMaxPool2d{}, map[string]optionField{"Size": {def: [2]*int{new(2), new(6)}, refused: true}}),
	"nn.AdaptiveAvgPool3d": activated(nn.AdaptiveAvgPool3d{}, map[string]optionField{"Size": {def: [3]*int{new(4), new(2), new(6)}, refused: true}}),
	"nn.AdaptiveMaxPool3d": activated(nn.AdaptiveMaxPool3d{}, map[string]optionField{"Size": {def: [3]*int{new(4), new(2), new(6)}, refused: true}}),
	"nn.LocalResponseNorm": activated(nn.LocalResponseNorm{}, map[string]optionField{
		"Size": {in: nn.LocalResponseNorm{Size: 2}, refused: true}, "Alpha": {in: nn.LocalResponseNorm{Size: 2}, def: new(1e-4)},
		"Beta": {in: nn.LocalResponseNorm{Size: 2, K: new(3.0)}, def: new(0.75)}, "K": {in: nn.LocalResponseNorm{Size: 2}, def: new(1.0)},
	}),
	"nn.WeightNormOpts": optionsOf(func(o nn.WeightNormOpts) []float64 {
		return weft.Data[float64](nn.NewWeightNorm(nn.NewLinear(4, 3, nn.Opts{Generator: gen()}), o).Magnitude.Detach().To(weft.Float64))
	}, map[string]optionField{"Axis": {zero: func() []float64 {
		return weft.Data[float64](nn.NewLinear(4, 3, nn.Opts{Generator: gen()}).Weight.Detach().NormKeep(2, 1).To(weft.Float64))
	}}}),
	"nn.SpectralNormOpts": optionsOf(func(o nn.SpectralNormOpts) []float64 {
		o.Generator = gen()
		return applied(nn.NewSpectralNorm(nn.NewConvTranspose2d(4, 4, 1, nn.ConvTranspose2dOpts{Opts: nn.Opts{Generator: gen()}}), o), pictures())
	}, map[string]optionField{"Axis": {def: new(1), loose: true}, "Iterations": {def: new(1), refused: true}, "Eps": {def: new(1e-12), refused: true}}),
	"nn.AdaptiveLogSoftmaxOpts": optionsOf(func(o nn.AdaptiveLogSoftmaxOpts) []float64 {
		o.Generator = gen()
		return weft.Data[float64](nn.NewAdaptiveLogSoftmax(8, 9, []int{3}, o).LogProb(gen().Randn(2, 8)).Detach().To(weft.Float64))
	}, map[string]optionField{"Div": {def: new(4.0), refused: true}}),
	"nn.ChannelDropout": optionsOf(func(l nn.ChannelDropout) []float64 { l.Generator = gen(); return applied(&l, pictures()) }, map[string]optionField{"P": {}}),
	"nn.AlphaDropout":   optionsOf(func(l nn.AlphaDropout) []float64 { l.Generator = gen(); return applied(&l, pictures()) }, map[string]optionField{"P": {}}),
	"nn.Pad":            activated(nn.Pad{}, map[string]optionField{"Value": {in: nn.Pad{Pads: []int{1, 0}}}}),
	"nn.Unfold": optionsOf(func(l nn.Unfold) []float64 { return applied(l, pictures()) }, map[string]optionField{
		"Window": {in: nn.Unfold{Window: [2]int{2, 3}}, refused: true}, "Stride": {in: nn.Unfold{Window: [2]int{2, 3}}, def: &[2]int{1, 1}, refused: true},
		"Padding": {in: nn.Unfold{Window: [2]int{2, 3}}}, "Dilation": {in: nn.Unfold{Window: [2]int{2, 3}}, def: &[2]int{1, 1}, refused: true},
	}),
	"nn.Fold": optionsOf(func(l nn.Fold) []float64 { return applied(l, gen().Randn(2, 4, 4)) }, map[string]optionField{
		"Size": {in: folded, refused: true}, "Window": {in: folded, refused: true}, "Stride": {in: folded, def: &[2]int{1, 1}, refused: true},
		"Padding": {in: folded}, "Dilation": {in: folded, def: &[2]int{1, 1}, refused: true},
	}),
	"nn.PixelShuffle":   optionsOf(func(l nn.PixelShuffle) []float64 { return applied(l, pictures()) }, map[string]optionField{"Factor": {refused: true}}),
	"nn.PixelUnshuffle": optionsOf(func(l nn.PixelUnshuffle) []float64 { return applied(l, gen().Randn(1, 2, 4, 4)) }, map[string]optionField{"Factor": {refused: true}}),
	"nn.ChannelShuffle": optionsOf(func(l nn.ChannelShuffle) []float64 { return applied(l, pictures()) }, map[string]optionField{"Groups": {refused: true}}),
	"nn.ConvTranspose1dOpts": layered(func(o nn.ConvTranspose1dOpts) []float64 {
		o.Generator = gen()
		return applied(nn.NewConvTranspose1d(4, 4, 3, o), gen().Randn(2, 4, 6))
	}, nn.ConvTranspose1dOpts{Stride: new(3)}, true),
	"nn.ConvTranspose3dOpts": layered(func(o nn.ConvTranspose3dOpts) []float64 {
		o.Generator = gen()
		return applied(nn.NewConvTranspose3d(4, 4, 3, o), gen().Randn(1, 4, 3, 4, 3))
	}, nn.ConvTranspose3dOpts{Stride: new(3)}, true),
	"nn.Conv3dOpts": withSize(layered(func(o nn.Conv3dOpts) []float64 {
		o.Generator = gen()
		return applied(nn.NewConv3d(4, 4, 3, o), gen().Randn(1, 4, 4, 5, 4))
	}, nn.Conv3dOpts{}, false), nn.Conv3dOpts{}, &[3]int{3, 3, 3}),
	"nn.InstanceNormOpts": optionsOf(func(o nn.InstanceNormOpts) []float64 {
		o.Running = true
		b := nn.NewInstanceNorm1d(1, o)
		y := b.Forward(weft.FromSlice([]float32{1e-3, -1e-3, 3e-3, 5e-3, 0, 1}, 2, 1, 3))
		return values(y, b.RunningMean, b.RunningVar)
	}, map[string]optionField{"Eps": {def: new(1e-5)}, "Momentum": {def: new(0.1)}}),
	"nn.LeakyRelu":  optionsOf(func(l nn.LeakyRelu) []float64 { return applied(l, pictures()) }, map[string]optionField{"Slope": {def: new(0.01)}}),
	"nn.Elu":        optionsOf(func(l nn.Elu) []float64 { return applied(l, pictures()) }, map[string]optionField{"Alpha": {def: new(1.0)}}),
	"nn.Celu":       activated(nn.Celu{}, map[string]optionField{"Alpha": {def: new(1.0), refused: true}}),
	"nn.Hardtanh":   activated(nn.Hardtanh{}, map[string]optionField{"Min": {def: new(-1.0)}, "Max": {def: new(1.0)}}),
	"nn.Softplus":   activated(nn.Softplus{}, map[string]optionField{"Beta": {def: new(1.0), refused: true}, "Threshold": {in: nn.Softplus{Beta: new(30.0)}, def: new(20.0)}}),
	"nn.Threshold":  activated(nn.Threshold{}, map[string]optionField{"Threshold": {}, "Value": {}}),
	"nn.Hardshrink": activated(nn.Hardshrink{}, map[string]optionField{"Lambda": {def: new(0.5)}}),
	"nn.Softshrink": activated(nn.Softshrink{}, map[string]optionField{"Lambda": {def: new(0.5)}}),
	"nn.Glu":        activated(nn.Glu{}, map[string]optionField{"Axis": {def: new(-1), loose: true}}),
	"nn.Softmax":    activated(nn.Softmax{}, map[string]optionField{"Axis": {def: new(-1), loose: true}}),
	"nn.LogSoftmax": activated(nn.LogSoftmax{}, map[string]optionField{"Axis": {def: new(-1), loose: true}}),
	"nn.Softmin":    activated(nn.Softmin{}, map[string]optionField{"Axis": {def: new(-1), loose: true}}),
	"nn.Unflatten":  activated(nn.Unflatten{Sizes: []int{2, -1}}, map[string]optionField{"Axis": {in: nn.Unflatten{Sizes: []int{2, -1}}}}),
	"nn.Flatten":    activated(nn.Flatten{}, map[string]optionField{"Start": {def: new(1), loose: true}, "End": {in: nn.Flatten{Start: new(0)}, def: new(2), loose: true}}),
	"nn.PReluOpts": optionsOf(func(o nn.PReluOpts) []float64 { return drawn(nn.NewPRelu(o)) }, map[string]optionField{
		"Channels": {def: new(1), refused: true}, "Slope": {def: new(0.25)},
	}),
	"nn.RRelu": optionsOf(func(l nn.RRelu) []float64 { l.Generator = gen(); return applied(&l, pictures()) }, map[string]optionField{
		"Lower": {def: new(1.0 / 8)}, "Upper": {in: nn.RRelu{Lower: new(-1.0)}, def: new(1.0 / 3)},
	}),
	"nn.GumbelSoftmaxOpts": optionsOf(func(o nn.GumbelSoftmaxOpts) []float64 {
		o.Generator = gen()
		return values(nn.GumbelSoftmax(pictures(), o))
	}, map[string]optionField{
		"Tau": {def: new(1.0), refused: true}, "Axis": {def: new(-1), loose: true},
	}),
	"nn.Dropout": optionsOf(func(l nn.Dropout) []float64 { l.Generator = gen(); return applied(&l, pictures()) }, map[string]optionField{"P": {}}),
	"nn.AdaptiveAvgPool2d": optionsOf(func(l nn.AdaptiveAvgPool2d) []float64 { return applied(l, pictures()) }, map[string]optionField{
		"Size": {def: [2]*int{new(6), new(7)}, refused: true},
	}),
	"nn.Upsample": optionsOf(func(l nn.Upsample) []float64 { return applied(l, pictures()) }, map[string]optionField{
		"Size":  {refused: true},
		"Scale": {refused: true},
	}),
	"nn.AttentionOpts": optionsOf(func(o nn.AttentionOpts) []float64 {
		q := gen().Randn(1, 3, 4)
		o.Generator = gen()
		return values(nn.ScaledDotProductAttention(q, q, q, o))
	}, map[string]optionField{"Scale": {def: new(0.5)}, "Dropout": {}}),
	"nn.MultiheadAttentionOpts": optionsOf(func(o nn.MultiheadAttentionOpts) []float64 {
		o.Generator = gen()
		return applied(nn.NewMultiheadAttention(4, 2, o), gen().Randn(2, 3, 4))
	}, map[string]optionField{"Dropout": {}, "KDim": {def: new(4), refused: true}, "VDim": {def: new(4), refused: true}}),
	"nn.TransformerOpts": optionsOf(func(o nn.TransformerOpts) []float64 {
		o.Generator = gen()
		return applied(nn.NewTransformerEncoderLayer(4, 2, o), gen().Randn(2, 3, 4))
	}, map[string]optionField{"FeedForward": {def: new(2048), refused: true}, "Dropout": {def: new(0.1)}, "Eps": {def: new(1e-5)}}),
	"nn.Conv1dOpts": layered(func(o nn.Conv1dOpts) []float64 {
		o.Generator = gen()
		return applied(nn.NewConv1d(4, 4, 3, o), gen().Randn(2, 4, 9))
	}, nn.Conv1dOpts{}, false),
	"nn.Conv2dOpts": withSize(layered(func(o nn.Conv2dOpts) []float64 {
		o.Generator = gen()
		return applied(nn.NewConv2d(4, 4, 3, o), pictures())
	}, nn.Conv2dOpts{}, false), nn.Conv2dOpts{}, &[2]int{3, 3}),
	"nn.ConvTranspose2dOpts": layered(func(o nn.ConvTranspose2dOpts) []float64 {
		o.Generator = gen()
		return applied(nn.NewConvTranspose2d(4, 4, 3, o), pictures())
	}, nn.ConvTranspose2dOpts{Stride: new(3)}, true),
	"nn.EmbeddingOpts": optionsOf(func(o nn.EmbeddingOpts) []float64 {
		o.Generator = gen()
		return drawn(nn.NewEmbedding(3, 2, o))
	}, map[string]optionField{"MaxNorm": {def: (*float64)(nil), refused: true}, "NormType": {def: new(2.0), refused: true}, "PaddingIdx": {def: (*int)(nil), zero: func() []float64 {
		x := drawn(nn.NewEmbedding(3, 2, nn.EmbeddingOpts{Generator: gen()}))
		x[3], x[4] = 0, 0 // behind the rank and the shape
		return x
	}}}),
	"nn.EmbeddingBagOpts": optionsOf(func(o nn.EmbeddingBagOpts) []float64 {
		o.Generator = gen()
		e := nn.NewEmbeddingBag(3, 2, o)
		return append(drawn(e), values(e.Forward(weft.FromSlice([]int64{0, 1, 1, 2}, 2, 2)))...)
	}, map[string]optionField{"MaxNorm": {def: (*float64)(nil), refused: true}, "NormType": {def: new(2.0), refused: true}, "PaddingIdx": {def: (*int)(nil), zero: func() []float64 {
		e := nn.NewEmbedding(3, 2, nn.EmbeddingOpts{Generator: gen(), PaddingIdx: new(0)})
		return append(drawn(e), values(weft.Stack([]*weft.Tensor{e.Weight.At(1), e.Weight.Slice(weft.Range(1, 3)).Mean(0)}, 0))...)
	}}}),
	"nn.SmoothL1Opts": optionsOf(func(o nn.SmoothL1Opts) []float64 {
		return values(nn.SmoothL1(weft.FromSlice([]float64{0, 0.25, 3}), weft.ZerosOf(weft.Float64, 3), o))
	}, map[string]optionField{"Beta": {def: new(1.0), zero: list(0, 3.25/3)}}), // the mean of |x|
	"nn.HuberOpts":            compared(nn.Huber, map[string]optionField{"Delta": {def: new(1.0), refused: true}}),
	"nn.MarginOpts":           compared(nn.HingeEmbedding, map[string]optionField{"Margin": {def: new(1.0)}}),
	"nn.FocalOpts":            compared(nn.Focal, map[string]optionField{"Alpha": {def: new(0.25)}, "Gamma": {def: new(2.0)}}),
	"nn.DiceOpts":             compared(nn.Dice, map[string]optionField{"Smooth": {def: new(1.0)}}),
	"nn.PoissonNLLOpts":       compared(nn.PoissonNLL, map[string]optionField{"Eps": {in: nn.PoissonNLLOpts{Rates: true}, def: new(1e-8)}}),
	"nn.PairwiseDistanceOpts": compared(nn.PairwiseDistance, map[string]optionField{"P": {def: new(2.0), loose: true}, "Eps": {def: new(1e-6)}}),
	"nn.CosineSimilarityOpts": compared(nn.CosineSimilarity, map[string]optionField{"Axis": {def: new(1), loose: true}, "Eps": {def: new(1e-8)}}),
	"nn.NormalizeOpts": compared(func(x, _ *weft.Tensor, o ...nn.NormalizeOpts) *weft.Tensor { return nn.Normalize(x, o...) }, map[string]optionField{
		"P": {def: new(2.0), loose: true}, "Axis": {def: new(1), loose: true}, "Eps": {def: new(1e-12)},
	}),
	"nn.MultiMarginOpts": compared(func(x, _ *weft.Tensor, o ...nn.MultiMarginOpts) *weft.Tensor {
		return nn.MultiMargin(x, weft.FromSlice([]int64{0, 2, 1, 1}), o...)
	}, map[string]optionField{"P": {def: new(1), refused: true}, "Margin": {def: new(1.0)}}),
	"nn.TripletMarginOpts": compared(func(x, _ *weft.Tensor, o ...nn.TripletMarginOpts) *weft.Tensor {
		return nn.TripletMargin(x, x.Add(3e-6), x, o...)
	}, map[string]optionField{
		"Margin": {def: new(1.0)}, "P": {def: new(2.0), loose: true}, "Eps": {in: nn.TripletMarginOpts{Margin: new(0.0)}, def: new(1e-6)},
	}),
	"nn.GaussianNLLOpts": compared(func(x, y *weft.Tensor, o ...nn.GaussianNLLOpts) *weft.Tensor {
		return nn.GaussianNLL(x, y, y.Abs(), o...)
	}, map[string]optionField{
		"Eps": {def: new(1e-6), loose: true}, // a variance of 0
	}),
	"nn.CTCOpts": optionsOf(func(o nn.CTCOpts) []float64 {
		return values(nn.CTC(gen().Randn(5, 4), weft.FromSlice([]int64{1, 3}), weft.Scalar(int64(5)), weft.Scalar(int64(2)), o))
	}, map[string]optionField{"Blank": {}}),
	"nn.CrossEntropyOpts": optionsOf(func(o nn.CrossEntropyOpts) []float64 {
		return values(nn.CrossEntropy(weft.FromSlice([]float64{1, 0, 0, 2}, 2, 2), weft.FromSlice([]int64{0, 1}), o))
	}, map[string]optionField{
		"IgnoreIndex": {def: (*int)(nil), zero: list(0, math.Log1p(math.Exp(-2)))}, // of the second row alone
		"Smoothing":   {},
	}),
	"nn.NormOpts": optionsOf(func(o nn.NormOpts) []float64 {
		x := weft.FromSlice([]float64{1e-3, -1e-3, 2e-3, 0}, 2, 2)
		return slices.Concat(applied(nn.NewLayerNorm([]int{2}, o), x), applied(nn.NewGroupNorm(1, 2, o), x))
	}, map[string]optionField{"Eps": {def: new(1e-5)}}),
	"nn.BatchNormOpts": optionsOf(func(o nn.BatchNormOpts) []float64 {
		b := nn.NewBatchNorm1d(2, o)
		y := b.Forward(weft.FromSlice([]float32{1e-3, -1e-3, 3e-3, 5e-3, 0, 1}, 3, 2))
		return values(y, b.RunningMean, b.RunningVar)
	}, map[string]optionField{"Eps": {def: new(1e-5)}, "Momentum": {def: new(0.1)}}),
	"nn.RNNOpts": optionsOf(func(o nn.RNNOpts) []float64 {
		o.Generator = gen()
		return applied(nn.NewLSTM(2, 3, o), gen().Randn(2, 2, 2))
	}, map[string]optionField{"Layers": {def: new(1), refused: true}, "Dropout": {in: nn.RNNOpts{Layers: new(2)}}, "Projection": {loose: true}}),
}

// activated is the case of a layer of three axes that are even.
func activated[T nn.Layer](l T, fields map[string]optionField) optionCase {
	return optionsOf(func(l T) []float64 { return applied(l, gen().Randn(4, 2, 6)) }, fields)
}

// windowed is the case of a pooling, with the stride and dilation that nil stands for.
func windowed[T nn.Layer](in T, stride, dilation any, divided bool) optionCase {
	run := func(l T) []float64 { return applied(l, pictures()) }
	fields := map[string]optionField{
		"Window":  {in: in, refused: true},
		"Stride":  {in: in, def: stride, refused: true},
		"Padding": {in: in, zero: func() []float64 { return run(in) }},
	}
	if dilation != nil {
		fields["Dilation"] = optionField{in: in, def: dilation, refused: true}
	}
	if divided {
		fields["Divisor"] = optionField{in: in, def: (*int)(nil), refused: true}
	}
	return optionsOf(run, fields)
}

var folded = nn.Fold{Size: [2]int{3, 3}, Window: [2]int{2, 2}}

// withSize adds the option of filters of another size, with the one that nil stands for.
func withSize(c optionCase, in, size any) optionCase {
	c.fields["Size"] = optionField{in: in, def: size, refused: true}
	return c
}

// compared is the case of the options of a function of two matrices, with elements near 0.
func compared[T any](f func(x, y *weft.Tensor, o ...T) *weft.Tensor, fields map[string]optionField) optionCase {
	return optionsOf(func(o T) []float64 {
		x := weft.FromSlice([]float64{0.5, 2, 0.25, 1e-13, 2e-13, 1e-13, 0.75, 0.125, 1, 1, 1, 1e-13}, 4, 3)
		return values(f(x, weft.FromSlice([]float64{1, -1, 0, 0, 1e-10, 1, -1, 1, 0, 1, 1, 0}, 4, 3), o))
	}, fields)
}

// layered is the case of the options of layers that convolve.
func layered[T any](run func(o T) []float64, in T, transposed bool) optionCase {
	fields := map[string]optionField{
		"Stride":   {def: new(1), refused: true},
		"Padding":  {in: in, zero: func() []float64 { return run(in) }},
		"Dilation": {def: new(1), refused: true},
		"Groups":   {def: new(1), refused: true},
	}
	if transposed {
		fields["OutputPadding"] = optionField{in: in, zero: func() []float64 { return run(in) }}
	}
	return optionsOf(run, fields)
}

// modelOptionCases are the options of models, whose weights take no memory here.
var modelOptionCases = map[string]optionCase{
	"models.ResNetOpts": optionsOf(func(o published.ResNetOpts) []float64 {
		o.Weight = noMemory
		return shapesOf(published.NewResNet([4]int{1, 1, 1, 1}, true, o))
	}, map[string]optionField{
		"Classes": {def: new(1000), refused: true}, "Channels": {def: new(3), refused: true}, "Width": {def: new(64), refused: true},
		"Groups": {def: new(1), refused: true}, "GroupWidth": {def: new(64), refused: true},
	}),
	"models.AlexNetOpts": optionsOf(func(o published.AlexNetOpts) []float64 {
		o.Weight = noMemory
		m := published.NewAlexNet(o)
		return append(shapesOf(m), m.Classifier[0].(*nn.Dropout).P, m.Classifier[3].(*nn.Dropout).P)
	}, map[string]optionField{
		"Classes": {def: new(1000), refused: true}, "Channels": {def: new(3), refused: true}, "Width": {def: new(64), refused: true},
		"Hidden": {def: new(4096), refused: true}, "Dropout": {def: new(0.5)},
	}),
	"models.VGGOpts": optionsOf(func(o published.VGGOpts) []float64 {
		o.Weight = noMemory
		m := published.NewVGG11(o)
		return append(shapesOf(m), m.Classifier[2].(*nn.Dropout).P, m.Classifier[5].(*nn.Dropout).P)
	}, map[string]optionField{
		"Classes": {def: new(1000), refused: true}, "Channels": {def: new(3), refused: true}, "Width": {def: new(64), refused: true},
		"Hidden": {def: new(4096), refused: true}, "Dropout": {def: new(0.5)},
	}),
	"models.MobileNetOpts": optionsOf(func(o published.MobileNetOpts) []float64 {
		o.Weight = noMemory
		m := published.NewMobileNetV2(o)
		return append(shapesOf(m), m.Classifier[0].(*nn.Dropout).P)
	}, map[string]optionField{
		"Classes": {def: new(1000), refused: true}, "Channels": {def: new(3), refused: true}, "Width": {def: new(1.0), refused: true},
		"Dropout": {def: new(0.2)},
	}),
	"models.ViTOpts": optionsOf(func(o published.ViTOpts) []float64 {
		o.Weight = noMemory
		m := published.NewViT(8, 1, 2, 16, 32, o)
		out := append(shapesOf(m), m.Dropout.P, m.Layers[0].Dropout.P, m.LN.Eps)
		if d := m.Layers[0].SelfAttention.Drop; d != nil {
			return append(out, d.P)
		}
		return append(out, 0)
	}, map[string]optionField{
		"Classes": {def: new(1000), refused: true}, "Channels": {def: new(3), refused: true}, "Size": {def: new(224), refused: true},
		"Eps": {def: new(1e-6)}, "Dropout": {}, "AttentionDropout": {},
	}),
	"models.UNetOpts": optionsOf(func(o published.UNetOpts) []float64 {
		o.Weight = noMemory
		return shapesOf(published.NewUNet(o))
	}, map[string]optionField{
		"Classes": {def: new(2), refused: true}, "Channels": {def: new(3), refused: true}, "Width": {def: new(64), refused: true},
	}),
	"models.DDPMOpts": optionsOf(func(o published.DDPMOpts) []float64 {
		o.Weight, o.Widths = noMemory, []int{32, 64}
		m := published.NewDDPM(o)
		r := m.MidBlock.Resnets[0]
		return append(shapesOf(m), float64(r.Norm1.Groups), r.Norm1.Eps, r.Dropout.P)
	}, map[string]optionField{
		"Channels": {def: new(3), refused: true}, "Blocks": {def: new(2), refused: true}, "Groups": {def: new(32), refused: true},
		"HeadWidth": {def: (*int)(nil), refused: true}, "Eps": {def: new(1e-6)}, "Dropout": {},
	}),
	"models.NCFOpts": optionsOf(func(o published.NCFOpts) []float64 {
		o.Weight = noMemory
		return shapesOf(published.NewNCF(3, 4, o))
	}, map[string]optionField{"Factors": {def: new(64), refused: true}}),
	"models.DiffusionOpts": optionsOf(func(o published.DiffusionOpts) []float64 {
		d := published.NewDiffusion(o)
		return []float64{float64(d.Steps()), d.Kept(0), d.Kept(d.Steps() - 1)}
	}, map[string]optionField{
		"Steps": {def: new(1000), refused: true}, "First": {def: new(1e-4), refused: true}, "Last": {def: new(0.02), refused: true},
	}),
	"models.SampleOpts": optionsOf(func(o published.SampleOpts) []float64 {
		o.Generator = gen()
		x, err := published.NewDiffusion(published.DiffusionOpts{Steps: new(5), Last: new(0.5)}).Sample(context.Background(), func(x, _ *weft.Tensor) *weft.Tensor { return x.Mul(0.5) }, []int{1, 3}, o)
		if err != nil {
			panic(err)
		}
		return values(x)
	}, map[string]optionField{
		"Steps": {def: new(5), refused: true}, "Eta": {in: published.SampleOpts{NoClip: true}, def: new(1.0)},
	}),
	"models.GPT2Opts": optionsOf(func(o published.GPT2Opts) []float64 {
		o.Weight = noMemory
		m := published.NewGPT2(o)
		b := m.Transformer.H[0]
		return append(shapesOf(m), float64(b.Attn.Heads), b.Ln1.Eps, m.Transformer.Drop.P, b.Attn.AttnDrop.P, b.Attn.ResidDrop.P)
	}, map[string]optionField{
		"Vocab": {def: new(50257), refused: true}, "Context": {def: new(1024), refused: true}, "Width": {def: new(768), refused: true},
		"Layers": {def: new(12), refused: true}, "Heads": {def: new(12), refused: true}, "Inner": {def: new(3072), refused: true}, "Eps": {def: new(1e-5)},
		"EmbeddingDropout": {def: new(0.1)}, "AttentionDropout": {def: new(0.1)}, "ResidualDropout": {def: new(0.1)},
	}),
	"models.BertOpts": optionsOf(func(o published.BertOpts) []float64 {
		o.Weight = noMemory
		m := published.NewBert(o)
		e, a := m.Embeddings, m.Encoder.Layer[0].Attention
		return append(shapesOf(m), float64(a.Self.Heads), float64(*e.WordEmbeddings.PaddingIdx), e.Norm.Eps*1e12, e.Drop.P, a.Self.Drop.P)
	}, map[string]optionField{
		"Vocab": {def: new(30522), refused: true}, "Context": {def: new(512), refused: true}, "Kinds": {def: new(2), refused: true}, "Width": {def: new(768), refused: true},
		"Layers": {def: new(12), refused: true}, "Heads": {def: new(12), refused: true}, "Inner": {def: new(3072), refused: true}, "Eps": {def: new(1e-12)},
		"Dropout": {def: new(0.1)}, "AttentionDropout": {def: new(0.1)}, "Pad": {},
	}),
	"models.LlamaOpts": optionsOf(func(o published.LlamaOpts) []float64 {
		o.Weight = noMemory
		m := published.NewLlama(o)
		return append(shapesOf(m), m.Model.Norm.Eps)
	}, map[string]optionField{
		"Vocab": {def: new(32000), refused: true}, "Context": {def: new(2048), refused: true}, "Width": {def: new(4096), refused: true}, "Inner": {def: new(11008), refused: true},
		"Layers": {def: new(32), refused: true}, "Heads": {def: new(32), refused: true}, "KVHeads": {def: new(32), refused: true}, "HeadWidth": {def: new(128), refused: true},
		"Eps": {def: new(1e-6)}, "RopeTheta": {def: new(10000.0), refused: true},
	}),
	"models.RopeScaling": optionsOf(func(o published.RopeScaling) []float64 {
		if o.Type == "" {
			o.Type = "llama3"
		}
		m := published.NewLlama(published.LlamaOpts{Vocab: new(5), Width: new(8), Inner: new(8), Layers: new(1), Heads: new(1), RopeScaling: &o, Weight: nn.Normal(0, 1), Generator: gen()})
		return values(m.Logits(weft.Zeros(1, 3).To(weft.Int64).Add(weft.Arange(3)), published.LogitsOpts{Positions: weft.Arange(0, 3000, 1000)}))
	}, map[string]optionField{
		"Factor": {def: new(8.0), refused: true}, "Low": {def: new(1.0), refused: true}, "High": {def: new(4.0), refused: true}, "Context": {def: new(8192), refused: true},
		"BetaFast": {in: yarn, def: new(32.0), refused: true}, "BetaSlow": {in: yarn, def: new(1.0), refused: true},
		"Attention": {in: yarn, def: new(1 + 0.1*math.Log(4))}, "MScale": {in: yarnAll}, "MScaleAll": {in: yarnAll},
	}),
	"models.GNMTOpts": optionsOf(func(o published.GNMTOpts) []float64 {
		o.Weight = noMemory
		m := published.NewGNMT(o)
		return append(shapesOf(m), m.Encoder.Drop.P, float64(*m.Encoder.Embedder.PaddingIdx))
	}, map[string]optionField{
		"Vocab": {def: new(32317), refused: true}, "Width": {def: new(1024), refused: true}, "Layers": {def: new(4), refused: true}, "Dropout": {def: new(0.2)}, "Pad": {},
	}),
	"models.GenerateOpts": optionsOf(func(o published.GenerateOpts) []float64 {
		o.Generator = gen()
		out, err := published.GenerateBatch(tinyLM(), [][]int{{1}}, o)
		if err != nil {
			panic(err)
		}
		return floats(out[0])
	}, map[string]optionField{
		"MaxTokens": {def: new(20)}, "Temperature": {}, "TopK": {in: published.GenerateOpts{Temperature: 2}},
		"TopP": {in: published.GenerateOpts{Temperature: 2}, def: new(1.0), refused: true}, "RepetitionPenalty": {def: new(1.0), refused: true},
	}),
	"models.BeamOpts": optionsOf(func(o published.BeamOpts) (out []float64) {
		beams, err := published.BeamSearch(tinyLM(), [][]int{{1}}, o)
		if err != nil {
			panic(err)
		}
		for _, b := range beams[0] {
			out = append(append(out, b.Score), floats(b.Tokens)...)
		}
		return out
	}, map[string]optionField{
		"Beams": {def: new(4), refused: true}, "MaxTokens": {def: new(20), refused: true}, "LengthPenalty": {def: new(1.0)},
	}),
}

// tinyLM is a language model of eight tokens.
func tinyLM() published.LM {
	m := published.NewGPT2(published.GPT2Opts{Vocab: new(8), Width: new(8), Layers: new(1), Heads: new(2), Weight: nn.Normal(0, 0.5), Generator: gen()})
	nn.Eval(m)
	return m
}

// floats returns integers as floats.
func floats(x []int) (out []float64) {
	for _, v := range x {
		out = append(out, float64(v))
	}
	return out
}

// noMemory draws weights that are views of one zero.
func noMemory(_ *weft.Generator, shape ...int) *weft.Tensor { return weft.Zeros().Expand(shape...) }

// shapesOf returns the shapes of a model's tensors.
func shapesOf(m any) (out []float64) {
	s := nn.State(m)
	for _, name := range slices.Sorted(maps.Keys(s)) {
		for _, n := range s[name].Shape() {
			out = append(out, float64(n))
		}
	}
	return out
}

// trainingOptionCases are options of optimizers, schedules, samplers and initialisers.
var trainingOptionCases = map[string]optionCase{
	"optim.RAdamOpts": optionsOf(swung(func(p *weft.Tensor, o optim.RAdamOpts) optim.Optimizer { return optim.NewRAdam(only(p), o) }), map[string]optionField{
		"LR": {def: new(1e-3)}, "Beta1": {def: new(0.9)}, "Beta2": {def: new(0.999)}, "Eps": {def: new(1e-8)}, "WeightDecay": {},
	}),
	"optim.AdamaxOpts": optionsOf(swung(func(p *weft.Tensor, o optim.AdamaxOpts) optim.Optimizer { return optim.NewAdamax(only(p), o) }), map[string]optionField{
		"LR": {def: new(2e-3)}, "Beta1": {def: new(0.9)}, "Beta2": {def: new(0.999)}, "Eps": {def: new(1e-8)}, "WeightDecay": {},
	}),
	"optim.AdadeltaOpts": optionsOf(stepped(func(p *weft.Tensor, o optim.AdadeltaOpts) optim.Optimizer { return optim.NewAdadelta(only(p), o) }), map[string]optionField{
		"LR": {def: new(1.0)}, "Rho": {def: new(0.9)}, "Eps": {def: new(1e-6)}, "WeightDecay": {},
	}),
	"optim.ASGDOpts": optionsOf(swung(func(p *weft.Tensor, o optim.ASGDOpts) optim.Optimizer { return optim.NewASGD(only(p), o) }), map[string]optionField{
		"LR": {def: new(1e-2)}, "Lambda": {in: optim.ASGDOpts{LR: new(1.0)}, def: new(1e-4)}, "Alpha": {in: optim.ASGDOpts{LR: new(1.0), Lambda: new(0.1)}, def: new(0.75)}, "Start": {def: new(1e6)}, "WeightDecay": {},
	}),
	"optim.RpropOpts": optionsOf(swung(func(p *weft.Tensor, o optim.RpropOpts) optim.Optimizer { return optim.NewRprop(only(p), o) }), map[string]optionField{
		"LR": {def: new(1e-2)}, "Shrink": {def: new(0.5), refused: true}, "Grow": {def: new(1.2), refused: true}, "Least": {in: optim.RpropOpts{LR: new(1e-7)}, def: new(1e-6)}, "Greatest": {def: new(50.0), refused: true},
	}),
	"optim.AdafactorOpts": optionsOf(adafactored, map[string]optionField{
		"LR": {def: new(1e-2)}, "Beta2Decay": {def: new(-0.8), loose: true}, "Eps": {def: new(0x1p-52)}, "EpsScale": {def: new(1e-3)}, "Clip": {def: new(1.0), refused: true}, "WeightDecay": {},
	}),
	"optim.ScalerOpts": optionsOf(func(o optim.ScalerOpts) (values []float64) {
		w := weft.Ones(2).RequireGrad()
		params := func(yield func(string, *weft.Tensor) bool) { yield("w", w) }
		opt, s := optim.NewSGD(params, optim.SGDOpts{LR: new(0.0)}), optim.NewScaler(o)
		for _, f := range []float64{math.Inf(1), 1, 1} {
			opt.ZeroGrad()
			s.Scale(w.Sum().Mul(f)).Backward()
			s.Step(opt, params)
			s.Update()
			values = append(values, s.Value())
		}
		return values
	}, map[string]optionField{"Init": {def: new(65536.0), refused: true}, "Growth": {in: optim.ScalerOpts{Interval: new(2)}, def: new(2.0), refused: true},
		"Backoff": {def: new(0.5), refused: true}, "Interval": {def: new(2000), refused: true}}),
	"optim.LionOpts": optionsOf(swung(func(p *weft.Tensor, o optim.LionOpts) optim.Optimizer { return optim.NewLion(only(p), o) }), map[string]optionField{
		"LR": {def: new(1e-4)}, "Beta1": {in: optim.LionOpts{Beta2: new(0.5)}, def: new(0.9)}, "Beta2": {def: new(0.99)}, "WeightDecay": {},
	}),
	"optim.LAMBOpts": optionsOf(stepped(func(p *weft.Tensor, o optim.LAMBOpts) optim.Optimizer { return optim.NewLAMB(only(p), o) }), map[string]optionField{
		"LR": {def: new(1e-3)}, "Beta1": {def: new(0.9)}, "Beta2": {def: new(0.999)}, "Eps": {def: new(1e-6)}, "WeightDecay": {},
	}),
	"optim.MuonOpts": optionsOf(orthogonalised, map[string]optionField{
		"LR": {def: new(1e-3)}, "Momentum": {def: new(0.95)}, "WeightDecay": {def: new(0.1)}, "Coefficients": {def: &[3]float64{3.4445, -4.775, 2.0315}}, "Eps": {in: optim.MuonOpts{Iterations: new(1)}, def: new(1e-7)},
		"Iterations": {def: new(5), loose: true},
	}),
	"optim.AverageOpts":  optionsOf(averaged, map[string]optionField{"Decay": {loose: true}}),
	"optim.ClipNormOpts": optionsOf(clipped, map[string]optionField{"Power": {def: new(2.0), refused: true}}),
	"optim.Constant":     optionsOf(scheduled[optim.Constant], map[string]optionField{"Steps": {refused: true}, "Factor": {in: optim.Constant{Steps: 3}}}),
	"optim.Polynomial":   optionsOf(scheduled[optim.Polynomial], map[string]optionField{"Steps": {refused: true}, "Power": {in: optim.Polynomial{Steps: 9}, def: new(1.0)}}),
	"optim.WarmCosine": optionsOf(scheduled[optim.WarmCosine], map[string]optionField{
		"Warm": {in: optim.WarmCosine{Steps: 5}}, "Steps": {refused: true}, "From": {in: optim.WarmCosine{Warm: 2, Steps: 5}}, "Min": {in: optim.WarmCosine{Steps: 5}},
	}),
	"optim.WarmRestarts": optionsOf(scheduled[optim.WarmRestarts], map[string]optionField{
		"Steps": {refused: true}, "Mult": {in: optim.WarmRestarts{Steps: 2}, def: new(1), refused: true}, "Min": {in: optim.WarmRestarts{Steps: 4}},
	}),
	"optim.Cyclic": optionsOf(scheduled[optim.Cyclic], map[string]optionField{
		"Min": {in: optim.Cyclic{Max: 1, Up: new(2)}}, "Max": {in: optim.Cyclic{Min: 1, Up: new(2)}}, "Up": {in: optim.Cyclic{Max: 1}, def: new(2000), refused: true},
		"Down": {in: optim.Cyclic{Max: 1, Up: new(2)}, def: new(2), refused: true}, "Gamma": {in: optim.Cyclic{Max: 1, Up: new(2)}, def: new(1.0)},
	}),
	"nn.KaimingOpts":     optionsOf(func(o nn.KaimingOpts) []float64 { return values(nn.Kaiming(o)(gen(), 3, 4)) }, map[string]optionField{"Gain": {def: new(math.Sqrt2)}}),
	"data.SubsetSampler": optionsOf(sampled[data.SubsetSampler], map[string]optionField{"Seed": {in: data.SubsetSampler{Index: []int64{0, 1, 2, 3, 4, 5, 6, 7}}}}),
	"data.WeightedSampler": optionsOf(sampled[data.WeightedSampler], map[string]optionField{
		"N": {in: data.WeightedSampler{Weights: []float64{1, 2}}}, "Seed": {in: data.WeightedSampler{Weights: []float64{1, 2, 3}, N: 9}},
	}),
	"data.DistributedSampler": optionsOf(sampled[data.DistributedSampler], map[string]optionField{
		"Examples": {in: data.DistributedSampler{Ranks: 1}}, "Rank": {in: data.DistributedSampler{Examples: 9, Ranks: 3}},
		"Ranks": {in: data.DistributedSampler{Examples: 9}, refused: true}, "Seed": {in: data.DistributedSampler{Examples: 9, Ranks: 1, Shuffle: true}},
	}),
	"data.BucketSampler": optionsOf(func(s data.BucketSampler) (out []float64) {
		for _, b := range s.Batches(0) {
			for _, i := range b {
				out = append(out, float64(i))
			}
		}
		return out
	}, map[string]optionField{
		"Batch": {in: data.BucketSampler{Lengths: []int{3, 2, 1}, Group: 1}, refused: true}, "Group": {in: data.BucketSampler{Lengths: []int{3, 2, 1}, Batch: 1}, refused: true},
		"Seed": {in: data.BucketSampler{Lengths: []int{3, 2, 1, 4, 5}, Batch: 1, Group: 1}},
	}),
}

// swung returns three parameters, and their averages if the optimizer has them, after eight steps with
// gradients that fall and change their signs, stay, and are close to Eps.
func swung[O any](make func(p *weft.Tensor, o O) optim.Optimizer) func(o O) []float64 {
	return func(o O) []float64 {
		w := nn.Param(weft.FromSlice([]float64{1, -2, 3}))
		opt := make(w, o)
		for i := range 8 {
			w.SetGrad(weft.FromSlice([]float64{float64(8-i) * (1 - 2*float64(i%2)), -2, 1e-8}))
			opt.Step()
		}
		out := values(w)
		if average := opt.State()["average.w"]; average != nil {
			out = append(out, values(average)...)
		}
		return out
	}
}

// adafactored returns small parameters after four steps with one gradient close to Eps.
func adafactored(o optim.AdafactorOpts) []float64 {
	w := nn.Param(weft.FromSlice([]float64{1e-5, -2e-5, 3e-5}))
	opt := optim.NewAdafactor(only(w), o)
	for i := range 4 {
		w.SetGrad(weft.FromSlice([]float64{1 + float64(i), -2, 1e-17}))
		opt.Step()
	}
	return values(w)
}

// orthogonalised returns a matrix after four steps of Muon, with a small gradient for Eps.
func orthogonalised(o optim.MuonOpts) []float64 {
	w := nn.Param(weft.FromSlice([]float64{1, -2, 3, 0.5}, 2, 2))
	opt := optim.NewMuon(only(w), o)
	for i := range 4 {
		w.SetGrad(weft.FromSlice([]float64{1 + float64(i), -2, 0.5, 3}, 2, 2).Mul(1e-8))
		opt.Step()
	}
	return values(w)
}

// averaged returns the average of 1, 2 and 4.
func averaged(o optim.AverageOpts) []float64 {
	w, into := weft.ZerosOf(weft.Float64), weft.ZerosOf(weft.Float64)
	a := optim.NewAverage(only(into), only(w), o)
	for _, x := range []float64{1, 2, 4} {
		w.Fill(x)
		a.Update()
	}
	return values(into)
}

// clipped returns a clipped gradient and its norm.
func clipped(o optim.ClipNormOpts) []float64 {
	w := nn.Param(weft.ZerosOf(weft.Float64, 2))
	w.SetGrad(weft.FromSlice([]float64{3, 4}))
	return append(values(w.Grad()), optim.ClipNorm(only(w), 1, o))
}

// sampled returns the places that a sampler chooses.
func sampled[S data.Sampler](s S) (out []float64) {
	for _, i := range s.Order(0) {
		out = append(out, float64(i))
	}
	return out
}

// transformCases are the options of transforms of pictures.
var transformCases = map[string]optionCase{
	"transforms.RandomApply": augmented[transforms.RandomApply](map[string]optionField{
		"P": {in: transforms.RandomApply{Transforms: transforms.Compose{transforms.Resize{Size: []int{3}}}}, def: new(0.5)},
	}),
	"transforms.RandomHorizontalFlip": augmented[transforms.RandomHorizontalFlip](map[string]optionField{"P": {def: new(0.5)}}),
	"transforms.RandomVerticalFlip":   augmented[transforms.RandomVerticalFlip](map[string]optionField{"P": {def: new(0.5)}}),
	"transforms.Resize":               augmented[transforms.Resize](map[string]optionField{"MaxSize": {in: transforms.Resize{Size: []int{4}}, def: new(5), refused: true}}),
	"transforms.RandomResizedCrop": augmented[transforms.RandomResizedCrop](map[string]optionField{
		"Scale": {in: transforms.RandomResizedCrop{Size: []int{3}}, def: &[2]float64{0.08, 1}, loose: true},
		"Ratio": {in: transforms.RandomResizedCrop{Size: []int{3}}, def: &[2]float64{3. / 4, 4. / 3}, refused: true},
	}),
	"transforms.AffineOpts": optionsOf(func(o transforms.AffineOpts) []float64 { return values(transforms.Affine(gen().Rand(3, 6, 7), o)) }, map[string]optionField{
		"Angle": {in: smoothly}, "Translate": {in: smoothly}, "Shear": {in: smoothly}, "Scale": {in: smoothly, def: new(1.0), refused: true},
		"Center": {in: transforms.AffineOpts{Angle: 30, Interpolation: nn.ModeLinear}, def: &[2]float64{3.5, 3}},
	}),
	"transforms.RotateOpts": optionsOf(func(o transforms.RotateOpts) []float64 {
		return values(transforms.Rotate(gen().Rand(3, 6, 7), 30, o))
	}, map[string]optionField{"Center": {in: transforms.RotateOpts{Interpolation: nn.ModeLinear}, def: &[2]float64{3.5, 3}}}),
	"transforms.RandomRotation": augmented[transforms.RandomRotation](map[string]optionField{
		"Degrees": {in: transforms.RandomRotation{RotateOpts: transforms.RotateOpts{Interpolation: nn.ModeLinear}}},
		"Center":  {in: transforms.RandomRotation{Degrees: 30, RotateOpts: transforms.RotateOpts{Interpolation: nn.ModeLinear}}, def: &[2]float64{3.5, 3}},
	}),
	"transforms.RandomAffine": augmented[transforms.RandomAffine](map[string]optionField{
		"Degrees": {in: movedSmoothly}, "Translate": {in: movedSmoothly}, "Shear": {in: movedSmoothly},
		"Scale":  {in: movedSmoothly, def: &[2]float64{1, 1}, refused: true},
		"Center": {in: transforms.RandomAffine{Degrees: 30, Interpolation: nn.ModeLinear}, def: &[2]float64{3.5, 3}},
	}),
	"transforms.ColorJitter": augmented[transforms.ColorJitter](map[string]optionField{
		"Brightness": {}, "Contrast": {}, "Saturation": {}, "Hue": {loose: true},
	}),
	"transforms.Grayscale":       augmented[transforms.Grayscale](map[string]optionField{"Channels": {def: new(1), refused: true}}),
	"transforms.RandomGrayscale": augmented[transforms.RandomGrayscale](map[string]optionField{"P": {def: new(0.1)}}),
	"transforms.GaussianBlur": augmented[transforms.GaussianBlur](map[string]optionField{
		"Sigma": {in: transforms.GaussianBlur{KernelSize: []int{3}}, def: &[2]float64{0.1, 2}, refused: true},
	}),
	"transforms.RandomErasing": augmented[transforms.RandomErasing](map[string]optionField{
		"P": {def: new(0.5)}, "Scale": {def: &[2]float64{0.02, 0.33}}, "Ratio": {def: &[2]float64{0.3, 3.3}, refused: true},
	}),
	"transforms.RandAugment": augmented[transforms.RandAugment](map[string]optionField{
		"NumOps": {def: new(2)}, "Magnitude": {def: new(9)}, "Bins": {def: new(31), refused: true},
	}),
	"transforms.AugMix": augmented[transforms.AugMix](map[string]optionField{
		"Severity": {def: new(3), refused: true}, "Width": {def: new(3), refused: true}, "Alpha": {def: new(1.0), refused: true},
		"Depth": {refused: true},
	}),
	"transforms.RandomPerspective": augmented[transforms.RandomPerspective](map[string]optionField{
		"P": {def: new(0.5)}, "Distortion": {in: transforms.RandomPerspective{P: new(1.0)}, def: new(0.5)},
	}),
	"transforms.TrivialAugmentWide": augmented[transforms.TrivialAugmentWide](map[string]optionField{"Bins": {def: new(31), refused: true}}),
	"transforms.MixUp": optionsOf(func(m transforms.MixUp) []float64 {
		x, y := m.Apply(gen().Rand(4, 3, 6, 7), weft.Arange(4), gen())
		return values(x, y)
	}, map[string]optionField{"Alpha": {in: transforms.MixUp{Classes: 4}, def: new(1.0), refused: true}, "Classes": {refused: true}}),
	"transforms.CutMix": optionsOf(func(m transforms.CutMix) []float64 {
		x, y := m.Apply(gen().Rand(4, 3, 6, 7), weft.Arange(4), gen())
		return values(x, y)
	}, map[string]optionField{"Alpha": {in: transforms.CutMix{Classes: 4}, def: new(1.0), refused: true}, "Classes": {refused: true}}),
	"transforms.Truncate": augmented[transforms.Truncate](map[string]optionField{"Length": {}}),
	"data.ShardsOpts": optionsOf(shards, map[string]optionField{
		"Seed": {in: data.ShardsOpts{Shuffle: true}, loose: true}, "Rank": {in: data.ShardsOpts{Ranks: new(3)}}, "Ranks": {def: new(1), refused: true},
	}),
	"transforms.PadTo": optionsOf(func(p transforms.PadTo) []float64 { return values(p.Apply(gen().Rand(1, 2), nil)) },
		map[string]optionField{"Length": {}, "Value": {in: transforms.PadTo{Length: 4}}}),
}

// shards returns the order of tar files, which are the numbers of their examples.
func shards(o data.ShardsOpts) (out []float64) {
	o.Open = func(path string) (io.ReadCloser, error) {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		if err := w.WriteHeader(&tar.Header{Name: path, Typeflag: tar.TypeReg}); err != nil {
			return nil, err
		}
		return io.NopCloser(&b), w.Close()
	}
	for s, err := range data.Shards([]string{"0", "1", "2", "3", "4", "5"}, o)(1) {
		if err != nil {
			panic(err)
		}
		n, _ := strconv.Atoi(s.Key)
		out = append(out, float64(n))
	}
	return out
}

var (
	smoothly      = transforms.AffineOpts{Interpolation: nn.ModeLinear}
	movedSmoothly = transforms.RandomAffine{Interpolation: nn.ModeLinear}
)

// augmented returns what a transform makes of pictures, several times.
func augmented[T transforms.Transform](fields map[string]optionField) optionCase {
	return optionsOf(func(t T) (out []float64) {
		g := gen()
		x := g.Rand(3, 6, 7)
		for range 8 {
			out = append(out, values(t.Apply(x, g))...)
		}
		return out
	}, fields)
}

// fitOptionCases are the options of package train.
var fitOptionCases = map[string]optionCase{
	"train.AccuracyOpts": optionsOf(func(o train.AccuracyOpts) []float64 { return measured(train.Accuracy(o)) }, map[string]optionField{
		"K": {def: new(1), refused: true}, "Threshold": {}, "IgnoreIndex": {def: new(-100), loose: true},
	}),
	"train.ClassOpts": optionsOf(func(o train.ClassOpts) []float64 { return measured(train.F1(o)) }, map[string]optionField{
		"Threshold": {}, "IgnoreIndex": {def: new(-100), loose: true},
	}),
	"train.EarlyStop": optionsOf(func(e train.EarlyStop) []float64 {
		values, n := []float64{5, 4, 3.7, 3.7, 3.6, 3.9, 3.8}, 0
		m := train.NewMetric("m", func(_, _ *weft.Tensor) []float64 { return []float64{0} }, func([]float64) float64 { n++; return values[n-1] })
		return []float64{float64(len(fitted(7, train.Opts{Metrics: []*train.Metric{m}, Monitor: "m", EarlyStop: &e}).Epochs))}
	}, map[string]optionField{
		"Patience": {in: train.EarlyStop{}}, "MinDelta": {in: train.EarlyStop{Patience: 1}},
	}),
	"train.Opts": optionsOf(func(o train.Opts) []float64 { return fitted(2, o).Losses }, map[string]optionField{
		"Accumulate": {def: new(1), refused: true}, "ClipNorm": {def: new(math.Inf(1))}, "ClipValue": {def: new(math.Inf(1))},
	}),
}

// measured is a metric of scores with a threshold and one class 0.
func measured(m *train.Metric) []float64 {
	m.Update(weft.FromSlice([]float64{-1, 0.2, 0.7, 3, -3}), weft.FromSlice([]int64{1, 0, 1, 1, 0}))
	return []float64{m.Value()}
}

// fitted trains a small network.
func fitted(epochs int, o train.Opts) *train.History {
	x := gen().Randn(12, 3)
	net := nn.NewLinear(3, 1, nn.Opts{Generator: gen()})
	opt := optim.NewSGD(nn.Params(net), optim.SGDOpts{LR: new(0.1)})
	h, err := train.New(net, train.Loss(nn.MSE), opt, o).Fit(context.Background(), epochs, data.NewLoader(data.Tensors(x, x.Sum(1).Unsqueeze(1)), data.LoaderOpts{Batch: new(4)}), nil)
	if err != nil {
		panic(err)
	}
	return h
}

// averagedWeights is what a network whose weights are averaged predicts.
func averagedWeights(o train.Opts) []float64 {
	x := gen().Randn(12, 3)
	net := nn.NewLinear(3, 1, nn.Opts{Generator: gen()})
	t := train.New(net, train.Loss(nn.MSE), optim.NewSGD(nn.Params(net), optim.SGDOpts{LR: new(0.1)}), o)
	loader := data.NewLoader(data.Tensors(x, x.Sum(1).Unsqueeze(1)), data.LoaderOpts{Batch: new(4)})
	if _, err := t.Fit(context.Background(), 2, loader, nil); err != nil {
		panic(err)
	}
	return values(t.Model().(*nn.Linear).Weight)
}

// saves counts how often a run is saved inside an epoch.
func saves(o train.Opts) []float64 {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	n, path := 0.0, filepath.Join(dir, "last.ckpt")
	o.Dir = dir
	o.Callbacks = []train.Callback{{Step: func(train.Step) error {
		if _, err := os.Stat(path); err == nil {
			n++
			return os.Remove(path)
		}
		return nil
	}}}
	fitted(1, o)
	return []float64{n}
}

func init() {
	f := fitOptionCases["train.Opts"].fields
	run := fitOptionCases["train.Opts"].run
	fitOptionCases["train.Opts"] = optionCase{func(o any) []float64 {
		switch t := o.(train.Opts); {
		case t.EMA != nil:
			return averagedWeights(t)
		case t.SaveEvery != 0:
			return saves(t)
		}
		return run(o)
	}, f}
	f["EMA"] = optionField{in: train.Opts{}}
	f["SaveEvery"] = optionField{in: train.Opts{}}
}

// yarn and yarnAll are scalings of rotary embeddings, whose scores the second divides.
var (
	yarn    = published.RopeScaling{Type: "yarn", Factor: new(4.0), Context: new(16)}
	yarnAll = published.RopeScaling{Type: "yarn", Factor: new(4.0), Context: new(16), MScale: new(0.7), MScaleAll: new(0.5)}
)
