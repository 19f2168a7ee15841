package ragged

import (
	"slices"

	"weft/internal/array"
)

// appendNested is [List.Append] of a nested list.
func (l *List) appendNested(x any, sizes []any) {
	const op = "append"
	if len(sizes) > 0 {
		array.Failf(op, "sizes", "are for lists of depth 1, this one has depth %d", len(l.outer)+1)
	}
	y, ok := x.(*List)
	if !ok {
		y = of(op, x)
	}
	y.check(op)
	l.check(op)
	depth := len(l.outer) + 1
	if len(y.outer)+1 == depth-1 { // one item
		y = y.Unflatten([]int{y.Len()})
	}
	if len(y.outer)+1 != depth {
		array.Failf(op, "x", "has depth %d, want that of an item of the list, %d, or of several, %d", len(y.outer)+1, depth-1, depth)
	}
	added := y.outer
	rows := &List{part: y.part, rows: y.rows, cols: y.cols}
	// Rows first: what is refused is refused with them, and leaves the list as it is.
	outer := l.outer
	func() {
		defer func() { l.outer = outer }()
		l.outer = nil
		l.insert(op, l.Len(), rows, nil)
	}()
	if l.ends == nil {
		l.ends = make([][]int64, len(outer))
		for k, p := range outer {
			l.ends[k] = slices.Clone(p.at())
		}
	}
	l.outer = make([]*partition, len(outer)) // others may have the slice
	for k, p := range added {
		o := l.ends[k]
		last := o[len(o)-1]
		for _, end := range p.at()[1:] {
			o = append(o, last+end)
		}
		l.ends[k] = o
		l.outer[k] = partitionOf(o[:len(o):len(o)])
	}
}
