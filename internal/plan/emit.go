package plan

import (
	"slices"
	"strings"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/loop"
	"weft/internal/numbers"
	"weft/internal/op"
)

// What a cluster computes, as loops: operands and stores, passes over rows and columns.

// emitCluster writes the kernels of a cluster. A cluster that is reduced in blocks has
// kernels for the full blocks, for the rest, and for the tree; any other has one.
func (b *planner) emitCluster(c *cluster) {
	if c.offsets != nil {
		b.emitRagged(c)
		return
	}
	e := &emitter{b: b, c: c}
	before := len(b.p.Steps)
	e.operands()
	if c.lo < 0 {
		if array.Size(c.shape) > 0 {
			e.afterCopy(before)
			e.points()
		}
		e.copyBack()
		return
	}
	// Rows without elements are walked only if there is a result a row, which bounds
	// their number.
	some := false
	for _, n := range e.stores.nodes {
		some = some || n.Size() > 0
	}
	if some && array.Size(c.shape[:c.lo])*array.Size(c.shape[c.hi:]) > 0 {
		block := 0
		if c.col {
			block = numbers.ColumnBlock
		} else if c.parts {
			block = numbers.PartLen
		}
		n := array.Size(c.shape[c.lo:c.hi])
		if c.col && n > block && e.b.on.Looped {
			e.looped(n)
		} else if block > 0 && n > block {
			e.blocks(n, block)
		} else {
			e.kernel(0, -1)
		}
	}
	e.copyBack()
}

// An emitter writes the kernels of one cluster.
type emitter struct {
	b *planner
	c *cluster

	k      *kernel
	loads  byNode[Operand] // full shape
	seen   []window
	stores byNode[Operand]
	back   [][2]Operand // outputs that are copied from where the kernel put them
	index  byNode[int]
	cutAt  int  // kernel.cut
	copied bool // the kernel is the epilogue of the copy of an operand

	row     memo
	pass    memo
	args    []loop.Value // of nodes, one after the other
	one     [1]loop.Value
	stash   byNode[int] // values kept in an output's memory between passes
	now     int         // pass
	counted bool        // a kernel of the cluster has its arithmetic

	ragged  *raggedLoads // of a cluster over the items of a list
	outside bool         // the kernel is that of rows in no item
}

// memo holds the values of nodes.
type memo map[*ir.Node]loop.Value

// has reports that a node belongs to the cluster.
func (e *emitter) has(n *ir.Node) bool { return e.c.has(e.b, n) }

// used reports that a node of the cluster is an output or something outside the
// cluster reads it.
func (e *emitter) used(n *ir.Node) bool {
	s := e.b.info(n)
	return s.in == e.c && (s.out || s.outside > 0)
}

// full reports that a node of the cluster has a value at each element.
func (e *emitter) full(n *ir.Node) bool { return e.b.full(e.c, n) }

// perRow reports that a node of the cluster has one value a row.
func (e *emitter) perRow(n *ir.Node) bool { return e.b.info(n).row }

// even reports that the operand walks the reduced axes as one dimension.
func (e *emitter) even(o Operand) bool {
	if e.c.lo < 0 || array.Size(e.c.shape) == 0 {
		return true
	}
	prev := -1
	for a := e.c.lo; a < e.c.hi; a++ {
		if e.c.shape[a] == 1 {
			continue
		}
		if prev >= 0 && o.Strides[prev] != o.Strides[a]*e.c.shape[a] {
			return false
		}
		prev = a
	}
	return true
}

// across reports that the operand is worth a copy in row-major order, since a
// kernel would gather its elements one by one.
func (e *emitter) across(o Operand) bool {
	for a, n := range e.c.shape {
		if n > 1 && o.Strides[a] == 0 {
			return false // broadcast: what is gathered stays in the cache
		}
	}
	return e.b.crosses(Operand{DType: o.DType, Shape: e.c.shape, Strides: array.RowMajor(e.c.shape)}, o)
}

