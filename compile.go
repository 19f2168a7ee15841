package weft

import (
	"context"
	"io"
	"reflect"

	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/graphtext"
	"weft/internal/htmlview"
	"weft/internal/profile"
)

// A Compiled is a Go function of tensors that runs as one program: see [Compile]. It is safe
// for concurrent use by several goroutines. Memory that was there before a call, of captured
// tensors, arguments and gradients of leaves, is locked while the call runs. A call that writes it
// waits for all calls, of this and of other functions, that use it. Calls that only read it run at
// once. So none sees a state between two, and no update is lost. Eager operations and [Data] do not
// wait: they must not touch memory that a call may be writing.
//
// A function of the user that runs inside a call, such as an operation of package sym, may call
// others. A call there that would wait for itself is an *[Error].
type Compiled[F any] struct {
	fn F
	c  *core.GoFunc[Tensor]
}

// Compile returns f compiled. The first [Compiled.Call] runs f once on tensors without memory,
// records its operations and makes one program of them. Later calls run that program instead of f.
// The results have the same bits as without Compile.
//
//	step := weft.Compile(func(x, y *weft.Tensor) *weft.Tensor {
//		loss := nn.CrossEntropy(net.Forward(x), y)
//		loss.Backward()
//		opt.Step()
//		opt.ZeroGrad()
//		return loss
//	})
//	loss, err := step.Call(x, y)
//
// Arguments and results may be tensors, lists of package ragged, and structs, arrays, slices and
// maps of them. An error may be the last result. Numbers, strings and pointers, such as to a
// module, are constants of the program: another value compiles anew. So does another shape, layout
// or element type. The 32 programs made last are kept. [Compiled.Why] says why there is more than
// one.
//
// Each call reads and writes tensors that f captures in place: parameters, running means, the state
// of optimizers. Learning rates, step counts and random draws are taken in each call. Each call
// sets the gradients of leaves as f does. A gradient that nobody needs after the step costs nothing
// if f clears it (ZeroGrad last).
//
// All other Go code in f runs only while it is traced, on one goroutine:
//
//   - f must not print or count.
//   - Captured Go variables keep the values, and tensors, that they had.
//   - Reading elements on the host is an error that names the line: Item, Data, Borrow, a branch on
//     elements, a selection by a mask. Printing shows type and shape.
//   - Results, and tensors that f writes, carry no gradients outside: call Backward inside f.
//   - A value that no result and no write needs is not computed, and raises no error.
//
// With the environment variable WEFT_COMPILE=off calls run f itself. Compile panics with
// *[Error] if f is not a function of such types.
func Compile[F any](f F) *Compiled[F] {
	v := reflect.ValueOf(f)
	if v.Kind() != reflect.Func || v.IsNil() {
		array.Failf("compile", "f", "is %T: want a function of tensors", f)
	}
	return &Compiled[F]{fn: f, c: core.NewGoFunc[Tensor](v)}
}

// Call calls the compiled function and returns its result, nil if it has none. A function with
// several results, or with one that is not a tensor, is called by [Compiled.Func]. The error is the
// one that f returns, or an *[Error] of the call or the trace with the line of f at fault.
func (c *Compiled[F]) Call(args ...any) (*Tensor, error) {
	c.notNil("call")
	return c.c.Call(context.Background(), args)
}

// CallContext is [Compiled.Call] that stops when ctx ends: between operations, steps of loops and
// chunks of kernels. It then returns an *[Error] that wraps the cause, and tensors that the function
// writes may be written in part.
func (c *Compiled[F]) CallContext(ctx context.Context, args ...any) (*Tensor, error) {
	c.notNil("call")
	if ctx == nil {
		return nil, array.Errorf("compile", "ctx", "is nil")
	}
	return c.c.Call(ctx, args)
}

// Func returns the compiled function as a function of f's type. It panics with *[Error] where
// Call returns one, unless the last result is an error.
func (c *Compiled[F]) Func() F {
	c.notNil("func")
	return c.c.Func().Interface().(F)
}

// Why says why the function was traced, a line each time, the latest last.
func (c *Compiled[F]) Why() string {
	c.notNil("why")
	return c.c.Reasons()
}

func (c *Compiled[F]) notNil(opName string) {
	if c == nil || c.c == nil {
		array.Failf("compile", "", "%s of a Compiled that is nil or zero (Compile makes one)", opName)
	}
}

// DebugOpts are the options of [Compiled.Debug].
type DebugOpts struct {
	// Verify checks the compiler in the first call of each program, on copies of what it is
	// called with. Every rewrite is computed before and after. Every kernel and routine is run by
	// the interpreter too. The whole is run on inputs and into results of other strides. A
	// difference is an error that names the rule or the kernel.
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
	d := core.NewGoFunc[Tensor](reflect.ValueOf(c.fn))
	d.Name, d.Level, d.Debug = c.c.Name, c.c.Level, o.debugging()
	return &Compiled[F]{fn: c.fn, c: d}
}

func (o *DebugOpts) debugging() *core.Debugging {
	d := &core.Debugging{Verify: o.Verify, NaN: o.NaN}
	if f := o.Watch; f != nil {
		d.Watch = func(op, line string, value *core.Tensor) { f(DebugStep{op, line, (*Tensor)(value)}) }
	}
	return d
}

// View writes a page of HTML that shows what Eval runs for these arguments: the graph, and
// the plan with its fused kernels, which open to loop programs and machine code and are
// coloured by the time that they take. It evaluates the formula some times for that, unless a
// [Profile] runs. Under "passes" the texts of all passes stand side by side, from the source to
// the machine code. The page is one file that loads nothing. The error is that of Eval, or of w.
func (f *Formula) View(w io.Writer, args ...any) error {
	if w == nil {
		return array.Errorf("view", "w", "is nil")
	}
	var page *htmlview.Page
	err := Try(func() {
		v, ops := f.bind(args, nil)
		p := core.Lookup(v.Def, nil, ops)
		var names graphtext.Names
		names.Inputs, names.Scalars = v.Labels()
		page = p.Page(f.f.Text, htmlview.Source{Text: f.f.Text}, names, ops)
	})
	if err != nil {
		return err
	}
	return page.Write(w)
}

// Explain returns the latest program: the graph as it was traced and as it was planned, then the
// plan. Graphs are formulas; the planned one is a tree too, with the lines of the user that nodes
// come from and the rules that made them. The plan has kernels in the loop language and their machine
// code as assembly text. It panics with *[Error] if the function was not called yet.
func (c *Compiled[F]) Explain() string {
	c.notNil("explain")
	return c.c.Shown("Explain").Explain()
}

// View writes a page of HTML that shows the latest program: the graph as it was traced and
// after each phase of rewriting, with the lines of the user, and the plan with its fused kernels,
// which open to loop programs and machine code. With a profile under which the function was
// called, which may be nil, kernels are coloured by the time that they took. Under "passes" the
// texts of all passes stand side by side. The page is one file that loads nothing. The error is that of w, or an *[Error] if the function was not called
// yet.
func (c *Compiled[F]) View(w io.Writer, p *Profile) error {
	if w == nil {
		return array.Errorf("view", "w", "is nil")
	}
	var page *htmlview.Page
	err := Try(func() {
		c.notNil("view")
		var r *profile.Recorder
		if p != nil {
			p.notNil()
			r = p.rec()
		}
		page = c.c.Shown("View").Page(&c.c.CompiledFunc, r)
	})
	if err != nil {
		return err
	}
	return page.Write(w)
}
