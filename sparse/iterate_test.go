package sparse_test

import (
	"errors"
	"testing"

	"weft"
	"weft/sparse"
)

// laplace is the five-point Laplacian on a grid of n by n points.
func laplace(n int) *sparse.Matrix {
	line := sparse.Diags([]*weft.Tensor{weft.From([]float64{2}), weft.From([]float64{-1}), weft.From([]float64{-1})}, []int{0, 1, -1}, n, n)
	return sparse.Kron(line, sparse.Eye(n)).Add(sparse.Kron(sparse.Eye(n), line))
}

func TestSolversSolve(t *testing.T) {
	spd := laplace(12)
	n := spd.Shape()[0]
	skew := sparse.Diags([]*weft.Tensor{weft.From([]float64{0.6}), weft.From([]float64{-0.2})}, []int{1, -7}, n, n)
	general := spd.Add(skew)
	indefinite := spd.Sub(sparse.Eye(n).Scale(2.1))
	tol := 1e-10
	x := weft.RandnOf(weft.Float64, n)
	for _, c := range []struct {
		name  string
		m     *sparse.Matrix
		solve func(sparse.Operator, *weft.Tensor, ...sparse.SolverOpts) (sparse.Solution, error)
		pre   sparse.Operator
	}{
		{"cg", spd, sparse.CG, nil}, {"cg jacobi", spd, sparse.CG, sparse.Jacobi(spd)}, {"cg ic", spd, sparse.CG, sparse.IC(spd)},
		{"bicgstab", general, sparse.BiCGSTAB, nil}, {"bicgstab ilu", general, sparse.BiCGSTAB, sparse.ILU(general)},
		{"gmres", general, sparse.GMRES, nil}, {"gmres ilu", general, sparse.GMRES, sparse.ILU(general)},
		{"minres", indefinite, sparse.MINRES, nil}, {"minres jacobi", spd, sparse.MINRES, sparse.Jacobi(spd)},
	} {
		b := c.m.MatMul(x)
		calls := 0
		s, err := c.solve(c.m.MatMul, b, sparse.SolverOpts{RTol: &tol, Preconditioner: c.pre, Callback: func(int, float64) bool { calls++; return true }})
		if err != nil || !s.Converged {
			t.Errorf("%s: %v after %d iterations, residual %g", c.name, err, s.Iterations, s.Residual)
			continue
		}
		if d := b.Sub(c.m.MatMul(s.X)).Norm(2).Item() / b.Norm(2).Item(); d > 1e-9 {
			t.Errorf("%s: relative residual %g", c.name, d)
		}
		t.Logf("%s: %d iterations", c.name, s.Iterations)
	}
	s, err := sparse.CG(spd.MatMul, x, sparse.SolverOpts{MaxIter: new(2), RTol: &tol})
	if !errors.Is(err, sparse.ErrNotConverged) || s.Converged || s.Iterations != 2 {
		t.Errorf("two iterations: %v, %+v", err, s)
	}
	if _, err = sparse.CG(spd.Neg().MatMul, x); !errors.Is(err, sparse.ErrNotConverged) {
		t.Errorf("a negative matrix: %v", err)
	}
	if s, err := sparse.GMRES(spd.MatMul, weft.ZerosOf(weft.Float64, n)); err != nil || s.X.Norm(2).Item() != 0 {
		t.Errorf("no right side: %v", err)
	}
	nan := x.Mul(weft.Full(nan()).To(weft.Float64))
	for _, solve := range []func(sparse.Operator, *weft.Tensor, ...sparse.SolverOpts) (sparse.Solution, error){sparse.CG, sparse.GMRES, sparse.MINRES, sparse.BiCGSTAB} {
		if _, err := solve(spd.MatMul, nan); !errors.Is(err, sparse.ErrNotConverged) {
			t.Errorf("NaN: %v", err)
		}
	}
}

func TestComplexSolvers(t *testing.T) {
	n := 20
	one := weft.From([]complex128{4})
	up, down := weft.From([]complex128{1i}), weft.From([]complex128{-1i})
	m := sparse.Diags([]*weft.Tensor{one, up, down}, []int{0, 1, -1}, n, n)
	x := weft.RandnOf(weft.Float64, n).To(weft.Complex128).Mul(1 + 2i)
	b, tol := m.MatMul(x), 1e-10
	for name, solve := range map[string]func(sparse.Operator, *weft.Tensor, ...sparse.SolverOpts) (sparse.Solution, error){"cg": sparse.CG, "gmres": sparse.GMRES, "minres": sparse.MINRES, "bicgstab": sparse.BiCGSTAB} {
		s, err := solve(m.MatMul, b, sparse.SolverOpts{RTol: &tol})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if d := s.X.Sub(x).Norm(2).Item(); d > 1e-8 {
			t.Errorf("%s errs by %g", name, d)
		}
	}
}

func TestLSQRSolvesLeastSquares(t *testing.T) {
	m := sparse.VStack(laplace(5), sparse.Eye(25), laplace(5).Scale(0.5))
	b := weft.RandnOf(weft.Float64, 75)
	tol := 1e-12
	for _, damp := range []float64{0, 0.7} {
		s, err := sparse.LSQR(m.MatMul, m.H().MatMul, b, sparse.LSQROpts{Damp: damp, ATol: &tol, BTol: &tol})
		if err != nil {
			t.Fatal(err)
		}
		g := m.LeftMatMul(b.Sub(m.MatMul(s.X))).Sub(s.X.Mul(damp * damp))
		if d := g.Norm(2).Item(); d > 1e-9 {
			t.Errorf("damp %g: the normal equations are off by %g after %d iterations", damp, d, s.Iterations)
		}
	}
}
