package sparse

import (
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/codegen"
	"weft/internal/jit"
	"weft/internal/x86/asm"
)

// A key names one kernel.
type key struct {
	isa     jit.ISA
	dtype   array.DType
	kind    Kind
	vectors int  // of a dense row that are computed at once
	masked  bool // the last of them has fewer elements
	single  bool // a dense row has one element: no masks, so that loads find what was just stored
}

// complex says that elements are two numbers side by side.
func (k key) complex() bool { return k.dtype.Complex() }

// part is the type of the numbers that registers hold.
func part(d array.DType) array.DType {
	if d.Complex() {
		return d.Part()
	}
	return d
}

var codes = jit.NewCache[key, *jit.Code](0)

// Generate writes the kernel.
func (k key) Generate() *jit.Code {
	g := &writer{Gen: codegen.Gen{ISA: k.isa, D: part(k.dtype)}, key: k}
	if k.kind == Sampled {
		g.sampled()
	} else {
		g.rows()
	}
	return g.Install(k)
}

// A frame holds the arguments of a kernel. It returns 1 at an index out of range.
type frame struct {
	values, indices unsafe.Pointer
	x, y            unsafe.Pointer // y of the first row, for the transposed matrix x
	off             unsafe.Pointer // of the first row
	rows            int            // not 0
	bound           int
	stride          int // bytes from one dense row to the next
	last            int // the number of entries, which are prefetched up to there
	bits            int // lanes of the last vector, for AVX-512
	whole           int // whole vectors of a dense row, of sampled products
	mask            [32]byte
	signs           [64]byte       // the sign bit of even lanes, for complex elements
	work            unsafe.Pointer // a [vectorWork]
}

var ff frame

const (
	regValues, regIndices, regX, regY = asm.RSI, asm.R8, asm.R9, asm.R10
	regOff, regRows                   = asm.R11, asm.RCX
	regAt, regEnd, regT               = asm.RAX, asm.RDX, asm.RBX
	regStride, regBound               = asm.R12, asm.R13
	regAhead, regLast                 = asm.R15, asm.R14

	tailMask = asm.K4
)

// ahead is the number of entries after which dense rows are needed that are prefetched.
const ahead = 12

type writer struct {
	codegen.Gen
	key
}

// begin loads the fields that all kernels read, and the first offset.
func (g *writer) begin() {
	for _, f := range []struct {
		r  asm.Reg
		at uintptr
	}{{regValues, unsafe.Offsetof(ff.values)}, {regIndices, unsafe.Offsetof(ff.indices)}, {regX, unsafe.Offsetof(ff.x)}, {regY, unsafe.Offsetof(ff.y)},
		{regOff, unsafe.Offsetof(ff.off)}, {regRows, unsafe.Offsetof(ff.rows)}, {regStride, unsafe.Offsetof(ff.stride)}, {regBound, unsafe.Offsetof(ff.bound)},
		{regLast, unsafe.Offsetof(ff.last)}} {
		g.RM(asm.MOV, f.r, codegen.Field(f.at))
	}
	g.RM(asm.MOV, regAt, asm.Ptr(regOff, 0))
}

// next goes on with the next row, or ends.
func (g *writer) next(row asm.Label) {
	g.RI(asm.ADD, regOff, 8)
	g.RI(asm.SUB, regRows, 1)
	g.Jcc(asm.CondNE, row)
}

// value is the address of the value at regAt, index that of its index. Of complex128 it takes regAhead.
func (g *writer) value() asm.Mem {
	if size := g.dtype.Size(); size <= 8 {
		return asm.Idx(regValues, regAt, uint8(size), 0)
	}
	g.RM(asm.LEA, regAhead, asm.Idx(regAt, regAt, 1, 0))
	return asm.Idx(regValues, regAhead, 8, 0)
}
func (g *writer) index() asm.Mem { return asm.Idx(regIndices, regAt, 4, 0) }

// swapped sets dst to src with the two numbers of each complex element in each other's place, and even and odd to the first
// and the second of them twice.
func (g *writer) swapped(dst, src asm.Reg) { g.RRI(asm.VPSHUFD, dst, src, g.shuffle(0xB1, 0x4E)) }
func (g *writer) even(dst, src asm.Reg)    { g.RRI(asm.VPSHUFD, dst, src, g.shuffle(0xA0, 0x44)) }
func (g *writer) odd(dst, src asm.Reg)     { g.RRI(asm.VPSHUFD, dst, src, g.shuffle(0xF5, 0xEE)) }

