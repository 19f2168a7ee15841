package move

import (
	"runtime"
	"unsafe"

	"weft/internal/array"
	"weft/internal/jit"
	"weft/internal/x86/asm"
)

// A Fetcher asks for rows that are needed soon: those at computed places would each
// be waited for.
type Fetcher struct {
	code  *jit.Code
	frame fetchFrame
}

type fetchFrame struct {
	src   unsafe.Pointer
	lines int
}

// NewFetcher returns a Fetcher of rows of so many bytes. It does nothing for rows
// that are too short to gain from it, and without machine code.
func NewFetcher(row int) Fetcher {
	f := Fetcher{frame: fetchFrame{lines: min((row+line-1)/line, 64)}}
	if native() && row >= 4*line {
		f.code = codeKey{routine: fetchRoutine}.code()
	}
	return f
}

// Fetch asks for the row at p.
func (f *Fetcher) Fetch(p unsafe.Pointer) {
	if f.code != nil {
		f.frame.src = p
		call(f.code, unsafe.Pointer(&f.frame))
	}
}

// CopyRows copies the rows of so many bytes that idx numbers from src to dst, where
// they lie side by side. all is the number of bytes written by this call and others
// that belong to it. It does nothing, and says so, for rows that are not whole lines
// and without machine code.
func CopyRows(dst, src unsafe.Pointer, idx []int, row, all int) bool {
	if !native() || row%line != 0 || len(idx) == 0 {
		return false
	}
	mode := whole
	if all >= streamMin && uintptr(dst)%line == 0 {
		mode = past
	}
	code := codeKey{routine: rowsRoutine, mode: mode}.code()
	f := rowsFrame{dst: uintptr(dst), src: src, row: row, ahead: 8 * rowsAhead}
	// The last rows ask for nothing that is not there.
	for _, part := range [][]int{idx[:max(len(idx)-rowsAhead, 0)], idx[max(len(idx)-rowsAhead, 0):]} {
		if len(part) > 0 {
			f.idx, f.end = unsafe.Pointer(unsafe.SliceData(part)), 8*len(part)
			call(code, unsafe.Pointer(&f))
		}
		f.ahead = 0
	}
	runtime.KeepAlive(dst)
	return true
}

// rowsAhead is the number of rows that are asked for before they are copied.
const rowsAhead = 6

type rowsFrame struct {
	dst      uintptr // moves
	src, idx unsafe.Pointer
	row      int // bytes
	end      int // bytes of idx
	ahead    int // bytes in idx to the row that is asked for
}

// rows writes the kernel of CopyRows.
func (g *gen) rows() {
	a := &g.Asm
	store := asm.VMOVUPS
	if g.mode == past {
		store = asm.VMOVNTPS
	}
	a.RM(asm.MOV, asm.R8, field(unsafe.Offsetof(rowsFrame{}.dst)))
	a.RM(asm.MOV, asm.RSI, field(unsafe.Offsetof(rowsFrame{}.src)))
	a.RM(asm.MOV, asm.R9, field(unsafe.Offsetof(rowsFrame{}.idx)))
	a.RM(asm.MOV, asm.R10, field(unsafe.Offsetof(rowsFrame{}.row)))
	a.RM(asm.MOV, asm.R11, field(unsafe.Offsetof(rowsFrame{}.ahead)))
	a.RM(asm.MOV, asm.R13, field(unsafe.Offsetof(rowsFrame{}.end)))
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
	a.RI(asm.ADD, asm.R8, line)
	a.RI(asm.ADD, asm.R14, line)
	a.RR(asm.CMP, asm.R14, asm.R10)
	a.Jcc(asm.CondL, copyLine)
	a.RI(asm.ADD, asm.RCX, 8)
	a.RR(asm.CMP, asm.RCX, asm.R13)
	a.Jcc(asm.CondL, next)
	a.MR(asm.MOV, field(unsafe.Offsetof(rowsFrame{}.dst)), asm.R8)
	if g.mode == past {
		a.Op0(asm.SFENCE)
	}
	g.done()
}

