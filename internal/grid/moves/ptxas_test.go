package moves_test

import (
	"os"
	"testing"

	"weft/internal/grid/gridtest"
	"weft/internal/grid/moves"
)

// NVIDIA's assembler takes the kernels and spills no registers. With WEFT_PTXAS_ALL these are all,
// else the ones of few axes.
func TestPtxasSpillsNothing(t *testing.T) {
	gridtest.SpillsNothing(t, moves.Kernels(os.Getenv("WEFT_PTXAS_ALL") != ""))
}

func TestNamesTellKernelsApart(t *testing.T) { gridtest.NamesTellApart(t, moves.Kernels(false)) }
