package transpose

import (
	"unsafe"

	"weft/internal/cpu/codegen"
	"weft/internal/jit"
	"weft/internal/processor"
	"weft/internal/x86/asm"
)

// A mode says how the kernel writes.
type mode uint8

const (
	direct      mode = iota // parts of tiles
	whole                   // tiles, in full lines
	nonTemporal             // the same, by non-temporal stores
	toPlanes                // few channels, see few
	toPoints
)

// A key names the kernel for elements of a size in bytes.
type key struct {
	size     int
	mode     mode
	channels int // if few
}

var codes = jit.NewCache[key, *jit.Code](0)

func (k key) Generate() *jit.Code {
	g := &writer{key: k}
	if k.channels > 0 {
		g.few()
	} else {
		g.transpose()
	}
	return g.Install(k)
}

// A writer writes the kernel.
type writer struct {
	codegen.Gen
	key
}

// A tileFrame holds the arguments of the kernel: a strip of tiles. A tile is a square of
// elements whose rows are a line long, in the source and in the destination. Steps are in
// bytes.
type tileFrame struct {
	src, dst         unsafe.Pointer
	srcStep, dstStep int // from row to row
	tiles            int
	srcNext, dstNext int // from tile to tile
	rows, cols       int // groups of rows and of columns in a tile

	out     unsafe.Pointer // where a tile is put together
	outStep int

	// What the kernel keeps in memory: no pointers, since they end behind arrays.
	tileSrc, tileOut, tileDst uintptr // of the tile in hand
	rowSrc, rowOut            uintptr // of the group of rows in hand

	scratch [processor.Line*processor.Line + processor.Line]byte // a tile, before non-temporal stores write it
}

var tf tileFrame

// group returns the number of rows and columns of the squares that a tile is made
// of: in the destination a group of rows is a vector of 32 bytes, 16 for elements
// of one byte.
func group(size int) (rows, cols int) {
	if size == 1 {
		return 16, 8
	}
	return 32 / size, 16 / size
}

// Registers of the kernel that transposes tiles.
const (
	srcReg, stepReg, step3Reg = asm.RSI, asm.R8, asm.R9
	dstReg, outReg, out3Reg   = asm.RDX, asm.R13, asm.R14
	outsReg                   = asm.R15 // a square's columns times outReg
)

// baseRegs hold the addresses of groups of four rows of a square.
var baseRegs = [...]asm.Reg{srcReg, asm.R10, asm.R11, asm.R12}

// ofFour returns row i of the four that begin at base and are step apart, step3 being 3 steps.
func ofFour(base, step, step3 asm.Reg, i int) asm.Mem {
	return [...]asm.Mem{asm.Ptr(base, 0), asm.Idx(base, step, 1, 0), asm.Idx(base, step, 2, 0), asm.Idx(base, step3, 1, 0)}[i]
}

// transpose writes the kernel that transposes a strip of tiles. Whole tiles are assembled in
// scratch and copied from there to the destination in full lines. Otherwise half a line would
// often be evicted from the cache before the other half is written: rows whose distance is a
// power of two share few sets of the cache. The kernel has 256-bit instructions: it waits for
// memory, so wider ones gain nothing.
func (g *writer) transpose() {
	a := &g.Asm
	_, cols := group(g.size)
	a.RM(asm.MOV, stepReg, codegen.Field(unsafe.Offsetof(tf.srcStep)))
	a.RM(asm.LEA, step3Reg, asm.Idx(stepReg, stepReg, 2, 0))
	a.RM(asm.MOV, outReg, codegen.Field(unsafe.Offsetof(tf.outStep)))
	a.RM(asm.LEA, out3Reg, asm.Idx(outReg, outReg, 2, 0))
	a.RRI(asm.IMUL, outsReg, outReg, int64(cols))

	for _, f := range [][2]uintptr{{unsafe.Offsetof(tf.tileSrc), unsafe.Offsetof(tf.src)},
		{unsafe.Offsetof(tf.tileOut), unsafe.Offsetof(tf.out)}, {unsafe.Offsetof(tf.tileDst), unsafe.Offsetof(tf.dst)}} {
		a.RM(asm.MOV, asm.RAX, codegen.Field(f[1]))
		a.MR(asm.MOV, codegen.Field(f[0]), asm.RAX)
	}
	tile := a.Here()
	g.tile()
	if g.mode != direct {
		g.drain()
	}
	next := func(at, by uintptr) {
		a.RM(asm.MOV, asm.RAX, codegen.Field(by))
		a.MR(asm.ADD, codegen.Field(at), asm.RAX)
	}
	next(unsafe.Offsetof(tf.tileSrc), unsafe.Offsetof(tf.srcNext))
	if g.mode != direct {
		next(unsafe.Offsetof(tf.tileDst), unsafe.Offsetof(tf.dstNext))
	} else {
		next(unsafe.Offsetof(tf.tileOut), unsafe.Offsetof(tf.dstNext))
	}
	a.MI(asm.SUB, codegen.Field(unsafe.Offsetof(tf.tiles)), 1)
	a.Jcc(asm.CondNE, tile)
	if g.mode == nonTemporal {
		a.Op0(asm.SFENCE)
	}
	g.Done()
}

