package nn_test

import (
	"errors"
	"math"
	"testing"

	"weft"
	"weft/nn"
)

// GumbelSoftmax draws each class as often as its probability says. Hard draws are rows of one 1,
// whose gradient is that of the soft ones.
func TestGumbelSoftmax(t *testing.T) {
	const n = 20000
	p := []float64{0.1, 0.2, 0.7}
	logits := weft.FromSlice(p).Log().Expand(n, 3).Clone().RequireGrad()
	y := nn.GumbelSoftmax(logits, nn.GumbelSoftmaxOpts{Hard: true, Generator: weft.NewGenerator(1)})
	for i, got := range weft.Data[float64](y.Mean(0).Detach()) {
		near(t, "frequency", got, p[i], 5*math.Sqrt(p[i]*(1-p[i])/n))
	}
	if weft.Data[float64](y.Detach().Sum(1).Sub(1).Abs().Max())[0] > 1e-12 {
		t.Error("rows of hard draws do not add up to 1")
	}
	y.Slice(weft.All, weft.Index(2)).Sum().Backward()
	hard := logits.Grad()
	logits.SetGrad(nil)
	nn.GumbelSoftmax(logits, nn.GumbelSoftmaxOpts{Generator: weft.NewGenerator(1)}).Slice(weft.All, weft.Index(2)).Sum().Backward()
	if !hard.AllClose(logits.Grad()) || hard.Abs().Sum().Item() == 0 {
		t.Error("the gradient of hard draws is another")
	}
	cold := nn.GumbelSoftmax(weft.Zeros(50, 4), nn.GumbelSoftmaxOpts{Tau: new(1e-3), Axis: new(0), Generator: weft.NewGenerator(1)})
	if got := cold.Max(0).Min().Item(); got < 0.9 {
		t.Errorf("the greatest of a cold draw is %v, want about 1", got)
	}
}

// RRelu draws slopes between its bounds in training, and scales by their mean else.
func TestRRelu(t *testing.T) {
	l := &nn.RRelu{Lower: new(0.25), Upper: new(0.75), Generator: weft.NewGenerator(1)}
	y := l.Forward(weft.FullOf(weft.Float64, -1.0, 1000))
	if lo, hi := y.Min().Item(), y.Max().Item(); lo < -0.75 || hi > -0.25 || hi-lo < 0.45 {
		t.Errorf("from %v to %v", lo, hi)
	}
	nn.Eval(l)
	near(t, "evaluated", l.Forward(weft.FullOf(weft.Float64, -1.0, 1)).Item(), -0.5, 0)
}

// Activations refuse what does not fit with an error that names the layer and the argument.
func TestActivationsRefuse(t *testing.T) {
	x, n := weft.Zeros(2, 3), weft.FromSlice([]int64{0, 2})
	for _, c := range []struct {
		op, arg string
		f       func()
	}{
		{"mish", "x", func() { nn.Mish{}.Forward(nil) }},
		{"relu6", "x", func() { nn.Relu6{}.Forward(n) }},
		{"celu", "Alpha", func() { nn.Celu{Alpha: new(0.0)}.Forward(x) }},
		{"hardtanh", "Max", func() { nn.Hardtanh{Min: new(1.0)}.Forward(x) }},
		{"softplus", "Beta", func() { nn.Softplus{Beta: new(0.0)}.Forward(x) }},
		{"softshrink", "Lambda", func() { nn.Softshrink{Lambda: new(-1.0)}.Forward(x) }},
		{"glu", "x", func() { nn.Glu{}.Forward(x) }},
		{"glu", "Axis", func() { nn.Glu{Axis: new(2)}.Forward(x) }},
		{"softmax", "Axis", func() { nn.Softmax{}.Forward(weft.Scalar(1.0)) }},
		{"prelu", "x", func() { nn.NewPRelu(nn.PReluOpts{Channels: new(2)}).Forward(x) }},
		{"prelu", "Channels", func() { nn.NewPRelu(nn.PReluOpts{Channels: new(0)}) }},
		{"rrelu", "Upper", func() { (&nn.RRelu{Upper: new(0.0)}).Forward(x) }},
		{"gumbel_softmax", "Tau", func() { nn.GumbelSoftmax(x, nn.GumbelSoftmaxOpts{Tau: new(0.0)}) }},
		{"flatten", "End", func() { nn.Flatten{End: new(2)}.Forward(x) }},
		{"one_hot", "x", func() { nn.OneHot(n, 2).Sum().Item() }},
		{"one_hot", "x", func() { nn.OneHot(x, 2) }},
		{"one_hot", "classes", func() { nn.OneHot(n, 0) }},
	} {
		var e *weft.Error
		if err := weft.Try(c.f); !errors.As(err, &e) || e.Op != c.op || e.Arg != c.arg {
			t.Errorf("%s: %v, want an error of %s", c.op, err, c.arg)
		}
	}
}
