package x86

import (
	"math"

	"weft/internal/array"
	"weft/internal/jit"
	"weft/internal/loop"
	"weft/internal/x86/asm"
)

// byType holds an instruction by the type that it computes in; B is a mask.
type byType [loop.I16 + 1]asm.Op

// row returns the given instructions by type. They are for the last of the types B, I32, I64, F32
// and F64: two are for F32 and F64, four for all but B.
func row(ops ...asm.Op) (t byType) {
	copy(t[int(loop.F64)+1-len(ops):], ops)
	return t
}

// bytes returns t with instructions for I8 and I16 added.
func (t byType) bytes(ops ...asm.Op) byType {
	copy(t[loop.I8:], ops)
	return t
}

// direct holds the operations that are one instruction. [compiler.compute] emits the others as
// several.
var direct = func() (t [jit.AVX512 + 1][loop.NumOps]byType) {
	t[jit.AVX2] = [loop.NumOps]byType{
		loop.OpAdd:  row(asm.VPADDD, asm.VPADDQ, asm.VADDPS, asm.VADDPD).bytes(asm.VPADDB, asm.VPADDW),
		loop.OpSub:  row(asm.VPSUBD, asm.VPSUBQ, asm.VSUBPS, asm.VSUBPD).bytes(asm.VPSUBB, asm.VPSUBW),
		loop.OpMul:  row(asm.VPMULLD, 0, asm.VMULPS, asm.VMULPD).bytes(0, asm.VPMULLW),
		loop.OpAbs:  row(asm.VPABSD, 0, 0, 0).bytes(asm.VPABSB, asm.VPABSW),
		loop.OpMin:  row(asm.VPMINSD, 0, asm.VMINPS, asm.VMINPD).bytes(asm.VPMINSB, asm.VPMINSW), // floats: b if either is NaN
		loop.OpMax:  row(asm.VPMAXSD, 0, asm.VMAXPS, asm.VMAXPD).bytes(asm.VPMAXSB, asm.VPMAXSW),
		loop.OpMinU: row(asm.VPMINUD, 0, 0, 0).bytes(asm.VPMINUB, asm.VPMINUW),
		loop.OpMaxU: row(asm.VPMAXUD, 0, 0, 0).bytes(asm.VPMAXUB, asm.VPMAXUW),
		loop.OpDiv:  row(asm.VDIVPS, asm.VDIVPD),
		loop.OpFma:  row(pFma, pFmaD),
		loop.OpSqrt: row(asm.VSQRTPS, asm.VSQRTPD),
		loop.OpShl:  row(asm.VPSLLVD, asm.VPSLLVQ, 0, 0), // counts are unsigned and clamped
		loop.OpShr:  row(asm.VPSRAVD, 0, 0, 0),
		loop.OpShrU: row(asm.VPSRLVD, asm.VPSRLVQ, 0, 0),
		loop.OpAnd:  row(asm.VPAND, asm.VPAND, asm.VPAND, asm.VANDPS, asm.VANDPD).bytes(asm.VPAND, asm.VPAND),
		loop.OpOr:   row(asm.VPOR, asm.VPOR, asm.VPOR, 0, 0).bytes(asm.VPOR, asm.VPOR),
		loop.OpXor:  row(asm.VPXOR, asm.VPXOR, asm.VPXOR, asm.VXORPS, asm.VXORPD).bytes(asm.VPXOR, asm.VPXOR),
	}
	t[jit.AVX512] = t[jit.AVX2]
	for _, x := range []struct {
		op loop.Op
		byType
	}{
		{loop.OpMul, row(asm.VPMULLQ, 0, 0)},
		{loop.OpAbs, row(asm.VPABSQ, 0, 0)},
		{loop.OpMin, row(asm.VPMINSQ, 0, 0)},
		{loop.OpMax, row(asm.VPMAXSQ, 0, 0)},
		{loop.OpMinU, row(asm.VPMINUQ, 0, 0)},
		{loop.OpMaxU, row(asm.VPMAXUQ, 0, 0)},
		{loop.OpShr, row(asm.VPSRAVQ, 0, 0)},
		{loop.OpRotL, row(asm.VPROLVD, asm.VPROLVQ, 0, 0)},
		{loop.OpLzCnt, row(asm.VPLZCNTD, asm.VPLZCNTQ, 0, 0)},
		{loop.OpAnd, row(asm.KANDQ, asm.VPANDD, asm.VPANDQ, 0, 0).bytes(asm.VPANDD, asm.VPANDD)},
		{loop.OpOr, row(asm.KORQ, asm.VPORD, asm.VPORQ, 0, 0).bytes(asm.VPORD, asm.VPORD)},
		{loop.OpXor, row(asm.KXORQ, asm.VPXORD, asm.VPXORQ, 0, 0).bytes(asm.VPXORD, asm.VPXORD)},
		{loop.OpNot, row(asm.KNOTQ, 0, 0, 0, 0)},
		{loop.OpLogB, row(asm.VGETEXPPS, asm.VGETEXPPD)},
		{loop.OpScaleB, row(asm.VSCALEFPS, asm.VSCALEFPD)},
	} {
		for i, op := range x.byType {
			if op != 0 {
				t[jit.AVX512][x.op][i] = op
			}
		}
	}
	return t
}()

