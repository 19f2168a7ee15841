package sym

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"reflect"
	"slices"
	"sync/atomic"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
)

// Inputs are the arguments of a function.
type Inputs []Param

// A Param is an input with what it is when a call does not give it.
type Param struct {
	Var *Var
	// Name is that by which a call gives it ([Args]); empty for the name of the variable.
	Name string
	// Value stands for an argument that is not given: a tensor or a Go number. nil: it must
	// be given.
	Value any
}

// In lists the inputs of a function: *[Var], or [Param] for one with a default value or
// another name.
func In(inputs ...any) Inputs {
	out := make(Inputs, len(inputs))
	for i, x := range inputs {
		switch x := x.(type) {
		case *Var:
			out[i] = Param{Var: x}
		case Param:
			out[i] = x
		default:
			array.Failf("in", "", "input %d is %T: want a *sym.Var or a sym.Param", i, x)
		}
	}
	return out
}

// Outputs are what a function returns.
type Outputs struct {
	vars  []*Var
	names []string
}

// Out lists the results of a function.
func Out(vars ...*Var) Outputs {
	o := Outputs{vars: slices.Clone(vars)}
	for i, v := range vars {
		v.exists("out")
		o.vars[i] = asObject(v)
		o.names = append(o.names, v.name)
	}
	return o
}

// OutFields are the variables in the fields of a struct; [Fn.Into] puts the results into the
// fields of the same names of another.
func OutFields(of any) Outputs {
	v := reflect.Indirect(reflect.ValueOf(of))
	if v.Kind() != reflect.Struct {
		array.Failf("outfields", "", "is %T: want a struct of *sym.Var", of)
	}
	var o Outputs
	for i := range v.NumField() {
		f := v.Type().Field(i)
		var x *Var
		if f.IsExported() {
			x, _ = v.Field(i).Interface().(*Var)
		}
		if x == nil {
			array.Failf("outfields", f.Name, "is not a *sym.Var that is exported and set")
		}
		o.vars, o.names = append(o.vars, asObject(x)), append(o.names, f.Name)
	}
	return o
}

// An Option changes a [Function].
type Option interface{ option(s *settings) }

// Updates say what shared variables become by a call. All are computed of the values before
// the call, after the results, and then written together.
type Updates map[*Var]*Var

// Givens replace variables in results and updates by others.
type Givens map[*Var]*Var

// Unused says what [Function] does with an input that nothing depends on.
type Unused uint8

const (
	RaiseUnused  Unused = iota // an error
	WarnUnused                 // a line on standard error
	IgnoreUnused               // nothing
)

// Named names a function, for messages.
type Named string

// NoDefaultUpdates leaves out updates that shared variables have by default, and holds random
// variables: each call draws what the one before it drew.
type NoDefaultUpdates struct{}

type settings struct {
	name      string
	updates   map[*Var]*Var
	givens    Givens
	unused    Unused
	noDefault bool
	choice    choice
}

func (u Updates) option(s *settings) {
	for w, to := range u {
		if s.updates[w] != nil {
			array.Failf("function", w.name, "has two updates")
		}
		s.updates[w] = to
	}
}

func (g Givens) option(s *settings) {
	for v, to := range g {
		s.givens[v] = to
	}
}
func (u Unused) option(s *settings)           { s.unused = u }
func (n Named) option(s *settings)            { s.name = string(n) }
func (n NoDefaultUpdates) option(s *settings) { s.noDefault = true }

// A Fn is a function compiled of variables, by [Function]. It is safe for concurrent use by several
// goroutines. A call that updates a shared variable waits for all calls that read or update it, of
// this and of other functions. Calls that only read run concurrently. So calls are serialisable,
// and no update is lost. [weft.Compiled] says more. One thing is left out: where a length is a random
// draw, and another function draws from the same variable at the same time, it may come between.
type Fn struct {
	name    string
	inputs  []Param
	outputs Outputs
	shared  []*Var // that have updates
	next    []*Var
	hold    bool // of [NoDefaultUpdates]
	choice  choice
	run     atomic.Pointer[core.Func]
	debug   *core.Debugging // nil: none
	objects bool            // it has Go values, and [callNumber] as its last input
	family  *family         // unless nil: it has sizes that shapes of arguments don't give
}

