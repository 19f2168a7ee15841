package rewrite_test

import (
	"fmt"
	"testing"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/ir"
	"weft/internal/op"
	"weft/internal/rewrite"
)

// filled is an array of a constant's value.
func filled(n *node, shape []int) *weft.Tensor {
	var x any = n.Value().Int
	switch {
	case n.DType.Float():
		x = n.Value().Float
	case n.DType == array.Bool:
		x = n.Value().Int != 0
	case n.DType == array.Uint64:
		x = uint64(n.Value().Int)
	}
	return weft.FullOf(n.DType, x, shape...)
}

// traced is the graph of what a row is before its rule, replayed by eager operations of a function
// that is traced. constant gives the value of a constant.
func traced(before *node, types []ir.Type, constant func(n *node) *weft.Tensor) (out *node, err error) {
	f := core.NewFunc(func(args []*core.Tensor) []*core.Tensor {
		var nodes [][]*core.Tensor
		for id, need := range ir.Reach([]*node{before}) {
			n := before.Graph.Nodes[id]
			nodes = append(nodes, nil)
			switch {
			case !need:
			case n.Op == ir.Input:
				nodes[id] = args[n.Arg() : n.Arg()+1]
			case n.Op == ir.Const:
				nodes[id] = []*core.Tensor{(*core.Tensor)(constant(n))}
			case n.Op == ir.Result:
				nodes[id] = nodes[n.Args[0].ID][n.Arg() : n.Arg()+1]
			default:
				var in []core.Operand
				for _, a := range n.Args {
					in = append(in, core.Of("row", nodes[a.ID][0]))
				}
				nodes[id] = core.Call(op.Of(n), n.Attrs, nil, in...)
			}
		}
		return nodes[before.ID]
	}, core.Options{Name: "row", Level: rewrite.Exact})
	if err := f.Prepare(types); err != nil {
		return nil, err
	}
	return f.Graph()[0], nil
}

// A constant array is what a number is to every rule: the graphs of all rows, in which numbers
// become arrays that never change, are rewritten alike.
func TestConstantsAreNumbers(t *testing.T) {
	compared := map[string]bool{}
	mentioned := map[string]bool{}
	for i, w := range rows {
		g := ir.New()
		in := w.inputs(g)
		before := w.before(in)
		has := false
		for id, need := range ir.Reach([]*node{before}) {
			has = has || need && g.Nodes[id].Op == ir.Const
		}
		if !has {
			continue
		}
		mentioned[w.rule] = true
		var types []ir.Type
		for _, x := range in {
			types = append(types, ir.Type{DType: x.DType, Shape: x.Shape})
		}
		t.Run(fmt.Sprintf("%s/%d", w.rule, i), func(t *testing.T) {
			number, err := traced(before, types, func(n *node) *weft.Tensor { return filled(n, nil) })
			if err != nil {
				t.Skip("SKIPPED: an operation of a user cannot make it: ", err)
			}
			want := show(rewrite.Run([]*node{number}, rewrite.Fast).Outs[0])
			for _, shape := range [][]int{{}, {1}} {
				if len(before.Shape) == 0 && len(shape) > 0 {
					continue
				}
				kept := map[*node]*weft.Tensor{}
				for _, n := range g.Nodes {
					if n.Op == ir.Const {
						kept[n] = filled(n, shape)
					}
				}
				c, err := traced(before, types, func(n *node) *weft.Tensor {
					x, ok := core.Constant((*core.Tensor)(kept[n]))
					if !ok {
						t.Error("a constant is not a number of the graph")
					}
					return (*weft.Tensor)(x)
				})
				if err != nil {
					if len(shape) > 0 { // the row wants a number without dimensions
						continue
					}
					t.Fatal(err)
				}
				if got := show(rewrite.Run([]*node{c}, rewrite.Fast).Outs[0]); got != want {
					t.Errorf("with constants of shape %v:\n%s\nwith numbers:\n%s", shape, got, want)
				}
			}
			compared[w.rule] = true
		})
	}
	for rule := range mentioned {
		if !compared[rule] {
			t.Errorf("no row of %q was compared", rule)
		}
	}
	if len(compared) < 45 {
		t.Errorf("%d rules with constants were compared", len(compared))
	}
}