// Wide reports whether a pass of p holds an operation for which vectors of 512 bits are
// faster wherever its operands come from. These are
//   - operations that are one instruction of AVX-512, and on AVX2 several or one a lane;
//   - operations that take several instructions on both, such as conversions of floats to
//     integers or bfloat16;
//   - stores of truth values: masks are joined until they fill a cache line.
func Wide(p *loop.Program) (found bool) {
	p, _ = narrowed(p)
	for _, v := range p.Body {
		if p.Ins[v].Op != loop.OpPass {
			continue // once a row
		}
		p.Walk(p.Region(&p.Ins[v]).Body, func(_ loop.Value, in *loop.Ins) {
			switch {
			case in.Op == loop.OpCvt:
				from := p.Ins[in.A].Type
				found = found || emulatedCvt(from, in.Type, unsigned(p, in)) || from.Float() && in.Type.Int()
			case in.Op == loop.OpRound:
				found = found || array.DType(in.Imm) == array.BFloat16
			case in.Op == loop.OpStore || in.Op == loop.OpStoreAt:
				e := p.Bufs[in.Imm].DType
				found = found || e == array.Bool || e == array.BFloat16 && !p.Rounded(array.BFloat16, in.A)
			case in.Op >= loop.OpQuo && in.Op <= loop.OpRemU: // by conversions to double
				found = found || in.Type == loop.I64 || in.Op >= loop.OpQuoU
			case in.Op == loop.OpTzCnt || in.Op == loop.OpMulHi: // by leading zeros, and signs of 64 bits
				found = found || in.Op == loop.OpTzCnt || in.Type == loop.I64
			case in.Type != loop.B: // of masks both have what there is
				found = found || direct[jit.AVX2][in.Op][in.Type] == 0 && direct[jit.AVX512][in.Op][in.Type] != 0
			}
		})
	}
	return found
}

// Instructions with an immediate: shifts by a constant from OpShl on, rounding by
// instruction set.
var (
	shifts = [...]byType{
		row(asm.VPSLLD, asm.VPSLLQ, 0, 0).bytes(0, asm.VPSLLW),
		row(asm.VPSRAD, asm.VPSRAQ, 0, 0).bytes(0, asm.VPSRAW),
		row(asm.VPSRLD, asm.VPSRLQ, 0, 0).bytes(0, asm.VPSRLW),
	}
	rounds = [...]byType{jit.AVX2: row(asm.VROUNDPS, asm.VROUNDPD), jit.AVX512: row(asm.VRNDSCALEPS, asm.VRNDSCALEPD)}
)

