package ragged

import (
	"iter"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
)

// A List is a sequence of items of different length. Functions such as [Of] make one; the
// zero List is not one.
type List struct {
	outer []*partition // levels above the last, outermost first
	part  *partition   // the last level: items of rows
	cols  []column     // one, unless rows are structs
	rows  int

	mode mode
	ed   *editor // once sizes were changed
}

// mode says what may be changed.
type mode uint8

const (
	free     mode = iota
	window        // the items belong to another list: only values may change
	fixed         // only values may change
	readOnly      // nothing may change
)

// A column is one field of all rows, or all of them.
type column struct {
	name string       // "" unless rows are structs
	live *weft.Tensor // [rows, inner...]
	own  bool         // its memory is the list's, and contiguous
}

// A partition says where items begin and end: offsets, int64 [items+1] on the device of rows, which ascend
// from 0 to the number of what they divide. It never changes.
type partition struct{ *core.Offsets }

// newPartition has the offsets of a tensor.
func newPartition(t *weft.Tensor) *partition {
	return &partition{core.OffsetsOf((*core.Tensor)(t), nil)}
}

// partitionOf has the offsets that are in Go memory, which nobody writes any more, for rows on a
// device.
func partitionOf(dev weft.Device, offsets []int64) *partition {
	return &partition{core.OffsetsOf((*core.Tensor)(weft.FromSlice(offsets).On(dev)), offsets)}
}

// tensor returns the offsets as a tensor.
func (p *partition) tensor() *weft.Tensor { return (*weft.Tensor)(p.T) }

// on returns the partition on a device.
func (p *partition) on(dev weft.Device) *partition {
	if p.tensor().Device() == dev {
		return p
	}
	return partitionOf(dev, p.Ints())
}

// device is where rows and offsets are.
func (l *List) device() weft.Device { return l.part.tensor().Device() }

// Device returns the device whose memory rows and offsets lie in. A list of Go
// values is made on the CPU, a list of a tensor ([FromSizes], [FromOffsets], [FromPadded]) on the
// device of the tensor. [List.On] moves.
func (l *List) Device() weft.Device {
	l.check("device")
	return l.device()
}

// On returns l on a device: l itself if it is there, else a copy. Gradients flow back through the
// copy. Sizes of items change on the CPU alone: edits that change them, such as [List.Insert], panic with
// *weft.Error of a list on another device.
func (l *List) On(dev weft.Device) *List {
	l.check("on")
	if l.device() == dev {
		return l
	}
	out := &List{rows: l.rows, part: l.part.on(dev)}
	for _, p := range l.outer {
		out.outer = append(out.outer, p.on(dev))
	}
	for _, c := range l.cols {
		out.cols = append(out.cols, column{name: c.name, live: c.live.On(dev), own: true})
	}
	return out
}

// notNil refuses a nil list and the zero List.
func (l *List) notNil(op string) {
	if l == nil || len(l.cols) == 0 {
		array.Failf(op, "", "the list is nil or the zero List: functions such as Of make one")
	}
}

// check is notNil, and sees to it that rows lie side by side and the partition is that of now.
func (l *List) check(op string) {
	l.notNil(op)
	if l.ed != nil && l.ed.stale {
		l.settle()
	}
}

// first is the outermost level.
func (l *List) first() *partition {
	if len(l.outer) > 0 {
		return l.outer[0]
	}
	return l.part
}

// Len returns the number of items.
func (l *List) Len() int {
	l.notNil("len")
	if l.ed != nil {
		return l.ed.items()
	}
	return l.first().Items()
}

// Rows returns the number of rows of all items together: the length of [List.Data].
func (l *List) Rows() int {
	l.notNil("rows")
	return l.count()
}

func (l *List) count() int {
	if l.ed != nil {
		return l.ed.rows()
	}
	return l.rows
}

// Depth returns the number of levels: 1 for a list of items, 2 for a list of lists of them.
func (l *List) Depth() int {
	l.notNil("depth")
	return len(l.outer) + 1
}

// level returns a level by its number, 0 (the outermost, if none is given) to Depth-1, which
// may count from the back.
func (l *List) level(op string, level []int) *partition {
	l.check(op)
	if len(level) > 1 {
		array.Failf(op, "level", "takes one at most, got %d", len(level))
	}
	k := 0
	if len(level) == 1 {
		k = level[0]
	}
	if k < 0 {
		k += len(l.outer) + 1
	}
	switch {
	case k < 0 || k > len(l.outer):
		array.Failf(op, "level", "%d is out of range for a list of depth %d", level[0], len(l.outer)+1)
	case k < len(l.outer):
		return l.outer[k]
	}
	return l.part
}

