package gemm_test

import (
	"fmt"
	"math"
	"testing"
	"time"
	"unsafe"

	"weft/internal/array"
	"weft/internal/gemm"
	"weft/internal/jit"
	"weft/internal/limits"
	"weft/internal/mem"
)

// peaks are measured once, before the first benchmark that needs them.
var peaks = map[string]float64{}

func peak(d array.DType, threads int) float64 {
	key := fmt.Sprint(d, threads)
	if peaks[key] == 0 {
		for range 10 {
			peaks[key] = max(peaks[key], limits.FMA(d, threads))
		}
	}
	return peaks[key]
}

func buffer(b *testing.B, d array.DType, n int) unsafe.Pointer {
	blk, err := mem.AllocZeroed(n * d.Size())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { mem.Free(blk) })
	// Memory that was never written may be one page of zeros mapped many times.
	// Subnormal numbers would cost time of their own.
	for i := range n {
		x := float64(i%61)/61 - 0.5
		if d == array.Float32 {
			unsafe.Slice((*float32)(blk.Ptr()), n)[i] = float32(x)
		} else {
			unsafe.Slice((*float64)(blk.Ptr()), n)[i] = x
		}
	}
	return blk.Ptr()
}

// bench runs f, which does macs multiply-adds, and reports the rate of the fastest
// of many short stretches, which what else runs on the machine disturbs least.
func bench(b *testing.B, d array.DType, threads, macs int, f func()) {
	p := peak(d, threads)
	calls := max(1, 2_000_000/max(macs, 1))
	best := math.Inf(1)
	for b.Loop() {
		t := time.Now()
		for range calls {
			f()
		}
		best = min(best, float64(time.Since(t))/float64(calls))
	}
	b.ReportMetric(best, "best-ns")
	b.ReportMetric(2*float64(macs)/best, "GFLOP/s")
	b.ReportMetric(2*float64(macs)/best/p, "ofpeak")
	b.ReportMetric(0, "ns/op")
}

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
	} {
		for _, d := range []array.DType{array.Float32, array.Float64} {
			for _, threads := range []int{1, 2} {
				b.Run(fmt.Sprintf("%dx%dx%d%s/%s/T%d", c.m, c.k, c.n, c.trans, d, threads), func(b *testing.B) {
					x := gemm.Mat{Ptr: buffer(b, d, c.m*c.k), Row: c.k, Col: 1}
					y := gemm.Mat{Ptr: buffer(b, d, c.k*c.n), Row: c.n, Col: 1}
					z := gemm.Mat{Ptr: buffer(b, d, c.m*c.n), Row: c.n, Col: 1}
					switch c.trans {
					case "A":
						x.Row, x.Col = 1, c.m
					case "B":
						y.Row, y.Col = 1, c.k
					}
					bench(b, d, threads, c.m*c.n*c.k, func() {
						gemm.Product{ISA: jit.Chosen().ISA, DType: d, M: c.m, N: c.n, K: c.k, A: x, B: y, C: z, Threads: threads}.Run()
					})
				})
			}
		}
	}
}

// BenchmarkConv reports the rates of the three products of a convolution.
func BenchmarkConv(b *testing.B) {
	for _, g := range []gemm.Geometry{
		{N: 60, C: 1, H: 32, W: 32, O: 6, KH: 5, KW: 5},
		{N: 60, C: 6, H: 14, W: 14, O: 16, KH: 5, KW: 5},
		{N: 64, C: 1, H: 28, W: 28, O: 6, KH: 5, KW: 5},
		{N: 64, C: 6, H: 12, W: 12, O: 16, KH: 5, KW: 5},
		{N: 60, C: 1, H: 256, W: 256, O: 6, KH: 7, KW: 7},
		{N: 16, C: 3, H: 224, W: 224, O: 64, KH: 7, KW: 7, StrideH: 2, StrideW: 2, PadH: 3, PadW: 3},
		{N: 16, C: 64, H: 56, W: 56, O: 64, KH: 3, KW: 3, PadH: 1, PadW: 1},
		{N: 2, C: 128, H: 28, W: 28, O: 128, KH: 3, KW: 3, PadH: 1, PadW: 1},
		{N: 16, C: 256, H: 14, W: 14, O: 256, KH: 3, KW: 3, PadH: 1, PadW: 1},
		{N: 4, C: 512, H: 7, W: 7, O: 512, KH: 3, KW: 3, PadH: 1, PadW: 1},
		{N: 16, C: 64, H: 56, W: 56, O: 256, KH: 1, KW: 1},
		{N: 4, C: 128, H: 28, W: 28, O: 128, KH: 3, KW: 3, PadH: 1, PadW: 1, StrideH: 2, StrideW: 2},
	} {
		oh, ow := g.OutH(), g.OutW()
		d := array.Float32
		macs := g.N * g.O * oh * ow * g.C * g.KH * g.KW
		for _, threads := range []int{1, 2} {
			x := gemm.ContiguousImage(buffer(b, d, g.N*g.C*g.H*g.W), g.C, g.H, g.W)
			y := gemm.ContiguousImage(buffer(b, d, g.N*g.O*oh*ow), g.O, oh, ow)
			w := buffer(b, d, g.O*g.C*g.KH*g.KW)
			name := fmt.Sprintf("%dx%dx%dx%d-%d-%dx%d/s%d", g.N, g.C, g.H, g.W, g.O, g.KH, g.KW, max(g.StrideH, 1))
			b.Run(fmt.Sprintf("%s/forward/T%d", name, threads), func(b *testing.B) {
				bench(b, d, threads, macs, func() {
					gemm.Convolution{ISA: jit.Chosen().ISA, DType: d, Geometry: g, Threads: threads}.Forward(y, x, w)
				})
			})
			b.Run(fmt.Sprintf("%s/input/T%d", name, threads), func(b *testing.B) {
				bench(b, d, threads, macs, func() {
					gemm.Convolution{ISA: jit.Chosen().ISA, DType: d, Geometry: g, Threads: threads}.GradInput(x, y, w)
				})
			})
			b.Run(fmt.Sprintf("%s/weight/T%d", name, threads), func(b *testing.B) {
				bench(b, d, threads, macs, func() {
					gemm.Convolution{ISA: jit.Chosen().ISA, DType: d, Geometry: g, Threads: threads}.GradWeight(w, x, y)
				})
			})
		}
	}
}

// BenchmarkBatch reports the rate of 64 products of 64 x 64 matrices.
func BenchmarkBatch(b *testing.B) {
	d := array.Float32
	const n, count = 64, 64
	x, y, z := buffer(b, d, count*n*n), buffer(b, d, count*n*n), buffer(b, d, count*n*n)
	mat := func(p unsafe.Pointer) gemm.Mat { return gemm.Mat{Ptr: p, Row: n, Col: 1} }
	step := []int{n * n}
	batch := gemm.Batch{Count: []int{count}, A: step, B: step, C: step}
	for _, threads := range []int{1, 2} {
		b.Run(fmt.Sprintf("T%d", threads), func(b *testing.B) {
			bench(b, d, threads, count*n*n*n, func() {
				gemm.Product{ISA: jit.Chosen().ISA, DType: d, M: n, N: n, K: n, A: mat(x), B: mat(y), C: mat(z), Batch: batch, Threads: threads}.Run()
			})
		})
	}
}
