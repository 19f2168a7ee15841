package x86

import (
	"math"

	"weft/internal/loop"
	"weft/internal/x86/asm"
)

// byType holds an instruction by the type that it computes in.
type byType [loop.F64 + 1]asm.Op

var (
	addOps    = byType{loop.I32: asm.VPADDD, loop.I64: asm.VPADDQ, loop.F32: asm.VADDPS, loop.F64: asm.VADDPD}
	subOps    = byType{loop.I32: asm.VPSUBD, loop.I64: asm.VPSUBQ, loop.F32: asm.VSUBPS, loop.F64: asm.VSUBPD}
	mulOps    = byType{loop.I32: asm.VPMULLD, loop.I64: asm.VPMULLQ, loop.F32: asm.VMULPS, loop.F64: asm.VMULPD}
	divOps    = byType{loop.F32: asm.VDIVPS, loop.F64: asm.VDIVPD}
	minOps    = byType{loop.I32: asm.VPMINSD, loop.I64: asm.VPMINSQ, loop.F32: asm.VMINPS, loop.F64: asm.VMINPD}
	maxOps    = byType{loop.I32: asm.VPMAXSD, loop.I64: asm.VPMAXSQ, loop.F32: asm.VMAXPS, loop.F64: asm.VMAXPD}
	sqrts     = byType{loop.F32: asm.VSQRTPS, loop.F64: asm.VSQRTPD}
	fmas      = byType{loop.F32: pFma, loop.F64: pFmaD}
	shls      = byType{loop.I32: asm.VPSLLVD, loop.I64: asm.VPSLLVQ}
	shrs      = byType{loop.I32: asm.VPSRAVD, loop.I64: asm.VPSRAVQ}
	shrus     = byType{loop.I32: asm.VPSRLVD, loop.I64: asm.VPSRLVQ}
	fcmps     = byType{loop.F32: asm.VCMPPS, loop.F64: asm.VCMPPD}
	icmps     = byType{loop.I32: asm.VPCMPD, loop.I64: asm.VPCMPQ}
	gts       = byType{loop.I32: asm.VPCMPGTD, loop.I64: asm.VPCMPGTQ}
	eqs       = byType{loop.I32: asm.VPCMPEQD, loop.I64: asm.VPCMPEQQ}
	blends    = byType{loop.I32: asm.VBLENDVPS, loop.I64: asm.VBLENDVPD, loop.F32: asm.VBLENDVPS, loop.F64: asm.VBLENDVPD, loop.B: asm.VBLENDVPS}
	blendm    = byType{loop.I32: asm.VBLENDMPS, loop.I64: asm.VBLENDMPD, loop.F32: asm.VBLENDMPS, loop.F64: asm.VBLENDMPD}
	moves     = byType{loop.I32: asm.VMOVAPS, loop.I64: asm.VMOVAPD, loop.F32: asm.VMOVAPS, loop.F64: asm.VMOVAPD}
	rounds    = byType{loop.F32: asm.VROUNDPS, loop.F64: asm.VROUNDPD}
	scales    = byType{loop.F32: asm.VRNDSCALEPS, loop.F64: asm.VRNDSCALEPD}
	powers    = byType{loop.F32: asm.VSCALEFPS, loop.F64: asm.VSCALEFPD}
	exponents = byType{loop.F32: asm.VGETEXPPS, loop.F64: asm.VGETEXPPD}
	shlis     = byType{loop.I32: asm.VPSLLD, loop.I64: asm.VPSLLQ}
	shris     = byType{loop.I32: asm.VPSRAD, loop.I64: asm.VPSRAQ}
	shruis    = byType{loop.I32: asm.VPSRLD, loop.I64: asm.VPSRLQ}
)

// intOf is the integer type as wide as a float.
var intOf = [...]loop.Type{loop.F32: loop.I32, loop.F64: loop.I64}

// Bitwise operations by instruction set; B is a mask.
var (
	ands = [2]byType{
		{loop.B: asm.VPAND, loop.I32: asm.VPAND, loop.I64: asm.VPAND, loop.F32: asm.VANDPS, loop.F64: asm.VANDPD},
		{loop.B: asm.KANDW, loop.I32: asm.VPANDD, loop.I64: asm.VPANDQ, loop.F32: asm.VANDPS, loop.F64: asm.VANDPD},
	}
	ors = [2]byType{
		{loop.B: asm.VPOR, loop.I32: asm.VPOR, loop.I64: asm.VPOR, loop.F32: asm.VORPS, loop.F64: asm.VORPD},
		{loop.B: asm.KORW, loop.I32: asm.VPORD, loop.I64: asm.VPORQ, loop.F32: asm.VORPS, loop.F64: asm.VORPD},
	}
	xors = [2]byType{
		{loop.B: asm.VPXOR, loop.I32: asm.VPXOR, loop.I64: asm.VPXOR, loop.F32: asm.VXORPS, loop.F64: asm.VXORPD},
		{loop.B: asm.KXORW, loop.I32: asm.VPXORD, loop.I64: asm.VPXORQ, loop.F32: asm.VXORPS, loop.F64: asm.VXORPD},
	}
	andns = [2]byType{{loop.B: asm.VPANDN}, {loop.B: asm.KANDNW}} // not the first, and the second
)

