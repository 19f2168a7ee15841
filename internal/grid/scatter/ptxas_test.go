package scatter_test

import (
	"testing"

	"weft/internal/grid/gridtest"
	"weft/internal/grid/scatter"
)

// NVIDIA's assembler spills no registers.
func TestPtxasSpillsNothing(t *testing.T) { gridtest.SpillsNothing(t, scatter.Kernels()) }

func TestNamesTellKernelsApart(t *testing.T) { gridtest.NamesTellApart(t, scatter.Kernels()) }
