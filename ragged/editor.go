package ragged

import (
	"math/bits"
	"reflect"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/mem"
)

// An editor is the memory of a list whose sizes change: a gap buffer of rows, and one of item ends
// for each level. The gap, the free places, is where the last change was, at the same item on every
// level. A change at the gap costs what it writes. A change elsewhere first moves the gap there. A
// list is read with the gap behind everything, so that rows are contiguous.
type editor struct {
	mem      []*weft.Tensor // [room, inner...], one a column
	bytes    [][]byte       // their memory
	width    []int          // bytes a row
	lo, hi   int            // free rows of mem: from lo to before hi
	capacity int            // rows that mem has

	levels []ends // outermost first

	stale bool // the fields of the list were not updated since the last change

	part  [2]int64 // memory of the offsets that single makes
	parts [1][]int64

	typ   reflect.Type // Go type whose values have the memory layout of rows
	row   rowType
	slice reflect.Type // type of the slice written last, for appended; nil if rows have several columns
}

// ends are where the items of a level end.
type ends struct {
	// offsets[0] is 0. offsets[k+1] is the end of the item at place k, counted in places of the
	// next level or in rows of mem.
	offsets []int64
	lo, hi  int // free places: from lo to before hi; lo items are before the gap
	shared  int // offsets before this are in a partition, which never changes
}

func (x *ends) capacity() int { return len(x.offsets) - 1 }
func (x *ends) items() int    { return x.lo + x.capacity() - x.hi }

func (e *editor) items() int { return e.levels[0].items() }
func (e *editor) rows() int  { return e.lo + e.capacity - e.hi }

// item returns the rows of item i. Requires a list of depth 1 and the gap behind everything.
func (e *editor) item(i int) (lo, hi int) {
	o := e.levels[0].offsets
	return int(o[i]), int(o[i+1])
}

// single is [value.single] without an allocation for items of rows.
func (e *editor) single(v *value) {
	if len(v.parts) > 0 {
		v.single()
		return
	}
	e.part[1] = int64(v.rows)
	e.parts[0] = e.part[:]
	v.parts = e.parts[:]
}

// write makes the offsets from index from on writable: it copies them if a partition shares them.
func (x *ends) write(from int) {
	if from >= x.shared {
		return
	}
	x.offsets = append(make([]int64, 0, len(x.offsets)), x.offsets...)
	x.shared = 0
}

// gap returns the number of free places of the level below level k, or of rows for the last level.
func (e *editor) gap(k int) int {
	if k+1 < len(e.levels) {
		return e.levels[k+1].hi - e.levels[k+1].lo
	}
	return e.hi - e.lo
}

// begin returns the number of items of the next level, or of rows, before an item. gap is the number
// of free places of the next level.
func (x *ends) begin(item, gap int) int {
	if item <= x.lo {
		return int(x.offsets[item])
	}
	return int(x.offsets[x.hi+item-x.lo]) - gap
}

// move brings the gap of each level, and that of rows, before an outermost item. If it panics, nothing
// has moved.
func (e *editor) move(item int) {
	row := item
	for k := range e.levels {
		row = e.levels[k].begin(row, e.gap(k))
	}
	if row < e.lo {
		e.shift(row+e.hi-e.lo, row, e.lo-row)
	} else {
		e.shift(e.lo, e.hi, row-e.lo)
	}
	for k := range e.levels {
		x, gap := &e.levels[k], e.gap(k)
		next := x.begin(item, gap)
		x.move(item, gap)
		item = next
	}
	e.lo, e.hi = row, row+e.hi-e.lo
}

// move brings the gap before an item. gap is the number of free places of the next level.
func (x *ends) move(item, gap int) {
	n := item - x.lo
	switch {
	case n < 0:
		x.write(item + 1)
		to := x.offsets[x.hi+n+1 : x.hi+1]
		copy(to, x.offsets[item+1:x.lo+1])
		for i := range to {
			to[i] += int64(gap)
		}
	case n > 0:
		x.write(x.lo + 1)
		to := x.offsets[x.lo+1 : item+1]
		copy(to, x.offsets[x.hi+1:x.hi+n+1])
		for i := range to {
			to[i] -= int64(gap)
		}
	}
	x.lo, x.hi = item, x.hi+n
}

// shift moves n rows of all columns from one row to another.
func (e *editor) shift(to, from, n int) {
	if to == from || n == 0 {
		return
	}
	for _, m := range e.mem {
		(*core.Tensor)(m).Layout() // panics if the memory was released
	}
	for i, w := range e.width {
		done := core.OpenRows(to, to+n, (*core.Tensor)(e.mem[i]))
		copy(e.bytes[i][to*w:], e.bytes[i][from*w:(from+n)*w])
		done()
	}
}

// least is the smallest capacity of rows and items.
const least = 16

// grown returns the capacity for n rows or items: the next power of two.
func grown(n int) int { return max(least, 1<<bits.Len(uint(n-1))) }

