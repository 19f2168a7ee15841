package kernel

import "weft/internal/array"

// A row is an array with its first index given: b.Row(i).At(j) is b.At(i, j). It is read by the
// rules of its array. Rows are not copied.

// row returns part i of n equal parts of data.
func row[T any](data []T, n, i int) []T {
	if i < 0 || i >= n {
		array.Failf("row", "i", "%d is outside an axis of %d elements", i, n)
	}
	size := len(data) / n
	return data[i*size : (i+1)*size : (i+1)*size]
}

// zeroRow is row, and nil for a row outside, which stands for zeros.
func zeroRow[T any](data []T, n, i int) []T {
	if i < 0 || i >= n || data == nil {
		return nil
	}
	return row(data, n, i)
}

// Row returns the neighbourhood in the row of that offset from the place; outside the array it panics.
func (a Near2[T]) Row(di int) Near1[T] {
	return Near1[T]{row(a.Data, a.Shape[0], inside(a.Shape[:1], a.Place[0]+di)), [1]int{a.Shape[1]}, [1]int{a.Place[1]}}
}

// Row returns the neighbourhood in the row of that offset from the place; outside the array it panics.
func (a Near3[T]) Row(di int) Near2[T] {
	return Near2[T]{row(a.Data, a.Shape[0], inside(a.Shape[:1], a.Place[0]+di)), [2]int{a.Shape[1], a.Shape[2]}, [2]int{a.Place[1], a.Place[2]}}
}

// Row returns the neighbourhood in the row of that offset from the place; outside the array it panics.
func (a Near4[T]) Row(di int) Near3[T] {
	return Near3[T]{row(a.Data, a.Shape[0], inside(a.Shape[:1], a.Place[0]+di)), [3]int{a.Shape[1], a.Shape[2], a.Shape[3]}, [3]int{a.Place[1], a.Place[2], a.Place[3]}}
}

// Row returns the neighbourhood in the row of that offset from the place; outside the array it panics.
func (a Near5[T]) Row(di int) Near4[T] {
	return Near4[T]{row(a.Data, a.Shape[0], inside(a.Shape[:1], a.Place[0]+di)), [4]int{a.Shape[1], a.Shape[2], a.Shape[3], a.Shape[4]}, [4]int{a.Place[1], a.Place[2], a.Place[3], a.Place[4]}}
}

// Row returns the neighbourhood in the row of that offset from the place; outside the array it panics.
func (a Near6[T]) Row(di int) Near5[T] {
	return Near5[T]{row(a.Data, a.Shape[0], inside(a.Shape[:1], a.Place[0]+di)), [5]int{a.Shape[1], a.Shape[2], a.Shape[3], a.Shape[4], a.Shape[5]}, [5]int{a.Place[1], a.Place[2], a.Place[3], a.Place[4], a.Place[5]}}
}

// Row returns the row at an index; outside the array it panics.
func (a Array2[T]) Row(i int) Array1[T] {
	return Array1[T]{row(a.Data, a.Shape[0], inside(a.Shape[:1], i)), [1]int{a.Shape[1]}}
}

// Row returns the row at an index; outside the array it panics.
func (a Array3[T]) Row(i int) Array2[T] {
	return Array2[T]{row(a.Data, a.Shape[0], inside(a.Shape[:1], i)), [2]int{a.Shape[1], a.Shape[2]}}
}

// Row returns the row at an index; outside the array it panics.
func (a Array4[T]) Row(i int) Array3[T] {
	return Array3[T]{row(a.Data, a.Shape[0], inside(a.Shape[:1], i)), [3]int{a.Shape[1], a.Shape[2], a.Shape[3]}}
}

// Row returns the row at an index; outside the array it panics.
func (a Array5[T]) Row(i int) Array4[T] {
	return Array4[T]{row(a.Data, a.Shape[0], inside(a.Shape[:1], i)), [4]int{a.Shape[1], a.Shape[2], a.Shape[3], a.Shape[4]}}
}

// Row returns the row at an index; outside the array it panics.
func (a Array6[T]) Row(i int) Array5[T] {
	return Array5[T]{row(a.Data, a.Shape[0], inside(a.Shape[:1], i)), [5]int{a.Shape[1], a.Shape[2], a.Shape[3], a.Shape[4], a.Shape[5]}}
}

// Row returns the row at an index; outside the array, the nearest row.
func (a Clamped2[T]) Row(i int) Clamped1[T] {
	return Clamped1[T]{row(a.Data, a.Shape[0], clamped(a.Shape[:1], i)), [1]int{a.Shape[1]}}
}

