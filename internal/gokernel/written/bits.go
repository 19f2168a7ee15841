package written

import "math/bits"

// Quotients of two words by one. Where Go panics, since the quotient does not fit, it is cut
// off, and a divisor of 0 gives 0 both times.

func BitsDiv32(hi, lo, y uint32) (quo, rem uint32) {
	x := uint64(hi)<<32 | uint64(lo)
	return uint32(x / uint64(y)), uint32(x % uint64(y))
}

func BitsDiv64(hi, lo, y uint64) (quo, rem uint64) {
	if y == 0 {
		return 0, 0
	}
	// Shifted so that the divisor has its highest bit: the quotient is the same.
	s := bits.LeadingZeros64(y)
	hi %= y
	y <<= s
	hi = hi<<s | lo>>(64-s)
	lo <<= s
	q1, r := digit(hi, lo>>32, y)
	q0, r := digit(r, lo&(1<<32-1), y)
	return q1<<32 | q0, r >> s
}

// digit divides the 96 bits of top and next by y, whose highest bit is set, for top below y
// and next below 2^32.
func digit(top, next, y uint64) (q, rem uint64) {
	// By the upper half of y the quotient is too large by 2 at most.
	q = min(top/(y>>32), 1<<32-1)
	hi, lo := bits.Mul64(q, y)
	up, down := top>>32, top<<32|next
	for range 2 {
		if hi > up || hi == up && lo > down {
			borrow := uint64(0)
			lo, borrow = bits.Sub64(lo, y, 0)
			hi -= borrow
			q--
		}
	}
	return q, down - lo
}

func BitsRem32(hi, lo, y uint32) uint32 {
	_, r := BitsDiv32(hi, lo, y)
	return r
}

func BitsRem64(hi, lo, y uint64) uint64 {
	_, r := BitsDiv64(hi, lo, y)
	return r
}

func BitsDiv(hi, lo, y uint) (quo, rem uint) {
	q, r := BitsDiv64(uint64(hi), uint64(lo), uint64(y))
	return uint(q), uint(r)
}

func BitsRem(hi, lo, y uint) uint { return uint(BitsRem64(uint64(hi), uint64(lo), uint64(y))) }
