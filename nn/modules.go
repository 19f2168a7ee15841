package nn

import (
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"

	"weft"
	"weft/internal/array"
)

// Modules returns m, under the name "", and the layers that it holds, each before those inside it,
// with their paths as [Params] has them. A layer is a struct that exported fields lead to, given as a
// pointer if it is in memory, or another value with a method Forward. Types of package weft are not. A layer that several paths lead to
// comes once, under the first. The loop may change layers, as torch's Module.apply does:
//
//	for _, layer := range nn.Modules(net) {
//		if l, ok := layer.(*nn.Linear); ok {
//			weft.WithoutGrad(func() { l.Weight.Fill(1) })
//		}
//	}
func Modules(m any) iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		if !yield("", m) {
			return
		}
		lists, names := map[visit]bool{}, map[string]bool{"": true}
		w := walker{seen: map[step]bool{}}
		w.value = func(name string, v reflect.Value) bool {
			layer, ok := layerAt(v)
			if !ok || names[name] { // an embedded struct has the path of its module
				return true
			}
			if v.Kind() == reflect.Slice {
				k := visit{v.Pointer(), v.Type(), v.Len()}
				if lists[k] {
					return true
				}
				lists[k] = true
			}
			names[name] = true
			return yield(name, layer)
		}
		w.walk("", reflect.ValueOf(m))
	}
}

// layerAt returns v as a layer, and whether it is one. Pointers and interfaces are not: the walk
// comes to what they lead to.
func layerAt(v reflect.Value) (layer any, ok bool) {
	if !v.CanInterface() || v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		return nil, false
	}
	if (v.Kind() == reflect.Slice || v.Kind() == reflect.Map || v.Kind() == reflect.Func) && v.IsNil() {
		return nil, false
	}
	if v.Kind() == reflect.Struct && v.CanAddr() {
		v = v.Addr()
	}
	_, forward := v.Type().MethodByName("Forward")
	return v.Interface(), forward || reflect.Indirect(v).Kind() == reflect.Struct && reflect.Indirect(v).Type().PkgPath() != moduleType
}

// Children returns the layers of a module that are not inside another of its layers, with their
// paths: see [Modules].
func Children(m any) iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		last := ""
		for name, layer := range Modules(m) {
			if name == "" || last != "" && strings.HasPrefix(name, last+".") {
				continue
			}
			if last = name; !yield(name, layer) {
				return
			}
		}
	}
}

// ParametersToVector returns the elements of all parameters of a module as one vector, in the order
// of [Params]. Gradients flow through it. It panics with *weft.Error if the parameters lie on
// several devices. A module without parameters gives a vector of no float32 elements.
func ParametersToVector(m any) *weft.Tensor {
	defer array.Named("parameterstovector").End()
	var parts []*weft.Tensor
	for _, t := range Params(m) {
		parts = append(parts, t.Reshape(t.Size()))
	}
	if len(parts) == 0 {
		return weft.Zeros(0)
	}
	return weft.Cat(parts, 0)
}

// VectorToParameters copies the elements of a vector, which are in the order of [ParametersToVector],
// into the parameters of a module. Gradients do not record it. It panics with *weft.Error, and
// changes nothing, unless v has one axis with an element for each of the parameters'.
func VectorToParameters(v *weft.Tensor, m any) {
	const name = "vectortoparameters"
	if v == nil {
		array.Failf(name, "v", "is nil")
	}
	defer array.Named(name).End()
	n := 0
	for _, t := range Params(m) {
		n += t.Size()
	}
	if v.Rank() != 1 || v.Size() != n {
		array.Failf(name, "v", "has shape %s, the parameters %d elements", array.ShapeString(v.Shape()), n)
	}
	weft.WithoutGrad(func() {
		at := 0
		for _, t := range Params(m) {
			t.Assign(v.Slice(weft.Range(at, at+t.Size())).Reshape(t.Shape()...))
			at += t.Size()
		}
	})
}

// WithState returns a module like m that has the tensors of a state, by the names of [State], in
// place of m's. The other tensors are m's own, and m stays as it is. Gradients flow to the tensors
// that are given, which need not be leaves. It is torch.func.functional_call:
//
//	y := nn.WithState(net, map[string]*weft.Tensor{"fc.weight": w}).Forward(x)
//
// It panics with *weft.Error if a name is not in m, or if a tensor is nil or has another shape or
// type than m's.
func WithState[M any](m M, state map[string]*weft.Tensor) M {
	const op = "withstate"
	own := State(m)
	instead := map[*weft.Tensor]*weft.Tensor{}
	for _, name := range slices.Sorted(maps.Keys(state)) {
		t, old := state[name], own[name]
		switch {
		case old == nil:
			array.Failf(op, "state", "has %q, which the module does not have", name)
		case t == nil:
			array.Failf(op, "state", "has nil as %q", name)
		case t.DType() != old.DType() || !array.Equal(t.Shape(), old.Shape()):
			array.Failf(op, "state", "has %s as %q, want %s", array.TypeString(t.DType(), t.Shape()), name, array.TypeString(old.DType(), old.Shape()))
		}
		instead[old] = t
	}
	return copied(m, func(t *weft.Tensor) *weft.Tensor {
		if new := instead[t]; new != nil {
			return new
		}
		return t
	})
}