// tile transposes the current tile square by square to where it is assembled.
func (g *writer) tile() {
	a := &g.Asm
	rows, cols := group(g.size)
	a.RM(asm.MOV, srcReg, codegen.Field(unsafe.Offsetof(tf.tileSrc)))
	a.RM(asm.MOV, dstReg, codegen.Field(unsafe.Offsetof(tf.tileOut)))
	a.RM(asm.MOV, asm.RBX, codegen.Field(unsafe.Offsetof(tf.rows)))
	rowGroup := a.Here()
	a.MR(asm.MOV, codegen.Field(unsafe.Offsetof(tf.rowSrc)), srcReg)
	a.MR(asm.MOV, codegen.Field(unsafe.Offsetof(tf.rowOut)), dstReg)
	for i := 1; i < rows/4; i++ {
		a.RM(asm.LEA, baseRegs[i], asm.Idx(baseRegs[i-1], stepReg, 4, 0))
	}
	if g.mode != direct {
		g.prefetchNext(rows)
	}
	a.RM(asm.MOV, asm.RCX, codegen.Field(unsafe.Offsetof(tf.cols)))
	square := a.Here()
	r := g.square(func(i int) asm.Mem { return ofFour(baseRegs[i/4], stepReg, step3Reg, i%4) })
	for c, v := range r {
		b := dstReg
		if c == 4 {
			a.RM(asm.LEA, asm.RAX, asm.Idx(dstReg, outReg, 4, 0))
		}
		if c >= 4 {
			b = asm.RAX
		}
		a.MR(asm.VMOVUPS, ofFour(b, outReg, out3Reg, c%4), v)
	}
	for i := range rows / 4 {
		a.RI(asm.ADD, baseRegs[i], int64(cols*g.size))
	}
	a.RR(asm.ADD, dstReg, outsReg)
	a.RI(asm.SUB, asm.RCX, 1)
	a.Jcc(asm.CondNE, square)
	a.RM(asm.MOV, asm.RAX, codegen.Field(unsafe.Offsetof(tf.rowSrc)))
	a.RM(asm.LEA, srcReg, asm.Idx(asm.RAX, stepReg, 4, 0))
	for range rows/4 - 1 {
		a.RM(asm.LEA, srcReg, asm.Idx(srcReg, stepReg, 4, 0))
	}
	a.RM(asm.MOV, dstReg, codegen.Field(unsafe.Offsetof(tf.rowOut)))
	a.RI(asm.ADD, dstReg, int64(rows*g.size))
	a.RI(asm.SUB, asm.RBX, 1)
	a.Jcc(asm.CondNE, rowGroup)
}

