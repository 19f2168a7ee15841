package asm

// The helpers below name their operand kinds in Intel order, destination first:
// R a register, M memory, I an immediate. So VADDPS of two registers is RRR, from
// memory RRM, a load RM, a store MR.

// Mask makes k the opmask of the next instruction; elements outside it keep the
// destination's value. With NoReg the instruction stays unmasked.
func (a *Asm) Mask(k Reg) *Asm {
	if a.k != NoReg {
		a.errorf("mask %v after mask %v", k, a.k)
	}
	a.k = k
	return a
}

// MaskZ is Mask with the elements outside k set to zero.
func (a *Asm) MaskZ(k Reg) *Asm {
	a.Mask(k)
	a.z = k != NoReg
	return a
}

// put emits in under the pending mask.
func (a *Asm) put(in *Inst) {
	in.K, in.Z = a.k, a.z
	a.k, a.z = NoReg, false
	a.Emit(in)
}

// Op0 emits an instruction without operands.
func (a *Asm) Op0(op Op) { a.put(&Inst{Op: op}) }

// MovImm sets the 64-bit register dst to v in the shortest form that leaves the
// flags alone.
func (a *Asm) MovImm(dst Reg, v int64) {
	if v == int64(uint32(v)) {
		a.RI(MOV32, dst, v)
		return
	}
	a.RI(MOV, dst, v)
}

// R emits op with one operand, a register.
func (a *Asm) R(op Op, dst Reg) { a.put(&Inst{Op: op, A: [4]Reg{dst}}) }

// M emits op with one operand, memory.
func (a *Asm) M(op Op, m Mem) { a.put(&Inst{Op: op, A: [4]Reg{MemArg}, Mem: m}) }

// RR emits op with two registers: a move, a square root, a conversion, an addition.
func (a *Asm) RR(op Op, dst, src Reg) {
	a.put(&Inst{Op: op, A: [4]Reg{dst, src}})
}

// RM emits op with a register and memory: a load, a broadcast, an EVEX gather.
func (a *Asm) RM(op Op, dst Reg, m Mem) {
	a.put(&Inst{Op: op, A: [4]Reg{dst, MemArg}, Mem: m})
}

// MR emits op with memory and a register: a store, a scatter.
func (a *Asm) MR(op Op, m Mem, src Reg) {
	a.put(&Inst{Op: op, A: [4]Reg{MemArg, src}, Mem: m})
}

// RI emits op with a register and an immediate.
func (a *Asm) RI(op Op, dst Reg, imm int64) {
	a.put(&Inst{Op: op, A: [4]Reg{dst}, HasImm: true, Imm: imm})
}

// MI emits op with memory and an immediate.
func (a *Asm) MI(op Op, m Mem, imm int64) {
	a.put(&Inst{Op: op, A: [4]Reg{MemArg}, Mem: m, HasImm: true, Imm: imm})
}

// RRR emits op with three registers.
func (a *Asm) RRR(op Op, dst, s1, s2 Reg) {
	a.put(&Inst{Op: op, A: [4]Reg{dst, s1, s2}})
}

// RRM emits op with two registers and memory.
func (a *Asm) RRM(op Op, dst, s1 Reg, m Mem) {
	a.put(&Inst{Op: op, A: [4]Reg{dst, s1, MemArg}, Mem: m})
}

// MRR emits op with memory and two registers: VMASKMOVPS to memory.
func (a *Asm) MRR(op Op, m Mem, s1, s2 Reg) {
	a.put(&Inst{Op: op, A: [4]Reg{MemArg, s1, s2}, Mem: m})
}

// RRI emits op with two registers and an immediate.
func (a *Asm) RRI(op Op, dst, src Reg, imm int64) {
	a.put(&Inst{Op: op, A: [4]Reg{dst, src}, HasImm: true, Imm: imm})
}

// RMI emits op with a register, memory and an immediate.
func (a *Asm) RMI(op Op, dst Reg, m Mem, imm int64) {
	a.put(&Inst{Op: op, A: [4]Reg{dst, MemArg}, Mem: m, HasImm: true, Imm: imm})
}

// MRI emits op with memory, a register and an immediate: VEXTRACTI128 to memory.
func (a *Asm) MRI(op Op, m Mem, src Reg, imm int64) {
	a.put(&Inst{Op: op, A: [4]Reg{MemArg, src}, Mem: m, HasImm: true, Imm: imm})
}

// RRRR emits op with four registers: VBLENDVPS.
func (a *Asm) RRRR(op Op, dst, s1, s2, s3 Reg) {
	a.put(&Inst{Op: op, A: [4]Reg{dst, s1, s2, s3}})
}

// RRRI emits op with three registers and an immediate.
func (a *Asm) RRRI(op Op, dst, s1, s2 Reg, imm int64) {
	a.put(&Inst{Op: op, A: [4]Reg{dst, s1, s2}, HasImm: true, Imm: imm})
}

// RRMI emits op with two registers, memory and an immediate.
func (a *Asm) RRMI(op Op, dst, s1 Reg, m Mem, imm int64) {
	a.put(&Inst{Op: op, A: [4]Reg{dst, s1, MemArg}, Mem: m, HasImm: true, Imm: imm})
}
