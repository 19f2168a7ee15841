package linalg_test

import (
	"math"
	"testing"

	"weft"
	"weft/internal/tensortest"
	"weft/linalg"
)

// TestBatchHasBitsOfSingles demands of batches of small matrices, which kernels factor side by side, the bits
// of one matrix at a time, with exceptional ones among them.
func TestBatchHasBitsOfSingles(t *testing.T) {
	const count = 37
	g := weft.NewGenerator(5)
	for _, d := range []weft.DType{weft.Float32, weft.Float64} {
		for _, n := range []int{1, 2, 3, 4, 5, 8, 12, 13, 16, 17} {
			a := randomOf(g, d, count, n, n)
			h := a.MatMul(adjoint(a)).Add(weft.EyeOf(d, n))
			b := randomOf(g, d, count, n, 3)
			odd := a.Clone()
			odd.At(3).Assign(odd.At(3).Mul(0))
			odd.At(7).Assign(odd.At(7).Mul(1e-40).Mul(1e-4))
			odd.At(36).Assign(odd.At(36).Mul(1e30))
			odd.At(20).Assign(weft.EyeOf(d, n).Mul(-2))
			odd.At(21, 0, 0).Assign(math.Inf(1))
			odd.At(22, n-1, n-1).Assign(math.NaN())
			for name, f := range map[string]func(at func(x *weft.Tensor) *weft.Tensor) []*weft.Tensor{
				"cholesky": func(at func(x *weft.Tensor) *weft.Tensor) []*weft.Tensor { return tensors{linalg.Cholesky(at(h))} },
				"strided": func(at func(x *weft.Tensor) *weft.Tensor) []*weft.Tensor {
					return tensors{linalg.Cholesky(adjoint(at(h)))}
				},
				"lu": func(at func(x *weft.Tensor) *weft.Tensor) []*weft.Tensor {
					f, p := linalg.LUFactor(at(odd))
					return tensors{f, p}
				},
				"solve": func(at func(x *weft.Tensor) *weft.Tensor) []*weft.Tensor { return tensors{linalg.Solve(at(a), at(b))} },
				"qr": func(at func(x *weft.Tensor) *weft.Tensor) []*weft.Tensor {
					q, r := linalg.QR(at(odd))
					return tensors{q, r}
				},
				"qr of tall and wide ones": func(at func(x *weft.Tensor) *weft.Tensor) []*weft.Tensor {
					q, r := linalg.QR(at(a).Slice(weft.Ellipsis, weft.Range(0, (n+1)/2)))
					p, s := linalg.QR(at(a).Slice(weft.Ellipsis, weft.Range(0, (n+1)/2), weft.All))
					_, t := linalg.QR(at(a), linalg.QROpts{Mode: linalg.R})
					return tensors{q, r, p, s, t}
				},
				"eigh": func(at func(x *weft.Tensor) *weft.Tensor) []*weft.Tensor {
					w, v := linalg.Eigh(at(h))
					return tensors{w, v}
				},
				"svd": func(at func(x *weft.Tensor) *weft.Tensor) []*weft.Tensor {
					u, s, vh := linalg.SVD(at(a))
					return tensors{u, s, vh}
				},
				"inverse": func(at func(x *weft.Tensor) *weft.Tensor) []*weft.Tensor { return tensors{linalg.Inv(at(a))} },
			} {
				batch := f(func(x *weft.Tensor) *weft.Tensor { return x })
				for i := range count {
					for k, one := range f(func(x *weft.Tensor) *weft.Tensor { return x.At(i) }) {
						if weft.Digest(one.Contiguous()) != weft.Digest(batch[k].At(i).Contiguous()) {
							t.Fatalf("%s of %v, %d x %d: result %d of matrix %d differs:\n%v\n%v", name, d, n, n, k, i, one, batch[k].At(i))
						}
					}
				}
			}
		}
	}
	bad := weft.Eye(4).Expand(20, 4, 4).Clone()
	bad.At(9, 2, 2).Assign(-1)
	bad.At(13).Assign(0)
	err := tensortest.Try(func() { linalg.Cholesky(bad) })
	if want := "linalg.cholesky: a: matrix [9] of the batch is not positive definite: its leading minor of order 3 is not positive"; !hasText(err, want) {
		t.Errorf("%v, want %s", err, want)
	}
	err = tensortest.Try(func() { linalg.Solve(bad, weft.Ones(4)) })
	if want := "linalg.solve: a: matrix [13] of the batch is singular: pivot 0 is 0"; !hasText(err, want) {
		t.Errorf("%v, want %s", err, want)
	}
}
