package convolution

import (
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/codegen"
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

type padKey struct {
	isa jit.ISA
	d   array.DType
}

var pads = jit.NewCache[padKey, *jit.Code](0)

func (k padKey) Generate() *jit.Code {
	g := &codegen.Gen{ISA: k.isa, D: k.d}
	genPad(g)
	return g.Install(k)
}

// genPad writes the kernel. It writes no byte outside of the rows.
func genPad(g *codegen.Gen) {
	a := &g.Asm
	a.RM(asm.MOV, asm.RSI, codegen.Field(unsafe.Offsetof(df.src)))
	a.RM(asm.MOV, asm.RDX, codegen.Field(unsafe.Offsetof(df.dst)))
	a.RM(asm.MOV, asm.R8, codegen.Field(unsafe.Offsetof(df.srcStep)))
	a.RM(asm.MOV, asm.R9, codegen.Field(unsafe.Offsetof(df.dstStep)))
	a.RM(asm.MOV, asm.RCX, codegen.Field(unsafe.Offsetof(df.rows)))
	a.RM(asm.MOV, asm.R10, codegen.Field(unsafe.Offsetof(df.left)))
	a.RM(asm.MOV, asm.R11, codegen.Field(unsafe.Offsetof(df.tail)))
	masks := [...]asm.Reg{g.V(13), g.V(14), g.V(15)}
	for i := range masks {
		if g.ISA == jit.AVX512 {
			a.RM(asm.MOV32, asm.RAX, codegen.Field(unsafe.Offsetof(df.mask)+uintptr(i)*8))
			a.RR(asm.KMOVW, asm.K(1+i), asm.RAX)
		} else {
			g.Load(masks[i], codegen.Field(unsafe.Offsetof(df.lanes)+uintptr(i)*32))
		}
	}
	g.Zero(g.V(1))
	row := a.Here()
	g.StoreMasked(asm.Ptr(asm.RDX, 0), g.V(1), asm.K1, masks[0])
	a.RR(asm.MOV, asm.R12, asm.RSI)
	a.RM(asm.LEA, asm.R13, asm.Idx(asm.RDX, asm.R10, 1, 0))
	last := a.NewLabel()
	a.RM(asm.MOV, asm.R14, codegen.Field(unsafe.Offsetof(df.vectors)))
	a.RR(asm.TEST, asm.R14, asm.R14)
	a.Jcc(asm.CondE, last)
	vector := a.Here()
	g.Load(g.V(0), asm.Ptr(asm.R12, 0))
	g.Store(asm.Ptr(asm.R13, 0), g.V(0))
	a.RI(asm.ADD, asm.R12, int64(g.VB()))
	a.RI(asm.ADD, asm.R13, int64(g.VB()))
	a.RI(asm.SUB, asm.R14, 1)
	a.Jcc(asm.CondNE, vector)
	a.Bind(last)
	g.LoadMasked(g.V(0), asm.Ptr(asm.R12, 0), asm.K2, masks[1])
	g.StoreMasked(asm.Ptr(asm.R13, 0), g.V(0), asm.K2, masks[1])
	g.StoreMasked(asm.Idx(asm.R13, asm.R11, 1, 0), g.V(1), asm.K3, masks[2])
	a.RR(asm.ADD, asm.RSI, asm.R8)
	a.RR(asm.ADD, asm.RDX, asm.R9)
	a.RI(asm.SUB, asm.RCX, 1)
	a.Jcc(asm.CondNE, row)
	g.Done()
}

// pad copies rows of n elements with left zeros before and right after, at most a
// vector of each. It enters the kernel for gen.ChunkBytes at a time.
func (c *correlation) pad(dst unsafe.Pointer, dstStep int, src unsafe.Pointer, srcStep, rows, left, n, right int) {
	m := c.Machine
	f := padFrame{srcStep: srcStep * m.Size, dstStep: dstStep * m.Size,
		vectors: n / m.Lanes, left: left * m.Size, tail: n % m.Lanes * m.Size}
	for i, l := range [3]int{left, n % m.Lanes, right} {
		m.SetMask(&f.mask[i], &f.lanes[i], l)
	}
	most := max(1, codegen.ChunkBytes/(n*m.Size))
	for at := 0; at < rows; at += most {
		f.src, f.dst = unsafe.Add(src, at*f.srcStep), unsafe.Add(dst, at*f.dstStep)
		f.rows = min(most, rows-at)
		jit.Call(codegen.Kernel(pads, padKey{m.ISA, m.D}), 0, unsafe.Pointer(&f))
	}
}
