package x86

import (
	"math"

	"weft/internal/array"
	"weft/internal/jit"
	"weft/internal/loop"
	"weft/internal/x86/asm"
)

// narrow returns the lower half of r: a YMM register for ZMM, an XMM register for YMM.
func (c *compiler) narrow(r vr) vr {
	if c.isa == jit.AVX2 {
		return r.x()
	}
	return r.y()
}

// half returns half q of a register as a narrower register.
func (c *compiler) half(r vr, q int) vr {
	if q == 0 {
		return c.narrow(r)
	}
	t := c.narrow(c.newV())
	c.op1i([...]asm.Op{jit.AVX2: asm.VEXTRACTI128, jit.AVX512: asm.VEXTRACTI64X4}[c.isa], t, r, 1)
	return t
}

// concat makes a register of the low halves of two.
func (c *compiler) concat(d, lo, hi vr) {
	c.op2i([...]asm.Op{jit.AVX2: asm.VINSERTI128, jit.AVX512: asm.VINSERTI64X4}[c.isa], d, lo, c.narrow(hi), 1)
}

// join packs the low halves of 8-byte elements of two registers into 4-byte
// elements, on AVX2.
func (c *compiler) join(d, lo, hi vr) {
	t := c.v2i(asm.VSHUFPS, lo, hi, 0x88)
	c.op1i(asm.VPERMQ, d, t, 0xD8)
}

// convert lowers OpCvt.
func (c *compiler) convert(v loop.Value, in *loop.Ins) {
	from, to, u := c.p.Ins[in.A].Type, in.Type, unsigned(c.p, in)
	d := c.result(v)
	if c.scalarCvt(v, in) {
		x, op := c.newV().x(), [...]asm.Op{loop.F32: asm.VCVTSI2SSQ, loop.F64: asm.VCVTSI2SDQ}[to]
		c.op2(op, x, c.constReg(to, 0).x(), c.g(in.A))
		c.op1(elements[to.Size()].broadcast, d[0], x)
		return
	}
	if c.isa == jit.AVX2 && emulatedCvt(from, to, u) && (from == loop.I64 || to == loop.I64) {
		c.nearOrFar(from, u, []loop.Value{in.A}, func() {
			c.below51 = true
			c.convertAll(in, from, to, u, d)
			c.below51 = false
		}, func() { c.convertAll(in, from, to, u, d) })
		return
	}
	c.convertAll(in, from, to, u, d)
}

// nearMagic is 1.5*2^52. The sum with it makes a number of less than 51 bits and a sign,
// if it has one, the low bits of a double.
const nearMagic = 0x4338 << 48

// nearOrFar emits two paths, on AVX2: near for steps whose numbers of type t are all below 2^51, far
// for others.
func (c *compiler) nearOrFar(t loop.Type, u int, numbers []loop.Value, near, far func()) {
	all := vr(0)
	bias := uint64(1-u) << 51 // puts what has a sign above 0
	for _, o := range numbers {
		for i := range c.count(t) {
			x := c.get(o, i)
			switch {
			case t.Float():
				m := c.newM()
				c.op2i(cmps[t], m, c.opV(loop.OpAbs, t, x, 0), c.floatReg(t, 0x1p51), cmpLT)
				x = m
			case u == 0:
				x = c.v2(asm.VPADDQ, x, c.constReg(t, bias))
			}
			switch {
			case all == 0:
				all = x
			case t.Float():
				all = c.v2(asm.VPAND, all, x)
			default:
				all = c.v2(asm.VPOR, all, x)
			}
		}
	}
	distant, done := c.asm.NewLabel(), c.asm.NewLabel()
	if t.Float() {
		c.use2(asm.VPTEST, all, c.constReg(loop.B, 1))
		c.jcc(asm.CondAE, distant)
	} else {
		c.use2(asm.VPTEST, all, c.constReg(t, -(bias<<1|uint64(u)<<51)))
		c.jcc(asm.CondNE, distant)
	}
	near()
	c.jmp(done)
	c.label(distant)
	usual := c.rare
	c.rare = fRare
	far()
	c.rare = usual
	c.label(done)
}

