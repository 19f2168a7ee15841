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

// Derivatives of Go functions of tensors. A function computes with methods and with what
// it captures, as any other; other arguments are captured:
//
//	j := weft.Jacobian(func(x *weft.Tensor) *weft.Tensor { return model.Forward(x) }, x)
//
// What they return is itself differentiable, by x if that requires a gradient and by
// captured tensors that do, so that they nest.

// VJP computes y = f(x) and returns it with the function that gives, for a gradient dy of
// y, of its shape and type, that of x: dy times the Jacobian. It may be called many times.
func VJP(f func(x *Tensor) *Tensor, x *Tensor) (y *Tensor, pull func(dy *Tensor) *Tensor) {
	d := derive("vjp", f, x)
	return d.result(d.y), func(dy *Tensor) *Tensor {
		dy.c().Check("vjp")
		if dy.v().DType != d.y.v().DType || !array.Equal(dy.v().Shape, d.y.v().Shape) {
			array.Failf("vjp", "dy", "is %s, the result %s", array.TypeString(dy.v().DType, dy.v().Shape), array.TypeString(d.y.v().DType, d.y.v().Shape))
		}
		o := core.WalkOpts{Seeds: core.Inner([]*Tensor{dy}), Retain: true, Create: d.create || dy.RequiresGrad() && core.GradOn()}
		return d.result(d.grad(d.y, d.x, o))
	}
}

// JVP computes y = f(x) and how y changes where x changes by v, which has its shape and
// type: the Jacobian times v.
func JVP(f func(x *Tensor) *Tensor, x, v *Tensor) (y, dy *Tensor) {
	d := derive("jvp", f, x)
	v.c().Check("jvp")
	if v.v().DType != x.v().DType || !array.Equal(v.v().Shape, x.v().Shape) {
		array.Failf("jvp", "v", "is %s, x %s", array.TypeString(v.v().DType, v.v().Shape), array.TypeString(x.v().DType, x.v().Shape))
	}
	u, g := d.transposed()
	if g == nil {
		return d.result(d.y), d.result(d.zeros(d.y.v().Shape))
	}
	o := core.WalkOpts{Seeds: core.Inner([]*Tensor{v}), Create: d.create || v.RequiresGrad() && core.GradOn()}
	return d.result(d.y), d.result(d.grad(g, u, o))
}

// Jacobian returns the derivatives of each element of f(x) by each element of x, in the
// shape of f(x) followed by that of x. Rows are computed at once, not one after the other:
// every operation on the way runs once; where x has fewer elements than f(x), columns are.
func Jacobian(f func(x *Tensor) *Tensor, x *Tensor) *Tensor {
	return jacobian("jacobian", f, x)
}

// Hessian returns the second derivatives of f(x), which has one element, by each two
// elements of x, in the shape of x twice.
func Hessian(f func(x *Tensor) *Tensor, x *Tensor) *Tensor {
	return jacobian("hessian", slope("hessian", f), x)
}

// HessianVector returns the product of the Hessian of f at x with v, which has the shape
// and type of x, in the time of a few evaluations of f and without the Hessian.
func HessianVector(f func(x *Tensor) *Tensor, x, v *Tensor) *Tensor {
	x.c().Check("hessianvector")
	v.c().Check("hessianvector")
	if v.v().DType != x.v().DType || !array.Equal(v.v().Shape, x.v().Shape) {
		array.Failf("hessianvector", "v", "is %s, x is %s", array.TypeString(v.v().DType, v.v().Shape), array.TypeString(x.v().DType, x.v().Shape))
	}
	_, pull := VJP(slope("hessianvector", f), x) // the Hessian is symmetric
	return pull(v)
}

// slope is the gradient of a function with a result of one element.
func slope(name string, f func(x *Tensor) *Tensor) func(x *Tensor) *Tensor {
	return func(x *Tensor) *Tensor {
		d := derive(name, f, x)
		if d.y.Size() != 1 {
			array.Failf(name, "f", "returns shape %s, want one element", array.ShapeString(d.y.v().Shape))
		}
		one := core.Full("full", core.Whole(1), d.y.v().Store.Device, d.y.v().DType, d.y.v().Shape)
		return d.grad(d.y, d.x, core.WalkOpts{Seeds: core.Inner([]*Tensor{(*Tensor)(one)}), Create: true})
	}
}

