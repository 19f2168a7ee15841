package linalg

import (
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/codegen"
	"weft/internal/cpu/tile"
	"weft/internal/jit"
	"weft/internal/x86/asm"
)

// A columnKey names the machine code of luColumn.
type columnKey struct {
	isa jit.ISA
	d   array.DType
}

var columnCodes = jit.NewCache[columnKey, *jit.Code](0)

// A columnFrame holds the arguments of the kernel, and the greatest magnitude that it finds.
type columnFrame struct {
	y, x    unsafe.Pointer // the column, the first column left of it
	step    int            // bytes from column to column
	plain   int            // columns left of it but for the last
	scaled  int            // 1 if there is a last one, which is scaled in passing, else 0
	mask    int            // lanes of the first vector that count, with AVX-512
	edge    unsafe.Pointer // the same as a vector, with AVX2
	blocks  int            // of four vectors, behind the first vector
	rest    int            // vectors behind the blocks
	vectors int            // all vectors
	c       [base]float64  // factors of the columns, of the type of elements
	scale   float64        // factor of the last column, of that type too
	top     [8]float64     // in all lanes, of that type too
}

var columnArgs columnFrame // for offsets of its fields

// columnEdges has, from lane n on of a vector of float32 or float64, a mask without the first len-n lanes.
var columnEdges = [16]int32{8: -1, -1, -1, -1, -1, -1, -1, -1}

// Registers of the kernel: vectors in hand of the column, the first column and one of those, factors.
const (
	columnY, columnX, columnAt, columnC      = asm.RSI, asm.RDX, asm.RBX, asm.R8
	columnStep, columnLeft, columnTimes      = asm.R9, asm.R10, asm.RCX
	columnPlain, columnScaled, columnVectors = asm.R11, asm.R12, 4
)

// columnNone is the status of the kernel where no element is a number.
const columnNone = 1 << 40

// A columnGen generates the kernel. Vectors 0 to 3 are of the column.
type columnGen struct{ codegen.Gen }

func (g *columnGen) loaded() asm.Reg   { return g.V(4) }
func (g *columnGen) scale() asm.Reg    { return g.V(5) }
func (g *columnGen) absolute() asm.Reg { return g.V(6) }
func (g *columnGen) factor() asm.Reg   { return g.V(7) }
func (g *columnGen) last() asm.Reg     { return g.V(8) }
func (g *columnGen) edge() asm.Reg     { return g.V(9) }

// most holds magnitudes that no later vector of the four has exceeded.
func (g *columnGen) most(v int) asm.Reg { return g.V(10 + v) }

// Generate writes the kernel of a key.
func (k columnKey) Generate() *jit.Code {
	g := &columnGen{codegen.Gen{ISA: k.isa, D: k.d}}
	g.RM(asm.MOV, columnY, codegen.Field(unsafe.Offsetof(columnArgs.y)))
	g.RM(asm.MOV, columnX, codegen.Field(unsafe.Offsetof(columnArgs.x)))
	g.RM(asm.MOV, columnStep, codegen.Field(unsafe.Offsetof(columnArgs.step)))
	g.RM(asm.MOV, columnPlain, codegen.Field(unsafe.Offsetof(columnArgs.plain)))
	g.RM(asm.MOV, columnScaled, codegen.Field(unsafe.Offsetof(columnArgs.scaled)))
	g.Broadcast(g.scale(), codegen.Field(unsafe.Offsetof(columnArgs.scale)))
	if g.ISA == jit.AVX512 {
		g.RM(asm.MOV, columnTimes, codegen.Field(unsafe.Offsetof(columnArgs.mask)))
		g.RR(asm.KMOVW, asm.K(1), columnTimes)
	} else {
		g.RM(asm.MOV, columnTimes, codegen.Field(unsafe.Offsetof(columnArgs.edge)))
		g.Load(g.edge(), asm.Ptr(columnTimes, 0))
	}
	sign := make([]byte, g.VB())
	for i := range sign {
		sign[i] = 0xFF
		if i%g.D.Size() == g.D.Size()-1 {
			sign[i] = 0x7F
		}
	}
	g.Load(g.absolute(), g.ConstBytes(sign))
	for v := range columnVectors {
		g.Zero(g.most(v))
	}
	g.vectors(1, true)
	g.loop(unsafe.Offsetof(columnArgs.blocks), columnVectors)
	g.loop(unsafe.Offsetof(columnArgs.rest), 1)
	g.greatest()
	g.search()
	return g.Install(k)
}

