package convolution

import (
	"unsafe"

	"weft/internal/cpu/codegen"
	"weft/internal/cpu/tile"
	"weft/internal/jit"
	"weft/internal/x86/asm"
)

// A tapKey names a kernel for the gradient of a convolution's weights whose vectors are
// taps: groups of run weights that are neighbours, as many side by side as segments says, for
// mr output channels. A term is an output pixel, step elements of the image from the next.
type tapKey struct {
	tile.Machine
	mr, groups, segments, run, step int
	masked                          bool // nothing but the taps is read
}

// vectors returns how many vectors hold the groups.
func (k tapKey) vectors() int { return tile.Ceil(k.groups, k.segments) }

// A tapPiece is a run of terms: n of them from offset bytes on in the image and from dy bytes
// on in the gradient of the result. The last of a block is marked by a 1.
type tapPiece struct{ offset, dy, n, last int }

// A tapFrame holds the arguments of a kernel. Steps are in bytes.
type tapFrame struct {
	image      unsafe.Pointer // the groups' first elements: a pointer for each
	dy         unsafe.Pointer // of the first output channel
	sums       unsafe.Pointer
	pieces     *tapPiece
	pieceCount int // counted down
	dyStep     int // from channel to channel
	sumStep    int
	sumBlock   int              // from the sums of a block to the sums of the next
	flags      int              // tile.FlagAdd
	flagsLater int              // for the blocks behind the first
	mask       [maxGroup]uint64 // of the segments of a vector
	lanes      [32]byte         // of the only one, for AVX2
}

var wf tapFrame

// Registers of a tap kernel.
const (
	tapOffset = asm.RAX // of the term in the image
	tapCount  = asm.RCX
	tapStep   = asm.RDX
	tapNext   = asm.R15
)

// tapGroups hold the groups of the image, tapRows the output channels, each three.
var (
	tapGroups = [...]asm.Reg{asm.RSI, asm.RBX, asm.R8, asm.R9, asm.R10, asm.R11, asm.R12}
	tapRows   = [...]asm.Reg{asm.R13, asm.R14}
)

const (
	maxGroup   = len(tapGroups)
	maxTapRows = 3 * len(tapRows)
)

// maxTapVectors returns the most vectors of a tile of mr output channels.
func maxTapVectors(m tile.Machine, mr int) int {
	if m.ISA == jit.AVX512 {
		return 30 / (mr + 1)
	}
	return 14 / (mr + 1)
}

var tapKernels = jit.NewCache[tapKey, *jit.Code](256)

func (k tapKey) Generate() *jit.Code {
	g := &tapGen{codegen.Gen{ISA: k.ISA, D: k.D, Narrow: k.VB < k.ISA.VectorBytes()}, k}
	g.emit()
	return g.Install(k)
}

type tapGen struct {
	codegen.Gen
	tapKey
}

func (g *tapGen) acc(i, v int) asm.Reg { return g.V(i*g.vectors() + v) }
func (g *tapGen) xReg(v int) asm.Reg   { return g.V(g.mr*g.vectors() + v) }

