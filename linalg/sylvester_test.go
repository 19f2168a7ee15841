package linalg_test

import (
	"testing"

	"weft"
	"weft/internal/tensortest"
	"weft/linalg"
)

// matrixEquations are the functions with the left sides of their equations, which the residual of a solution tests.
var matrixEquations = map[string]struct {
	solve, left func(a, b, x *weft.Tensor) *weft.Tensor
}{
	"sylvester": {linalg.SolveSylvester,
		func(a, b, x *weft.Tensor) *weft.Tensor { return a.MatMul(x).Add(x.MatMul(b)) }},
	"continuous": {
		func(a, _, q *weft.Tensor) *weft.Tensor { return linalg.SolveContinuousLyapunov(a, q) },
		func(a, _, x *weft.Tensor) *weft.Tensor { return a.MatMul(x).Add(x.MatMul(adjoint(a))) }},
	"discrete": {
		func(a, _, q *weft.Tensor) *weft.Tensor { return linalg.SolveDiscreteLyapunov(a, q) },
		func(a, _, x *weft.Tensor) *weft.Tensor { return x.Sub(a.MatMul(x).MatMul(adjoint(a))) }},
}

func TestSylvesterResiduals(t *testing.T) {
	g := weft.NewGenerator(5)
	for name, e := range matrixEquations {
		for d, tolerance := range map[weft.DType]float64{weft.Float32: 2e-5, weft.Float64: 1e-13, weft.Complex64: 2e-5, weft.Complex128: 1e-13} {
			for _, n := range []int{0, 1, 2, 7} {
				a := randomOf(g, d, 3, n, n).Add(weft.EyeOf(d, n).Mul(5))
				if name == "discrete" {
					a = a.Div(20)
				}
				m := n
				if name == "sylvester" {
					m = n + 2
				}
				b, q := randomOf(g, d, 2, 1, m, m).Add(weft.EyeOf(d, m).Mul(5)), randomOf(g, d, 2, 1, n, m)
				x := e.solve(a, b, q)
				if x.DType() != d {
					t.Errorf("%s: result is %s, want %s", name, x.DType(), d)
				}
				if r := e.left(a, b, x).Sub(q); n > 0 && r.Abs().Max().Item() > tolerance {
					t.Errorf("%s %s %d: residual %v", name, d, n, r.Abs().Max())
				}
			}
		}
	}
}

