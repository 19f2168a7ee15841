package cpu

import "weft/internal/array"

// bitsOf are the integers that hold the bits of elements.
type bitsOf interface {
	uint8 | uint16 | uint32 | uint64
}

// An order makes unsigned integers of elements that stand in the same order: zeros are
// equal, NaN is the greatest. Elements and keys are in the high bits of 64.
type order struct {
	float, signed bool
	shift         int    // which brings an element there
	inf           uint64 // there
}

func orderOf(d array.DType) order {
	o := order{float: d.Float(), signed: !d.Unsigned(), shift: 64 - 8*d.Size()}
	if o.float {
		exponent := map[array.DType]int{array.Float16: 5, array.BFloat16: 8, array.Float32: 8, array.Float64: 11}[d]
		o.inf = (1<<exponent - 1) << (63 - exponent)
	}
	return o
}

const signBit = 1 << 63

// key is the key of an element that stands in the high bits. That of a NaN has all bits
// set, also those below the element's.
func (o order) key(u uint64) uint64 {
	if !o.float {
		if o.signed {
			u ^= signBit
		}
		return u
	}
	if u<<1 == 0 {
		return signBit
	}
	if u&^signBit > o.inf {
		return ^uint64(0)
	}
	if u&signBit != 0 {
		return ^u
	}
	return u | signBit
}

// element is the element of a key of at most 32 bits, in the high bits; lower ones do not
// count. It is not known of keys that several elements have: zeros and NaN.
func (o order) element(key uint64) (u uint64, known bool) {
	if !o.float {
		if o.signed {
			key ^= signBit
		}
		return key, true
	}
	u = key ^ (^uint64(int64(key)>>63) | signBit)
	return u, u<<1>>33 != 0 && u&^signBit>>32 <= o.inf>>32
}
