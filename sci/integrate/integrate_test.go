package integrate

import (
	"context"
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
	Lotka, VanDerPol [][]float64
	Robertson        [][]float64
	Stiff            map[Method][]int // steps for van der Pol's and Robertson's equations
	Default, Quad    []float64
	Steps, Evals     int
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

// TestRule holds that the rules are exact for polynomials: Kronrod's to degree 31, Gauss's to 19.
func TestRule(t *testing.T) {
	for degree := 0; degree <= 31; degree++ {
		var kronrod, gauss float64
		for i, x := range rule.x {
			kronrod += rule.kronrod[i] * math.Pow(x, float64(degree))
			gauss += rule.gauss[i] * math.Pow(x, float64(degree))
		}
		want := float64((degree+1)%2) * 2 / float64(degree+1)
		if math.Abs(kronrod-want) > 1e-15 || degree < 20 && math.Abs(gauss-want) > 1e-15 {
			t.Errorf("degree %d: %v and %v, want %v", degree, kronrod, gauss, want)
		}
	}
}

// TestQuad compares integrals with SciPy's, over finite and infinite ranges in both directions.
func TestQuad(t *testing.T) {
	inf := math.Inf(1)
	for i, c := range []struct {
		f    func(x *weft.Tensor) *weft.Tensor
		a, b float64
		opts QuadOpts
	}{
		{f: (*weft.Tensor).Exp, a: 0, b: 1},
		{f: func(x *weft.Tensor) *weft.Tensor { return x.Square().Div(-2).Exp() }, a: -inf, b: inf},
		{f: func(x *weft.Tensor) *weft.Tensor { return weft.Expr("1/(1 + x*x)", weft.Vars{"x": x}) }, a: 1, b: inf},
		{f: (*weft.Tensor).Exp, a: -inf, b: 2},
		{f: (*weft.Tensor).Sqrt, a: 0, b: 1},
		{f: func(x *weft.Tensor) *weft.Tensor { return x.Mul(50).Cos().Square() }, a: 0, b: 3},
		{f: (*weft.Tensor).Log, a: 0, b: 1},
		{f: func(x *weft.Tensor) *weft.Tensor { return x.Sub(0.3).Abs() }, a: 0, b: 1, opts: QuadOpts{Points: []float64{0.3}}},
		{f: (*weft.Tensor).Sin, a: 3, b: 1},
		{f: func(x *weft.Tensor) *weft.Tensor { return x.Neg().Exp() }, a: inf, b: 0},
	} {
		v, wrong, err := Quad(c.f, c.a, c.b, c.opts)
		want := scipy.Quad[i]
		if err != nil || math.Abs(v.Item()-want) > 1e-9*(1+math.Abs(want)) || wrong > 2e-8*(1+math.Abs(want)) {
			t.Errorf("integral %d is %v (error %v, %v), SciPy's %v", i, v, wrong, err, want)
		}
	}
	var e *AccuracyError
	if v, _, err := Quad((*weft.Tensor).Reciprocal, 0, 1); !errors.As(err, &e) || v == nil {
		t.Error(v, err)
	}
	if _, _, err := Quad((*weft.Tensor).Log, -1, 1); !errors.As(err, &e) {
		t.Error(err)
	}
}

// TestQuadGradient differentiates the integral of exp(-a*x) over x from 0, 1/a, twice.
func TestQuadGradient(t *testing.T) {
	a := weft.From([]float64{2}).RequireGrad(true)
	v, _, err := Quad(func(x *weft.Tensor) *weft.Tensor { return x.Mul(a).Neg().Exp() }, 0, math.Inf(1))
	if err != nil {
		t.Fatal(err)
	}
	g := weft.Grad(v, []*weft.Tensor{a}, weft.GradOpts{Create: true})[0]
	h := weft.Grad(g.Sum(), []*weft.Tensor{a})[0]
	if math.Abs(g.Item()+0.25) > 1e-8 || math.Abs(h.Item()-0.25) > 1e-7 {
		t.Error(v, g, h)
	}
}

func lotka(t float64, z *weft.Tensor) *weft.Tensor {
	x, y := z.At(0), z.At(1)
	return weft.Stack([]*weft.Tensor{weft.Expr("1.5*x - x*y", weft.Vars{"x": x, "y": y}), weft.Expr("x*y - 3*y", weft.Vars{"x": x, "y": y})}, 0)
}

func greatest(got *weft.Tensor, want any) float64 {
	return got.Sub(weft.From(want)).Abs().Max().Item()
}

// TestSolveIVP compares with SciPy: values at given times, and the work with default tolerances.
// TestDblQuad compares integrals over areas with closed formulas, and their gradients.
func TestDblQuad(t *testing.T) {
	constant := func(v float64) func(float64) float64 { return func(float64) float64 { return v } }
	k := weft.From([]float64{3}).RequireGrad(true)
	for _, c := range []struct {
		name      string
		f         func(x float64, y *weft.Tensor) *weft.Tensor
		a, b      float64
		low, high func(x float64) float64
		want      float64
	}{
		{"x y^2 below a line", func(x float64, y *weft.Tensor) *weft.Tensor { return y.Mul(y).Mul(x) }, 0, 2, constant(0), func(x float64) float64 { return x }, 32.0 / 15},
		{"a disk's area", func(x float64, y *weft.Tensor) *weft.Tensor { return weft.OnesLike(y) }, -1, 1, func(x float64) float64 { return -math.Sqrt(1 - x*x) }, func(x float64) float64 { return math.Sqrt(1 - x*x) }, math.Pi},
		{"a normal density of the plane", func(x float64, y *weft.Tensor) *weft.Tensor { return y.Mul(y).Add(x * x).Mul(-0.5).Exp() }, math.Inf(-1), math.Inf(1), constant(math.Inf(-1)), constant(math.Inf(1)), 2 * math.Pi},
		{"exp(-k x y)", func(x float64, y *weft.Tensor) *weft.Tensor { return y.Mul(k).Mul(-x).Exp().Mul(x) }, 0, 1, constant(0), constant(1), (1 - (1-math.Exp(-3))/3) / 3},
		{"bounds in reverse", func(x float64, y *weft.Tensor) *weft.Tensor { return y.Mul(x) }, 1, 0, constant(0), constant(2), -1},
	} {
		v, estimate, err := DblQuad(c.f, c.a, c.b, c.low, c.high)
		if err != nil || !(math.Abs(v.Item()-c.want) <= 1e-8*math.Abs(c.want)) || !(estimate < 1e-6) {
			t.Errorf("%s: %v (%v, %v), want %v", c.name, v, estimate, err, c.want)
		}
		if c.name == "exp(-k x y)" {
			// d/dk of (1 - (1-e^-k)/k)/k at 3.
			e := math.Exp(-3)
			if v.Backward(); !(math.Abs(k.Grad().Item()-(-1.0/9-e/9+2*(1-e)/27)) < 1e-8) {
				t.Errorf("gradient %v", k.Grad())
			}
		}
	}
	_, _, err := DblQuad(func(x float64, y *weft.Tensor) *weft.Tensor { return y.Div(y.Sub(y)) }, 0, 1, constant(0), constant(1))
	if failed := (*AccuracyError)(nil); !errors.As(err, &failed) || failed.Op != "integrate.dblquad" {
		t.Errorf("not finite: %v", err)
	}
}

func TestSolveIVP(t *testing.T) {
	y0 := weft.From([]float64{10, 5})
	times := make([]float64, 11)
	for i := range times {
		times[i] = 1.5 * float64(i)
	}
	for _, m := range []struct {
		method    Method
		rtol, tol float64
	}{{RK45, 1e-10, 1e-7}, {Rodas3, 1e-6, 2e-2}, {Radau, 1e-8, 2e-5}, {BDF, 1e-8, 2e-3}} {
		s, err := SolveIVP(lotka, 0, 15, y0, SolveIVPOpts{Method: m.method, RTol: m.rtol, ATol: m.rtol, TEval: times})
		if err != nil || len(s.T) != 11 {
			t.Fatal(err)
		}
		if d := greatest(s.Y, scipy.Lotka); !(d < m.tol) {
			t.Errorf("%s: off by %g after %d steps", m.method, d, s.Steps)
		}
	}
	s, err := SolveIVP(lotka, 0, 15, y0)
	if err != nil || s.Steps != scipy.Steps || s.Evals != scipy.Evals {
		t.Errorf("%v: %d steps, %d evaluations; SciPy's RK45 %d and %d", err, s.Steps, s.Evals, scipy.Steps, scipy.Evals)
	}
	if d := greatest(s.Y.At(-1), scipy.Default); d > 1e-9 {
		t.Errorf("the end of SciPy's RK45 is off by %g", d)
	}
}

// TestStiff solves van der Pol's equation with mu = 1000.
func TestStiff(t *testing.T) {
	f := func(_ float64, y *weft.Tensor) *weft.Tensor {
		a, b := y.At(0), y.At(1)
		return weft.Stack([]*weft.Tensor{b, weft.Expr("1000*(1 - a*a)*b - a", weft.Vars{"a": a, "b": b})}, 0)
	}
	var want [][]float64
	for _, v := range scipy.VanDerPol {
		want = append(want, v[:1])
	}
	for method, most := range map[Method]int{Rodas3: 3000, Radau: scipy.Stiff[Radau][0] * 5 / 4, BDF: scipy.Stiff[BDF][0] * 5 / 4} {
		s, err := SolveIVP(f, 0, 1500, weft.From([]float64{2, 0}), SolveIVPOpts{Method: method, RTol: 1e-5, ATol: 1e-8, TEval: []float64{100, 500, 800, 1200, 1500}})
		if err != nil || s.Steps > most {
			t.Fatal(method, err, s.Steps, most)
		}
		if d := greatest(s.Y.Slice(weft.All, weft.Range(0, 1)), want); !(d < 5e-2) {
			t.Errorf("%s: off by %g\n%v", method, d, s.Y)
		}
	}
}

// TestRobertson solves Robertson's reactions, whose rates differ by nine orders of magnitude, in as few steps as SciPy.
func TestRobertson(t *testing.T) {
	f := func(_ float64, y *weft.Tensor) *weft.Tensor {
		v := weft.Vars{"a": y.At(0), "b": y.At(1), "c": y.At(2)}
		x, z := weft.Expr("1e4*b*c - 0.04*a", v), weft.Expr("3e7*b*b", v)
		return weft.Stack([]*weft.Tensor{x, x.Add(z).Neg(), z}, 0)
	}
	for _, method := range []Method{Radau, BDF} {
		s, err := SolveIVP(f, 0, 1e5, weft.From([]float64{1, 0, 0}), SolveIVPOpts{Method: method, RTol: 1e-6, ATol: 1e-10, TEval: []float64{1, 100, 1e4, 1e5}})
		if err != nil || s.Steps > scipy.Stiff[method][1]*5/4 {
			t.Errorf("%s: %v, %d steps, SciPy's %d", method, err, s.Steps, scipy.Stiff[method][1])
		}
		if d := greatest(s.Y, scipy.Robertson); !(d < 2e-5) {
			t.Errorf("%s: off by %g\n%v", method, d, s.Y)
		}
	}
}

// TestOrders halves the step of both methods on an equation that depends on time: errors fall by 2 to the order.
func TestOrders(t *testing.T) {
	f := func(t float64, y *weft.Tensor) *weft.Tensor { return y.Mul(-math.Cos(t)).Add(math.Sin(3 * t)) }
	y0 := weft.From([]float64{1, 2, -1})
	end := func(m Method, n float64) *weft.Tensor {
		s, err := SolveIVP(f, 0, 3, y0, SolveIVPOpts{Method: m, RTol: 1e6, FirstStep: 3 / n, MaxStep: 3 / n, TEval: []float64{3}})
		if err != nil {
			t.Fatal(err)
		}
		return s.Y
	}
	exact := end(RK45, 512)
	for method, order := range map[Method]float64{RK45: 5, Rodas3: 3} {
		coarse, fine := end(method, 64).Sub(exact).Abs().Sum().Item(), end(method, 128).Sub(exact).Abs().Sum().Item()
		if got := math.Log2(coarse / fine); math.Abs(got-order) > 0.5 {
			t.Errorf("%s: order %.2f from %g and %g", method, got, coarse, fine)
		}
	}
}

// TestBackwardEventsAndGradients covers time that runs backward, an event, and gradients through the steps.
func TestBackwardEventsAndGradients(t *testing.T) {
	decay := func(_ float64, y *weft.Tensor) *weft.Tensor { return y.Neg() }
	s, err := SolveIVP(decay, 1, 0, weft.OnesOf(weft.Float64, 1), SolveIVPOpts{RTol: 1e-9, ATol: 1e-12})
	if err != nil || math.Abs(s.Y.At(-1).Item()-math.E) > 1e-7 {
		t.Error(s, err)
	}
	for _, m := range []Method{RK45, Rodas3, Radau, BDF} {
		s, err = SolveIVP(decay, 0, 9, weft.OnesOf(weft.Float64, 1), SolveIVPOpts{Method: m, RTol: 1e-7, ATol: 1e-10, Event: func(_ float64, y *weft.Tensor) float64 { return y.Item() - 0.5 }})
		if err != nil || !s.Ended || math.Abs(s.T[len(s.T)-1]-math.Ln2) > 1e-5 {
			t.Error(m, s, err)
		}
	}
	rate := weft.From([]float64{0.5}).RequireGrad(true)
	y0 := weft.From([]float64{2}).RequireGrad(true)
	s, err = SolveIVP(func(_ float64, y *weft.Tensor) *weft.Tensor { return y.Mul(rate) }, 0, 1, y0, SolveIVPOpts{RTol: 1e-9, ATol: 1e-12, TEval: []float64{0.7}})
	if err != nil {
		t.Fatal(err)
	}
	g := weft.Grad(s.Y.Sum(), []*weft.Tensor{rate, y0})
	e := math.Exp(0.35)
	if math.Abs(g[0].Item()-1.4*e) > 1e-5 || math.Abs(g[1].Item()-e) > 1e-6 {
		t.Error(g)
	}
	var ae *AccuracyError
	if s, err := SolveIVP(func(_ float64, y *weft.Tensor) *weft.Tensor { return y.Square() }, 0, 2, weft.OnesOf(weft.Float64, 1)); !errors.As(err, &ae) || s.T[len(s.T)-1] > 1.01 {
		t.Error(err)
	}
}

// TestNotFinite: an f that is NaN at the start is an error at once. One that is NaN from 1 on is solved up to there.
func TestNotFinite(t *testing.T) {
	one := weft.From([]float64{1})
	for _, m := range []Method{RK45, Rodas3, Radau, BDF} {
		s, err := SolveIVP(func(_ float64, y *weft.Tensor) *weft.Tensor { return y.Mul(math.NaN()) }, 0, 2, one, SolveIVPOpts{Method: m})
		if err == nil || !strings.Contains(err.Error(), "f is not finite at 0") || s.Evals > 10 {
			t.Error(m, err, s.Evals)
		}
		s, err = SolveIVP(func(t float64, y *weft.Tensor) *weft.Tensor { return y.Mul(math.Sqrt(1 - t)) }, 0, 2, one, SolveIVPOpts{Method: m})
		if err == nil || s.T[len(s.T)-1] < 0.9999 || s.T[len(s.T)-1] > 1 || math.Abs(s.Y.At(-1, 0).Item()-math.Exp(2.0/3)) > 0.03 {
			t.Error(m, err, s.T[len(s.T)-1], s.Y.At(-1))
		}
	}
}

// TestPole: the solution 1/(1/y0 - t) of y' = y^2 ends at its pole, and so do all methods, forward and backward.
func TestPole(t *testing.T) {
	f := func(_ float64, y *weft.Tensor) *weft.Tensor { return y.Square() }
	for _, m := range []Method{RK45, Rodas3, Radau, BDF} {
		for _, end := range []float64{2, -2} {
			s, err := SolveIVP(f, 0, end, weft.From([]float64{math.Copysign(1, end)}), SolveIVPOpts{Method: m})
			if last := s.T[len(s.T)-1]; err == nil || math.Abs(last-end/2) > 0.02 {
				t.Errorf("%s: %v at %v, want an error at %v", m, err, last, end/2)
			}
		}
	}
}

// TestMistakes compares what is said of bad arguments.
func TestMistakes(t *testing.T) {
	y := weft.From([]float64{1, 2})
	for want, f := range map[string]func(){
		"integrate.quad: f: is nil":                                                      func() { Quad(nil, 0, 1) },
		"integrate.quad: a: and b are NaN and 1":                                         func() { Quad((*weft.Tensor).Exp, math.NaN(), 1) },
		"integrate.quad: Points: has 2, which is not between 0 and 1":                    func() { Quad((*weft.Tensor).Exp, 0, 1, QuadOpts{Points: []float64{2}}) },
		"integrate.quad: EpsAbs: is -1":                                                  func() { Quad((*weft.Tensor).Exp, 0, 1, QuadOpts{EpsAbs: new(-1.0)}) },
		"integrate.quad: f: does not return a real number for each point":                func() { Quad(func(x *weft.Tensor) *weft.Tensor { return x.Sum() }, 0, 1) },
		"integrate.solveivp: f: is nil":                                                  func() { SolveIVP(nil, 0, 1, y) },
		"integrate.solveivp: y0: is nil":                                                 func() { SolveIVP(lotka, 0, 1, nil) },
		"integrate.solveivp: t0: and t1 are 0 and +Inf":                                  func() { SolveIVP(lotka, 0, math.Inf(1), y) },
		"integrate.solveivp: RTol: is -1":                                                func() { SolveIVP(lotka, 0, 1, y, SolveIVPOpts{RTol: -1}) },
		"integrate.solveivp: Method: \"no\" is unknown: want RK45, Rodas3, Radau or BDF": func() { SolveIVP(lotka, 0, 1, y, SolveIVPOpts{Method: "no"}) },
		"integrate.solveivp: TEval: has 2, which does not lie between":                   func() { SolveIVP(lotka, 0, 1, y, SolveIVPOpts{TEval: []float64{2}}) },
		"integrate.solveivp: f: does not return real numbers in y's shape,":              func() { SolveIVP(func(_ float64, y *weft.Tensor) *weft.Tensor { return y.Sum() }, 0, 1, y) },
	} {
		if err := weft.Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, not %s", err, want)
		}
	}
}

