package kernel_test

import (
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"testing"

	"weft"
	"weft/kernel"
)

// The rest of a least squares solution is orthogonal to the columns, of all types, pages that
// broadcast, and shapes.
func TestLeastSquaresOfPages(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for d, bound := range map[weft.DType]float64{weft.Float32: 1e-4, weft.Float64: 1e-12, weft.Complex64: 1e-4, weft.Complex128: 1e-12} {
		for _, s := range [][2]int{{3, 2}, {5, 1}, {9, 4}, {40, 7}, {2, 5}, {1, 3}} {
			m, n := s[0], s[1]
			a, b := weft.FromSlice(fill(r, 3*m*n), 3, 1, m, n).To(d), weft.FromSlice(fill(r, 2*m*2), 2, m, 2).To(d)
			if d.Complex() {
				a = a.Add(weft.FromSlice(fill(r, 3*m*n), 3, 1, m, n).To(d).Mul(1i))
			}
			x := kernel.PageMap(kernel.LeftDivide, a, b)
			if !slices.Equal(x.Shape(), []int{3, 2, n, 2}) || x.DType() != d {
				t.Fatalf("%s of shape %v", x.DType(), x.Shape())
			}
			rest := a.MatMul(x).Sub(b)
			for _, v := range weft.Data[complex128](kernel.PageMap(kernel.CTranspose, a).MatMul(rest).To(weft.Complex128)) {
				if cmplx.Abs(v) > bound*float64(m) {
					t.Errorf("%s, %v: the rest has a part of %v along a column", d, s, v)
					break
				}
			}
			if zeros := weft.Data[int64](x.Eq(0).Sum()); m < n && zeros[0] != int64(6*2*(n-m)) {
				t.Errorf("%s, %v: %d unknowns are 0, want %d of each solution", d, s, zeros[0], n-m)
			}
			y := kernel.PageMap(kernel.RightDivide, b.Transpose(-1, -2), a.Transpose(-1, -2)).Transpose(-1, -2)
			if x.Ne(y).Any().Item() != 0 {
				t.Errorf("%s, %v: the right side differs", d, s)
			}
		}
	}
}

// Solutions that others published: MATLAB's example of a system with fewer equations than
// unknowns, and the line through four points.
func TestLeastSquaresExamples(t *testing.T) {
	solve := func(m, n int, a, b []float64) []float64 {
		return weft.Data[float64](kernel.PageMap(kernel.LeftDivide, weft.FromSlice(a, m, n), weft.FromSlice(b, m, 1)))
	}
	near := func(got []float64, want ...float64) {
		t.Helper()
		for i := range want {
			if math.Abs(got[i]-want[i]) > 1e-14 {
				t.Errorf("%v, want %v", got, want)
				return
			}
		}
	}
	near(solve(2, 3, []float64{1, 2, 0, 0, 4, 3}, []float64{8, 18}), 0, 4, 2.0/3)
	near(solve(4, 2, []float64{1, 1, 1, 2, 1, 3, 1, 4}, []float64{6, 5, 7, 10}), 3.5, 1.4)
	// The second column is twice the first, the third is 0: the longest alone is used.
	near(solve(4, 3, []float64{1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0}, []float64{1, 2, 3, 4}), 0, 1.25, 0)
	near(solve(3, 2, make([]float64, 6), []float64{1, 2, 3}), 0, 0)
	if x := solve(3, 2, []float64{1, 2, math.NaN(), 4, 5, 7}, []float64{1, 2, 3}); x[0] == x[0] || x[1] == x[1] {
		t.Errorf("of NaN: %v", x)
	}
	if x := kernel.PageMap(kernel.LeftDivide, weft.Zeros(4, 0), weft.Zeros(4, 2)); !slices.Equal(x.Shape(), []int{0, 2}) {
		t.Errorf("without unknowns: shape %v", x.Shape())
	}
	if x := kernel.PageMap(kernel.LeftDivide, weft.Zeros(0, 3), weft.Zeros(0, 2)); !slices.Equal(x.Shape(), []int{3, 2}) || x.Abs().Sum().Item() != 0 {
		t.Errorf("without equations: %v", x)
	}
	if err := weft.Try(func() { kernel.PageMap(kernel.Inv, weft.Zeros(4, 2)) }); err == nil || err.Error() != "inv: pages of 4 rows and 2 columns are not square" {
		t.Errorf("%v", err)
	}
	if err := weft.Try(func() { kernel.PageMap(kernel.LeftDivide, weft.Zeros(4, 2), weft.Zeros(3, 2)) }); err == nil {
		t.Error("4 rows fit 3")
	}
}

