package sparse

import (
	"weft/internal/array"
	"weft/internal/cpu/codegen"
	"weft/internal/jit"
)

// A Kind says which product is computed.
type Kind uint8

const (
	Rows       Kind = iota // the matrix times X, into Y
	Transposed             // the transposed matrix times X, into Y
	Sampled                // the elements of X*Y^T at the entries, into Values
)

// A Job is a product with a sparse matrix. All arrays are contiguous.
type Job struct {
	ISA                   jit.ISA
	Kind                  Kind
	Values, Indices, X, Y *array.View
	Offsets               []int64
	Width                 int // elements of a dense row
	Bound                 int // indices are less: the rows of what they are of
}

// Func returns a function that computes a range: rows of the matrix, whose offsets are checked, or columns
// of dense rows for the transposed matrix. It returns false at an index out of range.
func (j *Job) Func() func(lo, hi int) bool {
	if f := j.machine(); f != nil {
		return f
	}
	if j.Kind == Transposed {
		return func(lo, hi int) bool { return j.portable(0, len(j.Offsets)-1, lo, hi-lo) }
	}
	return func(lo, hi int) bool { return j.portable(lo, hi, 0, j.Width) }
}

// portable computes rows lo to hi-1 of the matrix, for n columns of dense rows from one on, in Go.
func (j *Job) portable(lo, hi, column, n int) bool {
	wide := j.Indices.DType == array.Int64
	switch d := j.X.DType; {
	case d == array.Float32 && wide:
		return run[float32, int64](j, lo, hi, column, n)
	case d == array.Float32:
		return run[float32, int32](j, lo, hi, column, n)
	case d == array.Float64 && wide:
		return run[float64, int64](j, lo, hi, column, n)
	case d == array.Float64:
		return run[float64, int32](j, lo, hi, column, n)
	case d == array.Complex64 && wide:
		return run[complex64, int64](j, lo, hi, column, n)
	case d == array.Complex64:
		return run[complex64, int32](j, lo, hi, column, n)
	case wide:
		return run[complex128, int64](j, lo, hi, column, n)
	}
	return run[complex128, int32](j, lo, hi, column, n)
}

func run[T number, I index](j *Job, lo, hi, column, n int) bool {
	p := &entries[T, I]{values: codegen.Elements[T](j.Values), indices: codegen.Elements[I](j.Indices), off: j.Offsets,
		x: codegen.Elements[T](j.X), y: codegen.Elements[T](j.Y), width: j.Width, bound: j.Bound}
	switch {
	case j.Kind == Sampled:
		return p.sampled(lo, hi)
	case j.Kind == Transposed:
		return p.transposed(lo, hi, column, n)
	case j.Width == 1 && !j.X.DType.Complex():
		return p.vector(lo, hi)
	}
	return p.rows(lo, hi, column, n)
}

// Check returns the error of the first index out of range, nil without one.
func (j *Job) Check(op string) error {
	first, last := j.Offsets[0], j.Offsets[len(j.Offsets)-1]
	if j.Indices.DType == array.Int64 {
		return check(op, codegen.Elements[int64](j.Indices)[first:last], int(first), j.Bound)
	}
	return check(op, codegen.Elements[int32](j.Indices)[first:last], int(first), j.Bound)
}

func check[I index](op string, idx []I, first, bound int) error {
	for i, k := range idx {
		if uint64(k) >= uint64(bound) {
			if bound == 0 {
				return array.Errorf(op, "indices", "index %d is %d, and there are no rows to take", first+i, k)
			}
			return array.Errorf(op, "indices", "index %d is %d, want 0 to %d", first+i, k, bound-1)
		}
	}
	return nil
}