// Predicates of float comparisons, quiet: those of VCMPPS.
const (
	cmpEQ    = 0
	cmpUnord = 3
	cmpNE    = 4
	cmpOrd   = 7
	cmpGE    = 0x1D
	cmpGT    = 0x1E
	cmpLT    = 0x11
	cmpLE    = 0x12
)

func (c *compiler) signBit(t loop.Type) vr {
	if t.Size() == 4 {
		return c.constReg(t, 1<<31)
	}
	return c.constReg(t, 1<<63)
}

// arith emits d = op(a, b) for one register.
func (c *compiler) arith(in *loop.Ins, d, a, b vr) {
	t := in.Type
	switch in.Op {
	case loop.OpAdd:
		c.op2(addOps[t], d, a, b)
	case loop.OpSub:
		c.op2(subOps[t], d, a, b)
	case loop.OpMul:
		if t.Float() && c.two(in.A) { // another unit than that of products
			c.op2(addOps[t], d, b, b)
			return
		}
		if t.Float() && c.two(in.B) {
			c.op2(addOps[t], d, a, a)
			return
		}
		c.mul(t, d, a, b)
	case loop.OpDiv:
		c.op2(divOps[t], d, a, b)
	case loop.OpMin, loop.OpMax:
		if t.Float() && c.number(in.A) && c.quiet(in.B) {
			ops := minOps
			if in.Op == loop.OpMax {
				ops = maxOps
			}
			c.op2(ops[t], d, a, b) // gives b if that is NaN
			return
		}
		c.minmax(t, in.Op == loop.OpMax, d, a, b)
	case loop.OpNeg:
		if t.Float() {
			c.op2(xors[c.isa][t], d, a, c.signBit(t))
			return
		}
		c.op2(subOps[t], d, c.constReg(t, 0), a)
	case loop.OpAbs:
		c.abs(t, d, a)
	case loop.OpSqrt:
		c.op1(sqrts[t], d, a)
	case loop.OpFloor, loop.OpCeil, loop.OpTrunc, loop.OpRint:
		mode := [...]int64{1, 2, 3, 0}[in.Op-loop.OpFloor] | 8
		if c.isa == AVX512 {
			c.op1i(scales[t], d, a, mode)
		} else {
			c.op1i(rounds[t], d, a, mode)
		}
	case loop.OpLogB:
		c.logB(t, d, a)
	case loop.OpScaleB:
		c.scaleB(t, d, a, b)
	case loop.OpShl, loop.OpShr, loop.OpShrU:
		c.shift(in, d, a, b)
	case loop.OpAnd:
		c.op2(ands[c.isa][t], d, a, b)
	case loop.OpOr:
		c.op2(ors[c.isa][t], d, a, b)
	case loop.OpXor:
		c.op2(xors[c.isa][t], d, a, b)
	case loop.OpNot:
		switch {
		case t == loop.B && c.isa == AVX512:
			c.op1(asm.KNOTW, d, a)
		case t == loop.B:
			c.op2(asm.VPXOR, d, a, c.constReg(loop.B, 1))
		default:
			ones := uint64(1<<64 - 1)
			if t == loop.I32 {
				ones >>= 32
			}
			c.op2(xors[c.isa][t], d, a, c.constReg(t, ones))
		}
	default:
		panic("x86: " + in.Op.String())
	}
}

// logB: AVX2 puts the exponent into the low bits of a float that steps by one.
func (c *compiler) logB(t loop.Type, d, a vr) {
	if c.isa == AVX512 {
		c.op1(exponents[t], d, a)
		return
	}
	mant, magic, bias := int64(23), uint64(0x4b000000), float64(0x1p23+127)
	if t == loop.F64 {
		mant, magic, bias = 52, 0x433<<52, 0x1p52+1023
	}
	e := c.newV()
	c.op1i(shruis[intOf[t]], e, a, mant)
	c.op2(asm.VPOR, e, e, c.constReg(t, magic))
	c.op2(subOps[t], d, e, c.floatReg(t, bias))
}