// convertAll converts register by register.
func (c *compiler) convertAll(in *loop.Ins, from, to loop.Type, u int, d []vr) {
	switch {
	case from == loop.B:
		for i := range d {
			c.ones(to, d[i], c.maskFor(func(s int) vr { return c.get(in.A, s) }, to, i))
		}
	case from.Size() == to.Size():
		for i := range d {
			c.convertReg(from, to, u, d[i], c.get(in.A, i))
		}
	case from.Size() == 4:
		for i := range d {
			c.widen(from, to, u, d[i], c.half(c.get(in.A, i/c.lay.parts), i%c.lay.parts))
		}
	default:
		for i := range d {
			c.shorten(from, to, u, d[i], c.part(in.A, i, 0), c.part(in.A, i, 1))
		}
	}
}

// unsigned returns 1 for an OpCvt of integers without sign whose result depends on that, else 0.
func unsigned(p *loop.Program, in *loop.Ins) int {
	from, imm := p.Ins[in.A].Type, in.Imm
	switch {
	case from.Float():
		imm &= loop.ToUnsigned
	case in.Type.Float() || in.Type.Size() > from.Size():
		imm &= loop.FromUnsigned
	default:
		imm = 0
	}
	return int(min(imm, 1))
}

// converts holds, by the types from and to, the instructions that convert what fits. Only AVX-512
// has conversions from and to I64, but for VPMOVSXDQ. The second half is for integers without
// sign, where AVX2 has only VPMOVZXDQ.
var converts = [2][loop.F64 + 1]byType{{
	loop.I32: row(0, asm.VPMOVSXDQ, asm.VCVTDQ2PS, asm.VCVTDQ2PD),
	loop.I64: row(asm.VPMOVQD, 0, asm.VCVTQQ2PS, asm.VCVTQQ2PD),
	loop.F32: row(asm.VCVTTPS2DQ, 0, 0, asm.VCVTPS2PD),
	loop.F64: row(asm.VCVTTPD2DQ, asm.VCVTTPD2QQ, asm.VCVTPD2PS, 0),
}, {
	loop.I32: row(0, asm.VPMOVZXDQ, asm.VCVTUDQ2PS, asm.VCVTUDQ2PD),
	loop.I64: row(0, 0, asm.VCVTUQQ2PS, asm.VCVTUQQ2PD),
	loop.F32: row(asm.VCVTTPS2UDQ, 0, 0, 0),
	loop.F64: row(asm.VCVTTPD2UDQ, asm.VCVTTPD2UQQ, 0, 0),
}}

// emulatedCvt reports the conversions that AVX2 has no instructions for: lane by lane, or
// in several steps.
func emulatedCvt(from, to loop.Type, u int) bool {
	return from.Float() != to.Float() && from != loop.B && (from == loop.I64 || to == loop.I64 || u == 1)
}

// widen converts half a register of 4-byte elements.
func (c *compiler) widen(from, to loop.Type, u int, d, half vr) {
	switch {
	case from == loop.F32 && to == loop.I64: // exact on the way
		t := c.v1(asm.VCVTPS2PD, half)
		c.convertReg(loop.F64, to, u, d, t)
	case to == loop.F64 && u == 1 && c.isa == jit.AVX2: // as the low bits of a double
		magic := c.floatReg(to, 0x1p52)
		c.op2(asm.VSUBPD, d, c.v2(asm.VPOR, c.v1(asm.VPMOVZXDQ, half), magic), magic)
	default:
		c.op1(converts[u][from][to], d, half)
	}
}

// shorten converts two registers of 8-byte elements.
func (c *compiler) shorten(from, to loop.Type, u int, d, lo, hi vr) {
	h := [2]vr{lo, hi}
	for q, r := range h {
		switch {
		case from != loop.F64 || to != loop.I32:
		case u == 1: // NaN becomes 0
			h[q] = c.v2(asm.VMAXPD, r, c.floatReg(from, 0))
			if c.isa == jit.AVX2 {
				h[q] = c.v2(asm.VMINPD, h[q], c.floatReg(from, math.MaxUint32))
			}
		default:
			// NaN becomes 0 and what is too large the greatest integer; what is
			// too small becomes the least by itself.
			h[q] = c.v2(asm.VMINPD, c.withoutNaN(from, r), c.floatReg(from, math.MaxInt32))
		}
	}
	c.shortenFitting(from, to, u, d, h)
}

