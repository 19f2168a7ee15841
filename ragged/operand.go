package ragged

import (
	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/ir"
	"weft/internal/op"
)

// apply runs an operation of the table on tensors.
func apply(d *op.Def, a ir.Attrs, args ...*weft.Tensor) []*weft.Tensor {
	ops := make([]core.Operand, len(args))
	for i, t := range core.Inner(args) {
		t.Argument(d.Name, "")
		ops[i].T = t
	}
	return core.Outer[weft.Tensor](core.Call(d, a, nil, ops...))
}

// spread gives each of n rows the value of its item.
func (p *partition) spread(x *weft.Tensor, n int) *weft.Tensor {
	return apply(op.SegmentExpand, op.Rows(n), x, p.tensor())[0]
}

// whole is the partition of rows by the items of a level, 0 being the outermost.
func (l *List) whole(level int) *partition {
	levels := l.levels()
	p := levels[len(levels)-1]
	for k := len(levels) - 2; k >= level; k-- {
		p = newPartition(p.tensor().IndexSelect(0, levels[k].tensor()))
	}
	return p
}

// levelOf returns the number of the level that is meant: 0, the outermost, if none is given.
func (l *List) levelOf(op string, level []int) int {
	l.level(op, level)
	switch {
	case len(level) == 0:
		return 0
	case level[0] < 0:
		return level[0] + len(l.outer) + 1
	}
	return level[0]
}

// same reports that two partitions are equal.
func (p *partition) same(q *partition) bool {
	if p == q || (*core.Tensor)(p.tensor()).Same((*core.Tensor)(q.tensor())) {
		return true
	}
	return array.Equal((*core.Tensor)(p.tensor()).Sizes(), (*core.Tensor)(q.tensor()).Sizes()) && p.tensor().Eq(q.tensor()).All().ItemInt() != 0
}

// samePartition refuses another partition of the levels that both lists have.
func (l *List) samePartition(op, arg string, x *List) {
	l.on(op, arg, x.device())
	a, b := l.levels(), x.levels()
	if len(b) > len(a) {
		array.Failf(op, arg, "has depth %d, the list %d", len(b), len(a))
	}
	for k := range b {
		if !a[k].same(b[k]) {
			array.Failf(op, arg, "has other items: %d, with %d of the next level or rows, the list %d, with %d",
				b[k].Items(), b[k].total(), a[k].Items(), a[k].total())
		}
	}
}

// on refuses an argument on another device.
func (l *List) on(op, arg string, dev weft.Device) {
	if own := l.device(); own != dev {
		array.Failf(op, arg, "is on %s, the list on %s: On moves it", dev, own)
	}
}

func (p *partition) total() int { return int(p.tensor().At(-1).ItemInt()) }

// An operand is an argument of an operation on rows, in the form that broadcasts to them.
type operand struct {
	x     any        // a tensor or a Go number
	items *partition // if not nil, x has one value an item of this
}

// operand makes an argument fit rows with rank axes. It takes
//   - a Go number;
//   - a list with the same items;
//   - a list with the items of the first levels, whose rows are values of the items below;
//   - a tensor that broadcasts to a row;
//   - a tensor with one axis more, a value for each of the outermost items;
//   - a tensor with two axes more, [items or 1, length or 1, row...]: each item takes its first
//     rows.
func (l *List) operand(op string, x any, rank int) operand {
	switch x := x.(type) {
	case *List:
		if x == nil {
			array.Failf(op, "x", "is nil")
		}
		x.single(op)
		x.check(op)
		l.samePartition(op, "x", x)
		t := alignRows(x.cols[0].live, rank)
		if len(x.outer) < len(l.outer) {
			return operand{t, l.whole(len(x.outer) + 1)}
		}
		return operand{x: t}
	case *weft.Tensor:
		if x == nil {
			array.Failf(op, "x", "is nil")
		}
		switch x.Rank() - rank {
		case 1:
			if x.Dim(0) == 1 {
				return operand{x: x}
			}
			if x.Dim(0) != l.first().Items() {
				array.Failf(op, "x", "has shape %s: want a value for each of %d items", array.ShapeString(x.Shape()), l.first().Items())
			}
			return operand{x, l.whole(0)}
		case 2:
			return l.dense(op, x)
		}
		if x.Rank() > rank {
			array.Failf(op, "x", "has shape %s, rows have %d dimensions", array.ShapeString(x.Shape()), rank)
		}
		return operand{x: x}
	}
	return operand{x: x}
}