// operands finds where arguments are and where results go.
func (e *emitter) operands() {
	b, c := e.b, e.c
	e.loads.room(len(c.reads))
	e.stores.room(c.stored)
	wide := func(o Operand) Operand {
		v := o.view()
		return o.with(v.BroadcastTo(c.shape))
	}
	for _, n := range c.nodes {
		if n.Op == op.Iota {
			continue // the argument gives the shape only
		}
		for i, a := range n.Args {
			if e.has(a) {
				continue
			}
			if op.SeenBy(n, i) != op.ByElement {
				e.look(n, i)
				continue
			}
			if isScalar(a) {
				continue
			}
			if _, ok := e.loads.get(a); ok {
				continue
			}
			o := wide(b.value(a))
			if e.across(o) && a.Op == op.Slice && b.info(a.Args[0]).copy == nil && oneBuffer(a, c.reads) {
				// Other windows on the same array are read too: all are copied at once.
				x := b.value(a.Args[0])
				t := b.temp(x.DType, x.Shape)
				b.copy(t, x)
				b.info(a.Args[0]).copy = &t
			}
			if a.Op == op.Slice && b.info(a.Args[0]).copy != nil && e.across(o) {
				o = wide(b.window(a, *b.info(a.Args[0]).copy))
			}
			if !e.even(o) || e.across(o) {
				t := b.temp(a.DType, c.shape)
				b.copy(t, o)
				o = t
			}
			e.loads.set(a, nowhere(a, o))
		}
	}
	for _, n := range c.nodes {
		if !e.used(n) {
			continue
		}
		o := b.home(n)
		if c.lo >= 0 && e.perRow(n) {
			v := o.view()
			st := append([]int(nil), v.Strides...)
			for a := c.lo; a < c.hi; a++ {
				st[a] = 0
			}
			v.Shape, v.Strides = c.shape, st
			e.stores.set(n, o.with(v))
			continue
		}
		if n.Size() == 0 && slices.ContainsFunc(c.nodes, func(m *ir.Node) bool { return e.used(m) && e.perRow(m) }) {
			continue // rows of nothing: there is what each of them gives, and no element to store
		}
		if !e.even(o) {
			t := b.temp(n.DType, n.Shape)
			e.back = append(e.back, [2]Operand{o, t})
			o = t
		}
		e.stores.set(n, nowhere(n, o))
	}
}

// afterCopy makes the kernel the epilogue of the last step, if that is one from step before on that
// transposes an operand for it alone: what was copied is then read from the cache, in pieces, and
// not written to memory.
func (e *emitter) afterCopy(before int) {
	at, shape := len(e.b.p.Steps)-1, e.c.shape
	if !e.b.on.Epilogue || at < before || len(e.stores.nodes) > maxBufs {
		return
	}
	s := &e.b.p.Steps[at]
	if s.Node == nil || s.Node.Op != op.Copy || !array.Equal(s.Outs[0].Shape, shape) || array.Size(shape)*s.Node.DType.Size() < e.b.on.TransposedEpilogue {
		return
	}
	alone := false
	for _, o := range e.loads.values {
		alone = alone || o.Slot == s.Outs[0].Slot
	}
	for _, o := range e.stores.values {
		alone = alone && o.Slot != s.Args[0].Slot // the copy reads all of it before
	}
	cut, rows := columnsAcross(shape, s.Args[0].Strides)
	if alone && rows >= copiedRows && array.Size(shape[cut:]) >= copiedColumns {
		e.cutAt, e.copied = cut, true
	}
}

// Copies that an epilogue runs on.
const (
	copiedRows    = 16 // of a plane, and columns: of fewer, pieces have short rows
	copiedColumns = 256
)

// columnsAcross returns the first of the last axes that strides walk as one dimension, and the
// extent of the axis before these if elements lie side by side along that, else 0.
func columnsAcross(shape, strides []int) (cut, rows int) {
	cut, step, seen := len(shape), 0, false
	for a := len(shape) - 1; a >= 0; a-- {
		switch {
		case shape[a] == 1:
		case !seen:
			cut, step, seen = a, strides[a]*shape[a], true
		case strides[a] == step:
			cut, step = a, step*shape[a]
		case strides[a] == 1:
			return cut, shape[a]
		default:
			return cut, 0
		}
	}
	return cut, 0
}

