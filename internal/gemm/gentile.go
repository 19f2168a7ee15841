package gemm

import (
	"unsafe"

	"weft/internal/jit"
	"weft/internal/x86/asm"
)

// A tileKey names a kernel that computes tiles of mr rows and nv vectors of columns.
type tileKey struct {
	mr, nv int
	kMajor bool // A's rows are one element apart and aStep is between its columns; else the reverse
	masked bool // the last vector is loaded and stored under a mask
	// segments, if not 0, says that rows of B are found in a table and that vectors
	// have their own places and masks. A vector is put together from so many parts,
	// each under its own mask and read segmentStep further; kMajor holds. With AVX2
	// there is one. nv*segments is at most 7, the opmasks there are.
	segments int
	// pieces says that the terms come in runs, each with a place of its own in A, as
	// the pixels of an image's rows do (see piece). A's columns are then step elements
	// apart, and its rows come in groups of run rows, each group with its own
	// pointer and dilation elements between its rows; with run 0 rows are aStep apart.
	pieces              bool
	step, run, dilation int
	// across says that B's columns, not its rows, lie side by side in memory, bStep
	// from column to column: they are transposed as they are read. All vectors are
	// whole, at most acrossWidth, and there are at most maxRowsAcross rows.
	across bool
}

// acrossWidth returns the most vectors of a tile of mr rows that transposes B: a
// square of registers, two more and a broadcast are taken.
func (m machine) acrossWidth(mr int) int {
	registers := 32
	if m.isa == jit.AVX2 {
		registers = 16
	}
	return min(2, (registers-m.lanes-3)/mr)
}

// maxRowsAcross returns the most rows of a tile that transposes B.
func maxRowsAcross(isa jit.ISA) int {
	if isa == jit.AVX512 {
		return 8
	}
	return 3
}

// A piece is a run of terms: n of them from offset bytes on in A.
type piece struct{ offset, n int }

// maxGroups is the number of registers for A.
const maxGroups = 5

// maxVectors is the most vectors of columns in a tile.
const maxVectors = 4

// maxMasks is the number of opmasks that can mask.
const maxMasks = 7

// Flags of a tileFrame.
const (
	flagAdd     = 1 << iota // add to C
	flagBiasCol             // add bias by column
	flagBiasRow             // add bias by row
)

// flags returns what a tile kernel does with the sum of a block of terms.
func (b *Bias) flags(first, last bool) int {
	switch flags := bit(!first, 0); {
	case !last || b.Ptr == nil:
		return flags
	case b.PerRow:
		return flags | flagBiasRow
	default:
		return flags | flagBiasCol
	}
}

// A tileFrame holds the arguments of a tile kernel: a column of row panels, each of
// mr rows, from top to bottom. Steps are in bytes. Vector v of B's row p is at
// B[0] + p*bStep + v vectors. With a table there are several tiles, one after the other:
// vector v of a tile lies where its place says, from B[0] and C[0] on, and its row p
// table[p] further.
type tileFrame struct {
	a           unsafe.Pointer
	b, c        [maxVectors]unsafe.Pointer
	places      *vectorPlace   // of the vectors of all tiles
	tiles       int            // counted down
	table       unsafe.Pointer // offsets in bytes, 8 bytes each
	bias        unsafe.Pointer // by column: for vector 0; by row: for the first row; unit stride
	aStep       int            // kMajor: from k to k+1; else from row to row
	bStep       int            // from k to k+1
	cStep       int            // from row to row
	k           int
	panels      int
	aPanel      int // from panel to panel of A
	flags       int
	mask        [maxVectors]uint64   // of C, a bit per lane, without a table; only that of the last vector counts
	lanes       [maxVectors][32]byte // the same for AVX2, also with a table: all ones or zeros in a lane
	segmentStep int
	// With pieces: where they are and how many. If A's rows come in groups, a points to
	// the pointers of the panels' groups, and aPanel is the size of those of a panel.
	pieceList  unsafe.Pointer
	pieceCount int
	// The kernel's own: offsets of the current panel, and how many are left.
	aAt, cAt, biasAt, panelsLeft int

	known [2]struct { // see tile
		key  tileKey
		code *jit.Code
	}
}

var tf tileFrame

// maxRows returns the most rows of a tile of nv vectors.
func maxRows(isa jit.ISA, nv int) int {
	if isa == jit.AVX512 {
		return [...]int{0, 14, 14, 9, 6}[nv]
	}
	return [...]int{0, 12, 6, 0, 0}[nv]
}

