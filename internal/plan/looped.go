package plan

import (
	"weft/internal/ir"
	"weft/internal/numbers"
)

// Plans that are written ahead, for any number of rows: how many steps combine the blocks of a column
// reduction depends on the number. Such a plan has each kind of step once, with nominal values in the
// place of loop variables.

// A Phase is a kind of step of a column reduction.
type Phase uint8

// Phases of a column reduction. A tree over blocks has levels; parts that a level combines are apart by a
// power of 8.
const (
	Short  Phase = iota // few rows, which are reduced into the result: rows
	Full                // blocks of rows: blocks
	Rest                // the last block, which has fewer rows: its index, its rows
	Groups              // groups of parts: groups, how far parts are apart
	Some                // the last group, which has fewer parts: the indices of eight, the number of parts
	Last                // the group whose combination is the result: as Some
)

// Looped describes a kernel that code around it runs with numbers of its own in the place of Values.
type Looped struct {
	Phase  Phase
	Rows   int   // that are reduced
	Values []int // the numbers of the phase, in the order of its comment
	Parts  []int // slots of parts, a row for each block
}

// looped emits each phase of a column reduction once. Values differ from plan to plan.
func (e *emitter) looped(n int) {
	block := numbers.ColumnBlock
	nb := (n + block - 1) / block
	some := func(least, count, by int) int { return least + n*by/7%count }
	var slots []int
	from := len(e.b.p.Steps)
	mark := func(p Phase, values ...int) {
		for i := range e.b.p.Steps[from:] {
			e.b.p.Steps[from+i].Kernel.Looped = &Looped{Phase: p, Rows: n, Values: values, Parts: slots}
		}
		from = len(e.b.p.Steps)
	}
	rows := some(3, 11, 3)
	e.kernel(0, rows)
	mark(Short, rows)
	final, part := e.parts(nb)
	for _, x := range e.c.nodes {
		if t, ok := part[x]; ok {
			slots = append(slots, t.Slot)
		}
	}
	full, rest := some(2, 13, 5), some(2, 12, 11)
	e.block(part, 0, full*block, block, 0)
	mark(Full, full)
	e.block(part, full*block, rest, 0, full)
	mark(Rest, full, rest)
	for _, x := range e.c.nodes {
		if t, ok := part[x]; ok {
			slots = []int{t.Slot}
			e.loopedTree(x, t, final[x], some, mark)
		}
	}
}

// loopedTree emits the phases of a tree.
func (e *emitter) loopedTree(x *ir.Node, t, final Operand, some func(least, count, by int) int, mark func(p Phase, values ...int)) {
	groups, apart := some(2, 11, 13), some(2, 7, 17)
	e.combine(x, t, final, group{0, groups, radix, apart, false})
	mark(Groups, groups, apart)
	g := group{some(1, 17, 19), 1, some(2, 6, 23), apart, false}
	e.combine(x, t, final, g)
	mark(Some, append(g.at(), g.size)...)
	g = group{0, 1, some(2, 7, 29), apart, true}
	e.combine(x, t, final, g)
	mark(Last, append(g.at(), g.size)...)
}

// at are the indices of the parts of the first group; of those that are not there the first one's.
func (g *group) at() []int {
	at := make([]int, radix)
	for i := range at {
		at[i] = g.first
		if i < g.size {
			at[i] += i * g.s
		}
	}
	return at
}
