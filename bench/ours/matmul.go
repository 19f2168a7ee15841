package main

import "weft"

func init() {
	eager("matmul", func(p Params) func() *weft.Tensor {
		n := p.N
		a := uniform(n*n, p.DType, 1, -1, 1, n, n)
		b := uniform(n*n, p.DType, 2, -1, 1, n, n)
		return func() *weft.Tensor { return a.MatMul(b) }
	})
}
