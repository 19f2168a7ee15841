package distributions_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"weft"
	"weft/distributions"
	"weft/internal/tensortest"
)

// cumulatives are the rows of testdata/cdf.json as distributions of their last arguments.
var cumulatives = map[string]func(p []*weft.Tensor) distributions.Cumulative{
	"gamma":     func(p []*weft.Tensor) distributions.Cumulative { return distributions.NewGamma(p[0], 1) },
	"beta":      func(p []*weft.Tensor) distributions.Cumulative { return distributions.NewBeta(p[0], p[1]) },
	"student_t": func(p []*weft.Tensor) distributions.Cumulative { return distributions.NewStudentT(p[0], 0, 1) },
	"poisson":   func(p []*weft.Tensor) distributions.Cumulative { return distributions.NewPoisson(p[0]) },
	"binomial":  func(p []*weft.Tensor) distributions.Cumulative { return distributions.NewBinomial(p[0], p[1]) },
}

// TestDistributionFunctionsMatchMpmath: relative errors are below 5e-13 in float64, and 3e-7 in float32 for
// arguments that float32 has.
func TestDistributionFunctionsMatchMpmath(t *testing.T) {
	text, err := os.ReadFile("testdata/cdf.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases map[string][][]string
	if err := json.Unmarshal(text, &cases); err != nil || len(cases) != len(cumulatives) {
		t.Fatal(err, len(cases))
	}
	for name, rows := range cases {
		columns := make([][]float64, len(rows[0]))
		for _, row := range rows {
			for i, s := range row {
				v, _ := strconv.ParseFloat(s, 64)
				columns[i] = append(columns[i], v)
			}
		}
		args := make([]*weft.Tensor, len(columns)-1)
		for i := range args {
			args[i] = weft.FromSlice(columns[i])
		}
		want := columns[len(args)]
		for _, d := range []weft.DType{weft.Float64, weft.Float32} {
			bound := map[weft.DType]float64{weft.Float64: 5e-13, weft.Float32: 3e-7}[d]
			p := make([]*weft.Tensor, len(args))
			for i := range p {
				p[i] = args[i].To(d)
			}
			if d == weft.Float32 {
				for i := range p { // stand-ins for those that would be 0
					p[i] = weft.Where(p[i].Eq(0).LogicalAnd(args[i].Ne(0)), 1, p[i])
				}
			}
			y := cumulatives[name](p[1:]).CDF(p[0])
			if y.DType() != d {
				t.Errorf("%s of %s is %s", name, d, y.DType())
			}
			got, worst := weft.Data[float64](y.To(weft.Float64)), 0.0
			for i, w := range want {
				exact := w == 0 || w > 1e-30
				for k := range p {
					exact = exact && p[k].At(i).Item() == columns[k][i]
				}
				if d == weft.Float32 && !exact {
					continue
				}
				e := math.Abs(got[i]/w - 1)
				if w < 1e-300 {
					e = math.Abs(got[i] - w)
				}
				if worst = max(worst, e); !(e <= bound) {
					t.Errorf("%s %s of %v is %v, want %v: error %.2g", name, d, rows[i], got[i], w, e)
				}
			}
			t.Logf("%s %s: the largest error of %d is %.2g", name, d, len(want), worst)
		}
	}
}

// TestGradientOfStudentTAtLoc: derivatives at the median are the density and its reciprocal, which for 3 degrees of
// freedom is 2/(pi*sqrt(3)).
func TestGradientOfStudentTAtLoc(t *testing.T) {
	d := distributions.NewStudentT(3, weft.From([]float64{1}), 2)
	density := 2 / (math.Pi * math.Sqrt(3)) / 2
	x, p := weft.From([]float64{1}).RequireGrad(), weft.From([]float64{0.5}).RequireGrad()
	tensortest.Near(t, "cdf", weft.Grad(d.CDF(x).Sum(), []*weft.Tensor{x})[0], []float64{density}, 1e-15)
	tensortest.Near(t, "icdf", weft.Grad(d.ICDF(p).Sum(), []*weft.Tensor{p})[0], []float64{1 / density}, 1e-14)
}

// TestStudentTWithManyDegreesOfFreedom: density and entropy by mpmath, also where the gamma functions are
// nearly equal; the last row is the normal distribution.
func TestStudentTWithManyDegreesOfFreedom(t *testing.T) {
	for _, c := range []struct{ v, logProb, entropy float64 }{
		{29.99, -1.7142460604209154, 1.452554623519337},
		{30, -1.7142413686669054, 1.4525433297872075},
		{45, -1.7095527782809598, 1.441282354396951},
		{10000.0, -1.700230623302585, 1.4190385357045061},
		{1e+30, -1.7001885332046727, 1.4189385332046727},
	} {
		for d, bound := range map[weft.DType]float64{weft.Float64: 2e-14, weft.Float32: 3e-6} {
			s := distributions.NewStudentT(weft.ScalarOf(d, c.v), 0, 1)
			tensortest.Near(t, fmt.Sprint(d, " density of ", c.v), s.LogProb(weft.ScalarOf(d, 1.25)), []float64{c.logProb}, bound)
			tensortest.Near(t, fmt.Sprint(d, " entropy of ", c.v), s.Entropy(), []float64{c.entropy}, bound)
		}
	}
}

// TestGradientsOfDistributionFunctions: by events they are densities, by the other parameters differences.
func TestGradientsOfDistributionFunctions(t *testing.T) {
	for name, f := range map[string]func(x ...*weft.Tensor) *weft.Tensor{
		"gamma":     func(x ...*weft.Tensor) *weft.Tensor { return distributions.NewGamma(x[1], x[2]).CDF(x[0]) },
		"student_t": func(x ...*weft.Tensor) *weft.Tensor { return distributions.NewStudentT(4.5, x[1], x[2]).CDF(x[0]) },
		"beta":      func(x ...*weft.Tensor) *weft.Tensor { return distributions.NewBeta(1.5, 4).CDF(x[0]) },
		"poisson": func(x ...*weft.Tensor) *weft.Tensor {
			return distributions.NewPoisson(x[1]).CDF(weft.ScalarOf(weft.Float64, 2))
		},
		"binomial": func(x ...*weft.Tensor) *weft.Tensor {
			return distributions.NewBinomial(5, x[0]).CDF(weft.ScalarOf(weft.Float64, 2))
		},
		"geometric": func(x ...*weft.Tensor) *weft.Tensor {
			return distributions.NewGeometric(x[0]).CDF(weft.ScalarOf(weft.Float64, 2))
		},
	} {
		in := []*weft.Tensor{weft.From([]float64{0.2, 0.55, 0.9}), weft.From([]float64{0.4, 1, 9}), weft.From([]float64{0.7, 2, 15})}
		// A function is called with the inputs that it uses.
		used := in
		switch name {
		case "beta", "binomial", "geometric":
			used = in[:1]
		case "poisson":
			g := f
			f, used = func(x ...*weft.Tensor) *weft.Tensor { return g(nil, x[0]) }, in[1:2]
		}
		if err := weft.GradCheck(f, used); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	x := weft.From([]float64{0.3, 2, 11}).RequireGrad()
	d := distributions.NewGamma(weft.From([]float64{0.5, 3, 12}), 1)
	tensortest.Near(t, "density", weft.Grad(d.CDF(x).Sum(), []*weft.Tensor{x})[0], weft.Data[float64](d.LogProb(x).Exp().Detach()), 1e-13)
	a := weft.ScalarOf(weft.Float64, 2).RequireGrad()
	if err := tensortest.Try(func() { distributions.NewBeta(a, 1).CDF(weft.ScalarOf(weft.Float64, 0.5)).Backward() }); err == nil || !strings.Contains(err.Error(), "no gradient by their parameters") {
		t.Error("the gradient by a parameter of beta numbers gives", err)
	}
}

// TestEdgesOfDistributionFunctions: 0 below the support, 1 above it, NaN for NaN.
func TestEdgesOfDistributionFunctions(t *testing.T) {
	inf := math.Inf(1)
	x := weft.From([]float64{-inf, -0.5, math.Nextafter(0, -1), inf, math.NaN()})
	for name, d := range map[string]distributions.Cumulative{
		"gamma": distributions.NewGamma(2, 3), "beta": distributions.NewBeta(0.5, 2), "poisson": distributions.NewPoisson(2.5),
		"binomial": distributions.NewBinomial(4, 0.3), "geometric": distributions.NewGeometric(0.25), "bernoulli": distributions.NewBernoulli(0.75),
	} {
		tensortest.Near(t, name, d.CDF(x), []float64{0, 0, 0, 1, math.NaN()}, 0)
	}
	tensortest.Near(t, "student_t", distributions.NewStudentT(3, 1, 2).CDF(weft.From([]float64{-inf, 1, inf, math.NaN()})), []float64{0, 0.5, 1, math.NaN()}, 0)
	k := weft.From([]float64{0, 0.5, 1, 2, 3.7})
	tensortest.Near(t, "geometric", distributions.NewGeometric(weft.ScalarOf(weft.Float64, 0.25)).CDF(k), []float64{0.25, 0.25, 0.4375, 0.578125, 0.68359375}, 1e-15)
	tensortest.Near(t, "bernoulli", distributions.NewBernoulli(0.75).CDF(k), []float64{0.25, 0.25, 1, 1, 1}, 0)
	tensortest.Near(t, "poisson of rate 0", distributions.NewPoisson(0).CDF(k), []float64{1, 1, 1, 1, 1}, 0)
}

// TestDistributionFunctionsOnEveryBackend have the same bits, eagerly and compiled.
func TestDistributionFunctionsOnEveryBackend(t *testing.T) {
	var want string
	tensortest.EachBackend(t, func(t *testing.T) {
		x := weft.NewGenerator(3).Rand(40).Mul(1.2)
		f := func(x *weft.Tensor) *weft.Tensor {
			a := x.Mul(9).Add(0.1)
			return weft.Stack([]*weft.Tensor{distributions.NewGamma(a, 2).CDF(x), distributions.NewBeta(a, 3).CDF(x), distributions.NewStudentT(a, 0, 1).CDF(x)}, 0)
		}
		for _, got := range []string{weft.Digest(f(x)), weft.Digest(weft.Compile(f).Func()(x))} {
			if want == "" {
				want = got
			} else if got != want {
				t.Errorf("digest %s, want %s", got, want)
			}
		}
	})
}
