package core

import (
	"slices"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// Bodies of loops and branches in traced functions: Go functions of tensors that capture others.

// TraceInside begins a trace of a function that a mapped function, a loop or a branch runs. Its graph is
// differentiated afterwards. It runs inside the trace that runs here, if any, which goes on after end.
func TraceInside() (tr *Trace, end func()) {
	outer := TracingHere()
	tr = NewTrace(nil)
	tr.Callee = true // its gradient is made of its graph, which has to know what the tape does
	tr.Seen = map[*array.Storage]*Tensor{}
	if tr.Outer = outer; outer != nil {
		outer.Inner = tr
		tr.Device = outer.Device
	}
	return tr, func() {
		tr.End()
		if outer != nil {
			outer.Inner = nil
			Running.Store(tr.Thread, outer)
		}
	}
}

// A Body is a function that a loop or a branch runs.
type Body struct {
	// Fn takes the arguments, then what was captured, then for each draw its seed and its number.
	Fn       *op.Function
	Captured []*Tensor
	Drawn    []Drawing
}

// BodyOf is what f gives for tensors of these types. Requires that a trace runs here. It panics with
// *array.Error where f does what a loop or a branch cannot repeat: writes into its arguments or into
// captured tensors, a backward pass into leaves, work on the host.
func BodyOf(name string, types []ir.Type, f func(ts []*Tensor) []*Tensor) Body {
	tr, nodes := tracedBody(name, types, f)
	sources := tr.Sources[len(types):]
	b := Body{Drawn: tr.drawn}
	all := slices.Clone(types)
	for i := range sources {
		t := tr.TensorOf(sources[i].At)
		b.Captured = append(b.Captured, t)
		all = append(all, ir.Type{DType: sources[i].At.DType, Shape: sources[i].At.Shape})
	}
	first := len(all)
	all = append(all, slices.Repeat([]ir.Type{{DType: array.Int64, Shape: []int{}}}, tr.Numbers)...)
	g := ir.New()
	nodes = op.Import(g, nodes, func(n *ir.Node) *ir.Node {
		if n.Op == ir.Input {
			return g.Input(n.Arg(), n.DType, n.Shape)
		}
		return g.Input(first+n.Arg(), n.DType, n.Shape)
	})
	b.Fn = op.NewFunction(all, nodes)
	return b
}

// tracedBody runs f and returns its results over the trace, which is over.
func tracedBody(name string, types []ir.Type, f func(ts []*Tensor) []*Tensor) (*Trace, []*ir.Node) {
	tr, end := TraceInside()
	defer end()
	began := TapeSeq.Load()
	ts := make([]*Tensor, len(types))
	for i, t := range types {
		v := array.View{Store: tr.Storage(array.Size(t.Shape) * t.DType.Size()), DType: t.DType, Shape: t.Shape, Strides: array.RowMajor(t.Shape)}
		tr.Input(Source{Kind: FromArgument, Index: i, At: v})
		if ts[i] = (&Tensor{v: v}); GradOn() && t.DType.Differentiable() {
			ts[i].RequireGrad()
		}
	}
	outs := f(ts)
	if tr.Refused != nil {
		panic(tr.Refused)
	}
	for i, s := range tr.Sources {
		switch {
		case !s.Cell.Written || tr.literals[s.At.Store]:
		case i < len(types):
			array.Failf(name, "", "the function writes in place into argument %d%s: Clone it first", i, Here())
		default:
			array.Failf(name, "", "the function writes in place into a tensor that it captures, %s%s: make it an argument, or write outside", array.TypeString(s.At.DType, s.At.Shape), At(s.PC))
		}
	}
	switch {
	case len(tr.Leaves) > 0:
		array.Failf(name, "", "the function leaves gradients in leaves: take them with Grad, or call Backward outside")
	case len(tr.Host) > 0 || len(tr.Undo) > 0:
		array.Failf(name, "", "the function does what every call does on the host, such as counting steps: do it outside")
	}
	nodes := make([]*ir.Node, len(outs))
	for i, t := range outs {
		nodes[i] = tr.Operand(t)
		tr.Reached(name, t.Node(), began)
	}
	return tr, nodes
}

// Branch computes what one of two functions without arguments gives, in a trace.
func Branch(name string, pred *Tensor, then, els func() []*Tensor) []*Tensor {
	args := []Operand{Of(name, pred)}
	var bodies [2]Body
	var all []ir.Type
	var at [2][]int // where the arguments of each are among all
	for k, f := range []func() []*Tensor{then, els} {
		b := BodyOf(name, nil, func([]*Tensor) []*Tensor { return f() })
		if len(b.Drawn) > 0 {
			array.Failf(name, "", "the function draws random numbers, by which the next draws would depend on the branch: draw before it")
		}
		bodies[k] = b
		for i, t := range b.Captured {
			// What both capture is one argument, whose gradient is one sum.
			to := slices.IndexFunc(args[1:], func(o Operand) bool { return o.T == t || o.T.v.Same(&t.v) && o.T.Node() == t.Node() })
			if to < 0 {
				to, args, all = len(all), append(args, Operand{T: t}), append(all, b.Fn.Args[i])
			}
			at[k] = append(at[k], to)
		}
	}
	var sides [2]*op.Function
	for k, b := range bodies {
		sides[k] = b.Fn.WithArgs(all, at[k])
	}
	return ApplyAll(op.Branch, op.Branches{Then: sides[0], Else: sides[1], Ordered: true}, args...)
}

// A Looped is a loop of a traced function.
type Looped struct {
	Steps int       // at most
	Count *Tensor   // how many, int64, unless nil
	Init  []*Tensor // carries
	Index bool      // the body takes the number of the step, int64
	Until bool      // the last result of the body says whether the loop is over
	// Unbounded marks a loop whose Steps bound nothing, which has no gradient.
	Unbounded bool
}

// Run computes the loop in a trace: body takes the number of the step, nil unless Index, and the carries.
// It gives the next carries, what is kept of each step, and with Until a bool. Run returns the last
// carries, and what is kept along a new first axis.
func (l Looped) Run(name string, body func(i *Tensor, carries []*Tensor) []*Tensor) (last, kept []*Tensor) {
	var types []ir.Type
	var seqs []*Tensor
	if l.Index {
		types, seqs = append(types, ir.Type{DType: array.Int64, Shape: []int{}}), append(seqs, l.numbers(name))
	}
	k, m := len(types), len(l.Init)
	for _, t := range l.Init {
		types = append(types, ir.Type{DType: t.v.DType, Shape: slices.Clone(t.v.Shape)})
	}
	b := BodyOf(name, types, func(ts []*Tensor) []*Tensor {
		if l.Index {
			return body(ts[0], ts[1:])
		}
		return body(nil, ts)
	})
	nc, nd := len(b.Captured), len(b.Drawn)
	if l.Until && nd > 0 {
		array.Failf(name, "", "the function draws random numbers, by which the next draws would depend on the number of steps: draw before the loop, or use ScanSteps")
	}
	// A loop takes sequences, carries and constants: numbers of steps and draws; captured tensors and seeds.
	consts := b.Captured
	for _, d := range drawsBySteps(b.Drawn, l.Steps) {
		seqs, consts = append(seqs, d.numbers), append(consts, d.seed)
	}
	at := make([]int, len(b.Fn.Args))
	for i := range at {
		switch draw := i - k - m - nc; {
		case i < k:
			at[i] = i
		case draw < 0:
			at[i] = nd + i
		case draw%2 == 0: // a seed
			at[i] = k + nd + m + nc + draw/2
		default:
			at[i] = k + draw/2
		}
	}
	all := make([]ir.Type, len(at))
	for i, to := range at {
		all[to] = b.Fn.Args[i]
	}
	var ops []Operand
	for _, t := range slices.Concat(seqs, l.Init, consts) {
		ops = append(ops, Of(name, t))
	}
	if l.Count != nil {
		ops = append(ops, Of(name, l.Count))
	}
	a := op.Looping{Body: b.Fn.WithArgs(all, at), Steps: l.Steps, Seqs: len(seqs), Carries: m, Until: l.Until, Counted: l.Count != nil, Unbounded: l.Unbounded, Ordered: true}
	res := ApplyAll(op.Loop, a, ops...)
	return res[:m], res[2*m : 2*m+a.Kept()]
}

// numbers are the numbers of steps.
func (l Looped) numbers(name string) *Tensor {
	var device uint8
	if len(l.Init) > 0 {
		device = l.Init[0].v.Store.Device
	}
	return WithAttrs(op.Iota, op.Axis(0), Full(name, Whole(0), device, array.Float32, []int{l.Steps}))
}

// stepDraws are the seed and the numbers of the draws that the steps of a loop make in one place.
type stepDraws struct{ seed, numbers *Tensor }

// drawsBySteps returns the draws of n steps in the order in which the steps make them: a step makes all of
// its draws before the next one does.
func drawsBySteps(drawn []Drawing, n int) []stepDraws {
	each, first := map[*Generator]int{}, make([]int, len(drawn))
	for i, d := range drawn {
		first[i] = each[d.From]
		each[d.From] += d.Count
	}
	of := map[*Generator]stepDraws{}
	out := make([]stepDraws, len(drawn))
	for i, d := range drawn {
		all, ok := of[d.From]
		if !ok {
			all.seed, all.numbers = Draws(Drawing{From: d.From, Count: each[d.From], Short: d.Short}, n)
			of[d.From] = all
		}
		if first[i] > 0 {
			all.numbers = Apply(op.Add, nil, Operand{T: all.numbers}, Whole(int64(first[i])))
		}
		out[i] = all
	}
	return out
}

// MostSteps is the number of steps of a loop that only its condition ends: one that no loop reaches.
const MostSteps = 1 << 40
