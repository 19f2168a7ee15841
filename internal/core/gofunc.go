package core

import (
	"context"
	"fmt"
	"reflect"
	"runtime"
	"slices"

	"weft/internal/array"
)

// Go functions of any type whose arguments and results hold tensors, compiled by reflection.

// A GoFunc is a compiled Go function of values that hold tensors, which it sees as the face F.
type GoFunc[F Face] struct {
	CompiledFunc
	f      reflect.Value
	t      reflect.Type
	in     []reflect.Type // types of the arguments; of a variadic argument its element type
	outs   int            // number of results, without an error
	single bool           // the results are one tensor or none
	failed bool           // the last result is an error
}

var errorType = reflect.TypeFor[error]()

// NewGoFunc returns f, a function that is not nil, without programs. It panics with *array.Error if
// the type of an argument or a result is not one that a compiled function can have.
func NewGoFunc[F Face](f reflect.Value) *GoFunc[F] {
	c := &GoFunc[F]{f: f, t: f.Type()}
	c.Name, c.Scoped = "function", true
	if rf := runtime.FuncForPC(f.Pointer()); rf != nil {
		c.Name = rf.Name()
	}
	n := c.t.NumOut()
	c.failed = n > 0 && c.t.Out(n-1) == errorType
	c.outs = n
	if c.failed {
		c.outs--
	}
	c.single = c.outs == 0 || c.outs == 1 && c.t.Out(0) == reflect.TypeFor[*F]()
	seen := map[reflect.Type]bool{}
	for i := range c.t.NumIn() {
		in := c.t.In(i)
		checkType[F](in, fmt.Sprintf("argument %d", i), seen)
		if c.t.IsVariadic() && i == c.t.NumIn()-1 {
			in = in.Elem()
		}
		c.in = append(c.in, in)
	}
	for i := range n {
		if i < n-1 || !c.failed {
			checkType[F](c.t.Out(i), fmt.Sprintf("result %d", i), seen)
		}
	}
	return c
}

// checkType refuses types that values of a compiled function cannot have.
func checkType[F Face](t reflect.Type, what string, seen map[reflect.Type]bool) {
	if _, ok := holders[t]; ok || t == reflect.TypeFor[*F]() || seen[t] {
		return
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		checkType[F](t.Elem(), what, seen)
	case reflect.Map:
		if !ordered(t.Key()) {
			array.Failf("compile", "f", "%s has a map by %s: want strings or integers", what, t.Key())
		}
		checkType[F](t.Elem(), what, seen)
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if !f.IsExported() {
				array.Failf("compile", "f", "%s is %s by value, which has fields that are not exported: give a pointer, which is part of what is compiled", what, t)
			}
			checkType[F](f.Type, what, seen)
		}
	case reflect.Func, reflect.Chan, reflect.UnsafePointer, reflect.Uintptr:
		array.Failf("compile", "f", "%s is %s, which a compiled function cannot take or return", what, t)
	}
}

// argument is the type of argument i of a call.
func (c *GoFunc[F]) argument(i int) reflect.Type { return c.in[min(i, len(c.in)-1)] }

// Call calls the function with Go values. A ctx that is not nil ends the call. Call returns the result,
// nil if the function has none. It refuses a function whose results are not one tensor or none.
func (c *GoFunc[F]) Call(ctx context.Context, args []any) (*F, error) {
	n := c.outs
	if !c.single {
		what := fmt.Sprintf("%d results", n)
		if n == 1 {
			what = "a result of another type"
		}
		return nil, array.Errorf("compile", "", "Call returns one tensor or none, the function gives %s: use Func", what)
	}
	values := func() (in []reflect.Value) {
		for i, x := range args {
			v := reflect.ValueOf(x)
			if x == nil {
				v = reflect.Zero(c.argument(i))
			}
			in = append(in, v)
		}
		return in
	}
	var e *Entry
	var ts []*Tensor
	var plain []reflect.Value
	tensor := reflect.TypeFor[*F]()
	err := array.Try(func() {
		g := newSupplied(ctx)
		if len(args) != len(c.in) && (!c.t.IsVariadic() || len(args) < len(c.in)-1) {
			array.Failf("compile", "", "the function takes %d arguments, got %d", len(c.in), len(args))
		}
		for i, x := range args {
			want := c.argument(i)
			if t, ok := x.(*F); ok && want == tensor && t != nil {
				g.Add(inner(t))
				continue
			}
			if x != nil && !reflect.TypeOf(x).AssignableTo(want) {
				array.Failf("compile", "", "argument %d is %T, want %s", i, x, want)
			}
			v := reflect.New(want).Elem() // of an interface the type inside counts
			if x != nil {
				v.Set(reflect.ValueOf(x))
			}
			collect[F](g, v)
		}
		e, ts, plain = c.run(g, values)
		g.Free()
	})
	if err != nil {
		return nil, err
	}
	if e == nil { // f ran itself
		if c.failed && !plain[n].IsNil() {
			return nil, plain[n].Interface().(error)
		}
		if n == 1 {
			return plain[0].Interface().(*F), nil
		}
		return nil, nil
	}
	if e.Err != nil {
		return nil, e.Err
	}
	if n == 1 && len(ts) == 1 {
		return outer[F](ts[0]), nil
	}
	return nil, nil
}

