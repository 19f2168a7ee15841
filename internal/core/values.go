package core

import (
	"context"
	"math"
	"reflect"
	"slices"
	"strings"

	"weft/internal/array"
)

// How tensors are found in the values that a compiled function takes and returns, and replaced
// there, by reflection.

// A holder says how the tensors of a type of another package are found and replaced, which no exported
// field shows.
type holder struct {
	split func(x reflect.Value) (tensors []*Tensor, static any)
	join  func(tensors []*Tensor, static any) reflect.Value
}

// holders are the types, besides tensors and what shows them, that arguments and results of compiled
// functions may have. Packages add theirs while they are initialised.
var holders = map[reflect.Type]holder{}

// RegisterHolder lets compiled functions take and return values of type T, such as the lists of another
// package. split returns the tensors of a value that is not nil, and what else of it a program
// depends on, which is compared by ==. join makes a value of other tensors.
func RegisterHolder[T any](split func(x T) (tensors []*Tensor, static any), join func(tensors []*Tensor, static any) T) {
	holders[reflect.TypeFor[T]()] = holder{
		func(x reflect.Value) ([]*Tensor, any) { return split(x.Interface().(T)) },
		func(tensors []*Tensor, static any) reflect.Value { return reflect.ValueOf(join(tensors, static)) },
	}
}

// newSupplied returns a Supplied without arguments. Free puts it back after a call that did not panic.
func newSupplied(ctx context.Context) *Supplied {
	g := suppliedPool.Get().(*Supplied)
	if ctx != nil && ctx.Done() != nil { // a context that cannot end is not polled
		g.Ctx = ctx
	}
	return g
}

// collect adds the tensors and the constants in v to g.
func collect[F Face](g *Supplied, v reflect.Value) { collectAt[F](g, v, 0) }

// maxNesting bounds how deep values nest, so that one that contains itself is an error.
const maxNesting = 1000

func checkDepth(depth int, what string) {
	if depth > maxNesting {
		array.Failf("compile", "", "%s nests more than %d values, or contains itself", what, maxNesting)
	}
}

func collectAt[F Face](g *Supplied, v reflect.Value, depth int) {
	checkDepth(depth, "an argument")
	if v.IsValid() && v.Type() == reflect.TypeFor[*F]() {
		t := v.Interface().(*F)
		if t == nil {
			g.Statics = append(g.Statics, nil)
			return
		}
		g.Add(inner(t))
		return
	}
	if h, nothing, ok := holderOf(v); ok {
		if nothing {
			g.Statics = append(g.Statics, nil)
			return
		}
		parts, static := h.split(v)
		g.Statics = append(g.Statics, static, len(parts))
		for _, t := range parts {
			g.Add(t)
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
		collectAt[F](g, v.Elem(), depth+1)
	case reflect.Slice, reflect.Array:
		g.Statics = append(g.Statics, length(v))
		for i := range v.Len() {
			collectAt[F](g, v.Index(i), depth+1)
		}
	case reflect.Map:
		g.Statics = append(g.Statics, length(v))
		for _, k := range sortedKeys(v, "an argument") {
			g.Statics = append(g.Statics, k.Interface())
			collectAt[F](g, v.MapIndex(k), depth+1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if !v.Type().Field(i).IsExported() {
				array.Failf("compile", "", "an argument is %s by value, which has fields that are not exported: give a pointer", v.Type())
			}
			collectAt[F](g, v.Field(i), depth+1)
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

// holderOf returns the holder of v's type if another package registered it. nothing reports that v is
// nil.
func holderOf(v reflect.Value) (h holder, nothing, ok bool) {
	if !v.IsValid() {
		return h, false, false
	}
	h, ok = holders[v.Type()]
	return h, ok && v.Kind() == reflect.Pointer && v.IsNil(), ok
}

// sortedKeys returns the keys of a map in ascending order, in which its tensors are numbered. It
// panics if they are not strings or integers.
func sortedKeys(m reflect.Value, what string) []reflect.Value {
	if !ordered(m.Type().Key()) {
		array.Failf("compile", "", "%s has a map by %s: want strings or integers", what, m.Type().Key())
	}
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

// ordered reports a type of keys by which maps of arguments and results may be.
func ordered(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.String, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return true
	}
	return false
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
func replaced[F Face](v reflect.Value, f func(t *Tensor) *Tensor) reflect.Value {
	return replacedAt[F](v, f, 0)
}

func replacedAt[F Face](v reflect.Value, f func(t *Tensor) *Tensor, depth int) reflect.Value {
	checkDepth(depth, "a result")
	if !v.IsValid() {
		return v
	}
	if v.Type() == reflect.TypeFor[*F]() {
		if v.IsNil() {
			return v
		}
		return reflect.ValueOf(outer[F](f(inner(v.Interface().(*F)))))
	}
	if h, nothing, ok := holderOf(v); ok {
		if nothing {
			return v
		}
		parts, static := h.split(v)
		for i, t := range parts {
			parts[i] = f(t)
		}
		return h.join(parts, static)
	}
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		out := reflect.New(v.Type()).Elem()
		out.Set(replacedAt[F](v.Elem(), f, depth+1))
		return out
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(replacedAt[F](v.Index(i), f, depth+1))
		}
		return out
	case reflect.Array, reflect.Struct:
		out := reflect.New(v.Type()).Elem()
		if v.Kind() == reflect.Array {
			for i := range v.Len() {
				out.Index(i).Set(replacedAt[F](v.Index(i), f, depth+1))
			}
			return out
		}
		for i := range v.NumField() {
			if !v.Type().Field(i).IsExported() {
				array.Failf("compile", "", "a result is %s by value, which has fields that are not exported: give a pointer", v.Type())
			}
			out.Field(i).Set(replacedAt[F](v.Field(i), f, depth+1))
		}
		return out
	case reflect.Map:
		if v.IsNil() {
			return v
		}
		out := reflect.MakeMapWithSize(v.Type(), v.Len())
		for _, k := range sortedKeys(v, "a result") {
			out.SetMapIndex(k, replacedAt[F](v.MapIndex(k), f, depth+1))
		}
		return out
	}
	return v
}
