package gemm

import (
	"unsafe"

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
func genDots(g *gen, nv int, paired, asks bool) {
	a := &g.Asm
	e := 16 / g.d.Size()
	n := g.lanes()
	perLine := lineBytes / g.d.Size()
	blocks := 1 + bit(paired, 0)
	blockBytes := kBlock * g.d.Size()
	// B's columns: one register for eight of them, others for the odd multiples of the step.
	base := []asm.Reg{asm.RSI, asm.RBX, asm.R14}[:ceil(nv*n, 8)]
	const (
		s1, s3, s5, s7 = asm.R13, asm.RAX, asm.R11, asm.R12
		row, out, next = asm.R8, asm.RDX, asm.R9
		count, left    = asm.RCX, asm.R10
		adds           = asm.R15
	)
	column := func(i int) asm.Mem {
		b := base[i/8]
		return [...]asm.Mem{
			asm.Ptr(b, 0), asm.Idx(b, s1, 1, 0), asm.Idx(b, s1, 2, 0), asm.Idx(b, s3, 1, 0),
			asm.Idx(b, s1, 4, 0), asm.Idx(b, s5, 1, 0), asm.Idx(b, s3, 2, 0), asm.Idx(b, s7, 1, 0),
		}[i%8]
	}
	sums := nv * blocks
	factor := func(u int) asm.Reg { return g.v(sums + u) }
	r := func(i int) asm.Reg { return g.v(sums + 4 + i) }

	// step adds terms, e or one, that lie so many bytes behind.
	step := func(terms, blocks, behind int) {
		for block := range blocks {
			behind := behind + block*blockBytes
			for u := range terms {
				g.broadcast(factor(u), asm.Ptr(row, int32(behind+u*g.d.Size())))
			}
			for v := range nv {
				for q := range e {
					for part := range 2 {
						m := column(v*n + part*e + q).Add(int32(behind))
						if terms == 1 {
							g.loadOne(r(q), m, part)
						} else {
							g.loadPart(r(q), m, part)
						}
					}
				}
				for u, b := range g.squares([]asm.Reg{r(0), r(1), r(2), r(3), r(4), r(5)})[:terms] {
					g.fma(g.v(block*nv+v), factor(u), b)
				}
			}
		}
	}
	advance := func(bytes int) {
		for _, b := range base {
			a.RI(asm.ADD, b, int64(bytes))
		}
		a.RI(asm.ADD, row, int64(bytes))
	}
	// every writes a loop over steps of some terms, which leaves fewer in count.
	every := func(terms int, body func()) {
		rest := a.NewLabel()
		a.RI(asm.SUB, count, int64(terms))
		a.Jcc(asm.CondL, rest)
		a.Align(16)
		loop := a.Here()
		body()
		advance(terms * g.d.Size())
		a.RI(asm.SUB, count, int64(terms))
		a.Jcc(asm.CondGE, loop)
		a.Bind(rest)
		a.RI(asm.ADD, count, int64(terms))
	}
	// line adds the terms of a line of each column.
	line := func(blocks int) {
		lines := nv * n * blocks
		for behind, asked := 0, 0; behind < lineBytes; behind += 16 {
			step(e, blocks, behind)
			for ; asks && asked < lines*(behind+16)/lineBytes; asked++ {
				a.M(asm.PREFETCHT1, asm.Ptr(next, int32(asked*lineBytes)))
			}
		}
		if asks {
			a.RI(asm.ADD, next, int64(lines*lineBytes))
		}
	}
	start := func(blocks int) {
		for i := range nv * blocks {
			g.zero(g.v(i))
		}
	}
	// finish adds the sums of blocks to C.
	finish := func(blocks int) {
		add := g.pick(asm.VADDPS, asm.VADDPD)
		first := a.NewLabel()
		a.RR(asm.TEST, adds, adds)
		a.Jcc(asm.CondE, first)
		for v := range nv {
			g.load(r(0), asm.Ptr(out, int32(v*g.vb())))
			a.RRR(add, g.v(v), r(0), g.v(v))
		}
		a.Bind(first)
		for v := range nv {
			if blocks == 2 {
				a.RRR(add, g.v(v), g.v(v), g.v(nv+v))
			}
			g.store(asm.Ptr(out, int32(v*g.vb())), g.v(v))
		}
		a.RI(asm.MOV, adds, 1)
	}

	a.RM(asm.MOV, s1, field(unsafe.Offsetof(dt.bStep)))
	a.RM(asm.LEA, s3, asm.Idx(s1, s1, 2, 0))
	a.RM(asm.LEA, s5, asm.Idx(s1, s1, 4, 0))
	a.RM(asm.LEA, s7, asm.Idx(s3, s1, 4, 0))
	a.RM(asm.MOV, out, field(unsafe.Offsetof(dt.c)))
	group := a.Here()
	a.RM(asm.MOV, base[0], field(unsafe.Offsetof(dt.b)))
	for i := 1; i < len(base); i++ {
		a.RM(asm.LEA, base[i], asm.Idx(base[i-1], s1, 8, 0))
	}
	a.RM(asm.MOV, row, field(unsafe.Offsetof(dt.a)))
	a.RM(asm.MOV, left, field(unsafe.Offsetof(dt.k)))
	a.RM(asm.MOV, adds, field(unsafe.Offsetof(dt.add)))
	end := a.NewLabel()
	if asks {
		a.RM(asm.MOV, next, field(unsafe.Offsetof(dt.ahead)))
		a.RR(asm.ADD, next, base[0])
	}
	if paired {
		rest := a.NewLabel()
		a.RI(asm.SUB, left, 2*kBlock)
		a.Jcc(asm.CondL, rest)
		pair := a.Here()
		start(2)
		a.RI(asm.MOV, count, kBlock)
		every(perLine, func() { line(2) })
		finish(2)
		advance(blockBytes)
		a.RI(asm.SUB, left, 2*kBlock)
		a.Jcc(asm.CondGE, pair)
		a.Bind(rest)
		a.RI(asm.ADD, left, 2*kBlock)
		a.Jcc(asm.CondE, end)
	}
	block := a.Here()
	start(1)
	a.RI(asm.MOV, count, kBlock)
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
	a.RM(asm.ADD, out, field(unsafe.Offsetof(dt.cGroup)))
	a.RM(asm.MOV, count, field(unsafe.Offsetof(dt.bGroup)))
	a.MR(asm.ADD, field(unsafe.Offsetof(dt.b)), count)
	a.MI(asm.SUB, field(unsafe.Offsetof(dt.groups)), 1)
	a.Jcc(asm.CondNE, group)
	g.done()
}

// squares returns registers that hold the columns, in order, of the squares in the
// 128-bit parts of those of r but the last two, which it may use.
func (g *gen) squares(r []asm.Reg) []asm.Reg {
	a := &g.Asm
	if g.d.Size() == 8 {
		a.RRR(asm.VUNPCKLPD, r[4], r[0], r[1])
		a.RRR(asm.VUNPCKHPD, r[5], r[0], r[1])
		return r[4:]
	}
	a.RRR(asm.VUNPCKLPS, r[4], r[0], r[1])
	a.RRR(asm.VUNPCKHPS, r[5], r[0], r[1])
	a.RRR(asm.VUNPCKLPS, r[0], r[2], r[3])
	a.RRR(asm.VUNPCKHPS, r[1], r[2], r[3])
	a.RRR(asm.VUNPCKLPD, r[2], r[4], r[0])
	a.RRR(asm.VUNPCKHPD, r[3], r[4], r[0])
	a.RRR(asm.VUNPCKLPD, r[4], r[5], r[1])
	a.RRR(asm.VUNPCKHPD, r[5], r[5], r[1])
	return r[2:]
}

// loadPart loads 128-bit part of dst. Part 0 comes first and clears the others.
func (g *gen) loadPart(dst asm.Reg, m asm.Mem, part int) {
	switch {
	case part == 0:
		g.RM(asm.VMOVUPS, asm.X(int(dst&0xFF)), m)
	case g.isa == AVX512:
		g.RRMI(asm.VINSERTF32X4, dst, dst, m, int64(part))
	default:
		g.RRMI(asm.VINSERTF128, dst, dst, m, int64(part))
	}
}
