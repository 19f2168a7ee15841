package ragged

import (
	"reflect"
	"runtime"
	"unsafe"

	"weft"
	"weft/internal/array"
	"weft/internal/eager"
)

// rank is the number of axes of a row.
func (l *List) rank() int { return l.cols[0].live.Rank() - 1 }

// A value is rows that are about to be written into a list.
type value struct {
	ts   []any         // one a column: tensors [rows, inner...], or, if each, what broadcasts to a row
	rows int           // how many
	part []int64       // offsets of several items
	each bool          // one row, for any number of them
	row  *rowType      // else rows in Go memory, that lie as the list's do
	p    reflect.Value // that slice
}

// value makes rows of a Go value, by its number of axes: as many as a row has, or fewer, is one
// row; one more, or a slice of structs, is the rows of an item; two more is several items, as a
// list is.
func (l *List) value(op string, x any) (v value) {
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
		if r.Kind() == reflect.Slice && l.ed != nil && l.ed.fits(l, op, r.Type().Elem()) {
			if l.ed.slice = nil; len(l.cols) == 1 && l.ed.row.size == l.ed.width[0] {
				l.ed.slice = r.Type()
			}
			return value{rows: r.Len(), row: &l.ed.row, p: r}
		}
		slices, axes, e := 0, 0, r.Type()
		for ; e.Kind() == reflect.Slice || e.Kind() == reflect.Array; e = e.Elem() {
			if axes++; e.Kind() == reflect.Slice {
				slices = axes
			}
		}
		switch {
		case e.Kind() == reflect.Struct && e.PkgPath() != "weft/half" && axes == 0:
			s := reflect.MakeSlice(reflect.SliceOf(e), 1, 1)
			s.Index(0).Set(r)
			v = l.listValue(op, of(op, s.Interface()))
			v.part, v.each = nil, true
			return v
		case e.Kind() == reflect.Struct && slices == 1 && axes == 1:
			v = l.listValue(op, of(op, x))
			v.part = nil
			return v
		case slices == 2 && axes == l.rank()+2, e.Kind() == reflect.Struct:
			return l.listValue(op, of(op, x))
		case axes == 0:
			l.plain(op)
			return value{ts: []any{x}, rows: 1, each: true}
		}
		t = weft.From(x)
	}
	c := l.plain(op)
	if t.DType().Category() > c.live.DType().Category() {
		array.Failf(op, "x", "of type %s cannot be written into %s: convert it with To first", t.DType(), c.live.DType())
	}
	row := eager.Shape(c.live)[1:]
	given := eager.Shape(t)[max(0, t.Rank()-len(row)):]
	if t.Rank() > len(row) && !array.Equal(given, row) || !array.BroadcastsTo(given, row) || t.Rank() > len(row)+2 {
		array.Failf(op, "x", "has shape %s, rows have %s", array.ShapeString(t.Shape()), array.ShapeString(row))
	}
	switch t.Rank() - len(row) {
	case 1:
		return value{ts: []any{t}, rows: t.Dim(0)}
	case 2:
		n, k := t.Dim(0), t.Dim(1)
		v = value{ts: []any{t.Reshape(append([]int{n * k}, row...)...)}, rows: n * k}
		for i := range n + 1 {
			v.part = append(v.part, int64(i*k))
		}
		return v
	}
	return value{ts: []any{t}, rows: 1, each: true}
}

// plain refuses rows that are structs where a number or a tensor was given.
func (l *List) plain(op string) *column {
	if l.cols[0].name != "" {
		array.Failf(op, "x", "is no struct with the fields %q that rows have", l.Fields())
	}
	return &l.cols[0]
}

