package plan

import (
	"slices"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/loop"
	"weft/internal/op"
)

// Elements that are gathered for elementwise work are read where they are, by the kernel that
// does it: rows of a table, or the same elements of each row. The places are looked at before,
// which also refuses those that are out of range, and lie where nobody else writes.

// takeGathers returns outs with gathers that elementwise work reads as kernels of it.
func (b *planner) takeGathers(outs []*ir.Node) []*ir.Node {
	reach := ir.Reach(outs)
	if len(outs) == 0 || !slices.ContainsFunc(outs[0].Graph.Nodes[:len(reach)], func(n *ir.Node) bool { return reach[n.ID] && isGather(n) }) {
		return outs
	}
	nodes := outs[0].Graph.Nodes[:len(reach)]
	// Which gathers, and which other shapes of them, are read by elementwise work alone.
	apart := make([]bool, len(nodes))
	for _, n := range outs {
		apart[n.ID] = true
	}
	for id := len(nodes) - 1; id >= 0; id-- {
		u := nodes[id]
		if !reach[id] {
			continue
		}
		for i, a := range u.Args {
			switch d := op.Of(u); {
			case d == nil:
				apart[a.ID] = true
			case d.Class == op.Pointwise && op.SeenBy(u, i) == op.ByElement:
			case d.Class == op.Reduce && alongOne(u):
			case d.Class == op.Segment && combines(u) && i == 0 && takesRows(a):
			case u.Op == op.Reshape && isGather(a) && splits(a, u.Shape) > 0:
				apart[a.ID] = apart[a.ID] || apart[id]
			default:
				apart[a.ID] = true
			}
		}
	}
	fresh := make([]*ir.Node, len(nodes))
	for id, n := range nodes {
		if !reach[id] {
			continue
		}
		fresh[id] = n
		if n.Op == op.Reshape && len(n.Args) == 1 && isGather(n.Args[0]) && !apart[n.Args[0].ID] && b.worthTaking(n.Args[0]) {
			fresh[id] = b.taken(n.Args[0], n.Shape, fresh)
			continue
		}
		if isGather(n) && !apart[id] && b.worthTaking(n) {
			fresh[id] = b.taken(n, n.Shape, fresh)
			continue
		}
		if !slices.ContainsFunc(n.Args, func(a *ir.Node) bool { return fresh[a.ID] != a }) {
			continue
		}
		args := make([]*ir.Node, len(n.Args))
		for i, a := range n.Args {
			args[i] = fresh[a.ID]
		}
		fresh[id] = n.Graph.Copy(n, args)
		b.origin(fresh[id], n)
	}
	res := make([]*ir.Node, len(outs))
	for i, o := range outs {
		res[i] = fresh[o.ID]
	}
	return res
}

// alongOne reports a reduction along one axis that is longer than 1: over several, which a
// kernel walks as one, a gather has no place of its own in memory.
func alongOne(n *ir.Node) bool {
	g := n.Attrs.(op.Group)
	return !several(n.Args[0].Shape[g.Lo:g.Hi])
}

// takesRows reports whether n gathers whole rows, or is an operation on such rows that takeGathers
// has accepted. A reduction over the items of a list reads them in its own kernel.
func takesRows(n *ir.Node) bool { return !isGather(n) || n.Attrs.(op.Axis) == 0 }

// origin notes that m stands for n, which messages speak of.
func (b *planner) origin(m, n *ir.Node) {
	if b.origins == nil {
		b.origins = map[*ir.Node]int{}
	}
	b.origins[m] = n.ID
}

func isGather(n *ir.Node) bool { return n.Op == op.IndexSelect || n.Op == op.Gather }

