package optimize

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"weft"
)

// scipy is what testdata/make.py wrote.
var scipy = func() (s struct {
	X, Y, Sigma, Fit, Root, Rosen []float64
	FitSigma                      []float64   `json:"fit_sigma"`
	Cov                           [][]float64 `json:"cov"`
	CovSigma                      [][]float64 `json:"cov_sigma"`
	CovAbsolute                   [][]float64 `json:"cov_absolute"`
	BrentQ                        float64     `json:"brentq"`
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

func near(t *testing.T, what string, got, want *weft.Tensor, tol float64) {
	t.Helper()
	if d := got.Sub(want).Abs().Max().Item(); !(d <= tol*(1+want.Abs().Max().Item())) {
		t.Errorf("%s is\n%v, want\n%v", what, got, want)
	}
}

func rosenbrock(x *weft.Tensor) *weft.Tensor {
	a, b := x.Slice(weft.Range(0, -1)), x.Slice(weft.Range(1, weft.End))
	return b.Sub(a.Square()).Square().Mul(100).Add(a.Neg().Add(1).Square()).Sum()
}

// TestMinimize finds the minimum of Rosenbrock's function by every method.
func TestMinimize(t *testing.T) {
	x0 := weft.From([]float64{1.3, 0.7, 0.8, 1.9, 1.2})
	for _, m := range []Method{"", BFGS, LBFGS, CG, Newton, NelderMead} {
		r, err := Minimize(rosenbrock, x0, MinimizeOpts{Method: m, GTol: 1e-8, MaxIter: 5000})
		if err != nil {
			t.Errorf("%s: %v", m, err)
			continue
		}
		tol := 1e-7
		if m == NelderMead {
			tol = 1e-4
		}
		near(t, string(m), r.X, weft.From(scipy.Rosen), tol)
		if r.FuncEvals == 0 || r.Steps == 0 || r.Value > 1e-7 {
			t.Errorf("%s: %+v", m, r)
		}
	}
	r, err := Minimize(rosenbrock, x0, MinimizeOpts{MaxIter: 3})
	if e := new(ConvergenceError); !errors.As(err, &e) || r == nil || r.Value > rosenbrock(x0).Item() {
		t.Errorf("%v, %v", r, err)
	}
}

// TestMinimizeOfMatrix minimises over a matrix of float32.
func TestMinimizeOfMatrix(t *testing.T) {
	want := weft.From([][]float64{{1, 2}, {3, 4}})
	r, err := Minimize(func(x *weft.Tensor) *weft.Tensor { return x.Sub(want).Square().Sum() }, weft.Zeros(2, 2))
	if err != nil {
		t.Fatal(err)
	}
	near(t, "minimum", r.X, want, 1e-6)
	if r.X.RequiresGrad() || r.Grad.Rank() != 2 {
		t.Error(r)
	}
}

func decay(x, p *weft.Tensor) *weft.Tensor {
	return p.At(0).Mul(x.Mul(p.At(1)).Neg().Exp()).Add(p.At(2))
}

// TestMinimizeCarriesPanics holds that a panic of f in a later evaluation reaches the caller.
func TestMinimizeCarriesPanics(t *testing.T) {
	for _, m := range []Method{BFGS, Newton, NelderMead} {
		n := 0
		err := weft.Try(func() {
			Minimize(func(x *weft.Tensor) *weft.Tensor {
				if n++; n > 3 {
					x.MatMul(weft.Ones(7, 7))
				}
				return rosenbrock(x)
			}, weft.From([]float64{3, 4}), MinimizeOpts{Method: m})
		})
		if err == nil || !strings.Contains(err.Error(), "matmul") {
			t.Errorf("%s: %v", m, err)
		}
	}
}

// TestCurveFit compares parameters and covariances with SciPy's.
func TestCurveFit(t *testing.T) {
	x, y, p0 := weft.From(scipy.X), weft.From(scipy.Y), weft.OnesOf(weft.Float64, 3)
	sigma := weft.From(scipy.Sigma)
	for _, c := range []struct {
		opts CurveFitOpts
		fit  []float64
		cov  [][]float64
	}{{CurveFitOpts{}, scipy.Fit, scipy.Cov}, {CurveFitOpts{Sigma: sigma}, scipy.FitSigma, scipy.CovSigma}, {CurveFitOpts{Sigma: sigma, AbsoluteSigma: true}, scipy.FitSigma, scipy.CovAbsolute}} {
		p, cov, err := CurveFit(decay, x, y, p0, c.opts)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "parameters", p, weft.From(c.fit), 1e-6)
		if d := cov.Sub(weft.From(c.cov)).Abs().Max().Item(); d > 1e-5*weft.From(c.cov).Abs().Max().Item() {
			t.Errorf("covariance\n%v, want\n%v", cov, c.cov)
		}
	}
	_, cov, err := CurveFit(func(x, p *weft.Tensor) *weft.Tensor { return x.Mul(p.Sum()) }, x, y, p0)
	if err != nil || !math.IsInf(cov.At(0, 0).Item(), 1) {
		t.Error(cov, err)
	}
}

// TestLeastSquares checks the gradient at what is found, and functions without a least sum.
func TestLeastSquares(t *testing.T) {
	f := func(x *weft.Tensor) *weft.Tensor { // Powell's singular function
		a, b, c, d := x.At(0), x.At(1), x.At(2), x.At(3)
		return weft.Stack([]*weft.Tensor{a.Add(b.Mul(10)), c.Sub(d).Mul(math.Sqrt(5)), b.Sub(c.Mul(2)).Square(), a.Sub(d).Square().Mul(math.Sqrt(10))}, 0)
	}
	fit, err := LeastSquares(f, weft.From([]float64{3, -1, 0, 1}))
	if err != nil || fit.Cost > 1e-10 || fit.Steps == 0 {
		t.Error(fit, err)
	}
	if fit, err := LeastSquares(func(x *weft.Tensor) *weft.Tensor { return x.Log() }, weft.From([]float64{-1})); err == nil || fit != nil {
		t.Error(fit, err)
	}
	if _, err := LeastSquares(func(x *weft.Tensor) *weft.Tensor { return x.Neg().Exp() }, weft.From([]float64{1}), LeastSquaresOpts{MaxIter: 4}); err == nil {
		t.Error("four steps to infinity converge")
	}
}

// TestRoot compares with SciPy's root, and with a function that has none.
func TestRoot(t *testing.T) {
	x, err := Root(func(v *weft.Tensor) *weft.Tensor {
		a, b := v.At(0), v.At(1)
		return weft.Stack([]*weft.Tensor{a.Mul(b.Cos()).Sub(4), a.Mul(b).Sub(b).Sub(5)}, 0)
	}, weft.From([]float64{1, 1}))
	if err != nil {
		t.Fatal(err)
	}
	near(t, "root", x, weft.From(scipy.Root), 1e-12)
	var e *ConvergenceError
	if x, err := Root(func(x *weft.Tensor) *weft.Tensor { return x.Square().Add(1) }, weft.From([]float64{3})); !errors.As(err, &e) || x == nil {
		t.Error(x, err)
	}
}

// TestBrentQ compares with SciPy's brentq and counts evaluations.
func TestBrentQ(t *testing.T) {
	count := 0
	x, err := BrentQ(func(x float64) float64 { count++; return x*x*x - 2*x - 5 }, 2, 3)
	if err != nil || math.Abs(x-scipy.BrentQ) > 1e-12 || count > 12 {
		t.Error(x, err, count)
	}
	for _, f := range []func(float64) float64{math.Tanh, func(x float64) float64 { return math.Copysign(1, x) }, func(x float64) float64 { return math.Pow(x, 9) }} {
		if x, err := BrentQ(f, -1, 1.5, BrentQOpts{MaxIter: 200}); err != nil || math.Abs(x) > 1e-11 && math.Abs(f(x)) > 1e-100 {
			t.Error(x, err)
		}
	}
}

// TestBrentQSigns holds that equal signs are an error, not a panic.
func TestBrentQSigns(t *testing.T) {
	var e *ConvergenceError
	if _, err := BrentQ(func(float64) float64 { return 1 }, 0, 1); !errors.As(err, &e) || !strings.Contains(err.Error(), "want opposite signs") {
		t.Error(err)
	}
}

// TestMistakes compares what is said of bad arguments.
func TestMistakes(t *testing.T) {
	x := weft.From([]float64{1, 2})
	for want, f := range map[string]func(){
		"optimize.minimize: f: is nil":                                                  func() { Minimize(nil, x) },
		"optimize.minimize: x0: is nil":                                                 func() { Minimize(rosenbrock, nil) },
		"optimize.minimize: f: returns float64 of shape [2]":                            func() { Minimize(func(x *weft.Tensor) *weft.Tensor { return x }, x) },
		"optimize.minimize: GTol: is -1":                                                func() { Minimize(rosenbrock, x, MinimizeOpts{GTol: -1}) },
		"optimize.minimize: MaxIter: is -1":                                             func() { Minimize(rosenbrock, x, MinimizeOpts{MaxIter: -1}) },
		"optimize.minimize: Method: \"no\" is unknown: want BFGS":                       func() { Minimize(rosenbrock, x, MinimizeOpts{Method: "no"}) },
		"optimize.minimize: x0: has shape [0] and no elements":                          func() { Minimize(rosenbrock, weft.Zeros(0)) },
		"optimize.leastsquares: f: is nil":                                              func() { LeastSquares(nil, x) },
		"optimize.root: f: returns 1 numbers for 2 unknowns":                            func() { Root(func(x *weft.Tensor) *weft.Tensor { return x.Sum() }, x) },
		"optimize.brentq: XTol: is -1":                                                  func() { BrentQ(math.Tanh, -1, 1, BrentQOpts{XTol: -1}) },
		"optimize.minimize: Bounds: are given with BFGS":                                func() { Minimize(rosenbrock, x, MinimizeOpts{Method: BFGS, Bounds: &Bounds{Lower: x}}) },
		"optimize.minimize: Bounds: of element 0 are 1 and 0: want Lower at most Upper": func() { Minimize(rosenbrock, x, MinimizeOpts{Bounds: &Bounds{Lower: x, Upper: weft.Zeros()}}) },
		"optimize.minimize: Bounds.Lower: has shape [3]":                                func() { Minimize(rosenbrock, x, MinimizeOpts{Bounds: &Bounds{Lower: weft.Zeros(3)}}) },
		"optimize.minimizescalar: Bounds: are [1]":                                      func() { MinimizeScalar(math.Cos, MinimizeScalarOpts{Bounds: []float64{1}}) },
		"optimize.minimizescalar: Bracket: is [0 1 2] with":                             func() { MinimizeScalar(math.Cos, MinimizeScalarOpts{Bracket: []float64{0, 1, 2}}) },
		"optimize.minimizescalar: Method: \"no\" is unknown: want brent":                func() { MinimizeScalar(math.Cos, MinimizeScalarOpts{Method: "no"}) },
		"optimize.nnls: b: has shape [2]: want [3]":                                     func() { NNLS(weft.Ones(3, 2), x) },
		"optimize.linprog: AUb: has shape [1 3]: want 2 columns":                        func() { LinProg(x, LinProgOpts{AUb: weft.Ones(1, 3), BUb: weft.Ones(1)}) },
		"optimize.linprog: AEq: and BEq must be given together":                         func() { LinProg(x, LinProgOpts{BEq: x}) },
		"optimize.linprog: c: is nil":                                                   func() { LinProg(nil) },
		"optimize.curvefit: p0: is nil":                                                 func() { CurveFit(func(x, p *weft.Tensor) *weft.Tensor { return x }, x, x, nil) },
		"optimize.curvefit: f: returns shape [], want y's, [2]":                         func() { CurveFit(func(x, p *weft.Tensor) *weft.Tensor { return p.Sum() }, x, x, x) },
	} {
		if err := weft.Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, not %s", err, want)
		}
	}
}

// TestCurveFitOfNaN fits data with a missing value: the error says where to look.
func TestCurveFitOfNaN(t *testing.T) {
	line := func(x, p *weft.Tensor) *weft.Tensor { return x.Mul(p) }
	x, y := weft.From([]float64{1, 2, 3}), weft.From([]float64{1, math.NaN(), 3})
	for _, bounds := range []*Bounds{nil, {Lower: weft.Zeros(1)}} {
		_, _, err := CurveFit(line, x, y, weft.From([]float64{1}), CurveFitOpts{LeastSquaresOpts: LeastSquaresOpts{Bounds: bounds}})
		if err == nil || !strings.Contains(err.Error(), "look for NaN in the data") {
			t.Errorf("Bounds %v: %v", bounds, err)
		}
	}
}
