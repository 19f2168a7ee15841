package gemm

import (
	"unsafe"

	"weft/internal/jit"
	"weft/internal/x86/asm"
)

// A padFrame holds the arguments of the kernel that copies rows with zeros before and
// after each. Steps are in bytes.
type padFrame struct {
	src, dst         unsafe.Pointer
	srcStep, dstStep int
	rows             int
	vectors          int // whole ones in a row
	left             int // bytes of zeros before
	tail             int // bytes after the whole vectors
	// For zeros before, elements after the whole vectors, and zeros after those.
	mask  [3]uint64
	lanes [3][32]byte
}

var df padFrame

// genPad writes the kernel. It writes no byte outside of the rows.
func genPad(g *gen) {
	a := &g.Asm
	a.RM(asm.MOV, asm.RSI, field(unsafe.Offsetof(df.src)))
	a.RM(asm.MOV, asm.RDX, field(unsafe.Offsetof(df.dst)))
	a.RM(asm.MOV, asm.R8, field(unsafe.Offsetof(df.srcStep)))
	a.RM(asm.MOV, asm.R9, field(unsafe.Offsetof(df.dstStep)))
	a.RM(asm.MOV, asm.RCX, field(unsafe.Offsetof(df.rows)))
	a.RM(asm.MOV, asm.R10, field(unsafe.Offsetof(df.left)))
	a.RM(asm.MOV, asm.R11, field(unsafe.Offsetof(df.tail)))
	masks := [...]asm.Reg{g.v(13), g.v(14), g.v(15)}
	for i := range masks {
		if g.isa == jit.AVX512 {
			a.RM(asm.MOV32, asm.RAX, field(unsafe.Offsetof(df.mask)+uintptr(i)*8))
			a.RR(asm.KMOVW, asm.K(1+i), asm.RAX)
		} else {
			g.load(masks[i], field(unsafe.Offsetof(df.lanes)+uintptr(i)*32))
		}
	}
	g.zero(g.v(1))
	row := a.Here()
	g.storeMasked(asm.Ptr(asm.RDX, 0), g.v(1), asm.K1, masks[0])
	a.RR(asm.MOV, asm.R12, asm.RSI)
	a.RM(asm.LEA, asm.R13, asm.Idx(asm.RDX, asm.R10, 1, 0))
	last := a.NewLabel()
	a.RM(asm.MOV, asm.R14, field(unsafe.Offsetof(df.vectors)))
	a.RR(asm.TEST, asm.R14, asm.R14)
	a.Jcc(asm.CondE, last)
	vector := a.Here()
	g.load(g.v(0), asm.Ptr(asm.R12, 0))
	g.store(asm.Ptr(asm.R13, 0), g.v(0))
	a.RI(asm.ADD, asm.R12, int64(g.vb()))
	a.RI(asm.ADD, asm.R13, int64(g.vb()))
	a.RI(asm.SUB, asm.R14, 1)
	a.Jcc(asm.CondNE, vector)
	a.Bind(last)
	g.loadMasked(g.v(0), asm.Ptr(asm.R12, 0), asm.K2, masks[1])
	g.storeMasked(asm.Ptr(asm.R13, 0), g.v(0), asm.K2, masks[1])
	g.storeMasked(asm.Idx(asm.R13, asm.R11, 1, 0), g.v(1), asm.K3, masks[2])
	a.RR(asm.ADD, asm.RSI, asm.R8)
	a.RR(asm.ADD, asm.RDX, asm.R9)
	a.RI(asm.SUB, asm.RCX, 1)
	a.Jcc(asm.CondNE, row)
	g.done()
}

// pad copies rows of n elements with left zeros before and right after, at most a
// vector of each. It enters the kernel for about 128 KB at a time.
func (m machine) pad(dst unsafe.Pointer, dstStep int, src unsafe.Pointer, srcStep, rows, left, n, right int) {
	f := padFrame{srcStep: srcStep * m.size, dstStep: dstStep * m.size,
		vectors: n / m.lanes, left: left * m.size, tail: n % m.lanes * m.size}
	for i, l := range [3]int{left, n % m.lanes, right} {
		m.setMask(&f.mask[i], &f.lanes[i], l)
	}
	most := max(1, (128<<10)/(n*m.size))
	for at := 0; at < rows; at += most {
		f.src, f.dst = unsafe.Add(src, at*f.srcStep), unsafe.Add(dst, at*f.dstStep)
		f.rows = min(most, rows-at)
		m.call(padRoutine, 0, 0, 0, unsafe.Pointer(&f))
	}
}
