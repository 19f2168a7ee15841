package index

import (
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/gen"
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

// wideType is the type in which elements are compared. Rows are counted in integers
// of its size.
func wideType(d array.DType) array.DType {
	if d.Size() == 1 {
		return array.Int32
	}
	return d
}

// scan writes the kernel that compares rows with the best so far, for blocks of n
// vectors of columns, of 256 bits, which memory gives faster than 512. An element wins that
// is beyond the best, or is NaN where the best is none: of equal ones the first stays, so
// rows may be seen twice.
func (g *writer) scan(n int) {
	a := &g.Asm
	d := wideType(g.dtype)
	es, vb := d.Size(), 32
	v := func(i int) asm.Reg { return asm.Y(i) }
	pick := func(single, double asm.Op) asm.Op {
		if es == 4 {
			return single
		}
		return double
	}
	best, at := func(i int) asm.Reg { return v(i) }, func(i int) asm.Reg { return v(n + i) }
	x, t, u, now, one := v(2*n), v(2*n+1), v(2*n+2), v(2*n+3), v(2*n+4)
	bytes := vb / es * g.dtype.Size() // of a vector in the source
	number := gen.Field(unsafe.Offsetof(sf.now))
	broadcast := pick(asm.VPBROADCASTD, asm.VPBROADCASTQ)

	a.RM(asm.MOV, asm.RSI, gen.Field(unsafe.Offsetof(sf.src)))
	a.RM(asm.MOV, asm.R8, gen.Field(unsafe.Offsetof(sf.step)))
	a.RM(asm.MOV, asm.R9, gen.Field(unsafe.Offsetof(sf.rows)))
	if es == 4 {
		a.RM(broadcast, one, a.Const32(1))
	} else {
		a.RM(broadcast, one, a.Const64(1))
	}
	group := a.Here()
	a.RM(asm.MOV, asm.RBX, gen.Field(unsafe.Offsetof(sf.group)))
	a.RR(asm.CMP, asm.RBX, asm.R9)
	a.CMov(asm.CondG, asm.RBX, asm.R9)
	a.RR(asm.MOV, asm.R13, asm.RSI)
	a.RM(asm.MOV, asm.R14, gen.Field(unsafe.Offsetof(sf.best)))
	a.RM(asm.MOV, asm.R15, gen.Field(unsafe.Offsetof(sf.at)))
	a.RM(asm.MOV, asm.R10, gen.Field(unsafe.Offsetof(sf.blocks)))
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
		m := asm.Ptr(asm.RAX, int32(i*bytes))
		if g.dtype.Size() == 1 {
			a.RM(asm.VPMOVZXBD, x, m)
		} else {
			a.RM(asm.VMOVUPS, x, m)
		}
		g.beats(x, best(i), t, u, es)
		if g.wide {
			a.Mask(asm.K1).RR(pick(asm.VMOVAPS, asm.VMOVAPD), best(i), x)
			a.Mask(asm.K1).RR(pick(asm.VMOVAPS, asm.VMOVAPD), at(i), now)
		} else {
			blend := pick(asm.VBLENDVPS, asm.VBLENDVPD)
			a.RRRR(blend, best(i), best(i), x, t)
			a.RRRR(blend, at(i), at(i), now, t)
		}
	}
	a.RRR(pick(asm.VPADDD, asm.VPADDQ), now, now, one)
	a.RR(asm.ADD, asm.RAX, asm.R8)
	a.RI(asm.SUB, asm.R11, 1)
	a.Jcc(asm.CondNE, row)
	for i := range n {
		a.MR(asm.VMOVUPS, asm.Ptr(asm.R14, int32(i*vb)), best(i))
		a.MR(asm.VMOVUPS, asm.Ptr(asm.R15, int32(i*vb)), at(i))
	}
	a.RI(asm.ADD, asm.R13, int64(n*bytes))
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
func (g *writer) beats(x, best, t, u asm.Reg, es int) {
	a := &g.Asm
	if g.dtype.Float() {
		cmp, beyond := asm.VCMPPS, int64(gen.NotLessEqual)
		if es == 8 {
			cmp = asm.VCMPPD
		}
		if !g.greatest {
			beyond = gen.NotGreaterEqual
		}
		if g.wide {
			// Both at once: a comparison under the mask of the other would wait for it.
			a.RRRI(cmp, asm.K1, x, best, beyond)
			a.RRRI(cmp, asm.K2, best, best, gen.Ordered)
			a.RRR(asm.KANDW, asm.K1, asm.K1, asm.K2)
			return
		}
		a.RRRI(cmp, t, x, best, beyond)
		a.RRRI(cmp, u, best, best, gen.Ordered)
		a.RRR(asm.VANDPS, t, t, u)
		return
	}
	if !g.greatest {
		x, best = best, x
	}
	cmp := asm.VPCMPGTD
	if es == 8 {
		cmp = asm.VPCMPGTQ
	}
	if g.wide {
		t = asm.K1
	}
	a.RRR(cmp, t, x, best)
}
