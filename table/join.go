package table

import (
	"math"
	"slices"

	"weft"
	"weft/data"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/par"
	"weft/ragged"
)

// How says which rows a join has.
type How int

const (
	Inner How = iota // pairs of rows with equal keys
	Left             // and rows of the first table without a partner
	Right            // pairs, and rows of the second table without a partner
	Outer            // pairs, and rows of both without a partner
	Semi             // rows of the first table that have a partner, once each, with its columns alone
	Anti             // rows of the first table without a partner, with its columns alone
)

// JoinOpts are the options of [Table.Join].
type JoinOpts struct {
	On      []string // the columns of keys; none means those that both tables have
	RightOn []string // their names in the second table, where they differ
	How     How      // Inner if not set
	Suffix  string   // of columns of the second table whose names the first has; "" means "_right"
}

// Join pairs rows of two tables that have equal keys, as pandas.merge does. Rows are in the order of t, and for one
// row of t in the order of right; rows of right without a partner come last, and with [Right] pairs are in the
// order of right. The result has the columns of t, then right's but for its keys. Where there is no partner
// numbers are NaN (integers and bools become float64), texts "", lists empty. Keys meet where they are numbers. It
// panics with *weft.Error for keys that are not there or do not fit, and for more than 2^31-1 rows.
func (t *Table) Join(right *Table, opts ...JoinOpts) *Table {
	const op = "table.join"
	t.given("join")
	o := array.Options(op, opts)
	array.Given(op, "right", right != nil)
	if o.How < Inner || o.How > Anti {
		array.Failf(op, "How", "is %d, want one of Inner to Anti", o.How)
	}
	names, rightNames := o.keys(t, right)
	if o.How == Right {
		flipped := o
		flipped.On, flipped.RightOn, flipped.How = rightNames, names, Left
		m := right.match(t, flipped)
		return t.pairs(right, o, rightNames, names, m.right, m.left)
	}
	o.On, o.RightOn = names, rightNames
	m := t.match(right, o)
	switch o.How {
	case Semi, Anti:
		return t.take(m.left)
	}
	return t.pairs(right, o, rightNames, names, m.left, m.right)
}

// keys returns the names of the keys in both tables.
func (o *JoinOpts) keys(t, right *Table) (names, rightNames []string) {
	const op = "table.join"
	names, rightNames = o.On, o.RightOn
	if len(names) == 0 && len(rightNames) == 0 {
		for _, name := range t.Names() {
			if slices.Contains(right.Names(), name) {
				names = append(names, name)
			}
		}
		if len(names) == 0 {
			array.Failf(op, "On", "is empty, and the tables share no column: %q, %q", t.Names(), right.Names())
		}
	}
	if len(rightNames) == 0 {
		rightNames = names
	}
	if len(names) != len(rightNames) {
		array.Failf(op, "RightOn", "has %d names, On has %d", len(rightNames), len(names))
	}
	for i := range names {
		if slices.Contains(names[:i], names[i]) || slices.Contains(rightNames[:i], rightNames[i]) {
			array.Failf(op, "On", "has a name twice: %q, %q", names, rightNames)
		}
	}
	return names, rightNames
}

// matches are rows of two tables that belong together; -1 is no row.
type matches struct{ left, right []int64 }

// match finds the rows of a join.
func (t *Table) match(right *Table, o JoinOpts) (m matches) {
	const op = "table.join"
	checkRows("join", t.rows+right.rows)
	columns := make([]*data.Column, len(o.On))
	for i := range columns {
		l, r := t.column("join", "On", o.On[i]), right.column("join", "RightOn", o.RightOn[i])
		c := joined(op, "On", []*data.Column{l, r})
		columns[i] = &c
	}
	k := keysOf("join", "On", columns)
	n := len(k.first)
	mine, theirs := k.codes[:t.rows], k.codes[t.rows:]
	offsets := make([]int32, n+1)
	for _, c := range theirs {
		offsets[c+1]++
	}
	for c := range n {
		offsets[c+1] += offsets[c]
	}
	m.left, m.right = joinRows(mine, theirs, offsets, o.How)
	return m
}

