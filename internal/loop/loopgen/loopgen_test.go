package loopgen_test

import (
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"testing"

	"weft/internal/array"
	"weft/internal/interp"
	"weft/internal/loop"
	"weft/internal/loop/loopgen"
	"weft/internal/loop/looptest"
)

// Programs are made and dropped by the thousand, while little is live: with room for four
// times as much a fifth of the time is saved. GOGC decides where it is set.
func TestMain(m *testing.M) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	os.Exit(m.Run())
}

// interpreted runs a program with the interpreter.
func interpreted(p *loop.Program, f *loop.Frame, refill func() bool) error {
	if !interp.Compile(p).Run(f, refill) {
		return fmt.Errorf("not done")
	}
	return nil
}

// laneByLane runs a program with the reference of the language.
func laneByLane(p *loop.Program, f *loop.Frame, _ func() bool) error {
	looptest.New(p, f).Run()
	return nil
}

// campaign returns how many cases to run: WEFT_FUZZ, 0 by default.
func campaign(t testing.TB) int {
	n, err := strconv.Atoi(os.Getenv("WEFT_FUZZ"))
	if err != nil && os.Getenv("WEFT_FUZZ") != "" {
		t.Fatalf("WEFT_FUZZ: %v", err)
	}
	return n
}

// TestInterp compares the interpreter with a machine that runs lane by lane, and
// whole runs with runs in two chunks: chunks change which lanes share a tile, and
// whether rows do, and must not change the result.
//
// WEFT_FUZZ=n asks for n cases. Then the histogram is printed, and every
// combination of the language must have occurred.
func TestInterp(t *testing.T) {
	n := campaign(t)
	quick := n == 0
	if quick {
		n = 1000
	}
	h := loopgen.Histogram{}
	for seed := range uint64(n) {
		h.Count(check(t, seed).Program)
	}
	if !quick {
		h.Print(os.Stdout, loopgen.Language{})
	}
	missing := h.Missing(loopgen.Language{})
	if quick && len(missing) < len(loopgen.Combinations(loopgen.Language{}))/20 {
		return // it takes more cases to meet the rarest
	}
	for _, i := range missing {
		t.Errorf("%s did not occur in %d cases", i, n)
	}
}

func check(t *testing.T, seed uint64) *loopgen.Case {
	c := loopgen.Generate(seed, loopgen.Language{})
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if e := recover(); e != nil {
			t.Fatalf("%v\n%s\n%s", e, debug.Stack(), c)
		}
	}()
	whole, err := loopgen.Run(c, loopgen.Edge(seed%2 == 0), interpreted)
	if err != nil {
		t.Fatalf("%v\n%s", err, c)
	}
	plain, err := loopgen.Run(c, loopgen.Heap, laneByLane)
	if err != nil {
		t.Fatalf("%v\n%s", err, c)
	}
	if d := plain.Diff(whole); d != "" || plain.Digest() != whole.Digest() {
		t.Fatalf("lane by lane and interpreted: %s\n%s", d, c)
	}
	for axis := 0; axis <= c.Program.Lane; axis++ {
		if c.Program.Axes[axis].Kind != loop.Parallel || c.Extents[axis] < 2 {
			continue
		}
		cut := 1 + int(seed%uint64(c.Extents[axis]-1))
		parts, err := loopgen.RunChunks(c, loopgen.Heap, interpreted, axis, cut)
		if err != nil {
			t.Fatalf("%v\n%s", err, c)
		}
		if d := whole.Diff(parts); d != "" {
			t.Fatalf("whole and axis %d cut at %d: %s\n%s", axis, cut, d, c)
		}
	}
	return c
}

// FuzzInterp lets go test -fuzz choose the seeds.
func FuzzInterp(f *testing.F) {
	for seed := range uint64(10) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) { check(t, seed) })
}

// TestGenerate checks that a seed stands for one case and that element types can
// be chosen.
func TestGenerate(t *testing.T) {
	few := []array.DType{array.Bool, array.Int32, array.Int64, array.Float32, array.Float64}
	l := loopgen.Language{DTypes: few, Lacks: []loopgen.Item{
		{Type: loop.I8}, {Op: loop.OpRound}, {Op: loop.OpMinU, Type: loop.I32}, {Op: loop.OpReduce, Kind: loop.MinU},
		{Op: loop.OpCvt, Sign: loop.ToUnsigned}, {Step: loop.By2}, {Op: loop.OpLtU},
	}}
	h := loopgen.Histogram{}
	for seed := range uint64(300) {
		c := loopgen.Generate(seed, l)
		h.Count(c.Program)
		if d := loopgen.Generate(seed, l); c.String() != d.String() {
			t.Fatalf("seed %d gives\n%s and\n%s", seed, c, d)
		}
		for _, b := range c.Program.Bufs {
			if !slices.Contains(few, b.DType) {
				t.Fatalf("seed %d has a buffer of %s", seed, b.DType)
			}
		}
	}
	for i := range h {
		if i.Type == loop.I8 || i.From == loop.I8 || i.Op == loop.OpRound || i.Op == loop.OpMinU && i.Type == loop.I32 || i.Kind == loop.MinU ||
			i.Sign == loop.ToUnsigned || i.Step == loop.By2 || i.Op == loop.OpLtU {
			t.Errorf("%s occurred, which is left out", i)
		}
	}
}

// TestShrink breaks an operation and looks whether little else remains.
func TestShrink(t *testing.T) {
	broken := func(p *loop.Program, f *loop.Frame, refill func() bool) error {
		q := *p
		q.Ins = slices.Clone(p.Ins)
		for i := range q.Ins {
			if q.Ins[i].Op == loop.OpXor && q.Ins[i].Type == loop.I32 {
				q.Ins[i].Op = loop.OpOr
			}
		}
		return interpreted(&q, f, refill)
	}
	fails := func(c *loopgen.Case) bool {
		right, err := loopgen.Run(c, loopgen.Heap, interpreted)
		if err != nil {
			return false
		}
		wrong, err := loopgen.Run(c, loopgen.Heap, broken)
		return err == nil && right.Diff(wrong) != ""
	}
	found := 0
	for seed := uint64(0); found < 5; seed++ {
		c := loopgen.Generate(seed, loopgen.Language{})
		if !fails(c) {
			continue
		}
		found++
		small := loopgen.Shrink(c, fails)
		if !fails(small) {
			t.Fatalf("seed %d: the smaller case does not fail", seed)
		}
		n := 0
		h := loopgen.Histogram{}
		h.Count(small.Program)
		for _, k := range h {
			n += k
		}
		if n > 25 {
			t.Errorf("seed %d: %d instructions are left\n%s", seed, n, small)
		}
	}
}
