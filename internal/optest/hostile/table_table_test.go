package hostile

import (
	"reflect"

	"weft/data"
	"weft/table"
)

// The exports of package table.

var tableFunctions = []row[any]{
	{"table.Concat", table.Concat},
	{"table.Count", table.Count},
	{"table.First", table.First},
	{"table.Last", table.Last},
	{"table.Max", table.Max},
	{"table.Mean", table.Mean},
	{"table.Median", table.Median},
	{"table.Min", table.Min},
	{"table.NUnique", table.NUnique},
	{"table.New", table.New},
	{"table.NewColumn", table.NewColumn},
	{"table.Quantile", table.Quantile},
	{"table.Size", table.Size},
	{"table.Std", table.Std},
	{"table.Sum", table.Sum},
	{"table.Var", table.Var},
}

var tableTypes = []row[reflect.Type]{
	{"table.Agg", reflect.TypeFor[table.Agg]()},
	{"table.Groups", reflect.TypeFor[table.Groups]()},
	{"table.How", reflect.TypeFor[table.How]()},
	{"table.JoinOpts", reflect.TypeFor[table.JoinOpts]()},
	{"table.Order", reflect.TypeFor[table.Order]()},
	{"table.PivotOpts", reflect.TypeFor[table.PivotOpts]()},
	{"table.Table", reflect.TypeFor[table.Table]()},
	{"table.UnpivotOpts", reflect.TypeFor[table.UnpivotOpts]()},
}

// table is a small table whose columns "a", "b" and "s" others have too.
func (g *gen) table() *table.Table {
	n := g.r.IntN(5)
	a, b, s := make([]int64, n), make([]float64, n), make([]string, n)
	for i := range n {
		a[i], b[i], s[i] = int64(g.r.IntN(3)), g.float(), pick(g, "", "x", "y", "a")
	}
	return table.New(table.NewColumn("a", a), table.NewColumn("b", b), table.NewColumn("s", s))
}

func init() {
	makers[typ[*table.Table]()] = func(g *gen) any { return pick(g, nil, &table.Table{}, g.table(), g.table(), g.table()) }
	makers[typ[*table.Groups]()] = func(g *gen) any {
		return pick(g, nil, &table.Groups{}, g.table().GroupBy(pick(g, "a", "b", "s")), g.table().GroupBy(), g.table().GroupBy("s", "a"))
	}
	makers[typ[table.Agg]()] = func(g *gen) any {
		f := pick(g, table.Sum, table.Mean, table.Min, table.Max, table.Std, table.Var, table.Median, table.Count, table.First, table.Last, table.NUnique)
		return pick(g, table.Agg{}, table.Size(), table.Quantile(pick(g, "a", "b", "s"), g.float()), f(pick(g, "a", "b", "s", "z")), f(pick(g, "a", "b")))
	}
	makers[typ[table.Order]()] = func(g *gen) any {
		return table.Order{Column: pick(g, "a", "b", "s", "z"), Descending: g.r.IntN(2) == 0}
	}
	makers[typ[table.JoinOpts]()] = func(g *gen) any {
		return table.JoinOpts{On: pick(g, nil, []string{"a"}, []string{"a", "s"}, []string{"z"}), How: table.How(g.r.IntN(7)), Suffix: pick(g, "", "_", "b")}
	}
	makers[typ[table.PivotOpts]()] = func(g *gen) any {
		return table.PivotOpts{Index: pick(g, nil, []string{"a"}, []string{"s"}), Columns: pick(g, "s", "b", "a", "z"), Values: pick(g, "b", "s", "a"), Agg: pick(g, nil, table.Sum, table.First)}
	}
	makers[typ[data.Column]()] = func(g *gen) any {
		c := data.Column{Name: pick(g, "a", "b", "s", "")}
		switch g.r.IntN(5) {
		case 0:
			c.Numbers = g.tensor()
		case 1:
			c.Texts = []string{"x", g.text()}
		case 2:
			c.Lists = g.list()
		case 3:
			return g.table().Columns()[g.r.IntN(3)]
		}
		return c
	}
}
