package nn_test

import (
	"math"
	"slices"
	"testing"

	"weft"
	"weft/internal/array"
	"weft/nn"
)

// emptyInputs are layers and inputs without elements that PyTorch takes, with the shape of what
// comes out.
func emptyInputs() []struct {
	name  string
	layer nn.Layer
	in    []int
	out   []int
} {
	picture := []int{0, 2, 5, 6}
	gen := weft.NewGenerator(1)
	return []struct {
		name  string
		layer nn.Layer
		in    []int
		out   []int
	}{
		{"Linear", nn.NewLinear(4, 3), []int{0, 4}, []int{0, 3}},
		{"Linear of 0 steps", nn.NewLinear(4, 3), []int{2, 0, 4}, []int{2, 0, 3}},
		{"Conv1d", nn.NewConv1d(2, 3, 3), []int{0, 2, 7}, []int{0, 3, 5}},
		{"Conv2d", nn.NewConv2d(2, 3, 3), picture, []int{0, 3, 3, 4}},
		{"Conv2d of groups", nn.NewConv2d(2, 4, 3, nn.Conv2dOpts{Groups: new(2)}), picture, []int{0, 4, 3, 4}},
		{"ConvTranspose2d", nn.NewConvTranspose2d(2, 3, 3), picture, []int{0, 3, 7, 8}},
		{"ConvTranspose2d whose padding takes all", nn.NewConvTranspose2d(2, 3, 2, nn.ConvTranspose2dOpts{Padding: 1}), []int{4, 2, 1, 3}, []int{4, 3, 0, 2}},
		{"LayerNorm", nn.NewLayerNorm([]int{6}), []int{0, 6}, []int{0, 6}},
		{"LayerNorm of 0 steps", nn.NewLayerNorm([]int{6}), []int{3, 0, 6}, []int{3, 0, 6}},
		{"LayerNorm without weights", nn.NewLayerNorm([]int{6}, nn.NormOpts{NoAffine: true}), []int{0, 6}, []int{0, 6}},
		{"RMSNorm", nn.NewRMSNorm([]int{6}), []int{0, 6}, []int{0, 6}},
		{"GroupNorm", nn.NewGroupNorm(2, 4), []int{0, 4, 5}, []int{0, 4, 5}},
		{"GroupNorm of length 0", nn.NewGroupNorm(2, 4), []int{2, 4, 0}, []int{2, 4, 0}},
		{"BatchNorm1d", nn.NewBatchNorm1d(4), []int{0, 4}, []int{0, 4}},
		{"BatchNorm1d of length 0", nn.NewBatchNorm1d(4), []int{3, 4, 0}, []int{3, 4, 0}},
		{"BatchNorm2d", nn.NewBatchNorm2d(2), picture, picture},
		{"BatchNorm2d evaluated", func() nn.Layer { b := nn.NewBatchNorm2d(2); nn.Eval(b); return b }(), picture, picture},
		{"LSTM", nn.NewLSTM(2, 3), []int{4, 0, 2}, []int{4, 0, 3}},
		{"LSTM both ways", nn.NewLSTM(2, 3, nn.RNNOpts{Bidirectional: true, Layers: new(2), BatchFirst: true, Dropout: 0.5, Generator: gen}), []int{0, 4, 2}, []int{0, 4, 6}},
		{"GRU", nn.NewGRU(2, 3), []int{4, 0, 2}, []int{4, 0, 3}},
		{"RNN", nn.NewRNN(2, 3), []int{4, 0, 2}, []int{4, 0, 3}},
		{"LSTM with projection", nn.NewLSTM(2, 3, nn.RNNOpts{Projection: 2}), []int{4, 0, 2}, []int{4, 0, 2}},
		{"GRU without bias", nn.NewGRU(2, 3, nn.RNNOpts{NoBias: true, Layers: new(2)}), []int{4, 0, 2}, []int{4, 0, 3}},
		{"MultiheadAttention of batch 0", nn.NewMultiheadAttention(4, 2), []int{3, 0, 4}, []int{3, 0, 4}},
		{"MultiheadAttention of length 0", nn.NewMultiheadAttention(4, 2), []int{0, 3, 4}, []int{0, 3, 4}},
		{"MaxPool2d", nn.MaxPool2d{Window: [2]int{2, 2}}, picture, []int{0, 2, 2, 3}},
		{"AvgPool2d", nn.AvgPool2d{Window: [2]int{2, 2}}, picture, []int{0, 2, 2, 3}},
		{"AdaptiveAvgPool2d", nn.AdaptiveAvgPool2d{Size: [2]*int{new(2), new(4)}}, picture, []int{0, 2, 2, 4}},
		{"AdaptiveAvgPool2d of even parts", nn.AdaptiveAvgPool2d{Size: [2]*int{new(1), new(3)}}, picture, []int{0, 2, 1, 3}},
		{"Conv1d same", nn.NewConv1d(2, 3, 3, nn.Conv1dOpts{Same: true, PadMode: nn.PadReflect}), []int{0, 2, 7}, []int{0, 3, 7}},
		{"Conv3d", nn.NewConv3d(2, 3, 2), []int{0, 2, 3, 4, 5}, []int{0, 3, 2, 3, 4}},
		{"ConvTranspose1d", nn.NewConvTranspose1d(2, 3, 2), []int{0, 2, 3}, []int{0, 3, 4}},
		{"ConvTranspose3d", nn.NewConvTranspose3d(2, 3, 2), []int{0, 2, 3, 4, 5}, []int{0, 3, 4, 5, 6}},
		{"Pad", nn.Pad{Pads: []int{1, 2}, Mode: nn.PadCircular}, picture, []int{0, 2, 5, 9}},
		{"Unfold", nn.Unfold{Window: [2]int{2, 2}}, picture, []int{0, 8, 20}},
		{"Fold", nn.Fold{Size: [2]int{5, 6}, Window: [2]int{2, 2}}, []int{0, 8, 20}, picture},
		{"PixelShuffle", nn.PixelShuffle{Factor: 2}, []int{0, 8, 2, 3}, []int{0, 2, 4, 6}},
		{"PixelUnshuffle", nn.PixelUnshuffle{Factor: 2}, []int{0, 2, 4, 6}, []int{0, 8, 2, 3}},
		{"ChannelShuffle", nn.ChannelShuffle{Groups: 2}, picture, picture},
		{"Interpolate", nn.Interpolate{Size: []int{3, 9}, Mode: nn.ModeCubic}, picture, []int{0, 2, 3, 9}},
		{"Interpolate antialias", nn.Interpolate{Size: []int{3, 9}, Mode: nn.ModeLinear, Antialias: true}, picture, []int{0, 2, 3, 9}},
		{"MaxPool1d", nn.MaxPool1d{Window: 2, Dilation: new(2)}, []int{0, 2, 6}, []int{0, 2, 2}},
		{"MaxPool3d", nn.MaxPool3d{Window: [3]int{2, 2, 2}, Ceil: true}, []int{0, 2, 3, 4, 5}, []int{0, 2, 2, 2, 3}},
		{"AvgPool3d", nn.AvgPool3d{Window: [3]int{2, 2, 2}, Ceil: true}, []int{0, 2, 3, 4, 5}, []int{0, 2, 2, 2, 3}},
		{"AdaptiveMaxPool2d", nn.AdaptiveMaxPool2d{Size: [2]*int{new(2), new(4)}}, picture, []int{0, 2, 2, 4}},
		{"LPPool", nn.LPPool{P: 2, Window: []int{2, 2}}, picture, []int{0, 2, 2, 3}},
		{"InstanceNorm2d", nn.NewInstanceNorm2d(2, nn.InstanceNormOpts{Affine: true, Running: true}), picture, picture},
		{"BatchNorm3d", nn.NewBatchNorm3d(2), []int{0, 2, 3, 4, 5}, []int{0, 2, 3, 4, 5}},
		{"LocalResponseNorm", nn.LocalResponseNorm{Size: 2}, picture, picture},
		{"ChannelDropout", &nn.ChannelDropout{P: 0.5, Generator: gen}, picture, picture},
		{"AlphaDropout", &nn.AlphaDropout{P: 0.5, Generator: gen}, picture, picture},
		{"Upsample", nn.Upsample{Scale: new(2.0)}, picture, []int{0, 2, 10, 12}},
		{"Upsample bilinear", nn.Upsample{Size: new([2]int{7, 9}), Bilinear: true}, picture, []int{0, 2, 7, 9}},
		{"Flatten", nn.Flatten{}, picture, []int{0, 60}},
		{"Dropout", &nn.Dropout{P: 0.5, Generator: gen}, []int{0, 4}, []int{0, 4}},
		{"Relu", nn.Relu{}, []int{0, 4}, []int{0, 4}},
		{"Gelu", nn.Gelu{}, []int{0, 4}, []int{0, 4}},
		{"Silu", nn.Silu{}, []int{0, 4}, []int{0, 4}},
		{"Tanh", nn.Tanh{}, []int{0, 4}, []int{0, 4}},
		{"Sigmoid", nn.Sigmoid{}, []int{0, 4}, []int{0, 4}},
		{"Elu", nn.Elu{}, []int{0, 4}, []int{0, 4}},
		{"LeakyRelu", nn.LeakyRelu{}, []int{0, 4}, []int{0, 4}},
		{"Hardswish", nn.Hardswish{}, []int{0, 4}, []int{0, 4}},
		{"Softplus", nn.Softplus{}, []int{0, 4}, []int{0, 4}},
		{"Gelu tanh", nn.Gelu{Tanh: true}, []int{0, 4}, []int{0, 4}},
		{"PRelu", nn.NewPRelu(nn.PReluOpts{Channels: new(4)}), []int{0, 4}, []int{0, 4}},
		{"RRelu", &nn.RRelu{Generator: gen}, []int{0, 4}, []int{0, 4}},
		{"Glu", nn.Glu{}, []int{0, 4}, []int{0, 2}},
		{"Glu of width 0", nn.Glu{}, []int{3, 0}, []int{3, 0}},
		{"Softmax", nn.Softmax{}, []int{0, 4}, []int{0, 4}},
		{"Unflatten", nn.Unflatten{Axis: 1, Sizes: []int{2, 2}}, []int{0, 4}, []int{0, 2, 2}},
		{"Flatten of all", nn.Flatten{Start: new(0), End: new(1)}, []int{0, 4, 2}, []int{0, 2}},
		{"Identity", nn.Identity{}, []int{0, 4}, []int{0, 4}},
		{"Sequential", nn.Sequential{nn.NewConv2d(2, 3, 3), nn.NewBatchNorm2d(3), nn.Relu{}, nn.Flatten{}, nn.NewLinear(36, 2)}, picture, []int{0, 2}},
	}
}

