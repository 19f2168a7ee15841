package weft

import (
	"context"
	"fmt"
	"io"
	"reflect"
	"strings"

	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/graphtext"
	"weft/internal/htmlview"
	"weft/internal/ir"
	"weft/internal/saved"
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
// or element type: a call with a length that is new traces and plans, some microseconds for each
// operation, and compiles no kernel. The programs of late are kept: 32, or up to 256 small ones.
// [Compiled.Why] says why there is more than one.
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
//     elements, a selection by a mask. [Cond], [While] and [ScanSteps] branch and loop by elements.
//     Printing shows type and shape.
//   - Results, and tensors that f writes, carry no gradients outside: call Backward inside f, or [Grad], with
//     [GradOpts].Create for second derivatives.
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
	return c.c.Func(context.Background()).Interface().(F)
}

// Why says why the function was traced, a line each time, the latest last. A last line says how
// many programs were made and how many are kept. It is empty before the first call.
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
	// Inf stops a call at the first operation that makes an infinity of arguments without one.
	Inf bool
	// Big stops a call at the first operation that makes a number of floats above this magnitude of
	// arguments below it; infinity is above. 1e10 is usual; 0 is no limit.
	Big float64
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
	d := &core.Debugging{Verify: o.Verify, NaN: o.NaN, Inf: o.Inf, Big: o.Big}
	d.Check()
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
	return view(w, p, func() (*core.CompiledFunc, *core.Entry) {
		c.notNil("view")
		return &c.c.CompiledFunc, c.c.Shown("View")
	})
}

// view writes the page of a program.
func view(w io.Writer, p *Profile, latest func() (*core.CompiledFunc, *core.Entry)) error {
	if w == nil {
		return array.Errorf("view", "w", "is nil")
	}
	var page *htmlview.Page
	err := Try(func() {
		f, e := latest()
		page = e.Page(f, (*core.Profile)(p).Recorder())
	})
	if err != nil {
		return err
	}
	return page.Write(w)
}

// SaveOpts are the options of [Compiled.Save].
type SaveOpts struct {
	// Inputs names the tensors among the arguments, in their order, alone or with their sizes, as in
	// "x[n 784]". A size that is a name is free: calls of the program choose it, and it is the same
	// wherever the name stands. Other sizes are as in the example. Without Inputs tensors are x, or
	// x0, x1 and so on.
	Inputs []string
	// Outputs names the results: y, or y0, y1 and so on, without it.
	Outputs []string
	// Weights names tensors that the function captures. Others are constants with numbers.
	Weights map[string]*Tensor
	// File is a safetensors file beside the program that has the Weights under their names. The program
	// then refers to that file. It is empty if they are to be in the program.
	File string
}

// Save writes the function to the file at path, which [LoadProgram] and the command weft run read
// without the code of f. args are an example of a call, which is not made: f is traced for their types.
// Numbers, strings and pointers among them are constants of the program.
//
// The file holds the graph of operations, and a copy of every tensor that f captures. Tensors that a
// call writes, such as parameters, and generators of random numbers go on in the program from where they
// are now. So do counts of steps and learning rates of package optim, with its schedules. Gradients that a
// call leaves in leaves are left out.
//
//	err := predict.Save("mlp.weft", []any{x}, weft.SaveOpts{Inputs: []string{"x[n 784]"}, Weights: params})
//
// For free lengths f is traced with several sets of them, and must do the same operations with all.
// Lengths of 0 and 1 then do what longer ones do.
//
// The error is that of a file, or an *[Error]: f calls back into Go while a call runs, which the message
// lists with the lines of f, or does not do the same for all lengths.
func (c *Compiled[F]) Save(path string, args []any, opts ...SaveOpts) error {
	o := array.Options("save", opts)
	var p *core.Unwritten
	err := Try(func() {
		c.notNil("save")
		record := func(types []ir.Type, _ func(i int) int) *core.TracedGraph {
			return c.c.Record(args, func(i int) []int { return types[i].Shape })
		}
		p = core.Save(c.c.Types(args), o.names(), record)
	})
	if err != nil {
		return err
	}
	return p.Write(path, o.File, func(name string) bool { return o.Weights[name] != nil })
}

func (o *SaveOpts) names() core.SaveNames {
	return core.SaveNames{Inputs: o.Inputs, Outputs: o.Outputs, Name: func(t *core.Tensor) string {
		for name, w := range o.Weights {
			w.c().Argument("save", name)
			if w.c().Layout().Store == t.Layout().Store {
				return name
			}
		}
		return ""
	}}
}

// A Program is a function that was read from a file: see [LoadProgram]. It is safe for concurrent use by
// several goroutines, as a [Compiled].
type Program struct{ p *core.Program }

// A ProgramValue is an input or an output of a [Program].
type ProgramValue struct {
	Name  string
	DType DType
	// Shape has -1 for a free length, whose name is in Lengths. Lengths has "" for other axes.
	Shape   []int
	Lengths []string
	// Default stands for an input that a call does not give; nil: it must be given. It is one of
	// [Program.Tensors].
	Default *Tensor
}

// String is the type as text, such as float32[n 784]: ? is a size that depends on lengths.
func (v ProgramValue) String() string {
	sizes := make([]string, len(v.Shape))
	for i, n := range v.Shape {
		switch {
		case n >= 0:
			sizes[i] = fmt.Sprint(n)
		case i < len(v.Lengths) && v.Lengths[i] != "":
			sizes[i] = v.Lengths[i]
		default:
			sizes[i] = "?"
		}
	}
	return v.DType.String() + "[" + strings.Join(sizes, " ") + "]"
}

