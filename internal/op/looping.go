package op

import (
	"slices"

	"weft/internal/array"
	"weft/internal/ir"
)

// Loop runs a function once for each element of sequences and hands carries on from step
// to step; Branch runs one of two functions. Both are run by package exec.
var Loop, Branch *Def

// A Looping is the attribute of a [Loop]. The arguments are sequences, the first carries,
// constants, and with Counted the number of steps, int64, at most Steps. An element of a sequence
// is what is at one index of its first axis.
//
// The results are the last carries; the carries by step, Steps+1 with the first; what Body
// gives beside carries, by step; and with Until the number of steps, int64. What belongs to
// steps that are not taken is 0.
type Looping struct {
	// Body takes elements of sequences, carries and constants. It gives the next carries,
	// what is kept of the step, and with Until whether the loop is over after it, a bool.
	Body    *Function
	Steps   int
	Seqs    int
	Carries int
	Reverse bool // the last step comes first; carries by step end with the first
	Until   bool
	Counted bool
	// Truncate is how many steps, the last ones, gradients go back through; 0 means all.
	Truncate int
	// Recompute lets gradients compute what is kept of a step again, from the carries before it,
	// and so not keep it: the step is a block of steps.
	Recompute bool
	// Unbounded marks a loop whose Steps bound nothing. It has no gradient, which would keep the carries of all
	// steps. Nothing reads its carries by step, whose first axis is 1.
	Unbounded bool
	// Ordered makes gradients of constants the sums that a tape gives: of one use after the other, the last
	// step's last use first.
	Ordered bool
	// Sums is the number of the last carries that are such sums, in the loop of the gradients.
	Sums int
}

// AppendKey implements ir.Attrs.
func (a Looping) AppendKey(k []byte) []byte {
	k = ir.Ints(a.Body.AppendKey(k), []int{a.Steps, a.Seqs, a.Carries, a.Truncate, a.Sums})
	for _, f := range []bool{a.Reverse, a.Until, a.Counted, a.Recompute, a.Unbounded, a.Ordered} {
		k = ir.Flag(k, f)
	}
	return k
}

// Consts is the number of constants.
func (a Looping) Consts() int { return len(a.Body.Args) - a.Seqs - a.Carries }

// Kept is the number of results of the body that are kept by step.
func (a Looping) Kept() int {
	n := len(a.Body.Results) - a.Carries
	if a.Until {
		n--
	}
	return n
}

// Branches is the attribute of a [Branch]: two functions of the same arguments, which come
// after the bool that chooses, with results of the same types.
type Branches struct {
	Then, Else *Function
	// Ordered makes gradients the sums that a tape gives, of one use after the other.
	Ordered bool
	// Sums is the number of the last results that are such sums, in the branch of the gradients. They begin
	// with the last arguments.
	Sums int
}

// AppendKey implements ir.Attrs.
func (a Branches) AppendKey(k []byte) []byte {
	return ir.Int(ir.Flag(a.Else.AppendKey(a.Then.AppendKey(k)), a.Ordered), a.Sums)
}

func init() {
	Loop = define(Def{Name: "loop", Class: Control, Arity: -1,
		Doc:        "A function of one element of each sequence, carries from step to step, and constants, for one element after the other.",
		Typing:     Typing{InferAll: inferLoop},
		ByRoutine:  ByRoutine{Contiguous: true},
		Derivative: Derivative{VJP: loopVJP},
	})
	Branch = define(Def{Name: "branch", Class: Control, Arity: -1,
		Doc: "One of two functions of the arguments after the first, which says which. The other one is not run.",
		Typing: Typing{InferAll: func(c *Call) []ir.Type {
			a, ok := c.Attrs.(Branches)
			if !ok {
				c.Failf("", "has no functions")
			}
			if x := c.Args[0]; x.DType != array.Bool || len(x.Shape) != 0 {
				c.Failf("condition", "is %s, want a bool of no dimensions", array.TypeString(x.DType, x.Shape))
			}
			for _, f := range []*Function{a.Then, a.Else} {
				c.arguments(f.Args, c.Args[1:])
			}
			if !slices.EqualFunc(a.Then.Results, a.Else.Results, sameType) {
				c.Failf("", "the two functions give %s and %s", typesString(a.Then.Results), typesString(a.Else.Results))
			}
			return a.Then.Results
		}},
		ByRoutine:  ByRoutine{Contiguous: true},
		Derivative: Derivative{VJP: branchVJP},
	})
}

