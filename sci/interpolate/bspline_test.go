package interpolate

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"weft"
)

// bsplines is what testdata/bspline.py wrote.
var bsplines = func() (s struct {
	X, At, Out, XS, YS, W, T, LSQ, Weighted, Design []float64
	Y, Circular                                     [][]float64
	Cases                                           map[string]struct {
		T, C, At, Derivative, Antiderivative, Integral, Back, Outside any
		K, Order                                                      int
	}
}) {
	text, err := os.ReadFile("testdata/bspline.json")
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		panic(err)
	}
	return s
}()

// tensorOf returns nested lists of JSON as a tensor.
func tensorOf(x any) *weft.Tensor {
	list, ok := x.([]any)
	if !ok {
		return weft.ScalarOf(weft.Float64, x.(float64))
	}
	parts := make([]*weft.Tensor, len(list))
	for i, v := range list {
		parts[i] = tensorOf(v)
	}
	return weft.Stack(parts, 0)
}

func apart(a, b *weft.Tensor) float64 {
	if fmt.Sprint(a.Shape()) != fmt.Sprint(b.Shape()) {
		return math.Inf(1)
	}
	if d := a.Sub(b).Abs().Max().Item(); !math.IsNaN(d) {
		return d / (1 + b.Abs().Max().Item())
	}
	return math.Inf(1)
}

// TestBSpline compares values, derivatives, antiderivatives and integrals with SciPy's, inside and outside of the knots.
func TestBSpline(t *testing.T) {
	at, out := weft.From(bsplines.At), weft.From(bsplines.Out)
	for name, want := range bsplines.Cases {
		o := BSplineOpts{Periodic: strings.HasPrefix(name, "periodic")}
		o.Extrapolate = !o.Periodic
		b := NewBSpline(tensorOf(want.T), tensorOf(want.C), want.K, o)
		for what, d := range map[string]float64{
			"value":          apart(b.At(at), tensorOf(want.At)),
			"derivative":     apart(b.Derivative(want.Order).At(at), tensorOf(want.Derivative)),
			"antiderivative": apart(b.Antiderivative(2).At(at), tensorOf(want.Antiderivative)),
			"integral":       apart(b.Integrate(0.3, 5.1), tensorOf(want.Integral)),
			"integral back":  apart(b.Integrate(7.5, -2.2), tensorOf(want.Back)),
			"outside":        apart(b.At(out), tensorOf(want.Outside)),
		} {
			if name == "k0" && (what == "antiderivative" || what == "integral back") {
				continue // SciPy's is 0 from the last point on
			}
			if !(d < 1e-12) {
				t.Errorf("%s: the %s is off by %g", name, what, d)
			}
		}
	}
}

// TestMakeInterpSpline compares knots and coefficients with SciPy's.
func TestMakeInterpSpline(t *testing.T) {
	x, y := weft.From(bsplines.X), weft.From(bsplines.Y)
	for name, want := range bsplines.Cases {
		o := InterpSplineOpts{K: &want.K}
		y := y
		switch {
		case name == "double":
			continue
		case name == "natural":
			o.Kind = Natural
		case name == "clamped":
			o.Kind = Clamped
		case name == "knots":
			o.T = tensorOf(want.T)
		case name == "ends":
			o.Start = []EndCondition{{1, weft.From([]float64{1, 2})}, {2, weft.From([]float64{0, -1})}}
			o.End = []EndCondition{{1, weft.From([]float64{0.5, 0})}, {3, weft.From([]float64{0, 3})}}
		case strings.HasPrefix(name, "periodic"):
			o.Kind, y = Periodic, weft.From(bsplines.Circular)
		}
		b := MakeInterpSpline(x, y, o)
		if d, e := apart(b.Knots(), tensorOf(want.T)), apart(b.Coeffs(), tensorOf(want.C)); !(d < 1e-14 && e < 1e-12) || b.Degree() != want.K {
			t.Errorf("%s: knots are off by %g, coefficients by %g", name, d, e)
		}
	}
}

