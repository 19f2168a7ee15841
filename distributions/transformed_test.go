package distributions_test

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/distributions"
	"weft/internal/tensortest"
)

// transformed are the cases of testdata/transformed.py.
var transformed = map[string]func(p []*weft.Tensor) distributions.TransformedDistribution{
	"exp":     onNormal(func([]*weft.Tensor) []distributions.Transform { return transforms(distributions.ExpTransform{}) }),
	"sigmoid": onNormal(func([]*weft.Tensor) []distributions.Transform { return transforms(distributions.SigmoidTransform{}) }),
	"tanh":    onNormal(func([]*weft.Tensor) []distributions.Transform { return transforms(distributions.TanhTransform{}) }),
	"affine": onNormal(func(p []*weft.Tensor) []distributions.Transform {
		return transforms(distributions.NewAffineTransform(p[0], p[1]))
	}),
	"several": onNormal(func(p []*weft.Tensor) []distributions.Transform {
		return transforms(distributions.ComposeTransform{distributions.NewAffineTransform(p[0], p[1]), distributions.TanhTransform{}}, distributions.NewAffineTransform(1, -2))
	}),
	"stick": onNormal(func([]*weft.Tensor) []distributions.Transform {
		return transforms(distributions.StickBreakingTransform{})
	}),
	"power": func(p []*weft.Tensor) distributions.TransformedDistribution {
		return distributions.NewTransformedDistribution(distributions.NewExponential(p[0]), distributions.NewPowerTransform(p[1]))
	},
	"vectors": func(p []*weft.Tensor) distributions.TransformedDistribution {
		return distributions.NewTransformedDistribution(distributions.NewIndependent(distributions.NewNormal(p[0], p[1]), 1), distributions.ExpTransform{})
	},
}

func transforms(t ...distributions.Transform) []distributions.Transform { return t }

func onNormal(f func(p []*weft.Tensor) []distributions.Transform) func(p []*weft.Tensor) distributions.TransformedDistribution {
	return func(p []*weft.Tensor) distributions.TransformedDistribution {
		return distributions.NewTransformedDistribution(distributions.NewNormal(p[0], p[1]), f(p[2:])...)
	}
}

// TestTransformedDistributionsMatchPyTorch: densities with gradients, distribution functions and their
// inverses, shapes, and draws that have the distribution function.
func TestTransformedDistributionsMatchPyTorch(t *testing.T) {
	var cases []struct {
		Name         string
		Params       []*peerArray
		X, U         *peerArray
		LogProb      *peerArray   `json:"log_prob"`
		DLogProb     []*peerArray `json:"d_log_prob"`
		CDF, ICDF    *peerArray
		Batch, Event []int
	}
	text, err := os.ReadFile("testdata/transformed.json")
	if err == nil {
		err = json.Unmarshal(text, &cases)
	}
	if err != nil || len(cases) != len(transformed) {
		t.Fatal(err, len(cases))
	}
	for _, c := range cases {
		n := len(c.Params)
		of := func(f func(d distributions.TransformedDistribution, x *weft.Tensor) *weft.Tensor) func(in []*weft.Tensor) *weft.Tensor {
			return func(in []*weft.Tensor) *weft.Tensor { return f(transformed[c.Name](in[:n]), in[n]) }
		}
		with := func(x *peerArray) []*peerArray { return append(slices.Clip(c.Params), x) }
		check{c.Name + " log_prob", of(func(d distributions.TransformedDistribution, x *weft.Tensor) *weft.Tensor { return d.LogProb(x) }), with(c.X), c.LogProb, c.DLogProb, false}.each(t)
		params := make([]*weft.Tensor, n)
		for i, p := range c.Params {
			params[i] = p.tensor(weft.Float64)
		}
		d := transformed[c.Name](params)
		if !slices.Equal(d.BatchShape(), c.Batch) || !slices.Equal(d.EventShape(), c.Event) {
			t.Errorf("%s has batch %v and events %v, want %v and %v", c.Name, d.BatchShape(), d.EventShape(), c.Batch, c.Event)
		}
		const draws = 4000
		x := d.RSample(weft.NewGenerator(3), draws)
		if want := slices.Concat([]int{draws}, c.Batch, c.Event); !slices.Equal(x.Shape(), want) || !math.IsNaN(d.Mean().Sum().Item()) {
			t.Errorf("%s draws %v, want %v", c.Name, x.Shape(), want)
		}
		if c.CDF == nil {
			continue
		}
		check{c.Name + " cdf", of(func(d distributions.TransformedDistribution, x *weft.Tensor) *weft.Tensor { return d.CDF(x) }), with(c.X), c.CDF, nil, false}.each(t)
		check{c.Name + " icdf", of(func(d distributions.TransformedDistribution, u *weft.Tensor) *weft.Tensor { return d.ICDF(u) }), with(c.U), c.ICDF, nil, false}.each(t)
		// The distribution function of draws is uniform: its mean has a deviation of 0.29/sqrt(draws).
		if m := d.CDF(x).Mean(0).Sub(0.5).Abs().Max().Item(); m > 5*0.29/math.Sqrt(draws) {
			t.Errorf("%s: the distribution function of draws is %v away from 1/2", c.Name, m)
		}
	}
}