// nowhere is the operand of n, without strides if it has no elements: the rows of a
// reduction of nothing would be walked beyond its memory.
func nowhere(n *ir.Node, o Operand) Operand {
	if n.Size() == 0 {
		o.Strides = make([]int, len(o.Strides))
	}
	return o
}

func (e *emitter) copyBack() {
	for _, p := range e.back {
		e.b.copy(p[0], p[1])
	}
}

// newKernel registers the operands of the cluster with a fresh kernel.
func (e *emitter) newKernel() {
	c := e.c
	name := "point"
	switch {
	case c.col:
		name = "column"
	case c.lo >= 0:
		name = "row"
	}
	e.k = newKernel(e.b, name, c.shape, c.lo, c.hi)
	e.k.cut, e.k.epilogue = e.cutAt, c.head != nil || e.copied
	e.index, e.stash = byNode[int]{}, byNode[int]{}
	e.index.room(len(e.loads.nodes) + len(e.stores.nodes))
	for _, n := range c.nodes {
		if n.Op == op.Iota {
			e.k.keepIndex(int(n.Attrs.(op.Axis)))
			continue
		}
		for i, a := range n.Args {
			if w := e.window(n, i); w != nil {
				w.at = e.k.operand(w.wide, false)
				e.k.acc[w.at].fixed = true
			} else if o, ok := e.loads.get(a); ok {
				e.index.set(a, e.k.operand(o, false))
			}
		}
		if n.Op != ir.Result {
			e.k.cost += op.CostOf(n)
			e.k.user = e.k.user || isUser(n)
		}
	}
	for _, n := range c.nodes {
		if o, ok := e.stores.get(n); ok {
			e.index.set(n, e.k.operand(o, true))
		}
	}
	e.k.share()
	e.k.collapse()
}

// kernel emits the cluster over its run from element at, length n (-1: all).
func (e *emitter) kernel(at, n int) {
	e.newKernel()
	if n >= 0 {
		e.cut(at, n, 0)
	}
	e.body()
}

// cut restricts the run to n elements from at; with block > 0 it becomes blocks
// of that length, numbered along a new outer dimension.
func (e *emitter) cut(at, n, block int) {
	k := e.k
	for i, d := range k.dims {
		if d.class != run {
			continue
		}
		for _, x := range k.acc {
			x.o.Offset += at * x.strides[i]
		}
		if block > 0 {
			k.dims[i].size = block
			k.insert(i, dim{n / block, outer, d.axis, block, 0}, func(x *access) int { return x.strides[i] * block })
		} else {
			k.dims[i].size, k.dims[i].first = n, at
		}
		return
	}
}

// blocks emits a reduction in blocks and the tree that combines them.
func (e *emitter) blocks(n, block int) {
	nb := (n + block - 1) / block
	full := n / block
	final, part := e.parts(nb)
	e.block(part, 0, full*block, block, 0)
	if full < nb {
		e.block(part, full*block, n-full*block, 0, full)
	}
	for _, x := range e.c.nodes {
		if t, ok := part[x]; ok {
			e.tree(x, t, final[x], nb)
		}
	}
}

// parts makes temporaries, which have one more axis in front, the places of results a row. It returns the
// places that they had, and the temporaries.
func (e *emitter) parts(nb int) (final, part map[*ir.Node]Operand) {
	c := e.c
	final, part = map[*ir.Node]Operand{}, map[*ir.Node]Operand{}
	for _, x := range c.nodes {
		o, ok := e.stores.get(x)
		if !ok || !e.perRow(x) {
			continue
		}
		final[x] = o
		t := e.b.temp(x.DType, append([]int{nb}, c.perRow...))
		part[x] = t
		st := append([]int(nil), t.Strides[1:]...)
		for a := c.lo; a < c.hi; a++ {
			st[a] = 0
		}
		e.stores.set(x, Operand{t.Slot, t.Offset, t.DType, c.shape, st})
	}
	return final, part
}

