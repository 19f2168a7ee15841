package pooling_test

import (
	"testing"

	"weft/internal/grid"
	"weft/internal/grid/gridtest"
	"weft/internal/grid/pooling"
)

// NVIDIA's assembler spills no registers.
func TestPtxasSpillsNothing(t *testing.T) { gridtest.SpillsNothing(t, kernels()) }

func TestNamesTellKernelsApart(t *testing.T) { gridtest.NamesTellApart(t, kernels()) }

// kernels returns all kernels of the package.
func kernels() (list []*grid.Kernel) {
	for _, v := range pooling.Variants() {
		list = append(list, pooling.Lower(v))
	}
	return list
}
