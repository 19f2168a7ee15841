package index

import (
	"runtime"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/codegen"
	"weft/internal/jit"
	"weft/internal/processor"
	"weft/internal/x86/asm"
)

// A Fetcher prefetches rows that are needed soon. The hardware prefetcher does not, because
// their addresses are computed.
type Fetcher struct {
	code  *jit.Code
	frame fetchFrame
}

type fetchFrame struct {
	src   unsafe.Pointer
	lines int
}

// fetchLeast is the number of lines from which rows gain from a prefetch. At most fetchMost
// lines, a page, are prefetched: behind them the hardware prefetcher takes over.
const fetchLeast, fetchMost = 4, 64

// NewFetcher returns a Fetcher of rows of row bytes. The Fetcher does nothing without machine
// code, or for rows that are too short to gain from a prefetch.
func NewFetcher(isa jit.ISA, row int) Fetcher {
	f := Fetcher{frame: fetchFrame{lines: min((row+processor.Line-1)/processor.Line, fetchMost)}}
	if isa != jit.Portable && row >= fetchLeast*processor.Line {
		f.code = codegen.Kernel(codes, key{routine: fetchRoutine})
	}
	return f
}

// Fetch prefetches the row at p.
func (f *Fetcher) Fetch(p unsafe.Pointer) {
	if f.code != nil {
		f.frame.src = p
		jit.Call(f.code, 0, unsafe.Pointer(&f.frame))
	}
}

// Rows are rows of memory at computed addresses.
type Rows struct {
	ISA jit.ISA
	Row int // bytes of one
	All int // bytes that this call writes, and others that belong to it
}

// nonTemporal reports whether to write the rows by non-temporal stores.
func (r *Rows) nonTemporal(dst unsafe.Pointer) bool {
	return r.All >= processor.Host.NonTemporalFrom && uintptr(dst)%processor.Line == 0
}

// Copy copies the rows of src at indices idx to dst, one behind the other. It returns false, and
// does nothing, for rows that are not whole lines and without machine code.
func (r *Rows) Copy(dst, src unsafe.Pointer, idx []int) bool {
	if r.ISA == jit.Portable || r.Row%processor.Line != 0 || len(idx) == 0 {
		return false
	}
	code := codegen.Kernel(codes, key{routine: rowsRoutine, nonTemporal: r.nonTemporal(dst)})
	f := rowsFrame{dst: uintptr(dst), src: src, row: r.Row, prefetch: 8 * prefetchRows}
	// The last rows prefetch nothing, since no rows follow.
	for _, part := range [][]int{idx[:max(len(idx)-prefetchRows, 0)], idx[max(len(idx)-prefetchRows, 0):]} {
		if len(part) > 0 {
			f.idx, f.end = unsafe.Pointer(unsafe.SliceData(part)), 8*len(part)
			jit.Call(code, 0, unsafe.Pointer(&f))
		}
		f.prefetch = 0
	}
	runtime.KeepAlive(dst)
	return true
}

type rowsFrame struct {
	dst      uintptr // moves
	src, idx unsafe.Pointer
	row      int // bytes
	end      int // bytes of idx
	prefetch int // bytes in idx to the index of the row that is prefetched
}

