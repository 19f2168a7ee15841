package linalg_test

import (
	"fmt"
	"testing"

	"weft"
	"weft/linalg"
)

// TestSVDOfTallAndWide decomposes matrices of many more rows than columns, and the reverse: of full and deficient rank, of
// zeros, real and complex, at the ends of the range. Factors are orthonormal and multiply to the matrix, and the first of
// the largest elements of a left vector is positive. A bidiagonal reduction, which matrices with all vectors take, gives
// the same singular values.
func TestSVDOfTallAndWide(t *testing.T) {
	g := weft.NewGenerator(3)
	for _, shape := range [][2]int{{34, 17}, {200, 20}, {300, 65}, {20, 170}, {33, 17}} {
		m, n := shape[0], shape[1]
		k := min(m, n)
		full := g.RandnOf(weft.Float64, m, n)
		deficient := g.RandnOf(weft.Float64, m, 5).MatMul(g.RandnOf(weft.Float64, 5, n))
		for name, a := range map[string]*weft.Tensor{
			"full": full, "deficient": deficient, "zero": full.Mul(0), "large": full.Mul(1e300), "small": full.Mul(1e-300),
			"graded": full.Mul(weft.LogspaceOf(weft.Float64, 0, -30, n)), "complex": weft.Complex(full, deficient), "float32": full.To(weft.Float32),
		} {
			checkThinSVD(t, fmt.Sprintf("%s %v", name, shape), a, k)
		}
	}
}

func checkThinSVD(t *testing.T, name string, a *weft.Tensor, k int) {
	t.Helper()
	u, s, vh := linalg.SVD(a, linalg.SVDOpts{Thin: true})
	_, want, _ := linalg.SVD(a)
	eps := weft.FInfo(a.DType()).Eps * float64(4*a.Dim(0)+4*a.Dim(1))
	most := s.Max().Item()
	off := func(x, y *weft.Tensor) float64 { return x.Sub(y).Abs().Max().Item() }
	if d := max(off(s, want), off(linalg.SVDVals(a), want), off(u.Mul(s).MatMul(vh), a)); !(d <= eps*most) {
		t.Errorf("%s: off by %.3g of %.3g", name, d, most)
	}
	one := weft.EyeOf(a.DType(), k)
	if d := max(off(u.T().Conj().MatMul(u), one), off(vh.MatMul(vh.T().Conj()), one)); !(d <= eps) {
		t.Errorf("%s: vectors are off orthonormal by %.3g", name, d)
	}
	size := u.Abs()
	first := size.Ge(size.MaxKeep(0).Mul(1 - 1e-9)).To(weft.Int64).ArgMax(0).Unsqueeze(0)
	if d := off(u.TakeAlongAxis(0, first), size.TakeAlongAxis(0, first)); a.DType() != weft.Float32 && !(d <= eps) {
		t.Errorf("%s: the largest elements of left vectors are not positive: %.3g", name, d)
	}
}
