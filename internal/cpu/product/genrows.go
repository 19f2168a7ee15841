package product

import (
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/codegen"
	"weft/internal/cpu/tile"
	"weft/internal/jit"
	"weft/internal/processor"
	"weft/internal/x86/asm"
)

// sumBytes returns the most bytes of sums of one of some rows: together they stay in
// the L1 cache, and few rows read B in longer runs.
func sumBytes(rows int) int { return max(4096, 16384/rows) }

// sumPitch is the number of bytes from the sums of one row to the sums of the next.
var sumPitch = sumBytes(2) + 64

// manyTerms is the number of rows of B that are read side by side.
const manyTerms = 8

// maxRowsNarrow is the most rows of A that the kernels take.
const maxRowsNarrow = 8

// A rowsWriter writes the kernel that adds terms products to the sums of one row, or of the rows
// of the frame, or starts the sums with them. It reads terms rows of B from front to back, each once.
// With prefetch it prefetches the next terms rows. Where B has elements of two bytes there is
// no last vector.
type rowsWriter struct {
	*codegen.Gen
	from            array.DType
	rows, terms     int // the most rows
	start, prefetch bool
	hold            bool // a single row's factors have registers, and B is read where it is added

	row  [manyTerms]asm.Mem // of B
	base [3]asm.Reg         // of groups of three rows of A
}

// genRows writes the kernel that [rowsWriter] describes.
func genRows(g *codegen.Gen, from array.DType, several bool, terms int, start, prefetch bool) {
	rows := 1
	if several {
		rows = maxRowsNarrow
	}
	w := &rowsWriter{Gen: g, from: from, rows: rows, terms: terms, start: start, prefetch: prefetch, hold: rows == 1 && terms > 1}
	w.setup()
	load := func(dst asm.Reg, m asm.Mem) { g.LoadFrom(from, dst, m) }
	if w.hold && !from.Half() {
		load = nil
	}
	a := &g.Asm
	rest, end := a.NewLabel(), a.NewLabel()
	if w.hold && w.bytes() < processor.Line { // a line has two vectors: prefetch once for both
		single := a.NewLabel()
		a.RI(asm.SUB, asm.RCX, 2)
		a.Jcc(asm.CondL, single)
		a.Align(16)
		pair := a.Here()
		w.prefetchBelow()
		w.vector(0, load)
		w.vector(1, load)
		w.advance(2)
		a.RI(asm.SUB, asm.RCX, 2)
		a.Jcc(asm.CondGE, pair)
		a.Bind(single)
		a.RI(asm.ADD, asm.RCX, 2)
	}
	a.RR(asm.TEST, asm.RCX, asm.RCX)
	a.Jcc(asm.CondE, rest)
	a.Align(16)
	loop := a.Here()
	w.prefetchBelow()
	w.vector(0, load)
	w.advance(1)
	a.RI(asm.SUB, asm.RCX, 1)
	a.Jcc(asm.CondNE, loop)
	a.Bind(rest)
	if !from.Half() {
		tile.LastVector(g, end)
		w.vector(0, func(dst asm.Reg, m asm.Mem) { g.LoadMasked(dst, m, asm.K1, g.V(15)) })
	}
	a.Bind(end)
	g.Done()
}

// bytes returns the size of a vector of B.
func (w *rowsWriter) bytes() int { return w.Lanes() * w.from.Size() }

