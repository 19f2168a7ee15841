package transpose

import (
	"sync/atomic"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/codegen"
	"weft/internal/jit"
	"weft/internal/processor"
	"weft/internal/x86/asm"
)

// A matrixKey names the kernel that transposes matrices of elements of 8 or 16 bytes.
type matrixKey struct {
	isa  jit.ISA
	size int
}

// matrixCodes are the kernels that were made, by instruction set and half of 16 bytes.
var matrixCodes [2][2]atomic.Pointer[jit.Code]

// A matrixFrame holds the arguments of the kernel: strips of tiles, whose rows are a line long in the
// source and in the destination. Steps are in bytes.
type matrixFrame struct {
	src, dst           unsafe.Pointer
	srcStep, dstStep   int // from row to row
	tiles              int // of a strip
	srcNext, dstNext   int // from tile to tile
	strips             int
	srcStrip, dstStrip int     // from strip to strip
	stripSrc, stripDst uintptr // of the strip in hand
}

var mf matrixFrame

// Matrix transposes a matrix of elements of a size on the calling thread: row i of src becomes column i of
// dst. Steps from row to row are in bytes. Source and destination do not overlap.
func Matrix(isa jit.ISA, size int, dst, src unsafe.Pointer, rows, cols, dstRow, srcRow int) {
	c := copying{isa: isa, size: size, a: codegen.Dim{N: cols, Src: size, Dst: dstRow}, b: codegen.Dim{N: rows, Src: srcRow, Dst: size}}
	side := processor.Line / size
	switch r, k := group(size); {
	case isa == jit.Portable:
	case (size == 8 || size == 16) && rows >= side && cols >= side:
		c.matrix(dst, src)
		return
	case size <= tileSize && cols >= k && rows >= r:
		f := tileFrames.Get().(*tileFrame)
		c.tiles(f, src, dst, cols, rows)
		f.src, f.dst, f.out = nil, nil, nil
		tileFrames.Put(f)
		return
	}
	c.portable(src, dst, cols, rows)
}

// matrix transposes whole tiles. Where they do not fill a side, the last ones begin earlier, and are
// copied in part twice.
func (c *copying) matrix(dst, src unsafe.Pointer) {
	at := &matrixCodes[c.isa-jit.AVX2][c.size/16]
	code := at.Load()
	if code == nil {
		code = matrixKey{c.isa, c.size}.Generate()
		at.Store(code)
	}
	side := processor.Line / c.size
	part := func(a, b, na, nb int) {
		f := matrixFrame{src: unsafe.Add(src, a*c.a.Src+b*c.b.Src), dst: unsafe.Add(dst, a*c.a.Dst+b*c.b.Dst), srcStep: c.b.Src, dstStep: c.a.Dst,
			tiles: na, srcNext: side * c.a.Src, dstNext: side * c.a.Dst, strips: nb, srcStrip: side * c.b.Src, dstStrip: side * c.b.Dst}
		if nb > na { // long strips: full lines of a few rows stay in the cache until the next tile has their rest
			f.tiles, f.srcNext, f.dstNext, f.strips, f.srcStrip, f.dstStrip = nb, f.srcStrip, f.dstStrip, na, f.srcNext, f.dstNext
		}
		jit.Call(code, 0, unsafe.Pointer(&f))
	}
	na, nb := c.a.N/side, c.b.N/side
	part(0, 0, na, nb)
	restA, restB := c.a.N%side != 0, c.b.N%side != 0
	if restA {
		part(c.a.N-side, 0, 1, nb)
	}
	if restB {
		part(0, c.b.N-side, na, 1)
	}
	if restA && restB {
		part(c.a.N-side, c.b.N-side, 1, 1)
	}
}

