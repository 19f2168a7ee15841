package weft

import (
	"context"
	"math"
	"reflect"
	"slices"
	"strings"

	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/tracing"
)

// newSupplied returns a supplied without arguments. free puts it back after a call that did not panic.
func newSupplied(ctx context.Context) *core.Supplied {
	g := core.SuppliedPool.Get().(*core.Supplied)
	if ctx.Done() != nil { // a context that cannot end is not polled
		g.Ctx = ctx
	}
	return g
}

// collect adds the tensors and the constants in v to g.
func collect(g *core.Supplied, v reflect.Value) {
	if v.IsValid() && v.Type() == tensorType {
		t := v.Interface().(*Tensor)
		if t == nil {
			g.Statics = append(g.Statics, nil)
			return
		}
		g.Add(t.c())
		return
	}
	if k, nothing, ok := kindOf(v); ok {
		if nothing {
			g.Statics = append(g.Statics, nil)
			return
		}
		parts, static := k.Split(v.Interface())
		g.Statics = append(g.Statics, static, len(parts))
		for _, t := range parts {
			g.Add((*core.Tensor)(t.(*Tensor)))
		}
		return
	}
	switch v.Kind() {
	case reflect.Invalid:
		g.Statics = append(g.Statics, nil)
	case reflect.Interface:
		if v.IsNil() {
			g.Statics = append(g.Statics, nil)
			return
		}
		g.Statics = append(g.Statics, v.Elem().Type())
		collect(g, v.Elem())
	case reflect.Slice, reflect.Array:
		g.Statics = append(g.Statics, length(v))
		for i := range v.Len() {
			collect(g, v.Index(i))
		}
	case reflect.Map:
		g.Statics = append(g.Statics, length(v))
		for _, k := range sortedKeys(v) {
			g.Statics = append(g.Statics, k.Interface())
			collect(g, v.MapIndex(k))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if !v.Type().Field(i).IsExported() {
				array.Failf("compile", "", "an argument is %s by value, which has fields that are not exported: give a pointer", v.Type())
			}
			collect(g, v.Field(i))
		}
	case reflect.Float32, reflect.Float64:
		g.Statics = append(g.Statics, math.Float64bits(v.Float())) // by bits, so that NaN equals itself
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		array.Failf("compile", "", "an argument is %s, which a compiled function cannot take", v.Type())
	default:
		g.Statics = append(g.Statics, v.Interface())
	}
}

// length returns the length of a slice or a map, -1 if it is nil.
func length(v reflect.Value) int {
	if v.Kind() != reflect.Array && v.IsNil() {
		return -1
	}
	return v.Len()
}

// kindOf returns how the tensors of v are found if other packages know; nothing says that v
// is nil.
func kindOf(v reflect.Value) (k tracing.Kind, nothing, ok bool) {
	if !v.IsValid() {
		return k, false, false
	}
	k, ok = tracing.Kinds[v.Type()]
	return k, ok && v.Kind() == reflect.Pointer && v.IsNil(), ok
}

func sortedKeys(m reflect.Value) []reflect.Value {
	keys := m.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int {
		switch {
		case a.CanInt():
			return compareOrdered(a.Int(), b.Int())
		case a.CanUint():
			return compareOrdered(a.Uint(), b.Uint())
		}
		return strings.Compare(a.String(), b.String())
	})
	return keys
}

func compareOrdered[T int64 | uint64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// replaced returns v with other tensors in place of those in it.
func replaced(v reflect.Value, f func(t *Tensor) *Tensor) reflect.Value {
	if !v.IsValid() {
		return v
	}
	if v.Type() == tensorType {
		if v.IsNil() {
			return v
		}
		return reflect.ValueOf(f(v.Interface().(*Tensor)))
	}
	if k, nothing, ok := kindOf(v); ok {
		if nothing {
			return v
		}
		parts, static := k.Split(v.Interface())
		for i, t := range parts {
			parts[i] = f(t.(*Tensor))
		}
		return reflect.ValueOf(k.Join(parts, static))
	}
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		out := reflect.New(v.Type()).Elem()
		out.Set(replaced(v.Elem(), f))
		return out
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(replaced(v.Index(i), f))
		}
		return out
	case reflect.Array, reflect.Struct:
		out := reflect.New(v.Type()).Elem()
		if v.Kind() == reflect.Array {
			for i := range v.Len() {
				out.Index(i).Set(replaced(v.Index(i), f))
			}
			return out
		}
		for i := range v.NumField() {
			out.Field(i).Set(replaced(v.Field(i), f))
		}
		return out
	case reflect.Map:
		if v.IsNil() {
			return v
		}
		out := reflect.MakeMapWithSize(v.Type(), v.Len())
		for _, k := range sortedKeys(v) {
			out.SetMapIndex(k, replaced(v.MapIndex(k), f))
		}
		return out
	}
	return v
}
