package optimize

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"weft"
)

// bounds is what testdata/bounds.py wrote.
var bounds = func() (s struct {
	Bounded []struct{ X0, Lower, Upper, X []float64 }
	NNLS    []struct {
		A    [][]float64
		B, X []float64
		R    float64
	}
	Programs []struct {
		C, BUb, BEq, Lower, Upper []float64
		AUb, AEq                  [][]float64
		Status                    int
		Value                     float64
	}
	Scalar []struct {
		Method   ScalarMethod
		X, Least float64
	}
}) {
	text, err := os.ReadFile("testdata/bounds.json")
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		panic(err)
	}
	return s
}()

// unbounded makes infinities of what JSON has for them.
func unbounded(x []float64) *weft.Tensor {
	for i, v := range x {
		if math.Abs(v) >= 1e300 {
			x[i] = math.Copysign(math.Inf(1), v)
		}
	}
	return weft.From(x)
}

// TestMinimizeBounded compares minima within bounds with SciPy's L-BFGS-B.
func TestMinimizeBounded(t *testing.T) {
	for i, c := range bounds.Bounded {
		r, err := Minimize(rosenbrock, weft.From(c.X0), MinimizeOpts{GTol: 1e-9, Bounds: &Bounds{unbounded(c.Lower), unbounded(c.Upper)}})
		if err != nil {
			t.Errorf("%d: %v after %d steps, %d evaluations", i, err, r.Steps, r.FuncEvals)
		}
		near(t, fmt.Sprint(i), r.X, weft.From(c.X), 2e-6)
		if r.Steps > 200 {
			t.Errorf("%d: %d steps, %d evaluations", i, r.Steps, r.FuncEvals)
		}
	}
	// A quadratic of 200 unknowns in a matrix, with one bound for all.
	n := weft.ArangeOf(weft.Float64, 200).Reshape(10, 20)
	r, err := Minimize(func(x *weft.Tensor) *weft.Tensor { return x.Sub(n.Div(100)).Square().Mul(n.Add(1)).Sum() }, weft.Zeros(10, 20), MinimizeOpts{GTol: 1e-8, Bounds: &Bounds{Upper: weft.From(1.0)}})
	if err != nil {
		t.Fatal(err, r.Steps)
	}
	near(t, "quadratic", r.X, n.Div(100).Minimum(1), 1e-6)
}

// TestBoundedModel compares the steps of L-BFGS-B with steps by a dense matrix, which BFGS's formula makes of the same
// pairs.
func TestBoundedModel(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	const n = 8
	random := func() []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = r.NormFloat64()
		}
		return x
	}
	stops := 0
	for range 200 {
		b := &bounded{x: make([]float64, n), g: random(), lower: random(), upper: random(), theta: 1}
		for i := range n {
			b.lower[i], b.upper[i] = -math.Abs(b.lower[i]), math.Abs(b.upper[i])
		}
		for len(b.s) < 3 {
			s, y := random(), random()
			if floats.Dot(s, y) > 0.5 {
				b.remember(s, y)
			}
		}
		dense := denseModel(b)
		times := func(x []float64) []float64 {
			var y mat.VecDense
			y.MulVec(dense, mat.NewVecDense(n, x))
			return y.RawVector().Data
		}
		// From bound to bound along the projected gradient, up to the first minimum.
		z, d := make([]float64, n), make([]float64, n)
		for i, g := range b.g {
			d[i] = -g
		}
		for {
			slope, curve := floats.Dot(b.g, d)+floats.Dot(d, times(z)), floats.Dot(d, times(d))
			step, next := -slope/curve, -1
			if !(slope < 0) {
				break
			}
			for i, v := range d {
				if end := max((b.lower[i]-z[i])/v, (b.upper[i]-z[i])/v); v != 0 && end < step {
					step, next = end, i
				}
			}
			if floats.AddScaled(z, step, d); next < 0 {
				break
			}
			d[next] = 0
			stops++
		}
		cauchy, c := b.cauchy()
		if !floats.EqualApprox(cauchy, z, 1e-9) {
			t.Fatalf("first minimum %v, want %v", cauchy, z)
		}
		// Then the minimum over what is between bounds, and there as far as the bounds let go.
		var free []int
		for i, v := range z {
			if v > b.lower[i]+1e-9 && v < b.upper[i]-1e-9 {
				free = append(free, i)
			}
		}
		if len(free) == 0 {
			continue
		}
		part, left := mat.NewDense(len(free), len(free), nil), mat.NewVecDense(len(free), nil)
		slopes := times(z)
		for k, i := range free {
			left.SetVec(k, -b.g[i]-slopes[i])
			for l, j := range free {
				part.Set(k, l, dense.At(i, j))
			}
		}
		var way mat.VecDense
		if err := way.SolveVec(part, left); err != nil {
			t.Fatal(err)
		}
		share := 1.0
		for k, i := range free {
			share = min(share, max((b.lower[i]-z[i])/way.AtVec(k), (b.upper[i]-z[i])/way.AtVec(k)))
		}
		for k, i := range free {
			z[i] += share * way.AtVec(k)
		}
		if x := b.inner(cauchy, c); !floats.EqualApprox(x, z, 1e-8) {
			t.Fatalf("minimum %v, want %v", x, z)
		}
	}
	if stops < 200 {
		t.Errorf("%d bounds on the way: want some for each model", stops)
	}
}