// Instructions around masks: comparisons by a predicate (on AVX2 of floats alone), AVX2's own
// comparisons of integers, choices by a vector and by an opmask, and moves under an opmask.
var (
	cmps   = row(asm.VPCMPD, asm.VPCMPQ, asm.VCMPPS, asm.VCMPPD).bytes(asm.VPCMPB, asm.VPCMPW)
	cmpsU  = row(asm.VPCMPUD, asm.VPCMPUQ, 0, 0).bytes(asm.VPCMPUB, asm.VPCMPUW)
	gts    = row(asm.VPCMPGTD, asm.VPCMPGTQ, 0, 0).bytes(asm.VPCMPGTB, asm.VPCMPGTW)
	eqs    = row(asm.VPCMPEQD, asm.VPCMPEQQ, 0, 0).bytes(asm.VPCMPEQB, asm.VPCMPEQW)
	blends = row(asm.VPBLENDVB, asm.VBLENDVPS, asm.VBLENDVPD, asm.VBLENDVPS, asm.VBLENDVPD).bytes(asm.VPBLENDVB, asm.VPBLENDVB)
	blendm = row(asm.VBLENDMPS, asm.VBLENDMPD, asm.VBLENDMPS, asm.VBLENDMPD).bytes(asm.VPBLENDMB, asm.VPBLENDMW)
	moves  = row(asm.VMOVAPS, asm.VMOVAPD, asm.VMOVAPS, asm.VMOVAPD).bytes(asm.VMOVDQU8, asm.VMOVDQU16)
	tests  = row(asm.VPTESTMD, asm.VPTESTMQ, 0, 0).bytes(asm.VPTESTMB, asm.VPTESTMW)
	testns = row(asm.VPTESTNMD, asm.VPTESTNMQ, 0, 0).bytes(asm.VPTESTNMB, asm.VPTESTNMW)
	andns  = [...]asm.Op{jit.AVX2: asm.VPANDN, jit.AVX512: asm.KANDNQ} // of masks: not the first, and the second
)

// intOf is the integer type as wide as a float.
var intOf = [...]loop.Type{loop.F32: loop.I32, loop.F64: loop.I64}

// Predicates of float comparisons, quiet.
const (
	cmpUnord = 3
	cmpLT    = 0x11
	cmpOrd   = 7
	cmpGE    = 0x1D
)

// predicates holds the predicates of OpEq, OpNe, OpLt and OpLe: of integers and of floats, each
// also with the operands swapped.
var predicates = [2][2][4]int64{
	{{0, 4, 1, 2}, {0, 4, 6, 5}},
	{{0, 4, 0x11, 0x12}, {0, 4, 0x1E, cmpGE}},
}

// arith emits instruction in for one register. It has special cases for constant operands; compute
// does the rest.
func (c *compiler) arith(in *loop.Ins, d, a, b vr) {
	t := in.Type
	switch in.Op {
	case loop.OpDiv, loop.OpSqrt:
		if c.lay.uni { // one that all lanes share takes less long in a narrow register
			q := c.newV()
			if b != 0 {
				b = b.x()
			}
			c.do(in.Op, t, q.x(), a.x(), b)
			c.op1(elements[t.Size()].broadcast, d, q.x())
			return
		}
	case loop.OpMul: // another unit than that of products
		if c.two(in.A) {
			c.do(loop.OpAdd, t, d, b, b)
			return
		}
		if c.two(in.B) {
			c.do(loop.OpAdd, t, d, a, a)
			return
		}
		if t == loop.I8 {
			if c.vals[in.A].uni {
				a, b = b, a
			}
			c.mulBytes(d, a, b, c.vals[in.A].uni || c.vals[in.B].uni)
			return
		}
	case loop.OpLookup:
		c.lookup(in, d, a)
		return
	case loop.OpRound:
		c.round(array.DType(in.Imm), d, in.A, a)
		return
	case loop.OpMin, loop.OpMax:
		if t.Float() && c.number(in.A) {
			c.do(in.Op, t, d, a, b) // gives b if that is NaN
			return
		}
	case loop.OpShl, loop.OpShr, loop.OpShrU:
		n := &c.p.Ins[in.B]
		if t.Size() < 4 {
			c.shiftAll(in.Op, t, d, a, b)
			return
		}
		if n.Op == loop.OpConst && n.Imm < uint64(8*t.Size()) && direct[c.isa][in.Op][t] != 0 {
			c.op1i(shifts[in.Op-loop.OpShl][t], d, a, int64(n.Imm))
			return
		}
	case loop.OpRotL:
		if n := &c.p.Ins[in.B]; n.Op == loop.OpConst {
			c.rotate(t, d, a, int64(n.Imm)&int64(8*t.Size()-1))
			return
		}
	}
	c.compute(in.Op, t, d, a, b)
}

