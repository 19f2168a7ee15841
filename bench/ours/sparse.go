package main

import (
	"weft"
	"weft/bench/worker"
	"weft/sparse"
)

// Products with sparse matrices.

func init() {
	eager("sparse by a vector", func(p worker.Params) func() *weft.Tensor { return sparseBy(p, p.N/10) })
	eager("sparse by 64 columns", func(p worker.Params) func() *weft.Tensor { return sparseBy(p, p.N/10, 64) })
}

// sparseBy multiplies a matrix of p.N entries, ten a row on average, with an array.
func sparseBy(p worker.Params, shape ...int) func() *weft.Tensor {
	rows := p.N / 10
	offsets, columns := make([]int64, rows+1), make([]int32, p.N)
	for _, r := range worker.Scrambled(p.N, 1) {
		offsets[int(r)%rows+1]++
	}
	for i := range rows {
		offsets[i+1] += offsets[i]
	}
	for i, c := range worker.Scrambled(p.N, 2) {
		columns[i] = int32(int(c) % rows)
	}
	m := sparse.NewCSR(random(p.DType, 3, p.N), columns, offsets, rows, rows)
	x := random(p.DType, 4, shape...)
	return func() *weft.Tensor { return m.MatMul(x) }
}
