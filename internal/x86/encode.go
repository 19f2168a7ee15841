package x86

import (
	"fmt"

	"weft/internal/loop"
	"weft/internal/x86/asm"
)

// phys returns the machine register of r.
func (c *compiler) phys(r vr) asm.Reg {
	if r == 0 {
		return asm.NoReg
	}
	if r == frameReg {
		return asm.RDI
	}
	v := &c.vregs[r.id()]
	n := asm.Reg(max(v.phys, 0))
	switch {
	case v.class == classG:
		return asm.RAX + n
	case v.class == classK:
		return asm.K0 + n
	case r&narrow16 != 0:
		return asm.X0 + n
	case r&narrow32 != 0 || c.isa == AVX2:
		return asm.Y0 + n
	}
	return asm.Z0 + n
}

func (c *compiler) mem(m lmem) asm.Mem {
	return asm.Mem{Base: c.phys(m.base), Index: c.phys(m.index), Scale: m.scale,
		Size: m.size, Bcast: m.bcast, Disp: m.disp, Label: m.label}
}

// encode turns the code into bytes.
func (c *compiler) encode() {
	c.entry()
	for pos := range c.code {
		i := &c.code[pos]
		switch i.op {
		case pLabel:
			c.reload(i.imm)
			c.bind(asm.Label(i.imm))
		case pLoop:
			if i.flags&fAlign != 0 {
				c.asm.Align(32)
			}
			c.bind(asm.Label(i.imm))
		case pEnd, pNop:
		case pJmp:
			c.jump(asm.Label(i.imm))
		case pJcc:
			c.jumpIf(i.cond, asm.Label(i.imm))
		case pMov:
			c.encodeMov(c.phys(i.a[0]), c.phys(i.a[1]))
		case pFma:
			c.encodeFma(i, &fmaOps[0][i.imm])
		case pFmaD:
			c.encodeFma(i, &fmaOps[1][i.imm])
		case pZero:
			c.encodeZero(c.phys(i.a[0]))
		case pOnes:
			c.encodeOnes(c.phys(i.a[0]))
		case pSuspend:
			c.encodeBurn(i, int32(pos))
		case pRet:
			c.fence()
			c.emitInst(&asm.Inst{Op: asm.MOV32, A: [4]asm.Reg{asm.RAX}, HasImm: true, Imm: i.imm})
			c.put(asm.VZEROUPPER)
			c.put(asm.RET)
		default:
			c.encodeIns(i)
		}
	}
	c.suspensions()
}

// Everything encoded goes through the following, which also write it down if
// somebody wants to read it.

func (c *compiler) emitInst(in *asm.Inst) {
	if c.listing != nil {
		c.note("\t%s", in.String())
	}
	c.asm.Emit(in)
}

func (c *compiler) put(op asm.Op, r ...asm.Reg) {
	in := asm.Inst{Op: op}
	copy(in.A[:], r)
	c.emitInst(&in)
}

func (c *compiler) putLoad(op asm.Op, r asm.Reg, m asm.Mem) {
	c.emitInst(&asm.Inst{Op: op, A: [4]asm.Reg{r, asm.MemArg}, Mem: m})
}

func (c *compiler) putStore(op asm.Op, m asm.Mem, r asm.Reg) {
	c.emitInst(&asm.Inst{Op: op, A: [4]asm.Reg{asm.MemArg, r}, Mem: m})
}

func (c *compiler) jump(l asm.Label) {
	if c.listing != nil {
		c.note("\tjmp L%d", l)
	}
	c.asm.Jmp(l)
}

func (c *compiler) jumpIf(cond asm.Cond, l asm.Label) {
	if c.listing != nil {
		c.note("\tj%s L%d", condNames[cond], l)
	}
	c.asm.Jcc(cond, l)
}

func (c *compiler) bind(l asm.Label) {
	if c.listing != nil {
		c.note("L%d:", l)
	}
	c.asm.Bind(l)
}

var condNames = [...]string{"o", "no", "b", "ae", "e", "ne", "be", "a", "s", "ns", "p", "np", "l", "ge", "le", "g"}

// note adds a line to the listing, with the offset it stands at.
func (c *compiler) note(format string, args ...any) {
	fmt.Fprintf(c.listing, "%5x  "+format+"\n", append([]any{c.asm.Len()}, args...)...)
}

