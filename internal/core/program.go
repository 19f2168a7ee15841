package core

import (
	"context"
	"fmt"
	"math"
	"slices"

	"weft/internal/array"
	"weft/internal/exec"
	"weft/internal/ir"
	"weft/internal/lock"
	"weft/internal/saved"
)

// Saved programs that can be called: a program is a [Func] whose trace builds the graph of the file.

// A Program is a saved program that can be called. It is safe for concurrent use, as a [Func].
type Program struct {
	*saved.Program
	State      []*Tensor
	generators []*Generator
	host       hostNumbers
	sizes      []*Program // one for each of [saved.Program.Sizes], with the same State
	f          *Func
}

// NewProgram makes a program of one whose state is on the host, on a device.
func NewProgram(p *saved.Program, device uint8) *Program {
	q := &Program{Program: p}
	for i := range p.State {
		t := FromView(p.State[i].View)
		if q.State = append(q.State, t.On(device)); t.v.Store.Device != device {
			continue
		}
		q.State[i] = t
	}
	for _, g := range p.Generators {
		q.generators = append(q.generators, NewGenerator(g.Seed))
		q.generators[len(q.generators)-1].state.Draw = g.Draw
	}
	for _, v := range p.Variables {
		q.host.variables = append(q.host.variables, &HostVariable{saved.Constant(v.Value)})
	}
	o := Options{Name: p.Name, Rules: p.Rewrites(), Hold: p.Hold, Label: func(s *array.Storage) string {
		for i, t := range q.State {
			if t.v.Store == s {
				return p.State[i].Name
			}
		}
		return ""
	}}
	for _, v := range p.Inputs {
		o.Args = append(o.Args, v.Name)
	}
	q.f = NewFunc(func(args []*Tensor) []*Tensor { return q.body(args, q.Bind(typesOf(args))) }, o)
	o.Name += ": size"
	for i := range p.Sizes {
		s := &Program{Program: p.Size(i), State: q.State}
		s.f = NewFunc(func([]*Tensor) []*Tensor { panic("core: a size is computed for lengths") }, o)
		q.sizes = append(q.sizes, s)
	}
	return q
}

// body builds the graph for the arguments, and lengths and sizes, in the trace that runs.
func (p *Program) body(args []*Tensor, lengths []int) []*Tensor {
	tr := TracingHere()
	if err := p.Takes(lengths); err != nil {
		if len(lengths) > 0 {
			array.Failf(p.Name, "", "cannot be computed for %s: %v", lengthsText(p.Lengths, lengths), err)
		}
		panic(err)
	}
	tensor := func(source int) *Tensor {
		if source = p.Sources[source]; source < 0 {
			return p.State[^source]
		}
		return args[source]
	}
	numbers := p.live(tr)
	first := len(tr.G.Nodes)
	outs := p.Build(tr.G, lengths, func(i int) *ir.Node { return tr.Operand(tensor(i)) }, func(o ir.Op, a ir.Attrs, d array.DType, weak bool) *ir.Node {
		x := numbers[p.NumberAt(a)]
		if x.Live == 0 {
			return tr.constant(x, d, weak)
		}
		if b, ok := a.(ir.Bounds); ok {
			b.Arg = int(x.Live - 1)
			return tr.G.Node(o, b, d, nil, weak)
		}
		return tr.G.Node(o, ir.Arg(x.Live-1), d, nil, weak)
	})
	tr.mark(first, p.Name)
	results := make([]*Tensor, len(p.Outputs))
	for i, o := range p.Outputs {
		if o.Result >= 0 {
			results[i] = &Tensor{v: tr.Result(outs[o.Result])}
		} else {
			results[i] = args[o.Input]
		}
	}
	for _, w := range p.Writes {
		t := tensor(w.Source)
		t.Writable(p.Name)
		tr.write(&t.v, outs[w.Result])
	}
	return results
}

// live returns the numbers that calls give the graph, as numbers of the trace.
func (p *Program) live(tr *Trace) []exec.Number {
	list := make([]exec.Number, len(p.Numbers))
	sets := p.Sets
	set := func(at int) {
		for ; len(sets) > 0 && sets[0].At == at; sets = sets[1:] {
			SetInCalls(p.host.variables[sets[0].Variable], p.host.number(sets[0].To))
		}
	}
	for i := 0; i < len(list); i++ {
		set(i)
		switch n := &p.Numbers[i]; n.Kind {
		case "constant":
			list[i] = exec.Number{Float: saved.Constant(n.Value), Kind: array.CatFloat}
		case "formula":
			list[i] = tr.hostNumber(p.host.number(n.Formula))
		case "seed":
			d := Drawing{From: p.generators[n.Generator], Count: n.Count, Short: n.Short}
			list[i], list[i+1] = tr.Draws(d)
			i++
		}
	}
	set(len(list))
	return list
}

// Call runs the program. A ctx that is not nil ends the call. The error is an *array.Error.
func (p *Program) Call(ctx context.Context, args []*Tensor) (ts []*Tensor, err error) {
	err = array.Try(func() {
		args = p.given(args)
		for i, t := range args {
			t.Check(p.Name)
			if t.Recorded() {
				array.Failf(p.Name, "", "argument %d needs a gradient, which does not pass through a saved program: give it as Detach()", i)
			}
		}
		lengths := p.Bind(typesOf(args))
		if TracingHere() != nil {
			if len(p.sizes) > 0 {
				array.Failf(p.Name, "", "has sizes that are values, which a function that is being traced cannot use%s", Here())
			}
			ts = p.body(args, lengths)
			return
		}
		defer p.around(ctx)()
		ts = p.run(ctx, args, p.sized(ctx, args, lengths))
	})
	return ts, err
}