// Function compiles a function that takes inputs and returns outputs.
//
//	train, err := sym.Function(sym.In(x, y), sym.Out(prediction, cost),
//		sym.Updates{w: w.Sub(gw.Mul(0.1)), b: b.Sub(gb.Mul(0.1))})
//	out, err := train.Call(X, Y)
//
// Options are [Updates], [Givens], an [Unused], [Named], [NoDefaultUpdates], a [Mode], [Including]
// and [Excluding]. The function is made ready for shapes when it is first called with them.
//
// The error is an *[weft.Error] that names the variable:
//   - an input that is given twice, is not an input variable, or has no use;
//   - a result that needs a variable which is not an input;
//   - an update of what is not shared, a second update of a variable, or an update of another type;
//   - a rule that there is not.
func Function(in Inputs, out Outputs, opts ...Option) (*Fn, error) {
	var f *Fn
	err := weft.Try(func() { f = newFunction(in, out, opts) })
	return f, err
}

func newFunction(in Inputs, out Outputs, opts []Option) *Fn {
	const name = "function"
	s := &settings{updates: map[*Var]*Var{}, givens: Givens{}, choice: choice{mode: Stable}}
	for _, o := range opts {
		if o == nil {
			array.Failf(name, "", "an option is nil")
		}
		o.option(s)
	}
	f := &Fn{name: s.name, hold: s.noDefault, choice: s.choice, inputs: slices.Clone([]Param(in)), outputs: Outputs{slices.Clone(out.vars), slices.Clone(out.names)}}
	given := map[*Var]bool{}
	names := map[string]bool{}
	for i := range f.inputs {
		p := &f.inputs[i]
		v := p.Var
		v.exists(name)
		if v.role != input {
			array.Failf(name, v.label(), "is not an input variable: Givens replaces what is computed, Updates writes shared variables%s", v.where())
		}
		if given[v] {
			array.Failf(name, v.label(), "is an input twice")
		}
		given[v] = true
		if p.Name == "" {
			p.Name = v.name
		}
		if p.Name != "" && names[p.Name] {
			array.Failf(name, p.Name, "names two inputs")
		}
		names[p.Name] = true
		if p.Value != nil && !v.object {
			p.Value = f.argument(p, p.Value)
		}
	}
	for _, w := range sorted(s.updates) {
		to := s.updates[w]
		w.exists(name)
		to.exists(name)
		if w.role != shared {
			array.Failf(name, w.label(), "has an update and is not a shared variable%s", w.where())
		}
		checkUpdate(name, w, to)
		f.shared, f.next = append(f.shared, w), append(f.next, asObject(to))
	}
	roots := f.roots(s)
	f.outputs.vars, f.next = roots[:len(out.vars)], roots[len(out.vars):]
	used := map[*Var]bool{}
	for _, v := range order(roots) {
		used[v] = true
		if v.role == input && v.from == nil && !given[v] && v != callNumber {
			array.Failf(name, v.label(), "%s is needed and is not an input%s", v, v.where())
		}
	}
	for i, p := range f.inputs {
		if used[p.Var] || s.unused == IgnoreUnused {
			continue
		}
		if s.unused == RaiseUnused {
			array.Failf(name, p.Var.label(), "is input %d, and no result depends on it%s: sym.IgnoreUnused allows that", i, p.Var.where())
		}
		fmt.Fprintf(os.Stderr, "sym: input %d of the function, %s%s, has no use\n", i, p.Var, p.Var.where())
	}
	if f.objects = hasObjects(roots); f.objects {
		f.inputs = append(f.inputs, Param{Var: callNumber})
	}
	f.compile()
	return f
}

// roots are the results and updates, with what variables are replaced by, and updates that shared
// variables have by default.
func (f *Fn) roots(s *settings) []*Var {
	for _, v := range sorted(s.givens) {
		checkReplacement("function", v, s.givens[v])
	}
	all := append(slices.Clone(f.outputs.vars), f.next...)
	has := map[*Var]bool{}
	for _, w := range f.shared {
		has[w] = true
	}
	for {
		roots, known := all, len(all)
		if len(s.givens) > 0 {
			roots = Replace(all, s.givens)
		}
		for _, v := range order(roots) {
			if to := v.update.Load(); v.role == shared && to != nil && !has[v] && !s.noDefault {
				has[v] = true
				f.shared, all = append(f.shared, v), append(all, to)
			}
		}
		if len(all) == known {
			return roots
		}
	}
}

