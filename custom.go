package weft

import (
	"slices"

	"fmt"

	"weft/internal/array"
)

// A Func is an operation with a gradient of one's own.
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
	// result. With GradOpts.Create its operations are recorded.
	Backward func(c *FuncContext, dy *Tensor) []*Tensor
	// Once marks a Backward whose operations must not be differentiated again.
	Once bool
}

// A FuncContext carries what Forward saved to Backward.
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
		t.notNil("save")
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
	ops := make([]operand, len(x))
	hidden := make([]*Tensor, len(x))
	for i, t := range x {
		if t == nil {
			array.Failf(f.Name, "", "argument %d is nil", i)
		}
		ops[i].t = t
		hidden[i] = t.NoGrad()
	}
	c := &FuncContext{Need: make([]bool, len(x))}
	y := f.Forward(c, hidden...)
	if y == nil {
		array.Failf(f.Name, "", "Forward returned nil")
	}
	out := &Tensor{v: y.v, run: mergeRuns(f.Name, ops)}
	out.view = y.view || slices.ContainsFunc(x, func(t *Tensor) bool { return t.v.Store == y.v.Store })
	if !out.run.gradOn() || !y.v.DType.Differentiable() {
		return out
	}
	n := &gradNode{seq: tapeSeq.Add(1), name: f.Name, dtype: y.v.DType, shape: y.v.Shape, in: make([]*gradNode, len(x))}
	for i, t := range x {
		n.in[i] = t.node()
		c.Need[i] = n.in[i] != nil
	}
	some := false
	for _, need := range c.Need {
		some = some || need
	}
	if !some {
		return out
	}
	for _, s := range c.saved {
		v := savedValue{v: s.v, arg: -1}
		for i, t := range x {
			if s.v.Same(&t.v) {
				v.arg, v.from = i, n.in[i]
			}
		}
		v.result = s.v.Same(&y.v)
		n.save(v)
	}
	n.back = func(saved []savedValue, dy *Tensor, create bool) []*Tensor {
		return f.backward(n, c, saved, dy, create)
	}
	out.setNode(n)
	return out
}

func (f *Func) backward(n *gradNode, c *FuncContext, saved []savedValue, dy *Tensor, create bool) []*Tensor {
	if create && f.Once {
		array.Failf("backward", "", "%s has no second derivative", f.Name)
	}
	use := &FuncContext{Need: c.Need, Create: create}
	r := &run{noGrad: !create}
	if dy.run != nil {
		r.scope = dy.run.scope
	}
	for i := range saved {
		s := &saved[i]
		t := &Tensor{v: s.v, run: r}
		from := s.from
		if s.result {
			from = n
		}
		if create && from != nil {
			t.hist = &history{node: from}
		}
		use.saved = append(use.saved, t)
	}
	if !create {
		dy = dy.NoGrad()
	}
	if f.Backward == nil {
		array.Failf(f.Name, "", "has no Backward")
	}
	gs := f.Backward(use, dy)
	if len(gs) != len(n.in) {
		array.Failf(f.Name, "", "Backward returned %d gradients for %d arguments", len(gs), len(n.in))
	}
	for i, g := range gs {
		if g == nil || n.in[i] == nil {
			continue
		}
		g.check(f.Name)
		if g.v.DType != n.in[i].dtype || !array.Equal(g.v.Shape, n.in[i].shape) {
			array.Failf(f.Name, "", "Backward returned %s as gradient of argument %d, which is %s",
				array.TypeString(g.v.DType, g.v.Shape), i, fmt.Sprint(n.in[i].dtype, array.ShapeString(n.in[i].shape)))
		}
	}
	return gs
}