// splits returns the number of axes of a shape that the places of a gather would lie along, if
// it is the gather's but for that; 0 if it is not.
func splits(n *ir.Node, shape []int) int {
	if n.Op != op.IndexSelect {
		return 0
	}
	a := int(n.Attrs.(op.Axis))
	k := len(shape) - len(n.Shape) + 1
	if k < 1 || !array.Equal(shape[:a], n.Shape[:a]) || !array.Equal(shape[a+k:], n.Shape[a+1:]) || array.Size(shape[a:a+k]) != n.Shape[a] {
		return 0
	}
	return k
}

// placesOf returns the places of a gather without those that only repeat others.
func placesOf(n *ir.Node) *ir.Node {
	p := n.Args[1]
	for n.Op == op.Gather && p.Op == op.Expand && len(p.Args[0].Shape) == len(p.Shape) {
		p = p.Args[0]
	}
	return p
}

// worthTaking is the rule of cost. Place 0 of the array exists, see [op.Places].
func (b *planner) worthTaking(n *ir.Node) bool {
	return n.Args[0].Size() > 0 && !n.DType.Complex() && !isScalar(n.Args[0]) && n.Size() > 0 && n.Size()*n.DType.Size() >= b.on.Gather*placesOf(n).Size()
}

// taken is a gather, in a shape that splits the axis of its places, as elementwise work on
// them.
func (b *planner) taken(n *ir.Node, shape []int, fresh []*ir.Node) *ir.Node {
	g, axis, along := n.Graph, int(n.Attrs.(op.Axis)), 1
	x, p := fresh[n.Args[0].ID], placesOf(n)
	y := op.Apply(op.Places, op.PlacesOf{Op: n.Op.OpName(), Size: x.Shape[axis], All: n.Args[1].Shape}, fresh[p.ID])
	b.origin(y, n)
	if n.Op == op.IndexSelect {
		along = len(shape) - len(n.Shape) + 1
		s := slices.Clone(shape[axis:])
		for i := along; i < len(s); i++ {
			s[i] = 1
		}
		y = op.Apply(op.Reshape, op.Shape(s), y)
	}
	return g.Node(op.Kernel, taking{n.Op.OpName(), n.DType, axis, along}, n.DType, shape, false, x, y)
}

// taking is the body of elementwise work that reads an array at a place along an axis, and at
// its own along the others. Along is the number of axes of the result that stand for that axis.
type taking struct {
	Op          string
	DType       array.DType
	Axis, Along int
}

// AppendKey implements ir.Attrs.
func (t taking) AppendKey(k []byte) []byte {
	return ir.Int(ir.Int(append(append(append(k, "taking "...), t.Op...), 0, byte(t.DType)), t.Axis), t.Along)
}

// Name implements op.Body.
func (t taking) Name() string { return t.Op }

// Params implements op.Body.
func (t taking) Params() []op.Param {
	return []op.Param{{Name: "x", Seen: op.AlongAxis, DType: t.DType}, {Name: "index", DType: array.Int64}}
}

// Results implements op.Body.
func (t taking) Results() []array.DType { return []array.DType{t.DType} }

// Cost implements op.Body.
func (t taking) Cost() int { return 2 }

// EmitKernel implements op.Body.
func (t taking) EmitKernel(e *op.Emit) []loop.Value {
	a := e.Window(0)
	return []loop.Value{e.B.LoadAt(a.Buf, e.B.Mul(e.X[1], a.Strides[0]))}
}

// Partials implements op.Body: gradients are taken before.
func (t taking) Partials(results, args []bool) op.Body { return nil }

// wide is the operand of x for a kernel of a shape: where its elements would be if all places
// were 0.
func (t taking) wide(x Operand, shape []int) Operand {
	st := slices.Concat(x.Strides[:t.Axis], make([]int, t.Along), x.Strides[t.Axis+1:])
	return Operand{x.Slot, x.Offset, x.DType, shape, st}
}

// isUser reports an operation of a user's.
func isUser(n *ir.Node) bool {
	if n.Op != op.Kernel {
		return false
	}
	_, own := n.Attrs.(taking)
	return !own
}
