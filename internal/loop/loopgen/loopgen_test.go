package loopgen_test

import (
	"fmt"
	"os"
	"strconv"
	"testing"

	"weft/internal/interp"
	"weft/internal/loop"
	"weft/internal/loop/loopgen"
)

// interpreted runs a program with the interpreter.
func interpreted(p *loop.Program, f *loop.Frame, refill func() bool) error {
	if !interp.Compile(p).Run(f, refill) {
		return fmt.Errorf("not done")
	}
	return nil
}

// cases returns how many seeds to try; WEFT_FUZZ asks for a campaign.
func cases(t testing.TB, quick int) int {
	s := os.Getenv("WEFT_FUZZ")
	if s == "" {
		return quick
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatalf("WEFT_FUZZ: %v", err)
	}
	return n
}

// TestInterp runs programs whole and in two chunks: chunks change which lanes
// share a tile, and whether rows do, and must not change the result.
func TestInterp(t *testing.T) {
	for seed := range uint64(cases(t, 1000)) {
		check(t, seed)
	}
}

func check(t *testing.T, seed uint64) {
	c := loopgen.Generate(seed)
	defer func() {
		if e := recover(); e != nil {
			t.Logf("%s", c)
			panic(e)
		}
	}()
	whole, err := loopgen.Run(c, loopgen.Heap, interpreted)
	if err != nil {
		t.Fatalf("%v\n%s", err, c)
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
			t.Fatalf("cut axis %d at %d: %s\n%s", axis, cut, d, c)
		}
	}
}
