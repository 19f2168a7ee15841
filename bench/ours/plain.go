package main

import (
	"math"
	"runtime"
	"slices"
	"time"

	"weft"
	"weft/bench/worker"
	"weft/internal/device"
	"weft/nn"
)

// Programs as they are first written: no Scope, no Release, no formula. A run leaves its
// results to the collector; the yardstick gives back each one by hand, also those between
// the first and the last of a chain. Each work is there once more with a Go heap of 300 MB
// of pointers beside it, which every collection reads.

// ballast is how many bytes of pointers the Go heap has in the works that say so.
const ballast = 300 << 20

func init() {
	side := func(n int) int { return int(math.Ceil(math.Sqrt(float64(n)))) }
	plain("plain a+b", func(p worker.Params) (func() *weft.Tensor, func()) {
		a, b := uniform(p.N, p.DType, 1, -1, 1), uniform(p.N, p.DType, 2, -1, 1)
		return alone(func() *weft.Tensor { return a.Add(b) })
	})
	plain("plain outer", func(p worker.Params) (func() *weft.Tensor, func()) {
		n := side(p.N)
		a, b := uniform(n, p.DType, 1, -1, 1), uniform(n, p.DType, 2, -1, 1)
		return alone(func() *weft.Tensor { return a.Outer(b) })
	})
	for axis, name := range []string{"plain a+row", "plain a+column"} {
		plain(name, func(p worker.Params) (func() *weft.Tensor, func()) {
			n := side(p.N)
			shape := []int{n, n}
			shape[axis] = 1
			a, b := uniform(n*n, p.DType, 1, -1, 1, n, n), uniform(n, p.DType, 2, -1, 1, shape...)
			return alone(func() *weft.Tensor { return a.Add(b) })
		})
	}
	plain("plain cat", func(p worker.Params) (func() *weft.Tensor, func()) {
		a, b := uniform(p.N/2, p.DType, 1, -1, 1), uniform(p.N/2, p.DType, 2, -1, 1)
		return alone(func() *weft.Tensor { return weft.Cat([]*weft.Tensor{a, b}, 0) })
	})
	plain("plain chain of ten", func(p worker.Params) (func() *weft.Tensor, func()) {
		a, b := uniform(p.N, p.DType, 1, -1, 1), uniform(p.N, p.DType, 2, -1, 1)
		return func() *weft.Tensor {
				return a.Add(b).Mul(a).Sub(b).Mul(0.5).Add(a).Maximum(b).Mul(b).Add(1).Sub(a).Mul(a)
			}, func() {
				x := a.Add(b)
				for _, f := range []func(x *weft.Tensor) *weft.Tensor{
					func(x *weft.Tensor) *weft.Tensor { return x.Mul(a) },
					func(x *weft.Tensor) *weft.Tensor { return x.Sub(b) },
					func(x *weft.Tensor) *weft.Tensor { return x.Mul(0.5) },
					func(x *weft.Tensor) *weft.Tensor { return x.Add(a) },
					func(x *weft.Tensor) *weft.Tensor { return x.Maximum(b) },
					func(x *weft.Tensor) *weft.Tensor { return x.Mul(b) },
					func(x *weft.Tensor) *weft.Tensor { return x.Add(1) },
					func(x *weft.Tensor) *weft.Tensor { return x.Sub(a) },
					func(x *weft.Tensor) *weft.Tensor { return x.Mul(a) },
				} {
					next := f(x)
					x.Release()
					x = next
				}
				x.Release()
			}
	})
	scoped("plain chain in a scope", func(s *weft.Scope) *weft.Scope { return s })
	scoped("plain chain, lazy", (*weft.Scope).Lazy)

	small("plain slice of 16", func(p worker.Params) func() *weft.Tensor {
		x := uniform(1000, p.DType, 1, -1, 1)
		return func() *weft.Tensor { return x.Slice(weft.Range(10, 26)) }
	})
	small("plain x[3]", func(p worker.Params) func() *weft.Tensor {
		x := uniform(1000, p.DType, 1, -1, 1, 10, 100)
		return func() *weft.Tensor { return x.At(3) }
	})
	small("plain reshape", func(p worker.Params) func() *weft.Tensor {
		x := uniform(1000, p.DType, 1, -1, 1)
		return func() *weft.Tensor { return x.Reshape(10, 100) }
	})
	small("plain x[10:20]=0", func(p worker.Params) func() *weft.Tensor {
		x := uniform(1000, p.DType, 1, -1, 1)
		return func() *weft.Tensor { return x.Slice(weft.Range(10, 20)).Assign(0) }
	})
	small("plain zeros of 16", func(p worker.Params) func() *weft.Tensor {
		d := dtypeOf(p.DType)
		return func() *weft.Tensor { return weft.ZerosOf(d, p.N) }
	})
	small("plain batch of 8x8", func(p worker.Params) func() *weft.Tensor {
		a, b := uniform(p.N*64, p.DType, 1, -1, 1, p.N, 8, 8), uniform(p.N*64, p.DType, 2, -1, 1, p.N, 8, 8)
		return func() *weft.Tensor { return a.MatMul(b) }
	})
	worker.Cases["plain chain with gradient"] = func(p worker.Params) (*worker.Case, error) {
		w := uniform(p.N, p.DType, 1, 0.5, 1).RequireGrad()
		run := func() (*weft.Tensor, *weft.Tensor) {
			x := w
			for range 50 {
				x = x.Mul(0.99).Add(0.01)
			}
			s := x.Sum()
			s.Backward()
			g := w.Grad()
			w.SetGrad(nil)
			return s, g
		}
		return &worker.Case{
			Run: func() { run() },
			Check: func() []float64 {
				s, g := run()
				return append(summary(s.Detach()), summary(g)...)
			},
		}, nil
	}

	worker.Values["plain attention"] = func(int) (map[string]float64, error) { return lengths(false) }
	worker.Values["plain attention, scope"] = func(int) (map[string]float64, error) { return lengths(true) }
	worker.Values["plain new sizes"] = func(int) (map[string]float64, error) { return newSizes() }
}

