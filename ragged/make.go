package ragged

import (
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"unsafe"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
)

// A rowType is how rows lie in Go memory: the fields of a struct, or one without a name.
type rowType struct {
	size   int // bytes from one row to the next
	fields []field
}

type field struct {
	name  string
	dtype weft.DType
	inner []int
	at    int // bytes from the start of the row
	size  int // bytes
}

// rowTypeOf returns the layout of a Go type: a number, an array of numbers, or a struct of
// them.
func rowTypeOf(op string, t reflect.Type) rowType {
	r := rowType{size: int(t.Size())}
	if t.Kind() != reflect.Struct {
		r.fields = []field{fieldOf(op, "", t)}
		return r
	}
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Name == "_" {
			continue
		}
		x := fieldOf(op, f.Name, f.Type)
		x.at = int(f.Offset)
		r.fields = append(r.fields, x)
	}
	if len(r.fields) == 0 {
		array.Failf(op, "x", "the struct %s has no fields", t)
	}
	return r
}

func fieldOf(op, name string, t reflect.Type) field {
	f := field{name: name, size: int(t.Size())}
	for t.Kind() == reflect.Array {
		f.inner = append(f.inner, t.Len())
		t = t.Elem()
	}
	d, ok := core.DTypeOf(t)
	if !ok || d.Size() != int(t.Size()) {
		if name != "" {
			array.Failf(op, "x", "field %s is %s: want bool, integers, floats, complex numbers, or arrays of them", name, t)
		}
		array.Failf(op, "x", "has elements of type %s: want bool, integers, floats, complex numbers, arrays of them, or structs of those", t)
	}
	f.dtype = d
	return f
}

// columns returns new memory for n rows.
func (r rowType) columns(n int) []column {
	cols := make([]column, len(r.fields))
	for i, f := range r.fields {
		cols[i] = column{name: f.name, own: true, live: (*weft.Tensor)(core.Make(0, f.dtype, append([]int{n}, f.inner...)))}
	}
	return cols
}

// memory returns the bytes of a contiguous tensor, which the caller keeps alive.
func memory(t *weft.Tensor) []byte {
	v := (*core.Tensor)(t).Read()
	b, _ := v.Memory()
	return b
}

// put writes n rows that lie in Go memory from p on into the columns' memory, from row at on.
func (r rowType) put(cols [][]byte, at int, p unsafe.Pointer, n int) {
	for i, f := range r.fields {
		dst := cols[i][at*f.size : (at+n)*f.size]
		if f.size == r.size {
			copy(dst, unsafe.Slice((*byte)(p), n*r.size))
			continue
		}
		for k := range n {
			copy(dst[k*f.size:(k+1)*f.size], unsafe.Slice((*byte)(unsafe.Add(p, k*r.size+f.at)), f.size))
		}
	}
}

// fillColumns calls f with the memory of new columns, which f fills. For memory that the host does
// not reach, f fills a buffer that is copied there.
func fillColumns(cols []column, f func(b [][]byte)) {
	b := make([][]byte, len(cols))
	for i := range cols {
		if t := cols[i].live; (*core.Tensor)(t).Reached() {
			b[i] = memory(t)
		} else {
			b[i] = make([]byte, t.Size()*t.DType().Size())
		}
	}
	f(b)
	for i := range cols {
		if t := (*core.Tensor)(cols[i].live); !t.Reached() {
			core.WriteBytes(t, 0, b[i])
		}
	}
}

// Of returns a list of nested slices, copied: [][]float64{{0}, {1, 2}}, or deeper ones. A row is
// a number of any element type, an array of them such as [3]float32, or a struct of both, whose
// fields become columns. A slice of rows, []float64{0, 1}, is a list of items of one row each.
func Of(x any) *List { return of("of", x) }

