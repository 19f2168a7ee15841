package gemm

import (
	"unsafe"

	"weft/internal/jit"
	"weft/internal/x86/asm"
)

// A rowsFrame holds the arguments of the kernels for a few rows of A and a B too
// large for the caches, and of the one that finishes their sums.
type rowsFrame struct {
	a, b    unsafe.Pointer
	sums    unsafe.Pointer // rows are sumPitch(rows) bytes apart
	c, bias unsafe.Pointer
	aStep   int // bytes from row to row
	bStep   int
	vectors int // whole ones
	flags   int
	mask    uint64 // of one more vector, or 0
	lanes   [32]byte
}

var rf rowsFrame

// sumBytes returns the most bytes of sums of one of some rows: together they stay in
// the first cache, and few rows read B in longer runs.
func sumBytes(rows int) int { return max(4096, 16384/rows) }

// sumPitch returns the bytes from the sums of one row to those of the next.
func sumPitch(rows int) int { return sumBytes(rows) + 64 }

// manyTerms is the number of rows of B that are read side by side.
const manyTerms = 8

// maxRowsNarrow is the most rows of A that the kernels take.
const maxRowsNarrow = 8

// genRows writes the kernel that adds terms products to the sums of some rows, or
// starts the sums with them. It reads terms rows of B from front to back, each once,
// and prefetches as many rows below them.
func genRows(g *gen, rows, terms int, start bool) {
	a := &g.Asm
	a.RM(asm.MOV, asm.RSI, field(unsafe.Offsetof(rf.b)))
	a.RM(asm.MOV, asm.R13, field(unsafe.Offsetof(rf.bStep)))
	a.RM(asm.LEA, asm.RAX, asm.Idx(asm.R13, asm.R13, 2, 0))
	a.RM(asm.LEA, asm.R11, asm.Idx(asm.R13, asm.R13, 4, 0))
	a.RM(asm.LEA, asm.R12, asm.Idx(asm.RAX, asm.R13, 4, 0))
	row := [...]asm.Mem{
		asm.Ptr(asm.RSI, 0), asm.Idx(asm.RSI, asm.R13, 1, 0), asm.Idx(asm.RSI, asm.R13, 2, 0), asm.Idx(asm.RSI, asm.RAX, 1, 0),
		asm.Idx(asm.RSI, asm.R13, 4, 0), asm.Idx(asm.RSI, asm.R11, 1, 0), asm.Idx(asm.RSI, asm.RAX, 2, 0), asm.Idx(asm.RSI, asm.R12, 1, 0),
	}
	base := [...]asm.Reg{asm.R8, asm.R9, asm.R10}
	a.RM(asm.MOV, base[0], field(unsafe.Offsetof(rf.a)))
	a.RM(asm.MOV, asm.RDX, field(unsafe.Offsetof(rf.aStep)))
	a.RM(asm.LEA, asm.R14, asm.Idx(asm.RDX, asm.RDX, 2, 0))
	for i := 1; i <= (rows-1)/3; i++ {
		a.RM(asm.LEA, base[i], asm.Idx(base[i-1], asm.R14, 1, 0))
	}
	a.RM(asm.MOV, asm.RBX, field(unsafe.Offsetof(rf.sums)))
	a.RM(asm.MOV, asm.RCX, field(unsafe.Offsetof(rf.vectors)))
	// A single row's factors have registers.
	hold := rows == 1 && terms > 1 && g.isa == jit.AVX512
	if hold {
		for u := range terms {
			g.broadcast(g.v(16+u), asm.Ptr(base[0], int32(u*g.d.Size())))
		}
	}
	// The rows that the next entry reads, where it follows.
	a.RM(asm.LEA, asm.R15, asm.Idx(asm.RSI, asm.R13, 8, 0))
	vector := func() {
		for r := range rows {
			sum := asm.Ptr(asm.RBX, int32(r*sumPitch(rows)))
			// Rows alternate between two registers, the order of their terms is fixed.
			acc := g.v(8 + r&1)
			if start {
				g.zero(acc)
			} else {
				g.load(acc, sum)
			}
			for u := range terms {
				b := base[r/3]
				m := [...]asm.Mem{asm.Ptr(b, 0), asm.Idx(b, asm.RDX, 1, 0), asm.Idx(b, asm.RDX, 2, 0)}[r%3].Add(int32(u * g.d.Size()))
				switch {
				case hold:
					g.fma(acc, g.v(16+u), g.v(u))
					continue
				case g.isa == jit.AVX512:
					a.RRM(g.pick(asm.VFMADD231PS, asm.VFMADD231PD), acc, g.v(u), m.B())
					continue
				}
				g.broadcast(g.v(10+u&1), m)
				g.fma(acc, g.v(10+u&1), g.v(u))
			}
			g.store(sum, acc)
		}
	}
	tail, end := a.NewLabel(), a.NewLabel()
	a.RR(asm.TEST, asm.RCX, asm.RCX)
	a.Jcc(asm.CondE, tail)
	a.Align(16)
	loop := a.Here()
	for u := range terms {
		g.load(g.v(u), row[u])
	}
	if terms == manyTerms {
		for _, m := range row {
			m.Base = asm.R15
			a.M(asm.PREFETCHT1, m)
		}
		a.RI(asm.ADD, asm.R15, int64(g.vb()))
	}
	vector()
	a.RI(asm.ADD, asm.RSI, int64(g.vb()))
	a.RI(asm.ADD, asm.RBX, int64(g.vb()))
	a.RI(asm.SUB, asm.RCX, 1)
	a.Jcc(asm.CondNE, loop)
	a.Bind(tail)
	g.lastVector(end)
	for u := range terms {
		g.loadMasked(g.v(u), row[u], asm.K1, g.v(15))
	}
	vector()
	a.Bind(end)
	g.done()
}

