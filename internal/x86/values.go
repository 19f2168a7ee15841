package x86

import (
	"weft/internal/jit"
	"weft/internal/loop"
	"weft/internal/x86/asm"
)

// lower lowers one instruction.
func (c *compiler) lower(v loop.Value) {
	if c.users.Dead(v) {
		return
	}
	in := &c.p.Ins[v]
	uni, k, line := c.lay.uni, c.lay.k, c.line
	if n := c.p.Line(v); n > 0 {
		c.line = int32(n)
	}
	if c.inOneRegister(v, in) {
		c.lay.uni, c.lay.k = true, 1
	}
	from := len(c.code)
	if c.inGPR[v] {
		c.lowerGeneral(v, in)
	} else {
		c.lowerIns(v, in)
	}
	c.lay.uni, c.lay.k, c.line = uni, k, line
	if sabotage != nil {
		sabotage(c, v, from)
	}
}

// sabotage, set by tests only, breaks the code of a value, from an index on.
var sabotage func(c *compiler, v loop.Value, from int)

// count returns how many registers a value of type t takes.
func (c *compiler) count(t loop.Type) int {
	if t.Size() == 8 && !c.lay.uni {
		return c.lay.k * c.lay.parts
	}
	return c.lay.k
}

// countOf returns how many registers v has.
func (c *compiler) countOf(v loop.Value) int {
	if c.vals[v].uni {
		return 1
	}
	return c.count(c.p.Ins[v].Type)
}

// result gives v fresh registers.
func (c *compiler) result(v loop.Value) []vr {
	t := c.p.Ins[v].Type
	first := len(c.regs)
	for range c.count(t) {
		c.regs = append(c.regs, c.newOf(t))
	}
	c.vals[v] = val{first: int32(first), state: defined, uni: c.lay.uni}
	return c.regs[first:]
}

// alias makes v live where o does.
func (c *compiler) alias(v, o loop.Value) {
	c.vals[v] = c.vals[o]
	c.vals[v].state = defined
}

// set makes v live in the given register, as a uniform value.
func (c *compiler) set(v loop.Value, r vr) {
	c.regs = append(c.regs, r)
	c.vals[v] = val{first: int32(len(c.regs) - 1), state: defined, uni: true}
}

func (c *compiler) newOf(t loop.Type) vr {
	if t == loop.B {
		return c.newM()
	}
	return c.newV()
}

// get returns register i of a value, counted as count does.
func (c *compiler) get(v loop.Value, i int) vr {
	x := &c.vals[v]
	if x.uni {
		i = 0
	}
	if x.first == noVector {
		panic("x86: what is in a general register alone is read as a vector")
	}
	return c.regs[int(x.first)+i]
}

// second is register i of the second operand of an instruction, 0 if it has none.
func (c *compiler) second(in *loop.Ins, i int) vr {
	if in.B == loop.NoValue {
		return 0
	}
	b := in.B
	if in.Op == loop.OpScaleB {
		if floor := c.left(b); floor != nil {
			b = floor.A
		}
	}
	return c.get(b, i)
}

// part returns the register of an 8-byte value at a step and part.
func (c *compiler) part(v loop.Value, s, q int) vr { return c.get(v, s*c.lay.parts+q) }

// constReg returns a register that holds a constant in all lanes.
func (c *compiler) constReg(t loop.Type, bits uint64) vr {
	switch t {
	case loop.I8:
		t, bits = loop.F32, bits*0x01010101
	case loop.I16:
		t, bits = loop.F32, bits*0x00010001
	case loop.I32:
		t = loop.F32
	case loop.I64:
		t = loop.F64
	}
	for i := range c.consts { // a hash takes longer
		if k := &c.consts[i]; k.bits == bits && k.t == t {
			return k.r
		}
	}
	r := c.newOf(t)
	c.consts = append(c.consts, constant{bits, t, r})
	x := &c.vregs[r]
	x.konst = true
	switch {
	case t == loop.B && bits != 0:
		x.remat = pOnes
	case bits == 0:
		x.remat = pZero
	default:
		// As a whole vector: to spread an element takes a unit that tables are looked up
		// with, except as an operand.
		size := uint8(t.Size())
		if x.remat = asm.VMOVUPS; c.isa == jit.AVX512 {
			x.elem = size
		}
		x.at = int32(c.asm.NewConst(bits, size, uint8(c.vb)).Label)
	}
	return r
}

