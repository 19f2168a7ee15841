package grid

import (
	"weft/internal/array"
	"weft/internal/loop"
)

// Bits returns how the bits of an element are read as they are: of at most 4 bytes into an I32.
func Bits(d array.DType) (Elem, loop.Type) {
	switch d.Size() {
	case 1:
		if d.Unsigned() {
			return U8, loop.I32
		}
		return S8, loop.I32
	case 2:
		if d == array.Int16 {
			return S16, loop.I32
		}
		return U16, loop.I32
	case 4:
		return W32, loop.I32
	}
	return W64, loop.I64
}

// Rank returns a number that is greater, without sign, the greater an element is, whose bits were read
// as [Bits] says. Both zeros have one rank, and every NaN has the greatest number.
func (b *Builder) Rank(d array.DType, x Reg) Reg {
	t := b.Type(x)
	bits := 8 * t.Size()
	number := func(n uint64) Reg { return b.Const(t, n) }
	sign := number(1 << (bits - 1))
	switch {
	case d.Unsigned() || d == array.Bool:
		return x
	case !d.Float():
		return b.Do(loop.OpXor, t, 0, x, sign)
	case d.Half():
		x = b.Do(loop.OpShl, t, 0, x, number(16))
	}
	exponent := map[array.DType]int{array.Float16: 5, array.BFloat16: 8, array.Float32: 8, array.Float64: 11}[d]
	inf := uint64(1<<exponent-1) << (bits - 1 - exponent)
	size := b.And(x, number(1<<(bits-1)-1))
	key := b.Select(b.Lt(x, number(0)), b.Not(x), b.Or(x, sign))
	key = b.Select(b.Eq(size, number(0)), sign, key)
	return b.Select(b.Lt(number(inf), size), number(1<<bits-1), key)
}
