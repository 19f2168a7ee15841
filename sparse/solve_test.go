package sparse_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"weft"
	"weft/linalg"
	"weft/sparse"
)

// rowsOf returns a matrix as slices.
func rowsOf(t *weft.Tensor) (out [][]float64) {
	d, n := weft.Data[float64](t.To(weft.Float64)), t.Dim(1)
	for i := range t.Dim(0) {
		out = append(out, d[i*n:(i+1)*n])
	}
	return out
}

func TestDotIsTheProductOfDenseMatrices(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	a, x := random(r, 7, 6, 25)
	a = a.To(sparse.CSR)
	b, y := random(r, 6, 9, 25)
	b = b.ToBSR(2, 3)
	same(t, "dot", a.Dot(b).ToDense(), product(x, y))
	c := a.Dot(b)
	if c.Coalesce() != c {
		t.Error("the product is not coalesced")
	}
	w := weft.RandnOf(weft.Float64, 7, 9)
	va, vb := a.Values().Clone().RequireGrad(), b.Values().Clone().RequireGrad()
	loss := func(va, vb *weft.Tensor) *weft.Tensor {
		return a.WithValues(va).Dot(b.WithValues(vb)).ToDense().Mul(w).Sum()
	}
	loss(va, vb).Backward()
	wantA := a.Sampled(w, b.ToDense()).Values()
	if d := va.Grad().Sub(wantA).Abs().Max().Item(); d > 1e-12 {
		t.Errorf("the gradient of the first factor errs by %g", d)
	}
	slope(t, "dot of b", vb, func(v *weft.Tensor) *weft.Tensor { return loss(va.Detach(), v) })
}

// slope compares the gradient of a leaf with central differences.
func slope(t *testing.T, what string, x *weft.Tensor, f func(x *weft.Tensor) *weft.Tensor) {
	t.Helper()
	g := weft.Data[float64](x.Grad())
	at := weft.Data[float64](x.Detach())
	for i := range at {
		const h = 1e-3 // differences of fourth order: an error of h⁴ leaves room for any draw
		move := func(d float64) float64 {
			p := append([]float64{}, at...)
			p[i] += d
			return f(weft.FromSlice(p, x.Shape()...)).Item()
		}
		want := (8*(move(h)-move(-h)) - move(2*h) + move(-2*h)) / (12 * h)
		if math.Abs(want-g[i]) > 1e-6*(1+math.Abs(want)) {
			t.Fatalf("%s: gradient %d is %g, differences give %g", what, i, g[i], want)
		}
	}
}

func TestSolveTriangularIsThatOfLinalg(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	m, _ := random(r, 6, 6, 18)
	m = m.Add(sparse.Eye(6).Scale(5))
	for _, o := range []sparse.SolveTriangularOpts{{}, {Lower: true}, {UnitDiagonal: true}, {Lower: true, Adjoint: true}, {Adjoint: true}} {
		b := weft.RandnOf(weft.Float64, 6, 2)
		want := linalg.SolveTriangular(m.ToDense(), b, linalg.SolveTriangularOpts(o))
		same(t, "solution", sparse.SolveTriangular(m, b, o), rowsOf(want))
		v, x := m.Values().Detach().Clone().RequireGrad(), b.Clone().RequireGrad()
		f := func(v, x *weft.Tensor) *weft.Tensor {
			y := sparse.SolveTriangular(m.WithValues(v), x, o)
			return y.Mul(y).Sum()
		}
		f(v, x).Backward()
		slope(t, "values", v, func(v *weft.Tensor) *weft.Tensor { return f(v, b) })
		slope(t, "right sides", x, func(x *weft.Tensor) *weft.Tensor { return f(v.Detach(), x) })
	}
	err := weft.Try(func() {
		sparse.SolveTriangular(sparse.NewCSR(weft.From([]float64{1}), []int{0}, []int{0, 1, 1}, 2, 2), weft.Ones(2))
	})
	if err == nil || !strings.Contains(err.Error(), "sparse.solvetriangular: a: the matrix is singular: element (1, 1) is 0") {
		t.Error(err)
	}
}
