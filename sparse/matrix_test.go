package sparse_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"weft"
	"weft/internal/tensortest"
	"weft/sparse"
)

func TestMain(m *testing.M) { tensortest.Main(m) }

// random returns a matrix of coordinates with entries at random places, some twice, and its dense form.
func random(r *rand.Rand, rows, cols, entries int) (*sparse.Matrix, [][]float64) {
	dense := make([][]float64, rows)
	for i := range dense {
		dense[i] = make([]float64, cols)
	}
	var v []float64
	var row, col []int
	for range entries {
		i, j, x := r.IntN(rows), r.IntN(cols), r.NormFloat64()
		v, row, col = append(v, x), append(row, i), append(col, j)
		dense[i][j] += x
	}
	return sparse.NewCOO(weft.FromSlice(v), row, col, rows, cols), dense
}

// same fails where x is not want, to rounding.
func same(t *testing.T, what string, x *weft.Tensor, want [][]float64) {
	t.Helper()
	rows, cols := len(want), 0
	if rows > 0 {
		cols = len(want[0])
	}
	got := weft.Data[float64](x.To(weft.Float64))
	if x.Dim(0) != rows || len(got) != rows*cols {
		t.Fatalf("%s: shape %v, want %dx%d", what, x.Shape(), rows, cols)
	}
	for i := range rows {
		for j := range cols {
			if d := got[i*cols+j] - want[i][j]; d > 1e-12 || d < -1e-12 {
				t.Fatalf("%s: element %d, %d is %g, want %g", what, i, j, got[i*cols+j], want[i][j])
			}
		}
	}
}

func product(a, b [][]float64) [][]float64 {
	c := make([][]float64, len(a))
	for i := range a {
		c[i] = make([]float64, len(b[0]))
		for k, x := range a[i] {
			for j := range c[i] {
				c[i][j] += x * b[k][j]
			}
		}
	}
	return c
}

func transposed(a [][]float64) [][]float64 {
	t := make([][]float64, len(a[0]))
	for j := range t {
		for i := range a {
			t[j] = append(t[j], a[i][j])
		}
	}
	return t
}

// inFormats calls f with m in every format.
func inFormats(m *sparse.Matrix, f func(name string, m *sparse.Matrix)) {
	for _, to := range []sparse.Format{sparse.CSR, sparse.CSC, sparse.COO} {
		f(to.String(), m.To(to))
		f(to.String()+" coalesced", m.To(to).Coalesce())
	}
	f("bsr", m.ToBSR(2, 3))
}

func TestFormatsHoldTheMatrix(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	m, dense := random(r, 8, 9, 30)
	inFormats(m, func(name string, m *sparse.Matrix) {
		same(t, name, m.ToDense(), dense)
		same(t, name+" transposed", m.T().ToDense(), transposed(dense))
		inFormats(m, func(to string, m *sparse.Matrix) { same(t, name+" to "+to, m.ToDense(), dense) })
	})
	same(t, "dense", sparse.FromDense(m.ToDense()).ToDense(), dense)
}

func TestProductsAreThoseOfDenseMatrices(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	m, dense := random(r, 8, 9, 30)
	for _, width := range []int{1, 5, 40} {
		x, y := weft.RandnOf(weft.Float64, 9, width), weft.RandnOf(weft.Float64, width, 8)
		rows := func(t *weft.Tensor) (out [][]float64) {
			d, n := weft.Data[float64](t), t.Dim(1)
			for i := range t.Dim(0) {
				out = append(out, d[i*n:(i+1)*n])
			}
			return out
		}
		inFormats(m, func(name string, m *sparse.Matrix) {
			same(t, name, m.MatMul(x), product(dense, rows(x)))
			same(t, name+" left", m.LeftMatMul(y), product(rows(y), dense))
			same(t, name+" vector", m.MatMul(x.Slice(weft.All, weft.Range(0, 1)).Reshape(9)).Reshape(8, 1), product(dense, rows(x.Slice(weft.All, weft.Range(0, 1)))))
		})
	}
}

func TestGradientsOfProducts(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	m, _ := random(r, 4, 5, 9)
	m = m.To(sparse.CSR)
	x := weft.RandnOf(weft.Float64, 5, 3).RequireGrad()
	w := weft.RandnOf(weft.Float64, 4, 3)
	v := m.Values().Clone().RequireGrad()
	m.WithValues(v).MatMul(x).Mul(w).Sum().Backward()
	gv, gx := v.Grad(), x.Grad()
	row, col := m.Coords()
	dense := m.ToDense().Detach()
	wantX := dense.Transpose(0, 1).MatMul(w)
	wantV := w.IndexSelect(0, row).Mul(x.Detach().IndexSelect(0, col)).Sum(1)
	if d := gx.Sub(wantX).Abs().Max().Item(); d > 1e-12 {
		t.Errorf("the gradient of x errs by %g", d)
	}
	if d := gv.Sub(wantV).Abs().Max().Item(); d > 1e-12 {
		t.Errorf("the gradient of values errs by %g", d)
	}
}

func TestMistakesOfConstructors(t *testing.T) {
	v := weft.From([]float64{1, 2})
	for _, c := range []struct {
		want string
		f    func()
	}{
		{"sparse.newcsr: indices: number 1 is 3, want 0 to 2", func() { sparse.NewCSR(v, []int{0, 3}, []int{0, 1, 2}, 2, 3) }},
		{"sparse.newcsr: offsets: do not ascend", func() { sparse.NewCSR(v, []int{0, 2}, []int{0, 3, 2}, 2, 3) }},
		{"sparse.newcsr: offsets: are 2 numbers, want 3", func() { sparse.NewCSR(v, []int{0, 2}, []int{0, 2}, 2, 3) }},
		{"sparse.newcsr: offsets: end with 1", func() { sparse.NewCSR(v, []int{0, 2}, []int{0, 1, 1}, 2, 3) }},
		{"sparse.newcsr: values: is nil", func() { sparse.NewCSR(nil, []int{0, 2}, []int{0, 1, 2}, 2, 3) }},
		{"sparse.newcoo: row: are 1 numbers for 2 values", func() { sparse.NewCOO(v, []int{0}, []int{0, 1}, 2, 3) }},
		{"sparse.newcoo: rows: is -1", func() { sparse.NewCOO(v, []int{0, 1}, []int{0, 1}, -1, 3) }},
		{"sparse.newcoo: rows: is 2147483648, want 0 to 2147483647: indices are int32", func() { sparse.NewCOO(v, []int64{0, 1 << 31}, []int{0, 1}, 1<<31, 3) }},
		{"sparse.newcoo: col: number 1 is 2147483648, want 0 to 2147483646", func() { sparse.NewCOO(v, []int{0, 1}, []int64{0, 1 << 31}, 2, 1<<31-1) }},
		{"sparse.newcsr: cols: is 4294967296", func() { sparse.NewCSR(v, []int64{0, 1 << 31}, []int{0, 2}, 1, 1<<32) }},
		{"sparse.newbsr: values: has blocks of 2x2, which do not divide", func() { sparse.NewBSR(weft.Zeros(1, 2, 2), []int{0}, []int{0, 1}, 2, 3) }},
		{"sparse.matmul: x: has shape [2]", func() { sparse.NewCSR(v, []int{0, 2}, []int{0, 1, 2}, 2, 3).MatMul(v) }},
	} {
		if err := weft.Try(c.f); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

func nan() float64 { return math.NaN() }
