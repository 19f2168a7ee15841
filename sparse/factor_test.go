package sparse_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"weft"
	"weft/internal/par"
	"weft/internal/tensortest"
	"weft/sparse"
)

// convection returns a matrix of the five-point stencil of a grid of n x n with random numbers: large on the diagonal, of no
// symmetry beside it.
func convection(r *rand.Rand, n int, d weft.DType) *sparse.Matrix {
	m := laplace(n).To(sparse.CSR).Coalesce()
	v := make([]float64, m.NNZ())
	for i := range v {
		v[i] = r.Float64() - 0.25
	}
	return m.Scale(weft.Scalar(2.0)).Add(m.WithValues(weft.FromSlice(v))).As(d)
}

// TestOneHash demands the same bits of factors and solutions on 1, 2 and 8 threads, and on every processor and setting of
// WEFT_JIT.
func TestOneHash(t *testing.T) {
	const want = "97d07a0b56ff37aef10ef0675207f45734aed7a92f2f98a9c385ab1025334dfc"
	defer par.SetThreads(par.SetThreads(1))
	for _, threads := range []int{1, 2, 8} {
		par.SetThreads(threads)
		var digests string
		for _, d := range []weft.DType{weft.Float32, weft.Float64, weft.Complex128} {
			r := rand.New(rand.NewPCG(51, 52))
			m := convection(r, 30, d)
			for _, f := range []*sparse.Factorization{sparse.Cholesky(m.Add(m.H())), sparse.LU(m), sparse.LU(m, sparse.LUOpts{Ordering: sparse.Natural})} {
				digests += weft.Digest(f.L().Values(), f.U().Values(), f.Solve(weft.OnesOf(d, 900)))
			}
		}
		if got := weft.Digest(weft.From([]byte(digests))); got != want {
			t.Errorf("%d threads: digest %s, want %s", threads, got, want)
		}
	}
}

// TestLUChoosesBlocks compares solutions by blocks, where pivots of the diagonal suffice, with solutions by columns. It also
// solves equations of matrices that need other pivots.
func TestLUChoosesBlocks(t *testing.T) {
	r := rand.New(rand.NewPCG(53, 54))
	m := convection(r, 20, weft.Float64)
	b := weft.OnesOf(weft.Float64, 400)
	turned := make([]int, 400) // neighbouring rows in each other's place, so that pivots are beside the diagonal
	for i := range turned {
		turned[i] = i ^ 1
	}
	oneWay := make([]int, 1200) // columns of entries at random places, which have no mirrored ones
	for i := range oneWay {
		oneWay[i] = r.IntN(400)
	}
	random := sparse.NewCOO(weft.FullOf(weft.Float64, -1, 1200), ints(1200, func(i int) int { return i % 400 }), oneWay, 400, 400).Add(sparse.Eye(400).As(weft.Float64).Scale(16))
	for name, a := range map[string]*sparse.Matrix{"grid": m, "strong diagonal": random, "rows of it": random.Rows(turned...), "rows of a grid": m.Rows(turned...), "grid with a zero diagonal": m.Sub(sparse.Diags([]*weft.Tensor{m.Diagonal()}, []int{0}, 400, 400))} {
		for _, adjoint := range []bool{false, true} {
			x, y := sparse.LU(a), sparse.LU(a, sparse.LUOpts{Ordering: sparse.Natural})
			u, v, of := x.Solve(b), y.Solve(b), a
			if adjoint {
				u, v, of = x.SolveAdjoint(b), y.SolveAdjoint(b), a.H()
			}
			if e := u.Sub(v).Abs().Max().Item() / v.Abs().Max().Item(); !(e < 1e-9) || !(residual(of, u, b) < 1e-14) {
				t.Errorf("%s, adjoint %v: solutions differ by %g, the residual is %g", name, adjoint, e, residual(of, u, b))
			}
		}
	}
}

