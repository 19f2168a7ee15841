package nn_test

import (
	"math"
	"strings"
	"testing"

	"weft"
	"weft/nn"
)

// Gradients through mean and variance, first and second, equal finite differences.
func TestNormSecondDerivative(t *testing.T) {
	f := func(x *weft.Tensor) *weft.Tensor {
		l := nn.NewLayerNorm([]int{3}, nn.NormOpts{NoAffine: true, Eps: new(0.1)})
		b := nn.NewBatchNorm1d(3, nn.BatchNormOpts{NoAffine: true, NoRunning: true, Eps: new(0.1)})
		return l.Forward(x).Sin().Add(b.Forward(x).Cos()).Sum()
	}
	x := []float64{0.3, -1, 0.7, 1.1, 0.2, -0.4}
	at := func(v []float64) *weft.Tensor { return weft.FromSlice(v, 2, 3).Clone().RequireGrad() }
	grad := func(v []float64) []float64 {
		p := at(v)
		return weft.Data[float64](weft.Grad(f(p), []*weft.Tensor{p})[0])
	}
	p := at(x)
	g := weft.Grad(f(p), []*weft.Tensor{p}, weft.GradOpts{Create: true})[0]
	h := weft.Data[float64](weft.Grad(g.Square().Sum(), []*weft.Tensor{p})[0])
	const step = 1e-5
	for i := range x {
		moved := func(by float64) (value, squares float64) {
			v := append([]float64(nil), x...)
			v[i] += by
			for _, d := range grad(v) {
				squares += d * d
			}
			return f(at(v)).Item(), squares
		}
		up, up2 := moved(step)
		down, down2 := moved(-step)
		near(t, "gradient", grad(x)[i], (up-down)/(2*step), 1e-8)
		near(t, "second derivative", h[i], (up2-down2)/(2*step), 1e-7)
	}
}

func TestBatchNormOfOne(t *testing.T) {
	b := nn.NewBatchNorm1d(3)
	if err := weft.Try(func() { b.Forward(weft.Ones(1, 3)) }); err == nil || !strings.Contains(err.Error(), "one value a channel") {
		t.Errorf("%v", err)
	}
	nn.Eval(b)
	b.Forward(weft.Ones(1, 3))
	if b.NumBatchesTracked.ItemInt() != 0 {
		t.Error("evaluation counts")
	}
}

// Rows of an orthogonal matrix, or its columns, are at right angles.
func TestOrthogonal(t *testing.T) {
	for _, shape := range [][]int{{5, 5}, {3, 8}, {8, 3}, {4, 2, 3, 3}, {1, 1}, {20, 2, 2}} {
		w := nn.Orthogonal(2)(weft.NewGenerator(1), shape...).To(weft.Float64).Flatten(1)
		if w.Dim(0) > w.Dim(1) {
			w = w.T()
		}
		off := w.MatMul(w.T()).Sub(weft.Eye(w.Dim(0)).Mul(4)).Abs().Max().Item()
		if !(off < 1e-6) {
			t.Errorf("%v: %v off", shape, off)
		}
	}
	g := weft.NewGenerator(2)
	n := nn.Normal(3, 0.5)(g, 10000)
	near(t, "mean", n.Mean().Item(), 3, 0.03)
	near(t, "deviation", n.Std().Item(), 0.5, 0.03)
	u := nn.Uniform(-2, 4)(g, 10000)
	near(t, "least", u.Min().Item(), -2, 0.01)
	near(t, "greatest", u.Max().Item(), 4, 0.01)
	near(t, "mean", u.Mean().Item(), 1, 0.1)
}

// Dropout between layers, and nowhere else, and in training alone.
func TestRecurrentDropout(t *testing.T) {
	x := weft.Randn(4, 2, 3)
	same := func(l nn.Layer) bool { return l.Forward(x).Eq(l.Forward(x)).All().ItemInt() == 1 }
	for name, make := range map[string]func(o nn.RNNOpts) nn.Layer{
		"lstm": func(o nn.RNNOpts) nn.Layer { return nn.NewLSTM(3, 5, o) },
		"gru":  func(o nn.RNNOpts) nn.Layer { return nn.NewGRU(3, 5, o) },
	} {
		if !same(make(nn.RNNOpts{Dropout: 0.5})) {
			t.Errorf("%s: one layer drops", name)
		}
		two := make(nn.RNNOpts{Dropout: 0.5, Layers: new(2)})
		if same(two) {
			t.Errorf("%s: two layers drop nothing", name)
		}
		if nn.Eval(two); !same(two) {
			t.Errorf("%s: evaluation drops", name)
		}
	}
	m := nn.NewMultiheadAttention(4, 2, nn.MultiheadAttentionOpts{Dropout: 0.5})
	x = weft.Randn(3, 2, 4)
	if same(m) {
		t.Error("attention drops nothing")
	}
	if nn.Eval(m); !same(m) {
		t.Error("attention drops in evaluation")
	}
}

// Where the other branch would overflow, the gradient is a number.
func TestEluGradientOfLargeInputs(t *testing.T) {
	x := weft.FromSlice([]float32{1e4, float32(math.Inf(1)), -1e4, 0}).RequireGrad()
	nn.Elu{}.Forward(x).Sum().Backward()
	for i, want := range []float64{1, 1, 0, 1} {
		near(t, "gradient", x.Grad().At(i).Item(), want, 0)
	}
}