// Every layer takes an empty batch, forward and backward, eagerly and compiled. Gradients of
// parameters are zeros, and statistics do not change.
func TestLayersOfEmptyBatches(t *testing.T) {
	for _, c := range emptyInputs() {
		for _, compiled := range []bool{false, true} {
			name := c.name
			before := nn.State(nn.Copy(c.layer))
			for _, p := range nn.Params(c.layer) {
				p.SetGrad(nil)
			}
			x := weft.Zeros(c.in...).RequireGrad()
			step := func(x *weft.Tensor) *weft.Tensor {
				if compiled {
					x = x.Detach().RequireGrad()
				}
				y := c.layer.Forward(x)
				y.Sum().Backward()
				return y.Detach()
			}
			var y *weft.Tensor
			err := weft.Try(func() {
				if !compiled {
					y = step(x)
					return
				}
				var failed error
				if y, failed = weft.Compile(step).Call(x.Detach()); failed != nil {
					panic(failed)
				}
			})
			if err != nil {
				t.Errorf("%s, compiled %v: %v", name, compiled, err)
				continue
			}
			if !array.Equal(y.Shape(), c.out) {
				t.Errorf("%s, compiled %v: shape %v, want %v", name, compiled, y.Shape(), c.out)
			}
			if g := x.Grad(); !compiled && (g == nil || !array.Equal(g.Shape(), c.in)) {
				t.Errorf("%s: gradient of the input is %v", name, g)
			}
			for what, p := range nn.Params(c.layer) {
				if g := p.Grad(); g == nil || !array.Equal(g.Shape(), p.Shape()) || g.Size() > 0 && g.Ne(0).Any().Item() != 0 {
					t.Errorf("%s, compiled %v: gradient of %s is %v, want zeros", name, compiled, what, g)
				}
			}
			for what, b := range nn.State(c.layer) {
				if b.DType().Float() && weft.Digest(b) != weft.Digest(before[what]) {
					t.Errorf("%s, compiled %v: %s is %v, was %v", name, compiled, what, b, before[what])
				}
			}
		}
	}
}

