package product

import (
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/codegen"
	"weft/internal/cpu/tile"
	"weft/internal/jit"
	"weft/internal/numbers"
	"weft/internal/processor"
	"weft/internal/x86/asm"
)

// A dotsFrame holds the arguments of the kernels for one row times a column-major B.
type dotsFrame struct {
	a, b, c  unsafe.Pointer
	bStep    int // bytes from column to column
	bGroup   int // to the next group
	cGroup   int
	k        int // at least 1
	groups   int // of columns, counted down
	nv       int // vectors of a group
	prefetch int // bytes from a group to the line that is prefetched when the group's first line is read
	add      int // 1: to C
	order    codegen.HalvesOrder
}

var dt dotsFrame

// Vectors of 256 bits in a group. Several share the factors; from memory the processor
// reads fewer columns side by side as fast as one alone.
const (
	dotsCached = 3
	dotsMemory = 2
	dotsPaired = 1
)

// Registers of the kernels for one row times columns.
const (
	dotsRow, dotsOut, dotsNext = asm.R8, asm.RDX, asm.R9 // dotsNext: what is prefetched
	dotsCount, dotsLeft        = asm.RCX, asm.R10
	dotsAdds                   = asm.R15 // whether sums are added to C
)

// A dotsWriter writes the kernel for groups of nv vectors of columns: a vector has one
// element of each column, put together from 16 bytes of each.
//
// A sum waits four cycles for its last product, so one vector of sums is too few. A
// paired group has two, of neighbouring blocks of k: where the addresses of columns
// share a set of the L1 cache, at most eight columns fit there.
//
// With prefetch, the kernel prefetches as many lines as it reads, further on in memory order.
//
// Columns of float16 and bfloat16 become float32 behind the transposition.
type dotsWriter struct {
	*codegen.Gen
	from             array.DType
	nv               int
	paired, prefetch bool

	base    []asm.Reg // of columns
	sums    int       // registers of sums; factors are behind them
	scratch int       // registers behind those
}

// genDots writes the kernel that [dotsWriter] describes.
func genDots(g *codegen.Gen, from array.DType, nv int, paired, prefetch bool) {
	w := &dotsWriter{Gen: g, from: from, nv: nv, paired: paired, prefetch: prefetch}
	w.base = codegen.ColumnBases[:tile.Ceil(nv*g.Lanes(), 8)]
	w.sums = nv * (1 + tile.Bit(paired, 0))
	w.scratch = w.sums + 4
	a := &g.Asm

	a.RM(asm.MOV, codegen.Step1, codegen.Field(unsafe.Offsetof(dt.bStep)))
	a.RM(asm.LEA, codegen.Step3, asm.Idx(codegen.Step1, codegen.Step1, 2, 0))
	g.ColumnSteps()
	a.RM(asm.MOV, dotsOut, codegen.Field(unsafe.Offsetof(dt.c)))
	group := a.Here()
	a.RM(asm.MOV, w.base[0], codegen.Field(unsafe.Offsetof(dt.b)))
	g.OtherBases(len(w.base))
	a.RM(asm.MOV, dotsRow, codegen.Field(unsafe.Offsetof(dt.a)))
	a.RM(asm.MOV, dotsLeft, codegen.Field(unsafe.Offsetof(dt.k)))
	a.RM(asm.MOV, dotsAdds, codegen.Field(unsafe.Offsetof(dt.add)))
	end := a.NewLabel()
	if prefetch {
		a.RM(asm.MOV, dotsNext, codegen.Field(unsafe.Offsetof(dt.prefetch)))
		a.RR(asm.ADD, dotsNext, w.base[0])
	}
	if paired {
		w.pairs(end)
	}
	w.blocks()
	a.Bind(end)
	a.RM(asm.ADD, dotsOut, codegen.Field(unsafe.Offsetof(dt.cGroup)))
	a.RM(asm.MOV, dotsCount, codegen.Field(unsafe.Offsetof(dt.bGroup)))
	a.MR(asm.ADD, codegen.Field(unsafe.Offsetof(dt.b)), dotsCount)
	a.MI(asm.SUB, codegen.Field(unsafe.Offsetof(dt.groups)), 1)
	a.Jcc(asm.CondNE, group)
	g.Done()
}

// pairs takes two blocks of k at a time while there are two, and jumps to end where none is
// left.
func (w *dotsWriter) pairs(end asm.Label) {
	a := &w.Asm
	rest := a.NewLabel()
	a.RI(asm.SUB, dotsLeft, 2*numbers.KBlock)
	a.Jcc(asm.CondL, rest)
	pair := a.Here()
	w.start(2)
	a.RI(asm.MOV, dotsCount, numbers.KBlock)
	w.every(w.perLine(), func() { w.line(2) })
	w.finish(2)
	w.advance(numbers.KBlock)
	a.RI(asm.SUB, dotsLeft, 2*numbers.KBlock)
	a.Jcc(asm.CondGE, pair)
	a.Bind(rest)
	a.RI(asm.ADD, dotsLeft, 2*numbers.KBlock)
	a.Jcc(asm.CondE, end)
}