// sorted are the keys of a map of variables, the oldest first.
func sorted(m map[*Var]*Var) []*Var {
	number := func(v *Var) uint64 {
		if v == nil {
			return 0
		}
		return v.id + 1
	}
	return slices.SortedFunc(maps.Keys(m), func(a, b *Var) int { return cmp.Compare(number(a), number(b)) })
}

// checkUpdate refuses an update of another type.
func checkUpdate(name string, w, to *Var) {
	same := w.dtype == to.dtype && len(w.shape) == len(to.shape)
	for i := range w.shape {
		same = same && (to.shape[i] == Any || w.shape[i] == Any || w.shape[i] == to.shape[i])
	}
	if w.object != to.object {
		array.Failf(name, w.label(), "is %s, its update %s%s", w, to, to.where())
	}
	if !same {
		array.Failf(name, w.label(), "is %s, its update %s%s", array.TypeString(w.dtype, w.shape), array.TypeString(to.dtype, to.shape), to.where())
	}
}

// compile makes the function anew.
func (f *Fn) compile() {
	rules := f.choice.rules()
	roots := slices.Clone(f.outputs.vars)
	for i, to := range f.next {
		if w := f.shared[i]; w.object {
			to = store(w, to)
		}
		roots = append(roots, to)
	}
	all := lazy(slices.Concat(roots, f.next), func(*Var) bool { return true })
	roots, next := all[:len(roots)], all[len(roots):]
	open := opened(roots, f.shared)
	var line uintptr
	body := func(inner []*core.Tensor, call *supply) []*core.Tensor {
		args := core.Outer[weft.Tensor](inner)
		defer func() { // with the line of the operation, and what the call was given
			x := recover()
			if e, ok := x.(*weft.Error); ok {
				c := *e
				c.Msg += at(line)
				for i, p := range f.inputs[:f.arguments()] {
					c.Msg += fmt.Sprintf("; %s is %s", p.Var.label(), array.TypeString(args[i].DType(), args[i].Shape()))
				}
				x = &c
			}
			if line = 0; x != nil {
				panic(x)
			}
		}()
		if f.hold && core.TracingHere() == nil {
			for _, v := range order(roots) {
				if v.from == nil {
					continue
				}
				for _, g := range v.from.random {
					defer g.SetState(g.State())
				}
			}
		}
		r := newReplay(roots, &line)
		r.choose(&f.choice)
		r.call = call
		for i, p := range f.inputs {
			r.values[p.Var] = r.asLeaf(p.Var, args[i].Detach())
		}
		for i, v := range open {
			r.values[v] = r.asLeaf(v, args[len(f.inputs)+i].Detach())
		}
		r.all(next) // before shared Go values are written
		out := r.all(roots)
		line = 0
		n := len(f.outputs.vars)
		for i := range out { // none is an input or a shared variable, which may be written to
			out[i] = out[i].Detach().Clone()
		}
		ends := out[:n:n]
		for i, w := range f.shared {
			to := out[n+i]
			switch {
			case w.box == nil:
				w.kept.Assign(to)
			case !w.takes(to):
				array.Failf(f.label(), w.label(), "is %s, its update %s", w, array.TypeString(to.DType(), sizes(to)))
			default:
				ends = append(ends, to)
			}
		}
		return core.Inner(ends)
	}
	if len(open) > 0 || sizable(roots) {
		f.family = &family{f: f, body: body, open: open, held: f.wants(roots, open)}
	}
	alone := func(args []*core.Tensor) []*core.Tensor { return body(args, nil) }
	f.run.Store(core.NewFunc(alone, core.Options{Name: f.label(), Args: f.argNames(open), Label: labels(roots, f.shared), Line: &line, Rules: rules, Debug: f.debug, Hold: f.hold}))
}

func (f *Fn) label() string {
	if f != nil && f.name != "" {
		return f.name
	}
	return "function"
}

// Args are arguments of a call by name.
type Args map[string]any

// Call calls the function with arguments in the order of its inputs: tensors of their types,
// or Go numbers, for those without dimensions, that the type holds: 2.0 is an integer, 1.5 is none.
// [Args] as the last one give others by name; those that have a default value may be left out. The
// error is an *[weft.Error] that names the variable at fault, or the line that computed what failed.
func (f *Fn) Call(args ...any) ([]*weft.Tensor, error) {
	var out []*weft.Tensor
	err := weft.Try(func() { out = f.invoke(context.Background(), args) })
	return out, err
}

