package main

import (
	"fmt"
	"time"

	"weft"
	"weft/bench/worker"
	"weft/internal/limits"
	"weft/internal/par"
)

// The machine's limits. bench/report.py reads the names:
//   - "copy 2^k" is the bandwidth in GB/s of a copy whose source and destination together are
//     2^k bytes, counting bytes read and bytes written;
//   - "read 2^k" is the bandwidth in GB/s of reading 2^k bytes;
//   - "fma T" is the rate of multiply-adds in GFLOP/s.

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

// copyBandwidth returns GB/s of a copy over a working set of the given bytes. It is the
// best of three: the runtime's memmove, each thread copying a part, with non-temporal stores
// from some megabytes on; the library's copy, with non-temporal stores later; and a kernel
// that always has them. The best of several samples counts, since this is a limit.
func copyBandwidth(bytes, threads int) float64 {
	n := bytes / 8
	from, to := uniform(n, "float32", 1, -1, 1), uniform(n, "float32", 2, -1, 1)
	src, dst := bytesOf(from), bytesOf(to)
	part := len(src) / threads
	copies := []func(){
		func() {
			par.Run(threads, 1, threads, func(_, begin, end int) {
				for i := begin; i < end; i++ {
					copy(dst[i*part:(i+1)*part], src[i*part:(i+1)*part])
				}
			})
		},
		func() { to.Assign(from) },
	}
	if limits.Stream(dst, threads, src) {
		copies = append(copies, func() { limits.Stream(dst, threads, src) })
	}
	best := 0.0
	for _, run := range copies {
		worker.Warm(run, 5*time.Millisecond)
		for _, ns := range worker.Measure(run, 20*time.Millisecond).Samples {
			best = max(best, float64(bytes)/ns)
		}
	}
	from.Release()
	to.Release()
	return best
}
