package nn

import (
	"reflect"
	"sync"
	"unsafe"
	"weak"

	"weft/internal/array"
)

// identity returns what tells a layer from others, and whether there is such a thing. That is its
// address and type; the elements of a list that is a layer. A struct without fields has none, and
// neither has one that is called by value.
func identity(layer any) (id visit, ok bool) {
	v := reflect.ValueOf(layer)
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() || v.Type().Elem().Size() == 0 {
			return visit{}, false
		}
		if v.Elem().Kind() == reflect.Slice {
			return identityOf(v.Elem())
		}
		return visit{v.Pointer(), v.Type().Elem(), 0}, true
	case reflect.Slice:
		return identityOf(v)
	}
	return visit{}, false
}

// identityOf returns the identity of a value that a walk has come to.
func identityOf(v reflect.Value) (id visit, ok bool) {
	switch {
	case v.Kind() == reflect.Slice && v.Len() > 0:
		return visit{v.Pointer(), v.Type(), v.Len()}, true
	case v.Kind() != reflect.Slice && v.CanAddr() && v.Type().Size() > 0:
		return visit{v.UnsafeAddr(), v.Type(), 0}, true
	}
	return visit{}, false
}

// hookable returns the identity of a layer, and panics where calls could not find it.
func hookable(name string, layer any) visit {
	id, ok := identity(layer)
	t := reflect.TypeOf(layer)
	switch {
	case t == nil || t.Kind() == reflect.Pointer && reflect.ValueOf(layer).IsNil():
		array.Failf(name, "layer", "is nil")
	case t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct:
		if _, byValue := t.Elem().MethodByName("Forward"); byValue {
			ok = false // the method sees a copy
		}
	}
	if !ok {
		array.Failf(name, "layer", "is a %s, which is called by value and cannot be told from others: hook the layer around it, or its place in a Sequential", t)
	}
	return id
}

// paths returns the paths of a module's layers by their identity, and by type of those without one.
func paths(m any) (byID map[visit]string, byType map[reflect.Type][]pathOf) {
	byID, byType = map[visit]string{}, map[reflect.Type][]pathOf{}
	w := walker{seen: map[step]bool{}}
	w.value = func(name string, v reflect.Value) bool {
		if id, ok := identityOf(v); ok {
			if _, known := byID[id]; !known {
				byID[id] = name
			}
		}
		if v.Kind() == reflect.Struct && v.CanInterface() {
			byType[v.Type()] = append(byType[v.Type()], pathOf{name, v.Interface()})
		}
		return true
	}
	w.walk("", reflect.ValueOf(m))
	return byID, byType
}

// A pathOf is a layer that is a value, and its path.
type pathOf struct {
	path  string
	layer any
}

// pathIn returns the path of a layer inside m. A layer without an identity is found if no
// other of m equals it.
func pathIn(m any, at any) (path string, ok bool) {
	byID, byType := paths(m)
	if id, is := at.(visit); is {
		path, ok = byID[id]
		return path, ok
	}
	for _, p := range byType[reflect.TypeOf(at)] {
		if reflect.DeepEqual(p.layer, at) {
			if ok {
				return "", false
			}
			path, ok = p.path, true
		}
	}
	return path, ok
}

// A failure is the innermost layer that an error passed out of: its identity, or the layer if it has none.
type failure struct {
	at     any
	rooted bool // its path is from a module whose parameters were asked for
}

// locate returns an error that passes out of a layer, with the path of the innermost layer that it
// passed: in a module whose parameters were asked for, or else in this layer.
func locate(layer any, e *array.Error) *array.Error {
	f, ok := array.At(e).(failure)
	if f.rooted {
		return e
	}
	id, known := identity(layer)
	if !ok {
		if f.at = layer; known {
			f.at = id
		}
		path := pathInRoots(f.at)
		return array.Located(e, failure{f.at, path != ""}, path)
	}
	path, inside := pathIn(layer, f.at)
	switch {
	case path != "":
		return array.Located(e, f, path)
	case !inside && known:
		// A layer that only this one knows, or a value that its place in a list tells from others.
		path := pathInRoots(id)
		return array.Located(e, failure{id, path != ""}, path)
	}
	return e
}

// maxRoots is the number of modules that errors look for layers in.
const maxRoots = 32

// A root is a module whose tensors were asked for.
type root struct {
	typ reflect.Type // of the module, or of a list's elements
	at  weak.Pointer[byte]
	n   int // of elements of a list, 0 for a pointer
}

var roots struct {
	mu   sync.Mutex
	list []root // the latest last
}

// remember makes m a module that errors look for layers in, until it is collected.
func remember(m any) {
	v := reflect.ValueOf(m)
	r := root{}
	switch {
	case v.Kind() == reflect.Pointer && !v.IsNil() && v.Type().Elem().Size() > 0:
		r.typ = v.Type().Elem()
	case v.Kind() == reflect.Slice && v.Len() > 0 && v.Type().Elem().Size() > 0:
		r.typ, r.n = v.Type(), v.Len()
	default:
		return
	}
	r.at = weak.Make((*byte)(v.UnsafePointer()))
	roots.mu.Lock()
	defer roots.mu.Unlock()
	var list []root
	for _, old := range roots.list {
		if old != r && old.at.Value() != nil {
			list = append(list, old)
		}
	}
	if len(list) == maxRoots {
		list = list[1:]
	}
	roots.list = append(list, r)
}

// module returns the module, nil if it was collected.
func (r root) module() any {
	p := r.at.Value()
	switch {
	case p == nil:
		return nil
	case r.n == 0:
		return reflect.NewAt(r.typ, unsafe.Pointer(p)).Interface()
	}
	s := reflect.New(r.typ).Elem()
	s.Set(reflect.NewAt(reflect.ArrayOf(r.n, r.typ.Elem()), unsafe.Pointer(p)).Elem().Slice(0, r.n).Convert(r.typ))
	return s.Interface()
}

// pathInRoots returns the longest path of a layer in the modules that are remembered, "" if none has it.
func pathInRoots(at any) (longest string) {
	roots.mu.Lock()
	list := roots.list
	roots.mu.Unlock()
	for _, r := range list {
		if m := r.module(); m != nil {
			if path, _ := pathIn(m, at); len(path) > len(longest) {
				longest = path
			}
		}
	}
	return longest
}
