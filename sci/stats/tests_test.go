package stats

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"weft"
	"weft/special"
)

// scipy is what testdata/make.py wrote.
var scipy = func() (s struct {
	X, Y, Z []float64
	Results map[string]map[string][2]float64
}) {
	text, err := os.ReadFile("testdata/scipy.json")
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		panic(err)
	}
	return s
}()

// TestAsSciPy compares statistics and p-values of all tests and alternatives with SciPy's.
func TestAsSciPy(t *testing.T) {
	x, y, z := weft.From(scipy.X), weft.From(scipy.Y), weft.From(scipy.Z)
	tenths := func(x *weft.Tensor) *weft.Tensor { return x.Mul(10).Round().Div(10) }
	whole := func(x *weft.Tensor) *weft.Tensor { return x.Mul(10).Round() }
	check := func(of, name string, r Result, tol float64) {
		t.Helper()
		want, ok := scipy.Results[of][name]
		if !ok || !(math.Abs(r.Statistic-want[0]) <= 1e-12*(1+math.Abs(want[0]))) || !(math.Abs(r.PValue-want[1]) <= tol*want[1]) {
			t.Errorf("%s, %s: %v, SciPy's %v", name, of, r, want)
		}
	}
	for _, a := range []Alternative{TwoSided, Less, Greater} {
		o, of := TestOpts{Alternative: a}, string(a)
		check(of, "TTest1Samp", TTest1Samp(x, 0.1, o), 1e-11)
		check(of, "TTestInd", TTestInd(x, y, o), 1e-11)
		check(of, "Welch", TTestInd(x, y, TestOpts{Alternative: a, Unequal: true}), 1e-11)
		check(of, "TTestRel", TTestRel(x, z, o), 1e-11)
		check(of, "PearsonR", PearsonR(x, z, o), 1e-10)
		check(of, "SpearmanR", SpearmanR(x, z, o), 1e-10)
		check(of, "Wilcoxon", Wilcoxon(whole(x), whole(z), o), 1e-12)
		check(of, "WilcoxonTies", Wilcoxon(whole(x).Slice(weft.Range(0, 12)), whole(z).Slice(weft.Range(0, 12)), o), 1e-12)
		check(of, "WilcoxonExact", Wilcoxon(y, nil, o), 1e-12)
		check(of, "KS2Samp", KS2Samp(x, y, o), 1e-12)
		check(of, "KS2SampFew", KS2Samp(y.Slice(weft.Range(0, 5)), x.Slice(weft.Range(0, 7)), o), 1e-12)
		check(of, "KS2SampSame", KS2Samp(x.Round(), x.Slice(weft.Range(0, 20)).Round(), o), 1e-12)
		check(of, "KS2SampFar", KS2Samp(weft.ArangeOf(weft.Float64, 300).Mul(1.5), weft.ArangeOf(weft.Float64, 217).Mul(0.9), o), 1e-10)
		check(of, "KS2SampLarge", KS2Samp(weft.ArangeOf(weft.Float64, 10500).Pow(1.01), weft.ArangeOf(weft.Float64, 40).Square().Mul(6.9), o), 1e-9)
		check(of, "Fisher", FisherExact(weft.From([][]int64{{8, 5}, {2, 13}}), o), 1e-12)
		check(of, "FisherMany", FisherExact(weft.From([][]int64{{120, 98}, {93, 141}}), o), 1e-11)
		check(of, "FisherTies", FisherExact(weft.From([][]int64{{3, 1}, {1, 3}}), o), 1e-12)
		if r, want := FisherExact(weft.From([][]int64{{5, 0}, {2, 9}}), o), scipy.Results[of]["FisherZero"]; !math.IsInf(r.Statistic, 1) || math.Abs(r.PValue-want[1]) > 1e-12 {
			t.Error(of, r, want)
		}
		alternating := weft.ArangeOf(weft.Float64, 30).Mul(weft.ArangeOf(weft.Float64, 30).Mul(math.Pi).Cos().Round()).Mul(0.1)
		check(of, "Kendall", KendallTau(x.Slice(weft.Range(0, 30)), x.Slice(weft.Range(0, 30)).Add(alternating), o), 1e-11)
		check(of, "KendallTies", KendallTau(x.Round(), z.Round(), o), 1e-11)
		near39 := weft.ArangeOf(weft.Float64, 39)
		check(of, "KendallMany", KendallTau(x.Slice(weft.Range(0, 39)).Add(near39.Mul(1e-9)), y.IndexSelect(0, near39.Sub(near39.Div(31).Floor().Mul(31)).To(weft.Int64)).Add(near39.Mul(1e-9)), o), 1e-11)
		ordered := weft.ArangeOf(weft.Float64, 60)
		check(of, "KendallOrdered", KendallTau(ordered, weft.Cat([]*weft.Tensor{weft.From([]float64{1, 0}), ordered.Slice(weft.Range(2, 60))}, 0), o), 1e-11)
		check(of, "MannWhitneyExact", MannWhitneyU(x.Slice(weft.Range(0, 7)), y, o), 1e-12)
		check(of, "MannWhitneyOne", MannWhitneyU(y, weft.From([]float64{0.1234}), o), 1e-12)
		check(of, "MannWhitneyFew", MannWhitneyU(weft.From([]float64{5, 3.5}), weft.From([]float64{1, 4, 2}), o), 1e-12)
		check(of, "MannWhitneyU", MannWhitneyU(tenths(x), tenths(y), o), 1e-12)
	}
	counts := weft.From([]int64{18, 22, 30, 25, 9, 16})
	check("other", "ChiSquare", ChiSquare(counts, nil), 1e-12)
	check("other", "ChiSquareExpected", ChiSquare(counts, weft.From([]float64{20, 20, 30, 20, 15, 15})), 1e-12)
	check("other", "Chi2Contingency", Chi2Contingency(weft.From([][]int64{{10, 20, 30}, {6, 19, 17}})), 1e-12)
	check("other", "Yates", Chi2Contingency(weft.From([][]int64{{8, 5}, {2, 13}})), 1e-12)
	check("other", "FOneway", FOneway(x, y, z), 1e-11)
	check("other", "Kruskal", Kruskal(x, y, z), 1e-11)
	check("other", "KruskalTwo", Kruskal(x, y), 1e-11)
	samples := []*weft.Tensor{x, y, z}
	check("other", "Levene", Levene(samples), 1e-11)
	check("other", "LeveneMean", Levene(samples[:2], LeveneOpts{Center: Mean}), 1e-11)
	check("other", "LeveneTrimmed", Levene(samples, LeveneOpts{Center: Trimmed, ProportionToCut: 0.1}), 1e-11)
	check("other", "Bartlett", Bartlett(samples...), 1e-11)
	// SciPy's W comes from a quantile of less precision.
	for name, s := range map[string]*weft.Tensor{"Shapiro": x, "ShapiroSkew": x.Div(2).Exp(), "Shapiro3": x.Slice(weft.Range(0, 3)), "Shapiro5": x.Slice(weft.Range(0, 5)), "Shapiro11": y.Slice(weft.Range(0, 11))} {
		if r, want := Shapiro(s), scipy.Results["other"][name]; math.Abs(r.Statistic-want[0]) > 1e-7 || math.Abs(r.PValue-want[1]) > 2e-6*want[1] {
			t.Error(name, r, want)
		}
	}
	check("other", "KS1Samp", KS1Samp(x, special.Ndtr), 1e-9)
	check("other", "KSFar", KS1Samp(x.Add(0.5), special.Ndtr), 1e-9)
	uniform := func(x *weft.Tensor) *weft.Tensor { return x.Clamp(0, 1) }
	check("other", "KSBig", KS1Samp(weft.ArangeOf(weft.Float64, 3000).Add(0.2).Div(3000).Mul(0.98), uniform), 2e-2)
}

