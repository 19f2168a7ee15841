package records

import (
	"fmt"
	"slices"
	"unsafe"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
)

// An Array is records of one layout, of any shape. Functions such as [Zeros] and [FromSlice] make
// one; the zero Array is not one.
//
// Indexing and reshaping return arrays on the same memory, with the layout of the whole, as methods
// of *weft.Tensor do; their documentation holds here too.
type Array struct {
	lay   *layout
	bytes *weft.Tensor // uint8 [shape..., size of a record], whose last axis has stride 1
}

// Zeros returns records of zeros, of that shape; a single record if no size is given. It panics with
// *weft.Error if the layout or the shape is not possible.
func Zeros(l Layout, shape ...int) *Array {
	lay := newLayout("zeros", l)
	return &Array{lay, weft.ZerosOf(weft.Uint8, append(slices.Clone(shape), lay.Size)...)}
}

// Over returns the records that a tensor of bytes holds, on its memory: uint8 [shape..., Size], such
// as [Array.Bytes] returns. The last axis is contiguous. It panics with *weft.Error if the tensor is of
// another kind, or its memory is not aligned to the largest element of the layout.
func Over(l Layout, bytes *weft.Tensor) *Array {
	const op = "over"
	lay := newLayout(op, l)
	(*core.Tensor)(bytes).Check(op)
	v := (*core.Tensor)(bytes).Layout()
	n := len(v.Shape) - 1
	if v.DType != weft.Uint8 || n < 0 || v.Shape[n] != lay.Size || lay.Size > 1 && v.Strides[n] != 1 {
		array.Failf(op, "bytes", "is %s, want contiguous rows uint8[... %d]", array.TypeString(v.DType, v.Shape), lay.Size)
	}
	aligned := v.Offset%lay.align == 0 && core.AlignedTo(v.Store, lay.align)
	for i, step := range v.Strides[:n] {
		aligned = aligned && (step%lay.align == 0 || v.Shape[i] == 1)
	}
	if !aligned && v.Size() > 0 {
		array.Failf(op, "bytes", "has records that do not lie at multiples of %d bytes, the size of the largest element: Clone makes a copy that does", lay.align)
	}
	return &Array{lay, bytes}
}

// check refuses a nil Array and the zero Array.
func (a *Array) check(op string) {
	if a == nil || a.lay == nil {
		array.Failf(op, "", "the array is nil or the zero Array: functions such as Zeros make one")
	}
}

// with returns records of a's layout in other bytes.
func (a *Array) with(bytes *weft.Tensor) *Array { return &Array{a.lay, bytes} }

// Bytes returns the memory of the records as a tensor, uint8 [shape..., Size]: what package weft does
// with memory it does with records too, such as Digest, Release and Sink. [Over] is the way back.
func (a *Array) Bytes() *weft.Tensor {
	a.check("bytes")
	return a.bytes
}

// Layout returns where the fields lie, in a copy.
func (a *Array) Layout() Layout {
	a.check("layout")
	return *a.lay.public()
}

// sizes are the sizes of the axes, which must not be written to.
func (a *Array) sizes() []int {
	s := (*core.Tensor)(a.bytes).Sizes()
	return s[: len(s)-1 : len(s)-1]
}

// Shape returns the sizes of the axes, in a copy.
func (a *Array) Shape() []int {
	a.check("shape")
	return slices.Clone(a.sizes())
}

// Rank returns the number of axes.
func (a *Array) Rank() int {
	a.check("rank")
	return len(a.sizes())
}

// Dim returns the size of an axis, which may count from the back.
func (a *Array) Dim(axis int) int {
	a.check("dim")
	return a.sizes()[array.Axis("dim", axis, len(a.sizes()))]
}

// Len returns the number of records.
func (a *Array) Len() int {
	a.check("len")
	return array.Size(a.sizes())
}

// IsContiguous reports that records lie in row-major order without gaps.
func (a *Array) IsContiguous() bool {
	a.check("iscontiguous")
	return a.bytes.IsContiguous()
}

// Device returns the device whose memory the records lie in.
func (a *Array) Device() weft.Device {
	a.check("device")
	return a.bytes.Device()
}