// listValue has the items of a list with the same columns.
func (l *List) listValue(op string, x *List) (v value) {
	if x == nil {
		array.Failf(op, "x", "is nil")
	}
	x.check(op)
	if len(x.outer) > 0 {
		array.Failf(op, "x", "has depth %d, want 1", len(x.outer)+1)
	}
	if len(x.cols) != len(l.cols) {
		array.Failf(op, "x", "has fields %q, the list %q", x.Fields(), l.Fields())
	}
	for i := range x.cols {
		a, b := &x.cols[i], &l.cols[i]
		if a.name != b.name {
			array.Failf(op, "x", "has fields %q, the list %q", x.Fields(), l.Fields())
		}
		if a.live.DType().Category() > b.live.DType().Category() || !array.Equal(eager.Shape(a.live)[1:], eager.Shape(b.live)[1:]) {
			array.Failf(op, "x", "has rows %s, the list %s", array.TypeString(a.live.DType(), a.live.Shape()[1:]), array.TypeString(b.live.DType(), b.live.Shape()[1:]))
		}
		v.ts = append(v.ts, a.live)
	}
	v.rows, v.part = x.rows, x.part.at()
	return v
}

// fits reports that values of a Go type lie in memory as rows do, without conversion.
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
		if f.name != c.name || f.dtype != c.live.DType() || !array.Equal(f.inner, eager.Shape(c.live)[1:]) {
			return false
		}
	}
	e.typ, e.row = t, r
	return true
}

