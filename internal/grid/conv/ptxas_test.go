package conv_test

import (
	"testing"

	"weft/internal/grid/conv"
	"weft/internal/grid/gridtest"
)

// NVIDIA's assembler spills no registers. Package product tests kernels of products.
func TestPtxasSpillsNothing(t *testing.T) { gridtest.SpillsNothing(t, conv.Kernels()) }

func TestNamesTellKernelsApart(t *testing.T) { gridtest.NamesTellApart(t, conv.Kernels()) }