func ints(n int, f func(i int) int) []int {
	x := make([]int, n)
	for i := range x {
		x[i] = f(i)
	}
	return x
}

// definite returns a Hermitian positive definite matrix of n rows with about k entries above its diagonal.
func definite(r *rand.Rand, n, k int, d weft.DType) *sparse.Matrix {
	row, col, re, im := make([]int, k), make([]int, k), make([]float64, k), make([]float64, k)
	for e := range k {
		row[e], col[e], re[e], im[e] = r.IntN(n), r.IntN(n), r.NormFloat64(), r.NormFloat64()
	}
	v := weft.FromSlice(re)
	if d.Complex() {
		v = weft.Complex(v, weft.FromSlice(im))
	}
	a := sparse.NewCOO(v.To(d), row, col, n, n).To(sparse.CSR)
	a = a.Dot(a.H())
	return a.Add(sparse.Eye(n).As(d))
}

// residual is the largest element of a*x - b over the largest sum of absolute values of a row.
func residual(a *sparse.Matrix, x, b *weft.Tensor) float64 {
	abs := a.Coalesce()
	abs = abs.WithValues(abs.Values().Abs())
	return a.MatMul(x).Sub(b).Abs().Max().Item() / (abs.MatMul(x.Abs()).Max().Item() + b.Abs().Max().Item())
}

var rounding = map[weft.DType]float64{weft.Float32: 1e-5, weft.Float64: 1e-14, weft.Complex64: 1e-5, weft.Complex128: 1e-14}

func TestCholeskyResiduals(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	for d, tol := range rounding {
		for _, a := range []*sparse.Matrix{definite(r, 1, 1, d), definite(r, 30, 40, d), definite(r, 200, 500, d), laplace(12).As(d), definite(r, 100, 1000, d),
			sparse.Eye(5).As(d), sparse.BlockDiag(definite(r, 40, 60, d), sparse.Eye(3).As(d), laplace(5).As(d))} {
			for _, o := range []sparse.Ordering{sparse.MinimumDegree, sparse.Natural} {
				f := sparse.Cholesky(a, sparse.CholeskyOpts{Ordering: o})
				n := a.Shape()[0]
				for _, shape := range [][]int{{n}, {n, 1}, {n, 5}, {n, 0}} {
					b := weft.RandnOf(weft.Float64, shape...).To(d)
					if x := f.Solve(b); b.Size() > 0 && !(residual(a, x, b) < tol) {
						t.Errorf("%s of %s, %v: residual %g", d, a, shape, residual(a, x, b))
					} else if x.DType() != d {
						t.Errorf("solution of %s is %s", d, x.DType())
					}
				}
				l := f.L()
				rows, cols := f.Perm()
				if e := a.To(sparse.CSR).Permute(rows, cols).Sub(l.Dot(f.U())).Norm().Item(); !(e < 100*tol*a.Norm().Item()) {
					t.Errorf("%s of %s: the factors err by %g", d, a, e)
				}
			}
		}
	}
}

func TestCholeskyOfIndefiniteMatrixNamesTheRow(t *testing.T) {
	m := laplace(4).Add(sparse.NewCOO(weft.From([]float64{-20}), []int{7}, []int{7}, 16, 16))
	for _, f := range []func(){
		func() { sparse.Cholesky(m, sparse.CholeskyOpts{Ordering: sparse.Natural}) },
		func() {
			sparse.Cholesky(sparse.NewCOO(weft.From([]float64{1}), []int{0}, []int{0}, 8, 8), sparse.CholeskyOpts{Ordering: sparse.Natural})
		},
	} {
		if err := weft.Try(f); err == nil || !strings.Contains(err.Error(), "sparse.cholesky: a: the matrix is not positive definite: the pivot of row ") {
			t.Error(err)
		}
	}
	if err := weft.Try(func() { sparse.Cholesky(m, sparse.CholeskyOpts{Ordering: sparse.Natural}) }); !strings.HasSuffix(err.Error(), fmt.Sprint("of row ", 7, " is not positive")) {
		t.Error(err)
	}
}

