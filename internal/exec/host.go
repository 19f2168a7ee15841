package exec

import (
	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/ir"
	"weft/internal/plan"
)

// Routine returns what computes a routine on a device: the device's own code, else the host's, on
// copies of the memory. nil means that neither has one.
func Routine(d device.Device, id ir.RoutineID) device.Routine {
	if r := d.Routine(id); r != nil {
		return r
	}
	host := d.Fallback()
	if host == nil {
		return nil
	}
	r := host.Routine(id)
	if r == nil {
		return nil
	}
	counters := d.Counters()
	return func(c *device.Call) error {
		counters.Fallbacks.Add(1)
		return onHost(host, r, c)
	}
}

// onHost calls a routine of the host for a call on another device: it copies the arguments to
// the host, waits for them, computes, and copies the results back. An epilogue runs on the device
// afterwards.
func onHost(host device.Device, r device.Routine, c *device.Call) error {
	call := &device.Call{Stream: host.Default(), Node: c.Node, Args: make([]array.View, len(c.Args)), Out: make([]array.View, len(c.Out))}
	for i := range c.Args {
		v, err := fetch(host, c.Stream, &c.Args[i])
		if err != nil {
			return err
		}
		call.Args[i] = v
	}
	if err := c.Stream.Sync(); err != nil {
		return err
	}
	for i := range c.Out {
		if call.Out[i] = c.Out[i]; c.Out[i].Store != nil {
			call.Out[i].Store, call.Out[i].Offset = call.Stream.Alloc(c.Out[i].Size()*c.Out[i].DType.Size()), 0
		}
	}
	if err := r(call); err != nil {
		return err
	}
	if err := call.Stream.Sync(); err != nil {
		return err
	}
	for i := range c.Out {
		if c.Out[i].Store == nil {
			continue
		}
		if err := move(c.Stream, &c.Out[i], &call.Out[i]); err != nil {
			return err
		}
	}
	if c.Epilogue.Program != nil {
		return c.Stream.Launch(c.Epilogue.Launch)
	}
	return nil
}

// fetch issues a copy of what a view spans to memory of the host, and returns the view there.
func fetch(host device.Device, s device.Stream, v *array.View) (array.View, error) {
	w := *v
	lo, hi := v.Span()
	size := v.DType.Size()
	w.Store, w.Offset = host.Default().Alloc((hi-lo)*size), v.Offset-lo
	if lo == hi {
		return w, nil
	}
	return w, s.Copy(device.Ref{Store: w.Store}, device.Ref{Store: v.Store, Offset: lo * size}, (hi-lo)*size)
}

// lateErrors returns, for each step, what completes an error that a device finds after the step was
// issued. The CPU needs none.
func (c *Compiled) lateErrors() []func(error) error {
	if c.dev.Fallback() == nil {
		return nil
	}
	all := make([]func(error) error, len(c.Plan.Steps))
	for i := range all {
		st := &c.Plan.Steps[i]
		all[i] = func(err error) error { return c.named(st, err) }
	}
	return all
}

// named returns the error of a step with the name of what failed.
func (c *Compiled) named(st *plan.Step, err error) error {
	if c.Failed != nil {
		return c.Failed(st, err)
	}
	if e, ok := err.(*array.Error); ok {
		return c.ofOp(e)
	}
	return err
}

// ofOp returns an error with the name of what runs, unless it names an operation. A device that
// does not know one says "device" or "alloc".
func (c *Compiled) ofOp(e *array.Error) *array.Error {
	if e.Op != "" && e.Op != "device" && e.Op != "alloc" {
		return e
	}
	named := *e
	named.Op = c.Name
	return &named
}

// lateOf returns what completes a late error of step i.
func (c *Compiled) lateOf(i int) func(error) error {
	if c.late == nil {
		return nil
	}
	return c.late[i]
}
