package tile

import (
	"unsafe"

	"weft/internal/cpu/codegen"
	"weft/internal/jit"
	"weft/internal/processor"
	"weft/internal/x86/asm"
)

// A Key names a kernel that computes tiles of Mr rows and Nv vectors of columns.
type Key struct {
	Mr, Nv int
	KMajor bool // A is column-major, with AStep between columns; else row-major, with AStep between rows
	Masked bool // the last vector is loaded and stored under a mask
	// Segments, if not 0, means that rows of B are found in a table and that each vector has
	// its own Place and masks. A vector is assembled from Segments parts, each under its own
	// mask and read SegmentStep further. It requires KMajor, one segment with AVX2, and
	// Nv*Segments <= MaxMasks.
	Segments int
	// Pieces means that the terms come in runs with separate offsets in A, as the pixels of an
	// image's rows do (see [Piece]). A's columns are then Step elements apart. A's rows come in
	// groups of Run rows; each group has its own pointer, and its rows are Dilation elements
	// apart. With Run 0 rows are AStep apart.
	Pieces              bool
	Step, Run, Dilation int
	// Across means that B is column-major, with BStep from column to column: its columns are
	// transposed as they are read. It requires whole vectors, at most AcrossWidth of them, and
	// at most MaxRowsAcross rows.
	Across bool
	// Prefetch means that the kernel prefetches memory into the L2 cache while it computes
	// sums: PrefetchBytes with every PrefetchTerms terms. The frame says what: panel i
	// prefetches runs of PrefetchRun*PrefetchBytes bytes. The first run begins at
	// Prefetch + i*PrefetchPanel, and PrefetchStep bytes lie between runs.
	Prefetch bool
}

// AcrossWidth returns the most vectors of a tile of mr rows that transposes B. The transpose
// takes a square of registers and two more, and a broadcast takes one.
func (m Machine) AcrossWidth(mr int) int {
	registers := 32
	if m.ISA == jit.AVX2 {
		registers = 16
	}
	return min(2, (registers-m.Lanes-3)/mr)
}

// MaxRowsAcross returns the most rows of a tile that transposes B.
func MaxRowsAcross(isa jit.ISA) int {
	if isa == jit.AVX512 {
		return 8
	}
	return 3
}

// A Piece is a run of N terms, from Offset bytes on in A.
type Piece struct{ Offset, N int }

// MaxGroups is the number of registers for A.
const MaxGroups = 5

// maxVectors is the most vectors of columns in a tile.
const maxVectors = 4

// MaxMasks is the number of opmask registers that can mask: k0 cannot.
const MaxMasks = 7

// With every PrefetchTerms terms a kernel prefetches PrefetchBytes.
const (
	PrefetchTerms = 4
	PrefetchBytes = 2 * processor.Line
)

// Flags of a Frame. FlagBias and FlagBounds are for kernels with a table.
const (
	FlagAdd    = 1 // add to C
	FlagBias   = 2 // then add the bias of each row
	FlagBounds = 4 // then hold the bounds
)

// aheadRows is the least number of rows with which a kernel with a table prefetches the columns of
// the next tile: their lines are far apart, and the sums leave time for it.
const aheadRows = 6

// A Frame holds the arguments of a tile kernel, which computes a column of row panels of Mr
// rows each, from top to bottom. Steps are in bytes. Vector v of B's row p is at
// B[0] + p*BStep + v vectors.
//
// With a table the kernel computes several tiles, one after the other. Vector v of a tile lies
// at the offsets of its Place from B[0] and C[0], and its row p is Table[p] bytes further.
type Frame struct {
	A           unsafe.Pointer
	B, C        [maxVectors]unsafe.Pointer
	Places      *Place         // of the vectors of all tiles
	Tiles       int            // counted down
	Table       unsafe.Pointer // offsets in bytes, 8 bytes each
	AStep       int            // kMajor: from k to k+1; else from row to row
	BStep       int            // from k to k+1
	CStep       int            // from row to row
	K           int
	Panels      int
	APanel      int // from panel to panel of A
	BPanel      int // without a table, of B, where each has its own
	CPanel      int // of C; 0: their rows follow one another
	Flags       int
	Mask        [maxVectors]uint64   // of C, a bit per lane, without a table; only the last vector's is used
	Lanes       [maxVectors][32]byte // the same for AVX2, also with a table: all ones or zeros in a lane
	SegmentStep int
	// With Pieces: where they are and how many. If A's rows come in groups, A points to the
	// pointers of the groups, and APanel is the size of one panel's pointers.
	PieceList     unsafe.Pointer
	PieceCount    int
	Prefetch      uintptr // prefetched only, so it may lie behind the end of the memory
	PrefetchRun   int
	PrefetchStep  int // from the end of a run to the next one
	PrefetchPanel int
	Bias          unsafe.Pointer // of the first row, with the others behind it
	Low, High     uint64         // bounds
	cNext         int            // CPanel, once that is known
	rows, form    int            // of general kernels
	// The kernel's own: offsets of the current panel, and how many are left.
	aAt, bAt, cAt, panelsLeft int
	biasAt, biasNext          int

	known [4]struct { // see Tile
		key  Key
		late *codegen.Late
	}
}

