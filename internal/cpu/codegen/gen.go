package codegen

import (
	"weft/internal/array"
	"weft/internal/jit"
	"weft/internal/x86/asm"
)

// A Gen generates the machine code of one routine. It names instructions and registers by what
// they do, so that one generator serves both instruction sets and both element types.
type Gen struct {
	asm.Asm
	ISA    jit.ISA
	D      array.DType
	Narrow bool // 256-bit vectors with AVX-512
}

// Pick returns the one of two instructions that fits the element type: float32 or float64.
func (g *Gen) Pick(single, double asm.Op) asm.Op {
	if g.D == array.Float32 {
		return single
	}
	return double
}

// V returns vector register i.
func (g *Gen) V(i int) asm.Reg {
	if g.ISA == jit.AVX512 && !g.Narrow {
		return asm.Z(i)
	}
	return asm.Y(i)
}

// Temp returns temporary register i: one of the last two registers with AVX-512, else the last.
func (g *Gen) Temp(i int) asm.Reg {
	if g.ISA == jit.AVX512 {
		return g.V(31 - i&1)
	}
	return g.V(15)
}

// VB returns the bytes of a vector.
func (g *Gen) VB() int {
	if g.Narrow {
		return 32
	}
	return g.ISA.VectorBytes()
}

// Lanes returns the elements of a vector.
func (g *Gen) Lanes() int { return g.VB() / g.D.Size() }

func (g *Gen) Load(dst asm.Reg, m asm.Mem)  { g.RM(asm.VMOVUPS, dst, m) }
func (g *Gen) Store(m asm.Mem, src asm.Reg) { g.MR(asm.VMOVUPS, m, src) }
func (g *Gen) Zero(r asm.Reg)               { g.RRR(asm.VXORPS, r, r, r) }

// Broadcast sets all lanes of dst to the element at m.
func (g *Gen) Broadcast(dst asm.Reg, m asm.Mem) {
	g.RM(g.Pick(asm.VBROADCASTSS, asm.VBROADCASTSD), dst, m)
}

// Fma adds x*y to acc.
func (g *Gen) Fma(acc, x, y asm.Reg) {
	g.RRR(g.Pick(asm.VFMADD231PS, asm.VFMADD231PD), acc, x, y)
}

// LoadMasked loads the lanes of a mask and sets the other lanes to zero. The mask is
// opmask register k, or with AVX2 the vector in register t, which may be dst.
func (g *Gen) LoadMasked(dst asm.Reg, m asm.Mem, k, t asm.Reg) {
	if g.ISA == jit.AVX512 {
		g.MaskZ(k).RM(g.Pick(asm.VMOVUPS, asm.VMOVUPD), dst, m)
		return
	}
	g.RRM(g.Pick(asm.VMASKMOVPS, asm.VMASKMOVPD), dst, t, m)
}

func (g *Gen) StoreMasked(m asm.Mem, src, k, t asm.Reg) {
	if g.ISA == jit.AVX512 {
		g.Mask(k).MR(g.Pick(asm.VMOVUPS, asm.VMOVUPD), m, src)
		return
	}
	g.MRR(g.Pick(asm.VMASKMOVPS, asm.VMASKMOVPD), m, t, src)
}

// Done writes the end of the routine, which returns status 0.
func (g *Gen) Done() {
	g.RR(asm.XOR32, asm.RAX, asm.RAX)
	g.Op0(asm.VZEROUPPER)
	g.Op0(asm.RET)
}

// Field returns the operand of a frame's field at the given offset.
func Field(offset uintptr) asm.Mem { return asm.Ptr(asm.RDI, int32(offset)) }

