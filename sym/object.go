package sym

import (
	"context"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/ir"
	"weft/internal/op"
)

// Variables whose values are Go values of any type. In a graph such a value is its number in the table
// of the call that computes it. The number of the call is an input that every function with such
// variables has behind its own: operations take it as their first argument.

// Object returns an input that is a Go value of any type. Operations with [Op.ForwardAny] take it, and
// a call gives it. It has neither elements nor gradients. What else is given one panics with *[weft.Error].
func Object(name string) *Var {
	return &Var{name: name, dtype: word.DType, shape: []int{}, pc: array.Caller(), id: ids.Add(1), role: input, object: true}
}

// SharedObject returns a shared variable that is a Go value of any type, beginning with x. Functions
// read and update it as they do a shared tensor.
func SharedObject(name string, x any) *Var {
	v := tensorVar("sym", name, weft.ScalarOf(weft.Int64, int64(0)), shared)
	v.object, v.cell = true, &cell{id: hosts.Add(1), value: x}
	v.cell.read = load(v)
	return v
}

// A cell holds the value of a shared object. The lock of the memory of the variable's tensor, which
// counts updates, guards it.
type cell struct {
	id    uint64
	value any
	read  *Var // what reads it in graphs, once a call
}

// Object returns the Go value of a [SharedObject]. It waits for functions that update it.
func (v *Var) Object() (x any) {
	const name = "object"
	v.exists(name)
	if v.cell == nil {
		array.Failf(name, "", "%s is not a shared Go value", v)
	}
	(*core.Tensor)(v.kept).Exclusively(name, func() { x = v.cell.value })
	return x
}

// callNumber is the input of functions with Go values that says the number of the call.
var callNumber = &Var{name: "number of the call", dtype: word.DType, shape: []int{}, id: ids.Add(1), role: input}

// A table holds the Go values of a call by number.
type table struct {
	id     int64
	mu     sync.Mutex
	values []any
}

var (
	tables  sync.Map // of running calls: number of the call -> *table
	tableID atomic.Int64
)

func newTable() *table {
	t := &table{id: tableID.Add(1)}
	tables.Store(t.id, t)
	return t
}

func (t *table) end() { tables.Delete(t.id) }

// put adds a value and returns its number.
func (t *table) put(x any) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.values = append(t.values, x)
	return int64(len(t.values) - 1)
}

func (t *table) get(n int64) any {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.values[n]
}

// tableOf returns the table of the call whose number an argument says.
func tableOf(v *array.View) *table {
	t, _ := tables.Load(words(v)[0])
	return t.(*table)
}

// asObject returns the variable by which a graph reads v: the value of a shared object as it is at a call.
func asObject(v *Var) *Var {
	if v.cell != nil {
		return v.cell.read
	}
	return v
}

// load reads a shared object.
func load(w *Var) *Var {
	a := &apply{name: "load", args: []*Var{callNumber, w}, pc: array.Caller()}
	a.run = func(_ *replay, ts []*weft.Tensor) []*weft.Tensor { return call(op.Host, cellOp{w.cell, false}, ts) }
	a.again = func(args []*Var) []*Var { return []*Var{asObject(args[1])} }
	return asObjects(a.make([]ir.Type{word}), nil)[0]
}

// store writes to, an object, into a shared object, after all that reads it, and gives the number of
// updates.
func store(w, to *Var) *Var {
	a := &apply{name: "store", args: []*Var{callNumber, w, w.cell.read, to}, pc: array.Caller()}
	a.run = func(_ *replay, ts []*weft.Tensor) []*weft.Tensor { return call(op.Host, cellOp{w.cell, true}, ts) }
	a.again = func(args []*Var) []*Var { return []*Var{store(w, args[3])} }
	return a.make([]ir.Type{word})[0]
}

// asObjects marks variables as Go values, those that which says; nil: all.
func asObjects(vs []*Var, which []bool) []*Var {
	for i, v := range vs {
		v.object = which == nil || which[i]
	}
	return vs
}

// cellOp reads or writes a shared object in a graph. The arguments are the number of the call, the number
// of updates, and to write what was read and the new value.
type cellOp struct {
	cell  *cell
	write bool
}

// AppendKey implements ir.Attrs.
func (b cellOp) AppendKey(k []byte) []byte { return ir.Flag(ir.Int(k, int(b.cell.id)), b.write) }

// Results implements op.HostFunc.
func (b cellOp) Results([]ir.Type) []ir.Type { return []ir.Type{word} }

// CallHost implements op.HostFunc.
func (b cellOp) CallHost(args, out []array.View) error {
	t := tableOf(&args[0])
	if b.write {
		b.cell.value = t.get(words(&args[3])[0])
		words(&out[0])[0] = words(&args[1])[0] + 1
		return nil
	}
	words(&out[0])[0] = t.put(b.cell.value)
	return nil
}

