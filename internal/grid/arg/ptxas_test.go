package arg_test

import (
	"testing"

	"weft/internal/grid"
	"weft/internal/grid/arg"
	"weft/internal/grid/gridtest"
)

// NVIDIA's assembler spills no registers.
func TestPtxasSpillsNothing(t *testing.T) { gridtest.SpillsNothing(t, kernels()) }

func TestNamesTellKernelsApart(t *testing.T) { gridtest.NamesTellApart(t, kernels()) }

// kernels returns all kernels of the package.
func kernels() (list []*grid.Kernel) {
	for _, v := range arg.Variants() {
		list = append(list, arg.Lower(v))
	}
	return list
}
