package gen

import (
	"weft/internal/array"
	"weft/internal/jit"
	"weft/internal/x86/asm"
)

// LoadFrom reads as many elements of type d as a vector has lanes, and converts float16
// and bfloat16 to float32.
func (g *Gen) LoadFrom(d array.DType, dst asm.Reg, m asm.Mem) {
	if d.Half() {
		g.RM(widens(d), dst, m)
		g.widened(d, dst)
		return
	}
	g.Load(dst, m)
}

// LoadFromMasked is LoadFrom of some lanes; the others become zero. AVX2 has no mask for
// elements of two bytes: there n lanes are read in pieces, fewer than there are.
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

// widens is the instruction that puts halves into lanes of float32: float16 by value,
// bfloat16 by its bits, which widened shifts into their place.
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
