package x86

import (
	"weft/internal/jit"
	"weft/internal/launch"
	"weft/internal/loop"
	"weft/internal/x86/asm"
)

// A vr is an operand of a machine instruction: a virtual register, in the low
// bits, and the width under which a vector register is named. Zero is none.
type vr uint32

const (
	narrow16 vr = 1 << 24 // as an XMM register
	narrow32 vr = 2 << 24 // as a YMM register
	inSlot   vr = 4 << 24 // as a base: the memory that the register is spilled to
	idMask   vr = 1<<24 - 1
)

func (r vr) id() int { return int(r & idMask) }
func (r vr) x() vr   { return r&idMask | narrow16 }
func (r vr) y() vr   { return r&idMask | narrow32 }

// Register classes.
const (
	classG = iota // general purpose
	classV        // vector
	classK        // opmask, AVX-512 only
	numClasses
)

// Registers bound to a machine register outside the allocator's set: the frame
// throughout, and what DIV takes.
const (
	frameReg vr = 1 + iota
	raxReg
	rdxReg
)

var bound = [...]int8{frameReg: 7, raxReg: 0, rdxReg: 2}

// An lmem is a memory operand over virtual registers.
type lmem struct {
	base, index vr
	scale       uint8
	bcast       bool // one element for all lanes
	disp        int32
	label       asm.Label
}

func (m lmem) add(n int) lmem { m.disp += int32(n); return m }

func frameMem(off int) lmem { return lmem{base: frameReg, disp: int32(off)} }

func wordMem(w int) lmem { return frameMem(loop.FrameWord + 8*w) }

// Pseudo instructions, beyond the encoder's.
const (
	pLabel asm.Op = 0xF000 + iota // imm is the label
	pJmp                          // to label imm
	pJcc                          // to label imm if cond
	pLoop                         // a loop begins; the label is bound here
	pEnd                          // the innermost loop ends
	pMov                          // a0 = a1, any class
	pFma                          // a0 = a1*a2+a3, float32
	pFmaD                         // the same, float64
	pZero                         // a0 = 0
	pOnes                         // a0 = a mask of all lanes
	pAny                          // a0 = whatever
	pNop                          // nothing
)

// barrier reports an instruction that others are not moved across.
func (i *ins) barrier() bool { return i.op >= pLabel && i.op < pMov }

const (
	fDef   = 1 << iota // a[0] is written
	fRMW               // a[0] is read too
	fImm               // has an immediate
	fZero              // zeroing mask
	fAlign             // pLoop: align the head
	fRare              // runs rarely
)

// An ins is a machine instruction over virtual registers.
type ins struct {
	op    asm.Op
	n     uint8 // operands in a
	flags uint8
	cond  asm.Cond
	memAt int8  // the operand that is mem, or -1
	a     [7]vr // four operands, the opmask, base and index of mem
	mem   lmem  // but for base and index
	imm   int64
	line  int32 // of the source; 0 for none
	spill bool  // stores a register that was spilled
}

const (
	maskAt = 4 + iota
	baseAt
	indexAt
)

func (i *ins) memory() lmem {
	m := i.mem
	m.base, m.index = i.a[baseAt], i.a[indexAt]
	return m
}

// A vinfo is what is known of a virtual register.
type vinfo struct {
	class      uint8
	phys       int8 // register number, or -1
	tiny       bool // made for one use of a spilled register: never spilled
	konst      bool // a constant, remat tells which
	remat      asm.Op
	elem       uint8 // remat: element size that an operand can spread, 0 for a full vector
	spilled    bool
	bound      bool
	start, end int32
	weight     float32
	cost       float32 // of spilling it
	next       int32   // list of registers that end at one place
	at         int32   // its label if it is a constant, else its offset in the frame, 0 if none yet
}

// place is where the value of a register is in memory.
func (r *vinfo) place() lmem {
	if r.konst {
		return lmem{label: asm.Label(r.at)}
	}
	return frameMem(int(r.at))
}

func (c *compiler) newReg(class uint8) vr {
	c.vregs = append(c.vregs, vinfo{})
	r := vr(len(c.vregs) - 1)
	c.vregs[r].class, c.vregs[r].phys = class, -1
	return r
}

func (c *compiler) newG() vr { return c.newReg(classG) }
func (c *compiler) newV() vr { return c.newReg(classV) }

// newM returns a register for a mask of lanes.
func (c *compiler) newM() vr {
	if c.isa == jit.AVX512 {
		return c.newReg(classK)
	}
	return c.newReg(classV)
}

// emit appends an instruction; the result is valid until the next one.
func (c *compiler) emit(op asm.Op, flags uint8, a ...vr) *ins {
	c.code = append(c.code, ins{})
	i := &c.code[len(c.code)-1]
	i.op, i.line, i.flags, i.n, i.memAt = op, c.line, flags|c.rare, uint8(len(a)), -1
	copy(i.a[:], a)
	return i
}