// TestFactorizationsNameAnUnknownPattern factors a matrix of each format that is an argument of a compiled function.
func TestFactorizationsNameAnUnknownPattern(t *testing.T) {
	b := weft.OnesOf(weft.Float64, 36)
	inFormats(laplace(6), func(format string, m *sparse.Matrix) {
		for name, f := range map[string]func(m *sparse.Matrix, b *weft.Tensor) *weft.Tensor{
			"lu":       func(m *sparse.Matrix, b *weft.Tensor) *weft.Tensor { return sparse.LU(m).Solve(b) },
			"cholesky": func(m *sparse.Matrix, b *weft.Tensor) *weft.Tensor { return sparse.Cholesky(m).Solve(b) },
			"solve":    func(m *sparse.Matrix, b *weft.Tensor) *weft.Tensor { return sparse.Solve(m, b) },
		} {
			want := "sparse." + name + ": a: is an argument of a compiled function"
			if err := weft.Try(func() { weft.Compile(f).Func()(m, b) }); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, want %q", format, err, want)
			}
		}
	})
}

// factorizations are functions that factor a matrix and solve with it.
var factorizations = map[string]func(m *sparse.Matrix) *sparse.Factorization{
	"cholesky": func(m *sparse.Matrix) *sparse.Factorization { return sparse.Cholesky(m) },
	"lu":       func(m *sparse.Matrix) *sparse.Factorization { return sparse.LU(m) },
}

// TestFactorizationsHaveGradients compares derivatives of solutions, and of their derivatives, with differences.
func TestFactorizationsHaveGradients(t *testing.T) {
	r := rand.New(rand.NewPCG(43, 44))
	for _, d := range []weft.DType{weft.Float64, weft.Complex128} {
		m := definite(r, 5, 4, d).To(sparse.CSR).Coalesce()
		for name, factor := range factorizations {
			for _, adjoint := range []bool{false, true} {
				n, entries := 5, m.NNZ()
				y := func(at *weft.Tensor) *weft.Tensor {
					v, b := at.Slice(weft.Range(0, entries)), at.Slice(weft.Range(entries, entries+2*n)).Reshape(n, 2)
					if d.Complex() {
						v = weft.Complex(v, at.Slice(weft.Range(entries+2*n, weft.End)))
					}
					f := factor(m.WithValues(v))
					x := f.Solve(b)
					if adjoint {
						x = f.SolveAdjoint(b)
					}
					if d.Complex() {
						return x.Real().Pow(3).Sum().Add(x.Imag().Pow(2).Sum())
					}
					return x.Pow(3).Sum()
				}
				at := append(weft.Data[float64](m.Values().Real()), weft.Data[float64](weft.Arange(float64(2*n)).To(weft.Float64).Add(1).Sqrt())...)
				if d.Complex() {
					at = append(at, weft.Data[float64](m.Values().Imag())...)
				}
				tensortest.Differences(t, name, y, at...)
				if adjoint {
					continue
				}
				tensortest.Differences(t, name+" twice", func(at *weft.Tensor) *weft.Tensor {
					if !at.RequiresGrad() {
						at = at.RequireGrad()
					}
					g := weft.Grad(y(at), []*weft.Tensor{at}, weft.GradOpts{Create: true})[0]
					return g.Mul(weft.Arange(float64(at.Size()))).Sum()
				}, at...)
			}
		}
	}
}