// maxWidth returns the most vectors in a tile.
func maxWidth(isa jit.ISA) int {
	if isa == jit.AVX512 {
		return 4
	}
	return 2
}

// Registers of a tile kernel. R8 to R12 hold A: with rows apart, one register
// for three rows each; with columns apart, R8 alone, R9 three steps.
const (
	regA     = asm.R8
	regStep  = asm.RDX
	regK     = asm.RCX
	regTable = asm.R13 // without a table, bStep
	// The step between the parts of a vector.
	regSegment = asm.R12
	// With pieces, which have no table.
	regPiece, regPieces, regOffset = asm.RBX, asm.R14, asm.R15
	// With groups, whose rows need no step.
	regGroups = regStep
)

// vectorBase holds B of each vector in the loop over k, and C of each afterwards.
var vectorBase = [maxVectors]asm.Reg{asm.RSI, asm.RBX, asm.R14, asm.R15}

type tileGen struct {
	*gen
	tileKey
}

func genTile(g *gen, key tileKey) { (&tileGen{g, key}).emit() }

// acc is the sum of row i and vector v; b and t are the vectors of B and scratch.
func (g *tileGen) acc(i, v int) asm.Reg { return g.v(i*g.nv + v) }
func (g *tileGen) bReg(v int) asm.Reg   { return g.v(g.mr*g.nv + v) }

func (g *tileGen) table() bool { return g.segments > 0 }

// isMasked reports whether vector v goes through a mask.
func (g *tileGen) isMasked(v int) bool {
	return g.masked && (g.table() || v == g.nv-1)
}

// setMask loads the opmask of the last vector of C.
func (g *tileGen) setMask() {
	if g.masked {
		g.RM(asm.KMOVW, g.mask(g.nv-1), field(unsafe.Offsetof(tf.mask)+uintptr(g.nv-1)*8))
	}
}

// A place is a field of the place of vector v, to which register r points.
func place(r asm.Reg, v int, offset uintptr) asm.Mem {
	return asm.Ptr(r, int32(uintptr(v)*unsafe.Sizeof(vectorPlace{})+offset))
}

// setParts loads the opmasks of the parts of B's vectors, setCounts those of C's. Register
// r points to their places.
func (g *tileGen) setParts(r asm.Reg) {
	for s := range g.segments {
		for v := range g.nv {
			g.RM(asm.KMOVW, g.mask(s*g.nv+v), place(r, v, unsafe.Offsetof(vectorPlace{}.parts)+uintptr(s)*8))
		}
	}
}

func (g *tileGen) setCounts(r asm.Reg) {
	for v := range g.nv {
		g.RM(asm.KMOVW, g.mask(v), place(r, v, unsafe.Offsetof(vectorPlace{}.mask)))
	}
}

func (g *tileGen) mask(v int) asm.Reg { return asm.K(1 + v) }

// loadVector loads vector v of a row into dst.
func (g *tileGen) loadVector(dst asm.Reg, m asm.Mem, v int) {
	if !g.isMasked(v) {
		g.load(dst, m)
		return
	}
	if g.isa == jit.AVX2 {
		g.loadLanes(v)
	}
	g.loadMasked(dst, m, g.mask(v), g.temp(0))
}

// loadLanes fetches the AVX2 mask of vector v into the scratch register.
func (g *tileGen) loadLanes(v int) {
	g.load(g.temp(0), field(unsafe.Offsetof(tf.lanes)+uintptr(v)*32))
}

// vectorAt returns the place of vector v for the pointers in vectorBase.
func (g *tileGen) vectorAt(v int) asm.Mem {
	if g.table() {
		return asm.Ptr(vectorBase[v], 0)
	}
	return asm.Ptr(vectorBase[0], int32(v*g.vb()))
}

func (g *tileGen) bases() int {
	if g.table() {
		return g.nv
	}
	return 1
}

