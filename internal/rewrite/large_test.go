package rewrite_test

import (
	"fmt"
	"runtime/debug"
	"testing"

	"weft/internal/optest/grown"
	"weft/internal/rewrite"
)

// Rules look at each node of a large graph as often as of a small one, without nesting calls.
func TestLarge(t *testing.T) {
	defer debug.SetMaxStack(debug.SetMaxStack(1 << 19))
	for _, kind := range grown.Kinds {
		var tried [2]float64
		for i, least := range []int{1_000, 12_000} {
			g := grown.Grow(kind, least)
			res := rewrite.Run(g.Outs, rewrite.Fast)
			tried[i] = float64(res.Report.Tried) / float64(g.Nodes)
			if res.Report.After > res.Report.Before {
				t.Errorf("%s: %d nodes become %d", kind, res.Report.Before, res.Report.After)
			}
			for _, u := range res.Report.Rules {
				if u.Spent {
					t.Errorf("%s of %d nodes: rule %q used up its budget", kind, g.Nodes, u.Name)
				}
			}
		}
		if tried[1] > 1.2*tried[0] {
			t.Errorf("%s: rules are tried %.1f times a node in a small graph, %.1f in a large one", kind, tried[0], tried[1])
		}
		t.Logf("%s: rules are tried %.1f and %.1f times a node", kind, tried[0], tried[1])
	}
}

// BenchmarkRun rewrites graphs of three sizes by all rules.
func BenchmarkRun(b *testing.B) {
	for _, kind := range grown.Kinds {
		for _, least := range []int{2_000, 20_000, 200_000} {
			b.Run(fmt.Sprintf("%s/%d", kind, least), func(b *testing.B) {
				g := grown.Grow(kind, least)
				var res *rewrite.Result
				for b.Loop() {
					res = rewrite.Run(g.Outs, rewrite.Fast)
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(g.Nodes), "us/node")
				b.ReportMetric(float64(res.Report.After)/float64(res.Report.Before), "left")
			})
		}
	}
}
