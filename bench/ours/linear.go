package main

import (
	"weft"
	"weft/bench/worker"
	"weft/linalg"
)

// Factorizations of a matrix, and of 10,000 small ones. Where a result is several arrays, one is compared; all
// are computed.

func init() {
	first := func(x, _ *weft.Tensor) *weft.Tensor { return x }
	works := map[string]struct {
		definite bool
		f        func(x *weft.Tensor) *weft.Tensor
	}{
		"cholesky":  {true, func(x *weft.Tensor) *weft.Tensor { return linalg.Cholesky(x) }},
		"lu factor": {false, func(x *weft.Tensor) *weft.Tensor { return first(linalg.LUFactor(x)) }},
		"qr":        {false, func(x *weft.Tensor) *weft.Tensor { _, r := linalg.QR(x); return r }},
		"eigh":      {true, func(x *weft.Tensor) *weft.Tensor { return first(linalg.Eigh(x)) }},
		"svd":       {false, func(x *weft.Tensor) *weft.Tensor { _, s, _ := linalg.SVD(x); return s }},
		"inv":       {true, linalg.Inv},
		"solve":     {true, func(x *weft.Tensor) *weft.Tensor { return linalg.Solve(x, x.Slice(weft.Ellipsis, weft.Range(0, 1))) }},
	}
	for name, w := range works {
		for suffix, small := range map[string]bool{"": false, " of 8x8": true} {
			if !small && (name == "inv" || name == "solve") {
				continue
			}
			eager(name+suffix, func(p worker.Params) func() *weft.Tensor {
				shape := []int{p.N, p.N}
				if small {
					shape = []int{p.N, 8, 8}
				}
				x := random(p.DType, 1, shape...)
				if n := shape[len(shape)-1]; w.definite {
					x = x.MatMul(x.Transpose(-1, -2)).Div(float64(n)).Add(weft.EyeOf(x.DType(), n)).Contiguous()
				}
				return func() *weft.Tensor { return w.f(x) }
			})
		}
	}
}