// TestNaN holds that NaN in a sample gives NaN.
func TestNaN(t *testing.T) {
	x, y := weft.From([]float64{1, 2, math.NaN(), 4}), weft.From([]float64{2, 1, 5, 7})
	for i, r := range []Result{TTest1Samp(x, 0), TTestRel(x, y), TTestInd(x, y), PearsonR(x, y), SpearmanR(x, y), MannWhitneyU(x, y), KS2Samp(x, y), FOneway(x, y), Kruskal(x, y), Wilcoxon(x, y), Shapiro(x), KS1Samp(x, special.Ndtr), ChiSquare(x, nil), Levene([]*weft.Tensor{x, y}), Bartlett(x, y), KendallTau(x, y)} {
		if !math.IsNaN(r.Statistic) || !math.IsNaN(r.PValue) {
			t.Errorf("%d: %v", i, r)
		}
	}
}

// TestExtremes compares great counts and samples without information with SciPy 1.17.1.
func TestExtremes(t *testing.T) {
	great := weft.From([][]int64{{100000, 200000}, {150000, 290000}})
	apart := weft.From([][]int64{{1e6, 2e3}, {1e3, 5e6}})
	same := weft.From([]float64{1, 1, 1})
	for i, c := range []struct {
		r    Result
		want float64
	}{
		{FisherExact(great), 1.326774049660691e-11},
		{FisherExact(great, TestOpts{Alternative: Greater}), 0.999999999993555},
		{FisherExact(weft.From([][]int64{{1e9, 2e9}, {1e9, 5e9}})), 0},
		{FisherExact(apart, TestOpts{Alternative: Less}), 1},
		{Wilcoxon(same, same), 1},
		{Shapiro(weft.From([]float64{1, 2, 3})), 1},
	} {
		if math.Abs(c.r.PValue-c.want) > 1e-8*c.want || c.r.PValue > 1 {
			t.Errorf("%d: %v, not %v", i, c.r, c.want)
		}
	}
}