// Generate writes the kernel. Vectors are assembled from 16 bytes of each row by loads, which wait for no
// shuffle.
func (k matrixKey) Generate() *jit.Code {
	g := &codegen.Gen{ISA: k.isa, D: array.Float64}
	a := &g.Asm
	get := func(r asm.Reg, at uintptr) { a.RM(asm.MOV, r, codegen.Field(at)) }
	const (
		next, outNext = asm.R11, asm.R12
		fourth, out4  = asm.R10, asm.RAX // the fifth rows
	)
	get(stepReg, unsafe.Offsetof(mf.srcStep))
	get(outReg, unsafe.Offsetof(mf.dstStep))
	a.RM(asm.LEA, step3Reg, asm.Idx(stepReg, stepReg, 2, 0))
	a.RM(asm.LEA, out3Reg, asm.Idx(outReg, outReg, 2, 0))
	get(next, unsafe.Offsetof(mf.srcNext))
	get(outNext, unsafe.Offsetof(mf.dstNext))
	get(srcReg, unsafe.Offsetof(mf.src))
	get(dstReg, unsafe.Offsetof(mf.dst))
	strip := a.Here()
	a.MR(asm.MOV, codegen.Field(unsafe.Offsetof(mf.stripSrc)), srcReg)
	a.MR(asm.MOV, codegen.Field(unsafe.Offsetof(mf.stripDst)), dstReg)
	get(asm.RCX, unsafe.Offsetof(mf.tiles))
	a.Align(16)
	tile := a.Here()
	if k.size == 8 {
		a.RM(asm.LEA, fourth, asm.Idx(srcReg, stepReg, 4, 0))
		a.RM(asm.LEA, out4, asm.Idx(dstReg, outReg, 4, 0))
	}
	k.tile(g, [2]asm.Reg{srcReg, fourth}, [2]asm.Reg{dstReg, out4})
	a.RR(asm.ADD, srcReg, next)
	a.RR(asm.ADD, dstReg, outNext)
	a.RI(asm.SUB, asm.RCX, 1)
	a.Jcc(asm.CondNE, tile)
	get(srcReg, unsafe.Offsetof(mf.stripSrc))
	a.RM(asm.ADD, srcReg, codegen.Field(unsafe.Offsetof(mf.srcStrip)))
	get(dstReg, unsafe.Offsetof(mf.stripDst))
	a.RM(asm.ADD, dstReg, codegen.Field(unsafe.Offsetof(mf.dstStrip)))
	a.MI(asm.SUB, codegen.Field(unsafe.Offsetof(mf.strips)), 1)
	a.Jcc(asm.CondNE, strip)
	g.Done()
	return g.Install(k)
}

// tile transposes one tile. from and to are the addresses of its rows 0 and 4.
func (k matrixKey) tile(g *codegen.Gen, from, to [2]asm.Reg) {
	lanes := g.VB() / 16
	each := 16 / k.size // elements of 16 bytes
	row := func(base [2]asm.Reg, step, step3 asm.Reg, i, at int) asm.Mem {
		return ofFour(base[i/4], step, step3, i%4).Add(int32(at))
	}
	// gather loads 16 bytes of every each-th row from row first on.
	gather := func(r, first, at int) {
		g.RM(asm.VMOVUPS, asm.X(r), row(from, stepReg, step3Reg, first, at))
		for i := 1; i < lanes; i++ {
			m := row(from, stepReg, step3Reg, first+i*each, at)
			if lanes == 4 {
				g.RRMI(asm.VINSERTF32X4, g.V(r), g.V(r), m, int64(i))
			} else {
				g.RRMI(asm.VINSERTF128, g.V(r), g.V(r), m, int64(i))
			}
		}
	}
	for half := range processor.Line / g.VB() {
		first, at := half*lanes*each, half*g.VB()
		for p := range processor.Line / 16 {
			if each == 1 {
				gather(p, first, 16*p)
				g.MR(asm.VMOVUPS, row(to, outReg, out3Reg, p, at), g.V(p))
				continue
			}
			x, y, z := 3*(p%4), 3*(p%4)+1, 3*(p%4)+2
			gather(x, first, 16*p)
			gather(y, first+1, 16*p)
			g.RRR(asm.VUNPCKLPD, g.V(z), g.V(x), g.V(y))
			g.RRR(asm.VUNPCKHPD, g.V(y), g.V(x), g.V(y))
			g.MR(asm.VMOVUPS, row(to, outReg, out3Reg, 2*p, at), g.V(z))
			g.MR(asm.VMOVUPS, row(to, outReg, out3Reg, 2*p+1, at), g.V(y))
		}
	}
}
