package convolution

import (
	"unsafe"

	"weft/internal/cpu/codegen"
	"weft/internal/cpu/tile"
	"weft/internal/jit"
	"weft/internal/x86/asm"
)

// A winogradStep is one of the three transforms of Winograd's algorithm.
type winogradStep uint8

const (
	winogradSource winogradStep = iota
	winogradResult
	winogradWeights
	winogradWeightsReversed // taps come last first
)

// A winogradKey names the kernel of a transform.
type winogradKey struct {
	tile.Machine
	step winogradStep
}

// A winogradFrame holds the arguments of a transform. Steps are in bytes. The 16 elements
// of a transformed tile are matrixStep apart, and tileStep is from tile to tile, or from
// channel to channel of the weights.
type winogradFrame struct {
	src, dst             unsafe.Pointer
	rowStep              int // from row to row of pixels
	matrixStep, tileStep int
	tiles, rows          int // tiles in a row, and rows of them; input channels of the weights
	half                 float32
	wild                 [16]float32 // of the results: NaN where one was not finite
}

var gf winogradFrame

var winogradKernels = jit.NewCache[winogradKey, *jit.Code](16)

func (k winogradKey) Generate() *jit.Code {
	g := &winogradGen{codegen.Gen{ISA: k.ISA, D: k.D}}
	switch k.step {
	case winogradSource:
		g.source()
	case winogradResult:
		g.result()
	default:
		g.weights(k.step == winogradWeightsReversed)
	}
	return g.Install(k)
}

// A winogradGen writes the kernels, which do as winogradgo.go does.
type winogradGen struct{ codegen.Gen }

// Registers of the kernels: pointers to four of the sixteen matrices, one step, and three.
var winogradBase = [4]asm.Reg{asm.RBX, asm.RDX, asm.R10, asm.R11}

const (
	winogradOne   = asm.R12
	winogradThree = asm.R13
	winogradRow   = asm.R8
)

// matrices points to the sixteen matrices from the frame's field at the given offset on.
func (g *winogradGen) matrices(offset uintptr) {
	a := &g.Asm
	a.RM(asm.MOV, winogradOne, codegen.Field(unsafe.Offsetof(gf.matrixStep)))
	a.RM(asm.LEA, winogradThree, asm.Idx(winogradOne, winogradOne, 2, 0))
	a.RM(asm.MOV, winogradBase[0], codegen.Field(offset))
	for i := 1; i < 4; i++ {
		a.RM(asm.LEA, winogradBase[i], asm.Idx(winogradBase[i-1], winogradOne, 4, 0))
	}
}

// matrix returns the place of element (i, j) of the transformed tile.
func (g *winogradGen) matrix(i, j int) asm.Mem {
	b := winogradBase[i]
	return [...]asm.Mem{asm.Ptr(b, 0), asm.Idx(b, winogradOne, 1, 0), asm.Idx(b, winogradOne, 2, 0), asm.Idx(b, winogradThree, 1, 0)}[j]
}

// nextTile moves the pointers to the matrices to the next tile.
func (g *winogradGen) nextTile() {
	for _, b := range winogradBase {
		g.RM(asm.ADD, b, codegen.Field(unsafe.Offsetof(gf.tileStep)))
	}
}

// set returns four registers.
func (g *winogradGen) set(i int) (s [4]asm.Reg) {
	for j := range s {
		s[j] = g.V(4*i + j)
	}
	return s
}

func (g *winogradGen) add(dst, x, y asm.Reg) { g.RRR(asm.VADDPS, dst, x, y) }
func (g *winogradGen) sub(dst, x, y asm.Reg) { g.RRR(asm.VSUBPS, dst, x, y) }

// source writes the transform of the source's tiles.
func (g *winogradGen) source() {
	a := &g.Asm
	const at, three, tiles, rows = asm.RAX, asm.R9, asm.RCX, asm.R14
	g.matrices(unsafe.Offsetof(gf.dst))
	a.RM(asm.MOV, asm.RSI, codegen.Field(unsafe.Offsetof(gf.src)))
	a.RM(asm.MOV, winogradRow, codegen.Field(unsafe.Offsetof(gf.rowStep)))
	a.RM(asm.LEA, three, asm.Idx(winogradRow, winogradRow, 2, 0))
	a.RM(asm.MOV, rows, codegen.Field(unsafe.Offsetof(gf.rows)))
	p, q, r := g.set(0), g.set(1), g.set(2)
	x, y := g.V(12), g.V(13)
	// column combines the rows of a column of pixels.
	column := func(to [4]asm.Reg, pixel int) {
		d := int32(pixel * g.VB())
		g.Load(x, asm.Idx(at, winogradRow, 1, d))
		g.Load(y, asm.Idx(at, winogradRow, 2, d))
		g.Load(to[0], asm.Ptr(at, d))
		g.sub(to[0], to[0], y)
		g.add(to[1], x, y)
		g.sub(to[2], y, x)
		a.RRM(asm.VSUBPS, to[3], x, asm.Idx(at, three, 1, d))
	}
	row := a.Here()
	a.RR(asm.MOV, at, asm.RSI)
	a.RM(asm.MOV, tiles, codegen.Field(unsafe.Offsetof(gf.tiles)))
	column(p, 0)
	column(q, 1)
	a.Align(16)
	tile := a.Here()
	column(r, 2)
	for i := range 4 {
		g.sub(p[i], p[i], r[i])
		g.Store(g.matrix(i, 0), p[i])
		g.add(p[i], q[i], r[i])
		g.Store(g.matrix(i, 1), p[i])
		g.sub(p[i], r[i], q[i])
		g.Store(g.matrix(i, 2), p[i])
	}
	column(p, 3)
	for i := range 4 {
		g.sub(q[i], q[i], p[i])
		g.Store(g.matrix(i, 3), q[i])
		// The next tile begins with the last two columns of this one.
		a.RR(asm.VMOVAPS, q[i], p[i])
		a.RR(asm.VMOVAPS, p[i], r[i])
	}
	a.RI(asm.ADD, at, int64(2*g.VB()))
	g.nextTile()
	a.RI(asm.SUB, tiles, 1)
	a.Jcc(asm.CondNE, tile)
	a.RM(asm.LEA, asm.RSI, asm.Idx(asm.RSI, winogradRow, 2, 0))
	a.RI(asm.SUB, rows, 1)
	a.Jcc(asm.CondNE, row)
	g.Done()
}