// TestMistakes compares what is said of bad arguments.
func TestMistakes(t *testing.T) {
	x := weft.From([]float64{1, 2, 3})
	for want, f := range map[string]func(){
		"stats.ttest1samp: x: is nil":                                    func() { TTest1Samp(nil, 0) },
		"stats.ttest1samp: x: has 1 elements: want 2 or more":            func() { TTest1Samp(weft.Ones(1), 0) },
		"stats.ttestrel: y: has 2 elements, x 3":                         func() { TTestRel(x, weft.Ones(2)) },
		"stats.ttestind: Alternative: \"no\" is unknown: want two-sided": func() { TTestInd(x, x, TestOpts{Alternative: "no"}) },
		"stats.pearsonr: x: is float64 of shape [1 3]: want real":        func() { PearsonR(x.Reshape(1, 3), x) },
		"stats.chisquare: expected: has another sum than observed":       func() { ChiSquare(x, x.Add(1)) },
		"stats.chi2contingency: table: has a row or column":              func() { Chi2Contingency(weft.Zeros(2, 2)) },
		"stats.foneway: samples: are 1: want 2":                          func() { FOneway(x) },
		"stats.foneway: samples: have one element each":                  func() { FOneway(weft.Ones(1), weft.Ones(1)) },
		"stats.levene: samples: are 0: want 2":                           func() { Levene(nil) },
		"stats.levene: Center: \"no\" is unknown: want median":           func() { Levene([]*weft.Tensor{x, x}, LeveneOpts{Center: "no"}) },
		"stats.levene: Center: \"mode\" is unknown: want median":         func() { Levene([]*weft.Tensor{weft.From([]float64{1, math.NaN()}), x}, LeveneOpts{Center: "mode"}) },
		"stats.levene: ProportionToCut: is 0.5":                          func() { Levene([]*weft.Tensor{x, x}, LeveneOpts{ProportionToCut: 0.5}) },
		"stats.bartlett: sample 1: has 1 elements":                       func() { Bartlett(x, weft.Ones(1)) },
		"stats.kendalltau: y: has 2 elements, x 3":                       func() { KendallTau(x, weft.Ones(2)) },
		"stats.kruskal: sample 1: is nil":                                func() { Kruskal(x, nil) },
		"stats.wilcoxon: y: has 2 elements, x 3":                         func() { Wilcoxon(x, weft.Ones(2)) },
		"stats.shapiro: x: has 2 elements":                               func() { Shapiro(weft.Ones(2)) },
		"stats.chi2contingency: table: has -1: want counts":              func() { Chi2Contingency(weft.From([][]float64{{-1, 5}, {3, 5}})) },
		"stats.chi2contingency: table: has a row or column of zero":      func() { Chi2Contingency(weft.Zeros(2, 2)) },
		"stats.chisquare: expected: has another sum":                     func() { ChiSquare(weft.From([]float64{1, math.Inf(1)}), weft.From([]float64{1, 2})) },
		"stats.fisherexact: table: has 0.5: want counts":                 func() { FisherExact(weft.From([][]float64{{1, 0.5}, {1, 1}})) },
		"stats.fisherexact: table: is float64 of shape [3]":              func() { FisherExact(x) },
		"stats.ks2samp: Alternative: \"no\" is unknown":                  func() { KS2Samp(x, x, TestOpts{Alternative: "no"}) },
		"stats.ks1samp: cdf: is nil":                                     func() { KS1Samp(x, nil) },
		"stats.ks1samp: cdf: does not return a number for each arg":      func() { KS1Samp(x, func(x *weft.Tensor) *weft.Tensor { return x.Sum() }) },
	} {
		if err := weft.Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, not %s", err, want)
		}
	}
}