// shortenFitting is shorten for numbers that fit the narrower type.
func (c *compiler) shortenFitting(from, to loop.Type, u int, d vr, h [2]vr) {
	switch {
	case c.isa == jit.AVX2 && from == loop.I64 && to == loop.F32:
		c.singleOfInt64(u, d, h)
		return
	case c.isa == jit.AVX2 && from == loop.I64:
		c.join(d, h[0], h[1])
		return
	case c.isa == jit.AVX2 && u == 1:
		c.join(d, c.lowBits(h[0]), c.lowBits(h[1]))
		return
	}
	for q, r := range h {
		h[q] = c.newV()
		c.op1(converts[u][from][to], c.narrow(h[q]), r)
	}
	c.concat(d, h[0], h[1])
}

// lowBits truncates doubles of at least 0 and below 2^52 to the low bits of lanes.
func (c *compiler) lowBits(a vr) vr {
	return c.v2(asm.VADDPD, c.v1i(asm.VROUNDPD, a, 3|8), c.floatReg(loop.F64, 0x1p52))
}

// convertBetween lowers most, a maximum of least, a minimum of a conversion of floats; least and the
// conversion are fused. It clamps the floats to the bounds and then converts: nothing overflows. NaN
// becomes 0.
func (c *compiler) convertBetween(v loop.Value, most, least *loop.Ins) {
	x := c.p.Ins[least.A].A
	t, lo := c.p.Ins[x].Type, int32(c.p.Ins[most.B].Imm)
	min, max := direct[c.isa][loop.OpMin][t], direct[c.isa][loop.OpMax][t]
	bound := func(a vr) vr {
		if lo < 0 {
			a = c.withoutNaN(t, a)
		}
		return c.v2(min, c.v2(max, a, c.floatReg(t, float64(lo))), c.floatReg(t, float64(int32(c.p.Ins[least.B].Imm))))
	}
	for i, d := range c.result(v) {
		if t == loop.F32 {
			c.op1(asm.VCVTTPS2DQ, d, bound(c.get(x, i)))
		} else {
			c.shortenFitting(t, loop.I32, 0, d, [2]vr{bound(c.part(x, i, 0)), bound(c.part(x, i, 1))})
		}
	}
}

// withoutNaN returns a with NaN replaced by 0.
func (c *compiler) withoutNaN(t loop.Type, a vr) vr {
	m, d := c.newM(), c.newV()
	c.op2i(cmps[t], m, a, a, cmpOrd)
	if c.isa == jit.AVX512 {
		c.op1(moves[t], d, a).mask(m).z()
	} else {
		c.do(loop.OpAnd, t, d, a, m)
	}
	return d
}

// convertReg converts a register between types of one size.
func (c *compiler) convertReg(from, to loop.Type, u int, d, a vr) {
	switch {
	case from.Float() && u == 1:
		c.saturateU(from, d, a)
	case from.Float():
		c.saturate(from, d, a)
	case from == loop.I64 && c.isa == jit.AVX2:
		c.doubleOfInt64(u, d, a)
	case u == 1 && c.isa == jit.AVX2:
		c.singleOfUint32(d, a)
	default:
		c.op1(converts[u][from][to], d, a)
	}
}

// saturateU converts floats to integers of the same size without sign. Where one of the
// instructions of AVX-512 cannot, it gives the greatest.
func (c *compiler) saturateU(t loop.Type, d, a vr) {
	x := c.v2(direct[c.isa][loop.OpMax][t], a, c.floatReg(t, 0)) // 0 for NaN
	if c.isa == jit.AVX512 {
		c.op1(converts[1][t][intOf[t]], d, x)
		return
	}
	r, limit := c.newV(), 0x1p32
	if t == loop.F32 {
		// Below 2^31 the first, else that is the sign alone, and the second has the rest.
		first := c.v1(asm.VCVTTPS2DQ, x)
		rest := c.v1(asm.VCVTTPS2DQ, c.v2(asm.VSUBPS, x, c.floatReg(t, 0x1p31)))
		c.op2(asm.VPOR, r, first, c.v2(asm.VPAND, rest, c.v1i(asm.VPSRAD, first, 31)))
	} else {
		if c.below51 {
			c.nearInt64(d, x)
			return
		}
		limit, r = 0x1p64, c.whole64(x)
	}
	m := c.newM()
	c.op2i(cmps[t], m, x, c.floatReg(t, limit), cmpGE)
	c.op2(asm.VPOR, d, r, m)
}