func sameType(a, b ir.Type) bool { return a.DType == b.DType && array.Equal(a.Shape, b.Shape) }

func typesString(types []ir.Type) string {
	s := ""
	for i, t := range types {
		if i > 0 {
			s += ", "
		}
		s += array.TypeString(t.DType, t.Shape)
	}
	return s
}

// arguments refuses arguments that a function does not take.
func (c *Call) arguments(want []ir.Type, args []*ir.Node) {
	if len(args) != len(want) {
		c.Failf("", "the function takes %d arguments, got %d", len(want), len(args))
	}
	for i, x := range args {
		if t := want[i]; x.DType != t.DType || !array.Equal(x.Shape, t.Shape) {
			c.Failf("", "argument %d is %s, the function takes %s", i, array.TypeString(x.DType, x.Shape), array.TypeString(t.DType, t.Shape))
		}
	}
}

func inferLoop(c *Call) []ir.Type {
	a, ok := c.Attrs.(Looping)
	if !ok {
		c.Failf("", "has no body")
	}
	args := c.Args
	if a.Counted {
		n := len(args) - 1
		if n < 0 || args[n].DType != array.Int64 || len(args[n].Shape) != 0 {
			c.Failf("count", "is not one int64")
		}
		args = args[:n]
	}
	if a.Steps < 0 || a.Seqs < 0 || a.Carries < 0 || a.Consts() < 0 || a.Kept() < 0 || len(args) != len(a.Body.Args) || a.Truncate < 0 {
		c.Failf("", "the body takes %d arguments and gives %d results, which does not fit %d arguments, among them %d sequences and %d carries", len(a.Body.Args), len(a.Body.Results), len(args), a.Seqs, a.Carries)
	}
	for i, x := range args {
		t := a.Body.Args[i]
		if i < a.Seqs {
			t.Shape = byStep(a.Steps, t.Shape)
		}
		if x.DType != t.DType || !array.Equal(x.Shape, t.Shape) {
			c.Failf("", "argument %d is %s, want %s", i, array.TypeString(x.DType, x.Shape), array.TypeString(t.DType, t.Shape))
		}
	}
	var out []ir.Type
	for j := range a.Carries {
		t := a.Body.Args[a.Seqs+j]
		if !sameType(t, a.Body.Results[j]) {
			c.Failf("", "carry %d begins as %s, a step makes it %s", j, array.TypeString(t.DType, t.Shape), array.TypeString(a.Body.Results[j].DType, a.Body.Results[j].Shape))
		}
		out = append(out, t)
	}
	rows := a.Steps + 1
	if a.Unbounded {
		rows = 1
	}
	for _, t := range out[:a.Carries:a.Carries] {
		out = append(out, ir.Type{DType: t.DType, Shape: byStep(rows, t.Shape)})
	}
	for _, t := range a.Body.Results[a.Carries : a.Carries+a.Kept()] {
		out = append(out, ir.Type{DType: t.DType, Shape: byStep(a.Steps, t.Shape)})
	}
	if a.Until {
		if t := a.Body.Results[len(a.Body.Results)-1]; t.DType != array.Bool || len(t.Shape) != 0 {
			c.Failf("until", "is %s, want a bool of no dimensions", array.TypeString(t.DType, t.Shape))
		}
		out = append(out, ir.Type{DType: array.Int64})
	}
	return out
}

// byStep is a shape with a first axis of n.
func byStep(n int, shape []int) []int { return append([]int{n}, shape...) }

// keepMax is the size in bytes up to which the gradient of a constant is kept by step and
// summed at the end; larger ones are added up from step to step.
const keepMax = 1 << 14