func of(op string, x any) *List {
	v := reflect.ValueOf(x)
	if !v.IsValid() {
		array.Failf(op, "x", "is nil: want nested slices")
	}
	if v.Kind() != reflect.Slice {
		array.Failf(op, "x", "is %T: want nested slices", x)
	}
	depth, t := 0, v.Type()
	for ; t.Kind() == reflect.Slice; t = t.Elem() {
		depth++
	}
	r := rowTypeOf(op, t)
	if depth == 1 {
		l := &List{cols: r.columns(v.Len()), rows: v.Len()}
		fillColumns(l.cols, func(b [][]byte) { r.put(b, 0, v.UnsafePointer(), v.Len()) })
		runtime.KeepAlive(x)
		runtime.KeepAlive(l)
		l.part = evenPartition(weft.CPU, v.Len(), 1)
		return l
	}
	// Offsets first: they say how much memory rows take.
	level := []reflect.Value{v}
	parts := make([]*partition, depth-1)
	for k := range parts {
		var next []reflect.Value
		offsets := []int64{0}
		n := int64(0)
		for _, s := range level {
			for i := range s.Len() {
				e := s.Index(i)
				next = append(next, e)
				n += int64(e.Len())
				offsets = append(offsets, n)
			}
		}
		parts[k], level = partitionOf(weft.CPU, offsets), next
	}
	last := parts[depth-2]
	l := &List{outer: parts[:depth-2], part: last}
	l.rows = int(last.Ints()[last.Items()])
	l.cols = r.columns(l.rows)
	fillColumns(l.cols, func(b [][]byte) {
		for i, s := range level {
			r.put(b, int(last.Ints()[i]), s.UnsafePointer(), s.Len())
		}
	})
	runtime.KeepAlive(x)
	runtime.KeepAlive(l)
	return l
}

// evenPartition divides n rows on a device into items of the same size.
func evenPartition(dev weft.Device, n, size int) *partition {
	if n == 0 {
		return partitionOf(dev, []int64{0})
	}
	return newPartition(dev.Arange(0, n+1, size))
}

// rowsOf returns columns of flat data: a tensor, whose memory is used, or a slice of rows, which
// is copied.
func rowsOf(op string, data any) (cols []column, n int) {
	t, ok := data.(*weft.Tensor)
	if !ok {
		if v := reflect.ValueOf(data); !v.IsValid() || v.Kind() != reflect.Slice || v.Type().Elem().Kind() == reflect.Slice {
			array.Failf(op, "data", "is %T: want a tensor or a slice of rows", data)
		}
		l := of(op, data)
		return l.cols, l.rows
	}
	if t == nil || t.Rank() == 0 {
		array.Failf(op, "data", "is not an array of rows: want a tensor of one dimension or more")
	}
	return []column{{live: t}}, t.Dim(0)
}

// FromSizes returns a list of data, a tensor [rows, inner...] on any device, whose memory the list
// uses, or a slice of rows as [Of] takes them, which is copied. sizes says how many rows an item has: an int
// that all have, which must divide the number of rows, or a vector ([]int, []int64 or a tensor of
// integers) whose sum it is.
func FromSizes(data, sizes any) *List {
	const op = "fromsizes"
	cols, n := rowsOf(op, data)
	return &List{cols: cols, rows: n, part: divided(op, sizes, cols[0].live.Device(), n)}
}

// divided makes the partition of n rows on a device by sizes.
func divided(op string, sizes any, dev weft.Device, n int) *partition {
	if s, ok := sizes.(int); ok {
		if s < 0 || s == 0 && n > 0 || s > 0 && n%s != 0 {
			array.Failf(op, "sizes", "%d rows cannot be divided into items of %d", n, s)
		}
		return evenPartition(dev, n, max(s, 1))
	}
	v := integers(op, "sizes", sizes)
	offsets := make([]int64, len(v)+1)
	for i, s := range v {
		if s < 0 || s > int64(n)-offsets[i] {
			array.Failf(op, "sizes", "%d rows cannot be divided as asked: item %d has %d, those before it %d", n, i, s, offsets[i])
		}
		offsets[i+1] = offsets[i] + s
	}
	if last := offsets[len(v)]; last != int64(n) {
		array.Failf(op, "sizes", "%d rows cannot be divided as asked: the sizes are %d together", n, last)
	}
	return partitionOf(dev, offsets)
}

// integers returns a vector of integers in Go memory.
func integers(op, arg string, x any) []int64 {
	switch x := x.(type) {
	case []int64:
		return x
	case []int:
		out := make([]int64, len(x))
		for i, k := range x {
			out[i] = int64(k)
		}
		return out
	case *weft.Tensor:
		if x == nil || x.Rank() != 1 || !x.DType().Integer() || x.DType() == weft.Bool {
			break
		}
		return weft.Data[int64](x.To(weft.Int64))
	}
	array.Failf(op, arg, "is %T: want []int, []int64 or a tensor of integers of one dimension", x)
	return nil
}

