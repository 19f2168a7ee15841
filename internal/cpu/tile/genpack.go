package tile

import (
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/codegen"
	"weft/internal/jit"
	"weft/internal/x86/asm"
)

// A packFrame holds the arguments of the packing kernels. Steps are in bytes.
//
// Both write a panel: for each of k terms, a row of whole vectors at dst + p*dstStep.
type packFrame struct {
	src     unsafe.Pointer
	dst     unsafe.Pointer
	srcStep int // from row to row
	dstStep int
	k       int
	rows    int // transposing: how many; copying: vectors, 1 to maxVectors
	form    int
	// Copying: panels side by side in the source, and from one to the next there and in
	// the destination.
	panels, panelFrom, panelStep int
	mask                         uint64   // copying: lanes of the last vector; transposing: lanes of the last k
	lanes                        [32]byte // the same for AVX2
}

var pf packFrame

// A packKey names a kernel that packs. It has three forms, so that new sizes generate no code.
type packKey struct {
	isa     jit.ISA
	d, from array.DType // of the panel and of the source
	last    int         // where there is no mask for the source: lanes of what it would mask, 0 for all
	nv      int         // if not 0: the only form copies that many vectors
}

// Forms of the kernels that pack.
const (
	packCopy  = iota // vectors of columns, at most maxVectors
	packFew          // transposing less than a vector of rows
	packWhole        // transposing a vector of rows
)

var packs = jit.NewCache[packKey, *jit.Code](0)

func (k packKey) Generate() *jit.Code {
	g := &codegen.Gen{ISA: k.isa, D: k.d}
	if k.nv > 0 {
		genPackCopy(g, k.nv, k.last, k.from)
		return g.Install(k)
	}
	g.RM(asm.MOV, asm.RAX, codegen.Field(unsafe.Offsetof(pf.form)))
	few, whole := g.NewLabel(), g.NewLabel()
	g.RI(asm.CMP, asm.RAX, packFew)
	g.Jcc(asm.CondE, few)
	g.Jcc(asm.CondG, whole)
	genPackCopy(g, 0, k.last, k.from)
	g.Bind(few)
	genPackTranspose(g, 0, k.last, k.from)
	g.Bind(whole)
	genPackTranspose(g, g.Lanes(), k.last, k.from)
	return g.Install(k)
}

// genPackCopy writes the kernel that copies k rows of one or more panels of nv vectors,
// the last one under a mask. It reads whole rows, so that memory is read in long runs. With nv 0
// the frame says how many vectors there are.
func genPackCopy(g *codegen.Gen, nv, last int, from array.DType) {
	a := &g.Asm
	a.RM(asm.MOV, asm.RSI, codegen.Field(unsafe.Offsetof(pf.src)))
	a.RM(asm.MOV, asm.RDX, codegen.Field(unsafe.Offsetof(pf.dst)))
	a.RM(asm.MOV, asm.R8, codegen.Field(unsafe.Offsetof(pf.srcStep)))
	a.RM(asm.MOV, asm.R9, codegen.Field(unsafe.Offsetof(pf.dstStep)))
	a.RM(asm.MOV, asm.R10, codegen.Field(unsafe.Offsetof(pf.panelStep)))
	a.RM(asm.MOV, asm.RCX, codegen.Field(unsafe.Offsetof(pf.k)))
	packMask(g, g.V(15))
	if nv > 0 {
		packRow(g, nv, last, from)
		return
	}
	a.RM(asm.MOV, packRows, codegen.Field(unsafe.Offsetof(pf.rows)))
	for nv := 1; nv < maxVectors; nv++ {
		next := a.NewLabel()
		a.RI(asm.CMP, packRows, int64(nv))
		a.Jcc(asm.CondNE, next)
		packRow(g, nv, last, from)
		a.Bind(next)
	}
	packRow(g, maxVectors, last, from)
}

// packRow writes the loops over rows and panels, and the end of the kernel.
func packRow(g *codegen.Gen, nv, last int, from array.DType) {
	a := &g.Asm
	bytes := g.Lanes() * from.Size() // of a vector in the source
	row := a.Here()
	a.RR(asm.MOV, asm.R11, asm.RSI)
	a.RR(asm.MOV, asm.R12, asm.RDX)
	a.RM(asm.MOV, asm.RAX, codegen.Field(unsafe.Offsetof(pf.panels)))
	panel := a.Here()
	for v := range nv {
		m := asm.Ptr(asm.R11, int32(v*bytes))
		if v == nv-1 && !(from.Half() && g.ISA == jit.AVX2 && last == 0) {
			g.LoadFromMasked(from, g.V(v), m, last, asm.K1, g.V(15))
		} else {
			g.LoadFrom(from, g.V(v), m)
		}
	}
	for v := range nv {
		g.Store(asm.Ptr(asm.R12, int32(v*g.VB())), g.V(v))
	}
	a.RM(asm.ADD, asm.R11, codegen.Field(unsafe.Offsetof(pf.panelFrom)))
	a.RR(asm.ADD, asm.R12, asm.R10)
	a.RI(asm.SUB, asm.RAX, 1)
	a.Jcc(asm.CondNE, panel)
	a.RR(asm.ADD, asm.RSI, asm.R8)
	a.RR(asm.ADD, asm.RDX, asm.R9)
	a.RI(asm.SUB, asm.RCX, 1)
	a.Jcc(asm.CondNE, row)
	g.Done()
}