func jacobian(name string, f func(x *Tensor) *Tensor, x *Tensor) *Tensor {
	d := derive(name, f, x)
	if d.x.v().DType.Complex() || d.y.v().DType.Complex() {
		array.Failf(name, "", "is not defined for complex numbers: %s by %s", d.y.v().DType, d.x.v().DType)
	}
	m, n := d.y.Size(), d.x.Size()
	shape := append(slices.Clone(d.y.v().Shape), d.x.v().Shape...)
	array.CheckShape(name, shape, d.x.v().DType)
	if d.y.c().Node() == nil || m == 0 || n == 0 {
		return d.result(d.zeros(shape))
	}
	if n < m {
		if u, g := d.transposed(); g != nil {
			t := d.rows(name, g, u, n)
			return d.result((*Tensor)(t.Reshape(n, m).T().Reshape(shape...).c().Own()))
		}
		return d.result(d.zeros(shape))
	}
	return d.result((*Tensor)(d.rows(name, d.y, d.x, m).Reshape(shape...).c().Own()))
}

// A derivation is a function applied to a tensor that gradients flow to.
type derivation struct {
	name   string
	x, y   *Tensor
	create bool // derivatives are recorded
}

func derive(name string, f func(x *Tensor) *Tensor, x *Tensor) *derivation {
	x.c().Check(name)
	if f == nil {
		array.Failf(name, "f", "is nil")
	}
	if !x.v().DType.Differentiable() {
		array.Failf(name, "x", "holds %s: only floats have derivatives", x.v().DType)
	}
	d := &derivation{name: name}
	outer := core.GradOn() && x.c().Node() != nil
	if outer {
		d.x = x.Reshape(x.v().Shape...) // a node of its own on the same tape
	} else {
		d.x = x.Detach().RequireGrad()
	}
	core.Recording(true, func() { d.y = f(d.x) })
	d.y.c().Check(name)
	if !d.y.v().DType.Differentiable() {
		array.Failf(name, "f", "returns %s: only floats have derivatives", d.y.v().DType)
	}
	d.create = core.GradOn() && (outer || othersLead(d.y.c().Node(), d.x.c().Node()))
	return d
}

// othersLead reports that n was computed from leaves beside what came by way of x.
func othersLead(n, x *core.GradNode) bool {
	todo, seen := []*core.GradNode{n}, map[*core.GradNode]bool{nil: true, x: true}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[n] {
			continue
		}
		seen[n] = true
		if n.Leaf != nil {
			return true
		}
		todo = append(todo, n.In...)
	}
	return false
}

// result is what the caller gets: without history where x has no gradients.
func (d *derivation) result(t *Tensor) *Tensor {
	if d.create {
		return t
	}
	return (*Tensor)(core.New(t.c().DetachedView(), d.x.c().Run(), nil, t.c().Shared() || t.v().Store == d.x.v().Store))
}

// zeros is a derivative of what does not depend on x.
func (d *derivation) zeros(shape []int) *Tensor {
	z := core.Full(d.name, core.Whole(0), d.x.v().Store.Device, d.x.v().DType, shape)
	t := (*Tensor)(core.New(*z.View(), d.x.c().Run(), nil, false))
	t.c().Track()
	return t
}

// grad is the gradient of y by x, zeros if there is none.
func (d *derivation) grad(y, x *Tensor, o core.WalkOpts) *Tensor {
	if y.c().Node() == nil {
		return d.zeros(x.v().Shape)
	}
	o.AllowUnused = true
	if g := core.Walk(d.name, core.Inner([]*Tensor{y}), core.Inner([]*Tensor{x}), o)[0]; g != nil {
		return (*Tensor)(g)
	}
	return d.zeros(x.v().Shape)
}

// transposed returns u, of the shape of y, and the gradient of x for the gradient u of y,
// which is linear in u: its derivative by u is that of y by x, turned. Both are nil if y
// does not depend on x.
func (d *derivation) transposed() (u, g *Tensor) {
	z := core.Full(d.name, core.Whole(0), d.y.v().Store.Device, d.y.v().DType, d.y.v().Shape)
	u = ((*Tensor)(core.New(*z.View(), d.x.c().Run(), nil, false))).RequireGrad()
	if d.y.c().Node() == nil {
		return nil, nil
	}
	g = (*Tensor)(core.Walk(d.name, core.Inner([]*Tensor{d.y}), core.Inner([]*Tensor{d.x}), core.WalkOpts{Seeds: core.Inner([]*Tensor{u}), Create: true, AllowUnused: true})[0])
	if g == nil || g.c().Node() == nil {
		return nil, nil
	}
	return u, g
}

