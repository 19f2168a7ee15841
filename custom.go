package weft

import (
	"fmt"
	"slices"

	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/ir"
	"weft/internal/op"
)

// A Func is an operation with a gradient of one's own. Several goroutines may apply it at once if
// its functions allow that; each application has a [FuncContext] of its own.
//
//	clip := &weft.Func{
//		Name:     "clip",
//		Forward:  func(c *weft.FuncContext, x ...*weft.Tensor) *weft.Tensor { return x[0].Clamp(-1, 1) },
//		Backward: func(c *weft.FuncContext, dy *weft.Tensor) []*weft.Tensor { return []*weft.Tensor{dy} },
//	}
//	y := clip.Apply(x)
//
// An operation of several results has ForwardAll and BackwardAll instead, and [Func.ApplyAll].
type Func struct {
	Name string
	// Forward computes the result; nothing it does is recorded. What Backward
	// needs it gives to c.Save. It may write in place into arguments that it gives to
	// c.MarkDirty.
	Forward func(c *FuncContext, x ...*Tensor) *Tensor
	// Backward returns the gradient of each argument, or nil, from that of the
	// result. It has the argument's shape, and is converted to the argument's type. With
	// GradOpts.Create its operations are recorded. A Backward that applies its own Func has two derivatives in a
	// function that is mapped, or that a loop or a branch runs.
	Backward func(c *FuncContext, dy *Tensor) []*Tensor
	// ForwardAll is a Forward of several results.
	ForwardAll func(c *FuncContext, x ...*Tensor) []*Tensor
	// BackwardAll is a Backward of the gradients of all results: nil for a result that nothing was
	// computed from, or that is not of floats. It may be called once for each result, with the others
	// nil, so it must be linear in them.
	BackwardAll func(c *FuncContext, dys []*Tensor) []*Tensor
	// Once marks a Backward whose operations must not be differentiated again.
	Once bool
}

// A FuncContext carries what Forward saved to Backward. One goroutine at a time uses it.
type FuncContext struct {
	saved []*Tensor
	dirty []*Tensor
	// Need tells Backward which arguments need a gradient.
	Need []bool
	// Create tells Backward that its operations are recorded (GradOpts.Create), so that
	// what it writes in place, or computes without gradients, has no second derivative.
	Create bool
}

// Save keeps tensors for Backward. Overwriting one before the backward pass is
// an error that the pass reports.
func (c *FuncContext) Save(ts ...*Tensor) {
	c.notNil("save")
	for _, t := range ts {
		t.c().NotNil("save")
	}
	c.saved = append(c.saved, ts...)
}

// MarkDirty says that Forward wrote in place into arguments, which must be among its results. Apply then
// returns the argument itself: what was computed from its former elements keeps its history, and the
// argument is the result of the Func from now on. A leaf that requires a gradient is refused, outside
// [WithoutGrad].
func (c *FuncContext) MarkDirty(ts ...*Tensor) {
	c.notNil("markdirty")
	for _, t := range ts {
		t.c().NotNil("markdirty")
	}
	c.dirty = append(c.dirty, ts...)
}

// Saved returns tensor i of those saved.
func (c *FuncContext) Saved(i int) *Tensor {
	c.notNil("saved")
	if i < 0 || i >= len(c.saved) {
		array.Failf("saved", "", "there is no tensor %d: Forward saved %d", i, len(c.saved))
	}
	return c.saved[i]
}

func (c *FuncContext) notNil(opName string) {
	if c == nil {
		array.Failf(opName, "", "the context is nil: Func.Apply gives one to Forward and Backward")
	}
}

// Apply computes the function of x and records it. It panics with *[Error] where the Func has several
// results.
func (f *Func) Apply(x ...*Tensor) *Tensor {
	ys := f.ApplyAll(x...)
	if len(ys) != 1 {
		array.Failf(f.Name, "", "has %d results: ApplyAll returns them", len(ys))
	}
	return ys[0]
}

