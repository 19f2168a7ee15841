package op

import (
	"slices"

	"weft/internal/array"
	"weft/internal/ir"
)

// Loops and branches of many examples are one loop and one branch: of functions of all
// examples. Where examples differ in how many steps they take, or in the side they take,
// all go on as long as one does, and both sides are computed; what an example has not
// asked for is not taken. Until then an example that is done repeats its first step, and one
// that took the other side does what the first example on this side does: so nothing is
// computed that no example computes alone, which could fail, or have a gradient that is not
// finite and spoil zeros that it is multiplied by.
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

// forEach gives a bool of each example the shape to choose by from what has so many more
// dimensions.
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

// ending is a loop whose number of steps differs from example to example. It ends with the
// last one; the carries of the others stay.
func (b *batcher) ending(a Looping, args []Batched, count Batched) []Batched {
	n, m, kept := b.n, a.Carries, a.Kept()
	if n == 0 || a.Steps == 0 || a.Until && (a.Reverse || a.Counted) || a.Body.effects() {
		return nil
	}
	f := &batchedFunction{n: n, g: ir.New()}
	var outer []*node
	input := func(x *node, t ir.Type, leads bool) *node {
		outer = append(outer, x)
		return f.input(t, leads)
	}
	word, flag := ir.Type{DType: array.Int64}, ir.Type{DType: array.Bool}
	// Sequences, and with Counted the number of the step.
	elements := make([]*node, a.Seqs)
	for i, x := range args[:a.Seqs] {
		s := x.Node
		if x.Lead {
			s = Transpose(s, 0, 1)
		}
		elements[i] = input(s, a.Body.Args[i], x.Lead)
	}
	steps := numbered(b.g, []int{a.Steps})
	var at *node
	if a.Counted {
		at = input(steps, word, false)
	}
	seqs := len(outer)
	// Carries, and with Until whether an example goes on and how many steps it has taken.
	carries := make([]*node, m)
	for j, x := range args[a.Seqs : a.Seqs+m] {
		carries[j] = input(x.Raise(n), a.Body.Args[a.Seqs+j], true)
	}
	var goes, taken *node
	if a.Until {
		goes = input(full(b.g, 1, array.Bool, []int{n}), flag, true)
		taken = input(full(b.g, 0, array.Int64, []int{n}), word, true)
	}
	// Constants; the first elements and carries.
	consts := make([]*node, a.Consts())
	for i, x := range args[a.Seqs+m:] {
		consts[i] = input(x.Node, a.Body.Args[a.Seqs+m+i], x.Lead)
	}
	counts := count.Raise
	if a.Counted {
		goes = apply(Lt, at, input(counts(n), word, true))
	}
	in := make([]Batched, 0, len(a.Body.Args))
	unless := func(x Batched, first *node, t ir.Type) Batched {
		return Batched{where(forEach(goes, len(t.Shape)), x.Node, first), true}
	}
	for i, x := range args[:a.Seqs] {
		t := a.Body.Args[i]
		begin := Narrow(x.Node, 0, 0, 1)
		if x.Lead {
			begin = Narrow(x.Node, 1, 0, 1)
		}
		if a.Reverse { // each example begins at its own end
			each := apply(Maximum, sub(counts(n), num(count.Node, 1)), num(count.Node, 0))
			begin = Apply(Gather, Axis(1), x.Raise(n), expand(forEach(each, 1+len(t.Shape)), append([]int{n, 1}, t.Shape...)))
		}
		leads := x.Lead || a.Reverse
		shape := t.Shape
		if leads {
			shape = lead(n, shape)
		}
		in = append(in, unless(Batched{Node: elements[i]}, input(reshape(begin, shape), t, leads), t))
	}
	for j, x := range args[a.Seqs : a.Seqs+m] {
		t := a.Body.Args[a.Seqs+j]
		in = append(in, unless(Batched{Node: carries[j]}, input(x.Node, t, x.Lead), t))
	}
	for i, x := range args[a.Seqs+m:] {
		in = append(in, Batched{consts[i], x.Lead})
	}
	outs := Batch(f.g, a.Body.outs, n, func(x *node) Batched { return in[x.Arg()] })
	var results []*node
	for j, y := range outs[:m] {
		results = append(results, where(forEach(goes, len(a.Body.Results[j].Shape)), y.Raise(n), carries[j]))
	}
	big := Looping{Steps: a.Steps, Seqs: seqs, Carries: m, Reverse: a.Reverse, Until: a.Until, Counted: a.Counted, Truncate: a.Truncate}
	keeps := make([]*node, kept)
	for l, y := range outs[m : m+kept] {
		keeps[l] = y.Raise(n)
	}
	if a.Until {
		on := apply(LogicalAnd, goes, apply(LogicalNot, outs[len(outs)-1].Raise(n)))
		results = append(results, on, add(taken, Convert(goes, array.Int64)))
		big.Carries += 2
		keeps = append(keeps, apply(LogicalNot, Apply(Any, Reduction{}, on)))
	} else {
		outer = append(outer, Apply(Max, Reduction{}, counts(n)))
	}
	big.Body = NewFunction(f.types, append(results, keeps...))
	res := ApplyAll(Loop, big, outer...)
	many := counts
	if a.Until {
		many = func(int) *node { return res[m+1] }
	}
	// What belongs to steps that an example has not taken is 0.
	cut := func(y *node, more int) *node {
		y = Transpose(y, 0, 1)
		row := numbered(b.g, []int{1, a.Steps + more})
		taken := apply(Lt, row, add(forEach(many(n), 1), num(row, float64(more))))
		return where(forEach(taken, len(y.Shape)-2), y, num(y, 0))
	}
	var out []Batched
	for j := range m {
		out = append(out, Batched{res[j], true})
	}
	for j := range m {
		out = append(out, Batched{cut(res[big.Carries+j], 1), true})
	}
	for l := range kept {
		out = append(out, Batched{cut(res[2*big.Carries+l], 0), true})
	}
	if a.Until {
		out = append(out, Batched{many(n), true})
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
		for _, y := range ApplyAll(Branch, Branches{side(a.Then, false), side(a.Else, false)}, append([]*node{cond.Node}, outer...)...) {
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
		return ApplyAll(Branch, Branches{f, NewFunction(f.Args, none)}, slices.Concat([]*node{Apply(Any, Reduction{}, mine)}, outer, []*node{mine})...)
	}
	then, els := some(a.Then, cond.Node), some(a.Else, apply(LogicalNot, cond.Node))
	for i, y := range then {
		out = append(out, Batched{where(forEach(cond.Node, len(y.Shape)-1), y, els[i]), true})
	}
	return out
}
