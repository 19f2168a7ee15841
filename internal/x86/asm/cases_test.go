package asm

import (
	"slices"
	"strings"
)

// A testCase is an instruction made up from a row of the table.
type testCase struct {
	in   Inst
	form int // index in forms that the case was made for
}

// addresses are the addressing modes that ModRM and SIB treat differently: RSP and
// R12 as base need a SIB byte, RBP and R13 a displacement, and no base at all takes
// a SIB with a 32-bit displacement.
func addresses() []Mem {
	ms := []Mem{
		{Disp: 0x1234}, {Disp: -8},
		{Index: RCX, Scale: 4}, {Index: R13, Scale: 8, Disp: 0x40}, {Index: RBP, Disp: -0x1000},
	}
	for _, base := range []Reg{RAX, RBX, RSP, RBP, RDI, R8, R12, R13, R15} {
		for _, disp := range []int32{0, 1, -1, 127, -128, 128, -129, 0x12345678, -0x80000000} {
			ms = append(ms, Ptr(base, disp))
		}
		for i, index := range []Reg{RAX, RBP, RDI, R8, R12, R13, R15} {
			ms = append(ms, Idx(base, index, 1<<(i&3), 0), Idx(base, index, 2<<(i&1), int32(i*16)), Idx(base, index, 0, -0x300))
		}
	}
	return ms
}

// fullAddressing are the ops whose memory forms get every addressing mode: one for
// each way of building the prefix.
var fullAddressing = []Op{MOV, ADD32, MOV8, LEA, PREFETCHT0, KMOVW, VADDPS, VPERMD, VSQRTPD, VEXTRACTF128, VPADDB, VPMOVZXBD, VCVTPS2PD, VMOVSS}

// testCases makes up cases for every row, length and prefix: some 20 a row, or with
// full some 500, every register position and addressing mode for every row.
func testCases(full bool) []testCase {
	var cs []testCase
	for op := Op(1); int(op) < len(opNames); op++ {
		for fi := int(opFirst[op]); fi < int(opFirst[op+1]); fi++ {
			f := &forms[fi]
			for l := uint8(0); l < 3; l++ {
				if f.lens&(1<<l) == 0 || l > 0 && !f.scalable() {
					continue
				}
				g := caseMaker{op: op, f: f, fi: fi, l: l}
				g.full = full || slices.Contains(fullAddressing, op)
				g.brief = !full && f.scalable() && f.lens>>(l+1) != 0
				g.run()
				cs = append(cs, g.out...)
			}
		}
	}
	return cs
}

// scalable reports whether any operand follows the vector length.
func (f *form) scalable() bool {
	for _, a := range f.args[:f.nargs] {
		if a.class() >= argFull && a.class() <= argEighth {
			return true
		}
	}
	return false
}

type caseMaker struct {
	op Op
	f  *form
	fi int
	l  uint8
	// full asks for every register position and addressing mode; brief for the
	// least, at a length that differs in one field from the one covered well.
	full, brief bool
	out         []testCase
}

func (g *caseMaker) add(in Inst) { g.out = append(g.out, testCase{in, g.fi}) }

// inst builds an instruction from register numbers by operand position; mem nil
// takes registers wherever the form does.
func (g *caseMaker) inst(nums [4]int, mem *Mem) Inst {
	f := g.f
	in := Inst{Op: g.op}
	for i, a := range f.args[:f.nargs] {
		class := g.class(a)
		switch a.role() {
		case roleMem, roleVSIB:
			in.A[i] = MemArg
			continue
		case roleRM:
			if mem != nil {
				in.A[i] = MemArg
				continue
			}
		case roleAcc:
			in.A[i] = RAX
			continue
		case roleCL:
			in.A[i] = RCX
			continue
		}
		n := nums[i]
		switch class {
		case classGPR:
			n &= 15
		case classK:
			n &= 7
		}
		in.A[i] = Reg(class)<<8 | Reg(n)
	}
	if mem != nil {
		in.Mem = *mem
	} else {
		in.Mem = Ptr(RDX, 0)
	}
	if f.isVSIB() {
		for _, a := range f.args[:f.nargs] {
			if a.role() == roleVSIB && !in.Mem.Index.IsVec() {
				in.Mem.Index = Reg(g.class(a))<<8 | Reg(nums[3])
			}
		}
	}
	if slices.Contains(in.A[:], MemArg) {
		in.Mem.Size = 16 << g.l
	} else {
		in.Mem = Mem{}
	}
	if f.imm != immNone {
		in.HasImm = true
		in.Imm = g.imms()[0]
	}
	if f.flags&flagNeedMask != 0 {
		in.K = K3
	}
	return in
}

func (g *caseMaker) class(a arg) int {
	switch a.class() {
	case argFull:
		return classX + int(g.l)
	case argHalf:
		return classX + max(int(g.l)-1, 0)
	case argFourth:
		return classX + max(int(g.l)-2, 0)
	case argEighth, argXMM:
		return classX
	case argMask:
		return classK
	}
	return classGPR
}

