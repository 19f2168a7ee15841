package scatter_test

import (
	"testing"

	"weft/internal/grid"
	"weft/internal/grid/gridtest"
	"weft/internal/grid/scatter"
)

// NVIDIA's assembler spills no registers.
func TestPtxasSpillsNothing(t *testing.T) { gridtest.SpillsNothing(t, scatter.Kernels()) }

// Kernels are well formed, and names tell them apart.
func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range scatter.Kernels() {
		if seen[k.Name] {
			t.Errorf("two kernels have the name %s", k.Name)
		}
		seen[k.Name] = true
		if err := grid.Verify(k); err != nil {
			t.Error(err)
		}
	}
}
