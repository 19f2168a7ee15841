package op

import (
	"slices"

	"weft/internal/array"
	"weft/internal/ir"
)

// A loop or branch of many examples is one loop or branch of functions of all examples. If
// examples differ in their number of steps, all go on as long as one does. If they differ in the
// side they take, both sides are computed. Results that an example has not asked for are dropped.
//
// An example that is done repeats its first step. On the side that an example did not take, it
// does what the first example on that side does. So nothing is computed that no example computes
// alone. Such a value could fail, or have a gradient that is not finite, which would spoil the
// zeros that it is multiplied by.
//
// A function with effects, such as one that prints, is run for those examples alone that
// ask for it, one after the other.

// control is a loop or a branch of all examples; an argument at least has an axis of them.
func (b *batcher) control(x *node, args []Batched) []Batched {
	var out []Batched
	switch a := x.Attrs.(type) {
	case Looping:
		out = b.looping(a, args)
	case Branches:
		out = b.branch(a, args)
	}
	if out == nil {
		for _, y := range b.loop(x, args) {
			out = append(out, Batched{y, true})
		}
	}
	return out
}

// A batchedFunction is the function of all examples that a function of one becomes.
type batchedFunction struct {
	n     int
	g     *ir.Graph
	types []ir.Type
	ins   []*node
}

// input adds an argument, with an axis of examples or without.
func (f *batchedFunction) input(t ir.Type, leads bool) *node {
	if leads {
		t.Shape = lead(f.n, t.Shape)
	}
	x := f.g.Input(len(f.ins), t.DType, t.Shape)
	f.types, f.ins = append(f.types, t), append(f.ins, x)
	return x
}

// forEach appends rank axes of size 1 to yes, a bool of each example, so that it selects from
// values with rank more dimensions.
func forEach(yes *node, rank int) *node {
	s := yes.Shape
	for range rank {
		s = append(s[:len(s):len(s)], 1)
	}
	return reshape(yes, s)
}

// dependent reports which results are computed from arguments that lead holds for.
func (f *Function) dependent(lead []bool) []bool {
	nodes, reach := f.outs[0].Graph.Nodes, ir.Reach(f.outs)
	of := make([]bool, len(reach))
	for id, need := range reach {
		if !need {
			continue
		}
		n := nodes[id]
		of[id] = n.Op == ir.Input && lead[n.Arg()]
		for _, a := range n.Args {
			of[id] = of[id] || of[a.ID]
		}
	}
	out := make([]bool, len(f.outs))
	for i, y := range f.outs {
		out[i] = of[y.ID]
	}
	return out
}

// effects reports that a function calls Go, which may do anything.
func (f *Function) effects() bool {
	nodes := f.outs[0].Graph.Nodes
	for id, need := range ir.Reach(f.outs) {
		if !need {
			continue
		}
		n := nodes[id]
		some := n.Op == Host
		switch a := n.Attrs.(type) {
		case Looping:
			some = a.Body.effects()
		case Branches:
			some = a.Then.effects() || a.Else.effects()
		}
		if some {
			return true
		}
	}
	return false
}