// listReg returns a register that holds a list of bytes.
func (c *compiler) listReg(list []byte) vr {
	at := c.asm.ConstBytes(list).Label
	for i := range c.consts {
		if k := &c.consts[i]; k.t == loop.None && k.bits == uint64(at) {
			return k.r
		}
	}
	r := c.newV()
	x := &c.vregs[r]
	x.konst, x.remat, x.at = true, asm.VMOVUPS, int32(at)
	c.consts = append(c.consts, constant{uint64(at), loop.None, r})
	return r
}

// loadConsts fills the registers of the constants that are used. Where they are many,
// those that are used once or twice are as good as spilled: most would find no register,
// but only after a round of allocation.
func (c *compiler) loadConsts() {
	many := len(c.consts) > c.vectors()
	for r, o := range c.seen {
		x := &c.vregs[r]
		switch {
		case !x.konst || o.uses == 0:
		case many && o.uses <= 3 && x.remat < pLabel:
			x.spilled = true
			c.spills++
		default:
			c.rematerialize(vr(r), vr(r))
		}
	}
}

// rematerialize makes the value of r, a constant, an argument or spilled, in
// register d.
func (c *compiler) rematerialize(d, r vr) {
	switch x := &c.vregs[r]; {
	case x.remat == 0:
		c.load(moveOps[x.class], d, slotMem(r))
	case x.remat >= pLabel:
		c.emit(x.remat, fDef, d)
	default:
		c.load(x.remat, d, x.place())
	}
}

// scalar returns a register with a scalar argument in all lanes.
func (c *compiler) scalar(i int) vr {
	t := c.p.Scalars[i]
	m := wordMem(c.p.ScalarWord(i))
	if t == loop.B {
		var r vr
		c.before(func() {
			g := c.loadG(asm.MOV32, m)
			r = c.boolMask(g)
		})
		return r
	}
	r := c.newV()
	x := &c.vregs[r]
	x.elem, x.at, x.remat = uint8(t.Size()), m.disp, elements[t.Size()].broadcast
	op := x.remat
	c.before(func() { c.load(op, r, m) })
	return r
}

// broadcast returns a vector with the low bytes of a general register in all lanes.
func (c *compiler) broadcast(g vr, size int) vr {
	d := c.newV()
	c.broadcastInto(d, g, size)
	return d
}

func (c *compiler) broadcastInto(d, g vr, size int) *ins {
	mov, bc := asm.VMOVD, elements[size].broadcastG
	if size == 8 {
		mov = asm.VMOVQ
	}
	if c.isa == jit.AVX2 {
		t := c.newV()
		c.op1(mov, t.x(), g)
		g = t.x()
	}
	return c.op1(bc, d, g)
}

// index lowers OpIndex.
func (c *compiler) index(v loop.Value, axis int) {
	at := c.loadG(asm.MOV, wordMem(c.p.StartWord(axis)))
	c.upd(asm.ADD, at, c.ctr[axis])
	base := c.broadcast(at, 8)
	if axis != c.p.Lane {
		c.set(v, base)
		return
	}
	for i, d := range c.result(v) {
		c.op2m(asm.VPADDQ, d, base, c.iota(8, i*c.vb/8+c.lay.first*c.lay.lanes))
	}
}

// lowerIns lowers an instruction under the current layout.
func (c *compiler) lowerIns(v loop.Value, in *loop.Ins) {
	switch in.Op {
	case loop.OpConst:
		c.set(v, c.constReg(in.Type, in.Imm))
	case loop.OpScalar:
		c.set(v, c.scalar(int(in.Imm)))
	case loop.OpIndex:
		c.index(v, int(in.Imm))
	case loop.OpBits:
		c.alias(v, in.A)
	case loop.OpLoad, loop.OpLoadAt:
		c.lowerLoad(v, in)
	case loop.OpStore, loop.OpStoreAt:
		c.lowerStore(in)
	case loop.OpSelect:
		c.selects(v, in)
	case loop.OpEq, loop.OpNe, loop.OpLt, loop.OpLe, loop.OpLtU, loop.OpLeU:
		c.compare(v, in)
	case loop.OpCvt:
		c.convert(v, in)
	case loop.OpQuo, loop.OpRem, loop.OpQuoU, loop.OpRemU:
		c.divide(v, in)
	case loop.OpReduce:
		c.accumulate(v, in)
	case loop.OpLoop:
		c.lowerLoop(c.p.Region(in))
	case loop.OpIf:
		c.lowerIf(v, c.p.Region(in))
	case loop.OpOut:
		c.out(v, in)
	case loop.OpFma:
		c.fma(v, in)
	default:
		if least := c.left(in.A); least != nil {
			c.convertBetween(v, in, least)
			return
		}
		for i, d := range c.result(v) {
			c.arith(in, d, c.get(in.A, i), c.second(in, i))
		}
	}
}
