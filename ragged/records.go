package ragged

import (
	"fmt"
	"iter"
	"reflect"
	"strings"

	"weft"
	"weft/internal/array"
	"weft/records"
)

// Records is a list whose items are records that lie side by side, as the vertices of a graphics
// processor do. A [List] of structs has a column for each field instead; both have the same items,
// edits and rules about views. [OfRecords] makes one; the zero Records is not one.
type Records struct {
	rows   *List // of bytes, uint8 [rows, size of a record]
	layout records.Layout
	data   *records.Array // over of
	of     *weft.Tensor
}

// OfRecords returns a list of nested slices of structs, such as [][]vertex, in a copy.
func OfRecords(x any) *Records {
	const op = "ofrecords"
	defer array.Named(op).End()
	v := reflect.ValueOf(x)
	if !v.IsValid() || v.Kind() != reflect.Slice || v.Type().Elem().Kind() != reflect.Slice {
		array.Failf(op, "x", "is %T, want slices of slices of structs", x)
	}
	a, sizes := joined(v)
	return RecordsFromSizes(a, sizes)
}

// joined returns the records of all slices of a slice, and their lengths.
func joined(v reflect.Value) (*records.Array, []int) {
	flat := reflect.MakeSlice(v.Type().Elem(), 0, 0)
	sizes := make([]int, v.Len())
	for i := range sizes {
		sizes[i] = v.Index(i).Len()
		flat = reflect.AppendSlice(flat, v.Index(i))
	}
	return records.From(flat.Interface()), sizes
}

// RecordsFromSizes returns a list of records of one dimension, on their memory, divided into items
// as by [FromSizes]. The first change of sizes copies them.
func RecordsFromSizes(a *records.Array, sizes any) *Records {
	const op = "recordsfromsizes"
	defer array.Named(op).End()
	if a.Rank() != 1 {
		array.Failf(op, "a", "has shape %s, want one axis", array.ShapeString(a.Shape()))
	}
	return &Records{rows: FromSizes(a.Bytes(), sizes), layout: a.Layout()}
}

// EmptyRecords returns a list without items, for records of a layout.
func EmptyRecords(l records.Layout) *Records {
	const op = "emptyrecords"
	defer array.Named(op).End()
	a := records.Zeros(l, 0) // refuses what is not a layout
	return &Records{rows: Empty(weft.Uint8, l.Size), layout: a.Layout()}
}

// check refuses nil and the zero Records.
func (r *Records) check(op string) {
	if r == nil || r.rows == nil {
		array.Failf(op, "", "the list is nil or the zero Records: functions such as OfRecords make one")
	}
}

// with returns records of the same layout in another list of bytes.
func (r *Records) with(rows *List) *Records { return &Records{rows: rows, layout: r.layout} }

// array returns all records.
func (r *Records) array() *records.Array {
	if t := r.rows.Data(); t != r.of {
		r.data, r.of = records.Over(r.layout, t), t
	}
	return r.data
}

// Len returns the number of items.
func (r *Records) Len() int {
	r.check("len")
	return r.rows.Len()
}

// Rows returns the number of records of all items together.
func (r *Records) Rows() int {
	r.check("rows")
	return r.rows.Rows()
}

// Sizes returns the numbers of records of the items, int64 [items].
func (r *Records) Sizes() *weft.Tensor {
	r.check("sizes")
	return r.rows.Sizes()
}

// Offsets returns where items begin and, last, where the last one ends: int64 [items+1], from 0 on.
// They must not be written to.
func (r *Records) Offsets() *weft.Tensor {
	r.check("offsets")
	return r.rows.Offsets()
}

// Layout returns where the fields of a record lie.
func (r *Records) Layout() records.Layout {
	r.check("layout")
	return r.array().Layout()
}

// Data returns all records side by side, on the list's memory.
func (r *Records) Data() *records.Array {
	r.check("data")
	return r.array()
}

// At returns the records of an item, which may count from the back, on the list's memory.
func (r *Records) At(i int) *records.Array {
	r.check("at")
	lo, hi := r.span("at", i)
	return r.array().Slice(weft.Range(lo, hi))
}

// span returns the rows of item i.
func (r *Records) span(op string, i int) (lo, hi int) {
	r.rows.check(op)
	i = resolveIndex(op, i, r.rows.Len())
	o := r.rows.part.Ints()
	return int(o[i]), int(o[i+1])
}

// All calls the body of a loop with the number and the records of each item, on the list's memory.
func (r *Records) All() iter.Seq2[int, *records.Array] {
	r.check("all")
	return func(yield func(int, *records.Array) bool) {
		for i := range r.Len() {
			if !yield(i, r.At(i)) {
				return
			}
		}
	}
}

