package loopgen_test

import (
	"testing"

	"weft/internal/loop"
	"weft/internal/loop/loopgen"
	"weft/internal/loop/looptest"
)

// TestNarrow runs random programs lane by lane: integers must be where their notes say,
// and the narrowed program must compute the same.
func TestNarrow(t *testing.T) {
	n := max(campaign(t), 500)
	narrowed, changed, bounded := 0, 0, 0
	for seed := range n {
		c := loopgen.Generate(uint64(seed), loopgen.Language{})
		q, notes := loop.Narrow(c.Program)
		if err := loop.Verify(q); err != nil {
			t.Fatalf("seed %d: %v\n%s\n%s", seed, err, c, q)
		}
		of := map[loop.Value]loop.Note{}
		for _, x := range notes {
			of[x.Value] = x
			if x.Narrow {
				narrowed++
			}
			if x.Lo > -1<<63 || x.Hi < 1<<63-1 {
				bounded++
			}
		}
		run := func(p *loop.Program, f *loop.Frame, _ func() bool) error {
			s := looptest.New(p, f)
			s.See = func(v loop.Value) {
				in := &p.Ins[v]
				if in.Type != loop.I64 || in.Op == loop.OpConst || in.Op == loop.OpReduce {
					return
				}
				if x, ok := of[v]; !ok || int64(s.Values[v]) < x.Lo || int64(s.Values[v]) > x.Hi {
					t.Fatalf("v%d = %s is %d, beyond %d to %d (%v)\n%s", v, in.Op, int64(s.Values[v]), x.Lo, x.Hi, ok, c)
				}
			}
			s.Run()
			return nil
		}
		if c.Extents[c.Program.Lane] > 130 {
			continue
		}
		want, err := loopgen.Run(c, loopgen.Heap, run)
		if err != nil {
			t.Fatal(err)
		}
		if q == c.Program {
			continue
		}
		changed++
		other := *c
		other.Program = q
		for name, run := range map[string]loopgen.Runner{"lane by lane": laneByLane, "interpreted": interpreted} {
			got, err := loopgen.Run(&other, loopgen.Heap, run)
			if err != nil {
				t.Fatal(err)
			}
			if d := want.Diff(got); d != "" {
				t.Fatalf("narrowed, %s: %s\n%s\n%s", name, d, c, q)
			}
		}
	}
	t.Logf("%d programs changed, %d values narrowed, %d bounded", changed, narrowed, bounded)
	if changed < n/10 || narrowed < n/4 {
		t.Errorf("only %d programs changed, %d values narrowed", changed, narrowed)
	}
}
