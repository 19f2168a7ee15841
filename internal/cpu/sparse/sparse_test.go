package sparse

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/cputest"
	"weft/internal/jit"
)

// view is a contiguous array of elements.
func view[T any](d array.DType, x []T, shape ...int) *array.View {
	x = append(slices.Clone(x), *new(T)) // memory, however few elements
	s := array.NewStorage(unsafe.Pointer(&x[0]), len(x)*d.Size(), x)
	return &array.View{Store: s, DType: d, Shape: shape, Strides: array.RowMajor(shape)}
}

// Machine code gives the bits of the Go code: rows that are empty, of one entry, of some vectors, and longer
// than a call of a kernel; dense rows of any width.
func TestKernelsGiveTheBitsOfGo(t *testing.T) {
	cputest.EveryISA(t, func(t *testing.T, _ jit.ISA) {
		testBits(t, array.Float32, func(x, _ float64) float32 { return float32(x) })
		testBits(t, array.Float64, func(x, _ float64) float64 { return x })
		testBits(t, array.Complex64, func(x, y float64) complex64 { return complex(float32(x), float32(y)) })
		testBits(t, array.Complex128, func(x, y float64) complex128 { return complex(x, y) })
	})
}

func testBits[T number](t *testing.T, d array.DType, of func(x, y float64) T) {
	const cols = 300
	r := rand.New(rand.NewPCG(1, 2))
	off := []int64{3} // entries before the first row are in none
	for _, n := range []int{0, 1, 7, 8, 9, 15, 16, 17, 0, 33, 100, callWork + 5, 2, 64} {
		off = append(off, off[len(off)-1]+int64(n))
	}
	rows, entries := len(off)-1, int(off[len(off)-1])+2
	numbers := func(n int) []T {
		x := make([]T, n)
		for i := range x {
			x[i] = of(r.NormFloat64(), r.NormFloat64())
		}
		return x
	}
	idx := make([]int32, entries)
	for i := range idx {
		idx[i] = int32(r.IntN(cols))
	}
	values := numbers(entries)
	widths := []int{1, 2, 8, 15, 16, 17, 64, 130}
	if d.Complex() {
		widths = []int{1, 2, 5, 17, 36}
	}
	for _, width := range widths {
		x, y := numbers(rows*width), numbers(cols*width)
		compute := func(kind Kind, isa jit.ISA) []T {
			j := &Job{ISA: isa, Kind: kind, Values: view(d, values, entries), Indices: view(array.Int32, idx, entries), Offsets: off, Width: width, Bound: cols}
			out, from, to := &j.Y, 0, rows
			switch kind {
			case Rows:
				j.X, j.Y = view(d, y, cols, width), view(d, make([]T, rows*width), rows, width)
			case Transposed:
				j.X, j.Y, to = view(d, x, rows, width), view(d, make([]T, cols*width), cols, width), width
			case Sampled:
				j.X, j.Y, out = view(d, x, rows, width), view(d, y, cols, width), &j.Values
			}
			if !j.Func()(from, to) {
				t.Fatal("an index is out of range")
			}
			return slices.Clone(unsafe.Slice((*T)((*out).Store.Host()), (*out).Size()))
		}
		for _, kind := range []Kind{Rows, Transposed, Sampled} {
			got, want := compute(kind, cputest.UnderTest), compute(kind, jit.Portable)
			if !slices.Equal(got, want) {
				t.Errorf("%s, kind %d, width %d: other bits", d, kind, width)
			}
		}
	}
	for _, wrong := range []int32{-1, cols} {
		bad := slices.Clone(idx)
		bad[len(bad)-5] = wrong
		for _, kind := range []Kind{Rows, Transposed, Sampled} {
			for _, width := range []int{1, 5} {
				j := &Job{ISA: cputest.UnderTest, Kind: kind, Values: view(d, values, entries), Indices: view(array.Int32, bad, entries), Offsets: off, Width: width, Bound: cols,
					X: view(d, make([]T, max(rows, cols)*width), max(rows, cols), width), Y: view(d, make([]T, max(rows, cols)*width), max(rows, cols), width)}
				to := rows
				if kind == Transposed {
					to = width
				}
				if j.Func()(0, to) || j.Check("x") == nil {
					t.Errorf("%s, kind %d, width %d: index %d is taken", d, kind, width, wrong)
				}
			}
		}
	}
}
