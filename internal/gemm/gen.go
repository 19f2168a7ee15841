package gemm

import (
	"weft/internal/array"
	"weft/internal/x86/asm"
)

// A gen writes one routine. It names instructions and registers by what they do,
// so that a generator is written once for both instruction sets and types.
type gen struct {
	asm.Asm
	isa ISA
	d   array.DType
}

// pick returns the instruction for the element type.
func (g *gen) pick(single, double asm.Op) asm.Op {
	if g.d == array.Float32 {
		return single
	}
	return double
}

// v returns vector register i.
func (g *gen) v(i int) asm.Reg {
	if g.isa == AVX512 {
		return asm.Z(i)
	}
	return asm.Y(i)
}

// vb returns the bytes of a vector.
func (g *gen) vb() int { return vectorBytes(g.isa) }

// lanes returns the elements of a vector.
func (g *gen) lanes() int { return g.vb() / g.d.Size() }

func vectorBytes(isa ISA) int {
	if isa == AVX512 {
		return 64
	}
	return 32
}

func (g *gen) load(dst asm.Reg, m asm.Mem)  { g.RM(asm.VMOVUPS, dst, m) }
func (g *gen) store(m asm.Mem, src asm.Reg) { g.MR(asm.VMOVUPS, m, src) }
func (g *gen) zero(r asm.Reg)               { g.RRR(asm.VXORPS, r, r, r) }

// broadcast sets all lanes of dst to the element at m.
func (g *gen) broadcast(dst asm.Reg, m asm.Mem) {
	g.RM(g.pick(asm.VBROADCASTSS, asm.VBROADCASTSD), dst, m)
}

// fma adds x*y to acc.
func (g *gen) fma(acc, x, y asm.Reg) {
	g.RRR(g.pick(asm.VFMADD231PS, asm.VFMADD231PD), acc, x, y)
}

// loadMasked reads the lanes of a mask and sets the others to zero. The mask is
// opmask register k, or with AVX2 the vector in register t, which may be dst.
func (g *gen) loadMasked(dst asm.Reg, m asm.Mem, k, t asm.Reg) {
	if g.isa == AVX512 {
		g.MaskZ(k).RM(g.pick(asm.VMOVUPS, asm.VMOVUPD), dst, m)
		return
	}
	g.RRM(g.pick(asm.VMASKMOVPS, asm.VMASKMOVPD), dst, t, m)
}

func (g *gen) storeMasked(m asm.Mem, src, k, t asm.Reg) {
	if g.isa == AVX512 {
		g.Mask(k).MR(g.pick(asm.VMOVUPS, asm.VMOVUPD), m, src)
		return
	}
	g.MRR(g.pick(asm.VMASKMOVPS, asm.VMASKMOVPD), m, t, src)
}

// done returns status 0.
func (g *gen) done() {
	g.RR(asm.XOR32, asm.RAX, asm.RAX)
	g.Op0(asm.VZEROUPPER)
	g.Op0(asm.RET)
}

// field returns the operand of a frame's field at the given offset.
func field(offset uintptr) asm.Mem { return asm.Ptr(asm.RDI, int32(offset)) }

// transpose replaces r[i] lane j by r[j] lane i for a square of as many registers
// as a vector has lanes; t are as many others, overwritten. It returns the
// registers that hold the columns, in order.
func (g *gen) transpose(r, t []asm.Reg) []asm.Reg {
	n := len(r)
	if g.d == array.Float32 {
		// Pairs of rows interleaved, then pairs of pairs: quarter q of the result of
		// rows 4i to 4i+3 and column c in a 128-bit part holds column 4q+c.
		for i := 0; i < n; i += 2 {
			g.RRR(asm.VUNPCKLPS, t[i], r[i], r[i+1])
			g.RRR(asm.VUNPCKHPS, t[i+1], r[i], r[i+1])
		}
		for i := 0; i < n; i += 4 {
			g.RRR(asm.VUNPCKLPD, r[i], t[i], t[i+2])
			g.RRR(asm.VUNPCKHPD, r[i+1], t[i], t[i+2])
			g.RRR(asm.VUNPCKLPD, r[i+2], t[i+1], t[i+3])
			g.RRR(asm.VUNPCKHPD, r[i+3], t[i+1], t[i+3])
		}
		return g.transposeParts(r, t, 4)
	}
	for i := 0; i < n; i += 2 {
		g.RRR(asm.VUNPCKLPD, t[i], r[i], r[i+1])
		g.RRR(asm.VUNPCKHPD, t[i+1], r[i], r[i+1])
	}
	return g.transposeParts(t, r, 2)
}

// transposeParts transposes 128-bit parts among the registers c, c+w, c+2w, ...
// for each c below w.
func (g *gen) transposeParts(r, t []asm.Reg, w int) []asm.Reg {
	n := len(r)
	out := make([]asm.Reg, n)
	for c := range w {
		if g.isa == AVX2 {
			a, b := r[c], r[c+w]
			g.RRRI(asm.VPERM2F128, t[c], a, b, 0x20)
			g.RRRI(asm.VPERM2F128, t[c+w], a, b, 0x31)
			out[c], out[c+w] = t[c], t[c+w]
			continue
		}
		a0, a1, a2, a3 := r[c], r[c+w], r[c+2*w], r[c+3*w]
		t0, t1, t2, t3 := t[c], t[c+w], t[c+2*w], t[c+3*w]
		g.RRRI(asm.VSHUFF32X4, t0, a0, a1, 0x44) // parts 0 1 of both
		g.RRRI(asm.VSHUFF32X4, t1, a2, a3, 0x44)
		g.RRRI(asm.VSHUFF32X4, t2, a0, a1, 0xEE) // parts 2 3 of both
		g.RRRI(asm.VSHUFF32X4, t3, a2, a3, 0xEE)
		g.RRRI(asm.VSHUFF32X4, a0, t0, t1, 0x88) // part 0 of all
		g.RRRI(asm.VSHUFF32X4, a1, t0, t1, 0xDD)
		g.RRRI(asm.VSHUFF32X4, a2, t2, t3, 0x88)
		g.RRRI(asm.VSHUFF32X4, a3, t2, t3, 0xDD)
		out[c], out[c+w], out[c+2*w], out[c+3*w] = a0, a1, a2, a3
	}
	return out
}
