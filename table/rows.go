package table

import (
	"slices"

	"weft"
	"weft/data"
	"weft/internal/array"
)

// Take returns the rows at the places of a vector of integers. Negative ones count from the back. It
// panics with *weft.Error if one is out of range.
func (t *Table) Take(index *weft.Tensor) *Table {
	t.given("take")
	const op = "table.take"
	array.Given(op, "index", index != nil)
	if d := index.DType(); index.Rank() != 1 || d == weft.Bool || d.Category() > array.CatInt {
		array.Failf(op, "index", "is %s, want a vector of integers", array.TypeString(d, index.Shape()))
	}
	places := weft.Data[int64](index.To(weft.Int64))
	for i, p := range places {
		if p < -int64(t.rows) || p >= int64(t.rows) {
			array.Failf(op, "index", "has %d at %d: there are %d rows", p, i, t.rows)
		}
		if p < 0 {
			places[i] += int64(t.rows)
		}
	}
	return t.take(places)
}

// take returns the rows at places in range.
func (t *Table) take(places []int64) *Table {
	out := &Table{make([]data.Column, len(t.columns)), len(places)}
	index := weft.FromSlice(places, len(places))
	for i := range t.columns {
		out.columns[i] = taken(&t.columns[i], places, index)
	}
	return out
}

// taken returns the rows of a column at places, which index has too.
func taken(c *data.Column, places []int64, index *weft.Tensor) data.Column {
	out := data.Column{Name: c.Name}
	switch {
	case c.Numbers != nil:
		out.Numbers = c.Numbers.IndexSelect(0, index.On(c.Numbers.Device()))
	case c.Lists != nil:
		at := make([]int, len(places))
		for i, p := range places {
			at[i] = int(p)
		}
		out.Lists = c.Lists.Take(at)
	default:
		out.Texts = make([]string, len(places))
		for i, p := range places {
			out.Texts[i] = c.Texts[p]
		}
	}
	return out
}

// Filter returns the rows at which mask, a vector of bools with an element for each row, is true. It panics with
// *weft.Error for other masks.
func (t *Table) Filter(mask *weft.Tensor) *Table {
	t.given("filter")
	array.Given("table.filter", "mask", mask != nil)
	if mask.DType() != weft.Bool || mask.Rank() != 1 || mask.Dim(0) != t.rows {
		array.Failf("table.filter", "mask", "is %s, want bool[%d]", array.TypeString(mask.DType(), mask.Shape()), t.rows)
	}
	var places []int64
	for i, keep := range weft.Data[bool](mask) {
		if keep {
			places = append(places, int64(i))
		}
	}
	return t.take(places)
}

// IsIn returns a mask for [Table.Filter]: a vector of bools, true where the text of a column is one of texts. The empty
// text finds missing values. Columns of numbers have [weft.Tensor.Eq], [weft.Tensor.IsIn] and [weft.Tensor.IsNaN].
// It panics with *weft.Error if there is no such column of texts. pandas' isin.
func (t *Table) IsIn(name string, texts ...string) *weft.Tensor {
	t.given("is_in")
	c := t.column("is_in", "name", name)
	if c.Texts == nil {
		array.Failf("table.is_in", "name", "%q is a column of %s", name, kindOf(c))
	}
	wanted := make(map[string]bool, len(texts))
	for _, text := range texts {
		wanted[text] = true
	}
	mask := make([]bool, t.rows)
	for i, text := range c.Texts {
		mask[i] = wanted[text]
	}
	return weft.FromSlice(mask)
}

