package table

import (
	"slices"
	"strconv"

	"weft"
	"weft/data"
	"weft/internal/array"
)

// PivotOpts say what [Table.Pivot] makes of some columns.
type PivotOpts struct {
	Index   []string                // columns whose values name the rows of the result
	Columns string                  // the column whose values name the columns of the result
	Values  string                  // the column of numbers that are put together
	Agg     func(column string) Agg // how, such as [Sum]; nil means [Mean]
}

// Pivot spreads a table: a row for each combination of values of the index columns, a column for each value of
// another, and in each place the statistic of the values of the rows that have both, NaN (or "") where none has. Rows
// and columns are in ascending order. It panics with *weft.Error for columns that are not there, are named twice or
// have another kind, and where two columns of the result would have one name.
func (t *Table) Pivot(o PivotOpts) *Table {
	t.given("pivot")
	const op = "table.pivot"
	if len(o.Index) == 0 {
		array.Failf(op, "Index", "is empty: want columns that name the rows")
	}
	t.column("pivot", "Columns", o.Columns)
	t.column("pivot", "Values", o.Values)
	if slices.Contains(o.Index, o.Columns) {
		array.Failf(op, "Columns", "%q is a column of Index too", o.Columns)
	}
	if o.Agg == nil {
		o.Agg = Mean
	}
	const value = "\x00value"
	rows, columns := t.GroupBy(o.Index...), t.GroupBy(o.Columns)
	cells := t.GroupBy(append(slices.Clone(o.Index), o.Columns)...)
	stats := cells.Agg(o.Agg(o.Values).As(value))
	values := stats.column("pivot", "Values", value)

	out := rows.Keys()
	at := make([][]int64, columns.Len()) // for each column of the result and row of it the cell, -1 for none
	for j := range at {
		at[j] = slices.Repeat([]int64{-1}, rows.Len())
	}
	for cell, row := range cells.keys.first {
		at[columns.keys.codes[row]][rows.keys.codes[row]] = int64(cell)
	}
	heads := columns.Keys().columns[0]
	for j := range at {
		name := cellText(&heads, j)
		if slices.ContainsFunc(out.columns, func(have data.Column) bool { return have.Name == name }) {
			array.Failf(op, "Columns", "gives two columns the name %q", name)
		}
		c := takenOrMissing(values, at[j])
		c.Name = name
		out.columns = append(out.columns, c)
	}
	return out
}

// UnpivotOpts are the options of [Table.Unpivot].
type UnpivotOpts struct {
	Index []string // columns whose values are repeated
	Names string   // the column of the result with the names of columns; "" means "variable"
	Value string   // the column of the result with their values; "" means "value"
}

// Unpivot is the reverse of [Table.Pivot], pandas' melt: a row for each row and column that is not of the index, with
// the column's name and the value, column by column. Values meet as in [Concat]. It panics with *weft.Error for
// columns that are not there, and kinds that do not meet.
func (t *Table) Unpivot(opts ...UnpivotOpts) *Table {
	t.given("unpivot")
	const op = "table.unpivot"
	o := array.Options(op, opts)
	if o.Names == "" {
		o.Names = "variable"
	}
	if o.Value == "" {
		o.Value = "value"
	}
	index := t.Select(o.Index...)
	rest := t.Drop(o.Index...)
	n := len(rest.columns)
	places := make([]int64, 0, n*t.rows)
	names := make([]string, 0, n*t.rows)
	parts := make([]*data.Column, n)
	for j := range rest.columns {
		for i := range t.rows {
			places, names = append(places, int64(i)), append(names, rest.columns[j].Name)
		}
		parts[j] = &rest.columns[j]
	}
	out := index.take(places)
	values := data.Column{Texts: []string{}}
	if n > 0 {
		values = joined(op, "", parts)
	}
	values.Name = o.Value
	return out.With(data.Column{Name: o.Names, Texts: names}, values)
}

// Describe returns a table of statistics of the columns of real numbers, one row for each: count, mean, std, min, the
// quartiles, max. The count is int64, the others float64; they skip NaN.
func (t *Table) Describe() *Table {
	t.given("describe")
	var names []string
	var rows []*Table
	for i := range t.columns {
		c := &t.columns[i]
		if c.Numbers == nil || c.Numbers.Rank() != 1 || c.Numbers.DType().Complex() {
			continue
		}
		names = append(names, c.Name)
		x := (&Table{[]data.Column{{Name: "x", Numbers: c.Numbers.To(weft.Float64)}}, t.rows})
		rows = append(rows, x.GroupBy().Agg(Count("x").As("count"), Mean("x").As("mean"), Std("x").As("std"), Min("x").As("min"),
			Quantile("x", 0.25).As("25%"), Median("x").As("50%"), Quantile("x", 0.75).As("75%"), Max("x").As("max")))
	}
	if len(rows) == 0 || t.rows == 0 {
		return &Table{}
	}
	all := Concat(rows...)
	return New(append([]data.Column{{Name: "column", Texts: names}}, all.columns...)...)
}

// cellText is a value of a column as text. A missing one is empty.
func cellText(c *data.Column, row int) string {
	switch {
	case c.Texts != nil:
		return c.Texts[row]
	case c.Lists != nil:
		return c.Lists.At(row).String()
	case c.Numbers.Rank() > 1:
		return c.Numbers.At(row).String()
	}
	x := c.Numbers.At(row)
	switch d := x.DType(); {
	case d == weft.Bool:
		return strconv.FormatBool(x.ItemInt() != 0)
	case d == weft.Uint64:
		return strconv.FormatUint(weft.Data[uint64](x)[0], 10)
	case d.Category() == array.CatInt:
		return strconv.FormatInt(x.ItemInt(), 10)
	case d.Complex():
		return strconv.FormatComplex(x.ItemComplex(), 'g', -1, 128)
	default:
		v, digits := x.Item(), 32
		if v != v {
			return ""
		}
		if d == weft.Float64 {
			digits = 64
		}
		return strconv.FormatFloat(v, 'g', -1, digits)
	}
}