// denseModel returns the matrix that BFGS's formula makes of theta on the diagonal and the pairs of b.
func denseModel(b *bounded) *mat.Dense {
	n := len(b.x)
	dense := mat.NewDense(n, n, nil)
	for i := range n {
		dense.Set(i, i, b.theta)
	}
	for k := range b.s {
		s, y := mat.NewVecDense(n, b.s[k]), mat.NewVecDense(n, b.y[k])
		var bs mat.VecDense
		bs.MulVec(dense, s)
		dense.RankOne(dense, -1/mat.Dot(&bs, s), &bs, &bs)
		dense.RankOne(dense, 1/mat.Dot(y, s), y, y)
	}
	return dense
}

// TestNNLS compares with SciPy's nnls.
func TestNNLS(t *testing.T) {
	for i, c := range bounds.NNLS {
		x, r, err := NNLS(weft.From(c.A), weft.From(c.B))
		if err != nil || math.Abs(r-c.R) > 1e-12*(1+c.R) {
			t.Error(i, r, c.R, err)
		}
		near(t, fmt.Sprint(i), x, weft.From(c.X), 1e-11)
	}
	// Units of columns and of b do not count.
	for _, c := range [][3]float64{{1e10, 1e-10, 1e15}, {1e6, 1e-6, 1000}, {1e200, 1e-100, 1e295}, {1e-200, 1e-210, 1e5}} {
		x, r, err := NNLS(weft.From([][]float64{{c[0], 0}, {0, c[1]}}), weft.From([]float64{c[0], c[1] * c[2]}))
		if err != nil || r > 1e-15*c[0] {
			t.Error(c, x, r, err)
		}
		near(t, fmt.Sprint(c), x.Div(weft.From([]float64{1, c[2]})), weft.Ones(2), 1e-11)
	}
}

// TestLinProg compares values with SciPy's, and checks the constraints.
func TestLinProg(t *testing.T) {
	for i, c := range bounds.Programs {
		o := LinProgOpts{Bounds: &Bounds{unbounded(c.Lower), unbounded(c.Upper)}}
		if c.AUb != nil {
			o.AUb, o.BUb = weft.From(c.AUb), weft.From(c.BUb)
		}
		if c.AEq != nil {
			o.AEq, o.BEq = weft.From(c.AEq), weft.From(c.BEq)
		}
		p, err := LinProg(weft.From(c.C), o)
		var e *ProgramError
		if c.Status != 0 {
			if want := map[int]ProgramStatus{2: Infeasible, 3: Unbounded}[c.Status]; !errors.As(err, &e) || e.Status != want {
				t.Errorf("%d: %v, want %s", i, err, want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%d: %v", i, err)
			continue
		}
		if math.Abs(p.Value-c.Value) > 1e-9*(1+math.Abs(c.Value)) {
			t.Errorf("%d: %v, SciPy's %v", i, p.Value, c.Value)
		}
		if o.AUb != nil && p.Slack.Min().Item() < -1e-9 || o.AEq != nil && o.AEq.MatMul(p.X).Sub(o.BEq).Abs().Max().Item() > 1e-9 ||
			p.X.Sub(o.Bounds.Lower).Min().Item() < 0 || o.Bounds.Upper.Sub(p.X).Min().Item() < 0 {
			t.Errorf("%d: %v breaks a constraint", i, p.X)
		}
	}
}

// TestMinimizeScalar compares with SciPy's minimize_scalar.
func TestMinimizeScalar(t *testing.T) {
	f := func(x float64) float64 { return (x - 2) * x * (x + 2) * (x + 2) }
	for _, c := range bounds.Scalar {
		o := MinimizeScalarOpts{Method: c.Method}
		if c.Method == Bounded {
			o.Bounds = []float64{-3, -1}
		}
		m, err := MinimizeScalar(f, o)
		if err != nil || math.Abs(m.Value-c.Least) > 1e-9*(1+math.Abs(c.Least)) || math.Abs(m.X-c.X) > 2e-5 || m.FuncEvals > 80 {
			t.Errorf("%+v, %v; SciPy's %v", m, err, c)
		}
	}
	if m, err := MinimizeScalar(f, MinimizeScalarOpts{Method: Golden, Bracket: []float64{0, 1, 2}}); err != nil || math.Abs(m.X-bounds.Scalar[0].X) > 1e-6 {
		t.Error(m, err)
	}
	var e *ConvergenceError
	for _, f := range []func(float64) float64{func(x float64) float64 { return x }, func(float64) float64 { return math.NaN() }} {
		if m, err := MinimizeScalar(f); !errors.As(err, &e) || m == nil {
			t.Error(m, err)
		}
	}
}
