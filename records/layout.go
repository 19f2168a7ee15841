package records

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
)

// A Layout says where the fields of a record lie: the dtype of a structured array of NumPy.
// [LayoutOf] returns that of a Go struct, [Packed] and [Aligned] place fields one behind the other.
// A Layout may also be written out, with all offsets; what uses it checks it. The bytes of a record
// that belong to no field are padding.
type Layout struct {
	Fields []Field
	Size   int // bytes from one record to the next
}

// A Field is a named part of a record: one element, an array of elements, or records again.
type Field struct {
	Name   string     // not empty, without "."
	DType  weft.DType // of its elements; not set if Record is
	Record *Layout    // of a field that holds records; nil for elements
	Shape  []int      // of the array in the record; none for one element
	Offset int        // bytes from the start of the record, a multiple of the element's size
}

// maxDepth bounds records within records.
const maxDepth = 16

// Packed returns a layout without padding: each field begins where the one before ends, whatever its
// Offset says. It panics with *weft.Error if an element would then not lie at a multiple of its
// size: [Aligned] adds padding.
func Packed(fields ...Field) Layout { return placed("packed", fields, false, 0) }

// Aligned returns a layout as C and Go lay structs out, whatever the Offset of fields says: each
// field begins at the next multiple of its largest element, and so does the next record.
func Aligned(fields ...Field) Layout { return placed("aligned", fields, true, 0) }

func placed(op string, fields []Field, pad bool, depth int) Layout {
	if depth == maxDepth {
		array.Failf(op, "fields", "have records in records, more than %d deep", maxDepth)
	}
	l := Layout{Fields: slices.Clone(fields)}
	align := 1
	for i := range l.Fields {
		f := &l.Fields[i]
		if pad && f.Record != nil {
			f.Record = new(placed(op, f.Record.Fields, true, depth+1))
		}
		a := f.align(0)
		if pad {
			l.Size = roundUp(l.Size, a)
		}
		f.Offset = l.Size
		l.Size += f.bytes(op)
		if l.Size > array.MaxBytes {
			array.Failf(op, "fields", "are more bytes than an int can count")
		}
		align = max(align, a)
	}
	if pad {
		l.Size = roundUp(l.Size, align)
	}
	return *newLayout(op, l).public()
}

func roundUp(n, to int) int { return (n + to - 1) / to * to }

// align is the size of the largest element of a field.
func (f *Field) align(depth int) int {
	a := 1
	if f.Record == nil {
		a = max(f.DType.Size(), 1)
	} else if depth < maxDepth {
		for i := range f.Record.Fields {
			a = max(a, f.Record.Fields[i].align(depth+1))
		}
	}
	return a
}

// bytes returns the size of a field. It panics unless that is a size.
func (f *Field) bytes(op string) int {
	size := f.DType.Size()
	if f.Record != nil {
		size = f.Record.Size
	}
	if len(f.Shape) > array.MaxRank {
		array.Failf(op, "fields", "%q has %d axes, at most %d are supported", f.Name, len(f.Shape), array.MaxRank)
	}
	n := max(size, 0)
	for _, d := range f.Shape {
		if d < 0 || d > 0 && n > array.MaxBytes/d {
			array.Failf(op, "fields", "%q has the shape %s, which is not a size", f.Name, array.ShapeString(f.Shape))
		}
		n *= d
	}
	return n
}

// Names returns the names of the fields, in order.
func (l Layout) Names() []string {
	names := make([]string, len(l.Fields))
	for i := range l.Fields {
		names[i] = l.Fields[i].Name
	}
	return names
}

// Equal reports that records of both layouts have the same fields, in the same order and at the
// same bytes.
func (l Layout) Equal(m Layout) bool {
	return l.Size == m.Size && slices.EqualFunc(l.Fields, m.Fields, func(f, g Field) bool {
		return f.Name == g.Name && f.DType == g.DType && f.Offset == g.Offset && array.Equal(f.Shape, g.Shape) &&
			(f.Record == nil) == (g.Record == nil) && (f.Record == nil || f.Record.Equal(*g.Record))
	})
}

