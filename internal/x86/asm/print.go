package asm

import (
	"strconv"
	"strings"
)

// String returns in in Intel syntax, as GNU as reads it with .intel_syntax
// noprefix. An instruction that has no encoding prints with 64-bit general-purpose
// names and memory of no size.
func (in Inst) String() string {
	var b strings.Builder
	f, l, _ := match(&in)
	name := in.Op.String()
	if f != nil && f.imm == imm64 {
		name = "movabs"
	}
	b.WriteString(name)
	sep := byte(' ')
	for i, r := range in.A {
		if r == NoReg {
			break
		}
		b.WriteByte(sep)
		if sep == ',' {
			b.WriteByte(' ')
		}
		sep = ','
		switch {
		case r == MemArg:
			in.writeMem(&b, f, l)
		case f != nil && r.IsGPR():
			b.WriteString(gprName(r, f.args[i]))
		default:
			b.WriteString(r.String())
		}
		if i == 0 && in.K != NoReg {
			b.WriteString("{" + in.K.String() + "}")
			if in.Z {
				b.WriteString("{z}")
			}
		}
	}
	if in.HasImm {
		b.WriteByte(sep)
		if sep == ',' {
			b.WriteByte(' ')
		}
		v := in.Imm
		if f != nil && f.imm == imm8u {
			v = int64(uint8(v))
		}
		b.WriteString(hexInt(v))
	}
	return b.String()
}

func gprName(r Reg, a arg) string {
	switch {
	case a.role() == roleCL, a.class() == arg8:
		return gprNames[0][r.Num()]
	case a.class() == arg16:
		return gprNames[1][r.Num()]
	case a.class() == arg32:
		return gprNames[2][r.Num()]
	}
	return r.String()
}

var sizeNames = map[uint8]string{1: "BYTE", 2: "WORD", 4: "DWORD", 8: "QWORD", 16: "XMMWORD", 32: "YMMWORD", 64: "ZMMWORD"}

func (in *Inst) writeMem(b *strings.Builder, f *form, l uint8) {
	m := &in.Mem
	lanes := 0
	if f != nil {
		size := f.tuple.size(l)
		if elem := f.tuple.bcast(); m.Bcast && elem != 0 {
			lanes = int(size / elem)
			size = elem
		}
		if size != 0 {
			b.WriteString(sizeNames[size] + " PTR ")
		}
	}
	b.WriteByte('[')
	plus := ""
	switch {
	case m.Label != 0:
		b.WriteString("rip+L" + strconv.Itoa(int(m.Label)))
		plus = "+"
	case m.Base != NoReg:
		b.WriteString(m.Base.String())
		plus = "+"
	}
	if m.Index != NoReg {
		b.WriteString(plus + m.Index.String() + "*" + strconv.Itoa(int(max(m.Scale, 1))))
		plus = "+"
	}
	switch {
	case m.Disp != 0 && m.Disp > 0 || plus == "":
		b.WriteString(plus + hexInt(int64(m.Disp)))
	case m.Disp < 0:
		b.WriteString(hexInt(int64(m.Disp)))
	}
	b.WriteByte(']')
	if m.Bcast {
		b.WriteString("{1to" + strconv.Itoa(lanes) + "}")
	}
}

func hexInt(v int64) string {
	if v < 0 {
		return "-0x" + strconv.FormatUint(-uint64(v), 16)
	}
	return "0x" + strconv.FormatInt(v, 16)
}

// explain says why no form takes in, by undoing one demand at a time.
func explain(in *Inst) string {
	if len(in.Op.forms()) == 0 {
		return "no such instruction"
	}
	takes := func(change func(*Inst)) bool {
		c := *in
		change(&c)
		f, _, _ := match(&c)
		return f != nil
	}
	switch {
	case in.K == K0 && takes(func(c *Inst) { c.K = K1 }):
		return "k0 cannot be an opmask"
	case in.K == NoReg && takes(func(c *Inst) { c.K = K1 }):
		return "an opmask is mandatory"
	case in.Z && takes(func(c *Inst) { c.Z = false }):
		return "this form cannot zero"
	case in.K != NoReg && takes(func(c *Inst) { c.K, c.Z = NoReg, false }):
		return "this form cannot be masked"
	case in.Mem.Bcast && takes(func(c *Inst) { c.Mem.Bcast = false }):
		return "this form has no embedded broadcast"
	case in.Mem.Index.IsVec() && takes(func(c *Inst) { c.Mem.Index = c.Mem.Index&^0xFF | 31 }),
		in.Mem.Index.IsVec() && takes(func(c *Inst) { c.A[0], c.A[2] = c.A[0]&^0xFF|14, c.A[2]&^0xFF|15 }):
		return "destination, index and mask of a gather must differ"
	case in.HasImm && takes(func(c *Inst) { c.Imm = 1 }):
		return "the immediate is out of range"
	case takes(func(c *Inst) { c.Mem.Size = 16 }), takes(func(c *Inst) { c.Mem.Size = 32 }):
		return "the memory operand needs a size (Mem.Sized)"
	case takes(func(c *Inst) { c.Mem = Mem{Base: RAX} }):
		return "the memory operand is not encodable"
	}
	return "no form takes these operands"
}