// Gradients of all three kinds of systems agree with difference quotients, twice.
func TestLeastSquaresGradient(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, s := range [][3]int{{4, 3, 3}, {2, 3, 2}, {4, 3, 2}} { // rows, columns, rank
		m, n := s[0], s[1]
		a0, b0, w := fill(r, m*n), fill(r, m), weft.FromSlice(fill(r, n), n, 1)
		if s[2] == 2 && m == 4 {
			for i := range m {
				a0[i*n+2] = 0
			}
		}
		grads := func(a, b []float64, create bool) ([]*weft.Tensor, *weft.Tensor, *weft.Tensor) {
			x, y := weft.FromSlice(slices.Clone(a), m, n).RequireGrad(), weft.FromSlice(slices.Clone(b), m, 1).RequireGrad()
			loss := kernel.PageMap(kernel.LeftDivide, x, y).Mul(w).Sum()
			return weft.Grad(loss, []*weft.Tensor{x, y}, weft.GradOpts{Create: create}), x, y
		}
		loss := func() float64 {
			return kernel.PageMap(kernel.LeftDivide, weft.FromSlice(a0, m, n), weft.FromSlice(b0, m, 1)).Mul(w).Sum().Item()
		}
		norm := func() float64 {
			g, _, _ := grads(a0, b0, false)
			return g[0].Mul(g[0]).Sum().Add(g[1].Mul(g[1]).Sum()).Item()
		}
		g, x, y := grads(a0, b0, true)
		h := weft.Grad(g[0].Mul(g[0]).Sum().Add(g[1].Mul(g[1]).Sum()), []*weft.Tensor{x, y})
		for k, at := range [][]float64{a0, b0} {
			for i, v := range at {
				if k == 0 && m == 4 && s[2] == 2 && i%n == 2 {
					continue // the column is dependent: it stays so
				}
				const d = 1e-5
				quotient := func(f func() float64) float64 {
					at[i] = v + d
					up := f()
					at[i] = v - d
					down := f()
					at[i] = v
					return (up - down) / (2 * d)
				}
				if got, want := weft.Data[float64](g[k])[i], quotient(loss); math.Abs(got-want) > 1e-6*(1+math.Abs(want)) {
					t.Errorf("%v: by argument %d, element %d: %v, want %v", s, k, i, got, want)
				}
				if got, want := weft.Data[float64](h[k])[i], quotient(norm); math.Abs(got-want) > 1e-5*(1+math.Abs(want)) {
					t.Errorf("%v: twice by argument %d, element %d: %v, want %v", s, k, i, got, want)
				}
			}
		}
	}
}

// MATLAB's alignment for eager operations and formulas.
func TestAlignLeading(t *testing.T) {
	a, b := weft.Arange[int](40).To(weft.Float64).Reshape(2, 5, 4), weft.Arange[int](24).To(weft.Float64).Reshape(2, 1, 4, 3)
	want := make([]float64, 2*5*4*3)
	x, y := weft.Data[float64](a), weft.Data[float64](b)
	for i := range want {
		want[i] = x[i/3] - 2*y[i/60*12+i%12]
	}
	got := weft.AlignLeading(a, b)
	formula := weft.Expr("a - 2*b + c", weft.Vars{"a": a, "b": b, "c": 0, "unused": weft.Ones(2)}.AlignLeading())
	for _, z := range []*weft.Tensor{got[0].Sub(got[1].Mul(2)), formula} {
		if !slices.Equal(z.Shape(), []int{2, 5, 4, 3}) || !slices.Equal(weft.Data[float64](z), want) {
			t.Errorf("%v of shape %v", z, z.Shape())
		}
	}
	if err := weft.Try(func() { weft.Expr("a - b", weft.Vars{"a": a, "b": b}) }); err == nil {
		t.Error("the last axes meet")
	}
	v := weft.Ones(3).RequireGrad()
	weft.AlignLeading(v, weft.Ones(3, 2))[0].Mul(weft.Ones(3, 2)).Sum().Backward()
	if g := fmt.Sprint(v.Grad()); g != "[2. 2. 2.]" {
		t.Errorf("gradient %s", g)
	}
	if len(weft.AlignLeading()) != 0 || weft.AlignLeading(weft.Scalar(1.0), v)[0].Rank() != 1 {
		t.Error("of nothing and of a number")
	}
}