var tf Frame

// MaxRows returns the most rows of a tile of nv vectors.
func MaxRows(isa jit.ISA, nv int) int {
	if isa == jit.AVX512 {
		return [...]int{0, 14, 14, 9, 6}[nv]
	}
	return [...]int{0, 12, 6, 0, 0}[nv]
}

// MaxWidth returns the most vectors in a tile.
func MaxWidth(isa jit.ISA) int {
	if isa == jit.AVX512 {
		return 4
	}
	return 2
}

// Registers of a tile kernel. R8 to R12 point to A: with a stride between rows, one register
// for every three rows; with KMajor, R8 alone, and R9 holds three steps.
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
	// With Prefetch, which excludes tables and pieces: the address, the step between runs, and
	// how much is left of a run.
	regPrefetch, regPrefetchStep, regPrefetchLeft = asm.RBX, asm.R14, asm.R15
)

// vectorBase holds B of each vector in the loop over k, and C of each afterwards.
var vectorBase = [maxVectors]asm.Reg{asm.RSI, asm.RBX, asm.R14, asm.R15}

// regRows holds the rows of a tile in general kernels, which have no pieces, do not prefetch, and
// have at most two vectors.
const regRows = asm.R15

type tileGen struct {
	*codegen.Gen
	Key
	anyRows bool // the frame says how many rows a tile has, at most Mr
}

func genTile(g *codegen.Gen, key Key) { (&tileGen{Gen: g, Key: key}).emit() }

// acc returns the register of the sum of row i and vector v.
func (g *tileGen) acc(i, v int) asm.Reg { return g.V(i*g.Nv + v) }
func (g *tileGen) bReg(v int) asm.Reg   { return g.V(g.Mr*g.Nv + v) }

func (g *tileGen) table() bool { return g.Segments > 0 }

// isMasked reports whether vector v is loaded and stored under a mask.
func (g *tileGen) isMasked(v int) bool {
	return g.Masked && (g.table() || v == g.Nv-1)
}

// setMask loads the opmask of the last vector of C.
func (g *tileGen) setMask() {
	if g.Masked {
		g.RM(asm.KMOVW, g.mask(g.Nv-1), codegen.Field(unsafe.Offsetof(tf.Mask)+uintptr(g.Nv-1)*8))
	}
}

// place returns the operand for a field of the Place of vector v. Register r points to the
// Places.
func place(r asm.Reg, v int, offset uintptr) asm.Mem {
	return asm.Ptr(r, int32(uintptr(v)*unsafe.Sizeof(Place{})+offset))
}

// setParts loads the opmasks for the parts of B's vectors; setCounts loads the opmasks for C's
// vectors. Register r points to the vectors' Places.
func (g *tileGen) setParts(r asm.Reg) {
	for s := range g.Segments {
		for v := range g.Nv {
			g.RM(asm.KMOVW, g.mask(s*g.Nv+v), place(r, v, unsafe.Offsetof(Place{}.Parts)+uintptr(s)*8))
		}
	}
}

func (g *tileGen) setCounts(r asm.Reg) {
	for v := range g.Nv {
		g.RM(asm.KMOVW, g.mask(v), place(r, v, unsafe.Offsetof(Place{}.Mask)))
	}
}

func (g *tileGen) mask(v int) asm.Reg { return asm.K(1 + v) }

// loadVector loads vector v of a row into dst.
func (g *tileGen) loadVector(dst asm.Reg, m asm.Mem, v int) {
	if !g.isMasked(v) {
		g.Load(dst, m)
		return
	}
	if g.ISA == jit.AVX2 {
		g.loadLanes(v)
	}
	g.LoadMasked(dst, m, g.mask(v), g.Temp(0))
}

