package kernel

import "weft/internal/array"

// Whole arrays are parameters of a kernel that are seen by all elements alike. Their type
// says what an index outside does; called as plain Go, a literal of data and shape gives
// one:
//
//	Sample(kernel.Clamped2[float32]{Data: grid, Shape: [2]int{rows, cols}}, 0.5, 0.5)

// An Array1 is a whole array of one dimension that a kernel reads by index. A compiled kernel is refused
// unless every index is proven to lie inside; called as plain Go, an index outside panics.
type Array1[T any] struct {
	Data  []T    // in row-major order
	Shape [1]int // its lengths
}

// At returns the element at an index.
func (a Array1[T]) At(i int) T {
	return at(a.Data, inside(a.Shape[:], i))
}

// Dim returns the length of an axis.
func (a Array1[T]) Dim(axis int) int { return dim(a.Shape[:], axis) }

// An Array2 is a whole array of two dimensions that a kernel reads by index. A compiled kernel is refused
// unless every index is proven to lie inside; called as plain Go, an index outside panics.
type Array2[T any] struct {
	Data  []T    // in row-major order
	Shape [2]int // its lengths
}

// At returns the element at an index.
func (a Array2[T]) At(i, j int) T {
	return at(a.Data, inside(a.Shape[:], i, j))
}

// Dim returns the length of an axis.
func (a Array2[T]) Dim(axis int) int { return dim(a.Shape[:], axis) }

// An Array3 is a whole array of three dimensions that a kernel reads by index. A compiled kernel is refused
// unless every index is proven to lie inside; called as plain Go, an index outside panics.
type Array3[T any] struct {
	Data  []T    // in row-major order
	Shape [3]int // its lengths
}

// At returns the element at an index.
func (a Array3[T]) At(i, j, k int) T {
	return at(a.Data, inside(a.Shape[:], i, j, k))
}

// Dim returns the length of an axis.
func (a Array3[T]) Dim(axis int) int { return dim(a.Shape[:], axis) }

// An Array4 is a whole array of four dimensions that a kernel reads by index. A compiled kernel is refused
// unless every index is proven to lie inside; called as plain Go, an index outside panics.
type Array4[T any] struct {
	Data  []T    // in row-major order
	Shape [4]int // its lengths
}

// At returns the element at an index.
func (a Array4[T]) At(i0, i1, i2, i3 int) T {
	return at(a.Data, inside(a.Shape[:], i0, i1, i2, i3))
}

// Dim returns the length of an axis.
func (a Array4[T]) Dim(axis int) int { return dim(a.Shape[:], axis) }

// An Array5 is a whole array of five dimensions that a kernel reads by index. A compiled kernel is refused
// unless every index is proven to lie inside; called as plain Go, an index outside panics.
type Array5[T any] struct {
	Data  []T    // in row-major order
	Shape [5]int // its lengths
}

// At returns the element at an index.
func (a Array5[T]) At(i0, i1, i2, i3, i4 int) T {
	return at(a.Data, inside(a.Shape[:], i0, i1, i2, i3, i4))
}

// Dim returns the length of an axis.
func (a Array5[T]) Dim(axis int) int { return dim(a.Shape[:], axis) }

// An Array6 is a whole array of six dimensions that a kernel reads by index. A compiled kernel is refused
// unless every index is proven to lie inside; called as plain Go, an index outside panics.
type Array6[T any] struct {
	Data  []T    // in row-major order
	Shape [6]int // its lengths
}

// At returns the element at an index.
func (a Array6[T]) At(i0, i1, i2, i3, i4, i5 int) T {
	return at(a.Data, inside(a.Shape[:], i0, i1, i2, i3, i4, i5))
}

// Dim returns the length of an axis.
func (a Array6[T]) Dim(axis int) int { return dim(a.Shape[:], axis) }

