package pooling_test

import (
	"testing"

	"weft/internal/grid"
	"weft/internal/grid/gridtest"
	"weft/internal/grid/pooling"
)

// NVIDIA's assembler spills no registers.
func TestPtxasSpillsNothing(t *testing.T) {
	var kernels []*grid.Kernel
	for _, v := range pooling.Variants() {
		kernels = append(kernels, pooling.Lower(v))
	}
	gridtest.SpillsNothing(t, kernels)
}
