package ptxsim

import (
	"math/bits"
)

var integerTypes = []string{"u16", "u32", "u64", "s16", "s32", "s64"}

func compileAdd(b *builder, x *inst) step {
	if x.isFloat() {
		return b.floatArith(x)
	}
	t := x.takeType(integerTypes...)
	ones := t.ones()
	if x.name == "sub" {
		return b.binary(x, t, func(a, b, _ uint64) uint64 { return (a - b) & ones })
	}
	return b.binary(x, t, func(a, b, _ uint64) uint64 { return (a + b) & ones })
}

// mulHi returns the upper half of a product.
func mulHi(t typ, a, b uint64) uint64 {
	if t.bits < 64 {
		if t.class == 's' {
			return uint64(t.sign(a)*t.sign(b)>>t.bits) & t.ones()
		}
		return a * b >> t.bits
	}
	hi, _ := bits.Mul64(a, b)
	if t.class == 's' {
		hi -= uint64(int64(a)>>63)&b + uint64(int64(b)>>63)&a
	}
	return hi
}

// product returns the function of mul.lo, .hi or .wide, and the type of its result.
func product(x *inst, half string, t typ) (eval, typ) {
	switch half {
	case "lo":
		ones := t.ones()
		return func(a, b, _ uint64) uint64 { return a * b & ones }, t
	case "hi":
		return func(a, b, _ uint64) uint64 { return mulHi(t, a, b) }, t
	}
	if t.bits == 64 {
		fail(x.line, "%s.wide of %s", x.name, t)
	}
	wide := typ{t.class, 2 * t.bits}
	if t.class == 'u' {
		return func(a, b, _ uint64) uint64 { return a * b }, wide
	}
	ones := wide.ones()
	return func(a, b, _ uint64) uint64 { return uint64(t.sign(a)*t.sign(b)) & ones }, wide
}

func compileMul(b *builder, x *inst) step {
	if x.isFloat() {
		return b.floatArith(x)
	}
	half := x.need("lo", "hi", "wide")
	t := x.takeType(integerTypes...)
	f, td := product(x, half, t)
	x.count(3)
	return lanes(b.dst(x, 0, td), b.src(x, 1, t), b.src(x, 2, t), 0, f)
}

func compileMad(b *builder, x *inst) step {
	half := x.need("lo", "hi", "wide")
	t := x.takeType(integerTypes...)
	f, td := product(x, half, t)
	x.count(4)
	ones := td.ones()
	return lanes(b.dst(x, 0, td), b.src(x, 1, t), b.src(x, 2, t), b.src(x, 3, td),
		func(a, b, c uint64) uint64 { return (f(a, b, 0) + c) & ones })
}

// compileRem and integer division: by zero the manual leaves the result open; it is all ones here.
func compileRem(b *builder, x *inst) step { return b.divide(x, true) }

func (b *builder) divide(x *inst, rem bool) step {
	t := x.takeType(integerTypes...)
	ones := t.ones()
	return b.binary(x, t, func(a, b, _ uint64) uint64 {
		switch {
		case b == 0:
			return ones
		case t.class == 's' && rem:
			return uint64(t.sign(a)%t.sign(b)) & ones
		case t.class == 's':
			return uint64(t.sign(a)/t.sign(b)) & ones
		case rem:
			return a % b
		}
		return a / b
	})
}

func compileNeg(b *builder, x *inst) step {
	if x.isFloat() {
		return b.floatSign(x)
	}
	t := x.takeType("s16", "s32", "s64")
	ones := t.ones()
	if x.name == "neg" {
		return b.unary(x, t, func(a, _, _ uint64) uint64 { return -a & ones })
	}
	return b.unary(x, t, func(a, _, _ uint64) uint64 {
		if t.sign(a) < 0 {
			return -a & ones
		}
		return a
	})
}

func compileMin(b *builder, x *inst) step {
	if x.isFloat() {
		return b.floatMin(x)
	}
	t := x.takeType(integerTypes...)
	less := x.name == "min"
	return b.binary(x, t, func(a, b, _ uint64) uint64 {
		below := a < b
		if t.class == 's' {
			below = t.sign(a) < t.sign(b)
		}
		if below == less {
			return a
		}
		return b
	})
}

func compileLogic(b *builder, x *inst) step {
	t := x.takeType("b16", "b32", "b64", "pred")
	if t == pred {
		return b.predLogic(x)
	}
	ones := t.ones()
	switch x.name {
	case "and":
		return b.binary(x, t, func(a, b, _ uint64) uint64 { return a & b })
	case "or":
		return b.binary(x, t, func(a, b, _ uint64) uint64 { return a | b })
	case "xor":
		return b.binary(x, t, func(a, b, _ uint64) uint64 { return a ^ b })
	}
	return b.unary(x, t, func(a, _, _ uint64) uint64 { return ^a & ones })
}

func (b *builder) predLogic(x *inst) step {
	if x.name == "not" {
		x.count(2)
		d, p := b.dstPred(x, x.ops[0]), b.srcPred(x, x.ops[1])
		return func(w *warp, m uint32) { w.setPred(d, m, ^p.get(w)) }
	}
	x.count(3)
	d, p, q := b.dstPred(x, x.ops[0]), b.srcPred(x, x.ops[1]), b.srcPred(x, x.ops[2])
	switch x.name {
	case "and":
		return func(w *warp, m uint32) { w.setPred(d, m, p.get(w)&q.get(w)) }
	case "or":
		return func(w *warp, m uint32) { w.setPred(d, m, p.get(w)|q.get(w)) }
	}
	return func(w *warp, m uint32) { w.setPred(d, m, p.get(w)^q.get(w)) }
}

