package product

import (
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/gen"
	"weft/internal/cpu/tile"
	"weft/internal/jit"
	"weft/internal/numbers"
	"weft/internal/x86/asm"
)

// A dotsFrame holds the arguments of the kernels for one row times columns of B that
// lie side by side in memory.
type dotsFrame struct {
	a, b, c unsafe.Pointer
	bStep   int // bytes from column to column
	bGroup  int // to the next group
	cGroup  int
	k       int // at least 1
	groups  int // of columns, counted down
	ahead   int // bytes from a group on to the line that is asked for when its first is read
	add     int // 1: to C
	order   gen.HalvesOrder
}

var dt dotsFrame

// Vectors of 256 bits in a group. Several share the factors; from memory the processor
// reads fewer columns side by side as fast as one alone.
const (
	dotsCached = 3
	dotsMemory = 2
	dotsPaired = 1
)

// lineBytes is what a line of the caches holds.
const lineBytes = 64

// genDots writes the kernel for groups of nv vectors of columns: a vector has one
// element of each column, put together from 16 bytes of each.
//
// A sum waits four cycles for its last product, so one vector of sums is too few. A
// paired group has two, of neighbouring blocks of k: where the addresses of columns
// share a set of the first cache, no more than eight columns have room there.
//
// With asks, as many lines as are read are asked for further on, in the order of memory.
//
// Columns of float16 and bfloat16 become float32 behind the transposition.
func genDots(g *gen.Gen, from array.DType, nv int, paired, asks bool) {
	a := &g.Asm
	e := 16 / from.Size()
	n := g.Lanes()
	perLine := lineBytes / from.Size()
	blocks := 1 + tile.Bit(paired, 0)
	base := gen.ColumnBases[:tile.Ceil(nv*n, 8)]
	const (
		row, out, next = asm.R8, asm.RDX, asm.R9
		count, left    = asm.RCX, asm.R10
		adds           = asm.R15
	)
	sums := nv * blocks
	factor := func(u int) asm.Reg { return g.V(sums + u) }
	scratch := sums + 4

	// step adds terms, e or one, that lie so many behind.
	step := func(terms, blocks, behind int) {
		for block := range blocks {
			behind := behind + block*numbers.KBlock
			set := func(u int) { g.Broadcast(factor(u%4), asm.Ptr(row, int32((behind+u)*g.D.Size()))) }
			if from.Half() { // of which there are more terms than registers
				for v := range nv {
					g.HalfTerms(from, terms, v, behind*from.Size(), scratch, gen.Field(unsafe.Offsetof(dt.order)), func(u int, b asm.Reg) {
						set(u)
						g.Fma(g.V(block*nv+v), factor(u%4), b)
					})
				}
				continue
			}
			for u := range terms {
				set(u)
			}
			for v := range nv {
				for u, b := range g.ColumnTerms(terms, v, behind*from.Size(), scratch) {
					g.Fma(g.V(block*nv+v), factor(u), b)
				}
			}
		}
	}
	advance := func(terms int) {
		for _, b := range base {
			a.RI(asm.ADD, b, int64(terms*from.Size()))
		}
		a.RI(asm.ADD, row, int64(terms*g.D.Size()))
	}
	every := func(terms int, body func()) {
		g.Every(terms, count, func() {
			body()
			advance(terms)
		})
	}
	// line adds the terms of a line of each column.
	line := func(blocks int) {
		lines := nv * n * blocks
		for behind, asked := 0, 0; behind < perLine; behind += e {
			step(e, blocks, behind)
			for ; asks && asked < lines*(behind+e)/perLine; asked++ {
				a.M(asm.PREFETCHT1, asm.Ptr(next, int32(asked*lineBytes)))
			}
		}
		if asks {
			a.RI(asm.ADD, next, int64(lines*lineBytes))
		}
	}
	start := func(blocks int) {
		for i := range nv * blocks {
			g.Zero(g.V(i))
		}
	}
	// finish adds the sums of blocks to C.
	finish := func(blocks int) {
		add := g.Pick(asm.VADDPS, asm.VADDPD)
		first := a.NewLabel()
		a.RR(asm.TEST, adds, adds)
		a.Jcc(asm.CondE, first)
		for v := range nv {
			g.Load(g.V(scratch), asm.Ptr(out, int32(v*g.VB())))
			a.RRR(add, g.V(v), g.V(scratch), g.V(v))
		}
		a.Bind(first)
		for v := range nv {
			if blocks == 2 {
				a.RRR(add, g.V(v), g.V(v), g.V(nv+v))
			}
			g.Store(asm.Ptr(out, int32(v*g.VB())), g.V(v))
		}
		a.RI(asm.MOV, adds, 1)
	}

	a.RM(asm.MOV, gen.Step1, gen.Field(unsafe.Offsetof(dt.bStep)))
	a.RM(asm.LEA, gen.Step3, asm.Idx(gen.Step1, gen.Step1, 2, 0))
	g.ColumnSteps()
	a.RM(asm.MOV, out, gen.Field(unsafe.Offsetof(dt.c)))
	group := a.Here()
	a.RM(asm.MOV, base[0], gen.Field(unsafe.Offsetof(dt.b)))
	g.OtherBases(len(base))
	a.RM(asm.MOV, row, gen.Field(unsafe.Offsetof(dt.a)))
	a.RM(asm.MOV, left, gen.Field(unsafe.Offsetof(dt.k)))
	a.RM(asm.MOV, adds, gen.Field(unsafe.Offsetof(dt.add)))
	end := a.NewLabel()
	if asks {
		a.RM(asm.MOV, next, gen.Field(unsafe.Offsetof(dt.ahead)))
		a.RR(asm.ADD, next, base[0])
	}
	if paired {
		rest := a.NewLabel()
		a.RI(asm.SUB, left, 2*numbers.KBlock)
		a.Jcc(asm.CondL, rest)
		pair := a.Here()
		start(2)
		a.RI(asm.MOV, count, numbers.KBlock)
		every(perLine, func() { line(2) })
		finish(2)
		advance(numbers.KBlock)
		a.RI(asm.SUB, left, 2*numbers.KBlock)
		a.Jcc(asm.CondGE, pair)
		a.Bind(rest)
		a.RI(asm.ADD, left, 2*numbers.KBlock)
		a.Jcc(asm.CondE, end)
	}
	block := a.Here()
	start(1)
	a.RI(asm.MOV, count, numbers.KBlock)
	a.RR(asm.CMP, left, count)
	whole := a.NewLabel()
	a.Jcc(asm.CondGE, whole)
	a.RR(asm.MOV, count, left)
	a.Bind(whole)
	a.RR(asm.SUB, left, count)
	if asks {
		every(perLine, func() { line(1) })
	}
	every(e, func() { step(e, 1, 0) })
	every(1, func() { step(1, 1, 0) })
	finish(1)
	a.RR(asm.TEST, left, left)
	a.Jcc(asm.CondNE, block)
	a.Bind(end)
	a.RM(asm.ADD, out, gen.Field(unsafe.Offsetof(dt.cGroup)))
	a.RM(asm.MOV, count, gen.Field(unsafe.Offsetof(dt.bGroup)))
	a.MR(asm.ADD, gen.Field(unsafe.Offsetof(dt.b)), count)
	a.MI(asm.SUB, gen.Field(unsafe.Offsetof(dt.groups)), 1)
	a.Jcc(asm.CondNE, group)
	g.Done()
}

// A dotsKey names a kernel for nv vectors of columns.
type dotsKey struct {
	isa          jit.ISA
	d, from      array.DType // of the sums and of B
	nv           int
	paired, asks bool
}

var dotsKernels = jit.NewCache[dotsKey, *jit.Code](0)

func (k dotsKey) Generate() *jit.Code {
	g := &gen.Gen{ISA: k.isa, D: k.d, Narrow: true}
	genDots(g, k.from, k.nv, k.paired, k.asks)
	return g.Install(k)
}