func (c *compiler) encodeIns(i *ins) {
	out := asm.Inst{Op: i.op, K: c.phys(i.k), Z: i.flags&fZero != 0, HasImm: i.flags&fImm != 0, Imm: i.imm}
	for j := range int(i.n) {
		if j != int(i.memAt) {
			out.A[j] = c.phys(i.a[j])
			continue
		}
		// Field by field: a copy of what was just written would wait for it.
		out.A[j] = asm.MemArg
		out.Mem.Base, out.Mem.Index = c.phys(i.mem.base), c.phys(i.mem.index)
		out.Mem.Scale, out.Mem.Size, out.Mem.Bcast = i.mem.scale, i.mem.size, i.mem.bcast
		out.Mem.Disp, out.Mem.Label = i.mem.disp, i.mem.label
	}
	c.emitInst(&out)
}

func (c *compiler) encodeMov(d, s asm.Reg) {
	switch {
	case d == s:
	case d.IsGPR():
		c.put(asm.MOV, d, s)
	case d.IsMask():
		c.put(asm.KMOVW, d, s)
	default:
		c.put(asm.VMOVAPS, d, s)
	}
}

func (c *compiler) encodeZero(d asm.Reg) {
	if d.IsMask() {
		c.put(asm.KXORW, d, d, d)
		return
	}
	// Writing 128 bits clears the rest.
	if d.Num() < 16 {
		c.put(asm.VPXOR, d.X(), d.X(), d.X())
	} else {
		c.put(asm.VPXORD, d, d, d)
	}
}

func (c *compiler) encodeOnes(d asm.Reg) {
	switch {
	case d.IsMask():
		c.put(asm.KXNORW, d, d, d)
	case c.isa == AVX512:
		c.emitInst(&asm.Inst{Op: asm.VPTERNLOGD, A: [4]asm.Reg{d, d, d}, HasImm: true, Imm: 0xFF})
	default:
		c.put(asm.VPCMPEQD, d, d, d)
	}
}

// fmaForms are the forms by what the destination holds before: 132 a factor (with
// the addend next), 213 a factor (with the other next), 231 the addend.
type fmaForms struct{ f132, f213, f231 asm.Op }

var fmaOps = [2][4]fmaForms{{
	{asm.VFMADD132PS, asm.VFMADD213PS, asm.VFMADD231PS},
	fmaNegC:           {asm.VFMSUB132PS, asm.VFMSUB213PS, asm.VFMSUB231PS},
	fmaNegA:           {asm.VFNMADD132PS, asm.VFNMADD213PS, asm.VFNMADD231PS},
	fmaNegA | fmaNegC: {asm.VFNMSUB132PS, asm.VFNMSUB213PS, asm.VFNMSUB231PS},
}, {
	{asm.VFMADD132PD, asm.VFMADD213PD, asm.VFMADD231PD},
	fmaNegC:           {asm.VFMSUB132PD, asm.VFMSUB213PD, asm.VFMSUB231PD},
	fmaNegA:           {asm.VFNMADD132PD, asm.VFNMADD213PD, asm.VFNMADD231PD},
	fmaNegA | fmaNegC: {asm.VFNMSUB132PD, asm.VFNMSUB213PD, asm.VFNMSUB231PD},
}}

func (c *compiler) encodeFma(i *ins, f *fmaForms) {
	d, x, y, z := c.phys(i.a[0]), c.phys(i.a[1]), c.phys(i.a[2]), c.phys(i.a[3])
	switch i.memAt {
	case 3: // x*y + mem
		m := c.mem(i.mem)
		if d == y {
			x, y = y, x
		}
		c.encodeMov(d, x)
		c.emitInst(&asm.Inst{Op: f.f213, A: [4]asm.Reg{d, y, asm.MemArg}, Mem: m})
	case 2: // x*mem + z
		m := c.mem(i.mem)
		if d == x {
			c.emitInst(&asm.Inst{Op: f.f132, A: [4]asm.Reg{d, z, asm.MemArg}, Mem: m})
			return
		}
		c.encodeMov(d, z)
		c.emitInst(&asm.Inst{Op: f.f231, A: [4]asm.Reg{d, x, asm.MemArg}, Mem: m})
	default:
		switch d {
		case z:
			c.put(f.f231, d, x, y)
		case x:
			c.put(f.f213, d, y, z)
		case y:
			c.put(f.f213, d, x, z)
		default:
			c.encodeMov(d, z)
			c.put(f.f231, d, x, y)
		}
	}
}

