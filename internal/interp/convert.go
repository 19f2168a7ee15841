package interp

import "weft/internal/loop"

// cvtStep returns the step of a conversion; kind is the Imm of an [loop.OpCvt].
func cvtStep(to, from loop.Type, kind uint64) step {
	if kind&loop.FromUnsigned != 0 {
		return sized(from, fromInt[uint8](to), fromInt[uint16](to), fromInt[uint32](to), fromInt[uint64](to))
	}
	switch from {
	case loop.B:
		return fromInt[uint8](to)
	case loop.F32:
		return fromFloat[float32](to, kind)
	case loop.F64:
		return fromFloat[float64](to, kind)
	}
	return sized(from, fromInt[int8](to), fromInt[int16](to), fromInt[int32](to), fromInt[int64](to))
}

func fromInt[T integer](to loop.Type) step {
	switch to {
	case loop.F32:
		return unary(convert[T, float32])
	case loop.F64:
		return unary(convert[T, float64])
	}
	return sized(to, unary(convert[T, int8]), unary(convert[T, int16]), unary(convert[T, int32]), unary(convert[T, int64]))
}

func fromFloat[T float](to loop.Type, kind uint64) step {
	switch {
	case to == loop.F32:
		return unary(convert[T, float32])
	case to == loop.F64:
		return unary(convert[T, float64])
	case kind&loop.ToUnsigned != 0:
		return sized(to, unary(truncate[T, uint8]), unary(truncate[T, uint16]), unary(truncate[T, uint32]), unary(truncate[T, uint64]))
	}
	return sized(to, unary(truncate[T, int8]), unary(truncate[T, int16]), unary(truncate[T, int32]), unary(truncate[T, int64]))
}

// convert is for what Go's own conversion defines.
func convert[T, D number](d []D, a []T) {
	a = a[:len(d)]
	for i := range d {
		d[i] = D(a[i])
	}
}

// truncate converts floats to integers. Numbers beyond the limits of the type saturate, and NaN
// becomes 0.
func truncate[T float, D integer](d []D, a []T) {
	least, greatest := limits[D]()
	// Powers of two and 0, so both are exact.
	bottom, top := float64(least), 2*float64(greatest/2+1)
	a = a[:len(d)]
	for i := range d {
		x := float64(a[i])
		switch {
		case x >= top:
			d[i] = greatest
		case x <= bottom:
			d[i] = least
		case x == x:
			d[i] = D(x)
		default:
			d[i] = 0
		}
	}
}

// limits returns the least and the greatest integer of a type.
func limits[T integer]() (least, greatest T) {
	if greatest = ^T(0); greatest > 0 {
		return 0, greatest
	}
	least = 1
	least <<= bitWidth[T]() - 1
	return least, ^least
}

// round rounds values as a store as elements of type M and a load do.
func round[M interface{ Float32() float32 }](one func(float32) M) step {
	return unary(func(d, a []float32) {
		a = a[:len(d)]
		for i := range d {
			d[i] = one(a[i]).Float32()
		}
	})
}