// need makes room at the gap for the items of v, which replace the last n items before the gap.
func (e *editor) need(op string, v *value, n int) {
	from, to := e.levels[0].lo-n, e.levels[0].lo // of the items that are replaced
	for k, part := range v.parts {
		x := &e.levels[k]
		more := len(part) - 1 - (to - from)
		from, to = int(x.offsets[from]), int(x.offsets[to])
		if more > x.hi-x.lo {
			e.resizeItems(op, k, grown(x.items()+more))
		}
	}
	if more := v.rows - (to - from); more > e.hi-e.lo {
		e.resizeRows(op, grown(e.rows()+more))
	}
}

// resizeItems makes room for n items of level k.
func (e *editor) resizeItems(op string, k, n int) {
	if err := mem.CheckHeap((n + 1) * 8); err != nil {
		panic(&weft.Error{Kind: weft.OutOfMemory, Op: op, Msg: "the offsets of items do not fit in memory", Err: err})
	}
	x := &e.levels[k]
	o := make([]int64, n+1)
	copy(o, x.offsets[:x.lo+1])
	hi := n - (x.capacity() - x.hi)
	copy(o[hi+1:], x.offsets[x.hi+1:])
	if k > 0 {
		e.levels[k-1].shift(hi - x.hi)
	}
	x.offsets, x.hi, x.shared = o, hi, 0
}

// shift adds n to the ends behind the gap, because the places that they count moved by n. No partition
// shares these ends: move copied them.
func (x *ends) shift(n int) {
	o := x.offsets[x.hi+1:]
	for i := range o {
		o[i] += int64(n)
	}
}

// resizeRows gives columns new memory of n rows.
func (e *editor) resizeRows(op string, n int) {
	fresh := make([]*weft.Tensor, len(e.mem))
	for i, m := range e.mem {
		fresh[i] = (*weft.Tensor)(core.Make(0, m.DType(), append([]int{n}, (*core.Tensor)(m).Sizes()[1:]...)))
	}
	tail := e.capacity - e.hi
	for i, w := range e.width {
		b := memory(fresh[i])
		copy(b, e.bytes[i][:e.lo*w])
		copy(b[(n-tail)*w:], e.bytes[i][e.hi*w:])
		e.mem[i], e.bytes[i] = fresh[i], b
	}
	e.levels[len(e.levels)-1].shift(n - e.capacity)
	e.capacity, e.hi = n, n-tail
}

// edit returns the editor of the list for a change of sizes. It panics if sizes must not change.
func (l *List) edit(op string) *editor {
	l.notNil(op)
	switch {
	case l.mode == readOnly:
		array.Failf(op, "", "the list is read-only")
	case l.mode == fixed:
		array.Failf(op, "", "the list is of fixed size")
	case l.mode == window:
		array.Failf(op, "", "the list shares its items with another list: Clone makes a list of its own")
	}
	if l.needsGrad() {
		array.Failf(op, "", "the list needs a gradient, and a change of sizes is not recorded: Take and Concat make other lists")
	}
	for i := range l.cols {
		if !(*core.Tensor)(l.cols[i].live).Reached() {
			array.Failf(op, "", "the rows are on %s, and sizes change on the CPU: On(weft.CPU) moves the list, Take and Concat make other lists", l.device())
		}
	}
	e := l.ed
	if e == nil {
		e = l.newEditor()
	}
	for _, m := range e.mem {
		(*core.Tensor)(m).Mark(op)
	}
	l.ed = e
	e.stale = true
	return e
}

// newEditor returns an editor of the list's rows. Columns that the list does not own are copied.
func (l *List) newEditor() *editor {
	e := &editor{lo: l.rows, hi: l.rows, capacity: l.rows}
	for _, p := range l.levels() {
		n := p.Items()
		e.levels = append(e.levels, ends{offsets: p.Ints(), lo: n, hi: n, shared: n + 1})
	}
	for i := range l.cols {
		t := l.cols[i].live
		if !l.cols[i].own {
			m := (*weft.Tensor)(core.Make(0, t.DType(), (*core.Tensor)(t).Sizes()))
			if t.Size() > 0 {
				m.Assign(t)
			}
			t = m
		}
		e.mem = append(e.mem, t)
		b := memory(t)
		w := t.DType().Size()
		for _, d := range (*core.Tensor)(t).Sizes()[1:] {
			w *= d
		}
		e.bytes, e.width = append(e.bytes, b), append(e.width, w)
	}
	return e
}

// settle moves the gap behind everything and updates the fields of the list.
func (l *List) settle() {
	e := l.ed
	e.move(e.items())
	for i := range l.cols {
		l.cols[i].live = e.mem[i].Slice(weft.Range(0, e.lo))
	}
	if len(l.outer) > 0 {
		l.outer = make([]*partition, len(l.outer)) // copies of the list share the slice
	}
	for k := range e.levels {
		x := &e.levels[k]
		n := x.lo + 1
		p := partitionOf(weft.CPU, x.offsets[:n:n])
		if x.shared = max(x.shared, n); k < len(l.outer) {
			l.outer[k] = p
		} else {
			l.part = p
		}
	}
	l.rows, e.stale = e.lo, false
}
