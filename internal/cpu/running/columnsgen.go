package running

import (
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/codegen"
	"weft/internal/jit"
	"weft/internal/numbers"
	"weft/internal/x86/asm"
)

// A columnKey names the machine code for blocks of rows.
type columnKey struct {
	wide    bool // AVX-512
	first   bool // the first block of a group; otherwise sums holds the total of earlier blocks
	grouped bool // there is a carry into the group
	size    int  // bytes of an element
	// part means one block with fewer rows than a full one: the last of all, so its total is not
	// added to sums. The frame says how many rows there are and what goes before.
	part bool
}

var columnCodes = jit.NewCache[columnKey, *jit.Code](0)

func columnKernel(k columnKey) *jit.Code { return codegen.Kernel(columnCodes, k) }

// A columnFrame holds the arguments of a kernel of columns.
type columnFrame struct {
	x, y   unsafe.Pointer
	step   int // bytes from row to row
	next   int // bytes from behind the vectors of a block to the next block
	blocks int // at least 1; exactly 1 if it has fewer rows than a full block
	rows   int // of a part
	// Of a part: 1 if sums or group hold what goes before, else 0.
	hasSums, hasGroup int
	vectors           int            // of columns
	rest              int            // columns behind the last vector
	bits              int            // AVX-512: a bit for each of them
	mask              [8]int32       // AVX2: as a vector whose elements of rest are -1
	group             unsafe.Pointer // the carry into the group of blocks
	sums              unsafe.Pointer // the total of earlier blocks of the group; updated with these blocks
}

type columnWriter struct {
	codegen.Gen
	columnKey
}

// Registers of kernels of columns: pointers into x and y, to a half block there, and so on.
const (
	colX, colY, colX8, colY8     = asm.RSI, asm.RDX, asm.RBX, asm.R15
	colStep, colStep3, colStep5  = asm.RCX, asm.R11, asm.R12
	colStep7, colVectors         = asm.R13, asm.RAX
	colGroup, colSums, colBlocks = asm.R8, asm.R9, asm.R10
	colRows                      = asm.R14 // of a part
)

var columnArguments columnFrame // for offsets of its fields

// Generate writes the kernel of a key. It goes block by block and vector by vector of columns, with
// eight rows of the block in registers at a time.
func (k columnKey) Generate() *jit.Code {
	w := columnWriter{columnKey: k}
	w.ISA, w.D = jit.AVX2, array.Float32
	if k.wide {
		w.ISA = jit.AVX512
	}
	if k.size == 8 {
		w.D = array.Float64
	}
	a, f := &w.Asm, &columnArguments
	for _, l := range []struct {
		to asm.Reg
		at uintptr
	}{{colX, unsafe.Offsetof(f.x)}, {colY, unsafe.Offsetof(f.y)}, {colStep, unsafe.Offsetof(f.step)}, {colBlocks, unsafe.Offsetof(f.blocks)}, {colVectors, unsafe.Offsetof(f.bits)}} {
		a.RM(asm.MOV, l.to, codegen.Field(l.at))
	}
	a.RM(asm.LEA, colStep3, asm.Idx(colStep, colStep, 2, 0))
	a.RM(asm.LEA, colStep5, asm.Idx(colStep, colStep, 4, 0))
	a.RM(asm.LEA, colStep7, asm.Idx(colStep3, colStep, 4, 0))
	if w.wide {
		a.RR(asm.KMOVW, asm.K(1), colVectors)
	} else {
		w.Load(w.V(12), codegen.Field(unsafe.Offsetof(f.mask)))
	}
	if w.part {
		a.RM(asm.MOV, colRows, codegen.Field(unsafe.Offsetof(f.rows)))
	}
	done := a.NewLabel()
	if w.first { // later blocks of the group have it in their carry
		w.block()
		w.first = false
		a.RI(asm.SUB, colBlocks, 1)
		a.Jcc(asm.CondE, done)
	}
	next := a.Here()
	w.block()
	a.RI(asm.SUB, colBlocks, 1)
	a.Jcc(asm.CondNE, next)
	a.Bind(done)
	w.Done()
	return w.Install(k)
}

// block writes the sums of one block and moves to the next.
func (w *columnWriter) block() {
	a, f := &w.Asm, &columnArguments
	a.RM(asm.MOV, colSums, codegen.Field(unsafe.Offsetof(f.sums)))
	a.RM(asm.MOV, colGroup, codegen.Field(unsafe.Offsetof(f.group)))
	a.RM(asm.MOV, colVectors, codegen.Field(unsafe.Offsetof(f.vectors)))
	rest, done := a.NewLabel(), a.NewLabel()
	a.RR(asm.TEST, colVectors, colVectors)
	a.Jcc(asm.CondE, rest)
	a.Align(16)
	again := a.Here()
	w.vector(false)
	for _, r := range []asm.Reg{colX, colY, colGroup, colSums} {
		a.RI(asm.ADD, r, int64(w.VB()))
	}
	a.RI(asm.SUB, colVectors, 1)
	a.Jcc(asm.CondNE, again)
	a.Bind(rest)
	a.RM(asm.MOV, colVectors, codegen.Field(unsafe.Offsetof(f.rest)))
	a.RR(asm.TEST, colVectors, colVectors)
	a.Jcc(asm.CondE, done)
	w.vector(true)
	a.Bind(done)
	a.RM(asm.MOV, colVectors, codegen.Field(unsafe.Offsetof(f.next)))
	a.RR(asm.ADD, colX, colVectors)
	a.RR(asm.ADD, colY, colVectors)
}