// Offsets returns where items begin and, last, where the last one ends: int64 [items+1], from 0
// on. level is 0 (outermost, the default) to Depth-1. Offsets of the last level count rows, offsets
// of another level count items of the next. They must not be written to.
func (l *List) Offsets(level ...int) *weft.Tensor { return l.level("offsets", level).tensor() }

// Sizes returns the lengths of items, int64 [items]. level is 0 (outermost, the default) to
// Depth-1.
func (l *List) Sizes(level ...int) *weft.Tensor {
	t := l.level("sizes", level).tensor()
	return t.Slice(weft.Range(1, weft.End)).Sub(t.Slice(weft.Range(0, -1)))
}

// single is the one column, unless rows are structs.
func (l *List) single(op string) *column {
	l.notNil(op)
	if l.cols[0].name != "" {
		array.Failf(op, "", "rows are structs: take a field, one of %q, by Field first", l.Fields())
	}
	return &l.cols[0]
}

// Data returns all rows side by side, [rows, inner...], without copying: a window on the
// list's memory. It panics if rows are structs: see [List.Field].
func (l *List) Data() *weft.Tensor {
	c := l.single("data")
	l.check("data")
	return c.live
}

// DType returns the type of elements. It panics if rows are structs.
func (l *List) DType() weft.DType { return l.single("dtype").live.DType() }

// Fields returns the names of the fields of rows that are structs, else nil.
func (l *List) Fields() []string {
	l.notNil("fields")
	var names []string
	for i := range l.cols {
		if name := l.cols[i].name; name != "" {
			names = append(names, name)
		}
	}
	return names
}

// Field returns one field of rows that are structs, as a list of the same items on the same
// memory, whose values may be changed and whose sizes may not.
func (l *List) Field(name string) *List {
	l.check("field")
	for i := range l.cols {
		if c := &l.cols[i]; c.name == name && name != "" {
			return &List{outer: l.outer, part: l.part, rows: l.rows, cols: []column{{live: c.live}}, mode: max(l.mode, window)}
		}
	}
	if l.cols[0].name == "" {
		array.Failf("field", "name", "%q: rows are not structs", name)
	}
	array.Failf("field", "name", "%q is none of the fields %q", name, l.Fields())
	return nil
}

// resolveIndex resolves an index that may count from the back.
func resolveIndex(op string, i, n int) int {
	k := i
	if k < 0 {
		k += n
	}
	if k < 0 || k >= n {
		array.Failf(op, "index", "%d is out of range for %d items", i, n)
	}
	return k
}

// At returns an item, [length, inner...]: a window on the list's memory. A nested list takes
// an index for each level. Indices may count from the back. It panics if rows are structs:
// take a field first.
func (l *List) At(index ...int) *weft.Tensor {
	c := l.single("at")
	if len(index) != len(l.outer)+1 {
		hint := "ListAt returns an item as a list"
		if len(index) > len(l.outer)+1 {
			hint = "At of the item takes the rest"
		}
		array.Failf("at", "index", "has %d indices, want %d, one for each level: %s", len(index), len(l.outer)+1, hint)
	}
	if l.ed != nil && l.ed.stale && len(l.outer) == 0 {
		l.ed.move(l.ed.items())
		lo, hi := l.ed.item(resolveIndex("at", index[0], l.ed.items()))
		return l.ed.mem[0].Slice(weft.Range(lo, hi))
	}
	base, n := 0, l.Len()
	for k, i := range index {
		i = resolveIndex("at", i, n) + base
		o := l.level("at", []int{k}).Ints()
		base, n = int(o[i]), int(o[i+1]-o[i])
	}
	return c.live.Slice(weft.Range(base, base+n))
}

// ListAt returns an item of a nested list, as a list on the same memory. Its values may be changed,
// its sizes may not: [List.Set] of l changes the sizes of an item.
func (l *List) ListAt(i int) *List {
	l.check("listat")
	if len(l.outer) == 0 {
		array.Failf("listat", "", "items of a list of depth 1 are tensors: At returns one")
	}
	i = resolveIndex("listat", i, l.Len())
	out := l.items(i, i+1).inner()
	out.mode = max(l.mode, window)
	return out
}

