package optimize

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"weft"
)

// leastBounded is what testdata/least.py wrote.
var leastBounded = func() (s struct {
	Fits []struct {
		Kind                string
		X0, Lower, Upper, X []float64
		Cost                float64
		Active              []int64
	}
	Curve []float64
	Cov   [][]float64
}) {
	text, err := os.ReadFile("testdata/least.json")
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		panic(err)
	}
	return s
}()

// residualsOf are the functions of testdata/least.py.
var residualsOf = map[string]func(x *weft.Tensor) *weft.Tensor{
	"rosen": func(x *weft.Tensor) *weft.Tensor {
		a, b := x.Slice(weft.Range(0, -1)), x.Slice(weft.Range(1, weft.End))
		return weft.Cat([]*weft.Tensor{b.Sub(a.Square()).Mul(10), a.Neg().Add(1)}, 0)
	},
	"decay": func(x *weft.Tensor) *weft.Tensor { return decay(weft.From(scipy.X), x).Sub(weft.From(scipy.Y)) },
	"beale": func(x *weft.Tensor) *weft.Tensor {
		power := x.At(1).Pow(weft.From([]float64{1, 2, 3}))
		return weft.From([]float64{1.5, 2.25, 2.625}).Sub(x.At(0).Mul(power.Neg().Add(1)))
	},
}

// TestLeastSquaresBounded compares minima within bounds with SciPy's trust region reflective method.
func TestLeastSquaresBounded(t *testing.T) {
	for i, c := range leastBounded.Fits {
		evaluations := 0
		f := func(x *weft.Tensor) *weft.Tensor { evaluations++; return residualsOf[c.Kind](x) }
		b := &Bounds{unbounded(c.Lower), unbounded(c.Upper)}
		fit, err := LeastSquares(f, weft.From(c.X0), LeastSquaresOpts{FTol: 1e-14, XTol: 1e-12, GTol: 1e-12, Bounds: b})
		if err != nil || fit.Cost > c.Cost*(1+1e-8)+1e-20 || fit.Steps > 60 {
			t.Errorf("%d, %s: %v, cost %v, SciPy's %v, %d steps, %d evaluations, optimality %g", i, c.Kind, err, fit.Cost, c.Cost, fit.Steps, fit.FuncEvals, fit.Optimality)
		}
		near(t, fmt.Sprint(i, c.Kind), fit.X, weft.From(c.X), 1e-6)
		if fmt.Sprint(weft.Data[int64](fit.ActiveMask)) != fmt.Sprint(c.Active) && c.Cost > 1e-9 {
			t.Errorf("%d: active %v, SciPy's %v", i, fit.ActiveMask, c.Active)
		}
		if fit.X.Lt(b.Lower).Any().Item() != 0 || fit.X.Gt(b.Upper).Any().Item() != 0 {
			t.Errorf("%d: %v is out of bounds", i, fit.X)
		}
	}
	p, cov, err := CurveFit(decay, weft.From(scipy.X), weft.From(scipy.Y), weft.OnesOf(weft.Float64, 3), CurveFitOpts{LeastSquaresOpts: LeastSquaresOpts{FTol: 1e-14, XTol: 1e-13, GTol: 1e-13, Bounds: &Bounds{weft.Zeros(), weft.From([]float64{3, 1.2, 2})}}})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "parameters", p, weft.From(leastBounded.Curve), 1e-6)
	near(t, "covariance", cov, weft.From(leastBounded.Cov), 1e-5)
}