// A loopGrad writes the loop of the gradients of a loop, which runs the other way:
//   - its sequences are the sequences of the first loop, the carries before and after each step,
//     and gradients by step;
//   - its carries are gradients of carries, and of large constants;
//   - its constants are the constants of the first loop.
type loopGrad struct {
	v     *VJP
	a     Looping
	g     *ir.Graph  // of the body
	ins   []*ir.Node // of the body: of sequences, carries, constants
	kind  []byte     // of each input 's', 'c' or 'k'
	outer []*ir.Node

	steps      int        // that gradients go through
	active     []bool     // carries that have gradients
	sums       int        // carries that are sums of the gradients of constants
	starts     []*ir.Node // by argument: the sum of the gradients of later steps, nil: none
	next, kept []*ir.Node // results of the body: carries, what is kept by step
	give       []func(carries, keeps []*ir.Node)
}

// input adds an argument to the body, outer being that of the loop.
func (b *loopGrad) input(kind byte, outer *ir.Node) *ir.Node {
	t := ir.Type{DType: outer.DType, Shape: outer.Shape}
	if kind == 's' {
		t.Shape = t.Shape[1:]
	}
	n := b.g.Input(len(b.ins), t.DType, t.Shape)
	b.ins, b.kind, b.outer = append(b.ins, n), append(b.kind, kind), append(b.outer, outer)
	return n
}

func loopVJP(v *VJP) {
	a := v.Node.Attrs.(Looping)
	b := &loopGrad{v: v, a: a, g: ir.New()}
	m := a.Carries
	need := false
	for i := range a.Body.Args {
		need = need || v.Need[i]
	}
	if !need || a.Steps == 0 && a.Seqs == len(v.X) {
		return
	}
	if a.Unbounded {
		array.Failf("backward", "", "a loop without a bound on its steps (While without Max) has no gradient in a compiled function")
	}
	steps := a.Steps
	if a.Truncate > 0 && a.Truncate < steps {
		if a.Reverse || a.Until || a.Counted {
			array.Failf(Loop.Name, "truncate", "gradients through a part of the steps want a loop forwards of a known number of steps")
		}
		steps = a.Truncate
	}
	// rows returns the rows of x for the steps that gradients go through, shifted by from: 0 or 1
	// in an array that has one row more than there are steps.
	rows := func(x *ir.Node, from int) *ir.Node {
		return Narrow(x, 0, a.Steps-steps+from, steps)
	}
	before, after := 0, 1
	if a.Reverse {
		before, after = 1, 0
	}
	// Arguments of the body as it ran.
	args := make([]*ir.Node, len(a.Body.Args))
	for i := range args {
		switch {
		case i < a.Seqs:
			args[i] = b.input('s', rows(v.X[i], 0))
		case i < a.Seqs+m:
			args[i] = b.input('s', rows(v.Ys[m+i-a.Seqs], before))
		default:
			args[i] = b.input('k', v.X[i])
		}
	}
	b.steps, b.active = steps, activeCarries(v, a)
	active := b.active
	// Its results, and their gradients.
	ys, dys := make([]*ir.Node, len(a.Body.Results)), make([]*ir.Node, len(a.Body.Results))
	carried := make([]*ir.Node, m) // the gradients that steps hand on
	for j := range m {
		if !active[j] {
			continue
		}
		ys[j] = b.input('s', rows(v.Ys[m+j], after))
		first := v.DYs[j]
		if isZero(first) {
			first = b.nothing(ir.Type{DType: first.DType, Shape: first.Shape})
		}
		carried[j] = b.input('c', b.afterKept(j, first))
		dys[j] = carried[j]
		if d := v.DYs[m+j]; !isZero(d) {
			dys[j] = add(dys[j], b.input('s', rows(d, after)))
		}
	}
	for l := range a.Kept() {
		y := v.Ys[2*m+l]
		if !y.DType.Differentiable() {
			continue
		}
		if !a.Recompute {
			ys[m+l] = b.input('s', rows(y, 0))
		}
		if d := v.DYs[2*m+l]; !isZero(d) && !b.isCarry(l) {
			dys[m+l] = b.input('s', rows(d, 0))
		}
	}
	var wrt []int
	for i, t := range a.Body.Args {
		carry := i >= a.Seqs && i < a.Seqs+m
		if t.DType.Differentiable() && (v.Need[i] && !carry || carry && active[i-a.Seqs]) {
			wrt = append(wrt, i)
		}
	}
	if a.Ordered {
		b.ordered(args, ys, dys, wrt)
		return
	}
	b.write(wrt, a.Body.gradients(b.g, args, ys, dys, wrt, nil))
}

