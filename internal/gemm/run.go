package gemm

import (
	"weft/internal/array"
	"weft/internal/par"
)

// run computes a batch of products that is not empty.
func run(d array.DType, t *Batch, total, m, n, k int, a, b, c Mat, e *Epilogue, threads int) {
	runPortable(d, t, total, m, n, k, a, b, c, e, threads)
}

// portableGrain is about how many multiply-adds one chunk of a threaded portable
// product has: some 50 µs.
const portableGrain = 16 << 10

func runPortable(d array.DType, t *Batch, total, m, n, k int, a, b, c Mat, e *Epilogue, threads int) {
	rows := total * m
	grain := max(1, portableGrain/(n*max(k, 1)))
	if rows*n*max(k, 1) < 4*portableGrain {
		threads = 1
	}
	par.Run(rows, grain, threads, func(_, begin, end int) {
		for begin < end {
			i := begin / m
			m0 := begin % m
			m1 := min(m, m0+end-begin)
			a, b, c, e := t.at(i, d.Size(), a, b, c, *e)
			if d == array.Float32 {
				portable[float32](m0, m1, 0, n, k, kBlock32, a, b, c, &e)
			} else {
				portable[float64](m0, m1, 0, n, k, kBlock64, a, b, c, &e)
			}
			begin += m1 - m0
		}
	})
}
