package plan

import (
	"slices"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/loop"
	"weft/internal/op"
)

// An item of a list is a row of a kernel with a length of its own. A cluster over a list computes
// values of elements (the elements of the list's array) and values of items (such as reductions).
// It can expand values of items to the elements of each item. Its kernel has one row per item and
// does the passes of a row kernel over the item's elements. If the list's array has rows of
// several elements, these are the lanes, and loops walk the rows of the item.
//
// Elements in no item are rare. A kernel of their own computes them; it reads 0 for every value
// of an item.

// isSegment reports an operation on the items of a list.
func isSegment(n *ir.Node) bool {
	d := op.Of(n)
	return d != nil && d.Class == op.Segment
}

// elementsOf is the shape of the list's array.
func elementsOf(n *ir.Node) []int {
	if n.Op == op.SegmentExpand {
		return n.Shape
	}
	return n.Args[0].Shape
}

// makeRagged makes the cluster one over the list of n.
func (c *cluster) makeRagged(n *ir.Node) {
	c.offsets = n.Args[1]
	c.shape = elementsOf(n)
	c.perRow = slices.Clone(c.shape)
	c.perRow[0] = c.offsets.Shape[0] - 1
}

// beginRagged makes the cluster of n alone one over a list.
func (b *planner) beginRagged(n *ir.Node, c *cluster) {
	c.makeRagged(n)
	if s := b.info(n); combines(n) {
		s.row, s.stage = true, 1
	}
}

// needsPlace reports whether n needs the index of its element, for which a kernel over a list has no
// register. A gather of rows does not need it: it reads a row index by element.
func needsPlace(n *ir.Node) bool {
	for i := range n.Args {
		if !isSegment(n) && op.SeenBy(n, i) != op.ByElement && !gathersRows(n) {
			return true
		}
	}
	return n.Op == op.Iota
}

// gathersRows reports whether n reads rows of a table at given indices: see [taking].
func gathersRows(n *ir.Node) bool {
	t, ok := n.Attrs.(taking)
	return ok && t.Axis == 0 && t.Along == 1
}

// takeItems reports whether n, which is an operation on items or meets a cluster over a list,
// fits into c, and whether it is a value of an item there.
func (b *planner) takeItems(c *cluster, n *ir.Node, one *cluster) (row, fits bool) {
	if c.lo >= 0 || isReduce(n) || slices.ContainsFunc(one.nodes, needsPlace) {
		return false, false
	}
	if !isSegment(n) {
		// Only what reads a value of the cluster; values of items and of elements do not meet
		// but by an expansion.
		items, elements := false, false
		for _, a := range n.Args {
			if b.in(a) == c {
				items = items || b.info(a).row
				elements = elements || !b.info(a).row
				if !array.Equal(a.Shape, shapeOf(n)) {
					return false, false
				}
			}
		}
		switch {
		case items && !elements:
			return true, array.Equal(shapeOf(n), c.perRow) && straight(n) && !gathersRows(n)
		case elements && !items:
			return false, array.Equal(shapeOf(n), c.shape)
		}
		return false, false
	}
	x, off := n.Args[0], n.Args[1]
	if c.offsets != nil && c.offsets != off || b.in(off) == c || !array.Equal(elementsOf(n), c.shape) {
		return false, false
	}
	if c.offsets == nil && slices.ContainsFunc(c.nodes, needsPlace) {
		return false, false
	}
	inside := b.in(x) == c
	if n.Op == op.SegmentExpand {
		return false, !inside || b.info(x).row
	}
	return true, !inside || !b.info(x).row
}

// elementsOfList reports whether the elementwise cluster d can be part of c, which is over a
// list: it is no other list, and gives no values of items.
func (b *planner) elementsOfList(c, d *cluster) bool {
	if b.in(c.offsets) == d {
		return false
	}
	if slices.ContainsFunc(d.nodes, needsPlace) {
		return false
	}
	for _, n := range c.nodes {
		if n.Op == op.SegmentExpand && b.in(n.Args[0]) == d {
			return false
		}
	}
	return true
}

