package conv_test

import (
	"testing"

	"weft/internal/grid/conv"
	"weft/internal/grid/gridtest"
)

// NVIDIA's assembler spills no registers. The kernels of products are among those of package product.
func TestPtxasSpillsNothing(t *testing.T) { gridtest.SpillsNothing(t, conv.Kernels()) }
