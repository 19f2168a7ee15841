package linalg_test

import (
	"testing"

	"weft"
	"weft/internal/par"
	"weft/linalg"
)

// TestOneHash demands the same bits on 1, 2 and 8 threads, and on every processor and setting of WEFT_JIT:
// the digest is pinned.
func TestOneHash(t *testing.T) {
	const want = "3776b9ca68f2b5662ce4d33a9b8648378ce11ededb8808d253c605181fd40750"
	defer par.SetThreads(par.SetThreads(1))
	for _, threads := range []int{1, 2, 8} {
		par.SetThreads(threads)
		var digests string
		for _, ty := range types {
			g := weft.NewGenerator(7)
			for _, n := range []int{1, 2, 3, 17, 65, 130} {
				if n > 65 && ty.d != weft.Float64 {
					continue
				}
				a := randomOf(g, ty.d, n, n).Div(float64(n))
				digests += weft.Digest(bits(a)...)
			}
		}
		if got := weft.Digest(weft.From([]byte(digests))); got != want {
			t.Errorf("%d threads: digest %s, want %s", threads, got, want)
		}
	}
}

// bits are the results of the factorizations, solutions and functions of a matrix.
func bits(a *weft.Tensor) (out []*weft.Tensor) {
	add := func(ts ...*weft.Tensor) {
		for _, x := range ts {
			out = append(out, x.Contiguous())
		}
	}
	three := func(x, y, z *weft.Tensor) { add(x, y, z) }
	two := func(x, y *weft.Tensor) { add(x, y) }
	h := a.MatMul(adjoint(a)).Add(weft.EyeOf(a.DType(), a.Dim(0)))
	three(linalg.LU(a))
	two(linalg.QR(a))
	three(linalg.SVD(a))
	two(linalg.Eigh(h))
	two(linalg.Eig(a))
	two(linalg.Schur(a))
	two(linalg.Hessenberg(a))
	two(linalg.Polar(a))
	add(linalg.Cholesky(h), linalg.Inv(h), linalg.Det(a), linalg.PInv(a), linalg.Expm(a), linalg.Logm(h), linalg.Sqrtm(h))
	return out
}
