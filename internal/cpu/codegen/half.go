package codegen

import (
	"weft/internal/array"
	"weft/internal/jit"
	"weft/internal/x86/asm"
)

// LoadFrom loads a vector of elements of type d, and converts float16 and bfloat16 to float32.
func (g *Gen) LoadFrom(d array.DType, dst asm.Reg, m asm.Mem) {
	if d.Half() {
		g.RM(widens(d), dst, m)
		g.widened(d, dst)
		return
	}
	g.Load(dst, m)
}

// LoadFromMasked is LoadFrom under a mask of the first n lanes; the other lanes become zero.
// AVX2 has no masks for elements of two bytes: there n elements are loaded in pieces, and n
// must be less than the number of lanes.
func (g *Gen) LoadFromMasked(d array.DType, dst asm.Reg, m asm.Mem, n int, k, t asm.Reg) {
	switch {
	case !d.Half():
		g.LoadMasked(dst, m, k, t)
		return
	case g.ISA == jit.AVX512:
		g.MaskZ(k).RM(widens(d), dst, m)
	default:
		x := asm.X(int(dst & 0xFF))
		at := 0 // elements read
		if n&4 != 0 {
			g.RM(asm.VMOVQ, x, m)
			at = 4
		} else {
			g.Zero(x)
		}
		if n&2 != 0 {
			g.RRMI(asm.VPINSRD, x, x, m.Add(int32(2*at)), int64(at/2))
			at += 2
		}
		if n&1 != 0 {
			g.RRMI(asm.VPINSRW, x, x, m.Add(int32(2*at)), int64(at))
		}
		g.RR(widens(d), dst, x)
	}
	g.widened(d, dst)
}

// widens returns the instruction that loads halves into lanes of float32. It converts float16 by
// value. It copies the bits of bfloat16, and widened then shifts them into their place.
func widens(d array.DType) asm.Op {
	if d == array.Float16 {
		return asm.VCVTPH2PS
	}
	return asm.VPMOVZXWD
}

func (g *Gen) widened(d array.DType, r asm.Reg) {
	if d == array.BFloat16 {
		g.RRI(asm.VPSLLD, r, r, 16)
	}
}

// A HalvesOrder is the byte shuffle that HalfTerms needs in memory: in each 128-bit part, the
// first halves of all lanes go before the second halves.
type HalvesOrder [32]byte

func (r *HalvesOrder) Set() {
	for i := range r {
		r[i] = [...]byte{0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15}[i%16]
	}
}

// HalfTerms is ColumnTerms for columns of float16 or bfloat16, with 256-bit vectors. It calls
// add for each term u; register r holds the term until the next call. terms is 1, or 8 for
// loads of 16 bytes. order is the address of a HalvesOrder.
func (g *Gen) HalfTerms(d array.DType, terms, v, behind, scratch int, order asm.Mem, add func(u int, r asm.Reg)) {
	first, second := g.V(scratch), g.V(scratch+1)
	if terms == 1 {
		x := low(first)
		g.Zero(x)
		for i := range g.Lanes() {
			g.RRMI(asm.VPINSRW, x, x, Column(v*g.Lanes()+i).Add(int32(behind)), int64(i))
		}
		g.RR(widens(d), first, x)
		g.widened(d, first)
		add(0, first)
		return
	}
	// A lane has two neighbouring terms of a column.
	for u, pair := range g.ColumnTerms(terms/2, v, behind, scratch) {
		if d == array.BFloat16 {
			g.RRI(asm.VPSLLD, first, pair, 16)
			g.RRI(asm.VPSRLD, second, pair, 16)
			g.RRI(asm.VPSLLD, second, second, 16)
		} else {
			g.RRM(asm.VPSHUFB, pair, pair, order)
			g.RRI(asm.VPERMQ, pair, pair, 0xD8)
			g.RR(asm.VCVTPH2PS, first, low(pair))
			g.RRI(asm.VEXTRACTI128, low(second), pair, 1)
			g.RR(asm.VCVTPH2PS, second, low(second))
		}
		add(2*u, first)
		add(2*u+1, second)
	}
}

// low returns the register for the first 128 bits of a vector register.
func low(r asm.Reg) asm.Reg { return asm.X(int(r & 0xFF)) }
