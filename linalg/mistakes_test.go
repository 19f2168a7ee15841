package linalg_test

import (
	"errors"
	"math"
	"strings"
	"sync"
	"testing"

	"weft"
	"weft/internal/core"
	"weft/internal/tensortest"
	"weft/linalg"
)

func TestMistakes(t *testing.T) {
	eye := weft.Eye(3)
	batch := weft.Stack([]*weft.Tensor{eye, weft.Zeros(3, 3), eye}, 0)
	nan := weft.Full(math.NaN(), 3, 3)
	for _, c := range []struct {
		want string
		f    func()
	}{
		{"linalg.solve: a: the matrix is singular: pivot 0 is 0", func() { linalg.Solve(weft.Zeros(2, 2), weft.Ones(2)) }},
		{"linalg.solve: a: matrix [1] of the batch is singular: pivot 0 is 0", func() { linalg.Solve(batch, weft.Ones(3)) }},
		{"linalg.inv: a: matrix [1] of the batch is singular: pivot 0 is 0", func() { linalg.Inv(batch) }},
		{"linalg.cholesky: a: matrix [1] of the batch is not positive definite: its leading minor of order 1 is not positive", func() { linalg.Cholesky(batch) }},
		{"linalg.cholesky: a: the matrix is not positive definite", func() { linalg.Cholesky(nan) }},
		{"linalg.solve_triangular: a: matrix [1] of the batch is singular: element 0 of its diagonal is 0", func() { linalg.SolveTriangular(batch, weft.Ones(3)) }},
		{"linalg.solve: b: has shape [4], want 3 rows for a matrix of shape [3 3]", func() { linalg.Solve(eye, weft.Ones(4)) }},
		{"linalg.solve: b: has shape [2 3], want 3 rows for a matrix of shape [3 3 3]: Unsqueeze(-1)", func() { linalg.Solve(batch, weft.Ones(2, 3)) }},
		{"linalg.solve: axes before the last two do not broadcast", func() { linalg.Solve(batch, weft.Ones(2, 3, 1)) }},
		{"linalg.det: a: has shape [2 3], want square matrices", func() { linalg.Det(weft.Ones(2, 3)) }},
		{"linalg.qr: a: has shape [3], want a matrix", func() { linalg.QR(weft.Ones(3)) }},
		{"linalg.qr: Mode: 7 is none", func() { linalg.QR(eye, linalg.QROpts{Mode: 7}) }},
		{"linalg.lu_solve: pivots: has 5 at place 1, want 0 to 2", func() { linalg.LUSolve(eye, weft.From([]int64{0, 5, 2}), weft.Ones(3)) }},
		{"linalg.lu_solve: pivots: is float32[3]", func() { linalg.LUSolve(eye, weft.Ones(3), weft.Ones(3)) }},
		{"linalg.matrix_norm: Ord: \"max\" is not the name", func() { linalg.MatrixNorm(eye, linalg.MatrixNormOpts{Ord: "max"}) }},
		{"linalg.multi_dot: takes two", func() { linalg.MultiDot(eye) }},
		{"linalg.multi_dot: ts: 1 has shape [2 2], want 3 rows", func() { linalg.MultiDot(eye, weft.Ones(2, 2)) }},
		{"linalg.cholesky: a: is nil", func() { linalg.Cholesky(nil) }},
		{"linalg.vander: N: -1 is negative", func() { linalg.Vander(weft.Ones(3), linalg.VanderOpts{N: new(-1)}) }},
		{"linalg.hilbert: n: -1 is negative", func() { linalg.Hilbert(-1) }},
		{"linalg.block_diag: ts: 0 has shape [1 2 2]", func() { linalg.BlockDiag(weft.Ones(1, 2, 2)) }},
	} {
		err := tensortest.Try(c.f)
		var e *weft.Error
		if !errors.As(err, &e) || !hasText(err, c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// hasText reports that an error begins with want. One of a device that works late may name another operation
// before it, with the argument of that.
func hasText(err error, want string) bool {
	if err == nil {
		return false
	}
	if core.Reached(0) {
		return strings.HasPrefix(err.Error(), want)
	}
	text := err.Error()
	for strings.Contains(want, ": ") {
		if strings.HasPrefix(text, want) {
			return true
		}
		_, text, _ = strings.Cut(text, ": ")
		_, want, _ = strings.Cut(want, ": ")
	}
	return strings.HasPrefix(text, want)
}

// TestErrorsOfCompiledFunctions demands the text of the eager call.
func TestErrorsOfCompiledFunctions(t *testing.T) {
	f := weft.Compile(func(a *weft.Tensor) *weft.Tensor { return linalg.Inv(a).Sum() })
	_, err := f.Call(weft.Zeros(2, 2))
	if late := tensortest.Wait(); err == nil {
		err = late
	}
	if want := "linalg.inv: a: the matrix is singular: pivot 0 is 0"; !hasText(err, want) {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestEmptyMatrices(t *testing.T) {
	none, batch := weft.Zeros(0, 0), weft.Zeros(0, 3, 3)
	for name, y := range map[string]*weft.Tensor{
		"cholesky": linalg.Cholesky(none), "inv": linalg.Inv(none), "solve": linalg.Solve(none, weft.Zeros(0, 2)), "power": linalg.MatrixPower(none, 3),
	} {
		if y.Size() != 0 {
			t.Errorf("%s: %v", name, y)
		}
	}
	if d := linalg.Det(none).Item(); d != 1 {
		t.Errorf("determinant %v", d)
	}
	for name, y := range map[string]*weft.Tensor{
		"cholesky": linalg.Cholesky(batch), "inv": linalg.Inv(batch), "det": linalg.Det(batch), "solve": linalg.Solve(batch, weft.Ones(3)),
	} {
		if y.Size() != 0 || y.Dim(0) != 0 {
			t.Errorf("%s of no matrices: %v", name, y)
		}
	}
	q, r := linalg.QR(weft.Zeros(0, 3))
	if q.Rank() != 2 || r.Dim(1) != 3 {
		t.Errorf("qr: %v %v", q, r)
	}
	x, residuals, _, _ := linalg.LstSq(weft.Zeros(3, 0), weft.Ones(3))
	if x.Size() != 0 || residuals.Item() != 3 {
		t.Errorf("lstsq: %v %v", x, residuals)
	}
	for _, shape := range [][]int{{0, 5}, {5, 0}} { // what was freed is met again: nothing may be left unwritten
		weft.Full(7.0, 5, 5).Release()
		u, _, vh := linalg.SVD(weft.Zeros(shape...))
		if full := u.Size() + vh.Size(); full != 25 || u.Sum().Add(vh.Sum()).Item() != 5 {
			t.Errorf("svd of %v: %v %v", shape, u, vh)
		}
	}
}

// TestNotNumbers demands that NaN and infinities end, with NaN or an error.
func TestNotNumbers(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, 5e-324} {
		for _, d := range []weft.DType{weft.Float32, weft.Float64, weft.Complex128} {
			a := weft.Full(v, 40, 40).To(d)
			_ = tensortest.Try(func() { linalg.Cholesky(a) })
			_ = tensortest.Try(func() { linalg.Solve(a, a) })
			_ = tensortest.Try(func() { linalg.SolveTriangular(a, a) })
			linalg.Det(a)
			linalg.QR(a)
		}
	}
}

func TestGoroutines(t *testing.T) {
	a := weft.NewGenerator(5).Randn(100, 100)
	want := weft.Digest(linalg.Inv(a))
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			if got := weft.Digest(linalg.Inv(a)); got != want {
				t.Errorf("digest %s, want %s", got, want)
			}
		})
	}
	wg.Wait()
}

// TestVmap demands the results of each example alone.
func TestVmap(t *testing.T) {
	g := weft.NewGenerator(6)
	a := g.RandnOf(weft.Float64, 5, 4, 4)
	for name, f := range map[string]func(x ...*weft.Tensor) *weft.Tensor{
		"inv": func(x ...*weft.Tensor) *weft.Tensor { return linalg.Inv(x[0]) },
		"det": func(x ...*weft.Tensor) *weft.Tensor { return linalg.Det(x[0]) },
		"qr": func(x ...*weft.Tensor) *weft.Tensor {
			q, _ := linalg.QR(x[0])
			return q
		},
		"power": func(x ...*weft.Tensor) *weft.Tensor { return linalg.MatrixPower(x[0], -2) },
	} {
		all := weft.Vmap(f)(a)
		for i := range 5 {
			if one := f(a.At(i)); !all.At(i).AllClose(one) {
				t.Errorf("%s, example %d: %v, want %v", name, i, all.At(i), one)
			}
		}
	}
}

// TestHalves demands results in the type of the argument.
func TestHalves(t *testing.T) {
	for _, d := range []weft.DType{weft.Float16, weft.BFloat16} {
		y := linalg.Inv(weft.Eye(2).Mul(4).To(d))
		if y.DType() != d || y.At(0, 0).Item() != 0.25 {
			t.Errorf("%v: %v", d, y)
		}
	}
	if y := linalg.Inv(weft.From([][]int32{{2, 0}, {0, 4}})); y.DType() != weft.Float32 || y.At(1, 1).Item() != 0.25 {
		t.Errorf("integers: %v", y)
	}
}