// loadLanes fetches the AVX2 mask of vector v into the scratch register.
func (g *tileGen) loadLanes(v int) {
	g.Load(g.Temp(0), codegen.Field(unsafe.Offsetof(tf.Lanes)+uintptr(v)*32))
}

// vectorAt returns the place of vector v for the pointers in vectorBase.
func (g *tileGen) vectorAt(v int) asm.Mem {
	if g.table() {
		return asm.Ptr(vectorBase[v], 0)
	}
	return asm.Ptr(vectorBase[0], int32(v*g.VB()))
}

func (g *tileGen) bases() int {
	if g.table() {
		return g.Nv
	}
	return 1
}

func (g *tileGen) emit() {
	a := &g.Asm
	get := func(r asm.Reg, offset uintptr) { a.RM(asm.MOV, r, codegen.Field(offset)) }
	if g.ISA == jit.AVX512 && !g.table() {
		g.setMask()
	}
	if g.anyRows {
		get(regRows, unsafe.Offsetof(tf.rows))
	}
	tile := a.Here()
	get(asm.RAX, unsafe.Offsetof(tf.Panels))
	a.MR(asm.MOV, codegen.Field(unsafe.Offsetof(tf.panelsLeft)), asm.RAX)
	a.RR(asm.XOR32, asm.RAX, asm.RAX)
	for _, f := range []uintptr{unsafe.Offsetof(tf.aAt), unsafe.Offsetof(tf.bAt), unsafe.Offsetof(tf.cAt), unsafe.Offsetof(tf.biasAt)} {
		a.MR(asm.MOV, codegen.Field(f), asm.RAX)
	}
	panel := a.Here()

	// A, B and the counter for this panel.
	if g.Segments > 1 {
		get(regSegment, unsafe.Offsetof(tf.SegmentStep))
	}
	g.prefetchC()
	if !g.Pieces {
		get(regA, unsafe.Offsetof(tf.A))
		a.RM(asm.ADD, regA, codegen.Field(unsafe.Offsetof(tf.aAt)))
		g.rowPointers()
	}
	if g.table() {
		get(asm.RAX, unsafe.Offsetof(tf.Places))
		for v := range g.Nv {
			a.RM(asm.MOV, vectorBase[v], place(asm.RAX, v, unsafe.Offsetof(Place{}.Src)))
			a.RM(asm.ADD, vectorBase[v], codegen.Field(unsafe.Offsetof(tf.B)))
		}
		if g.ISA == jit.AVX512 {
			g.setParts(asm.RAX)
		}
		get(regTable, unsafe.Offsetof(tf.Table))
	} else {
		get(vectorBase[0], unsafe.Offsetof(tf.B))
		a.RM(asm.ADD, vectorBase[0], codegen.Field(unsafe.Offsetof(tf.bAt)))
		get(regTable, unsafe.Offsetof(tf.BStep))
		a.RM(asm.LEA, asm.RAX, asm.Idx(regTable, regTable, 2, 0))
	}
	for i := range g.Mr {
		for v := range g.Nv {
			g.Zero(g.acc(i, v))
		}
	}

	if g.Prefetch {
		get(regPrefetch, unsafe.Offsetof(tf.Prefetch))
		get(regPrefetchStep, unsafe.Offsetof(tf.PrefetchStep))
		get(regPrefetchLeft, unsafe.Offsetof(tf.PrefetchRun))
	}

	if g.Across {
		g.chainAcross()
		g.endPanel(tile, panel)
		return
	}
	var nextPiece asm.Label
	if g.Pieces {
		get(regPiece, unsafe.Offsetof(tf.PieceList))
		get(regPieces, unsafe.Offsetof(tf.PieceCount))
		if g.Run > 0 {
			get(regGroups, unsafe.Offsetof(tf.A))
			a.RM(asm.ADD, regGroups, codegen.Field(unsafe.Offsetof(tf.aAt)))
		}
		nextPiece = a.Here()
		a.RM(asm.MOV, regOffset, asm.Ptr(regPiece, 0))
		if g.Run > 0 {
			for i := range g.registersA() {
				a.RM(asm.MOV, regA+asm.Reg(i), asm.Ptr(regGroups, int32(i*8)))
				a.RR(asm.ADD, regA+asm.Reg(i), regOffset)
			}
		} else {
			get(regA, unsafe.Offsetof(tf.A))
			a.RM(asm.ADD, regA, codegen.Field(unsafe.Offsetof(tf.aAt)))
			a.RR(asm.ADD, regA, regOffset)
			g.rowPointers()
			// rowPointers is done with RAX, three steps of B again.
			a.RM(asm.LEA, asm.RAX, asm.Idx(regTable, regTable, 2, 0))
		}
	}

	if g.Pieces {
		a.RM(asm.MOV, regK, asm.Ptr(regPiece, 8))
	} else {
		get(regK, unsafe.Offsetof(tf.K))
	}
	g.chain()
	if g.Pieces {
		a.RI(asm.ADD, regPiece, int64(unsafe.Sizeof(Piece{})))
		a.RI(asm.SUB, regPieces, 1)
		a.Jcc(asm.CondNE, nextPiece)
	}

	g.endPanel(tile, panel)
}