// String returns the fields, their types and, where there is padding, their bytes:
// "position: float32[2], color: float32[3]".
func (l Layout) String() string {
	var t strings.Builder
	end := 0
	for i := range l.Fields {
		f := &l.Fields[i]
		if i > 0 {
			t.WriteString(", ")
		}
		fmt.Fprintf(&t, "%s: ", f.Name)
		size := f.DType.Size()
		if f.Record != nil {
			fmt.Fprintf(&t, "{%s}", f.Record)
			size = f.Record.Size
		} else {
			t.WriteString(f.DType.String())
		}
		if len(f.Shape) > 0 {
			t.WriteString(array.ShapeString(f.Shape))
		}
		if f.Offset != end {
			fmt.Fprintf(&t, " at %d", f.Offset)
		}
		end = f.Offset + size*array.Size(f.Shape)
	}
	if end != l.Size {
		fmt.Fprintf(&t, " of %d", l.Size)
	}
	return t.String()
}

// A layout is a [Layout] that was checked, and that nobody writes to.
type layout struct {
	Layout
	align  int            // size of the largest element
	subs   []*layout      // of fields, nil for elements
	leaves []leaf         // fields of elements at any depth, in order
	byPath map[string]int // index of a leaf by its path
}

// A leaf is a field of elements, of a record or of a record in it.
type leaf struct {
	path  string // names, with "." between
	dtype weft.DType
	at    int   // bytes from the start of the outermost record
	shape []int // of the arrays on the path, outermost first
	steps []int // strides, in bytes
}

// newLayout checks a layout, and copies it. It panics with *weft.Error unless fields are elements
// at multiples of their size, apart, and inside the record.
func newLayout(op string, l Layout) *layout { return layoutAt(op, l, 0) }

func layoutAt(op string, l Layout, depth int) *layout {
	const arg = "layout"
	switch {
	case depth == maxDepth:
		array.Failf(op, arg, "has records in records, more than %d deep", maxDepth)
	case len(l.Fields) == 0:
		array.Failf(op, arg, "has no fields")
	case l.Size < 1 || l.Size > array.MaxBytes:
		array.Failf(op, arg, "has records of %d bytes", l.Size)
	}
	out := &layout{Layout: Layout{slices.Clone(l.Fields), l.Size}, align: 1, subs: make([]*layout, len(l.Fields)), byPath: map[string]int{}}
	for i := range out.Fields {
		f := &out.Fields[i]
		f.Shape = slices.Clone(f.Shape)
		switch {
		case f.Name == "" || strings.Contains(f.Name, "."):
			array.Failf(op, arg, "has a field of the name %q: it is empty or has a dot", f.Name)
		case slices.ContainsFunc(out.Fields[:i], func(g Field) bool { return g.Name == f.Name }):
			array.Failf(op, arg, "has two fields %q", f.Name)
		case f.Record != nil && f.DType != 0:
			array.Failf(op, arg, "has a field %q with both DType and Record", f.Name)
		case f.Record != nil:
			out.subs[i] = layoutAt(op, *f.Record, depth+1)
			f.Record = &out.subs[i].Layout
		case !f.DType.Supported():
			array.Failf(op, arg, "has a field %q of type %s, which tensors do not hold", f.Name, f.DType)
		}
		out.add(op, i)
	}
	out.apart(op)
	return out
}

// add checks the place of field i, and notes its leaves.
func (l *layout) add(op string, i int) {
	f, sub := &l.Fields[i], l.subs[i]
	size, align := f.DType.Size(), f.DType.Size()
	if sub != nil {
		size, align = sub.Size, sub.align
	}
	n := f.bytes(op)
	switch {
	case f.Offset < 0 || f.Offset > l.Size-n:
		array.Failf(op, "layout", "has a field %q of %d bytes from byte %d on: it does not lie in the %d bytes of a record", f.Name, n, f.Offset, l.Size)
	case f.Offset%align != 0 || l.Size%align != 0:
		array.Failf(op, "layout", "has a field %q at byte %d of %d: both must be multiples of the %d bytes of its largest element. Aligned adds padding; in a Go struct a blank field or another order does", f.Name, f.Offset, l.Size, align)
	}
	l.align = max(l.align, align)
	steps := array.RowMajor(f.Shape)
	for k := range steps {
		steps[k] *= size
	}
	leaves := []leaf{{dtype: f.DType}}
	if sub != nil {
		leaves = sub.leaves
	}
	for _, x := range leaves {
		path := f.Name
		if x.path != "" {
			path += "." + x.path
		}
		x.path, x.at = path, f.Offset+x.at
		x.shape = slices.Concat(f.Shape, x.shape)
		x.steps = slices.Concat(steps, x.steps)
		if len(x.shape) > array.MaxRank {
			array.Failf(op, "layout", "has a field %q of %d axes, at most %d are supported", path, len(x.shape), array.MaxRank)
		}
		l.byPath[path] = len(l.leaves)
		l.leaves = append(l.leaves, x)
	}
}