// absorbItems makes the elementwise cluster d part of c, which is over a list, if it gives
// values of items; it reports whether it did.
func (b *planner) absorbItems(c, d *cluster) bool {
	if d.single != nil || d.lo >= 0 || d.offsets != nil || d.near || array.Equal(c.shape, d.shape) || !array.Equal(c.perRow, d.shape) || b.in(c.offsets) == d {
		return false
	}
	for _, n := range d.nodes {
		if n.Results != nil || n.Op == ir.Result || needsPlace(n) || !straight(n) {
			return false
		}
	}
	for _, a := range d.reads {
		if b.in(a) == c {
			return false
		}
	}
	at := d.seq
	nodes := slices.Clone(d.nodes)
	if !b.unite(c, d) {
		return false
	}
	b.clusters[at] = nil
	for _, n := range nodes {
		s := b.info(n)
		s.row, s.stage, s.heavy = true, 0, false
	}
	return true
}

// raggedLoads is what an emitter knows about the items of a cluster over a list.
type raggedLoads struct {
	loads  byNode[Operand] // values of items from outside
	index  byNode[int]
	values memo
	at     Operand // the offsets
}

// emitRagged writes the kernel of a cluster over a list.
func (b *planner) emitRagged(c *cluster) {
	e := &emitter{b: b, c: c, ragged: &raggedLoads{}}
	e.raggedOperands()
	if array.Size(c.shape[1:]) == 0 || len(e.stores.nodes) == 0 {
		return
	}
	var outside *Kernel
	if c.shape[0] > 0 && slices.ContainsFunc(e.stores.nodes, e.full) {
		outside = e.outsideItems()
	}
	// The elements of items are another axis than the items.
	shape := append([]int{c.perRow[0]}, c.shape...)
	lift := func(o Operand, items bool) Operand {
		s := append([]int{0}, o.Strides...)
		if items {
			s[0], s[1] = o.Strides[0], 0
		}
		return Operand{o.Slot, o.Offset, o.DType, shape, s}
	}
	k := newKernel(b, "items", shape, 1, 2)
	k.keptDims, k.keep = 2, []int{0, reducedAxes}
	e.k, e.index, e.stash = k, byNode[int]{}, byNode[int]{}
	for i, n := range e.loads.nodes {
		e.index.set(n, k.operand(lift(e.loads.values[i], false), false))
	}
	for i := range e.seen {
		w := &e.seen[i]
		w.at = k.operand(lift(w.wide, false), false)
		k.acc[w.at].fixed = true
	}
	for i, n := range e.ragged.loads.nodes {
		e.ragged.index.set(n, k.operand(lift(e.ragged.loads.values[i], true), false))
	}
	at := e.ragged.at
	k.offsets = k.operand(Operand{at.Slot, at.Offset, at.DType, shape, append([]int{1}, make([]int, len(c.shape))...)}, false)
	for i, n := range e.stores.nodes {
		e.index.set(n, k.operand(lift(e.stores.values[i], e.perRow(n)), true))
	}
	var segment *ir.Node
	for _, n := range c.nodes {
		if isSegment(n) && segment == nil {
			segment = n
		}
		if n.Op != ir.Result {
			k.cost += op.CostOf(n)
			k.user = k.user || isUser(n)
			k.flops += op.Arithmetic(n)
		}
	}
	k.computes(c.nodes)
	var out *Kernel
	k.into = &out
	k.collapse()
	k.build(func(kb *loop.Builder) {
		e.ragged.values = memo{}
		if k.serial >= 0 {
			e.itemColumns(kb)
		} else {
			e.rowBody(kb)
		}
	})
	if out != nil { // nil if there is nothing to compute
		out.Ragged = &RaggedAxis{Node: b.traced(segment), Rows: c.shape[0], Outside: outside}
		b.step(Step{Kernel: out})
	}
	e.copyBack()
}

