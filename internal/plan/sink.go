package plan

import (
	"slices"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// What is cheap is computed where it is read: a few elementwise operations on one array that is
// stored anyway, such as the slope 1-y*y of a tanh, would else be written by the kernel that
// makes y, and kept beside it until the kernel that needs it. Reading y there costs no more.

const (
	sinkCost  = 4 // of all operations that are computed elsewhere, rough vector instructions
	sinkUsers = 4 // of a value that is looked at
	sinkMost  = 4 // operations
)

// sink moves such values from the clusters that they joined to those that read them.
func (b *planner) sink() {
	for _, c := range slices.Backward(b.clusters) {
		if c == nil || c.single != nil || c.offsets != nil {
			continue
		}
		for i := len(c.nodes) - 1; i >= 0 && len(c.nodes) > 1; i-- {
			if i < len(c.nodes) {
				b.sinkNode(c, c.nodes[i])
			}
		}
	}
}

// sinkNode moves v, with what is computed for it alone, from c to the one other cluster that
// reads it.
func (b *planner) sinkNode(c *cluster, v *ir.Node) {
	s := b.spot(v)
	if s.out || len(s.users) == 0 || len(s.users) > sinkUsers || s.outside != len(s.users) {
		return
	}
	d := b.in(s.users[0])
	if d == nil || d == c || d.single != nil || d.offsets != nil || !array.Equal(d.shape, v.Shape) {
		return
	}
	for _, u := range s.users {
		for i, a := range u.Args {
			if a == v && (b.in(u) != d || op.SeenBy(u, i) != op.ByElement) {
				return
			}
		}
	}
	// What moves, the users first, and the array that it is computed of.
	moved, from, cost := []*ir.Node{v}, (*ir.Node)(nil), 0
	for k := 0; k < len(moved); k++ {
		n := moved[k]
		if o := op.Of(n); o == nil || o.Class != op.Pointwise || n.Results != nil || b.spot(n).row || b.spot(n).heavy || !array.Equal(n.Shape, v.Shape) {
			return
		}
		if cost += max(op.CostOf(n), 1); cost > sinkCost || len(moved) > sinkMost {
			return
		}
		for i, a := range n.Args {
			t := b.spot(a)
			switch {
			case a.Op == ir.Const || a == from || slices.Contains(moved, a):
			case op.SeenBy(n, i) != op.ByElement || a.Op == ir.Input || isScalar(a) || isMove(a) || !array.Equal(a.Shape, v.Shape):
				return
			case t.in == c && !t.out && t.outside == 0 && !slices.ContainsFunc(t.users, func(u *ir.Node) bool { return !slices.Contains(moved, u) }):
				moved = append(moved, a)
			case from != nil || t.in == c && !t.out && t.outside == 0 || t.out && b.into != nil || a.DType.Size() > v.DType.Size():
				return
			default:
				from = a
			}
		}
	}
	if from == nil || len(moved) == len(c.nodes) || len(moved)+len(d.nodes) > maxNodes {
		return
	}
	for _, n := range moved {
		t := b.spot(n)
		t.in, t.stage = d, 0
		if b.in(from) == c {
			for _, a := range n.Args {
				if a == from {
					b.spot(from).outside++
				}
			}
		}
	}
	s.outside = 0
	c.stored--
	c.nodes = slices.DeleteFunc(c.nodes, func(n *ir.Node) bool { return slices.Contains(moved, n) })
	d.nodes = append(d.nodes, moved...)
	slices.SortFunc(d.nodes, func(x, y *ir.Node) int { return x.ID - y.ID })
	b.reread(c)
	b.reread(d)
}

// reread finds again what a cluster reads.
func (b *planner) reread(c *cluster) {
	c.reads, c.arrays, c.shared = c.reads[:0], 0, 0
	for _, n := range c.nodes {
		for _, a := range n.Args {
			if b.in(a) != c && a.Op != ir.Const && !slices.Contains(c.reads, a) {
				c.read(a)
			}
		}
	}
}