// apart refuses fields that overlap.
func (l *layout) apart(op string) {
	by := l.byOffset()
	for k := 1; k < len(by); k++ {
		f, g := &l.Fields[by[k-1]], &l.Fields[by[k]]
		if f.Offset+f.bytes(op) > g.Offset {
			array.Failf(op, "layout", "has fields %q and %q that overlap", f.Name, g.Name)
		}
	}
}

// byOffset returns the indices of the fields, ascending by their bytes.
func (l *layout) byOffset() []int {
	by := make([]int, len(l.Fields))
	for i := range by {
		by[i] = i
	}
	slices.SortStableFunc(by, func(a, b int) int { return l.Fields[a].Offset - l.Fields[b].Offset })
	return by
}

// public returns a copy for a caller, who may write to it.
func (l *layout) public() *Layout {
	out := &Layout{slices.Clone(l.Fields), l.Size}
	for i := range out.Fields {
		f := &out.Fields[i]
		f.Shape = slices.Clone(f.Shape)
		if l.subs[i] != nil {
			f.Record = l.subs[i].public()
		}
	}
	return out
}

// index returns the index of a field by its name, -1 if the name belongs to none.
func (l *layout) index(name string) int {
	return slices.IndexFunc(l.Fields, func(f Field) bool { return f.Name == name })
}

// LayoutOf returns the layout of a Go struct, as Go has it in memory. Fields are bool, integers,
// floats, complex numbers, numbers of package half, and arrays of them. A struct is a record in the
// record; an embedded one adds its fields to the record itself. A blank field is padding. The tag
// records:"name" gives a field another name, and records:"-" makes it padding.
//
// It panics with *weft.Error if T is not a struct, a field is of another type (such as a pointer or
// a string), or a complex number does not lie at a multiple of its size.
func LayoutOf[T any]() Layout { return *layoutOf("layoutof", reflect.TypeFor[T]()).public() }

// ofTypes are layouts by reflect.Type.
var ofTypes sync.Map

func layoutOf(op string, t reflect.Type) *layout {
	if l, ok := ofTypes.Load(t); ok {
		return l.(*layout)
	}
	if t.Kind() != reflect.Struct {
		array.Failf(op, "T", "is %s, want a struct", t)
	}
	l := newLayout(op, Layout{Fields: fieldsOf(op, t, 0), Size: int(t.Size())})
	ofTypes.Store(t, l)
	return l
}

// fieldsOf returns the fields of a struct that lies at a byte of a record.
func fieldsOf(op string, t reflect.Type, at int) (list []Field) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, tagged := f.Tag.Lookup("records")
		x := Field{Name: f.Name, Offset: at + int(f.Offset)}
		if tagged && name != "" {
			x.Name = name
		}
		e := f.Type
		for ; e.Kind() == reflect.Array; e = e.Elem() {
			x.Shape = append(x.Shape, e.Len())
		}
		d, ok := core.DTypeOf(e)
		switch {
		case ok:
			x.DType = d
		case e.Kind() != reflect.Struct:
			array.Failf(op, "T", "has a field %s of type %s: want bool, integers, floats, complex numbers, arrays or structs of them", f.Name, f.Type)
		case f.Anonymous && !tagged:
			list = append(list, fieldsOf(op, e, x.Offset)...)
			continue
		default:
			x.Record = &Layout{fieldsOf(op, e, 0), int(e.Size())}
		}
		if f.Name != "_" && name != "-" {
			list = append(list, x)
		}
	}
	return list
}