// run runs the program for lengths and sizes.
func (p *Program) run(ctx context.Context, args []*Tensor, lengths []int) []*Tensor {
	g := newSupplied(ctx)
	if n := len(p.Lengths) - len(p.Sizes); len(lengths) > n {
		g.Statics = append(g.Statics, fmt.Sprint(lengths[n:]))
	}
	g.Tensors = append(g.Tensors, args...)
	_, ts := p.f.run(g, func(args []*Tensor) ([]*Tensor, any, error) {
		return recording(func(args []*Tensor) []*Tensor { return p.body(args, lengths) }, args), nil, nil
	})
	g.Free()
	return ts
}

// sized computes the sizes that are values, and returns them behind the lengths of the arguments.
func (p *Program) sized(ctx context.Context, args []*Tensor, lengths []int) []int {
	for _, s := range p.sizes {
		v, done := s.run(ctx, args, lengths)[0].Lend()
		n := IntElement(&v, v.Offset)
		if done(); n < 0 || n > math.MaxInt32 {
			array.Failf(p.Name, "", "a size is %d", n)
		}
		lengths = append(slices.Clip(lengths), int(n))
	}
	return lengths
}

// around takes the locks that make a call one step to others where sizes depend on what calls write.
func (p *Program) around(ctx context.Context) (done func()) {
	if !p.ReadsState() {
		return func() {}
	}
	wants := make([]lock.Want, len(p.State))
	for i, t := range p.State {
		wants[i] = lock.Want{Lock: &t.v.Store.Lock, Of: t.v.Store, Around: true}
	}
	for _, w := range p.Writes {
		if s := p.Sources[w.Source]; s < 0 {
			wants[^s].Write = true
		}
	}
	return Around(ctx, p.Name, wants)
}

// Default is what stands for argument i where it is not given, nil if it must be given.
func (p *Program) Default(i int) *Tensor {
	if i < len(p.Inputs) && p.Inputs[i].Default > 0 {
		return p.State[p.Inputs[i].Default-1]
	}
	return nil
}

// given returns arguments with defaults for those that are nil or missing behind the others.
func (p *Program) given(args []*Tensor) []*Tensor {
	full := args
	for i := range p.Inputs {
		d := p.Default(i)
		if i < len(args) && args[i] != nil || d == nil {
			continue
		}
		if i > len(full) {
			break // one before it is missing
		}
		full = append(full[:i:i], append([]*Tensor{d}, full[min(i+1, len(full)):]...)...)
	}
	return full
}

// Latest returns the function that runs and its latest program. It panics where there is none: what
// needs one.
func (p *Program) Latest(what string) (*CompiledFunc, *Entry) {
	return &p.f.CompiledFunc, p.f.Shown(what)
}

// Save writes the program with its state as it is now to the file at path.
func (p *Program) Save(path string) error {
	q := *p.Program
	q.State = append([]saved.State(nil), q.State...)
	for i, t := range p.State {
		q.State[i].View, q.State[i].File, q.State[i].Key = t.v, "", ""
	}
	return (&Unwritten{&q, &p.f.CompiledFunc, p.generators, p.host.variables}).Write(path, "", nil)
}

// AddDefault adds the value of an argument that is not given.
func (u *Unwritten) AddDefault(input int, t *Tensor) { u.program.AddDefault(input, t.v) }

// An Unwritten program is one with what it has of the Go program: generators and variables.
type Unwritten struct {
	program    *saved.Program
	of         *CompiledFunc
	generators []*Generator
	variables  []*HostVariable
}

// Write writes the program, whose state may lie on any device, to the file at path. Unless file is empty,
// named state is left in that file beside it. Calls wait as [Unwritten.Read] says.
func (u *Unwritten) Write(path, file string, named func(name string) bool) error {
	return u.Read(func(p *saved.Program) error {
		if file != "" {
			if err := p.Refer(path, file, named); err != nil {
				return err
			}
		}
		return p.Write(path)
	})
}

// Read calls f with the program, whose state is on the host. Calls that write state or count steps wait
// meanwhile. The state, the generators and the variables are read while they wait, so that they are of one
// moment. The error is that of f, or an *array.Error.
func (u *Unwritten) Read(f func(p *saved.Program) error) error {
	var err error
	if e := array.Try(func() {
		q := *u.program
		q.State = append([]saved.State(nil), q.State...)
		wants := make([]lock.Want, len(q.State), len(q.State)+1)
		for i := range wants {
			st := q.State[i].View.Store
			wants[i] = lock.Want{Lock: &st.Lock, Of: st, Around: true}
		}
		wants = append(wants, lock.Want{Lock: &u.of.step, Around: true})
		defer Around(context.Background(), "save", wants)()
		q.Generators, q.Variables = nil, nil
		for _, g := range u.generators {
			s := g.State()
			q.Generators = append(q.Generators, saved.Generator{Seed: s.Seed, Draw: s.Draw})
		}
		for _, v := range u.variables {
			q.Variables = append(q.Variables, saved.Variable{Value: saved.ConstantText(v.Value)})
		}
		for i := range q.State {
			v, done := (&Tensor{v: q.State[i].View}).Lend()
			defer done()
			q.State[i].View = v
		}
		err = f(&q)
	}); e != nil {
		return e
	}
	return err
}