// small adds the case of a short call that leaves its result, from which nothing was computed.
func small(name string, prepare func(p worker.Params) func() *weft.Tensor) {
	worker.Cases[name] = func(p worker.Params) (*worker.Case, error) {
		f := prepare(p)
		return &worker.Case{Run: func() { f() }, Check: func() []float64 { return summary(f()) }}, nil
	}
}

// alone returns an operation, and the same with its result given back.
func alone(f func() *weft.Tensor) (func() *weft.Tensor, func()) {
	return f, func() { f().Release() }
}

// plain adds a case, with the yardstick that prepare returns second, once with an empty Go
// heap and once with a full one.
func plain(name string, prepare func(p worker.Params) (f func() *weft.Tensor, released func())) {
	for heap, name := range map[int]string{0: name, ballast: name + ", 300 MB"} {
		worker.Also[name] = append(worker.Also[name], yardstick)
		worker.Cases[name] = func(p worker.Params) (*worker.Case, error) {
			f, released := prepare(p)
			full := pointers(heap)
			return &worker.Case{
				Run:   func() { f() },
				Also:  map[string]func(){yardstick: released},
				Check: func() []float64 { return summary(f()) },
				Close: func() { runtime.KeepAlive(full) },
			}, nil
		}
	}
}

// pointers returns a Go heap of the given bytes that a collection has to read.
func pointers(bytes int) []*int {
	p := make([]*int, bytes/8)
	var x [1 << 10]int
	for i := range p {
		p[i] = &x[i%len(x)]
	}
	return p
}

// scoped adds the chain in a scope; the yardstick leaves it to the collector.
func scoped(name string, kind func(s *weft.Scope) *weft.Scope) {
	worker.Also[name] = append(worker.Also[name], yardstick)
	worker.Cases[name] = func(p worker.Params) (*worker.Case, error) {
		a, b := uniform(p.N, p.DType, 1, -1, 1), uniform(p.N, p.DType, 2, -1, 1)
		chain := func(x *weft.Tensor) *weft.Tensor {
			return x.Add(b).Mul(a).Sub(b).Mul(0.5).Add(a).Maximum(b).Mul(b).Add(1).Sub(a).Mul(a)
		}
		in := func(use func(y *weft.Tensor)) {
			s := kind(weft.NewScope())
			defer s.Close()
			use(chain(s.Track(a)))
		}
		return &worker.Case{
			Run:  func() { in(func(y *weft.Tensor) { weft.Borrow(y, func([]float32) {}) }) },
			Also: map[string]func(){yardstick: func() { chain(a) }},
			Check: func() (c []float64) {
				in(func(y *weft.Tensor) { c = summary(y) })
				return c
			},
		}, nil
	}
}

// lengths runs attention forward and backward over sequences of 1 to 200 places, as batches
// of sentences have, and returns the most resident bytes and the time of a pass.
func lengths(scope bool) (map[string]float64, error) {
	const longest, heads, width, passes = 200, 8, 64, 5
	x := random("float32", 1, 3, heads, longest, width).RequireGrad()
	var times []float64
	peak := 0.0
	for range passes {
		start := time.Now()
		for i := range longest {
			n := 1 + i*7%longest // neighbours in time have other lengths
			step := func(x *weft.Tensor) {
				parts := x.Slice(weft.All, weft.All, weft.Range(0, n)).Unbind(0)
				y := nn.ScaledDotProductAttention(parts[0], parts[1], parts[2])
				y.Mul(y).Sum().Backward()
			}
			if scope {
				s := weft.NewScope()
				step(s.Track(x))
				s.Close()
			} else {
				step(x)
			}
			x.SetGrad(nil)
			now, err := resident()
			if err != nil {
				return nil, err
			}
			peak = max(peak, now)
		}
		times = append(times, float64(time.Since(start).Nanoseconds()))
	}
	slices.Sort(times)
	return map[string]float64{"resident": peak, "pass": times[len(times)/2]}, nil
}

// newSizes computes results of sizes that were never met and drops each, and returns the most
// bytes of tensors, of mappings and of what the process holds more than before, what is live,
// and what of the Go heap stays: plans.
func newSizes() (map[string]float64, error) {
	const most, rounds = 15_000, 7_000
	x := uniform(most, "float32", 1, -1, 1)
	x.Add(1)
	runtime.GC()
	before, err := resident()
	if err != nil {
		return nil, err
	}
	heap, peak, mapped := goHeap(), 0.0, int64(0)
	for i := range rounds {
		n := most - 2*(i*7919%rounds) // each once
		x.Slice(weft.Range(0, n)).Mul(2).Add(1)
		if i%10 == 0 {
			now, err := resident()
			if err != nil {
				return nil, err
			}
			peak, mapped = max(peak, now-before), max(mapped, device.Get(0).Memory().Stats().Reserved)
		}
	}
	runtime.GC()
	return map[string]float64{
		"live": 4 * 2 * most, "resident": peak, "plans": goHeap() - heap,
		"tensors": float64(device.Get(0).Memory().Stats().Peak), "reserved": float64(mapped),
	}, nil
}

// goHeap returns the bytes in use on the Go heap.
func goHeap() float64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}
