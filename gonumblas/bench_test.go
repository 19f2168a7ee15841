package gonumblas

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// BenchmarkDgemm multiplies square matrices by this package and by gonum.
func BenchmarkDgemm(b *testing.B) {
	for _, n := range []int{4, 6, 8, 12, 16, 64, 256, 1024} {
		r := rand.New(rand.NewPCG(1, 1))
		x, y, c := make([]float64, n*n), make([]float64, n*n), make([]float64, n*n)
		for i := range x {
			x[i], y[i] = r.NormFloat64(), r.NormFloat64()
		}
		for _, impl := range []struct {
			name string
			blas.Float64Level3
		}{{"weft", Implementation{}}, {"gonum", own}} {
			for _, beta := range []float64{0, 1} {
				b.Run(fmt.Sprintf("%d/%s/beta%v", n, impl.name, beta), func(b *testing.B) {
					for b.Loop() {
						impl.Dgemm(blas.NoTrans, blas.NoTrans, n, n, n, 1-2*beta, x, n, y, n, beta, c, n)
					}
				})
			}
		}
	}
}

// BenchmarkMat factors matrices by package mat, with this package below it and without.
func BenchmarkMat(b *testing.B) {
	defer blas64.Use(Implementation{})
	for _, n := range []int{64, 512} {
		r := rand.New(rand.NewPCG(1, 1))
		a := mat.NewDense(n, n, nil)
		for i := range n {
			for j := range n {
				a.Set(i, j, r.NormFloat64())
			}
		}
		s := mat.NewSymDense(n, nil)
		s.SymOuterK(1, a)
		for i := range n {
			s.SetSym(i, i, s.At(i, i)+1)
		}
		for name, impl := range map[string]blas.Float64{"weft": Implementation{}, "gonum": own} {
			for what, f := range map[string]func(){
				"LU":       func() { new(mat.LU).Factorize(a) },
				"Cholesky": func() { new(mat.Cholesky).Factorize(s) },
				"QR":       func() { new(mat.QR).Factorize(a) },
				"SVD":      func() { new(mat.SVD).Factorize(a, mat.SVDThin) },
				"EigenSym": func() { new(mat.EigenSym).Factorize(s, true) },
			} {
				b.Run(fmt.Sprintf("%s/%d/%s", what, n, name), func(b *testing.B) {
					blas64.Use(impl)
					for b.Loop() {
						f()
					}
				})
			}
		}
	}
}