func (g *writer) shuffle(single, double int64) int64 {
	if g.D == array.Float32 {
		return single
	}
	return double
}

// total adds halves of vector 0 until one element is left in lane 0. It uses vector 1.
func (g *writer) total() {
	g.RRI(asm.VEXTRACTF64X4, asm.Y(1), asm.Z(0), 1)
	addHalves(&g.Gen, g.dtype)
}

// addHalves adds vectors 0 and 1, of 32 bytes each, then halves of the sum until one element is left in lane 0.
func addHalves(g *codegen.Gen, d array.DType) {
	add := g.Pick(asm.VADDPS, asm.VADDPD)
	g.RRR(add, asm.Y(0), asm.Y(0), asm.Y(1))
	g.RRI(asm.VEXTRACTF128, asm.X(1), asm.Y(0), 1)
	g.RRR(add, asm.X(0), asm.X(0), asm.X(1))
	if d == array.Complex128 {
		return
	}
	g.RRI(asm.VPSHUFD, asm.X(1), asm.X(0), 0xEE)
	g.RRR(add, asm.X(0), asm.X(0), asm.X(1))
	if d == array.Float32 {
		g.RRI(asm.VPSHUFD, asm.X(1), asm.X(0), 0x55)
		g.RRR(add, asm.X(0), asm.X(0), asm.X(1))
	}
}

// lanesOfTail loads the mask of the last vector.
func (g *writer) lanesOfTail() {
	if g.isa == jit.AVX512 {
		g.RM(asm.KMOVW, tailMask, codegen.Field(unsafe.Offsetof(ff.bits)))
	} else {
		g.Load(asm.Y(14), codegen.Field(unsafe.Offsetof(ff.mask)))
	}
}

// move moves one element.
func (g *writer) move() asm.Op {
	switch g.dtype.Size() {
	case 4:
		return asm.VMOVSS
	case 8:
		return asm.VMOVSD
	}
	return asm.VMOVUPS
}

// load loads vector j of a dense row.
func (g *writer) load(dst asm.Reg, m asm.Mem, j int) {
	if m = m.Add(int32(j * g.VB())); g.single {
		g.RM(g.move(), asm.X(int(dst&0xFF)), m)
	} else if g.masked && j == g.vectors-1 {
		g.LoadMasked(dst, m, tailMask, asm.Y(14))
	} else {
		g.Load(dst, m)
	}
}

func (g *writer) keep(m asm.Mem, src asm.Reg, j int) {
	if m = m.Add(int32(j * g.VB())); g.single {
		g.MR(g.move(), m, asm.X(int(src&0xFF)))
	} else if g.masked && j == g.vectors-1 {
		g.StoreMasked(m, src, tailMask, asm.Y(14))
	} else {
		g.Store(m, src)
	}
}

// entry leaves in regT how far the dense row of the entry at regAt is from the first, and jumps to bad
// where there is none. It prefetches a later row.
func (g *writer) entry(bad asm.Label, base asm.Reg) {
	a := &g.Asm
	a.RM(asm.MOV32, regT, g.index())
	if g.single {
		a.RR(asm.CMP, regT, regBound)
		a.Jcc(asm.CondAE, bad)
		a.RR(asm.IMUL, regT, regStride)
		return
	}
	a.RM(asm.LEA, regAhead, asm.Ptr(regAt, ahead))
	a.RR(asm.CMP, regAhead, regLast)
	a.CMov(asm.CondAE, regAhead, regAt)
	a.RM(asm.MOV32, regAhead, asm.Idx(regIndices, regAhead, 4, 0))
	a.RR(asm.CMP, regT, regBound)
	a.Jcc(asm.CondAE, bad)
	a.RR(asm.IMUL, regT, regStride)
	a.RR(asm.IMUL, regAhead, regStride)
	for j := 0; j < max(1, g.vectors*g.VB()/64); j++ {
		a.M(asm.PREFETCHT0, asm.Idx(base, regAhead, 1, int32(64*j)))
	}
}

// end writes the end of a kernel, and the end at an index out of range.
func (g *writer) end(bad asm.Label) {
	g.Done()
	g.Bind(bad)
	g.MovImm(asm.RAX, 1)
	g.Op0(asm.VZEROUPPER)
	g.Op0(asm.RET)
}

