package x86

import (
	"slices"

	"weft/internal/loop"
	"weft/internal/x86/asm"
)

// lower lowers one instruction.
func (c *compiler) lower(v loop.Value) {
	if c.users.Dead(v) {
		return
	}
	in := &c.p.Ins[v]
	uni, k := c.lay.uni, c.lay.k
	if c.uniform(in) {
		c.lay.uni, c.lay.k = true, 1
	}
	from := len(c.code)
	c.lowerIns(v, in)
	c.lay.uni, c.lay.k = uni, k
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

// set makes v live in the given register, the same for all lanes.
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
	if t == loop.I32 {
		t = loop.F32
	} else if t == loop.I64 {
		t = loop.F64
	}
	h := (bits ^ uint64(t)) * 0x9e3779b97f4a7c15 >> 40
	at := &c.constAt[h%uint64(len(c.constAt))]
	for ; *at != 0; at = &c.constAt[h%uint64(len(c.constAt))] {
		if k := &c.consts[*at-1]; k.t == t && k.bits == bits {
			return k.r
		}
		h++
	}
	r := c.newOf(t)
	x := &c.vregs[r]
	x.konst = true
	switch {
	case t == loop.B && bits != 0:
		x.remat = pOnes
	case bits == 0:
		x.remat = pZero
	case c.isa == AVX512:
		size := t.Size()
		x.remat, x.elem = elements[size].spread, uint8(size)
		x.at = int32(c.asm.NewConst(bits, uint8(size)).Label)
	default:
		x.remat = asm.VMOVUPS
		x.at = int32(c.asm.ConstBytes(repeated(bits, t.Size(), c.vb)).Label)
	}
	if c.consts = append(c.consts, constant{t, bits, r}); len(c.consts) < len(c.constAt)/2 {
		*at = int32(len(c.consts))
	}
	return r
}

// loadConsts fills the registers of the constants that have one to themselves.
func (c *compiler) loadConsts() {
	for _, k := range c.consts {
		if c.seen[k.r].uses > 0 && !c.scarce(k.r) {
			c.rematerialize(k.r, k.r)
		}
	}
}

// scarce reports a constant that is loaded where it is used.
func (c *compiler) scarce(r vr) bool {
	x := &c.vregs[r]
	return c.spare >= 0 && x.konst && x.class == classV && (!x.kept || c.rare != 0)
}

// loadOperands loads the constants that i uses and that are scarce.
func (c *compiler) loadOperands(i *ins) {
	for j := i.written(); j < len(i.a); j++ {
		if r := i.a[j]; r != 0 && c.scarce(r&idMask) {
			i.a[j] = c.newV() | r&^idMask
			c.reloadConst(i.a[j]&idMask, r&idMask)
		}
	}
}

// reloadConst makes the value of r, which is known, in register d each time that
// it is used. To spread an element takes a unit of the processor that tables are looked
// up with, to load a whole vector none.
func (c *compiler) reloadConst(d, r vr) {
	x := &c.vregs[r]
	if !x.konst || x.elem == 0 || c.rare != 0 {
		c.rematerialize(d, r)
		return
	}
	at, _ := slices.BinarySearchFunc(c.consts, r, func(k constant, r vr) int { return int(k.r) - int(r) })
	c.load(asm.VMOVUPS, d, lmem{label: c.asm.ConstBytes(repeated(c.consts[at].bits, int(x.elem), c.vb)).Label})
}

// repeated is n bytes of elements of a size with the same bits.
func repeated(bits uint64, size, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(bits >> (i % size * 8))
	}
	return b
}

// rematerialize makes the value of r, which is known to be a constant or an
// argument, in register d.
func (c *compiler) rematerialize(d, r vr) {
	if x := &c.vregs[r]; x.remat >= pLabel {
		c.emit(x.remat, fDef, d)
	} else {
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
	x.elem, x.at, x.remat = uint8(t.Size()), m.disp, elements[t.Size()].spread
	op := x.remat
	c.before(func() { c.load(op, r, m) })
	return r
}

// broadcast returns a vector with the low bytes of a general register in all lanes.
func (c *compiler) broadcast(g vr, size int) vr {
	mov, bc := asm.VMOVD, asm.VPBROADCASTD
	if size == 8 {
		mov, bc = asm.VMOVQ, asm.VPBROADCASTQ
	}
	if c.isa == AVX2 {
		t := c.newV()
		c.op1(mov, t.x(), g)
		g = t.x()
	}
	return c.v1(bc, g)
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
	case loop.OpEq, loop.OpNe, loop.OpLt, loop.OpLe:
		c.compare(v, in)
	case loop.OpCvt:
		c.convert(v, in)
	case loop.OpQuo, loop.OpRem:
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
		for i, d := range c.result(v) {
			c.arith(in, d, c.get(in.A, i), c.second(in, i))
		}
	}
}
