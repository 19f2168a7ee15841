package product

import (
	"fmt"
	"testing"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/cputest"
	"weft/internal/cpu/tile"
	"weft/internal/jit"
)

// BenchmarkGemm reports the rate and its part of the measured peak. The suffix tells
// which operands are stored transposed.
func BenchmarkGemm(b *testing.B) {
	for _, c := range []struct {
		m, n, k int
		trans   string
	}{
		{16, 16, 16, ""}, {32, 32, 32, ""}, {64, 64, 64, ""}, {96, 96, 96, ""}, {128, 128, 128, ""}, {256, 256, 256, ""}, {512, 512, 512, ""},
		{1000, 1000, 1000, ""}, {1024, 1024, 1024, ""}, {2048, 2048, 2048, ""},
		{128, 128, 128, "A"}, {128, 128, 128, "B"}, {512, 512, 512, "A"}, {512, 512, 512, "B"},
		{64, 500, 784, ""}, {60, 10, 500, ""}, {784, 500, 60, "A"}, {60, 784, 500, "B"}, {60, 500, 784, "B"},
		{8, 4096, 4096, ""}, {8, 4096, 4096, "B"}, {32, 4096, 4096, ""}, {32, 4096, 4096, "B"},
		{1, 4096, 4096, ""}, {1, 4096, 4096, "B"}, {4096, 1, 4096, ""}, {1, 500, 784, ""}, {1, 500, 784, "B"},
		{400, 1, 784, ""}, {784, 1, 400, "A"}, {500, 10, 60, "A"},
		{1, 1000, 1000, ""}, {1000, 1, 1000, ""},
	} {
		for _, d := range []array.DType{array.Float32, array.Float64} {
			for _, threads := range []int{1, 2} {
				b.Run(fmt.Sprintf("%dx%dx%d%s/%s/T%d", c.m, c.k, c.n, c.trans, d, threads), func(b *testing.B) {
					x := tile.Mat{Ptr: cputest.Buffer(b, d, c.m*c.k), Row: c.k, Col: 1}
					y := tile.Mat{Ptr: cputest.Buffer(b, d, c.k*c.n), Row: c.n, Col: 1}
					z := tile.Mat{Ptr: cputest.Buffer(b, d, c.m*c.n), Row: c.n, Col: 1}
					switch c.trans {
					case "A":
						x.Row, x.Col = 1, c.m
					case "B":
						y.Row, y.Col = 1, c.k
					}
					cputest.Bench(b, d, threads, c.m*c.n*c.k, func() {
						Product{ISA: jit.Chosen().ISA, DType: d, M: c.m, N: c.n, K: c.k, A: x, B: y, C: z, Threads: threads}.Run()
					})
				})
			}
		}
	}
}

// BenchmarkBatch reports the rate of 64 products of 64 x 64 matrices.
func BenchmarkBatch(b *testing.B) {
	d := array.Float32
	const n, count = 64, 64
	x, y, z := cputest.Buffer(b, d, count*n*n), cputest.Buffer(b, d, count*n*n), cputest.Buffer(b, d, count*n*n)
	mat := func(p unsafe.Pointer) tile.Mat { return tile.Mat{Ptr: p, Row: n, Col: 1} }
	step := []int{n * n}
	batch := Batch{Count: []int{count}, A: step, B: step, C: step}
	for _, threads := range []int{1, 2} {
		b.Run(fmt.Sprintf("T%d", threads), func(b *testing.B) {
			cputest.Bench(b, d, threads, count*n*n*n, func() {
				Product{ISA: jit.Chosen().ISA, DType: d, M: n, N: n, K: n, A: mat(x), B: mat(y), C: mat(z), Batch: batch, Threads: threads}.Run()
			})
		})
	}
}