// rows writes products with dense rows, some vectors of them. For the matrix, the vectors of a row of y stay
// in registers; for its transpose, the vectors of a row of x.
func (g *writer) rows() {
	a := &g.Asm
	t, v := g.V(13), g.V(12)
	imaginary, signs, turned := g.V(11), g.V(10), g.V(15)
	bad := a.NewLabel()
	g.begin()
	g.lanesOfTail()
	if g.complex() {
		g.Load(signs, codegen.Field(unsafe.Offsetof(ff.signs)))
	}
	far, own := regX, regY
	if g.kind == Transposed {
		far, own = regY, regX
	}
	row := a.Here()
	a.RM(asm.MOV, regEnd, asm.Ptr(regOff, 8))
	for j := range g.vectors {
		if g.kind == Transposed {
			g.load(g.V(j), asm.Ptr(own, 0), j)
		} else {
			g.Zero(g.V(j))
		}
	}
	none := a.NewLabel()
	a.RR(asm.CMP, regAt, regEnd)
	a.Jcc(asm.CondAE, none)
	entry := a.Here()
	g.entry(bad, far)
	at := g.value()
	g.Broadcast(v, at)
	if g.complex() {
		g.Broadcast(imaginary, at.Add(int32(g.D.Size())))
		a.RRR(asm.VXORPS, imaginary, imaginary, signs)
	}
	m := asm.Idx(far, regT, 1, 0)
	for j := range g.vectors {
		g.load(t, m, j)
		sum, x := g.V(j), t
		if g.kind == Transposed {
			sum, x = x, sum
		}
		if g.complex() {
			g.swapped(turned, x)
		}
		g.Fma(sum, x, v)
		if g.complex() {
			g.Fma(sum, turned, imaginary)
		}
		if g.kind == Transposed {
			g.keep(m, t, j)
		}
	}
	a.RI(asm.ADD, regAt, 1)
	a.RR(asm.CMP, regAt, regEnd)
	a.Jcc(asm.CondB, entry)
	a.Bind(none)
	if g.kind != Transposed {
		for j := range g.vectors {
			g.keep(asm.Ptr(own, 0), g.V(j), j)
		}
	}
	a.RR(asm.ADD, own, regStride)
	g.next(row)
	g.end(bad)
}

// sampled writes products of dense rows at entries, for AVX-512.
func (g *writer) sampled() {
	a := &g.Asm
	acc, x, y := asm.Z(0), asm.Z(2), asm.Z(3)
	first, second, signs := asm.Z(4), asm.Z(5), asm.Z(6)
	bad := a.NewLabel()
	g.begin()
	g.lanesOfTail()
	if g.complex() {
		g.Load(signs, codegen.Field(unsafe.Offsetof(ff.signs)))
	}
	add := func() { // the products of x and y to the sums
		if !g.complex() {
			g.Fma(acc, x, y)
			return
		}
		g.even(first, x)
		g.odd(second, x)
		a.RRR(asm.VXORPS, second, second, signs)
		g.Fma(acc, first, y)
		g.swapped(y, y)
		g.Fma(acc, second, y)
	}
	row := a.Here()
	a.RM(asm.MOV, regEnd, asm.Ptr(regOff, 8))
	none := a.NewLabel()
	a.RR(asm.CMP, regAt, regEnd)
	a.Jcc(asm.CondAE, none)
	entry := a.Here()
	g.entry(bad, regY)
	a.RR(asm.ADD, regT, regY)
	g.Zero(acc)
	a.RR(asm.MOV, regAhead, regX)
	tail := a.NewLabel()
	a.RM(asm.MOV, regLast, codegen.Field(unsafe.Offsetof(ff.whole)))
	a.RR(asm.TEST, regLast, regLast)
	a.Jcc(asm.CondE, tail)
	part := a.Here()
	g.Load(x, asm.Ptr(regAhead, 0))
	g.Load(y, asm.Ptr(regT, 0))
	add()
	a.RI(asm.ADD, regAhead, 64)
	a.RI(asm.ADD, regT, 64)
	a.RI(asm.SUB, regLast, 1)
	a.Jcc(asm.CondNE, part)
	a.Bind(tail)
	if g.masked {
		g.LoadMasked(x, asm.Ptr(regAhead, 0), tailMask, 0)
		g.LoadMasked(y, asm.Ptr(regT, 0), tailMask, 0)
		add()
	}
	a.RM(asm.MOV, regLast, codegen.Field(unsafe.Offsetof(ff.last)))
	g.total()
	a.MR(g.move(), g.value(), asm.X(0))
	a.RI(asm.ADD, regAt, 1)
	a.RR(asm.CMP, regAt, regEnd)
	a.Jcc(asm.CondB, entry)
	a.Bind(none)
	a.RR(asm.ADD, regX, regStride)
	g.next(row)
	g.end(bad)
}
