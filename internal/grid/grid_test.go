package grid

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"testing"
	"unsafe"

	"weft/internal/interp"
	"weft/internal/loop"
	"weft/internal/loop/loopgen"
)

var errEndless = errors.New("does not end")

func interpreted(p *loop.Program, f *loop.Frame, refill func() bool) error {
	if !interp.Compile(p).Run(f, refill) {
		return errEndless
	}
	return nil
}

// onGrid runs a case as a kernel of a variant; with [NumVariants], of the one that Choose says.
func onGrid(c *loopgen.Case, v Variant, blocks int, backward bool) loopgen.Runner {
	return func(p *loop.Program, f *loop.Frame, _ func() bool) error {
		m := &machine{blocks: blocks, backward: backward, steps: 100_000_000, memory: make([][]byte, len(c.Memory))}
		addrs := make([]uint64, len(c.Buffers))
		for i, b := range c.Buffers {
			n := len(c.Memory[b.Memory].Data)
			m.memory[b.Memory] = unsafe.Slice((*byte)(unsafe.Add(f.Ptr[i], -b.Offset)), n)
			addrs[i] = uint64(b.Memory+1)<<40 + uint64(b.Offset)
		}
		if v == NumVariants {
			v, m.blocks = WaysOf(p).Choose(f, addrs, 2)
		} else if v.lanes(p) > 1 && (int(f.Word[p.ExtentWord(p.Lane)])%v.lanes(p) != 0 || !aligned(p, f, addrs, v.lanes(p))) {
			return errSkip
		} else if n := int(f.Word[p.ExtentWord(p.Lane)]); v.kind() == ShortRows && (n < 1 || n > Warp) {
			return errSkip
		} else if v&Kept != 0 && (n > keptLanes[v.level()] || v&Whole != 0 && n != keptLanes[v.level()]) {
			return errSkip
		}
		k, err := Lower(p, v)
		if err != nil {
			return err
		}
		if err := Verify(k); err != nil {
			return err
		}
		m.k, m.args = k, AppendArgs(nil, p, f, addrs, 0)
		return m.run()
	}
}

var errSkip = errors.New("not laid out so")

// compare runs a case on the grid in all ways, and with the interpreter.
func compare(c *loopgen.Case) error {
	want, err := loopgen.Run(c, loopgen.Heap, interpreted)
	if err != nil {
		return nil
	}
	for v := range NumVariants + 1 {
		if v < NumVariants && !Legal(c.Program, v) {
			continue
		}
		if v.long() && v < NumVariants && c.Seed%4 != 0 {
			continue // costs time
		}
		got, err := loopgen.Run(c, loopgen.Heap, onGrid(c, v, 1+int(c.Seed%3), c.Seed%2 == 0))
		if errors.Is(err, errSkip) {
			continue
		}
		if err != nil {
			return fmt.Errorf("variant %d: %w", v, err)
		}
		if d := want.Diff(got); d != "" {
			return fmt.Errorf("variant %d: interp and grid: %s", v, d)
		}
	}
	return nil
}

// TestGenerated compares the programs of package loopgen with the interpreter. WEFT_FUZZ=n asks for
// n cases, WEFT_FUZZ_FIRST for the first seed.
func TestGenerated(t *testing.T) {
	n, first := 40, 0
	for name, x := range map[string]*int{"WEFT_FUZZ": &n, "WEFT_FUZZ_FIRST": &first} {
		if s := os.Getenv(name); s != "" {
			var err error
			if *x, err = strconv.Atoi(s); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
	failures := 0
	for seed := first; seed < first+n; seed++ {
		c := loopgen.Generate(uint64(seed), loopgen.Language{})
		if err := compare(c); err != nil {
			small := loopgen.Shrink(c, func(c *loopgen.Case) bool { return compare(c) != nil })
			t.Errorf("%v\nmade smaller: %v\n%s", err, compare(small), small)
			if failures++; failures == 3 {
				t.FailNow()
			}
		}
	}
}
