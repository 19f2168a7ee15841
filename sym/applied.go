package sym

import (
	"reflect"
	"runtime"
	"slices"
	"strings"

	"weft"
	"weft/internal/array"
)

// Apply returns the results of f for variables, f being a function of tensors such as linalg.Solve or
// one of the user's:
//
//	x := sym.Apply(linalg.Solve, a, b)[0]
//
// Arguments are as f takes them, with a *[Var] in the place of a *[weft.Tensor] and a []*Var in the place of a
// []*weft.Tensor; tensors, options and other Go values are given as they are. All results of f are tensors.
// f runs while a function is compiled, and its operations become part of that function, gradients
// included. So f must compute by operations of tensors alone, the same ones each time, and must neither
// draw random numbers nor read elements. [Op] is for functions that do.
//
// It panics with *[weft.Error] where f is no such function, where arguments do not fit, or f refuses them.
func Apply(f any, args ...any) []*Var {
	fn := reflect.ValueOf(f)
	if f == nil || fn.Kind() != reflect.Func || fn.IsNil() {
		array.Failf("apply", "f", "is %T, want a function of tensors", f)
	}
	t := fn.Type()
	o := operation{name: nameOf(fn)}
	for i := range t.NumOut() {
		if t.Out(i) != tensorType {
			array.Failf(o.name, "f", "has a result of type %v, want *weft.Tensor", t.Out(i))
		}
	}
	if n := t.NumIn(); t.NumOut() == 0 || len(args) != n && !(t.IsVariadic() && len(args) >= n-1) {
		array.Failf(o.name, "", "takes arguments as %v and must give tensors, got %s", t, array.Count(len(args), "argument"))
	}
	given := make([]func(ts []*weft.Tensor) reflect.Value, len(args))
	var hints []any
	for i, x := range args {
		in := t.In(min(i, t.NumIn()-1))
		if t.IsVariadic() && i >= t.NumIn()-1 {
			in = in.Elem()
		}
		given[i] = o.value(i, in, x)
		switch x.(type) {
		case int, []int:
			hints = append(hints, x)
		}
	}
	return o.several(func(ts []*weft.Tensor) []*weft.Tensor {
		in := make([]reflect.Value, len(given))
		for i, g := range given {
			in[i] = g(ts)
		}
		out := fn.Call(in)
		results := make([]*weft.Tensor, len(out))
		for i, y := range out {
			results[i] = y.Interface().(*weft.Tensor)
		}
		return results
	}, hints...)
}

var (
	tensorType  = reflect.TypeFor[*weft.Tensor]()
	tensorsType = reflect.TypeFor[[]*weft.Tensor]()
)

// nameOf is the name of a function without the path of its package.
func nameOf(fn reflect.Value) string {
	name := "function"
	if f := runtime.FuncForPC(fn.Pointer()); f != nil {
		name = f.Name()
	}
	return strings.ToLower(name[strings.LastIndexByte(name, '/')+1:])
}

// value notes argument i, for a parameter of a type, and returns how to find its value.
func (o *operation) value(i int, in reflect.Type, x any) func(ts []*weft.Tensor) reflect.Value {
	switch v := x.(type) {
	case *Var, *weft.Tensor:
		if in == tensorType || tensorType.AssignableTo(in) {
			f := o.arg(v)
			return func(ts []*weft.Tensor) reflect.Value { return reflect.ValueOf(f(ts)) }
		}
	case []*Var:
		if in == tensorsType {
			f := o.list(v)
			return func(ts []*weft.Tensor) reflect.Value { return reflect.ValueOf(slices.Clone(f(ts))) }
		}
	}
	if x == nil {
		switch in.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Func, reflect.Interface:
			o.plain(nil)
			return func([]*weft.Tensor) reflect.Value { return reflect.Zero(in) }
		}
	}
	if x == nil || !reflect.TypeOf(x).AssignableTo(in) {
		array.Failf(o.name, "", "argument %d is %T, want %v", i, x, in)
	}
	o.plain(x)
	return func([]*weft.Tensor) reflect.Value { return reflect.ValueOf(x) }
}
