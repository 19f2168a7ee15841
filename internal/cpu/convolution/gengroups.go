package convolution

import (
	"unsafe"

	"weft/internal/cpu/codegen"
	"weft/internal/cpu/tile"
	"weft/internal/jit"
	"weft/internal/x86/asm"
)

// A groupKey names a kernel whose vectors are groups of channels at one pixel. It sums products
// of pixels and weights. Neighbouring sums are step pixels apart in the source, and out pixels
// apart in the result.
type groupKey struct {
	tile.Machine
	step, out int
}

// A groupFrame holds the arguments of a kernel. The source is planes of vectors, and so
// are the sums. Steps are in bytes.
type groupFrame struct {
	src, weights, sums unsafe.Pointer
	offsets            *int // of the terms in the source
	terms              int
	rows, cols         int // rows are counted down
	srcStep            int // from the source of a row to the source of the next
	sumStep            int // from the sums of a row to the sums of the next
}

var nf groupFrame

var groupKernels = jit.NewCache[groupKey, *jit.Code](64)

// groupPixels is how many pixels a tile has: their sums are independent chains.
const groupPixels = 8

func (k groupKey) Generate() *jit.Code {
	g := &codegen.Gen{ISA: k.ISA, D: k.D}
	a := &g.Asm
	const (
		row, sums, x, cols      = asm.RSI, asm.RDX, asm.R9, asm.RCX
		offset, weights, counts = asm.R10, asm.R11, asm.R12
	)
	zero, w := g.V(14), g.V(15)
	g.Zero(zero)
	a.RM(asm.MOV, row, codegen.Field(unsafe.Offsetof(nf.src)))
	tile := func(n int) {
		for j := range n {
			g.Zero(g.V(j))
		}
		a.RM(asm.MOV, offset, codegen.Field(unsafe.Offsetof(nf.offsets)))
		a.RM(asm.MOV, weights, codegen.Field(unsafe.Offsetof(nf.weights)))
		a.RM(asm.MOV, counts, codegen.Field(unsafe.Offsetof(nf.terms)))
		a.Align(16)
		term := a.Here()
		a.RM(asm.MOV, asm.RAX, asm.Ptr(offset, 0))
		g.Load(w, asm.Ptr(weights, 0))
		for j := range n {
			a.RRM(g.Pick(asm.VFMADD231PS, asm.VFMADD231PD), g.V(j), w, asm.Idx(x, asm.RAX, 1, int32(j*k.step*k.VB)))
		}
		a.RI(asm.ADD, offset, 8)
		a.RI(asm.ADD, weights, int64(k.VB))
		a.RI(asm.SUB, counts, 1)
		a.Jcc(asm.CondNE, term)
		for j := range n {
			a.RRR(g.Pick(asm.VADDPS, asm.VADDPD), g.V(j), g.V(j), zero)
			g.Store(asm.Ptr(sums, int32(j*k.out*k.VB)), g.V(j))
		}
		a.RI(asm.ADD, x, int64(n*k.step*k.VB))
		a.RI(asm.ADD, sums, int64(n*k.out*k.VB))
	}
	next := a.Here()
	a.RR(asm.MOV, x, row)
	a.RM(asm.MOV, sums, codegen.Field(unsafe.Offsetof(nf.sums)))
	a.RM(asm.MOV, cols, codegen.Field(unsafe.Offsetof(nf.cols)))
	g.Every(groupPixels, cols, func() { tile(groupPixels) })
	for n := groupPixels / 2; n > 0; n /= 2 {
		skip := a.NewLabel()
		a.RI(asm.TEST, cols, int64(n))
		a.Jcc(asm.CondE, skip)
		tile(n)
		a.Bind(skip)
	}
	a.RM(asm.ADD, row, codegen.Field(unsafe.Offsetof(nf.srcStep)))
	a.RM(asm.MOV, asm.RAX, codegen.Field(unsafe.Offsetof(nf.sumStep)))
	a.MR(asm.ADD, codegen.Field(unsafe.Offsetof(nf.sums)), asm.RAX)
	a.MI(asm.SUB, codegen.Field(unsafe.Offsetof(nf.rows)), 1)
	a.Jcc(asm.CondNE, next)
	g.Done()
	return g.Install(k)
}