// TestContext holds that an integration ends with its context, and returns the steps so far and the cause.
func TestContext(t *testing.T) {
	cause := errors.New("enough")
	for _, m := range []Method{RK45, Radau, BDF, Rodas3} {
		ctx, cancel := context.WithCancelCause(t.Context())
		s, err := SolveIVP(func(t float64, y *weft.Tensor) *weft.Tensor {
			if t > 1 {
				cancel(cause)
			}
			return y.Neg()
		}, 0, 1e6, weft.Ones(2), SolveIVPOpts{Method: m, Context: ctx, MaxStep: 0.1})
		if !errors.Is(err, cause) || len(s.T) < 10 || len(s.T) > 40 || s.Y.Dim(0) != len(s.T) {
			t.Error(m, s, err)
		}
	}
}

// TestQuadContext holds that an integral ends with its context, and returns what was computed and the cause.
func TestQuadContext(t *testing.T) {
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	rounds := 0
	v, estimate, err := Quad(func(x *weft.Tensor) *weft.Tensor {
		if rounds++; rounds == 3 {
			cancel(cause)
		}
		return x.Reciprocal().Sin()
	}, 0, 1, QuadOpts{Context: ctx, EpsAbs: new(1e-14), EpsRel: new(0.0)})
	var e *AccuracyError
	if !errors.Is(err, cause) || !errors.As(err, &e) || rounds != 4 || !(math.Abs(v.Item()-0.504) < 0.1) || !(estimate > 1e-14) {
		t.Error(v, estimate, err, rounds)
	}
}
