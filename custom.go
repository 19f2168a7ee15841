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
type Func struct {
	Name string
	// Forward computes the result; nothing it does is recorded. What Backward
	// needs it gives to c.Save.
	Forward func(c *FuncContext, x ...*Tensor) *Tensor
	// Backward returns the gradient of each argument, or nil, from that of the
	// result. It has the argument's shape, and is converted to the argument's type. With
	// GradOpts.Create its operations are recorded.
	Backward func(c *FuncContext, dy *Tensor) []*Tensor
	// Once marks a Backward whose operations must not be differentiated again.
	Once bool
}

// A FuncContext carries what Forward saved to Backward. One goroutine at a time uses it.
type FuncContext struct {
	saved []*Tensor
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

// Apply computes the function of x and records it.
func (f *Func) Apply(x ...*Tensor) *Tensor {
	if f == nil || f.Forward == nil {
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
	c := &FuncContext{Need: make([]bool, len(x))}
	var y *Tensor
	core.Recording(false, func() { y = f.Forward(c, hidden...) })
	if y == nil {
		array.Failf(f.Name, "", "Forward returned nil")
	}
	out := (*Tensor)(core.New(*y.v(), core.MergeRuns(f.Name, ops), nil, false))
	out.c().SetShared(y.c().Shared() || slices.ContainsFunc(x, func(t *Tensor) bool { return t.v().Store == y.v().Store }))
	if !core.GradOn() || !y.v().DType.Differentiable() {
		return out
	}
	in, some := make([]*core.GradNode, len(x)), false
	for i, t := range x {
		in[i] = t.c().Node()
		c.Need[i] = in[i] != nil
		some = some || c.Need[i]
	}
	if !some {
		return out
	}
	// The number is taken when the operands' nodes are there: that of a view is made when it is asked for.
	n := &core.GradNode{Seq: core.TapeSeq.Add(1), In: in, NodeInfo: &core.NodeInfo{Name: f.Name, DType: y.v().DType, Shape: y.v().Shape}}
	if tr := core.TracingHere(); tr != nil && tr.Callee {
		*out.v() = f.owned(tr, c, x, y)
	}
	for _, s := range c.saved {
		v := core.SavedValue{V: *s.v(), Arg: -1}
		for i, t := range x {
			if s.v().Same(t.v()) {
				v.Arg, v.From = i, n.In[i]
			}
		}
		if v.Result = s.v().Same(y.v()); v.Result {
			v.V = *out.v()
		}
		n.Save(v)
	}
	n.Back = func(saved []core.SavedValue, dy *core.Tensor, create bool) []*core.Tensor {
		return core.Inner(f.backward(n, c, saved, (*Tensor)(dy), create))
	}
	out.c().SetNode(n)
	return out
}

func (f *Func) backward(n *core.GradNode, c *FuncContext, saved []core.SavedValue, dy *Tensor, create bool) []*Tensor {
	if create && f.Once {
		array.Failf("backward", "", "%s has no second derivative", f.Name)
	}
	use := &FuncContext{Need: c.Need, Create: create}
	for i := range saved {
		s := &saved[i]
		t := (*Tensor)(core.New(s.V, dy.c().Run(), nil, false))
		from := s.From
		if s.Result {
			from = n
		}
		if create && from != nil {
			t.c().SetHist(&core.History{Node: from})
		}
		use.saved = append(use.saved, t)
	}
	if !create {
		dy = (*Tensor)(dy.c().WithoutHistory())
	}
	if f.Backward == nil {
		array.Failf(f.Name, "", "has no Backward")
	}
	types := make([]ir.Type, len(n.In))
	for i, in := range n.In {
		if in != nil {
			types[i].DType, types[i].Shape = in.TypeOf()
		}
	}
	var gs []*Tensor
	core.Recording(create, func() { gs = f.gradients(use, dy, types) })
	return gs
}

// gradients calls Backward for arguments of types; an argument that needs no gradient has the
// zero type.
func (f *Func) gradients(c *FuncContext, dy *Tensor, types []ir.Type) []*Tensor {
	gs := f.Backward(c, dy)
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

// owned is what y, the result for x, holds in the graph of a trace, from which gradients are
// taken later: they are what Backward gives, itself a graph.
func (f *Func) owned(tr *core.Trace, c *FuncContext, x []*Tensor, y *Tensor) array.View {
	a := op.Owned{Name: f.Name, X: len(x), Once: f.Once, Why: "has no Backward"}
	args := []*ir.Node{tr.Value(y.v())}
	types := make([]ir.Type, len(x))
	for i, t := range x {
		args = append(args, tr.Operand(t.c()))
		if c.Need[i] {
			types[i] = ir.Type{DType: t.v().DType, Shape: t.v().Shape}
		}
	}
	var reads []ir.Type
	for i, s := range c.saved {
		if s.v().Same(y.v()) {
			a.Results = append(a.Results, i)
		}
		n := tr.Value(s.v())
		if !slices.Contains(args, n) { // no gradient is known of what Forward computed on the way
			n = op.Apply(op.Stop, nil, n)
		}
		args = append(args, n)
		reads = append(reads, ir.Type{DType: s.v().DType, Shape: s.v().Shape})
	}
	if f.Backward != nil {
		reads = append(reads, ir.Type{DType: y.v().DType, Shape: y.v().Shape})
		back, drawn := core.FunctionOf(f.Name, tr.Line, reads, func(given []*core.Tensor) []*core.Tensor {
			ts := core.Outer[Tensor](given)
			k := len(ts) - 1
			outs := ts[k:] // if there is no gradient
			for i, g := range f.gradients(&FuncContext{saved: ts[:k], Need: c.Need, Create: !f.Once}, ts[k], types) {
				if g != nil && c.Need[i] {
					if len(a.At) == 0 {
						outs = nil
					}
					a.At, outs = append(a.At, i), append(outs, g)
				}
			}
			return core.Inner(outs)
		})
		if len(drawn) > 0 {
			array.Failf(f.Name, "", "Backward draws random numbers in a function that is mapped or that a loop or a branch runs%s", core.Here())
		}
		a.Back = back
	}
	return tr.Result(tr.G.Node(op.Own, a, y.v().DType, y.v().Shape, false, args...))
}