// activeCarries returns which carries of a loop have gradients: those whose last value or values by
// step have one, and those from which a step computes a value that has one. The gradient of others
// is 0 at each step.
func activeCarries(v *VJP, a Looping) []bool {
	m := a.Carries
	outs := a.Body.Nodes()
	given := func(i int) bool {
		return v.Ys[i].DType.Differentiable() && !isZero(v.DYs[i])
	}
	active := make([]bool, m)
	var ends []*ir.Node // results of the body that have gradients
	for j := range m {
		if active[j] = given(j) || given(m+j); active[j] {
			ends = append(ends, outs[j])
		}
	}
	for k := range a.Kept() {
		if given(2*m + k) {
			ends = append(ends, outs[m+k])
		}
	}
	for again := len(ends) > 0; again; {
		again = false
		nodes := ends[0].Graph.Nodes
		for id, need := range ir.Reach(ends) {
			if n := nodes[id]; need && n.Op == ir.Input {
				if j := n.Arg() - a.Seqs; j >= 0 && j < m && !active[j] && n.DType.Differentiable() {
					active[j], again = true, true
					ends = append(ends, outs[j])
				}
			}
		}
	}
	return active
}

// write makes the loop and hands out its results.
func (b *loopGrad) write(wrt []int, grads []*ir.Node) {
	a := b.a
	var sums []int // constants whose gradients are carried, as places in wrt
	for w, i := range wrt {
		dx := grads[w]
		switch {
		case i >= a.Seqs && i < a.Seqs+a.Carries:
			b.ofCarry(i, dx)
		case dx == nil:
		case i < a.Seqs:
			b.ofSequence(i, dx)
		case a.Ordered || !b.ofConstant(i, dx):
			sums = append(sums, w)
		}
	}
	for _, w := range sums {
		b.carriedSum(wrt[w], grads[w])
	}
	if len(b.next)+len(b.kept) == 0 {
		return
	}
	b.apply()
}

// keep returns which of the values that are kept by step n is, and keeps it.
func (b *loopGrad) keep(n *ir.Node) int {
	if i := slices.Index(b.kept, n); i >= 0 {
		return i
	}
	b.kept = append(b.kept, n)
	return len(b.kept) - 1
}

// byStep returns n of all steps: a sequence of the loop, or what is kept of it.
func (b *loopGrad) byStep(n *ir.Node) func(keeps []*ir.Node) *ir.Node {
	if i := slices.Index(b.ins, n); i >= 0 && b.kind[i] == 's' {
		return func([]*ir.Node) *ir.Node { return b.outer[i] }
	}
	at := b.keep(n)
	return func(keeps []*ir.Node) *ir.Node { return keeps[at] }
}

// ofCarry carries dx, the gradient of carry i of the first loop. Behind the last step it is
// that of the first carry.
func (b *loopGrad) ofCarry(i int, dx *ir.Node) {
	v, a, t := b.v, b.a, b.a.Body.Args[i]
	if dx == nil {
		dx = zeros(b.g, t)
	}
	at := len(b.next)
	b.next = append(b.next, dx)
	b.give = append(b.give, func(carries, _ []*ir.Node) {
		if b.steps < a.Steps {
			return // cut before the first
		}
		v.Set(i, func() *ir.Node {
			d := carries[at]
			by := v.DYs[a.Carries+i-a.Seqs]
			if isZero(by) {
				return d
			}
			var first *ir.Node
			switch {
			case a.Reverse && a.Counted: // behind the steps that were taken
				first = Apply(IndexSelect, Axis(0), by, reshape(v.X[len(v.X)-1], []int{1}))
			case a.Reverse:
				first = Narrow(by, 0, a.Steps, 1)
			default:
				first = Narrow(by, 0, 0, 1)
			}
			return add(d, reshape(first, t.Shape))
		})
	})
}