// looping is a loop of all examples, nil if it must be run for one after the other.
func (b *batcher) looping(a Looping, args []Batched) []Batched {
	var count Batched
	if a.Counted {
		count, args = args[len(args)-1], args[:len(args)-1]
	}
	m, kept := a.Carries, a.Kept()
	// Which arguments of the body differ from example to example: a carry does too if a step
	// makes it of one that does.
	leads := make([]bool, len(args))
	for i, x := range args {
		leads[i] = x.Lead
	}
	var of []bool
	for again := true; again; {
		again = false
		of = a.Body.dependent(leads)
		for j := range m {
			if of[j] && !leads[a.Seqs+j] {
				leads[a.Seqs+j], again = true, true
			}
		}
	}
	if count.Lead || a.Until && of[len(of)-1] {
		return b.ending(a, args, count)
	}
	f := &batchedFunction{n: b.n, g: ir.New()}
	for i, t := range a.Body.Args {
		f.input(t, leads[i])
	}
	outs := Batch(f.g, a.Body.outs, b.n, func(x *node) Batched { return Batched{f.ins[x.Arg()], leads[x.Arg()]} })
	nodes := make([]*node, len(outs))
	for i, y := range outs {
		if nodes[i] = y.Node; i < m && leads[a.Seqs+i] {
			nodes[i] = y.Raise(b.n)
		}
	}
	var outer []*node
	for i, x := range args {
		switch {
		case i < a.Seqs && x.Lead:
			outer = append(outer, Transpose(x.Node, 0, 1))
		case leads[i]:
			outer = append(outer, x.Raise(b.n))
		default:
			outer = append(outer, x.Node)
		}
	}
	if a.Counted {
		outer = append(outer, count.Node)
	}
	a.Body = NewFunction(f.types, nodes)
	res := ApplyAll(Loop, a, outer...)
	out := make([]Batched, len(res))
	for i, y := range res {
		out[i].Node = y
		switch {
		case i < m:
			out[i].Lead = leads[a.Seqs+i]
		case i < 2*m:
			out[i].Lead = leads[a.Seqs+i-m]
		case i < 2*m+kept:
			out[i].Lead = outs[i-m].Lead
		}
		if i >= m && out[i].Lead {
			out[i].Node = Transpose(y, 0, 1)
		}
	}
	return out
}

// An endingLoop writes a loop whose number of steps differs from example to example: its
// body, and the arguments of the loop in the order of the body's.
type endingLoop struct {
	*batchedFunction
	b     *batcher
	a     Looping // of one example
	args  []Batched
	count Batched // with Counted

	outer []*node
	seqs  int // sequences of the loop

	// Inputs of the body.
	elements, carries, consts []*node
	goes                      *node // which examples go on
	taken                     *node // with Until, how many steps each has taken
	limit                     *node // with Counted, how many each takes at most
}

// ending is a loop whose number of steps differs from example to example. It ends with the
// last one; the carries of the others stay.
func (b *batcher) ending(a Looping, args []Batched, count Batched) []Batched {
	if b.n == 0 || a.Steps == 0 || a.Until && a.Reverse || a.Body.effects() {
		return nil
	}
	e := &endingLoop{batchedFunction: &batchedFunction{n: b.n, g: ir.New()}, b: b, a: a, args: args, count: count}
	e.inputs()
	in := e.bodyArguments()
	outs := Batch(e.g, a.Body.outs, b.n, func(x *node) Batched { return in[x.Arg()] })
	return e.results(e.apply(outs))
}

// give adds an argument to the loop, and to its body as type t, with an axis of examples or
// without.
func (e *endingLoop) give(x *node, t ir.Type, leads bool) *node {
	e.outer = append(e.outer, x)
	return e.input(t, leads)
}

// inputs adds the arguments of the loop: sequences, carries, constants.
func (e *endingLoop) inputs() {
	a, b, n, m := e.a, e.b, e.n, e.a.Carries
	word, flag := ir.Type{DType: array.Int64}, ir.Type{DType: array.Bool}
	// Sequences, and with Counted alone the number of the step.
	e.elements = make([]*node, a.Seqs)
	for i, x := range e.args[:a.Seqs] {
		s := x.Node
		if x.Lead {
			s = Transpose(s, 0, 1)
		}
		e.elements[i] = e.give(s, a.Body.Args[i], x.Lead)
	}
	var at *node
	if a.Counted && !a.Until {
		at = e.give(numbered(b.g, []int{a.Steps}), word, false)
	}
	e.seqs = len(e.outer)
	// Carries, and with Until whether an example goes on and how many steps it has taken.
	e.carries = make([]*node, m)
	for j, x := range e.args[a.Seqs : a.Seqs+m] {
		e.carries[j] = e.give(x.Raise(n), a.Body.Args[a.Seqs+j], true)
	}
	if a.Until {
		goes := full(b.g, 1, array.Bool, []int{n})
		if a.Counted {
			goes = apply(Lt, num(e.count.Node, 0), e.count.Raise(n))
		}
		e.goes = e.give(goes, flag, true)
		e.taken = e.give(full(b.g, 0, array.Int64, []int{n}), word, true)
	}
	// Constants.
	e.consts = make([]*node, a.Consts())
	for i, x := range e.args[a.Seqs+m:] {
		e.consts[i] = e.give(x.Node, a.Body.Args[a.Seqs+m+i], x.Lead)
	}
	if a.Counted {
		if e.limit = e.give(e.count.Raise(n), word, true); !a.Until {
			e.goes = apply(Lt, at, e.limit)
		}
	}
}

