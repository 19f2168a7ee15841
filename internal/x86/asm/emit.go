package asm

import "math"

// Inst is one instruction with its operands in Intel order, the destination first.
// A memory operand is MemArg in A and described by Mem; an immediate is not in A.
type Inst struct {
	Op     Op
	K      Reg    // opmask, NoReg for none
	Z      bool   // zeroing instead of merging
	HasImm bool   // Imm is an operand
	A      [4]Reg // operands, NoReg after the last
	Mem    Mem
	Imm    int64
}

// Emit assembles one instruction. Where both VEX and EVEX encode it, VEX is taken.
// Operands that no form accepts become an error of Finish.
func (a *Asm) Emit(in *Inst) {
	if a.Listing != nil {
		a.list("\t%s", in.String())
	}
	f, l, evex := match(in)
	if f == nil {
		a.errorf("%s: %s", in.String(), explain(in))
		return
	}
	a.encode(in, f, l, evex)
}

// match finds the first form that takes the operands of in, the vector length L
// and whether it must be EVEX; the form is nil if there is none.
func match(in *Inst) (f *form, l uint8, evex bool) {
	n := uint8(0)
	for n < 4 && in.A[n] != NoReg {
		n++
	}
	fs := in.Op.forms()
	for i := range fs {
		f := &fs[i]
		if f.nargs != n || (f.imm != immNone) != in.HasImm {
			continue
		}
		if l, evex, ok := f.match(in); ok {
			return f, l, evex
		}
	}
	return nil, 0, false
}

// noLen marks a vector length that no operand has decided yet.
const noLen = 0xFF

func (f *form) match(in *Inst) (l uint8, evex, ok bool) {
	l = noLen
	high := Reg(0) // all register numbers or'ed
	hasMem := false
	var narrow uint8 // class of an operand of class argHalf
	for i := range f.nargs {
		r, want := in.A[i], f.args[i]
		c := r.class()
		if c == classMem {
			switch want.role() {
			case roleRM, roleMem, roleVSIB:
			default:
				return 0, false, false
			}
			hasMem = true
			continue
		}
		high |= r & 0xFF
		switch want.role() {
		case roleMem, roleVSIB:
			return 0, false, false
		case roleAcc:
			if r != RAX {
				return 0, false, false
			}
		case roleCL:
			if r != RCX {
				return 0, false, false
			}
			continue
		}
		switch want.class() {
		case argFull:
			if c -= classX; c > 2 || l != noLen && l != c {
				return 0, false, false
			}
			l = c
		case argHalf, argFourth, argEighth:
			if !r.IsVec() {
				return 0, false, false
			}
			if want.class() == argHalf {
				narrow = c
			}
		case argXMM:
			if c != classX {
				return 0, false, false
			}
		case argMask:
			if c != classK {
				return 0, false, false
			}
		default:
			if c != classGPR {
				return 0, false, false
			}
		}
	}
	if hasMem {
		if !f.memOK(&in.Mem) {
			return 0, false, false
		}
		if f.isVSIB() {
			high |= in.Mem.Index & 0xFF
			if !f.distinct(in) {
				return 0, false, false
			}
		}
	}
	if l == noLen {
		if l, ok = f.lengthFromMem(&in.Mem, narrow); !ok {
			return 0, false, false
		}
	}
	if f.lens&(1<<l) == 0 {
		return 0, false, false
	}
	if !f.narrowOK(in, l) || in.HasImm && !f.imm.takes(in.Imm) {
		return 0, false, false
	}
	evex, ok = f.prefixOK(in, l, high, hasMem && in.Mem.Bcast)
	return l, evex, ok
}

// prefixOK decides between VEX and EVEX and checks what only EVEX has.
func (f *form) prefixOK(in *Inst, l uint8, high Reg, bcast bool) (evex, ok bool) {
	if in.K == NoReg && !in.Z && !bcast && high < 16 && l < 2 && f.enc != encEVEX {
		return false, true
	}
	if f.enc != encEVEX && f.enc != encBoth {
		return false, false
	}
	if bcast && f.tuple.bcast() == 0 {
		return false, false
	}
	if in.K == NoReg {
		return true, !in.Z && f.flags&flagNeedMask == 0
	}
	if in.K.class() != classK || in.K == K0 || f.flags&flagNoMask != 0 {
		return false, false
	}
	// Memory and opmask destinations, gathers and scatters merge only.
	if in.Z && (!in.A[0].IsVec() || f.flags&flagNeedMask != 0) {
		return false, false
	}
	return true, true
}

// memOK checks base, index and scale.
func (f *form) memOK(m *Mem) bool {
	switch m.Scale {
	case 0, 1, 2, 4, 8:
	default:
		return false
	}
	if m.Label != 0 {
		return m.Base == NoReg && m.Index == NoReg && !f.isVSIB()
	}
	if m.Base != NoReg && m.Base.class() != classGPR {
		return false
	}
	if f.isVSIB() {
		return m.Index.IsVec()
	}
	return m.Index == NoReg || m.Index.class() == classGPR && m.Index != RSP
}

