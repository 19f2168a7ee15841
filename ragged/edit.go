package ragged

import (
	"reflect"
	"runtime"
	"slices"
	"unsafe"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
)

// assign writes a value over rows lo to hi-1. No row moves.
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
			(*core.Tensor)(l.cols[i].live).Mark(op)
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

// needsGrad reports whether writes into rows are recorded for gradients.
func (l *List) needsGrad() bool {
	for i := range l.cols {
		if (*core.Tensor)(l.cols[i].live).Recorded() {
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
}

// span returns the rows of items lo to hi-1. Requires [List.settle].
func (l *List) span(lo, hi int) (first, end int) {
	for _, p := range l.outer {
		lo, hi = int(p.Ints()[lo]), int(p.Ints()[hi])
	}
	o := l.part.Ints()
	return int(o[lo]), int(o[hi])
}

// fits reports whether items lo to hi-1 have the lengths of v on every level. If v is one item, so is
// the range. Requires [List.settle].
func (l *List) fits(v *value, lo, hi int) bool {
	parts := v.parts
	for k := range len(l.outer) + 1 {
		p := l.part
		if k < len(l.outer) {
			p = l.outer[k]
		}
		o := p.Ints()[lo : hi+1]
		lo, hi = int(o[0]), int(o[len(o)-1])
		if k == 0 && len(parts) == len(l.outer) {
			if v.top() != hi-lo {
				return false
			}
			continue
		}
		if len(parts[0]) != len(o) {
			return false
		}
		for i, end := range parts[0] {
			if end != o[i]-o[0] {
				return false
			}
		}
		parts = parts[1:]
	}
	return true
}

// Set writes item i, which may count from the back. One number, or one array of the shape of a row,
// is written to each row of the item. Several of them, a slice of rows or a tensor
// [length, inner...] become the item, which grows or shrinks to their number:
//
//	l.Set(1, 5)                  // every row of item 1 is 5
//	l.Set(1, 1, 1, 1)            // item 1 is [1 1 1]
//	l.Set(1, []float64{5})       // item 1 is [5]
//	l.Set(1)                     // item 1 is []
//
// An item of a nested list is set to nested slices, to a list with one level less than l, or to a
// tensor with an axis for each level. Several values are one item of the next level each:
//
//	l.Set(1, [][]float64{{1}, {2, 3}})       // item 1 is [ [1] [2 3] ]
//	l.Set(1, []float64{1}, []float64{2, 3})  // as well
//
// If all lengths stay, the write is recorded for gradients. Set panics if a size would change and
// rows need a gradient.
func (l *List) Set(i int, x ...any) {
	const op = "set"
	defer array.Named(op).End()
	l.writable(op)
	i = resolveIndex(op, i, l.Len())
	var v value
	switch len(x) {
	case 0:
		v = value{ts: make([]any, len(l.cols)), parts: make([][]int64, len(l.outer))}
		for k := range v.parts {
			v.parts[k] = []int64{0}
		}
	case 1:
		v = l.value(op, x[0])
		if len(v.parts) > len(l.outer) && v.top() != 1 {
			array.Failf(op, "x", "has %d items, want one", v.top())
		}
	default:
		v = l.several(op, x)
	}
	l.check(op)
	l.replace(op, &v, i, i+1)
}

// replace writes a value over items lo to hi-1. Requires [List.settle].
func (l *List) replace(op string, v *value, lo, hi int) {
	first, end := l.span(lo, hi)
	if v.each || l.fits(v, lo, hi) {
		l.assign(op, *v, first, end)
		return
	}
	e := l.edit(op)
	v.apart(op, e)
	if len(v.parts) == len(l.outer) {
		e.single(v)
	}
	e.move(hi)
	e.need(op, v, hi-lo)
	e.drop(hi - lo)
	e.add(v)
}

// several joins single rows, or items of the next level, into one value.
func (l *List) several(op string, x []any) value {
	if len(l.outer) > 0 {
		return l.severalItems(op, x)
	}
	ts := make([]any, len(l.cols))
	for c := range l.cols {
		live := l.cols[c].live
		t := l.device().ZerosOf(live.DType(), append([]int{len(x)}, (*core.Tensor)(live).Sizes()[1:]...)...)
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

// severalItems joins items of the next level into one value.
func (l *List) severalItems(op string, x []any) value {
	next := l.inner()
	out := value{parts: make([][]int64, len(l.outer))}
	for k := range out.parts {
		out.parts[k] = []int64{0}
	}
	rows := make([][]*weft.Tensor, len(l.cols))
	for i, one := range x {
		v := next.value(op, one)
		if v.each || len(v.parts) != len(next.outer) {
			array.Failf(op, "x", "number %d is %T: want one item of the next level", i, one)
		}
		v.single()
		for k, part := range v.parts {
			base := out.parts[k][len(out.parts[k])-1]
			for _, end := range part[1:] {
				out.parts[k] = append(out.parts[k], base+end)
			}
		}
		out.rows += v.rows
		for c, t := range v.ts {
			rows[c] = append(rows[c], t.(*weft.Tensor))
		}
	}
	for _, ts := range rows {
		out.ts = append(out.ts, weft.Cat(ts, 0))
	}
	return out
}

// SetRange writes the items from start to before stop, bounds as in [List.Range]:
//
//   - A number, or an array of the shape of a row, is written to each row.
//   - A slice of rows, or a tensor, is written over the rows. Their number must be equal.
//   - Nested slices or a list become the items, which grow or shrink. Their number must be that of
//     the range.
//   - In a nested list, a value with one level less than the list holds items of the next level.
//     Their number must be that in the range.
func (l *List) SetRange(start, stop int, x any) {
	const op = "setrange"
	defer array.Named(op).End()
	l.writable(op)
	r := resolveRange(op, start, stop, nil, l.Len())
	v := l.value(op, x)
	l.check(op)
	lo, hi := r.first, r.first+r.count
	if !v.each {
		n := r.count
		o := l.first().Ints()[lo : hi+1]
		below := len(v.parts) == len(l.outer) // without the outermost level
		if below {
			n = int(o[r.count] - o[0])
		}
		if v.top() != n {
			if len(v.parts) == 0 {
				array.Failf(op, "x", "has %d rows, its place %d", v.rows, n)
			}
			array.Failf(op, "x", "has %d items, the range %d", v.top(), n)
		}
		if below {
			part := make([]int64, len(o))
			for i := range o {
				part[i] = o[i] - o[0]
			}
			v.parts = slices.Insert(v.parts, 0, part)
		}
	}
	l.replace(op, &v, lo, hi)
}

// drop removes the last n items before the gap.
func (e *editor) drop(n int) {
	if n == 0 {
		return
	}
	at := e.levels[0].lo - n
	for k := range e.levels {
		x := &e.levels[k]
		x.lo = at
		at = int(x.offsets[at])
	}
	e.lo = at
}

// add writes the items of v at the gap. Requires room for them: see [editor.need].
func (e *editor) add(v *value) {
	for k := range e.levels {
		x := &e.levels[k]
		x.write(x.lo + 1)
	}
	v.put(e, e.lo)
	for k, part := range v.parts {
		x, base := &e.levels[k], e.lo
		if k+1 < len(e.levels) {
			base = e.levels[k+1].lo
		}
		for i := 1; i < len(part); i++ {
			x.offsets[x.lo+i] = int64(base) + part[i]
		}
		x.lo += len(part) - 1
	}
	e.lo += v.rows
}

// Insert writes new items before item at, which may count from the back. At [List.Len] it appends.
//
//   - A number, or an array of the shape of a row, is an item of one row.
//   - A slice of rows, or a tensor [length, inner...], is one item.
//   - Nested slices, a list, or a tensor with one axis more are several items.
//   - With sizes, as [FromSizes] takes them, the rows of x are divided into items.
//
// For a nested list, x is nested slices, a list, or a tensor with an axis for each level. With one
// level less than l it is one item. With the levels of l it is several items. With sizes it has one
// level less, and its items are divided.
//
// The first change of sizes copies rows that belong to a tensor. Insert costs what moves: on each
// level the items, and the rows, between this place and that of the last change. An error leaves
// the list as it was.
func (l *List) Insert(at int, x any, sizes ...any) { l.insert("insert", at, x, sizes) }

func (l *List) insert(op string, at int, x any, sizes []any) {
	defer array.Named(op).End()
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
	if v.each && len(l.outer) > 0 {
		array.Failf(op, "x", "is one row, want an item of the list: a list of depth %d", len(l.outer))
	}
	switch {
	case len(sizes) > 1:
		array.Failf(op, "sizes", "takes one argument at most, got %d", len(sizes))
	case len(sizes) == 1:
		if len(v.parts) > len(l.outer) {
			array.Failf(op, "sizes", "are given for items that have their own")
		}
		v.parts = slices.Insert(v.parts, 0, divided(op, sizes[0], weft.CPU, v.top()).Ints())
	case len(v.parts) == len(l.outer):
		e.single(&v)
	}
	v.apart(op, e)
	e.move(k)
	e.need(op, &v, 0)
	e.add(&v)
	e.stale = true
}

// Append writes new items behind the last: see [List.Insert]. Its cost is amortised constant.
func (l *List) Append(x any, sizes ...any) {
	if l == nil || len(sizes) > 0 || !l.appended(x) {
		l.insert("append", l.Len(), x, sizes)
	}
}

// appended is the fast path of Append: x is a slice of rows of the type appended last, and there is
// room for it. Otherwise it does nothing and reports false.
func (l *List) appended(x any) bool {
	e := l.ed
	if e == nil || !e.stale || e.slice == nil || reflect.TypeOf(x) != e.slice || l.mode != free {
		return false
	}
	v := reflect.ValueOf(x)
	o := &e.levels[0] // only a list of depth 1 has e.slice
	n, w, at := v.Len(), e.width[0], o.lo+1
	if o.hi < o.capacity() || at == len(o.offsets) || at < o.shared || n > e.hi-e.lo || l.cols[0].live.RequiresGrad() || !(*core.Tensor)(e.mem[0]).MarkPlain() {
		return false
	}
	copy(e.bytes[0][e.lo*w:], unsafe.Slice((*byte)(v.UnsafePointer()), n*w))
	runtime.KeepAlive(x)
	e.lo += n
	o.offsets[at], o.lo = int64(e.lo), at
	return true
}

// Delete removes item i, which may count from the back.
func (l *List) Delete(i int) {
	defer array.Named("delete").End()
	e := l.edit("delete")
	k := resolveIndex("delete", i, e.items())
	e.move(k + 1)
	e.drop(1)
}

// DeleteRange removes the items from start to before stop, every step-th (1 if not given), bounds as
// in [List.Range].
func (l *List) DeleteRange(start, stop int, step ...int) {
	defer array.Named("deleterange").End()
	e := l.edit("deleterange")
	r := resolveRange("deleterange", start, stop, step, e.items())
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
	for i := range r.count { // i items before this one are already removed
		e.move(r.first + i*r.step - i + 1)
		e.drop(1)
	}
}

// Clear removes all items. The memory stays reserved.
func (l *List) Clear() {
	defer array.Named("clear").End()
	e := l.edit("clear")
	e.move(e.items())
	e.drop(e.items())
}

// Reserve makes room for further items and rows, so that adding them allocates nothing. Items of a
// nested list are items of its outermost level.
func (l *List) Reserve(items, rows int) {
	const most = 1 << 48
	defer array.Named("reserve").End()
	e := l.edit("reserve")
	if items < 0 || rows < 0 || items > most || rows > most {
		array.Failf("reserve", "", "got %d items and %d rows, want 0 to 1<<48 of each", items, rows)
	}
	if x := &e.levels[0]; items > x.hi-x.lo {
		e.resizeItems("reserve", 0, e.items()+items)
	}
	if rows > e.hi-e.lo {
		e.resizeRows("reserve", e.rows()+rows)
	}
}

// Shrink gives back the memory of places that are not used.
func (l *List) Shrink() {
	defer array.Named("shrink").End()
	e := l.edit("shrink")
	for k := range e.levels {
		if x := &e.levels[k]; x.lo < x.hi {
			e.resizeItems("shrink", k, x.items())
		}
	}
	if e.rows() < e.capacity {
		e.resizeRows("shrink", e.rows())
	}
}

// FixedSize makes every later change of sizes panic. Values may still be changed. It returns l.
func (l *List) FixedSize() *List {
	l.notNil("fixedsize")
	l.mode = max(l.mode, fixed)
	return l
}

// ReadOnly makes every later change through the list panic. Tensors that it returns stay windows on
// its memory, and can be written. It returns l.
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
