package ragged

import (
	"reflect"
	"runtime"
	"slices"
	"unsafe"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/mem"
)

// rank is the number of axes of a row.
func (l *List) rank() int { return l.cols[0].live.Rank() - 1 }

// A value holds rows to write into a list.
type value struct {
	ts   []any // by column: tensors [rows, inner...]; if each, values that broadcast to a row
	rows int   // number of rows
	each bool  // one row, written to every row of the target

	// parts are the offsets of the levels, outermost first, from 0 on. A value of several items has
	// the levels of the list, a value of one item one level less.
	parts [][]int64

	row *rowType      // not nil: the rows are in p, in the memory layout of the list's rows
	p   reflect.Value // slice of rows
}

// top returns the number of outermost items, or rows, of a value.
func (v *value) top() int {
	if len(v.parts) > 0 {
		return len(v.parts[0]) - 1
	}
	return v.rows
}

// single turns a value of one item into a value of several items, with that one.
func (v *value) single() { v.parts = slices.Insert(v.parts, 0, []int64{0, int64(v.top())}) }

// value converts a Go value. Its number of axes says what it is, for rows of r axes in a list of
// depth d: up to r axes are one row, r+d one item, r+d+1 several items. A slice of structs is one
// item; a list is what its depth says.
func (l *List) value(op string, x any) (v value) {
	depth := len(l.outer) + 1
	var t *weft.Tensor
	switch x := x.(type) {
	case *weft.Tensor:
		t = x
		if t == nil {
			array.Failf(op, "x", "is nil")
		}
	case *List:
		return l.listValue(op, x)
	default:
		r := reflect.ValueOf(x)
		if !r.IsValid() {
			array.Failf(op, "x", "is nil")
		}
		if depth == 1 && r.Kind() == reflect.Slice && l.ed != nil && l.ed.fits(l, op, r.Type().Elem()) {
			if l.ed.slice = nil; len(l.cols) == 1 && l.ed.row.size == l.ed.width[0] {
				l.ed.slice = r.Type()
			}
			return value{rows: r.Len(), row: &l.ed.row, p: r}
		}
		nested, axes, e := 0, 0, r.Type()
		for ; e.Kind() == reflect.Slice || e.Kind() == reflect.Array; e = e.Elem() {
			if axes++; e.Kind() == reflect.Slice {
				nested = axes
			}
		}
		structs := e.Kind() == reflect.Struct && e.PkgPath() != "weft/half"
		switch {
		case structs && axes == 0:
			s := reflect.MakeSlice(reflect.SliceOf(e), 1, 1)
			s.Index(0).Set(r)
			v = l.rowsValue(op, of(op, s.Interface()))
			v.each = true
			return v
		case structs && nested == 1 && axes == 1:
			if depth > 1 {
				array.Failf(op, "x", "is %T: an item of a list of depth %d is nested slices", x, depth)
			}
			return l.rowsValue(op, of(op, x))
		case structs, nested >= 2 && axes == l.rank()+nested:
			return l.listValue(op, of(op, x))
		case axes == 0:
			switch r.Kind() {
			case reflect.String, reflect.Map, reflect.Pointer, reflect.Func, reflect.Chan:
				array.Failf(op, "x", "is %T: want a number, nested slices, structs, a tensor or a list", x)
			}
			l.plain(op)
			return value{ts: []any{x}, rows: 1, each: true}
		}
		t = weft.From(x)
	}
	c := l.plain(op)
	if t.DType().Category() > c.live.DType().Category() {
		array.Failf(op, "x", "of type %s cannot be written into %s: convert it with To first", t.DType(), c.live.DType())
	}
	row := (*core.Tensor)(c.live).Sizes()[1:]
	more := t.Rank() - len(row) // axes
	given := (*core.Tensor)(t).Sizes()[max(0, more):]
	if more > 0 && !array.Equal(given, row) || !array.BroadcastsTo(given, row) || more > depth+1 {
		array.Failf(op, "x", "has shape %s, rows have %s", array.ShapeString(t.Shape()), array.ShapeString(row))
	}
	if more <= 0 {
		return value{ts: []any{t}, rows: 1, each: true}
	}
	if more < depth {
		array.Failf(op, "x", "has shape %s: want %d axes before the axes of a row for one item of a list of depth %d", array.ShapeString(t.Shape()), depth, depth)
	}
	n := 1
	for _, k := range (*core.Tensor)(t).Sizes()[1:more] {
		n *= t.Dim(len(v.parts))
		if err := mem.CheckHeap((n + 1) * 8); err != nil {
			panic(&weft.Error{Kind: weft.OutOfMemory, Op: op, Msg: "the offsets of items do not fit in memory", Err: err})
		}
		part := make([]int64, n+1)
		for i := range part {
			part[i] = int64(i * k)
		}
		v.parts = append(v.parts, part)
	}
	v.rows = n * t.Dim(more-1)
	v.ts = []any{t}
	if more > 1 {
		v.ts[0] = t.Reshape(append([]int{v.rows}, row...)...)
	}
	return v
}

