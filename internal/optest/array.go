package optest

import (
	"fmt"
	"math"
	"slices"
	"unsafe"

	"weft/half"
	"weft/internal/array"
)

// An Array is a dense row-major array of the reference: floats of either width
// are held as float64, integers and bool (0, 1) as int64, of uint64 the bits.
type Array struct {
	DType array.DType
	Shape []int
	F     []float64 // floats
	I     []int64   // integers and bool
}

// New returns an array of zeros.
func New(d array.DType, shape []int) *Array {
	a := &Array{DType: d, Shape: append([]int{}, shape...)}
	n := array.Size(shape)
	switch {
	case d.Complex():
		a.F = make([]float64, 2*n)
	case d.Float():
		a.F = make([]float64, n)
	default:
		a.I = make([]int64, n)
	}
	return a
}

// Size returns the number of elements.
func (a *Array) Size() int { return array.Size(a.Shape) }

// cells returns how many numbers F or I holds: two for each complex one.
func (a *Array) cells() int { return max(len(a.F), len(a.I)) }

// realTypes are the element types but the complex ones, whose operations are made of
// those on their parts.
func realTypes() []array.DType { return slices.DeleteFunc(array.DTypes(), array.DType.Complex) }

// roundTo rounds what was computed in float64 as an operation of type d does: to float32
// and from there to 16 bits.
func roundTo(d array.DType, x float64) float64 {
	switch d = d.Part(); d {
	case array.Float16:
		return float64(half.NewFloat16(float32(x)).Float32())
	case array.BFloat16:
		return float64(half.NewBFloat16(float32(x)).Float32())
	case array.Float32:
		return float64(float32(x))
	}
	return x
}

// nearest is the number of a float type d nearest to x.
func nearest(d array.DType, x float64) float64 {
	switch d {
	case array.Float16:
		return float64(half.NewFloat16(x).Float32())
	case array.BFloat16:
		return float64(half.NewBFloat16(x).Float32())
	}
	return roundTo(d, x)
}

// wrapTo keeps the low bits of v that d has.
func wrapTo(d array.DType, v int64) int64 {
	switch d {
	case array.Int8:
		return int64(int8(v))
	case array.Uint8:
		return int64(uint8(v))
	case array.Int16:
		return int64(int16(v))
	case array.Uint16:
		return int64(uint16(v))
	case array.Int32:
		return int64(int32(v))
	case array.Uint32:
		return int64(uint32(v))
	case array.Bool, array.Int64, array.Uint64:
		return v
	}
	panic("optest: no integer type: " + d.String())
}

// set stores an element that has been computed in float64 or int64.
func (a *Array) set(i int, f float64, v int64) {
	if a.F != nil {
		a.F[i] = roundTo(a.DType, f)
	} else {
		a.I[i] = wrapTo(a.DType, v)
	}
}

// An element is one of a type that Go has.
type element interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64
}

// load fills to with the elements of a row in memory, of type T, step elements apart.
func load[T element, U float64 | int64](to []U, row unsafe.Pointer, step int) {
	size := int(unsafe.Sizeof(T(0)))
	for i := range to {
		to[i] = U(*(*T)(unsafe.Add(row, i*step*size)))
	}
}

// store is the reverse of load.
func store[T element, U float64 | int64](row unsafe.Pointer, step int, from []U) {
	size := int(unsafe.Sizeof(T(0)))
	for i, x := range from {
		*(*T)(unsafe.Add(row, i*step*size)) = T(x)
	}
}

// read fills f or n with the elements of a row of type d, step elements apart.
func read(d array.DType, row unsafe.Pointer, step int, f []float64, n []int64) {
	switch d {
	case array.Float16, array.BFloat16:
		for i := range f {
			if p := unsafe.Add(row, i*step*2); d == array.Float16 {
				f[i] = float64((*half.Float16)(p).Float32())
			} else {
				f[i] = float64((*half.BFloat16)(p).Float32())
			}
		}
	case array.Float32:
		load[float32](f, row, step)
	case array.Float64:
		load[float64](f, row, step)
	case array.Int64:
		load[int64](n, row, step)
	case array.Uint64:
		load[uint64](n, row, step)
	case array.Int32:
		load[int32](n, row, step)
	case array.Uint32:
		load[uint32](n, row, step)
	case array.Int16:
		load[int16](n, row, step)
	case array.Uint16:
		load[uint16](n, row, step)
	case array.Int8:
		load[int8](n, row, step)
	case array.Uint8, array.Bool:
		load[uint8](n, row, step)
	default:
		panic("optest: cannot read " + d.String())
	}
}

// write is the reverse of read.
func write(d array.DType, row unsafe.Pointer, step int, f []float64, n []int64) {
	switch d {
	case array.Float16, array.BFloat16:
		for i, x := range f {
			if p := unsafe.Add(row, i*step*2); d == array.Float16 {
				*(*half.Float16)(p) = half.NewFloat16(x)
			} else {
				*(*half.BFloat16)(p) = half.NewBFloat16(x)
			}
		}
	case array.Float32:
		store[float32](row, step, f)
	case array.Float64:
		store[float64](row, step, f)
	case array.Int64, array.Uint64:
		store[int64](row, step, n)
	case array.Int32, array.Uint32:
		store[int32](row, step, n)
	case array.Int16, array.Uint16:
		store[int16](row, step, n)
	case array.Int8, array.Uint8, array.Bool:
		store[uint8](row, step, n)
	default:
		panic("optest: cannot write " + d.String())
	}
}