// ofSequence keeps dx, the gradient of an element of sequence i, by step.
func (b *loopGrad) ofSequence(i int, dx *ir.Node) {
	v, a, at := b.v, b.a, b.keep(dx)
	b.give = append(b.give, func(_, keeps []*ir.Node) {
		v.Set(i, func() *ir.Node {
			if b.steps < a.Steps {
				win := AllOf(v.X[i].Shape)
				win.Start[0], win.Count[0] = a.Steps-b.steps, b.steps
				return Apply(Place, Placement{v.X[i].Shape, win, 0}, keeps[at])
			}
			return keeps[at]
		})
	})
}

// ofConstant sums dx, the gradient of constant i, over all steps behind the loop: as one
// product in the place of one a step, or of what is kept by step. It reports false where that
// would be too large.
func (b *loopGrad) ofConstant(i int, dx *ir.Node) bool {
	v, t := b.v, b.a.Body.Args[i]
	if x, y := asProduct(dx); x != nil {
		xs, ys := b.byStep(x), b.byStep(y)
		b.give = append(b.give, func(_, keeps []*ir.Node) {
			v.Set(i, func() *ir.Node {
				return apply(MatMul2, swapLast(flatRows(xs(keeps))), flatRows(ys(keeps)))
			})
		})
		return true
	}
	if t.DType.Size()*array.Size(t.Shape) > keepMax {
		return false
	}
	all := b.byStep(dx)
	b.give = append(b.give, func(_, keeps []*ir.Node) {
		v.Set(i, func() *ir.Node {
			return Apply(Sum, Reduction{Axes: []int{0}, DType: t.DType}, all(keeps))
		})
	})
	return true
}

// carriedSum adds up dx, the gradient of constant i, from step to step. With Ordered dx is already added.
func (b *loopGrad) carriedSum(i int, dx *ir.Node) {
	at := len(b.next)
	if !b.a.Ordered {
		dx = add(b.input('c', zeros(b.v.Node.Graph, b.a.Body.Args[i])), dx)
	}
	b.next = append(b.next, dx)
	b.give = append(b.give, func(carries, _ []*ir.Node) { b.v.Set(i, func() *ir.Node { return carries[at] }) })
}

// apply makes the loop, and gives gradients what it results in.
func (b *loopGrad) apply() {
	v, a := b.v, b.a
	outer := slices.Clone(b.outer)
	body, seqs, carries := NewBody(&outer, b.kind, append(b.next, b.kept...))
	back := Looping{Body: body, Steps: b.steps, Seqs: seqs, Carries: carries, Reverse: !a.Reverse, Ordered: a.Ordered, Sums: b.sums}
	if a.Until || a.Counted {
		back.Counted = true
		if a.Until {
			outer = append(outer, v.Ys[len(v.Ys)-1])
		} else {
			outer = append(outer, v.X[len(v.X)-1])
		}
	}
	if len(outer) == 0 {
		return
	}
	res := ApplyAll(Loop, back, outer...)
	for _, f := range b.give {
		f(res[:back.Carries], res[2*back.Carries:])
	}
}

