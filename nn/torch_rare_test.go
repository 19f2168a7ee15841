package nn_test

import (
	"errors"
	"fmt"
	"testing"

	"weft"
	"weft/nn"
)

// Values and gradients of layers that few programs use, and of inputs without a batch, are PyTorch's.
func TestRareLayersMatchPyTorch(t *testing.T) { compareWithTorch(t, "rare", rareCases) }
func TestCompiledRareLayersMatchPyTorch(t *testing.T) {
	compareCompiled(t, "rare", rareCases)
}

func rareCases(map[string]*weft.Tensor) map[string]torchCase {
	cases := map[string]torchCase{}
	two := func(m any, f func(x, y *weft.Tensor) *weft.Tensor) torchCase {
		c := fromLoss(f)
		c.module = m
		return c
	}
	b, vector := nn.NewBilinear(3, 4, 2), nn.NewBilinear(3, 4, 2, nn.Opts{NoBias: true})
	cases["bilinear"], cases["bilinear vector"] = two(b, b.Forward), two(vector, vector.Forward)

	for mode, m := range map[string]nn.InterpolateMode{"bilinear": nn.ModeLinear, "nearest": nn.ModeNearest} {
		for border, pad := range map[string]nn.PadMode{"zeros": nn.PadConstant, "border": nn.PadReplicate, "reflection": nn.PadReflect} {
			for align, name := range map[bool]string{false: "False", true: "True"} {
				c := fromLoss(func(x, grid *weft.Tensor) *weft.Tensor {
					return nn.GridSample(x, grid, nn.GridSampleOpts{Mode: &m, Border: pad, AlignCorners: align})
				})
				c.tolerance = 64
				cases[fmt.Sprintf("sample volume %s %s %s", mode, border, name)] = c
			}
		}
	}

	adaptive := func() *nn.AdaptiveLogSoftmax {
		return nn.NewAdaptiveLogSoftmax(8, 20, []int{4, 9}, nn.AdaptiveLogSoftmaxOpts{Div: new(2.0), HeadBias: true})
	}
	a, p := adaptive(), adaptive()
	cases["adaptive loss"] = torchCase{module: a, tolerance: 16, f: func(x ...*weft.Tensor) []*weft.Tensor {
		output, loss := a.Loss(x[0], x[1])
		return []*weft.Tensor{output, loss}
	}}
	cases["adaptive log prob"] = torchCase{module: p, tolerance: 16, f: func(x ...*weft.Tensor) []*weft.Tensor { return []*weft.Tensor{p.LogProb(x[0])} }}

	for name, p := range map[string]nn.FractionalMaxPool{
		"fractional 2d":    {Window: []int{2, 3}, Size: []int{3, 4}},
		"fractional ratio": {Window: []int{2, 2}, Ratio: []float64{0.5, 0.6}},
		"fractional one":   {Window: []int{2, 2}, Size: []int{1, 3}},
		"fractional 3d":    {Window: []int{2, 2, 3}, Size: []int{3, 2, 4}},
	} {
		cases[name] = fromLoss(func(x, u *weft.Tensor) *weft.Tensor { p := p; p.Samples = u; return p.Forward(x) })
	}

	for name, l := range map[string]nn.Layer{
		"conv1d without batch": nn.NewConv1d(2, 3, 2), "conv2d without batch": nn.NewConv2d(2, 3, 2), "conv3d without batch": nn.NewConv3d(2, 3, 2),
		"conv transposed 1d without batch": nn.NewConvTranspose1d(2, 3, 2), "conv transposed 2d without batch": nn.NewConvTranspose2d(2, 3, 2),
		"conv transposed 3d without batch": nn.NewConvTranspose3d(2, 3, 2),
	} {
		cases[name] = fromLayer(l)
	}
	rnn, gru := nn.NewRNN(3, 4), nn.NewGRU(3, 4, nn.RNNOpts{BatchFirst: true})
	lstm := nn.NewLSTM(3, 4, nn.RNNOpts{Layers: new(2), Bidirectional: true})
	cases["rnn without batch"] = torchCase{module: rnn, tolerance: 16, f: func(x ...*weft.Tensor) []*weft.Tensor {
		y, h := rnn.Run(x[0], nil)
		return []*weft.Tensor{y, h}
	}}
	cases["gru without batch"] = torchCase{module: gru, tolerance: 16, f: func(x ...*weft.Tensor) []*weft.Tensor {
		y, h := gru.Run(x[0], x[1])
		return []*weft.Tensor{y, h}
	}}
	cases["lstm without batch"] = torchCase{module: lstm, tolerance: 16, f: func(x ...*weft.Tensor) []*weft.Tensor {
		y, h, c := lstm.Run(x[0], nil, nil)
		return []*weft.Tensor{y, h, c}
	}}
	addUnbatched(cases)
	return cases
}

