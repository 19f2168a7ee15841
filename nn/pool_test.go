package nn_test

import (
	"errors"
	"math"
	"testing"

	"weft"
	"weft/nn"
)

// Channel dropout keeps or drops a channel of an example as a whole, at its rate, and keeps the
// mean. Nothing changes out of training.
func TestChannelDropout(t *testing.T) {
	const n, c, p = 200, 50, 0.3
	d := &nn.ChannelDropout{P: p, Generator: weft.NewGenerator(1)}
	x := weft.Ones(n, c, 2, 3)
	y := d.Forward(x)
	if y.Max(2, 3).Ne(y.Min(2, 3)).Any().ItemInt() != 0 {
		t.Error("a channel is dropped in part")
	}
	near(t, "share of dropped channels", y.Eq(0).To(weft.Float64).Mean().Item(), p, 5*math.Sqrt(p*(1-p)/(n*c)))
	near(t, "greatest", y.Max().Item(), 1/(1-p), 1e-6)
	nn.Eval(d)
	if d.Forward(x) != x {
		t.Error("evaluation changes something")
	}
}

// Alpha dropout keeps mean 0 and variance 1, and drops to one number.
func TestAlphaDropout(t *testing.T) {
	const n = 100000
	x := weft.NewGenerator(1).Randn(n, 1).To(weft.Float64)
	for _, channels := range []bool{false, true} {
		d := &nn.AlphaDropout{P: 0.25, Channels: channels, Generator: weft.NewGenerator(2)}
		y := d.Forward(x)
		near(t, "mean", y.Mean().Item(), 0, 0.02)
		near(t, "variance", y.Var().Item(), 1, 0.02)
		values, _, counts := y.Unique()
		if most := counts.Max().Item(); math.Abs(most/n-0.25) > 0.01 || values.Size() < n/2 {
			t.Errorf("%v of %d elements share a number, want a quarter", most, n)
		}
		d.P = 1
		if d.Forward(x).Ne(0).Any().ItemInt() != 0 {
			t.Error("probability 1 keeps something")
		}
		nn.Eval(d)
		if d.Forward(x) != x {
			t.Error("evaluation changes something")
		}
	}
}

// Poolings and normalisations refuse what does not fit with an error that names the layer and the
// argument.
func TestPoolingRefuses(t *testing.T) {
	x, n := weft.Zeros(2, 3, 4, 5), weft.ZerosOf(weft.Int64, 2, 3, 4, 5)
	for _, c := range []struct {
		op, arg string
		f       func()
	}{
		{"max_pool1d", "Window", func() { nn.MaxPool1d{}.Forward(x) }},
		{"max_pool1d", "Window", func() { nn.MaxPool1d{Window: 6}.Forward(x) }},
		{"max_pool1d", "Window", func() { nn.MaxPool1d{Window: 3, Dilation: new(3)}.Forward(x) }},
		{"max_pool1d", "Dilation", func() { nn.MaxPool1d{Window: 3, Dilation: new(0)}.Forward(x) }},
		{"max_pool2d", "Padding", func() { nn.MaxPool2d{Window: [2]int{2, 2}, Padding: [2]int{2, 0}}.Forward(x) }},
		{"max_pool2d", "Stride", func() { nn.MaxPool2d{Window: [2]int{2, 2}, Stride: &[2]int{0, 1}}.WithIndices(x) }},
		{"max_pool3d", "x", func() { nn.MaxPool3d{Window: [3]int{1, 1, 1}}.Forward(weft.Zeros(2, 2)) }},
		{"max_pool3d", "x", func() { nn.MaxPool3d{Window: [3]int{1, 1, 1}}.Forward(n) }},
		{"max_pool2d", "x", func() { nn.MaxPool2d{Window: [2]int{1, 1}}.Forward(nil) }},
		{"avg_pool2d", "Divisor", func() { nn.AvgPool2d{Window: [2]int{1, 1}, Divisor: new(0)}.Forward(x) }},
		{"adaptive_avg_pool1d", "Size", func() { nn.AdaptiveAvgPool1d{Size: new(0)}.Forward(x) }},
		{"adaptive_max_pool3d", "x", func() { nn.AdaptiveMaxPool3d{}.WithIndices(weft.Zeros(2, 3, 0)) }},
		{"lp_pool", "P", func() { nn.LPPool{Window: []int{1}}.Forward(x) }},
		{"lp_pool", "Window", func() { nn.LPPool{P: 1}.Forward(x) }},
		{"lp_pool", "Stride", func() { nn.LPPool{P: 1, Window: []int{1, 1}, Stride: []int{1}}.Forward(x) }},
		{"max_unpool", "index", func() { nn.MaxUnpool{Window: []int{2}}.Unpool(x, x) }},
		{"max_unpool", "index", func() { nn.MaxUnpool{Window: []int{2}}.Unpool(x, n.Add(99)).Sum().Item() }},
		{"max_unpool", "size", func() { nn.MaxUnpool{Window: []int{2}}.Unpool(x, n, 4, 4) }},
		{"instance_norm", "x", func() { nn.NewInstanceNorm2d(3).Forward(weft.Zeros(3, 4)) }},
		{"instance_norm", "x", func() { nn.NewInstanceNorm1d(3).Forward(weft.Zeros(2, 3, 4, 5)) }},
		{"instance_norm", "x", func() { nn.NewInstanceNorm1d(3, nn.InstanceNormOpts{Affine: true}).Forward(weft.Zeros(2, 4, 5)) }},
		{"instance_norm", "x", func() { nn.NewInstanceNorm1d(3).Forward(weft.Zeros(2, 3, 1)) }},
		{"local_response_norm", "Size", func() { nn.LocalResponseNorm{}.Forward(x) }},
		{"channel_dropout", "P", func() { (&nn.ChannelDropout{P: 2}).Forward(x) }},
		{"alpha_dropout", "x", func() { (&nn.AlphaDropout{P: 0.5, Channels: true}).Forward(weft.Zeros(2)) }},
	} {
		var e *weft.Error
		if err := weft.Try(c.f); !errors.As(err, &e) || e.Op != c.op || e.Arg != c.arg {
			t.Errorf("%s: %v, want an error of %s", c.op, err, c.arg)
		}
	}
}
