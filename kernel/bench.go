package kernel

import (
	"fmt"
	"slices"
	"time"

	"weft"
)

// A Benchmark is how long calls took.
type Benchmark struct {
	Median time.Duration // of a call
	Calls  int
	Bytes  int // of tensors that are arguments and of results
}

// String returns the time, and the bytes read and written a second.
func (b Benchmark) String() string {
	return fmt.Sprintf("%v a call, median of %d, %.3g GB/s", b.Median, b.Calls, float64(b.Bytes)/float64(max(b.Median, 1)))
}

// benchTime is how long Bench calls, at least once.
const benchTime = 100 * time.Millisecond

// Bench measures calls of [Func.Map] with these arguments, or of [Func.Stencil] where the
// function is a stencil, after a first one, which compiles. No gradient is recorded.
func (f *Func) Bench(args ...any) Benchmark {
	f.check()
	b := Benchmark{}
	args = slices.Clone(args)
	ours := true // the results, unless options may say where they go
	for i, x := range args {
		switch t := x.(type) {
		case *weft.Tensor:
			if t != nil {
				args[i] = t.Detach()
				b.Bytes += t.Size() * t.DType().Size()
			}
		case MapOpts, *MapOpts, StencilOpts, *StencilOpts:
			ours = false
		}
	}
	call := func() []*weft.Tensor {
		if f.IsStencil() {
			return f.StencilAll(args...)
		}
		return f.MapAll(args...)
	}
	for _, y := range call() {
		b.Bytes += y.Size() * y.DType().Size()
	}
	var times []time.Duration
	for start := time.Now(); len(times) == 0 || time.Since(start) < benchTime; {
		from := time.Now()
		ys := call()
		times = append(times, time.Since(from))
		if ours { // or calls would wait for the collector, which a busy machine delays
			for _, y := range ys {
				y.Release()
			}
		}
	}
	slices.Sort(times)
	b.Median, b.Calls = times[len(times)/2], len(times)
	return b
}