// Field returns one field of all records, as a list of the same items on the same memory, whose
// values may be changed and whose sizes may not. [records.Array.Field] says what names are.
func (r *Records) Field(name string) *List {
	r.check("field")
	r.rows.check("field")
	l := r.rows
	return &List{part: l.part, rows: l.rows, cols: []column{{live: r.array().Field(name)}}, mode: max(l.mode, window)}
}

// Range returns the items from start to before stop, as [List.Range] does.
func (r *Records) Range(start, stop int, step ...int) *Records {
	r.check("range")
	return r.with(r.rows.Range(start, stop, step...))
}

// Take returns the items with the given numbers in a copy, as [List.Take] does.
func (r *Records) Take(items any) *Records {
	r.check("take")
	return r.with(r.rows.Take(items))
}

// Clone returns a list of the same items in memory of its own.
func (r *Records) Clone() *Records {
	r.check("clone")
	return r.with(r.rows.Clone())
}

// value returns x as what a list of bytes takes.
func (r *Records) value(op string, x any) any {
	fit := func(a *records.Array) *weft.Tensor {
		if !a.Layout().Equal(r.layout) {
			a = a.To(r.layout)
		}
		return a.Bytes()
	}
	switch x := x.(type) {
	case *records.Array:
		return fit(x)
	case *Records:
		x.check(op)
		return FromOffsets(fit(x.array()), x.rows.Offsets())
	}
	v := reflect.ValueOf(x)
	if v.IsValid() && v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Slice {
		a, sizes := joined(v)
		return FromSizes(fit(a), sizes)
	}
	return fit(records.From(x))
}

// Set writes item i, which may count from the back. A struct, or a single record, is written to each
// record of the item. A slice of structs, or records of one dimension, become the item, which grows
// or shrinks to their number. Fields are found by name, and must all be there.
func (r *Records) Set(i int, x any) {
	const op = "set"
	defer array.Named(op).End()
	r.check(op)
	r.rows.Set(i, r.value(op, x))
}

// Insert writes new items before item at, which may count from the back. At [Records.Len] it
// appends. A slice of structs, or records of one dimension, are one item; nested slices, records of
// two dimensions or a list are several. With sizes, as [FromSizes] takes them, records of one
// dimension are divided into items. [List.Insert] says what it costs.
func (r *Records) Insert(at int, x any, sizes ...any) {
	const op = "insert"
	defer array.Named(op).End()
	r.check(op)
	r.rows.Insert(at, r.value(op, x), sizes...)
}

// Append writes new items behind the last: see [Records.Insert].
func (r *Records) Append(x any, sizes ...any) {
	const op = "append"
	defer array.Named(op).End()
	r.check(op)
	r.rows.Append(r.value(op, x), sizes...)
}

// Delete removes item i, which may count from the back.
func (r *Records) Delete(i int) {
	r.check("delete")
	r.rows.Delete(i)
}

// DeleteRange removes the items from start to before stop, as [List.DeleteRange] does.
func (r *Records) DeleteRange(start, stop int, step ...int) {
	r.check("deleterange")
	r.rows.DeleteRange(start, stop, step...)
}

// Clear removes all items. The memory stays reserved.
func (r *Records) Clear() {
	r.check("clear")
	r.rows.Clear()
}

// Reserve makes room for further items and records, as [List.Reserve] does.
func (r *Records) Reserve(items, rows int) {
	r.check("reserve")
	r.rows.Reserve(items, rows)
}

// Track makes the list know which of its bytes are written: see [List.Track].
func (r *Records) Track(opts ...weft.TrackOpts) *Tracked {
	r.check("track")
	return r.rows.Track(opts...)
}

// String shows the list as the verb %v does.
func (r *Records) String() string { return fmt.Sprintf("%v", r) }

// Format implements [fmt.Formatter]: items in brackets, records as [records.Array.Format] prints
// them. Beyond 1000 records only the items at the edges are shown; %+v shows all.
func (r *Records) Format(s fmt.State, verb rune) {
	switch {
	case s == nil:
		array.Failf("format", "s", "is nil: functions of package fmt call Format")
	case r == nil || r.rows == nil:
		fmt.Fprint(s, "<nil>")
		return
	}
	n, edges := r.Len(), r.Rows() > summaryAbove && !s.Flag('+')
	items := []string{"["}
	for i := 0; i < n; i++ {
		if edges && n > 2*edgeItems && i == edgeItems {
			items = append(items, "...")
			i = n - edgeItems
		}
		items = append(items, fmt.Sprintf(fmt.FormatString(s, verb), r.At(i)))
	}
	fmt.Fprint(s, strings.Join(append(items, "]"), " "))
}