// do emits d = op(a, b), or d = op(a) if b is 0. It emits nothing and returns nil where that is
// not one instruction.
func (c *compiler) do(op loop.Op, t loop.Type, d, a, b vr) *ins {
	switch x := direct[c.isa][op][t]; {
	case x == 0:
		return nil
	case b == 0:
		return c.op1(x, d, a)
	default:
		return c.op2(x, d, a, b)
	}
}

// compute emits d = op(a, b) of type t.
func (c *compiler) compute(op loop.Op, t loop.Type, d, a, b vr) {
	if t.Float() && (op == loop.OpMin || op == loop.OpMax) {
		c.minmax(op, t, d, a, b)
		return
	}
	if c.do(op, t, d, a, b) != nil {
		return
	}
	sign := signBit(t)
	switch op {
	case loop.OpNeg:
		if t.Float() {
			c.do(loop.OpXor, t, d, a, c.constReg(t, sign))
		} else {
			c.do(loop.OpSub, t, d, c.constReg(t, 0), a)
		}
	case loop.OpAbs:
		if t.Float() {
			c.do(loop.OpAnd, t, d, a, c.constReg(t, sign-1))
			return
		}
		s := c.negative(a)
		c.op2(asm.VPSUBQ, d, c.v2(asm.VPXOR, a, s), s)
	case loop.OpNot:
		ones := 2*sign - 1
		if t == loop.B {
			ones = 1
		}
		c.do(loop.OpXor, t, d, a, c.constReg(t, ones))
	case loop.OpFloor, loop.OpCeil, loop.OpTrunc, loop.OpRint:
		const quiet = 8
		c.op1i(rounds[c.isa][t], d, a, [...]int64{1, 2, 3, 0}[op-loop.OpFloor]|quiet)
	case loop.OpMin, loop.OpMax, loop.OpMinU, loop.OpMaxU: // of I64, on jit.AVX2 as the following
		greater, less := c.newM(), loop.OpLt
		if op >= loop.OpMinU {
			less = loop.OpLtU
		}
		c.compareReg(less, t, greater, b, a)
		if op == loop.OpMin || op == loop.OpMinU {
			a, b = b, a
		}
		c.blend(t, d, greater, a, b)
	case loop.OpMul:
		if t == loop.I8 {
			c.mulBytes(d, a, b, false)
			return
		}
		c.mul64(d, a, b)
	case loop.OpShr: // with the bits of negative numbers flipped, and flipped back
		s := c.negative(a)
		c.op2(asm.VPXOR, d, c.v2(asm.VPSRLVQ, c.v2(asm.VPXOR, a, s), b), s)
	case loop.OpLogB: // the exponent goes into the low bits of a float that steps by one
		mant, magic, bias := int64(23), uint64(0x4b000000), float64(0x1p23+127)
		if t == loop.F64 {
			mant, magic, bias = 52, 0x433<<52, 0x1p52+1023
		}
		e := c.v1i(shifts[loop.OpShrU-loop.OpShl][intOf[t]], a, mant)
		c.do(loop.OpSub, t, d, c.v2(asm.VPOR, e, c.constReg(t, magic)), c.floatReg(t, bias))
	case loop.OpScaleB:
		c.scaleB(t, d, a, b)
	default:
		c.bits(op, t, d, a, b)
	}
}

// signBit is the highest bit of a type.
func signBit(t loop.Type) uint64 { return 1 << (8*max(t.Size(), 1) - 1) }

// negative returns -1 where a, of type I64, is below 0, and 0 elsewhere, on AVX2.
func (c *compiler) negative(a vr) vr {
	return c.v2(asm.VPCMPGTQ, c.constReg(loop.I64, 0), a)
}