// lastVector loads the mask of a rowsFrame, or jumps to end if it is 0.
func (g *gen) lastVector(end asm.Label) {
	g.RM(asm.MOV, asm.RCX, field(unsafe.Offsetof(rf.mask)))
	g.RR(asm.TEST, asm.RCX, asm.RCX)
	g.Jcc(asm.CondE, end)
	if g.isa == jit.AVX512 {
		g.RR(asm.KMOVW, asm.K1, asm.RCX)
	} else {
		g.load(g.v(15), field(unsafe.Offsetof(rf.lanes)))
	}
}

// genFinish writes the kernel that turns the sums of one row into results, as
// tileGen.finish does.
func genFinish(g *gen) {
	a := &g.Asm
	add := g.pick(asm.VADDPS, asm.VADDPD)
	a.RM(asm.MOV, asm.RSI, field(unsafe.Offsetof(rf.sums)))
	a.RM(asm.MOV, asm.RDX, field(unsafe.Offsetof(rf.c)))
	a.RM(asm.MOV, asm.R8, field(unsafe.Offsetof(rf.bias)))
	a.RM(asm.MOV, asm.RAX, field(unsafe.Offsetof(rf.flags)))
	a.RM(asm.MOV, asm.RCX, field(unsafe.Offsetof(rf.vectors)))
	vector := func(load func(dst asm.Reg, m asm.Mem), store func(m asm.Mem, src asm.Reg)) {
		load(g.v(0), asm.Ptr(asm.RSI, 0))
		g.when(flagAdd, func() {
			load(g.v(1), asm.Ptr(asm.RDX, 0))
			a.RRR(add, g.v(0), g.v(1), g.v(0))
		})
		g.when(flagBiasCol, func() {
			load(g.v(1), asm.Ptr(asm.R8, 0))
			a.RRR(add, g.v(0), g.v(0), g.v(1))
			a.RI(asm.ADD, asm.R8, int64(g.vb()))
		})
		g.when(flagBiasRow, func() {
			g.broadcast(g.v(1), asm.Ptr(asm.R8, 0))
			a.RRR(add, g.v(0), g.v(0), g.v(1))
		})
		store(asm.Ptr(asm.RDX, 0), g.v(0))
	}
	tail, end := a.NewLabel(), a.NewLabel()
	a.RR(asm.TEST, asm.RCX, asm.RCX)
	a.Jcc(asm.CondE, tail)
	loop := a.Here()
	vector(g.load, g.store)
	a.RI(asm.ADD, asm.RSI, int64(g.vb()))
	a.RI(asm.ADD, asm.RDX, int64(g.vb()))
	a.RI(asm.SUB, asm.RCX, 1)
	a.Jcc(asm.CondNE, loop)
	a.Bind(tail)
	g.lastVector(end)
	vector(
		func(dst asm.Reg, m asm.Mem) { g.loadMasked(dst, m, asm.K1, g.v(15)) },
		func(m asm.Mem, src asm.Reg) { g.storeMasked(m, src, asm.K1, g.v(15)) },
	)
	a.Bind(end)
	g.done()
}