// TestMakeLSQSpline compares coefficients and a row of the design matrix with SciPy's.
func TestMakeLSQSpline(t *testing.T) {
	x, y, knots, w := weft.From(bsplines.XS), weft.From(bsplines.YS), weft.From(bsplines.T), weft.From(bsplines.W)
	if d := apart(MakeLSQSpline(x, y, knots, 3).Coeffs(), weft.From(bsplines.LSQ)); !(d < 1e-12) {
		t.Error(d)
	}
	if d := apart(MakeLSQSpline(x, y, knots, 3, LSQSplineOpts{Weights: w}).Coeffs(), weft.From(bsplines.Weighted)); !(d < 1e-12) {
		t.Error(d)
	}
	// Large weights of a few points, which square the condition: the function is one of the spline's own.
	c := weft.LinspaceOf(weft.Float64, -1, 1, 8)
	exact := NewBSpline(knots, c, 3)
	heavy := weft.Where(w.Gt(1), w.Mul(1e5), w)
	if d := apart(MakeLSQSpline(x, exact.At(x), knots, 3, LSQSplineOpts{Weights: heavy}).Coeffs(), c); !(d < 1e-9) {
		t.Error(d)
	}
	if d := apart(DesignMatrix(weft.From(bsplines.At), tensorOf(bsplines.Cases["k3"].T), 3).ToDense().At(7), weft.From(bsplines.Design)); !(d < 1e-14) {
		t.Error(d)
	}
}

// TestBSplineGradient compares gradients with derivatives and differences: in x, in coefficients and in values and slopes.
func TestBSplineGradient(t *testing.T) {
	x, y := weft.From(bsplines.X), weft.From(bsplines.Y).Slice(weft.All, weft.Range(0, 1)).Reshape(-1)
	at := weft.From([]float64{0.3, 1.5, 5}).RequireGrad(true)
	b := MakeInterpSpline(x, y)
	if d := apart(weft.Grad(b.At(at).Sum(), []*weft.Tensor{at})[0], b.Derivative(1).At(at.Detach())); d > 1e-13 {
		t.Error(d)
	}
	slope := weft.ScalarOf(weft.Float64, 0.5)
	err := weft.GradCheck(func(in ...*weft.Tensor) *weft.Tensor {
		b := MakeInterpSpline(x, in[1], InterpSplineOpts{Start: []EndCondition{{Order: 1, Value: in[2]}}, End: []EndCondition{{Order: 2}}})
		return weft.Cat([]*weft.Tensor{b.At(in[0]), b.Derivative(2).At(in[0]), b.Integrate(0.5, 3).Reshape(1)}, 0)
	}, []*weft.Tensor{at, y, slope})
	if err != nil {
		t.Error(err)
	}
	err = weft.GradCheck(func(in ...*weft.Tensor) *weft.Tensor {
		return MakeLSQSpline(weft.From(bsplines.X), in[0], weft.From([]float64{0, 0, 0, 3, 6, 6, 6}), 2).At(at.Detach())
	}, []*weft.Tensor{y})
	if err != nil {
		t.Error(err)
	}
}

// TestBSplineGradientOutside holds that places outside, whose values are NaN, leave the gradients of coefficients and
// other places finite.
func TestBSplineGradientOutside(t *testing.T) {
	knots := weft.From([]float64{0, 0, 0, 1, 2, 2, 2})
	c := weft.From([]float64{1, -1, 2, 0.5}).RequireGrad()
	for _, o := range []BSplineOpts{{}, {Extrapolate: true}, {Periodic: true}} {
		x := weft.From([]float64{0.5, math.NaN(), math.Inf(1), math.Inf(-1), 1e300}).RequireGrad()
		if !o.Extrapolate { // which has values far outside
			x = weft.Cat([]*weft.Tensor{x.Detach(), weft.From([]float64{-1e300, -3})}, 0).RequireGrad()
		} else {
			x = x.Detach().Slice(weft.Range(0, 2)).RequireGrad()
		}
		b := NewBSpline(knots, c, 2, o)
		one := weft.From([]float64{0.5}).RequireGrad()
		got := weft.Grad(b.At(x).At(0), []*weft.Tensor{c, x})
		want := weft.Grad(b.At(one).At(0), []*weft.Tensor{c, one})
		if d := apart(got[0], want[0]); !(d == 0) {
			t.Errorf("%+v: %v", o, got[0])
		}
		if v := got[1]; v.At(0).Item() != want[1].Item() || v.IsFinite().All().Item() == 0 {
			t.Errorf("%+v: %v", o, v)
		}
	}
}