// Func returns the compiled function with the type of the original. A ctx that is not nil ends its calls.
func (c *GoFunc[F]) Func(ctx context.Context) reflect.Value {
	return reflect.MakeFunc(c.t, func(in []reflect.Value) []reflect.Value {
		var out []reflect.Value
		err := array.Try(func() {
			g := newSupplied(ctx)
			args := in
			if c.t.IsVariadic() {
				last := in[len(in)-1]
				args = slices.Clone(in[:len(in)-1])
				for i := range last.Len() {
					args = append(args, last.Index(i))
				}
			}
			for _, v := range args {
				collect[F](g, v)
			}
			e, ts, plain := c.run(g, func() []reflect.Value { return args })
			g.Free()
			if e == nil { // f ran itself
				out = plain
				return
			}
			if e.Code == nil { // it returned an error
				out = c.zeros(e.Err)
				return
			}
			k := 0
			for _, v := range e.rest.([]reflect.Value) {
				out = append(out, replaced[F](v, func(*Tensor) *Tensor { k++; return ts[k-1] }))
			}
			if c.failed {
				out = append(out, errorValue(e.Err))
			}
		})
		if err == nil {
			return out
		}
		if !c.failed {
			panic(err)
		}
		return c.zeros(err)
	})
}

// run runs the program for the arguments and returns it with the tensors of the results. Where calls
// are not compiled, it runs the function itself and returns its results as plain.
func (c *GoFunc[F]) run(g *Supplied, values func() []reflect.Value) (e *Entry, ts []*Tensor, plain []reflect.Value) {
	if c.inline(g, func() { plain = c.f.Call(values()) }) {
		return nil, nil, plain
	}
	e, ts = c.CompiledFunc.run(g, func(args []*Tensor) ([]*Tensor, any, error) { return c.on(args, values()) })
	return e, ts, nil
}

// on calls the function with tensors in place of those in values. It returns the tensors in its
// results, and the results.
func (c *GoFunc[F]) on(args []*Tensor, values []reflect.Value) (ts []*Tensor, results []reflect.Value, err error) {
	k := 0
	in := slices.Clone(values)
	for i, v := range in {
		in[i] = replaced[F](v, func(*Tensor) *Tensor { k++; return args[k-1] })
	}
	out := c.f.Call(in)
	if c.failed {
		last := len(out) - 1
		if x := out[last]; !x.IsNil() {
			return nil, nil, x.Interface().(error)
		}
		out = out[:last]
	}
	for _, v := range out {
		replaced[F](v, func(t *Tensor) *Tensor { ts = append(ts, t); return t })
	}
	return ts, out, nil
}

// zeros returns the zero results that accompany an error.
func (c *GoFunc[F]) zeros(err error) []reflect.Value {
	var out []reflect.Value
	for i := range c.t.NumOut() - 1 {
		out = append(out, reflect.Zero(c.t.Out(i)))
	}
	return append(out, errorValue(err))
}

func errorValue(err error) reflect.Value {
	v := reflect.New(errorType).Elem()
	if err != nil {
		v.Set(reflect.ValueOf(err))
	}
	return v
}
