package table_test

import (
	"fmt"
	"os"
	"strings"

	"weft"
	"weft/data"
	"weft/table"
)

func rents() *table.Table {
	return table.New(
		table.NewColumn("city", []string{"Rome", "Oslo", "Rome", "Paris"}),
		table.NewColumn("rooms", []int{2, 3, 3, 1}),
		table.NewColumn("rent", []float64{900, 1200, 1150, 1000}),
	)
}

func ExampleNew() {
	columns, err := data.ReadCSV(strings.NewReader("city,rent\nRome,900\nOslo,\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(table.New(columns...))
	// Output:
	// city  rent
	// Rome   900
	// Oslo   NaN
}

func ExampleTable_GroupBy() {
	fmt.Print(rents().GroupBy("city").Agg(table.Mean("rent"), table.Max("rooms").As("largest"), table.Size()))
	// Output:
	// city   rent_mean  largest  size
	// Oslo        1200        3     1
	// Paris       1000        1     1
	// Rome        1025        3     2
}

func ExampleGroups_Transform() {
	t := rents()
	share := t.Numbers("rent").Div(t.GroupBy("city").Transform(table.Sum("rent")).Numbers("rent_sum"))
	fmt.Printf("%.2f\n", share)
	// Output: [0.44 1.00 0.56 1.00]
}

func ExampleGroups_Lists() {
	fmt.Println(rents().GroupBy("city").Lists("rent").Softmax().Sizes())
	// Output: [1 1 2]
}

func ExampleTable_Join() {
	people := table.New(table.NewColumn("city", []string{"Rome", "Oslo"}), table.NewColumn("people", []float64{2.8, 0.7}))
	fmt.Print(rents().Join(people, table.JoinOpts{On: []string{"city"}, How: table.Left}))
	// Output:
	// city   rooms  rent  people
	// Rome       2   900     2.8
	// Oslo       3  1200     0.7
	// Rome       3  1150     2.8
	// Paris      1  1000     NaN
}

func ExampleTable_Pivot() {
	wide := rents().Pivot(table.PivotOpts{Index: []string{"city"}, Columns: "rooms", Values: "rent", Agg: table.Sum})
	fmt.Print(wide)
	// Output:
	// city      1    2     3
	// Oslo    NaN  NaN  1200
	// Paris  1000  NaN   NaN
	// Rome    NaN  900  1150
}

func ExampleTable_Unpivot() {
	t := table.New(table.NewColumn("city", []string{"Rome", "Oslo"}), table.NewColumn("2024", []int{9, 12}), table.NewColumn("2025", []int{10, 13}))
	fmt.Print(t.Unpivot(table.UnpivotOpts{Index: []string{"city"}, Names: "year", Value: "rent"}))
	// Output:
	// city  year  rent
	// Rome  2024     9
	// Oslo  2024    12
	// Rome  2025    10
	// Oslo  2025    13
}

func ExampleTable_Sort() {
	fmt.Print(rents().Sort(table.Order{Column: "rooms", Descending: true}, table.Order{Column: "rent"}).Head(2))
	// Output:
	// city  rooms  rent
	// Rome      3  1150
	// Oslo      3  1200
}

func ExampleTable_Filter() {
	t := rents()
	fmt.Print(t.Filter(t.Numbers("rent").Gt(1000)).Select("city"))
	// Output:
	// city
	// Oslo
	// Rome
}

func ExampleTable_IsIn() {
	t := rents()
	fmt.Print(t.Filter(t.IsIn("city", "Rome", "Oslo")).Select("city", "rent"))
	fmt.Println(t.IsIn("city", "Oslo").LogicalNot().Sum())
	// Output:
	// city  rent
	// Rome   900
	// Oslo  1200
	// Rome  1150
	// 3
}

func ExampleTable_Describe() {
	fmt.Print(rents().Describe().Select("column", "count", "mean", "max"))
	// Output:
	// column  count    mean   max
	// rooms       4    2.25     3
	// rent        4  1062.5  1200
}

func ExampleConcat() {
	t := rents()
	fmt.Println(table.Concat(t, t.Head(1)).Len())
	// Output: 5
}

func ExampleTable_HTML() {
	fmt.Print(table.New(table.NewColumn("a<b", []bool{true})).HTML())
	// Output:
	// <table>
	// <thead><tr><th>a&lt;b</th></tr></thead>
	// <tbody>
	// <tr><td style="text-align:right">true</td></tr>
	// </tbody>
	// </table>
}

func ExampleTable_WriteCSV() {
	t := table.New(table.NewColumn("x", weft.Arange(2)), table.NewColumn("s", []string{"a", "b, c"}))
	if err := t.WriteCSV(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// x,s
	// 0,a
	// 1,"b, c"
}
