package cpu

import (
	"sync/atomic"
	"unsafe"

	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/loop"
	"weft/internal/par"
)

// A list is rows of elements that lie side by side, and offsets that say which item has which.
type list struct {
	op   string
	off  []int64
	rows int
	row  int // elements of one
}

// listOf is the list of a call whose second argument are the offsets of rows of v.
func listOf(c *device.Call, v *array.View) *list {
	return &list{op: c.Node.Op.OpName(), off: elements[int64](&c.Args[1]), rows: v.Shape[0], row: array.Size(v.Shape[1:])}
}

// itemWork is what an item costs beside its elements, in elements.
const itemWork = 16

// work is how many elements items are worth.
func (l *list) work() int { return l.rows*l.row + itemWork*(len(l.off)-1) }

// each calls f for items from lo to before hi, whose offsets are checked, on all threads: as
// many elements for each.
func (l *list) each(f func(lo, hi int)) {
	pieces, threads := 1, par.Threads()
	if n := l.work(); n >= scanGrain && threads > 1 {
		pieces = 8 * threads
	}
	par.Run(pieces, 1, threads, func(_, begin, end int) {
		for p := begin; p < end; p++ {
			f(l.piece(p, pieces))
		}
	})
}

// piece returns the items of piece p of so many, whose offsets it has checked.
func (l *list) piece(p, pieces int) (lo, hi int) {
	lo, hi = l.cut(p, pieces), l.cut(p+1, pieces)
	if lo > hi { // only if offsets do not ascend
		lo, hi = 0, len(l.off)-1
	}
	l.check(lo, hi)
	return lo, hi
}

// cut returns the item with which piece p of so many begins, the same for all who ask; any
// item if offsets do not ascend.
func (l *list) cut(p, pieces int) int {
	items := len(l.off) - 1
	if p == 0 || p == pieces {
		return items * (p / pieces)
	}
	before := func(i int) float64 { return float64(l.off[i]-l.off[0])*float64(l.row) + itemWork*float64(i) }
	want := before(items) * float64(p) / float64(pieces)
	lo, hi := 0, items
	for lo < hi {
		if mid := int(uint(lo+hi) / 2); before(mid) < want {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// check refuses offsets of items from lo to before hi that do not ascend, or lie outside the
// rows.
func (l *list) check(lo, hi int) {
	off := l.off[lo : hi+1]
	last := off[0]
	for i, o := range off {
		if o < last || o < 0 || o > int64(l.rows) {
			l.refuse(lo + i)
		}
		last = o
	}
}

func (l *list) refuse(i int) {
	if o := l.off[i]; o < 0 || o > int64(l.rows) {
		array.Failf(l.op, "offsets", "offset %d is %d, which is not from 0 to %d, the number of rows", i, o, l.rows)
	}
	array.Failf(l.op, "offsets", "offset %d is %d, less than %d before it", i, l.off[i], l.off[max(i-1, 0)])
}

// launchItems runs a program with a ragged axis: the offsets are checked piece by piece, in
// the thread that reads them next.
func (p *Program) launchItems(l device.Launch, axis int) error {
	of := p.p.Axes[axis].Offsets - 1
	x := &list{op: l.Op, off: unsafe.Slice((*int64)(l.Args.Ptr[of]), l.Extents[0]+1), rows: l.Extents[axis], row: 1}
	for a, n := range l.Extents {
		if a != 0 && a != axis {
			x.row *= n
		}
	}
	if l.Extents[0] == 0 || x.row == 0 {
		x.check(0, l.Extents[0])
		x.ends(l.Ends)
		return nil
	}
	unit := max(l.Cost, elementMin)
	if p.code == nil {
		unit = 20 * l.Cost
	}
	n := x.work()
	work, threads := n*unit, 1
	if work >= coldWork || n*max(unit, hotMin) >= hotWork && par.Hot() {
		threads = par.Threads()
	}
	t := &itemTask{p: p, l: l, list: x, pieces: n*pace(unit)/chunkWork + 1}
	if threads > 1 { // as much for each
		Counters.Threaded.Add(1)
		t.pieces = (t.pieces + threads - 1) / threads * threads
	}
	par.RunTask(t.pieces, 1, threads, t)
	if e := t.err.Load(); e != nil {
		return *e
	}
	x.ends(l.Ends)
	return nil
}

// ends gives the first offset and the last.
func (l *list) ends(to *[2]int) {
	if to != nil {
		*to = [2]int{int(l.off[0]), int(l.off[len(l.off)-1])}
	}
}

// An itemTask is a launch over items in pieces of as many elements each.
type itemTask struct {
	p      *Program
	l      device.Launch
	list   *list
	pieces int
	err    atomic.Pointer[error]
}

// Chunk runs pieces begin to end.
func (t *itemTask) Chunk(_, begin, end int) {
	f := loop.NewFrame()
	p := t.p.p
	defer f.Free(len(p.Bufs))
	words := p.Words()
	for u := begin; u < end && t.err.Load() == nil; u++ {
		lo, hi := t.list.piece(u, t.pieces)
		if lo == hi {
			continue
		}
		copy(f.Ptr[:len(p.Bufs)], t.l.Args.Ptr[:])
		copy(f.Word[2:words], t.l.Args.Word[2:words])
		t.p.narrowTo(f, 0, lo, hi-lo)
		if err := t.p.enter(t.p.code, f, t.l.Context); err != nil {
			t.err.CompareAndSwap(nil, &err)
			return
		}
	}
}
