package index

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"weft/half"
	"weft/internal/array"
	"weft/internal/cpu/cputest"
	"weft/internal/jit"
	"weft/internal/mem"
	"weft/internal/mem/guard"
)

func TestArgExtreme(t *testing.T) {
	shapes := [][]int{{1}, {7}, {64}, {1000}, {31}, {33}, {70001}, {200000}, {300, 40}, {40, 300}, {3, 5000}, {20000, 17}, {20000, 3}, {600, 40}, {9, 600, 40}, {1000, 4}, {300, 20}, {2, 300, 5}, {5, 300, 2}, {9, 130, 33}, {2, 3, 4}, {130, 1, 40}, {12, 1100}, {9, 2051}, {5, 6, 300}}
	cputest.EveryISA(t, func(t *testing.T, _ jit.ISA) {
		for _, s := range shapes {
			for axis := range s {
				testArg(t, s, axis, []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 0, float32(math.Copysign(0, -1)), 3})
				testArg(t, s, axis, []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 3})
				testArg(t, s, axis, []int32{math.MinInt32, math.MaxInt32, 0, -1})
				testArg(t, s, axis, []int64{math.MinInt64, math.MaxInt64, 0, 1 << 40})
				testArg(t, s, axis, []uint8{0, 255, 128, 127})
				testArg(t, s, axis, []half.Float16{0, 0x8000, 0x3C00, 0x7C00, 0xFC00, 0x7C01, 0xFE00, 0xFFFF})
				testArg(t, s, axis, []half.BFloat16{0, 0x8000, 0x3F80, 0x7F80, 0xFF80, 0x7F81, 0xFFC0, 0xFFFF})
				testArg(t, s, axis, []int8{0, -1, -128, 127})
				testArg(t, s, axis, []int16{0, -1, math.MinInt16, math.MaxInt16})
				testArg(t, s, axis, []uint16{0, 1, 1 << 15, math.MaxUint16})
				testArg(t, s, axis, []uint32{0, 1, 1 << 31, math.MaxUint32})
				testArg(t, s, axis, []uint64{0, 1, 1 << 63, math.MaxUint64})
			}
		}
	})
}

// random is seeded: which kernels a test makes must not differ from run to run.
var random = rand.New(rand.NewPCG(1, 0))

// kept are the arrays of randomElements, by type and how often a special element is among them.
var kept = map[string]any{}

// randomElements returns numbers below 100 and, one time in often, special elements; none of
// them if often is 0. Their count is a prime, so no axis of a test divides it.
func randomElements[T element | half.Float16 | half.BFloat16](often int, special []T) []T {
	key := fmt.Sprintf("%T %d", special, often)
	if x, ok := kept[key].([]T); ok {
		return x
	}
	x, r := make([]T, 65521), rand.New(rand.NewPCG(random.Uint64(), 0))
	for i := range x {
		x[i] = T(r.Uint32N(100))
		if often > 0 && r.IntN(often) == 0 {
			x[i] = special[r.IntN(len(special))]
		}
	}
	kept[key] = x
	return x
}