// A Clamped1 is a whole array of one dimension that a kernel reads by index; an index outside reads the
// nearest element.
type Clamped1[T any] struct {
	Data  []T    // in row-major order
	Shape [1]int // its lengths
}

// At returns the element at an index.
func (a Clamped1[T]) At(i int) T {
	return at(a.Data, clamped(a.Shape[:], i))
}

// Dim returns the length of an axis.
func (a Clamped1[T]) Dim(axis int) int { return dim(a.Shape[:], axis) }

// A Clamped2 is a whole array of two dimensions that a kernel reads by index; an index outside reads the
// nearest element.
type Clamped2[T any] struct {
	Data  []T    // in row-major order
	Shape [2]int // its lengths
}

// At returns the element at an index.
func (a Clamped2[T]) At(i, j int) T {
	return at(a.Data, clamped(a.Shape[:], i, j))
}

// Dim returns the length of an axis.
func (a Clamped2[T]) Dim(axis int) int { return dim(a.Shape[:], axis) }

// A Clamped3 is a whole array of three dimensions that a kernel reads by index; an index outside reads the
// nearest element.
type Clamped3[T any] struct {
	Data  []T    // in row-major order
	Shape [3]int // its lengths
}

// At returns the element at an index.
func (a Clamped3[T]) At(i, j, k int) T {
	return at(a.Data, clamped(a.Shape[:], i, j, k))
}

// Dim returns the length of an axis.
func (a Clamped3[T]) Dim(axis int) int { return dim(a.Shape[:], axis) }

// A Clamped4 is a whole array of four dimensions that a kernel reads by index; an index outside reads the
// nearest element.
type Clamped4[T any] struct {
	Data  []T    // in row-major order
	Shape [4]int // its lengths
}

// At returns the element at an index.
func (a Clamped4[T]) At(i0, i1, i2, i3 int) T {
	return at(a.Data, clamped(a.Shape[:], i0, i1, i2, i3))
}

// Dim returns the length of an axis.
func (a Clamped4[T]) Dim(axis int) int { return dim(a.Shape[:], axis) }

// A Clamped5 is a whole array of five dimensions that a kernel reads by index; an index outside reads the
// nearest element.
type Clamped5[T any] struct {
	Data  []T    // in row-major order
	Shape [5]int // its lengths
}

// At returns the element at an index.
func (a Clamped5[T]) At(i0, i1, i2, i3, i4 int) T {
	return at(a.Data, clamped(a.Shape[:], i0, i1, i2, i3, i4))
}

// Dim returns the length of an axis.
func (a Clamped5[T]) Dim(axis int) int { return dim(a.Shape[:], axis) }

// A Clamped6 is a whole array of six dimensions that a kernel reads by index; an index outside reads the
// nearest element.
type Clamped6[T any] struct {
	Data  []T    // in row-major order
	Shape [6]int // its lengths
}

// At returns the element at an index.
func (a Clamped6[T]) At(i0, i1, i2, i3, i4, i5 int) T {
	return at(a.Data, clamped(a.Shape[:], i0, i1, i2, i3, i4, i5))
}

// Dim returns the length of an axis.
func (a Clamped6[T]) Dim(axis int) int { return dim(a.Shape[:], axis) }

// A Wrapped1 is a whole array of one dimension that a kernel reads by index; an index outside comes back in
// on the other side.
type Wrapped1[T any] struct {
	Data  []T    // in row-major order
	Shape [1]int // its lengths
}

// At returns the element at an index.
func (a Wrapped1[T]) At(i int) T {
	return at(a.Data, wrapped(a.Shape[:], i))
}

// Dim returns the length of an axis.
func (a Wrapped1[T]) Dim(axis int) int { return dim(a.Shape[:], axis) }

// A Wrapped2 is a whole array of two dimensions that a kernel reads by index; an index outside comes back in
// on the other side.
type Wrapped2[T any] struct {
	Data  []T    // in row-major order
	Shape [2]int // its lengths
}

