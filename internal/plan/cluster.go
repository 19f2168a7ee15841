package plan

import (
	"slices"
	"sort"
	"sync"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/loop"
	"weft/internal/op"
)

// A cluster is a set of nodes that become one kernel, or a single node that is
// none (a routine, a window).
type cluster struct {
	id     int
	single *ir.Node
	nodes  []*ir.Node
	shape  []int // the rectangle
	lo, hi int   // the reduced axes, -1 when nothing is reduced
	col    bool  // axes follow the reduced ones
	parts  bool  // long rows are cut into parts; nothing uses the results inside
	deps   map[*cluster]bool
}

// Bounds of a kernel, below those of the loop language: buffers and numbers fill
// the frame; code longer than some hundred operations gains nothing from
// fusion.
const (
	maxBufs    = 14
	maxNumbers = 32
	maxNodes   = 128
)

// rowShape is the shape of a value of which there is one a row.
func (c *cluster) rowShape() []int {
	s := append([]int(nil), c.shape...)
	for i := c.lo; i < c.hi; i++ {
		s[i] = 1
	}
	return s
}

// full reports that a node of the cluster has a value at each element, not each
// row.
func (c *cluster) full(n *ir.Node) bool {
	return !isReduce(n) && array.Equal(n.Shape, c.shape) && !c.rowLevel(n)
}

// rowLevel reports that a node of the cluster has one value a row: a reduction
// or something computed from row-level values alone. Where the reduced axes have
// size 1 shapes do not tell.
func (c *cluster) rowLevel(n *ir.Node) bool {
	if c.lo < 0 {
		return false
	}
	if isReduce(n) {
		return true
	}
	if !array.Equal(n.Shape, c.rowShape()) || n.Op == op.Iota {
		return false
	}
	inside := false
	for _, a := range n.Args {
		if !isScalar(a) && c.has(a) {
			if !c.rowLevel(a) {
				return false
			}
			inside = true
		}
	}
	return inside
}

func (c *cluster) has(n *ir.Node) bool {
	for _, x := range c.nodes {
		if x == n {
			return true
		}
	}
	return false
}

func isReduce(n *ir.Node) bool {
	d := op.Of(n)
	return d != nil && d.Class == op.Reduce
}

// reaches reports whether c depends on d.
func (c *cluster) reaches(d *cluster) bool {
	if c == d {
		return true
	}
	for e := range c.deps {
		if e.reaches(d) {
			return true
		}
	}
	return false
}

// cluster puts each node into a cluster, greedily in graph order.
func (b *planner) cluster() {
	g := b.outs[0].Graph
	b.of = make([]*cluster, len(b.reach))
	b.users = make([][]*ir.Node, len(b.reach))
	b.isOut = make([]bool, len(b.reach))
	counts := make([]int, len(b.reach))
	all := 0
	for id, n := range g.Nodes[:len(b.reach)] {
		if b.reach[id] {
			for _, a := range n.Args {
				counts[a.ID]++
				all++
			}
		}
	}
	room := make([]*ir.Node, all)
	for id, n := range counts {
		b.users[id], room = room[:0:n], room[n:]
	}
	for id, n := range g.Nodes[:len(b.reach)] {
		if b.reach[id] {
			for _, a := range n.Args {
				b.users[a.ID] = append(b.users[a.ID], n)
			}
		}
	}
	for _, n := range b.outs {
		b.isOut[n.ID] = true
	}
	for id, n := range g.Nodes[:len(b.reach)] {
		if !b.reach[id] || n.Op == ir.Input || isScalar(n) {
			continue
		}
		d := op.Of(n)
		switch d.Class {
		case op.Pointwise, op.Reduce:
			b.join(n)
		default:
			c := &cluster{id: len(b.clusters), single: n, lo: -1, hi: -1, deps: map[*cluster]bool{}}
			b.add(c, n)
			b.clusters = append(b.clusters, c)
		}
	}
	// A cluster may have come to depend on one that was begun later.
	done := make([]bool, len(b.clusters))
	var visit func(c *cluster)
	visit = func(c *cluster) {
		if done[c.id] {
			return
		}
		done[c.id] = true
		for _, d := range b.clusters {
			if c.deps[d] {
				visit(d)
			}
		}
		b.order = append(b.order, c)
	}
	for _, c := range b.clusters {
		visit(c)
	}
}

