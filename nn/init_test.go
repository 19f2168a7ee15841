package nn_test

import (
	"math"
	"slices"
	"testing"

	"weft"
	"weft/nn"
)

// A distribution is what parameters are drawn from: its function, and where it ends.
type distribution struct {
	below func(x float64) float64
	bound float64 // the greatest magnitude, as a float32
}

func evenly(bound float64) distribution {
	return distribution{func(x float64) float64 { return (x + bound) / (2 * bound) }, bound}
}

var standardNormal = distribution{func(x float64) float64 { return 0.5 * (1 + math.Erf(x/math.Sqrt2)) }, 6}

// follows compares the elements of x with a distribution by Kolmogorov's test at level 1e-5, and by
// its bounds.
func follows(t *testing.T, what string, x *weft.Tensor, d distribution) {
	t.Helper()
	v := slices.Sorted(slices.Values(weft.Data[float64](x.Detach().To(weft.Float64).Reshape(-1))))
	n := float64(len(v))
	worst := 0.0
	for i, e := range v {
		p := d.below(e)
		worst = max(worst, math.Abs(p-float64(i)/n), math.Abs(p-float64(i+1)/n))
	}
	if worst > 2.47/math.Sqrt(n) {
		t.Errorf("%s: the distribution of %v elements is off by %v", what, n, worst)
	}
	if most := float64(float32(d.bound)); v[0] < -most || v[len(v)-1] > most {
		t.Errorf("%s: from %v to %v, want within %v", what, v[0], v[len(v)-1], most)
	}
}

// TestDefaultInit holds what parameters begin with to what PyTorch's documentation says of each
// layer: k is 1/fan_in for Linear and convolutions, 1/hidden_size for recurrent layers, all
// U(-sqrt(k), sqrt(k)); Embedding is N(0, 1); MultiheadAttention is xavier_uniform_.
func TestDefaultInit(t *testing.T) {
	g := weft.NewGenerator(3)
	o := nn.Opts{Generator: g}
	k := func(x float64) distribution { return evenly(math.Sqrt(1 / x)) }

	l := nn.NewLinear(100, 3000, o)
	follows(t, "Linear weight", l.Weight, k(100))
	follows(t, "Linear bias", l.Bias, k(100))
	c1 := nn.NewConv1d(6, 2000, 5, nn.Conv1dOpts{Opts: o, Groups: new(2)})
	follows(t, "Conv1d weight", c1.Weight, k(3*5))
	follows(t, "Conv1d bias", c1.Bias, k(3*5))
	c2 := nn.NewConv2d(8, 2000, 3, nn.Conv2dOpts{Opts: o, Groups: new(4)})
	follows(t, "Conv2d weight", c2.Weight, k(2*9))
	follows(t, "Conv2d bias", c2.Bias, k(2*9))
	// PyTorch takes the second axis of [in, out/groups, height, width] as the fan here too.
	ct := nn.NewConvTranspose2d(30, 4000, 3, nn.ConvTranspose2dOpts{Opts: o, Groups: new(2)})
	follows(t, "ConvTranspose2d weight", ct.Weight, k(2000*9))
	follows(t, "ConvTranspose2d bias", ct.Bias, k(2000*9))
	for _, m := range []struct {
		name string
		of   any
	}{
		{"LSTM ", nn.NewLSTM(20, 300, nn.RNNOpts{Layers: new(2), Bidirectional: true, Generator: g})},
		{"GRU ", nn.NewGRU(20, 300, nn.RNNOpts{Generator: g})},
		{"RNN ", nn.NewRNN(20, 300, nn.RNNOpts{Generator: g})},
		{"LSTMCell ", nn.NewLSTMCell(20, 300, nn.Opts{Generator: g})},
	} {
		for name, p := range nn.Params(m.of) {
			follows(t, m.name+name, p, k(300))
		}
	}
	follows(t, "Embedding", nn.NewEmbedding(500, 20, nn.EmbeddingOpts{Generator: g}).Weight, standardNormal)
	follows(t, "EmbeddingBag", nn.NewEmbeddingBag(500, 20, nn.EmbeddingBagOpts{Generator: g}).Weight, standardNormal)
	a := nn.NewMultiheadAttention(60, 2, nn.MultiheadAttentionOpts{Generator: g})
	follows(t, "MultiheadAttention in_proj_weight", a.InProjWeight, evenly(math.Sqrt(6.0/(60+3*60))))
	follows(t, "MultiheadAttention out_proj.weight", a.OutProj.Weight, k(60))
	for name, p := range map[string]*weft.Tensor{"in_proj_bias": a.InProjBias, "out_proj.bias": a.OutProj.Bias} {
		if p.Ne(0).Any().ItemInt() != 0 {
			t.Errorf("MultiheadAttention %s is not zeros", name)
		}
	}
	for name, m := range map[string]any{"LayerNorm": nn.NewLayerNorm([]int{5}), "GroupNorm": nn.NewGroupNorm(1, 5), "BatchNorm1d": nn.NewBatchNorm1d(5), "BatchNorm2d": nn.NewBatchNorm2d(5)} {
		for p, v := range nn.Params(m) {
			if want := map[string]float64{"weight": 1, "bias": 0}[p]; v.Ne(want).Any().ItemInt() != 0 {
				t.Errorf("%s %s is not %v", name, p, want)
			}
		}
	}
}

