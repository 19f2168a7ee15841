package vmath

import (
	"math"
	"math/bits"

	"weft/internal/loop"
)

// Large angles. angleOf takes k*pi out of x by subtracting k times three floats that add
// up to pi; for large k they do not have digits enough. Here 1/pi has as many digits as
// the largest float needs (Payne and Hanek, "Radian reduction for trigonometric
// functions", SIGNUM Newsletter 18, 1983):
//
// A float x is m*2^e with a whole number m, so x/pi is m times 2^e/pi, which is 1/pi with
// its binary point moved by e places. Sine and cosine need x/pi modulo 2 only. The digits
// of 2^e/pi that stand for 2 and more contribute a multiple of 2 to the product, so they are
// left out. The digits from 1 on downwards are the window. Its first two or three words of 64
// bits are enough for a result of float32 or float64.
//
// invPi32 and invPi64 are the binary digits of 1/pi, in words of 64. The first digit stands
// for 2^16 and for 2^31: there are zeros in front, since the window of the smallest
// of the large angles begins before the first digit of 1/pi that is not zero.
var (
	invPi32 = []uint64{0x000028be60db9391, 0x054a7f09d5f47d4d, 0x377036d8a5664f10, 0xe4107f9458eaf7ae}
	invPi64 = []uint64{
		0x00000000517cc1b7, 0x27220a94fe13abe8, 0xfa9a6ee06db14acc, 0x9e21c820ff28b1d5, 0xef5de2b0db92371d,
		0x2126e97003249775, 0x04e8c90e7f0ef58e, 0x5894d39f74411afa, 0x975da24274ce3813, 0x5a2fbf209cc8eb1c,
		0xc1a99cfa4e422fc5, 0xdefc941d8ffc4bff, 0xef02cc07f79788c5, 0xad05368fb69b3f67, 0x93e584dba7a31fb3,
		0x4f2ff516ba93dd63, 0xf5f2f8bd9e839cfb, 0xc529497535fdafd8, 0x8fc6ae842b019823,
	}
)

// hugeAngle is angleOf for large, infinite and NaN arguments that are not negative. Of
// infinity and NaN it is NaN. For float32 low is always wanted.
func (f *form) hugeAngle(a loop.Value, by period, low bool) angle {
	if f.wide {
		return f.hugeAngle64(a, by, low)
	}
	return f.hugeAngle32(a, by)
}

// int64s is a constant of 64 bits, also in the formulas of float32.
func (f *form) int64s(x uint64) loop.Value { return f.Int(loop.I64, int64(x)) }

// window returns the n words of 64 bits that begin at bit number pos (I64) of words, bit 0
// being the highest of the first word. A window that does not begin with a word is put
// together from n+1 of them. Each of those is looked up in a table of its own, by the
// word in which the window begins. Lookups take their index modulo the size of the
// table, a power of two; pos of the largest finite float is below 64 times that size.
func (f *form) window(words []uint64, pos loop.Value, n int) []loop.Value {
	places := 1 << (bits.Len(uint(len(words)-n)) - 1)
	at := f.ShrU(pos, f.int64s(6))
	left := f.And(pos, f.int64s(63))
	right := f.Sub(f.int64s(64), left)
	out := make([]loop.Value, n)
	var next loop.Value
	for i := n; i >= 0; i-- {
		table := make([]float64, max(places, loop.TableBytes/8))
		for j := range table {
			table[j] = math.Float64frombits(words[i+j%places])
		}
		word := f.Bits(loop.I64, f.Lookup(table, at))
		if i < n {
			out[i] = f.Or(f.Shl(word, left), f.ShrU(next, right))
		}
		next = word
	}
	return out
}

// nearest splits v, which is x/pi modulo 2 as a whole number of steps of 2^-63, into count
// multiples as by says and what is left, in the same steps: x is then
// count multiples + left*2^-63*pi.
func (f *form) nearest(v loop.Value, by period) (left, count loop.Value) {
	low := int64(63 - by.bits()) // a multiple, pi/2^by.bits(), is 2^low steps
	// Rounded to the nearest multiple by adding half of one first. byOddPi takes out half
	// a multiple more than those below, which is what not adding does.
	if by != byOddPi {
		v = f.Add(v, f.int64s(1<<(low-1)))
	}
	left = f.Sub(f.And(v, f.int64s(1<<low-1)), f.int64s(1<<(low-1)))
	return left, f.ShrU(v, f.Int(loop.I64, low))
}