func (b *planner) add(c *cluster, n *ir.Node) {
	c.nodes = append(c.nodes, n)
	b.of[n.ID] = c
	for _, a := range n.Args {
		if isScalar(a) {
			continue
		}
		if d := b.of[a.ID]; d != nil && d != c {
			c.deps[d] = true
		}
	}
}

// fits reports that the cluster with more nodes stays within the bounds of a
// kernel: what it reads, what others may read of it, and its numbers.
func (b *planner) fits(c *cluster, more ...*ir.Node) bool {
	if len(c.nodes)+len(more) > maxNodes {
		return false
	}
	inside := func(x *ir.Node) bool {
		for _, m := range more {
			if m == x {
				return true
			}
		}
		return b.of[x.ID] == c
	}
	bufs, numbers := 0, 0
	var few [2 * maxBufs]*ir.Node
	seen := few[:0]
	count := func(x *ir.Node) {
		stored := b.isOut[x.ID]
		for _, u := range b.users[x.ID] {
			stored = stored || !inside(u)
		}
		if stored {
			bufs++
		}
		for _, a := range x.Args {
			if a.Op == ir.Const || inside(a) || slices.Contains(seen, a) {
				continue
			}
			seen = append(seen, a)
			if isScalar(a) {
				numbers++
			} else {
				bufs++
			}
		}
	}
	for _, x := range c.nodes {
		count(x)
	}
	for _, x := range more {
		count(x)
	}
	return bufs <= maxBufs && numbers <= maxNumbers
}

// absorb makes one cluster of c and the elementwise cluster d, if that leaves no
// cycle.
func (b *planner) absorb(c, d *cluster) {
	if d.single != nil || d.lo >= 0 || !array.Equal(c.shape, d.shape) || !b.fits(c, d.nodes...) {
		return
	}
	if c.lo >= 0 {
		// Values a row must not meet nodes that were not made for them, nor be
		// computed from values of an element.
		for _, n := range c.nodes {
			if isReduce(n) || !c.rowLevel(n) {
				continue
			}
			for _, a := range n.Args {
				if b.of[a.ID] == d {
					return
				}
			}
		}
		for _, n := range d.nodes {
			for _, a := range n.Args {
				if b.of[a.ID] == c {
					return
				}
			}
		}
	}
	for _, e := range b.clusters {
		if e != c && e != d && (c.deps[e] && e.reaches(d) || d.deps[e] && e.reaches(c)) {
			return
		}
	}
	c.nodes = append(c.nodes, d.nodes...)
	sort.Slice(c.nodes, func(i, j int) bool { return c.nodes[i].ID < c.nodes[j].ID })
	for _, n := range d.nodes {
		b.of[n.ID] = c
	}
	for e := range d.deps {
		c.deps[e] = true
	}
	delete(c.deps, c)
	delete(c.deps, d)
	d.nodes, d.deps = nil, nil
	for _, e := range b.clusters {
		if e.deps[d] {
			delete(e.deps, d)
			e.deps[c] = true
		}
	}
	for i, e := range b.clusters {
		if e == d {
			b.clusters = append(b.clusters[:i], b.clusters[i+1:]...)
			break
		}
	}
	for i, e := range b.clusters {
		e.id = i
	}
}

// join puts n into the best cluster that takes it, else into a new one.
func (b *planner) join(n *ir.Node) {
	for _, a := range n.Args {
		if !isScalar(a) && b.of[a.ID] != nil && b.take(b.of[a.ID], n) {
			for _, x := range n.Args {
				if d := b.of[x.ID]; !isScalar(x) && d != nil && d != b.of[n.ID] {
					b.absorb(b.of[n.ID], d)
				}
			}
			return
		}
	}
	// Siblings share what they read.
	for i := len(b.clusters) - 1; i >= 0; i-- {
		if c := b.clusters[i]; c.single == nil && b.shares(c, n) && b.take(c, n) {
			return
		}
	}
	c := &cluster{id: len(b.clusters), lo: -1, hi: -1, shape: n.Shape, deps: map[*cluster]bool{}}
	if isReduce(n) {
		c.shape = n.Args[0].Shape
		c.setRun(n)
	}
	b.add(c, n)
	b.clusters = append(b.clusters, c)
}

