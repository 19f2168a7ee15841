package conv_test

import (
	"math/rand/v2"
	"testing"

	"weft/internal/array"
	cpu "weft/internal/cpu/convolution"
	"weft/internal/grid/conv"
)

// The shapes of Winograd's algorithm, pictures with a result that is not finite, and shapes beside them.
func TestWinogradConvolutions(t *testing.T) {
	g := newGPU(t, 9)
	r := rand.New(rand.NewPCG(10, 10))
	for i, c := range []cpu.Geometry{
		{N: 2, C: 32, O: 32, H: 7, W: 6, PadH: 1, PadW: 1},
		{N: 2, C: 32, O: 32, H: 6, W: 5, PadH: 1, PadW: 2},
		{N: 3, C: 32, O: 32, H: 6, W: 6, PadH: 1, PadW: 1},
		{N: 1, C: 64, O: 64, H: 6, W: 6, PadH: 1, PadW: 1, Groups: 2},
		{N: 1, C: 31, O: 32, H: 6, W: 6, PadH: 1, PadW: 1},
	} {
		c.KH, c.KW = 3, 3
		back := conv.SetLimits(16*4*64*(1+7*i), 64<<20, 1<<24)
		values := pick(r, usual, special)
		if i == 2 || i == 3 {
			values = special
		}
		g.check(r, testCase{Geometry: c, d: array.Float32, of: [3]array.DType{array.Float32, pick(r, array.Float32, array.Float16), array.Float32}, layouts: [4]int{i, i, i, i}, values: values})
		back()
	}
}