// rows is the derivative of the m elements of y by x, a row each.
func (d *derivation) rows(name string, y, x *Tensor, m int) *Tensor {
	seeds := y.Device().Eye(m).To(y.v().DType).Reshape(append([]int{m}, y.v().Shape...)...)
	g := core.WalkRows(name, core.Inner([]*Tensor{y}), core.Inner([]*Tensor{x}), core.WalkOpts{Seeds: core.Inner([]*Tensor{(*Tensor)(seeds)}), Create: d.create, AllowUnused: true}, m)[0]
	if g == nil {
		return d.zeros(append([]int{m}, x.v().Shape...))
	}
	return (*Tensor)(g)
}

// Unmapped is the axis, for [Vmap], of an argument that is the same for all examples.
const Unmapped = math.MinInt

// Vmap turns f, a function of one example, into a function of many at once. Each argument has
// an axis of examples. axes gives it in order: 0 where none is given, [Unmapped] for an argument
// that all examples share. The result has the axis of examples as its first. The sizes of all
// axes of examples must be equal.
//
//	distance := func(x ...*weft.Tensor) *weft.Tensor { return x[0].Sub(x[1]).Norm(2) }
//	d := weft.Vmap(distance, 0, weft.Unmapped)(points, center)
//
// A call runs f once, on tensors of one example without memory, which notes its operations. It
// computes all examples with operations that have one more axis. It loops over examples only for
// selections by masks, runs and counts of elements, and kernels that look at neighbours.
//
// Loops and branches of package sym become one loop and one branch of all examples. A loop that
// ends at its own step for each example goes on to the last such step. A branch computes the sides
// that some example takes, unless Go functions are called in them.
//
// The result is differentiable by the arguments and by what f captures. [Grad] and [Jacobian]
// may be used inside f. Mapped functions may be mapped and compiled.
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
	tr, end := core.TraceInside()
	defer end()
	began := core.TapeSeq.Load()
	args := make([]*Tensor, len(xs))
	for i, t := range xs {
		shape := t.v().Shape
		if lead[i] {
			shape = shape[1:]
		}
		tr.Device = t.v().Store.Device
		v := array.View{DType: t.v().DType, Shape: shape, Strides: array.RowMajor(shape), Store: tr.Storage(array.Size(shape) * t.v().DType.Size())}
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
			array.Failf("vmap", "f", "writes into a tensor that it captures, %s%s", array.TypeString(s.At.DType, s.At.Shape), core.At(s.PC))
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
	tr.Reached("vmap", y.c().Node(), began)
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
	// Functions of Go in the graph are of this call alone, and may hold much: a factorization its factors.
	unkept := core.CallsHost([]*ir.Node{out})
	d := &op.Def{Name: "vmap", Unkept: unkept, Hash: core.Mix(0x3a9, core.RowsSeq.Add(1)), Class: op.Composite, Arity: -1, Attrs: op.Count(0), Composed: op.Composed{Compose: compose}}
	if !unkept {
		m.defs[key] = d
	}
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

// Control flow by tensors. Outside [Compile] and [Vmap], the functions below are plain Go: loops and ifs
// whose operations the tape records. Inside, the Go functions that they take run once each and become
// parts of the program, which runs them as often as the elements say. Both give the same bits.
//
// What these functions capture they may read, and gradients flow to it. In a compiled function they must
// not write in place into what they are given or capture, call Backward, or count steps of optimizers.
// That panics with *[Error].

// Cond returns what then makes where pred, a Bool of no dimensions, holds, else what els makes. Only one of
// the two is computed; both must give lists of the same types and shapes. [Where] chooses element by
// element. In a compiled function neither may draw random numbers. It panics with *[Error] where pred
// has another type, and in a compiled function where the results differ in type.
func Cond(pred *Tensor, then, els func() []*Tensor) []*Tensor {
	const name = "cond"
	defer array.Named(name).End()
	condition(name, "pred", pred)
	if then == nil || els == nil {
		array.Failf(name, "", "a function is nil")
	}
	if core.TracingViews(pred.v()) != nil {
		return core.Outer[Tensor](core.Branch(name, pred.c(), listed(name, then), listed(name, els)))
	}
	f := els
	if pred.bool() {
		f = then
	}
	return core.Outer[Tensor](listed(name, f)())
}

// WhileOpts are the options of [While].
type WhileOpts struct {
	// Max is the number of steps after which the loop ends in any case; 0 is no bound. A loop of a
	// compiled function has gradients only with a bound, up to which it keeps its states.
	Max int
}

// While returns the state that body has made of init when cond, a Bool of no dimensions, does not hold any
// more: it repeats state = body(state) while cond(state) holds. Each step gives tensors of the types and
// shapes of init. Functions must not write in place into the state: that panics. In a compiled function they must not draw random numbers, and the loop
// has gradients only with a Max. It panics with *[Error] where types or shapes differ.
//
//	root := weft.While(func(s []*weft.Tensor) *weft.Tensor { return s[0].Square().Sub(x).Abs().Gt(1e-6) },
//		func(s []*weft.Tensor) []*weft.Tensor { return []*weft.Tensor{s[0].Add(x.Div(s[0])).Div(2)} },
//		[]*weft.Tensor{x})
func While(cond func(s []*Tensor) *Tensor, body func(s []*Tensor) []*Tensor, init []*Tensor, opts ...WhileOpts) []*Tensor {
	const name = "while"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	if cond == nil || body == nil {
		array.Failf(name, "", "a function is nil")
	}
	if o.Max < 0 {
		array.Failf(name, "Max", "%d is negative", o.Max)
	}
	state := givenState(name, init)
	holds := func(s []*Tensor) *Tensor {
		var c *Tensor
		core.Keeping(name, stateName, core.Inner(s), func() { c = cond(slices.Clone(s)) })
		condition(name, "cond", c)
		return c
	}
	step := func(s []*Tensor) []*Tensor {
		next, _ := stepped(name, s, func(s []*Tensor) (next, out []*Tensor) { return body(s), nil })
		return next
	}
	if core.TracingHere() == nil {
		for i := 0; (o.Max == 0 || i < o.Max) && holds(state).bool(); i++ {
			state = step(state)
		}
		return state
	}
	l := core.Looped{Steps: o.Max, Init: core.Inner(state), Until: true, Unbounded: o.Max == 0}
	if l.Unbounded {
		l.Steps = core.MostSteps
	}
	l.Count = Where(holds(state), int64(l.Steps), int64(0)).To(Int64).c()
	last, _ := l.Run(name, func(_ *core.Tensor, s []*core.Tensor) []*core.Tensor {
		next := step(core.Outer[Tensor](s))
		return core.Inner(append(next, holds(next).LogicalNot()))
	})
	return core.Outer[Tensor](last)
}

// ScanSteps runs n steps. Each takes its number, from 0 on, an int64 of no dimensions, and the state, and
// gives the next state, of the types and shapes of init, and any further tensors. It returns the last
// state, and the further tensors of all steps along a new first axis. Functions must not write in place
// into the state. Steps may draw random numbers, in a compiled function too. Gradients have the same bits
// there. Last digits may differ by what both is the first state and is captured, and by a
// captured view that is used outside too. It panics with *[Error] where n is negative or types or shapes
// differ.
func ScanSteps(n int, step func(i *Tensor, state []*Tensor) (next, out []*Tensor), init []*Tensor) (last, outs []*Tensor) {
	const name = "scansteps"
	defer array.Named(name).End()
	if n < 0 {
		array.Failf(name, "n", "%d is negative", n)
	}
	if step == nil {
		array.Failf(name, "step", "is nil")
	}
	state := givenState(name, init)
	one := func(i *Tensor, s []*Tensor) (next, out []*Tensor) {
		return stepped(name, s, func(s []*Tensor) (next, out []*Tensor) {
			core.Keeping(name, "its number", core.Inner([]*Tensor{i}), func() { next, out = step(i, s) })
			return next, out
		})
	}
	if core.TracingHere() != nil {
		l := core.Looped{Steps: n, Init: core.Inner(state), Index: true}
		a, b := l.Run(name, func(i *core.Tensor, s []*core.Tensor) []*core.Tensor {
			next, out := one((*Tensor)(i), core.Outer[Tensor](s))
			return core.Inner(slices.Concat(next, out))
		})
		return core.Outer[Tensor](a), core.Outer[Tensor](b)
	}
	return scanned(n, one, state)
}

// scanned is ScanSteps by a Go loop.
func scanned(n int, step func(i *Tensor, s []*Tensor) (next, out []*Tensor), state []*Tensor) (last, outs []*Tensor) {
	dev := CPU
	if len(state) > 0 {
		dev = state[0].Device()
	}
	if n == 0 { // the types of what steps give
		types := make([]ir.Type, len(state))
		for i, t := range state {
			types[i] = ir.Type{DType: t.v().DType, Shape: t.v().Shape}
		}
		kept := core.Infer(types, func(ts []*core.Tensor) []*core.Tensor {
			_, out := step(ScalarOf(Int64, int64(0)), core.Outer[Tensor](ts))
			return core.Inner(out)
		})
		for _, t := range kept {
			outs = append(outs, dev.ZerosOf(t.DType, append([]int{0}, t.Shape...)...))
		}
		return state, outs
	}
	var by [][]*Tensor
	for i := range n {
		next, out := step(dev.FullOf(Int64, int64(i)), state)
		state = next
		for k, t := range out {
			if i == 0 {
				by = append(by, nil)
			}
			if k >= len(by) {
				array.Failf("scansteps", "step", "gives %d further tensors, the first step gave %d", len(out), len(by))
			}
			by[k] = append(by[k], t)
		}
	}
	for k, list := range by {
		if len(list) != n {
			array.Failf("scansteps", "step", "gives its further tensor %d in %d of %d steps", k, len(list), n)
		}
		outs = append(outs, Stack(list, 0))
	}
	return state, outs
}

// condition refuses what is not a Bool of no dimensions.
func condition(name, arg string, c *Tensor) {
	c.c().Check(name)
	if c.v().DType != Bool || c.Rank() != 0 {
		array.Failf(name, arg, "is %s, want a bool of no dimensions", array.TypeString(c.v().DType, c.v().Shape))
	}
}

// listed is f as a function whose results are there.
func listed(name string, f func() []*Tensor) func() []*core.Tensor {
	return func() []*core.Tensor {
		ts := f()
		if len(ts) == 0 {
			array.Failf(name, "", "a function gives no tensor")
		}
		for _, t := range ts {
			t.c().Check(name)
		}
		return core.Inner(ts)
	}
}

// givenState is a copy of the list of what a loop begins with.
func givenState(name string, init []*Tensor) []*Tensor {
	if len(init) == 0 {
		array.Failf(name, "init", "is empty")
	}
	for _, t := range init {
		t.c().Check(name)
	}
	return slices.Clone(init)
}

// stateName is what errors of a write in place call a tensor of a state.
const stateName = "tensor # of the state"

// stepped takes a step. It refuses a next state of other types, and writes in place into the state.
func stepped(name string, state []*Tensor, step func(s []*Tensor) (next, out []*Tensor)) (next, out []*Tensor) {
	versions := make([]uint32, len(state))
	for i, t := range state {
		versions[i] = t.v().Store.Version()
	}
	core.Keeping(name, stateName, core.Inner(state), func() { next, out = step(slices.Clone(state)) })
	next = slices.Clone(next)
	if len(next) != len(state) {
		array.Failf(name, "", "a step gives %d tensors as its next state, which has %d", len(next), len(state))
	}
	for i, t := range state {
		n := next[i]
		n.c().Check(name)
		if n.v().DType != t.v().DType || !array.Equal(n.v().Shape, t.v().Shape) {
			array.Failf(name, "", "tensor %d of the state is %s before a step and %s after it", i, array.TypeString(t.v().DType, t.v().Shape), array.TypeString(n.v().DType, n.v().Shape))
		}
		if t.v().Store.Version() != versions[i] { // on another goroutine, or through a Go slice
			array.Failf(name, "", "a step writes in place into tensor %d of the state: Clone it first", i)
		}
	}
	for _, t := range out {
		t.c().Check(name)
	}
	return next, out
}
