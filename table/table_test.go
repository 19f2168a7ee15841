package table_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"weft"
	"weft/data"
	"weft/internal/par"
	"weft/internal/tensortest"
	"weft/ragged"
	"weft/table"
)

func TestMain(m *testing.M) { tensortest.Main(m) }

// A stored column has null for missing numbers.
type stored struct {
	Name, Type string
	Values     []json.RawMessage
}

type expected struct {
	Table, Cities                    []stored
	Groups, Joins                    map[string][]stored
	Sorted, Pivot, Unpivot, Describe []stored
}

func want(t *testing.T) (e expected) {
	t.Helper()
	text, err := os.ReadFile("testdata/expected.json")
	if err == nil {
		err = json.Unmarshal(text, &e)
	}
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// of makes a table of stored columns.
func of(t *testing.T, columns []stored) *table.Table {
	t.Helper()
	out := make([]data.Column, len(columns))
	for i, c := range columns {
		var x any
		switch c.Type {
		case "texts":
			x = decode[string](t, c.Values, "")
		case "bool":
			x = slices.Collect(func(yield func(bool) bool) {
				for _, v := range decode(t, c.Values, int64(0)) {
					yield(v != 0)
				}
			})
		case "float64":
			x = decode(t, c.Values, math.NaN())
		default:
			x = decode(t, c.Values, int64(0))
		}
		out[i] = table.NewColumn(c.Name, x)
	}
	return table.New(out...)
}

func decode[T any](t *testing.T, values []json.RawMessage, missing T) []T {
	t.Helper()
	out := make([]T, len(values))
	for i, v := range values {
		if string(v) == "null" {
			out[i] = missing
		} else if err := json.Unmarshal(v, &out[i]); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// same compares tables, floats to a relative error of tolerance.
func same(t *testing.T, what string, got, want *table.Table, tolerance float64) {
	t.Helper()
	if !slices.Equal(got.Names(), want.Names()) || got.Len() != want.Len() {
		t.Fatalf("%s: %d rows of %q, want %d of %q", what, got.Len(), got.Names(), want.Len(), want.Names())
	}
	for i, w := range want.Columns() {
		g := got.Columns()[i]
		if w.Texts != nil {
			if !slices.Equal(g.Texts, w.Texts) {
				t.Errorf("%s: %q is %q, want %q", what, w.Name, g.Texts, w.Texts)
			}
			continue
		}
		if g.Numbers == nil || g.Numbers.DType() != w.Numbers.DType() {
			t.Errorf("%s: %q is %v, want %v", what, w.Name, g, w.Numbers.DType())
			continue
		}
		if w.Numbers.DType() != weft.Float64 {
			if !slices.Equal(weft.Data[int64](g.Numbers.To(weft.Int64)), weft.Data[int64](w.Numbers.To(weft.Int64))) {
				t.Errorf("%s: %q is %v, want %v", what, w.Name, g.Numbers, w.Numbers)
			}
			continue
		}
		y := weft.Data[float64](w.Numbers)
		for k, x := range weft.Data[float64](g.Numbers) {
			if x != y[k] && !(x != x && y[k] != y[k]) && !(math.Abs(x-y[k]) <= tolerance*math.Abs(y[k])) {
				t.Errorf("%s: %q has %v at %d, want %v", what, w.Name, x, k, y[k])
			}
		}
	}
}

var stats = []table.Agg{
	table.Sum("rent"), table.Mean("rent"), table.Min("rent"), table.Max("rent"), table.Std("rent"), table.Var("rent"), table.Median("rent"),
	table.Quantile("rent", 0.3), table.Count("rent"), table.First("rent"), table.Last("rent"), table.NUnique("rent"),
	table.Sum("big"), table.Min("big"), table.Max("big"), table.Mean("big"), table.First("big"), table.Last("big"),
	table.Sum("own"), table.Size(),
	table.Count("note"), table.Min("note"), table.Max("note"), table.First("note"), table.Last("note"), table.NUnique("note"),
}

// Groups by texts, integers, floats with NaN, bools and several of them, with every statistic, are pandas'.
func TestGroupsMatchPandas(t *testing.T) {
	e := want(t)
	x := of(t, e.Table)
	for keys, w := range e.Groups {
		expect := of(t, w)
		got := x.GroupBy(strings.Split(keys, ",")...).Agg(stats...)
		if strings.Contains(keys, "note") { // pandas has missing texts last
			expect = expect.Sort(table.Order{Column: "note"})
		}
		same(t, keys, got, expect, 1e-13)
	}
}

func TestJoinsMatchPandas(t *testing.T) {
	e := want(t)
	x, cities := of(t, e.Table).Select("city", "year", "big"), of(t, e.Cities)
	for name, how := range map[string]table.How{"inner": table.Inner, "left": table.Left} {
		same(t, name, x.Join(cities, table.JoinOpts{On: []string{"city"}, How: how}), of(t, e.Joins[name]), 0)
	}
}

func TestShapesMatchPandas(t *testing.T) {
	e := want(t)
	x := of(t, e.Table)
	same(t, "sorted", x.Sort(table.Order{Column: "zone", Descending: true}, table.Order{Column: "city"}, table.Order{Column: "big", Descending: true}), of(t, e.Sorted), 0)
	same(t, "pivot", x.Pivot(table.PivotOpts{Index: []string{"city"}, Columns: "year", Values: "rent", Agg: table.Sum}), of(t, e.Pivot), 1e-13)
	same(t, "unpivot", x.Select("city", "rent", "big").Unpivot(table.UnpivotOpts{Index: []string{"city"}}), of(t, e.Unpivot), 0)
	d := of(t, e.Describe)
	d = d.With(table.NewColumn("count", d.Numbers("count").To(weft.Int64)))
	same(t, "describe", x.Select("city", "rent", "big").Describe(), d, 1e-13)
}

// Joins of random keys have the pairs that a loop over both tables finds, in its order.
func TestJoinsPairAll(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		n, m := r.IntN(12), r.IntN(12)
		a, b := make([]float64, n), make([]int32, m)
		for i := range a {
			if a[i] = float64(r.IntN(5)); a[i] == 4 {
				a[i] = math.NaN()
			}
		}
		for i := range b {
			b[i] = int32(r.IntN(6))
		}
		left := table.New(table.NewColumn("k", a), table.NewColumn("i", weft.Arange(n)))
		right := table.New(table.NewColumn("key", b), table.NewColumn("i", weft.Arange(m)))
		for _, how := range []table.How{table.Inner, table.Left, table.Right, table.Outer, table.Semi, table.Anti} {
			var pairs [][2]float64
			used := make([]bool, m)
			nan := math.NaN()
			for i := range a {
				found := false
				for k := range b {
					if a[i] == float64(b[k]) {
						found, used[k] = true, true
						if how < table.Semi && how != table.Right {
							pairs = append(pairs, [2]float64{float64(i), float64(k)})
						}
					}
				}
				if !found && (how == table.Left || how == table.Outer || how == table.Anti) || found && how == table.Semi {
					pairs = append(pairs, [2]float64{float64(i), nan})
				}
			}
			for k := range b {
				found := false
				for i := range a {
					if how == table.Right && a[i] == float64(b[k]) {
						found = true
						pairs = append(pairs, [2]float64{float64(i), float64(k)})
					}
				}
				if how == table.Right && !found || how == table.Outer && !used[k] {
					pairs = append(pairs, [2]float64{nan, float64(k)})
				}
			}
			got := left.Join(right, table.JoinOpts{On: []string{"k"}, RightOn: []string{"key"}, How: how})
			if got.Len() != len(pairs) {
				t.Fatalf("%v, %v, how %d: %v, want %v", a, b, how, got, pairs)
			}
			for col, name := range []string{"i", "i_right"} {
				if how >= table.Semi && col == 1 {
					continue
				}
				for row, v := range weft.Data[float64](got.Numbers(name).To(weft.Float64)) {
					if w := pairs[row][col]; v != w && !(v != v && w != w) {
						t.Fatalf("%v, %v, how %d: %v, want %v", a, b, how, got, pairs)
					}
				}
			}
			if how < table.Semi {
				for row, v := range weft.Data[float64](got.Numbers("k").To(weft.Float64)) {
					i, k := pairs[row][0], pairs[row][1]
					w := nan
					if i == i {
						w = a[int(i)]
					} else {
						w = float64(b[int(k)])
					}
					if v != w && !(v != v && w != w) {
						t.Fatalf("how %d: key %v at %d, want %v", how, v, row, w)
					}
				}
			}
		}
	}
}

// Keys go through a table of numbers, or a hash table that grows; results are a Go map's, with the same bits on one
// thread and eight.
func TestManyGroups(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const n = 200_000
	for name, key := range map[string]func() int64{
		"few":       func() int64 { return r.Int64N(10) },
		"dense":     func() int64 { return r.Int64N(n) - 7 },
		"scattered": func() int64 { return r.Int64N(n) * 0x123456789ab },
		"extremes":  func() int64 { return []int64{math.MinInt64, -1, 0, math.MaxInt64}[r.IntN(4)] },
	} {
		ids, x, texts := make([]int64, n), make([]float64, n), make([]string, n)
		sums, sizes := map[int64]float64{}, map[int64]int64{}
		for i := range ids {
			ids[i], x[i] = key(), r.NormFloat64()
			texts[i] = fmt.Sprintf("%020d", uint64(ids[i])^1<<63)
			sums[ids[i]] += x[i]
			sizes[ids[i]]++
		}
		tab := table.New(table.NewColumn("id", ids), table.NewColumn("x", x), table.NewColumn("text", texts))
		var digests []string
		for _, threads := range []int{1, 8} {
			old := par.SetThreads(threads)
			for _, by := range []string{"id", "text"} {
				g := tab.GroupBy(by).Agg(table.Sum("x"), table.Size(), table.First("id"), table.Var("x"))
				digests = append(digests, weft.Digest(g.Numbers("x_sum"), g.Numbers("x_var")))
				keys := weft.Data[int64](g.Numbers("id_first"))
				if len(keys) != len(sums) || !slices.IsSorted(keys) {
					t.Fatalf("%s by %s: %d groups, want %d in order", name, by, len(keys), len(sums))
				}
				got, size := weft.Data[float64](g.Numbers("x_sum")), weft.Data[int64](g.Numbers("size"))
				for i, k := range keys {
					if math.Abs(got[i]-sums[k]) > 1e-10*float64(sizes[k]) || size[i] != sizes[k] {
						t.Fatalf("%s by %s: group %d has sum %v of %d, want %v of %d", name, by, k, got[i], size[i], sums[k], sizes[k])
					}
				}
			}
			par.SetThreads(old)
		}
		if slices.Max(digests) != slices.Min(digests) {
			t.Errorf("%s: digests differ: %x", name, digests)
		}
	}
}

// Sums of floats are compensated: numbers that cancel leave what is small.
func TestSumsAreCompensated(t *testing.T) {
	x := table.New(table.NewColumn("x", []float64{1, 1e100, 1, -1e100, math.Inf(1), 3, math.Inf(1), math.Inf(-1)}), table.NewColumn("k", []int{0, 0, 0, 0, 1, 1, 2, 2}))
	got := weft.Data[float64](x.GroupBy("k").Agg(table.Sum("x")).Numbers("x_sum"))
	if got[0] != 2 || !math.IsInf(got[1], 1) || !math.IsNaN(got[2]) {
		t.Errorf("sums are %v", got)
	}
}

// Every type of numbers keeps its type or goes where the comment says.
func TestTypes(t *testing.T) {
	for _, d := range []weft.DType{weft.Bool, weft.Uint8, weft.Int8, weft.Int16, weft.Int32, weft.Int64, weft.Uint16, weft.Uint32, weft.Uint64, weft.Float16, weft.BFloat16, weft.Float32, weft.Float64} {
		x := table.New(table.NewColumn("x", weft.FromSlice([]int64{1, 0, 1, 1}).To(d)), table.NewColumn("k", weft.FromSlice([]int64{1, 1, 0, 1}).To(d)))
		g := x.GroupBy("k").Agg(table.Sum("x"), table.Mean("x"), table.Min("x"), table.Max("x"), table.Last("x"))
		sum, mean := weft.Int64, weft.Float64
		if d == weft.Float16 || d == weft.BFloat16 || d == weft.Float32 {
			sum, mean = d, d
		} else if d == weft.Float64 {
			sum = d
		}
		for name, w := range map[string]weft.DType{"k": d, "x_sum": sum, "x_mean": mean, "x_min": d, "x_max": d, "x_last": d} {
			if got := g.Numbers(name).DType(); got != w {
				t.Errorf("%s of %s is %s, want %s", name, d, got, w)
			}
		}
		if got := weft.Data[float64](g.Numbers("x_sum").To(weft.Float64)); !slices.Equal(got, []float64{1, 2}) {
			t.Errorf("sums of %s are %v", d, got)
		}
	}
	big := table.New(table.NewColumn("x", []uint64{math.MaxUint64, 1, 1 << 63}))
	if got := weft.Data[uint64](big.Sort(table.Order{Column: "x"}).Numbers("x")); !slices.Equal(got, []uint64{1, 1 << 63, math.MaxUint64}) {
		t.Errorf("sorted uint64: %v", got)
	}
	if got := weft.Data[uint64](big.GroupBy().Agg(table.Max("x")).Numbers("x_max")); got[0] != math.MaxUint64 {
		t.Errorf("the greatest uint64 is %v", got)
	}
}

// Tables without rows or columns give such tables.
func TestEmptyTables(t *testing.T) {
	none := table.New()
	empty := table.New(table.NewColumn("x", []float64{}), table.NewColumn("s", []string(nil)), table.NewColumn("l", ragged.FromSizes(weft.Zeros(0), []int{})))
	if none.Len() != 0 || len(none.Names()) != 0 || none.GroupBy().Len() != 0 || none.String() != "\n" {
		t.Error("the table without columns is not empty")
	}
	for i, got := range []*table.Table{
		empty.GroupBy("x", "s").Agg(table.Sum("x"), table.First("s"), table.Median("x"), table.NUnique("s")),
		empty.Join(empty, table.JoinOpts{On: []string{"x"}, How: table.Outer}), empty.Sort(table.Order{Column: "s"}), empty.Unique("x", "s"), empty.Head(3),
		empty.Filter(weft.ZerosOf(weft.Bool, 0)), empty.Take(weft.ZerosOf(weft.Int64, 0)), table.Concat(empty, empty), empty.Unpivot(table.UnpivotOpts{Index: []string{"s", "l"}}),
		empty.Pivot(table.PivotOpts{Index: []string{"s"}, Columns: "x", Values: "x"}), empty.Drop("s"), none.Unpivot(), none.Describe(), empty.Describe(), none.Unique(),
	} {
		if got.Len() != 0 {
			t.Errorf("%d: %v", i, got)
		}
	}
	one := table.New(table.NewColumn("x", []float64{7}), table.NewColumn("l", ragged.Of([][]float64{{1, 2}})))
	got := one.Join(empty.Rename(map[string]string{"l": "m"}), table.JoinOpts{On: []string{"x"}, How: table.Left})
	if got.Lists("m").At(0).Size() != 0 || got.Lists("l").At(0).Size() != 2 || got.Texts("s")[0] != "" {
		t.Errorf("a row without a partner: %v", got)
	}
}

func TestRowsOfTables(t *testing.T) {
	x := table.New(table.NewColumn("a", []int{3, 1, 2, 1}), table.NewColumn("s", []string{"x", "y", "z", "y"}), table.NewColumn("v", weft.Arange(8).Reshape(4, 2)),
		table.NewColumn("l", ragged.Of([][]int{{1}, {}, {2, 3}, {4}})))
	check := func(what string, got *table.Table, a []int64, s ...string) {
		t.Helper()
		if !slices.Equal(weft.Data[int64](got.Numbers("a")), a) || !slices.Equal(got.Texts("s"), s) || got.Numbers("v").Dim(0) != len(a) || got.Lists("l").Len() != len(a) {
			t.Errorf("%s: %v", what, got)
		}
	}
	check("Take", x.Take(weft.FromSlice([]int{-1, 0, 0})), []int64{1, 3, 3}, "y", "x", "x")
	check("Filter", x.Filter(x.Numbers("a").Lt(3)), []int64{1, 2, 1}, "y", "z", "y")
	check("IsIn", x.Filter(x.IsIn("s", "z", "y", "none")), []int64{1, 2, 1}, "y", "z", "y")
	check("IsIn of nothing", x.Filter(x.IsIn("s")), []int64{})
	check("Slice", x.Slice(-3, -1), []int64{1, 2}, "y", "z")
	check("Head", x.Head(9), []int64{3, 1, 2, 1}, "x", "y", "z", "y")
	check("Unique", x.Unique("a", "s"), []int64{3, 1, 2}, "x", "y", "z")
	check("Concat", table.Concat(x.Head(1), x.Slice(2, 3)), []int64{3, 2}, "x", "z")
	check("With", x.With(table.NewColumn("s", []string{"1", "2", "3", "4"})).Head(2), []int64{3, 1}, "1", "2")
	if got := x.GroupBy("s").Transform(table.Sum("a")).Numbers("a_sum"); !slices.Equal(weft.Data[int64](got), []int64{3, 2, 2, 2}) {
		t.Errorf("Transform: %v", got)
	}
	if got := x.GroupBy("s").Lists("a"); !slices.Equal(weft.Data[int64](got.Data()), []int64{3, 1, 1, 2}) || got.Len() != 3 {
		t.Errorf("Lists: %v", got)
	}
	if got := x.GroupBy("a").Codes(); !slices.Equal(weft.Data[int64](got), []int64{2, 0, 1, 0}) {
		t.Errorf("Codes: %v", got)
	}
}

// A table written as text is read again.
func TestWriteCSV(t *testing.T) {
	x := table.New(table.NewColumn("a", []int64{3, math.MinInt64}), table.NewColumn("s", []string{"x, \"y\"", "\n"}), table.NewColumn("f", []float64{0.1, math.NaN()}), table.NewColumn("b", []bool{true, false}))
	var b strings.Builder
	if err := x.WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	columns, err := data.ReadCSV(strings.NewReader(b.String()), data.CSVOpts{Infer: true})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "read", table.New(columns...), x, 0)
}

func TestMisuse(t *testing.T) {
	x := table.New(table.NewColumn("a", []int{1, 2}), table.NewColumn("s", []string{"x", "y"}), table.NewColumn("c", []complex64{1, 2}), table.NewColumn("l", ragged.Of([][]int{{1}, {}})))
	var none *table.Table
	for text, f := range map[string]func(){
		`table.new: columns: has two with the name "a"`:                                                      func() { table.New(table.NewColumn("a", []int{1}), table.NewColumn("a", []int{1})) },
		`table.new: columns: differ in length: "a" has 1 rows, "b" has 2`:                                    func() { table.New(table.NewColumn("a", []int{1}), table.NewColumn("b", []int{1, 2})) },
		`table.new_column: values: is a map[int]int, want a slice of strings or numbers, a tensor or a list`: func() { table.NewColumn("a", map[int]int{}) },
		`table.numbers: name: "z" is not a column: the columns are ["a" "s" "c" "l"]`:                        func() { x.Numbers("z") },
		`table.numbers: name: "s" is a column of texts`:                                                      func() { x.Numbers("s") },
		`table.groupby: names: names "l", a column of lists: want texts or one number a row`:                 func() { x.GroupBy("l") },
		`table.groupby: names: names "c", a column of complex64, which has no order`:                         func() { x.GroupBy("c") },
		`table.agg: stats: has the sum of "s", a column of texts: want numbers`:                              func() { x.GroupBy("a").Agg(table.Sum("s")) },
		`table.agg: stats: has a zero Agg: functions such as Sum make one`:                                   func() { x.GroupBy("a").Agg(table.Agg{}) },
		`table.agg: stats: gives two columns the name "a_sum": As gives another`:                             func() { x.GroupBy("a").Agg(table.Sum("a"), table.Sum("a")) },
		`table.join: On: "a" is a column of int64 in one table, of texts in another`:                         func() { x.Join(x, table.JoinOpts{On: []string{"a"}, RightOn: []string{"s"}}) },
		`table.take: index: has 2 at 0: there are 2 rows`:                                                    func() { x.Take(weft.FromSlice([]int{2})) },
		`table.is_in: name: "a" is a column of int64`:                                                        func() { x.IsIn("a", "1") },
		`table.filter: mask: is bool[3], want bool[2]`:                                                       func() { x.Filter(weft.ZerosOf(weft.Bool, 3)) },
		`table.len: the table: is nil`:                                                                       func() { none.Len() },
		`table.len: the groups are nil or zero: Table.GroupBy makes them`:                                    func() { new(table.Groups).Len() },
		`table.write_csv: column "l" has lists, which a field of text does not hold`:                         func() { _ = x.WriteCSV(&strings.Builder{}) },
	} {
		err := weft.Try(f)
		var e *weft.Error
		if !errors.As(err, &e) || err.Error() != text {
			t.Errorf("got %v\nwant %s", err, text)
		}
	}
}

// Tables and groups serve many goroutines.
func TestManyGoroutines(t *testing.T) {
	e := want(t)
	x := of(t, e.Table)
	g := x.GroupBy("city")
	first := g.Agg(stats...)
	var wait sync.WaitGroup
	for range 16 {
		wait.Go(func() {
			if got := g.Agg(stats...); got.String() != first.String() || !reflect.DeepEqual(x.Sort(table.Order{Column: "city"}).Texts("city"), x.Take(x.GroupBy("city").Codes().ArgSort(0)).Texts("city")) {
				t.Error("results differ between goroutines")
			}
		})
	}
	wait.Wait()
}

// TestCSVOfOneColumnKeepsMissingRows writes one column whose missing values, and whose name, are empty: as lines without
// a character readers would skip them. pandas' to_csv writes quotes there too.
func TestCSVOfOneColumnKeepsMissingRows(t *testing.T) {
	nan := math.NaN()
	for _, c := range []data.Column{
		table.NewColumn("a", []float64{nan, 1, nan, nan, 2, nan}),
		table.NewColumn("a", []string{"", "x", "", "", "y", ""}),
		table.NewColumn("", []float64{nan, 3}),
	} {
		var b strings.Builder
		if err := table.New(c).WriteCSV(&b); err != nil {
			t.Fatal(err)
		}
		columns, err := data.ReadCSV(strings.NewReader(b.String()))
		if err != nil || len(columns) != 1 {
			t.Fatalf("%q gives %d columns, %v", b.String(), len(columns), err)
		}
		if got, want := table.New(columns...).String(), table.New(c).String(); got != want {
			t.Errorf("%q gives\n%s\nwant\n%s", b.String(), got, want)
		}
	}
}

// TestMedianIsTheMeanOfTwo has medians by NumPy 2.4.6, which interpolation misses by up to 3 ULP.
func TestMedianIsTheMeanOfTwo(t *testing.T) {
	x := []float64{-0x1.997bba0aae374p+0, 0x1.9d028fd5afed5p+0, -0x1.542ea59220c76p+1, 0x1.582cb172e1a1dp+1, math.MaxFloat64, math.MaxFloat64 / 2}
	y := table.New(data.Column{Name: "k", Numbers: weft.From([]int64{0, 0, 1, 1, 2, 2})}, data.Column{Name: "x", Numbers: weft.From(x)}).
		GroupBy("k").Agg(table.Median("x"))
	tensortest.Near(t, "medians", y.Numbers("x_median"), []float64{0x1.c36ae580db08p-8, 0x1.ff05f0606d38p-7, math.MaxFloat64 / 4 * 3}, 0)
}