// ApplyAll computes the function of x and records it. It returns all results.
func (f *Func) ApplyAll(x ...*Tensor) []*Tensor {
	if f == nil || f.Forward == nil && f.ForwardAll == nil {
		array.Failf("apply", "", "the Func is nil or has no Forward")
	}
	ops := make([]core.Operand, len(x))
	hidden := make([]*Tensor, len(x))
	for i, t := range x {
		if t == nil {
			array.Failf(f.Name, "", "argument %d is nil", i)
		}
		ops[i].T = t.c()
		t.c().Check(f.Name)
		x := t.c().DetachHere()
		hidden[i] = (*Tensor)(core.New(*x.View(), t.c().Run(), nil, true))
	}
	a := &application{f: f, x: x, c: &FuncContext{Need: make([]bool, len(x))}}
	if tr := core.TracingHere(); tr != nil && tr.Callee && core.GradOn() {
		a.callee = tr
		for _, t := range x { // before Forward may write into them
			a.before = append(a.before, tr.Value(t.v()))
		}
	}
	core.Recording(false, func() { a.ys = f.forward(a.c, hidden) })
	a.markDirty(hidden)
	run := core.MergeRuns(f.Name, ops)
	float := false
	for k, y := range a.ys {
		if y == nil {
			array.Failf(f.Name, "", "Forward returned nil")
		}
		float = float || y.v().DType.Differentiable()
		if i := a.dirty[k]; i >= 0 {
			a.outs = append(a.outs, x[i])
			continue
		}
		out := (*Tensor)(core.New(*y.v(), run, nil, false))
		out.c().SetShared(y.c().Shared() || slices.ContainsFunc(x, func(t *Tensor) bool { return t.v().Store == y.v().Store }))
		a.outs = append(a.outs, out)
	}
	if core.GradOn() && float {
		a.record()
	}
	return a.outs
}

func (f *Func) forward(c *FuncContext, x []*Tensor) []*Tensor {
	if f.ForwardAll != nil {
		return slices.Clone(f.ForwardAll(c, x...))
	}
	return []*Tensor{f.Forward(c, x...)}
}

// An application is one call of a Func.
type application struct {
	f    *Func
	c    *FuncContext
	x    []*Tensor
	ys   []*Tensor // what Forward returned
	outs []*Tensor
	// dirty is by result which argument it is, written in place, and -1 for others.
	dirty []int

	// Of a trace whose graph is differentiated later: it, and what the arguments were.
	callee *core.Trace
	before []*ir.Node
}

// markDirty finds the results that are arguments written in place. hidden are the arguments as Forward
// had them.
func (a *application) markDirty(hidden []*Tensor) {
	a.dirty = slices.Repeat([]int{-1}, len(a.ys))
	for _, d := range a.c.dirty {
		i := slices.Index(hidden, d)
		if i < 0 {
			array.Failf(a.f.Name, "", "MarkDirty is given a tensor that is not an argument")
		}
		k := slices.IndexFunc(a.ys, func(y *Tensor) bool { return y != nil && (y == d || y.v().Same(d.v())) })
		if k < 0 {
			array.Failf(a.f.Name, "", "argument %d is marked as written in place and is not among the results", i)
		}
		a.x[i].c().Writable(a.f.Name)
		a.dirty[k] = i
	}
}