func (f *form) isVSIB() bool {
	return f.args[0].role() == roleVSIB || f.args[1].role() == roleVSIB
}

// distinct reports whether the destination, index and mask of a gather are three
// registers; the processor refuses anything else (#UD).
func (f *form) distinct(in *Inst) bool {
	if f.args[0].role() == roleVSIB {
		return true // a scatter
	}
	dst, index := in.A[0].Num(), in.Mem.Index.Num()
	if f.nargs == 3 {
		mask := in.A[2].Num()
		return dst != index && dst != mask && index != mask
	}
	return dst != index
}

// lengthFromMem finds L where no register of full width does: from the vector
// index, from a register of half width, from Mem.Size, or because one fits.
func (f *form) lengthFromMem(m *Mem, narrow uint8) (l uint8, ok bool) {
	for _, want := range f.args[:f.nargs] {
		if want.class() != argFull {
			continue
		}
		if want.role() == roleVSIB {
			return m.Index.class() - classX, true
		}
		switch {
		case m.Size == 16 || m.Size == 32 || m.Size == 64:
			return m.Size >> 5, true
		case narrow == classY:
			return 2, true
		}
		return 0, false
	}
	if f.flags&flagL1 != 0 {
		return 1, true
	}
	return 0, true
}

// narrowOK checks the operands whose class is a fraction of the vector length.
func (f *form) narrowOK(in *Inst, l uint8) bool {
	for i, want := range f.args[:f.nargs] {
		shift := uint8(0)
		switch want.class() {
		case argHalf:
			shift = 1
		case argFourth:
			shift = 2
		case argEighth:
			shift = 3
		case argFull:
			if want.role() != roleVSIB {
				continue
			}
		default:
			continue
		}
		r := in.A[i]
		if r == MemArg {
			if want.role() != roleVSIB {
				continue
			}
			r = in.Mem.Index
		}
		if r.class() != classX+max(l, shift)-shift {
			return false
		}
	}
	return true
}

// takes reports whether v fits the immediate.
func (k immKind) takes(v int64) bool {
	switch k {
	case imm8u:
		return v >= math.MinInt8 && v <= math.MaxUint8
	case imm8s:
		return v == int64(int8(v))
	case imm32s:
		return v == int64(int32(v))
	case imm32:
		return v >= math.MinInt32 && v <= math.MaxUint32
	case immOne:
		return v == 1
	}
	return true
}

// An encoding is an instruction's operands as fields of its bytes. Prefixes take the high
// bits of register numbers.
type encoding struct {
	*form
	l              uint8 // vector length
	reg, vvvv, is4 uint8
	rm             uint8
	base, index    uint8 // X and B bits come from these
	isMem          bool
	hasModRM       bool
	byteRex        bool  // a REX prefix that says nothing, without which AH, CH, DH and BH were meant
	disp8          uint8 // the scale of an 8-bit displacement
}

// encode appends the bytes of in, which f takes.
func (a *Asm) encode(in *Inst, f *form, l uint8, evex bool) {
	e := encoding{form: f, l: l, disp8: 1, hasModRM: f.digit >= 0}
	e.place(in)
	b := a.buf
	switch {
	case evex:
		b = e.evex(b, in)
	case f.enc != encLegacy:
		b = e.vex(b)
	default:
		b = e.legacy(b)
	}
	m, fixAt := &in.Mem, -1
	if e.isMem {
		b, fixAt = appendMem(b, e.reg&7<<3, m, e.index, e.disp8)
	} else if e.hasModRM {
		b = append(b, 0xC0|e.reg&7<<3|e.rm&7)
	}
	if e.is4 != 0 {
		b = append(b, e.is4&0xF0)
	}
	switch f.imm {
	case imm8u, imm8s:
		b = append(b, byte(in.Imm))
	case imm32s, imm32:
		b = append(b, byte(in.Imm), byte(in.Imm>>8), byte(in.Imm>>16), byte(in.Imm>>24))
	case imm64:
		for i := 0; i < 64; i += 8 {
			b = append(b, byte(in.Imm>>i))
		}
	}
	a.buf = b
	if fixAt >= 0 {
		if !a.valid(m.Label) {
			a.errorf("%s: no label %d", in.Op, m.Label)
			return
		}
		a.fix(m.Label, fixAt, len(b))
	}
}