// bodyArguments are what the body of one example takes: elements and carries of the step for
// examples that go on, the first ones for the others; and constants.
func (e *endingLoop) bodyArguments() []Batched {
	a, n, m := e.a, e.n, e.a.Carries
	in := make([]Batched, 0, len(a.Body.Args))
	add := func(x, first *node, t ir.Type) {
		in = append(in, Batched{where(forEach(e.goes, len(t.Shape)), x, first), true})
	}
	for i, x := range e.args[:a.Seqs] {
		t := a.Body.Args[i]
		leads := x.Lead || a.Reverse
		shape := t.Shape
		if leads {
			shape = lead(n, shape)
		}
		add(e.elements[i], e.give(reshape(e.firstElement(x, t), shape), t, leads), t)
	}
	for j, x := range e.args[a.Seqs : a.Seqs+m] {
		t := a.Body.Args[a.Seqs+j]
		add(e.carries[j], e.give(x.Node, t, x.Lead), t)
	}
	for i, x := range e.args[a.Seqs+m:] {
		in = append(in, Batched{e.consts[i], x.Lead})
	}
	return in
}

// firstElement is what the first step of each example reads of the sequence x.
func (e *endingLoop) firstElement(x Batched, t ir.Type) *node {
	begin := Narrow(x.Node, 0, 0, 1)
	if x.Lead {
		begin = Narrow(x.Node, 1, 0, 1)
	}
	if e.a.Reverse { // each example begins at its own end
		each := apply(Maximum, sub(e.count.Raise(e.n), num(e.count.Node, 1)), num(e.count.Node, 0))
		begin = Apply(Gather, Axis(1), x.Raise(e.n), expand(forEach(each, 1+len(t.Shape)), append([]int{e.n, 1}, t.Shape...)))
	}
	return begin
}

// apply makes the loop, outs being what the body of one example gives for all of them. With
// Until, whether examples go on and how many steps they took are the last carries.
func (e *endingLoop) apply(outs []Batched) (big Looping, res []*node) {
	a, n, m, kept := e.a, e.n, e.a.Carries, e.a.Kept()
	var results []*node
	for j, y := range outs[:m] {
		results = append(results, where(forEach(e.goes, len(a.Body.Results[j].Shape)), y.Raise(n), e.carries[j]))
	}
	big = Looping{Steps: a.Steps, Seqs: e.seqs, Carries: m, Reverse: a.Reverse, Until: a.Until, Counted: a.Counted && !a.Until, Truncate: a.Truncate, Unbounded: a.Unbounded}
	keeps := make([]*node, kept)
	for l, y := range outs[m : m+kept] {
		keeps[l] = y.Raise(n)
	}
	if a.Until {
		on := apply(LogicalAnd, e.goes, apply(LogicalNot, outs[len(outs)-1].Raise(n)))
		taken := add(e.taken, Convert(e.goes, array.Int64))
		if a.Counted {
			on = apply(LogicalAnd, on, apply(Lt, taken, e.limit))
		}
		results = append(results, on, taken)
		big.Carries += 2
		keeps = append(keeps, apply(LogicalNot, Apply(Any, Reduction{}, on)))
	} else {
		e.outer = append(e.outer, Apply(Max, Reduction{}, e.count.Raise(n)))
	}
	big.Body = NewFunction(e.types, append(results, keeps...))
	return big, ApplyAll(Loop, big, e.outer...)
}

