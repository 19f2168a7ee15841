package interp

import "weft/internal/loop"

// bitStep returns the step of an operation that only integers have, or nil. U is
// the unsigned type as wide as T.
func bitStep[T integer, U uint32 | uint64](op loop.Op) step {
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
	}
	return nil
}

func negInt[T integer](d, a []T) {
	a = a[:len(d)]
	for i := range d {
		d[i] = -a[i]
	}
}

func absInt[T integer](d, a []T) {
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

// Shift counts are taken as unsigned, so that one below 0 is as good as one that
// is too large; Go shifts everything out then.

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

func and[T integer | uint8](d, a, b []T) {
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

func or[T integer | uint8](d, a, b []T) {
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

func xor[T integer | uint8](d, a, b []T) {
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

func shl[T integer, U uint32 | uint64](d, a, b []T) {
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

func shr[T integer, U uint32 | uint64](d, a, b []T) {
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

func shrU[T integer, U uint32 | uint64](d, a, b []T) {
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
