package main

import (
	"weft"
	"weft/bench/worker"
	"weft/sparse"
)

// Products with sparse matrices, and equations of them.

func init() {
	eager("sparse by a vector", func(p worker.Params) func() *weft.Tensor { return sparseBy(p, p.N/10) })
	eager("sparse by 64 columns", func(p worker.Params) func() *weft.Tensor { return sparseBy(p, p.N/10, 64) })
	grid("sparse lu of a grid", func(m *sparse.Matrix) func(b *weft.Tensor) *weft.Tensor {
		return func(b *weft.Tensor) *weft.Tensor { return sparse.LU(m).Solve(b) }
	})
	grid("sparse cholesky of a grid", func(m *sparse.Matrix) func(b *weft.Tensor) *weft.Tensor {
		return func(b *weft.Tensor) *weft.Tensor { return sparse.Cholesky(m).Solve(b) }
	})
	grid("sparse solve on a grid", func(m *sparse.Matrix) func(b *weft.Tensor) *weft.Tensor { return sparse.LU(m).Solve })
}

// grid adds a case that solves equations of the five-point Laplacian of a grid of p.N x p.N.
func grid(name string, solver func(m *sparse.Matrix) func(b *weft.Tensor) *weft.Tensor) {
	eager(name, func(p worker.Params) func() *weft.Tensor {
		d := weft.Float64
		line := sparse.Diags([]*weft.Tensor{weft.FullOf(d, 2, 1), weft.FullOf(d, -1, 1), weft.FullOf(d, -1, 1)}, []int{0, 1, -1}, p.N, p.N)
		eye := sparse.Eye(p.N).As(d)
		m := sparse.Kron(line, eye).Add(sparse.Kron(eye, line)).To(sparse.CSC).Coalesce()
		solve, b := solver(m), random(p.DType, 1, p.N*p.N)
		return func() *weft.Tensor { return solve(b) }
	})
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