// A groupGradKey names a kernel that adds the products of pixels of the result's gradient and
// of the source to the gradients of weights. The kernel has rows of run taps each. Taps are
// dilation pixels of the source apart; step is the distance in the source from one pixel of
// the gradient to the next.
type groupGradKey struct {
	tile.Machine
	rows, run, dilation, step int
}

// maxGroupTaps is the most taps of a kernel; each takes a register. maxGroupRows is the most rows
// of taps.
const (
	maxGroupTaps = 12
	maxGroupRows = 4
)

// A groupPiece is a run of terms: n pixels from src bytes on in the source, and from dy bytes on
// in the gradient of the result. last is 1 for the last run of a block.
type groupPiece struct{ src, dy, n, last int }

// A groupGradFrame holds the arguments of a kernel. Both kinds of sums are vectors, one for
// each tap.
type groupGradFrame struct {
	src        [maxGroupRows]unsafe.Pointer // of the first tap of each row
	dy         unsafe.Pointer
	block      unsafe.Pointer // the sums of the block that is not finished
	sums       unsafe.Pointer // of all blocks before it
	pieces     *groupPiece
	pieceCount int // counted down
}

var ngf groupGradFrame

var groupGradKernels = jit.NewCache[groupGradKey, *jit.Code](64)

func (k groupGradKey) Generate() *jit.Code {
	g := &codegen.Gen{ISA: k.ISA, D: k.D}
	a := &g.Asm
	const (
		src, dy, count     = asm.RAX, asm.RBX, asm.RCX
		piece, base, total = asm.RSI, asm.RDX, asm.R14
	)
	rows := [maxGroupRows]asm.Reg{asm.R8, asm.R9, asm.R10, asm.R11}
	taps := k.rows * k.run
	d := g.V(15)
	for r := range k.rows {
		a.RM(asm.MOV, rows[r], codegen.Field(unsafe.Offsetof(ngf.src)+uintptr(r)*8))
	}
	a.RM(asm.MOV, base, codegen.Field(unsafe.Offsetof(ngf.dy)))
	a.RM(asm.MOV, total, codegen.Field(unsafe.Offsetof(ngf.sums)))
	a.RM(asm.MOV, piece, codegen.Field(unsafe.Offsetof(ngf.pieces)))
	a.RM(asm.MOV, asm.R12, codegen.Field(unsafe.Offsetof(ngf.block)))
	for i := range taps {
		g.Load(g.V(i), asm.Ptr(asm.R12, int32(i*k.VB)))
	}
	next := a.Here()
	part := func(offset uintptr) asm.Mem { return asm.Ptr(piece, int32(offset)) }
	a.RM(asm.MOV, src, part(unsafe.Offsetof(groupPiece{}.src)))
	a.RM(asm.MOV, dy, part(unsafe.Offsetof(groupPiece{}.dy)))
	a.RR(asm.ADD, dy, base)
	a.RM(asm.MOV, count, part(unsafe.Offsetof(groupPiece{}.n)))
	a.Align(16)
	pixel := a.Here()
	g.Load(d, asm.Ptr(dy, 0))
	for i := range taps {
		a.RRM(g.Pick(asm.VFMADD231PS, asm.VFMADD231PD), g.V(i), d, asm.Idx(rows[i/k.run], src, 1, int32(i%k.run*k.dilation*k.VB)))
	}
	a.RI(asm.ADD, src, int64(k.step*k.VB))
	a.RI(asm.ADD, dy, int64(k.VB))
	a.RI(asm.SUB, count, 1)
	a.Jcc(asm.CondNE, pixel)
	a.RM(asm.MOV, asm.R13, part(unsafe.Offsetof(groupPiece{}.last)))
	same := a.NewLabel()
	a.RR(asm.TEST, asm.R13, asm.R13)
	a.Jcc(asm.CondE, same)
	for i := range taps {
		m := asm.Ptr(total, int32(i*k.VB))
		a.RRM(g.Pick(asm.VADDPS, asm.VADDPD), g.V(i), g.V(i), m)
		g.Store(m, g.V(i))
		g.Zero(g.V(i))
	}
	a.Bind(same)
	a.RI(asm.ADD, piece, int64(unsafe.Sizeof(groupPiece{})))
	a.MI(asm.SUB, codegen.Field(unsafe.Offsetof(ngf.pieceCount)), 1)
	a.Jcc(asm.CondNE, next)
	for i := range taps {
		g.Store(asm.Ptr(asm.R12, int32(i*k.VB)), g.V(i))
	}
	g.Done()
	return g.Install(k)
}