// Values: scipy.linalg 1.17, solve_sylvester, solve_continuous_lyapunov, solve_discrete_lyapunov.
func TestSylvesterValues(t *testing.T) {
	a := weft.From([][]float64{{0, 0.5}, {-0.5, 0.25}})
	b := weft.From([][]float64{{2, 1}, {0, 3}})
	q := weft.From([][]float64{{1, 2}, {3, 4}})
	for name, want := range sylvesterValues {
		got := matrixEquations[name].solve(a, b, q)
		if d := got.Sub(weft.From(want)).Abs().Max().Item(); d > 1e-14 {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// Derivatives are compared with the derivatives of Solve for the same equations, as one system of n*n unknowns.
func TestSylvesterGradients(t *testing.T) {
	for _, d := range []weft.DType{weft.Float64, weft.Complex128} {
		g := weft.NewGenerator(9)
		a := randomOf(g, d, 3, 3).Div(4).Add(weft.EyeOf(d, 3).Mul(0.3))
		b, q := randomOf(g, d, 3, 3).Div(4).Add(weft.EyeOf(d, 3)), randomOf(g, d, 3, 3)
		eye := weft.EyeOf(d, 3)
		systems := map[string]func(a, b *weft.Tensor) *weft.Tensor{
			"sylvester": func(a, b *weft.Tensor) *weft.Tensor {
				return linalg.Kron(a, eye).Add(linalg.Kron(eye, b.Transpose(0, 1)))
			},
			"continuous": func(a, _ *weft.Tensor) *weft.Tensor {
				return linalg.Kron(a, eye).Add(linalg.Kron(eye, adjoint(a).Transpose(0, 1)))
			},
			"discrete": func(a, _ *weft.Tensor) *weft.Tensor {
				return weft.EyeOf(d, 9).Sub(linalg.Kron(a, adjoint(a).Transpose(0, 1)))
			},
		}
		for name, system := range systems {
			direct := func(a, b, q *weft.Tensor) *weft.Tensor {
				return linalg.Solve(system(a, b), q.Reshape(9)).Reshape(3, 3)
			}
			x := []*weft.Tensor{a, b, q}
			if name != "sylvester" {
				x = []*weft.Tensor{a, q}
			}
			apply := func(f func(a, b, q *weft.Tensor) *weft.Tensor) func(x []*weft.Tensor) []*weft.Tensor {
				return func(x []*weft.Tensor) []*weft.Tensor { return []*weft.Tensor{f(x[0], x[len(x)-2], x[len(x)-1])} }
			}
			got, want := gradients(apply(matrixEquations[name].solve), x), gradients(apply(direct), x)
			for i := range x {
				if e := got[i].Sub(want[i]).Abs().Max().Item(); e > 1e-11 {
					t.Errorf("%s %s: gradient of argument %d is off by %g", name, d, i, e)
				}
			}
			second := func(f func(a, b, q *weft.Tensor) *weft.Tensor) *weft.Tensor {
				leaf := a.Clone().RequireGrad()
				first := weft.Grad(weighted([]*weft.Tensor{f(leaf, b, q)}), []*weft.Tensor{leaf}, weft.GradOpts{Create: true})[0]
				return weft.Grad(weighted([]*weft.Tensor{first.Mul(first)}), []*weft.Tensor{leaf})[0]
			}
			exact := second(direct)
			if e := second(matrixEquations[name].solve).Sub(exact).Abs().Max().Div(exact.Abs().Max()).Item(); e > 1e-11 {
				t.Errorf("%s %s: second derivative is off by %g of its size", name, d, e)
			}
		}
	}
}

func TestSylvesterMistakes(t *testing.T) {
	two, three := weft.EyeOf(weft.Float64, 2), weft.EyeOf(weft.Float64, 3)
	for want, f := range map[string]func(){
		"linalg.solve_sylvester: q":                                 func() { linalg.SolveSylvester(two, three, two) },
		"linalg.solve_sylvester: b":                                 func() { linalg.SolveSylvester(two, weft.Ones(2, 3), two) },
		"linalg.solve_continuous_lyapunov: q":                       func() { linalg.SolveContinuousLyapunov(two, three) },
		"linalg.solve_discrete_lyapunov: a":                         func() { linalg.SolveDiscreteLyapunov(weft.Ones(3), two) },
		"linalg.solve_sylvester: a: the matrix is singular":         func() { linalg.SolveSylvester(two, two.Neg(), two) },
		"linalg.solve_sylvester: a: matrix [1] of the batch is sin": func() { linalg.SolveSylvester(weft.Stack([]*weft.Tensor{two, two.Neg()}, 0), two, two) },
		"linalg.solve_sylvester: b: the matrix has elements that":   func() { linalg.SolveSylvester(two, two.Div(0), two) },
		"linalg.solve_discrete_lyapunov: a: the matrix is singular": func() { linalg.SolveDiscreteLyapunov(two, two) },
	} {
		if err := tensortest.Try(f); !hasText(err, want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

var sylvesterValues = map[string][][]float64{
	"sylvester":  {{0.15789473684210517, 0.4671052631578947}, {1.368421052631579, 0.8815789473684209}},
	"continuous": {{5.5, -1.0000000000000022}, {3.0000000000000013, 10.0}},
	"discrete":   {{2.041666666666667, 1.75}, {3.0833333333333335, 4.166666666666667}},
}