// place puts operands into the fields that the form has for them.
func (e *encoding) place(in *Inst) {
	if e.hasModRM {
		e.reg = uint8(e.digit)
	}
	for i := range e.nargs {
		num := uint8(in.A[i])
		switch e.args[i].role() {
		case roleReg:
			e.reg, e.hasModRM = num, true
		case roleRM, roleRMReg, roleMem, roleVSIB:
			e.hasModRM = true
			if in.A[i] == MemArg {
				e.isMem = true
				continue
			}
			e.rm = num
		case roleVvvv:
			e.vvvv = num
		case roleOpcode:
			e.rm = num
		case roleIs4:
			e.is4 = num<<4 | 1
		}
		// Without REX these four encode AH, CH, DH and BH.
		if e.args[i].class() == arg8 && num >= 4 && num < 8 {
			e.byteRex = true
		}
	}
	if !e.isMem {
		e.base = e.rm
		return
	}
	if in.Mem.Base != NoReg {
		e.base = uint8(in.Mem.Base)
	}
	if in.Mem.Index != NoReg {
		e.index = uint8(in.Mem.Index)
	}
}

// evex appends the prefix and opcode of AVX-512.
func (e *encoding) evex(b []byte, in *Inst) []byte {
	if e.isMem {
		e.disp8 = tupleSize[e.tuple][e.l]
	} else {
		e.index = e.rm >> 1 // bit 4 of rm travels in X
	}
	p2 := e.l<<5 | uint8(in.K)&7
	vHigh := e.vvvv
	if e.isMem && e.isVSIB() {
		vHigh = e.index // bit 4 of the index travels in V'
	}
	if in.Z {
		p2 |= 0x80
	}
	if e.isMem && in.Mem.Bcast {
		p2 |= 0x10
		e.disp8 = e.tuple.bcast()
	}
	p0 := e.reg&8<<4 | e.index&8<<3 | e.base&8<<2 | e.reg&16
	return append(b, 0x62,
		p0^0xF0|e.mapID,
		(e.vvvv&15)<<3^0x78|e.evexW<<7|4|evexPP[e.pp],
		p2|vHigh&16>>1^8,
		e.opcode)
}

// vex appends the prefix and opcode of AVX, in the short form where it does.
func (e *encoding) vex(b []byte) []byte {
	p := e.vvvv<<3 ^ 0x78 | e.l<<2 | evexPP[e.pp]
	if e.mapID == 1 && e.vexW == 0 && e.base < 8 && e.index < 8 {
		return append(b, 0xC5, e.reg&8<<4^0x80|p, e.opcode)
	}
	return append(b, 0xC4, (e.reg&8<<4|e.index&8<<3|e.base&8<<2)^0xE0|e.mapID, e.vexW<<7|p, e.opcode)
}

// legacy appends prefixes and opcode of an instruction on general registers.
func (e *encoding) legacy(b []byte) []byte {
	if e.pp != 0 {
		b = append(b, legacyPP[e.pp])
	}
	rex := e.vexW<<3 | e.reg&8>>1 | e.index&8>>2 | e.base&8>>3
	if rex != 0 || e.byteRex {
		b = append(b, 0x40|rex)
	}
	if e.mapID != 0 {
		b = append(b, 0x0F)
	}
	op := e.opcode
	if !e.hasModRM {
		op += e.rm & 7
	}
	return append(b, op)
}

// legacyPP and evexPP give the mandatory prefix by form.pp.
var (
	legacyPP = [4]byte{0, 0x66, 0xF3, 0xF2}
	evexPP   = [4]byte{0, 1, 2, 3}
)

// appendMem appends ModRM, SIB and displacement; reg is in place already and n is
// the scale of an 8-bit displacement. fixAt is where a label's field is, or -1.
func appendMem(b []byte, reg uint8, m *Mem, index, n uint8) (_ []byte, fixAt int) {
	d := m.Disp
	if m.Label != 0 {
		return append(b, reg|5, byte(d), byte(d>>8), byte(d>>16), byte(d>>24)), len(b) + 1
	}
	sib := uint8(4) << 3 // no index
	needSIB := m.Base == NoReg || m.Base&7 == 4
	if m.Index != NoReg {
		needSIB = true
		sib = index & 7 << 3
		switch m.Scale {
		case 2:
			sib |= 0x40
		case 4:
			sib |= 0x80
		case 8:
			sib |= 0xC0
		}
	}
	if m.Base == NoReg {
		// Base 101 with mod 00 means disp32 alone.
		return append(b, reg|4, sib|5, byte(d), byte(d>>8), byte(d>>16), byte(d>>24)), -1
	}
	base := uint8(m.Base & 7)
	mod := uint8(0x80)
	if n == 0 {
		n = 1
	}
	switch q := d / int32(n); {
	case d == 0 && base != 5: // mod 00 with base 101 is taken by RIP
		mod = 0
	case q*int32(n) == d && q == int32(int8(q)):
		mod, d = 0x40, q
	}
	if needSIB {
		b = append(b, mod|reg|4, sib|base)
	} else {
		b = append(b, mod|reg|base)
	}
	switch mod {
	case 0x40:
		b = append(b, byte(d))
	case 0x80:
		b = append(b, byte(d), byte(d>>8), byte(d>>16), byte(d>>24))
	}
	return b, -1
}