// scaleB sets d to a*2^b as two products by powers of two. The first one is exact.
func (c *compiler) scaleB(t loop.Type, d, a, b vr) {
	i, mant, magic := intOf[t], int64(23), 0x1.8p23+2*127
	if t == loop.F64 {
		mant, magic = 52, 0x1.8p52+2*1023
	}
	ops := &direct[c.isa]
	k := c.v2(ops[loop.OpAdd][t], b, c.floatReg(t, magic))
	h := c.v1i(shifts[loop.OpShrU-loop.OpShl][i], k, 1)
	l := c.v2(ops[loop.OpSub][i], k, h)
	p := c.v2(ops[loop.OpMul][t], a, c.v1i(shifts[0][i], h, mant))
	c.do(loop.OpMul, t, d, p, c.v1i(shifts[0][i], l, mant))
}

// floatReg returns a register that holds a number in all lanes.
func (c *compiler) floatReg(t loop.Type, x float64) vr {
	if t == loop.F32 {
		return c.constReg(t, uint64(math.Float32bits(float32(x))))
	}
	return c.constReg(t, math.Float64bits(x))
}

// mul64 emits the product of 64-bit integers: the product of the low halves, plus the cross products
// shifted by 32.
func (c *compiler) mul64(d, a, b vr) {
	cross := c.v2(asm.VPMULLD, c.v1i(asm.VPSHUFD, b, 0xB1), a) // a.lo*b.hi, a.hi*b.lo
	sum := c.v2(asm.VPADDD, c.v1i(asm.VPSRLQ, cross, 32), cross)
	c.op2(asm.VPADDQ, d, c.v2(asm.VPMULUDQ, a, b), c.v1i(asm.VPSLLQ, sum, 32))
}

// mulBytes emits products of bytes by two products of 2-byte words: one for the even bytes, one for
// the odd bytes. In the second, the byte below the odd one is cleared in a, and b is shifted down by
// a byte, unless all says that all its bytes are equal.
func (c *compiler) mulBytes(d, a, b vr, all bool) {
	t, odd := loop.I16, b
	if !all {
		odd = c.v1i(asm.VPSRLW, b, 8)
	}
	odd = c.v2(asm.VPMULLW, c.opV(loop.OpAnd, t, a, c.constReg(t, 0xFF00)), odd)
	c.andOr(d, c.v2(asm.VPMULLW, a, b), c.constReg(t, 0x00FF), odd)
}

// andOr emits d = a & mask | b, for a b without bits of the mask.
func (c *compiler) andOr(d, a, mask, b vr) {
	if c.isa == jit.AVX2 {
		c.op2(asm.VPOR, d, c.v2(asm.VPAND, a, mask), b)
		return
	}
	const orOfAnd = 0xF8
	r := c.newV()
	c.mov(r, b)
	c.op2(asm.VPTERNLOGD, r, a, mask).rmw().with(orOfAnd)
	c.mov(d, r)
}

// shiftAll shifts elements of 1 and 2 bytes by a uniform count, bytes as halves of words. For counts
// beyond the width, the instructions give what the language says.
func (c *compiler) shiftAll(op loop.Op, t loop.Type, d, a, b vr) {
	count := c.newV().x()
	if t == loop.I8 {
		c.op1(asm.VPMOVZXBQ, count, b.x())
	} else {
		c.op1(asm.VPMOVZXWQ, count, b.x())
	}
	shift, w := shifts[op-loop.OpShl][loop.I16], loop.I16
	if t == w {
		c.op2(shift, d, a, count)
		return
	}
	lower, upper := c.constReg(w, 0x00FF), c.constReg(w, 0xFF00)
	and := func(x, y vr) vr { return c.opV(loop.OpAnd, w, x, y) }
	var even, odd vr
	switch op {
	case loop.OpShl:
		even, odd = and(c.v2(shift, a, count), lower), c.v2(shift, and(a, upper), count)
	case loop.OpShrU:
		even, odd = c.v2(shift, and(a, lower), count), and(c.v2(shift, a, count), upper)
	default:
		even = c.v1i(asm.VPSRLW, c.v2(shift, c.v1i(asm.VPSLLW, a, 8), count), 8)
		odd = and(c.v2(shift, a, count), upper)
	}
	c.do(loop.OpOr, w, d, even, odd)
}