// All calls the body of a loop with the number and the rows of each item, windows on the list's
// memory. It panics if the list is nested or rows are structs.
func (l *List) All() iter.Seq2[int, *weft.Tensor] {
	c := l.single("all")
	l.check("all")
	if len(l.outer) > 0 {
		array.Failf("all", "", "the list has depth %d: ListAt returns an item of a nested list", len(l.outer)+1)
	}
	o := l.part.Ints()
	t := c.live
	return func(yield func(int, *weft.Tensor) bool) {
		for i := range len(o) - 1 {
			if !yield(i, t.Slice(weft.Range(int(o[i]), int(o[i+1])))) {
				return
			}
		}
	}
}

// Range returns the items from start to before stop, every step-th (1 if not given), as a list.
// Negative bounds count from the back, bounds beyond the ends are cut, and [weft.Begin] and
// [weft.End] stand for the ends. Without a step, bounds that are the wrong way around are
// exchanged; with a negative one the items run backwards from start to before stop.
//
// Without a step the list is a window on the same memory: its values may be changed, its sizes
// may not. With a step it is a copy.
func (l *List) Range(start, stop int, step ...int) *List {
	l.check("range")
	r := resolveRange("range", start, stop, step, l.Len())
	if len(step) > 0 {
		return l.pick(r)
	}
	out := l.items(r.first, r.first+r.count)
	out.mode = max(l.mode, window)
	return out
}

// indexRange is the count indices from first on, step apart.
type indexRange struct{ first, step, count int }

// resolveRange returns the indices, of n, that bounds and a step select; bounds are as in Range.
func resolveRange(op string, start, stop int, step []int, n int) indexRange {
	if len(step) > 1 {
		array.Failf(op, "step", "takes one at most, got %d", len(step))
	}
	by := 1
	if len(step) == 1 {
		by = step[0]
	}
	if by == 0 {
		array.Failf(op, "step", "is 0")
	}
	bound := func(i, lo, hi int) int {
		if i < 0 && i != weft.Begin {
			i += n
		}
		return min(max(i, lo), hi)
	}
	if by > 0 {
		lo, hi := bound(start, 0, n), bound(stop, 0, n)
		if len(step) == 0 && hi < lo {
			lo, hi = hi, lo
		}
		if hi <= lo {
			return indexRange{lo, by, 0}
		}
		return indexRange{lo, by, (hi-lo-1)/by + 1}
	}
	lo, hi := bound(start, -1, n-1), bound(stop, -1, n-1)
	switch {
	case lo <= hi:
		return indexRange{0, by, 0}
	case by < -n:
		return indexRange{lo, by, 1}
	}
	return indexRange{lo, by, (lo-hi-1)/-by + 1}
}

// levels returns all levels, outermost first.
func (l *List) levels() []*partition { return append(l.outer[:len(l.outer):len(l.outer)], l.part) }

// with is a list of the same items with other columns.
func (l *List) with(cols ...column) *List {
	return &List{outer: l.outer, part: l.part, rows: l.rows, cols: cols}
}

// alias returns a list of the same items on the same memory. Its first change of sizes copies the
// rows. It is read-only if l is.
func (l *List) alias() *List {
	out := l.with()
	for _, c := range l.cols {
		c.own = false
		out.cols = append(out.cols, c)
	}
	if l.mode == readOnly {
		out.mode = readOnly
	}
	return out
}

// items returns items lo to hi-1 on the same memory.
func (l *List) items(lo, hi int) *List {
	if lo == 0 && hi == l.first().Items() {
		return l.alias()
	}
	parts := make([]*partition, 0, len(l.outer)+1)
	for _, p := range l.levels() {
		from, to := int(p.Ints()[lo]), int(p.Ints()[hi])
		o := p.tensor().Slice(weft.Range(lo, hi+1))
		if from > 0 {
			o = o.Sub(from)
		}
		parts = append(parts, newPartition(o.Contiguous()))
		lo, hi = from, to
	}
	out := &List{outer: parts[:len(parts)-1], part: parts[len(parts)-1], rows: hi - lo}
	for _, c := range l.cols {
		c.live, c.own = c.live.Slice(weft.Range(lo, hi)), false
		out.cols = append(out.cols, c)
	}
	return out
}