// joinRows returns the rows of both sides that belong together. offsets says where the rows of each code begin among
// the right ones in order of codes.
func joinRows(mine, theirs, offsets []int32, how How) (left, right []int64) {
	rows, next := make([]int32, len(theirs)), slices.Clone(offsets)
	for i, c := range theirs {
		rows[next[c]] = int32(i)
		next[c]++
	}
	// How many rows of the result a row of mine makes.
	makes := func(c int32) int {
		partners := int(offsets[c+1] - offsets[c])
		switch how {
		case Inner:
			return partners
		case Semi:
			return min(partners, 1)
		case Anti:
			return max(1-partners, 0)
		}
		return max(partners, 1)
	}
	chunks := (len(mine) + grain - 1) / grain
	begins := make([]int, chunks+1)
	par.Run(chunks, 1, par.Threads(), func(_, first, last int) {
		for k := first; k < last; k++ {
			for _, c := range mine[k*grain : min((k+1)*grain, len(mine))] {
				begins[k+1] += makes(c)
			}
		}
	})
	for k := range chunks {
		begins[k+1] += begins[k]
	}
	var alone []int64 // rows of the right side without a partner
	if how == Outer {
		used := make([]bool, len(offsets)-1)
		for _, c := range mine {
			used[c] = true
		}
		for r, c := range theirs {
			if !used[c] {
				alone = append(alone, int64(r))
			}
		}
	}
	total := begins[chunks] + len(alone)
	if total > maxRows {
		array.Failf("table.join", "", "has %d rows, more than 2^31-1", total)
	}
	left = make([]int64, core.CheckHeap("table.join", 2*total, weft.Int64)/2)
	if how < Semi {
		right = make([]int64, total)
	}
	par.Run(chunks, 1, par.Threads(), func(_, first, last int) {
		for k := first; k < last; k++ {
			at := begins[k]
			end := min((k+1)*grain, len(mine))
			if how == Inner {
				innerRows(left, right, at, mine, rows, offsets, k*grain, end)
				continue
			}
			for i := k * grain; i < end; i++ {
				c := mine[i]
				n := makes(c)
				for j := range n {
					left[at+j] = int64(i)
					if how < Semi {
						right[at+j] = -1
					}
				}
				if how < Semi {
					for j, r := range rows[offsets[c]:offsets[c+1]] {
						right[at+j] = int64(r)
					}
				}
				at += n
			}
		}
	})
	for i, r := range alone {
		left[begins[chunks]+i], right[begins[chunks]+i] = -1, r
	}
	return left, right
}

// innerRows sets pairs of rows from place at on, for rows begin to end-1 of mine. It looks up some rows' partners before
// it branches on how many there are, so that the processor waits for several at once.
func innerRows(left, right []int64, at int, mine, rows, offsets []int32, begin, end int) {
	const ahead = 256
	var from, to [ahead]int32
	for ; begin < end; begin += ahead {
		part := mine[begin:min(begin+ahead, end)]
		for i, c := range part {
			from[i], to[i] = offsets[c], offsets[c+1]
		}
		for i := range part {
			for _, r := range rows[from[i]:to[i]] {
				left[at], right[at] = int64(begin+i), int64(r)
				at++
			}
		}
	}
}

// pairs makes the table of rows at places of both; a key is taken from the table that has the row.
func (t *Table) pairs(right *Table, o JoinOpts, rightNames, names []string, left, other []int64) *Table {
	const op = "table.join"
	out := &Table{rows: len(left)}
	for i := range t.columns {
		c := &t.columns[i]
		if key := slices.Index(names, c.Name); key >= 0 && slices.Contains(left, -1) {
			both := joined(op, "On", []*data.Column{c, right.column("join", "RightOn", rightNames[key])})
			places := slices.Clone(left)
			for i, p := range places {
				if p < 0 {
					places[i] = int64(t.rows) + other[i]
				}
			}
			out.columns = append(out.columns, taken(&both, places, weft.FromSlice(places, len(places))))
			continue
		}
		out.columns = append(out.columns, takenOrMissing(c, left))
	}
	suffix := o.Suffix
	if suffix == "" {
		suffix = "_right"
	}
	for i := range right.columns {
		c := right.columns[i]
		if slices.Contains(rightNames, c.Name) {
			continue
		}
		has := func(name string) bool {
			return slices.ContainsFunc(out.columns, func(have data.Column) bool { return have.Name == name })
		}
		if has(c.Name) {
			if c.Name += suffix; has(c.Name) {
				array.Failf(op, "Suffix", "%q gives two columns the name %q", suffix, c.Name)
			}
		}
		out.columns = append(out.columns, takenOrMissing(&c, other))
	}
	return out
}

