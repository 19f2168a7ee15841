package weft

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"

	"weft/internal/array"
	"weft/internal/lock"
	"weft/internal/tracing"
)

// The properties of its arguments that a compiled program depends on.

// An argument holds the properties of a tensor that a program depends on.
type argument struct {
	dtype          DType
	device         uint8
	leaf           bool
	shape, strides []int
	same, apart    int // the number of an earlier argument in the same memory, or -1; how far behind that it begins
	twin           int // the number of an earlier argument that is the same leaf, or -1
}

// A signature holds the properties of all arguments that a program depends on.
type signature struct {
	noGrad  bool // the call is inside WithoutGrad
	tensors []argument
	statics []any
}

// supplied holds the arguments of a call and its working memory.
type supplied struct {
	tensors []*Tensor
	statics []any
	ctx     context.Context // of the call, nil if it has none

	held  lock.Held
	wants []lock.Want
	ins   []*array.View // by source of the entry
	views []array.View  // the views that ins points to, of sources that are not captured
	outs  []array.View
}

var suppliedPool = sync.Pool{New: func() any { return new(supplied) }}

// newSupplied returns a supplied without arguments. free puts it back after a call that did not panic.
func newSupplied(ctx context.Context) *supplied {
	g := suppliedPool.Get().(*supplied)
	if ctx.Done() != nil { // a context that cannot end is not polled
		g.ctx = ctx
	}
	return g
}

func (g *supplied) free() {
	clear(g.tensors)
	clear(g.statics)
	g.tensors, g.statics, g.ctx = g.tensors[:0], g.statics[:0], nil
	suppliedPool.Put(g)
}

// end releases the locks of a call and drops its references to memory. It keeps shapes, which are
// small.
func (g *supplied) end() {
	g.held.Release()
	clear(g.wants)
	for i := range g.ins {
		g.ins[i], g.views[i].Store = nil, nil
	}
	for i := range g.outs {
		g.outs[i].Store = nil
	}
}

// ended returns the error of a call whose context has ended, else nil.
func (g *supplied) ended(name string) *Error {
	if g.ctx == nil || g.ctx.Err() == nil {
		return nil
	}
	return &Error{Kind: array.Misuse, Op: name, Msg: "the call was ended", Err: context.Cause(g.ctx)}
}

// add adds a tensor.
func (g *supplied) add(t *Tensor) {
	t.check("compile")
	if t.hist != nil {
		if n := t.node(); n != nil && n.leaf == nil && gradOn() {
			array.Failf("compile", "", "tensor %d of the arguments was computed by %s and needs a gradient, which does not pass through a compiled function: compile that too, or give it as Detach()", len(g.tensors), n.opName())
		}
	}
	g.tensors = append(g.tensors, t)
}