// dense takes rows of items that are all as long as the longest, or of one.
func (l *List) dense(name string, x *weft.Tensor) operand {
	if len(l.outer) > 0 {
		array.Failf(name, "x", "has shape %s, which fits lists of depth 1, got depth %d", array.ShapeString(x.Shape()), len(l.outer)+1)
	}
	n, k := x.Dim(0), x.Dim(1)
	if n != 1 && n != l.part.Items() {
		array.Failf(name, "x", "has shape %s: want rows for each of %d items, or for all", array.ShapeString(x.Shape()), l.part.Items())
	}
	if k == 1 {
		t := x.Reshape(append([]int{n}, (*core.Tensor)(x).Sizes()[2:]...)...)
		if n == 1 {
			return operand{x: t}
		}
		return operand{t, l.part}
	}
	if most := l.longest(); k < most {
		array.Failf(name, "x", "has shape %s, an item %d rows", array.ShapeString(x.Shape()), most)
	}
	if n == 1 {
		return operand{x: x.Reshape((*core.Tensor)(x).Sizes()[1:]...).IndexSelect(0, l.places())}
	}
	return operand{x: apply(op.SegmentUnpad, op.Rows(l.rows), x, l.part.tensor())[0]}
}

// longest is the greatest number of rows of an item.
func (l *List) longest() int {
	most := int64(0)
	o := l.part.Ints()
	for i := range o[1:] {
		most = max(most, o[i+1]-o[i])
	}
	return int(most)
}

// places are the places of rows in their items, int64 [rows].
func (l *List) places() *weft.Tensor {
	return l.device().Arange(l.rows).Sub(l.part.spread(l.part.tensor().Slice(weft.Range(0, -1)), l.rows))
}

// alignRows gives rows rank axes: it inserts the missing ones in front.
func alignRows(t *weft.Tensor, rank int) *weft.Tensor {
	if t.Rank()-1 >= rank {
		return t
	}
	s := []int{t.Dim(0)}
	for range rank - (t.Rank() - 1) {
		s = append(s, 1)
	}
	return t.Reshape(append(s, (*core.Tensor)(t).Sizes()[1:]...)...)
}

// onRows is the operand as tensors take it.
func (l *List) onRows(o operand) any {
	if o.items != nil {
		return o.items.spread(o.x.(*weft.Tensor), l.rows)
	}
	return o.x
}

// rankWith is the number of axes of rows that meet another list's.
func (l *List) rankWith(x any) int {
	if x, ok := x.(*List); ok && x != nil && len(x.cols) == 1 {
		return max(l.rank(), x.rank())
	}
	return l.rank()
}

// binary computes a method of tensors on rows.
func (l *List) binary(op string, f func(t *weft.Tensor, x any) *weft.Tensor, x any) *List {
	c := l.single(op)
	l.check(op)
	rank := l.rankWith(x)
	o := l.operand(op, x, rank)
	if o.items == nil {
		if t, ok := o.x.(*weft.Tensor); ok && t.Rank() > rank && t.Dim(0) == 1 && l.rows == 0 {
			o.x = t.Slice(weft.Range(0, 0)) // one row broadcasts to none
		}
	}
	return l.with(column{live: f(alignRows(c.live, rank), l.onRows(o))})
}

// With returns a list of the same items whose rows are the rows of x, [rows, inner...].
func (l *List) With(x *weft.Tensor) *List {
	l.check("with")
	if x == nil || x.Rank() == 0 || x.Dim(0) != l.rows {
		shape := "no shape"
		if x != nil {
			shape = array.ShapeString(x.Shape())
		}
		array.Failf("with", "x", "has %s: want %d rows", shape, l.rows)
	}
	l.on("with", "x", x.Device())
	return l.with(column{live: x})
}

