package ragged

import (
	"math/bits"
	"reflect"

	"weft"
	"weft/internal/array"
	"weft/internal/eager"
	"weft/internal/mem"
)

// An editor is the memory of a list whose sizes change: rows and the ends of the items of each
// level. Each has free places in between, the gap, where the last change was; the gap of a level
// lies where that of the level above is. A change at the gap costs what it writes, one elsewhere
// also the way there. With the gap behind everything rows lie side by side: that is how they are
// read.
type editor struct {
	mem    []*weft.Tensor // [room, inner...], one a column
	bytes  [][]byte       // their memory
	width  []int          // bytes a row
	lo, hi int            // free rows of mem: from lo to before hi
	room   int            // rows that mem has

	levels []ends // outermost first

	stale bool // what the list shows is older than this

	part  [2]int64 // of a value that is one item of rows
	parts [1][]int64

	typ   reflect.Type // values of this type lie in memory as rows do
	row   rowType
	slice reflect.Type // of slices of such values that were written, if rows have one column
}

// ends are where the items of a level end.
type ends struct {
	// offsets[0] is 0; offsets[k+1] is where the item at place k ends, in places of the next level
	// or in rows of mem.
	offsets []int64
	lo, hi  int // free places: from lo to before hi, so that items before the gap are lo
	shared  int // offsets before this are in a partition, which never changes
}

func (x *ends) room() int  { return len(x.offsets) - 1 }
func (x *ends) items() int { return x.lo + x.room() - x.hi }

func (e *editor) items() int { return e.levels[0].items() }
func (e *editor) rows() int  { return e.lo + e.room - e.hi }

// item returns the rows of an item of a list of depth 1, when the gap is behind everything.
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

// write makes the offsets from a place on free to be written: a partition that has them keeps
// its own.
func (x *ends) write(from int) {
	if from >= x.shared {
		return
	}
	x.offsets = append(make([]int64, 0, len(x.offsets)), x.offsets...)
	x.shared = 0
}

// gap returns the free places between the items, or rows, that level k divides.
func (e *editor) gap(k int) int {
	if k+1 < len(e.levels) {
		return e.levels[k+1].hi - e.levels[k+1].lo
	}
	return e.hi - e.lo
}

// begin returns how many items of the next level, or rows, are before an item; gap is the number
// of free places there.
func (x *ends) begin(item, gap int) int {
	if item <= x.lo {
		return int(x.offsets[item])
	}
	return int(x.offsets[x.hi+item-x.lo]) - gap
}

// move brings the gap of each level, and that of rows, before an outermost item. It panics before
// anything moved, or not at all.
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

// move brings the gap before an item; the next level, or rows, have so many free places.
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

// shift moves n rows of all columns.
func (e *editor) shift(to, from, n int) {
	if to == from || n == 0 {
		return
	}
	for _, m := range e.mem {
		eager.View(m) // refuses memory that was given back
	}
	for i, w := range e.width {
		done := eager.Open(to, to+n, e.mem[i])
		copy(e.bytes[i][to*w:], e.bytes[i][from*w:(from+n)*w])
		done()
	}
}

// least is the least room for rows and items.
const least = 16

// grown is the room for n of what has room now: the next power of two.
func grown(n int) int { return max(least, 1<<bits.Len(uint(n-1))) }

// need makes room at the gap for a value of several items, which replaces the last n items before
// it.
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
	if err := mem.Room((n + 1) * 8); err != nil {
		panic(&weft.Error{Kind: weft.OutOfMemory, Op: op, Msg: "the offsets of items do not fit in memory", Err: err})
	}
	x := &e.levels[k]
	o := make([]int64, n+1)
	copy(o, x.offsets[:x.lo+1])
	hi := n - (x.room() - x.hi)
	copy(o[hi+1:], x.offsets[x.hi+1:])
	if k > 0 {
		e.levels[k-1].shift(hi - x.hi)
	}
	x.offsets, x.hi, x.shared = o, hi, 0
}

// shift adds n to the ends behind the gap: the places that they count moved. No partition has them,
// as they were moved there.
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
		fresh[i] = eager.Empty[*weft.Tensor](m.DType(), append([]int{n}, eager.Shape(m)[1:]...))
	}
	tail := e.room - e.hi
	for i, w := range e.width {
		b := memory(fresh[i])
		copy(b, e.bytes[i][:e.lo*w])
		copy(b[(n-tail)*w:], e.bytes[i][e.hi*w:])
		e.mem[i], e.bytes[i] = fresh[i], b
	}
	e.levels[len(e.levels)-1].shift(n - e.room)
	e.room, e.hi = n, n-tail
}

// edit readies the list for a change of sizes.
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
	e := l.ed
	if e == nil {
		e = l.newEditor()
	}
	for _, m := range e.mem {
		eager.Write(op, m)
	}
	l.ed = e
	e.stale = true
	return e
}

// newEditor has the list's rows: in the list's own memory, if it has such, else in new one.
func (l *List) newEditor() *editor {
	e := &editor{lo: l.rows, hi: l.rows, room: l.rows}
	for _, p := range l.levels() {
		n := p.items()
		e.levels = append(e.levels, ends{offsets: p.at(), lo: n, hi: n, shared: n + 1})
	}
	for i := range l.cols {
		t := l.cols[i].live
		if !l.cols[i].own {
			m := eager.Empty[*weft.Tensor](t.DType(), eager.Shape(t))
			if t.Size() > 0 {
				m.Assign(t)
			}
			t = m
		}
		e.mem = append(e.mem, t)
		b := memory(t)
		w := t.DType().Size()
		for _, d := range eager.Shape(t)[1:] {
			w *= d
		}
		e.bytes, e.width = append(e.bytes, b), append(e.width, w)
	}
	return e
}

// settle brings rows side by side and makes what the list shows.
func (l *List) settle() {
	e := l.ed
	e.move(e.items())
	for i := range l.cols {
		l.cols[i].live = e.mem[i].Slice(weft.Range(0, e.lo))
	}
	if len(l.outer) > 0 {
		l.outer = make([]*partition, len(l.outer)) // others may have the slice
	}
	for k := range e.levels {
		x := &e.levels[k]
		n := x.lo + 1
		p := partitionOf(x.offsets[:n:n])
		if x.shared = max(x.shared, n); k < len(l.outer) {
			l.outer[k] = p
		} else {
			l.part = p
		}
	}
	l.rows, e.stale = e.lo, false
}