// TestLogNormalIsATransformedNormal: both forms have one density and one distribution function.
func TestLogNormalIsATransformedNormal(t *testing.T) {
	x := weft.From([]float64{1e-3, 0.4, 1, 7, 500})
	a := distributions.NewLogNormal(0.3, weft.ScalarOf(weft.Float64, 1.7))
	b := distributions.NewTransformedDistribution(distributions.NewNormal(0.3, weft.ScalarOf(weft.Float64, 1.7)), distributions.ExpTransform{})
	tensortest.Near(t, "log_prob", b.LogProb(x), weft.Data[float64](a.LogProb(x)), 1e-13)
	tensortest.Near(t, "cdf", b.CDF(x), weft.Data[float64](a.CDF(x)), 1e-13)
}

// TestTransformedParts: what Base and Transforms return was given, and writing into it changes nothing.
func TestTransformedParts(t *testing.T) {
	n, exp := distributions.NewNormal(3, 1), distributions.ExpTransform{}
	d := distributions.NewTransformedDistribution(n, exp)
	d.Transforms()[0] = nil
	if got := d.Transforms(); len(got) != 1 || got[0] != exp || d.Base().Mean().Item() != 3 {
		t.Errorf("base %v, transforms %v", d.Base(), got)
	}
}

// TestTransformedMistakes: errors say what does not fit.
func TestTransformedMistakes(t *testing.T) {
	n := distributions.NewNormal(weft.Zeros(1), 1)
	stick := distributions.NewTransformedDistribution(n, distributions.StickBreakingTransform{})
	wide := distributions.NewTransformedDistribution(n, distributions.NewAffineTransform(weft.Zeros(3), 1))
	for want, f := range map[string]func(){
		"distributions.transformed_distribution: base: is nil":           func() { distributions.NewTransformedDistribution(nil) },
		"distributions.transformed_distribution: transforms: 1 is nil":   func() { distributions.NewTransformedDistribution(n, distributions.ExpTransform{}, nil) },
		"is the zero value: NewTransformedDistribution makes one":        func() { distributions.TransformedDistribution{}.Sample(nil) },
		"distributions.affine_transform: scale: is 0, want other than 0": func() { distributions.NewAffineTransform(1, 0) },
		"distributions.independent: axes: is 1, want 0 to 0": func() {
			distributions.NewTransformedDistribution(distributions.NewNormal(0, 1), distributions.StickBreakingTransform{})
		},
		"distributions.transformed_distribution.cdf: distributions.Independent does not know":      func() { stick.CDF(weft.Ones(2)) },
		"distributions.transformed_distribution.sample: base: has batch shape [1], the transforms": func() { wide.Sample(nil) },
		"distributions.exp_transform: x: is nil":                                                   func() { distributions.ExpTransform{}.Forward(nil) },
		"distributions.affine_transform: x: is nil":                                                func() { distributions.NewAffineTransform(1, 2).Forward(nil) },
		"distributions.power_transform: x: is nil":                                                 func() { distributions.NewPowerTransform(2).LogAbsDet(nil, nil) },
	} {
		err := tensortest.Try(f)
		if e, ok := err.(*weft.Error); !ok || !strings.Contains(e.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	more := distributions.NewTransformedDistribution(distributions.NewNormal(0, 1), distributions.NewAffineTransform(weft.Zeros(3), 1))
	if x := more.Sample(weft.NewGenerator(1), 2); !slices.Equal(x.Shape(), []int{2, 3}) || x.At(0, 0).Item() == x.At(0, 1).Item() {
		t.Errorf("draws of a batch by the transform are %v", x)
	}
}