// imms are edge values that select g's form and no earlier one.
func (g *caseMaker) imms() []int64 {
	switch g.f.imm {
	case imm8u:
		return []int64{5, 0, 0x7F, 0x80, 0xFF}
	case imm8s:
		return []int64{1, 0, -1, 127, -128}
	case imm32s:
		return []int64{0x12345678, 0x7FFFFFFF, -0x80000000, -129}
	case imm32:
		return []int64{0x12345678, 0x7FFFFFFF, -0x80000000, 128}
	case imm64:
		return []int64{0x123456789ABCDEF0, 0x80000000, -0x8000000000000000, 0x7FFFFFFFFFFFFFFF}
	case immOne:
		return []int64{1}
	}
	return nil
}

// hasMemory reports whether the form has a variant with memory.
func (f *form) hasMemory() bool {
	for _, a := range f.args[:f.nargs] {
		switch a.role() {
		case roleRM, roleMem, roleVSIB:
			return true
		}
	}
	return false
}

// hasReg reports whether the form has a variant without memory.
func (g *caseMaker) hasReg() bool {
	for _, a := range g.f.args[:g.f.nargs] {
		switch a.role() {
		case roleMem, roleVSIB:
			return false
		}
	}
	return true
}

func (g *caseMaker) run() {
	f := g.f
	canVEX := f.enc != encEVEX && g.l < 2
	canEVEX := f.enc == encEVEX || f.enc == encBoth
	low := [4]int{1, 2, 3, 4}
	for _, s := range g.registerSets(canEVEX) {
		if g.hasReg() {
			g.add(g.inst(s, nil))
		} else {
			g.add(g.inst(s, &Mem{Base: RDX, Disp: 0x20}))
		}
	}
	if f.imm != immNone && !g.brief {
		for _, v := range g.imms()[1:] {
			in := g.inst(low, &Mem{Base: RSI})
			in.Imm = v
			g.add(in)
		}
	}
	if f.flags&flagNeedMask == 0 && canEVEX && f.flags&flagNoMask == 0 && !g.brief {
		g.masks(low)
	}
	if f.hasMemory() {
		g.memory(low, canVEX, canEVEX)
	}
}

// registerSets returns register numbers by operand: all low, all above 7, all above
// 15 where EVEX is there; in full also each operand alone.
func (g *caseMaker) registerSets(canEVEX bool) [][4]int {
	low := [4]int{1, 2, 3, 4}
	sets := [][4]int{low}
	if g.f.nargs == 0 || g.brief {
		return sets
	}
	sets = append(sets, [4]int{15, 13, 8, 14})
	if canEVEX {
		sets = append(sets, [4]int{17, 26, 20, 31})
	}
	if !g.full {
		return sets
	}
	sets = append(sets, [4]int{6, 5, 7, 0})
	for i := range g.f.nargs {
		for _, n := range []int{12, 16, 26} {
			if n < 16 || canEVEX {
				s := low
				s[i] = n
				sets = append(sets, s)
			}
		}
	}
	if g.f.isVSIB() && canEVEX {
		sets = append(sets, [4]int{1, 2, 3, 17}, [4]int{1, 2, 3, 26})
	}
	return sets
}

func (g *caseMaker) masks(low [4]int) {
	var ins []Inst
	if g.hasReg() {
		ins = append(ins, g.inst(low, nil))
	}
	if g.f.hasMemory() {
		ins = append(ins, g.inst(low, &Mem{Base: R9, Disp: 0x80}))
	}
	for _, in := range ins {
		in.K = K1
		g.add(in)
		in.K = K6
		in.Z = in.A[0].IsVec()
		g.add(in)
	}
}

func (g *caseMaker) memory(low [4]int, canVEX, canEVEX bool) {
	f := g.f
	if g.full && !g.brief {
		for _, m := range addresses() {
			g.add(g.inst(low, &m))
		}
	}
	high := [4]int{21, 22, 23, 24}
	n := int32(tupleSize[f.tuple][g.l])
	if canVEX || f.enc == encLegacy {
		ms := []Mem{Idx(RBP, RCX, 2, 0x1000), Ptr(R13, 0), Idx(R12, R9, 4, 0x7F)}
		if g.brief {
			ms = ms[:1]
		}
		for _, m := range ms {
			if f.isVSIB() {
				m.Index = NoReg
			}
			g.add(g.inst(low, &m))
		}
	}
	if !canEVEX {
		return
	}
	disps := []int32{n, n + 1, 127 * n, 128 * n, -128 * n, -129 * n}
	if g.brief {
		disps = disps[:1]
	}
	for _, d := range disps {
		m := Idx(R12, R10, 8, d)
		if f.isVSIB() {
			m.Index = NoReg
		}
		g.add(g.inst(high, &m))
	}
	if elem := int32(f.tuple.bcast()); elem != 0 {
		disps := []int32{elem, 127 * elem, -129 * elem, elem / 2}
		if g.brief {
			disps = disps[:1]
		}
		for _, d := range disps {
			g.add(g.inst(low, &Mem{Base: RBX, Disp: d, Bcast: true}))
		}
		if g.brief {
			return
		}
		in := g.inst(low, &Mem{Base: R14, Index: RAX, Scale: 4, Disp: elem, Bcast: true})
		if f.flags&flagNoMask == 0 {
			in.K = K2
			in.Z = in.A[0].IsVec()
		}
		g.add(in)
	}
}

// gasText returns the case as GNU as must read it to choose the same one of two
// equally long encodings: for a move between registers, the load opcode.
func (c *testCase) gasText() string {
	s := c.in.String()
	if strings.HasPrefix(s, "vmov") {
		return "{load} " + s
	}
	return s
}
