package nn

import (
	"cmp"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"weft"
	"weft/internal/array"
)

// Param marks t as a parameter, a leaf that needs a gradient, and returns it.
func Param(t *weft.Tensor) *weft.Tensor { return t.RequireGrad() }

// Params returns the parameters of a module, the tensors that need a gradient,
// with their names, in order. It panics with *weft.Error if an unexported field, which
// it does not walk, is all that leads to a parameter; [State] and [Buffers] do too.
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
// to it. A parameter that only an unexported field leads to is misuse: nothing would
// train or save it.
func tensors(m any) iter.Seq2[string, *weft.Tensor] {
	return func(yield func(string, *weft.Tensor) bool) {
		remember(m)
		var names []string
		var list []*weft.Tensor
		found := map[*weft.Tensor]bool{}
		w := walker{seen: map[step]bool{}, private: map[visit]bool{}}
		w.tensor = func(name string, t *weft.Tensor) bool {
			names, list = append(names, name), append(list, t)
			found[t] = true
			return true
		}
		w.value = func(name string, v reflect.Value) bool { refuseUnmade(name, v); return true }
		w.walk("", reflect.ValueOf(m))
		for _, h := range w.hidden {
			if !found[h.tensor] {
				array.Failf("params", "", "%s holds a parameter, and unexported fields are not walked: export it, or keep what is not to be trained without RequireGrad (Detach)", h.name)
			}
		}
		for i, t := range list {
			if !yield(names[i], t) {
				return
			}
		}
	}
}

// A visit is a place that a walk has been to. The type tells a struct from its
// first field, the length a slice from a shorter one.
type visit struct {
	addr uintptr
	typ  reflect.Type
	len  int
}

// A step is a visit, and in walks that follow each path the path to it.
type step struct {
	visit
	path string
}

// A walker goes through what is reachable over exported fields. Its functions
// return false to end the walk.
type walker struct {
	seen   map[step]bool
	tensor func(name string, t *weft.Tensor) bool // nil: not asked for
	value  func(name string, v reflect.Value) bool

	// enter, if not nil, says which paths are followed, all of them and not the first alone.
	enter func(path string) bool

	private map[visit]bool // as seen, for what unexported fields lead to; nil: not asked for
	hidden  []secret
}

// A secret is a parameter, or a layer at a place, that an unexported field leads to.
type secret struct {
	name   string
	tensor *weft.Tensor
	layer  visit
}

var tensorType = reflect.TypeFor[*weft.Tensor]()

// first reports that the walk was not at v, of a kind that holds a pointer,
// before.
func (w *walker) first(name string, v reflect.Value, n int) bool {
	k := step{visit: visit{v.Pointer(), v.Type(), n}}
	if w.enter != nil {
		k.path = name
	}
	if w.seen[k] {
		return false
	}
	w.seen[k] = true
	return true
}

func (w *walker) walk(name string, v reflect.Value) bool {
	if !v.IsValid() || w.enter != nil && !w.enter(name) {
		return true
	}
	if v.Type() == tensorType {
		if v.IsNil() || w.tensor == nil || !w.first(name, v, 0) {
			return true
		}
		return w.tensor(name, v.Interface().(*weft.Tensor))
	}
	if w.value != nil && !w.value(name, v) {
		return false
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() || !w.first(name, v, 0) {
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
				if w.private != nil {
					w.conceal(join(name, fieldName(f)), v.Field(i), f.PkgPath)
				}
				continue
			}
			if !w.walk(join(name, fieldName(f)), v.Field(i)) {
				return false
			}
		}
	case reflect.Slice:
		if v.Len() == 0 || plain(v.Type().Elem()) || !w.first(name, v, v.Len()) {
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
		if v.Len() == 0 || plain(v.Type().Elem()) || !w.first(name, v, 0) {
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

// conceal collects the parameters and layers that a value in an unexported field leads
// to. It follows exported fields, and unexported ones of types of the same package: what other
// packages hide is their own affair.
func (w *walker) conceal(name string, v reflect.Value, pkg string) {
	if !v.IsValid() || plain(v.Type()) {
		return
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice:
		n := 0
		if v.Kind() == reflect.Slice {
			n = v.Len()
		}
		k := visit{v.Pointer(), v.Type(), n}
		if v.IsNil() || w.private[k] {
			return
		}
		w.private[k] = true
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.Type() != tensorType {
			w.conceal(name, v.Elem(), pkg)
		} else if t := (*weft.Tensor)(v.UnsafePointer()); t.IsLeaf() && t.RequiresGrad() {
			w.hidden = append(w.hidden, secret{name: name, tensor: t})
		}
	case reflect.Interface:
		w.conceal(name, v.Elem(), pkg)
	case reflect.Struct:
		t := v.Type()
		if v.CanAddr() && reflect.PointerTo(t).Implements(trainerType) {
			w.hidden = append(w.hidden, secret{name: name, layer: visit{v.UnsafeAddr(), t, 0}})
		}
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() || f.PkgPath == pkg {
				w.conceal(join(name, fieldName(f)), v.Field(i), pkg)
			}
		}
	case reflect.Slice, reflect.Array:
		if plain(v.Type().Elem()) {
			return
		}
		for i := range v.Len() {
			w.conceal(join(name, strconv.Itoa(i)), v.Index(i), pkg)
		}
	case reflect.Map:
		if plain(v.Type().Elem()) {
			return
		}
		for it := v.MapRange(); it.Next(); {
			w.conceal(join(name, fmt.Sprint(it.Key())), it.Value(), pkg)
		}
	}
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

// fieldName is a field's part of a path: its name in the case of PyTorch's, so that
// RunningMean is "running_mean", or that of a tag `nn:"name"`. An empty one leaves the
// field out of the path.
func fieldName(f reflect.StructField) string {
	if name, ok := f.Tag.Lookup("nn"); ok {
		return name
	}
	return snake(f.Name)
}

// snake is a Go name in lower case, with "_" before each word but the first: FC1 is
// "fc1", InProjWeight "in_proj_weight", WeightIH "weight_ih".
func snake(name string) string {
	var b strings.Builder
	r := []rune(name)
	for i, c := range r {
		if i > 0 && unicode.IsUpper(c) {
			before := unicode.IsLower(r[i-1])
			after := i+1 < len(r) && unicode.IsLower(r[i+1])
			if before || after && r[i-1] != '_' {
				b.WriteByte('_')
			}
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}

func join(name, part string) string {
	switch {
	case part == "":
		return name
	case name == "":
		return part
	}
	return name + "." + part
}