// Apply returns a list of the same items whose rows are f of the list's, such as
// (*weft.Tensor).Exp: f takes and returns a tensor [rows, inner...], with as many rows.
func (l *List) Apply(f func(rows *weft.Tensor) *weft.Tensor) *List {
	t := l.Data()
	if f == nil {
		array.Failf("apply", "f", "is nil: want a method such as (*weft.Tensor).Exp")
	}
	return l.With(f(t))
}

// Spread returns a list of the same items in which each row is the value that x, [items, inner...],
// has for its item. level says which items: 0 (outermost, the default) to Depth-1.
func (l *List) Spread(x *weft.Tensor, level ...int) *List {
	k := l.levelOf("spread", level)
	if x == nil || x.Rank() == 0 || x.Dim(0) != l.levels()[k].Items() {
		array.Failf("spread", "x", "has no value for each of %d items", l.levels()[k].Items())
	}
	l.on("spread", "x", x.Device())
	return l.with(column{live: l.whole(k).spread(x, l.rows)})
}

// Add returns l + x, row by row. x is
//   - a Go number;
//   - a list of the same items;
//   - a list with the items of the first levels, whose rows are values of the items below;
//   - a tensor that broadcasts to one row;
//   - a tensor with one axis more, [items, row...], a value for each of the outermost items;
//   - a tensor with two axes more, [items or 1, length or 1, row...], from which each item takes
//     the first rows.
//
// The other methods of arithmetic and comparison take the same. Element types and gradients are as
// for the methods of tensors.
func (l *List) Add(x any) *List { return l.binary("add", (*weft.Tensor).Add, x) }

// Sub returns l - x: see [List.Add].
func (l *List) Sub(x any) *List { return l.binary("sub", (*weft.Tensor).Sub, x) }

// Mul returns l * x: see [List.Add].
func (l *List) Mul(x any) *List { return l.binary("mul", (*weft.Tensor).Mul, x) }

// Div returns l / x: see [List.Add]. Integers give floats.
func (l *List) Div(x any) *List { return l.binary("div", (*weft.Tensor).Div, x) }

// RSub returns x - l: see [List.Add].
func (l *List) RSub(x any) *List { return l.binary("rsub", (*weft.Tensor).RSub, x) }

// RDiv returns x / l: see [List.Add].
func (l *List) RDiv(x any) *List { return l.binary("rdiv", (*weft.Tensor).RDiv, x) }

// Pow returns l to the power of x: see [List.Add].
func (l *List) Pow(x any) *List { return l.binary("pow", (*weft.Tensor).Pow, x) }

// Maximum returns the greater of l and x: see [List.Add].
func (l *List) Maximum(x any) *List { return l.binary("maximum", (*weft.Tensor).Maximum, x) }

// Minimum returns the lesser of l and x: see [List.Add].
func (l *List) Minimum(x any) *List { return l.binary("minimum", (*weft.Tensor).Minimum, x) }

// Eq returns a list of bool, l == x: see [List.Add].
func (l *List) Eq(x any) *List { return l.binary("eq", (*weft.Tensor).Eq, x) }

// Ne returns a list of bool, l != x: see [List.Add].
func (l *List) Ne(x any) *List { return l.binary("ne", (*weft.Tensor).Ne, x) }

// Lt returns a list of bool, l < x: see [List.Add].
func (l *List) Lt(x any) *List { return l.binary("lt", (*weft.Tensor).Lt, x) }

// Le returns a list of bool, l <= x: see [List.Add].
func (l *List) Le(x any) *List { return l.binary("le", (*weft.Tensor).Le, x) }

// Gt returns a list of bool, l > x: see [List.Add].
func (l *List) Gt(x any) *List { return l.binary("gt", (*weft.Tensor).Gt, x) }

// Ge returns a list of bool, l >= x: see [List.Add].
func (l *List) Ge(x any) *List { return l.binary("ge", (*weft.Tensor).Ge, x) }
