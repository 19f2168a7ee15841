package stats

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"weft"
)

// densities is what testdata/kde.py wrote.
var densities = func() (s struct {
	X, W, At                    []float64
	Plane, Places, Space, Spots [][]float64
	Cases                       map[string]struct {
		Factor, Neff, Box float64
		Cov               [][]float64
		Density, Log      []float64
	}
}) {
	text, err := os.ReadFile("testdata/kde.json")
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		panic(err)
	}
	return s
}()

// TestGaussianKDE compares factors, covariances, densities and probabilities of boxes with SciPy's.
func TestGaussianKDE(t *testing.T) {
	w := weft.From(densities.W)
	for name, want := range densities.Cases {
		x, at, o, tol := weft.From(densities.X), weft.From(densities.At), KDEOpts{}, 1e-13
		switch strings.Fields(name)[0] {
		case "plane":
			x, at = weft.From(densities.Plane), weft.From(densities.Places)
		case "space":
			x, at, tol = weft.From(densities.Space), weft.From(densities.Spots), 1e-5
		case "factor":
			o.Factor = new(0.2)
		}
		if strings.Contains(name, "weights") {
			o.Weights = w
		}
		if name == "silverman" || name == "plane weights" {
			o.Bandwidth = Silverman
		}
		k := NewGaussianKDE(x, o)
		near := func(what string, got, want, tol float64) {
			if !(math.Abs(got-want) <= tol*(1+math.Abs(want))) {
				t.Errorf("%s: %s is %v, SciPy's %v", name, what, got, want)
			}
		}
		near("factor", k.Factor(), want.Factor, 1e-14)
		near("size", k.Neff(), want.Neff, 1e-14)
		near("covariance", k.Covariance().Sub(weft.From(want.Cov)).Abs().Max().Item(), 0, 1e-13)
		near("density", k.Evaluate(at).Div(weft.From(want.Density)).Sub(1).Abs().Max().Item(), 0, 1e-11)
		near("logarithm", k.LogPDF(at).Sub(weft.From(want.Log)).Abs().Max().Item(), 0, 1e-11)
		low, high := []float64{-1.5, -0.7, -2.5}[:at.Rank()], []float64{1.2, 2.5, 1}[:at.Rank()]
		if strings.HasPrefix(name, "space") {
			low, high = []float64{-1.5, -0.7, -2.5}, []float64{1.2, 2.5, 1}
		}
		near("box", k.IntegrateBox(low, high), want.Box, tol)
	}
}

// TestIntegrateBox holds boxes that are infinite along all coordinates but one against that coordinate's own density,
// also where points are nearly on a line, and reversed limits.
func TestIntegrateBox(t *testing.T) {
	inf := math.Inf(1)
	x := weft.From(densities.X)
	for _, noise := range []float64{1, 1e-3, 1e-6} {
		y := x.Add(weft.ArangeOf(weft.Float64, 25).Mul(7).Sin().Mul(noise))
		k := NewGaussianKDE(weft.Stack([]*weft.Tensor{x, y}, 0), KDEOpts{Factor: new(0.3)})
		for _, box := range [][]float64{{-1, 0.5}, {2, inf}, {-inf, -3}, {4, 4.5}} {
			want := NewGaussianKDE(y, KDEOpts{Factor: new(0.3)}).IntegrateBox(box[:1], box[1:])
			if got := k.IntegrateBox([]float64{-inf, box[0]}, []float64{inf, box[1]}); math.Abs(got-want) > 1e-12 {
				t.Error(noise, box, got, want)
			}
		}
		if got := k.IntegrateBox([]float64{1, -1}, []float64{-1, 1}); got != -k.IntegrateBox([]float64{-1, -1}, []float64{1, 1}) {
			t.Error(got)
		}
	}
	k := NewGaussianKDE(weft.From(densities.Space))
	want := NewGaussianKDE(weft.From(densities.Space).At(1), KDEOpts{Factor: new(k.Factor())}).IntegrateBox([]float64{0}, []float64{1})
	if got := k.IntegrateBox([]float64{-inf, 0, -inf}, []float64{inf, 1, inf}); math.Abs(got-want) > 1e-5 {
		t.Error(got, want)
	}
}

// TestKDEFar holds that logarithms have digits where densities are 0, and that many points go through several blocks.
func TestKDEFar(t *testing.T) {
	k := NewGaussianKDE(weft.From(densities.X))
	if v := k.LogPDF(weft.From([]float64{100})).Item(); !(v < -700 && v > -20000) || k.Evaluate(weft.From([]float64{100})).Item() != 0 {
		t.Error(v)
	}
	many := NewGaussianKDE(weft.LinspaceOf(weft.Float64, 0, 1, 300000))
	at := weft.LinspaceOf(weft.Float64, 0.3, 0.7, 4) // 3 in a block
	if d := many.Evaluate(at).Sub(1).Abs().Max().Item(); d > 1e-4 {
		t.Error(d)
	}
	if v := k.Evaluate(weft.Zeros(0)); v.Size() != 0 {
		t.Error(v)
	}
}

// TestKDEGradient compares gradients with respect to points with differences.
func TestKDEGradient(t *testing.T) {
	k := NewGaussianKDE(weft.From(densities.Plane))
	err := weft.GradCheck(func(x ...*weft.Tensor) *weft.Tensor {
		return weft.Cat([]*weft.Tensor{k.Evaluate(x[0]), k.LogPDF(x[0])}, 0)
	}, []*weft.Tensor{weft.From(densities.Places)})
	if err != nil {
		t.Error(err)
	}
}

