package gemm

import (
	"unsafe"

	"weft/internal/jit"
	"weft/internal/x86/asm"
)

// A packFrame holds the arguments of the packing kernels. Steps are in bytes.
//
// Both write a panel: for each of k terms, a row of whole vectors at dst + p*dstStep.
type packFrame struct {
	src     unsafe.Pointer
	dst     unsafe.Pointer
	table   unsafe.Pointer // transposing with a table: the offsets in bytes of the rows
	srcStep int            // from row to row
	dstStep int
	k       int
	// Copying: panels side by side in the source, and from one to the next in the
	// destination.
	panels, panelStep int
	mask              uint64   // copying: lanes of the last vector; transposing: lanes of the last k
	lanes             [32]byte // the same for AVX2
}

var pf packFrame

// genPackCopy writes the kernel that copies k rows of one or more panels of nv vectors,
// the last one under a mask. It reads whole rows, so that memory is read in long runs.
func genPackCopy(g *gen, nv int) {
	a := &g.Asm
	a.RM(asm.MOV, asm.RSI, field(unsafe.Offsetof(pf.src)))
	a.RM(asm.MOV, asm.RDX, field(unsafe.Offsetof(pf.dst)))
	a.RM(asm.MOV, asm.R8, field(unsafe.Offsetof(pf.srcStep)))
	a.RM(asm.MOV, asm.R9, field(unsafe.Offsetof(pf.dstStep)))
	a.RM(asm.MOV, asm.R10, field(unsafe.Offsetof(pf.panelStep)))
	a.RM(asm.MOV, asm.RCX, field(unsafe.Offsetof(pf.k)))
	g.packMask(g.v(15))
	row := a.Here()
	a.RR(asm.MOV, asm.R11, asm.RSI)
	a.RR(asm.MOV, asm.R12, asm.RDX)
	a.RM(asm.MOV, asm.R13, field(unsafe.Offsetof(pf.panels)))
	panel := a.Here()
	for v := range nv {
		m := asm.Ptr(asm.R11, int32(v*g.vb()))
		if v == nv-1 {
			g.loadMasked(g.v(v), m, asm.K1, g.v(15))
		} else {
			g.load(g.v(v), m)
		}
	}
	for v := range nv {
		g.store(asm.Ptr(asm.R12, int32(v*g.vb())), g.v(v))
	}
	a.RI(asm.ADD, asm.R11, int64(nv*g.vb()))
	a.RR(asm.ADD, asm.R12, asm.R10)
	a.RI(asm.SUB, asm.R13, 1)
	a.Jcc(asm.CondNE, panel)
	a.RR(asm.ADD, asm.RSI, asm.R8)
	a.RR(asm.ADD, asm.RDX, asm.R9)
	a.RI(asm.SUB, asm.RCX, 1)
	a.Jcc(asm.CondNE, row)
	g.done()
}

// packMask loads the mask of a packFrame.
func (g *gen) packMask(t asm.Reg) {
	if g.isa == jit.AVX512 {
		g.RM(asm.MOV32, asm.RAX, field(unsafe.Offsetof(pf.mask)))
		g.RR(asm.KMOVW, asm.K1, asm.RAX)
		return
	}
	g.load(t, field(unsafe.Offsetof(pf.lanes)))
}

// genPackTranspose writes the kernel that transposes rows, at most as many as a
// vector has lanes, whose elements lie side by side: term p of the panel holds
// element p of each row, then zeros. It writes whole vectors, and terms up to the
// next multiple of the lanes.
func genPackTranspose(g *gen, rows int, table bool) {
	a := &g.Asm
	n := g.lanes()
	r := make([]asm.Reg, n)
	for i := range n {
		r[i] = g.v(i)
	}
	free := [2]asm.Reg{g.v(n), g.v(n + 1)}
	a.RM(asm.MOV, asm.RSI, field(unsafe.Offsetof(pf.src)))
	a.RM(asm.MOV, asm.R14, field(unsafe.Offsetof(pf.dst)))
	a.RM(asm.MOV, asm.R15, field(unsafe.Offsetof(pf.dstStep)))
	a.RM(asm.MOV, asm.RCX, field(unsafe.Offsetof(pf.k)))
	base := [...]asm.Reg{asm.RSI, asm.R8, asm.R9, asm.R10, asm.R11, asm.R12}
	if table {
		a.RM(asm.MOV, asm.RDX, field(unsafe.Offsetof(pf.table)))
	} else {
		a.RM(asm.MOV, asm.RDX, field(unsafe.Offsetof(pf.srcStep)))
		a.RM(asm.LEA, asm.RAX, asm.Idx(asm.RDX, asm.RDX, 2, 0))
		for i := 1; i <= (rows-1)/3; i++ {
			a.RM(asm.LEA, base[i], asm.Idx(base[i-1], asm.RAX, 1, 0))
		}
	}
	block := func(load func(dst asm.Reg, m asm.Mem)) {
		for i := range n {
			switch {
			case i >= rows:
				g.zero(r[i])
			case table:
				a.RM(asm.MOV, asm.RAX, asm.Ptr(asm.RDX, int32(i*8)))
				load(r[i], asm.Idx(asm.RSI, asm.RAX, 1, 0))
			default:
				b := base[i/3]
				load(r[i], [...]asm.Mem{asm.Ptr(b, 0), asm.Idx(b, asm.RDX, 1, 0), asm.Idx(b, asm.RDX, 2, 0)}[i%3])
			}
		}
		for _, c := range g.transpose(r, free) {
			g.store(asm.Ptr(asm.R14, 0), c)
			a.RR(asm.ADD, asm.R14, asm.R15)
		}
	}
	tail, end := a.NewLabel(), a.NewLabel()
	a.RI(asm.SUB, asm.RCX, int64(n))
	a.Jcc(asm.CondL, tail)
	loop := a.Here()
	block(g.load)
	if table {
		a.RI(asm.ADD, asm.RSI, int64(g.vb()))
	} else {
		for i := 0; i <= (rows-1)/3; i++ {
			a.RI(asm.ADD, base[i], int64(g.vb()))
		}
	}
	a.RI(asm.SUB, asm.RCX, int64(n))
	a.Jcc(asm.CondGE, loop)
	a.Bind(tail)
	a.RI(asm.ADD, asm.RCX, int64(n))
	a.Jcc(asm.CondE, end)
	g.packMask(g.v(15))
	block(func(dst asm.Reg, m asm.Mem) { g.loadMasked(dst, m, asm.K1, g.v(15)) })
	a.Bind(end)
	g.done()
}
