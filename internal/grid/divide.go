package grid

import (
	"encoding/binary"
	"math/bits"

	"weft/internal/loop"
)

// DivisorBytes is the size of a divisor among the arguments of a kernel.
const DivisorBytes = 12

// AppendDivisor appends a divisor from 1 to 1<<31 to the arguments of a kernel: itself, a factor and a
// shift. The quotient of x is (hi(x*factor) + x) >> shift; see T. Granlund and P. L. Montgomery,
// Division by Invariant Integers using Multiplication, 1994, figure 4.1.
func AppendDivisor(args []byte, n int) []byte {
	shift := bits.Len(uint(n - 1))
	factor := (uint64(1)<<shift-uint64(n))<<32/uint64(n) + 1
	for _, x := range [...]uint64{uint64(n), factor, uint64(shift)} {
		args = binary.LittleEndian.AppendUint32(args, uint32(x))
	}
	return args
}

// Divide returns the quotient and the remainder of an I32, which is not negative, and the divisor at
// a byte of the argument block.
func (b *Builder) Divide(x Reg, at int) (quo, rem Reg) {
	high := b.Do(loop.OpMulHiU, loop.I32, 0, x, b.Arg(loop.I32, at+4))
	quo = b.Do(loop.OpShrU, loop.I32, 0, b.Add(high, x), b.Arg(loop.I32, at+8))
	return quo, b.Sub(x, b.Mul(quo, b.Arg(loop.I32, at)))
}
