package kernel

// A NearN is the neighbourhood of one element: a window on an array of N dimensions
// that a stencil reads by offsets from the element's own place. Compiled, the kernel is
// given its place by [Func.Stencil]; called as plain Go, a literal gives it:
//
//	Jacobi(kernel.Near2[float64]{Data: grid, Shape: [2]int{rows, cols}, Place: [2]int{i, j}})

// A Near1 is the neighbourhood of an element of an array of one dimension.
type Near1[T any] struct {
	Data  []T    // the whole array in row-major order
	Shape [1]int // its lengths
	Place [1]int // the element
}

// At returns the element that lies at that offset from the place; outside the array it panics.
func (a Near1[T]) At(di int) T {
	return at(a.Data, inside(a.Shape[:], a.Place[0]+di))
}

// Dim returns the length of an axis of the array.
func (a Near1[T]) Dim(axis int) int { return dim(a.Shape[:], axis) }

// A Near2 is the neighbourhood of an element of an array of two dimensions.
type Near2[T any] struct {
	Data  []T    // the whole array in row-major order
	Shape [2]int // its lengths
	Place [2]int // the element
}

// At returns the element that lies at that offset from the place; outside the array it panics.
func (a Near2[T]) At(di, dj int) T {
	return at(a.Data, inside(a.Shape[:], a.Place[0]+di, a.Place[1]+dj))
}

// Dim returns the length of an axis of the array.
func (a Near2[T]) Dim(axis int) int { return dim(a.Shape[:], axis) }

// A Near3 is the neighbourhood of an element of an array of three dimensions.
type Near3[T any] struct {
	Data  []T    // the whole array in row-major order
	Shape [3]int // its lengths
	Place [3]int // the element
}

// At returns the element that lies at that offset from the place; outside the array it panics.
func (a Near3[T]) At(di, dj, dk int) T {
	return at(a.Data, inside(a.Shape[:], a.Place[0]+di, a.Place[1]+dj, a.Place[2]+dk))
}

// Dim returns the length of an axis of the array.
func (a Near3[T]) Dim(axis int) int { return dim(a.Shape[:], axis) }

// A Near4 is the neighbourhood of an element of an array of four dimensions.
type Near4[T any] struct {
	Data  []T    // the whole array in row-major order
	Shape [4]int // its lengths
	Place [4]int // the element
}

// At returns the element that lies at that offset from the place; outside the array it panics.
func (a Near4[T]) At(di0, di1, di2, di3 int) T {
	return at(a.Data, inside(a.Shape[:], a.Place[0]+di0, a.Place[1]+di1, a.Place[2]+di2, a.Place[3]+di3))
}

// Dim returns the length of an axis of the array.
func (a Near4[T]) Dim(axis int) int { return dim(a.Shape[:], axis) }

// A Near5 is the neighbourhood of an element of an array of five dimensions.
type Near5[T any] struct {
	Data  []T    // the whole array in row-major order
	Shape [5]int // its lengths
	Place [5]int // the element
}

// At returns the element that lies at that offset from the place; outside the array it panics.
func (a Near5[T]) At(di0, di1, di2, di3, di4 int) T {
	return at(a.Data, inside(a.Shape[:], a.Place[0]+di0, a.Place[1]+di1, a.Place[2]+di2, a.Place[3]+di3, a.Place[4]+di4))
}

// Dim returns the length of an axis of the array.
func (a Near5[T]) Dim(axis int) int { return dim(a.Shape[:], axis) }

// A Near6 is the neighbourhood of an element of an array of six dimensions.
type Near6[T any] struct {
	Data  []T    // the whole array in row-major order
	Shape [6]int // its lengths
	Place [6]int // the element
}

// At returns the element that lies at that offset from the place; outside the array it panics.
func (a Near6[T]) At(di0, di1, di2, di3, di4, di5 int) T {
	return at(a.Data, inside(a.Shape[:], a.Place[0]+di0, a.Place[1]+di1, a.Place[2]+di2, a.Place[3]+di3, a.Place[4]+di4, a.Place[5]+di5))
}

// Dim returns the length of an axis of the array.
func (a Near6[T]) Dim(axis int) int { return dim(a.Shape[:], axis) }
