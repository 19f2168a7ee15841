package linalg_test

import (
	"math"
	"testing"

	"weft"
	"weft/linalg"
)

// A spectralFunction is a function of singular values or eigenvalues whose second derivative along e has a closed
// formula without them.
type spectralFunction struct {
	hermitian, regular bool
	f                  func(a *weft.Tensor) *weft.Tensor
	second             func(a, e *weft.Tensor) *weft.Tensor
}

func product(xs ...*weft.Tensor) *weft.Tensor {
	y := xs[0]
	for _, x := range xs[1:] {
		y = y.MatMul(x)
	}
	return y
}

var smooth = map[string]spectralFunction{
	"sum of s^2": {f: func(a *weft.Tensor) *weft.Tensor { return linalg.SVDVals(a).Square().Sum() },
		second: func(a, e *weft.Tensor) *weft.Tensor { return e.Mul(2) }},
	"sum of s^4": {f: func(a *weft.Tensor) *weft.Tensor { return linalg.SVDVals(a).Pow(4).Sum() },
		second: func(a, e *weft.Tensor) *weft.Tensor {
			b, g := adjoint(a), adjoint(e)
			return product(e, b, a).Add(product(a, g, a)).Add(product(a, b, e)).Mul(4)
		}},
	"square of the sum of s^2": {f: func(a *weft.Tensor) *weft.Tensor { return linalg.SVDVals(a).Square().Sum().Square() },
		second: func(a, e *weft.Tensor) *weft.Tensor {
			return a.Mul(inner(a, e).Mul(8)).Add(e.Mul(inner(a, a).Mul(4)))
		}},
	"sum of log s": {regular: true, f: func(a *weft.Tensor) *weft.Tensor { return linalg.SVDVals(a).Log().Sum() },
		second: func(a, e *weft.Tensor) *weft.Tensor { b := linalg.Inv(a); return adjoint(product(b, e, b)).Neg() }},
	"sum of w^2": {hermitian: true, f: func(a *weft.Tensor) *weft.Tensor { return linalg.EigValsH(a).Square().Sum() },
		second: func(a, e *weft.Tensor) *weft.Tensor { return e.Mul(2) }},
	"sum of w^3": {hermitian: true, f: func(a *weft.Tensor) *weft.Tensor { return linalg.EigValsH(a).Pow(3).Sum() },
		second: func(a, e *weft.Tensor) *weft.Tensor { return product(a, e).Add(product(e, a)).Mul(3) }},
	"sum of log w": {hermitian: true, regular: true, f: func(a *weft.Tensor) *weft.Tensor { return linalg.EigValsH(a).Abs().Log().Sum() },
		second: func(a, e *weft.Tensor) *weft.Tensor { b := linalg.Inv(a); return product(b, e, b).Neg() }},
	"mean of w, squared": {hermitian: true, f: func(a *weft.Tensor) *weft.Tensor { return linalg.EigValsH(a).Sum().Square() },
		second: func(a, e *weft.Tensor) *weft.Tensor {
			return weft.EyeOf(a.DType(), a.Dim(0)).Mul(inner(weft.EyeOf(a.DType(), a.Dim(0)), e).Mul(2))
		}},
}

// second is the second derivative of f at x along e.
func second(f func(x *weft.Tensor) *weft.Tensor, x, e *weft.Tensor) *weft.Tensor {
	g := weft.Grad(f(x), []*weft.Tensor{x}, weft.GradOpts{Create: true})[0]
	return weft.Grad(inner(g, e), []*weft.Tensor{x})[0]
}

