package nn

import (
	"reflect"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
)

// Freeze makes the parameters of a module buffers, until [Unfreeze], and removes their gradients.
// Optimizers that were made before do not change them.
func Freeze(m any) {
	defer array.Named("freeze").End()
	for _, t := range tensors(m) {
		if t.IsLeaf() {
			t.RequireGrad(false)
		}
	}
}

// Unfreeze undoes [Freeze].
func Unfreeze(m any) {
	for _, t := range tensors(m) {
		(*core.Tensor)(t).Unfreeze()
	}
}

// Copy returns a module like m with memory of its own: what is reachable through
// pointers, interfaces, slices and maps in exported fields is copied, tensors with their
// values but without gradients. Tensors and layers that are there twice are so in the
// copy. Generators, functions and what unexported fields point to are shared.
func Copy[M any](m M) M {
	return copied(m, func(t *weft.Tensor) *weft.Tensor { return (*weft.Tensor)(core.CopyLeaf((*core.Tensor)(t))) })
}

// On returns a module on a device: m itself if all its tensors are there, else a copy as [Copy]
// makes it, with parameters and buffers there. Optimizers are made after it, of the result's
// parameters: their states lie beside these. [LoadState] into the result leaves it on its device.
func On[M any](m M, dev weft.Device) M {
	defer array.Named("on").End()
	there := true
	for _, t := range tensors(m) {
		there = there && t.Device() == dev
	}
	if there {
		return m
	}
	return copied(m, func(t *weft.Tensor) *weft.Tensor {
		return (*weft.Tensor)(core.CopyLeafTo((*core.Tensor)(t), (*core.Tensor)(t.Detach().On(dev))))
	})
}

// copied returns a copy of m whose tensors leaf makes.
func copied[M any](m M, leaf func(t *weft.Tensor) *weft.Tensor) M {
	c := copier{done: map[visit]reflect.Value{}, leaf: leaf}
	var out M
	reflect.ValueOf(&out).Elem().Set(c.copy(reflect.ValueOf(&m).Elem()))
	return out
}

type copier struct {
	done map[visit]reflect.Value
	leaf func(t *weft.Tensor) *weft.Tensor // the copy of a tensor
}

var moduleType = reflect.TypeFor[weft.Tensor]().PkgPath()

func (c *copier) copy(v reflect.Value) reflect.Value {
	t := v.Type()
	if plain(t) {
		return v
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice:
		if v.IsNil() {
			return v
		}
	}
	switch v.Kind() {
	case reflect.Pointer:
		k := visit{v.Pointer(), t, 0}
		if old, ok := c.done[k]; ok {
			return old
		}
		if t == tensorType {
			c.done[k] = reflect.ValueOf(c.leaf(v.Interface().(*weft.Tensor)))
			return c.done[k]
		}
		if t.Elem().PkgPath() == moduleType {
			return v
		}
		out := reflect.New(t.Elem())
		c.done[k] = out
		out.Elem().Set(c.copy(v.Elem()))
		return out
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		out := reflect.New(t).Elem()
		out.Set(c.copy(v.Elem()))
		return out
	case reflect.Struct:
		out := reflect.New(t).Elem()
		out.Set(v)
		for i := range t.NumField() {
			if f := out.Field(i); f.CanSet() {
				f.Set(c.copy(v.Field(i)))
			} else if g := t.Field(i); g.Anonymous && g.Type.Kind() == reflect.Struct {
				c.embedded(f, v.Field(i))
			}
		}
		return out
	case reflect.Slice:
		k := visit{v.Pointer(), t, v.Len()}
		if old, ok := c.done[k]; ok {
			return old
		}
		out := reflect.MakeSlice(t, v.Len(), v.Len())
		c.done[k] = out
		for i := range v.Len() {
			out.Index(i).Set(c.copy(v.Index(i)))
		}
		return out
	case reflect.Array:
		out := reflect.New(t).Elem()
		for i := range v.Len() {
			out.Index(i).Set(c.copy(v.Index(i)))
		}
		return out
	case reflect.Map:
		k := visit{v.Pointer(), t, 0}
		if old, ok := c.done[k]; ok {
			return old
		}
		out := reflect.MakeMap(t)
		c.done[k] = out
		for it := v.MapRange(); it.Next(); {
			out.SetMapIndex(it.Key(), c.copy(it.Value()))
		}
		return out
	}
	return v
}

// embedded copies the exported fields of an embedded struct, whose type is not exported,
// in place.
func (c *copier) embedded(out, v reflect.Value) {
	for i := range v.NumField() {
		if f := out.Field(i); f.CanSet() {
			f.Set(c.copy(v.Field(i)))
		}
	}
}
