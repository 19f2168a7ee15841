package cputest

import (
	"fmt"
	"math"
	"testing"
	"time"
	"unsafe"

	"weft/internal/array"
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

// Buffer returns memory for n elements that are neither all zero nor subnormal.
func Buffer(b *testing.B, d array.DType, n int) unsafe.Pointer {
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

// Bench runs f, which does macs multiply-adds, and reports the rate of the fastest
// of many short stretches, which what else runs on the machine disturbs least.
func Bench(b *testing.B, d array.DType, threads, macs int, f func()) {
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
