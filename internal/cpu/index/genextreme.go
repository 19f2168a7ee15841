package index

import (
	"math/bits"
	"unsafe"

	"weft/internal/cpu/codegen"
	"weft/internal/x86/asm"
)

// A scanFrame holds the arguments of the kernel that looks for extremes of columns.
type scanFrame struct {
	src    unsafe.Pointer
	best   unsafe.Pointer // the extremes so far, and the rows that have them
	at     unsafe.Pointer
	step   int // bytes from row to row
	rows   int // not 0
	group  int // rows that are read side by side
	blocks int // of columns, each of as many vectors as the kernel is made for
	now    int // number of the first row
}

var sf scanFrame

// Elements are compared as integers with a sign, or as float32 and float64 as they are.

// form holds what turns elements into what they are compared as.
type form struct {
	flip     asm.Reg // the sign bit, which unsigned integers change; of halves all others
	infinity asm.Reg // of halves
	spare    asm.Reg
}

// bits returns a constant of 8 bytes that repeats one of elements.
func (g *writer) bits(x uint64) asm.Mem {
	for n := 8 * g.dtype.Size(); n < 64; n *= 2 {
		x = x&(1<<n-1) | x<<n
	}
	return g.Const64(x)
}

// constants loads a form, unless elements are compared as they are.
func (g *writer) constants(f form) {
	flip := uint64(1) << (8*g.dtype.Size() - 1)
	if g.dtype.Half() {
		flip--
		g.RM(asm.VPBROADCASTQ, f.infinity, g.bits(uint64(halfInfinity(g.dtype))))
	}
	if g.dtype.Half() || g.dtype.Unsigned() {
		g.RM(asm.VPBROADCASTQ, f.flip, g.bits(flip))
	}
}

// load reads elements as what they are compared as. Of halves t becomes the size, the bits
// without the sign, and x is that or its negative, so that both zeros are 0.
func (g *writer) load(x, t asm.Reg, f form, m asm.Mem) {
	switch {
	case g.dtype.Half():
		g.RM(asm.VMOVUPS, x, m)
		g.RRI(asm.VPSRAW, f.spare, x, 15)
		g.RRR(asm.VPAND, t, x, f.flip)
		g.RRR(asm.VPXOR, x, t, f.spare)
		g.RRR(asm.VPSUBW, x, x, f.spare)
	case g.dtype.Unsigned():
		g.RRM(asm.VPXOR, x, f.flip, m)
	default:
		g.RM(asm.VMOVUPS, x, m)
	}
}

