package linalg_test

import (
	"fmt"
	"testing"

	"weft"
	"weft/linalg"
)

// types are the element types that are computed with, and their unit roundoffs.
var types = []struct {
	d   weft.DType
	eps float64
}{{weft.Float32, 0x1p-24}, {weft.Float64, 0x1p-53}, {weft.Complex64, 0x1p-24}, {weft.Complex128, 0x1p-53}}

// randomOf returns normal numbers of a type.
func randomOf(g *weft.Generator, d weft.DType, shape ...int) *weft.Tensor {
	part := weft.Float64
	if !d.Complex() {
		return g.RandnOf(part, shape...).To(d)
	}
	return weft.Complex(g.RandnOf(part, shape...), g.RandnOf(part, shape...)).To(d)
}

// adjoint is the conjugate transpose.
func adjoint(t *weft.Tensor) *weft.Tensor {
	if t.DType().Complex() {
		t = t.Conj()
	}
	return t.Transpose(-1, -2)
}

// distance is the greatest magnitude of differences.
func distance(x, y *weft.Tensor) float64 {
	if x.Size() == 0 {
		return 0
	}
	return x.Sub(y).Abs().Max().Item()
}

// small fails where a distance is above a number of unit roundoffs times a scale.
func small(t *testing.T, what string, got, eps, scale float64) {
	t.Helper()
	if !(got <= eps*scale) {
		t.Errorf("%s: %.3g, bound %.3g", what, got, eps*scale)
	}
}

func TestCholeskyResiduals(t *testing.T) {
	g := weft.NewGenerator(1)
	for _, ty := range types {
		for _, n := range []int{1, 2, 5, 31, 64, 65, 130, 200} {
			x := randomOf(g, ty.d, n, n)
			a := x.MatMul(adjoint(x)).Add(weft.EyeOf(ty.d, n).Mul(0.1))
			l := linalg.Cholesky(a)
			small(t, fmt.Sprintf("%v, size %d", ty.d, n), distance(l.MatMul(adjoint(l)), a), ty.eps, 8*float64(n)*float64(n))
			if distance(l, l.Tril(0)) != 0 {
				t.Errorf("%v, size %d: not lower triangular", ty.d, n)
			}
			b := randomOf(g, ty.d, n, 7)
			for _, o := range []linalg.SolveTriangularOpts{{Lower: true}, {}, {Lower: true, Adjoint: true}, {Adjoint: true}} {
				m := l
				if !o.Lower {
					m = adjoint(l)
				}
				y := linalg.SolveTriangular(m, b, o)
				if o.Adjoint {
					m = adjoint(m)
				}
				scale := max(1, y.Abs().Max().Item()*l.Abs().Max().Item())
				small(t, fmt.Sprintf("%v, size %d, %+v", ty.d, n, o), distance(m.MatMul(y), b), ty.eps, 4*float64(n)*scale)
			}
		}
	}
}