// equalValues are matrices with equal values or values of 0.
func equalValues(d weft.DType) map[string]*weft.Tensor {
	g := weft.NewGenerator(21)
	q, _ := linalg.QR(randomOf(g, d, 4, 4))
	pairs := q.Mul(weft.From([]float64{2, 2, -1, -1}).To(d)).MatMul(adjoint(q))
	low := q.Mul(weft.From([]float64{3, 3, 0, 0}).To(d)).MatMul(adjoint(q))
	return map[string]*weft.Tensor{
		"identity":   weft.EyeOf(d, 4),
		"reflection": q.Mul(weft.From([]float64{1, 1, 1, -1}).To(d)).MatMul(adjoint(q)),
		"pairs":      pairs.Add(adjoint(pairs)).Div(2),
		"rank 2":     low.Add(adjoint(low)).Div(2),
		"zeros":      weft.ZerosOf(d, 3, 3),
		"ones":       weft.OnesOf(d, 3, 3),
		"unitary":    q,
		"tall":       q.Slice(weft.All, weft.Range(0, 2)).Contiguous(),
		"wide":       q.Slice(weft.Range(0, 3)).Contiguous(),
		"single":     weft.FullOf(d, 2.0, 1, 1),
	}
}

// TestSecondDerivativesAtEqualValues compares second derivatives of smooth functions of singular values and eigenvalues
// with closed formulas, where values are equal or 0, eagerly, compiled and of batches.
func TestSecondDerivativesAtEqualValues(t *testing.T) {
	for _, ty := range types {
		g := weft.NewGenerator(22)
		for name, x := range equalValues(ty.d) {
			square := x.Dim(0) == x.Dim(1)
			for of, s := range smooth {
				if (s.hermitian || s.regular) && !square || s.hermitian && distance(x, adjoint(x)) > 1e-6 || s.regular && linalg.MatrixRank(x).Item() < float64(x.Dim(0)) {
					continue
				}
				e := randomOf(g, ty.d, x.Shape()...)
				if s.hermitian {
					e = e.Add(adjoint(e)).Div(2)
				}
				want := s.second(x, e)
				got := map[string]*weft.Tensor{"eager": second(s.f, x.Detach().RequireGrad(), e)}
				if name == "pairs" || name == "tall" {
					got["compiled"] = weft.Compile(func(x, e *weft.Tensor) *weft.Tensor { return second(s.f, x.RequireGrad(), e) }).Func()(x, e)
				}
				if of == "sum of s^2" || of == "sum of w^3" {
					batch := weft.Stack([]*weft.Tensor{x, x.Add(1)}, 0)
					got["batch"] = second(s.f, batch.RequireGrad(), weft.Stack([]*weft.Tensor{e, e.Mul(0)}, 0)).At(0)
				}
				for how, got := range got {
					if d := distance(got, want); !(d <= 500*ty.eps*math.Max(1, want.Abs().Max().Item())) {
						t.Errorf("%v, %s, %s, %s: %v, want %v", ty.d, name, of, how, got, want)
					}
				}
			}
		}
	}
}

// TestThirdDerivativesOfValues compares them with closed formulas where values differ. Where values are equal they are
// not finite, whatever the function.
func TestThirdDerivativesOfValues(t *testing.T) {
	g := weft.NewGenerator(23)
	q, _ := linalg.QR(randomOf(g, weft.Float64, 3, 3))
	e := randomOf(g, weft.Float64, 3, 3)
	e = e.Add(adjoint(e))
	third := func(f func(x *weft.Tensor) *weft.Tensor, x *weft.Tensor) *weft.Tensor {
		x = x.Detach().RequireGrad()
		slope := weft.Grad(f(x), []*weft.Tensor{x}, weft.GradOpts{Create: true})[0]
		bend := weft.Grad(inner(slope, e), []*weft.Tensor{x}, weft.GradOpts{Create: true})[0]
		return weft.Grad(inner(bend, e), []*weft.Tensor{x})[0]
	}
	for gap, tolerance := range map[float64]float64{1: 1e-12, 1e-3: 1e-9, 0: 0} {
		x := q.Mul(weft.From([]float64{2, 2 + gap, -1})).MatMul(adjoint(q))
		x = x.Add(adjoint(x)).Div(2)
		for of, f := range map[string]struct{ got, want *weft.Tensor }{
			"sum of w^3": {third(smooth["sum of w^3"].f, x), product(e, e).Mul(6)},
			"sum of s^4": {third(smooth["sum of s^4"].f, x), product(e, e, x).Add(product(e, x, e)).Add(product(x, e, e)).Mul(8)},
		} {
			d := distance(f.got, f.want)
			if gap == 0 && !math.IsNaN(d) || gap > 0 && !(d <= tolerance*f.want.Abs().Max().Item()) {
				t.Errorf("%s, gap %v: differs by %v", of, gap, d)
			}
		}
	}
}