// compileShift: amounts are 32 bits wide and clamped to the width of the type.
func compileShift(b *builder, x *inst) step {
	types := []string{"b16", "b32", "b64"}
	if x.name == "shr" {
		types = append(types, integerTypes...)
	}
	t := x.takeType(types...)
	x.count(3)
	ones, width := t.ones(), uint64(t.bits)
	f := func(a, n, _ uint64) uint64 {
		switch {
		case t.class == 's':
			return uint64(t.sign(a)>>min(n, 63)) & ones
		case n >= width:
			return 0
		}
		return a >> n
	}
	if x.name == "shl" {
		f = func(a, n, _ uint64) uint64 {
			if n >= width {
				return 0
			}
			return a << n & ones
		}
	}
	return lanes(b.dst(x, 0, t), b.src(x, 1, t), b.src(x, 2, u32), 0, f)
}

func compileFunnel(b *builder, x *inst) step {
	left := x.need("l", "r") == "l"
	wrap := x.need("wrap", "clamp") == "wrap"
	t := x.takeType("b32")
	x.count(4)
	return lanes(b.dst(x, 0, t), b.src(x, 1, t), b.src(x, 2, t), b.src(x, 3, u32), func(lo, hi, n uint64) uint64 {
		if wrap {
			n &= 31
		}
		n = min(n, 32)
		v := hi<<32 | lo
		if left {
			return v << n >> 32
		}
		return v >> n & 0xffffffff
	})
}

func compileBits(b *builder, x *inst) step {
	if x.name == "cnot" {
		t := x.takeType("b16", "b32", "b64")
		return b.unary(x, t, func(a, _, _ uint64) uint64 {
			if a == 0 {
				return 1
			}
			return 0
		})
	}
	t := x.takeType("b32", "b64")
	s := 64 - t.bits
	if x.name == "brev" {
		return b.unary(x, t, func(a, _, _ uint64) uint64 { return bits.Reverse64(a) >> s })
	}
	x.count(2)
	f := func(a, _, _ uint64) uint64 { return uint64(bits.OnesCount64(a)) }
	if x.name == "clz" {
		f = func(a, _, _ uint64) uint64 { return uint64(bits.LeadingZeros64(a) - s) }
	}
	return lanes(b.dst(x, 0, u32), b.src(x, 1, t), 0, 0, f)
}

// compileBfe extracts a field. Bits beyond the value are its sign, or 0 without one.
func compileBfe(b *builder, x *inst) step {
	t := x.takeType("u32", "u64", "s32", "s64")
	x.count(4)
	width := uint64(t.bits)
	return lanes(b.dst(x, 0, t), b.src(x, 1, t), b.src(x, 2, u32), b.src(x, 3, u32), func(a, pos, n uint64) uint64 {
		pos, n = pos&0xff, n&0xff
		var fill uint64
		if t.class == 's' && n > 0 {
			fill = a >> min(pos+n-1, width-1) & 1
		}
		r := uint64(0)
		for i := range width {
			bit := fill
			if i < n && pos+i < width {
				bit = a >> (pos + i) & 1
			}
			r |= bit << i
		}
		return r
	})
}

func compileBfi(b *builder, x *inst) step {
	t := x.takeType("b32", "b64")
	x.count(5)
	width := uint64(t.bits)
	d, a, c := b.dst(x, 0, t), b.src(x, 1, t), b.src(x, 2, t)
	pos, n := b.src(x, 3, u32), b.src(x, 4, u32)
	return func(w *warp, m uint32) {
		for i := range 32 {
			if m>>i&1 == 0 {
				continue
			}
			p, k := w.r[pos][i]&0xff, w.r[n][i]&0xff
			r := w.r[c][i]
			for j := uint64(0); j < k && p+j < width; j++ {
				r = r&^(1<<(p+j)) | w.r[a][i]>>j&1<<(p+j)
			}
			w.r[d][i] = r
		}
	}
}

func compilePrmt(b *builder, x *inst) step {
	t := x.takeType("b32")
	return b.ternary(x, t, func(lo, hi, sel uint64) uint64 {
		v := hi<<32 | lo
		r := uint64(0)
		for i := range 4 {
			s := sel >> (4 * i) & 15
			c := v >> (8 * (s & 7)) & 0xff
			if s&8 != 0 {
				c = c >> 7 * 0xff
			}
			r |= c << (8 * i)
		}
		return r
	})
}

func compileLop3(b *builder, x *inst) step {
	t := x.takeType("b32")
	x.count(5)
	table := b.number(x, 4)
	if table > 255 {
		fail(x.line, "a table of %d", table)
	}
	return lanes(b.dst(x, 0, t), b.src(x, 1, t), b.src(x, 2, t), b.src(x, 3, t), func(a, b, c uint64) uint64 {
		r := uint64(0)
		for i := range 8 {
			if table>>i&1 == 0 {
				continue
			}
			p, q, s := ^a, ^b, ^c
			if i&4 != 0 {
				p = a
			}
			if i&2 != 0 {
				q = b
			}
			if i&1 != 0 {
				s = c
			}
			r |= p & q & s
		}
		return r & 0xffffffff
	})
}
