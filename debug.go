package weft

import (
	"reflect"

	"weft/internal/array"
	"weft/internal/core"
)

// DebugOpts are the options of [Compiled.Debug].
type DebugOpts struct {
	// Verify holds the compiler to account in the first call of each program, on copies of what
	// it is called with: every rewrite is computed before and after, every kernel and routine is
	// run by the interpreter too, and the whole is run on inputs and into results of
	// other strides. What differs is an error that names the rule or the kernel.
	Verify bool
	// NaN stops a call at the first operation that makes a NaN of arguments without one.
	NaN bool
	// Watch is called after each operation of a call.
	Watch func(s DebugStep)
}

// A DebugStep is an operation that a call of a compiled function has done.
type DebugStep struct {
	Op    string  // with its attributes, such as "reduce_sum{1:2}"
	Line  string  // of the user, as "train.go:17"; "" if it is not known
	Value *Tensor // its result, which must not be written into
}

// Debug returns the function compiled anew in a way that shows what happens inside: slower,
// for one operation runs after the other where [DebugOpts] ask for values, with the same
// results to the bit. A call that finds a fault returns an *[Error].
//
//	checked := step.Debug(weft.DebugOpts{Verify: true, NaN: true})
//	loss, err := checked.Call(x, y) // log gives NaN: 3 of 60 elements, ... (at train.go:17)
func (c *Compiled[F]) Debug(opts ...DebugOpts) *Compiled[F] {
	o := array.Options("debug", opts)
	c.notNil("debug")
	d := newGoFunc(reflect.ValueOf(c.fn))
	d.Name, d.Level, d.Debug = c.c.Name, c.c.Level, o.debugging()
	return &Compiled[F]{fn: c.fn, c: d}
}

func (o *DebugOpts) debugging() *core.Debugging {
	d := &core.Debugging{Verify: o.Verify, Nan: o.NaN}
	if f := o.Watch; f != nil {
		d.Watch = func(op, line string, value *core.Tensor) { f(DebugStep{op, line, (*Tensor)(value)}) }
	}
	return d
}
