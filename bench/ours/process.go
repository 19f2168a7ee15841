package main

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"weft"
	"weft/bench/worker"
	"weft/internal/device"
)

// Facts about a process rather than times of a work. Each wants a process of its
// own, which the driver starts.

func init() {
	worker.Values["memory, scope"] = func(int) (map[string]float64, error) { return memory(true) }
	worker.Values["memory, no scope"] = func(int) (map[string]float64, error) { return memory(false) }
	worker.Values["stop the world"] = stopTheWorld
}

// memory trains for many steps, eagerly, and returns what they hold: resident
// bytes more than before the first step, on average over some steps and at most,
// and the most that the pool handed out. live is what such a step needs.
func memory(scoped bool) (map[string]float64, error) {
	const count, n, in, hidden, out = 10_000, 60, 784, 500, 10
	weft.Rand(8).Add(1) // the library is loaded
	runtime.GC()
	before, err := resident()
	if err != nil {
		return nil, err
	}
	x := weft.FromSlice(worker.Pattern[float32](n*in, 1), n, in)
	w1, b1 := layer(2, in, hidden, hidden, in)
	w2, b2 := layer(3, hidden, out, out, hidden)
	y := classes(n)
	step := stepper(rate, []*weft.Tensor{w1, b1, w2, b2}, scoped, func(s *weft.Scope) *weft.Tensor {
		x := x
		if s != nil {
			x = s.Track(x)
		}
		return weft.CrossEntropy(x.Linear(w1, b1).Tanh().Linear(w2, b2), y)
	})
	var early, late, peak float64
	for i := range count {
		step()
		now, err := resident()
		if err != nil {
			return nil, err
		}
		peak = max(peak, now-before)
		if i >= 1000 && i < 2000 {
			early += now / 1000
		}
		if i >= count-1000 {
			late += now / 1000
		}
	}
	// Parameters and their gradients; the input; before and after tanh and the
	// logits, with a gradient each.
	const params = in*hidden + hidden + hidden*out + out
	live := 4 * float64(2*params+n*in+2*(2*n*hidden+n*out))
	return map[string]float64{
		"steps 1000-2000": early, "last 1000 steps": late, "peak": peak, "live": live,
		"peak of the pool": float64(device.Get(0).Memory().Stats().Peak),
	}, nil
}

// resident returns the bytes of this process that are in memory.
func resident() (float64, error) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, err
	}
	var total, pages float64
	if _, err := fmt.Sscan(string(text), &total, &pages); err != nil {
		return 0, err
	}
	return pages * float64(os.Getpagesize()), nil
}

// stopTheWorld returns medians and 99th percentiles, in ns, of the time that a stop of
// all goroutines takes while two of them run kernels, and while they run plain loops.
// Both are measured in turns, since what else the machine does changes meanwhile. What
// stops the world is reading memory statistics.
func stopTheWorld(int) (map[string]float64, error) {
	const rounds, samples = 7, 150 // a sample takes 20 ms: whoever stops the world waits for its turn first
	x, a := weft.Rand(1_000_000), weft.Rand(512, 512)
	kernels := []func(){
		func() { weft.Expr("exp(-x*x)*sin(x)+log1p(abs(x))", x).Release() },
		func() { a.MatMul(a).Release() },
	}
	loops := []func(){loop(), loop()}
	times := map[string][]float64{}
	for range rounds {
		for name, work := range map[string][]func(){"kernels": kernels, "loops": loops} {
			times[name] = append(times[name], stops(work, samples)...)
		}
	}
	result := map[string]float64{}
	for name, v := range times {
		slices.Sort(v)
		result[name+" p50"], result[name+" p99"] = v[len(v)/2], v[len(v)*99/100]
	}
	return result, nil
}

// stops measures the given number of stops while each work runs in a goroutine.
func stops(work []func(), samples int) []float64 {
	var stop atomic.Bool
	var wait sync.WaitGroup
	for _, f := range work {
		wait.Go(func() {
			for !stop.Load() {
				f()
			}
		})
	}
	var m runtime.MemStats
	times := make([]float64, samples)
	for i := range times {
		time.Sleep(time.Millisecond)
		start := time.Now()
		runtime.ReadMemStats(&m)
		times[i] = float64(time.Since(start))
	}
	stop.Store(true)
	wait.Wait()
	return times
}

// loop is plain Go that computes for some milliseconds.
func loop() func() {
	p := worker.Uniform[float64](1_000_000, 1, -4, 4)
	return func() {
		for i, v := range p {
			p[i] = math.Sqrt(v*v + 1)
		}
	}
}
