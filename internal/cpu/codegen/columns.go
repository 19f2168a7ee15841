package codegen

import (
	"weft/internal/jit"
	"weft/internal/x86/asm"
)

// ColumnBases are the registers that address columns of a column-major B: one for every eight
// columns. Step1, Step3 and others hold odd multiples of the distance between columns.
var ColumnBases = [...]asm.Reg{asm.RSI, asm.RBX, asm.R14, asm.R15}

const Step1, Step3, step5, step7 = asm.R13, asm.RAX, asm.R11, asm.R12

// ColumnSteps computes five and seven times the step. It requires that Step1 and Step3 are set.
func (g *Gen) ColumnSteps() {
	g.RM(asm.LEA, step5, asm.Idx(Step1, Step1, 4, 0))
	g.RM(asm.LEA, step7, asm.Idx(Step3, Step1, 4, 0))
}

// OtherBases computes the bases 1 to n-1 from base 0.
func (g *Gen) OtherBases(n int) {
	for i := 1; i < n; i++ {
		g.RM(asm.LEA, ColumnBases[i], asm.Idx(ColumnBases[i-1], Step1, 8, 0))
	}
}

func Column(i int) asm.Mem {
	b := ColumnBases[i/8]
	return [...]asm.Mem{
		asm.Ptr(b, 0), asm.Idx(b, Step1, 1, 0), asm.Idx(b, Step1, 2, 0), asm.Idx(b, Step3, 1, 0),
		asm.Idx(b, Step1, 4, 0), asm.Idx(b, step5, 1, 0), asm.Idx(b, Step3, 2, 0), asm.Idx(b, step7, 1, 0),
	}[i%8]
}

// ColumnTerms loads terms elements of each column in vector v of columns, and returns one
// register per term: lane i has the element of column i. terms is 1 or the number of elements
// in 16 bytes. The elements lie behind bytes after the columns' bases. The code uses six
// registers from scratch on.
func (g *Gen) ColumnTerms(terms, v, behind, scratch int) []asm.Reg {
	e := 16 / g.D.Size()
	var r [6]asm.Reg
	for i := range r {
		r[i] = g.V(scratch + i)
	}
	for q := range e {
		for part := range g.VB() / 16 {
			m := Column(v*g.Lanes() + part*e + q).Add(int32(behind))
			if terms == 1 {
				g.loadOne(r[q], m, part)
			} else {
				g.loadPart(r[q], m, part)
			}
		}
	}
	return g.squares(r[:])[:terms]
}

// squares transposes the square matrix in each 128-bit part of r, and returns the registers
// of its columns in order. The last two registers of r are scratch. For elements of 4 bytes it
// uses integer shuffles: recent Intel processors have two units for 256-bit integer shuffles,
// and one for float shuffles.
func (g *Gen) squares(r []asm.Reg) []asm.Reg {
	a := &g.Asm
	if g.D.Size() == 8 {
		a.RRR(asm.VUNPCKLPD, r[4], r[0], r[1])
		a.RRR(asm.VUNPCKHPD, r[5], r[0], r[1])
		return r[4:]
	}
	a.RRR(asm.VPUNPCKLDQ, r[4], r[0], r[1])
	a.RRR(asm.VPUNPCKHDQ, r[5], r[0], r[1])
	a.RRR(asm.VPUNPCKLDQ, r[0], r[2], r[3])
	a.RRR(asm.VPUNPCKHDQ, r[1], r[2], r[3])
	a.RRR(asm.VPUNPCKLQDQ, r[2], r[4], r[0])
	a.RRR(asm.VPUNPCKHQDQ, r[3], r[4], r[0])
	a.RRR(asm.VPUNPCKLQDQ, r[4], r[5], r[1])
	a.RRR(asm.VPUNPCKHQDQ, r[5], r[5], r[1])
	return r[2:]
}

// loadPart loads a 128-bit part of dst. Part 0 must be loaded first: it clears the others.
func (g *Gen) loadPart(dst asm.Reg, m asm.Mem, part int) {
	switch {
	case part == 0:
		g.RM(asm.VMOVUPS, asm.X(int(dst&0xFF)), m)
	case g.ISA == jit.AVX512:
		g.RRMI(asm.VINSERTF32X4, dst, dst, m, int64(part))
	default:
		g.RRMI(asm.VINSERTF128, dst, dst, m, int64(part))
	}
}

// loadOne loads the element at m into the first lane of a 128-bit part of dst. Part 0 must be
// loaded first: it clears the others.
func (g *Gen) loadOne(dst asm.Reg, m asm.Mem, part int) {
	load := g.Pick(asm.VMOVSS, asm.VMOVSD)
	if part == 0 {
		g.RM(load, asm.X(int(dst&0xFF)), m)
		return
	}
	scratch := asm.X(int(g.Temp(1) & 0xFF))
	g.RM(load, scratch, m)
	if g.ISA == jit.AVX512 {
		g.RRRI(asm.VINSERTF32X4, dst, dst, scratch, int64(part))
	} else {
		g.RRRI(asm.VINSERTF128, dst, dst, scratch, int64(part))
	}
}