// chain writes the loop over terms. General kernels, whose code is long, do not unroll it.
func (g *tileGen) chain() {
	if !g.anyRows {
		g.Chain(regK, g.term, g.advance)
		return
	}
	end := g.NewLabel()
	g.RR(asm.TEST, regK, regK)
	g.Jcc(asm.CondE, end)
	g.Align(16)
	next := g.Here()
	g.term(0)
	g.advance(1)
	g.RI(asm.SUB, regK, 1)
	g.Jcc(asm.CondNE, next)
	g.Bind(end)
}

// prefetchC prefetches the lines of C that the panel's sums are added to or stored in, of tiles with pieces or
// Prefetch. When the sums are done, the out-of-order window of the core is too short to hide a miss of the L2 cache.
func (g *tileGen) prefetchC() {
	if !g.Pieces && !g.Prefetch {
		return
	}
	a := &g.Asm
	a.RM(asm.MOV, asm.RSI, codegen.Field(unsafe.Offsetof(tf.C)))
	a.RM(asm.ADD, asm.RSI, codegen.Field(unsafe.Offsetof(tf.cAt)))
	for range g.Mr {
		for v := 0; v < g.Nv*g.VB(); v += 64 {
			a.M(asm.PREFETCHW, asm.Ptr(asm.RSI, int32(v)))
		}
		a.RM(asm.ADD, asm.RSI, codegen.Field(unsafe.Offsetof(tf.CStep)))
	}
}

// endPanel finishes a panel and goes to the next, or to the next tile.
func (g *tileGen) endPanel(tile, panel asm.Label) {
	a := &g.Asm
	g.finish()
	steps := [][2]uintptr{
		{unsafe.Offsetof(tf.APanel), unsafe.Offsetof(tf.aAt)}, {unsafe.Offsetof(tf.BPanel), unsafe.Offsetof(tf.bAt)},
		{unsafe.Offsetof(tf.cNext), unsafe.Offsetof(tf.cAt)}, {unsafe.Offsetof(tf.biasNext), unsafe.Offsetof(tf.biasAt)},
	}
	if !g.table() {
		steps = steps[:3]
	}
	for _, f := range steps {
		a.RM(asm.MOV, asm.RAX, codegen.Field(f[0]))
		a.MR(asm.ADD, codegen.Field(f[1]), asm.RAX)
	}
	if g.Prefetch {
		a.RM(asm.MOV, asm.RAX, codegen.Field(unsafe.Offsetof(tf.PrefetchPanel)))
		a.MR(asm.ADD, codegen.Field(unsafe.Offsetof(tf.Prefetch)), asm.RAX)
	}
	a.MI(asm.SUB, codegen.Field(unsafe.Offsetof(tf.panelsLeft)), 1)
	a.Jcc(asm.CondNE, panel)
	if g.table() {
		a.MI(asm.ADD, codegen.Field(unsafe.Offsetof(tf.Places)), int64(g.Nv)*int64(unsafe.Sizeof(Place{})))
		a.MI(asm.SUB, codegen.Field(unsafe.Offsetof(tf.Tiles)), 1)
		a.Jcc(asm.CondNE, tile)
	}
	g.Done()
}

// rowPointers sets the registers of A from the first one.
func (g *tileGen) rowPointers() {
	g.RM(asm.MOV, regStep, codegen.Field(unsafe.Offsetof(tf.AStep)))
	if g.KMajor {
		g.RM(asm.LEA, asm.R9, asm.Idx(regStep, regStep, 2, 0))
	} else if g.Mr > 3 {
		g.RM(asm.LEA, asm.RAX, asm.Idx(regStep, regStep, 2, 0))
		for i := 1; i < g.registersA(); i++ {
			g.RM(asm.LEA, regA+asm.Reg(i), asm.Idx(regA+asm.Reg(i-1), asm.RAX, 1, 0))
		}
	}
}

