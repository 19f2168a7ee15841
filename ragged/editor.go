package ragged

import (
	"math/bits"
	"reflect"

	"weft"
	"weft/internal/array"
	"weft/internal/eager"
	"weft/internal/mem"
)

// An editor is the memory of a list whose sizes change: rows and the ends of items, each with
// free places in between, the gap, where the last change was. A change at the gap costs what
// it writes, one elsewhere also the way there. With the gap behind everything rows lie side
// by side: that is how they are read.
type editor struct {
	mem   []*weft.Tensor // [room, inner...], one a column
	bytes [][]byte       // their memory
	width []int          // bytes a row
	room  int            // rows that mem has

	// offsets[0] is 0; offsets[k+1] is where item k ends, in rows of mem. Items before the
	// gap have numbers below before; the others are the last ones of offsets.
	offsets       []int64
	before, after int // items
	lo, hi        int // free rows of mem: from lo to before hi

	shared int  // offsets before this are in a partition, which never changes
	stale  bool // what the list shows is older than this

	typ   reflect.Type // values of this type lie in memory as rows do
	row   rowType
	slice reflect.Type // of slices of such values that were written, if rows have one column
}

func (e *editor) items() int { return e.before + e.after }
func (e *editor) rows() int  { return e.lo + e.room - e.hi }

// item returns the rows of an item, when the gap is behind everything.
func (e *editor) item(i int) (lo, hi int) { return int(e.offsets[i]), int(e.offsets[i+1]) }

// write makes the offsets from a place on free to be written: a partition that has them keeps
// its own.
func (e *editor) write(from int) {
	if from >= e.shared {
		return
	}
	e.offsets = append(make([]int64, 0, len(e.offsets)), e.offsets...)
	e.shared = 0
}

// move brings the gap before an item.
func (e *editor) move(item int) {
	n := item - e.before
	gap := e.hi - e.lo
	tail := len(e.offsets) - e.after // of the first item behind the gap
	switch {
	case n < 0:
		e.write(item + 1)
		rows := e.lo - int(e.offsets[item])
		e.shift(e.hi-rows, e.lo-rows, rows)
		to := e.offsets[tail+n : tail]
		copy(to, e.offsets[item+1:e.before+1])
		for i := range to {
			to[i] += int64(gap)
		}
		e.lo, e.hi = e.lo-rows, e.hi-rows
	case n > 0:
		e.write(e.before + 1)
		rows := int(e.offsets[tail+n-1]) - e.hi
		e.shift(e.lo, e.hi, rows)
		to := e.offsets[e.before+1 : item+1]
		copy(to, e.offsets[tail:tail+n])
		for i := range to {
			to[i] -= int64(gap)
		}
		e.lo, e.hi = e.lo+rows, e.hi+rows
	}
	e.before, e.after = e.before+n, e.after-n
}

// shift moves n rows of all columns.
func (e *editor) shift(to, from, n int) {
	if to == from || n == 0 {
		return
	}
	for i, w := range e.width {
		eager.View(e.mem[i]) // refuses memory that was given back
		done := eager.Open(to, to+n, e.mem[i])
		copy(e.bytes[i][to*w:], e.bytes[i][from*w:(from+n)*w])
		done()
	}
}

// least is the least room for rows and items.
const least = 16

// grown is the room for n of what has room now: the next power of two.
func grown(n int) int { return max(least, 1<<bits.Len(uint(n-1))) }

// need makes room at the gap for so many more items and rows.
func (e *editor) need(op string, items, rows int) {
	if have := len(e.offsets) - 1; items > have-e.items() {
		e.resizeItems(op, grown(e.items()+items))
	}
	if rows > e.hi-e.lo {
		e.resizeRows(op, grown(e.rows()+rows))
	}
}

// resizeItems makes room for n items.
func (e *editor) resizeItems(op string, n int) {
	if err := mem.Room((n + 1) * 8); err != nil {
		panic(&weft.Error{Kind: weft.OutOfMemory, Op: op, Msg: "the offsets of items do not fit in memory", Err: err})
	}
	o := make([]int64, n+1)
	copy(o, e.offsets[:e.before+1])
	copy(o[len(o)-e.after:], e.offsets[len(e.offsets)-e.after:])
	e.offsets, e.shared = o, 0
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
	o := e.offsets[len(e.offsets)-e.after:] // no partition has them: they were moved here
	for i := range o {
		o[i] += int64(n - e.room)
	}
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
		array.Failf(op, "", "the items are those of another list: Clone makes a list of its own")
	case len(l.outer) > 0:
		array.Failf(op, "", "the list has depth %d: Append adds items to it, other sizes are changed in a list of depth 1", len(l.outer)+1)
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
	n := l.part.items()
	e := &editor{before: n, lo: l.rows, hi: l.rows, room: l.rows, offsets: l.part.at(), shared: n + 1}
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
	n := e.items() + 1
	l.rows, l.part = e.lo, partitionOf(e.offsets[:n:n])
	e.shared = max(e.shared, n)
	e.stale = false
}
