package interp

import (
	"math/bits"
	"unsafe"

	"weft/internal/loop"
)

// intStep returns the step of an operation on integers. U is the unsigned type as wide
// as T.
func intStep[T signed, U unsigned](op loop.Op) step {
	switch op {
	case loop.OpNeg:
		return unary(negInt[T])
	case loop.OpAbs:
		return unary(absInt[T])
	case loop.OpMin:
		return binary(minInt[T])
	case loop.OpMax:
		return binary(maxInt[T])
	case loop.OpQuo:
		return binary(quo[T])
	case loop.OpRem:
		return binary(rem[T])
	case loop.OpShl:
		return binary(shl[T, U])
	case loop.OpShr:
		return binary(shr[T, U])
	case loop.OpShrU:
		return binary(shrU[T, U])
	case loop.OpAnd:
		return binary(and[T])
	case loop.OpOr:
		return binary(or[T])
	case loop.OpXor:
		return binary(xor[T])
	case loop.OpNot:
		return unary(not[T])
	case loop.OpMinU:
		return binary(minInt[U])
	case loop.OpMaxU:
		return binary(maxInt[U])
	case loop.OpQuoU:
		return binary(quo[U])
	case loop.OpRemU:
		return binary(rem[U])
	case loop.OpMulHi:
		return binary(mulHi[T])
	case loop.OpMulHiU:
		return binary(mulHiU[U])
	case loop.OpRotL:
		return binary(rotL[U])
	case loop.OpPopCount:
		return unary(popCount[U])
	case loop.OpLzCnt:
		return unary(lzCnt[U])
	case loop.OpTzCnt:
		return unary(tzCnt[U])
	}
	return numberStep[T](op)
}

// bitWidth returns the bits of an integer type.
func bitWidth[T integer]() int { return 8 * int(unsafe.Sizeof(*new(T))) }

// mulHi returns the high half of products. For 64 bits it takes the high half of the unsigned product
// and subtracts each operand where the other one is negative (Hacker's Delight, section 8-3).
func mulHi[T signed](d, a, b []T) {
	w := bitWidth[T]()
	sa, sb := min(len(a)-1, 1), min(len(b)-1, 1)
	for i := range d {
		x, y := int64(a[i*sa]), int64(b[i*sb])
		if w < 64 {
			d[i] = T(x * y >> w)
			continue
		}
		hi, _ := bits.Mul64(uint64(x), uint64(y))
		d[i] = T(int64(hi) - x>>63&y - y>>63&x)
	}
}

func mulHiU[U unsigned](d, a, b []U) {
	w := bitWidth[U]()
	sa, sb := min(len(a)-1, 1), min(len(b)-1, 1)
	for i := range d {
		hi, lo := bits.Mul64(uint64(a[i*sa]), uint64(b[i*sb]))
		if w < 64 {
			hi = lo >> w
		}
		d[i] = U(hi)
	}
}

func rotL[U unsigned](d, a, b []U) {
	w := U(bitWidth[U]())
	sa, sb := min(len(a)-1, 1), min(len(b)-1, 1)
	for i := range d {
		x, k := a[i*sa], b[i*sb]%w
		d[i] = x<<k | x>>(w-k)
	}
}

func popCount[U unsigned](d, a []U) {
	a = a[:len(d)]
	for i := range d {
		d[i] = U(bits.OnesCount64(uint64(a[i])))
	}
}

func lzCnt[U unsigned](d, a []U) {
	a = a[:len(d)]
	unused := 64 - bitWidth[U]()
	for i := range d {
		d[i] = U(bits.LeadingZeros64(uint64(a[i])) - unused)
	}
}

func tzCnt[U unsigned](d, a []U) {
	a = a[:len(d)]
	w := bitWidth[U]()
	for i := range d {
		d[i] = U(min(bits.TrailingZeros64(uint64(a[i])), w))
	}
}

func negInt[T signed](d, a []T) {
	a = a[:len(d)]
	for i := range d {
		d[i] = -a[i]
	}
}

func absInt[T signed](d, a []T) {
	a = a[:len(d)]
	for i := range d {
		d[i] = max(a[i], -a[i])
	}
}

func not[T integer](d, a []T) {
	a = a[:len(d)]
	for i := range d {
		d[i] = ^a[i]
	}
}

