package asm

//go:generate go run ./gen ops.tbl optab.go

// Op names an instruction. The constants are generated from ops.tbl.
type Op uint16

// form is one row of the table: how one operand pattern of an Op is encoded.
type form struct {
	args   [4]arg // operands in Intel order, without the immediate
	nargs  uint8
	imm    immKind
	enc    encKind
	pp     uint8 // 0 none, 1 66, 2 F3, 3 F2
	mapID  uint8 // 0 one-byte opcodes, 1 0F, 2 0F38, 3 0F3A
	opcode uint8
	digit  int8 // ModRM.reg as an opcode extension, or -1
	vexW   uint8
	evexW  uint8
	tuple  tuple
	lens   uint8 // bit L set: vector length 128<<L is encodable
	flags  uint8
}

// arg packs an operand's role (high nibble) and register class (low nibble).
type arg uint8

func (a arg) role() arg  { return a >> 4 }
func (a arg) class() arg { return a & 15 }

// Operand roles: which field of the instruction carries the operand.
const (
	roleReg    = 1 + iota // ModRM.reg
	roleRM                // ModRM.rm, register or memory
	roleMem               // ModRM.rm, memory only
	roleRMReg             // ModRM.rm, register only
	roleVvvv              // VEX.vvvv
	roleOpcode            // low three bits of the opcode
	roleAcc               // the accumulator, implied
	roleCL                // CL, implied
	roleIs4               // high nibble of a trailing byte
	roleVSIB              // memory with a vector index
)

// Operand classes. Those up to eighth follow the vector length of the instruction.
const (
	argNone = iota // memory without a register alternative
	argFull
	argHalf
	argFourth
	argEighth
	argXMM
	argMask
	arg8 // general purpose, by width
	arg16
	arg32
	arg64
)

// immKind says which immediates a form takes and how many bytes it gives them.
type immKind uint8

const (
	immNone immKind = iota
	imm8u           // one byte, -128 to 255
	imm8s           // one byte, sign-extended by the instruction
	imm32s          // four bytes, sign-extended
	imm32           // four bytes, signed or unsigned
	imm64           // eight bytes
	immOne          // the constant 1, not encoded
)

type encKind uint8

const (
	encLegacy encKind = iota
	encVEX
	encEVEX
	encBoth // VEX where it can, else EVEX
)

// Form flags.
const (
	flagNoMask   = 1 << iota // EVEX.aaa must be zero
	flagNeedMask             // an opmask is mandatory
	flagL1                   // L is 1 although no operand says so
)

// tuple gives the bytes a memory operand has, which is also the scale N of an
// EVEX disp8 (Intel SDM volume 2, 2.7.5), and the element size of a broadcast.
type tuple uint8

const (
	tupleNone tuple = iota
	tupleFull
	tupleFull4 // with embedded broadcast of 4-byte elements
	tupleFull8
	tupleHalf
	tupleHalf4
	tupleFourth
	tupleEighth
	tupleDup
	tuple1
	tuple2
	tuple4
	tuple8
	tuple16
	tuple32
	tuple64
	tupleElem4 // compress and expand: a full vector, scaled by 4-byte elements
	tupleElem8
)

// tupleSize holds the scale of disp8 by tuple and L.
var tupleSize = [...][3]uint8{
	tupleNone:   {0, 0, 0},
	tupleFull:   {16, 32, 64},
	tupleFull4:  {16, 32, 64},
	tupleFull8:  {16, 32, 64},
	tupleHalf:   {8, 16, 32},
	tupleHalf4:  {8, 16, 32},
	tupleFourth: {4, 8, 16},
	tupleEighth: {2, 4, 8},
	tupleDup:    {8, 32, 64},
	tuple1:      {1, 1, 1},
	tuple2:      {2, 2, 2},
	tuple4:      {4, 4, 4},
	tuple8:      {8, 8, 8},
	tuple16:     {16, 16, 16},
	tuple32:     {32, 32, 32},
	tuple64:     {64, 64, 64},
	tupleElem4:  {4, 4, 4},
	tupleElem8:  {8, 8, 8},
}

// size returns the bytes of the memory operand.
func (t tuple) size(l uint8) uint8 {
	if t == tupleElem4 || t == tupleElem8 {
		return 16 << l
	}
	return tupleSize[t][l]
}

// bcast returns the element size of the tuple's embedded broadcast, 0 if it has none.
func (t tuple) bcast() uint8 {
	switch t {
	case tupleFull4, tupleHalf4:
		return 4
	case tupleFull8:
		return 8
	}
	return 0
}

// forms returns the rows of op.
func (op Op) forms() []form {
	if int(op) >= len(opNames) {
		return nil
	}
	return forms[opFirst[op]:opFirst[op+1]]
}

// String returns the instruction's mnemonic.
func (op Op) String() string {
	if int(op) >= len(opNames) || op == 0 {
		return "badop"
	}
	return opNames[op]
}