// record puts the application on the tape if an argument needs a gradient.
func (a *application) record() {
	in, some := make([]*core.GradNode, len(a.x)), false
	for i, t := range a.x {
		in[i] = t.c().Node()
		a.c.Need[i] = in[i] != nil
		some = some || a.c.Need[i]
	}
	if !some {
		return
	}
	first := a.ys[0].v()
	// The number is taken when the operands' nodes are there: that of a view is made when it is asked for.
	n := &core.GradNode{Seq: core.TapeSeq.Add(1), In: in, NodeInfo: &core.NodeInfo{Name: a.f.Name, DType: first.DType, Shape: first.Shape}}
	n.NoteSite()
	if a.callee != nil {
		a.own(a.callee)
	}
	nodes := []*core.GradNode{n}
	if len(a.ys) > 1 {
		types := make([]ir.Type, len(a.ys))
		for k, y := range a.ys {
			types[k] = ir.Type{DType: y.v().DType, Shape: y.v().Shape}
		}
		nodes = n.Parts(types)
	}
	for _, s := range a.c.saved {
		v := core.SavedValue{V: *s.v(), Arg: -1}
		for i, t := range a.x {
			if s.v().Same(t.v()) {
				v.Arg, v.From = i, n.In[i]
			}
		}
		for k, y := range a.ys {
			if s.v().Same(y.v()) {
				v.V, v.Arg, v.From, v.Result = *a.outs[k].v(), -1, nodes[k], true
			}
		}
		n.Save(v)
	}
	n.Back = func(saved []core.SavedValue, dys []*core.Tensor, create bool) []*core.Tensor {
		return core.Inner(a.backward(n, saved, core.Outer[Tensor](dys), create))
	}
	for k, out := range a.outs {
		switch {
		case a.dirty[k] >= 0:
			out.c().Rebase(nodes[k])
		case nodes[k] != nil:
			out.c().SetNode(nodes[k])
		}
	}
}

func (a *application) backward(n *core.GradNode, saved []core.SavedValue, dys []*Tensor, create bool) []*Tensor {
	f := a.f
	if create && f.Once {
		array.Failf("backward", "", "%s has no second derivative", f.Name)
	}
	use := &FuncContext{Need: a.c.Need, Create: create}
	var run *core.Run
	dys = slices.Clone(dys)
	for k, dy := range dys {
		if dy == nil {
			continue
		}
		run = dy.c().Run()
		if !create {
			dys[k] = (*Tensor)(dy.c().WithoutHistory())
		}
	}
	for i := range saved {
		s := &saved[i]
		t := (*Tensor)(core.New(s.V, run, nil, false))
		if create && s.From != nil {
			t.c().SetHist(&core.History{Node: s.From})
		}
		use.saved = append(use.saved, t)
	}
	types := make([]ir.Type, len(n.In))
	for i, in := range n.In {
		if in != nil {
			types[i].DType, types[i].Shape = in.TypeOf()
		}
	}
	var gs []*Tensor
	core.Recording(create, func() { gs = f.gradients(use, dys, types) })
	return gs
}

// gradients calls Backward for arguments of types; an argument that needs no gradient has the
// zero type.
func (f *Func) gradients(c *FuncContext, dys []*Tensor, types []ir.Type) []*Tensor {
	var gs []*Tensor
	switch {
	case f.BackwardAll != nil:
		gs = f.BackwardAll(c, dys)
	case f.Backward == nil:
		array.Failf(f.Name, "", "has no Backward")
	case len(dys) != 1:
		array.Failf(f.Name, "", "has %d results and a Backward of one: BackwardAll takes the gradients of all", len(dys))
	default:
		gs = f.Backward(c, dys[0])
	}
	if len(gs) != len(types) {
		array.Failf(f.Name, "", "Backward returned %d gradients for %d arguments", len(gs), len(types))
	}
	for i, g := range gs {
		if t := types[i]; g != nil && t.DType != array.Invalid {
			g.c().Check(f.Name)
			if t.DType.Differentiable() && g.v().DType.Differentiable() && g.v().DType != t.DType {
				g = g.gradientOf(t.DType)
				gs[i] = g
			}
			if g.v().DType != t.DType || !array.Equal(g.v().Shape, t.Shape) {
				array.Failf(f.Name, "", "Backward returned %s as gradient of argument %d, which is %s",
					array.TypeString(g.v().DType, g.v().Shape), i, fmt.Sprint(t.DType, array.ShapeString(t.Shape)))
			}
		}
	}
	return gs
}