// addUnbatched adds instance norms and attention without the axis of a batch.
func addUnbatched(cases map[string]torchCase) {
	all, running := nn.InstanceNormOpts{Affine: true, Running: true}, nn.InstanceNormOpts{Running: true}
	for name, l := range map[string]nn.Layer{"1d": nn.NewInstanceNorm1d(2, all), "2d": nn.NewInstanceNorm2d(2, all), "3d": nn.NewInstanceNorm3d(2, all)} {
		cases["instance norm "+name+" without batch"] = fromLayer(l)
	}
	for name, l := range map[string]nn.Layer{"1d": nn.NewInstanceNorm1d(2, running), "2d": nn.NewInstanceNorm2d(2, running), "3d": nn.NewInstanceNorm3d(2, running)} {
		c := fromLayer(l)
		c.eval = true
		cases["instance norm "+name+" evaluated without batch"] = c
	}
	of := func(m any, f func(x ...*weft.Tensor) []*weft.Tensor) torchCase {
		return torchCase{module: m, tolerance: 256, f: f} // weights above 0: gradients cancel
	}
	still := nn.TransformerOpts{FeedForward: new(6), Dropout: new(0.0)}
	plain, padded := nn.NewMultiheadAttention(4, 2), nn.NewMultiheadAttention(4, 2, nn.MultiheadAttentionOpts{KDim: new(3), BatchFirst: true})
	encoder, whole := nn.NewTransformerEncoderLayer(4, 2, still), nn.NewTransformer(4, 2, 1, 1, still)
	still.BatchFirst = true
	decoder := nn.NewTransformerDecoderLayer(4, 2, still)
	cases["attention without batch"] = of(plain, func(x ...*weft.Tensor) []*weft.Tensor {
		y, w := plain.AttendWeights(x[0], x[1], x[2])
		return []*weft.Tensor{y, w.Mean(0)}
	})
	cases["attention masks without batch"] = of(padded, func(x ...*weft.Tensor) []*weft.Tensor {
		y, w := padded.AttendWeights(x[0], x[1], x[2], nn.AttendOpts{KeyPadding: x[3], Mask: x[4]})
		return []*weft.Tensor{y, w}
	})
	cases["encoder layer without batch"] = of(encoder, func(x ...*weft.Tensor) []*weft.Tensor {
		return []*weft.Tensor{encoder.Encode(x[0], nn.AttendOpts{Mask: x[1], KeyPadding: x[2]})}
	})
	cases["decoder layer without batch"] = of(decoder, func(x ...*weft.Tensor) []*weft.Tensor { return []*weft.Tensor{decoder.Decode(x[0], x[1])} })
	cases["transformer without batch"] = of(whole, func(x ...*weft.Tensor) []*weft.Tensor {
		p := nn.AttendOpts{KeyPadding: x[2]}
		return []*weft.Tensor{whole.Translate(x[0], x[1], nn.TranslateOpts{Source: p, Decode: nn.DecodeOpts{Memory: p}})}
	})
}

// A text without a batch goes through attention in parts, with a cache.
func TestCachedAttentionWithoutBatch(t *testing.T) {
	g := weft.NewGenerator(1)
	m := nn.NewMultiheadAttention(4, 2, nn.MultiheadAttentionOpts{Generator: g})
	x, cache := g.Randn(5, 4), &nn.KVCache{}
	want := m.Attend(x, x, x, nn.AttendOpts{Causal: true})
	var got []*weft.Tensor
	for _, at := range [][2]int{{0, 2}, {2, 5}} {
		q := x.Slice(weft.Range(at[0], at[1]))
		got = append(got, m.Attend(q, q, q, nn.AttendOpts{Causal: true, Cache: cache}))
	}
	if d := weft.Cat(got, 0).Sub(want).Abs().Max().Item(); !(d < 1e-6) || cache.Len() != 5 {
		t.Errorf("parts are %v off the whole, with %d keys", d, cache.Len())
	}
}