// shares reports that n reads something that the cluster reads or computes.
func (b *planner) shares(c *cluster, n *ir.Node) bool {
	for _, x := range c.nodes {
		for _, a := range x.Args {
			for _, y := range n.Args {
				if a == y && !isScalar(a) {
					return true
				}
			}
		}
	}
	return false
}

func (c *cluster) setRun(n *ir.Node) {
	g := n.Attrs.(op.Group)
	c.lo, c.hi = g.Lo, g.Hi
	c.col = array.Size(c.shape[c.hi:]) != 1
	rows := array.Size(c.shape[:c.lo])
	c.parts = !c.col && rows <= partialRows && array.Size(c.shape[c.lo:c.hi]) >= partialMin
}

// blocked reports that the reductions are made of parts.
func (c *cluster) blocked() bool {
	return c.parts || c.col && array.Size(c.shape[c.lo:c.hi]) > ColumnBlock
}

// take adds n to c if that makes one kernel of them without a cycle.
func (b *planner) take(c *cluster, n *ir.Node) bool {
	if c.single != nil || !b.fits(c, n) {
		return false
	}
	set := false
	if isReduce(n) {
		x := n.Args[0]
		if !array.Equal(x.Shape, c.shape) {
			return false
		}
		g := n.Attrs.(op.Group)
		lo, hi := g.Lo, g.Hi
		switch {
		case c.lo < 0:
			// Elementwise nodes of a cluster that becomes a column or is cut into
			// parts keep working: they do not read the result.
			set = true
		case c.lo != lo || c.hi != hi:
			return false
		case c.has(x) && c.rowLevel(x):
			return false
		case (c.col || c.parts) && c.dependsOnReduce(x):
			return false
		}
	} else {
		row, full := false, false
		for _, a := range n.Args {
			if isScalar(a) || b.of[a.ID] != c || n.Op == op.Iota {
				continue // an index takes nothing but the shape from its argument
			}
			if c.rowLevel(a) {
				row = true
			} else {
				full = true
				if !array.Equal(a.Shape, n.Shape) {
					return false // broadcast of an elementwise value: it must be stored
				}
			}
		}
		switch {
		case row && c.blocked():
			return false // a part's result is not the row's
		case row && c.col && (full || !array.Equal(n.Shape, c.rowShape())):
			return false
		case row && !full && array.Equal(n.Shape, c.rowShape()):
			// One value a row. Other arguments must be broadcastable to it.
			if !straight(n) {
				return false
			}
		case array.Equal(n.Shape, c.shape):
		default:
			return false
		}
	}
	for _, a := range n.Args {
		if isScalar(a) {
			continue
		}
		if d := b.of[a.ID]; d != nil && d != c && d.reaches(c) {
			return false
		}
	}
	b.add(c, n)
	if set {
		c.setRun(n)
	}
	return true
}

// dependsOnReduce reports whether x, inside c, is computed from a reduction of c.
func (c *cluster) dependsOnReduce(x *ir.Node) bool {
	if !c.has(x) {
		return false
	}
	if isReduce(x) {
		return true
	}
	for _, a := range x.Args {
		if !isScalar(a) && c.dependsOnReduce(a) {
			return true
		}
	}
	return false
}

// straights remembers straight by operation and type.
var straights sync.Map // straightKey -> bool

type straightKey struct {
	op    ir.Op
	dtype array.DType
}

// straight reports that an elementwise operation is computed without a loop, so
// that it can stand between the passes of a row.
func straight(n *ir.Node) bool {
	key := straightKey{n.Op, n.Args[0].DType}
	if ok, known := straights.Load(key); known {
		return ok.(bool)
	}
	kb := loop.NewBuilder("trial", []loop.Axis{{Kind: loop.Reduce}}, 0)
	args := make([]loop.Value, len(n.Args))
	for i, a := range n.Args {
		args[i] = kb.Load(kb.Buf(a.DType, false, loop.Zero))
	}
	y := op.Of(n).Expr(kb, n, args)
	kb.Store(kb.Buf(n.DType, true, loop.Zero), y)
	_, err := kb.Done()
	straights.Store(key, err == nil)
	return err == nil
}