// SumRows writes to dst, a row of so many bytes, base plus the rows of src that ids
// numbers, one after the other; base may be nil for zeros. It does nothing, and says
// so, for rows that are not whole lines and without machine code.
func SumRows(d array.DType, dst, base, src unsafe.Pointer, ids []int, row int) bool {
	if !native() || row%line != 0 || d.Size() < 4 {
		return false
	}
	f := sumFrame{dst: dst, base: base, src: src, ids: unsafe.Pointer(unsafe.SliceData(ids)), end: 8 * len(ids), row: row}
	call(codeKey{routine: sumRoutine, dtype: d}.code(), unsafe.Pointer(&f))
	return true
}

type sumFrame struct {
	dst, base, src, ids unsafe.Pointer
	end                 int // bytes of ids
	row                 int // bytes
}

// sum writes the kernel of SumRows.
func (g *gen) sum() {
	a := &g.Asm
	add := map[array.DType]asm.Op{array.Float32: asm.VADDPS, array.Float64: asm.VADDPD, array.Int32: asm.VPADDD, array.Int64: asm.VPADDQ}[g.dtype]
	a.RM(asm.MOV, asm.R8, field(unsafe.Offsetof(sumFrame{}.dst)))
	a.RM(asm.MOV, asm.R9, field(unsafe.Offsetof(sumFrame{}.base)))
	a.RM(asm.MOV, asm.RSI, field(unsafe.Offsetof(sumFrame{}.src)))
	a.RM(asm.MOV, asm.R10, field(unsafe.Offsetof(sumFrame{}.ids)))
	a.RM(asm.MOV, asm.R11, field(unsafe.Offsetof(sumFrame{}.end)))
	a.RM(asm.MOV, asm.R13, field(unsafe.Offsetof(sumFrame{}.row)))
	a.RR(asm.XOR32, asm.R14, asm.R14)
	next, rows, sum, done := a.Here(), a.NewLabel(), a.NewLabel(), a.NewLabel()
	a.RRR(asm.VPXOR, asm.Y(0), asm.Y(0), asm.Y(0))
	a.RRR(asm.VPXOR, asm.Y(1), asm.Y(1), asm.Y(1))
	a.RR(asm.TEST, asm.R9, asm.R9)
	a.Jcc(asm.CondE, rows)
	a.RM(asm.VMOVUPS, asm.Y(0), asm.Idx(asm.R9, asm.R14, 1, 0))
	a.RM(asm.VMOVUPS, asm.Y(1), asm.Idx(asm.R9, asm.R14, 1, 32))
	a.Bind(rows)
	a.RR(asm.XOR32, asm.RCX, asm.RCX)
	a.Bind(sum)
	a.RR(asm.CMP, asm.RCX, asm.R11)
	a.Jcc(asm.CondGE, done)
	a.RM(asm.MOV, asm.RAX, asm.Idx(asm.R10, asm.RCX, 1, 0))
	a.RR(asm.IMUL, asm.RAX, asm.R13)
	a.RR(asm.ADD, asm.RAX, asm.RSI)
	a.RRM(add, asm.Y(0), asm.Y(0), asm.Idx(asm.RAX, asm.R14, 1, 0))
	a.RRM(add, asm.Y(1), asm.Y(1), asm.Idx(asm.RAX, asm.R14, 1, 32))
	a.RI(asm.ADD, asm.RCX, 8)
	a.Jmp(sum)
	a.Bind(done)
	a.MR(asm.VMOVUPS, asm.Idx(asm.R8, asm.R14, 1, 0), asm.Y(0))
	a.MR(asm.VMOVUPS, asm.Idx(asm.R8, asm.R14, 1, 32), asm.Y(1))
	a.RI(asm.ADD, asm.R14, line)
	a.RR(asm.CMP, asm.R14, asm.R13)
	a.Jcc(asm.CondL, next)
	g.done()
}

// fetch writes the kernel of a Fetcher.
func (g *gen) fetch() {
	a := &g.Asm
	a.RM(asm.MOV, asm.RSI, field(unsafe.Offsetof(fetchFrame{}.src)))
	a.RM(asm.MOV, asm.RCX, field(unsafe.Offsetof(fetchFrame{}.lines)))
	next := a.Here()
	a.M(asm.PREFETCHT0, asm.Ptr(asm.RSI, 0))
	a.RI(asm.ADD, asm.RSI, line)
	a.RI(asm.SUB, asm.RCX, 1)
	a.Jcc(asm.CondNE, next)
	a.RR(asm.XOR32, asm.RAX, asm.RAX)
	a.Op0(asm.RET)
}