// block emits the kernel of n elements from at, in blocks of blk unless that is 0, whose results are the
// parts from number on.
func (e *emitter) block(part map[*ir.Node]Operand, at, n, blk, number int) {
	e.newKernel()
	e.cut(at, n, blk)
	for x, t := range part {
		a := e.k.acc[e.index.at(x)]
		a.o.Offset += number * t.Strides[0]
		if blk > 0 {
			for i, d := range e.k.dims {
				if d.class == run {
					a.strides[i-1] = t.Strides[0]
				}
			}
		}
	}
	e.body()
}

// maxDoes is how many operations the name of a kernel has.
const maxDoes = 6

// does names the operations of nodes, each once.
func does(nodes []*ir.Node) string {
	var names []string
	for _, n := range nodes {
		d := op.Of(n)
		if d == nil || d.Class != op.Pointwise && d.Class != op.Reduce {
			continue
		}
		name := d.Name
		if b, ok := n.Attrs.(op.Body); ok {
			name = b.Name()
		}
		switch {
		case slices.Contains(names, name):
		case len(names) == maxDoes:
			return strings.Join(names, "+") + "+..."
		default:
			names = append(names, name)
		}
	}
	return strings.Join(names, "+")
}

// body builds the program of the kernel in hand.
func (e *emitter) body() {
	e.k.computes(e.c.nodes)
	if !e.counted {
		e.counted = true
		for _, n := range e.c.nodes {
			e.k.flops += op.Arithmetic(n)
		}
	}
	switch {
	case e.c.lo < 0:
		e.k.build(func(kb *loop.Builder) { e.pointBody(kb) })
	case e.c.col:
		e.k.build(func(kb *loop.Builder) { e.columnBody(kb) })
	default:
		e.k.build(func(kb *loop.Builder) { e.rowBody(kb) })
	}
}

func (e *emitter) pointBody(kb *loop.Builder) {
	kb.Pass(func() {
		e.pass = memo{}
		// Every load comes before the first store: outputs may be the memory of
		// inputs (Plan.InPlace).
		for _, n := range e.c.nodes {
			if _, ok := e.stores.get(n); ok {
				e.get(kb, n)
			}
		}
		e.storeAll(kb, func(*ir.Node) bool { return true })
	})
}

// storeAll computes and stores the results that pick takes.
func (e *emitter) storeAll(kb *loop.Builder, pick func(n *ir.Node) bool) {
	if len(e.stash.nodes) > 0 {
		// What waits in the memory of one result is read before that is written.
		for _, n := range e.c.nodes {
			if _, ok := e.stores.get(n); ok && pick(n) {
				e.get(kb, n)
			}
		}
	}
	for _, n := range e.c.nodes {
		if _, ok := e.stores.get(n); ok && pick(n) {
			kb.Store(e.k.buf(e.index.at(n)), e.get(kb, n))
		}
	}
}

// get returns the value of a node, inside a pass for one element, outside for a
// row.
func (e *emitter) get(kb *loop.Builder, n *ir.Node) loop.Value {
	if isScalar(n) {
		return e.k.number(n)
	}
	if v, ok := e.row[n]; ok {
		return v
	}
	memo, index := e.pass, &e.index
	if memo == nil {
		memo = e.row
		if e.ragged != nil && !e.has(n) {
			memo, index = e.ragged.values, &e.ragged.index
		}
	}
	if v, ok := memo[n]; ok {
		return v
	}
	var v loop.Value
	switch {
	case n.Op == op.SegmentExpand && e.has(n):
		v = e.spread(kb, n)
	case e.stashed(n):
		v = kb.Load(e.k.buf(e.stash.at(n)))
	case !e.has(n):
		v = e.k.load(index.at(n))
	case n.Op == op.Iota:
		v = e.k.index(int(n.Attrs.(op.Axis)))
	case n.Op == ir.Result:
		// All of what is computed together, once.
		of := n.Args[0]
		for i, y := range e.values(kb, of) {
			for _, r := range e.b.info(of).users {
				if r.Arg() == i && !e.stashed(r) {
					memo[r] = y
				}
			}
		}
		return memo[n]
	default:
		v = e.values(kb, n)[0]
	}
	memo[n] = v
	return v
}

func (e *emitter) stashed(n *ir.Node) bool {
	_, ok := e.stash.get(n)
	return ok && e.now > e.stage(n)
}

