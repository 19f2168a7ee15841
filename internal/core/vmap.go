package core

import (
	"weft/internal/array"
)

// Reached refuses gradients that flow from n to a tensor made before the trace began in a way
// that the trace has no tensor for.
func (tr *Trace) Reached(name string, n *GradNode, began uint64) {
	known := map[*GradNode]bool{nil: true}
	for _, t := range tr.Seen {
		known[t.Node()] = true
	}
	todo, seen := []*GradNode{n}, map[*GradNode]bool{}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if known[n] || seen[n] {
			continue
		}
		seen[n] = true
		// The window that a view is has no number that says when the view was taken.
		if n.Seq <= began && !n.isViewOp() {
			array.Failf(name, "f", "captures a result of %s that needs a gradient, in a way that has none: give it as an argument, or as Detach()", n.opName())
		}
		todo = append(todo, n.In...)
	}
}

// TensorOf returns what was captured, with its history, in the order of the elements at.
func (tr *Trace) TensorOf(at array.View) *Tensor {
	t := tr.Seen[at.Store]
	if t == nil {
		return &Tensor{v: at}
	}
	order, ok := dense(&t.v)
	switch {
	case at.Size() == 0 && t.v.Size() == 0:
		return t.Reshape(at.Shape...)
	case at.Same(&t.v):
		return t
	case ok && t.v.Offset == at.Offset && t.v.Size() == at.Size():
		return t.Permute(order...).Reshape(at.Shape...)
	case t.Node() == nil:
		return &Tensor{v: at, run: t.run}
	case !ok:
		array.Failf("vmap", "f", "captures a part of memory with gaps that needs a gradient: give it as an argument, or as Detach()")
	}
	// A part of its memory, as a leaf in a tensor is: what is around it has no gradient.
	around := func(lo, hi int) *Tensor {
		v := at
		v.Offset, v.Shape = v.Offset+lo, []int{hi - lo}
		return &Tensor{v: v, run: t.run}
	}
	n := t.v.Size()
	lo := t.v.Offset - at.Offset
	return Cat([]*Tensor{around(0, lo), t.Permute(order...).Reshape(n), around(lo+n, at.Size())}, 0)
}
