package hostile

import (
	"weft"
	"weft/sparse"
)

func init() {
	makers[typ[*sparse.Matrix]()] = func(g *gen) any {
		f := func() *sparse.Matrix {
			m := sparse.NewCOO(weft.From([]float64{1, -2, 3, 0, 5}), []int{0, 1, 1, 3, 1}, []int{0, 2, 2, 3, 0}, 4, 4)
			switch g.r.IntN(5) {
			case 0:
				return m
			case 1:
				return m.ToBSR(2, 2)
			case 2:
				return m.Slice(0, 3, 0, 0).To(sparse.CSC)
			case 3:
				return sparse.Eye(4).As(weft.Complex64)
			}
			return m.To(sparse.CSR)
		}
		return pick[any](g, (*sparse.Matrix)(nil), &sparse.Matrix{}, f(), f(), f(), f())
	}
	makers[typ[*sparse.Factorization]()] = func(g *gen) any {
		return pick[any](g, (*sparse.Factorization)(nil), &sparse.Factorization{}, sparse.LU(sparse.Eye(4)), sparse.Cholesky(sparse.Eye(4).As(weft.Complex64)))
	}
}
