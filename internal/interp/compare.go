package interp

import "weft/internal/loop"

// Truth values are bytes 0 and 1.

func truth(b bool) uint8 {
	var x uint8
	if b {
		x = 1
	}
	return x
}

func compareStep[T number](op loop.Op) step {
	switch op {
	case loop.OpEq:
		return binary(eq[T])
	case loop.OpNe:
		return binary(ne[T])
	case loop.OpLt:
		return binary(lt[T])
	}
	return binary(le[T])
}

func eq[T number](d []uint8, a, b []T) {
	if len(a) == 1 {
		a, b = b, a
	}
	a = a[:len(d)]
	if len(b) == 1 {
		y := b[0]
		for i := range d {
			d[i] = truth(a[i] == y)
		}
		return
	}
	b = b[:len(d)]
	for i := range d {
		d[i] = truth(a[i] == b[i])
	}
}

func ne[T number](d []uint8, a, b []T) {
	if len(a) == 1 {
		a, b = b, a
	}
	a = a[:len(d)]
	if len(b) == 1 {
		y := b[0]
		for i := range d {
			d[i] = truth(a[i] != y)
		}
		return
	}
	b = b[:len(d)]
	for i := range d {
		d[i] = truth(a[i] != b[i])
	}
}

func lt[T number](d []uint8, a, b []T) {
	switch {
	case len(b) == 1:
		a, y := a[:len(d)], b[0]
		for i := range d {
			d[i] = truth(a[i] < y)
		}
	case len(a) == 1:
		x, b := a[0], b[:len(d)]
		for i := range d {
			d[i] = truth(x < b[i])
		}
	default:
		a, b := a[:len(d)], b[:len(d)]
		for i := range d {
			d[i] = truth(a[i] < b[i])
		}
	}
}

func le[T number](d []uint8, a, b []T) {
	switch {
	case len(b) == 1:
		a, y := a[:len(d)], b[0]
		for i := range d {
			d[i] = truth(a[i] <= y)
		}
	case len(a) == 1:
		x, b := a[0], b[:len(d)]
		for i := range d {
			d[i] = truth(x <= b[i])
		}
	default:
		a, b := a[:len(d)], b[:len(d)]
		for i := range d {
			d[i] = truth(a[i] <= b[i])
		}
	}
}

func notB(d, a []uint8) {
	a = a[:len(d)]
	for i := range d {
		d[i] = a[i] ^ 1
	}
}

func xorB(d, a, b []uint8) { xor(d, a, b) }

func eqvB(d, a, b []uint8) {
	xor(d, a, b)
	notB(d, d)
}