// loop writes a loop over a number of groups of n vectors.
func (g *columnGen) loop(count uintptr, n int) {
	done := g.NewLabel()
	g.RM(asm.MOV, columnLeft, codegen.Field(count))
	g.RR(asm.TEST, columnLeft, columnLeft)
	g.Jcc(asm.CondE, done)
	next := g.Here()
	g.vectors(n, false)
	g.RI(asm.SUB, columnLeft, 1)
	g.Jcc(asm.CondNE, next)
	g.Bind(done)
}

// vectors writes the code for n vectors of the column. The first vector has lanes above the rows that count.
func (g *columnGen) vectors(n int, first bool) {
	subtract := g.Pick(asm.VFNMADD231PS, asm.VFNMADD231PD)
	for v := range n {
		g.Load(g.V(v), asm.Ptr(columnY, int32(v*g.VB())))
	}
	g.RR(asm.MOV, columnAt, columnX)
	g.RM(asm.LEA, columnC, codegen.Field(unsafe.Offsetof(columnArgs.c)))
	scaled, store := g.NewLabel(), g.NewLabel()
	g.RR(asm.MOV, columnTimes, columnPlain)
	g.RR(asm.TEST, columnTimes, columnTimes)
	g.Jcc(asm.CondE, scaled)
	column := g.Here()
	g.Broadcast(g.factor(), asm.Ptr(columnC, 0))
	for v := range n {
		g.RRM(subtract, g.V(v), g.factor(), asm.Ptr(columnAt, int32(v*g.VB())))
	}
	g.RI(asm.ADD, columnC, int64(g.D.Size()))
	g.RR(asm.ADD, columnAt, columnStep)
	g.RI(asm.SUB, columnTimes, 1)
	g.Jcc(asm.CondNE, column)
	g.Bind(scaled)
	g.RR(asm.TEST, columnScaled, columnScaled)
	g.Jcc(asm.CondE, store)
	g.Broadcast(g.last(), asm.Ptr(columnC, 0))
	for v := range n {
		m := asm.Ptr(columnAt, int32(v*g.VB()))
		g.RRM(g.Pick(asm.VMULPS, asm.VMULPD), g.loaded(), g.scale(), m)
		g.store(m, g.loaded(), first)
		g.RRR(subtract, g.V(v), g.last(), g.loaded())
	}
	g.Bind(store)
	for v := range n {
		g.store(asm.Ptr(columnY, int32(v*g.VB())), g.V(v), first)
		switch {
		case !first:
			g.RRR(asm.VANDPS, g.V(v), g.V(v), g.absolute())
		case g.ISA == jit.AVX512:
			g.MaskZ(asm.K(1)).RRR(g.Pick(asm.VANDPS, asm.VANDPD), g.V(v), g.V(v), g.absolute())
		default:
			g.RRR(asm.VANDPS, g.V(v), g.V(v), g.absolute())
			g.RRR(asm.VANDPS, g.V(v), g.V(v), g.edge())
		}
		g.max(g.most(v), g.V(v)) // NaN leaves it
	}
	g.RI(asm.ADD, columnY, int64(n*g.VB()))
	g.RI(asm.ADD, columnX, int64(n*g.VB()))
}

// max sets most to the greater one. It stays where x is NaN.
func (g *columnGen) max(most, x asm.Reg) { g.RRR(g.Pick(asm.VMAXPS, asm.VMAXPD), most, x, most) }

// store stores a vector, of the first one the lanes that count.
func (g *columnGen) store(m asm.Mem, r asm.Reg, first bool) {
	if first {
		g.StoreMasked(m, r, asm.K(1), g.edge())
	} else {
		g.Store(m, r)
	}
}

// greatest writes code that sets all lanes of vector 0 and of the frame's top to the greatest magnitude.
func (g *columnGen) greatest() {
	top := func(lane int) asm.Mem {
		return codegen.Field(unsafe.Offsetof(columnArgs.top) + uintptr(lane*g.D.Size()))
	}
	for v := 1; v < columnVectors; v++ {
		g.max(g.most(0), g.most(v))
	}
	g.Store(top(0), g.most(0))
	for l := range g.Lanes() {
		if l < columnVectors {
			g.Broadcast(g.V(l), top(l))
			continue
		}
		g.Broadcast(g.loaded(), top(l))
		g.max(g.V(l%columnVectors), g.loaded())
	}
	for v := 1; v < columnVectors; v++ {
		g.max(g.V(0), g.V(v))
	}
	g.Store(top(0), g.V(0))
}

