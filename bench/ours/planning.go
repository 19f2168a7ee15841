package main

import (
	"fmt"
	"math"
	"time"

	"weft/bench/worker"
	"weft/internal/device"
	"weft/internal/optest/grown"
	"weft/internal/plan"
)

// planSizes are the numbers of operations of the graphs that are planned.
var planSizes = []int{2_000, 20_000, 200_000}

// planRuns is how often each graph is planned, after once to warm up; the fastest
// counts.
const planRuns = 5

func init() {
	worker.Values["planning"] = func(int) (map[string]float64, error) { return planning(planSizes, planRuns) }
}

// planning returns the nanoseconds that planning takes for each operation of a graph,
// without compilation, by the graph's kind and size.
func planning(sizes []int, runs int) (map[string]float64, error) {
	v := map[string]float64{}
	for _, kind := range grown.Kinds {
		for _, size := range sizes {
			g := grown.Grow(kind, size)
			best := math.Inf(1)
			for i := range 1 + runs {
				start := time.Now()
				plan.Build(g.Outs, g.Ins, nil, device.Get(0).Model())
				if i > 0 {
					best = min(best, float64(time.Since(start).Nanoseconds())/float64(g.Nodes))
				}
			}
			v[fmt.Sprintf("%s %d", kind, size)] = best
		}
	}
	return v, nil
}