// TestSecondDerivativeOfNestedValues takes the second derivative through 12 decompositions of matrices that depend on
// the values of the one before. A pass that recorded the slopes it needs would take years.
func TestSecondDerivativeOfNestedValues(t *testing.T) {
	eye := weft.EyeOf(weft.Float64, 3)
	nested := func(x *weft.Tensor) *weft.Tensor {
		y := x
		for range 12 {
			y = eye.Mul(linalg.EigValsH(y.Add(x)).Sum().Mul(0.1)).Add(x)
		}
		return y.Square().Sum()
	}
	// y is x + c*trace(x)*I.
	c := 0.0
	for range 12 {
		c = 0.1 * (2 + 3*c)
	}
	linear := func(e *weft.Tensor) *weft.Tensor { return e.Add(eye.Mul(inner(eye, e).Mul(c))) }
	e := weft.OnesOf(weft.Float64, 3, 3)
	got, want := second(nested, eye.Detach().RequireGrad(), e), linear(linear(e)).Mul(2)
	if d := distance(got, want); !(d <= 1e-12*want.Abs().Max().Item()) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestSecondDerivativesOfValuesInLoops: a compiled loop whose result are values does not know how the loss depends on
// them. Second derivatives are right where values differ, and NaN where they are equal. A loop that has the loss knows.
func TestSecondDerivativesOfValuesInLoops(t *testing.T) {
	loop := func(x, start *weft.Tensor, body func() *weft.Tensor) *weft.Tensor {
		last, _ := weft.ScanSteps(2, func(_ *weft.Tensor, s []*weft.Tensor) (next, out []*weft.Tensor) {
			return []*weft.Tensor{body().Add(s[0].Mul(0))}, nil
		}, []*weft.Tensor{start})
		return last[0]
	}
	inLoop := map[string]func(x *weft.Tensor) *weft.Tensor{
		"values": func(x *weft.Tensor) *weft.Tensor {
			return loop(x, weft.Zeros(3).To(weft.Float64), func() *weft.Tensor { return linalg.EigValsH(x) }).Pow(3).Sum()
		},
		"squares": func(x *weft.Tensor) *weft.Tensor {
			return loop(x, weft.Zeros(3).To(weft.Float64), func() *weft.Tensor { return linalg.SVDVals(x).Square() }).Square().Sum()
		},
		"loss": func(x *weft.Tensor) *weft.Tensor {
			return loop(x, weft.ZerosOf(weft.Float64), func() *weft.Tensor { return smooth["sum of w^3"].f(x) })
		},
	}
	e := weft.From([][]float64{{1, 2, 3}, {2, -1, 1}, {3, 1, 0.5}})
	for name, f := range inLoop {
		of, in := smooth["sum of w^3"].second, weft.Compile(func(x *weft.Tensor) *weft.Tensor { return second(f, x.RequireGrad(), e) }).Func()
		if name == "squares" {
			of = smooth["sum of s^4"].second
		}
		for _, w := range [][]float64{{1, 2, 3}, {2, 2, 3}} {
			x := weft.From(w).Diag(0)
			got, want := in(x), of(x, e)
			d := distance(got, want)
			if unknown := name != "loss" && w[0] == w[1]; unknown && !math.IsNaN(d) || !unknown && !(d <= 1e-12*want.Abs().Max().Item()) {
				t.Errorf("%s of %v: %v, want %v", name, w, got, want)
			}
			if d := distance(second(f, x.Detach().RequireGrad(), e), want); !(d <= 1e-12*want.Abs().Max().Item()) {
				t.Errorf("%s of %v, eagerly: differs by %v", name, w, d)
			}
		}
	}
}