// Row returns the row at an index; outside the array, the nearest row.
func (a Clamped3[T]) Row(i int) Clamped2[T] {
	return Clamped2[T]{row(a.Data, a.Shape[0], clamped(a.Shape[:1], i)), [2]int{a.Shape[1], a.Shape[2]}}
}

// Row returns the row at an index; outside the array, the nearest row.
func (a Clamped4[T]) Row(i int) Clamped3[T] {
	return Clamped3[T]{row(a.Data, a.Shape[0], clamped(a.Shape[:1], i)), [3]int{a.Shape[1], a.Shape[2], a.Shape[3]}}
}

// Row returns the row at an index; outside the array, the nearest row.
func (a Clamped5[T]) Row(i int) Clamped4[T] {
	return Clamped4[T]{row(a.Data, a.Shape[0], clamped(a.Shape[:1], i)), [4]int{a.Shape[1], a.Shape[2], a.Shape[3], a.Shape[4]}}
}

// Row returns the row at an index; outside the array, the nearest row.
func (a Clamped6[T]) Row(i int) Clamped5[T] {
	return Clamped5[T]{row(a.Data, a.Shape[0], clamped(a.Shape[:1], i)), [5]int{a.Shape[1], a.Shape[2], a.Shape[3], a.Shape[4], a.Shape[5]}}
}

// Row returns the row at an index, which comes back in on the other side.
func (a Wrapped2[T]) Row(i int) Wrapped1[T] {
	return Wrapped1[T]{row(a.Data, a.Shape[0], wrapped(a.Shape[:1], i)), [1]int{a.Shape[1]}}
}

// Row returns the row at an index, which comes back in on the other side.
func (a Wrapped3[T]) Row(i int) Wrapped2[T] {
	return Wrapped2[T]{row(a.Data, a.Shape[0], wrapped(a.Shape[:1], i)), [2]int{a.Shape[1], a.Shape[2]}}
}

// Row returns the row at an index, which comes back in on the other side.
func (a Wrapped4[T]) Row(i int) Wrapped3[T] {
	return Wrapped3[T]{row(a.Data, a.Shape[0], wrapped(a.Shape[:1], i)), [3]int{a.Shape[1], a.Shape[2], a.Shape[3]}}
}

// Row returns the row at an index, which comes back in on the other side.
func (a Wrapped5[T]) Row(i int) Wrapped4[T] {
	return Wrapped4[T]{row(a.Data, a.Shape[0], wrapped(a.Shape[:1], i)), [4]int{a.Shape[1], a.Shape[2], a.Shape[3], a.Shape[4]}}
}

// Row returns the row at an index, which comes back in on the other side.
func (a Wrapped6[T]) Row(i int) Wrapped5[T] {
	return Wrapped5[T]{row(a.Data, a.Shape[0], wrapped(a.Shape[:1], i)), [5]int{a.Shape[1], a.Shape[2], a.Shape[3], a.Shape[4], a.Shape[5]}}
}

// Row returns the row at an index; outside the array it is 0.
func (a Zeroed2[T]) Row(i int) Zeroed1[T] {
	return Zeroed1[T]{zeroRow(a.Data, a.Shape[0], i), [1]int{a.Shape[1]}}
}

// Row returns the row at an index; outside the array it is 0.
func (a Zeroed3[T]) Row(i int) Zeroed2[T] {
	return Zeroed2[T]{zeroRow(a.Data, a.Shape[0], i), [2]int{a.Shape[1], a.Shape[2]}}
}

// Row returns the row at an index; outside the array it is 0.
func (a Zeroed4[T]) Row(i int) Zeroed3[T] {
	return Zeroed3[T]{zeroRow(a.Data, a.Shape[0], i), [3]int{a.Shape[1], a.Shape[2], a.Shape[3]}}
}

// Row returns the row at an index; outside the array it is 0.
func (a Zeroed5[T]) Row(i int) Zeroed4[T] {
	return Zeroed4[T]{zeroRow(a.Data, a.Shape[0], i), [4]int{a.Shape[1], a.Shape[2], a.Shape[3], a.Shape[4]}}
}

// Row returns the row at an index; outside the array it is 0.
func (a Zeroed6[T]) Row(i int) Zeroed5[T] {
	return Zeroed5[T]{zeroRow(a.Data, a.Shape[0], i), [5]int{a.Shape[1], a.Shape[2], a.Shape[3], a.Shape[4], a.Shape[5]}}
}