// The loss of an empty batch is NaN as a mean and 0 as a sum. The gradient has the shape of its
// argument.
func TestLossesOfEmptyBatches(t *testing.T) {
	classes := func() *weft.Tensor { return weft.ZerosOf(weft.Int64, 0) }
	for name, f := range map[string]func(x *weft.Tensor, r nn.Reduction) *weft.Tensor{
		"MSE": func(x *weft.Tensor, r nn.Reduction) *weft.Tensor {
			return nn.MSE(x, weft.Zeros(0, 3), nn.LossOpts{Reduction: r})
		},
		"L1": func(x *weft.Tensor, r nn.Reduction) *weft.Tensor {
			return nn.L1(x, weft.Zeros(0, 3), nn.LossOpts{Reduction: r})
		},
		"SmoothL1": func(x *weft.Tensor, r nn.Reduction) *weft.Tensor {
			return nn.SmoothL1(x, weft.Zeros(0, 3), nn.SmoothL1Opts{Reduction: r})
		},
		"BCE": func(x *weft.Tensor, r nn.Reduction) *weft.Tensor {
			return nn.BCE(x, weft.Zeros(0, 3), nn.BCEOpts{Reduction: r})
		},
		"BCEWithLogits": func(x *weft.Tensor, r nn.Reduction) *weft.Tensor {
			return nn.BCEWithLogits(x, weft.Zeros(0, 3), nn.BCEOpts{Reduction: r})
		},
		"KLDiv": func(x *weft.Tensor, r nn.Reduction) *weft.Tensor {
			return nn.KLDiv(x, weft.Zeros(0, 3), nn.KLDivOpts{Reduction: r})
		},
		"CrossEntropy": func(x *weft.Tensor, r nn.Reduction) *weft.Tensor {
			return nn.CrossEntropy(x, classes(), nn.CrossEntropyOpts{Reduction: r})
		},
		"CrossEntropy, smooth": func(x *weft.Tensor, r nn.Reduction) *weft.Tensor {
			return nn.CrossEntropy(x, classes(), nn.CrossEntropyOpts{Reduction: r, Smoothing: 0.1, IgnoreIndex: new(1)})
		},
		"CrossEntropy, probabilities": func(x *weft.Tensor, r nn.Reduction) *weft.Tensor {
			return nn.CrossEntropy(x, weft.Zeros(0, 3), nn.CrossEntropyOpts{Reduction: r})
		},
		"NLL": func(x *weft.Tensor, r nn.Reduction) *weft.Tensor {
			return nn.NLL(x, classes(), nn.CrossEntropyOpts{Reduction: r})
		},
		"Huber": func(x *weft.Tensor, r nn.Reduction) *weft.Tensor {
			return nn.Huber(x, weft.Zeros(0, 3), nn.HuberOpts{Reduction: r})
		},
		"HingeEmbedding": func(x *weft.Tensor, r nn.Reduction) *weft.Tensor {
			return nn.HingeEmbedding(x, weft.Zeros(0, 3), nn.MarginOpts{Reduction: r})
		},
		"SoftMargin": func(x *weft.Tensor, r nn.Reduction) *weft.Tensor {
			return nn.SoftMargin(x, weft.Zeros(0, 3), nn.LossOpts{Reduction: r})
		},
		"MultiMargin": func(x *weft.Tensor, r nn.Reduction) *weft.Tensor {
			return nn.MultiMargin(x, classes(), nn.MultiMarginOpts{Reduction: r})
		},
		"MultiLabelMargin": func(x *weft.Tensor, r nn.Reduction) *weft.Tensor {
			return nn.MultiLabelMargin(x, weft.ZerosOf(weft.Int64, 0, 3), nn.LossOpts{Reduction: r})
		},
		"MultiLabelSoftMargin": func(x *weft.Tensor, r nn.Reduction) *weft.Tensor {
			return nn.MultiLabelSoftMargin(x, weft.Zeros(0, 3), nn.MultiLabelSoftMarginOpts{Reduction: r})
		},
		"TripletMargin": func(x *weft.Tensor, r nn.Reduction) *weft.Tensor {
			return nn.TripletMargin(x, weft.Zeros(0, 3), weft.Zeros(0, 3), nn.TripletMarginOpts{Reduction: r})
		},
		"CosineEmbedding": func(x *weft.Tensor, r nn.Reduction) *weft.Tensor {
			return nn.CosineEmbedding(x, weft.Zeros(0, 3), weft.Zeros(0), nn.MarginOpts{Reduction: r})
		},
		"GaussianNLL": func(x *weft.Tensor, r nn.Reduction) *weft.Tensor {
			return nn.GaussianNLL(x, weft.Zeros(0, 3), weft.Ones(0, 3), nn.GaussianNLLOpts{Reduction: r})
		},
		"Focal": func(x *weft.Tensor, r nn.Reduction) *weft.Tensor {
			return nn.Focal(x, weft.Zeros(0, 3), nn.FocalOpts{Reduction: r})
		},
		"Dice": func(x *weft.Tensor, r nn.Reduction) *weft.Tensor {
			return nn.Dice(x, weft.Zeros(0, 3), nn.DiceOpts{Reduction: r})
		},
		"CTC": func(x *weft.Tensor, r nn.Reduction) *weft.Tensor {
			return nn.CTC(x.Reshape(2, 0, 3), weft.ZerosOf(weft.Int64, 0, 1), classes(), classes(), nn.CTCOpts{Reduction: r})
		},
		"CrossEntropy of defaults": func(x *weft.Tensor, r nn.Reduction) *weft.Tensor {
			if r == nn.Mean {
				return nn.CrossEntropy(x, classes())
			}
			return x.Sum()
		},
	} {
		for _, r := range []nn.Reduction{nn.Mean, nn.Sum} {
			x := weft.Zeros(0, 3).RequireGrad()
			var l *weft.Tensor
			if err := weft.Try(func() { l = f(x, r); l.Backward() }); err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if v := l.Item(); r == nn.Mean && !math.IsNaN(v) || r == nn.Sum && v != 0 {
				t.Errorf("%s, reduction %v: %v", name, r, v)
			}
			if g := x.Grad(); g == nil || !array.Equal(g.Shape(), []int{0, 3}) {
				t.Errorf("%s: gradient %v", name, g)
			}
		}
	}
}

