package sparse_test

import (
	"math/rand/v2"
	"testing"

	"weft"
	"weft/internal/par"
	"weft/sparse"
	"weft/sym"
)

// A product gives the same bits eagerly, compiled, for a batch and on variables.
func TestProductsInEveryMode(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	m, _ := random(r, 30, 20, 150)
	m = m.To(sparse.CSR)
	x := weft.RandnOf(weft.Float64, 20, 3)
	want := m.MatMul(x)
	equal := func(what string, y *weft.Tensor) {
		t.Helper()
		if !same2(y, want) {
			t.Errorf("%s: other bits", what)
		}
	}
	captured := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return m.MatMul(x) })
	equal("compiled", captured.Func()(x))
	given := weft.Compile(func(m *sparse.Matrix, x *weft.Tensor) *weft.Tensor { return m.MatMul(x) })
	equal("compiled with a matrix", given.Func()(m, x))
	v, y := sym.New("v", weft.Float64, 150), sym.New("x", weft.Float64, 20, 3)
	z := sym.Apply(func(v, x *weft.Tensor) *weft.Tensor { return m.WithValues(v).MatMul(x) }, v, y)[0]
	f, err := sym.Function(sym.In(v, y), sym.Out(z, sym.Grad(z.Sum(), []*sym.Var{v})[0]))
	if err != nil {
		t.Fatal(err)
	}
	out, err := f.Call(m.Values(), x)
	if err != nil {
		t.Fatal(err)
	}
	equal("sym", out[0])
	if !same2(out[1], m.Sampled(weft.OnesOf(weft.Float64, 30, 3), x).Values()) {
		t.Error("sym: another gradient")
	}
	batch := weft.Vmap(func(x ...*weft.Tensor) *weft.Tensor { return m.MatMul(x[0]) })(weft.Stack([]*weft.Tensor{x, x}, 0))
	equal("vmap", batch.At(1))
	solve := weft.Compile(func(v, b *weft.Tensor) *weft.Tensor {
		return sparse.SolveTriangular(m.Dot(m.T()).Add(sparse.Eye(30)).WithValues(v), b)
	})
	a := m.Dot(m.T()).Add(sparse.Eye(30))
	b := weft.RandnOf(weft.Float64, 30)
	if !same2(solve.Func()(a.Values(), b), sparse.SolveTriangular(a, b)) {
		t.Error("a compiled solution has other bits")
	}
}

// same2 reports equal elements.
func same2(x, y *weft.Tensor) bool { return x.Eq(y).All().ItemInt() == 1 }

// Threads and the way rows are cut do not change bits.
func TestProductsDoNotDependOnThreads(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	m, _ := random(r, 3000, 500, 60000)
	for _, d := range []weft.DType{weft.Float32, weft.Float64, weft.Complex64} {
		c := m.To(sparse.CSR).As(d)
		for _, width := range []int{1, 3, 70} {
			x := weft.RandnOf(weft.Float64, 500, width).To(d)
			var want, back *weft.Tensor
			for _, threads := range []int{1, 2, 8} {
				old := par.SetThreads(threads)
				y := c.MatMul(x)
				z := c.T().MatMul(y)
				par.SetThreads(old)
				if want == nil {
					want, back = y, z
				} else if !same2(y, want) || !same2(z, back) {
					t.Errorf("%s, %d columns: %d threads give other bits", d, width, threads)
				}
			}
		}
	}
}

func TestSecondDerivatives(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	m, _ := random(r, 4, 4, 8)
	m = m.Add(sparse.Eye(4).Scale(3)).To(sparse.CSR)
	b := weft.RandnOf(weft.Float64, 4)
	for name, f := range map[string]func(v *weft.Tensor) *weft.Tensor{
		"product": func(v *weft.Tensor) *weft.Tensor { return m.WithValues(v).MatMul(b).Pow(3).Sum() },
		"dot": func(v *weft.Tensor) *weft.Tensor {
			a := m.WithValues(v)
			return a.Dot(a.T()).Values().Pow(2).Sum()
		},
		"solve": func(v *weft.Tensor) *weft.Tensor {
			return sparse.SolveTriangular(m.WithValues(v), b).Pow(2).Sum()
		},
	} {
		first := func(v *weft.Tensor) *weft.Tensor {
			g := weft.Grad(f(v), []*weft.Tensor{v}, weft.GradOpts{Create: true})[0]
			return g.Mul(g).Sum()
		}
		v := m.Values().Detach().Clone().RequireGrad()
		first(v).Backward()
		slope(t, name, v, func(x *weft.Tensor) *weft.Tensor { return first(x.RequireGrad()) })
	}
}

func TestEmptyMatrices(t *testing.T) {
	for _, s := range [][2]int{{0, 0}, {0, 4}, {4, 0}, {3, 4}} {
		m := sparse.NewCOO(weft.Zeros(0), []int{}, []int{}, s[0], s[1])
		for _, f := range []sparse.Format{sparse.CSR, sparse.CSC, sparse.COO} {
			m := m.To(f).Coalesce()
			if y := m.MatMul(weft.Ones(s[1], 2)); y.Dim(0) != s[0] || y.Abs().Sum().Item() != 0 {
				t.Errorf("%s %v: %v", f, s, y)
			}
			if y := m.LeftMatMul(weft.Ones(s[0])); y.Dim(0) != s[1] {
				t.Errorf("%s %v: %v", f, s, y)
			}
			if n := m.Dot(m.T()).Prune().NNZ(); n != 0 {
				t.Errorf("%s %v: %d entries", f, s, n)
			}
			if y := m.ToDense(); y.Dim(0) != s[0] || y.Dim(1) != s[1] {
				t.Errorf("%s %v: %v", f, s, y.Shape())
			}
		}
	}
}
