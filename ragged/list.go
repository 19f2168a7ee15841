package ragged

import (
	"sync"

	"weft"
	"weft/internal/array"
)

// A List is a sequence of items of different length. Functions such as [Of] make one; the
// zero List is not one.
type List struct {
	outer []*partition // levels above the last, outermost first
	part  *partition   // the last level: items of rows
	cols  []column     // one, unless rows are structs
	rows  int
}

// A column is one field of all rows, or all of them.
type column struct {
	name string       // "" unless rows are structs
	live *weft.Tensor // [rows, inner...]
}

// A partition says where items begin and end. It never changes.
type partition struct {
	t    *weft.Tensor // int64 [items+1]: ascends from 0 to the number of what it divides
	once sync.Once
	host []int64
}

// at returns the offsets where Go can read them.
func (p *partition) at() []int64 {
	p.once.Do(func() {
		if p.host == nil {
			p.host = weft.Data[int64](p.t)
		}
	})
	return p.host
}

func (p *partition) items() int { return p.t.Dim(0) - 1 }

// partitionOf has the offsets that are in Go memory, which nobody writes any more.
func partitionOf(offsets []int64) *partition {
	return &partition{t: weft.FromSlice(offsets), host: offsets}
}

// check refuses a nil list and the zero List.
func (l *List) check(op string) {
	if l == nil || l.part == nil {
		array.Failf(op, "", "the list is nil or the zero List: functions such as Of make one")
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
	l.check("len")
	return l.first().items()
}

// Rows returns the number of rows of all items together: the length of [List.Data].
func (l *List) Rows() int {
	l.check("rows")
	return l.rows
}

// Depth returns the number of levels: 1 for a list of items, 2 for a list of lists of them.
func (l *List) Depth() int {
	l.check("depth")
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
// on. Of a nested list they are those of a level, 0 (outermost, if none is given) to Depth-1:
// those of the last level count rows, those of another items of the next. They must not be
// written to.
func (l *List) Offsets(level ...int) *weft.Tensor { return l.level("offsets", level).t }

// Sizes returns the lengths of items, int64 [items]; of a nested list those of a level, 0
// (outermost, if none is given) to Depth-1.
func (l *List) Sizes(level ...int) *weft.Tensor {
	t := l.level("sizes", level).t
	return t.Slice(weft.Range(1, weft.End)).Sub(t.Slice(weft.Range(0, -1)))
}

// single is the one column, unless rows are structs.
func (l *List) single(op string) *column {
	l.check(op)
	if l.cols[0].name != "" {
		array.Failf(op, "", "rows are structs: take a field, one of %q, by Field first", l.Fields())
	}
	return &l.cols[0]
}

// Data returns all rows side by side, [rows, inner...], without copying: a window on the
// list's memory. It panics if rows are structs: see [List.Field].
func (l *List) Data() *weft.Tensor { return l.single("data").live }

// DType returns the type of elements. It panics if rows are structs.
func (l *List) DType() weft.DType { return l.single("dtype").live.DType() }

// Fields returns the names of the fields of rows that are structs, else nil.
func (l *List) Fields() []string {
	l.check("fields")
	var names []string
	for i := range l.cols {
		if name := l.cols[i].name; name != "" {
			names = append(names, name)
		}
	}
	return names
}

// Field returns one field of rows that are structs, as a list of the same items on the same
// memory.
func (l *List) Field(name string) *List {
	l.check("field")
	for i := range l.cols {
		if c := &l.cols[i]; c.name == name && name != "" {
			return &List{outer: l.outer, part: l.part, rows: l.rows, cols: []column{{live: c.live}}}
		}
	}
	if l.cols[0].name == "" {
		array.Failf("field", "name", "%q: rows are no structs", name)
	}
	array.Failf("field", "name", "%q is none of the fields %q", name, l.Fields())
	return nil
}

// place resolves an index that may count from the back.
func place(op string, i, n int) int {
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
		array.Failf("at", "index", "%d indices for a list of depth %d: Sub returns an item of a nested list", len(index), len(l.outer)+1)
	}
	base, n := 0, l.Len()
	for k, i := range index {
		i = place("at", i, n) + base
		o := l.level("at", []int{k}).at()
		base, n = int(o[i]), int(o[i+1]-o[i])
	}
	return c.live.Slice(weft.Range(base, base+n))
}
