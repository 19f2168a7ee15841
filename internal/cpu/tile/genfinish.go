package tile

import (
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/codegen"
	"weft/internal/jit"
	"weft/internal/x86/asm"
)

// A RowsFrame holds the arguments of the kernels for a few rows of A and a B that is too large
// for the caches, and of the kernel that finishes their sums.
type RowsFrame struct {
	A, B    unsafe.Pointer
	Sums    unsafe.Pointer // rows are a fixed number of bytes apart
	C       unsafe.Pointer
	AStep   int // bytes from row to row
	BStep   int
	Vectors int // whole ones
	Rows    int // of A
	Flags   int
	Mask    uint64 // of one more vector, or 0
	Lanes   [32]byte
}

var Rf RowsFrame

// LastVector loads the mask of a RowsFrame, or jumps to end if it is 0.
func LastVector(g *codegen.Gen, end asm.Label) {
	g.RM(asm.MOV, asm.RCX, codegen.Field(unsafe.Offsetof(Rf.Mask)))
	g.RR(asm.TEST, asm.RCX, asm.RCX)
	g.Jcc(asm.CondE, end)
	if g.ISA == jit.AVX512 {
		g.RR(asm.KMOVW, asm.K1, asm.RCX)
	} else {
		g.Load(g.V(15), codegen.Field(unsafe.Offsetof(Rf.Lanes)))
	}
}

// genFinish writes the kernel that makes results of the sums of one row, as tileGen.finish
// does.
func genFinish(g *codegen.Gen) {
	a := &g.Asm
	add := g.Pick(asm.VADDPS, asm.VADDPD)
	a.RM(asm.MOV, asm.RSI, codegen.Field(unsafe.Offsetof(Rf.Sums)))
	a.RM(asm.MOV, asm.RDX, codegen.Field(unsafe.Offsetof(Rf.C)))
	a.RM(asm.MOV, asm.RAX, codegen.Field(unsafe.Offsetof(Rf.Flags)))
	a.RM(asm.MOV, asm.RCX, codegen.Field(unsafe.Offsetof(Rf.Vectors)))
	vector := func(load func(dst asm.Reg, m asm.Mem), store func(m asm.Mem, src asm.Reg)) {
		load(g.V(0), asm.Ptr(asm.RSI, 0))
		g.When(FlagAdd, func() {
			load(g.V(1), asm.Ptr(asm.RDX, 0))
			a.RRR(add, g.V(0), g.V(1), g.V(0))
		})
		store(asm.Ptr(asm.RDX, 0), g.V(0))
	}
	rest, end := a.NewLabel(), a.NewLabel()
	a.RR(asm.TEST, asm.RCX, asm.RCX)
	a.Jcc(asm.CondE, rest)
	loop := a.Here()
	vector(g.Load, g.Store)
	a.RI(asm.ADD, asm.RSI, int64(g.VB()))
	a.RI(asm.ADD, asm.RDX, int64(g.VB()))
	a.RI(asm.SUB, asm.RCX, 1)
	a.Jcc(asm.CondNE, loop)
	a.Bind(rest)
	LastVector(g, end)
	vector(
		func(dst asm.Reg, m asm.Mem) { g.LoadMasked(dst, m, asm.K1, g.V(15)) },
		func(m asm.Mem, src asm.Reg) { g.StoreMasked(m, src, asm.K1, g.V(15)) },
	)
	a.Bind(end)
	g.Done()
}

type finishKey struct {
	isa jit.ISA
	d   array.DType
}

var finishes = jit.NewCache[finishKey, *jit.Code](0)

func (k finishKey) Generate() *jit.Code {
	g := &codegen.Gen{ISA: k.isa, D: k.d}
	genFinish(g)
	return g.Install(k)
}

// Finisher returns the kernel of Finish.
func (m Machine) Finisher() *jit.Code { return codegen.Kernel(finishes, finishKey{m.ISA, m.D}) }

// Finish makes results of the sums of a row.
func (f *RowsFrame) Finish(m Machine) { jit.Call(m.Finisher(), 0, unsafe.Pointer(f)) }