// two reports the constant 2.
func (c *compiler) two(v loop.Value) bool {
	in := &c.p.Ins[v]
	return in.Op == loop.OpConst && (in.Type == loop.F32 && in.Imm == 0x40000000 || in.Type == loop.F64 && in.Imm == 0x4000<<48 || in.Type.Int() && in.Imm == 2)
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

// minmax emits the minimum or maximum of floats by the loop language: the first operand if it
// compares so, else the second, which is what VMINPS gives too. If either is NaN the result is their
// sum, which is NaN.
func (c *compiler) minmax(op loop.Op, t loop.Type, d, a, b vr) {
	k, r := c.newM(), c.newV()
	c.op2i(cmps[t], k, a, b, cmpUnord)
	c.do(op, t, r, a, b)
	if c.isa == jit.AVX512 {
		c.do(loop.OpAdd, t, r, a, b).mask(k).rmw()
		c.mov(d, r)
		return
	}
	c.blend(t, d, k, c.v2(direct[jit.AVX2][loop.OpAdd][t], a, b), r)
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
	c.op2([...]byType{testns, tests}[op-loop.OpEq][t], d, a, b)
}

// compareReg compares a and b.
func (c *compiler) compareReg(op loop.Op, t loop.Type, d, a, b vr) {
	swapped := 0
	switch {
	case t == loop.B:
		c.do(loop.OpXor, t, d, a, b)
		if op == loop.OpEq {
			c.compute(loop.OpNot, t, d, d, 0)
		}
	case op >= loop.OpLtU && c.isa == jit.AVX512:
		c.op2i(cmpsU[t], d, a, b, predicates[0][0][op-loop.OpLtU+2])
	case op >= loop.OpLtU && direct[c.isa][loop.OpMinU][t] != 0:
		// a <= b if a is the smaller one; a < b unless b is.
		least := a
		if op == loop.OpLtU {
			least = b
		}
		c.op2(eqs[t], d, c.v2(direct[c.isa][loop.OpMinU][t], a, b), least)
		if op == loop.OpLtU {
			c.compute(loop.OpNot, loop.B, d, d, 0)
		}
	case op >= loop.OpLtU: // as numbers with a sign, in the same order
		sign := c.constReg(t, signBit(t))
		c.compareReg(op-loop.OpLtU+loop.OpLt, t, d, c.v2(asm.VPXOR, a, sign), c.v2(asm.VPXOR, b, sign))
	case c.isa == jit.AVX512 || t.Float():
		kind := 0
		if t.Float() {
			kind = 1
		}
		if c.vregs[a.id()].remat != 0 && op >= loop.OpLt { // only the second operand may be memory
			a, b, swapped = b, a, 1
		}
		c.op2i(cmps[t], d, a, b, predicates[kind][swapped][op-loop.OpEq])
	case op == loop.OpLt:
		c.op2(gts[t], d, b, a)
	default:
		is := eqs
		if op == loop.OpLe {
			is = gts
		}
		c.op2(is[t], d, a, b)
		if op != loop.OpEq {
			c.compute(loop.OpNot, loop.B, d, d, 0)
		}
	}
}

// selects lowers OpSelect.
func (c *compiler) selects(v loop.Value, in *loop.Ins) {
	x, y := &c.p.Ins[in.B], &c.p.Ins[in.C]
	mask := c.isa == jit.AVX2 && x.Op == loop.OpConst && in.Type.Int() && x.Imm == ^uint64(0)>>(64-8*in.Type.Size()) && y.Op == loop.OpConst && y.Imm == 0
	for i, d := range c.result(v) {
		m := c.maskFor(func(s int) vr { return c.get(in.A, s) }, in.Type, i)
		if mask { // it is that
			c.mov(d, m)
			continue
		}
		c.blend(in.Type, d, m, c.get(in.B, i), c.get(in.C, i))
	}
}