// row is row i, counted from base, of eight.
func (w *columnWriter) row(base asm.Reg, i int) asm.Mem {
	switch i {
	case 0:
		return asm.Ptr(base, 0)
	case 1, 2, 4:
		return asm.Idx(base, colStep, uint8(i), 0)
	case 3:
		return asm.Idx(base, colStep3, 1, 0)
	case 5:
		return asm.Idx(base, colStep5, 1, 0)
	case 6:
		return asm.Idx(base, colStep3, 2, 0)
	}
	return asm.Idx(base, colStep7, 1, 0)
}

// vector writes the sums of one vector of columns, or of the columns after the last full vector.
func (w *columnWriter) vector(masked bool) {
	a := &w.Asm
	load, store := w.Load, w.Store
	if masked {
		load = func(dst asm.Reg, m asm.Mem) { w.LoadMasked(dst, m, asm.K(1), w.V(12)) }
		store = func(m asm.Mem, src asm.Reg) { w.StoreMasked(m, src, asm.K(1), w.V(12)) }
	}
	add := w.Pick(asm.VADDPS, asm.VADDPD)
	before, sum, low, t := w.V(0), w.V(1), w.V(2), w.V(3)
	switch {
	case w.part:
		w.partBefore(before, sum, load)
	case w.grouped:
		load(before, asm.Ptr(colGroup, 0))
	}
	if !w.first && !w.part {
		load(sum, asm.Ptr(colSums, 0))
		if w.grouped {
			a.RRR(add, before, before, sum)
		} else {
			before = sum
		}
	}
	from, to, end := colX, colY, a.NewLabel()
	rows := numbers.ScanBlockBytes / w.size
	for first := 0; first < rows; first += 8 {
		n := min(rows-first, 8)
		if first > 0 {
			a.RM(asm.LEA, colX8, asm.Idx(colX, colStep, 8, 0))
			a.RM(asm.LEA, colY8, asm.Idx(colY, colStep, 8, 0))
			from, to = colX8, colY8
		}
		v, loaded := make([]asm.Reg, n), a.NewLabel()
		for i := range v {
			v[i] = w.V(4 + i)
			w.endAfter(first+i, loaded)
			load(v[i], w.row(from, i))
		}
		a.Bind(loaded)
		for half := 1; half < n; half *= 2 {
			for i := range v {
				if i&half != 0 {
					a.RRR(add, v[i], v[i&^(2*half-1)|(half-1)], v[i])
				}
			}
		}
		for i := range v {
			w.endAfter(first+i, end)
			if first > 0 {
				a.RRR(add, v[i], low, v[i])
			}
			if w.first && !w.grouped {
				store(w.row(to, i), v[i])
				continue
			}
			a.RRR(add, t, before, v[i])
			store(w.row(to, i), t)
		}
		a.RR(asm.VMOVAPS, low, v[n-1])
	}
	a.Bind(end)
	switch {
	case w.part:
	case w.first:
		store(asm.Ptr(colSums, 0), low)
	default:
		a.RRR(add, sum, sum, low)
		store(asm.Ptr(colSums, 0), sum)
	}
}

// partBefore sets before to what goes before a part: minus zero, which changes no sum, and what the
// frame says that there is.
func (w *columnWriter) partBefore(before, t asm.Reg, load func(dst asm.Reg, m asm.Mem)) {
	a, f := &w.Asm, &columnArguments
	if w.size == 4 {
		w.Broadcast(before, a.Const32(1<<31))
	} else {
		w.Broadcast(before, a.Const64(1<<63))
	}
	for _, of := range []struct {
		has uintptr
		at  asm.Reg
	}{{unsafe.Offsetof(f.hasSums), colSums}, {unsafe.Offsetof(f.hasGroup), colGroup}} {
		none := a.NewLabel()
		a.MI(asm.CMP, codegen.Field(of.has), 0)
		a.Jcc(asm.CondE, none)
		load(t, asm.Ptr(of.at, 0))
		a.RRR(w.Pick(asm.VADDPS, asm.VADDPD), before, t, before)
		a.Bind(none)
	}
}

// endAfter jumps to end if a part has the given number of rows, at least 1. What registers hold of
// rows behind those is not stored.
func (w *columnWriter) endAfter(rows int, end asm.Label) {
	if w.part && rows > 0 {
		w.RI(asm.CMP, colRows, int64(rows))
		w.Jcc(asm.CondE, end)
	}
}