// scaleB: AVX2 multiplies by two powers of two, of which the first product is
// exact.
func (c *compiler) scaleB(t loop.Type, d, a, b vr) {
	if c.isa == AVX512 {
		c.op2(powers[t], d, a, b)
		return
	}
	i, mant, magic := intOf[t], int64(23), 0x1.8p23+2*127
	if t == loop.F64 {
		mant, magic = 52, 0x1.8p52+2*1023
	}
	k, h := c.newV(), c.newV()
	c.op2(addOps[t], k, b, c.floatReg(t, magic))
	c.op1i(shruis[i], h, k, 1)
	c.op2(subOps[i], k, k, h)
	c.op1i(shlis[i], h, h, mant)
	c.op1i(shlis[i], k, k, mant)
	p := c.newV()
	c.op2(mulOps[t], p, a, h)
	c.op2(mulOps[t], d, p, k)
}

// floatReg returns a register that holds a number in all lanes.
func (c *compiler) floatReg(t loop.Type, x float64) vr {
	if t == loop.F32 {
		return c.constReg(t, uint64(math.Float32bits(float32(x))))
	}
	return c.constReg(t, math.Float64bits(x))
}

// mul: AVX2 makes the product of 64-bit integers of the low product, plus the cross
// products shifted by 32.
func (c *compiler) mul(t loop.Type, d, a, b vr) {
	if t != loop.I64 || c.isa == AVX512 {
		c.op2(mulOps[t], d, a, b)
		return
	}
	swap, cross, sum, low := c.newV(), c.newV(), c.newV(), c.newV()
	c.op1i(asm.VPSHUFD, swap, b, 0xB1)
	c.op2(asm.VPMULLD, cross, swap, a) // a.lo*b.hi, a.hi*b.lo
	c.op1i(asm.VPSRLQ, sum, cross, 32)
	c.op2(asm.VPADDD, sum, sum, cross)
	c.op1i(asm.VPSLLQ, sum, sum, 32)
	c.op2(asm.VPMULUDQ, low, a, b)
	c.op2(asm.VPADDQ, d, low, sum)
}

// two reports the constant 2.
func (c *compiler) two(v loop.Value) bool {
	in := &c.p.Ins[v]
	return in.Op == loop.OpConst && (in.Type == loop.F32 && in.Imm == uint64(math.Float32bits(2)) || in.Type == loop.F64 && in.Imm == math.Float64bits(2))
}

// number reports a floating-point constant that is not NaN.
func (c *compiler) number(v loop.Value) bool {
	in := &c.p.Ins[v]
	f := math.Float64frombits(in.Imm)
	if in.Type == loop.F32 {
		f = float64(math.Float32frombits(uint32(in.Imm)))
	}
	return in.Op == loop.OpConst && f == f
}

// quiet reports a floating-point result of arithmetic, which is never a signalling
// NaN.
func (c *compiler) quiet(v loop.Value) bool {
	op := c.p.Ins[v].Op
	return op >= loop.OpAdd && op <= loop.OpMul || op >= loop.OpMin && op <= loop.OpRint
}

// minmax follows the loop language: the first operand if it compares so, else
// the second, which is also what VMINPS does; but NaN if either is.
func (c *compiler) minmax(t loop.Type, greater bool, d, a, b vr) {
	op := minOps[t]
	if greater {
		op = maxOps[t]
	}
	switch {
	case t.Float() && c.isa == AVX512:
		k := c.newM()
		c.op2i(fcmps[t], k, a, b, cmpUnord)
		r := c.newV()
		c.op2(op, r, a, b)
		c.op2(addOps[t], r, a, b).mask(k).rmw()
		c.mov(d, r)
	case t.Float():
		k, m, nan := c.newV(), c.newV(), c.newV()
		c.op2(op, m, a, b)
		c.op2(addOps[t], nan, a, b)
		c.op2i(fcmps[t], k, a, b, cmpUnord)
		c.op3(blends[t], d, m, nan, k)
	case t == loop.I64 && c.isa == AVX2:
		m := c.newV()
		c.op2(asm.VPCMPGTQ, m, a, b)
		if greater {
			c.op3(asm.VBLENDVPD, d, b, a, m)
		} else {
			c.op3(asm.VBLENDVPD, d, a, b, m)
		}
	default:
		c.op2(op, d, a, b)
	}
}

