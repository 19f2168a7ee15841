package main

import (
	"fmt"
	"math"
	"math/bits"
	"time"

	"weft"
	"weft/bench/worker"
	"weft/internal/device"
	"weft/internal/optest/grown"
	"weft/internal/plan"
	"weft/internal/rewrite"
)

// A kernel takes numbers as arguments, so another constant is not another
// kernel. Every run therefore computes a formula of another structure, on 16
// elements: the peer's and a chain of operations on the variable that spells the
// number of the run, four to each operation. That is more work than the peer's, and
// includes reading the formula.
func init() {
	worker.Cases["cold compile"] = func(p worker.Params) (*worker.Case, error) {
		x := weft.Vars{"x": uniform(16, p.DType, 1, -1, 1)}
		next := 0
		return &worker.Case{Run: func() {
			weft.Expr(unseen(next), x)
			next++
		}}, nil
	}
}

// graphRuns is how often each graph is compiled, after once to warm up; the fastest counts.
const graphRuns = 3

func init() {
	worker.Values["compiling"] = func(int) (map[string]float64, error) { return compiling(planSizes, graphRuns) }
}

// compiling returns the nanoseconds that making a program takes:
//   - of the training step 784-500-10 in a process that has compiled nothing, kernels included;
//   - of the same step for another batch, with the number of kernels that took;
//   - of graphs rewritten with all rules and planned, for each operation, by the graph's kind
//     and size.
func compiling(sizes []int, runs int) (map[string]float64, error) {
	v := map[string]float64{}
	n := mlpNet(worker.Params{N: 60, DType: "float32"})
	step := weft.Compile(n.step())
	// calls returns the times of a first call and of the fastest one after it.
	calls := func(x, y *weft.Tensor) (first, next time.Duration, err error) {
		next = math.MaxInt64
		for i := range 6 {
			start := time.Now()
			if _, err := step.Call(x, y); err != nil {
				return 0, 0, err
			}
			if d := time.Since(start); i == 0 {
				first = d
			} else {
				next = min(next, d)
			}
		}
		return first, next, nil
	}
	for _, batch := range []struct {
		name string
		n    int
	}{{"step", 60}, {"new batch", 50}} {
		x, y := n.x.Slice(weft.Range(0, batch.n)).Clone(), n.y.Slice(weft.Range(0, batch.n)).Clone()
		kernels := device.Get(0).Counters().Compiled.Load()
		first, next, err := calls(x, y)
		if err != nil {
			return nil, err
		}
		v[batch.name] = float64((first - next).Nanoseconds())
		v[batch.name+", kernels"] = float64(device.Get(0).Counters().Compiled.Load() - kernels)
	}
	for _, kind := range grown.Kinds {
		for _, size := range sizes {
			g := grown.Grow(kind, size)
			best := math.Inf(1)
			for i := range 1 + runs {
				start := time.Now()
				plan.Build(rewrite.Run(g.Outs, rewrite.Fast).Outs, g.Ins, nil, device.Get(0).Model())
				if i > 0 {
					best = min(best, float64(time.Since(start).Nanoseconds())/float64(g.Nodes))
				}
			}
			v[fmt.Sprintf("%s %d", kind, size)] = best
		}
	}
	return v, nil
}

// unseen returns formula number i: its digits to the base of four choose the
// operations of a chain. Making the text is to take no time.
func unseen(i int) string {
	text := make([]byte, 0, 128)
	text = append(text, "exp(-x*x)*sin(x)+2*log1p(abs(x))+"...)
	digits := (bits.Len(uint(i)) + 1) / 2
	for range digits {
		text = append(text, '(')
	}
	text = append(text, 'x')
	for d := digits - 1; d >= 0; d-- {
		text = append(text, "+-*/"[i>>(2*d)&3], 'x', ')')
	}
	return string(text)
}
