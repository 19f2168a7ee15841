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

// shapes of matrices for factorizations: within a block, at its edges, beyond it, tall and wide.
var shapes = [][2]int{{1, 1}, {2, 2}, {5, 3}, {3, 5}, {16, 16}, {17, 33}, {33, 17}, {64, 64}, {65, 65}, {130, 70}, {70, 130}, {200, 200}}

func TestLUResiduals(t *testing.T) {
	g := weft.NewGenerator(2)
	for _, ty := range types {
		for _, s := range shapes {
			a := randomOf(g, ty.d, s[0], s[1])
			what := fmt.Sprintf("%v, shape %v", ty.d, s)
			p, l, u := linalg.LU(a)
			small(t, what, distance(p.MatMul(l).MatMul(u), a), ty.eps, 16*float64(s[0]+s[1]))
			if top := l.Abs().Max().Item(); top > 1.5 {
				t.Errorf("%s: l has an element of magnitude %v", what, top)
			}
			if s[0] != s[1] {
				continue
			}
			b := randomOf(g, ty.d, s[0], 3)
			x := linalg.Solve(a, b)
			scale := 16 * float64(s[0]) * max(1, x.Abs().Max().Item())
			small(t, what+", solution", distance(a.MatMul(x), b), ty.eps, scale)
			f, pivots := linalg.LUFactor(a)
			y := linalg.LUSolve(f, pivots, b, linalg.LUSolveOpts{Adjoint: true})
			small(t, what+", of the adjoint", distance(adjoint(a).MatMul(y), b), ty.eps, 16*float64(s[0])*max(1, y.Abs().Max().Item()))
		}
	}
}

func TestQRResiduals(t *testing.T) {
	g := weft.NewGenerator(3)
	for _, ty := range types {
		for _, s := range shapes {
			for kind, a := range map[string]*weft.Tensor{
				"random":   randomOf(g, ty.d, s[0], s[1]),
				"of rank":  randomOf(g, ty.d, s[0], 2).MatMul(randomOf(g, ty.d, 2, s[1])),
				"zero":     weft.ZerosOf(ty.d, s[0], s[1]),
				"graded":   randomOf(g, ty.d, s[0], s[1]).Mul(weft.ArangeOf[int](weft.Float32, s[1]).Mul(-0.5).Exp2().To(ty.d)),
				"repeated": weft.OnesLike(randomOf(g, ty.d, s[0], s[1])),
			} {
				for _, o := range []linalg.QROpts{{}, {Mode: linalg.Complete}} {
					q, r := linalg.QR(a, o)
					what := fmt.Sprintf("%v, shape %v, %s", ty.d, s, kind)
					bound := 24 * float64(s[0]+s[1])
					small(t, what, distance(q.MatMul(r), a), ty.eps, bound)
					small(t, what+", orthogonality", distance(adjoint(q).MatMul(q), weft.EyeOf(ty.d, q.Dim(-1))), ty.eps, bound)
					if distance(r, r.Triu(0)) != 0 {
						t.Errorf("%s: r is not upper triangular", what)
					}
				}
				_, r := linalg.QR(a)
				_, alone := linalg.QR(a, linalg.QROpts{Mode: linalg.R})
				if weft.Digest(r) != weft.Digest(alone) {
					t.Errorf("%v, shape %v, %s: r alone differs", ty.d, s, kind)
				}
			}
		}
	}
}

// TestBitsOfBatches demands that a matrix has the same bits alone, in a batch, and as a view.
func TestBitsOfBatches(t *testing.T) {
	g := weft.NewGenerator(4)
	for _, ty := range types {
		a := randomOf(g, ty.d, 3, 4, 70, 70)
		spd := a.MatMul(adjoint(a)).Add(weft.EyeOf(ty.d, 70))
		b := randomOf(g, ty.d, 3, 4, 70, 2)
		for name, f := range map[string]func(i []weft.Span) *weft.Tensor{
			"cholesky": func(i []weft.Span) *weft.Tensor { return linalg.Cholesky(spd.Slice(i...)) },
			"solve":    func(i []weft.Span) *weft.Tensor { return linalg.Solve(a.Slice(i...), b.Slice(i...)) },
			"qr": func(i []weft.Span) *weft.Tensor {
				q, r := linalg.QR(a.Slice(i...))
				return q.MatMul(r)
			},
			"det": func(i []weft.Span) *weft.Tensor { return linalg.Det(a.Slice(i...)) },
		} {
			all := f(nil)
			one := f([]weft.Span{weft.Index(1), weft.Index(2)})
			if weft.Digest(all.At(1, 2).Contiguous()) != weft.Digest(one) {
				t.Errorf("%v: %s differs in a batch", ty.d, name)
			}
		}
	}
}