// prefetchNext prefetches the same rows of the next tile.
func (g *writer) prefetchNext(rows int) {
	a := &g.Asm
	a.RM(asm.MOV, asm.RAX, codegen.Field(unsafe.Offsetof(tf.srcNext)))
	a.RR(asm.ADD, asm.RAX, srcReg)
	for i := range rows {
		if i%4 == 0 && i > 0 {
			a.RM(asm.LEA, asm.RAX, asm.Idx(asm.RAX, stepReg, 4, 0))
		}
		a.M(asm.PREFETCHT0, ofFour(asm.RAX, stepReg, step3Reg, i%4))
	}
}

// drain copies the assembled tile in full lines to the destination.
func (g *writer) drain() {
	a := &g.Asm
	a.RM(asm.MOV, srcReg, codegen.Field(unsafe.Offsetof(tf.tileOut)))
	a.RM(asm.MOV, dstReg, codegen.Field(unsafe.Offsetof(tf.tileDst)))
	a.RM(asm.MOV, asm.R10, codegen.Field(unsafe.Offsetof(tf.dstStep)))
	a.MovImm(asm.RCX, int64(processor.Line/g.size/2))
	store := asm.VMOVUPS
	if g.mode == nonTemporal {
		store = asm.VMOVNTPS
	}
	drain := a.Here()
	for i := range int32(4) {
		a.RM(asm.VMOVUPS, asm.Y(int(i)), asm.Ptr(srcReg, 32*i))
	}
	a.MR(store, asm.Ptr(dstReg, 0), asm.Y(0))
	a.MR(store, asm.Ptr(dstReg, 32), asm.Y(1))
	a.MR(store, asm.Idx(dstReg, asm.R10, 1, 0), asm.Y(2))
	a.MR(store, asm.Idx(dstReg, asm.R10, 1, 32), asm.Y(3))
	a.RI(asm.ADD, srcReg, 2*processor.Line)
	a.RM(asm.LEA, dstReg, asm.Idx(dstReg, asm.R10, 2, 0))
	a.RI(asm.SUB, asm.RCX, 1)
	a.Jcc(asm.CondNE, drain)
}

// square loads a square of elements, given its rows, and returns registers that
// hold the columns.
func (g *writer) square(row func(i int) asm.Mem) []asm.Reg {
	a := &g.Asm
	low, high := asm.VPUNPCKLBW, asm.VPUNPCKHBW
	switch g.size {
	case 2:
		low, high = asm.VPUNPCKLWD, asm.VPUNPCKHWD
	case 4:
		low, high = asm.VUNPCKLPS, asm.VUNPCKHPS
	case 8:
		low, high = asm.VUNPCKLPD, asm.VUNPCKHPD
	}
	// Rows of a 128-bit lane. Interleaving row i with row i + n/2, low halves and
	// high halves, is one of log2(n) equal steps to the transpose.
	n := 16 / g.size
	levels := 0
	for 1<<levels < n {
		levels++
	}
	var r []asm.Reg
	free := [2]asm.Reg{}
	if g.size == 1 {
		// Eight columns only, so that registers suffice: the first step has no high
		// halves.
		for i := range 8 {
			a.RM(asm.VMOVQ, asm.X(i), row(i))
			a.RM(asm.VMOVQ, asm.X(8), row(i+8))
			a.RRR(low, asm.X(i), asm.X(i), asm.X(8))
			r = append(r, asm.X(i))
		}
		free = [2]asm.Reg{asm.X(8), asm.X(9)}
		levels--
	} else {
		for i := range n {
			a.RM(asm.VMOVUPS, asm.X(i), row(i))
			a.RRMI(asm.VINSERTF128, asm.Y(i), asm.Y(i), row(i+n), 1)
			r = append(r, asm.Y(i))
		}
		free = [2]asm.Reg{asm.Y(n), asm.Y(n + 1)}
	}
	for range levels {
		half := len(r) / 2
		next := make([]asm.Reg, 0, len(r))
		for i := range half {
			x, y := r[i], r[i+half]
			a.RRR(low, free[0], x, y)
			a.RRR(high, free[1], x, y)
			next = append(next, free[0], free[1])
			free = [2]asm.Reg{x, y}
		}
		r = next
	}
	return r
}
