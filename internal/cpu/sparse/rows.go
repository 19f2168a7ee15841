package sparse

import (
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/codegen"
	"weft/internal/jit"
	"weft/internal/x86/asm"
)

// stripBytes is how much of a dense row is computed at once: eight AVX2 vectors, which stay in registers. Sums begin anew
// with each strip.
const stripBytes = 256

// rowChunk is the most rows of a call of a kernel, which is not preempted.
const rowChunk = 4096

// A rowKey names a kernel of [rowProducts].
type rowKey struct {
	isa     jit.ISA
	dtype   array.DType
	spread  bool
	vectors int  // of a strip
	masked  bool // the last of them has fewer elements
}

var rowCodes = jit.NewCache[rowKey, *jit.Code](0)

// A rowFrame holds the arguments of a kernel.
type rowFrame struct {
	l, x, y, rows unsafe.Pointer
	n             int // rows, not 0
	stride        int // bytes from one row of l to the next
	bits          int // lanes of the last vector, for AVX-512
	mask          [32]byte
}

var rf rowFrame

// rowProducts computes products of dense rows with one vector, for one solution. The sums are: of dot, 64 bytes of partial
// sums for each strip, whose halves are added; of spread, one chain of fused multiply-adds for each element.
type rowProducts[T float32 | float64] struct {
	isa   jit.ISA
	d     array.DType
	frame rowFrame
	rest  int                // elements of the last vector that the frame is set for
	codes [2][9][2]*jit.Code // by spread, vectors, masked
}

func newRowProducts[T float32 | float64](d array.DType) *rowProducts[T] {
	return &rowProducts[T]{isa: jit.Chosen().ISA, d: d}
}

// dot takes the products of rows of l with x from the elements of y that rows names.
func (p *rowProducts[T]) dot(y []T, rows []int32, l, x []T) {
	if len(rows) == 0 {
		return
	}
	w, strip := len(x), stripBytes/p.d.Size()
	for at := 0; at < w; at += strip {
		n := min(strip, w-at)
		if p.isa != jit.Portable {
			p.call(false, y, rows, l[at:], x[at:at+n], w)
			continue
		}
		for i, r := range rows {
			var s partials[T]
			addProducts(&s, l[i*w+at:][:n], x[at:])
			y[r] -= s.sum(lanes[T]())
		}
	}
}

// spread takes the rows of l, times the elements of y that rows names, from x.
func (p *rowProducts[T]) spread(x, l []T, rows []int32, y []T) {
	if len(rows) == 0 {
		return
	}
	w, strip := len(x), stripBytes/p.d.Size()
	if p.isa == jit.Portable {
		for i, r := range rows {
			axpy(x, -y[r], l[i*w:])
		}
		return
	}
	for at := 0; at < w; at += strip {
		p.call(true, y, rows, l[at:], x[at:min(at+strip, w)], w)
	}
}

func (p *rowProducts[T]) call(spread bool, y []T, rows []int32, l, x []T, w int) {
	size := p.d.Size()
	lanes := p.isa.VectorBytes() / size
	vectors, rest := (len(x)+lanes-1)/lanes, len(x)%lanes
	f := &p.frame
	if rest != p.rest {
		p.rest, f.bits = rest, 1<<rest-1
		clear(f.mask[:])
		for i := range min(rest*size, len(f.mask)) {
			f.mask[i] = 0xFF
		}
	}
	k, m := 0, 0
	if spread {
		k = 1
	}
	if rest != 0 {
		m = 1
	}
	code := &p.codes[k][vectors][m]
	if *code == nil {
		*code = codegen.Kernel(rowCodes, rowKey{p.isa, p.d, spread, vectors, rest != 0})
	}
	f.x, f.y, f.stride = unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0]), w*size
	for lo := 0; lo < len(rows); lo += rowChunk {
		f.l, f.rows, f.n = unsafe.Pointer(&l[lo*w]), unsafe.Pointer(&rows[lo]), min(rowChunk, len(rows)-lo)
		jit.Call(*code, 0, unsafe.Pointer(f))
	}
}