// packRows holds how many rows or vectors the frame says.
const packRows = asm.R13

// packMask loads the mask of a packFrame.
func packMask(g *codegen.Gen, t asm.Reg) {
	if g.ISA == jit.AVX512 {
		g.RM(asm.MOV32, asm.RAX, codegen.Field(unsafe.Offsetof(pf.mask)))
		g.RR(asm.KMOVW, asm.K1, asm.RAX)
		return
	}
	g.Load(t, codegen.Field(unsafe.Offsetof(pf.lanes)))
}

// genPackTranspose writes the kernel that transposes rows whose elements lie side by side: term p
// of the panel holds element p of each row, then zeros. It writes whole vectors, and terms up to
// the next multiple of the lanes. A vector has lanes for all rows. With rows 0 the frame says how
// many there are.
func genPackTranspose(g *codegen.Gen, rows, last int, from array.DType) {
	a := &g.Asm
	n := g.Lanes()
	r := make([]asm.Reg, n)
	for i := range n {
		r[i] = g.V(i)
	}
	free := [2]asm.Reg{g.V(n), g.V(n + 1)}
	a.RM(asm.MOV, asm.RSI, codegen.Field(unsafe.Offsetof(pf.src)))
	a.RM(asm.MOV, asm.R14, codegen.Field(unsafe.Offsetof(pf.dst)))
	a.RM(asm.MOV, asm.R15, codegen.Field(unsafe.Offsetof(pf.dstStep)))
	a.RM(asm.MOV, asm.RCX, codegen.Field(unsafe.Offsetof(pf.k)))
	base := [...]asm.Reg{asm.RSI, asm.R8, asm.R9, asm.R10, asm.R11, asm.R12}
	a.RM(asm.MOV, asm.RDX, codegen.Field(unsafe.Offsetof(pf.srcStep)))
	a.RM(asm.LEA, asm.RAX, asm.Idx(asm.RDX, asm.RDX, 2, 0))
	few := rows == 0
	if few {
		rows = n - 1
		a.RM(asm.MOV, packRows, codegen.Field(unsafe.Offsetof(pf.rows)))
	}
	for i := 1; i <= (rows-1)/3; i++ {
		a.RM(asm.LEA, base[i], asm.Idx(base[i-1], asm.RAX, 1, 0))
	}
	block := func(load func(dst asm.Reg, m asm.Mem)) {
		all := a.NewLabel()
		from := make([]asm.Label, n) // where registers are zeroed, from the first one without a row on
		for i := range rows {
			if few && i > 0 {
				from[i] = a.NewLabel()
				a.RI(asm.CMP, packRows, int64(i))
				a.Jcc(asm.CondE, from[i])
			}
			b := base[i/3]
			load(r[i], [...]asm.Mem{asm.Ptr(b, 0), asm.Idx(b, asm.RDX, 1, 0), asm.Idx(b, asm.RDX, 2, 0)}[i%3])
		}
		if few {
			g.Zero(r[rows])
			a.Jmp(all)
			for i := 1; i < n; i++ {
				if i < rows {
					a.Bind(from[i])
				}
				g.Zero(r[i])
			}
		}
		a.Bind(all)
		for _, c := range g.Transpose(r, free) {
			g.Store(asm.Ptr(asm.R14, 0), c)
			a.RR(asm.ADD, asm.R14, asm.R15)
		}
	}
	rest, end := a.NewLabel(), a.NewLabel()
	a.RI(asm.SUB, asm.RCX, int64(n))
	a.Jcc(asm.CondL, rest)
	loop := a.Here()
	block(func(dst asm.Reg, m asm.Mem) { g.LoadFrom(from, dst, m) })
	for i := 0; i <= (rows-1)/3; i++ {
		a.RI(asm.ADD, base[i], int64(n*from.Size()))
	}
	a.RI(asm.SUB, asm.RCX, int64(n))
	a.Jcc(asm.CondGE, loop)
	a.Bind(rest)
	a.RI(asm.ADD, asm.RCX, int64(n))
	a.Jcc(asm.CondE, end)
	packMask(g, g.V(15))
	block(func(dst asm.Reg, m asm.Mem) { g.LoadFromMasked(from, dst, m, last, asm.K1, g.V(15)) })
	a.Bind(end)
	g.Done()
}