// TestInitialisers holds the others to the formulas of torch.nn.init.
func TestInitialisers(t *testing.T) {
	g := weft.NewGenerator(4)
	const out, in = 150, 100
	follows(t, "KaimingUniform", nn.KaimingUniform(g, out, in), evenly(math.Sqrt(6.0/in)))
	follows(t, "KaimingUniform of filters", nn.KaimingUniform(g, out, 10, 3, 3), evenly(math.Sqrt(6.0/90)))
	follows(t, "XavierUniform", nn.XavierUniform(g, out, in), evenly(math.Sqrt(6.0/(in+out))))
	follows(t, "XavierUniform with a gain", nn.Scaled(5.0/3, nn.XavierUniform)(g, out, in), evenly(5.0/3*math.Sqrt(6.0/(in+out))))
	scaled := func(std, mean float64) distribution {
		return distribution{func(x float64) float64 { return standardNormal.below((x - mean) / std) }, mean + 6*std}
	}
	follows(t, "KaimingNormal", nn.KaimingNormal(g, out, in), scaled(math.Sqrt(2.0/in), 0))
	follows(t, "XavierNormal", nn.XavierNormal(g, out, in), scaled(math.Sqrt(2.0/(in+out)), 0))
	follows(t, "Normal", nn.Normal(3, 0.5)(g, out, in), scaled(0.5, 3))
	follows(t, "Uniform", nn.Uniform(-2, 2)(g, out, in), evenly(2))
	z := standardNormal.below
	follows(t, "TruncNormal", nn.TruncNormal(1, 2, -1, 2)(g, out, in), distribution{func(x float64) float64 {
		return (z((x-1)/2) - z(-1)) / (z(0.5) - z(-1))
	}, 2})
	if x := nn.TruncNormal(1, 2, -1, 2)(g, out, in); x.Min().Item() < -1 {
		t.Errorf("TruncNormal goes down to %v", x.Min().Item())
	}
	for name, f := range map[string]nn.Init{"ends": nn.TruncNormal(0, 1, 2, 1), "deviation": nn.TruncNormal(0, 0, -1, 1)} {
		if weft.Try(func() { f(nil, 2, 2) }) == nil {
			t.Errorf("TruncNormal of wrong %s gives numbers", name)
		}
	}
}

// TestInitialisersOfTorch holds gains, modes and patterns to what torch.nn.init's documentation says.
func TestInitialisersOfTorch(t *testing.T) {
	g := weft.NewGenerator(6)
	normal := func(std float64) distribution {
		return distribution{func(x float64) float64 { return standardNormal.below(x / std) }, 6 * std}
	}
	follows(t, "Kaiming", nn.Kaiming()(g, 150, 100), normal(math.Sqrt(2.0/100)))
	follows(t, "Kaiming by what goes out", nn.Kaiming(nn.KaimingOpts{FanOut: true})(g, 40, 20, 3, 3), normal(math.Sqrt(2.0/(40*9))))
	follows(t, "Kaiming with a gain", nn.Kaiming(nn.KaimingOpts{Gain: new(nn.GainTanh), Uniform: true})(g, 150, 100), evenly(5.0/3*math.Sqrt(3.0/100)))
	follows(t, "Kaiming of leaky relu", nn.Kaiming(nn.KaimingOpts{Gain: new(nn.GainLeakyRelu(math.Sqrt(5))), Uniform: true})(g, 150, 100), evenly(math.Sqrt(1.0/100)))

	if x := nn.Eye(nil, 2, 3); !slices.Equal(weft.Data[float32](x), []float32{1, 0, 0, 0, 1, 0}) {
		t.Errorf("Eye: %v", x)
	}
	x := g.Randn(1, 4, 5, 6)
	if y := x.Conv2d(nn.Dirac(1)(nil, 4, 4, 3, 3), nil, weft.ConvOpts{Padding: [2]int{1, 1}}); weft.Digest(y) != weft.Digest(x) {
		t.Error("Dirac filters do not give their input back")
	}
	// Two groups of two filters over three channels.
	want := make([]float32, 4*3*3)
	for _, at := range []int{0*9 + 0*3 + 1, 1*9 + 1*3 + 1, 2*9 + 0*3 + 1, 3*9 + 1*3 + 1} {
		want[at] = 1
	}
	if y := nn.Dirac(2)(nil, 4, 3, 3); !slices.Equal(weft.Data[float32](y), want) {
		t.Errorf("Dirac of two groups: %v", y)
	}
	s := nn.Sparse(0.25, 0.01)(g, 30, 500)
	if n := weft.Data[int64](s.Eq(0).Sum(0)); slices.Min(n) != 8 || slices.Max(n) != 8 {
		t.Errorf("Sparse: %d to %d zeros a column of 30, want 8", slices.Min(n), slices.Max(n))
	}
	follows(t, "Sparse", s.Index(s.Ne(0)), normal(0.01))
	if n := weft.Data[int64](s.Eq(0).Sum(1)); slices.Min(n) < 85 || slices.Max(n) > 185 {
		t.Errorf("Sparse: %d to %d zeros in a row of 500", slices.Min(n), slices.Max(n))
	}
	for name, f := range map[string]func(){
		"fans of a vector": func() { nn.Kaiming()(g, 3) },
		"a gain":           func() { nn.Kaiming(nn.KaimingOpts{Gain: new(-1.0)}) },
		"Eye":              func() { nn.Eye(g, 3) },
		"groups":           func() { nn.Dirac(3)(g, 4, 4, 3) },
		"filters":          func() { nn.Dirac(1)(g, 4, 4) },
		"zeros":            func() { nn.Sparse(1.5, 1)(g, 4, 4) },
		"a vector":         func() { nn.Sparse(0.5, 1)(g, 4) },
	} {
		if weft.Try(f) == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
