package gemm

import (
	"unsafe"

	"weft/internal/x86/asm"
)

// Few rows take less time than B takes from memory, if not asked for in time: so many
// bytes ahead in each column.
const (
	prefetchRows  = 2
	prefetchAhead = 512
)

// chainAcross writes the loop over k of a tile whose B is transposed as it is read.
//
// Where it can a step takes the terms of a whole vector of each column: a line is
// then touched once, which matters where the columns' addresses share a set of the
// cache. What is left goes by 16 bytes, e terms: row q of each group of e columns
// goes to the 128-bit parts of one register, and e such registers hold a square in
// each part. Then one by one.
func (g *tileGen) chainAcross() {
	a := &g.Asm
	e := 16 / g.d.Size()
	// B's columns: one register for eight of them, others for the odd multiples of the
	// step.
	base := [...]asm.Reg{asm.RSI, asm.RBX, asm.R14, asm.R15}
	const s1, s3, s5, s7 = asm.R13, asm.RAX, asm.R11, asm.R12
	columns := g.nv * g.lanes()
	a.RM(asm.LEA, s5, asm.Idx(s1, s1, 4, 0))
	a.RM(asm.LEA, s7, asm.Idx(s3, s1, 4, 0))
	for i := 1; i < ceil(columns, 8); i++ {
		a.RM(asm.LEA, base[i], asm.Idx(base[i-1], s1, 8, 0))
	}
	column := func(i int) asm.Mem {
		b := base[i/8]
		return [...]asm.Mem{
			asm.Ptr(b, 0), asm.Idx(b, s1, 1, 0), asm.Idx(b, s1, 2, 0), asm.Idx(b, s3, 1, 0),
			asm.Idx(b, s1, 4, 0), asm.Idx(b, s5, 1, 0), asm.Idx(b, s3, 2, 0), asm.Idx(b, s7, 1, 0),
		}[i%8]
	}
	n := g.lanes()
	first := g.mr * g.nv // of the scratch registers
	r := func(i int) asm.Reg { return g.v(first + i) }

	add := func(columns []asm.Reg, v int) {
		for u, b := range columns {
			for i := range g.mr {
				m := [...]asm.Mem{
					asm.Ptr(regA+asm.Reg(i/3), 0), asm.Idx(regA+asm.Reg(i/3), regStep, 1, 0), asm.Idx(regA+asm.Reg(i/3), regStep, 2, 0),
				}[i%3].Add(int32(u * g.d.Size()))
				if g.isa == AVX512 {
					a.RRM(g.pick(asm.VFMADD231PS, asm.VFMADD231PD), g.acc(i, v), b, m.B())
					continue
				}
				g.broadcast(g.temp(0), m)
				g.fma(g.acc(i, v), g.temp(0), b)
			}
		}
	}
	// whole adds a vector of terms, step e or one.
	whole := func() {
		for v := range g.nv {
			rows := make([]asm.Reg, n)
			for i := range rows {
				rows[i] = r(i)
				g.load(rows[i], column(v*n+i))
				if g.mr <= prefetchRows {
					a.M(asm.PREFETCHT1, column(v*n+i).Add(prefetchAhead))
				}
			}
			add(g.transpose(rows, [2]asm.Reg{r(n), r(n + 1)}), v)
		}
	}
	step := func(terms int) {
		for v := range g.nv {
			for q := range e {
				for part := range g.vb() / 16 {
					m := column(v*g.lanes() + part*e + q)
					if terms == 1 {
						g.loadOne(r(q), m, part)
					} else {
						g.loadPart(r(q), m, part)
					}
				}
			}
			add(g.squares([]asm.Reg{r(0), r(1), r(2), r(3), r(4), r(5)})[:terms], v)
		}
	}
	advance := func(bytes int64) {
		for i := range ceil(columns, 8) {
			a.RI(asm.ADD, base[i], bytes)
		}
		for i := range g.registersA() {
			a.RI(asm.ADD, regA+asm.Reg(i), bytes)
		}
	}

	end := a.NewLabel()
	a.RM(asm.MOV, regK, field(unsafe.Offsetof(tf.k)))
	// every writes a loop over steps of some terms, which leaves fewer.
	every := func(terms int, body func()) {
		rest := a.NewLabel()
		a.RI(asm.SUB, regK, int64(terms))
		a.Jcc(asm.CondL, rest)
		a.Align(16)
		loop := a.Here()
		body()
		advance(int64(terms * g.d.Size()))
		a.RI(asm.SUB, regK, int64(terms))
		a.Jcc(asm.CondGE, loop)
		a.Bind(rest)
		a.RI(asm.ADD, regK, int64(terms))
		a.Jcc(asm.CondE, end)
	}
	every(n, whole)
	if e < n {
		every(e, func() { step(e) })
	}
	// One term at a time, which reads one element of each column.
	one := a.Here()
	step(1)
	advance(int64(g.d.Size()))
	a.RI(asm.SUB, regK, 1)
	a.Jcc(asm.CondNE, one)
	a.Bind(end)
}

// loadOne puts the element at m into the first lane of a 128-bit part of dst. Part 0
// comes first and clears the others.
func (g *gen) loadOne(dst asm.Reg, m asm.Mem, part int) {
	load := g.pick(asm.VMOVSS, asm.VMOVSD)
	if part == 0 {
		g.RM(load, asm.X(int(dst&0xFF)), m)
		return
	}
	scratch := asm.X(int(g.temp(1) & 0xFF))
	g.RM(load, scratch, m)
	if g.isa == AVX512 {
		g.RRRI(asm.VINSERTF32X4, dst, dst, scratch, int64(part))
	} else {
		g.RRRI(asm.VINSERTF128, dst, dst, scratch, int64(part))
	}
}