// rows writes the kernel of Rows.Copy.
func (g *writer) rows() {
	a := &g.Asm
	store := asm.VMOVUPS
	if g.nonTemporal {
		store = asm.VMOVNTPS
	}
	a.RM(asm.MOV, asm.R8, codegen.Field(unsafe.Offsetof(rowsFrame{}.dst)))
	a.RM(asm.MOV, asm.RSI, codegen.Field(unsafe.Offsetof(rowsFrame{}.src)))
	a.RM(asm.MOV, asm.R9, codegen.Field(unsafe.Offsetof(rowsFrame{}.idx)))
	a.RM(asm.MOV, asm.R10, codegen.Field(unsafe.Offsetof(rowsFrame{}.row)))
	a.RM(asm.MOV, asm.R11, codegen.Field(unsafe.Offsetof(rowsFrame{}.prefetch)))
	a.RM(asm.MOV, asm.R13, codegen.Field(unsafe.Offsetof(rowsFrame{}.end)))
	a.RR(asm.ADD, asm.R11, asm.R9)
	a.RR(asm.XOR32, asm.RCX, asm.RCX)
	next := a.Here()
	for _, p := range [][2]asm.Reg{{asm.RAX, asm.R9}, {asm.RBX, asm.R11}} {
		a.RM(asm.MOV, p[0], asm.Idx(p[1], asm.RCX, 1, 0))
		a.RR(asm.IMUL, p[0], asm.R10)
		a.RR(asm.ADD, p[0], asm.RSI)
	}
	a.RR(asm.XOR32, asm.R14, asm.R14)
	copyLine := a.Here()
	a.M(asm.PREFETCHT0, asm.Idx(asm.RBX, asm.R14, 1, 0))
	a.RM(asm.VMOVUPS, asm.Y(0), asm.Idx(asm.RAX, asm.R14, 1, 0))
	a.RM(asm.VMOVUPS, asm.Y(1), asm.Idx(asm.RAX, asm.R14, 1, 32))
	a.MR(store, asm.Ptr(asm.R8, 0), asm.Y(0))
	a.MR(store, asm.Ptr(asm.R8, 32), asm.Y(1))
	a.RI(asm.ADD, asm.R8, processor.Line)
	a.RI(asm.ADD, asm.R14, processor.Line)
	a.RR(asm.CMP, asm.R14, asm.R10)
	a.Jcc(asm.CondL, copyLine)
	a.RI(asm.ADD, asm.RCX, 8)
	a.RR(asm.CMP, asm.RCX, asm.R13)
	a.Jcc(asm.CondL, next)
	a.MR(asm.MOV, codegen.Field(unsafe.Offsetof(rowsFrame{}.dst)), asm.R8)
	if g.nonTemporal {
		a.Op0(asm.SFENCE)
	}
	g.Done()
}

// Sum writes to dst rows of elements of type d, one behind the other. Row k is the row of base
// plus the rows of src at order[start[k]:start[k+1]], added in that order. base may be nil for
// zeros. It requires prefetchRows more valid numbers behind order. Sum returns false, and does
// nothing, for rows that are not whole lines and without machine code.
func (r *Rows) Sum(d array.DType, dst, base, src unsafe.Pointer, start, order []int) bool {
	if r.ISA == jit.Portable || r.Row%processor.Line != 0 || adds[d] == 0 || len(start) < 2 {
		return false
	}
	k := key{routine: sumRoutine, dtype: d, nonTemporal: r.nonTemporal(dst)}
	f := sumFrame{dst: uintptr(dst), base: uintptr(base), src: src, order: unsafe.Pointer(unsafe.SliceData(order)),
		start: unsafe.Pointer(unsafe.SliceData(start)), end: 8 * (len(start) - 1), row: r.Row}
	jit.Call(codegen.Kernel(codes, k), 0, unsafe.Pointer(&f))
	runtime.KeepAlive(dst)
	runtime.KeepAlive(base)
	return true
}

// prefetchRows is how many rows before its use a row is prefetched.
const prefetchRows = 6

type sumFrame struct {
	dst, base         uintptr // move
	src, order, start unsafe.Pointer
	end               int // bytes of start, less one number
	row               int // bytes
}

// adds are the instructions that add vectors of elements.
var adds = map[array.DType]asm.Op{array.Float32: asm.VADDPS, array.Float64: asm.VADDPD,
	array.Int32: asm.VPADDD, array.Uint32: asm.VPADDD, array.Int64: asm.VPADDQ, array.Uint64: asm.VPADDQ}

