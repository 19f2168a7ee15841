package sym

import (
	"fmt"
	"io"
	"os"
	"slices"
	"sync/atomic"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/ir"
	"weft/internal/op"
)

// A Type is the element type and the shape of a tensor.
type Type struct {
	DType weft.DType
	Shape []int
	// Object says that it is a Go value and no tensor ([Object]); the other fields are then zero.
	Object bool
}

// An Op is a user-defined operation: a Go function that a compiled function calls with tensors
// whenever it runs. It may call other functions. It must not call one that updates variables of the
// running function, or reads variables which that updates. Such a call would wait for itself, and
// is an error; so is [weft.Tracked.Flush] of an array that is being updated. A goroutine that it
// waits for must not do so either.
type Op struct {
	Name string
	// Results gives the types of the results for the types of the arguments; nil stands for
	// one result of the type of the first argument.
	Results func(args []Type) []Type
	// Forward computes the results, of the types that Results gives. It must not keep the
	// arguments, nor write into them. Its error is that of the call.
	Forward func(x []*weft.Tensor) ([]*weft.Tensor, error)
	// ForwardAny takes the place of Forward where arguments or results are Go values ([Object]): it
	// gets those as they are and tensors as *[weft.Tensor], and gives such. Results says which results
	// are Go values.
	ForwardAny func(x []any) ([]any, error)
	// Backward returns the gradient of each argument, or nil, from the arguments, the results
	// and their gradients, by operations of tensors, which are part of the compiled function. The
	// gradient of a result that nothing depends on is zeros, and nil if it holds no floats. A nil
	// Backward means that there is no gradient.
	Backward func(x, y, dy []*weft.Tensor) []*weft.Tensor
}

// Apply returns the results of the operation for variables.
func (o *Op) Apply(args ...*Var) []*Var {
	if o == nil || (o.Forward == nil) == (o.ForwardAny == nil) {
		array.Failf("op", "", "is nil, or has not one of Forward and ForwardAny")
	}
	if o.ForwardAny != nil {
		return o.applyAny(args)
	}
	h := &host{op: *o, id: hosts.Add(1)}
	return h.apply(args)
}

// A host is an Op in a graph.
type host struct {
	op Op
	id uint64
}

var hosts atomic.Uint64

func (h *host) apply(args []*Var) []*Var {
	p := operation{name: h.op.Name, opaque: true}
	list := p.list(args)
	forward := func(ts []*weft.Tensor) []*weft.Tensor {
		in := make([]*weft.Tensor, len(ts))
		for i, t := range ts {
			in[i] = t.Detach()
		}
		return call(op.Host, h, in)
	}
	return p.several(func(ts []*weft.Tensor) []*weft.Tensor {
		x := list(ts)
		if h.op.Backward == nil {
			return forward(x)
		}
		return ownGradient(h.op.Name, x, forward, h.op.Backward)
	})
}

// AppendKey implements ir.Attrs.
func (h *host) AppendKey(k []byte) []byte { return ir.Int(k, int(h.id)) }

// Results implements op.HostFunc.
func (h *host) Results(args []ir.Type) []ir.Type {
	if h.op.Results == nil {
		if len(args) == 0 {
			array.Failf(h.op.Name, "", "has no arguments, and no Results")
		}
		return args[:1]
	}
	in := make([]Type, len(args))
	for i, t := range args {
		in[i] = Type{DType: t.DType, Shape: slices.Clone(t.Shape)}
	}
	out := h.op.Results(in)
	types := make([]ir.Type, len(out))
	for i, t := range out {
		if t.Object {
			array.Failf(h.op.Name, "Results", "have a Go value: want ForwardAny in place of Forward")
		}
		array.CheckShape(h.op.Name, t.Shape, t.DType)
		types[i] = ir.Type{DType: t.DType, Shape: slices.Clone(t.Shape)}
	}
	return types
}