// TestLeastSquaresBoundedEdges holds unknowns of equal bounds, residuals that are not finite, and limits.
func TestLeastSquaresBoundedEdges(t *testing.T) {
	rosen := residualsOf["rosen"]
	fit, err := LeastSquares(rosen, weft.From([]float64{3, 3}), LeastSquaresOpts{Bounds: &Bounds{weft.From([]float64{0.5, -9}), weft.From([]float64{0.5, 9})}})
	if err != nil || fit.X.At(0).Item() != 0.5 || math.Abs(fit.X.At(1).Item()-0.25) > 1e-8 || fit.ActiveMask.At(0).Item() != -1 || fit.ActiveMask.At(1).Item() != 0 {
		t.Error(fit, err)
	}
	if fit, err := LeastSquares(rosen, weft.Ones(2), LeastSquaresOpts{Bounds: &Bounds{weft.Ones(), weft.Ones()}}); err != nil || fit.Cost != 0 {
		t.Error(fit, err)
	}
	// log is NaN for what the first step would be without bounds.
	log := func(x *weft.Tensor) *weft.Tensor { return x.Log().Add(3) }
	if fit, err := LeastSquares(log, weft.From([]float64{5}), LeastSquaresOpts{Bounds: &Bounds{Lower: weft.Zeros()}}); err != nil || math.Abs(fit.X.Item()-math.Exp(-3)) > 1e-6 {
		t.Error(fit, err)
	}
	var e *ConvergenceError
	if fit, err := LeastSquares(log, weft.From([]float64{5}), LeastSquaresOpts{MaxIter: 1, Bounds: &Bounds{Lower: weft.Zeros()}}); !errors.As(err, &e) || fit == nil || fit.Steps != 1 {
		t.Error(fit, err)
	}
	for _, b := range []*Bounds{nil, {Lower: weft.From(-1.0)}} {
		if fit, err := LeastSquares(func(x *weft.Tensor) *weft.Tensor { return x.Sqrt() }, weft.From([]float64{0, 1}), LeastSquaresOpts{Bounds: b}); !errors.As(err, &e) || fit == nil || !strings.Contains(err.Error(), "derivatives") {
			t.Error(fit, err)
		}
		if fit, err := LeastSquares(func(x *weft.Tensor) *weft.Tensor { return x.Div(0) }, weft.From([]float64{1}), LeastSquaresOpts{Bounds: b}); !errors.As(err, &e) || fit != nil {
			t.Error(fit, err)
		}
		// Many unknowns of few residuals.
		fit, err := LeastSquares(func(x *weft.Tensor) *weft.Tensor { return x.Sum().Sub(3).Reshape(1) }, weft.ZerosOf(weft.Float64, 4), LeastSquaresOpts{Bounds: b})
		if err != nil || fit.Cost > 1e-12 {
			t.Error(fit, err)
		}
	}
	for _, c := range [][2]float64{{-1e300, 1e300}, {1, math.Nextafter(1, 2)}, {0, 5e-324}, {-1e-300, 1e-300}} {
		fit, err := LeastSquares(rosen, weft.From([]float64{0.3, 0.4}), LeastSquaresOpts{Bounds: &Bounds{weft.From(c[0]), weft.From(c[1])}})
		if fit == nil || fit.X.Lt(c[0]).Any().Item() != 0 || fit.X.Gt(c[1]).Any().Item() != 0 {
			t.Error(c, fit, err)
		}
	}
}

// TestReflectedStep computes a step that ends at a bound by hand. From (0.5, 0) the first unknown may fall by 0.5. The
// model h1 - 2*h2 + |h|^2/2 of a step h is least at (-1, 2), outside. Half the step gains 1.875. From there the
// reflected direction (1, 2) gains 0.225 more at 0.3 of it, which is the step (-0.2, 1.6).
func TestReflectedStep(t *testing.T) {
	inf := math.Inf(1)
	s := &reflective{x: []float64{0.5, 0}, d: []float64{1, 1}, lower: []float64{0, -inf}, upper: []float64{inf, inf}, radius: 10}
	m := &reflectiveModel{a: mat.NewDense(2, 2, []float64{1, 0, 0, 1}), g: []float64{1, -2}}
	h, gain := m.choose(s, []float64{-1, 2}, 0.995)
	if !floats.EqualApprox(h, []float64{-0.2, 1.6}, 1e-14) || math.Abs(gain-2.1) > 1e-14 {
		t.Errorf("step %v gains %v, want [-0.2 1.6] and 2.1", h, gain)
	}
}

// TestResidualsOfOtherCount asks for an error that names f where a later call returns other residuals than the first.
func TestResidualsOfOtherCount(t *testing.T) {
	for _, b := range []*Bounds{nil, {Lower: weft.Zeros()}} {
		count := 1
		f := func(x *weft.Tensor) *weft.Tensor { count++; return x.Sum().Sub(1).Expand(count) }
		err := weft.Try(func() { LeastSquares(f, weft.Zeros(2), LeastSquaresOpts{Bounds: b}) })
		if err == nil || !strings.Contains(err.Error(), "optimize.leastsquares: f: returns 3 residuals, in its first call 2") {
			t.Error(err)
		}
	}
}

func ExampleLeastSquares_bounds() {
	f := func(x *weft.Tensor) *weft.Tensor { // Rosenbrock's function
		return weft.Stack([]*weft.Tensor{x.At(1).Sub(x.At(0).Square()).Mul(10), x.At(0).Neg().Add(1)}, 0)
	}
	fit, err := LeastSquares(f, weft.From([]float64{-2, 2}), LeastSquaresOpts{Bounds: &Bounds{Lower: weft.From([]float64{-10, 1.5})}})
	fmt.Printf("%.3f %v %v\n", weft.Data[float64](fit.X), fit.ActiveMask, err)
	// Output: [-1.221 1.500] [ 0 -1] <nil>
}
