package distributions_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"weft"
	"weft/distributions"
)

// TestTails compares distribution functions, their inverses and log densities with mpmath far from the middle, where
// formulas around 1/2 lose their digits, and squares overflow.
func TestTails(t *testing.T) {
	text, err := os.ReadFile("testdata/tails.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases map[string]struct{ X, Want []float64 }
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	m, s := weft.From([]float64{0.5}), weft.From([]float64{2})
	known := map[string]distributions.Distribution{
		"normal": distributions.NewNormal(m, s), "log_normal": distributions.NewLogNormal(m, s), "laplace": distributions.NewLaplace(m, s),
		"cauchy": distributions.NewCauchy(m, s), "student_t": distributions.NewStudentT(weft.From([]float64{0.25}), m, s),
	}
	for name, d := range known {
		kinds := map[string]func(*weft.Tensor) *weft.Tensor{"log_prob": d.LogProb}
		if c, ok := d.(interface {
			CDF(x *weft.Tensor) *weft.Tensor
			ICDF(p *weft.Tensor) *weft.Tensor
		}); ok {
			kinds["cdf"], kinds["icdf"] = c.CDF, c.ICDF
		}
		for kind, f := range kinds {
			c, ok := cases[name+" "+kind]
			if !ok {
				continue
			}
			delete(cases, name+" "+kind)
			for i, v := range weft.Data[float64](f(weft.From(c.X))) {
				if w := c.Want[i]; !(math.Abs(v-w) <= 4e-13*math.Abs(w)+1e-320) {
					t.Errorf("%s: %s(%v) is %v, want %v", name, kind, c.X[i], v, w)
				}
			}
		}
	}
	for name := range cases {
		t.Errorf("%s is not compared", name)
	}
}

// TestCauchyAtTheEnds: inverses of 0 and 1 are infinite in every float type, gradients there are not NaN elsewhere, and
// moments have the type of the parameters.
func TestCauchyAtTheEnds(t *testing.T) {
	for _, d := range []weft.DType{weft.Float32, weft.Float64} {
		c := distributions.NewCauchy(weft.From([]float64{1}).To(d), weft.From([]float64{3}).To(d))
		x := weft.From([]float64{0, 0.25, 0.5, 0.75, 1}).To(d)
		if got := weft.Data[float64](c.ICDF(x).To(weft.Float64)); !math.IsInf(got[0], -1) || math.Abs(got[1]+2) > 1e-5 || got[2] != 1 || math.Abs(got[3]-4) > 1e-5 || !math.IsInf(got[4], 1) {
			t.Errorf("%s: inverses are %v, want -Inf, -2, 1, 4, +Inf", d, got)
		}
		if v := c.Variance(); v.DType() != d || !math.IsInf(v.To(weft.Float64).Sum().Item(), 1) {
			t.Errorf("variance of %s is %v of type %s", d, v, v.DType())
		}
		for name, f := range map[string]func(*weft.Tensor) *weft.Tensor{"LogProb": c.LogProb, "CDF": c.CDF} {
			y := weft.From([]float64{-1e20, 1, 1.5, 1e20}).To(d).RequireGrad()
			f(y).Sum().Backward()
			for i, g := range weft.Data[float64](y.Grad().To(weft.Float64)) {
				if math.IsNaN(g) || math.IsInf(g, 0) {
					t.Errorf("%s: the gradient of %s at element %d is %v", d, name, i, g)
				}
			}
		}
		p := weft.From([]float64{0.1, 0.25, 0.5, 0.75, 0.9}).To(d).RequireGrad()
		c.ICDF(p).Sum().Backward()
		for i, g := range weft.Data[float64](p.Grad().To(weft.Float64)) {
			q := float64([]float64{0.1, 0.25, 0.5, 0.75, 0.9}[i])
			if w := 3 * math.Pi / math.Pow(math.Sin(math.Pi*q), 2); math.Abs(g-w) > 1e-5*w {
				t.Errorf("%s: the gradient of ICDF(%v) is %v, want %v", d, q, g, w)
			}
		}
	}
}
