package op

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"weft/internal/array"
	"weft/internal/ir"
)

// A Function is a graph with arguments, which an operation has as an attribute and runs:
// the body of a [Loop], a side of a [Branch]. It never changes.
type Function struct {
	Args    []ir.Type // Args[i] is the type of Input i of the graph
	Results []ir.Type
	outs    []*ir.Node
	key     string
}

// NewFunction makes a function of the graph of outs, whose inputs have these types. It has
// no other leaves than those and constants.
func NewFunction(args []ir.Type, outs []*ir.Node) *Function {
	f := &Function{Args: args, outs: outs}
	k := ir.Int(nil, len(args))
	for _, t := range args {
		k = appendType(k, t)
	}
	text := func(s string) {
		k = append(binary.AppendUvarint(k, uint64(len(s))), s...)
	}
	number := map[*ir.Node]int{}
	for id, needed := range ir.Reach(outs) {
		if !needed {
			continue
		}
		n := outs[0].Graph.Nodes[id]
		switch n.Op {
		case ir.Scalar, ir.Between:
			panic("op: a number of the caller in a function: make it a constant or an argument")
		case ir.Input:
			if i := n.Arg(); i >= len(args) || n.DType != args[i].DType || !array.Equal(n.Shape, args[i].Shape) {
				panic(fmt.Sprintf("op: %s is not an argument of a function", n))
			}
		}
		number[n] = len(number)
		text(n.Op.OpName())
		var a []byte
		if n.Attrs != nil {
			a = n.Attrs.AppendKey(nil)
		}
		text(string(a))
		k = ir.Flag(appendType(k, ir.Type{DType: n.DType, Shape: n.Shape}), n.Weak)
		k = ir.Int(k, len(n.Args))
		for _, x := range n.Args {
			k = ir.Int(k, number[x])
		}
	}
	for _, n := range outs {
		f.Results = append(f.Results, ir.Type{DType: n.DType, Shape: n.Shape})
		k = ir.Int(k, number[n])
	}
	f.key = string(k)
	return f
}

func appendType(k []byte, t ir.Type) []byte { return ir.Ints(append(k, byte(t.DType)), t.Shape) }

// AppendKey encodes the function by content.
func (f *Function) AppendKey(k []byte) []byte {
	if f == nil {
		return append(k, 0)
	}
	k = binary.AppendUvarint(k, uint64(len(f.key))+1)
	return append(k, f.key...)
}

// String lists what the function computes.
func (f *Function) String() string {
	if f == nil {
		return "none"
	}
	var b strings.Builder
	number := map[*ir.Node]int{}
	for id, need := range ir.Reach(f.outs) {
		if !need {
			continue
		}
		n := f.outs[0].Graph.Nodes[id]
		c := *n
		c.ID = len(number)
		number[n] = c.ID
		c.Args = make([]*ir.Node, len(n.Args))
		for i, a := range n.Args {
			c.Args[i] = &ir.Node{ID: number[a]}
		}
		fmt.Fprintf(&b, "%s; ", &c)
	}
	b.WriteString("gives")
	for _, n := range f.outs {
		fmt.Fprintf(&b, " n%d", number[n])
	}
	return b.String()
}

// WithArgs returns the same function of other arguments, of these types: argument i of f is
// number at[i] of them.
func (f *Function) WithArgs(types []ir.Type, at []int) *Function {
	g := ir.New()
	return NewFunction(types, Import(g, f.outs, func(n *ir.Node) *ir.Node { return g.Input(at[n.Arg()], n.DType, n.Shape) }))
}

// Nodes returns the results over a graph whose Input i is argument i.
func (f *Function) Nodes() []*ir.Node { return f.outs }

// Inline adds the function of args to a graph and returns its results.
func (f *Function) Inline(g *ir.Graph, args []*ir.Node) []*ir.Node {
	return Import(g, f.outs, func(n *ir.Node) *ir.Node { return args[n.Arg()] })
}

// Import adds to a graph what another one computes. leaf gives the node that stands for
// each leaf but constants; nil outs stay nil.
func Import(g *ir.Graph, outs []*ir.Node, leaf func(n *ir.Node) *ir.Node) []*ir.Node {
	memo := map[*ir.Node]*ir.Node{}
	some := slices.DeleteFunc(slices.Clone(outs), func(n *ir.Node) bool { return n == nil })
	for id, needed := range ir.Reach(some) {
		if !needed {
			continue
		}
		n := some[0].Graph.Nodes[id]
		switch {
		case n.Op == ir.Const:
			memo[n] = g.Copy(n, nil)
		case len(n.Args) == 0:
			memo[n] = leaf(n)
		default:
			args := make([]*ir.Node, len(n.Args))
			for i, a := range n.Args {
				args[i] = memo[a]
			}
			memo[n] = g.Copy(n, args)
		}
	}
	res := make([]*ir.Node, len(outs))
	for i, n := range outs {
		if n != nil {
			res[i] = memo[n]
		}
	}
	return res
}

// gradients returns what adds to g the gradients of arguments wrt of f, nil where there is
// none, from args and the gradients of its results, nil for those that have none. Results
// stand for themselves where ys has them, so that they are not computed again. starts, by argument, are
// what gradients are added to; starts may be nil.
func (f *Function) gradients(g *ir.Graph, args, ys, dys []*ir.Node, wrt []int, starts []*ir.Node) []*ir.Node {
	outs := f.Inline(g, args)
	var used, seeds []*ir.Node
	for i, dy := range dys {
		if dy != nil {
			used, seeds = append(used, outs[i]), append(seeds, dy)
		}
	}
	by := make([]*ir.Node, len(wrt))
	for i, k := range wrt {
		by[i] = args[k]
	}
	if len(used) == 0 {
		return make([]*ir.Node, len(wrt))
	}
	var from []*ir.Node
	if starts != nil {
		from = make([]*ir.Node, len(wrt))
		for i, k := range wrt {
			from[i] = starts[k]
		}
	}
	return standIn(gradientFrom(used, seeds, by, from), outs, ys)
}

// standIn puts ys, where there are some, into the places of outs in gradients.
func standIn(grads, outs, ys []*ir.Node) []*ir.Node {
	var from, to []*ir.Node
	for i, y := range ys {
		if y != nil && len(outs[i].Args) > 0 {
			from, to = append(from, outs[i]), append(to, y)
		}
	}
	return Replace(grads, from, to)
}

// zeros is an array of zeros of type t.
func zeros(g *ir.Graph, t ir.Type) *ir.Node { return expand(g.Number(0, t.DType, false), t.Shape) }
