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
// side by side, as under list views, dictionaries and null items.
//
// Strings and binaries are lists of Uint8: one more level, whose items are the texts. Dates,
// times, timestamps and durations are integers, Int32 or Int64 as Arrow stores them, and
// fixed-size binaries have their bytes as a last dimension. What they stand for, with unit
// and time zone, is told by [Column.As], and written again from there. Dictionaries are read
// as the values that they stand for.
//
//	names := ragged.Of([][]uint8{[]uint8("one"), []uint8("three")})
//	arrow.Column{Name: "name", List: names, As: []apache.DataType{apache.BinaryTypes.String}}
//
// Complex numbers and bfloat16 are extension types, weft.complex64, weft.complex128 and
// weft.bfloat16, over what others read: two floats in a fixed-size list, as pyarrow's users
// have them, and two bytes. Other types, such as decimals, maps, unions, and texts and lists
// in structs, have no counterpart: an [*UnsupportedError], which names the field.
//
// # Null
//
// Lists and tensors have no nulls. A null item is an empty one, a null number is what
// happens to lie in its place; what is null is told by [Column.Valid].
package arrow