func TestFactorizationsInEveryMode(t *testing.T) {
	r := rand.New(rand.NewPCG(45, 46))
	m := definite(r, 30, 50, weft.Float64).To(sparse.CSR).Coalesce()
	b := weft.RandnOf(weft.Float64, 30)
	for name, factor := range factorizations {
		want := factor(m).Solve(b)
		f := weft.Compile(func(v, b *weft.Tensor) *weft.Tensor { return factor(m.WithValues(v)).Solve(b) }).Func()
		for range 2 {
			if !same2(f(m.Values(), b), want) {
				t.Errorf("%s: compiled: other bits", name)
			}
		}
		if x := f(m.Values().Mul(2), b); !(x.Mul(2).Sub(want).Abs().Max().Item() < 1e-14) {
			t.Errorf("%s: compiled with other values: %v", name, x)
		}
		if err := weft.Try(func() { f(m.Values().Mul(0), b) }); err == nil || !strings.Contains(err.Error(), ": a: the matrix is ") {
			t.Errorf("%s: compiled with zeros: %v", name, err)
		}
		held := factor(m)
		batch := weft.Vmap(func(x ...*weft.Tensor) *weft.Tensor { return held.Solve(x[0]) })(weft.Stack([]*weft.Tensor{b.Neg(), b}, 0))
		if !same2(batch.At(1), want) {
			t.Errorf("%s: a batch has other bits", name)
		}
		values := weft.Vmap(func(v ...*weft.Tensor) *weft.Tensor { return factor(m.WithValues(v[0])).Solve(b) })(weft.Stack([]*weft.Tensor{m.Values().Mul(3), m.Values()}, 0))
		if !same2(values.At(1), want) {
			t.Errorf("%s: a batch of values has other bits", name)
		}
	}
}

// TestFactorizationsHaveGradientsWhenMapped compares derivatives of a batch with derivatives of its examples.
func TestFactorizationsHaveGradientsWhenMapped(t *testing.T) {
	r := rand.New(rand.NewPCG(49, 50))
	m := definite(r, 6, 8, weft.Float64).To(sparse.CSR).Coalesce()
	for name, factor := range factorizations {
		solve := func(x ...*weft.Tensor) *weft.Tensor { return factor(m.WithValues(x[0])).Solve(x[1]) }
		// gradients returns the first derivatives, and the second ones of their sum of squares.
		gradients := func(f func(v, b *weft.Tensor) *weft.Tensor) []*weft.Tensor {
			x := []*weft.Tensor{weft.Stack([]*weft.Tensor{m.Values(), m.Values().Mul(2)}, 0).RequireGrad(), weft.OnesOf(weft.Float64, 2, 6).RequireGrad()}
			g := weft.Grad(f(x[0], x[1]).Pow(3).Sum(), x, weft.GradOpts{Create: true})
			return append(g, weft.Grad(g[0].Pow(2).Sum().Add(g[1].Pow(2).Sum()), x)...)
		}
		want := gradients(func(v, b *weft.Tensor) *weft.Tensor {
			return weft.Stack([]*weft.Tensor{solve(v.At(0), b.At(0)), solve(v.At(1), b.At(1))}, 0)
		})
		for i, g := range gradients(func(v, b *weft.Tensor) *weft.Tensor { return weft.Vmap(solve)(v, b) }) {
			if e := g.Sub(want[i]).Abs().Max().Item() / want[i].Abs().Max().Item(); !(e < 1e-13) {
				t.Errorf("%s: gradient %d of a batch differs by %g", name, i, e)
			}
		}
	}
}