// scan writes the kernel that compares rows with the best so far, for blocks of n
// vectors of columns, of 256 bits, which memory gives faster than 512. An element wins that
// is beyond the best, or is NaN where the best is none: of equal ones the first stays, so
// rows may be seen twice.
func (g *writer) scan(n int) {
	a := &g.Asm
	es, vb := g.dtype.Size(), 32
	v := func(i int) asm.Reg { return asm.Y(i) }
	pick := func(byES ...asm.Op) asm.Op { return byES[bits.TrailingZeros(uint(es))] }
	best, at := func(i int) asm.Reg { return v(i) }, func(i int) asm.Reg { return v(n + i) }
	x, t, u, now, one := v(2*n), v(2*n+1), v(2*n+2), v(2*n+3), v(2*n+4)
	form, nan := form{v(2*n + 5), v(2*n + 6), u}, v(2*n+7)
	number := codegen.Field(unsafe.Offsetof(sf.now))
	broadcast := pick(asm.VPBROADCASTB, asm.VPBROADCASTW, asm.VPBROADCASTD, asm.VPBROADCASTQ)

	a.RM(asm.MOV, asm.RSI, codegen.Field(unsafe.Offsetof(sf.src)))
	a.RM(asm.MOV, asm.R8, codegen.Field(unsafe.Offsetof(sf.step)))
	a.RM(asm.MOV, asm.R9, codegen.Field(unsafe.Offsetof(sf.rows)))
	a.RM(asm.VPBROADCASTQ, one, g.bits(1))
	g.constants(form)
	if g.dtype.Half() {
		x := uint64(1 << 15)
		if g.greatest {
			x--
		}
		a.RM(asm.VPBROADCASTQ, nan, g.bits(x))
	}
	group := a.Here()
	a.RM(asm.MOV, asm.RBX, codegen.Field(unsafe.Offsetof(sf.group)))
	a.RR(asm.CMP, asm.RBX, asm.R9)
	a.CMov(asm.CondG, asm.RBX, asm.R9)
	a.RR(asm.MOV, asm.R13, asm.RSI)
	a.RM(asm.MOV, asm.R14, codegen.Field(unsafe.Offsetof(sf.best)))
	a.RM(asm.MOV, asm.R15, codegen.Field(unsafe.Offsetof(sf.at)))
	a.RM(asm.MOV, asm.R10, codegen.Field(unsafe.Offsetof(sf.blocks)))
	block := a.Here()
	for i := range n {
		a.RM(asm.VMOVUPS, best(i), asm.Ptr(asm.R14, int32(i*vb)))
		a.RM(asm.VMOVUPS, at(i), asm.Ptr(asm.R15, int32(i*vb)))
	}
	a.RM(broadcast, now, number)
	a.RR(asm.MOV, asm.R11, asm.RBX)
	a.RR(asm.MOV, asm.RAX, asm.R13)
	row := a.Here()
	for i := range n {
		g.load(x, t, form, asm.Ptr(asm.RAX, int32(i*vb)))
		move, blend := pick(asm.VMOVDQU8, asm.VMOVDQU16, asm.VMOVAPS, asm.VMOVAPD), pick(asm.VPBLENDVB, asm.VPBLENDVB, asm.VBLENDVPS, asm.VBLENDVPD)
		if g.dtype.Half() {
			if g.wide {
				a.RRR(asm.VPCMPGTW, asm.K1, t, form.infinity)
				a.Mask(asm.K1).RR(move, x, nan)
			} else {
				a.RRR(asm.VPCMPGTW, t, t, form.infinity)
				a.RRRR(blend, x, x, nan, t)
			}
		}
		g.beats(x, best(i), t, u)
		if g.wide {
			a.Mask(asm.K1).RR(move, best(i), x)
			a.Mask(asm.K1).RR(move, at(i), now)
		} else {
			a.RRRR(blend, best(i), best(i), x, t)
			a.RRRR(blend, at(i), at(i), now, t)
		}
	}
	a.RRR(pick(asm.VPADDB, asm.VPADDW, asm.VPADDD, asm.VPADDQ), now, now, one)
	a.RR(asm.ADD, asm.RAX, asm.R8)
	a.RI(asm.SUB, asm.R11, 1)
	a.Jcc(asm.CondNE, row)
	for i := range n {
		a.MR(asm.VMOVUPS, asm.Ptr(asm.R14, int32(i*vb)), best(i))
		a.MR(asm.VMOVUPS, asm.Ptr(asm.R15, int32(i*vb)), at(i))
	}
	a.RI(asm.ADD, asm.R13, int64(n*vb))
	a.RI(asm.ADD, asm.R14, int64(n*vb))
	a.RI(asm.ADD, asm.R15, int64(n*vb))
	a.RI(asm.SUB, asm.R10, 1)
	a.Jcc(asm.CondNE, block)
	a.MR(asm.ADD, number, asm.RBX)
	a.RR(asm.SUB, asm.R9, asm.RBX)
	a.RR(asm.IMUL, asm.RBX, asm.R8)
	a.RR(asm.ADD, asm.RSI, asm.RBX)
	a.RR(asm.TEST, asm.R9, asm.R9)
	a.Jcc(asm.CondNE, group)
	g.Done()
}

// beats says where x is better than best: in K1, or with AVX2 in the vector t.
func (g *writer) beats(x, best, t, u asm.Reg) {
	a, es := &g.Asm, g.dtype.Size()
	if g.dtype.Float() && !g.dtype.Half() {
		cmp, beyond := asm.VCMPPS, int64(codegen.NotLessEqual)
		if es == 8 {
			cmp = asm.VCMPPD
		}
		if !g.greatest {
			beyond = codegen.NotGreaterEqual
		}
		if g.wide {
			// Both at once: a comparison under the mask of the other would wait for it.
			a.RRRI(cmp, asm.K1, x, best, beyond)
			a.RRRI(cmp, asm.K2, best, best, codegen.Ordered)
			a.RRR(asm.KANDW, asm.K1, asm.K1, asm.K2)
			return
		}
		a.RRRI(cmp, t, x, best, beyond)
		a.RRRI(cmp, u, best, best, codegen.Ordered)
		a.RRR(asm.VANDPS, t, t, u)
		return
	}
	if !g.greatest {
		x, best = best, x
	}
	if g.wide {
		t = asm.K1
	}
	a.RRR(greaterThan(es), t, x, best)
}

// greaterThan compares integers with a sign.
func greaterThan(size int) asm.Op {
	return [...]asm.Op{asm.VPCMPGTB, asm.VPCMPGTW, asm.VPCMPGTD, asm.VPCMPGTQ}[bits.TrailingZeros(uint(size))]
}