// registersA returns how many registers point to A where rows have a stride.
func (g *tileGen) registersA() int {
	if g.Run > 0 {
		return g.Mr / g.Run
	}
	return (g.Mr + 2) / 3
}

// termStep returns the bytes from a term to the next where rows have a stride.
func (g *tileGen) termStep() int { return max(g.Step, 1) * g.D.Size() }

// term adds the products of step u of an unrolled loop.
func (g *tileGen) term(u int) {
	if g.table() {
		g.RM(asm.MOV, asm.RAX, asm.Ptr(regTable, int32(u*8)))
		for v := range g.Nv {
			g.loadVector(g.bReg(v), asm.Idx(vectorBase[v], asm.RAX, 1, 0), v)
		}
		if g.Segments == 1 && g.ISA == jit.AVX512 && g.Mr >= aheadRows {
			for v := range g.Nv {
				g.M(asm.PREFETCHT0, asm.Idx(vectorBase[v], asm.RAX, 1, int32(g.Nv*g.VB())))
			}
		}
		for s := 1; s < g.Segments; s++ {
			g.RR(asm.ADD, asm.RAX, regSegment)
			for v := range g.Nv {
				g.Mask(g.mask(s*g.Nv+v)).RM(g.Pick(asm.VMOVUPS, asm.VMOVUPD), g.bReg(v), asm.Idx(vectorBase[v], asm.RAX, 1, 0))
			}
		}
	} else {
		for v := range g.Nv {
			disp := int32(v * g.VB())
			m := [...]asm.Mem{
				asm.Ptr(asm.RSI, disp), asm.Idx(asm.RSI, regTable, 1, disp),
				asm.Idx(asm.RSI, regTable, 2, disp), asm.Idx(asm.RSI, asm.RAX, 1, disp),
			}[u]
			g.loadVector(g.bReg(v), m, v)
		}
	}
	size := int32(g.D.Size())
	g.eachRow(func(i int) {
		var m asm.Mem
		if g.KMajor {
			disp := int32(i) * size
			m = [...]asm.Mem{
				asm.Ptr(regA, disp), asm.Idx(regA, regStep, 1, disp),
				asm.Idx(regA, regStep, 2, disp), asm.Idx(regA, asm.R9, 1, disp),
			}[u]
		} else if g.Run > 0 {
			m = asm.Ptr(regA+asm.Reg(i/g.Run), int32(u*g.termStep()+i%g.Run*g.Dilation*g.D.Size()))
		} else {
			r := regA + asm.Reg(i/3)
			disp := int32(u * g.termStep())
			m = [...]asm.Mem{
				asm.Ptr(r, disp), asm.Idx(r, regStep, 1, disp), asm.Idx(r, regStep, 2, disp),
			}[i%3]
		}
		if g.ISA == jit.AVX512 && g.Nv == 1 {
			g.RRM(g.Pick(asm.VFMADD231PS, asm.VFMADD231PD), g.acc(i, 0), g.bReg(0), m.B())
			return
		}
		t := g.Temp(i)
		g.Broadcast(t, m)
		for v := range g.Nv {
			g.Fma(g.acc(i, v), t, g.bReg(v))
		}
	})
}

// eachRow writes what row writes for each row of a tile. With anyRows it ends after the last row.
func (g *tileGen) eachRow(row func(i int)) {
	end := g.NewLabel()
	for i := range g.Mr {
		row(i)
		if g.anyRows && i < g.Mr-1 {
			g.RI(asm.CMP, regRows, int64(i+1))
			g.Jcc(asm.CondE, end)
		}
	}
	g.Bind(end)
}

// prefetch prefetches PrefetchBytes and advances to the next bytes.
func (g *tileGen) prefetch() {
	a := &g.Asm
	for i := int32(0); i < PrefetchBytes; i += processor.Line {
		a.M(asm.PREFETCHT1, asm.Ptr(regPrefetch, i))
	}
	within := a.NewLabel()
	a.RI(asm.ADD, regPrefetch, PrefetchBytes)
	a.RI(asm.SUB, regPrefetchLeft, 1)
	a.Jcc(asm.CondNE, within)
	a.RR(asm.ADD, regPrefetch, regPrefetchStep)
	a.RM(asm.MOV, regPrefetchLeft, codegen.Field(unsafe.Offsetof(tf.PrefetchRun)))
	a.Bind(within)
}