// TestFactorsAreNotKept counts factorizations that are collected after they were mapped.
func TestFactorsAreNotKept(t *testing.T) {
	m := laplace(10)
	b := weft.OnesOf(weft.Float64, 2, 100)
	var collected atomic.Int32
	const calls = 20
	for range calls {
		f := sparse.LU(m)
		runtime.AddCleanup(f, func(*int) { collected.Add(1) }, nil)
		weft.Vmap(func(x ...*weft.Tensor) *weft.Tensor { return f.Solve(x[0]) })(b)
	}
	for range 100 {
		if runtime.GC(); collected.Load() >= calls-2 {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d of %d factorizations are collected", collected.Load(), calls)
}

func TestLUResiduals(t *testing.T) {
	r := rand.New(rand.NewPCG(47, 48))
	for d, tol := range rounding {
		for _, n := range []int{1, 7, 90} {
			for _, k := range []int{0, n, 4 * n} {
				row, col := r.Perm(n), r.Perm(n) // so that the diagonal is not special
				v := weft.RandnOf(weft.Float64, n).Abs().Add(1)
				for range k {
					row, col = append(row, r.IntN(n)), append(col, r.IntN(n))
				}
				a := sparse.NewCOO(weft.Cat([]*weft.Tensor{v.Mul(3), weft.RandnOf(weft.Float64, k)}, 0).To(d), row, col, n, n)
				if d.Complex() {
					a = a.Scale(weft.Scalar(1 + 2i))
				}
				for _, o := range []sparse.LUOpts{{}, {Ordering: sparse.Natural}, {Ordering: sparse.SymmetricDegree, PivotThreshold: new(0.1)}} {
					tol := tol
					if o.PivotThreshold != nil {
						tol *= 1e4
					}
					f := sparse.LU(a, o)
					for _, shape := range [][]int{{n}, {n, 1}, {n, 5}, {n, 0}} {
						b := weft.RandnOf(weft.Float64, shape...).To(d)
						if b.Size() == 0 {
							f.Solve(b)
							continue
						}
						if e := residual(a, f.Solve(b), b); !(e < 100*tol) {
							t.Errorf("%s of %s, %v, %v: residual %g", d, a, shape, o, e)
						}
						if e := residual(a.H(), f.SolveAdjoint(b), b); !(e < 100*tol) {
							t.Errorf("%s of %s, %v, %v: adjoint residual %g", d, a, shape, o, e)
						}
					}
					rows, cols := f.Perm()
					if e := a.To(sparse.CSR).Permute(rows, cols).Sub(f.L().Dot(f.U())).Norm().Item(); !(e < 1000*tol*a.Norm().Item()) {
						t.Errorf("%s of %s, %v: the factors err by %g", d, a, o, e)
					}
				}
			}
		}
	}
}

func TestSolutionsAreThoseOfSciPy(t *testing.T) {
	for _, c := range readVectors(t) {
		s, b := c["s"].matrix(), c["y"].tensor().At(0)
		near(t, "solve", sparse.Solve(s, b), c["solve"], 1e-12)
	}
}

func TestLUOfSingularMatrixNamesTheColumn(t *testing.T) {
	v := weft.From([]float64{1, 2, 2, 4, 1})
	for want, a := range map[string]*sparse.Matrix{
		"column 1 has no pivot": sparse.NewCOO(v, []int{0, 0, 1, 1, 2}, []int{0, 1, 0, 1, 2}, 3, 3),
		"column 2 has no pivot": sparse.NewCOO(v.Slice(weft.Range(0, 3)), []int{0, 1, 2}, []int{0, 1, 1}, 3, 3),
		"column 0 has no pivot": sparse.NewCOO(weft.ZerosOf(weft.Float64, 3), []int{0, 1, 2}, []int{0, 1, 2}, 3, 3),
	} {
		err := weft.Try(func() { sparse.Solve(a, weft.OnesOf(weft.Float64, 3), sparse.LUOpts{Ordering: sparse.Natural}) })
		if err == nil || !strings.Contains(err.Error(), "sparse.solve: a: the matrix is singular: "+want) {
			t.Errorf("%q: %v", want, err)
		}
	}
	nan := sparse.Solve(sparse.Diags([]*weft.Tensor{weft.FromSlice([]float64{math.NaN(), 1})}, []int{0}, 2, 2), weft.OnesOf(weft.Float64, 2))
	if x := weft.Data[float64](nan); x[0] == x[0] || x[1] != 1 {
		t.Error("NaN is lost:", x)
	}
}

// TestFactorizationKeepsValues demands solutions of the matrix as it was when it was factored.
func TestFactorizationKeepsValues(t *testing.T) {
	values := weft.FromSlice([]float64{4, 16})
	m := sparse.NewCSR(values, []int32{0, 1}, []int64{0, 1, 2}, 2, 2)
	for _, f := range []*sparse.Factorization{sparse.LU(m), sparse.Cholesky(m)} {
		values.Assign(100)
		if got := f.Solve(weft.From([]float64{4, 4})); got.At(0).Item() != 1 || got.At(1).Item() != 0.25 {
			t.Errorf("solution %v", got)
		}
		values.Assign(weft.From([]float64{4, 16}))
	}
}

// TestFactorsThatDoNotFit demands typed errors for factors of terabytes, which counting foretells.
func TestFactorsThatDoNotFit(t *testing.T) {
	const n = 1_000_000 // an arrow whose point is eliminated first: its factor is dense
	off, idx := make([]int64, n+1), make([]int32, 0, 2*n)
	for i := range int32(n) {
		if idx = append(idx, 0); i > 0 {
			idx = append(idx, i)
		}
		off[i+1] = int64(len(idx))
	}
	m := sparse.NewCSR(weft.Ones(len(idx)), idx, off, n, n)
	check := func(op string, f func()) {
		var e *weft.Error
		if err := weft.Try(f); !errors.As(err, &e) || e.Kind != weft.OutOfMemory || e.Op != op {
			t.Errorf("%v", err)
		}
	}
	check("sparse.cholesky", func() { sparse.Cholesky(m, sparse.CholeskyOpts{Ordering: sparse.Natural}) })
	// A column of ones and a diagonal: rows meet in the product of the transposed matrix with itself.
	check("sparse.lu", func() { sparse.LU(m.T(), sparse.LUOpts{Ordering: sparse.Natural}) })
}

// TestFactorizationsEndWithContexts ends contexts before a factorization, and in the middle of its ordering.
func TestFactorizationsEndWithContexts(t *testing.T) {
	const n = 30_000
	r := rand.New(rand.NewPCG(7, 8))
	rows, cols := []int{}, []int{}
	for i := range n {
		rows, cols = append(rows, i, i, i), append(cols, i, r.IntN(n), r.IntN(n))
	}
	m := sparse.NewCOO(weft.Ones(3*n), rows, cols, n, n)
	cause := errors.New("enough")
	for name, f := range map[string]func(ctx context.Context){
		"sparse.cholesky": func(ctx context.Context) { sparse.Cholesky(m, sparse.CholeskyOpts{Context: ctx}) },
		"sparse.lu":       func(ctx context.Context) { sparse.LU(m, sparse.LUOpts{Context: ctx}) },
		"sparse.solve": func(ctx context.Context) {
			sparse.Solve(m, weft.Ones(n), sparse.LUOpts{Context: ctx, Ordering: sparse.Natural})
		},
	} {
		for _, after := range []time.Duration{0, 5 * time.Millisecond} {
			ctx, cancel := context.WithCancelCause(context.Background())
			timer := time.AfterFunc(after, func() { cancel(cause) })
			if after == 0 {
				cancel(cause)
			}
			var e *weft.Error
			if err := weft.Try(func() { f(ctx) }); !errors.Is(err, cause) || !errors.As(err, &e) || e.Op != name {
				t.Errorf("%s after %v: %v", name, after, err)
			}
			timer.Stop()
			cancel(nil)
		}
	}
	// A context that goes on changes nothing.
	a := sparse.NewCOO(weft.Ones(3), []int{0, 1, 2}, []int{1, 2, 0}, 3, 3)
	if x := sparse.Solve(a, weft.Ones(3), sparse.LUOpts{Context: t.Context()}); x.Sum().Item() != 3 {
		t.Errorf("the solution is %v", x)
	}
}