// collect adds the tensors and the constants in v to those of a call.
func collect(g *supplied, v reflect.Value) {
	if v.IsValid() && v.Type() == tensorType {
		t := v.Interface().(*Tensor)
		if t == nil {
			g.statics = append(g.statics, nil)
			return
		}
		g.add(t)
		return
	}
	if k, nothing, ok := kindOf(v); ok {
		if nothing {
			g.statics = append(g.statics, nil)
			return
		}
		parts, static := k.Split(v.Interface())
		g.statics = append(g.statics, static, len(parts))
		for _, t := range parts {
			g.add(t.(*Tensor))
		}
		return
	}
	switch v.Kind() {
	case reflect.Invalid:
		g.statics = append(g.statics, nil)
	case reflect.Interface:
		if v.IsNil() {
			g.statics = append(g.statics, nil)
			return
		}
		g.statics = append(g.statics, v.Elem().Type())
		collect(g, v.Elem())
	case reflect.Slice, reflect.Array:
		g.statics = append(g.statics, length(v))
		for i := range v.Len() {
			collect(g, v.Index(i))
		}
	case reflect.Map:
		g.statics = append(g.statics, length(v))
		for _, k := range sortedKeys(v) {
			g.statics = append(g.statics, k.Interface())
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
		g.statics = append(g.statics, math.Float64bits(v.Float())) // by bits, so that NaN equals itself
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		array.Failf("compile", "", "an argument is %s, which a compiled function cannot take", v.Type())
	default:
		g.statics = append(g.statics, v.Interface())
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

// sameMemory returns the number of the first of ts in the memory of number i, -1 if that is i.
func sameMemory(ts []*Tensor, i int) int {
	st := ts[i].v.Store
	for k, t := range ts[:i] {
		if t.v.Store == st {
			return k
		}
	}
	return -1
}

// leaf reports whether t is a leaf that requires a gradient.
func (t *Tensor) leaf() bool {
	if t.hist == nil {
		return false
	}
	n := t.node()
	return n != nil && n.leaf != nil
}

// sameLeaf returns the number of the first of ts that is the same leaf as number i, -1 if that is i,
// or if it is none.
func sameLeaf(ts []*Tensor, i, same int) int {
	if h := ts[i].hist; same >= 0 && h != nil && ts[i].node() != nil {
		for k, t := range ts[:i] {
			if t.hist == h {
				return k
			}
		}
	}
	return -1
}

func (g *supplied) signature(noGrad bool) signature {
	s := signature{noGrad: noGrad, statics: slices.Clone(g.statics)}
	for i, t := range g.tensors {
		a := argument{dtype: t.v.DType, device: t.v.Store.Device, leaf: t.leaf(), shape: t.v.Shape, strides: t.v.Strides, same: sameMemory(g.tensors, i)}
		if a.same >= 0 {
			a.apart = t.v.Offset - g.tensors[a.same].v.Offset
		}
		a.twin = sameLeaf(g.tensors, i, a.same)
		s.tensors = append(s.tensors, a)
	}
	return s
}

// fits reports whether a program for s serves a call.
func (s *signature) fits(g *supplied) bool {
	if len(s.tensors) != len(g.tensors) || len(s.statics) != len(g.statics) {
		return false
	}
	for i, t := range g.tensors {
		a := &s.tensors[i]
		if a.dtype != t.v.DType || !array.Equal(a.shape, t.v.Shape) || !array.Equal(a.strides, t.v.Strides) || a.device != t.v.Store.Device ||
			a.leaf != t.leaf() {
			return false
		}
		same := sameMemory(g.tensors, i)
		if a.same != same || same >= 0 && a.apart != t.v.Offset-g.tensors[same].v.Offset || a.twin != sameLeaf(g.tensors, i, same) {
			return false
		}
	}
	for i, x := range g.statics {
		if s.statics[i] != x {
			return false
		}
	}
	return true
}

// differs says how a call differs from s.
func (s *signature) differs(o *signature) string {
	if s.noGrad != o.noGrad {
		return "WithoutGrad is or is not around the call"
	}
	if len(s.tensors) != len(o.tensors) {
		return fmt.Sprintf("%d tensors, before %d", len(o.tensors), len(s.tensors))
	}
	for i := range o.tensors {
		a, b := &s.tensors[i], &o.tensors[i]
		switch {
		case a.dtype != b.dtype || !array.Equal(a.shape, b.shape):
			return fmt.Sprintf("tensor %d is %s, before %s", i, array.TypeString(b.dtype, b.shape), array.TypeString(a.dtype, a.shape))
		case !array.Equal(a.strides, b.strides):
			return fmt.Sprintf("tensor %d has strides %v, before %v", i, b.strides, a.strides)
		case a.device != b.device:
			return fmt.Sprintf("tensor %d is on device %d, before %d", i, b.device, a.device)
		case a.leaf != b.leaf:
			return fmt.Sprintf("whether tensor %d records gradients changed", i)
		case a.same != b.same || a.apart != b.apart || a.twin != b.twin:
			return fmt.Sprintf("tensor %d shares its memory otherwise with the others", i)
		}
	}
	for i := range o.statics {
		if i >= len(s.statics) || s.statics[i] != o.statics[i] {
			return fmt.Sprintf("a value is %v, before %v", o.statics[i], s.statics[min(i, len(s.statics)-1)])
		}
	}
	return "gradients were there or not"
}
