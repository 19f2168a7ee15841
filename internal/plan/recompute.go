package plan

import (
	"slices"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// Recomputation: a cheap value is computed in every kernel that reads it instead of being stored.
// Cheap are a few elementwise operations on one array that is in memory anyway. Examples are the
// slope 1-y*y of a tanh and the distance x-mean in batch normalisation. Without recomputation one
// kernel would write the value and another read it; reading y or x there costs no more. A value
// that the first kernel needs too is computed by both.

// recomputeUsers is the most users of a value that is recomputed.
const recomputeUsers = 8

// recompute lets clusters compute such values of other clusters that they read.
func (b *planner) recompute() {
	for _, c := range slices.Backward(b.clusters) {
		if c == nil || c.single != nil || c.offsets != nil {
			continue
		}
		for i := len(c.nodes) - 1; i >= 0 && len(c.nodes) > 1; i-- {
			if i < len(c.nodes) && b.in(c.nodes[i]) == c {
				b.recomputeNode(c, c.nodes[i])
			}
		}
	}
}

// recomputeNode lets the clusters that read v compute it, with the nodes it is computed from,
// instead of c, to which it belongs. Nodes that c needs for other values stay in c too.
func (b *planner) recomputeNode(c *cluster, v *ir.Node) {
	s := b.info(v)
	if s.out || s.outside == 0 || len(s.users) > recomputeUsers {
		return
	}
	readers, inside, ok := b.readersOf(c, v)
	if !ok || !inside && len(readers) > 1 {
		return
	}
	k, ok := b.cheapSubgraph(c, v, true)
	if !ok {
		k, ok = b.cheapSubgraph(c, v, false)
	}
	if !ok || k.covers(c) {
		return
	}
	for _, d := range readers {
		if !k.fits(b, d) {
			return
		}
	}
	// What nothing of c needs any more leaves it for the only reader.
	var left []*ir.Node
	if !inside {
		left = k.nodes[:1:1]
		for _, n := range k.nodes[1:] {
			if t := b.info(n); t.outside == 0 && !slices.ContainsFunc(t.users, func(u *ir.Node) bool { return !slices.Contains(left, u) }) {
				left = append(left, n)
			}
		}
	}
	for _, d := range readers {
		for _, n := range k.nodes {
			if d.has(b, n) {
				continue
			}
			leaves := slices.Contains(left, n)
			if d.nodes = append(d.nodes, n); leaves {
				b.info(n).in, b.info(n).stage = d, 0
			} else {
				d.again = append(d.again, n)
				b.info(n).again = append(b.info(n).again, d)
			}
			for _, a := range n.Args {
				if e := b.in(a); e != nil && !slices.Contains(k.nodes, a) && (!leaves || e == c) {
					b.info(a).outside++
				}
			}
		}
		slices.SortFunc(d.nodes, func(x, y *ir.Node) int { return x.ID - y.ID })
		b.reread(d)
	}
	s.outside = 0
	c.stored--
	c.nodes = slices.DeleteFunc(c.nodes, func(n *ir.Node) bool { return b.in(n) != c && !slices.Contains(c.again, n) })
	b.reread(c)
}

// readersOf returns the clusters that read v and do not compute it, and whether its own cluster c
// uses it. It reports false where one of them cannot compute v.
func (b *planner) readersOf(c *cluster, v *ir.Node) (readers []*cluster, inside, ok bool) {
	for _, u := range b.info(v).users {
		own, again := b.in(u), b.info(u).again
		for i := -1; i < len(again); i++ {
			d := own
			if i >= 0 {
				d = again[i]
			}
			switch {
			case d == c:
				inside = true
			case d == nil || d.single != nil || d.offsets != nil || !array.Equal(d.shape, v.Shape):
				return nil, false, false
			case !slices.Contains(readers, d) && !d.has(b, v):
				readers = append(readers, d)
			}
		}
	}
	return readers, inside, true
}

// A subgraph is a value and the nodes it is computed from, the users first.
type subgraph struct {
	nodes []*ir.Node
	from  *ir.Node   // the array that is read by element
	small []*ir.Node // arguments that are broadcast to it
}

// cheapSubgraph returns the subgraph of v in c if it is cheap and reads one array, which is in
// memory. A deep subgraph continues to the arrays that c reads; another one ends at an array that
// c stores.
func (b *planner) cheapSubgraph(c *cluster, v *ir.Node, deep bool) (k subgraph, ok bool) {
	k.nodes = []*ir.Node{v}
	cost := 0
	for i := 0; i < len(k.nodes); i++ {
		n := k.nodes[i]
		s := b.info(n)
		if o := op.Of(n); o == nil || o.Class != op.Pointwise || n.Op == op.Iota || n.Results != nil || s.row || s.heavy || !array.Equal(n.Shape, v.Shape) {
			return k, false
		}
		if cost += max(op.CostOf(n), 1); cost > b.on.Recompute || len(k.nodes) > b.on.RecomputeOps {
			return k, false
		}
		for j, a := range n.Args {
			t := b.info(a)
			switch {
			case a.Op == ir.Const || a == k.from || slices.Contains(k.nodes, a) || slices.Contains(k.small, a):
			case op.SeenBy(n, j) != op.ByElement:
				return k, false
			case isScalar(a) || t.in != c && a.Size() <= v.Size()/b.on.RecomputeBroadcast && b.lasts(a, true):
				k.small = append(k.small, a)
			case !array.Equal(a.Shape, v.Shape) || isView(a) && (a.Op != op.Reshape || isView(a.Args[0])):
				return k, false
			case t.in == c && !t.out && (deep || t.outside == 0):
				k.nodes = append(k.nodes, a)
			case k.from != nil || !b.lasts(a, false) || a.DType.Size() > v.DType.Size():
				return k, false
			default:
				k.from = a
			}
		}
	}
	// A value may have been met before another one that uses it.
	slices.SortFunc(k.nodes, func(x, y *ir.Node) int { return y.ID - x.ID })
	return k, k.from != nil
}

// lasts reports that an array that some kernel reads can be read by another one as well, where
// it lies. A small input whose memory an output takes can be too: at worst the output is copied
// there at the end.
func (b *planner) lasts(n *ir.Node, small bool) bool {
	for isView(n) {
		n = n.Args[0]
	}
	if n.Op == ir.Input {
		v := b.ins[n.Arg()]
		return (small || !slices.Contains(b.into, n.Arg())) && array.Equal(v.Strides, array.RowMajor(v.Shape))
	}
	c := b.in(n)
	if c == nil {
		return false // a number seen through windows as an array
	}
	if b.on.Epilogue && c.single == n && op.Of(n) != nil && op.Of(n).Tiled != 0 && !b.stored(n) {
		return false // an epilogue may take it before it is in memory
	}
	return !b.info(n).out || b.into == nil
}

// stored reports that a kernel that reduces reads the result of a routine, so that the result
// is in memory whichever epilogue takes it.
func (b *planner) stored(n *ir.Node) bool {
	return slices.ContainsFunc(b.info(n).users, func(u *ir.Node) bool {
		if u.Op == op.Reshape {
			return b.stored(u)
		}
		return b.in(u) != nil && b.in(u).lo >= 0
	})
}

// covers reports that c has no other nodes.
func (k *subgraph) covers(c *cluster) bool {
	return !slices.ContainsFunc(c.nodes, func(n *ir.Node) bool { return !slices.Contains(k.nodes, n) })
}

// fits reports whether d can compute the subgraph.
func (k *subgraph) fits(b *planner, d *cluster) bool {
	if d.lo >= 0 && len(k.small) > 0 && several(d.shape[d.lo:d.hi]) {
		return false // what is broadcast would be copied
	}
	for _, n := range k.nodes {
		for _, u := range b.info(n).users {
			for i, a := range u.Args {
				if a == n && b.in(u) == d && op.SeenBy(u, i) != op.ByElement {
					return false // it is read whole
				}
			}
		}
	}
	more := len(k.small) + 1
	return len(k.nodes)+len(d.nodes) <= maxNodes && d.arrays+d.shared+d.stored+more <= maxBufs && len(d.reads)-d.arrays-d.shared+len(k.small) <= maxNumbers
}

// has reports that the cluster computes n.
func (c *cluster) has(b *planner, n *ir.Node) bool {
	return b.in(n) == c || slices.Contains(c.again, n)
}

// reread finds again what a cluster reads.
func (b *planner) reread(c *cluster) {
	c.reads, c.arrays, c.shared = c.reads[:0], 0, 0
	for _, n := range c.nodes {
		for _, a := range n.Args {
			if !c.has(b, a) && a.Op != ir.Const && !slices.Contains(c.reads, a) {
				c.read(a)
			}
		}
	}
}
