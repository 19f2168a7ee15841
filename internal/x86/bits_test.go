//go:build amd64

package x86

import (
	"math/big"
	"math/bits"

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
