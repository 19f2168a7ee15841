package tile

import (
	"unsafe"

	"weft/internal/cpu/codegen"
	"weft/internal/jit"
	"weft/internal/x86/asm"
)

// With up to prefetchRows rows the sums take less time than loading B from memory. Then each
// column is prefetched prefetchDistance bytes ahead.
const (
	prefetchRows     = 2
	prefetchDistance = 512
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
	e := 16 / g.D.Size()
	base := codegen.ColumnBases[:Ceil(g.Nv*g.Lanes(), 8)]
	g.ColumnSteps()
	g.OtherBases(len(base))
	n := g.Lanes()
	first := g.Mr * g.Nv // of the scratch registers
	r := func(i int) asm.Reg { return g.V(first + i) }

	add := func(columns []asm.Reg, v int) {
		for u, b := range columns {
			for i := range g.Mr {
				m := [...]asm.Mem{
					asm.Ptr(regA+asm.Reg(i/3), 0), asm.Idx(regA+asm.Reg(i/3), regStep, 1, 0), asm.Idx(regA+asm.Reg(i/3), regStep, 2, 0),
				}[i%3].Add(int32(u * g.D.Size()))
				if g.ISA == jit.AVX512 {
					a.RRM(g.Pick(asm.VFMADD231PS, asm.VFMADD231PD), g.acc(i, v), b, m.B())
					continue
				}
				g.Broadcast(g.Temp(0), m)
				g.Fma(g.acc(i, v), g.Temp(0), b)
			}
		}
	}
	// whole adds a vector of terms, step e or one.
	whole := func() {
		for v := range g.Nv {
			rows := make([]asm.Reg, n)
			for i := range rows {
				rows[i] = r(i)
				g.Load(rows[i], codegen.Column(v*n+i))
				if g.Mr <= prefetchRows {
					a.M(asm.PREFETCHT1, codegen.Column(v*n+i).Add(prefetchDistance))
				}
			}
			add(g.Transpose(rows, [2]asm.Reg{r(n), r(n + 1)}), v)
		}
	}
	step := func(terms int) {
		for v := range g.Nv {
			add(g.ColumnTerms(terms, v, 0, first), v)
		}
	}
	advance := func(bytes int64) {
		for _, b := range base {
			a.RI(asm.ADD, b, bytes)
		}
		for i := range g.registersA() {
			a.RI(asm.ADD, regA+asm.Reg(i), bytes)
		}
	}

	end := a.NewLabel()
	a.RM(asm.MOV, regK, codegen.Field(unsafe.Offsetof(tf.K)))
	every := func(terms int, body func()) {
		g.Every(terms, regK, func() {
			body()
			advance(int64(terms * g.D.Size()))
		})
		a.Jcc(asm.CondE, end)
	}
	every(n, whole)
	if e < n {
		every(e, func() { step(e) })
	}
	// One term at a time, which reads one element of each column.
	one := a.Here()
	step(1)
	advance(int64(g.D.Size()))
	a.RI(asm.SUB, regK, 1)
	a.Jcc(asm.CondNE, one)
	a.Bind(end)
}