func (g *tapGen) emit() {
	a := &g.Asm
	if g.ISA == jit.AVX512 {
		for s := range min(g.segments, g.groups) {
			a.RM(asm.MOV32, asm.RAX, codegen.Field(unsafe.Offsetof(wf.mask)+uintptr(s)*8))
			a.RR(asm.KMOVW, asm.K(1+s), asm.RAX)
		}
	} else if g.masked {
		g.Load(g.V(14), codegen.Field(unsafe.Offsetof(wf.lanes)))
	}
	a.RM(asm.MOV, asm.RAX, codegen.Field(unsafe.Offsetof(wf.image)))
	for i := range g.groups {
		a.RM(asm.MOV, tapGroups[i], asm.Ptr(asm.RAX, int32(i*8)))
	}
	a.RM(asm.MOV, tapStep, codegen.Field(unsafe.Offsetof(wf.dyStep)))
	a.RM(asm.MOV, tapNext, codegen.Field(unsafe.Offsetof(wf.pieces)))
	block := a.Here()
	for i := range g.mr * g.vectors() {
		g.Zero(g.V(i))
	}

	next := a.Here()
	a.RM(asm.MOV, tapOffset, asm.Ptr(tapNext, int32(unsafe.Offsetof(tapPiece{}.offset))))
	a.RM(asm.MOV, tapRows[0], codegen.Field(unsafe.Offsetof(wf.dy)))
	a.RM(asm.ADD, tapRows[0], asm.Ptr(tapNext, int32(unsafe.Offsetof(tapPiece{}.dy))))
	if g.mr > 3 {
		a.RM(asm.LEA, tapRows[1], asm.Idx(tapRows[0], tapStep, 2, 0))
		a.RR(asm.ADD, tapRows[1], tapStep)
	}
	a.RM(asm.MOV, tapCount, asm.Ptr(tapNext, int32(unsafe.Offsetof(tapPiece{}.n))))
	g.Chain(tapCount, g.term, g.advance)
	a.RM(asm.MOV, asm.RAX, asm.Ptr(tapNext, int32(unsafe.Offsetof(tapPiece{}.last))))
	a.RI(asm.ADD, tapNext, int64(unsafe.Sizeof(tapPiece{})))
	a.MI(asm.SUB, codegen.Field(unsafe.Offsetof(wf.pieceCount)), 1)
	a.RR(asm.TEST, asm.RAX, asm.RAX)
	a.Jcc(asm.CondE, next)
	g.finish()
	a.RM(asm.MOV, asm.RAX, codegen.Field(unsafe.Offsetof(wf.sumBlock)))
	a.MR(asm.ADD, codegen.Field(unsafe.Offsetof(wf.sums)), asm.RAX)
	a.RM(asm.MOV, asm.RAX, codegen.Field(unsafe.Offsetof(wf.flagsLater)))
	a.MR(asm.MOV, codegen.Field(unsafe.Offsetof(wf.flags)), asm.RAX)
	a.MI(asm.CMP, codegen.Field(unsafe.Offsetof(wf.pieceCount)), 0)
	a.Jcc(asm.CondNE, block)
	g.Done()
}

// term adds the products of a pixel, u behind the current one.
func (g *tapGen) term(u int) {
	for i := range g.groups {
		v, s := i/g.segments, i%g.segments
		// The lanes of a segment follow the lanes of the segments before it.
		m := asm.Idx(tapGroups[i], tapOffset, 1, int32((u*g.step-s*g.run)*g.Size))
		x := g.xReg(v)
		switch {
		case s > 0:
			g.Mask(asm.K(1+s)).RM(g.Pick(asm.VMOVUPS, asm.VMOVUPD), x, m)
		case g.run == g.tapKey.Lanes || !g.masked:
			g.Load(x, m)
		default:
			g.LoadMasked(x, m, asm.K1, g.V(14))
		}
	}
	for i := range g.mr {
		r, disp := tapRows[i/3], int32(u*g.Size)
		m := [...]asm.Mem{asm.Ptr(r, disp), asm.Idx(r, tapStep, 1, disp), asm.Idx(r, tapStep, 2, disp)}[i%3]
		t := g.V(15)
		if g.ISA == jit.AVX512 {
			t = g.V(31 - i&1)
		}
		g.Broadcast(t, m)
		for v := range g.vectors() {
			g.Fma(g.acc(i, v), t, g.xReg(v))
		}
	}
}

// advance moves on by n pixels.
func (g *tapGen) advance(n int) {
	g.RI(asm.ADD, tapOffset, int64(n*g.step*g.Size))
	for i := range tile.Ceil(g.mr, 3) {
		g.RI(asm.ADD, tapRows[i], int64(n*g.Size))
	}
}

// finish stores the sums, or adds them to the sums of earlier blocks.
func (g *tapGen) finish() {
	a := &g.Asm
	rows := func(f func(acc asm.Reg, m asm.Mem)) {
		a.RM(asm.MOV, asm.RAX, codegen.Field(unsafe.Offsetof(wf.sums)))
		for i := range g.mr {
			for v := range g.vectors() {
				f(g.acc(i, v), asm.Ptr(asm.RAX, int32(v*g.tapKey.VB)))
			}
			a.RM(asm.ADD, asm.RAX, codegen.Field(unsafe.Offsetof(wf.sumStep)))
		}
	}
	store := a.NewLabel()
	a.RM(asm.MOV, asm.RAX, codegen.Field(unsafe.Offsetof(wf.flags)))
	a.RI(asm.TEST, asm.RAX, tile.FlagAdd)
	a.Jcc(asm.CondE, store)
	rows(func(acc asm.Reg, m asm.Mem) { a.RRM(g.Pick(asm.VADDPS, asm.VADDPD), acc, acc, m) })
	a.Bind(store)
	rows(func(acc asm.Reg, m asm.Mem) { g.Store(m, acc) })
}