func (g *tileGen) emit() {
	a := &g.Asm
	get := func(r asm.Reg, offset uintptr) { a.RM(asm.MOV, r, field(offset)) }
	if g.isa == jit.AVX512 && !g.table() {
		g.setMask()
	}
	tile := a.Here()
	get(asm.RAX, unsafe.Offsetof(tf.panels))
	a.MR(asm.MOV, field(unsafe.Offsetof(tf.panelsLeft)), asm.RAX)
	a.RR(asm.XOR32, asm.RAX, asm.RAX)
	for _, f := range []uintptr{unsafe.Offsetof(tf.aAt), unsafe.Offsetof(tf.cAt), unsafe.Offsetof(tf.biasAt)} {
		a.MR(asm.MOV, field(f), asm.RAX)
	}
	panel := a.Here()

	// A, B and the counter for this panel.
	if g.segments > 1 {
		get(regSegment, unsafe.Offsetof(tf.segmentStep))
	}
	if g.pieces {
		g.prefetchC()
	} else {
		get(regA, unsafe.Offsetof(tf.a))
		a.RM(asm.ADD, regA, field(unsafe.Offsetof(tf.aAt)))
		g.rowPointers()
	}
	if g.table() {
		get(asm.RAX, unsafe.Offsetof(tf.places))
		for v := range g.nv {
			a.RM(asm.MOV, vectorBase[v], place(asm.RAX, v, unsafe.Offsetof(vectorPlace{}.src)))
			a.RM(asm.ADD, vectorBase[v], field(unsafe.Offsetof(tf.b)))
		}
		if g.isa == jit.AVX512 {
			g.setParts(asm.RAX)
		}
		get(regTable, unsafe.Offsetof(tf.table))
	} else {
		get(vectorBase[0], unsafe.Offsetof(tf.b))
		get(regTable, unsafe.Offsetof(tf.bStep))
		a.RM(asm.LEA, asm.RAX, asm.Idx(regTable, regTable, 2, 0))
	}
	for i := range g.mr {
		for v := range g.nv {
			g.zero(g.acc(i, v))
		}
	}

	if g.across {
		g.chainAcross()
		g.endPanel(tile, panel)
		return
	}
	var nextPiece asm.Label
	if g.pieces {
		get(regPiece, unsafe.Offsetof(tf.pieceList))
		get(regPieces, unsafe.Offsetof(tf.pieceCount))
		if g.run > 0 {
			get(regGroups, unsafe.Offsetof(tf.a))
			a.RM(asm.ADD, regGroups, field(unsafe.Offsetof(tf.aAt)))
		}
		nextPiece = a.Here()
		a.RM(asm.MOV, regOffset, asm.Ptr(regPiece, 0))
		if g.run > 0 {
			for i := range g.registersA() {
				a.RM(asm.MOV, regA+asm.Reg(i), asm.Ptr(regGroups, int32(i*8)))
				a.RR(asm.ADD, regA+asm.Reg(i), regOffset)
			}
		} else {
			get(regA, unsafe.Offsetof(tf.a))
			a.RM(asm.ADD, regA, field(unsafe.Offsetof(tf.aAt)))
			a.RR(asm.ADD, regA, regOffset)
			g.rowPointers()
			// rowPointers is done with RAX, three steps of B again.
			a.RM(asm.LEA, asm.RAX, asm.Idx(regTable, regTable, 2, 0))
		}
	}

	if g.pieces {
		a.RM(asm.MOV, regK, asm.Ptr(regPiece, 8))
	} else {
		get(regK, unsafe.Offsetof(tf.k))
	}
	g.chain(regK, g.term, g.advance)
	if g.pieces {
		a.RI(asm.ADD, regPiece, int64(unsafe.Sizeof(piece{})))
		a.RI(asm.SUB, regPieces, 1)
		a.Jcc(asm.CondNE, nextPiece)
	}

	g.endPanel(tile, panel)
}

// prefetchC asks for the lines of C that the panel's sums are added to.
func (g *tileGen) prefetchC() {
	a := &g.Asm
	a.RM(asm.MOV, asm.RSI, field(unsafe.Offsetof(tf.c)))
	a.RM(asm.ADD, asm.RSI, field(unsafe.Offsetof(tf.cAt)))
	for range g.mr {
		for v := 0; v < g.nv*g.vb(); v += 64 {
			a.M(asm.PREFETCHW, asm.Ptr(asm.RSI, int32(v)))
		}
		a.RM(asm.ADD, asm.RSI, field(unsafe.Offsetof(tf.cStep)))
	}
}

