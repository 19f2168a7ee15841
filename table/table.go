package table

import (
	"math"
	"slices"

	"weft"
	"weft/data"
	"weft/half"
	"weft/internal/array"
	"weft/ragged"
)

// maxRows is the greatest number of rows that are grouped, joined or sorted: rows have numbers of 32 bits.
const maxRows = math.MaxInt32

// A Table is columns of equal length with different names. The zero Table has none. Any number of goroutines may
// use one.
type Table struct {
	columns []data.Column
	rows    int
}

// New returns the table of columns. It panics with *weft.Error if they differ in length, two have one name, or a
// column has not exactly one of numbers (of at least one axis), texts and lists.
func New(columns ...data.Column) *Table {
	t := &Table{columns: slices.Clone(columns)}
	names := map[string]bool{}
	for i := range t.columns {
		c := &t.columns[i]
		if names[c.Name] {
			array.Failf("table.new", "columns", "has two with the name %q", c.Name)
		}
		names[c.Name] = true
		n := lengthOf(c)
		if i == 0 {
			t.rows = n
		}
		if n != t.rows {
			array.Failf("table.new", "columns", "differ in length: %q has %d rows, %q has %d", t.columns[0].Name, t.rows, c.Name, n)
		}
		if c.Texts = slices.Clone(c.Texts); c.Texts == nil && c.Numbers == nil && c.Lists == nil {
			c.Texts = []string{}
		}
	}
	return t
}

// lengthOf is the number of rows of a column. One that has nothing is of texts, of length 0.
func lengthOf(c *data.Column) int {
	kinds := 0
	n := len(c.Texts)
	if c.Texts != nil {
		kinds++
	}
	if c.Numbers != nil {
		kinds++
		if c.Numbers.Rank() == 0 {
			array.Failf("table.new", "columns", "has %q, whose numbers are a scalar: want an axis of rows", c.Name)
		}
		n = c.Numbers.Dim(0)
	}
	if c.Lists != nil {
		kinds++
		n = c.Lists.Len()
	}
	if kinds > 1 {
		array.Failf("table.new", "columns", "has %q with more than one of Numbers, Texts and Lists", c.Name)
	}
	return n
}

// NewColumn returns a column of values: a slice of strings or of numbers, which is copied, a tensor of at least one
// axis, or a list. It panics with *weft.Error for other types.
func NewColumn(name string, values any) data.Column {
	c := data.Column{Name: name}
	switch x := values.(type) {
	case []string:
		c.Texts = append([]string{}, x...)
	case *weft.Tensor:
		array.Given("table.new_column", "values", x != nil)
		c.Numbers = x
	case *ragged.List:
		array.Given("table.new_column", "values", x != nil)
		c.Lists = x
	default:
		if c.Numbers = numbersOf(values); c.Numbers == nil {
			array.Failf("table.new_column", "values", "is a %T, want a slice of strings or numbers, a tensor or a list", values)
		}
	}
	return c
}

// numbersOf returns a slice of a Go type of elements as a tensor, nil for other values.
func numbersOf(values any) *weft.Tensor {
	for _, try := range []func(any) *weft.Tensor{
		vector[float64], vector[float32], vector[int], vector[int64], vector[int32], vector[int16], vector[int8], vector[bool],
		vector[uint64], vector[uint32], vector[uint16], vector[uint8], vector[half.Float16], vector[half.BFloat16],
		vector[complex64], vector[complex128],
	} {
		if t := try(values); t != nil {
			return t
		}
	}
	return nil
}

func vector[T weft.Element](values any) *weft.Tensor {
	x, ok := values.([]T)
	if !ok {
		return nil
	}
	return weft.FromSlice(slices.Clone(x), len(x))
}

// given panics with a *weft.Error if t is nil.
func (t *Table) given(op string) { array.Given("table."+op, "the table", t != nil) }

// Len returns the number of rows.
func (t *Table) Len() int {
	t.given("len")
	return t.rows
}

// Names returns the names of the columns.
func (t *Table) Names() []string {
	t.given("names")
	names := make([]string, len(t.columns))
	for i := range t.columns {
		names[i] = t.columns[i].Name
	}
	return names
}

