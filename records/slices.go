package records

import (
	"reflect"
	"runtime"
	"slices"
	"unsafe"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
)

// FromSlice returns records of the given shape (none: one dimension) that use a slice of structs
// itself as memory: nothing is copied, and writes show on both sides. [Borrow] is the way out. The
// layout is that of [LayoutOf], which says what T may be. It panics with *weft.Error if the shape
// does not have len(data) records.
func FromSlice[T any](data []T, shape ...int) *Array {
	const op = "fromslice"
	lay := layoutOf(op, reflect.TypeFor[T]())
	shape = slices.Clone(shape)
	if len(shape) == 0 {
		shape = []int{len(data)}
	}
	if n := array.CheckShape(op, shape, weft.Uint8); n != len(data) {
		array.Failf(op, "shape", "%s has %d records, the slice %d", array.ShapeString(shape), n, len(data))
	}
	return &Array{lay, weft.FromSlice(bytesOf(data), append(shape, lay.Size)...)}
}

// From returns records of a struct, or of nested slices or arrays of structs, in a copy. It panics
// with *weft.Error if rows differ in length.
func From(x any) *Array { return from("from", x) }

func from(op string, x any) *Array {
	v := reflect.ValueOf(x)
	if !v.IsValid() {
		array.Failf(op, "x", "is nil")
	}
	t, depth := v.Type(), 0
	for ; t.Kind() == reflect.Slice || t.Kind() == reflect.Array; t = t.Elem() {
		depth++
	}
	if t.Kind() != reflect.Struct {
		array.Failf(op, "x", "is %T: want structs, or nested slices of them", x)
	}
	lay := layoutOf(op, t)
	shape := make([]int, depth)
	for k, w := 0, v; k < depth && w.Len() > 0; k, w = k+1, w.Index(0) {
		shape[k] = w.Len()
	}
	n := array.CheckShape(op, append(slices.Clone(shape), lay.Size), weft.Uint8) / lay.Size
	flat := reflect.MakeSlice(reflect.SliceOf(t), n, n)
	at := 0
	var fill func(w reflect.Value, k int)
	fill = func(w reflect.Value, k int) {
		if k == depth {
			flat.Index(at).Set(w)
			at++
			return
		}
		if w.Len() != shape[k] {
			array.Failf(op, "x", "is ragged: a row of %d where the first has %d", w.Len(), shape[k])
		}
		for i := range w.Len() {
			fill(w.Index(i), k+1)
		}
	}
	fill(v, 0)
	var b []byte
	if n > 0 {
		b = unsafe.Slice((*byte)(flat.UnsafePointer()), n*lay.Size)
	}
	out := &Array{lay, weft.FromSlice(b, append(shape, lay.Size)...)}
	runtime.KeepAlive(flat)
	return out
}

// Data returns the records in row-major order as a new slice of structs. The layout of T has the
// array's fields, in any order and with any padding. It panics with *weft.Error if a field is
// missing, or has another type or shape.
func Data[T any](a *Array) []T {
	const op = "data"
	defer array.Named(op).End()
	a.check(op)
	lay := layoutOf(op, reflect.TypeFor[T]())
	if !lay.Equal(a.lay.Layout) {
		a = a.converted(op, lay, false)
	}
	out := make([]T, a.Len())
	weft.CopyTo(a.bytes.Reshape(-1), bytesOf(out))
	return out
}

// Borrow lends f the records of a contiguous array without copying, as [weft.Borrow] does. f must not
// keep the slice, and may write to it: all of it then counts as written. It panics with *weft.Error
// if the array is not contiguous or its layout is not that of T ([LayoutOf]).
func Borrow[T any](a *Array, f func(data []T)) {
	const op = "borrow"
	a.check(op)
	lay := layoutOf(op, reflect.TypeFor[T]())
	if !lay.Equal(a.lay.Layout) {
		array.Failf(op, "T", "has the layout {%s}, the array {%s}: Data converts", lay, a.lay)
	}
	if f == nil {
		array.Failf(op, "f", "is nil")
	}
	weft.Borrow(a.bytes, func(b []uint8) {
		var data []T
		if len(b) > 0 {
			data = unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/lay.Size)
		}
		f(data)
	})
}

// To returns a copy of the records in another layout, whose fields are found by name. Elements are
// converted as by [weft.Tensor.To]. Fields of a that the layout does not have are left out. It
// panics with *weft.Error if a does not have one that the layout has, or has it in another shape.
func (a *Array) To(l Layout) *Array {
	a.check("to")
	defer array.Named("to").End()
	return a.converted("to", newLayout("to", l), true)
}

// converted returns a copy in another layout. Without other, element types must be equal.
func (a *Array) converted(op string, lay *layout, other bool) *Array {
	out := &Array{lay, a.bytes.Device().ZerosOf(weft.Uint8, append(a.Shape(), lay.Size)...)}
	for i := range lay.leaves {
		f := &lay.leaves[i]
		g := a.like(op, f)
		if !other && g.dtype != f.dtype {
			array.Failf(op, "T", "has a field %q of %s, the array of %s: To converts", f.path, f.dtype, g.dtype)
		}
		if x := a.leaf(op, g); x.Size() > 0 {
			out.leaf(op, f).Assign(x.To(f.dtype))
		}
	}
	return out
}

// like returns the leaf of a that has the path and the shape of another layout's leaf.
func (a *Array) like(op string, f *leaf) *leaf {
	i, ok := a.lay.byPath[f.path]
	if !ok {
		array.Failf(op, "", "there is no field %q in {%s}", f.path, a.lay)
	}
	g := &a.lay.leaves[i]
	if !array.Equal(g.shape, f.shape) {
		array.Failf(op, "", "the field %q has the shape %s, and %s is wanted", f.path, array.ShapeString(g.shape), array.ShapeString(f.shape))
	}
	return g
}

// Assign writes x into the records, and returns a. x is an array that broadcasts to a's shape, a
// struct or nested slices of structs ([From]), which have a's fields, found by name; or a Go
// number, written to every element of every field. Padding is written if the layouts are equal.
func (a *Array) Assign(x any) *Array {
	const op = "assign"
	defer array.Named(op).End()
	a.check(op)
	b, ok := x.(*Array)
	switch {
	case ok:
		b.check(op)
	case isNumber(x):
		for i := range a.lay.leaves {
			a.leaf(op, &a.lay.leaves[i]).Assign(x)
		}
		return a
	default:
		b = from(op, x)
	}
	if !array.BroadcastsTo(b.sizes(), a.sizes()) {
		array.Failf(op, "x", "has shape %s, which does not broadcast to %s", array.ShapeString(b.sizes()), array.ShapeString(a.sizes()))
	}
	if b.Device() != a.Device() {
		b = b.On(a.Device())
	}
	if a.lay.Equal(b.lay.Layout) {
		a.bytes.Assign(b.bytes)
		return a
	}
	if (*core.Tensor)(a.bytes).Layout().Overlaps((*core.Tensor)(b.bytes).Layout()) {
		b = b.Clone()
	}
	for i := range a.lay.leaves {
		b.like(op, &a.lay.leaves[i]) // all or nothing
	}
	for i := range a.lay.leaves {
		f := &a.lay.leaves[i]
		a.leaf(op, f).Assign(b.leaf(op, b.like(op, f)))
	}
	return a
}

// isNumber reports a Go number.
func isNumber(x any) bool {
	if x == nil {
		return false
	}
	_, ok := core.DTypeOf(reflect.TypeOf(x))
	return ok
}