// gradientOf is t as the gradient of a value of type d, which met other types: of a real value
// it is the real part.
func (t *Tensor) gradientOf(d DType) *Tensor {
	if t.v().DType.Complex() && !d.Complex() {
		t = t.Real()
	}
	return t.To(d)
}

// own puts into the graph of a trace, from which gradients are taken later, what results hold: values with
// gradients of their own, which are what Backward gives for each of them, itself a graph.
func (a *application) own(tr *core.Trace) {
	owned := make([]array.View, len(a.ys))
	for k, y := range a.ys {
		if owned[k] = *y.v(); y.v().DType.Differentiable() {
			owned[k] = a.owned(tr, k)
		}
	}
	for k, out := range a.outs {
		if a.dirty[k] >= 0 {
			w := core.OpenWrite(out.v())
			core.CopyViews(nil, out.v(), &owned[k])
			w.Done()
		} else {
			*out.v() = owned[k]
		}
	}
}

// maxBackwards is the maximum nesting of Backwards in a trace. It bounds the order of derivatives of a Backward that
// applies its own Func, which would be traced without end.
const maxBackwards = 2

func (a *application) owned(tr *core.Trace, k int) array.View {
	f, y := a.f, a.ys[k]
	o := op.Owned{Name: f.Name, X: len(a.x), Once: f.Once, Why: "has no Backward"}
	args := []*ir.Node{tr.Value(y.v())}
	types := make([]ir.Type, len(a.x))
	for i, t := range a.x {
		if slices.Contains(a.dirty, i) {
			args = append(args, a.before[i])
		} else {
			args = append(args, tr.Operand(t.c()))
		}
		if a.c.Need[i] {
			types[i] = ir.Type{DType: t.v().DType, Shape: t.v().Shape}
		}
	}
	var reads []ir.Type
	for i, s := range a.c.saved {
		if s.v().Same(y.v()) {
			o.Results = append(o.Results, i)
		}
		n := tr.Value(s.v())
		if !slices.Contains(args, n) { // no gradient is known of what Forward computed on the way
			n = op.Apply(op.Stop, nil, n)
		}
		args = append(args, n)
		reads = append(reads, ir.Type{DType: s.v().DType, Shape: s.v().Shape})
	}
	switch {
	case f.Backward == nil && f.BackwardAll == nil:
	case tr.Backwards == maxBackwards:
		o.Why = "has no third derivative in a function that is mapped or that a loop or a branch runs"
	default:
		reads = append(reads, ir.Type{DType: y.v().DType, Shape: y.v().Shape})
		back, drawn := core.FunctionOf(f.Name, tr.Line, reads, func(given []*core.Tensor) []*core.Tensor {
			core.TracingHere().Backwards++
			ts := core.Outer[Tensor](given)
			last := len(ts) - 1
			outs := ts[last:] // if there is no gradient
			dys := make([]*Tensor, len(a.ys))
			dys[k] = ts[last]
			for i, g := range f.gradients(&FuncContext{saved: ts[:last], Need: a.c.Need, Create: !f.Once}, dys, types) {
				if g != nil && a.c.Need[i] {
					if len(o.At) == 0 {
						outs = nil
					}
					o.At, outs = append(o.At, i), append(outs, g)
				}
			}
			return core.Inner(outs)
		})
		if len(drawn) > 0 {
			array.Failf(f.Name, "", "Backward draws random numbers in a function that is mapped or that a loop or a branch runs%s", core.Here())
		}
		o.Back = back
	}
	return tr.Result(tr.G.Node(op.Own, o, y.v().DType, y.v().Shape, false, args...))
}

// String returns how many tensors are saved, and which arguments need a gradient.
func (c *FuncContext) String() string {
	return array.Describe("weft.FuncContext", "Saved", len(c.saved), "Need", c.Need)
}