// On returns a on a device: a itself if it is there, else a copy.
func (a *Array) On(dev weft.Device) *Array {
	a.check("on")
	if a.bytes.Device() == dev {
		return a
	}
	return a.with(a.bytes.On(dev))
}

// Field returns one field of all records as a tensor on the same memory: of the array's shape,
// followed by that of the field. A field of a record in the record has the names of both, with a
// dot between: "bounds.min". It panics with *weft.Error if there is no such field of elements.
func (a *Array) Field(name string) *weft.Tensor {
	const op = "field"
	a.check(op)
	i, ok := a.lay.byPath[name]
	if !ok {
		if a.lay.index(name) >= 0 {
			array.Failf(op, "name", "%q holds records: Records returns them", name)
		}
		array.Failf(op, "name", "%q is none of the fields %q", name, a.paths())
	}
	return a.leaf(op, &a.lay.leaves[i])
}

func (a *Array) paths() (names []string) {
	for i := range a.lay.leaves {
		names = append(names, a.lay.leaves[i].path)
	}
	return names
}

// leaf is a field as a tensor.
func (a *Array) leaf(op string, f *leaf) *weft.Tensor {
	size := f.dtype.Size()
	v := (*core.Tensor)(a.bytes).Layout()
	n := len(v.Shape) - 1
	w := array.View{Store: v.Store, DType: f.dtype, Shape: slices.Concat(v.Shape[:n], f.shape), Strides: slices.Concat(v.Strides[:n], f.steps)}
	array.CheckShape(op, w.Shape, f.dtype)
	for i := range w.Strides {
		w.Strides[i] /= size
	}
	if w.Size() > 0 {
		w.Offset = (v.Offset + f.at) / size
	}
	return (*weft.Tensor)((*core.Tensor)(a.bytes).Retyped(w))
}

// Records returns a field that holds records, of all records, on the same memory: of the array's
// shape, followed by that of the field. It panics with *weft.Error if there is no such field.
func (a *Array) Records(name string) *Array {
	const op = "records"
	a.check(op)
	i := a.lay.index(name)
	if i < 0 || a.lay.subs[i] == nil {
		array.Failf(op, "name", "%q is not a field of records", name)
	}
	f, sub := &a.lay.Fields[i], a.lay.subs[i]
	v := (*core.Tensor)(a.bytes).Layout()
	n := len(v.Shape) - 1
	steps := array.RowMajor(f.Shape)
	for k := range steps {
		steps[k] *= sub.Size
	}
	w := array.View{Store: v.Store, DType: weft.Uint8, Shape: slices.Concat(v.Shape[:n], f.Shape, []int{sub.Size}), Strides: slices.Concat(v.Strides[:n], steps, []int{1})}
	array.CheckShape(op, w.Shape, weft.Uint8)
	if w.Size() > 0 {
		w.Offset = v.Offset + f.Offset
	}
	return &Array{sub, (*weft.Tensor)((*core.Tensor)(a.bytes).Retyped(w))}
}

// Select returns the same records with some of their fields, in that order, on the same memory; the
// rest is padding. [Array.To] copies them into a layout without it.
func (a *Array) Select(names ...string) *Array {
	const op = "select"
	a.check(op)
	l := Layout{Size: a.lay.Size}
	for _, name := range names {
		i := a.lay.index(name)
		if i < 0 {
			array.Failf(op, "name", "%q is none of the fields %q", name, a.lay.Names())
		}
		l.Fields = append(l.Fields, a.lay.Fields[i])
	}
	return &Array{newLayout(op, l), a.bytes}
}

// Track makes the records know which of their bytes are written: see [weft.Track]. Bytes count from
// the first record; Item: new(a.Layout().Size) keeps records together.
func (a *Array) Track(opts ...weft.TrackOpts) *weft.Tracked {
	a.check("track")
	return weft.Track(a.bytes, opts...)
}

// bytesOf are the bytes of a slice, which the caller keeps alive.
func bytesOf[T any](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(*new(T))))
}

// describe names the records in errors.
func (a *Array) describe() string {
	return fmt.Sprintf("%s records {%s}", array.ShapeString(a.sizes()), a.lay)
}
