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

// read returns element at, counted in elements from p.
func read(d array.DType, p unsafe.Pointer, at int) (f float64, i int64) {
	p = unsafe.Add(p, at*d.Size())
	switch d {
	case array.Float16:
		f = float64((*half.Float16)(p).Float32())
	case array.BFloat16:
		f = float64((*half.BFloat16)(p).Float32())
	case array.Float32:
		f = float64(*(*float32)(p))
	case array.Float64:
		f = *(*float64)(p)
	case array.Int64, array.Uint64:
		i = *(*int64)(p)
	case array.Int32, array.Uint32:
		i = wrapTo(d, int64(*(*int32)(p)))
	case array.Int16, array.Uint16:
		i = wrapTo(d, int64(*(*int16)(p)))
	case array.Int8, array.Uint8, array.Bool:
		i = wrapTo(d, int64(*(*uint8)(p)))
	default:
		panic("optest: cannot read " + d.String())
	}
	return f, i
}

func write(d array.DType, p unsafe.Pointer, at int, f float64, i int64) {
	p = unsafe.Add(p, at*d.Size())
	switch d {
	case array.Float16:
		*(*half.Float16)(p) = half.NewFloat16(f)
	case array.BFloat16:
		*(*half.BFloat16)(p) = half.NewBFloat16(f)
	case array.Float32:
		*(*float32)(p) = float32(f)
	case array.Float64:
		*(*float64)(p) = f
	case array.Int64, array.Uint64:
		*(*int64)(p) = i
	case array.Int32, array.Uint32:
		*(*int32)(p) = int32(i)
	case array.Int16, array.Uint16:
		*(*int16)(p) = int16(i)
	case array.Int8, array.Uint8, array.Bool:
		*(*uint8)(p) = uint8(i)
	default:
		panic("optest: cannot write " + d.String())
	}
}

// walk calls f with the flat index and the offset in elements of every element
// of a shape in row-major order.
func walk(shape, strides []int, f func(i, off int)) {
	n := array.Size(shape)
	if n == 0 {
		return
	}
	if len(shape) == 0 {
		f(0, 0)
		return
	}
	last := len(shape) - 1
	idx := make([]int, last)
	row, step := shape[last], strides[last]
	for i, start := 0, 0; ; {
		for k, off := 0, start; k < row; k, off = k+1, off+step {
			f(i+k, off)
		}
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

// Read copies the elements of a view on the host.
func Read(v array.View) *Array {
	if v.DType.Complex() {
		return &Array{DType: v.DType, Shape: v.Shape, F: Read(v.Scalars()).F}
	}
	a := New(v.DType, v.Shape)
	p := v.Store.Host()
	walk(v.Shape, v.Strides, func(i, off int) {
		f, n := read(v.DType, p, v.Offset+off)
		if a.F != nil {
			a.F[i] = f
		} else {
			a.I[i] = n
		}
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
