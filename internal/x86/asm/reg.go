package asm

import "strconv"

// Reg names one register: its class in the high byte and its number in the low
// one. A general-purpose register has one name for all widths (RAX is also EAX,
// AX and AL); the instruction decides how many bits it uses.
type Reg uint16

// NoReg is the absent register: no base, no index, no opmask.
const NoReg Reg = 0

// Register classes, as they stand in the high byte of a Reg. The vector classes
// are adjacent, so that class - classX is the L field of VEX and EVEX.
const (
	classGPR = 1
	classX   = 2
	classY   = 3
	classZ   = 4
	classK   = 5
	classMem = 6 // stands in Inst.A where the operand is Inst.Mem
)

// The general-purpose registers.
const (
	RAX Reg = classGPR<<8 + iota
	RCX
	RDX
	RBX
	RSP
	RBP
	RSI
	RDI
	R8
	R9
	R10
	R11
	R12
	R13
	R14
	R15
)

// The opmask registers. K0 cannot mask an instruction: as a mask operand it means
// "none" to the processor, so Emit refuses it there.
const (
	K0 Reg = classK<<8 + iota
	K1
	K2
	K3
	K4
	K5
	K6
	K7
)

// X0, Y0 and Z0 are the first registers of the vector classes.
const (
	X0 Reg = classX << 8
	Y0 Reg = classY << 8
	Z0 Reg = classZ << 8
)

// MemArg stands in Inst.A for the operand described by Inst.Mem.
const MemArg Reg = classMem << 8

// X returns the 128-bit vector register i, 0 to 31.
func X(i int) Reg { return makeReg(classX, i, 32) }

// Y returns the 256-bit vector register i, 0 to 31.
func Y(i int) Reg { return makeReg(classY, i, 32) }

// Z returns the 512-bit vector register i, 0 to 31.
func Z(i int) Reg { return makeReg(classZ, i, 32) }

// K returns the opmask register i, 0 to 7.
func K(i int) Reg { return makeReg(classK, i, 8) }

// makeReg gives an out-of-range number a class that no form accepts, so that the
// mistake becomes an error of Finish.
func makeReg(class, i, n int) Reg {
	if uint(i) >= uint(n) {
		return 0xFF00 | Reg(i&0xFF)
	}
	return Reg(class<<8 | i)
}

// Num returns the number of r within its class.
func (r Reg) Num() int { return int(r & 0xFF) }

func (r Reg) class() uint8 { return uint8(r >> 8) }

// IsGPR reports whether r is a general-purpose register.
func (r Reg) IsGPR() bool { return r.class() == classGPR }

// IsVec reports whether r is a vector register of any width.
func (r Reg) IsVec() bool { return r.class()-classX <= classZ-classX }

// IsMask reports whether r is an opmask register.
func (r Reg) IsMask() bool { return r.class() == classK }

// X returns the 128-bit name of the vector register r.
func (r Reg) X() Reg { return r.as(classX) }

// Y returns the 256-bit name of the vector register r.
func (r Reg) Y() Reg { return r.as(classY) }

// Z returns the 512-bit name of the vector register r.
func (r Reg) Z() Reg { return r.as(classZ) }

func (r Reg) as(class Reg) Reg {
	if !r.IsVec() {
		return 0xFF00 | r&0xFF
	}
	return class<<8 | r&0xFF
}

var gprNames = [4][16]string{
	{"al", "cl", "dl", "bl", "spl", "bpl", "sil", "dil", "r8b", "r9b", "r10b", "r11b", "r12b", "r13b", "r14b", "r15b"},
	{"ax", "cx", "dx", "bx", "sp", "bp", "si", "di", "r8w", "r9w", "r10w", "r11w", "r12w", "r13w", "r14w", "r15w"},
	{"eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi", "r8d", "r9d", "r10d", "r11d", "r12d", "r13d", "r14d", "r15d"},
	{"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"},
}

// String returns the lower-case Intel name; a general-purpose register is shown
// under its 64-bit name.
func (r Reg) String() string {
	n := strconv.Itoa(r.Num())
	switch r.class() {
	case classGPR:
		if r.Num() < 16 {
			return gprNames[3][r.Num()]
		}
	case classX:
		return "xmm" + n
	case classY:
		return "ymm" + n
	case classZ:
		return "zmm" + n
	case classK:
		return "k" + n
	case classMem:
		return "mem"
	}
	if r == NoReg {
		return "noreg"
	}
	return "badreg" + n
}

// Mem is a memory operand: Base + Index*Scale + Disp, or, where Label is set, the
// place of that label plus Disp (RIP-relative; no base and no index then).
type Mem struct {
	Base, Index Reg   // Index is a vector register in gathers and scatters
	Scale       uint8 // 1, 2, 4 or 8; 0 means 1
	Size        uint8 // bytes read; only where the registers leave it open (see Sized)
	Bcast       bool  // one element, broadcast to all lanes (EVEX)
	Disp        int32
	Label       Label
}

// Ptr returns the operand [base + disp].
func Ptr(base Reg, disp int32) Mem { return Mem{Base: base, Disp: disp} }

// Idx returns the operand [base + index*scale + disp].
func Idx(base, index Reg, scale uint8, disp int32) Mem {
	return Mem{Base: base, Index: index, Scale: scale, Disp: disp}
}

// At returns the RIP-relative operand [label + disp].
func At(l Label, disp int32) Mem { return Mem{Label: l, Disp: disp} }

// B returns m as an embedded broadcast of one element.
func (m Mem) B() Mem { m.Bcast = true; return m }

// Add returns m moved by disp bytes.
func (m Mem) Add(disp int32) Mem { m.Disp += disp; return m }

// Sized returns m with its width in bytes (16, 32 or 64). Only conversions that
// halve their operand (VCVTPD2PS and its kind) and VFPCLASS need it: from memory,
// their register operands do not tell 128 from 256 bits.
func (m Mem) Sized(bytes uint8) Mem { m.Size = bytes; return m }
