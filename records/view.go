package records

import (
	"slices"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
)

// At returns the records at the given indices of the first axes, on the same memory: with an index
// for each axis a single record. Negative indices count from the back.
func (a *Array) At(index ...int) *Array {
	const op = "at"
	defer array.Named(op).End()
	a.check(op)
	if n := len(a.sizes()); len(index) > n {
		array.Failf(op, "index", "has %d indices, the array %d axes", len(index), n)
	}
	return a.with(a.bytes.At(index...))
}

// Slice returns a part of the records, on the same memory: see [weft.Tensor.Slice].
func (a *Array) Slice(spans ...weft.Span) *Array {
	const op = "slice"
	defer array.Named(op).End()
	a.check(op)
	axes := 0
	for _, s := range spans {
		if s != weft.NewAxis && s != weft.Ellipsis {
			axes++
		}
	}
	if n := len(a.sizes()); axes > n {
		array.Failf(op, "spans", "are for %d axes, the array has %d", axes, n)
	}
	return a.with(a.bytes.Slice(whole(spans)...))
}

// whole returns spans that leave the axis of bytes as it is.
func whole(spans []weft.Span) []weft.Span {
	out := slices.Clone(spans)
	if !slices.Contains(spans, weft.Ellipsis) {
		out = append(out, weft.Ellipsis)
	}
	return append(out, weft.All)
}

// Take returns the records at places along an axis, in a copy: see [weft.Tensor.IndexSelect].
func (a *Array) Take(axis int, places *weft.Tensor) *Array {
	a.check("take")
	defer array.Named("take").End()
	return a.with(a.bytes.IndexSelect(array.Axis("take", axis, len(a.sizes())), places))
}

// Mask returns the records where mask, Bool of the array's shape, is true, in a copy: a vector.
func (a *Array) Mask(mask *weft.Tensor) *Array {
	const op = "mask"
	defer array.Named(op).End()
	a.check(op)
	(*core.Tensor)(mask).Check(op)
	if mask.DType() != weft.Bool || !slices.Equal(mask.Shape(), a.sizes()) {
		array.Failf(op, "mask", "is %s, want bool%s", array.TypeString(mask.DType(), mask.Shape()), array.ShapeString(a.sizes()))
	}
	return a.with(a.bytes.Reshape(-1, a.lay.Size).IndexSelect(0, mask.Reshape(-1).NonZero()))
}

// Reshape returns the records in row-major order in another shape: on the same memory where strides
// allow, else a copy. One size may be -1: what is left.
func (a *Array) Reshape(shape ...int) *Array {
	a.check("reshape")
	defer array.Named("reshape").End()
	return a.with(a.bytes.Reshape(append(slices.Clone(shape), a.lay.Size)...))
}

// Permute returns the records with their axes in another order, on the same memory: see
// [weft.Tensor.Permute].
func (a *Array) Permute(order ...int) *Array {
	a.check("permute")
	defer array.Named("permute").End()
	order = slices.Clone(order)
	for i, k := range order {
		order[i] = array.Axis("permute", k, len(a.sizes()))
	}
	return a.with(a.bytes.Permute(append(order, len(a.sizes()))...))
}

// T returns the records with their axes in reverse order, on the same memory.
func (a *Array) T() *Array {
	a.check("t")
	defer array.Named("t").End()
	order := make([]int, len(a.sizes()))
	for i := range order {
		order[i] = len(order) - 1 - i
	}
	return a.Permute(order...)
}

// Clone returns a contiguous copy of the records, padding included.
func (a *Array) Clone() *Array {
	a.check("clone")
	defer array.Named("clone").End()
	return a.with(a.bytes.Clone().Contiguous())
}

// Contiguous returns a if it is contiguous, else a copy that is.
func (a *Array) Contiguous() *Array {
	a.check("contiguous")
	defer array.Named("contiguous").End()
	return a.with(a.bytes.Contiguous())
}

// Cat returns the records of arrays of one layout behind one another along an axis. It panics with
// *weft.Error if there are none, or layouts differ.
func Cat(list []*Array, axis int) *Array {
	const op = "cat"
	defer array.Named(op).End()
	if len(list) == 0 {
		array.Failf(op, "list", "is empty")
	}
	ts := make([]*weft.Tensor, len(list))
	for i, a := range list {
		a.check(op)
		if !a.lay.Equal(list[0].lay.Layout) {
			array.Failf(op, "list", "has the layouts {%s} and {%s}: To converts", list[0].lay, a.lay)
		}
		ts[i] = a.bytes
	}
	return list[0].with(weft.Cat(ts, array.Axis(op, axis, len(list[0].sizes()))))
}

// Eq returns where the fields of two arrays are equal, Bool, of the shape that both broadcast to. b
// is an *Array, a struct or nested slices of structs, with a's fields, found by name.
func (a *Array) Eq(b any) *weft.Tensor {
	const op = "eq"
	defer array.Named(op).End()
	a.check(op)
	x, ok := b.(*Array)
	if !ok {
		x = from(op, b)
	}
	x.check(op)
	var out *weft.Tensor
	for i := range a.lay.leaves {
		f := &a.lay.leaves[i]
		eq := a.leaf(op, f).Eq(x.leaf(op, x.like(op, f)))
		for range f.shape {
			eq = eq.All(-1)
		}
		if out == nil {
			out = eq
		} else {
			out = out.LogicalAnd(eq)
		}
	}
	return out
}

// ArgSort returns the places of the records in ascending order along an axis, int64, in a's shape.
// The order is that of the first field named; where it is equal, that of the next. Without names
// all fields count, in their order. Each is one real number a record. Equal records stay in order.
func (a *Array) ArgSort(axis int, names ...string) *weft.Tensor {
	const op = "argsort"
	defer array.Named(op).End()
	a.check(op)
	axis = array.Axis(op, axis, len(a.sizes()))
	if len(names) == 0 {
		names = a.paths()
	}
	var places *weft.Tensor
	for _, name := range slices.Backward(names) {
		key := a.Field(name)
		if key.Rank() != len(a.sizes()) {
			array.Failf(op, "names", "%q is an array in each record, which has no order", name)
		}
		if places == nil {
			places = key.ArgSort(axis)
			continue
		}
		places = places.TakeAlongAxis(axis, key.TakeAlongAxis(axis, places).ArgSort(axis))
	}
	return places
}

// Sort returns the records in ascending order along an axis, in a copy: see [Array.ArgSort].
func (a *Array) Sort(axis int, names ...string) *Array {
	a.check("sort")
	defer array.Named("sort").End()
	places := a.ArgSort(axis, names...).Unsqueeze(-1)
	places = places.Expand(append(a.Shape(), a.lay.Size)...)
	return a.with(a.bytes.TakeAlongAxis(array.Axis("sort", axis, len(a.sizes())), places))
}
