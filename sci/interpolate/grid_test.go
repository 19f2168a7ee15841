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

// several is what testdata/make.py wrote of smoothing splines, grids and scattered points.
var several = func() (s struct {
	Xs, Ys, W, Ats                []float64
	Smooth                        map[string][]float64
	Grid                          [][]float64
	Values                        [][][][]float64
	Where, Outside3               [][]float64
	Linear, Nearest, Extrapolated [][]float64
	Points, Scattered, Targets    [][]float64
	RBF                           map[string][][]float64
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

func near(t *testing.T, what string, got *weft.Tensor, want any, tol float64) {
	t.Helper()
	if d := got.Sub(weft.From(want)).Abs().Max().Item(); !(d <= tol) {
		t.Errorf("%s is off by %g", what, d)
	}
}

// TestSmoothing compares with SciPy's make_smoothing_spline.
func TestSmoothing(t *testing.T) {
	x, y, at := weft.From(several.Xs), weft.From(several.Ys), weft.From(several.Ats)
	for name, o := range map[string]SmoothingOpts{"0": {Lambda: new(0.0)}, "1": {Lambda: new(1.0)}, "weighted": {Lambda: new(0.05), Weights: weft.From(several.W)}} {
		near(t, name, MakeSmoothingSpline(x, y, o).At(at), several.Smooth[name], 1e-11)
	}
	near(t, "gcv", MakeSmoothingSpline(x, y).At(at), several.Smooth["gcv"], 1e-5) // where SciPy's search ends
	line := MakeSmoothingSpline(x, x.Mul(2).Add(1), SmoothingOpts{Lambda: new(1e6)})
	near(t, "line", line.At(at), weft.Data[float64](at.Mul(2).Add(1)), 1e-9)
}

func grid(o GridOpts) *RegularGridInterpolator {
	var points []*weft.Tensor
	for _, p := range several.Grid {
		points = append(points, weft.From(p))
	}
	return NewRegularGridInterpolator(points, weft.From(several.Values), o)
}

// TestGrid compares with SciPy's RegularGridInterpolator.
func TestGrid(t *testing.T) {
	where := weft.From(several.Where)
	near(t, "linear", grid(GridOpts{}).At(where), several.Linear, 1e-13)
	near(t, "nearest", grid(GridOpts{Method: Nearest}).At(where), several.Nearest, 0)
	outside := weft.From(several.Outside3)
	near(t, "outside", grid(GridOpts{Extrapolate: true}).At(outside), several.Extrapolated, 1e-12)
	if v := grid(GridOpts{}).At(outside.Reshape(2, 1, 3)); v.IsNaN().All().Item() == 0 || fmt.Sprint(v.Shape()) != "[2 1 2]" {
		t.Error(v)
	}
	if v := grid(GridOpts{Method: Nearest, Extrapolate: true}).At(weft.From([]float64{math.NaN(), 1, 1})); v.IsNaN().All().Item() == 0 {
		t.Error("nearest to NaN:", v)
	}
	values := weft.From(several.Values)
	if err := weft.GradCheck(func(x ...*weft.Tensor) *weft.Tensor {
		g := NewRegularGridInterpolator([]*weft.Tensor{weft.From(several.Grid[0]), weft.From(several.Grid[1]), weft.From(several.Grid[2])}, x[1])
		return g.At(x[0])
	}, []*weft.Tensor{where.Slice(weft.Range(2, 6)).Clone().RequireGrad(true), values.Clone().RequireGrad(true)}); err != nil {
		t.Error(err)
	}
}

// TestRBF compares all kernels with SciPy's RBFInterpolator.
func TestRBF(t *testing.T) {
	points, values, at := weft.From(several.Points), weft.From(several.Scattered), weft.From(several.Targets)
	for name, want := range several.RBF {
		o := RBFOpts{Kernel: Kernel(name)}
		switch _, _, shaped := kernels(o.Kernel); {
		case name == "smooth":
			o = RBFOpts{Smoothing: 0.1, Degree: new(2)}
		case name == "none":
			o = RBFOpts{Kernel: Gaussian, Epsilon: new(2.5), Degree: new(-1)}
		case shaped:
			o.Epsilon = new(3.0)
		}
		near(t, name, NewRBFInterpolator(points, values, o).At(at), want, 1e-10)
	}
	r := NewRBFInterpolator(points, values)
	near(t, "the points", r.At(points), several.Scattered, 1e-12)
	x := at.Clone().RequireGrad(true) // the last two are at points
	if err := weft.GradCheck(func(x ...*weft.Tensor) *weft.Tensor { return r.At(x[0]) }, []*weft.Tensor{x}); err != nil {
		t.Error(err)
	}
}

// TestGridMistakes compares what is said of bad arguments.
func TestGridMistakes(t *testing.T) {
	x := weft.From([]float64{0, 1, 2, 3, 4})
	p := x.Reshape(5, 1)
	for want, f := range map[string]func(){
		"interpolate.makesmoothingspline: x: has 2 elements: want 5":     func() { MakeSmoothingSpline(weft.From([]float64{0, 1}), x) },
		"interpolate.makesmoothingspline: Lambda: is -1":                 func() { MakeSmoothingSpline(x, x, SmoothingOpts{Lambda: new(-1.0)}) },
		"interpolate.makesmoothingspline: Weights: has 0 at 0":           func() { MakeSmoothingSpline(x, x, SmoothingOpts{Weights: x}) },
		"interpolate.newregulargridinterpolator: points[0]: has 5 eleme": func() { NewRegularGridInterpolator([]*weft.Tensor{x}, weft.Ones(4)) },
		"interpolate.newregulargridinterpolator: points: has 0 vectors":  func() { NewRegularGridInterpolator(nil, x) },
		"interpolate.newregulargridinterpolator: Method: \"no\" is unkn": func() { NewRegularGridInterpolator([]*weft.Tensor{x}, x, GridOpts{Method: "no"}) },
		"interpolate.at: x: is float64 of shape [5]: want real numbers,": func() { NewRegularGridInterpolator([]*weft.Tensor{x}, x).At(x) },
		"interpolate.newrbfinterpolator: Epsilon: must be given":         func() { NewRBFInterpolator(p, x, RBFOpts{Kernel: Gaussian}) },
		"interpolate.newrbfinterpolator: points: are twice the same":     func() { NewRBFInterpolator(weft.ZerosOf(weft.Float64, 5, 1), x) },
		"interpolate.newrbfinterpolator: values: is float64 of shape []": func() { NewRBFInterpolator(p, x.At(0)) },
		"interpolate.newrbfinterpolator: Degree: is -2":                  func() { NewRBFInterpolator(p, x, RBFOpts{Degree: new(-2)}) },
	} {
		if err := weft.Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, not %s", err, want)
		}
	}
	if v := NewRegularGridInterpolator([]*weft.Tensor{x}, x).At(weft.From([][]float64{{math.NaN()}})); !math.IsNaN(v.Item()) {
		t.Error(v)
	}
}

func ExampleMakeSmoothingSpline() {
	x := weft.From([]float64{0, 1, 2, 3, 4, 5})
	c := MakeSmoothingSpline(x, weft.From([]float64{0, 1.2, 1.9, 3.1, 3.9, 5.1}), SmoothingOpts{Lambda: new(100.0)})
	fmt.Println(c.At(x).Mul(100).Round().Div(100))
	// Output: [0.05 1.04 2.04 3.03 4.02 5.02]
}

func ExampleNewRegularGridInterpolator() {
	x, y := weft.From([]float64{0, 1, 2}), weft.From([]float64{0, 10})
	g := NewRegularGridInterpolator([]*weft.Tensor{x, y}, weft.From([][]float64{{0, 10}, {1, 11}, {2, 12}}))
	fmt.Println(g.At(weft.From([][]float64{{0.5, 5}, {1.5, 2}})))
	// Output: [5.5 3.5]
}

func ExampleNewRBFInterpolator() {
	points := weft.From([][]float64{{0, 0}, {1, 0}, {0, 1}, {1, 1}})
	r := NewRBFInterpolator(points, weft.From([]float64{0, 1, 1, 2}))
	fmt.Printf("%.4f\n", r.At(weft.From([][]float64{{0.25, 0.5}})).Item())
	// Output: 0.7500
}