// takenOrMissing returns the rows of a column at places, with missing values at -1.
func takenOrMissing(c *data.Column, places []int64) data.Column {
	if !slices.Contains(places, -1) {
		return taken(c, places, weft.FromSlice(places, len(places)))
	}
	// A row of missing values is put behind the others.
	row := data.Column{Name: c.Name}
	var n int
	switch {
	case c.Numbers != nil:
		d := c.Numbers.DType()
		if d.Category() <= array.CatInt {
			d = weft.Float64
		}
		n = c.Numbers.Dim(0)
		shape := c.Numbers.Shape()
		shape[0] = 1
		row.Numbers = c.Numbers.Device().FullOf(d, math.NaN(), shape...)
	case c.Lists != nil:
		n = c.Lists.Len()
		row.Lists = ragged.Concat([]*ragged.List{emptyItem(c.Lists)}, 0)
	default:
		n = len(c.Texts)
		row.Texts = []string{""}
	}
	all := joined("table.join", "", []*data.Column{c, &row})
	places = slices.Clone(places)
	for i, p := range places {
		if p < 0 {
			places[i] = int64(n)
		}
	}
	return taken(&all, places, weft.FromSlice(places, len(places)))
}

// emptyItem returns a list of one empty item, of the rows that l has.
func emptyItem(l *ragged.List) *ragged.List {
	shape := l.Data().Shape()
	return ragged.FromSizes(weft.ZerosOf(l.DType(), append([]int{0}, shape[1:]...)...), []int{0})
}

// joined returns columns of one kind one after the other. Numbers meet in a type that holds all: float64 where
// integers meet floats, or uint64 meets other integers.
func joined(op, arg string, parts []*data.Column) data.Column {
	out := data.Column{Name: parts[0].Name}
	for _, c := range parts {
		if (c.Numbers == nil) != (parts[0].Numbers == nil) || (c.Texts == nil) != (parts[0].Texts == nil) {
			array.Failf(op, arg, "%q is a column of %s in one table, of %s in another", out.Name, kindOf(parts[0]), kindOf(c))
		}
	}
	switch {
	case out.Numbers == nil && parts[0].Numbers != nil:
		list := make([]*weft.Tensor, len(parts))
		for i, c := range parts {
			list[i] = c.Numbers
		}
		for _, x := range list[1:] {
			if !array.Equal(x.Shape()[1:], list[0].Shape()[1:]) {
				array.Failf(op, arg, "%q has rows of shape %s in one table, %s in another", out.Name, array.ShapeString(list[0].Shape()[1:]), array.ShapeString(x.Shape()[1:]))
			}
		}
		if mixed(list) {
			for i, x := range list {
				list[i] = x.To(weft.Float64)
			}
		}
		for i, x := range list[1:] {
			list[i+1] = x.On(list[0].Device())
		}
		out.Numbers = weft.Cat(list, 0)
	case parts[0].Lists != nil:
		list := make([]*ragged.List, len(parts))
		for i, c := range parts {
			list[i] = c.Lists
		}
		out.Lists = ragged.Concat(list, 0)
	default:
		n := 0
		for _, c := range parts {
			n += len(c.Texts)
		}
		out.Texts = make([]string, 0, n)
		for _, c := range parts {
			out.Texts = append(out.Texts, c.Texts...)
		}
	}
	return out
}

// mixed reports whether tensors have integers and floats, or uint64 and signed integers.
func mixed(list []*weft.Tensor) bool {
	var whole, float, wide, signed bool
	for _, x := range list {
		switch d := x.DType(); {
		case d.Category() == array.CatFloat:
			float = true
		case d == weft.Uint64:
			whole, wide = true, true
		case d == weft.Int8 || d == weft.Int16 || d == weft.Int32 || d == weft.Int64:
			whole, signed = true, true
		case d.Category() == array.CatInt:
			whole = true
		}
	}
	return whole && float || wide && signed
}