// CallHost implements op.HostFunc.
func (h *host) CallHost(args, out []array.View) error {
	x := make([]*weft.Tensor, len(args))
	for i, v := range args {
		x[i] = (*weft.Tensor)(core.FromView(v)).Detach() // whose Release gives nothing back
	}
	y, err := h.op.Forward(x)
	if err != nil {
		return h.op.failed(err)
	}
	if len(y) != len(out) {
		return h.op.gave(len(y), len(out))
	}
	for i, t := range y {
		if err := h.op.deliver(i, &out[i], t); err != nil {
			return err
		}
	}
	return nil
}

// failed is the error of a call for that of Forward.
func (o *Op) failed(err error) error {
	if e, ok := err.(*weft.Error); ok {
		return e
	}
	return &weft.Error{Op: o.Name, Msg: "failed", Err: err}
}

// gave is the error of a Forward that gives n results in place of want.
func (o *Op) gave(n, want int) error {
	return &weft.Error{Op: o.Name, Msg: fmt.Sprintf("Forward gave %d results, Results says %d", n, want)}
}

// deliver hands over result i of Forward.
func (o *Op) deliver(i int, to *array.View, t *weft.Tensor) error {
	if t == nil || t.DType() != to.DType || !slices.Equal(sizes(t), to.Shape) {
		return &weft.Error{Op: o.Name, Msg: fmt.Sprintf("Forward gave another type than %s for result %d", array.TypeString(to.DType, to.Shape), i)}
	}
	core.Deliver(to, (*core.Tensor)(t))
	return nil
}

// Print returns x as a variable that is printed, behind a message, whenever it is computed; to
// w, or standard error if that is nil.
func Print(x *Var, message string, w io.Writer) *Var {
	x.notNil("print")
	if w == nil {
		w = os.Stderr
	}
	return passing("print", []*Var{x}, func(t []*weft.Tensor) error {
		_, err := fmt.Fprintln(w, message, t[0])
		return err
	})
}

// Assert returns x as a variable whose computation fails, with the message, unless all
// elements of a condition are true (not 0).
func Assert(x, condition *Var, message string) *Var {
	x.notNil("assert")
	condition.notNil("assert")
	return passing("assert", []*Var{x, condition}, func(t []*weft.Tensor) error {
		if t[1].All().ItemInt() == 0 {
			return &weft.Error{Op: "assert", Msg: message + x.where()}
		}
		return nil
	})
}

// passing is the first argument once check has seen all.
func passing(name string, args []*Var, check func(t []*weft.Tensor) error) *Var {
	o := &Op{Name: name,
		Forward: func(t []*weft.Tensor) ([]*weft.Tensor, error) { return t[:1], check(t) },
		Backward: func(x, _, dy []*weft.Tensor) []*weft.Tensor {
			gs := make([]*weft.Tensor, len(x))
			gs[0] = dy[0]
			return gs
		}}
	if !args[0].dtype.Differentiable() {
		o.Backward = nil
	}
	return o.Apply(args...)[0]
}

// GraphOpts are the options of [OpFromGraph].
type GraphOpts struct {
	Name string
	// Gradient replaces the gradient: it returns that of each input, or nil, from the inputs,
	// the outputs and their gradients. The gradient of an output that nothing depends on is zeros, and
	// nil if it holds no floats.
	Gradient func(x, y, dy []*Var) []*Var
}

