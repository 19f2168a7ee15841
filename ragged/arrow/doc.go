// Package arrow exchanges ragged lists with Apache Arrow: arrays of ListArray, LargeList,
// FixedSizeList and list views, in memory and in IPC files, which pyarrow, Polars, DuckDB
// and others read and write. It is a module of its own, so that weft needs no Arrow.
//
//	columns, err := arrow.ReadFile("tracks.arrow")   // written by pyarrow
//	l := columns[0].List
//	fmt.Println(l.Sum())
//
// # What becomes what
//
// A column of lists is a [ragged.List]: each level of lists is a level of it, and what is in
// the innermost is its rows. Fixed-size lists inside the innermost list of variable size are
// dimensions of the rows; where there is no list of variable size the outermost one is the
// level, of items of one length. Structs are fields (see [ragged.List.Field]). A column
// without lists is a tensor.
//
// Integers, floats and float16 are not copied: tensors lie in Arrow's memory, which they keep
// alive and must not write (Clone first), and Arrow's arrays lie in that of tensors. Copied
// are offsets, which are checked, bools, which Arrow packs as bits, and rows that do not lie
// side by side, as under list views and null items. Other types, such as strings and times,
// are no numbers: an [*UnsupportedError].
//
// # Null
//
// Lists and tensors have no nulls. A null item is an empty one, a null number is what
// happens to lie in its place; what is null is told by [Column.Valid].
package arrow