// FromOffsets returns a list of data. A tensor [rows, inner...] on any device is used as memory, a
// slice of rows as in [Of] is copied. Item i is rows offsets[i] to offsets[i+1]-1. Offsets are []int, []int64 or a
// tensor of integers, ascend and lie between 0 and the number of rows. Rows before the first offset
// and behind the last are not part of the list. For a nested list offsets are given from the
// outermost level to the last. All but the last count items of the next level.
func FromOffsets(data any, offsets ...any) *List {
	const op = "fromoffsets"
	cols, _ := rowsOf(op, data)
	return fromOffsets(op, cols, offsets)
}

// fromOffsets makes a list of columns that have as many rows.
func fromOffsets(op string, cols []column, offsets []any) *List {
	n := -1
	dev := weft.CPU
	if len(cols) > 0 {
		dev = cols[0].live.Device()
	}
	for _, c := range cols {
		switch {
		case c.live.Rank() == 0:
			array.Failf(op, "data", "is not an array of rows")
		case c.name == "" && len(cols) > 1:
			array.Failf(op, "data", "is rows and fields of rows")
		case n >= 0 && c.live.Dim(0) != n:
			array.Failf(op, "data", "has fields of %d and %d rows", n, c.live.Dim(0))
		case c.live.Device() != dev:
			array.Failf(op, "data", "has fields on %s and %s", dev, c.live.Device())
		}
		n = c.live.Dim(0)
	}
	if n < 0 {
		array.Failf(op, "data", "is missing")
	}
	if len(offsets) == 0 {
		array.Failf(op, "offsets", "are missing: one vector a level")
	}
	l := &List{}
	for k := len(offsets) - 1; k >= 0; k-- {
		o := integers(op, "offsets", offsets[k])
		if len(o) == 0 {
			array.Failf(op, "offsets", "of level %d are none: want one more than items", k)
		}
		for i, x := range o {
			if x < 0 || x > int64(n) || i > 0 && x < o[i-1] {
				array.Failf(op, "offsets", "of level %d do not ascend between 0 and %d: number %d is %d", k, n, i, x)
			}
		}
		lo, hi := int(o[0]), int(o[len(o)-1])
		rebased := make([]int64, len(o))
		for i := range o {
			rebased[i] = o[i] - o[0]
		}
		if k < len(offsets)-1 {
			l = l.items(lo, hi)
			l.outer = append([]*partition{partitionOf(dev, rebased)}, l.levels()...)
			l.part, l.outer = l.outer[len(l.outer)-1], l.outer[:len(l.outer)-1]
		} else {
			if lo > 0 || hi < n {
				for i := range cols {
					cols[i].live = cols[i].live.Slice(weft.Range(lo, hi))
				}
			}
			l = &List{cols: cols, rows: hi - lo, part: partitionOf(dev, rebased)}
		}
		n = len(o) - 1
	}
	return l
}

// Empty returns a list without items, for rows of the given type and shape.
func Empty(d weft.DType, inner ...int) *List {
	r := rowType{fields: []field{{dtype: d, inner: inner}}}
	return &List{cols: r.columns(0), part: partitionOf(weft.CPU, []int64{0})}
}

// Collate sets l to a list of items: tensors [length, inner...] of one type, or slices as [Of] takes them.
// It makes *List a field of a batch of package data, see data.Collate. An error says which item does not
// fit.
func (l *List) Collate(items any) error {
	tensors, ok := items.([]*weft.Tensor)
	if !ok {
		return weft.Try(func() { *l = *of("collate", items) })
	}
	if len(tensors) == 0 {
		return fmt.Errorf("there are no tensors")
	}
	rows, sizes := make([]*weft.Tensor, len(tensors)), make([]int, len(tensors))
	for i, t := range tensors {
		if t == nil || t.Rank() == 0 {
			return fmt.Errorf("item %d is nil or has no axis", i)
		}
		if first := tensors[0]; t.DType() != first.DType() || !slices.Equal(t.Shape()[1:], first.Shape()[1:]) {
			return fmt.Errorf("item %d is %s%v, item 0 %s%v: only the first axis may differ", i, t.DType(), t.Shape(), first.DType(), first.Shape())
		}
		rows[i], sizes[i] = t.Detach(), t.Dim(0)
	}
	return weft.Try(func() { *l = *FromSizes(weft.Cat(rows, 0), sizes) })
}