// At returns the element at an index.
func (a Wrapped2[T]) At(i, j int) T {
	return at(a.Data, wrapped(a.Shape[:], i, j))
}

// Dim returns the length of an axis.
func (a Wrapped2[T]) Dim(axis int) int { return dim(a.Shape[:], axis) }

// A Wrapped3 is a whole array of three dimensions that a kernel reads by index; an index outside comes back in
// on the other side.
type Wrapped3[T any] struct {
	Data  []T    // in row-major order
	Shape [3]int // its lengths
}

// At returns the element at an index.
func (a Wrapped3[T]) At(i, j, k int) T {
	return at(a.Data, wrapped(a.Shape[:], i, j, k))
}

// Dim returns the length of an axis.
func (a Wrapped3[T]) Dim(axis int) int { return dim(a.Shape[:], axis) }

// A Wrapped4 is a whole array of four dimensions that a kernel reads by index; an index outside comes back in
// on the other side.
type Wrapped4[T any] struct {
	Data  []T    // in row-major order
	Shape [4]int // its lengths
}

// At returns the element at an index.
func (a Wrapped4[T]) At(i0, i1, i2, i3 int) T {
	return at(a.Data, wrapped(a.Shape[:], i0, i1, i2, i3))
}

// Dim returns the length of an axis.
func (a Wrapped4[T]) Dim(axis int) int { return dim(a.Shape[:], axis) }

// A Wrapped5 is a whole array of five dimensions that a kernel reads by index; an index outside comes back in
// on the other side.
type Wrapped5[T any] struct {
	Data  []T    // in row-major order
	Shape [5]int // its lengths
}

// At returns the element at an index.
func (a Wrapped5[T]) At(i0, i1, i2, i3, i4 int) T {
	return at(a.Data, wrapped(a.Shape[:], i0, i1, i2, i3, i4))
}

// Dim returns the length of an axis.
func (a Wrapped5[T]) Dim(axis int) int { return dim(a.Shape[:], axis) }

// A Wrapped6 is a whole array of six dimensions that a kernel reads by index; an index outside comes back in
// on the other side.
type Wrapped6[T any] struct {
	Data  []T    // in row-major order
	Shape [6]int // its lengths
}

// At returns the element at an index.
func (a Wrapped6[T]) At(i0, i1, i2, i3, i4, i5 int) T {
	return at(a.Data, wrapped(a.Shape[:], i0, i1, i2, i3, i4, i5))
}

// Dim returns the length of an axis.
func (a Wrapped6[T]) Dim(axis int) int { return dim(a.Shape[:], axis) }

// A Zeroed1 is a whole array of one dimension that a kernel reads by index; an index outside reads 0.
type Zeroed1[T any] struct {
	Data  []T    // in row-major order; nil: zeros
	Shape [1]int // its lengths
}

// At returns the element at an index.
func (a Zeroed1[T]) At(i int) T {
	if n, ok := position(a.Shape[:], i); ok && a.Data != nil {
		return at(a.Data, n)
	}
	var zero T
	return zero
}

// Dim returns the length of an axis.
func (a Zeroed1[T]) Dim(axis int) int { return dim(a.Shape[:], axis) }

// A Zeroed2 is a whole array of two dimensions that a kernel reads by index; an index outside reads 0.
type Zeroed2[T any] struct {
	Data  []T    // in row-major order; nil: zeros
	Shape [2]int // its lengths
}

// At returns the element at an index.
func (a Zeroed2[T]) At(i, j int) T {
	if n, ok := position(a.Shape[:], i, j); ok && a.Data != nil {
		return at(a.Data, n)
	}
	var zero T
	return zero
}

// Dim returns the length of an axis.
func (a Zeroed2[T]) Dim(axis int) int { return dim(a.Shape[:], axis) }

// A Zeroed3 is a whole array of three dimensions that a kernel reads by index; an index outside reads 0.
type Zeroed3[T any] struct {
	Data  []T    // in row-major order; nil: zeros
	Shape [3]int // its lengths
}