var a, b = weft.From([]float64{5.1, 4.9, 6.2, 5.8, 6.0}), weft.From([]float64{4.1, 5.0, 4.4, 4.8, 5.2})

func ExampleTTestInd() {
	r := TTestInd(a, b, TestOpts{Unequal: true})
	fmt.Printf("t %.3f, p %.3f\n", r.Statistic, r.PValue)
	// Output: t 2.777, p 0.025
}

func ExampleTTest1Samp() {
	fmt.Printf("%.3f\n", TTest1Samp(a, 5).PValue)
	// Output: 0.078
}

func ExampleTTestRel() {
	fmt.Printf("%.3f\n", TTestRel(a, b, TestOpts{Alternative: Greater}).PValue)
	// Output: 0.021
}

func ExampleMannWhitneyU() {
	fmt.Println(MannWhitneyU(a, b).Statistic)
	// Output: 22
}

func ExamplePearsonR() {
	fmt.Printf("%.3f\n", PearsonR(a, b).Statistic)
	// Output: 0.127
}

func ExampleSpearmanR() {
	fmt.Printf("%.1f\n", SpearmanR(a, b).Statistic)
	// Output: 0.0
}

func ExampleChiSquare() {
	r := ChiSquare(weft.From([]int64{16, 18, 16, 14, 12, 12}), nil)
	fmt.Printf("%.1f %.3f %v\n", r.Statistic, r.PValue, r.DF)
	// Output: 2.0 0.849 5
}

func ExampleChi2Contingency() {
	fmt.Printf("%.4f\n", Chi2Contingency(weft.From([][]int64{{10, 20}, {20, 10}})).PValue)
	// Output: 0.0201
}

func ExampleKS1Samp() {
	fmt.Printf("%.1f\n", KS1Samp(weft.From([]float64{0.1, 0.4, 0.7}), func(x *weft.Tensor) *weft.Tensor { return x }).Statistic)
	// Output: 0.3
}

func ExampleResult() {
	fmt.Println(TTestInd(a, b))
	// Output: Statistic: 2.77746, PValue: 0.0240185, DF: 8
}

func ExampleKS2Samp() {
	fmt.Printf("%.1f\n", KS2Samp(a, b).Statistic)
	// Output: 0.6
}