// apart takes rows that lie in memory which is about to move into memory of their own.
func (v *value) apart(op string, e *editor) {
	for i, x := range v.ts {
		t, ok := x.(*weft.Tensor)
		if !ok {
			continue
		}
		if eager.Recorded(t) {
			array.Failf(op, "x", "needs a gradient, and a change of sizes is not recorded: Concat records, Detach goes without")
		}
		tv := eager.View(t)
		for _, m := range e.mem {
			if mv := eager.View(m); tv.Overlaps(&mv) {
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
		done := eager.Open(at, at+v.rows, e.mem...)
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

// assign writes a value over rows lo to hi-1, which stay.
func (l *List) assign(op string, v value, lo, hi int) {
	l.check(op)
	if !v.each && v.rows != hi-lo {
		array.Failf(op, "x", "has %d rows, its place %d", v.rows, hi-lo)
	}
	if hi == lo {
		return
	}
	if v.row != nil && !l.needsGrad() {
		for i := range l.cols {
			eager.Write(op, l.cols[i].live)
		}
		v.put(l.ed, lo)
		return
	}
	if v.row != nil {
		for _, c := range of(op, v.p.Interface()).cols {
			v.ts = append(v.ts, c.live)
		}
	}
	for i, x := range v.ts {
		l.cols[i].live.Slice(weft.Range(lo, hi)).Assign(x)
	}
}

// needsGrad reports that changes of rows are recorded.
func (l *List) needsGrad() bool {
	for i := range l.cols {
		if eager.Recorded(l.cols[i].live) {
			return true
		}
	}
	return false
}

// writable refuses a read-only list.
func (l *List) writable(op string) {
	l.notNil(op)
	if l.mode == readOnly {
		array.Failf(op, "", "the list is read-only")
	}
	if len(l.outer) > 0 {
		array.Failf(op, "", "the list has depth %d: items of depth 1 can be changed", len(l.outer)+1)
	}
}

// span returns the rows of items i to k-1 of a list that is settled.
func (l *List) span(i, k int) (lo, hi int) {
	o := l.part.at()
	return int(o[i]), int(o[k])
}

// Set writes item i, which may count from the back. One number, or array of the shape of a row,
// is written to each of its rows; several, a slice of rows or a tensor [length, inner...] become
// the item, which grows or shrinks to their number:
//
//	l.Set(1, 5)                  // every row of item 1 is 5
//	l.Set(1, 1, 1, 1)            // item 1 is [1 1 1]
//	l.Set(1, []float64{5})       // item 1 is [5]
//	l.Set(1)                     // item 1 is []
//
// Writing over the rows that are there is recorded for gradients, a change of size is refused
// where one is needed.
func (l *List) Set(i int, x ...any) {
	const op = "set"
	l.writable(op)
	i = place(op, i, l.Len())
	var v value
	switch len(x) {
	case 0:
		v = value{ts: make([]any, len(l.cols))}
	case 1:
		v = l.value(op, x[0])
		if len(v.part) > 2 {
			array.Failf(op, "x", "has %d items, want the rows of one", len(v.part)-1)
		}
	default:
		v = l.several(op, x)
	}
	l.check(op)
	lo, hi := l.span(i, i+1)
	if v.each || v.rows == hi-lo {
		l.assign(op, v, lo, hi)
		return
	}
	e := l.edit(op)
	v.apart(op, e)
	e.move(i + 1)
	e.need(op, 0, v.rows-(hi-lo))
	e.drop(1)
	e.add(&v)
}

// several makes one value of single rows.
func (l *List) several(op string, x []any) value {
	ts := make([]any, len(l.cols))
	for c := range l.cols {
		live := l.cols[c].live
		t := eager.Empty[*weft.Tensor](live.DType(), append([]int{len(x)}, eager.Shape(live)[1:]...))
		for k, one := range x {
			v := l.value(op, one)
			if !v.each {
				array.Failf(op, "x", "%d is %T: want rows", k, one)
			}
			t.Slice(weft.Range(k, k+1)).Assign(v.ts[c])
		}
		ts[c] = t
	}
	return value{ts: ts, rows: len(x)}
}

// SetRange writes the items from start to before stop, bounds as [List.Range] takes them: a number,
// or an array of the shape of a row, is written to each row; a slice of as many rows as they have,
// or a tensor, over their rows; nested slices or a list of as many items become the items, which
// grow or shrink.
func (l *List) SetRange(start, stop int, x any) {
	const op = "setrange"
	l.writable(op)
	r := resolve(op, start, stop, nil, l.Len())
	v := l.value(op, x)
	l.check(op)
	lo, hi := l.span(r.first, r.first+r.count)
	same := v.part == nil
	if !same {
		if len(v.part)-1 != r.count {
			array.Failf(op, "x", "has %d items, the range %d", len(v.part)-1, r.count)
		}
		same = true
		o := l.part.at()[r.first:]
		for i := range v.part {
			same = same && v.part[i]-v.part[0] == o[i]-o[0]
		}
	}
	if same {
		l.assign(op, v, lo, hi)
		return
	}
	e := l.edit(op)
	v.apart(op, e)
	e.move(r.first + r.count)
	e.need(op, 0, v.rows-(hi-lo))
	e.drop(r.count)
	e.add(&v)
}

// drop takes the last n items before the gap away.
func (e *editor) drop(n int) {
	if n == 0 {
		return
	}
	e.before -= n
	e.lo = int(e.offsets[e.before])
}

// add writes the items of a value at the gap, where is room for them.
func (e *editor) add(v *value) {
	n := 1
	if v.part != nil {
		n = len(v.part) - 1
	}
	e.write(e.before + 1)
	v.put(e, e.lo)
	if v.part == nil {
		e.offsets[e.before+1] = int64(e.lo + v.rows)
	}
	for i := 1; i < len(v.part); i++ {
		e.offsets[e.before+i] = int64(e.lo) + v.part[i] - v.part[0]
	}
	e.before, e.lo = e.before+n, e.lo+v.rows
}

// Insert writes new items before item at, which may count from the back; [List.Len] is behind the
// last. A number, or an array of the shape of a row, is an item of one row; a slice of rows or a
// tensor [length, inner...] is one item; nested slices, a list or a tensor with one axis more are
// several. With sizes, as [FromSizes] takes them, the rows of x are divided into items.
//
// The first change of sizes takes rows that are a tensor's into memory of the list's own.
// Inserting costs what moves: the rows between this place and that of the last change.
func (l *List) Insert(at int, x any, sizes ...any) { l.insert("insert", at, x, sizes) }

func (l *List) insert(op string, at int, x any, sizes []any) {
	e := l.edit(op)
	n := e.items()
	k := at
	if k < 0 {
		k += n
	}
	if k < 0 || k > n {
		array.Failf(op, "index", "%d is out of range for %d items", at, n)
	}
	v := l.value(op, x)
	switch {
	case len(sizes) > 1:
		array.Failf(op, "sizes", "takes one argument at most, got %d", len(sizes))
	case len(sizes) == 1:
		if v.part != nil {
			array.Failf(op, "sizes", "are given for items that have their own")
		}
		v.part = divided(op, sizes[0], v.rows).at()
	}
	v.apart(op, e)
	items := 1
	if v.part != nil {
		items = len(v.part) - 1
	}
	e.move(k)
	e.need(op, items, v.rows)
	e.add(&v)
	e.stale = true
}

// Append writes new items behind the last: see [List.Insert]. Its cost is amortised constant. For a
// nested list, x is nested slices or a list. With one level less than the list it is one item, with
// the same number of levels several items.
func (l *List) Append(x any, sizes ...any) {
	if l != nil && len(l.outer) > 0 {
		l.appendNested(x, sizes)
		return
	}
	if l == nil || len(sizes) > 0 || !l.appended(x) {
		l.insert("append", l.Len(), x, sizes)
	}
}

// appended is Append of a slice of rows as the one before, where there is room for them and
// nothing has to be looked at twice; it reports false, having done nothing, if that is not so.
func (l *List) appended(x any) bool {
	e := l.ed
	if e == nil || !e.stale || e.after > 0 || e.slice == nil || reflect.TypeOf(x) != e.slice || l.mode != free {
		return false
	}
	v := reflect.ValueOf(x)
	n, w, at := v.Len(), e.width[0], e.before+1
	if at == len(e.offsets) || at < e.shared || n > e.hi-e.lo || l.cols[0].live.RequiresGrad() || !eager.WritePlainly(e.mem[0]) {
		return false
	}
	copy(e.bytes[0][e.lo*w:], unsafe.Slice((*byte)(v.UnsafePointer()), n*w))
	runtime.KeepAlive(x)
	e.lo += n
	e.offsets[at], e.before = int64(e.lo), at
	return true
}

// Delete takes an item out, whose index may count from the back.
func (l *List) Delete(i int) {
	e := l.edit("delete")
	k := place("delete", i, e.items())
	e.move(k + 1)
	e.drop(1)
}

// DeleteRange takes the items from start to before stop out, every step-th (1 if not given), bounds
// as [List.Range] takes them.
func (l *List) DeleteRange(start, stop int, step ...int) {
	e := l.edit("deleterange")
	r := resolve("deleterange", start, stop, step, e.items())
	if r.count == 0 {
		return
	}
	if r.step == 1 {
		e.move(r.first + r.count)
		e.drop(r.count)
		return
	}
	if r.step < 0 {
		r.first, r.step = r.first+(r.count-1)*r.step, -r.step
	}
	for i := range r.count { // each takes the gap on, and items before it are fewer
		e.move(r.first + i*r.step - i + 1)
		e.drop(1)
	}
}

// Clear takes all items out. The memory stays reserved.
func (l *List) Clear() {
	e := l.edit("clear")
	e.move(e.items())
	e.drop(e.items())
}

// Reserve makes room for so many items and rows more, so that adding them takes no new memory.
func (l *List) Reserve(items, rows int) {
	const most = 1 << 48
	e := l.edit("reserve")
	if items < 0 || rows < 0 || items > most || rows > most {
		array.Failf("reserve", "", "%d items and %d rows are no sizes", items, rows)
	}
	if items > len(e.offsets)-1-e.items() {
		e.resizeItems("reserve", e.items()+items)
	}
	if rows > e.hi-e.lo {
		e.resizeRows("reserve", e.rows()+rows)
	}
}

// Shrink gives back the memory of places that are not used.
func (l *List) Shrink() {
	e := l.edit("shrink")
	if e.items() < len(e.offsets)-1 {
		e.resizeItems("shrink", e.items())
	}
	if e.rows() < e.room {
		e.resizeRows("shrink", e.rows())
	}
}

// FixedSize makes sizes stay: values may be changed, all else is refused. It returns l.
func (l *List) FixedSize() *List {
	l.notNil("fixedsize")
	l.mode = max(l.mode, fixed)
	return l
}

// ReadOnly refuses every change from now on that is asked of the list; tensors that it hands out
// stay windows on its memory. It returns l.
func (l *List) ReadOnly() *List {
	l.notNil("readonly")
	l.mode = readOnly
	return l
}

// Clone returns a list of the same items in memory of its own, which may be changed.
func (l *List) Clone() *List {
	l.check("clone")
	out := l.with()
	for _, c := range l.cols {
		c.live, c.own = c.live.Clone(), true
		out.cols = append(out.cols, c)
	}
	return out
}
