package exec

import (
	"fmt"

	"weft/internal/array"
	"weft/internal/op"
	"weft/internal/plan"
	"weft/internal/profile"
)

// A profiled is what profiles say of a plan.
type profiled struct {
	steps  []profile.Step
	memory int64 // of temporaries
}

// profiled returns what profiles say of the plan, made when it first runs under one.
func (c *Compiled) profiled() *profiled {
	if p := c.seen.Load(); p != nil {
		return p
	}
	p := &profiled{steps: make([]profile.Step, len(c.Plan.Steps))}
	for i := range p.steps {
		c.describe(&p.steps[i], i)
	}
	for i := c.Plan.Inputs + len(c.Plan.Outs); i < len(c.Plan.Slots); i++ {
		if s := &c.Plan.Slots[i]; s.Last >= 0 {
			p.memory += int64(s.Bytes)
		}
	}
	c.seen.CompareAndSwap(nil, p)
	return c.seen.Load()
}

// describe fills in what profiles say of a step.
func (c *Compiled) describe(s *profile.Step, i int) {
	st := &c.Plan.Steps[i]
	if k := c.kernels[i]; k != nil {
		p, ok := k.(interface{ Interpreted() bool })
		s.Interpreted = ok && p.Interpreted()
	}
	double := func(d array.DType) { s.Double = s.Double || d == array.Float64 || d == array.Complex128 }
	if st.Kernel != nil {
		s.Name, s.Shape = st.Kernel.Prog.Name, array.ShapeString(st.Kernel.Extents)
		s.Bytes, s.Flops = st.Kernel.Bytes(), st.Kernel.Flops
		for _, b := range st.Kernel.Prog.Bufs {
			double(b.DType)
		}
		return
	}
	s.Name, s.Routine = st.Node.Op.OpName(), true
	s.Crossing = st.Node.Op == op.Copy
	if len(st.Outs) > 0 {
		s.Shape = array.ShapeString(st.Outs[0].Shape)
	}
	for _, list := range [][]plan.Operand{st.Args, st.Outs} {
		for _, o := range list {
			s.Bytes += int64(array.Size(o.Shape) * o.DType.Size())
			double(o.DType)
		}
	}
	s.Flops = op.Arithmetic(st.Node)
	if t := st.Tail; t != nil {
		s.Name += fmt.Sprintf(", %s", t.Prog.Name)
		s.Bytes += t.Bytes()
		s.Flops += t.Flops
	}
}

// together describes launches that are handed over as one.
func together(tasks []Task) *profile.Step {
	all := &profile.Step{Name: tasks[0].C.profiled().steps[0].Name}
	if n := len(tasks); n > 1 {
		all.Name += fmt.Sprintf(", %d side by side", n)
	}
	for i := range tasks {
		s := &tasks[i].C.profiled().steps[0]
		all.Bytes += s.Bytes
		all.Flops += s.Flops
		all.Double = all.Double || s.Double
		all.Interpreted = all.Interpreted || s.Interpreted
	}
	return all
}