// rows calls f with the flat index of the first element of every row of a shape in
// row-major order, the offset of that element, the number of elements and how far apart
// they are, in elements.
func rows(shape, strides []int, f func(i, off, n, step int)) {
	n := array.Size(shape)
	if n == 0 {
		return
	}
	if len(shape) == 0 {
		f(0, 0, 1, 1)
		return
	}
	last := len(shape) - 1
	idx := make([]int, last)
	row, step := shape[last], strides[last]
	for i, start := 0, 0; ; {
		f(i, start, row, step)
		if i += row; i == n {
			return
		}
		for a := last - 1; ; a-- {
			idx[a]++
			start += strides[a]
			if idx[a] < shape[a] {
				break
			}
			start -= idx[a] * strides[a]
			idx[a] = 0
		}
	}
}

// walk calls f with the flat index and the offset in elements of every element
// of a shape in row-major order.
func walk(shape, strides []int, f func(i, off int)) {
	rows(shape, strides, func(i, off, n, step int) {
		for k := range n {
			f(i+k, off+k*step)
		}
	})
}

// row returns where the row at an offset of a view lies, and the part of a from element
// i on that it holds.
func (a *Array) row(v array.View, i, off, n int) (p unsafe.Pointer, f []float64, ints []int64) {
	p = unsafe.Add(v.Store.Host(), (v.Offset+off)*v.DType.Size())
	if a.F != nil {
		return p, a.F[i : i+n], nil
	}
	return p, nil, a.I[i : i+n]
}

// Read copies the elements of a view on the host.
func Read(v array.View) *Array {
	if v.DType.Complex() {
		return &Array{DType: v.DType, Shape: v.Shape, F: Read(v.Scalars()).F}
	}
	a := New(v.DType, v.Shape)
	rows(v.Shape, v.Strides, func(i, off, n, step int) {
		p, f, ints := a.row(v, i, off, n)
		read(v.DType, p, step, f, ints)
	})
	return a
}

// bits returns element i as bits in which every NaN is one.
func (a *Array) bits(i int) uint64 {
	if a.F == nil {
		return uint64(a.I[i])
	}
	if a.F[i] != a.F[i] {
		return math.Float64bits(math.NaN())
	}
	return math.Float64bits(a.F[i])
}

// same returns the index of the first element whose bits differ, -1 if none do.
// NaNs are equal.
func same(a, b *Array) int {
	for i := range a.cells() {
		if a.bits(i) != b.bits(i) {
			return i
		}
	}
	return -1
}

// at shows element i with its index.
func (a *Array) at(i int) string {
	idx := make([]int, len(a.Shape))
	element := i
	if a.DType.Complex() {
		element /= 2
	}
	for k, r := len(a.Shape)-1, element; k >= 0; k-- {
		idx[k] = r % a.Shape[k]
		r /= a.Shape[k]
	}
	if a.F != nil {
		return fmt.Sprintf("%v = %v (%#x)", idx, a.F[i], math.Float64bits(a.F[i]))
	}
	if a.DType == array.Uint64 {
		return fmt.Sprintf("%v = %d", idx, uint64(a.I[i]))
	}
	return fmt.Sprintf("%v = %d", idx, a.I[i])
}

// A Layout says how an array lies in memory.
type Layout uint8

// The layouts that the suite tries.
const (
	Contiguous Layout = iota
	Strided           // every second element of the last axis
	Transposed        // the first axis varies fastest
	Reversed          // every axis runs backwards
	Padded            // rows with a gap behind them, every third row
	numLayouts
)

var layoutNames = [...]string{"contiguous", "strided", "transposed", "reversed", "padded"}

func (l Layout) String() string { return layoutNames[l] }

// Layouts lists them.
func Layouts() []Layout {
	return []Layout{Contiguous, Strided, Transposed, Reversed, Padded}
}

// strides returns the strides of a shape in the layout and the offset of its
// first element from the lowest.
func (l Layout) strides(shape []int) (st []int, first int) {
	st = make([]int, len(shape))
	n := 1
	switch l {
	case Transposed:
		for i := range shape {
			st[i] = n
			n *= max(shape[i], 1)
		}
	case Padded:
		for i := len(shape) - 1; i >= 0; i-- {
			st[i] = n
			n *= max(shape[i], 1)
			if i == len(shape)-1 && len(shape) > 1 {
				n = (n + 3) * 3
			}
		}
	default:
		if l == Strided {
			n = 2
		}
		for i := len(shape) - 1; i >= 0; i-- {
			st[i] = n
			n *= max(shape[i], 1)
		}
	}
	if l == Reversed {
		for i, d := range shape {
			first += max(d-1, 0) * st[i]
			st[i] = -st[i]
		}
	}
	return st, first
}

// extent is the number of elements from the lowest to the highest of a view
// with these positive or negative strides.
func extent(shape, strides []int) int {
	n := 1
	for i, d := range shape {
		if d == 0 {
			return 0
		}
		s := strides[i]
		if s < 0 {
			s = -s
		}
		n += (d - 1) * s
	}
	return n
}