// NewBody makes the body of a loop of its results: input i of their graph is an element of a
// sequence, a carry or a constant, as kinds says by 's', 'c' and 'k', and (*args)[i] what the
// loop is given for it. Of the arguments only carries, and what the results are computed from,
// stay, in the order in which a loop has them.
func NewBody(args *[]*ir.Node, kinds []byte, outs []*ir.Node) (body *Function, seqs, carries int) {
	reach := ir.Reach(outs)
	read := make([]bool, len(kinds))
	for id, need := range reach {
		if n := outs[0].Graph.Nodes[id]; need && n.Op == ir.Input {
			read[n.Arg()] = true
		}
	}
	var types []ir.Type
	var outer []*ir.Node
	place := make([]int, len(kinds))
	count := [256]int{}
	for _, kind := range []byte("sck") {
		for i, x := range *args {
			if kinds[i] != kind || kind != 'c' && !read[i] {
				continue
			}
			t := ir.Type{DType: x.DType, Shape: x.Shape}
			if kind == 's' {
				t.Shape = t.Shape[1:]
			}
			place[i] = len(types)
			types, outer = append(types, t), append(outer, x)
			count[kind]++
		}
	}
	*args = outer
	g := ir.New()
	for i, t := range types {
		g.Input(i, t.DType, t.Shape) // in order
	}
	outs = Import(g, outs, func(n *ir.Node) *ir.Node { return g.Input(place[n.Arg()], n.DType, n.Shape) })
	return NewFunction(types, outs), count['s'], count['c']
}

// flatRows is x, by step, with the steps put under each other.
func flatRows(x *ir.Node) *ir.Node { return reshape(x, []int{x.Shape[0] * x.Shape[1], x.Shape[2]}) }

// asProduct returns x and y where n is the product of x transposed and y, both matrices.
func asProduct(n *ir.Node) (x, y *ir.Node) {
	if n.Op != MatMul2 || len(n.Shape) != 2 {
		return nil, nil
	}
	t := n.Args[0]
	if t.Op == Permute && slices.Equal(t.Attrs.(Order), Order{1, 0}) {
		return t.Args[0], n.Args[1]
	}
	return swapLast(t), n.Args[1]
}

func branchVJP(v *VJP) {
	a := v.Node.Attrs.(Branches)
	var wrt []int
	for i := 1; i < len(v.X); i++ {
		if v.Need[i] && v.X[i].DType.Differentiable() {
			wrt = append(wrt, i-1)
		}
	}
	var given []int // results with a gradient
	outer := slices.Clone(v.X)
	for i, d := range v.DYs {
		if d != nil && !isZero(d) {
			given = append(given, i)
			outer = append(outer, d)
		}
	}
	if len(wrt) == 0 || len(given) == 0 {
		return
	}
	sums := 0
	if a.Ordered {
		sums = len(wrt) - rowsFirst(wrt, 0, a.Then, a.Else)
		for _, i := range wrt[len(wrt)-sums:] {
			outer = append(outer, nothing(v.Node.Graph, a.Then.Args[i], true))
		}
	}
	side := func(f *Function) *Function {
		g := ir.New()
		types := slices.Clone(f.Args)
		for _, i := range given {
			types = append(types, f.Results[i])
		}
		for _, i := range wrt[len(wrt)-sums:] {
			types = append(types, f.Args[i])
		}
		in := make([]*ir.Node, len(types))
		for i, t := range types {
			in[i] = g.Input(i, t.DType, t.Shape)
		}
		dys := make([]*ir.Node, len(f.Results))
		for k, i := range given {
			dys[i] = in[len(f.Args)+k]
		}
		starts := make([]*ir.Node, len(f.Args))
		for k, i := range wrt[len(wrt)-sums:] {
			starts[i] = in[len(in)-sums+k]
		}
		grads := f.gradients(g, in[:len(f.Args)], nil, dys, wrt, starts)
		for k, i := range wrt {
			if grads[k] == nil {
				if grads[k] = starts[i]; grads[k] == nil {
					grads[k] = zeros(g, f.Args[i])
				}
			}
		}
		return NewFunction(types, grads)
	}
	res := ApplyAll(Branch, Branches{Then: side(a.Then), Else: side(a.Else), Ordered: a.Ordered, Sums: sums}, outer...)
	for k, i := range wrt {
		v.Set(i+1, func() *ir.Node { return res[k] })
	}
}
