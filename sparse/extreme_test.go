package sparse_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"weft"
	"weft/sparse"
)

type iteration = func(a sparse.Operator, b *weft.Tensor, opts ...sparse.SolverOpts) (sparse.Solution, error)

var iterations = map[string]iteration{"CG": sparse.CG, "BiCGSTAB": sparse.BiCGSTAB, "GMRES": sparse.GMRES, "MINRES": sparse.MINRES}

// The squares of these elements are beyond their type, so that a plain norm is infinite or 0.
func TestIterationsDoNotConvergeOutOfRange(t *testing.T) {
	a := sparse.Eye(3).Scale(2)
	for name, f := range iterations {
		for _, b := range []*weft.Tensor{weft.FullOf(weft.Float32, 1e30, 3), weft.FullOf(weft.Float32, 1e-30, 3), weft.FullOf(weft.Float32, math.Inf(1), 3), weft.FullOf(weft.Float64, 1e-200, 3)} {
			s, err := f(a.As(b.DType()).MatMul, b)
			if err == nil {
				if d := s.X.Mul(2).Sub(b).Abs().Max().Item(); !(d <= 1e-5*b.Max().Item()) {
					t.Errorf("%s of %v converged to %v", name, b, s.X)
				}
			} else if !errors.Is(err, sparse.ErrNotConverged) || s.Converged {
				t.Errorf("%s of %v: %v, converged %v", name, b, err, s.Converged)
			}
		}
	}
}

// The recurrences of GMRES reach 0 by rounding although no x solves the equations.
func TestGMRESOfSingularMatrix(t *testing.T) {
	m := sparse.FromDense(weft.FromSlice([]float64{1, 2, 3, 4, 5, 6, 7, 8, 9}, 3, 3))
	s, err := sparse.GMRES(m.MatMul, weft.FromSlice([]float64{1, 0, 0}))
	if !errors.Is(err, sparse.ErrNotConverged) || s.Converged {
		t.Errorf("converged %v with residual %g: %v", s.Converged, s.Residual, err)
	}
}

func TestPatternCannotBeWritten(t *testing.T) {
	row, col, off := weft.FromSlice([]int32{0, 1}), weft.FromSlice([]int32{1, 0}), weft.FromSlice([]int64{0, 1, 2})
	v, x := weft.FromSlice([]float64{2, 3}), weft.FromSlice([]float64{5, 7})
	all := []*sparse.Matrix{sparse.NewCSR(v, col, off, 2, 2), sparse.NewCSC(v, col, off, 2, 2).T(), sparse.NewCOO(v, row, col, 2, 2)}
	for _, p := range []*weft.Tensor{row, col, off} {
		p.AddAssign(1000)
	}
	for _, m := range all {
		m.Indices().AddAssign(1000)
		r, c := m.Coords()
		r.AddAssign(1000)
		c.AddAssign(-1000)
		if m.Format() != sparse.COO {
			m.Offsets().AddAssign(1000)
		}
		for what, y := range map[string]*weft.Tensor{"product": m.MatMul(x), "dense product": m.ToDense().MatMul(x), "product of products": m.Dot(sparse.Eye(2)).MatMul(x)} {
			if y := weft.Data[float64](y); y[0] != 14 || y[1] != 15 {
				t.Errorf("%s: %s is %v", m, what, y)
			}
		}
	}
}

func TestDiagonalsBeyondTheMatrix(t *testing.T) {
	for _, k := range []int{math.MinInt, math.MaxInt, -3, 3} {
		if n := sparse.Eye(3).Diagonal(k).Size(); n != 0 {
			t.Errorf("diagonal %d has %d elements", k, n)
		}
		if n := sparse.Diags([]*weft.Tensor{weft.Ones(1)}, []int{k}, 3, 3).NNZ(); n != 0 {
			t.Errorf("a matrix of diagonal %d has %d entries", k, n)
		}
	}
}

// Many columns without elements take no time: the test would take a quarter of a minute.
func TestMarketArrayWithoutRows(t *testing.T) {
	m, err := sparse.ReadMatrixMarket(strings.NewReader("%%MatrixMarket matrix array real general\n0 2147483647\n"))
	if err != nil || m.NNZ() != 0 || m.Shape()[1] != math.MaxInt32 {
		t.Error(m, err)
	}
}
