// Package parquet reads the columns of Parquet files, through Apache Arrow's Go module: tables as
// data.ReadCSV returns them.
//
//	table, err := parquet.ReadFile("trips.parquet", parquet.Opts{Columns: []string{"distance", "fare"}})
//	x := table[0].Numbers // [rows]
//
// Numbers keep their type; a column of integers or bools with nulls becomes float64, with NaN. Nulls of
// floats are NaN, of texts "". Dates, times and timestamps are the integers that the file has, decimals of
// up to 128 bits float64. A field of a struct is a column whose name has a dot. A column of lists of
// numbers is a ragged.List with an item for each row; a null list is empty. Lists of lists and of texts,
// wider decimals and timestamps of 96 bits are an error, unless Columns leaves them out. Package
// [weft/ragged/arrow] reads those lists, from Arrow's own files.
package parquet
