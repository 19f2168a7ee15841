package main

import (
	"fmt"

	"weft"
	"weft/bench/worker"
)

func init() {
	eager("matmul", func(p worker.Params) func() *weft.Tensor { return product(p, []int{p.N, p.N}, []int{p.N, p.N}) })
	eager("matmul 64 of 64x64x64", func(p worker.Params) func() *weft.Tensor {
		return product(p, []int{p.N, 64, 64}, []int{p.N, 64, 64})
	})
	// The size of these is their first number.
	for _, s := range [][3]int{
		{64, 784, 500}, {784, 60, 500}, {60, 500, 10}, {8, 4096, 4096}, {1, 4096, 4096}, {4096, 4096, 1},
	} {
		eager(fmt.Sprintf("matmul %dx%dx%d", s[0], s[1], s[2]), func(p worker.Params) func() *weft.Tensor {
			return product(p, []int{s[0], s[1]}, []int{s[1], s[2]})
		})
	}
}

func product(p worker.Params, left, right []int) func() *weft.Tensor {
	size := func(shape []int) int {
		n := 1
		for _, d := range shape {
			n *= d
		}
		return n
	}
	a := uniform(size(left), p.DType, 1, -1, 1, left...)
	b := uniform(size(right), p.DType, 2, -1, 1, right...)
	return func() *weft.Tensor { return a.MatMul(b) }
}
