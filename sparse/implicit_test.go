package sparse_test

import (
	"strings"
	"testing"

	"weft"
	"weft/internal/tensortest"
	"weft/sparse"
)

// TestSolutionsHaveGradients compares derivatives of solutions, and of their derivatives, with differences.
func TestSolutionsHaveGradients(t *testing.T) {
	tol := 1e-13
	line := sparse.Diags([]*weft.Tensor{weft.From([]float64{4}), weft.From([]float64{-1}), weft.From([]float64{-1})}, []int{0, 1, -1}, 5, 5)
	general := line.Add(sparse.Diags([]*weft.Tensor{weft.From([]float64{0.5})}, []int{2}, 5, 5))
	tall := sparse.VStack(general, line.Scale(0.5))
	o := func(m *sparse.Matrix) sparse.SolverOpts {
		return sparse.SolverOpts{RTol: &tol, Adjoint: m.H().MatMul}
	}
	for name, c := range map[string]struct {
		m     *sparse.Matrix
		solve func(m *sparse.Matrix, b *weft.Tensor) (sparse.Solution, error)
	}{
		"cg": {line, func(m *sparse.Matrix, b *weft.Tensor) (sparse.Solution, error) {
			m = m.Add(m.T()).Scale(0.5)
			return sparse.CG(m.MatMul, b, sparse.SolverOpts{RTol: &tol, Preconditioner: sparse.Jacobi(line)})
		}},
		"minres": {line, func(m *sparse.Matrix, b *weft.Tensor) (sparse.Solution, error) {
			m = m.Add(m.T()).Scale(0.5)
			return sparse.MINRES(m.MatMul, b, sparse.SolverOpts{RTol: &tol})
		}},
		"bicgstab": {general, func(m *sparse.Matrix, b *weft.Tensor) (sparse.Solution, error) {
			return sparse.BiCGSTAB(m.MatMul, b, o(m))
		}},
		"gmres": {general, func(m *sparse.Matrix, b *weft.Tensor) (sparse.Solution, error) {
			return sparse.GMRES(m.MatMul, b, o(m))
		}},
		"lsqr": {tall, func(m *sparse.Matrix, b *weft.Tensor) (sparse.Solution, error) {
			return sparse.LSQR(m.MatMul, m.H().MatMul, b, sparse.LSQROpts{ATol: &tol, BTol: &tol})
		}},
		"lsqr damped": {tall, func(m *sparse.Matrix, b *weft.Tensor) (sparse.Solution, error) {
			return sparse.LSQR(m.MatMul, m.H().MatMul, b, sparse.LSQROpts{ATol: &tol, BTol: &tol, Damp: 0.5})
		}},
	} {
		n := c.m.Shape()[0]
		values, b := weft.Data[float64](c.m.Values()), weft.Data[float64](weft.Arange(float64(n)).To(weft.Float64).Add(1).Sqrt())
		y := func(at *weft.Tensor) *weft.Tensor { // of the right side and of the values
			m := c.m.WithValues(at.Slice(weft.Range(n, weft.End)))
			s, err := c.solve(m, at.Slice(weft.Range(0, n)))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			return s.X.Pow(3).Sum()
		}
		at := append(b, values...)
		tensortest.Differences(t, name, y, at...)
		tensortest.Differences(t, name+" twice", func(at *weft.Tensor) *weft.Tensor {
			if !at.RequiresGrad() {
				at = at.RequireGrad()
			}
			g := weft.Grad(y(at), []*weft.Tensor{at}, weft.GradOpts{Create: true})[0]
			return g.Mul(weft.Arange(float64(len(b) + len(values)))).Sum()
		}, at...)
	}
}

// TestGradientOfSolutionNamesTheAdjoint: without it a backward pass is an error, and the solution is not.
func TestGradientOfSolutionNamesTheAdjoint(t *testing.T) {
	m := laplace(3)
	b := weft.OnesOf(weft.Float64, 9).RequireGrad()
	s, err := sparse.GMRES(m.MatMul, b)
	if err != nil {
		t.Fatal(err)
	}
	if err := weft.Try(s.X.Sum().Backward); err == nil || !strings.Contains(err.Error(), "sparse.gmres: Adjoint") {
		t.Error(err)
	}
	weft.WithoutGrad(func() { s, _ = sparse.GMRES(m.MatMul, b) })
	if s.X.RequiresGrad() {
		t.Error("recorded inside WithoutGrad")
	}
}

// TestGradientOfSolutionSolvesOnce counts the operator's calls of a backward pass: one more system, not two.
func TestGradientOfSolutionSolvesOnce(t *testing.T) {
	m, calls := laplace(12), 0
	b := weft.RandnOf(weft.Float64, 144).RequireGrad()
	s, err := sparse.CG(func(x *weft.Tensor) *weft.Tensor { calls++; return m.MatMul(x) }, b)
	if err != nil {
		t.Fatal(err)
	}
	calls = 0
	s.X.Square().Sum().Backward()
	if calls > 2*s.Iterations {
		t.Errorf("%d calls in the backward pass for %d iterations", calls, s.Iterations)
	}
}

// TestSumTakesNoMemoryOfTheOtherSize adds up rows of a matrix with the greatest number of columns.
func TestSumTakesNoMemoryOfTheOtherSize(t *testing.T) {
	const huge = 1<<31 - 1
	m := sparse.NewCSR(weft.From([]float64{1, 2, 3}).RequireGrad(), []int{5, huge - 1, 0}, []int{0, 2, 3}, 2, huge)
	for _, m := range []*sparse.Matrix{m, m.To(sparse.COO), m.T().T()} {
		if y := m.Sum(1); y.At(0).Item() != 3 || y.At(1).Item() != 3 || y.Size() != 2 {
			t.Errorf("%s: %v", m.Format(), y)
		}
	}
	if y := m.T().Sum(0); y.At(0).Item() != 3 || y.Size() != 2 {
		t.Errorf("columns: %v", y)
	}
}