func (c *compiler) abs(t loop.Type, d, a vr) {
	switch {
	case t == loop.F32:
		c.op2(asm.VANDPS, d, a, c.constReg(t, 1<<31-1))
	case t == loop.F64:
		c.op2(asm.VANDPD, d, a, c.constReg(t, 1<<63-1))
	case t == loop.I32:
		c.op1(asm.VPABSD, d, a)
	case c.isa == AVX512:
		c.op1(asm.VPABSQ, d, a)
	default:
		s, x := c.newV(), c.newV()
		c.op2(asm.VPCMPGTQ, s, c.constReg(t, 0), a)
		c.op2(asm.VPXOR, x, a, s)
		c.op2(asm.VPSUBQ, d, x, s)
	}
}

// shift emits a shift. The variable shifts of AVX2 take counts as unsigned and
// clamp them, which is what the language asks for.
func (c *compiler) shift(in *loop.Ins, d, a, b vr) {
	t := in.Type
	imm, vars := &shlis, &shls
	switch in.Op {
	case loop.OpShr:
		imm, vars = &shris, &shrs
	case loop.OpShrU:
		imm, vars = &shruis, &shrus
	}
	emulate := in.Op == loop.OpShr && t == loop.I64 && c.isa == AVX2
	if n := &c.p.Ins[in.B]; n.Op == loop.OpConst && n.Imm < uint64(8*t.Size()) && !emulate {
		c.op1i(imm[t], d, a, int64(n.Imm))
		return
	}
	if emulate { // of the number with its sign bits flipped to zero, and back
		s, x := c.newV(), c.newV()
		c.op2(asm.VPCMPGTQ, s, c.constReg(t, 0), a)
		c.op2(asm.VPXOR, x, a, s)
		c.op2(asm.VPSRLVQ, x, x, b)
		c.op2(asm.VPXOR, d, x, s)
		return
	}
	c.op2(vars[t], d, a, b)
}

// compare lowers the comparisons.
func (c *compiler) compare(v loop.Value, in *loop.Ins) {
	t := c.p.Ins[in.A].Type
	x, y, cmp := in.A, in.B, c.compareReg
	if and := c.left(in.A); and != nil {
		x, y, cmp = and.A, and.B, c.testReg
	}
	for s, d := range c.result(v) {
		if t.Size() != 8 || c.lay.parts == 1 {
			cmp(in.Op, t, d, c.get(x, s), c.get(y, s))
			continue
		}
		lo := c.newM()
		cmp(in.Op, t, lo, c.part(x, s, 0), c.part(y, s, 0))
		hi := lo
		if !c.lay.uni {
			hi = c.newM()
			cmp(in.Op, t, hi, c.part(x, s, 1), c.part(y, s, 1))
		}
		c.joinMask(d, lo, hi)
	}
}

// testReg compares a & b with zero, on AVX-512.
func (c *compiler) testReg(op loop.Op, t loop.Type, d, a, b vr) {
	test := [...]byType{
		{loop.I32: asm.VPTESTNMD, loop.I64: asm.VPTESTNMQ},
		{loop.I32: asm.VPTESTMD, loop.I64: asm.VPTESTMQ},
	}[op-loop.OpEq]
	c.op2(test[t], d, a, b)
}

func (c *compiler) compareReg(op loop.Op, t loop.Type, d, a, b vr) {
	switch {
	case t == loop.B:
		c.op2(xors[c.isa][t], d, a, b)
		if op == loop.OpEq {
			c.notMask(d, d)
		}
	case t.Float():
		pred := [...]int64{cmpEQ, cmpNE, cmpLT, cmpLE}[op-loop.OpEq]
		if c.vregs[a.id()].remat != 0 && op >= loop.OpLt { // only the second operand may be memory
			a, b, pred = b, a, [...]int64{cmpGT, cmpGE}[op-loop.OpLt]
		}
		c.op2i(fcmps[t], d, a, b, pred)
	case c.isa == AVX512:
		pred := [...]int64{0, 4, 1, 2}[op-loop.OpEq]
		if c.vregs[a.id()].remat != 0 && op >= loop.OpLt {
			a, b, pred = b, a, [...]int64{6, 5}[op-loop.OpLt] // not less or equal, not less
		}
		c.op2i(icmps[t], d, a, b, pred)
	case op == loop.OpEq, op == loop.OpNe:
		c.op2(eqs[t], d, a, b)
		if op == loop.OpNe {
			c.notMask(d, d)
		}
	case op == loop.OpLt:
		c.op2(gts[t], d, b, a)
	default:
		c.op2(gts[t], d, a, b)
		c.notMask(d, d)
	}
}

// selects lowers OpSelect.
func (c *compiler) selects(v loop.Value, in *loop.Ins) {
	for i, d := range c.result(v) {
		m := c.maskFor(func(s int) vr { return c.get(in.A, s) }, in.Type, i)
		c.blend(in.Type, d, m, c.get(in.B, i), c.get(in.C, i))
	}
}