func ExampleFOneway() {
	r := FOneway(a, b, weft.From([]float64{5, 5.5, 6, 5.2}))
	fmt.Printf("F %.2f, p %.3f, %v and %v degrees of freedom\n", r.Statistic, r.PValue, r.DF, r.DF2)
	// Output: F 4.62, p 0.035, 2 and 11 degrees of freedom
}

func ExampleKruskal() {
	fmt.Printf("%.3f\n", Kruskal(a, b).PValue)
	// Output: 0.047
}

func ExampleKendallTau() {
	r := KendallTau(weft.From([]float64{12, 2, 1, 12, 2}), weft.From([]float64{1, 4, 7, 1, 0}))
	fmt.Printf("tau %.3f, p %.3f\n", r.Statistic, r.PValue)
	// Output: tau -0.471, p 0.283
}

func ExampleLevene() {
	r := Levene([]*weft.Tensor{a, b.Mul(4)})
	fmt.Printf("%.2f %.3f\n", r.Statistic, r.PValue)
	// Output: 3.47 0.100
}

func ExampleBartlett() {
	r := Bartlett(a, b.Mul(4))
	fmt.Printf("%.2f %.3f\n", r.Statistic, r.PValue)
	// Output: 3.89 0.049
}

func ExampleWilcoxon() {
	fmt.Printf("%.4f\n", Wilcoxon(a, b).PValue)
	// Output: 0.1250
}

func ExampleShapiro() {
	r := Shapiro(weft.From([]float64{148, 154, 158, 160, 161, 162, 166, 170, 182, 195, 236}))
	fmt.Printf("W %.3f, p %.4f\n", r.Statistic, r.PValue)
	// Output: W 0.789, p 0.0067
}

func ExampleFisherExact() {
	r := FisherExact(weft.From([][]int64{{6, 2}, {1, 4}}))
	fmt.Printf("%.0f %.4f\n", r.Statistic, r.PValue)
	// Output: 12 0.1026
}

// TestKS2SampLarge compares exact p-values with the formula of two samples of one size (Gnedenko, Korolyuk, 1951): with
// h = n*d and q(k) = (2n)! over (n-k)!(n+k)!, one side has q(h)/q(0) and two sides twice the sum of (-1)^(j+1)
// q(j*h)/q(0).
func TestKS2SampLarge(t *testing.T) {
	const n, shift = 2000, 60
	x := weft.ArangeOf(weft.Float64, n)
	y := x.Sub(shift + 0.5)
	share := func(k float64) float64 {
		lg := func(x float64) float64 { v, _ := math.Lgamma(x + 1); return v }
		return math.Exp(2*lg(n) - lg(n-k) - lg(n+k))
	}
	h := float64(shift + 1)
	two := 2 * (share(h) - share(2*h) + share(3*h) - share(4*h))
	for _, c := range []struct {
		a    Alternative
		want float64
	}{{TwoSided, two}, {Less, share(h)}, {Greater, 1}} {
		if r := KS2Samp(x, y, TestOpts{Alternative: c.a}); !(math.Abs(r.PValue-c.want) < 1e-9*c.want) {
			t.Errorf("%s: %v, want %v", c.a, r, c.want)
		}
	}
}

// Scaled samples have the same degrees of freedom, also where fourth powers of their deviations vanish.
func TestWelchOfTinySamples(t *testing.T) {
	x, y := weft.FromSlice([]float64{0.54, 1.24}, 2), weft.FromSlice([]float64{-1.56, -2.56, 1.08, -0.47}, 4)
	o := TestOpts{Unequal: true}
	want := TTestInd(x, y, o)
	for _, scale := range []float64{0x1p-300, 0x1p300} {
		if got := TTestInd(x.Mul(scale), y.Mul(scale), o); math.Abs(got.DF-want.DF) > 1e-12 || math.Abs(got.PValue-want.PValue) > 1e-12 {
			t.Errorf("scaled by %g: %v, want %v", scale, got, want)
		}
	}
}
