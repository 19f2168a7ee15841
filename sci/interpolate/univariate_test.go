package interpolate

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"weft"
)

// TestUnivariateSpline compares knots, values, slopes, integrals, roots and errors with SciPy's.
func TestUnivariateSpline(t *testing.T) {
	var cases []struct {
		X, Y, W, T, At, Value, Slope, Outside, Roots []float64
		K                                            int
		S                                            *float64
		Wide                                         bool
		Residual, Integral                           float64
	}
	text, err := os.ReadFile("testdata/univariate.json")
	if err == nil {
		err = json.Unmarshal(text, &cases)
	}
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range cases {
		o := UnivariateSplineOpts{K: &c.K, S: c.S, Extrapolate: true}
		if c.W != nil {
			o.Weights = weft.From(c.W)
		}
		if c.Wide {
			o.Low, o.High = new(-0.5), new(6.5)
		}
		u := NewUnivariateSpline(weft.From(c.X), weft.From(c.Y), o)
		at := weft.From(c.At)
		roots := u.Roots()
		slices.Sort(c.Roots)
		for what, d := range map[string]float64{
			"knots":    apart(u.Knots(), weft.From(c.T)),
			"value":    apart(u.At(at), weft.From(c.Value)),
			"slope":    apart(u.Derivative(1).At(at), weft.From(c.Slope)),
			"integral": math.Abs(u.Integrate(c.At[2], c.At[15]).Item() - c.Integral),
			"outside":  apart(u.At(weft.From([]float64{-1, 7})), weft.From(c.Outside)),
			"roots":    apart(roots, weft.From(c.Roots)),
			"residual": math.Abs(u.Residual() - c.Residual),
		} {
			if !(d < 1e-8) {
				t.Errorf("case %d of degree %d, %d points: the %s is off by %g", i, c.K, len(c.X), what, d)
			}
		}
		if f := u.At(roots).Abs().Max().Item(); !(f < 1e-11) {
			t.Errorf("case %d: the value at a root is %v", i, f)
		}
	}
}

// TestUnivariateSplineTies holds that points with the same x count all, and where their spread leaves no smooth curve.
func TestUnivariateSplineTies(t *testing.T) {
	x := weft.LinspaceOf(weft.Float64, 0, 5, 40)
	y := x.Sin().Add(x.Mul(9).Cos().Mul(0.2))
	twice := func(a, b *weft.Tensor) *weft.Tensor { return weft.Stack([]*weft.Tensor{a, b}, 1).Reshape(-1) }
	both := NewUnivariateSpline(twice(x, x), twice(y.Add(0.1), y.Sub(0.1)), UnivariateSplineOpts{S: new(1.3)})
	if math.Abs(both.Residual()-1.3) > 1.3e-3 || both.Knots().Diff(0, 1).Slice(weft.Range(3, -3)).Min().Item() <= 0 {
		t.Error(both.Knots(), both.Residual())
	}
	for _, k := range []int{1, 2, 5} { // all points but two are equal
		x := weft.From([]float64{0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 3, 4, 5})
		u := NewUnivariateSpline(x, x.Mul(9).Sin(), UnivariateSplineOpts{S: new(1e-6), K: &k})
		if d := u.At(x).Sub(x.Mul(9).Sin()).Abs().Max().Item(); !(d < 1e-2) {
			t.Error(k, d, u.Knots())
		}
	}
	// The spread alone is more than S: the curve goes through the means.
	through := NewUnivariateSpline(twice(x, x), twice(y.Add(0.1), y.Sub(0.1)), UnivariateSplineOpts{S: new(0.5)})
	if d := through.At(x).Sub(y).Abs().Max().Item(); !(d < 1e-12) || math.Abs(through.Residual()-0.8) > 1e-12 {
		t.Error(d, through.Residual())
	}
}

// TestUnivariateSplineScale holds that the units of x do not change coefficients, and that the units of y and S scale them.
func TestUnivariateSplineScale(t *testing.T) {
	x := weft.LinspaceOf(weft.Float64, 1, 5, 50)
	y := x.Sin().Add(x.Mul(19).Cos().Mul(0.1))
	want := NewUnivariateSpline(x, y, UnivariateSplineOpts{S: new(0.1)})
	for _, scale := range []float64{0x1p-900, 0x1p-40, 0x1p40, 0x1p900} {
		if u := NewUnivariateSpline(x.Mul(scale), y, UnivariateSplineOpts{S: new(0.1)}); apart(u.Coeffs(), want.Coeffs()) > 1e-9 {
			t.Error("x times", scale)
		}
	}
	for _, scale := range []float64{0x1p-400, 0x1p400} {
		if u := NewUnivariateSpline(x, y.Mul(scale), UnivariateSplineOpts{S: new(0.1 * scale * scale)}); apart(u.Coeffs().Div(scale), want.Coeffs()) > 1e-12 {
			t.Error("y times", scale)
		}
	}
}

