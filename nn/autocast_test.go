package nn_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/nn"
)

// notWhole are losses of the table of second derivatives that scopes of [weft.Autocast] do not compute as a
// whole in float32, with the reason.
var notWhole = map[string]string{
	"AdaptiveLogSoftmax": "has linear layers, which are in 16 bits",
}

// raisedLayers are layers that compute as a whole in float32, with parameters of float32.
func raisedLayers() (list []twice) {
	picture := []int{2, 4, 3, 5}
	running := nn.InstanceNormOpts{Affine: true, Running: true}
	for name, c := range map[string]struct {
		l     nn.Layer
		shape []int
	}{
		"BatchNorm1d": {nn.NewBatchNorm1d(4), []int{6, 4}}, "BatchNorm2d": {nn.NewBatchNorm2d(4), picture}, "BatchNorm3d": {nn.NewBatchNorm3d(4), []int{2, 4, 3, 2, 2}},
		"BatchNorm2d plain": {nn.NewBatchNorm2d(4, nn.BatchNormOpts{NoAffine: true, NoRunning: true}), picture}, "BatchNorm2d evaluated": {evaluated(nn.NewBatchNorm2d(4)), picture},
		"InstanceNorm1d": {nn.NewInstanceNorm1d(4, running), []int{2, 4, 5}}, "InstanceNorm2d": {nn.NewInstanceNorm2d(4), picture}, "InstanceNorm3d evaluated": {evaluated(nn.NewInstanceNorm3d(4, running)), []int{4, 3, 2, 2}},
		"LayerNorm": {nn.NewLayerNorm([]int{3, 5}), picture}, "RMSNorm": {nn.NewRMSNorm([]int{5}), picture},
		"GroupNorm": {nn.NewGroupNorm(2, 4), picture}, "LocalResponseNorm": {nn.LocalResponseNorm{Size: 3}, picture},
		"Upsample": {nn.Upsample{Scale: new(2.0)}, picture}, "Upsample between": {nn.Upsample{Size: &[2]int{3, 7}, Bilinear: true}, picture},
		"Interpolate cubic":       {nn.Interpolate{Size: []int{5, 4}, Mode: nn.ModeCubic}, picture},
		"Interpolate antialiased": {nn.Interpolate{Size: []int{2, 2}, Mode: nn.ModeLinear, Antialias: true}, picture},
		"Interpolate of areas":    {nn.Interpolate{Size: []int{2, 2}, Mode: nn.ModeArea}, picture},
		"Interpolate exact":       {nn.Interpolate{Size: []int{7}, Mode: nn.ModeNearestExact}, picture},
	} {
		list = append(list, twiceOf(name, func(x ...*weft.Tensor) *weft.Tensor { return c.l.Forward(x[0]) }, normal(c.shape...)))
	}
	return list
}

// raisedLosses are losses, as they are called alone.
func raisedLosses() (list []twice) {
	two := func(f func(x, y *weft.Tensor) *weft.Tensor) func(x ...*weft.Tensor) *weft.Tensor {
		return func(x ...*weft.Tensor) *weft.Tensor { return f(x[0], x[1]) }
	}
	scores, near, p, q := normal(3, 4), normal(3, 4).Cos(), between(0.1, 0.9, 3, 4), between(0.2, 0.8, 3, 4)
	signs, classes := doubles(1, -1, -1, 1, 1, -1, 1, 1, -1, -1, 1, -1).Reshape(3, 4), ints(1, 3, 0)
	labels := ints(0, 2, -1, -1, 3, -1, 0, 0, 1, 2, 3, -1).Reshape(3, 4)
	of := func(name string, f func(x ...*weft.Tensor) *weft.Tensor, x ...*weft.Tensor) {
		list = append(list, twiceOf(name, f, x...))
	}
	of("MSE", two(func(x, y *weft.Tensor) *weft.Tensor { return nn.MSE(x, y) }), scores, near)
	of("L1", two(func(x, y *weft.Tensor) *weft.Tensor { return nn.L1(x, y) }), scores, near)
	of("SmoothL1", two(func(x, y *weft.Tensor) *weft.Tensor { return nn.SmoothL1(x, y) }), scores, near)
	of("Huber", two(func(x, y *weft.Tensor) *weft.Tensor { return nn.Huber(x, y) }), scores, near)
	of("BCE", two(func(x, y *weft.Tensor) *weft.Tensor { return nn.BCE(x, y) }), p, q)
	of("BCEWithLogits", two(func(x, y *weft.Tensor) *weft.Tensor { return nn.BCEWithLogits(x, y) }), scores, q)
	of("KLDiv", two(func(x, y *weft.Tensor) *weft.Tensor { return nn.KLDiv(x, y) }), scores, p)
	of("Dice", two(func(x, y *weft.Tensor) *weft.Tensor { return nn.Dice(x, y) }), p, q)
	of("Focal", two(func(x, y *weft.Tensor) *weft.Tensor { return nn.Focal(x, y) }), scores, q)
	of("PoissonNLL", two(func(x, y *weft.Tensor) *weft.Tensor { return nn.PoissonNLL(x, y) }), scores, p)
	of("GaussianNLL", func(x ...*weft.Tensor) *weft.Tensor { return nn.GaussianNLL(x[0], x[1], x[2]) }, scores, near, p)
	for name, o := range map[string]nn.CrossEntropyOpts{"": {}, " smooth": {Smoothing: 0.1}, " sum": {Reduction: nn.Sum}} {
		of("CrossEntropy"+name, two(func(x, y *weft.Tensor) *weft.Tensor { return nn.CrossEntropy(x, y, o) }), scores, classes)
	}
	of("CrossEntropy plain", two(func(x, y *weft.Tensor) *weft.Tensor { return nn.CrossEntropy(x, y) }), scores, classes)
	of("CrossEntropy of probabilities", two(func(x, y *weft.Tensor) *weft.Tensor { return nn.CrossEntropy(x, y) }), scores, p)
	of("NLL", two(func(x, y *weft.Tensor) *weft.Tensor { return nn.NLL(x, y) }), scores, classes)
	of("MultiMargin", two(func(x, y *weft.Tensor) *weft.Tensor { return nn.MultiMargin(x, y) }), scores, classes)
	of("MultiLabelMargin", two(func(x, y *weft.Tensor) *weft.Tensor { return nn.MultiLabelMargin(x, y) }), scores, labels)
	of("MultiLabelSoftMargin", two(func(x, y *weft.Tensor) *weft.Tensor { return nn.MultiLabelSoftMargin(x, y) }), scores, q)
	of("SoftMargin", two(func(x, y *weft.Tensor) *weft.Tensor { return nn.SoftMargin(x, y) }), scores, signs)
	of("HingeEmbedding", two(func(x, y *weft.Tensor) *weft.Tensor { return nn.HingeEmbedding(x, y) }), scores, signs)
	of("MarginRanking", func(x ...*weft.Tensor) *weft.Tensor { return nn.MarginRanking(x[0], x[1], x[2]) }, scores, near, signs)
	of("CosineEmbedding", func(x ...*weft.Tensor) *weft.Tensor { return nn.CosineEmbedding(x[0], x[1], x[2]) }, scores, near, doubles(1, -1, 1))
	of("TripletMargin", func(x ...*weft.Tensor) *weft.Tensor { return nn.TripletMargin(x[0], x[1], x[2]) }, scores, near, p)
	of("CosineSimilarity", two(func(x, y *weft.Tensor) *weft.Tensor { return nn.CosineSimilarity(x, y) }), scores, near)
	of("CTC", func(x ...*weft.Tensor) *weft.Tensor {
		return nn.CTC(x[0], ints(1, 2), ints(3).Reshape(), ints(2).Reshape())
	}, scores)
	return list
}

