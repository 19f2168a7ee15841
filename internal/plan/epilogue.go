package plan

import (
	"slices"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// Epilogues: a kernel of elementwise nodes that reads the result of a tiled routine runs on
// each piece of that as it is finished, while it is in the cache.

// epilogues attaches to every tiled routine the cluster that can be its epilogue, if there is one.
func (b *planner) epilogues() {
	for _, c := range b.clusters {
		if c == nil || c.single == nil || op.Of(c.single) == nil || op.Of(c.single).Tiled == 0 || c.single.Size() == 0 {
			continue
		}
		b.budget = maxBudget
		b.findEpilogue(c)
	}
}

// findEpilogue looks for the epilogue of the routine that is alone in c among what reads its
// result, also in another shape with the same columns.
func (b *planner) findEpilogue(c *cluster) {
	users := b.info(c.single).users
	for _, u := range users[:min(len(users), maxSiblings)] {
		if u.Op != op.Reshape {
			if b.attachEpilogue(b.in(u), c, c.single) {
				return
			}
			continue
		}
		readers := b.info(u).users
		for _, v := range readers[:min(len(readers), maxSiblings)] {
			if b.attachEpilogue(b.in(v), c, u) {
				return
			}
		}
	}
}

// columns returns the axis of the shape from which on axes are the columns of the result
// of n, -1 if there is none.
func columns(n *ir.Node, shape []int) int {
	cols := array.Size(n.Shape[len(n.Shape)-op.Of(n).Tiled:])
	for a := len(shape); a >= 0; a-- {
		if array.Size(shape[a:]) == cols {
			return a
		}
	}
	return -1
}

// attachEpilogue makes t the epilogue of the routine that is alone in c, whose result t reads as x.
// It reports false if t cannot be that, such as when something between the two depends
// on the routine.
func (b *planner) attachEpilogue(t, c *cluster, x *ir.Node) bool {
	n := c.single
	if t.single != nil || t.head != nil || t.lo >= 0 || t.offsets != nil || t.arrays+t.stored > maxBufs || !array.Equal(t.shape, x.Shape) || columns(n, x.Shape) < 0 {
		return false
	}
	for _, m := range t.nodes {
		for i, a := range m.Args {
			if op.SeenBy(m, i) != op.ByElement && (a == x || a == n) {
				return false // it reads beyond the piece
			}
		}
	}
	if own := b.in(x); own != c {
		// The other shape of the result, which is no work, belongs to the routine.
		b.clusters[own.seq] = nil
		b.info(x).in = c
		c.nodes = append(c.nodes, x)
	}
	reads := append(b.reads[:0], n.Args...)
	for _, a := range t.reads {
		if b.in(a) != c {
			reads = append(reads, a)
		}
	}
	b.reads = reads
	level, ok := b.level(c, t, reads)
	if !ok {
		return false
	}
	t.level, t.head, t.reads = level, c, slices.Clone(reads)
	for _, m := range c.nodes {
		b.info(m).in = t
	}
	b.clusters[c.seq] = nil
	return true
}

// emitWithEpilogue writes a routine with its epilogue.
func (b *planner) emitWithEpilogue(c *cluster) {
	n := c.head.single
	b.shareHome(c)
	for _, m := range c.head.nodes {
		b.info(m).in = c.head // the epilogue reads it from outside
	}
	home := b.home(n)
	if v := home.view(); !v.Contiguous() {
		// The result passes through a temporary.
		c.head = nil
		b.emitSingle(n)
		b.emitCluster(c)
		return
	}
	e := &emitter{b: b, c: c, cutAt: columns(n, c.shape)}
	e.operands()
	b.emitSingle(n)
	e.kernel(0, -1)
}

// shareHome puts the result of a routine into the memory of a result of its epilogue, if that
// has its element type and order and nothing else reads what the routine computes.
func (b *planner) shareHome(c *cluster) {
	n := c.head.single
	for _, m := range c.head.nodes {
		s := b.info(m)
		if s.out || s.dst != nil || slices.ContainsFunc(s.users, func(u *ir.Node) bool { return b.in(u) != c }) {
			return
		}
	}
	for _, m := range c.nodes {
		s := b.info(m)
		if !s.out && s.outside == 0 || m.DType != n.DType {
			continue
		}
		home := b.home(m)
		if b.given(home.Slot) {
			continue // the epilogue reads what is there
		}
		if v := home.view(); v.Contiguous() {
			b.info(n).place = &Operand{home.Slot, home.Offset, n.DType, n.Shape, array.RowMajor(n.Shape)}
			return
		}
	}
}

// passing notes the epilogues that alone read what their routine computes.
func (b *planner) passing() {
	for at := range b.p.Steps {
		s := &b.p.Steps[at]
		if s.Epilogue == nil {
			continue
		}
		slot, seen := s.Outs[0].Slot, uint32(0)
		if slot < b.p.Inputs+len(b.p.Outs) || b.p.Slots[slot].Last != at {
			continue
		}
		for i := range s.Epilogue.Binds {
			o := &s.Epilogue.Binds[i]
			if o.Slot != slot {
				continue
			}
			if v := o.view(); s.Epilogue.Prog.Bufs[i].Write || o.Offset != 0 || o.DType != s.Outs[0].DType || !v.Contiguous() {
				seen = 0
				break
			}
			seen |= 1 << i
		}
		s.Epilogue.Result = seen
	}
}

// setEpilogue makes k the epilogue of the last step, which is a routine. cols is the number of
// columns of the routine's result; the last axes of k walk them.
func (b *planner) setEpilogue(k *Kernel, cols int) {
	at := len(b.p.Steps) - 1
	s := &b.p.Steps[at]
	for a, n := len(k.Extents), 1; n < cols; k.Columns++ {
		a--
		n *= k.Extents[a]
	}
	s.Epilogue = k
	for _, o := range k.Binds {
		b.p.Slots[o.Slot].Last = at
	}
}