// TestBSplineOutside holds what is outside of the knots without options, and empty and scalar arguments.
func TestBSplineOutside(t *testing.T) {
	b := MakeInterpSpline(weft.From(bsplines.X), weft.From(bsplines.Y))
	if v := b.At(weft.From([]float64{-0.1, 6.1, math.NaN(), math.Inf(1)})); v.IsNaN().Sum().Item() != 8 || fmt.Sprint(v.Shape()) != "[4 2]" {
		t.Error(v)
	}
	if d := apart(b.Integrate(-5, 50), b.Integrate(0, 6)); d != 0 {
		t.Error(d)
	}
	if v := b.At(weft.Zeros(0, 3)); fmt.Sprint(v.Shape()) != "[0 3 2]" {
		t.Error(v)
	}
	if v := b.At(weft.Scalar(1)); fmt.Sprint(v.Shape()) != "[2]" {
		t.Error(v)
	}
	if v := b.Antiderivative(2).Derivative(2).Coeffs(); apart(v, b.Coeffs()) > 1e-12 {
		t.Error(v)
	}
}

// TestBSplineMistakes compares what is said of bad arguments.
func TestBSplineMistakes(t *testing.T) {
	x, knots := weft.ArangeOf(weft.Float64, 6), weft.From([]float64{0, 0, 1, 2, 2})
	b := NewBSpline(knots, weft.Ones(3), 1)
	for want, f := range map[string]func(){
		"interpolate.newbspline: t: is nil":                             func() { NewBSpline(nil, x, 1) },
		"interpolate.newbspline: t: has 1 at 2: want finite":            func() { NewBSpline(weft.From([]float64{0, 2, 1, 3}), x, 1) },
		"interpolate.newbspline: t: has 3 elements: want 4":             func() { NewBSpline(weft.Ones(3), x, 1) },
		"interpolate.newbspline: t: has 1 at 1 and at 2: want two":      func() { NewBSpline(weft.Ones(4), x, 1) },
		"interpolate.newbspline: k: is -1: want a degree":               func() { NewBSpline(knots, x, -1) },
		"interpolate.newbspline: c: is float32 of shape [2]":            func() { NewBSpline(knots, weft.Ones(2), 1) },
		"interpolate.newbspline: Extrapolate: is set with Periodic":     func() { NewBSpline(knots, x, 1, BSplineOpts{Extrapolate: true, Periodic: true}) },
		"interpolate.bspline.at: x: is nil":                             func() { b.At(nil) },
		"interpolate.bspline.derivative: order: is 2: want 0":           func() { b.Derivative(2) },
		"interpolate.bspline.derivative: order: is 1: the spline jumps": func() { NewBSpline(weft.From([]float64{0, 0, 1, 1, 2, 2}), weft.Ones(4), 1).Derivative(1) },
		"interpolate.bspline.antiderivative: order: is -1":              func() { b.Antiderivative(-1) },
		"interpolate.bspline.integrate: high: is NaN":                   func() { b.Integrate(0, math.NaN()) },
		"interpolate.makeinterpspline: y: is float32 of shape [5]":      func() { MakeInterpSpline(x, weft.Ones(5)) },
		"interpolate.makeinterpspline: x: has 3 elements: want 4":       func() { MakeInterpSpline(x.Slice(weft.Range(0, 3)), weft.Ones(3)) },
		"interpolate.makeinterpspline: y: has numbers that are not":     func() { MakeInterpSpline(x, x.Mul(math.Inf(1))) },
		"interpolate.makeinterpspline: Kind: \"no\" is unknown":         func() { MakeInterpSpline(x, x, InterpSplineOpts{Kind: "no"}) },
		"interpolate.makeinterpspline: y: has different values at":      func() { MakeInterpSpline(x, x, InterpSplineOpts{Kind: Periodic}) },
		"interpolate.makeinterpspline: Kind: is given with Start":       func() { MakeInterpSpline(x, x, InterpSplineOpts{Kind: Natural, Start: []EndCondition{{Order: 1}}}) },
		"interpolate.makeinterpspline: End: has order 4":                func() { MakeInterpSpline(x, x, InterpSplineOpts{End: []EndCondition{{Order: 4}}}) },
		"interpolate.makeinterpspline: T: has 10 knots, for 6": func() {
			MakeInterpSpline(x, x, InterpSplineOpts{T: weft.ArangeOf(weft.Float64, 10), Start: []EndCondition{{Order: 1}}})
		},
		"interpolate.makeinterpspline: Start[0].Value: has shape [2]": func() {
			MakeInterpSpline(x, x, InterpSplineOpts{Start: []EndCondition{{1, weft.Ones(2)}}, End: []EndCondition{{Order: 1}}})
		},
		"interpolate.makeinterpspline: x: does not determine": func() {
			MakeInterpSpline(x, x, InterpSplineOpts{K: new(1), T: weft.From([]float64{0, 0, 0.1, 0.2, 0.3, 0.4, 5, 5})})
		},
		"interpolate.makeinterpspline: x: has 5 at 5: want numbers from 0": func() {
			MakeInterpSpline(x, x, InterpSplineOpts{K: new(1), T: weft.From([]float64{0, 0, 1, 2, 3, 4, 4.5, 4.5})})
		},
		"interpolate.makelsqspline: t: has no element of x of its own": func() { MakeLSQSpline(x, x, weft.From([]float64{0, 0, 0.1, 0.2, 5, 5}), 1) },
		"interpolate.makelsqspline: Weights: has 0 at 0": func() {
			MakeLSQSpline(x, x, weft.From([]float64{0, 0, 5, 5}), 1, LSQSplineOpts{Weights: weft.Zeros(6)})
		},
		"interpolate.makelsqspline: x: has 0 at 1: want numbers that do":  func() { MakeLSQSpline(weft.From([]float64{1, 0}), weft.Ones(2), weft.From([]float64{0, 0, 5, 5}), 1) },
		"interpolate.designmatrix: x: has 4 at 4: want numbers from 0 to": func() { DesignMatrix(x, weft.From([]float64{0, 0, 3, 3}), 1) },
	} {
		if err := weft.Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, not %s", err, want)
		}
	}
}