// stage is the pass in which a value of an element can be had first; for a value
// of a row, the number of passes that must have ended.
func (e *emitter) stage(n *ir.Node) int {
	if s := e.b.info(n); s.in == e.c {
		return s.stage
	}
	return 0
}

// worthKeeping is the cost from which a value is stored between passes rather
// than computed again.
const worthKeeping = 8

// planStash lets an expensive value that several passes need live in the memory
// of an output of the same type until that is written in the last pass.
func (e *emitter) planStash(last int) {
	var free []*ir.Node
	for _, n := range e.c.nodes {
		if _, ok := e.stores.get(n); ok && e.full(n) && e.stage(n) == last {
			free = append(free, n)
		}
	}
	for _, n := range e.c.nodes {
		if len(free) == 0 {
			return
		}
		if !e.full(n) || op.CostOf(n) < worthKeeping || e.stage(n) >= last || n.DType != free[0].DType {
			continue
		}
		if _, stored := e.stores.get(n); stored {
			e.stash.set(n, e.index.at(n))
			continue
		}
		later := false
		for _, m := range e.c.nodes {
			for _, a := range m.Args {
				later = later || a == n && !combines(m) && e.stage(m) > e.stage(n)
			}
		}
		if later {
			e.stash.set(n, e.index.at(free[0]))
			free = free[1:]
		}
	}
}

func (e *emitter) rowBody(kb *loop.Builder) {
	e.row = memo{}
	if e.ragged != nil {
		e.items(kb)
	}
	last := e.passes()
	for e.now = 0; e.now <= last; e.now++ {
		results := map[*ir.Node]loop.Value{}
		kb.Pass(func() {
			e.pass = memo{}
			for _, n := range e.c.nodes {
				if combines(n) && e.stage(n) == e.now+1 {
					results[n] = kb.Reduce(op.Combines(n), e.get(kb, n.Args[0]))
				}
			}
			e.storePass(kb)
		})
		e.pass = nil
		for n, v := range results {
			e.row[n] = v
		}
		e.rowValues(kb)
	}
	e.storeAll(kb, e.perRow)
	e.row = nil
	e.now = 0
}

// passes returns the number of the last pass over a row, and plans what is kept between them.
func (e *emitter) passes() (last int) {
	for _, n := range e.c.nodes {
		if combines(n) {
			last = max(last, e.stage(n)-1)
		} else if e.full(n) && e.used(n) {
			last = max(last, e.stage(n))
		}
	}
	e.planStash(last)
	return last
}

// storePass stores what the pass at hand gives for elements.
func (e *emitter) storePass(kb *loop.Builder) {
	for _, n := range e.c.nodes {
		if _, own := e.stores.get(n); own {
			continue // it is kept where it goes
		}
		if i, ok := e.stash.get(n); ok && e.stage(n) == e.now {
			kb.Store(e.k.buf(i), e.get(kb, n))
		}
	}
	e.storeAll(kb, func(n *ir.Node) bool { return e.full(n) && e.stage(n) == e.now })
}

// rowValues computes what the pass at hand gives for its row.
func (e *emitter) rowValues(kb *loop.Builder) {
	for _, n := range e.c.nodes {
		if n.Results == nil && e.perRow(n) && e.stage(n) == e.now+1 {
			e.get(kb, n)
		}
	}
}

func (e *emitter) columnBody(kb *loop.Builder) {
	kb.Pass(func() {
		e.pass = memo{}
		var reds []*ir.Node
		var init []loop.Value
		for _, n := range e.c.nodes {
			if isReduce(n) {
				reds = append(reds, n)
				init = append(init, identity(kb, op.Combines(n), loop.TypeOf(n.DType)))
			}
		}
		out := kb.For(e.k.serial, init, func(acc []loop.Value) []loop.Value {
			next := make([]loop.Value, len(acc))
			for i, n := range reds {
				next[i] = combine(kb, op.Combines(n), acc[i], e.get(kb, n.Args[0]))
			}
			e.storeAll(kb, e.full)
			return next
		})
		e.pass = memo{}
		for i, n := range reds {
			e.pass[n] = out[i]
		}
		e.storeAll(kb, e.perRow)
	})
}
