package exec

import (
	"context"
	"fmt"

	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/ir"
	"weft/internal/plan"
)

// A Walker computes the nodes of a graph one by one, each by a plan of its own, and keeps
// their values: what is fused otherwise can be looked at between. Fused or not, values have the
// same bits.
type Walker struct {
	Context context.Context // ends it between nodes and within them; nil: nothing does
	Device  device.Device
	Ins     []*array.View
	Nums    []Number
	// Each, if not nil, is called with each value when it is computed, of all but leaves.
	Each func(n *ir.Node, values []array.View) error

	values map[*ir.Node][]array.View
}

// Value returns the value of a node.
func (w *Walker) Value(n *ir.Node) (array.View, error) {
	all, err := w.all(n)
	if err != nil {
		return array.View{}, err
	}
	return all[0], nil
}

// all returns the values of a node that may have several.
func (w *Walker) all(n *ir.Node) ([]array.View, error) {
	if vs, ok := w.values[n]; ok {
		return vs, nil
	}
	if w.values == nil {
		w.values = map[*ir.Node][]array.View{}
	}
	vs, err := w.compute(n)
	if err != nil {
		return nil, err
	}
	w.values[n] = vs
	return vs, nil
}

func (w *Walker) compute(n *ir.Node) ([]array.View, error) {
	switch n.Op {
	case ir.Input:
		return []array.View{*w.Ins[n.Arg()]}, nil
	case ir.Result:
		vs, err := w.all(n.Args[0])
		if err != nil {
			return nil, err
		}
		return vs[n.Arg() : n.Arg()+1], nil
	}
	g := ir.New()
	args := make([]*ir.Node, len(n.Args))
	var ins []*array.View
	var sigs []plan.Sig
	for i, a := range n.Args {
		if a.Op == ir.Scalar || a.Op == ir.Between || a.Op == ir.Const {
			args[i] = g.Node(a.Op, a.Attrs, a.DType, a.Shape, a.Weak)
			continue
		}
		v, err := w.Value(a)
		if err != nil {
			return nil, err
		}
		args[i] = g.Input(len(ins), a.DType, a.Shape)
		ins, sigs = append(ins, &v), append(sigs, plan.SigOf(&v))
	}
	var outs []*ir.Node
	if n.Results == nil {
		outs = []*ir.Node{g.Node(n.Op, n.Attrs, n.DType, n.Shape, n.Weak, args...)}
	} else {
		m := g.Several(n.Op, n.Attrs, n.Results, args...)
		for i := range n.Results {
			outs = append(outs, g.Result(m, i))
		}
	}
	c, err := Compile(plan.Build(outs, sigs, nil, w.Device.Model()), w.Device)
	if err != nil {
		return nil, err
	}
	if w.Context != nil && w.Context.Err() != nil {
		return nil, w.Context.Err()
	}
	vs := make([]array.View, len(outs))
	if err := c.Run(w.Context, nil, ins, w.Nums, vs); err != nil {
		return nil, fmt.Errorf("%s: %w", n.Op.OpName(), err)
	}
	if w.Each != nil && len(n.Args) > 0 {
		if err := w.Each(n, vs); err != nil {
			return nil, err
		}
	}
	return vs, nil
}