// CallContext is [Fn.Call] for a call that ends when ctx does, between operations, steps of
// loops and pieces of kernels: the error wraps the cause. Shared variables may then be updated in part.
func (f *Fn) CallContext(ctx context.Context, args ...any) ([]*weft.Tensor, error) {
	var out []*weft.Tensor
	err := weft.Try(func() {
		if ctx == nil {
			array.Failf(f.label(), "ctx", "is nil")
		}
		out = f.invoke(ctx, args)
	})
	return out, err
}

func (f *Fn) notNil() {
	if f == nil || len(f.inputs)+len(f.outputs.names)+len(f.shared) == 0 && f.run.Load() == nil {
		array.Failf("function", "", "is nil or the zero Fn (Function makes one)")
	}
}

func (f *Fn) invoke(ctx context.Context, args []any) []*weft.Tensor {
	f.notNil()
	for i, v := range f.outputs.vars {
		if v.object {
			array.Failf(f.label(), v.label(), "is result %d and a Go value: CallAny and Into give it", i)
		}
	}
	if !f.objects {
		return f.invokeWith(ctx, args, nil)
	}
	t := newTable()
	defer t.end()
	return f.invokeWith(ctx, args, t)
}

// arguments is how many arguments a call has.
func (f *Fn) arguments() int {
	if f.objects {
		return len(f.inputs) - 1
	}
	return len(f.inputs)
}

// invokeWith calls the function. Its Go values are in t, nil if it has none.
func (f *Fn) invokeWith(ctx context.Context, args []any, t *table) []*weft.Tensor {
	run := f.run.Load()
	if run == nil {
		array.Failf(f.label(), "", "was freed")
	}
	ts := make([]*weft.Tensor, 0, len(f.inputs))
	var named Args
	if n := len(args); n > 0 {
		var ok bool
		if named, ok = args[n-1].(Args); ok {
			args = args[:n-1]
		}
	}
	if n := f.arguments(); len(args) > n {
		array.Failf(f.label(), "", "takes %s, got %d", array.Count(n, "argument"), len(args))
	}
	used := 0
	for i := range f.inputs[:f.arguments()] {
		p := &f.inputs[i]
		x, byName := named[p.Name]
		switch {
		case i < len(args) && byName && p.Name != "":
			array.Failf(f.label(), p.Name, "is given twice, as argument %d and by name", i)
		case i < len(args):
			x = args[i]
		case byName && p.Name != "":
			used++
		case p.Value != nil && p.Var.object:
			x = p.Value
		case p.Value != nil:
			ts = append(ts, p.Value.(*weft.Tensor))
			continue
		default:
			array.Failf(f.label(), p.Var.label(), "is missing: argument %d, %s%s", i, p.Var, p.Var.where())
		}
		if p.Var.object {
			ts = append(ts, weft.ScalarOf(weft.Int64, t.put(x)))
			continue
		}
		ts = append(ts, f.argument(p, x))
	}
	if f.objects {
		ts = append(ts, weft.ScalarOf(weft.Int64, t.id))
	}
	if used < len(named) {
		for name := range named {
			if !slices.ContainsFunc(f.inputs, func(p Param) bool { return p.Name == name }) {
				array.Failf(f.label(), name, "is not an input of the function")
			}
		}
	}
	return f.calls(ctx, run, ts)
}

// calls calls the function with all its arguments.
func (f *Fn) calls(ctx context.Context, run *core.Func, ts []*weft.Tensor) []*weft.Tensor {
	if f.family != nil {
		return f.family.call(ctx, run, ts)
	}
	out, err := run.Call(ctx, core.Inner(ts))
	if err != nil {
		panic(err)
	}
	return core.Outer[weft.Tensor](out)
}

// argument makes a tensor of an argument and checks its type.
func (f *Fn) argument(p *Param, x any) *weft.Tensor {
	v := p.Var
	t, ok := x.(*weft.Tensor)
	switch {
	case ok && t == nil:
		array.Failf(f.label(), v.label(), "is a nil tensor")
	case ok:
	case len(v.shape) == 0:
		t = f.number(v, x)
	default:
		array.Failf(f.label(), v.label(), "is %T: want a *weft.Tensor, for %s%s", x, v, v.where())
	}
	s := sizes(t)
	if t.DType() != v.dtype || len(s) != len(v.shape) {
		array.Failf(f.label(), v.label(), "is %s, want %s%s", array.TypeString(t.DType(), s), array.TypeString(v.dtype, v.shape), v.where())
	}
	for i, n := range v.shape {
		if n != Any && n != s[i] {
			array.Failf(f.label(), v.label(), "is %s, want %s: size %d%s", array.TypeString(t.DType(), s), array.TypeString(v.dtype, v.shape), n, v.where())
		}
	}
	return t
}

