package table

import (
	"slices"
	"sync"

	"weft"
	"weft/data"
	"weft/internal/array"
	"weft/ragged"
)

// Groups are the rows of a table by the values of their keys. [Table.GroupBy] makes them. Any number of
// goroutines may use one.
type Groups struct {
	t     *Table
	names []string // of the keys
	keys  keys

	once    sync.Once
	places  []int64 // rows, group by group
	offsets []int64 // of the groups in places
}

// GroupBy groups rows that have equal values in some columns. Groups are in the order of the first column, and
// where its values are equal in the order of the next ones; NaN comes last. Without names all rows are one group, or
// none if there are no rows. It panics with *weft.Error if there is no such column, a name is given twice, or a
// column has lists, complex numbers or more axes.
func (t *Table) GroupBy(names ...string) *Groups {
	t.given("groupby")
	checkRows("groupby", t.rows)
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			array.Failf("table.groupby", "names", "has %q twice", name)
		}
	}
	g := &Groups{t: t, names: slices.Clone(names)}
	if len(names) > 0 {
		g.keys = keysOf("groupby", "names", t.named("groupby", "names", names))
	} else if g.keys.codes = make([]int32, t.rows); t.rows > 0 {
		g.keys.first = []int32{0}
	}
	return g
}

func (g *Groups) given(op string) {
	if g == nil || g.t == nil {
		array.Failf("table."+op, "", "the groups are nil or zero: Table.GroupBy makes them")
	}
}

// Len returns the number of groups.
func (g *Groups) Len() int {
	g.given("len")
	return len(g.keys.first)
}

// Codes returns the group of each row, int64[rows].
func (g *Groups) Codes() *weft.Tensor {
	g.given("codes")
	return weft.FromSlice(g.code64(), len(g.keys.codes))
}

func (g *Groups) code64() []int64 {
	out := make([]int64, len(g.keys.codes))
	for i, c := range g.keys.codes {
		out[i] = int64(c)
	}
	return out
}

// Keys returns a table with the keys of each group.
func (g *Groups) Keys() *Table {
	g.given("keys")
	return g.t.Select(g.names...).take(widened(g.keys.first))
}

func widened(x []int32) []int64 {
	out := make([]int64, len(x))
	for i, v := range x {
		out[i] = int64(v)
	}
	return out
}

// byGroup returns the rows group by group, in their order, and where groups begin, with the end.
func (g *Groups) byGroup() (places, offsets []int64) {
	g.once.Do(func() {
		n := len(g.keys.first)
		all := make([]int64, len(g.keys.codes))
		g.offsets = make([]int64, n+1)
		for i, c := range g.keys.codes {
			all[i] = int64(i)
			g.offsets[c+1]++
		}
		for c := range n {
			g.offsets[c+1] += g.offsets[c]
		}
		g.places = byCode(g.keys.codes, n, all)
	})
	return g.places, g.offsets
}

// Lists returns the numbers of a column group by group: a list whose items are the groups, for what [Groups.Agg]
// does not have. It panics with *weft.Error if there is no such column of numbers.
func (g *Groups) Lists(name string) *ragged.List {
	g.given("lists")
	x := g.t.Numbers(name)
	places, offsets := g.byGroup()
	index := weft.FromSlice(slices.Clone(places), len(places)).On(x.Device())
	return ragged.FromOffsets(x.IndexSelect(0, index), weft.FromSlice(slices.Clone(offsets), len(offsets)))
}

// Agg returns a table with a row for each group: its keys and a column for each statistic. It panics with
// *weft.Error for a statistic of a column that is not there or has another kind, and where two columns would have
// one name.
func (g *Groups) Agg(stats ...Agg) *Table {
	g.given("agg")
	out := g.Keys()
	if len(g.names) == 0 {
		out.rows = g.Len()
	}
	sums := map[string]*[]accumulator{}
	for _, a := range stats {
		c := a.of(g, sums)
		if slices.ContainsFunc(out.columns, func(have data.Column) bool { return have.Name == c.Name }) {
			array.Failf("table.agg", "stats", "gives two columns the name %q: As gives another", c.Name)
		}
		out.columns = append(out.columns, c)
	}
	return out
}

// Transform returns a table with a row for each row of the grouped one: the statistics of its group. It panics as
// [Groups.Agg] does.
func (g *Groups) Transform(stats ...Agg) *Table {
	g.given("transform")
	groups := g.Agg(stats...)
	groups.columns = groups.columns[len(g.names):]
	return groups.take(g.code64())
}

// String returns the keys, and the numbers of groups and rows.
func (g *Groups) String() string {
	g.given("string")
	return array.Describe("table.Groups", "Keys", g.names, "Groups", g.Len(), "Rows", g.t.rows)
}