// A suspension is a place where a kernel may run out of fuel.
type suspension struct {
	stub, back asm.Label
	pos        int32
}

// entry goes on where a suspended kernel stopped.
func (c *compiler) entry() {
	c.dispatch = 0
	for n := range c.code {
		if c.code[n].op == pSuspend {
			c.dispatch = c.asm.NewLabel()
			c.emitInst(&asm.Inst{Op: asm.CMP, A: [4]asm.Reg{asm.MemArg}, Mem: c.mem(wordMem(loop.WordResume)), HasImm: true, Imm: 0})
			c.jumpIf(asm.CondNE, c.dispatch)
			return
		}
	}
}

// encodeBurn burns a unit of fuel.
func (c *compiler) encodeBurn(i *ins, pos int32) {
	s := suspension{stub: c.asm.NewLabel(), back: asm.Label(i.imm), pos: pos}
	c.suspends = append(c.suspends, s)
	c.emitInst(&asm.Inst{Op: asm.SUB, A: [4]asm.Reg{asm.MemArg}, Mem: c.mem(wordMem(loop.WordFuel)), HasImm: true, Imm: 1})
	c.jumpIf(asm.CondLE, s.stub)
}

// suspensions emits, out of the way, the code that saves and restores what is
// live where fuel may run out. Every register has its own place in scratch.
func (c *compiler) suspensions() {
	if len(c.suspends) == 0 {
		return
	}
	base := loop.FrameScratch + c.save
	at := func(class uint8, phys int8) asm.Mem {
		off := int(phys) * c.vb
		switch class {
		case classG:
			off = 32*c.vb + int(phys)*8
		case classK:
			off = 32*c.vb + 16*8 + int(phys)*8
		}
		return asm.Ptr(asm.RDI, int32(base+off))
	}
	each := func(pos int32, f func(op asm.Op, r asm.Reg, m asm.Mem)) {
		for v := 1; v < len(c.vregs); v++ {
			if x := &c.vregs[v]; x.phys >= 0 && x.start < pos && x.end > pos {
				f(moveOps[x.class], c.phys(vr(v)), at(x.class, x.phys))
			}
		}
	}
	word := c.mem(wordMem(loop.WordResume))
	for n, s := range c.suspends {
		c.bind(s.stub)
		each(s.pos, func(op asm.Op, r asm.Reg, m asm.Mem) { c.putStore(op, m, r) })
		c.emitInst(&asm.Inst{Op: asm.MOV, A: [4]asm.Reg{asm.MemArg}, Mem: word, HasImm: true, Imm: int64(n + 1)})
		c.fence()
		c.emitInst(&asm.Inst{Op: asm.MOV32, A: [4]asm.Reg{asm.RAX}, HasImm: true, Imm: loop.Resume})
		c.put(asm.VZEROUPPER)
		c.put(asm.RET)
	}
	c.bind(c.dispatch)
	c.putLoad(asm.MOV, asm.RAX, word)
	c.emitInst(&asm.Inst{Op: asm.MOV, A: [4]asm.Reg{asm.MemArg}, Mem: word, HasImm: true, Imm: 0})
	for n, s := range c.suspends {
		next := c.asm.NewLabel()
		if n < len(c.suspends)-1 {
			c.emitInst(&asm.Inst{Op: asm.CMP, A: [4]asm.Reg{asm.RAX}, HasImm: true, Imm: int64(n + 1)})
			c.jumpIf(asm.CondNE, next)
		}
		each(s.pos, func(op asm.Op, r asm.Reg, m asm.Mem) { c.putLoad(op, r, m) })
		c.jump(s.back)
		c.bind(next)
	}
}

// fence orders stores past the caches before all that follows, for other
// processors.
func (c *compiler) fence() {
	if c.streaming {
		c.put(asm.SFENCE)
	}
}
