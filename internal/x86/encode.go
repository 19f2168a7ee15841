package x86

import (
	"math/bits"

	"weft/internal/jit"
	"weft/internal/launch"
	"weft/internal/loop"
	"weft/internal/x86/asm"
)

// phys returns the machine register of r.
func (c *compiler) phys(r vr) asm.Reg {
	if r == 0 {
		return asm.NoReg
	}
	v := &c.vregs[r.id()]
	base := regBases[c.isa][v.class]
	switch r &^ idMask {
	case narrow16:
		base = asm.X0
	case narrow32:
		base = asm.Y0
	}
	return base + asm.Reg(max(v.phys, 0))
}

// regBases are the first machine registers by class.
var regBases = [...][numClasses]asm.Reg{
	jit.AVX2:   {asm.RAX, asm.Y0, asm.K0},
	jit.AVX512: {asm.RAX, asm.Z0, asm.K0},
}

func (c *compiler) mem(m lmem) asm.Mem {
	return asm.Mem{Base: c.phys(m.base), Index: c.phys(m.index), Scale: m.scale,
		Bcast: m.bcast, Disp: m.disp, Label: m.label}
}

// encode turns the code into bytes.
func (c *compiler) encode() {
	a := &c.asm
	dispatch := a.NewLabel()
	if len(c.suspends) > 0 { // go on where the kernel ran out of fuel
		a.MI(asm.CMP, c.mem(wordMem(loop.WordResume)), 0)
		a.Jcc(asm.CondNE, dispatch)
	}
	line := int32(0)
	for pos := range c.code {
		if n := c.code[pos].line; n > 0 && n != line && a.Listing != nil {
			line = n
			a.Comment("line %d", n)
		}
		switch i := &c.code[pos]; i.op {
		case pLabel:
			a.Bind(asm.Label(i.imm))
		case pLoop:
			if i.flags&fAlign != 0 {
				a.Align(32)
			}
			a.Bind(asm.Label(i.imm))
		case pEnd, pNop, pAny:
		case pJmp:
			a.Jmp(asm.Label(i.imm))
		case pJcc:
			a.Jcc(i.cond, asm.Label(i.imm))
		case pMov:
			c.encodeMov(c.vregs[i.a[0].id()].class, c.phys(i.a[0]), c.phys(i.a[1]))
		case pFma:
			c.encodeFma(i, &fmaOps[0][i.imm])
		case pFmaD:
			c.encodeFma(i, &fmaOps[1][i.imm])
		case pZero:
			c.encodeZero(c.phys(i.a[0]))
		case pOnes:
			c.encodeOnes(c.phys(i.a[0]))
		default:
			c.encodeIns(i)
		}
	}
	c.encodeReturn(loop.Done)
	if len(c.suspends) > 0 {
		c.encodeSuspensions(dispatch)
	}
}

func (c *compiler) encodeIns(i *ins) {
	out := asm.Inst{Op: i.op, K: c.phys(i.a[maskAt]), Z: i.flags&fZero != 0, HasImm: i.flags&fImm != 0, Imm: i.imm}
	for j := range int(i.n) {
		if j != int(i.memAt) {
			out.A[j] = c.phys(i.a[j])
			continue
		}
		// Field by field: a copy of what was just written would wait for it.
		out.A[j] = asm.MemArg
		out.Mem.Base, out.Mem.Index = c.phys(i.a[baseAt]), c.phys(i.a[indexAt])
		out.Mem.Scale, out.Mem.Bcast = i.mem.scale, i.mem.bcast
		out.Mem.Disp, out.Mem.Label = i.mem.disp, i.mem.label
	}
	c.asm.Emit(&out)
}

func (c *compiler) encodeMov(class uint8, d, s asm.Reg) {
	if d != s {
		c.asm.RR(moveOps[class], d, s)
	}
}

func (c *compiler) encodeZero(d asm.Reg) {
	if d.IsMask() {
		c.asm.RRR(asm.KXORQ, d, d, d)
		return
	}
	// Writing 128 bits clears the rest.
	if d.Num() < 16 {
		c.asm.RRR(asm.VPXOR, d.X(), d.X(), d.X())
	} else {
		c.asm.RRR(asm.VPXORD, d, d, d)
	}
}

func (c *compiler) encodeOnes(d asm.Reg) {
	c.asm.RRR([...]asm.Op{jit.AVX2: asm.VPCMPEQD, jit.AVX512: asm.KXNORQ}[c.isa], d, d, d)
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
	r := [4]asm.Reg{c.phys(i.a[0]), c.phys(i.a[1]), c.phys(i.a[2]), c.phys(i.a[3])}
	if i.memAt >= 0 {
		r[i.memAt] = asm.MemArg
	}
	d, x, y, z := r[0], r[1], r[2], r[3]
	emit := func(op asm.Op, s, t asm.Reg) {
		c.asm.Emit(&asm.Inst{Op: op, A: [4]asm.Reg{d, s, t}, Mem: c.mem(i.memory())})
	}
	if d == y {
		x, y = y, x
	}
	switch {
	case z == asm.MemArg:
		c.encodeMov(classV, d, x)
		emit(f.f213, y, z)
	case d == x && y == asm.MemArg:
		emit(f.f132, z, y)
	case d == x && d != z:
		emit(f.f213, y, z)
	default:
		c.encodeMov(classV, d, z)
		emit(f.f231, x, y)
	}
}

func (c *compiler) encodeReturn(status int64) {
	if c.streaming { // orders non-temporal stores before all that follows
		c.asm.Op0(asm.SFENCE)
	}
	c.asm.RI(asm.MOV32, asm.RAX, status)
	c.asm.Op0(asm.VZEROUPPER)
	c.asm.Op0(asm.RET)
}

// A suspension is a point in the code where a kernel may run out of fuel.
type suspension struct{ stub, back asm.Label }

// encodeSuspensions emits, behind the code, the stubs that save all registers when fuel has run out,
// and the dispatch that restores them and resumes there.
func (c *compiler) encodeSuspensions(dispatch asm.Label) {
	a := &c.asm
	save, word := a.NewLabel(), c.mem(wordMem(loop.WordResume))
	for n, s := range c.suspends {
		a.Bind(s.stub)
		a.RI(asm.MOV32, asm.RAX, int64(n+1))
		a.Jmp(save)
	}
	a.Bind(save)
	a.MR(asm.MOV, word, asm.RAX)
	c.eachMachineReg(func(op asm.Op, r asm.Reg, m asm.Mem) { a.MR(op, m, r) })
	c.encodeReturn(loop.Resume)

	a.Bind(dispatch)
	a.RM(asm.MOV, asm.RAX, word)
	a.MI(asm.MOV, word, 0)
	c.eachMachineReg(func(op asm.Op, r asm.Reg, m asm.Mem) { a.RM(op, r, m) })
	for n, s := range c.suspends[1:] {
		a.RI(asm.CMP, asm.RAX, int64(n+2))
		a.Jcc(asm.CondE, s.back)
	}
	a.Jmp(c.suspends[0].back)
}

// eachMachineReg calls f for the allocatable registers, each with the instruction that moves it and
// an address in scratch.
func (c *compiler) eachMachineReg(f func(op asm.Op, r asm.Reg, m asm.Mem)) {
	at := int32(launch.FrameScratch + c.save)
	for class, set := range allocatable[c.isa] {
		for ; set != 0; set &= set - 1 {
			f(moveOps[class], regBases[c.isa][class]+asm.Reg(bits.TrailingZeros32(set)), asm.Ptr(asm.RDI, at))
			at += int32(c.regBytes(uint8(class)))
		}
	}
}
