package arg_test

import (
	"testing"

	"weft/internal/grid"
	"weft/internal/grid/arg"
	"weft/internal/grid/gridtest"
)

// NVIDIA's assembler spills no registers.
func TestPtxasSpillsNothing(t *testing.T) {
	var kernels []*grid.Kernel
	for _, v := range arg.Variants() {
		kernels = append(kernels, arg.Lower(v))
	}
	gridtest.SpillsNothing(t, kernels)
}
