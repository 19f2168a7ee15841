package convolution

import (
	"unsafe"

	"weft/internal/cpu/codegen"
	"weft/internal/cpu/tile"
	"weft/internal/jit"
	"weft/internal/x86/asm"
)

// An imageKey names a kernel whose vectors are nv vectors of images at one pixel and whose
// rows are mr output channels.
type imageKey struct {
	tile.Machine
	mr, nv int
}

// An imageTap is a term of a sum for one channel of the source: the offset of its pixel from the
// pixel of tap (0, 0), and the offset of its weights, in bytes.
type imageTap struct{ src, weights int32 }

// An imagePiece is a run of terms: the same taps for some channels. The first tap is taps
// bytes into their list; src and weights are where the first channel's begin.
type imagePiece struct{ taps, tapCount, channels, src, weights int }

// An imageTile is an output pixel: where its source and its sums are, and where in the list
// its pieces, in bytes, and how many.
type imageTile struct{ src, sums, pieces, pieceCount int }

// An imageFrame holds the arguments of a kernel. Steps are in bytes.
type imageFrame struct {
	src, weights, sums  unsafe.Pointer
	tiles               *imageTile
	tileCount           int // counted down
	pieces              *imagePiece
	taps                *imageTap
	srcStep, weightStep int // from channel to channel of the source
	sumStep             int // from output channel to output channel
	flags               int // as of a tile.Frame
}

var mf imageFrame

var imageKernels = jit.NewCache[imageKey, *jit.Code](64)

func (k imageKey) Generate() *jit.Code {
	g := &imageGen{codegen.Gen{ISA: k.ISA, D: k.D}, k}
	g.emit()
	return g.Install(k)
}

type imageGen struct {
	codegen.Gen
	imageKey
}

func (g *imageGen) acc(i, v int) asm.Reg { return g.V(i*g.nv + v) }
func (g *imageGen) xReg(v int) asm.Reg   { return g.V(g.mr*g.nv + v) }

func (g *imageGen) emit() {
	const (
		source, weights          = asm.RSI, asm.RBX // of the tile
		src, w                   = asm.R15, asm.RDX // of the channel
		tiles                    = asm.R8
		pieces, pieceCount       = asm.R9, asm.R10
		channels, taps, tapCount = asm.R11, asm.R12, asm.R13
	)
	a := &g.Asm
	get := func(r asm.Reg, offset uintptr) { a.RM(asm.MOV, r, codegen.Field(offset)) }
	get(tiles, unsafe.Offsetof(mf.tiles))
	get(weights, unsafe.Offsetof(mf.weights))
	tile := a.Here()
	get(source, unsafe.Offsetof(mf.src))
	a.RM(asm.ADD, source, asm.Ptr(tiles, int32(unsafe.Offsetof(imageTile{}.src))))
	get(pieces, unsafe.Offsetof(mf.pieces))
	a.RM(asm.ADD, pieces, asm.Ptr(tiles, int32(unsafe.Offsetof(imageTile{}.pieces))))
	a.RM(asm.MOV, pieceCount, asm.Ptr(tiles, int32(unsafe.Offsetof(imageTile{}.pieceCount))))
	for i := range g.mr * g.nv {
		g.Zero(g.V(i))
	}
	end := a.NewLabel()
	a.RR(asm.TEST, pieceCount, pieceCount)
	a.Jcc(asm.CondE, end)

	piece := a.Here()
	part := func(offset uintptr) asm.Mem { return asm.Ptr(pieces, int32(offset)) }
	a.RM(asm.MOV, src, part(unsafe.Offsetof(imagePiece{}.src)))
	a.RR(asm.ADD, src, source)
	a.RM(asm.MOV, w, part(unsafe.Offsetof(imagePiece{}.weights)))
	a.RR(asm.ADD, w, weights)
	a.RM(asm.MOV, channels, part(unsafe.Offsetof(imagePiece{}.channels)))
	channel := a.Here()
	get(taps, unsafe.Offsetof(mf.taps))
	a.RM(asm.ADD, taps, part(unsafe.Offsetof(imagePiece{}.taps)))
	a.RM(asm.MOV, tapCount, part(unsafe.Offsetof(imagePiece{}.tapCount)))
	a.Align(16)
	tap := a.Here()
	a.RM(asm.MOVSXD, asm.RAX, asm.Ptr(taps, int32(unsafe.Offsetof(imageTap{}.src))).Sized(4))
	a.RM(asm.MOVSXD, asm.RCX, asm.Ptr(taps, int32(unsafe.Offsetof(imageTap{}.weights))).Sized(4))
	a.RI(asm.ADD, taps, int64(unsafe.Sizeof(imageTap{})))
	g.term(asm.Idx(src, asm.RAX, 1, 0), asm.Idx(w, asm.RCX, 1, 0))
	a.RI(asm.SUB, tapCount, 1)
	a.Jcc(asm.CondNE, tap)
	a.RM(asm.ADD, src, codegen.Field(unsafe.Offsetof(mf.srcStep)))
	a.RM(asm.ADD, w, codegen.Field(unsafe.Offsetof(mf.weightStep)))
	a.RI(asm.SUB, channels, 1)
	a.Jcc(asm.CondNE, channel)
	a.RI(asm.ADD, pieces, int64(unsafe.Sizeof(imagePiece{})))
	a.RI(asm.SUB, pieceCount, 1)
	a.Jcc(asm.CondNE, piece)

	a.Bind(end)
	g.finish(asm.Ptr(tiles, int32(unsafe.Offsetof(imageTile{}.sums))))
	a.RI(asm.ADD, tiles, int64(unsafe.Sizeof(imageTile{})))
	a.MI(asm.SUB, codegen.Field(unsafe.Offsetof(mf.tileCount)), 1)
	a.Jcc(asm.CondNE, tile)
	g.Done()
}