// nearInt64 truncates doubles below 2^51.
func (c *compiler) nearInt64(d, a vr) {
	sum := c.v2(asm.VADDPD, c.v1i(asm.VROUNDPD, a, 3|8), c.constReg(loop.F64, nearMagic))
	c.op2(asm.VPSUBQ, d, sum, c.constReg(loop.I64, nearMagic))
}

// nearDouble converts integers below 2^51.
func (c *compiler) nearDouble(d, a vr) {
	c.op2(asm.VSUBPD, d, c.v2(asm.VPADDQ, a, c.constReg(loop.I64, nearMagic)), c.constReg(loop.F64, nearMagic))
}

// whole64 truncates doubles from -2^63 to below 2^64 to the bits of integers, on AVX2. The
// halves of the number become the low bits of doubles.
func (c *compiler) whole64(a vr) vr {
	const floor, trunc, quiet = 1, 3, 8
	t := loop.F64
	x := c.v1i(asm.VROUNDPD, a, trunc|quiet)
	hi := c.v1i(asm.VROUNDPD, c.v2(asm.VMULPD, x, c.floatReg(t, 0x1p-32)), floor|quiet)
	lo, magic := c.newV(), c.floatReg(t, 0x1.8p52)
	c.op3(pFmaD, lo, hi, c.floatReg(t, -0x1p32), x)
	return c.v2i(asm.VPBLENDD, c.v2(asm.VADDPD, lo, magic), c.v1i(asm.VPSLLQ, c.v2(asm.VADDPD, hi, magic), 32), 0xAA)
}

// saturate converts floats to integers of the same size. The instruction gives
// the least integer for all it cannot convert; flipping its bits where the
// number was at or above the limit gives the greatest.
func (c *compiler) saturate(t loop.Type, d, a vr) {
	if c.below51 {
		c.nearInt64(d, a)
		return
	}
	limit, great := 0x1p31, uint64(math.MaxInt32)
	if t == loop.F64 {
		limit, great = 0x1p63, math.MaxInt64
	}
	x, r, m := c.withoutNaN(t, a), c.newV(), c.newM()
	c.op2i(cmps[t], m, x, c.floatReg(t, limit), cmpGE)
	if t == loop.F64 && c.isa == jit.AVX2 {
		r = c.whole64(c.v2(asm.VMAXPD, c.v2(asm.VMINPD, x, c.floatReg(t, limit)), c.floatReg(t, -limit)))
	} else {
		c.op1(converts[0][t][intOf[t]], r, x)
	}
	if c.isa == jit.AVX2 {
		c.op2(asm.VPXOR, d, r, m)
	} else {
		c.op2(blendm[t], d, r, c.constReg(t, great)).mask(m)
	}
}

// doubleOfInt64 converts on AVX2. The halves of the number become doubles by
// putting them under the exponents of 2^52 and 2^84; both are exact, and their
// sum rounds once.
func (c *compiler) doubleOfInt64(u int, d, a vr) {
	if c.below51 {
		c.nearDouble(d, a)
		return
	}
	sign := uint64(1-u) << 31 // flipped, as if 2^63 had been added
	lo := c.v2i(asm.VPBLENDD, c.constReg(loop.I64, 0x4330000000000000), a, 0x55)
	hi := c.v2(asm.VPXOR, c.v1i(asm.VPSRLQ, a, 32), c.constReg(loop.I64, 0x4530000000000000|sign))
	c.op2(asm.VADDPD, d, c.v2(asm.VSUBPD, hi, c.constReg(loop.I64, 0x4530000000100000|sign)), lo)
}

// singleOfUint32 converts on AVX2: the sum of the halves, which are exact, rounds once.
func (c *compiler) singleOfUint32(d, a vr) {
	t := loop.F32
	lo := c.v1(asm.VCVTDQ2PS, c.v2(asm.VPAND, a, c.constReg(loop.I32, 0xFFFF)))
	c.op3(pFma, d, c.v1(asm.VCVTDQ2PS, c.v1i(asm.VPSRLD, a, 16)), c.floatReg(t, 0x1p16), lo)
}

