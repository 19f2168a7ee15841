package weft

import (
	"math"
	"slices"
	"sync"

	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/ir"
	"weft/internal/op"
)

// Unmapped is the axis, for [Vmap], of an argument that is the same for all examples.
const Unmapped = math.MinInt

// Vmap returns f, a function of one example, as a function of many at once: each argument has
// an axis of examples, which axes gives in order (0 where there is none given, [Unmapped]
// for an argument that all examples share), and so has the result, as its first. Sizes of
// those axes must be equal.
//
//	distance := func(x ...*weft.Tensor) *weft.Tensor { return x[0].Sub(x[1]).Norm(2) }
//	d := weft.Vmap(distance, 0, weft.Unmapped)(points, center)
//
// A call runs f once, on tensors of one example without memory, which notes its operations,
// and computes all examples with operations that have one more axis: nothing is looped over
// but selections by masks, runs and counts of elements, and kernels that look at neighbours.
// Loops and branches of package sym are one loop and one branch of all examples: a loop that
// ends at its own step for each goes on to the last one, and a branch computes the sides that
// some example takes, unless Go functions are called in them.
// The result is differentiable by the arguments and by what f captures, [Grad] and [Jacobian]
// may be used inside f, and mapped functions may be mapped and compiled.
//
// f must not read elements that depend on an example (Item, Data, branches), draw random numbers,
// write into captured tensors or call Backward. That panics with *[Error], as do sizes that do not
// fit. What f captures, and what it computes of that alone, has elements while f runs: a mask may
// select, and counts may say how often something is repeated.
func Vmap(f func(x ...*Tensor) *Tensor, axes ...int) func(x ...*Tensor) *Tensor {
	if f == nil {
		array.Failf("vmap", "f", "is nil")
	}
	m := &vmapped{f: f, axes: slices.Clone(axes)}
	return m.call
}

// A vmapped function knows the graphs that it was before.
type vmapped struct {
	f    func(x ...*Tensor) *Tensor
	axes []int
	mu   sync.Mutex
	defs map[string]*op.Def
}

// maxMapped bounds the graphs that are known; beyond, all are forgotten.
const maxMapped = 64

func (m *vmapped) axis(i int) int {
	if i < len(m.axes) {
		return m.axes[i]
	}
	return 0
}

func (m *vmapped) call(x ...*Tensor) *Tensor {
	const name = "vmap"
	if len(m.axes) > len(x) {
		array.Failf(name, "axes", "are %d for %d arguments", len(m.axes), len(x))
	}
	n := -1
	lead := make([]bool, len(x))
	xs := make([]*Tensor, len(x)) // with the axis first
	for i, t := range x {
		t.c().Check(name)
		xs[i] = t
		a := m.axis(i)
		if a == Unmapped {
			continue
		}
		a = array.Axis(name, a, t.Rank())
		if k := t.v().Shape[a]; n < 0 {
			n = k
		} else if n != k {
			array.Failf(name, "x", "argument %d has %d examples, others %d", i, k, n)
		}
		lead[i] = true
		if a != 0 {
			xs[i] = t.MoveAxis(a, 0)
		}
	}
	if n < 0 {
		array.Failf(name, "", "no argument has an axis of examples")
	}
	out, tr := m.trace(xs, lead)
	captured := tr.Sources[len(xs):]
	ops := make([]core.Operand, 0, len(xs)+len(captured))
	for _, t := range xs {
		ops = append(ops, core.Operand{T: t.c()})
	}
	for i := range captured {
		ops = append(ops, core.Operand{T: tr.TensorOf(captured[i].At)})
	}
	return (*Tensor)(core.Apply(m.def(out, lead), op.Count(n), ops...))
}