// LoadOpts are the options of [LoadProgram].
type LoadOpts struct {
	Device Device // where the program computes, and its arguments lie
}

// LoadProgram reads a function that [Compiled.Save] or sym.Fn.Save wrote. A program has tensors of its
// own, copies of those that the function captured. A file of a later version of weft, or one that is
// malformed, is an *[Error]; whatever a file holds, the program reads and writes nothing but its
// arguments and its own tensors. Large tensors are mapped, so the file must not be cut while the
// program is used.
func LoadProgram(path string, opts ...LoadOpts) (*Program, error) {
	o := array.Options("loadprogram", opts)
	p, err := saved.Read(path)
	if err != nil {
		return nil, err
	}
	var q *core.Program
	err = Try(func() { q = core.NewProgram(p, o.Device.number) })
	if err != nil {
		return nil, err
	}
	return &Program{q}, nil
}

func (p *Program) notNil(opName string) {
	if p == nil || p.p == nil {
		array.Failf(opName, "", "the program is nil or zero (LoadProgram makes one)")
	}
}

// Call runs the program and returns its results, in the order of [Program.Outputs]. Arguments are in the
// order of [Program.Inputs], of their element types and shapes. Those with a default value may be nil, or
// left out at the end. The first call for some lengths makes
// the program ready for them. The error is an *[Error].
func (p *Program) Call(args ...*Tensor) ([]*Tensor, error) {
	return p.CallContext(context.Background(), args...)
}

// CallContext is [Program.Call] that stops when ctx ends, as [Compiled.CallContext] does.
func (p *Program) CallContext(ctx context.Context, args ...*Tensor) ([]*Tensor, error) {
	if ctx == nil {
		return nil, array.Errorf("program", "ctx", "is nil")
	}
	var out []*core.Tensor
	err := Try(func() {
		p.notNil("program")
		for i, t := range args {
			if t != nil || p.p.Default(i) == nil {
				t.c().Argument(p.p.Name, fmt.Sprintf("argument %d", i))
			}
		}
		var err error
		if out, err = p.p.Call(ctx, core.Inner(args)); err != nil {
			panic(err)
		}
	})
	return core.Outer[Tensor](out), err
}

// Name returns the name of the function that was saved.
func (p *Program) Name() string {
	p.notNil("name")
	return p.p.Name
}

// OpSet returns the version of the set of operations that the file was written with.
func (p *Program) OpSet() int {
	p.notNil("opset")
	return p.p.Ops
}

// Operations returns how often the graph has each operation, also in the bodies of loops and branches.
func (p *Program) Operations() map[string]int {
	p.notNil("operations")
	return p.p.Operations()
}

// Inputs returns what the program takes.
func (p *Program) Inputs() []ProgramValue {
	p.notNil("inputs")
	list := p.values(p.p.Inputs)
	for i := range list {
		list[i].Default = (*Tensor)(p.p.Default(i))
	}
	return list
}

// Outputs returns what the program gives. The sizes are those for some lengths: a size that depends on a
// free length is -1.
func (p *Program) Outputs() []ProgramValue {
	p.notNil("outputs")
	list := make([]saved.Value, len(p.p.Program.Outputs))
	for i, o := range p.p.Program.Outputs {
		list[i] = o.Value
	}
	return p.values(list)
}

func (p *Program) values(list []saved.Value) []ProgramValue {
	out := make([]ProgramValue, len(list))
	for i := range list {
		v := &list[i]
		d, _ := array.ParseDType(v.DType)
		x := ProgramValue{Name: v.Name, DType: d, Shape: make([]int, len(v.Shape)), Lengths: make([]string, len(v.Shape))}
		for axis, s := range v.Shape {
			switch {
			case !s.Free:
				x.Shape[axis] = s.Size
			case s.Size >= 0:
				x.Shape[axis], x.Lengths[axis] = -1, p.p.Lengths[s.Size]
			default:
				x.Shape[axis] = -1
			}
		}
		out[i] = x
	}
	return out
}

// Tensors returns the program's own tensors by name: weights, constants, and what calls update. Writing
// into one changes what later calls compute.
func (p *Program) Tensors() map[string]*Tensor {
	p.notNil("tensors")
	out := map[string]*Tensor{}
	for i, t := range p.p.State {
		out[p.p.Program.State[i].Name] = (*Tensor)(t)
	}
	return out
}

// Explain returns what runs for the lengths of the latest call, as [Compiled.Explain] does. It panics
// with *[Error] if the program was not called yet.
func (p *Program) Explain() string {
	p.notNil("explain")
	_, e := p.p.Latest("Explain")
	return e.Explain()
}

// View writes a page of HTML that shows what runs for the lengths of the latest call, as
// [Compiled.View] does. The error is that of w, or an *[Error] if the program was not called yet.
func (p *Program) View(w io.Writer, prof *Profile) error {
	return view(w, prof, func() (*core.CompiledFunc, *core.Entry) {
		p.notNil("view")
		return p.p.Latest("View")
	})
}

// Save writes the program, with its tensors, generators and counts of steps as they are now, to the file
// at path. Calls that change them wait meanwhile, so that the file has the state between two calls.
func (p *Program) Save(path string) error {
	p.notNil("save")
	return p.p.Save(path)
}

// String returns the type of the function.
func (c *Compiled[F]) String() string {
	return array.Describe("weft.Compiled", "Func", fmt.Sprintf("%T", c.fn))
}

// String returns the name, inputs and outputs.
func (p *Program) String() string {
	p.notNil("string")
	return array.Describe("weft.Program", "Name", p.Name(), "Inputs", p.Inputs(), "Outputs", p.Outputs())
}
