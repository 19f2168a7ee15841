package exec

import (
	"fmt"
	"time"

	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/op"
	"weft/internal/plan"
	"weft/internal/profile"
)

// profiled returns what profiles say of a step, nil of a loop or branch: its inner steps are
// seen.
func (c *Compiled) profiled(i int) *profile.Step {
	steps := c.seen.Load()
	if steps == nil {
		all := make([]profile.Step, len(c.Plan.Steps))
		for i := range all {
			c.describe(&all[i], i)
		}
		// Launches that are handed over together are seen as one.
		for i := range all {
			if n := c.Plan.Steps[i].Concurrent; n > 1 {
				all[i] = sideBySide(all[i : i+n])
			}
		}
		c.seen.CompareAndSwap(nil, &all)
		steps = c.seen.Load()
	}
	if c.inner != nil && c.inner[i] != nil {
		return nil
	}
	return &(*steps)[i]
}

// Costs returns what a recorder saw of the steps of the plan.
func (c *Compiled) Costs(r *profile.Recorder) []profile.Total {
	_, seen, _, _, _ := r.Snapshot()
	out := make([]profile.Total, len(c.Plan.Steps))
	for i := range out {
		if s := c.profiled(i); s != nil {
			out[i] = seen[s]
		}
	}
	return out
}

// describe fills in what profiles say of a step.
func (c *Compiled) describe(s *profile.Step, i int) {
	st := &c.Plan.Steps[i]
	s.Device = c.dev.Number()
	if c.Lines != nil {
		s.Lines = c.Lines(st)
	}
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
	if t := st.Epilogue; t != nil {
		s.Name += fmt.Sprintf(", %s", t.Prog.Name)
		s.Bytes += t.Bytes()
		s.Flops += t.Flops
	}
}

// sideBySide describes launches that are handed over as one.
func sideBySide(steps []profile.Step) profile.Step {
	all := profile.Step{Device: steps[0].Device, Name: steps[0].Name, Shape: steps[0].Shape, Routine: steps[0].Routine}
	if n := len(steps); n > 1 {
		all.Name, all.Shape = fmt.Sprintf("%s, %d side by side", all.Name, n), ""
	}
	for i := range steps {
		s := &steps[i]
		all.Bytes += s.Bytes
		all.Lines = append(all.Lines, s.Lines...)
		all.Flops += s.Flops
		all.Double = all.Double || s.Double
		all.Interpreted = all.Interpreted || s.Interpreted
	}
	return all
}

// onStream lets a profile ask the device for times, where that works late and has a clock.
func onStream(call *profile.Call, s device.Stream) {
	if n, ok := s.(interface{ Number() int }); ok {
		call.On(stream{s, n.Number()})
	}
}

// A stream is a device's stream with its number, for profiles.
type stream struct {
	device.Stream
	number int
}

func (s stream) Number() int        { return s.number }
func (s stream) Mark() profile.Mark { return mark{s.Record(true)} }

// A mark is an event for profiles.
type mark struct{ device.Event }

func (m mark) Since(start profile.Mark) (time.Duration, error) {
	return m.Event.Since(start.(mark).Event)
}
