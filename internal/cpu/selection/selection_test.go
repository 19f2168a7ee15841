package selection

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"weft/internal/cpu/cputest"
	"weft/internal/jit"
)

// TestDivideWritesItsParts checks that both parts lie side by side, in order, and that nothing else is written.
func TestDivideWritesItsParts(t *testing.T) {
	cputest.EveryISA(t, func(t *testing.T, isa jit.ISA) {
		if !Runs(isa) {
			return
		}
		r := rand.New(rand.NewPCG(1, 2))
		for range 50 {
			n := Group * (1 + r.IntN(20))
			src, want := make([]uint16, n), [2][]uint16{}
			limit := uint16(r.IntN(20))
			for i := range src {
				src[i] = uint16(r.IntN(20))
				side := 0
				if src[i] > limit {
					side = 1
				}
				want[side] = append(want[side], src[i])
			}
			const mark = 0xABCD
			out := make([]uint16, n+2)
			for i := range out {
				out[i] = mark
			}
			k := Keys{Size: 2}.Kernels()
			hi := unsafe.Add(unsafe.Pointer(&out[0]), 2*(len(want[0])+1))
			behind := k.Divide(Side{Limit: uint64(limit) << 48}, unsafe.Pointer(&src[0]), n, 0, unsafe.Pointer(&out[0]), hi)
			if behind != len(want[1]) || out[len(want[0])] != mark || out[n+1] != mark {
				t.Fatalf("of %v, %d are above %d, written is %v", src, behind, limit, out)
			}
			for i, x := range append(append(want[0], mark), want[1]...) {
				if out[i] != x {
					t.Fatalf("element %d of %v by %d is %d, want %d", i, out, limit, out[i], x)
				}
			}
		}
	})
}
