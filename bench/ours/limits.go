package main

import (
	"fmt"
	"time"

	"weft"
	"weft/bench/worker"
	"weft/internal/limits"
	"weft/internal/par"
)

// The machine's limits. The names are read by bench/report.py: "copy 2^k" is the
// bandwidth in GB/s of a copy whose source and destination together are 2^k
// bytes, counting bytes read and bytes written; "read 2^k" is that of reading 2^k
// bytes; "fma T" is the rate of multiply-adds in GFLOP/s.

func init() {
	worker.Values["limits"] = func(threads int) (map[string]float64, error) {
		v := map[string]float64{}
		for k := 13; k <= 28; k++ {
			v[fmt.Sprintf("copy 2^%d", k)] = copyBandwidth(1<<k, threads)
			read, err := limits.Bandwidth(1<<k, threads)
			if err != nil {
				return nil, err
			}
			v[fmt.Sprintf("read 2^%d", k)] = read
		}
		for _, d := range []weft.DType{weft.Float32, weft.Float64} {
			v["fma "+d.String()] = limits.FMA(d, threads)
		}
		return v, nil
	}
	// Into an existing array: no allocation, so that it shows what the memory of the
	// machine gives to both sides alike.
	worker.Cases["copy"] = func(p worker.Params) (*worker.Case, error) {
		src, dst := uniform(p.N, p.DType, 1, -1, 1), uniform(p.N, p.DType, 2, -1, 1)
		run := func() { dst.Assign(src) }
		return &worker.Case{Run: run, Check: func() []float64 { run(); return summary(dst) }}, nil
	}
}

// copyBandwidth returns GB/s of the runtime's memmove over a working set of the
// given bytes, which beyond some megabytes writes past the caches; each thread
// copies a part. The best of several samples counts, since this is a limit.
func copyBandwidth(bytes, threads int) float64 {
	src, dst := make([]byte, bytes/2), make([]byte, bytes/2)
	for i := range src {
		src[i], dst[i] = byte(i), 1 // both resident before the clock starts
	}
	part := len(src) / threads
	run := func() {
		par.Run(threads, 1, threads, func(_, begin, end int) {
			for i := begin; i < end; i++ {
				copy(dst[i*part:(i+1)*part], src[i*part:(i+1)*part])
			}
		})
	}
	worker.Warm(run, 5*time.Millisecond)
	best := 0.0
	for _, ns := range worker.Measure(run, 30*time.Millisecond).Samples {
		best = max(best, float64(bytes)/ns)
	}
	return best
}