// term adds the products of the images at x and the weights at w.
func (g *imageGen) term(x, w asm.Mem) {
	for v := range g.nv {
		g.Load(g.xReg(v), x.Add(int32(v*g.VB())))
	}
	for i := range g.mr {
		m := w.Add(int32(i * g.Size))
		if g.ISA == jit.AVX512 && g.nv == 1 {
			g.RRM(g.Pick(asm.VFMADD231PS, asm.VFMADD231PD), g.acc(i, 0), g.xReg(0), m.B())
			continue
		}
		g.Broadcast(g.Temp(i), m)
		for v := range g.nv {
			g.Fma(g.acc(i, v), g.Temp(i), g.xReg(v))
		}
	}
}

// finish adds the sums of a tile to the sums of earlier blocks and stores them.
func (g *imageGen) finish(sums asm.Mem) {
	a := &g.Asm
	add := g.Pick(asm.VADDPS, asm.VADDPD)
	every := func(f func(acc asm.Reg)) {
		for i := range g.mr * g.nv {
			f(g.V(i))
		}
	}
	rows := func(f func(acc asm.Reg, m asm.Mem)) {
		a.RM(asm.MOV, asm.RCX, codegen.Field(unsafe.Offsetof(mf.sums)))
		a.RM(asm.ADD, asm.RCX, sums)
		for i := range g.mr {
			for v := range g.nv {
				f(g.acc(i, v), asm.Ptr(asm.RCX, int32(v*g.VB())))
			}
			a.RM(asm.ADD, asm.RCX, codegen.Field(unsafe.Offsetof(mf.sumStep)))
		}
	}
	a.RM(asm.MOV, asm.RAX, codegen.Field(unsafe.Offsetof(mf.flags)))
	zero := g.Temp(0)
	g.Zero(zero)
	every(func(acc asm.Reg) { a.RRR(add, acc, acc, zero) })
	g.When(tile.FlagAdd, func() {
		rows(func(acc asm.Reg, m asm.Mem) { a.RRM(add, acc, acc, m) })
	})
	rows(func(acc asm.Reg, m asm.Mem) { g.Store(m, acc) })
}