// sum writes the kernel of Rows.Sum.
func (g *writer) sum() {
	a := &g.Asm
	add := adds[g.dtype]
	store := asm.VMOVUPS
	if g.nonTemporal {
		store = asm.VMOVNTPS
	}
	dst, base, src, order, start, end, row := asm.R8, asm.R9, asm.RSI, asm.R10, asm.R12, asm.R11, asm.R13
	at, prefetch, id, first, last, off := asm.RAX, asm.R15, asm.RCX, asm.RBX, asm.RDX, asm.R14
	a.RM(asm.MOV, dst, codegen.Field(unsafe.Offsetof(sumFrame{}.dst)))
	a.RM(asm.MOV, base, codegen.Field(unsafe.Offsetof(sumFrame{}.base)))
	a.RM(asm.MOV, src, codegen.Field(unsafe.Offsetof(sumFrame{}.src)))
	a.RM(asm.MOV, order, codegen.Field(unsafe.Offsetof(sumFrame{}.order)))
	a.RM(asm.MOV, start, codegen.Field(unsafe.Offsetof(sumFrame{}.start)))
	a.RM(asm.MOV, end, codegen.Field(unsafe.Offsetof(sumFrame{}.end)))
	a.RM(asm.MOV, row, codegen.Field(unsafe.Offsetof(sumFrame{}.row)))
	a.RR(asm.ADD, end, start)
	target := a.Here()
	a.RM(asm.MOV, first, asm.Ptr(start, 0))
	a.RM(asm.MOV, last, asm.Ptr(start, 8))
	a.RM(asm.LEA, first, asm.Idx(order, first, 8, 0))
	a.RM(asm.LEA, last, asm.Idx(order, last, 8, 0))
	a.RR(asm.XOR32, off, off)
	next, rows, sum, done := a.Here(), a.NewLabel(), a.NewLabel(), a.NewLabel()
	a.RRR(asm.VPXOR, asm.Y(0), asm.Y(0), asm.Y(0))
	a.RRR(asm.VPXOR, asm.Y(1), asm.Y(1), asm.Y(1))
	a.RR(asm.TEST, base, base)
	a.Jcc(asm.CondE, rows)
	a.RM(asm.VMOVUPS, asm.Y(0), asm.Idx(base, off, 1, 0))
	a.RM(asm.VMOVUPS, asm.Y(1), asm.Idx(base, off, 1, 32))
	a.Bind(rows)
	a.RR(asm.MOV, id, first)
	a.Bind(sum)
	a.RR(asm.CMP, id, last)
	a.Jcc(asm.CondGE, done)
	for i, r := range []asm.Reg{at, prefetch} {
		a.RM(asm.MOV, r, asm.Ptr(id, int32(8*prefetchRows*i)))
		a.RR(asm.IMUL, r, row)
		a.RR(asm.ADD, r, src)
	}
	a.M(asm.PREFETCHT0, asm.Idx(prefetch, off, 1, 0))
	a.RRM(add, asm.Y(0), asm.Y(0), asm.Idx(at, off, 1, 0))
	a.RRM(add, asm.Y(1), asm.Y(1), asm.Idx(at, off, 1, 32))
	a.RI(asm.ADD, id, 8)
	a.Jmp(sum)
	a.Bind(done)
	a.MR(store, asm.Idx(dst, off, 1, 0), asm.Y(0))
	a.MR(store, asm.Idx(dst, off, 1, 32), asm.Y(1))
	a.RI(asm.ADD, off, processor.Line)
	a.RR(asm.CMP, off, row)
	a.Jcc(asm.CondL, next)
	a.RR(asm.ADD, dst, row)
	a.RR(asm.TEST, base, base)
	none := a.NewLabel()
	a.Jcc(asm.CondE, none)
	a.RR(asm.ADD, base, row)
	a.Bind(none)
	a.RI(asm.ADD, start, 8)
	a.RR(asm.CMP, start, end)
	a.Jcc(asm.CondL, target)
	if g.nonTemporal {
		a.Op0(asm.SFENCE)
	}
	g.Done()
}

// fetch writes the kernel of a Fetcher.
func (g *writer) fetch() {
	a := &g.Asm
	a.RM(asm.MOV, asm.RSI, codegen.Field(unsafe.Offsetof(fetchFrame{}.src)))
	a.RM(asm.MOV, asm.RCX, codegen.Field(unsafe.Offsetof(fetchFrame{}.lines)))
	next := a.Here()
	a.M(asm.PREFETCHT0, asm.Ptr(asm.RSI, 0))
	a.RI(asm.ADD, asm.RSI, processor.Line)
	a.RI(asm.SUB, asm.RCX, 1)
	a.Jcc(asm.CondNE, next)
	a.RR(asm.XOR32, asm.RAX, asm.RAX)
	a.Op0(asm.RET)
}