// setup loads the arguments and, with hold, the factors.
func (w *rowsWriter) setup() {
	a := &w.Asm
	a.RM(asm.MOV, asm.RSI, codegen.Field(unsafe.Offsetof(tile.Rf.B)))
	a.RM(asm.MOV, asm.R13, codegen.Field(unsafe.Offsetof(tile.Rf.BStep)))
	a.RM(asm.LEA, asm.RAX, asm.Idx(asm.R13, asm.R13, 2, 0))
	a.RM(asm.LEA, asm.R11, asm.Idx(asm.R13, asm.R13, 4, 0))
	a.RM(asm.LEA, asm.R12, asm.Idx(asm.RAX, asm.R13, 4, 0))
	w.row = [...]asm.Mem{
		asm.Ptr(asm.RSI, 0), asm.Idx(asm.RSI, asm.R13, 1, 0), asm.Idx(asm.RSI, asm.R13, 2, 0), asm.Idx(asm.RSI, asm.RAX, 1, 0),
		asm.Idx(asm.RSI, asm.R13, 4, 0), asm.Idx(asm.RSI, asm.R11, 1, 0), asm.Idx(asm.RSI, asm.RAX, 2, 0), asm.Idx(asm.RSI, asm.R12, 1, 0),
	}
	w.base = [...]asm.Reg{asm.R8, asm.R9, asm.R10}
	a.RM(asm.MOV, w.base[0], codegen.Field(unsafe.Offsetof(tile.Rf.A)))
	a.RM(asm.MOV, asm.RDX, codegen.Field(unsafe.Offsetof(tile.Rf.AStep)))
	a.RM(asm.LEA, asm.R14, asm.Idx(asm.RDX, asm.RDX, 2, 0))
	for i := 1; i <= (w.rows-1)/3; i++ {
		a.RM(asm.LEA, w.base[i], asm.Idx(w.base[i-1], asm.R14, 1, 0))
	}
	a.RM(asm.MOV, asm.RBX, codegen.Field(unsafe.Offsetof(tile.Rf.Sums)))
	a.RM(asm.MOV, asm.RCX, codegen.Field(unsafe.Offsetof(tile.Rf.Vectors)))
	if w.hold {
		for u := range w.terms {
			w.Broadcast(w.V(u), asm.Ptr(w.base[0], int32(u*w.D.Size())))
		}
	}
	// The rows that the next entry reads, where it follows.
	a.RM(asm.LEA, asm.R15, asm.Idx(asm.RSI, asm.R13, 8, 0))
}

// vector adds to the vector of sums that is behind vectors after the first. What it reads of B
// is there where it lies, if load is nil, or what load puts into a register.
func (w *rowsWriter) vector(behind int, load func(dst asm.Reg, m asm.Mem)) {
	a, rows := &w.Asm, w.rows
	fma := w.Pick(asm.VFMADD231PS, asm.VFMADD231PD)
	distance := int32(behind * w.bytes())
	if !w.hold {
		for u := range w.terms {
			load(w.V(u), w.row[u].Add(distance))
		}
	}
	last := a.NewLabel()
	for r := range rows {
		if r > 1 { // there are at least two
			a.MI(asm.CMP, codegen.Field(unsafe.Offsetof(tile.Rf.Rows)), int64(r))
			a.Jcc(asm.CondE, last)
		}
		sum := asm.Ptr(asm.RBX, int32(r*sumPitch+behind*w.VB()))
		// Rows alternate between two registers, the order of their terms is fixed.
		acc := w.V(8 + (r+behind)&1)
		if w.start {
			w.Zero(acc)
		} else {
			w.Load(acc, sum)
		}
		for u := range w.terms {
			b := w.base[r/3]
			m := [...]asm.Mem{asm.Ptr(b, 0), asm.Idx(b, asm.RDX, 1, 0), asm.Idx(b, asm.RDX, 2, 0)}[r%3].Add(int32(u * w.D.Size()))
			x := w.V(10 + u&1)
			switch {
			case w.hold && load == nil:
				a.RRM(fma, acc, w.V(u), w.row[u].Add(distance))
			case w.hold:
				load(x, w.row[u].Add(distance))
				w.Fma(acc, w.V(u), x)
			case w.ISA == jit.AVX512:
				a.RRM(fma, acc, w.V(u), m.B())
			default:
				w.Broadcast(x, m)
				w.Fma(acc, x, w.V(u))
			}
		}
		w.Store(sum, acc)
	}
	a.Bind(last)
}

// prefetchBelow prefetches a line of each row below, if the kernel has prefetch set.
func (w *rowsWriter) prefetchBelow() {
	if w.prefetch {
		for _, m := range w.row {
			m.Base = asm.R15
			w.M(asm.PREFETCHT1, m)
		}
	}
}

// advance moves on by vectors.
func (w *rowsWriter) advance(vectors int) {
	if w.prefetch {
		w.RI(asm.ADD, asm.R15, int64(vectors*w.bytes()))
	}
	w.RI(asm.ADD, asm.RSI, int64(vectors*w.bytes()))
	w.RI(asm.ADD, asm.RBX, int64(vectors*w.VB()))
}

// A rowsKey names a kernel for one row of A or for several. start says whether it starts the sums, prefetch
// whether it prefetches the rows below.
type rowsKey struct {
	isa             jit.ISA
	d, from         array.DType // of the sums and of B
	several         bool
	terms           int
	start, prefetch bool
}

var rowsKernels = jit.NewCache[rowsKey, *jit.Code](0)

func (k rowsKey) Generate() *jit.Code {
	g := &codegen.Gen{ISA: k.isa, D: k.d}
	genRows(g, k.from, k.several, k.terms, k.start, k.prefetch)
	return g.Install(k)
}
