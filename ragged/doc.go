// Package ragged has lists of lists on contiguous memory: items of different length, all of
// whose elements lie side by side in one tensor.
//
//	l := ragged.Of([][]float64{{0}, {1, 2}, {3, 4, 5}})
//	l.Set(1, 7, 8, 9)      // an item may grow
//	fmt.Println(l.Sum())   // one value an item
//
// Items may be lists themselves, of any depth, and are edited by the same methods:
//
//	n := ragged.Of([][][]float64{{{0}, {1, 2}}, {}})
//	n.Insert(1, [][]float64{{3}, {4, 5}})
//
// A [List] is a tensor of rows and, for each level of nesting, a vector of offsets. Item i of the
// last level is rows offsets[i] to offsets[i+1]-1. Rows are numbers, arrays of one shape, or Go
// structs, where each field is a column. All of these are a *weft.Tensor, with every element type,
// every operation and gradients.
//
// [Records] keeps the fields of a record side by side instead, as a graphics processor wants them, and a
// [Collection] vertices, indices and uniforms of items that are drawn together.
//
// # Views
//
// Tensors read from a list are views of its memory: writing into them writes into the list. A
// change of values keeps every view valid. A change of sizes moves rows, in place or, if the memory
// is full, into new memory. A view taken before it then shows other rows or the old memory: take
// views again after a change of sizes. Offsets that were read do not change.
//
// [List.Range], [List.ListAt] and [List.Field] return lists that are views. Their values may be
// changed, their sizes may not. [List.Flatten], [List.Unflatten], [FromSizes] and [FromOffsets]
// return lists that share rows with their source. Their first change of sizes copies the rows.
//
// # Devices
//
// Rows and offsets lie on one device, where operations on the list are computed: [List.On] moves it.
// Sizes of items change on the CPU alone.
//
// # What an edit costs
//
// Rows and the offsets of each level are gap buffers: their free memory is at the place of the last
// change of sizes. A change there costs what it writes, at any depth. A change elsewhere also moves
// the items of each level and the rows between the two places. Reading moves the free memory to the
// end.
//
// # Several goroutines
//
// Several goroutines may read a list after one goroutine has read it since its last change of sizes.
// Changing it while others use it is a data race.
package ragged