// plain returns the column of a list of numbers or arrays. It panics if rows are structs.
func (l *List) plain(op string) *column {
	if l.cols[0].name != "" {
		array.Failf(op, "x", "is not a struct with the fields %q that rows have", l.Fields())
	}
	return &l.cols[0]
}

// depthIs panics unless depth is that of the list or that of an item of the list.
func (l *List) depthIs(op string, depth int) {
	want := len(l.outer) + 1
	if depth == want || depth > 0 && depth == want-1 {
		return
	}
	if want == 1 {
		array.Failf(op, "x", "has depth %d, want 1", depth)
	}
	array.Failf(op, "x", "has depth %d, want that of an item of the list, %d, or of several, %d", depth, want-1, want)
}

// listValue returns the items of x. It panics unless x has the columns of l.
func (l *List) listValue(op string, x *List) value {
	if x == nil {
		array.Failf(op, "x", "is nil")
	}
	x.check(op)
	l.depthIs(op, len(x.outer)+1)
	v := l.rowsValue(op, x)
	for _, p := range x.levels() {
		v.parts = append(v.parts, p.Ints())
	}
	return v
}

// rowsValue returns the rows of x. It panics unless x has the columns of l.
func (l *List) rowsValue(op string, x *List) (v value) {
	if len(x.cols) != len(l.cols) {
		array.Failf(op, "x", "has fields %q, the list %q", x.Fields(), l.Fields())
	}
	for i := range x.cols {
		a, b := &x.cols[i], &l.cols[i]
		if a.name != b.name {
			array.Failf(op, "x", "has fields %q, the list %q", x.Fields(), l.Fields())
		}
		if a.live.DType().Category() > b.live.DType().Category() || !array.Equal((*core.Tensor)(a.live).Sizes()[1:], (*core.Tensor)(b.live).Sizes()[1:]) {
			array.Failf(op, "x", "has rows %s, the list %s", array.TypeString(a.live.DType(), a.live.Shape()[1:]), array.TypeString(b.live.DType(), b.live.Shape()[1:]))
		}
		v.ts = append(v.ts, a.live)
	}
	v.rows = x.rows
	return v
}

// fits reports whether values of a Go type have the memory layout of rows.
func (e *editor) fits(l *List, op string, t reflect.Type) bool {
	if t == e.typ {
		return true
	}
	for t := t; ; t = t.Elem() {
		if t.Kind() == reflect.Slice {
			return false
		}
		if t.Kind() != reflect.Array {
			break
		}
	}
	r := rowTypeOf(op, t)
	if len(r.fields) != len(l.cols) {
		return false
	}
	for i, f := range r.fields {
		c := &l.cols[i]
		if f.name != c.name || f.dtype != c.live.DType() || !array.Equal(f.inner, (*core.Tensor)(c.live).Sizes()[1:]) {
			return false
		}
	}
	e.typ, e.row = t, r
	return true
}

// apart copies rows that alias the memory of e, which is about to move.
func (v *value) apart(op string, e *editor) {
	for i, x := range v.ts {
		t, ok := x.(*weft.Tensor)
		if !ok {
			continue
		}
		if (*core.Tensor)(t).Recorded() {
			array.Failf(op, "x", "needs a gradient, and a change of sizes is not recorded: Concat records, Detach goes without")
		}
		tv := (*core.Tensor)(t).Layout()
		for _, m := range e.mem {
			if tv.Overlaps((*core.Tensor)(m).Layout()) {
				v.ts[i] = t.Clone()
			}
		}
	}
	if v.row == nil || v.rows == 0 {
		return
	}
	lo := v.p.Pointer()
	hi := lo + uintptr(v.rows*v.row.size)
	for _, b := range e.bytes {
		if at := uintptr(unsafe.Pointer(unsafe.SliceData(b))); lo < at+uintptr(len(b)) && at < hi {
			c := reflect.MakeSlice(v.p.Type(), v.rows, v.rows)
			reflect.Copy(c, v.p)
			v.p = c
			return
		}
	}
}

// put writes rows into mem, from row at on.
func (v *value) put(e *editor, at int) {
	if v.row != nil {
		done := core.OpenRows(at, at+v.rows, core.Inner(e.mem)...)
		v.row.put(e.bytes, at, v.p.UnsafePointer(), v.rows)
		done()
		runtime.KeepAlive(v.p)
		return
	}
	if v.rows == 0 {
		return
	}
	for i, x := range v.ts {
		e.mem[i].Slice(weft.Range(at, at+v.rows)).Assign(x)
	}
}