// TestRoots compares roots with those a spline was made to have: at knots, between them, twice there, and at the ends.
func TestRoots(t *testing.T) {
	knots := weft.From([]float64{0, 0, 0, 0, 1, 2, 3, 4, 4, 4, 4})
	x := weft.LinspaceOf(weft.Float64, 0, 4, 30)
	for _, want := range [][]float64{{1.25}, {0, 2, 4}, {1, 2, 3}, {0.1, 3.9}, {}} {
		y := weft.OnesOf(weft.Float64, 30)
		for _, r := range want {
			y = y.Mul(x.Sub(r))
		}
		b := MakeLSQSpline(x, y, knots, 3)
		got := b.Roots()
		if got.Size() != len(want) || got.Size() > 0 && got.Sub(weft.From(want)).Abs().Max().Item() > 1e-13 {
			t.Errorf("%v, not %v", got, want)
		}
	}
	touching := NewBSpline(weft.From([]float64{0, 0, 0, 1, 1, 1}), weft.From([]float64{0.25, -0.25, 0.25}), 2)
	jump := NewBSpline(weft.From([]float64{0, 0, 1, 1, 2, 2}), weft.From([]float64{1, 1, -1, -1}), 1)
	zero := NewBSpline(weft.From([]float64{0, 0, 1, 2, 2}), weft.From([]float64{0, 0, 1e300}), 1)
	if a, b, c := touching.Roots().String(), jump.Roots().Size(), zero.Roots().String(); a != "[0.5]" || b != 0 || c != "[1.]" {
		t.Error(a, b, c)
	}
}

// TestUnivariateMistakes compares what is said of bad arguments.
func TestUnivariateMistakes(t *testing.T) {
	x, y := weft.LinspaceOf(weft.Float64, 0, 1, 5), weft.Ones(5)
	nan := weft.From([]float64{0, 1, math.NaN(), 3, 4})
	make := func(o UnivariateSplineOpts) { NewUnivariateSpline(x, y, o) }
	const name = "interpolate.newunivariatespline: "
	for want, f := range map[string]func(){
		name + "x: is nil":                                      func() { NewUnivariateSpline(nil, y) },
		name + "x: has 4 at 1":                                  func() { NewUnivariateSpline(weft.From([]float64{5, 4, 6, 7, 8}), y) },
		name + "x: has 0 different elements":                    func() { NewUnivariateSpline(weft.Zeros(0), weft.Zeros(0)) },
		name + "x: has 1 different elements":                    func() { NewUnivariateSpline(y, y) },
		name + "x: goes from -1e+308 to 1e+308":                 func() { NewUnivariateSpline(x.Sub(0.5).Mul(2e308/2).Mul(2), y) },
		name + "x: goes from 0 to 1e-310":                       func() { NewUnivariateSpline(x.Mul(1e-310), y) },
		"interpolate.makesmoothingspline: x: goes from -1e+308": func() { MakeSmoothingSpline(x.Sub(0.5).Mul(2e308/2).Mul(2), y) },
		"interpolate.makesmoothingspline: x: goes from 0 to 1e": func() { MakeSmoothingSpline(x.Mul(1e-310), y) },
		name + "y: has 6 elements, x 5":                         func() { NewUnivariateSpline(x, weft.Ones(6)) },
		name + "y: has NaN at 2":                                func() { NewUnivariateSpline(x, nan) },
		name + "y: has numbers too large":                       func() { NewUnivariateSpline(x, x.Mul(1e170)) },
		name + "Weights: has 0 at 0":                            func() { make(UnivariateSplineOpts{Weights: x}) },
		name + "Weights: has 2 elements":                        func() { make(UnivariateSplineOpts{Weights: weft.Ones(2)}) },
		name + "K: is 6":                                        func() { make(UnivariateSplineOpts{K: new(6)}) },
		name + "S: is NaN":                                      func() { make(UnivariateSplineOpts{S: new(math.NaN())}) },
		name + "S: is +Inf":                                     func() { make(UnivariateSplineOpts{S: new(math.Inf(1))}) },
		name + "Low: is 0.5":                                    func() { make(UnivariateSplineOpts{Low: new(0.5)}) },
		name + "High: is NaN":                                   func() { make(UnivariateSplineOpts{High: new(math.NaN())}) },
		"interpolate.bspline.roots: b: has value":               func() { NewBSpline(x, weft.Ones(3, 2), 1).Roots() },
	} {
		if err := weft.Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, not %s", err, want)
		}
	}
}

func ExampleNewUnivariateSpline() {
	x := weft.LinspaceOf(weft.Float64, 0, 2*math.Pi, 50)
	y := x.Sin().Add(x.Mul(40).Sin().Mul(0.05)) // a sine, and noise with a sum of squares of 0.06
	u := NewUnivariateSpline(x, y, UnivariateSplineOpts{S: new(0.065)})
	fmt.Println(u.Knots().Size()-8, "knots between the ends")
	fmt.Printf("%.1f %.1f\n", u.Roots().At(1).Item(), u.Integrate(0, math.Pi).Item())
	// Output:
	// 3 knots between the ends
	// 3.1 2.0
}

func ExampleBSpline_Roots() {
	b := MakeInterpSpline(weft.From([]float64{0, 1, 2, 3}), weft.From([]float64{-1, 1, 1, -1}))
	fmt.Println(b.Roots().Mul(1000).Round().Div(1000))
	// Output: [0.382 2.618]
}
