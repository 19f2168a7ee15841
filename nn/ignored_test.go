package nn_test

import (
	"math"
	"testing"

	"weft"
	"weft/nn"
)

// Rows with an ignored target do not affect a loss or its gradient. If all rows are ignored the
// gradient is zeros and a mean is NaN, as in PyTorch.
func TestLossesIgnoreTargets(t *testing.T) {
	losses := map[string]func(x, y *weft.Tensor, o nn.CrossEntropyOpts) *weft.Tensor{
		"CrossEntropy": func(x, y *weft.Tensor, o nn.CrossEntropyOpts) *weft.Tensor { return nn.CrossEntropy(x, y, o) },
		"smoothed": func(x, y *weft.Tensor, o nn.CrossEntropyOpts) *weft.Tensor {
			o.Smoothing = 0.1
			return nn.CrossEntropy(x, y, o)
		},
		"NLL": func(x, y *weft.Tensor, o nn.CrossEntropyOpts) *weft.Tensor { return nn.NLL(x, y, o) },
	}
	inf, nan := math.Inf(1), math.NaN()
	rows := map[string][]float64{"numbers": {0.5, -1, 2}, "-Inf": {-inf, -inf, -inf}, "Inf": {inf, 1, inf}, "NaN": {nan, nan, 1}}
	for name, f := range losses {
		for _, d := range []weft.DType{weft.Float32, weft.Float64} {
			for _, weighted := range []bool{false, true} {
				for _, r := range []nn.Reduction{nn.Mean, nn.Sum, nn.None, nn.BatchMean} {
					o := nn.CrossEntropyOpts{IgnoreIndex: new(-100), Reduction: r}
					if weighted {
						o.Weight = weft.FromSlice([]float64{1, 2, 0.5})
					}
					for what, row := range rows {
						// One row counts, and gives what it gives alone.
						kept := weft.FromSlice([]float64{0.1, 0.2, -0.3}, 1, 3).To(d).RequireGrad()
						x := weft.Cat([]*weft.Tensor{weft.FromSlice(row, 1, 3).To(d), kept.Detach()}, 0).RequireGrad()
						one := f(kept, weft.FromSlice([]int64{2}), o).Sum()
						two := f(x, weft.FromSlice([]int64{-100, 2}), o).Sum()
						if r == nn.BatchMean {
							two = two.Mul(2)
						}
						if one.Item() != two.Item() {
							t.Errorf("%s, weighted %v, reduction %v, a row of %s ignored: %v, want %v", name, weighted, r, what, two, one)
						}
						one.Backward()
						two.Backward()
						g := x.Grad()
						if g.Slice(weft.Index(0)).Ne(0).Any().Item() != 0 || weft.Digest(g.Slice(weft.Index(1))) != weft.Digest(kept.Grad().Slice(weft.Index(0))) {
							t.Errorf("%s, weighted %v, reduction %v, a row of %s ignored: gradient %v, want zeros and %v", name, weighted, r, what, g, kept.Grad())
						}
						// None counts.
						x = weft.FromSlice(row, 1, 3).To(d).RequireGrad()
						l := f(x, weft.FromSlice([]int64{-100}), o).Sum()
						if v := l.Item(); r == nn.Mean && !math.IsNaN(v) || r != nn.Mean && v != 0 {
							t.Errorf("%s, reduction %v, a row of %s ignored alone: %v", name, r, what, v)
						}
						l.Backward()
						if g := x.Grad(); g.Ne(0).Any().Item() != 0 {
							t.Errorf("%s, weighted %v, reduction %v, a row of %s ignored alone: gradient %v", name, weighted, r, what, g)
						}
					}
				}
			}
		}
	}
}

// An axis that keeps its size keeps its elements, whatever is beside it: in every mode.
func TestUpsampleOfAnAxisThatKeepsItsSize(t *testing.T) {
	x := weft.FromSlice([]float64{1, math.Inf(1), 3, 4, 5, 6}, 1, 1, 2, 3).RequireGrad()
	for _, u := range []nn.Upsample{{Scale: new(1.3)}, {Scale: new(1.3), Bilinear: true}, {Scale: new(1.3), Bilinear: true, AlignCorners: true}, {Size: new([2]int{2, 3})}, {Size: new([2]int{2, 3}), Bilinear: true}, {Scale: new(1.0), Bilinear: true, AlignCorners: true}} {
		y := u.Forward(x)
		if weft.Digest(y) != weft.Digest(x.Detach()) {
			t.Errorf("%+v: %v", u, y)
		}
		y.Detach().Assign(0)
		if x.Slice(weft.Index(0), weft.Index(0), weft.Index(0), weft.Index(0)).Item() != 1 {
			t.Fatalf("%+v gives its argument away", u)
		}
	}
	// One axis grows.
	for _, u := range []nn.Upsample{{Size: new([2]int{4, 3}), Bilinear: true}, {Size: new([2]int{4, 3}), Bilinear: true, AlignCorners: true}} {
		y := u.Forward(x)
		for i := range 4 {
			if got := y.Slice(weft.Index(0), weft.Index(0), weft.Index(i), weft.Index(0)).Item(); math.IsNaN(got) || math.IsInf(got, 0) {
				t.Errorf("%+v: column 0 of row %d is %v", u, i, got)
			}
		}
	}
	// Twice the size is each element twice.
	if got := (nn.Upsample{Scale: new(2.3)}).Forward(weft.FromSlice([]float64{1, 2, 3}, 1, 1, 1, 3)).Shape(); got[3] != 6 {
		t.Error(got)
	}
	if got := (nn.Upsample{Scale: new(2.3)}).Forward(weft.FromSlice([]float64{1, 2, 3}, 1, 1, 1, 3)).Slice(weft.Index(0), weft.Index(0), weft.Index(0)).String(); got != "[1. 1. 2. 2. 3. 3.]" {
		t.Error(got)
	}
}