func TestRareLayersRefuse(t *testing.T) {
	x, volume := weft.Zeros(2, 3), weft.Zeros(1, 2, 3, 4, 5)
	a := nn.NewAdaptiveLogSoftmax(16, 10, []int{2, 5})
	mode := nn.ModeCubic
	fractional := func(p nn.FractionalMaxPool) func() { return func() { p.Forward(weft.Zeros(1, 2, 5, 6)) } }
	for _, c := range []struct {
		op, arg string
		f       func()
	}{
		{"bilinear", "", func() { (&nn.Bilinear{}).Forward(x, x) }},
		{"bilinear", "x", func() { nn.NewBilinear(2, 3, 1).Forward(x, x) }},
		{"bilinear", "y", func() { nn.NewBilinear(3, 3, 1).Forward(x, weft.Zeros(4, 3)) }},
		{"bilinear", "y", func() { nn.NewBilinear(3, 3, 1).Forward(x, nil) }},
		{"grid_sample", "grid", func() { nn.GridSample(volume, weft.Zeros(1, 2, 2, 2, 2)) }},
		{"grid_sample", "Mode", func() { nn.GridSample(volume, weft.Zeros(1, 2, 2, 2, 3), nn.GridSampleOpts{Mode: &mode}) }},
		{"grid_sample", "x", func() { nn.GridSample(weft.Zeros(1, 2, 3, 0, 5), weft.Zeros(1, 2, 2, 2, 3)) }},
		{"adaptive_log_softmax", "cutoffs", func() { nn.NewAdaptiveLogSoftmax(4, 10, []int{5, 2}) }},
		{"adaptive_log_softmax", "cutoffs", func() { nn.NewAdaptiveLogSoftmax(4, 10, nil) }},
		{"adaptive_log_softmax", "cutoffs", func() { nn.NewAdaptiveLogSoftmax(4, 10, []int{10}) }},
		{"adaptive_log_softmax", "Div", func() { nn.NewAdaptiveLogSoftmax(4, 10, []int{2}, nn.AdaptiveLogSoftmaxOpts{Div: new(8.0)}) }},
		{"adaptive_log_softmax", "target", func() {
			_, loss := a.Loss(weft.Zeros(1, 16), weft.FromSlice([]int64{10}))
			loss.Item() // a device that works late tells it now
		}},
		{"adaptive_log_softmax", "target", func() { a.Loss(weft.Zeros(1, 16), nil) }},
		{"adaptive_log_softmax", "x", func() { a.LogProb(weft.Zeros(4)) }},
		{"fractional_max_pool", "Window", fractional(nn.FractionalMaxPool{})},
		{"fractional_max_pool", "Window", fractional(nn.FractionalMaxPool{Window: []int{6, 1}, Size: []int{1, 1}})},
		{"fractional_max_pool", "Size", fractional(nn.FractionalMaxPool{Window: []int{2, 2}})},
		{"fractional_max_pool", "Size", fractional(nn.FractionalMaxPool{Window: []int{2, 2}, Size: []int{5, 1}})},
		{"fractional_max_pool", "Ratio", fractional(nn.FractionalMaxPool{Window: []int{2, 2}, Ratio: []float64{1, 0.5}})},
		{"fractional_max_pool", "Samples", fractional(nn.FractionalMaxPool{Window: []int{2, 2}, Size: []int{2, 2}, Samples: x})},
		{"fractional_max_pool", "x", func() { nn.FractionalMaxPool{Window: []int{2, 2}, Size: []int{1, 1}}.Forward(x) }},
		{"gru", "state", func() { nn.NewGRU(3, 4).Run(x, weft.Zeros(1, 1, 4)) }},
	} {
		var e *weft.Error
		if err := weft.Try(c.f); !errors.As(err, &e) || e.Op != c.op || c.arg != "" && e.Arg != c.arg {
			t.Errorf("%v, want an error of %s: %s", err, c.op, c.arg)
		}
	}
}

// Drawn windows begin in order, and one seed draws the same.
func TestFractionalMaxPoolDraws(t *testing.T) {
	x := weft.Arange(40).To(weft.Float32).Reshape(1, 1, 5, 8)
	draw := func() *weft.Tensor {
		return nn.FractionalMaxPool{Window: []int{2, 2}, Size: []int{3, 5}, Generator: weft.NewGenerator(7)}.Forward(x)
	}
	y := draw()
	if y.Ne(draw()).Any().ItemInt() != 0 {
		t.Error("one seed draws different windows")
	}
	v := weft.Data[float32](y)
	for i := range v {
		if i%5 > 0 && v[i] <= v[i-1] || i >= 5 && v[i] <= v[i-5] {
			t.Errorf("maxima %v do not ascend", v)
			break
		}
	}
	if v[14] != 39 {
		t.Errorf("the last window ends at %v, want 39", v[14])
	}
}

func ExampleNewBilinear() {
	l := nn.NewBilinear(3, 4, 2)
	fmt.Println(l.Forward(weft.Zeros(5, 3), weft.Zeros(5, 4)).Shape())
	// Output: [5 2]
}

func ExampleNewAdaptiveLogSoftmax() {
	l := nn.NewAdaptiveLogSoftmax(16, 1000, []int{10, 100})
	_, loss := l.Loss(weft.Zeros(3, 16), weft.FromSlice([]int64{0, 50, 999}))
	fmt.Println(l.LogProb(weft.Zeros(3, 16)).Shape(), loss.Shape())
	// Output: [3 1000] []
}

func ExampleFractionalMaxPool() {
	p := nn.FractionalMaxPool{Window: []int{2, 2}, Ratio: []float64{0.7, 0.7}}
	fmt.Println(p.Forward(weft.Zeros(1, 3, 20, 30)).Shape())
	// Output: [1 3 14 21]
}