// Norms, losses and resizing of bfloat16 and float16 in a scope have the bits of the same in float32 outside,
// and so have gradients, rounded to the type of their leaves. PyTorch's list of what runs in float32 on GPUs
// (ATen/autocast_mode.h) says which; a batch norm there takes what it gets, and computes in float32.
func TestAutocastComputesInFloat32(t *testing.T) {
	have := maps.Clone(notWhole)
	for _, c := range slices.Concat(raisedLayers(), raisedLosses()) {
		name, _, _ := strings.Cut(c.name, " ")
		have[name] = "compared"
		for _, half := range []weft.DType{weft.BFloat16, weft.Float16} {
			if err := weft.Try(func() { compareAutocast(t, c, half) }); err != nil {
				t.Errorf("%s of %v: %v", c.name, half, err)
			}
		}
	}
	for _, c := range twiceLosses() {
		if name, _, _ := strings.Cut(c.name, " "); have[name] == "" {
			t.Errorf("%s is not in the table", name)
		}
	}
}

func compareAutocast(t *testing.T, c twice, half weft.DType) {
	leaves := func(convert func(x *weft.Tensor) *weft.Tensor) (out []*weft.Tensor) {
		for _, x := range c.x {
			if x = x.Detach(); x.DType().Float() {
				x = nn.Param(convert(x).Clone())
			}
			out = append(out, x)
		}
		return out
	}
	narrow := leaves(func(x *weft.Tensor) *weft.Tensor { return x.To(half) })
	wide := leaves(func(x *weft.Tensor) *weft.Tensor { return x.To(half).To(weft.Float32) })
	var got []*weft.Tensor
	weft.Autocast(half, func() { got = c.f(narrow...) })
	want := c.f(wide...)
	keeps := strings.HasPrefix(c.name, "BatchNorm") || strings.HasPrefix(c.name, "InstanceNorm")
	for i, y := range want {
		if keeps {
			y = y.To(half)
			want[i] = y
		}
		if got[i].DType() != y.DType() || weft.Digest(got[i]) != weft.Digest(y) || !keeps && y.DType() == half {
			t.Errorf("%s of %v: result %v, want %v", c.name, half, got[i], y)
		}
	}
	seeds := func(ys []*weft.Tensor) (out []*weft.Tensor) {
		for _, y := range ys {
			out = append(out, weft.NewGenerator(5).RandnOf(weft.Float64, y.Shape()...).To(y.DType()))
		}
		return out
	}
	weft.BackwardWith(got, weft.GradOpts{Seeds: seeds(got)})
	weft.BackwardWith(want, weft.GradOpts{Seeds: seeds(want)})
	for i, x := range narrow {
		g, w := x.Grad(), wide[i].Grad()
		if w != nil && (g == nil || g.DType() != half || weft.Digest(g) != weft.Digest(w.To(half))) {
			t.Errorf("%s of %v: gradient %d is %v, want %v", c.name, half, i, g, w.To(half))
		}
	}
}
