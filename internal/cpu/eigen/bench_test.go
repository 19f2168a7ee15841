package eigen

import (
	"math/rand/v2"
	"testing"
)

func BenchmarkHermitian512(b *testing.B) {
	n := 512
	a := random[float64](rand.New(rand.NewPCG(1, 2)), n*n)
	for i := range n {
		for j := range i {
			a[i*n+j] = a[j*n+i]
		}
	}
	w, v := make([]float64, n), make([]float64, n*n)
	for b.Loop() {
		Hermitian(machine, n, append([]float64(nil), a...), w, v)
	}
}

func BenchmarkHermitian8(b *testing.B) {
	n := 8
	a := random[float64](rand.New(rand.NewPCG(1, 2)), n*n)
	for i := range n {
		for j := range i {
			a[i*n+j] = a[j*n+i]
		}
	}
	w, v := make([]float64, n), make([]float64, n*n)
	for b.Loop() {
		Hermitian(machine, n, append([]float64(nil), a...), w, v)
	}
}

func BenchmarkSingular512(b *testing.B) {
	n := 512
	a := random[float64](rand.New(rand.NewPCG(1, 2)), n*n)
	s, u, v := make([]float64, n), make([]float64, n*n), make([]float64, n*n)
	for b.Loop() {
		Singular(machine, n, n, append([]float64(nil), a...), s, u, n, v, n)
	}
}

func BenchmarkSingular8(b *testing.B) {
	n := 8
	a := random[float64](rand.New(rand.NewPCG(1, 2)), n*n)
	s, u, v := make([]float64, n), make([]float64, n*n), make([]float64, n*n)
	for b.Loop() {
		Singular(machine, n, n, append([]float64(nil), a...), s, u, n, v, n)
	}
}