// Attention to no keys gives zeros, as for a query that may see none. Queries, batches and widths
// of 0 give empty results.
func TestAttentionOfEmptySequences(t *testing.T) {
	for _, c := range []struct{ q, k, v []int }{
		{[]int{1, 3, 2}, []int{1, 0, 2}, []int{1, 0, 2}}, {[]int{1, 0, 2}, []int{1, 4, 2}, []int{1, 4, 2}}, {[]int{0, 3, 2}, []int{0, 4, 2}, []int{0, 4, 2}},
		{[]int{1, 3, 2}, []int{1, 4, 2}, []int{1, 4, 0}}, {[]int{1, 3, 0}, []int{1, 4, 0}, []int{1, 4, 2}}, {[]int{3, 2}, []int{0, 2}, []int{0, 2}},
	} {
		for _, o := range []nn.AttentionOpts{{}, {Causal: true}, {Mask: weft.OnesOf(weft.Bool, 1, 1)}, {Mask: weft.Zeros(1, 1)}, {Dropout: 0.5, Generator: weft.NewGenerator(1)}} {
			q, k, v := weft.Ones(c.q...).RequireGrad(), weft.Ones(c.k...).RequireGrad(), weft.Ones(c.v...).RequireGrad()
			var y *weft.Tensor
			if err := weft.Try(func() { y = nn.ScaledDotProductAttention(q, k, v, o); y.Sum().Backward() }); err != nil {
				t.Errorf("%v: %v", c, err)
				continue
			}
			want := append(slices.Clone(c.q[:len(c.q)-1]), c.v[len(c.v)-1])
			if !array.Equal(y.Shape(), want) {
				t.Errorf("%v: shape %v, want %v", c, y.Shape(), want)
			}
			if c.k[len(c.k)-2] == 0 && y.Ne(0).Any().Item() != 0 {
				t.Errorf("%v: %v, want zeros", c, y)
			}
			for _, x := range []*weft.Tensor{q, k, v} {
				if g := x.Grad(); g == nil || !array.Equal(g.Shape(), x.Shape()) || c.k[len(c.k)-2] == 0 && g.Size() > 0 && g.Ne(0).Any().Item() != 0 {
					t.Errorf("%v: gradient %v", c, g)
				}
			}
		}
	}
	m := nn.NewMultiheadAttention(4, 2)
	for _, o := range []nn.AttendOpts{{}, {Causal: true}, {KeyPadding: weft.ZerosOf(weft.Bool, 3, 0)}} {
		var y *weft.Tensor
		if err := weft.Try(func() {
			y = m.Attend(weft.Ones(2, 3, 4), weft.Ones(0, 3, 4), weft.Ones(0, 3, 4), o)
			y.Sum().Backward()
		}); err != nil || !array.Equal(y.Shape(), []int{2, 3, 4}) {
			t.Errorf("no keys: %v", err)
		}
	}
}