// result writes the transform of sums into results.
func (g *winogradGen) result() {
	a := &g.Asm
	const at, next, tiles, rows = asm.RSI, asm.R15, asm.RCX, asm.R14
	g.matrices(unsafe.Offsetof(gf.src))
	a.RM(asm.MOV, next, codegen.Field(unsafe.Offsetof(gf.dst)))
	a.RM(asm.MOV, winogradRow, codegen.Field(unsafe.Offsetof(gf.rowStep)))
	a.RM(asm.MOV, rows, codegen.Field(unsafe.Offsetof(gf.rows)))
	top, bottom := g.set(0), g.set(1)
	x, y, wild, zero := g.V(8), g.V(9), g.V(10), g.V(11)
	g.Zero(wild)
	g.Zero(zero)
	row := a.Here()
	a.RR(asm.MOV, at, next)
	a.RM(asm.MOV, tiles, codegen.Field(unsafe.Offsetof(gf.tiles)))
	a.Align(16)
	again := a.Here()
	for j := range 4 {
		g.Load(x, g.matrix(1, j))
		g.Load(y, g.matrix(2, j))
		a.RRM(asm.VADDPS, top[j], x, g.matrix(0, j))
		g.add(top[j], top[j], y)
		g.sub(bottom[j], x, y)
		a.RRM(asm.VSUBPS, bottom[j], bottom[j], g.matrix(3, j))
	}
	var results [4]asm.Reg
	for i, m := range [2][4]asm.Reg{top, bottom} {
		left, right := [2]asm.Reg{x, y}[i], m[1]
		g.add(left, m[0], m[1])
		g.add(left, left, m[2])
		g.sub(right, m[1], m[2])
		g.sub(right, right, m[3])
		results[2*i], results[2*i+1] = left, right
	}
	for _, r := range results {
		g.Fma(wild, r, zero)
	}
	for i, r := range results {
		m := [...]asm.Mem{asm.Ptr(at, 0), asm.Idx(at, winogradRow, 1, 0)}[i/2]
		g.Store(m.Add(int32(i%2*g.VB())), r)
	}
	a.RI(asm.ADD, at, int64(2*g.VB()))
	g.nextTile()
	a.RI(asm.SUB, tiles, 1)
	a.Jcc(asm.CondNE, again)
	a.RM(asm.LEA, next, asm.Idx(next, winogradRow, 2, 0))
	a.RI(asm.SUB, rows, 1)
	a.Jcc(asm.CondNE, row)
	g.Store(codegen.Field(unsafe.Offsetof(gf.wild)), wild)
	g.Done()
}

// weights writes the transform of packed weights: nine rows of a strip's channels become
// sixteen.
func (g *winogradGen) weights(reversed bool) {
	a := &g.Asm
	const channels = asm.RCX
	pitch := winogradVectors * g.VB()
	g.matrices(unsafe.Offsetof(gf.dst))
	a.RM(asm.MOV, asm.RSI, codegen.Field(unsafe.Offsetof(gf.src)))
	a.RM(asm.MOV, channels, codegen.Field(unsafe.Offsetof(gf.tiles)))
	half, x, y := g.V(12), g.V(13), g.V(14)
	g.Broadcast(half, codegen.Field(unsafe.Offsetof(gf.half)))
	tap := func(i, j, v int) asm.Mem {
		t := 3*i + j
		if reversed {
			t = 8 - t
		}
		return asm.Ptr(asm.RSI, int32(t*pitch+v*g.VB()))
	}
	var column [3][4]asm.Reg
	for j := range column {
		column[j] = g.set(j)
	}
	channel := a.Here()
	for v := range winogradVectors {
		for j, c := range column {
			g.Load(c[0], tap(0, j, v))
			g.Load(c[3], tap(2, j, v))
			g.Load(y, tap(1, j, v))
			g.add(x, c[0], c[3])
			g.add(c[1], x, y)
			a.RRR(asm.VMULPS, c[1], c[1], half)
			g.sub(c[2], x, y)
			a.RRR(asm.VMULPS, c[2], c[2], half)
		}
		for i := range 4 {
			put := func(j int, r asm.Reg) { g.Store(g.matrix(i, j).Add(int32(v*g.VB())), r) }
			first, middle, last := column[0][i], column[1][i], column[2][i]
			put(0, first)
			g.add(x, first, last)
			g.add(y, x, middle)
			a.RRR(asm.VMULPS, y, y, half)
			put(1, y)
			g.sub(x, x, middle)
			a.RRR(asm.VMULPS, x, x, half)
			put(2, x)
			put(3, last)
		}
	}
	a.RI(asm.ADD, asm.RSI, int64(9*pitch))
	g.nextTile()
	a.RI(asm.SUB, channels, 1)
	a.Jcc(asm.CondNE, channel)
	g.Done()
}
