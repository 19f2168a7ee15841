package ragged

import (
	"slices"

	"weft/internal/array"
)

// Zip returns a list whose rows are structs: field names[i] is lists[i], without copying. The
// lists must have items of the same lengths on every level, and rows that are not structs;
// names must differ and not be empty. [List.Field] is the way back.
func Zip(names []string, lists ...*List) *List {
	const op = "zip"
	if len(names) == 0 || len(names) != len(lists) {
		array.Failf(op, "names", "are %d for %d lists: want one for each, and one at least", len(names), len(lists))
	}
	cols := make([]column, len(lists))
	for i, l := range lists {
		l.check(op)
		lists[0].on(op, "lists", l.device())
		cols[i] = column{name: names[i], live: l.single(op).live}
		switch first := lists[0]; {
		case names[i] == "" || slices.Contains(names[:i], names[i]):
			array.Failf(op, "names", "%q is empty or there twice", names[i])
		case len(l.outer) != len(first.outer) || !slices.EqualFunc(l.levels(), first.levels(), func(p, q *partition) bool {
			return p.same(q)
		}):
			array.Failf(op, "lists", "%q and %q have items of different lengths", names[i], names[0])
		}
	}
	return &List{outer: lists[0].outer, part: lists[0].part, rows: lists[0].rows, cols: cols}
}