// divide returns quotient and remainder; by zero both are 0. The least integer
// by -1 is itself and 0, as Go says.
func divide[T integer](a, b T) (q, r T) {
	if b == 0 {
		return 0, 0
	}
	return a / b, a % b
}

func quo[T integer](d, a, b []T) {
	sa, sb := min(len(a)-1, 1), min(len(b)-1, 1)
	for i := range d {
		d[i], _ = divide(a[i*sa], b[i*sb])
	}
}

func rem[T integer](d, a, b []T) {
	sa, sb := min(len(a)-1, 1), min(len(b)-1, 1)
	for i := range d {
		_, d[i] = divide(a[i*sa], b[i*sb])
	}
}

// Shift counts are taken as unsigned, so that a negative count is a large one. Go shifts everything
// out then.

func minInt[T integer](d, a, b []T) {
	if len(a) == 1 {
		a, b = b, a
	}
	a = a[:len(d)]
	if len(b) == 1 {
		y := b[0]
		for i := range d {
			d[i] = min(a[i], y)
		}
		return
	}
	b = b[:len(d)]
	for i := range d {
		d[i] = min(a[i], b[i])
	}
}

func maxInt[T integer](d, a, b []T) {
	if len(a) == 1 {
		a, b = b, a
	}
	a = a[:len(d)]
	if len(b) == 1 {
		y := b[0]
		for i := range d {
			d[i] = max(a[i], y)
		}
		return
	}
	b = b[:len(d)]
	for i := range d {
		d[i] = max(a[i], b[i])
	}
}

func and[T integer](d, a, b []T) {
	if len(a) == 1 {
		a, b = b, a
	}
	a = a[:len(d)]
	if len(b) == 1 {
		y := b[0]
		for i := range d {
			d[i] = a[i] & y
		}
		return
	}
	b = b[:len(d)]
	for i := range d {
		d[i] = a[i] & b[i]
	}
}

func or[T integer](d, a, b []T) {
	if len(a) == 1 {
		a, b = b, a
	}
	a = a[:len(d)]
	if len(b) == 1 {
		y := b[0]
		for i := range d {
			d[i] = a[i] | y
		}
		return
	}
	b = b[:len(d)]
	for i := range d {
		d[i] = a[i] | b[i]
	}
}

func xor[T integer](d, a, b []T) {
	if len(a) == 1 {
		a, b = b, a
	}
	a = a[:len(d)]
	if len(b) == 1 {
		y := b[0]
		for i := range d {
			d[i] = a[i] ^ y
		}
		return
	}
	b = b[:len(d)]
	for i := range d {
		d[i] = a[i] ^ b[i]
	}
}

func shl[T integer, U unsigned](d, a, b []T) {
	switch {
	case len(b) == 1:
		a, y := a[:len(d)], b[0]
		for i := range d {
			d[i] = a[i] << U(y)
		}
	case len(a) == 1:
		x, b := a[0], b[:len(d)]
		for i := range d {
			d[i] = x << U(b[i])
		}
	default:
		a, b := a[:len(d)], b[:len(d)]
		for i := range d {
			d[i] = a[i] << U(b[i])
		}
	}
}

func shr[T integer, U unsigned](d, a, b []T) {
	switch {
	case len(b) == 1:
		a, y := a[:len(d)], b[0]
		for i := range d {
			d[i] = a[i] >> U(y)
		}
	case len(a) == 1:
		x, b := a[0], b[:len(d)]
		for i := range d {
			d[i] = x >> U(b[i])
		}
	default:
		a, b := a[:len(d)], b[:len(d)]
		for i := range d {
			d[i] = a[i] >> U(b[i])
		}
	}
}

func shrU[T integer, U unsigned](d, a, b []T) {
	switch {
	case len(b) == 1:
		a, y := a[:len(d)], b[0]
		for i := range d {
			d[i] = T(U(a[i]) >> U(y))
		}
	case len(a) == 1:
		x, b := a[0], b[:len(d)]
		for i := range d {
			d[i] = T(U(x) >> U(b[i]))
		}
	default:
		a, b := a[:len(d)], b[:len(d)]
		for i := range d {
			d[i] = T(U(a[i]) >> U(b[i]))
		}
	}
}
