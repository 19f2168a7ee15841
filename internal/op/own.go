package op

import (
	"slices"

	"weft/internal/array"
	"weft/internal/ir"
)

// Own is its first argument, with a gradient of its own, and Stop is its argument, which no
// gradient goes through. In a function that is traced to be differentiated later, a body of a
// loop, they say what the tape knows and operations do not. They are windows on all of their
// argument; rewriting, which comes when gradients have been taken, puts that in their places.
var Own, Stop *Def

// Owned is the attribute of [Own], whose arguments are the value, X arguments which get
// gradients, and what Back reads.
type Owned struct {
	Name string // for errors
	X    int
	// Back takes what it reads and the gradient of the result, and gives the gradients of
	// arguments At of the X. Nil: there is none, because of Why.
	Back *Function
	At   []int
	Why  string
	// Results are which of what Back reads is the result itself: a second derivative goes
	// back through it.
	Results []int
	Once    bool // the gradient is not itself differentiable
}

// AppendKey implements ir.Attrs.
func (a Owned) AppendKey(k []byte) []byte {
	text := func(s string) { k = append(ir.Int(k, len(s)), s...) }
	text(a.Name)
	text(a.Why)
	k = a.Back.AppendKey(ir.Int(k, a.X))
	return ir.Flag(ir.Ints(ir.Ints(k, a.At), a.Results), a.Once)
}

// Again is its first argument, an element for each of the second one, which it waits for. The attribute, a
// Count, tells it from others of the same argument: what is computed of it is computed again.
var Again *Def

func init() {
	first := func(c *Call) (array.DType, []int) { return c.Args[0].DType, c.Args[0].Shape }
	same := func(v array.View, _ *ir.Node) array.View { return v }
	Again = unlisted(Def{Name: "again", Arity: 2, Attrs: Count(0), Typing: Typing{Infer: first},
		Elementwise: Elementwise{Rule: Keep, Cost: 1, Expr: func(_ *bld, _ *node, x []val) val { return x[0] }},
		Derivative:  Derivative{VJP: func(v *VJP) { v.Set(0, func() *node { return v.DY }) }}})
	Stop = unlisted(Def{Name: "stop", Class: View, Arity: 1, View: same, Doc: "x, which no gradient goes through.", Typing: Typing{Infer: first}})
	Own = unlisted(Def{Name: "own", Class: View, Arity: -1, View: same, Doc: "x with a gradient of its own.",
		Typing: Typing{Infer: first},
		Derivative: Derivative{VJP: func(v *VJP) {
			a := v.Node.Attrs.(Owned)
			if a.Back == nil {
				array.Failf("backward", "", "%s %s", a.Name, a.Why)
			}
			reads := slices.Clone(v.X[1+a.X:])
			for _, i := range a.Results {
				reads[i] = v.Y
			}
			reads = append(reads, v.DY)
			grads := a.Back.Inline(v.Y.Graph, reads)
			for k, i := range a.At {
				v.Set(1+i, func() *ir.Node {
					if !a.Once {
						return grads[k]
					}
					never := Owned{Name: a.Name, X: len(reads), Why: "has no second derivative"}
					return owned(grads[k], never, reads...)
				})
			}
		}}})
}

// owned is y with a gradient of its own.
func owned(y *ir.Node, a Owned, args ...*ir.Node) *ir.Node {
	return y.Graph.Node(Own, a, y.DType, y.Shape, false, slices.Concat([]*ir.Node{y}, args)...)
}

// own is the batching rule of [Own]: all arguments get an axis of examples, and Back becomes the
// function of all examples.
func (b *batcher) own(x *node, args []Batched) []*node {
	a, in := x.Attrs.(Owned), b.raised(args)
	if f := a.Back; f != nil {
		all := &batchedFunction{n: b.n, g: ir.New()}
		for _, t := range f.Args {
			all.input(t, true)
		}
		outs := Batch(all.g, f.outs, b.n, func(x *node) Batched { return Batched{all.ins[x.Arg()], true} })
		nodes := make([]*node, len(outs))
		for i, y := range outs {
			nodes[i] = y.Raise(b.n)
		}
		a.Back = NewFunction(all.types, nodes)
	}
	return []*node{owned(in[0], a, in[1:]...)}
}
