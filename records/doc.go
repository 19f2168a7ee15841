// Package records has arrays of records: structs of named fields side by side in one memory, as
// vertices of a graphics processor are. NumPy calls them structured arrays.
//
//	type vertex struct {
//		Position [2]float32 `records:"position"`
//		Color    [3]float32 `records:"color"`
//	}
//	v := records.Zeros(records.LayoutOf[vertex](), 3, 3)
//	v.Field("position").At(0, 0).Assign(1) // writes into v's memory
//	v.At(1, 1).Assign(vertex{Color: [3]float32{1, 0, 0}})
//
// A [Layout] says where the fields of a record lie. An [Array] is a shape, a layout and memory.
// [Array.Field] returns a field of all records as an ordinary *weft.Tensor on the same memory, with
// every operation. A Go slice of structs is an array without a copy: [FromSlice].
//
// # Memory
//
// A field's offset and the size of a record are multiples of the size of the field's element, as Go
// lays structs out. So fields are views, and their strides count whole elements. Go aligns
// complex numbers as their parts: a struct where one lies at half its size is refused.
//
// # Gradients and compiled functions
//
// Records have no gradients, their fields do. Each call of [Array.Field] returns a new tensor: keep
// the one that RequireGrad was called on. A function of weft.Compile takes any fields of one array
// as arguments. Fields that it captures from one array must have the same element type.
//
// # Several goroutines
//
// An Array never changes its shape or layout. Several goroutines may use it at the same time unless
// one of them writes elements that another one uses.
package records
