package op

import (
	"slices"

	"weft/internal/array"
	"weft/internal/ir"
)

// TakeHalves returns outs with conversions of float16 and bfloat16 to float32 left to the
// routines that do them while they pack ([ByRoutine]), so that nothing else does. What is
// computed, and where it is rounded, stays as it was.
func TakeHalves(outs []*ir.Node) []*ir.Node {
	reach := ir.Reach(outs)
	var fresh []*ir.Node // of each node, what stands for it
	for id := range reach {
		n := outs[0].Graph.Nodes[id]
		if !reach[id] {
			continue
		}
		args := n.Args
		if fresh != nil {
			args = make([]*ir.Node, len(n.Args))
			for i, a := range n.Args {
				args[i] = fresh[a.ID]
			}
		}
		if d := Of(n); d != nil && d.AcceptsHalf {
			packed := slices.Clone(args)
			for i, a := range args {
				if h := halfOf(a); h != nil {
					packed[i] = h
				}
			}
			args = packed
		}
		m := rebuilt(n, args)
		if m != n && fresh == nil {
			fresh = slices.Clone(n.Graph.Nodes[:len(reach)])
		}
		if fresh != nil {
			fresh[id] = m
		}
	}
	if fresh == nil {
		return outs
	}
	res := make([]*ir.Node, len(outs))
	for i, o := range outs {
		res[i] = fresh[o.ID]
	}
	return res
}

// halfOf returns the halves that n, float32, has been converted from, seen through the
// same windows, or nil.
func halfOf(n *ir.Node) *ir.Node {
	switch d := Of(n); {
	case d == Cast && n.DType == array.Float32 && n.Args[0].DType.Half():
		return n.Args[0]
	case d != nil && d.Class == View && len(n.Args) == 1:
		if h := halfOf(n.Args[0]); h != nil {
			return n.Graph.Node(n.Op, n.Attrs, h.DType, n.Shape, false, h)
		}
	}
	return nil
}

// rebuilt is n with other arguments: n itself if they are its own.
func rebuilt(n *ir.Node, args []*ir.Node) *ir.Node {
	if slices.Equal(args, n.Args) {
		return n
	}
	return n.Graph.Copy(n, args)
}