// number makes a tensor of a Go number for a variable without dimensions. It refuses what the variable's
// type does not hold: for integers, floats that are not whole too.
func (f *Fn) number(v *Var, x any) (t *weft.Tensor) {
	err := weft.Try(func() { t = weft.FullOf(v.dtype, x) })
	var bad *weft.Error
	switch {
	case errors.As(err, &bad) && bad.Op == "full" && bad.Kind != array.OutOfMemory:
		f.refuse(v, x)
	case err != nil:
		panic(err)
	}
	if o := core.AsOperand[weft.Tensor](f.label(), v.label(), x); v.dtype.Integer() && o.Num.Kind == array.CatFloat && !wholeIn(v.dtype, o.Num.Float) {
		f.refuse(v, x)
	}
	return t
}

// refuse panics for a value that is none of the variable's type.
func (f *Fn) refuse(v *Var, x any) {
	what := fmt.Sprintf("%T", x)
	if a := reflect.ValueOf(x); x == nil {
		what = "nil"
	} else if a.CanInt() || a.CanUint() || a.CanFloat() || a.CanComplex() {
		what = fmt.Sprintf("%v (%T)", x, x)
	}
	array.Failf(f.label(), v.label(), "is %s, want %s%s", what, array.TypeString(v.dtype, nil), v.where())
}

// wholeIn reports that integers of type d have the value of a float.
func wholeIn(d weft.DType, x float64) bool {
	bits := 8 * d.Size()
	lo, end := 0.0, math.Ldexp(1, bits)
	if !d.Unsigned() {
		lo, end = -end/2, end/2
	}
	return x == math.Trunc(x) && lo <= x && x < end
}

// Into calls the function and puts its results into the fields of the struct that dst points
// to, by the names of the outputs ([OutFields]).
func (f *Fn) Into(dst any, args ...any) error {
	return weft.Try(func() {
		f.notNil()
		v := reflect.ValueOf(dst)
		if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
			array.Failf(f.label(), "dst", "is %T: want a pointer to a struct of *weft.Tensor", dst)
		}
		fields := make([]reflect.Value, len(f.outputs.names))
		for i, name := range f.outputs.names {
			fields[i] = v.Elem().FieldByName(name)
			if object := f.outputs.vars[i].object; !fields[i].IsValid() || !object && fields[i].Type() != reflect.TypeFor[*weft.Tensor]() || !fields[i].CanSet() {
				array.Failf(f.label(), "dst", "has no field %s of type *weft.Tensor", name)
			}
		}
		for i, x := range f.invokeAny(context.Background(), args) {
			f.setField(fields[i], f.outputs.names[i], x)
		}
	})
}

// Why says why programs were made for the function, a line each time, and in a last line how many
// were made and are kept. It is empty before the first call.
func (f *Fn) Why() string {
	f.notNil()
	if run := f.run.Load(); run != nil {
		return run.Reasons()
	}
	return ""
}

// Free forgets the programs; calling the function afterwards is an error.
func (f *Fn) Free() {
	f.notNil()
	f.run.Store(nil)
	if f.family != nil {
		f.family.free()
	}
}

// CopyOpts are the options of [Fn.Copy].
type CopyOpts struct {
	// Swap replaces shared variables by others of their types.
	Swap map[*Var]*Var
	// DeleteUpdates leaves out the updates.
	DeleteUpdates bool
	Name          string
}

