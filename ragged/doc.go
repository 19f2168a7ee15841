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
// A [List] is a tensor of rows and, for each level of nesting, a vector of offsets: item i of
// the last level is rows offsets[i] to offsets[i+1]-1. Rows are numbers, or arrays of one
// shape, or Go structs, where each field is a column of its own. Everything underneath is a
// *weft.Tensor, so that every element type, every operation and gradients are at hand.
//
// # Views
//
// What is read from a list are windows on its memory: writing into them writes into the list.
// A change of values keeps every window as it is. A change of sizes moves what lies behind the
// place of the change, in place or, where the memory is full, into new memory; windows that
// were taken before show what lies in the old place then. Take them again after it. Offsets that
// were read stay as they are.
//
// [List.Range], [List.ListAt] and [List.Field] return lists that are windows: their values may be
// changed, their sizes may not. The first change of sizes of what [List.Flatten], [List.Unflatten],
// [FromSizes] and [FromOffsets] return takes the rows into memory of its own.
//
// # What an edit costs
//
// Rows and the offsets of each level have free memory at one place, that of the last change of
// sizes. A change there costs what it writes, at any depth. One elsewhere also moves the items of
// each level and the rows between the two places. Reading brings the free memory behind everything.
//
// # Several goroutines
//
// Reading a list from several goroutines is safe, once it was read after its last change of
// sizes; changing it while others use it is not.
package ragged