// Columns returns the columns. Texts are copies; tensors and lists are the table's.
func (t *Table) Columns() []data.Column {
	t.given("columns")
	columns := slices.Clone(t.columns)
	for i := range columns {
		columns[i].Texts = slices.Clone(columns[i].Texts)
	}
	return columns
}

// column returns the column of a name. It panics with *weft.Error of an operation and argument if there is none.
func (t *Table) column(op, arg, name string) *data.Column {
	for i := range t.columns {
		if t.columns[i].Name == name {
			return &t.columns[i]
		}
	}
	array.Failf("table."+op, arg, "%q is not a column: the columns are %q", name, t.Names())
	panic("unreachable")
}

// Numbers returns the tensor of a column. It panics with *weft.Error if there is no such column of numbers.
func (t *Table) Numbers(name string) *weft.Tensor {
	t.given("numbers")
	c := t.column("numbers", "name", name)
	if c.Numbers == nil {
		array.Failf("table.numbers", "name", "%q is a column of %s", name, kindOf(c))
	}
	return c.Numbers
}

// Texts returns a copy of a column of texts. It panics with *weft.Error if there is no such column of texts.
func (t *Table) Texts(name string) []string {
	t.given("texts")
	c := t.column("texts", "name", name)
	if c.Texts == nil {
		array.Failf("table.texts", "name", "%q is a column of %s", name, kindOf(c))
	}
	return slices.Clone(c.Texts)
}

// Lists returns a column of lists. It panics with *weft.Error if there is no such column of lists.
func (t *Table) Lists(name string) *ragged.List {
	t.given("lists")
	c := t.column("lists", "name", name)
	if c.Lists == nil {
		array.Failf("table.lists", "name", "%q is a column of %s", name, kindOf(c))
	}
	return c.Lists
}

// kindOf says what a column has.
func kindOf(c *data.Column) string {
	switch {
	case c.Numbers != nil:
		return c.Numbers.DType().String()
	case c.Lists != nil:
		return "lists"
	}
	return "texts"
}

// Select returns the table of the columns of some names, in their order. It panics with *weft.Error if one is not
// there or named twice.
func (t *Table) Select(names ...string) *Table {
	t.given("select")
	out := &Table{rows: t.rows}
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			array.Failf("table.select", "names", "has %q twice", name)
		}
		out.columns = append(out.columns, *t.column("select", "names", name))
	}
	if len(names) == 0 {
		out.rows = 0
	}
	return out
}

// Drop returns the table without the columns of some names. It panics with *weft.Error if one is not there.
func (t *Table) Drop(names ...string) *Table {
	t.given("drop")
	for _, name := range names {
		t.column("drop", "names", name)
	}
	return t.Select(slices.DeleteFunc(t.Names(), func(s string) bool { return slices.Contains(names, s) })...)
}

// With returns the table with columns, which take the place of those with the same name or come last. It panics
// with *weft.Error as [New] does.
func (t *Table) With(columns ...data.Column) *Table {
	t.given("with")
	all := slices.Clone(t.columns)
	for _, c := range columns {
		if i := slices.IndexFunc(all, func(have data.Column) bool { return have.Name == c.Name }); i >= 0 {
			all[i] = c
		} else {
			all = append(all, c)
		}
	}
	return New(all...)
}

// Rename returns the table with other names for some columns, from old to new. It panics with *weft.Error if an
// old name is not there, or two columns would have one name.
func (t *Table) Rename(names map[string]string) *Table {
	t.given("rename")
	for old := range names {
		t.column("rename", "names", old)
	}
	out := &Table{slices.Clone(t.columns), t.rows}
	seen := map[string]bool{}
	for i := range out.columns {
		c := &out.columns[i]
		if name, ok := names[c.Name]; ok {
			c.Name = name
		}
		if seen[c.Name] {
			array.Failf("table.rename", "names", "gives two columns the name %q", c.Name)
		}
		seen[c.Name] = true
	}
	return out
}