// Transpose transposes the square matrix whose rows are in r, one row per lane of a vector. It
// returns the registers of its columns in order. It overwrites r and free.
func (g *Gen) Transpose(r []asm.Reg, free [2]asm.Reg) []asm.Reg {
	n := len(r)
	r = append([]asm.Reg(nil), r...)
	// Each step replaces two registers by two combinations of theirs.
	pair := func(i, j int, f func(dst, a, b asm.Reg, high bool)) {
		a, b := r[i], r[j]
		f(free[0], a, b, false)
		f(free[1], a, b, true)
		r[i], r[j], free[0], free[1] = free[0], free[1], a, b
	}
	unpack := func(low, high asm.Op) func(dst, a, b asm.Reg, isHigh bool) {
		return func(dst, a, b asm.Reg, isHigh bool) {
			if isHigh {
				g.RRR(high, dst, a, b)
			} else {
				g.RRR(low, dst, a, b)
			}
		}
	}
	shuffle := func(op asm.Op, low, high int64) func(dst, a, b asm.Reg, isHigh bool) {
		return func(dst, a, b asm.Reg, isHigh bool) {
			if isHigh {
				g.RRRI(op, dst, a, b, high)
			} else {
				g.RRRI(op, dst, a, b, low)
			}
		}
	}
	// Squares in the 128-bit parts: register w*i + c then holds, in part q, column
	// w*q + c of rows w*i to w*i + w-1.
	w := 16 / g.D.Size()
	if w == 4 {
		for i := 0; i < n; i += 4 {
			pair(i, i+1, unpack(asm.VUNPCKLPS, asm.VUNPCKHPS))
			pair(i+2, i+3, unpack(asm.VUNPCKLPS, asm.VUNPCKHPS))
			pair(i, i+2, unpack(asm.VUNPCKLPD, asm.VUNPCKHPD))
			pair(i+1, i+3, unpack(asm.VUNPCKLPD, asm.VUNPCKHPD))
			r[i+1], r[i+2] = r[i+2], r[i+1]
		}
	} else {
		for i := 0; i < n; i += 2 {
			pair(i, i+1, unpack(asm.VUNPCKLPD, asm.VUNPCKHPD))
		}
	}
	// Then the parts.
	for c := range w {
		if g.ISA == jit.AVX2 {
			pair(c, c+w, shuffle(asm.VPERM2F128, 0x20, 0x31))
			continue
		}
		pair(c, c+w, shuffle(asm.VSHUFF32X4, 0x44, 0xEE))
		pair(c+2*w, c+3*w, shuffle(asm.VSHUFF32X4, 0x44, 0xEE))
		pair(c, c+2*w, shuffle(asm.VSHUFF32X4, 0x88, 0xDD))
		pair(c+w, c+3*w, shuffle(asm.VSHUFF32X4, 0x88, 0xDD))
		r[c+w], r[c+2*w] = r[c+2*w], r[c+w]
	}
	return r
}

// When writes code that runs if a flag is set in RAX.
func (g *Gen) When(flag int64, f func()) {
	skip := g.NewLabel()
	g.RI(asm.TEST, asm.RAX, flag)
	g.Jcc(asm.CondE, skip)
	f()
	g.Bind(skip)
}

// Bound holds vectors between the bounds in two fields of the frame. t is free. NaN stays: an extreme of x86 is its
// second operand where either is NaN.
func (g *Gen) Bound(vectors []asm.Reg, t asm.Reg, low, high uintptr) {
	for i, op := range [2]asm.Op{g.Pick(asm.VMAXPS, asm.VMAXPD), g.Pick(asm.VMINPS, asm.VMINPD)} {
		g.Broadcast(t, Field([2]uintptr{low, high}[i]))
		for _, v := range vectors {
			g.RRR(op, v, t, v)
		}
	}
}

// Chain writes a loop over the terms that register count holds the number of: four at a time,
// then one by one. term(n) writes the code for the term n places further on. advance(n) moves
// the pointers on by n terms.
func (g *Gen) Chain(count asm.Reg, term, advance func(n int)) {
	const unroll = 4
	g.Every(unroll, count, func() {
		for u := range unroll {
			term(u)
		}
		advance(unroll)
	})
	end := g.NewLabel()
	g.Jcc(asm.CondE, end)
	one := g.Here()
	term(0)
	advance(1)
	g.RI(asm.SUB, count, 1)
	g.Jcc(asm.CondNE, one)
	g.Bind(end)
}

// Every writes a loop that runs body while count has at least terms, and subtracts terms each
// time. The rest stays in count, and the flags are set by it.
func (g *Gen) Every(terms int, count asm.Reg, body func()) {
	rest := g.NewLabel()
	g.RI(asm.SUB, count, int64(terms))
	g.Jcc(asm.CondL, rest)
	g.Align(16)
	loop := g.Here()
	body()
	g.RI(asm.SUB, count, int64(terms))
	g.Jcc(asm.CondGE, loop)
	g.Bind(rest)
	g.RI(asm.ADD, count, int64(terms))
}

// Predicates of vector comparisons. NotGreaterEqual, NotLessEqual and Unordered hold if an
// operand is NaN; Ordered holds if none is.
const (
	NotGreaterEqual = 0x19
	NotLessEqual    = 0x16
	Ordered         = 0x07
	Unordered       = 0x03
)