// endPanel finishes a panel and goes to the next, or to the next tile.
func (g *tileGen) endPanel(tile, panel asm.Label) {
	a := &g.Asm
	g.finish()
	a.RM(asm.MOV, asm.RAX, field(unsafe.Offsetof(tf.aPanel)))
	a.MR(asm.ADD, field(unsafe.Offsetof(tf.aAt)), asm.RAX)
	a.RMI(asm.IMUL, asm.RAX, field(unsafe.Offsetof(tf.cStep)), int64(g.mr))
	a.MR(asm.ADD, field(unsafe.Offsetof(tf.cAt)), asm.RAX)
	a.MI(asm.ADD, field(unsafe.Offsetof(tf.biasAt)), int64(g.mr*g.d.Size()))
	a.MI(asm.SUB, field(unsafe.Offsetof(tf.panelsLeft)), 1)
	a.Jcc(asm.CondNE, panel)
	if g.table() {
		a.MI(asm.ADD, field(unsafe.Offsetof(tf.places)), int64(g.nv)*int64(unsafe.Sizeof(vectorPlace{})))
		a.MI(asm.SUB, field(unsafe.Offsetof(tf.tiles)), 1)
		a.Jcc(asm.CondNE, tile)
	}
	g.done()
}

// rowPointers sets the registers of A from the first one.
func (g *tileGen) rowPointers() {
	g.RM(asm.MOV, regStep, field(unsafe.Offsetof(tf.aStep)))
	if g.kMajor {
		g.RM(asm.LEA, asm.R9, asm.Idx(regStep, regStep, 2, 0))
	} else if g.mr > 3 {
		g.RM(asm.LEA, asm.RAX, asm.Idx(regStep, regStep, 2, 0))
		for i := 1; i < g.registersA(); i++ {
			g.RM(asm.LEA, regA+asm.Reg(i), asm.Idx(regA+asm.Reg(i-1), asm.RAX, 1, 0))
		}
	}
}

// registersA returns how many registers hold A where rows are apart.
func (g *tileGen) registersA() int {
	if g.run > 0 {
		return g.mr / g.run
	}
	return (g.mr + 2) / 3
}

// termStep returns the bytes from a term to the next where rows are apart.
func (g *tileGen) termStep() int { return max(g.step, 1) * g.d.Size() }

// term adds the products of step u of an unrolled loop.
func (g *tileGen) term(u int) {
	if g.table() {
		g.RM(asm.MOV, asm.RAX, asm.Ptr(regTable, int32(u*8)))
		for v := range g.nv {
			g.loadVector(g.bReg(v), asm.Idx(vectorBase[v], asm.RAX, 1, 0), v)
		}
		for s := 1; s < g.segments; s++ {
			g.RR(asm.ADD, asm.RAX, regSegment)
			for v := range g.nv {
				g.Mask(g.mask(s*g.nv+v)).RM(g.pick(asm.VMOVUPS, asm.VMOVUPD), g.bReg(v), asm.Idx(vectorBase[v], asm.RAX, 1, 0))
			}
		}
	} else {
		for v := range g.nv {
			disp := int32(v * g.vb())
			m := [...]asm.Mem{
				asm.Ptr(asm.RSI, disp), asm.Idx(asm.RSI, regTable, 1, disp),
				asm.Idx(asm.RSI, regTable, 2, disp), asm.Idx(asm.RSI, asm.RAX, 1, disp),
			}[u]
			g.loadVector(g.bReg(v), m, v)
		}
	}
	size := int32(g.d.Size())
	for i := range g.mr {
		var m asm.Mem
		if g.kMajor {
			disp := int32(i) * size
			m = [...]asm.Mem{
				asm.Ptr(regA, disp), asm.Idx(regA, regStep, 1, disp),
				asm.Idx(regA, regStep, 2, disp), asm.Idx(regA, asm.R9, 1, disp),
			}[u]
		} else if g.run > 0 {
			m = asm.Ptr(regA+asm.Reg(i/g.run), int32(u*g.termStep()+i%g.run*g.dilation*g.d.Size()))
		} else {
			r := regA + asm.Reg(i/3)
			disp := int32(u * g.termStep())
			m = [...]asm.Mem{
				asm.Ptr(r, disp), asm.Idx(r, regStep, 1, disp), asm.Idx(r, regStep, 2, disp),
			}[i%3]
		}
		if g.isa == jit.AVX512 && g.nv == 1 {
			g.RRM(g.pick(asm.VFMADD231PS, asm.VFMADD231PD), g.acc(i, 0), g.bReg(0), m.B())
			continue
		}
		t := g.temp(i)
		g.broadcast(t, m)
		for v := range g.nv {
			g.fma(g.acc(i, v), t, g.bReg(v))
		}
	}
}

