//go:build amd64

package x86

import (
	"fmt"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"testing"

	"weft/internal/loop"
)

// evalBits counts bits one by one, turns and multiplies as package loop says; a and b
// have so many bits and no sign.
func evalBits(op loop.Op, width int, a, b uint64) (n uint64) {
	mask := ^uint64(0) >> (64 - width)
	switch op {
	case loop.OpRotL:
		return (a<<(b%uint64(width)) | a>>(uint64(width)-b%uint64(width))) & mask
	case loop.OpPopCount:
		for ; a != 0; a >>= 1 {
			n += a & 1
		}
	case loop.OpLzCnt:
		return uint64(width - bits.Len64(a))
	case loop.OpTzCnt:
		for n < uint64(width) && a>>n&1 == 0 {
			n++
		}
	default:
		x, y := new(big.Int).SetUint64(a), new(big.Int).SetUint64(b)
		if op == loop.OpMulHi {
			shift := 64 - width
			x.SetInt64(int64(a<<shift) >> shift)
			y.SetInt64(int64(b<<shift) >> shift)
		}
		high := x.Rsh(x.Mul(x, y), uint(width)) // toward -Inf
		return high.And(high, new(big.Int).SetUint64(mask)).Uint64()
	}
	return n
}

// isBits reports what evalBits computes.
func isBits(op loop.Op) bool {
	return op >= loop.OpRotL && op <= loop.OpTzCnt || op == loop.OpMulHi || op == loop.OpMulHiU
}

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
					setWord(want[1], i, size, eval(op, ty, ty, word(s.data[0][i*size:], size), c, 0))
				}
				s.check(t, want)
			}
		}
	}
}
