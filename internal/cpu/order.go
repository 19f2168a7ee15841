package cpu

import "weft/internal/array"

// bitsOf is the integer types that hold the bits of elements.
type bitsOf interface {
	uint8 | uint16 | uint32 | uint64
}

// An order maps elements to unsigned integers, keys, in the same order: zeros are equal, and NaN
// is the greatest. Elements and keys are in the high bits of a uint64.
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

// key returns the key of an element in the high bits. A NaN's key has all 64 bits set.
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

// element returns the element for a key of at most 32 bits, which is in the high bits. It ignores
// lower bits. known is false for keys that several elements share: zeros and NaN.
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