// results returns, for all examples, the results that the loop of one example has. Values by
// step are 0 at steps that an example has not taken.
func (e *endingLoop) results(big Looping, res []*node) (out []Batched) {
	m := e.a.Carries
	steps := func() *node { return e.count.Raise(e.n) } // of each example
	if e.a.Until {
		steps = func() *node { return res[m+1] }
	}
	cut := func(y *node, more int) *node {
		y = Transpose(y, 0, 1)
		row := numbered(e.b.g, []int{1, e.a.Steps + more})
		taken := apply(Lt, row, add(forEach(steps(), 1), num(row, float64(more))))
		return where(forEach(taken, len(y.Shape)-2), y, num(y, 0))
	}
	for j := range m {
		out = append(out, Batched{res[j], true})
	}
	for j := range m {
		out = append(out, Batched{cut(res[big.Carries+j], 1), true})
	}
	for l := range e.a.Kept() {
		out = append(out, Batched{cut(res[2*big.Carries+l], 0), true})
	}
	if e.a.Until {
		out = append(out, Batched{steps(), true})
	}
	return out
}

// branch is a branch of all examples, nil if it must be run for one after the other.
func (b *batcher) branch(a Branches, args []Batched) []Batched {
	cond, args := args[0], args[1:]
	var outer []*node
	for _, x := range args {
		outer = append(outer, x.Node)
	}
	// side is a function of all examples; with yes it is given which take it, and the others
	// take the arguments of the first that does.
	side := func(of *Function, yes bool) *Function {
		f := &batchedFunction{n: b.n, g: ir.New()}
		in := make([]Batched, len(args))
		for i, x := range args {
			in[i] = Batched{f.input(of.Args[i], x.Lead), x.Lead}
		}
		if yes {
			mine := f.input(ir.Type{DType: array.Bool}, true)
			first := reshape(Apply(ArgMax, Reduction{}, Convert(mine, array.Int32)), []int{1})
			for i, x := range args {
				if x.Lead {
					in[i].Node = where(forEach(mine, len(of.Args[i].Shape)), in[i].Node, Apply(IndexSelect, Axis(0), in[i].Node, first))
				}
			}
		}
		var nodes []*node
		for _, y := range Batch(f.g, of.outs, b.n, func(x *node) Batched { return in[x.Arg()] }) {
			nodes = append(nodes, y.Raise(b.n))
		}
		return NewFunction(f.types, nodes)
	}
	var out []Batched
	if !cond.Lead {
		for _, y := range ApplyAll(Branch, Branches{Then: side(a.Then, false), Else: side(a.Else, false)}, append([]*node{cond.Node}, outer...)...) {
			out = append(out, Batched{y, true})
		}
		return out
	}
	if a.Then.effects() || a.Else.effects() || b.n == 0 {
		return nil
	}
	// Each side is computed if an example takes it.
	some := func(of *Function, mine *node) []*node {
		f := side(of, true)
		g := ir.New()
		for i, t := range f.Args {
			g.Input(i, t.DType, t.Shape)
		}
		var none []*node
		for _, t := range f.Results {
			none = append(none, zeros(g, t))
		}
		return ApplyAll(Branch, Branches{Then: f, Else: NewFunction(f.Args, none)}, slices.Concat([]*node{Apply(Any, Reduction{}, mine)}, outer, []*node{mine})...)
	}
	then, els := some(a.Then, cond.Node), some(a.Else, apply(LogicalNot, cond.Node))
	for i, y := range then {
		out = append(out, Batched{where(forEach(cond.Node, len(y.Shape)-1), y, els[i]), true})
	}
	return out
}