// advance moves the pointers by n terms, 1 or 4.
func (g *tileGen) advance(n int) {
	if g.table() {
		g.RI(asm.ADD, regTable, int64(8*n))
	} else {
		g.RM(asm.LEA, asm.RSI, asm.Idx(asm.RSI, regTable, uint8(n), 0))
	}
	if g.kMajor {
		g.RM(asm.LEA, regA, asm.Idx(regA, regStep, uint8(n), 0))
		return
	}
	for i := range g.registersA() {
		g.RI(asm.ADD, regA+asm.Reg(i), int64(n*g.termStep()))
	}
}

// finish turns the sums of a panel into results and stores them.
func (g *tileGen) finish() {
	a := &g.Asm
	// The steps that flags ask for are jumped over one by one.
	rows := func(f func(i, v int, m asm.Mem)) {
		for v := range g.bases() {
			if g.table() {
				a.RM(asm.MOV, vectorBase[v], place(regTable, v, unsafe.Offsetof(vectorPlace{}.dst)))
				a.RM(asm.ADD, vectorBase[v], field(unsafe.Offsetof(tf.c)))
			} else {
				a.RM(asm.MOV, vectorBase[v], field(unsafe.Offsetof(tf.c)))
			}
			a.RM(asm.ADD, vectorBase[v], field(unsafe.Offsetof(tf.cAt)))
		}
		for i := range g.mr {
			for v := range g.nv {
				f(i, v, g.vectorAt(v))
			}
			if i == g.mr-1 {
				break
			}
			for v := range g.bases() {
				a.RR(asm.ADD, vectorBase[v], regStep)
			}
		}
	}
	if g.table() {
		a.RM(asm.MOV, regTable, field(unsafe.Offsetof(tf.places)))
	}
	if g.segments > 1 {
		g.setCounts(regTable)
	}
	add := g.pick(asm.VADDPS, asm.VADDPD)
	a.RM(asm.MOV, asm.RAX, field(unsafe.Offsetof(tf.flags)))
	a.RM(asm.MOV, regStep, field(unsafe.Offsetof(tf.cStep)))
	if g.table() {
		// Sums that are zero are +0, whatever terms of the padding were.
		g.zero(g.temp(0))
		for i := range g.mr {
			for v := range g.nv {
				a.RRR(add, g.acc(i, v), g.acc(i, v), g.temp(0))
			}
		}
	}
	g.when(flagAdd, func() {
		rows(func(i, v int, m asm.Mem) {
			// Through B's register, which is free by now: a masked memory operand
			// needs AVX-512, and there must be no read outside the mask.
			g.loadVector(g.bReg(v), m, v)
			a.RRR(add, g.acc(i, v), g.bReg(v), g.acc(i, v))
		})
	})
	g.when(flagBiasCol, func() {
		a.RM(asm.MOV, asm.RCX, field(unsafe.Offsetof(tf.bias)))
		for v := range g.nv {
			g.loadVector(g.bReg(v), asm.Ptr(asm.RCX, int32(v*g.vb())), v)
		}
		for i := range g.mr {
			for v := range g.nv {
				a.RRR(add, g.acc(i, v), g.acc(i, v), g.bReg(v))
			}
		}
	})
	g.when(flagBiasRow, func() {
		a.RM(asm.MOV, asm.RCX, field(unsafe.Offsetof(tf.bias)))
		a.RM(asm.ADD, asm.RCX, field(unsafe.Offsetof(tf.biasAt)))
		for i := range g.mr {
			t := g.temp(i)
			g.broadcast(t, asm.Ptr(asm.RCX, int32(i*g.d.Size())))
			for v := range g.nv {
				a.RRR(add, g.acc(i, v), g.acc(i, v), t)
			}
		}
	})
	if g.isa == jit.AVX2 && g.masked && !g.table() {
		g.loadLanes(g.nv - 1)
	}
	rows(func(i, v int, m asm.Mem) {
		if !g.isMasked(v) {
			g.store(m, g.acc(i, v))
			return
		}
		if g.isa == jit.AVX2 && g.table() {
			g.loadLanes(v)
		}
		g.storeMasked(m, g.acc(i, v), g.mask(v), g.temp(0))
	})
}
