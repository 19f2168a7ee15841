package nn_test

import (
	"errors"
	"math"
	"testing"

	"weft"
	"weft/nn"
)

// Losses refuse what does not fit with an error that names the loss and the argument.
func TestLossesRefuse(t *testing.T) {
	x, y, n := weft.Zeros(2, 3), weft.Zeros(3), weft.FromSlice([]int64{0, 1})
	logp := weft.Zeros(4, 2, 3)
	list := weft.ZerosOf(weft.Int64, 2, 3)
	for _, c := range []struct {
		name, op, arg string
		f             func()
	}{
		{"shape", "huber", "target", func() { nn.Huber(x, y) }},
		{"delta", "huber", "Delta", func() { nn.Huber(x, x, nn.HuberOpts{Delta: new(0.0)}) }},
		{"weight", "huber", "Weight", func() { nn.Huber(x, x, nn.HuberOpts{Weight: weft.Ones(2)}) }},
		{"weight", "mse", "Weight", func() { nn.MSE(x, x, nn.LossOpts{Weight: y}) }},
		{"weight", "soft_margin", "Weight", func() { nn.SoftMargin(x, x, nn.LossOpts{Weight: x}) }},
		{"weight", "multi_label_margin", "Weight", func() { nn.MultiLabelMargin(x, list, nn.LossOpts{Weight: x}) }},
		{"nil", "hinge_embedding", "x", func() { nn.HingeEmbedding(nil, x) }},
		{"integers", "soft_margin", "x", func() { nn.SoftMargin(list, list) }},
		{"reduction", "hinge_embedding", "Reduction", func() { nn.HingeEmbedding(x, x, nn.MarginOpts{Reduction: 9}) }},
		{"shape", "margin_ranking", "x2", func() { nn.MarginRanking(x, y, x) }},
		{"power", "multi_margin", "P", func() { nn.MultiMargin(x, n, nn.MultiMarginOpts{P: new(3)}) }},
		{"floats", "multi_margin", "target", func() { nn.MultiMargin(x, weft.Zeros(2)) }},
		{"class", "multi_margin", "target", func() { nn.MultiMargin(x, n.Mul(3)).Item() }},
		{"weight", "multi_margin", "Weight", func() { nn.MultiMargin(x, n, nn.MultiMarginOpts{Weight: weft.Ones(2)}) }},
		{"no classes", "multi_margin", "x", func() { nn.MultiMargin(weft.Zeros(2, 0), n) }},
		{"class", "multi_label_margin", "target", func() { nn.MultiLabelMargin(x, list.Add(3)).Item() }},
		{"floats", "multi_label_margin", "target", func() { nn.MultiLabelMargin(x, x) }},
		{"number", "multi_label_soft_margin", "x", func() { nn.MultiLabelSoftMargin(weft.Scalar(1.0), weft.Scalar(1.0)) }},
		{"rank", "triplet_margin", "negative", func() { nn.TripletMargin(x, x, y) }},
		{"target", "cosine_embedding", "target", func() { nn.CosineEmbedding(x, x, y) }},
		{"shape", "cosine_embedding", "x2", func() { nn.CosineEmbedding(x, y, n) }},
		{"variance", "gaussian_nll", "variance", func() { nn.GaussianNLL(x, x, weft.Ones(4)) }},
		{"types", "focal", "target", func() { nn.Focal(x, list) }},
		{"number", "dice", "x", func() { nn.Dice(weft.Scalar(1.0), weft.Scalar(1.0)) }},
		{"rank", "ctc", "logp", func() { nn.CTC(y, n, n, n) }},
		{"blank", "ctc", "Blank", func() { nn.CTC(logp, list, n, n, nn.CTCOpts{Blank: 3}) }},
		{"steps", "ctc", "steps", func() { nn.CTC(logp, list, n.Add(4), n).Item() }},
		{"lengths", "ctc", "lengths", func() { nn.CTC(logp, list, n, n.Add(3)).Item() }},
		{"class", "ctc", "target", func() { nn.CTC(logp, list.Add(3), n.Add(3), n).Item() }},
		{"sum", "ctc", "target", func() { nn.CTC(logp, weft.ZerosOf(weft.Int64, 5), n, n) }},
		{"floats", "ctc", "target", func() { nn.CTC(logp, x, n, n) }},
		{"axis", "normalize", "x", func() { nn.Normalize(nil) }},
		{"number", "pairwise_distance", "x", func() { nn.PairwiseDistance(weft.Scalar(1.0), x) }},
		{"integers", "cosine_similarity", "y", func() { nn.CosineSimilarity(x, list) }},
	} {
		var e *weft.Error
		if err := weft.Try(c.f); !errors.As(err, &e) || e.Op != c.op || e.Arg != c.arg {
			t.Errorf("%s of %s: %v, want an error of %s", c.name, c.op, err, c.arg)
		}
	}
}