// trace runs f for one example and returns the node of its result, whose inputs are the
// sources of the trace, which is over: the arguments and then what f captured.
func (m *vmapped) trace(xs []*Tensor, lead []bool) (*ir.Node, *core.Trace) {
	outer := core.TracingHere()
	tr := core.NewTrace(nil)
	tr.Callee = true // its gradient is made of its graph, which has to know what the tape does
	if tr.Outer = outer; outer != nil {
		outer.Inner = tr
	}
	defer func() {
		tr.End()
		if outer != nil {
			outer.Inner = nil
			core.Running.Store(tr.Thread, outer)
		}
	}()
	tr.Seen = map[*array.Storage]*core.Tensor{}
	began := core.TapeSeq.Load()
	args := make([]*Tensor, len(xs))
	for i, t := range xs {
		shape := t.v().Shape
		if lead[i] {
			shape = shape[1:]
		}
		v := array.View{DType: t.v().DType, Shape: shape, Strides: array.RowMajor(shape), Store: tr.Storage(array.Size(shape) * t.v().DType.Size())}
		tr.Device = t.v().Store.Device
		tr.Input(core.Source{Kind: core.FromArgument, Index: i, At: v})
		args[i] = made(v)
		if t.c().Node() != nil {
			args[i].RequireGrad()
		}
	}
	y := m.f(args...)
	y.c().Check("vmap")
	for _, s := range tr.Sources[len(xs):] {
		if s.Cell.Written && !tr.Made[s.At.Store] {
			array.Failf("vmap", "f", "writes into a tensor that it captures, %s%s", array.TypeString(s.At.DType, s.At.Shape), core.At(s.Pc))
		}
	}
	switch {
	case tr.Refused != nil:
		panic(tr.Refused)
	case len(tr.Host) > 0 || len(tr.Undo) > 0 || tr.Numbers > 0:
		array.Failf("vmap", "f", "draws random numbers, writes into its argument, or does other work on the host, which examples would share: give what it needs as an argument, and Clone what it writes into")
	case len(tr.Leaves) > 0:
		array.Failf("vmap", "f", "leaves gradients in leaves: take them with Grad")
	}
	out := tr.Value(y.v())
	tr.Reached(y.c().Node(), began)
	return out, tr
}

// def is the operation that computes out for all examples. Its attribute is their number.
func (m *vmapped) def(out *ir.Node, lead []bool) *op.Def {
	key := graphKey(out, lead)
	m.mu.Lock()
	defer m.mu.Unlock()
	if d := m.defs[key]; d != nil {
		return d
	}
	if m.defs == nil || len(m.defs) >= maxMapped {
		m.defs = map[string]*op.Def{}
	}
	compose := func(args []*ir.Node, a ir.Attrs) *ir.Node {
		n, g := int(a.(op.Count)), args[0].Graph
		return op.Batch(g, []*ir.Node{out}, n, func(x *ir.Node) op.Batched {
			i := x.Arg()
			return op.Batched{Node: args[i], Lead: i < len(lead) && lead[i]}
		})[0].Raise(n)
	}
	d := &op.Def{Name: "vmap", Hash: core.Mix(0x3a9, core.RowsSeq.Add(1)), Class: op.Composite, Arity: -1, Attrs: op.Count(0), Compose: compose}
	m.defs[key] = d
	return d
}

// graphKey encodes all that a node is computed from.
func graphKey(out *ir.Node, lead []bool) string {
	var k []byte
	for _, l := range lead {
		k = ir.Flag(k, l)
	}
	number := make([]int, len(out.Graph.Nodes))
	count := 0
	for id, need := range ir.Reach([]*ir.Node{out}) {
		if !need {
			continue
		}
		n := out.Graph.Nodes[id]
		number[id] = count
		count++
		name := n.Op.OpName()
		k = append(ir.Int(k, len(name)), name...)
		k = ir.Ints(append(k, byte(n.DType)), n.Shape)
		k = ir.Int(ir.Flag(k, n.Weak), len(n.Args))
		for _, a := range n.Args {
			k = ir.Int(k, number[a.ID])
		}
		if n.Attrs != nil {
			at := len(k)
			k = n.Attrs.AppendKey(k)
			k = ir.Int(k, len(k)-at)
		}
	}
	return string(k)
}