// Generate writes the kernel.
func (k rowKey) Generate() *jit.Code {
	g := &rowWriter{Gen: codegen.Gen{ISA: k.isa, D: k.dtype}, rowKey: k}
	for _, f := range []struct {
		r  asm.Reg
		at uintptr
	}{{regValues, unsafe.Offsetof(rf.l)}, {regX, unsafe.Offsetof(rf.x)}, {regY, unsafe.Offsetof(rf.y)}, {regIndices, unsafe.Offsetof(rf.rows)},
		{regRows, unsafe.Offsetof(rf.n)}, {regStride, unsafe.Offsetof(rf.stride)}} {
		g.RM(asm.MOV, f.r, codegen.Field(f.at))
	}
	if k.masked && k.isa == jit.AVX512 {
		g.RM(asm.KMOVW, tailMask, codegen.Field(unsafe.Offsetof(rf.bits)))
	} else if k.masked {
		g.Load(asm.Y(14), codegen.Field(unsafe.Offsetof(rf.mask)))
	}
	for j := range k.vectors {
		g.load(g.V(j), asm.Ptr(regX, 0), j)
	}
	row := g.Here()
	g.RM(asm.MOV32, regT, asm.Ptr(regIndices, 0))
	if k.spread {
		g.addRow()
	} else {
		g.dotRow()
	}
	g.RI(asm.ADD, regIndices, 4)
	g.RR(asm.ADD, regValues, regStride)
	g.RI(asm.SUB, regRows, 1)
	g.Jcc(asm.CondNE, row)
	if k.spread {
		for j := range k.vectors {
			if m := asm.Ptr(regX, int32(j*g.VB())); g.short(j) {
				g.StoreMasked(m, g.V(j), tailMask, asm.Y(14))
			} else {
				g.Store(m, g.V(j))
			}
		}
	}
	g.Done()
	return g.Install(k)
}

type rowWriter struct {
	codegen.Gen
	rowKey
}

// short says that vector j of a row has a mask.
func (g *rowWriter) short(j int) bool { return g.masked && j == g.vectors-1 }

// load loads vector j of a row.
func (g *rowWriter) load(dst asm.Reg, m asm.Mem, j int) {
	if m = m.Add(int32(j * g.VB())); g.short(j) {
		g.LoadMasked(dst, m, tailMask, asm.Y(14))
	} else {
		g.Load(dst, m)
	}
}

// addRow takes a row of l times an element of y from the sums.
func (g *rowWriter) addRow() {
	v, t := g.V(12), g.V(13)
	fnma := g.Pick(asm.VFNMADD231PS, asm.VFNMADD231PD)
	g.Broadcast(v, asm.Idx(regY, regT, uint8(g.D.Size()), 0))
	for j := range g.vectors {
		if g.short(j) {
			g.load(t, asm.Ptr(regValues, 0), j)
			g.RRR(fnma, g.V(j), v, t)
		} else {
			g.RRM(fnma, g.V(j), v, asm.Ptr(regValues, int32(j*g.VB())))
		}
	}
}

// dotRow takes the product of a row of l with x from an element of y. Vectors 8 and 9 hold partial sums.
func (g *rowWriter) dotRow() {
	t, half := g.V(10), 64/g.VB()
	for i := range half {
		g.Zero(g.V(8 + i))
	}
	for j := range g.vectors {
		sum := g.V(8 + j%half)
		if g.short(j) {
			g.load(t, asm.Ptr(regValues, 0), j)
			g.Fma(sum, g.V(j), t)
		} else {
			g.RRM(g.Pick(asm.VFMADD231PS, asm.VFMADD231PD), sum, g.V(j), asm.Ptr(regValues, int32(j*g.VB())))
		}
	}
	add := g.Pick(asm.VADDPS, asm.VADDPD)
	if half == 1 {
		g.RRI(asm.VEXTRACTF64X4, asm.Y(9), asm.Z(8), 1)
	}
	g.RRR(add, asm.Y(8), asm.Y(8), asm.Y(9))
	g.RRI(asm.VEXTRACTF128, asm.X(9), asm.Y(8), 1)
	g.RRR(add, asm.X(8), asm.X(8), asm.X(9))
	g.RRI(asm.VPSHUFD, asm.X(9), asm.X(8), 0xEE)
	g.RRR(add, asm.X(8), asm.X(8), asm.X(9))
	if g.D == array.Float32 {
		g.RRI(asm.VPSHUFD, asm.X(9), asm.X(8), 0x55)
		g.RRR(add, asm.X(8), asm.X(8), asm.X(9))
	}
	at := asm.Idx(regY, regT, uint8(g.D.Size()), 0)
	g.RM(g.Pick(asm.VMOVSS, asm.VMOVSD), asm.X(10), at)
	g.RRR(g.Pick(asm.VSUBSS, asm.VSUBSD), asm.X(10), asm.X(10), asm.X(8))
	g.MR(g.Pick(asm.VMOVSS, asm.VMOVSD), at, asm.X(10))
}