// NaN in a prediction stays visible in losses that have a margin.
func TestMarginLossesKeepNaN(t *testing.T) {
	x, y := weft.FromSlice([]float64{math.NaN(), 1}), weft.FromSlice([]int64{-1, -1})
	for name, loss := range map[string]*weft.Tensor{
		"hinge":   nn.HingeEmbedding(x, y),
		"ranking": nn.MarginRanking(x, x, y),
		"multi":   nn.MultiMargin(x, weft.Scalar(int64(0))),
		"lists":   nn.MultiLabelMargin(x, weft.FromSlice([]int64{0, -1})),
		"triplet": nn.TripletMargin(x, x, x),
		"cosine":  nn.CosineEmbedding(x, x, weft.Scalar(-1.0)),
	} {
		if !math.IsNaN(loss.Item()) {
			t.Errorf("%s: %v", name, loss)
		}
	}
}

// A target that no alignment reaches has an infinite loss, with a gradient of zeros, and a target
// of no elements is the row of blanks.
func TestCTCOfImpossibleTargets(t *testing.T) {
	x := weft.NewGenerator(1).Randn(2, 2, 3).To(weft.Float64).RequireGrad()
	logp := x.LogSoftmax(-1)
	loss := nn.CTC(logp, weft.FromSlice([]int64{1, 1, 2, 2}, 2, 2), weft.FromSlice([]int64{2, 2}), weft.FromSlice([]int64{2, 0}), nn.CTCOpts{Reduction: nn.None})
	got := weft.Data[float64](loss.Detach())
	want := -weft.Data[float64](logp.Detach().Slice(weft.All, weft.Index(1), weft.Index(0)).Sum())[0]
	if !math.IsInf(got[0], 1) || math.Abs(got[1]-want) > 1e-12 {
		t.Errorf("losses %v, want +Inf and %v", got, want)
	}
	loss.Slice(weft.Index(0)).Backward()
	if g := x.Grad(); g.Ne(0).Any().ItemInt() != 0 {
		t.Errorf("gradient %v, want zeros", g)
	}
}

// The CTC loss is the negative logarithm of the sum over all paths that spell the target.
func TestCTCSumsAllPaths(t *testing.T) {
	const steps, classes = 5, 3
	target := []int64{1, 1, 2}
	x := weft.NewGenerator(2).Randn(steps, classes).To(weft.Float64)
	logp := x.LogSoftmax(-1)
	p := weft.Data[float64](logp)
	total := 0.0
	for path := range 243 { // classes to the power of steps
		prob, last, spelt := 0.0, int64(0), []int64{}
		for i, rest := 0, path; i < steps; i, rest = i+1, rest/classes {
			c := int64(rest % classes)
			if prob += p[i*classes+int(c)]; c != 0 && c != last {
				spelt = append(spelt, c)
			}
			last = c
		}
		if len(spelt) == 3 && [3]int64(spelt) == [3]int64(target) {
			total += math.Exp(prob)
		}
	}
	loss := nn.CTC(logp, weft.FromSlice(target), weft.Scalar(int64(steps)), weft.Scalar(int64(3)), nn.CTCOpts{Reduction: nn.Sum})
	near(t, "loss", loss.Item(), -math.Log(total), 1e-12)
}
