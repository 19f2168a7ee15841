package ptx

import (
	"testing"

	"weft/internal/grid"
	"weft/internal/grid/compare"
	"weft/internal/loop/loopgen"
	"weft/internal/ptxsim"
)

// compareWithInterp runs a case, printed for a target, on a simulated GPU and by the interpreter.
func compareWithInterp(c *loopgen.Case, target Target) error {
	ctx, err := ptxsim.New(ptxsim.Options{Major: target.Major, Minor: target.Minor, Seed: c.Seed}).Open(0)
	if err != nil {
		return err
	}
	return compare.Case(ctx, func(k *grid.Kernel) (string, int, error) {
		text, err := Print(target, k)
		return text, DynamicShared(k), err
	}, c)
}

// TestGenerated compares 300 random programs with the interpreter. WEFT_FUZZ=n asks for n, whose
// elements are aligned, and WEFT_FUZZ_FIRST for the first seed.
func TestGenerated(t *testing.T) {
	first := compare.Count(t, "WEFT_FUZZ_FIRST", 0)
	failures := 0
	for seed, n := first, compare.Count(t, "WEFT_FUZZ", 300); n > 0; seed++ {
		target := targets[seed%len(targets)]
		c := loopgen.Generate(uint64(seed), loopgen.Language{})
		if !compare.Aligned(c) {
			continue
		}
		n--
		if err := compareWithInterp(c, target); err != nil {
			small := loopgen.Shrink(c, func(c *loopgen.Case) bool { return compare.Aligned(c) && compareWithInterp(c, target) != nil })
			t.Errorf("seed %d, %v: %v\nmade smaller: %v\n%s", seed, target, err, compareWithInterp(small, target), small)
			if failures++; failures == 3 {
				t.FailNow()
			}
		}
	}
}

// maySpill lists seeds whose programs spill registers.
var maySpill = map[uint64]bool{0: true, 11: true}

// TestPtxasTakesGenerated assembles random programs in each way that they can be laid out.
func TestPtxasTakesGenerated(t *testing.T) {
	var kernels []*grid.Kernel
	seeds, names := map[string]uint64{}, map[string]bool{}
	first := compare.Count(t, "WEFT_FUZZ_FIRST", 0)
	for seed := first; seed < first+compare.Count(t, "WEFT_FUZZ", 12); seed++ {
		p := loopgen.Generate(uint64(seed), loopgen.Language{}).Program
		for _, v := range append(compare.Variants[:len(compare.Variants):len(compare.Variants)], grid.FlatVector) {
			if !grid.Legal(p, v) {
				continue
			}
			k, err := grid.Lower(p, v)
			if err != nil {
				t.Fatal(err)
			}
			if !names[k.Name] {
				names[k.Name] = true
				seeds[k.Name] = uint64(seed)
				kernels = append(kernels, k)
			}
		}
	}
	for _, target := range targets {
		for _, name := range assemble(t, target, kernels) {
			if !maySpill[seeds[name]] {
				t.Errorf("%v: registers of seed %d spill in %s", target, seeds[name], name)
			}
		}
	}
}