// OpFromGraph returns outputs as a function of inputs, which computes them for other variables.
func OpFromGraph(inputs, outputs []*Var, opts ...GraphOpts) func(args ...*Var) []*Var {
	o := array.Options("opfromgraph", opts)
	const name = "opfromgraph"
	inputs, outputs = slices.Clone(inputs), slices.Clone(outputs)
	own := map[*Var]bool{}
	for _, v := range inputs {
		v.notNil(name)
		if v.role != input {
			array.Failf(name, v.label(), "is not an input variable%s", v.where())
		}
		own[v] = true
	}
	for _, v := range outputs {
		v.notNil(name)
	}
	for _, v := range order(outputs) {
		if v.role == input && v.from == nil && !own[v] {
			array.Failf(name, v.label(), "%s is needed and is not an input%s", v, v.where())
		}
	}
	if o.Name == "" {
		o.Name = name
	}
	check := func(args []*Var) {
		if len(args) != len(inputs) {
			array.Failf(o.Name, "", "takes %s, got %d", array.Count(len(inputs), "argument"), len(args))
		}
		for i, v := range inputs {
			args[i].notNil(o.Name)
			checkReplacement(o.Name, v, args[i])
		}
	}
	if o.Gradient == nil {
		return func(args ...*Var) []*Var {
			check(args)
			with := map[*Var]*Var{}
			for i, v := range inputs {
				with[v] = args[i]
			}
			return Replace(outputs, with)
		}
	}
	var ys, dys []*Var
	given := slices.Clone(inputs) // what the gradients are computed from
	for _, v := range outputs {
		y, dy := New("y", v.dtype, v.shape...), (*Var)(nil)
		if v.dtype.Differentiable() {
			dy = New("dy", v.dtype, v.shape...)
		}
		ys, dys = append(ys, y), append(dys, dy)
	}
	given = append(given, ys...)
	for _, dy := range dys {
		if dy != nil {
			given = append(given, dy)
		}
	}
	grads := o.Gradient(slices.Clone(inputs), slices.Clone(ys), slices.Clone(dys))
	if len(grads) != len(inputs) {
		array.Failf(o.Name, "Gradient", "gives %d for %d inputs", len(grads), len(inputs))
	}
	var wanted []*Var
	for i, g := range grads {
		if g != nil {
			checkReplacement(o.Name, inputs[i], g)
			wanted = append(wanted, g)
		}
	}
	compute := func(roots []*Var, vars []*Var, values []*weft.Tensor) []*weft.Tensor {
		var line uintptr
		r := newReplay(roots, &line)
		for i, v := range vars {
			r.values[v] = values[i]
		}
		return r.all(roots)
	}
	forward := func(x []*weft.Tensor) []*weft.Tensor { return compute(outputs, inputs, x) }
	back := func(x, y, dy []*weft.Tensor) []*weft.Tensor {
		values := slices.Concat(x, y)
		for _, t := range dy {
			if t != nil {
				values = append(values, t)
			}
		}
		got := compute(wanted, given, values)
		out := make([]*weft.Tensor, len(grads))
		for i, v := range grads {
			if v != nil {
				out[i], got = got[0], got[1:]
			}
		}
		return out
	}
	return func(args ...*Var) []*Var {
		check(args)
		p := operation{name: o.Name, opaque: true}
		list := p.list(args)
		return p.several(func(ts []*weft.Tensor) []*weft.Tensor { return ownGradient(o.Name, list(ts), forward, back) })
	}
}

// Expr is [weft.Expr] of variables: the values of names are given by [weft.Vars], or one by
// one in the order of their first appearance; each is a *[Var], a tensor or a Go number.
func Expr(text string, args ...any) *Var {
	o := operation{name: "expr"}
	if len(args) == 1 {
		if vars, ok := args[0].(weft.Vars); ok {
			names, values := make([]string, 0, len(vars)), make([]any, 0, len(vars))
			for n := range vars {
				names = append(names, n)
			}
			slices.Sort(names)
			for _, n := range names {
				values = append(values, vars[n])
			}
			f := o.anys(values)
			return o.one(func(ts []*weft.Tensor) *weft.Tensor {
				given := weft.Vars{}
				for i, x := range f(ts) {
					given[names[i]] = x
				}
				return weft.Expr(text, given)
			})
		}
	}
	f := o.anys(args)
	return o.one(func(ts []*weft.Tensor) *weft.Tensor { return weft.Expr(text, f(ts)...) })
}