// search writes the end of the kernel. It returns the place, counted from the first lane, of the first element whose
// magnitude is the greatest, or columnNone.
func (g *columnGen) search() {
	const equal = 0
	compare := g.Pick(asm.VCMPPS, asm.VCMPPD)
	next, test, found := g.NewLabel(), g.NewLabel(), g.NewLabel()
	g.RM(asm.MOV, columnY, codegen.Field(unsafe.Offsetof(columnArgs.y)))
	g.RM(asm.MOV, columnLeft, codegen.Field(unsafe.Offsetof(columnArgs.vectors)))
	g.RR(asm.XOR32, columnAt, columnAt)
	absolute := func() { g.RRM(asm.VANDPS, g.loaded(), g.absolute(), asm.Ptr(columnY, 0)) }
	absolute()
	if g.ISA == jit.AVX512 {
		g.Mask(asm.K(1)).RRRI(compare, asm.K(2), g.loaded(), g.V(0), equal)
	} else {
		g.RRRI(compare, g.loaded(), g.loaded(), g.V(0), equal)
		g.RRR(asm.VANDPS, g.loaded(), g.loaded(), g.edge())
	}
	g.Jmp(test)
	g.Bind(next)
	absolute()
	if g.ISA == jit.AVX512 {
		g.RRRI(compare, asm.K(2), g.loaded(), g.V(0), equal)
	} else {
		g.RRRI(compare, g.loaded(), g.loaded(), g.V(0), equal)
	}
	g.Bind(test)
	if g.ISA == jit.AVX512 {
		g.RR(asm.KMOVW, columnTimes, asm.K(2))
	} else {
		g.RR(g.Pick(asm.VMOVMSKPS, asm.VMOVMSKPD), columnTimes, g.loaded())
	}
	g.RR(asm.TEST, columnTimes, columnTimes)
	g.Jcc(asm.CondNE, found)
	g.RI(asm.ADD, columnY, int64(g.VB()))
	g.RI(asm.ADD, columnAt, int64(g.Lanes()))
	g.RI(asm.SUB, columnLeft, 1)
	g.Jcc(asm.CondNE, next)
	g.MovImm(asm.RAX, columnNone)
	g.Op0(asm.VZEROUPPER)
	g.Op0(asm.RET)
	g.Bind(found)
	g.RR(asm.TZCNT, asm.RAX, columnTimes)
	g.RR(asm.ADD, asm.RAX, columnAt)
	g.Op0(asm.VZEROUPPER)
	g.Op0(asm.RET)
}

// luColumns is luBase with machine code for real columns, whose rows are padded with zeros to whole lines. A pass
// over column j divides column j-1 by its pivot, subtracts the columns from c0 on, and finds the pivot.
func luColumns[F float32 | float64](isa jit.ISA, p matrix[F], c0, c1 int, pivots []int64) {
	size := int(unsafe.Sizeof(F(0)))
	lanes := isa.VectorBytes() / size
	code := codegen.Kernel(columnCodes, columnKey{isa, typeOf[F]()})
	f := columnFrame{step: p.ld * size}
	c := unsafe.Slice((*F)(unsafe.Pointer(&f.c)), base)
	scale, top := (*F)(unsafe.Pointer(&f.scale)), (*F)(unsafe.Pointer(&f.top))
	for j := c0; j < c1; j++ {
		col, count := p.row(j), j-c0
		copy(c, col[c0:j])
		solveColumn(c[:count], p.x[c0*p.ld+c0:], p.ld)
		f.scaled = min(count, 1)
		f.plain = count - f.scaled
		first := j / lanes * lanes
		vectors, most := tile.Ceil(p.cols-first, lanes), tile.CallWork/(count+2)
		f.mask = -1 << (j - first)
		f.edge = unsafe.Add(unsafe.Pointer(&columnEdges), 32-(j-first)*size)
		at, greatest := j, F(-1)
		for vectors > 0 {
			f.vectors = min(vectors, most)
			f.blocks, f.rest = (f.vectors-1)/columnVectors, (f.vectors-1)%columnVectors
			f.y, f.x = unsafe.Pointer(&p.x[j*p.ld+first]), unsafe.Pointer(&p.x[c0*p.ld+first])
			if i := jit.Call(code, 0, unsafe.Pointer(&f)); *top > greatest && i != columnNone {
				at, greatest = first+int(i), *top
			}
			first += f.vectors * lanes
			vectors -= f.vectors
			f.mask, f.edge = -1, unsafe.Pointer(&columnEdges[8])
		}
		copy(col[c0:j], c)
		if col[j] != col[j] {
			at = j // NaN, which counts where it is the first
		}
		pivots[j] = int64(at)
		if at != j {
			for i := range p.rows {
				row := p.x[i*p.ld:]
				row[j], row[at] = row[at], row[j]
			}
		}
		*scale = 1
		if d := col[j]; d != 0 {
			r, ok := reciprocal(d)
			if ok && j+1 < c1 {
				*scale = r
			} else {
				divideRow(col[j+1:], d)
			}
		}
	}
}