// testArg has an array of random elements, among them, now and then, those given,
// in row-major order or in that of other axes. Of a long array one of three is tried.
func testArg[T element | half.Float16 | half.BFloat16](t *testing.T, shape []int, axis int, special []T) {
	t.Helper()
	size := array.Size(shape)
	d := map[string]array.DType{"half.Float16": array.Float16, "half.BFloat16": array.BFloat16, "uint8": array.Uint8, "int8": array.Int8, "int16": array.Int16, "uint16": array.Uint16, "uint32": array.Uint32, "uint64": array.Uint64, "int32": array.Int32, "int64": array.Int64, "float32": array.Float32, "float64": array.Float64}[fmt.Sprintf("%T", special[0])]
	turn := random.IntN(3)
	for i, often := range []int{0, 100, 3} {
		if size > 50_000 && i != turn {
			continue
		}
		elements := randomElements(often, special)
		b, err := guard.End(size * d.Size())
		if random.IntN(2) == 0 {
			b, err = guard.Start(size * d.Size())
		}
		if err != nil {
			t.Skip("SKIPPED: no guard pages here")
		}
		x := unsafe.Slice((*T)(b.Ptr()), size)
		for at := random.IntN(len(elements)); len(x) > 0; at = 0 {
			x = x[copy(x, elements[at:]):]
		}
		x = unsafe.Slice((*T)(b.Ptr()), size)
		v := array.View{Store: array.NewStorage(b.Ptr(), size*d.Size(), b), DType: d, Shape: shape, Strides: make([]int, len(shape))}
		n := 1
		for _, i := range random.Perm(len(shape)) {
			v.Strides[i] = n
			n *= shape[i]
		}
		for _, greatest := range []bool{false, true} {
			out := make([]int64, size/shape[axis])
			(&Extremes{cputest.UnderTest, greatest, contiguous}).Find(out, &v, axis)
			for k, got := range out {
				from, rest := 0, k
				for i := len(shape) - 1; i >= 0; i-- {
					if i != axis {
						from += rest % shape[i] * v.Strides[i]
						rest /= shape[i]
					}
				}
				want := 0
				best := number(x[from])
				for i := range shape[axis] {
					y := number(x[from+i*v.Strides[axis]])
					if best == best && (y != y || greatest && y > best || !greatest && y < best) {
						best, want = y, i
					}
				}
				if got != int64(want) {
					t.Fatalf("%s %v strides %v axis %d greatest %v: at %d %d, want %d", d, shape, v.Strides, axis, greatest, k, got, want)
				}
			}
		}
		b.Close()
	}
}

func BenchmarkArgExtreme(b *testing.B) {
	for _, s := range [][2]int{{4096, 4096}, {4096, 1000}, {100_000, 10}, {100_000, 64}} {
		b.Run(fmt.Sprint(s), func(b *testing.B) {
			n := s[0] * s[1]
			l, err := mem.Lend(4 * n)
			if err != nil {
				b.Fatal(err)
			}
			defer l.Return()
			for i, x := 0, unsafe.Slice((*float32)(l.Ptr()), n); i < n; i++ {
				x[i] = rand.Float32()
			}
			v := array.View{Store: array.NewStorage(l.Ptr(), 4*n, l), DType: array.Float32, Shape: s[:], Strides: array.RowMajor(s[:])}
			out := make([]int64, s[0])
			for b.Loop() {
				(&Extremes{cputest.UnderTest, true, contiguous}).Find(out, &v, 1)
			}
		})
	}
}

// number is the number that an element is.
func number[T element | half.Float16 | half.BFloat16](x T) float64 {
	switch x := any(x).(type) {
	case half.Float16:
		return float64(x.Float32())
	case half.BFloat16:
		return float64(x.Float32())
	}
	return float64(x)
}

// contiguous copies element by element.
func contiguous(v *array.View) (array.View, func()) {
	size := v.DType.Size()
	b := make([]byte, v.Size()*size)
	w := array.View{Store: array.NewStorage(unsafe.Pointer(&b[0]), len(b), b), DType: v.DType, Shape: v.Shape, Strides: array.RowMajor(v.Shape)}
	last := len(v.Shape) - 1
	for row := 0; row < v.Size(); row += v.Shape[last] {
		from, rest := v.Offset, row/v.Shape[last]
		for a := last - 1; a >= 0; a-- {
			from += rest % v.Shape[a] * v.Strides[a]
			rest /= v.Shape[a]
		}
		for i := range v.Shape[last] {
			p := unsafe.Add(v.Store.Host(), (from+i*v.Strides[last])*size)
			copy(b[(row+i)*size:][:size], unsafe.Slice((*byte)(p), size))
		}
	}
	return w, func() {}
}
