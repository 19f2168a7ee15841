package cpu

import (
	"sync/atomic"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/codegen"
	"weft/internal/cpu/running"
	"weft/internal/device"
	"weft/internal/launch"
	"weft/internal/loop"
	"weft/internal/par"
)

// A list is an array of rows, and offsets: item i has rows off[i] to off[i+1]-1.
type list struct {
	op   string
	off  []int64
	rows int
	row  int // elements per row
}

// listOf returns the list of a call with rows of v. Its second argument is the offsets.
func listOf(c *device.Call, v *array.View) *list {
	return &list{op: c.Node.Op.OpName(), off: codegen.Elements[int64](&c.Args[1]), rows: v.Shape[0], row: array.Size(v.Shape[1:])}
}

// itemWork is the overhead of an item, in elements.
const itemWork = 16

// work returns the work of all items, in elements.
func (l *list) work() int { return l.rows*l.row + itemWork*(len(l.off)-1) }

// each calls f on all threads for pieces of the list with about the same work. A piece has items
// lo to hi-1, whose offsets are checked.
func (l *list) each(f func(lo, hi int)) {
	pieces, threads := 1, par.Threads()
	if n := l.work(); n >= running.Grain && threads > 1 {
		pieces = 8 * threads
	}
	par.Run(pieces, 1, threads, func(_, begin, end int) {
		for p := begin; p < end; p++ {
			f(l.piece(p, pieces))
		}
	})
}

// piece returns the items of piece p when the list is cut into pieces pieces. It checks their
// offsets.
func (l *list) piece(p, pieces int) (lo, hi int) {
	lo, hi = l.firstItem(p, pieces), l.firstItem(p+1, pieces)
	if lo > hi { // only if offsets do not ascend
		lo, hi = 0, len(l.off)-1
	}
	l.check(lo, hi)
	return lo, hi
}

// firstItem returns the first item of piece p, of pieces pieces. It is a function of the offsets
// alone, so all threads agree. If offsets do not ascend it may be any item.
func (l *list) firstItem(p, pieces int) int {
	items := len(l.off) - 1
	if p == 0 || p == pieces {
		return items * (p / pieces)
	}
	want := l.workBefore(p, pieces)
	lo, hi := 0, items
	for lo < hi {
		if mid := int(uint(lo+hi) / 2); l.before(mid) < want {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// before returns the work of the items before item i.
func (l *list) before(i int) float64 {
	return float64(l.off[i]-l.off[0])*float64(l.row) + itemWork*float64(i)
}

// workBefore returns the work before piece p, of pieces pieces.
func (l *list) workBefore(p, pieces int) float64 {
	return l.before(len(l.off)-1) * float64(p) / float64(pieces)
}

// cutFrom is the least number of rows of an item that is cut between pieces.
const cutFrom = 1 << 14

// pieceStart returns where piece p begins, of pieces pieces: at an item, or at a row inside an item
// of at least cutFrom rows. As for firstItem, all threads agree.
func (l *list) pieceStart(p, pieces int) (item int, row int64) {
	item = l.firstItem(p, pieces)
	if p == 0 || p == pieces || item == 0 {
		return item, 0
	}
	n := l.off[item] - l.off[item-1]
	if k := (l.workBefore(p, pieces) - l.before(item-1)) / float64(l.row); n >= cutFrom && k >= 0 && k < float64(n) {
		return item - 1, int64(k) &^ 63
	}
	return item, 0
}

// check panics with an *array.Error if an offset of items lo to hi-1 does not ascend or lies
// outside the rows.
func (l *list) check(lo, hi int) {
	if err := device.CheckOffsets(l.op, l.off[lo:hi+1], lo, l.rows); err != nil {
		panic(err)
	}
}

// launchItems runs a program with a ragged axis. Each thread checks the offsets of a piece just
// before it reads them.
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
	n, unit := x.work(), p.Unit(l.Cost)
	threads := launch.Threads(n, unit)
	t := &itemTask{p: p, l: l, list: x, pieces: n*launch.ElementWork(unit)/launch.ChunkWork + 1, divisible: p.byElement(axis)}
	if threads > 1 { // as much for each
		p.counters.Threaded.Add(1)
		t.pieces = (t.pieces + threads - 1) / threads * threads
	}
	par.RunTask(t.pieces, 1, threads, t)
	if e := t.err.Load(); e != nil {
		return *e
	}
	x.ends(l.Ends)
	return nil
}

// ends stores the first and the last offset in to.
func (l *list) ends(to *[2]int) {
	if to != nil {
		*to = [2]int{int(l.off[0]), int(l.off[len(l.off)-1])}
	}
}

// byElement reports whether a program over items computes each element independently and writes
// nothing else. Then an item can be cut between pieces.
func (prog *Program) byElement(axis int) bool {
	p := prog.p
	if axis != p.Lane || len(p.Axes) != 2 {
		return false
	}
	for i := range p.Ins {
		if p.Ins[i].Op == loop.OpReduce {
			return false
		}
	}
	for i := range p.Bufs {
		if b := &p.Bufs[i]; b.Write && b.Steps[axis] == loop.Zero {
			return false
		}
	}
	return true
}

// An itemTask is a launch over items, in pieces with about the same work.
type itemTask struct {
	p         *Program
	l         device.Launch
	list      *list
	pieces    int
	divisible bool // an item may be cut between pieces
	err       atomic.Pointer[error]
}

// Chunk runs pieces begin to end.
func (t *itemTask) Chunk(_, begin, end int) {
	f := loop.NewFrame()
	defer f.Free(len(t.p.p.Bufs))
	for u := begin; u < end && t.err.Load() == nil; u++ {
		if !t.divisible {
			lo, hi := t.list.piece(u, t.pieces)
			t.run(f, lo, hi, nil)
			continue
		}
		// The rest of an item, whole ones, the begin of another one.
		lo, from := t.list.pieceStart(u, t.pieces)
		hi, to := t.list.pieceStart(u+1, t.pieces)
		if lo > hi || lo == hi && from > to { // only if offsets do not ascend
			lo, from, hi, to = 0, 0, len(t.list.off)-1, 0
		}
		t.list.check(lo, min(hi+1, len(t.list.off)-1))
		if off := t.list.off; from > 0 {
			part := &[2]int64{off[lo] + from, off[lo+1]}
			if lo == hi {
				part[1], to = off[lo]+to, 0
			}
			t.run(f, lo, lo+1, part)
			lo = min(lo+1, hi)
		}
		t.run(f, lo, hi, nil)
		if to > 0 {
			t.run(f, hi, hi+1, &[2]int64{t.list.off[hi], t.list.off[hi] + to})
		}
	}
}

// run runs items lo to hi-1. If part is not nil, it runs only those rows of the one item.
func (t *itemTask) run(f *loop.Frame, lo, hi int, part *[2]int64) {
	if lo == hi || part != nil && part[0] == part[1] {
		return
	}
	p := t.p.p
	words := p.Words()
	copy(f.Ptr[:len(p.Bufs)], t.l.Args.Ptr[:])
	copy(f.Word[2:words], t.l.Args.Word[2:words])
	t.p.Narrow(f, 0, lo, hi-lo)
	if axis := p.Ragged(); part != nil {
		f.Ptr[p.Axes[axis].Offsets-1] = unsafe.Pointer(part)
		f.Word[p.StartWord(axis)] += uint64(part[0] - t.list.off[lo])
	}
	if err := t.p.Enter(t.p.runs(t.p.code), f, t.l.Context); err != nil {
		t.err.CompareAndSwap(nil, &err)
	}
}