// op1, op2 and op3 emit op with one, two and three operands read and the result d; upd reads d
// too. The suffix i stands for an immediate, m for memory. v1 and v2 are op1 and op2 with a new
// vector for the result.

func (c *compiler) op1(op asm.Op, d, a vr) *ins          { return c.emit(op, fDef, d, a) }
func (c *compiler) op2(op asm.Op, d, a, b vr) *ins       { return c.emit(op, fDef, d, a, b) }
func (c *compiler) op3(op asm.Op, d, a, b, x vr) *ins    { return c.emit(op, fDef, d, a, b, x) }
func (c *compiler) op1i(op asm.Op, d, a vr, m int64)     { c.op1(op, d, a).with(m) }
func (c *compiler) op2i(op asm.Op, d, a, b vr, m int64)  { c.op2(op, d, a, b).with(m) }
func (c *compiler) op2m(op asm.Op, d, a vr, m lmem) *ins { return c.emit(op, fDef, d, a, 0).at(2, m) }
func (c *compiler) upd(op asm.Op, d, a vr) *ins          { return c.op1(op, d, a).rmw() }
func (c *compiler) updi(op asm.Op, d vr, m int64)        { c.emit(op, fDef|fRMW, d).with(m) }
func (c *compiler) updm(op asm.Op, d vr, m lmem) *ins    { return c.load(op, d, m).rmw() }
func (c *compiler) mov(d, a vr) *ins                     { return c.op1(pMov, d, a) }
func (c *compiler) load(op asm.Op, d vr, m lmem) *ins    { return c.emit(op, fDef, d, 0).at(1, m) }
func (c *compiler) store(op asm.Op, m lmem, a vr) *ins   { return c.emit(op, 0, 0, a).at(0, m) }
func (c *compiler) use2(op asm.Op, a, b vr)              { c.emit(op, 0, a, b) }

func (c *compiler) v1(op asm.Op, a vr) vr           { d := c.newV(); c.op1(op, d, a); return d }
func (c *compiler) v2(op asm.Op, a, b vr) vr        { d := c.newV(); c.op2(op, d, a, b); return d }
func (c *compiler) v1i(op asm.Op, a vr, m int64) vr { d := c.newV(); c.op1i(op, d, a, m); return d }
func (c *compiler) v2i(op asm.Op, a, b vr, m int64) vr {
	d := c.newV()
	c.op2i(op, d, a, b, m)
	return d
}
func (c *compiler) loadV(op asm.Op, m lmem) vr { d := c.newV(); c.load(op, d, m); return d }
func (c *compiler) loadG(op asm.Op, m lmem) vr { d := c.newG(); c.load(op, d, m); return d }

func (i *ins) mask(k vr) *ins    { i.a[maskAt] = k; return i }
func (i *ins) z() *ins           { i.flags |= fZero; return i }
func (i *ins) rmw() *ins         { i.flags |= fRMW; return i }
func (i *ins) with(m int64) *ins { i.imm = m; i.flags |= fImm; return i }

// at makes m operand n.
func (i *ins) at(n int8, m lmem) *ins {
	i.memAt, i.mem, i.a[n], i.a[baseAt], i.a[indexAt] = n, m, 0, m.base, m.index
	return i
}

// branch jumps to l if a and b compare so, branchi if a and a number do.
func (c *compiler) branch(a vr, cond asm.Cond, b vr, l asm.Label) {
	c.use2(asm.CMP, a, b)
	c.jcc(cond, l)
}

func (c *compiler) branchi(a vr, cond asm.Cond, n int64, l asm.Label) {
	c.emit(asm.CMP, 0, a).with(n)
	c.jcc(cond, l)
}

// imm loads a constant into a general register.
func (c *compiler) gconst(d vr, v int64) {
	if v >= 0 && v < 1<<32 {
		c.emit(asm.MOV32, fDef, d).with(v)
	} else {
		c.emit(asm.MOV, fDef, d).with(v)
	}
}

func (c *compiler) label(l asm.Label) { c.emit(pLabel, 0).imm = int64(l) }
func (c *compiler) jmp(l asm.Label)   { c.emit(pJmp, 0).imm = int64(l) }
func (c *compiler) jcc(cond asm.Cond, l asm.Label) *ins {
	i := c.emit(pJcc, 0)
	i.imm, i.cond = int64(l), cond
	return i
}

// loop begins a loop and returns the label of its head.
func (c *compiler) loop(align bool) asm.Label {
	l := c.asm.NewLabel()
	i := c.emit(pLoop, 0)
	i.imm = int64(l)
	if align {
		i.flags |= fAlign
	}
	return l
}

func (c *compiler) end() { c.emit(pEnd, 0) }

// Scratch memory.

// alloc reserves n bytes of scratch and returns their offset in the frame. Too
// much is noticed by allocate.
func (c *compiler) alloc(n, align int) int {
	c.scratch = (c.scratch + align - 1) &^ (align - 1)
	off := c.scratch
	c.scratch += n
	return launch.FrameScratch + off
}
