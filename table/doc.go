// Package table computes on columns: what [data.ReadCSV] and package weft/ragged/arrow/parquet read, grouped by
// keys, joined, pivoted, sorted and printed.
//
//	columns, err := data.ReadCSV(f)
//	t := table.New(columns...)
//	t.GroupBy("city").Agg(table.Mean("rent"), table.Size())
//	t.Join(cities, table.JoinOpts{On: []string{"city"}})
//	fmt.Println(t)
//
// A column has numbers, texts or lists. NaN and the empty text are missing values, as the readers give them:
// statistics skip them. As keys they are values like others: all NaN are equal and come last.
//
// A Table does not change: methods return new ones, on the same memory where they can. It computes on the host.
// Results have the same bits on any number of threads.
package table
