package plan

import (
	"weft/internal/array"
	"weft/internal/ir"
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
	bufs   int // upper bound of buffers
}

// maxBufs keeps kernels below loop.MaxBufs and the words of their frames.
const maxBufs = 14

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
	c.bufs++
	for _, a := range n.Args {
		if isScalar(a) {
			continue
		}
		if d := b.of[a.ID]; d != c {
			c.bufs++
			if d != nil {
				c.deps[d] = true
			}
		}
	}
}

// join puts n into the best cluster that takes it, else into a new one.
func (b *planner) join(n *ir.Node) {
	for _, a := range n.Args {
		if !isScalar(a) && b.of[a.ID] != nil && b.take(b.of[a.ID], n) {
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
	c.lo, c.hi = n.Attrs.Ints[0], n.Attrs.Ints[1]
	c.col = array.Size(c.shape[c.hi:]) != 1
	rows := array.Size(c.shape[:c.lo])
	c.parts = !c.col && rows <= partialRows && array.Size(c.shape[c.lo:c.hi]) >= partialMin
}

// take adds n to c if that makes one kernel of them without a cycle.
func (b *planner) take(c *cluster, n *ir.Node) bool {
	if c.single != nil || c.bufs+1+len(n.Args) > maxBufs {
		return false
	}
	set := false
	if isReduce(n) {
		x := n.Args[0]
		if !array.Equal(x.Shape, c.shape) {
			return false
		}
		lo, hi := n.Attrs.Ints[0], n.Attrs.Ints[1]
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
			if isScalar(a) || b.of[a.ID] != c {
				continue
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
		case row && c.parts:
			return false
		case row && c.col && (full || !array.Equal(n.Shape, c.rowShape())):
			return false
		case row && !full && array.Equal(n.Shape, c.rowShape()):
			// One value a row. Other arguments must be broadcastable to it.
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