// Slice returns rows start to stop-1, on the memory of t. Negative numbers count from the back; as in NumPy, what is
// out of range is cut.
func (t *Table) Slice(start, stop int) *Table {
	t.given("slice")
	clip := func(i int) int {
		if i < 0 {
			i += t.rows
		}
		return max(0, min(i, t.rows))
	}
	start, stop = clip(start), clip(stop)
	stop = max(start, stop)
	out := &Table{slices.Clone(t.columns), stop - start}
	for i := range out.columns {
		c := &out.columns[i]
		switch {
		case c.Numbers != nil:
			c.Numbers = c.Numbers.Slice(weft.Range(start, stop))
		case c.Lists != nil:
			c.Lists = c.Lists.Range(start, stop)
		default:
			c.Texts = c.Texts[start:stop:stop]
		}
	}
	return out
}

// Head returns the first n rows, or all if there are fewer. Of a negative n it returns all but the last -n rows.
func (t *Table) Head(n int) *Table {
	t.given("head")
	return t.Slice(0, n)
}

// An Order is a column by which [Table.Sort] sorts.
type Order struct {
	Column     string
	Descending bool // the greatest first
}

// Sort returns the rows in the order of a column, and where its values are equal in the order of the next ones.
// Rows that are equal in all stay in order. NaN counts as greater than every number; texts are ordered by their
// bytes. It panics with *weft.Error if there is no such column, or one has lists, complex numbers or more axes.
func (t *Table) Sort(by ...Order) *Table {
	t.given("sort")
	checkRows("sort", t.rows)
	places := make([]int64, t.rows)
	for i := range places {
		places[i] = int64(i)
	}
	for _, o := range slices.Backward(by) {
		k := keysOf("sort", "by", []*data.Column{t.column("sort", "by", o.Column)})
		if o.Descending {
			for i, c := range k.codes {
				k.codes[i] = int32(len(k.first)) - 1 - c
			}
		}
		places = byCode(k.codes, len(k.first), places)
	}
	return t.take(places)
}

// byCode sorts places stably by the codes of their rows, which are less than n: a counting sort.
func byCode(codes []int32, n int, places []int64) []int64 {
	next := make([]int64, n+1)
	for _, c := range codes {
		next[c+1]++
	}
	for c := range n {
		next[c+1] += next[c]
	}
	out := make([]int64, len(places))
	for _, p := range places {
		c := codes[p]
		out[next[c]] = p
		next[c]++
	}
	return out
}

// Unique returns the rows whose values in some columns, all if none is named, no row before has. It panics with
// *weft.Error if there is no such column, or one has lists, complex numbers or more axes.
func (t *Table) Unique(names ...string) *Table {
	t.given("unique")
	checkRows("unique", t.rows)
	if len(names) == 0 {
		names = t.Names()
	}
	if len(names) == 0 {
		return t
	}
	k := keysOf("unique", "names", t.named("unique", "names", names))
	places := make([]int64, len(k.first))
	for i, row := range k.first {
		places[i] = int64(row)
	}
	slices.Sort(places)
	return t.take(places)
}

// named returns the columns of names.
func (t *Table) named(op, arg string, names []string) []*data.Column {
	columns := make([]*data.Column, len(names))
	for i, name := range names {
		columns[i] = t.column(op, arg, name)
	}
	return columns
}

// Concat returns the rows of tables one after the other. All have columns of the same names; their order is the
// first's. Numbers meet in the type that holds both. It panics with *weft.Error for tables that do not fit.
func Concat(tables ...*Table) *Table {
	const op = "table.concat"
	if len(tables) == 0 {
		return &Table{}
	}
	for i, t := range tables {
		array.Given(op, "tables", t != nil)
		if len(t.columns) != len(tables[0].columns) {
			array.Failf(op, "tables", "has %d columns in table %d, %d in the first", len(t.columns), i, len(tables[0].columns))
		}
	}
	out := &Table{columns: make([]data.Column, len(tables[0].columns))}
	for _, t := range tables {
		out.rows += t.rows
	}
	for i := range out.columns {
		name := tables[0].columns[i].Name
		parts := make([]*data.Column, len(tables))
		for k, t := range tables {
			parts[k] = t.column("concat", "tables", name)
		}
		out.columns[i] = joined(op, "tables", parts)
	}
	return out
}
