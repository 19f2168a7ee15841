package main

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"weft"
	"weft/bench/worker"
	"weft/data"
)

// Loaders of 8 workers, whose items take 2 ms each: they wait, or compute. The yardstick is the same
// items made by plain goroutines, which keep no results: one for each that can make progress.

const (
	loaderWorkers = 8
	itemTime      = 2 * time.Millisecond
)

func init() {
	loads("loader of 8, items wait", loaderWorkers, func() { time.Sleep(itemTime) })
	loads("loader of 8, items compute", 2, func() { spin(600_000) })
}

// spin computes for about 2 ms.
func spin(steps int) {
	x := 1.0
	for range steps {
		x = x*1.0000001 + 1e-9
	}
	spun.Store(x > 0)
}

var spun atomic.Bool

// loads adds a case of an epoch of n items [3, 32, 32] in batches of 4.
func loads(name string, lanes int, item func()) {
	worker.Also[name] = append(worker.Also[name], yardstick)
	worker.Cases[name] = func(p worker.Params) (*worker.Case, error) {
		x := uniform(3*32*32, p.DType, 1, -1, 1, 3, 32, 32)
		numbers := make([]int, p.N)
		for i := range numbers {
			numbers[i] = i
		}
		items := data.Map(data.Items(numbers), func(i int) (*weft.Tensor, error) {
			item()
			return x.Add(i), nil
		})
		loader := data.NewLoaderOf(items, data.Collate[*weft.Tensor, *weft.Tensor], data.LoaderOpts{Batch: new(4), Workers: loaderWorkers})
		epoch := func(use func(b *weft.Tensor)) {
			for b, err := range loader.Batches(context.Background()) {
				if err != nil {
					panic(err)
				}
				use(b)
			}
		}
		return &worker.Case{
			Run: func() { epoch(func(*weft.Tensor) {}) },
			Also: map[string]func(){yardstick: func() {
				var at atomic.Int64
				var all sync.WaitGroup
				for range lanes {
					all.Go(func() {
						for at.Add(1) <= int64(p.N) {
							item()
						}
					})
				}
				all.Wait()
			}},
			Check: func() (c []float64) {
				sum := 0.0
				epoch(func(b *weft.Tensor) { sum += b.Mean().Item() })
				return []float64{sum}
			},
		}, nil
	}
}
