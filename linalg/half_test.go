package linalg_test

import (
	"slices"
	"testing"

	"weft"
	"weft/linalg"
)

// halfCalls are the functions of floats, of a positive definite matrix a and a matrix b.
var halfCalls = map[string]func(a, b *weft.Tensor) []*weft.Tensor{
	"Cholesky":      func(a, b *weft.Tensor) []*weft.Tensor { return results(linalg.Cholesky(a)) },
	"CholeskySolve": func(a, b *weft.Tensor) []*weft.Tensor { return results(linalg.CholeskySolve(a.Tril(0), b)) },
	"Eigh":          func(a, b *weft.Tensor) []*weft.Tensor { w, v := linalg.Eigh(a); return results(w, v) },
	"EigValsH":      func(a, b *weft.Tensor) []*weft.Tensor { return results(linalg.EigValsH(a)) },
	"Eigh of two": func(a, b *weft.Tensor) []*weft.Tensor {
		w, v := linalg.Eigh(a, linalg.EighOpts{B: a.Add(b.MatMul(b.T()))})
		return results(w, v)
	},
	"EigValsH of two":         func(a, b *weft.Tensor) []*weft.Tensor { return results(linalg.EigValsH(a, linalg.EighOpts{B: a})) },
	"SolveSylvester":          func(a, b *weft.Tensor) []*weft.Tensor { return results(linalg.SolveSylvester(a, a, a)) },
	"SolveContinuousLyapunov": func(a, b *weft.Tensor) []*weft.Tensor { return results(linalg.SolveContinuousLyapunov(a, a)) },
	"SolveDiscreteLyapunov":   func(a, b *weft.Tensor) []*weft.Tensor { return results(linalg.SolveDiscreteLyapunov(a, a)) },
	"Eig":                     func(a, b *weft.Tensor) []*weft.Tensor { w, v := linalg.Eig(a); return results(w, v) },
	"EigVals":                 func(a, b *weft.Tensor) []*weft.Tensor { return results(linalg.EigVals(a)) },
	"Schur":                   func(a, b *weft.Tensor) []*weft.Tensor { w, v := linalg.Schur(a); return results(w, v) },
	"Hessenberg":              func(a, b *weft.Tensor) []*weft.Tensor { w, v := linalg.Hessenberg(a); return results(w, v) },
	"Expm":                    func(a, b *weft.Tensor) []*weft.Tensor { return results(linalg.Expm(a)) },
	"Logm":                    func(a, b *weft.Tensor) []*weft.Tensor { return results(linalg.Logm(a)) },
	"Sqrtm":                   func(a, b *weft.Tensor) []*weft.Tensor { return results(linalg.Sqrtm(a)) },
	"LstSq":                   func(a, b *weft.Tensor) []*weft.Tensor { x, r, _, s := linalg.LstSq(a, b); return results(x, r, s) },
	"TensorSolve": func(a, b *weft.Tensor) []*weft.Tensor {
		return results(linalg.TensorSolve(a, b.T().At(0)))
	},
	"TensorInv":  func(a, b *weft.Tensor) []*weft.Tensor { return results(linalg.TensorInv(a, 1)) },
	"LU":         func(a, b *weft.Tensor) []*weft.Tensor { p, l, u := linalg.LU(a); return results(p, l, u) },
	"LUFactor":   func(a, b *weft.Tensor) []*weft.Tensor { lu, _ := linalg.LUFactor(a); return results(lu) },
	"Solve":      func(a, b *weft.Tensor) []*weft.Tensor { return results(linalg.Solve(a, b)) },
	"Inv":        func(a, b *weft.Tensor) []*weft.Tensor { return results(linalg.Inv(a)) },
	"Det":        func(a, b *weft.Tensor) []*weft.Tensor { return results(linalg.Det(a)) },
	"SlogDet":    func(a, b *weft.Tensor) []*weft.Tensor { s, l := linalg.SlogDet(a); return results(s, l) },
	"VectorNorm": func(a, b *weft.Tensor) []*weft.Tensor { return results(linalg.VectorNorm(a)) },
	"MatrixNorm": func(a, b *weft.Tensor) []*weft.Tensor { return results(linalg.MatrixNorm(a)) },
	"QR":         func(a, b *weft.Tensor) []*weft.Tensor { q, r := linalg.QR(a); return results(q, r) },
	"SVD":        func(a, b *weft.Tensor) []*weft.Tensor { u, s, v := linalg.SVD(a); return results(u, s, v) },
	"SVDVals":    func(a, b *weft.Tensor) []*weft.Tensor { return results(linalg.SVDVals(a)) },
	"PInv":       func(a, b *weft.Tensor) []*weft.Tensor { return results(linalg.PInv(a)) },
	"Orth":       func(a, b *weft.Tensor) []*weft.Tensor { return results(linalg.Orth(a)) },
	"NullSpace":  func(a, b *weft.Tensor) []*weft.Tensor { return results(linalg.NullSpace(a.Slice(weft.Range(0, 2)))) },
	"Polar":      func(a, b *weft.Tensor) []*weft.Tensor { u, p := linalg.Polar(a); return results(u, p) },
	"SolveTriangular": func(a, b *weft.Tensor) []*weft.Tensor {
		return results(linalg.SolveTriangular(a.Tril(0), b, linalg.SolveTriangularOpts{Lower: true}))
	},
	"MatrixPower": func(a, b *weft.Tensor) []*weft.Tensor { return results(linalg.MatrixPower(a, -1)) },
	"Cond":        func(a, b *weft.Tensor) []*weft.Tensor { return results(linalg.Cond(a, linalg.Two)) },
}

func results(ts ...*weft.Tensor) []*weft.Tensor { return ts }

// inFloat32 are functions whose results stay float32 or complex64 for float16 and bfloat16, and why.
var inFloat32 = map[string]string{
	"Eig": "there are no complex numbers of 16 bits", "EigVals": "there are no complex numbers of 16 bits",
}

// TestHalfPrecision compares functions of float16 and bfloat16 with float32 results of the same elements, rounded once.
// NumPy and PyTorch refuse such matrices.
func TestHalfPrecision(t *testing.T) {
	for _, d := range []weft.DType{weft.Float16, weft.BFloat16} {
		a := weft.FromSlice([]float32{4, 1, 0.5, 1, 3, 0.25, 0.5, 0.25, 5}, 3, 3).To(d)
		b := weft.FromSlice([]float32{1, 2, -1, 0.5, 3, 2}, 3, 2).To(d)
		for name, f := range halfCalls {
			var got []*weft.Tensor
			if err := weft.Try(func() { got = f(a, b) }); err != nil {
				t.Errorf("%s of %v: %v", name, d, err)
				continue
			}
			for i, w := range f(a.To(weft.Float32), b.To(weft.Float32)) {
				want := d
				if inFloat32[name] != "" {
					want = w.DType()
				}
				if got[i].DType() != want {
					t.Errorf("result %d of %s of %v is %v, want %v", i, name, d, got[i].DType(), want)
				} else if g, v := got[i].Contiguous(), w.To(want).Contiguous(); !slices.Equal(g.Shape(), v.Shape()) || weft.Digest(g) != weft.Digest(v) {
					t.Errorf("result %d of %s of %v is %v, want %v", i, name, d, g, v)
				}
			}
		}
	}
}