// advance moves the pointers by n terms, 1 or 4.
func (g *tileGen) advance(n int) {
	if g.Prefetch && n > 1 {
		g.prefetch()
	}
	if g.table() {
		g.RI(asm.ADD, regTable, int64(8*n))
	} else {
		g.RM(asm.LEA, asm.RSI, asm.Idx(asm.RSI, regTable, uint8(n), 0))
	}
	if g.KMajor {
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
	// Each step that depends on a flag is jumped over if the flag is not set.
	rows := func(f func(i, v int, m asm.Mem)) {
		for v := range g.bases() {
			if g.table() {
				a.RM(asm.MOV, vectorBase[v], place(regTable, v, unsafe.Offsetof(Place{}.Dst)))
				a.RM(asm.ADD, vectorBase[v], codegen.Field(unsafe.Offsetof(tf.C)))
			} else {
				a.RM(asm.MOV, vectorBase[v], codegen.Field(unsafe.Offsetof(tf.C)))
			}
			a.RM(asm.ADD, vectorBase[v], codegen.Field(unsafe.Offsetof(tf.cAt)))
		}
		g.eachRow(func(i int) {
			if i > 0 {
				for v := range g.bases() {
					a.RR(asm.ADD, vectorBase[v], regStep)
				}
			}
			for v := range g.Nv {
				f(i, v, g.vectorAt(v))
			}
		})
	}
	if g.table() {
		a.RM(asm.MOV, regTable, codegen.Field(unsafe.Offsetof(tf.Places)))
	}
	if g.Segments > 1 {
		g.setCounts(regTable)
	}
	add := g.Pick(asm.VADDPS, asm.VADDPD)
	a.RM(asm.MOV, asm.RAX, codegen.Field(unsafe.Offsetof(tf.Flags)))
	a.RM(asm.MOV, regStep, codegen.Field(unsafe.Offsetof(tf.CStep)))
	if g.table() {
		// Sums that are zero are +0, whatever terms of the padding were.
		g.Zero(g.Temp(0))
		for i := range g.Mr {
			for v := range g.Nv {
				a.RRR(add, g.acc(i, v), g.acc(i, v), g.Temp(0))
			}
		}
	}
	g.When(FlagAdd, func() {
		rows(func(i, v int, m asm.Mem) {
			// Through B's register, which is free by now: a masked memory operand
			// needs AVX-512, and there must be no read outside the mask.
			g.loadVector(g.bReg(v), m, v)
			a.RRR(add, g.acc(i, v), g.bReg(v), g.acc(i, v))
		})
	})
	if g.table() {
		g.ends()
	}
	if g.ISA == jit.AVX2 && g.Masked && !g.table() {
		g.loadLanes(g.Nv - 1)
	}
	rows(func(i, v int, m asm.Mem) {
		if !g.isMasked(v) {
			g.Store(m, g.acc(i, v))
			return
		}
		if g.ISA == jit.AVX2 && g.table() {
			g.loadLanes(v)
		}
		g.StoreMasked(m, g.acc(i, v), g.mask(v), g.Temp(0))
	})
}

// ends adds the bias to the sums and holds their bounds.
func (g *tileGen) ends() {
	a := &g.Asm
	t := g.Temp(0)
	g.When(FlagBias, func() {
		a.RM(asm.MOV, regK, codegen.Field(unsafe.Offsetof(tf.Bias)))
		a.RM(asm.ADD, regK, codegen.Field(unsafe.Offsetof(tf.biasAt)))
		g.eachRow(func(i int) {
			g.Broadcast(t, asm.Ptr(regK, int32(i*g.D.Size())))
			for v := range g.Nv {
				a.RRR(g.Pick(asm.VADDPS, asm.VADDPD), g.acc(i, v), g.acc(i, v), t)
			}
		})
	})
	g.When(FlagBounds, func() {
		sums := make([]asm.Reg, g.Mr*g.Nv)
		for i := range sums {
			sums[i] = g.V(i)
		}
		g.Bound(sums, t, unsafe.Offsetof(tf.Low), unsafe.Offsetof(tf.High))
	})
}

// A Place is where a vector of outputs lies.
type Place struct {
	Src   int // offset in bytes from the source of the band
	Dst   int // the same from the first output of the band
	Count int
	Mask  uint64 // of the first Count lanes
	Parts [3]uint64
}