// TestResample holds mean and covariance of draws against the density's.
func TestResample(t *testing.T) {
	k := NewGaussianKDE(weft.From(densities.Plane), KDEOpts{Weights: weft.From(densities.W)})
	x := k.Resample(weft.NewGenerator(4), 100000)
	mean := weft.From(densities.Plane).MatMul(weft.From(densities.W)).Div(weft.From(densities.W).Sum())
	if d := x.Mean(1).Sub(mean).Abs().Max().Item(); d > 0.03 {
		t.Error(d)
	}
	// The covariance of the sample times 1-sum(w^2), plus the kernel's.
	f := k.Factor()
	want := k.Covariance().Mul((1-1/k.Neff())/(f*f) + 1)
	if d := x.Sub(mean.Reshape(2, 1)).MatMul(x.Sub(mean.Reshape(2, 1)).Transpose(0, 1)).Div(100000).Sub(want).Abs().Max().Item(); d > 0.06 {
		t.Error(d)
	}
	if v := NewGaussianKDE(weft.From(densities.X)).Resample(weft.NewGenerator(1), 3); fmt.Sprint(v.Shape()) != "[3]" {
		t.Error(v)
	}
}

// TestKDEMistakes compares what is said of bad arguments.
func TestKDEMistakes(t *testing.T) {
	x := weft.From([]float64{1, 2, 4})
	k := NewGaussianKDE(x)
	for want, f := range map[string]func(){
		"stats.newgaussiankde: dataset: is nil":                             func() { NewGaussianKDE(nil) },
		"stats.newgaussiankde: dataset: is float32 of shape [1]":            func() { NewGaussianKDE(weft.Ones(1)) },
		"stats.newgaussiankde: dataset: has numbers that are not finite":    func() { NewGaussianKDE(weft.From([]float64{1, math.NaN()})) },
		"stats.newgaussiankde: dataset: has the variance 0: want two":       func() { NewGaussianKDE(weft.Ones(5)) },
		"stats.newgaussiankde: dataset: has points of 2 coordinates":        func() { NewGaussianKDE(weft.Stack([]*weft.Tensor{x, x.Mul(3)}, 0)) },
		"stats.newgaussiankde: Bandwidth: \"no\" is unknown":                func() { NewGaussianKDE(x, KDEOpts{Bandwidth: "no"}) },
		"stats.newgaussiankde: Factor: is 0: want a finite number above":    func() { NewGaussianKDE(x, KDEOpts{Factor: new(0.0)}) },
		"stats.newgaussiankde: Factor: is given with Bandwidth":             func() { NewGaussianKDE(x, KDEOpts{Factor: new(1.0), Bandwidth: Scott}) },
		"stats.newgaussiankde: Weights: has 4 elements, dataset 3 points":   func() { NewGaussianKDE(x, KDEOpts{Weights: weft.Ones(4)}) },
		"stats.newgaussiankde: Weights: has -1 at 1":                        func() { NewGaussianKDE(x, KDEOpts{Weights: weft.From([]float64{1, -1, 1})}) },
		"stats.newgaussiankde: Weights: have the sum 0":                     func() { NewGaussianKDE(x, KDEOpts{Weights: weft.Zeros(3)}) },
		"stats.gaussiankde.evaluate: points: is float64 of shape [1 1 3]":   func() { k.Evaluate(x.Reshape(1, 1, 3)) },
		"stats.gaussiankde.logpdf: points: is nil":                          func() { k.LogPDF(nil) },
		"stats.gaussiankde.resample: g: is nil":                             func() { k.Resample(nil, 3) },
		"stats.gaussiankde.resample: n: is -3":                              func() { k.Resample(weft.NewGenerator(1), -3) },
		"stats.gaussiankde.integratebox: high: has 2 elements: want 1":      func() { k.IntegrateBox([]float64{0}, []float64{0, 1}) },
		"stats.gaussiankde.integratebox: low: is [NaN]: want numbers":       func() { k.IntegrateBox([]float64{math.NaN()}, []float64{0}) },
		"stats.newgaussiankde: dataset: is complex128 of shape [3]: want 2": func() { NewGaussianKDE(x.To(weft.Complex128)) },
	} {
		if err := weft.Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, not %s", err, want)
		}
	}
}

// TestGaussianKDEString compares what an estimate prints as.
func TestGaussianKDEString(t *testing.T) {
	k := NewGaussianKDE(weft.From([]float64{0, 1, 3, 7}), KDEOpts{Factor: new(0.5)})
	if got := fmt.Sprint(k); got != "stats.GaussianKDE of 4 points of 1 coordinates, factor 0.5" {
		t.Error(got)
	}
}

func ExampleGaussianKDE() {
	k := NewGaussianKDE(weft.From([]float64{1, 1.2, 1.3, 4, 4.1}))
	fmt.Printf("%.3f\n", weft.Data[float64](k.Evaluate(weft.From([]float64{1, 2.5, 4}))))
	fmt.Printf("%.3f %.3f\n", k.IntegrateBox([]float64{0}, []float64{2.5}), k.Factor())
	fmt.Println(k.Resample(weft.NewGenerator(1), 3).Shape())
	// Output:
	// [0.209 0.162 0.149]
	// 0.467 0.725
	// [3]
}