func (f *form) hugeAngle32(a loop.Value, by period) angle {
	// a = m*2^(E-150) for the exponent's bits E.
	bits := f.toInt(a)
	m := f.Cvt(loop.I64, f.Or(f.And(bits, f.n(1<<23-1)), f.n(1<<23)))
	pos := f.Cvt(loop.I64, f.Add(f.ShrU(bits, f.n(23)), f.n(16-150)))
	q := f.window(invPi32, pos, 2)
	// Products of 64 bits drop what is above: multiples of 2. Of the second word the upper
	// half is enough.
	v := f.Mul(m, q[0])
	v = f.Add(v, f.ShrU(f.Mul(m, f.ShrU(q[1], f.int64s(32))), f.int64s(32)))
	left, count := f.nearest(v, by)
	r := f.Mul(f.Cvt(loop.F64, left), f.Float(loop.F64, math.Pi*0x1p-63))
	hi := f.Cvt(loop.F32, r)
	lo := f.Cvt(loop.F32, f.Sub(r, f.Cvt(loop.F64, hi)))
	hi = f.Select(f.Lt(a, f.inf()), hi, f.nan())
	return angle{hi, f.Neg(lo), f.Cvt(loop.I32, count)}
}

// mulHigh is the high word of the product of m < 2^53 and unsigned q.
func (f *form) mulHigh(m, q loop.Value) loop.Value {
	low, s32 := f.int64s(1<<32-1), f.int64s(32)
	m0, m1 := f.And(m, low), f.ShrU(m, s32)
	q0, q1 := f.And(q, low), f.ShrU(q, s32)
	x := f.Mul(m0, q1)
	mid := f.Add(f.Add(f.ShrU(f.Mul(m0, q0), s32), f.And(x, low)), f.Mul(m1, q0))
	return f.Add(f.Add(f.Mul(m1, q1), f.ShrU(x, s32)), f.ShrU(mid, s32))
}

func (f *form) hugeAngle64(a loop.Value, by period, low bool) angle {
	// a = m*2^(E-1075) for the exponent's bits E.
	fraction := f.And(f.toInt(a), f.n(1<<52-1))
	m := f.Or(fraction, f.n(1<<52))
	pos := f.Add(f.ShrU(f.toInt(a), f.n(52)), f.n(31-1075))
	q := f.window(invPi64, pos, 3)
	// The product as three parts:
	//   - v, the whole steps of 2^-63, from the first word and the upper half of the product
	//     with the second;
	//   - end, the lower half of that product, in steps of 2^-127;
	//   - third, what the third word adds, in steps of 2^-128, as a float.
	end := f.Mul(m, q[1])
	third := f.Mul(f.toFloat(f.Or(fraction, f.n(1023<<52))), f.Cvt(f.t, f.ShrU(q[2], f.n(11))))
	left, count := f.nearest(f.Add(f.Mul(m, q[0]), f.mulHigh(m, q[1])), by)
	// All parts but the multiples that were taken out, as a sum of two floats h + l ...
	h := f.Mul(f.Cvt(f.t, f.Shr(left, f.n(32))), f.c(0x1p-31))
	h, l := f.fastSum(h, f.Mul(f.Cvt(f.t, f.And(left, f.n(1<<32-1))), f.c(0x1p-63)))
	h, l = f.fastSum(h, f.Fma(f.Cvt(f.t, f.ShrU(end, f.n(11))), f.c(0x1p-116), f.Fma(third, f.c(0x1p-128), l)))
	// ... times pi, which is p + 2*halfPiLow64.
	p := f.c(math.Pi)
	rest := f.Fma(h, f.c(2*halfPiLow64), f.Mul(l, p))
	number := f.Lt(a, f.inf())
	if !low {
		return angle{hi: f.Select(number, f.Fma(h, p, rest), f.nan()), count: count}
	}
	hi := f.Mul(h, p)
	hi, lo := f.fastSum(hi, f.Add(f.Fma(h, p, f.Neg(hi)), rest))
	return angle{f.Select(number, hi, f.nan()), f.Neg(lo), count}
}
