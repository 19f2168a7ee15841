package nn

import (
	"cmp"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strconv"

	"weft"
)

// Param marks t as a parameter, a leaf that needs a gradient, and returns it.
func Param(t *weft.Tensor) *weft.Tensor { return t.RequireGrad() }

// Params returns the parameters of a module, the tensors that need a gradient,
// with their names, in order.
func Params(m any) iter.Seq2[string, *weft.Tensor] {
	return func(yield func(string, *weft.Tensor) bool) {
		for name, t := range tensors(m) {
			if t.RequiresGrad() && !yield(name, t) {
				return
			}
		}
	}
}

// Buffers returns the other tensors of a module, which no gradient flows
// through, with their names, in order.
func Buffers(m any) iter.Seq2[string, *weft.Tensor] {
	return func(yield func(string, *weft.Tensor) bool) {
		for name, t := range tensors(m) {
			if !t.RequiresGrad() && !yield(name, t) {
				return
			}
		}
	}
}

// tensors returns each tensor of a module once, under the first name that leads
// to it.
func tensors(m any) iter.Seq2[string, *weft.Tensor] {
	return func(yield func(string, *weft.Tensor) bool) {
		w := walker{seen: map[visit]bool{}}
		w.tensor = yield
		w.walk("", reflect.ValueOf(m))
	}
}

// A visit is a place that a walk has been to. The type tells a struct from its
// first field, the length a slice from a shorter one.
type visit struct {
	addr uintptr
	typ  reflect.Type
	len  int
}

// A walker goes through what is reachable over exported fields. Its functions
// return false to end the walk.
type walker struct {
	seen   map[visit]bool
	tensor func(name string, t *weft.Tensor) bool // nil: not asked for
	value  func(name string, v reflect.Value) bool
}

var tensorType = reflect.TypeFor[*weft.Tensor]()

// first reports that the walk was not at v, of a kind that holds a pointer,
// before.
func (w *walker) first(v reflect.Value, n int) bool {
	k := visit{v.Pointer(), v.Type(), n}
	if w.seen[k] {
		return false
	}
	w.seen[k] = true
	return true
}

func (w *walker) walk(name string, v reflect.Value) bool {
	if !v.IsValid() {
		return true
	}
	if v.Type() == tensorType {
		if v.IsNil() || w.tensor == nil || !w.first(v, 0) {
			return true
		}
		return w.tensor(name, v.Interface().(*weft.Tensor))
	}
	if w.value != nil && !w.value(name, v) {
		return false
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() || !w.first(v, 0) {
			return true
		}
		return w.walk(name, v.Elem())
	case reflect.Interface:
		return w.walk(name, v.Elem())
	case reflect.Struct:
		t := v.Type()
		for i := range t.NumField() {
			f := t.Field(i)
			// The exported fields of an embedded struct are the module's, whether
			// its type is exported or not.
			if !f.IsExported() && !(f.Anonymous && f.Type.Kind() == reflect.Struct) {
				continue
			}
			if !w.walk(join(name, f.Name), v.Field(i)) {
				return false
			}
		}
	case reflect.Slice:
		if v.Len() == 0 || plain(v.Type().Elem()) || !w.first(v, v.Len()) {
			return true
		}
		fallthrough
	case reflect.Array:
		if plain(v.Type().Elem()) {
			return true
		}
		for i := range v.Len() {
			if !w.walk(join(name, strconv.Itoa(i)), v.Index(i)) {
				return false
			}
		}
	case reflect.Map:
		if v.Len() == 0 || plain(v.Type().Elem()) || !w.first(v, 0) {
			return true
		}
		keys := v.MapKeys()
		slices.SortFunc(keys, compareKeys)
		for _, k := range keys {
			if !w.walk(join(name, fmt.Sprint(k)), v.MapIndex(k)) {
				return false
			}
		}
	}
	return true
}

// plain reports types that hold no tensor.
func plain(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Struct, reflect.Slice, reflect.Array, reflect.Map:
		return false
	}
	return true
}

// compareKeys orders numbers by value and all else by its text.
func compareKeys(a, b reflect.Value) int {
	switch {
	case a.CanInt() && b.CanInt():
		return cmp.Compare(a.Int(), b.Int())
	case a.CanUint() && b.CanUint():
		return cmp.Compare(a.Uint(), b.Uint())
	}
	return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b))
}

func join(name, part string) string {
	if name == "" {
		return part
	}
	return name + "." + part
}