// Copy returns the same function over other shared variables.
func (f *Fn) Copy(opts ...CopyOpts) (c *Fn, err error) {
	o := array.Options("copy", opts)
	err = weft.Try(func() {
		f.notNil()
		for _, w := range sorted(o.Swap) {
			to := o.Swap[w]
			w.exists("copy")
			to.exists("copy")
			if w.role != shared || to.role != shared {
				array.Failf("copy", w.label(), "and %s: want shared variables", to.label())
			}
			checkUpdate("copy", w, to)
		}
		c = &Fn{name: o.Name, hold: f.hold, objects: f.objects, choice: f.choice, inputs: f.inputs, outputs: Outputs{names: f.outputs.names}}
		roots := slices.Clone(f.outputs.vars)
		if !o.DeleteUpdates {
			roots = append(roots, f.next...)
			for _, w := range f.shared {
				if to := o.Swap[w]; to != nil {
					w = to
				}
				if slices.Contains(c.shared, w) {
					array.Failf("copy", w.label(), "has two updates")
				}
				c.shared = append(c.shared, w)
			}
		}
		roots = Replace(roots, o.Swap)
		c.outputs.vars, c.next = roots[:len(f.outputs.vars)], roots[len(f.outputs.vars):]
		c.compile()
	})
	return c, err
}

// Debug returns the function compiled anew in a way that shows what happens inside, as
// [weft.Compiled.Debug] does: rewrites and kernels are checked, a call stops at the first NaN,
// each value is watched; errors and steps name the lines that made the variables. It writes the
// same shared variables.
func (f *Fn) Debug(opts ...weft.DebugOpts) *Fn {
	o := array.Options("debug", opts)
	f.notNil()
	d := &Fn{name: f.name, hold: f.hold, choice: f.choice, inputs: f.inputs, outputs: f.outputs, shared: f.shared, next: f.next, objects: f.objects, debug: debugging(&o)}
	d.compile()
	return d
}

// debugging returns options as the engine takes them.
func debugging(o *weft.DebugOpts) *core.Debugging {
	d := &core.Debugging{Verify: o.Verify, NaN: o.NaN, Inf: o.Inf, Big: o.Big}
	d.Check()
	if f := o.Watch; f != nil {
		d.Watch = func(op, line string, value *core.Tensor) {
			f(weft.DebugStep{Op: op, Line: line, Value: (*weft.Tensor)(value)})
		}
	}
	return d
}

// Replace returns vars, computed with other variables in the place of some.
func Replace(vars []*Var, with map[*Var]*Var) []*Var {
	memo := map[*Var]*Var{}
	for _, v := range vars {
		v.exists("replace")
	}
	for _, v := range sorted(with) {
		checkReplacement("replace", v, with[v])
		memo[v] = with[v]
	}
	return rebuild(vars, memo, func(*apply) []*Var { return nil })
}

// rebuild returns vars, computed with memo[v] in the place of v. Where other returns the results of another
// operation, that is made in place of the one it is given.
func rebuild(vars []*Var, memo map[*Var]*Var, other func(a *apply) []*Var) []*Var {
	stands := func(args []*Var) (out []*Var, same bool) {
		out, same = make([]*Var, len(args)), true
		for i, x := range args {
			if out[i] = memo[x]; out[i] == nil {
				out[i] = x
			}
			same = same && out[i] == x
		}
		return out, same
	}
	for _, v := range order(vars) {
		if memo[v] != nil {
			continue
		}
		memo[v] = v
		if v.from == nil {
			continue
		}
		a := v.from
		outs := other(a)
		if outs != nil {
			a = outs[0].from
		}
		if args, same := stands(a.args); !same {
			outs = a.again(args)
		}
		for i, o := range outs {
			if memo[v.from.outs[i]] == nil || memo[v.from.outs[i]] == v.from.outs[i] {
				memo[v.from.outs[i]] = o
			}
		}
	}
	out, _ := stands(vars)
	return out
}

func checkReplacement(name string, v, to *Var) {
	v.exists(name)
	to.exists(name)
	if v.object != to.object {
		array.Failf(name, v.label(), "is %s, what replaces it %s%s", v, to, to.where())
	}
	if v.dtype != to.dtype || len(v.shape) != len(to.shape) {
		array.Failf(name, v.label(), "is %s, what replaces it %s%s", array.TypeString(v.dtype, v.shape), array.TypeString(to.dtype, to.shape), to.where())
	}
}

// String returns the name, and the numbers of inputs, outputs and variables that are updated.
func (f *Fn) String() string {
	return array.Describe("sym.Fn", "Name", f.name, "Inputs", len(f.inputs), "Outputs", len(f.outputs.vars), "Shared", len(f.shared))
}

// String returns the names and the variables.
func (o Outputs) String() string {
	return array.Describe("sym.Outputs", "Names", o.names, "Vars", o.vars)
}
