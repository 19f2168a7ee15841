package sparse_test

import (
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"weft"
	"weft/sparse"
)

// An entry is an element of a matrix under construction.
type entry struct {
	row, col int
	value    float64
}

// difficult returns entries of matrices of 120 rows: patterns and scales on which blocks lack pivots or fill in.
func difficult(r *rand.Rand) map[string][]entry {
	const n = 120
	out := map[string][]entry{}
	both := func(name string, i, j int) {
		out[name] = append(out[name], entry{i, j, r.NormFloat64()}, entry{j, i, r.NormFloat64()})
	}
	for i := range n {
		both("dense row and column", 0, i)
		both("arrow with a small diagonal", n-1, i)
		both("duplicates", i, r.IntN(n))
		both("ring without a diagonal", i, (i+1)%n)
		for _, name := range []string{"dense row and column", "duplicates", "dense row"} {
			out[name] = append(out[name], entry{i, i, r.NormFloat64()})
		}
		out["dense row"] = append(out["dense row"], entry{0, i, r.NormFloat64()})
		out["arrow with a small diagonal"] = append(out["arrow with a small diagonal"], entry{i, i, 1e-3 * r.NormFloat64()})
		out["ring without a diagonal"] = append(out["ring without a diagonal"], entry{i, i, 0})
		for j := i / 8 * 8; j < i/8*8+8; j++ {
			out["disconnected, large and small"] = append(out["disconnected, large and small"], entry{i, j, math.Pow(10, float64(i/8*20-140)) * r.NormFloat64()})
		}
		if half := n / 2; i < half { // a saddle point
			both("saddle point", i, half+r.IntN(half))
			out["saddle point"] = append(out["saddle point"], entry{i, i, 1 + r.Float64()}, entry{half + i, half + i, 0}, entry{i, half + i, 2}, entry{half + i, i, 2})
		}
	}
	return out
}

// TestLUOfDifficultMatrices checks residuals of solutions by block, by columns, and by sixteen goroutines at once.
func TestLUOfDifficultMatrices(t *testing.T) {
	const n = 120
	b := weft.Arange(n).To(weft.Float64).Sin().Add(2)
	for name, entries := range difficult(rand.New(rand.NewPCG(61, 62))) {
		rows, cols, values := []int{}, []int{}, []float64{}
		for _, e := range entries {
			rows, cols, values = append(rows, e.row), append(cols, e.col), append(values, e.value)
		}
		a := sparse.NewCOO(weft.FromSlice(values), rows, cols, n, n)
		for _, o := range []sparse.LUOpts{{}, {Ordering: sparse.SymmetricDegree}, {Ordering: sparse.Natural}} {
			f := sparse.LU(a, o)
			x := f.Solve(b)
			for at, e := range map[string]float64{"solution": rowError(a, x, b), "adjoint solution": rowError(a.H(), f.SolveAdjoint(b), b)} {
				if !(e < 1e-11) {
					t.Errorf("%s, %v: error of the %s is %g", name, o.Ordering, at, e)
				}
			}
			var all sync.WaitGroup
			for range 16 {
				all.Go(func() {
					if !same2(f.Solve(b), x) {
						t.Errorf("%s: other bits", name)
					}
				})
			}
			all.Wait()
		}
	}
}

// rowError is the largest residual of a*x = b relative to the sum of absolute values in its row.
func rowError(a *sparse.Matrix, x, b *weft.Tensor) float64 {
	abs := a.Coalesce()
	abs = abs.WithValues(abs.Values().Abs())
	return a.MatMul(x).Sub(b).Abs().Div(abs.MatMul(x.Abs()).Add(b.Abs())).Max().Item()
}