// At returns the element at an index.
func (a Zeroed3[T]) At(i, j, k int) T {
	if n, ok := position(a.Shape[:], i, j, k); ok && a.Data != nil {
		return at(a.Data, n)
	}
	var zero T
	return zero
}

// Dim returns the length of an axis.
func (a Zeroed3[T]) Dim(axis int) int { return dim(a.Shape[:], axis) }

// A Zeroed4 is a whole array of four dimensions that a kernel reads by index; an index outside reads 0.
type Zeroed4[T any] struct {
	Data  []T    // in row-major order; nil: zeros
	Shape [4]int // its lengths
}

// At returns the element at an index.
func (a Zeroed4[T]) At(i0, i1, i2, i3 int) T {
	if n, ok := position(a.Shape[:], i0, i1, i2, i3); ok && a.Data != nil {
		return at(a.Data, n)
	}
	var zero T
	return zero
}

// Dim returns the length of an axis.
func (a Zeroed4[T]) Dim(axis int) int { return dim(a.Shape[:], axis) }

// A Zeroed5 is a whole array of five dimensions that a kernel reads by index; an index outside reads 0.
type Zeroed5[T any] struct {
	Data  []T    // in row-major order; nil: zeros
	Shape [5]int // its lengths
}

// At returns the element at an index.
func (a Zeroed5[T]) At(i0, i1, i2, i3, i4 int) T {
	if n, ok := position(a.Shape[:], i0, i1, i2, i3, i4); ok && a.Data != nil {
		return at(a.Data, n)
	}
	var zero T
	return zero
}

// Dim returns the length of an axis.
func (a Zeroed5[T]) Dim(axis int) int { return dim(a.Shape[:], axis) }

// A Zeroed6 is a whole array of six dimensions that a kernel reads by index; an index outside reads 0.
type Zeroed6[T any] struct {
	Data  []T    // in row-major order; nil: zeros
	Shape [6]int // its lengths
}

// At returns the element at an index.
func (a Zeroed6[T]) At(i0, i1, i2, i3, i4, i5 int) T {
	if n, ok := position(a.Shape[:], i0, i1, i2, i3, i4, i5); ok && a.Data != nil {
		return at(a.Data, n)
	}
	var zero T
	return zero
}

// Dim returns the length of an axis.
func (a Zeroed6[T]) Dim(axis int) int { return dim(a.Shape[:], axis) }

// position returns the place of an index in row-major order, and whether it is inside.
func position(shape []int, index ...int) (int, bool) {
	n := 0
	for k, i := range index {
		if i < 0 || i >= shape[k] {
			return 0, false
		}
		n = n*shape[k] + i
	}
	return n, true
}

func inside(shape []int, index ...int) int {
	n, ok := position(shape, index...)
	if !ok {
		array.Failf("at", "", "index %d is outside an array of shape %d", index, shape)
	}
	return n
}

func clamped(shape []int, index ...int) int {
	n := 0
	for k, i := range index {
		n = n*shape[k] + min(max(i, 0), shape[k]-1)
	}
	return n
}

func wrapped(shape []int, index ...int) int {
	n := 0
	for k, i := range index {
		if shape[k] <= 0 {
			array.Failf("at", "", "an array of shape %d has no elements", shape)
		}
		if i %= shape[k]; i < 0 {
			i += shape[k]
		}
		n = n*shape[k] + i
	}
	return n
}

// at returns the element at a place in row-major order.
func at[T any](data []T, n int) T {
	if n < 0 || n >= len(data) {
		array.Failf("at", "Data", "has %d elements: there is none at place %d", len(data), n)
	}
	return data[n]
}

func dim(shape []int, axis int) int {
	if axis < 0 || axis >= len(shape) {
		array.Failf("dim", "axis", "%d is out of range for %d dimensions", axis, len(shape))
	}
	return shape[axis]
}