// raggedOperands finds where arguments are and where results go.
func (e *emitter) raggedOperands() {
	b, c := e.b, e.c
	wide := func(a *ir.Node, shape []int) Operand {
		o := b.value(a)
		v := o.view()
		return o.with(v.BroadcastTo(shape))
	}
	for _, n := range c.nodes {
		for i, a := range n.Args {
			if e.has(a) || isScalar(a) || isSegment(n) && i == 1 {
				continue
			}
			if i == 0 && gathersRows(n) {
				e.look(n, i)
				continue
			}
			if e.perRow(n) && !combines(n) || n.Op == op.SegmentExpand {
				if n.Op == op.SegmentExpand && isScalar(numberOf(a)) {
					continue
				}
				if _, ok := e.ragged.loads.get(a); !ok {
					e.ragged.loads.set(a, wide(a, c.perRow))
				}
			} else if _, ok := e.loads.get(a); !ok {
				o := wide(a, c.shape)
				if e.across(o) {
					t := b.temp(a.DType, c.shape)
					b.copy(t, o)
					o = t
				}
				e.loads.set(a, o)
			}
		}
	}
	e.ragged.at = b.value(c.offsets)
	if v := e.ragged.at.view(); !v.Contiguous() {
		t := b.temp(c.offsets.DType, c.offsets.Shape)
		b.copy(t, e.ragged.at)
		e.ragged.at = t
	}
	for _, n := range c.nodes {
		if e.used(n) {
			e.stores.set(n, b.home(n))
		}
	}
}

// numberOf is the number that all elements of n are, if they are windows on one.
func numberOf(n *ir.Node) *ir.Node {
	for isView(n) {
		n = n.Args[0]
	}
	return n
}

// spread is the value of an expansion: that of its item, 0 in none.
func (e *emitter) spread(kb *loop.Builder, n *ir.Node) loop.Value {
	if e.outside {
		return kb.Number(loop.TypeOf(n.DType), 0)
	}
	if x := numberOf(n.Args[0]); isScalar(x) {
		return e.k.number(x)
	}
	return e.get(kb, n.Args[0])
}

// items computes the values of items that need none of their elements, and reads those from
// outside that elements need.
func (e *emitter) items(kb *loop.Builder) {
	for _, n := range e.c.nodes {
		if e.perRow(n) && e.stage(n) == 0 {
			e.get(kb, n)
		}
		if n.Op == op.SegmentExpand && !e.has(n.Args[0]) {
			e.row[n] = e.spread(kb, n)
		}
	}
}

// itemColumns computes items whose rows have several elements, which are the lanes.
func (e *emitter) itemColumns(kb *loop.Builder) {
	kb.Pass(func() {
		e.row = memo{}
		e.items(kb)
		last := e.passes()
		for e.now = 0; e.now <= last; e.now++ {
			var reds []*ir.Node
			var init []loop.Value
			for _, n := range e.c.nodes {
				if combines(n) && e.stage(n) == e.now+1 {
					reds = append(reds, n)
					init = append(init, identity(kb, op.Combines(n), loop.TypeOf(n.DType)))
				}
			}
			out := kb.For(e.k.serial, init, func(acc []loop.Value) []loop.Value {
				e.pass = memo{}
				next := make([]loop.Value, len(acc))
				for i, n := range reds {
					next[i] = combine(kb, op.Combines(n), acc[i], e.get(kb, n.Args[0]))
				}
				e.storePass(kb)
				return next
			})
			e.pass = nil
			for i, n := range reds {
				e.row[n] = out[i]
			}
			e.rowValues(kb)
		}
		e.storeAll(kb, e.perRow)
		e.row, e.now = nil, 0
	})
}

// outsideItems is the kernel of rows that are in no item, over all rows.
func (e *emitter) outsideItems() (out *Kernel) {
	k := newKernel(e.b, "outside", e.c.shape, -1, -1)
	k.computes(e.c.nodes)
	k.keptDims, k.keep, k.into = 1, []int{0}, &out
	o := &emitter{b: e.b, c: e.c, k: k, outside: true, seen: slices.Clone(e.seen)}
	for i, n := range e.loads.nodes {
		o.index.set(n, k.operand(e.loads.values[i], false))
	}
	for i := range o.seen {
		w := &o.seen[i]
		w.at = k.operand(w.wide, false)
		k.acc[w.at].fixed = true
	}
	for i, n := range e.stores.nodes {
		if e.full(n) {
			o.stores.set(n, e.stores.values[i])
			o.index.set(n, k.operand(e.stores.values[i], true))
		}
	}
	for _, n := range e.c.nodes {
		k.cost += op.CostOf(n)
		k.user = k.user || isUser(n)
	}
	k.collapse()
	k.build(func(kb *loop.Builder) { o.pointBody(kb) })
	return out
}