func ExampleBSpline() {
	b := NewBSpline(weft.From([]float64{0, 0, 0, 1, 2, 2, 2}), weft.From([]float64{0, 1, 1, 0}), 2)
	fmt.Println(b.At(weft.From([]float64{0, 0.5, 1, 2})), b.Degree())
	fmt.Println(b.Derivative(1).Coeffs(), b.Antiderivative(1).Knots())
	fmt.Printf("%.4f\n", b.Integrate(0, 2).Item())
	// Output:
	// [0.   0.75 1.   0.  ] 2
	// [ 2.  0. -2.] [0. 0. 0. 0. 1. 2. 2. 2. 2.]
	// 1.3333
}

func ExampleMakeInterpSpline() {
	x := weft.From([]float64{0, 1, 2, 3, 4})
	b := MakeInterpSpline(x, x.Pow(3), InterpSplineOpts{Extrapolate: true})
	fmt.Printf("%.3f\n", weft.Data[float64](b.At(weft.From([]float64{0.5, 5}))))
	slope := MakeInterpSpline(x, x.Square(), InterpSplineOpts{Start: []EndCondition{{Order: 1}}, End: []EndCondition{{Order: 1, Value: weft.Scalar(8)}}})
	fmt.Printf("%.3f\n", weft.Data[float64](slope.Derivative(1).At(weft.From([]float64{0, 2, 4}))))
	// Output:
	// [0.125 125.000]
	// [0.000 4.000 8.000]
}

func ExampleMakeLSQSpline() {
	x := weft.LinspaceOf(weft.Float64, 0, 4, 41)
	knots := weft.From([]float64{0, 0, 0, 2, 4, 4, 4}) // two parabolas
	b := MakeLSQSpline(x, x.Sub(2).Abs(), knots, 2)
	fmt.Printf("%.3f\n", weft.Data[float64](b.At(weft.From([]float64{0, 1, 2}))))
	// Output: [2.216 0.841 0.383]
}

func ExampleDesignMatrix() {
	fmt.Println(DesignMatrix(weft.From([]float64{0, 1.5}), weft.From([]float64{0, 0, 1, 2, 2}), 1).ToDense())
	// Output:
	// [[1.  0.  0. ]
	//  [0.  0.5 0.5]]
}
