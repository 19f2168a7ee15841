//go:build amd64

package x86

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"weft/internal/loop"
	"weft/internal/loop/looptest"
)

// Shifts and rotations by every constant, and by some that are too large.
func TestConstantCounts(t *testing.T) {
	r := rand.New(rand.NewPCG(61, 62))
	for _, ty := range []loop.Type{loop.I32, loop.I64} {
		for _, op := range []loop.Op{loop.OpShl, loop.OpShr, loop.OpShrU, loop.OpRotL} {
			for count := int64(-1); count <= int64(8*ty.Size())+1; count++ {
				b := loop.NewBuilder(fmt.Sprintf("%s by %d", op, count), []loop.Axis{{Kind: loop.Parallel}}, 0)
				x, y := b.Buf(dtype(ty), false, loop.Unit), b.Buf(dtype(ty), true, loop.Unit)
				b.Pass(func() { b.Store(y, b.Binary(op, b.Load(x), b.Int(ty, count))) })
				s := random(finish(t, b), r, 40).fill(func(int) uint64 { return value(r, ty) })
				want := [][]byte{s.data[0], make([]byte, len(s.data[1]))}
				size := ty.Size()
				for i := range 40 {
					c := uint64(count) << (64 - 8*size) >> (64 - 8*size)
					setWord(want[1], i, size, looptest.Eval(op, 0, ty, ty, word(s.data[0][i*size:], size), c, 0))
				}
				s.check(t, want)
			}
		}
	}
}
