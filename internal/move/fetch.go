package move

import (
	"unsafe"

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