// A hostAny is an Op with ForwardAny in a graph: its first argument is the number of the call.
type hostAny struct {
	op      Op
	id      uint64
	in, out []bool // which arguments and results are Go values
}

// applyAny makes an operation of Go values and tensors.
func (o *Op) applyAny(args []*Var) []*Var {
	if o.Backward != nil {
		array.Failf(o.Name, "Backward", "is that of an operation of Go values, which have no gradients: want a nil Backward with ForwardAny")
	}
	h := &hostAny{op: *o, id: hosts.Add(1)}
	of := []*Var{callNumber}
	for i, v := range args {
		if v == nil {
			array.Failf(o.Name, "", "argument %d is a nil variable", i)
		}
		v.exists(o.Name)
		h.in = append(h.in, v.object)
		of = append(of, asObject(v))
	}
	for _, t := range h.types(typesOf(of)[1:]) {
		h.out = append(h.out, t.Object)
	}
	return h.make(of)
}

func (h *hostAny) make(args []*Var) []*Var {
	a := &apply{name: h.op.Name, args: args, pc: array.Caller()}
	forward := func(ts []*weft.Tensor) []*weft.Tensor {
		in := make([]*weft.Tensor, len(ts))
		for i, t := range ts {
			in[i] = t.Detach()
		}
		return call(op.Host, h, in)
	}
	a.run = func(_ *replay, ts []*weft.Tensor) []*weft.Tensor { return forward(ts) }
	a.again = func(args []*Var) []*Var { return h.make(args) }
	return asObjects(a.make(infer(a, forward, nil)), h.out)
}

// types are the types of the results for arguments, without the number of the call.
func (h *hostAny) types(args []ir.Type) []Type {
	in := make([]Type, len(args))
	for i, t := range args {
		if in[i].Object = h.in[i]; !h.in[i] {
			in[i] = Type{DType: t.DType, Shape: slices.Clone(t.Shape)}
		}
	}
	if h.op.Results != nil {
		return h.op.Results(in)
	}
	if len(in) == 0 {
		array.Failf(h.op.Name, "", "has no arguments, and no Results")
	}
	return in[:1]
}

// AppendKey implements ir.Attrs.
func (h *hostAny) AppendKey(k []byte) []byte { return ir.Int(k, int(h.id)) }

// Results implements op.HostFunc.
func (h *hostAny) Results(args []ir.Type) (out []ir.Type) {
	for _, t := range h.types(args[1:]) {
		if t.Object {
			out = append(out, word)
			continue
		}
		array.CheckShape(h.op.Name, t.Shape, t.DType)
		out = append(out, ir.Type{DType: t.DType, Shape: slices.Clone(t.Shape)})
	}
	return out
}

// CallHost implements op.HostFunc.
func (h *hostAny) CallHost(args, out []array.View) error {
	t := tableOf(&args[0])
	x := make([]any, len(h.in))
	for i, v := range args[1:] {
		if h.in[i] {
			x[i] = t.get(words(&v)[0])
		} else {
			x[i] = (*weft.Tensor)(core.FromView(v)).Detach() // whose Release gives nothing back
		}
	}
	y, err := h.op.ForwardAny(x)
	if err == nil && len(y) != len(out) {
		return h.op.gave(len(y), len(out))
	}
	if err != nil {
		return h.op.failed(err)
	}
	for i, y := range y {
		if h.out[i] {
			words(&out[i])[0] = t.put(y)
			continue
		}
		y, _ := y.(*weft.Tensor)
		if err := h.op.deliver(i, &out[i], y); err != nil {
			return err
		}
	}
	return nil
}

// hasObjects reports that a function of these results and updates has Go values.
func hasObjects(roots []*Var) bool {
	return slices.ContainsFunc(order(roots), func(v *Var) bool { return v.object || v == callNumber })
}

// CallAny is [Fn.Call] for a function whose results may be Go values: it gives those as they are,
// and tensors as *[weft.Tensor].
func (f *Fn) CallAny(args ...any) ([]any, error) {
	var out []any
	err := weft.Try(func() { out = f.invokeAny(context.Background(), args) })
	return out, err
}

func (f *Fn) invokeAny(ctx context.Context, args []any) []any {
	f.notNil()
	var t *table
	if f.objects {
		t = newTable()
		defer t.end()
	}
	ts := f.invokeWith(ctx, args, t)
	out := make([]any, len(ts))
	for i, x := range ts {
		if out[i] = x; f.outputs.vars[i].object {
			out[i] = t.get(x.ItemInt())
		}
	}
	return out
}

// setField puts a result into a field of a struct.
func (f *Fn) setField(field reflect.Value, name string, x any) {
	v := reflect.ValueOf(x)
	if x == nil {
		v = reflect.Zero(field.Type())
	}
	if !v.Type().AssignableTo(field.Type()) {
		array.Failf(f.label(), "dst", "has a field %s of type %s, the result is %T", name, field.Type(), x)
	}
	field.Set(v)
}