// blocks takes the blocks of k one by one.
func (w *dotsWriter) blocks() {
	a := &w.Asm
	block := a.Here()
	w.start(1)
	a.RI(asm.MOV, dotsCount, numbers.KBlock)
	a.RR(asm.CMP, dotsLeft, dotsCount)
	whole := a.NewLabel()
	a.Jcc(asm.CondGE, whole)
	a.RR(asm.MOV, dotsCount, dotsLeft)
	a.Bind(whole)
	a.RR(asm.SUB, dotsLeft, dotsCount)
	if w.prefetch {
		w.every(w.perLine(), func() { w.line(1) })
	}
	w.every(w.perLoad(), func() { w.step(w.perLoad(), 1, 0) })
	w.every(1, func() { w.step(1, 1, 0) })
	w.finish(1)
	a.RR(asm.TEST, dotsLeft, dotsLeft)
	a.Jcc(asm.CondNE, block)
}

// perLine returns the elements of a column in a cache line, perLoad the elements in 16 bytes.
func (w *dotsWriter) perLine() int { return processor.Line / w.from.Size() }
func (w *dotsWriter) perLoad() int { return 16 / w.from.Size() }

// start sets the sums of blocks to 0.
func (w *dotsWriter) start(blocks int) {
	for i := range w.nv * blocks {
		w.Zero(w.V(i))
	}
}

// every runs body, which adds terms, as often as dotsCount has terms more.
func (w *dotsWriter) every(terms int, body func()) {
	w.Every(terms, dotsCount, func() {
		body()
		w.advance(terms)
	})
}

// advance moves the row and the columns on by terms.
func (w *dotsWriter) advance(terms int) {
	for _, b := range w.base {
		w.RI(asm.ADD, b, int64(terms*w.from.Size()))
	}
	w.RI(asm.ADD, dotsRow, int64(terms*w.D.Size()))
}

// line adds the terms of a line of each column.
func (w *dotsWriter) line(blocks int) {
	lines := w.nv * w.Lanes() * blocks
	e, perLine := w.perLoad(), w.perLine()
	for behind, prefetched := 0, 0; behind < perLine; behind += e {
		w.step(e, blocks, behind)
		for ; w.prefetch && prefetched < lines*(behind+e)/perLine; prefetched++ {
			w.M(asm.PREFETCHT1, asm.Ptr(dotsNext, int32(prefetched*processor.Line)))
		}
	}
	if w.prefetch {
		w.RI(asm.ADD, dotsNext, int64(lines*processor.Line))
	}
}

// step adds terms products, as many as a load has or one. They lie behind terms further on.
func (w *dotsWriter) step(terms, blocks, behind int) {
	factor := func(u int) asm.Reg { return w.V(w.sums + u) }
	for block := range blocks {
		behind := behind + block*numbers.KBlock
		set := func(u int) { w.Broadcast(factor(u%4), asm.Ptr(dotsRow, int32((behind+u)*w.D.Size()))) }
		if w.from.Half() { // there are more terms than registers
			for v := range w.nv {
				w.HalfTerms(w.from, terms, v, behind*w.from.Size(), w.scratch, codegen.Field(unsafe.Offsetof(dt.order)), func(u int, b asm.Reg) {
					set(u)
					w.Fma(w.V(block*w.nv+v), factor(u%4), b)
				})
			}
			continue
		}
		for u := range terms {
			set(u)
		}
		for v := range w.nv {
			for u, b := range w.ColumnTerms(terms, v, behind*w.from.Size(), w.scratch) {
				w.Fma(w.V(block*w.nv+v), factor(u), b)
			}
		}
	}
}

// finish adds the sums of blocks to C.
func (w *dotsWriter) finish(blocks int) {
	a, nv := &w.Asm, w.nv
	add := w.Pick(asm.VADDPS, asm.VADDPD)
	first := a.NewLabel()
	a.RR(asm.TEST, dotsAdds, dotsAdds)
	a.Jcc(asm.CondE, first)
	for v := range nv {
		w.Load(w.V(w.scratch), asm.Ptr(dotsOut, int32(v*w.VB())))
		a.RRR(add, w.V(v), w.V(w.scratch), w.V(v))
	}
	a.Bind(first)
	for v := range nv {
		if blocks == 2 {
			a.RRR(add, w.V(v), w.V(v), w.V(nv+v))
		}
		w.Store(asm.Ptr(dotsOut, int32(v*w.VB())), w.V(v))
	}
	a.RI(asm.MOV, dotsAdds, 1)
}

// A dotsKey names a kernel for groups of 1 to nv vectors of columns.
type dotsKey struct {
	isa              jit.ISA
	d, from          array.DType // of the sums and of B
	nv               int
	paired, prefetch bool
}

var dotsKernels = jit.NewCache[dotsKey, *jit.Code](0)

func (k dotsKey) Generate() *jit.Code {
	g := &codegen.Gen{ISA: k.isa, D: k.d, Narrow: true}
	g.RM(asm.MOV, asm.RAX, codegen.Field(unsafe.Offsetof(dt.nv)))
	for nv := 1; nv < k.nv; nv++ {
		more := g.NewLabel()
		g.RI(asm.CMP, asm.RAX, int64(nv))
		g.Jcc(asm.CondNE, more)
		genDots(g, k.from, nv, k.paired, k.prefetch)
		g.Bind(more)
	}
	genDots(g, k.from, k.nv, k.paired, k.prefetch)
	return g.Install(k)
}
