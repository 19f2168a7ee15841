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