// singleOfInt64 converts on AVX2 by way of double. The low bits of a large number are cut off; if
// one of them is set, the last remaining bit becomes 1 (rounding to odd), so that the result is
// rounded as if the low bits were there (Boldo and Melquiond, 2008).
func (c *compiler) singleOfInt64(u int, d vr, h [2]vr) {
	t := loop.I64
	low := c.constReg(t, 1<<11-1)
	for q, a := range h {
		x, f := a, c.newV()
		if !c.below51 {
			size, large := a, c.newM()
			if u == 0 {
				size = c.v2(asm.VPXOR, a, c.negative(a))
			}
			any := c.v2(asm.VPADDQ, c.v2(asm.VPAND, a, low), low)
			cut := c.v2(asm.VPANDN, low, c.v2(asm.VPOR, a, any))
			c.op2(asm.VPCMPGTQ, large, c.v1i(asm.VPSRLQ, size, 53), c.constReg(t, 0))
			x = c.newV()
			c.blend(t, x, large, cut, a)
		}
		c.doubleOfInt64(u, f, x)
		h[q] = c.newV()
		c.op1(asm.VCVTPD2PS, h[q].x(), f)
	}
	c.concat(d, h[0], h[1])
}

// round rounds a, a register of v, from float32 to e.
func (c *compiler) round(e array.DType, d vr, v loop.Value, a vr) {
	if e == array.BFloat16 {
		c.do(loop.OpAnd, loop.I32, d, c.roundUpper(v, a), c.constReg(loop.I32, 0xFFFF0000))
		return
	}
	h := c.narrow(c.newV())
	c.op1i(asm.VCVTPS2PH, h, a, 0)
	c.op1(asm.VCVTPH2PS, d, h)
}

// roundUpper returns a register whose lanes have in their upper half a, a register of v,
// rounded to bfloat16.
func (c *compiler) roundUpper(v loop.Value, a vr) vr {
	t, from := loop.I32, &c.p.Ins[v]
	cvt := from.Op == loop.OpCvt && c.p.Ins[from.A].Type != loop.F64
	if c.p.Rounded(array.BFloat16, v) || cvt && c.byteWide(from) {
		return a
	}
	if cvt {
		// The difference from 2^16 times as much has just the bits that stay, rounded, and is
		// in the middle even where they are. Integers are neither so large that it overflows
		// nor NaN.
		f, less, d := c.floatReg(loop.F32, 0x1p16), c.newV(), c.newV()
		c.op3(pFma, less, a, f, a).imm = fmaNegC
		c.op3(pFma, d, a, f, less).imm = fmaNegC
		return d
	}
	// The addend carries into the upper half where the lower half is above the middle, and in the
	// middle if the upper half is odd. Beyond the largest number that gives infinity. Addition
	// could turn NaN into anything, so NaN becomes quiet instead.
	d, m := c.newV(), c.newM()
	if c.isa == jit.AVX512 {
		const quiet = 2 // what NaN of both kinds is replaced by
		c.testReg(loop.OpNe, t, m, a, c.constReg(t, 1<<16))
		c.op2(asm.VPADDD, d, a, c.constReg(t, 0x7FFF))
		c.op2(asm.VPADDD, d, a, c.constReg(t, 0x8000)).mask(m).rmw()
		c.op2(asm.VFIXUPIMMPS, d, a, c.constReg(t, quiet|quiet<<4)).rmw().with(0)
		return d
	}
	odd := c.v2(asm.VPAND, c.v1i(asm.VPSRLD, a, 16), c.constReg(t, 1))
	c.op2(asm.VPADDD, d, c.v2(asm.VPADDD, odd, c.constReg(t, 0x7FFF)), a)
	c.op2i(asm.VCMPPS, m, a, a, cmpUnord)
	r := c.newV()
	c.blend(t, r, m, c.v2(asm.VPOR, a, c.constReg(t, 1<<22)), d)
	return r
}

// byteWide reports a conversion of integers that have a byte, or of truth values.
func (c *compiler) byteWide(cvt *loop.Ins) bool {
	x := &c.p.Ins[cvt.A]
	if x.Type == loop.B {
		return true
	}
	if x.Op != loop.OpLoad && x.Op != loop.OpLoadAt {
		return false
	}
	e := c.p.Bufs[x.Imm].DType
	return e.Size() == 1 && unsigned(c.p, cvt) <= 1-signed(e)
}
