package index

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/cputest"
	"weft/internal/jit"
	"weft/internal/mem/guard"
	"weft/internal/processor"
)

// Rows are copied whole and in order, and nothing is written behind them. Sizes include results
// that are written by non-temporal stores.
func TestCopyRows(t *testing.T) {
	cputest.EveryISA(t, func(t *testing.T, _ jit.ISA) {
		const count = 100
		for _, row := range []int{processor.Line, 3 * processor.Line, 8 * processor.Line, 100} {
			b, err := guard.End(count * row)
			if err != nil {
				t.Skip("SKIPPED: no guard pages here")
			}
			src := unsafe.Slice((*byte)(b.Ptr()), count*row)
			for i := range src {
				src[i] = byte(rand.Uint32())
			}
			for _, n := range []int{1, 5, 6, 7, 50, 200} {
				for _, all := range []int{0, processor.Host.NonTemporalFrom} {
					memory := make([]byte, n*row+3*processor.Line)
					at := -int(uintptr(unsafe.Pointer(&memory[0]))) & (processor.Line - 1)
					dst := memory[at:][:n*row+processor.Line]
					idx, want := make([]int, n), make([]byte, 0, len(dst))
					for i := range idx {
						idx[i] = rand.IntN(count)
						want = append(want, src[idx[i]*row:][:row]...)
					}
					want = append(want, make([]byte, processor.Line)...)
					ok := (&Rows{cputest.UnderTest, row, all}).Copy(unsafe.Pointer(&dst[0]), b.Ptr(), idx)
					if ok != (cputest.UnderTest != jit.Portable && row%processor.Line == 0) {
						t.Errorf("rows of %d bytes copied: %v", row, ok)
					}
					if ok && !slices.Equal(dst, want) {
						t.Errorf("%d rows of %d bytes are not those asked for", n, row)
					}
				}
			}
			b.Close()
		}
	})
}

// Rows are added in order, to the base or to zeros.
func TestSumRows(t *testing.T) {
	cputest.EveryISA(t, func(t *testing.T, _ jit.ISA) {
		const count, n = 20, 32
		testSumRows[float32](t, array.Float32, count, n)
		testSumRows[float64](t, array.Float64, count, n)
		testSumRows[int32](t, array.Int32, count, n)
		testSumRows[int64](t, array.Int64, count, n)
	})
}

func testSumRows[T int32 | int64 | float32 | float64](t *testing.T, d array.DType, count, n int) {
	row := n * d.Size()
	b, err := guard.End(count * row)
	if err != nil {
		t.Skip("SKIPPED: no guard pages here")
	}
	defer b.Close()
	src := unsafe.Slice((*T)(b.Ptr()), count*n)
	for i := range src {
		src[i] = T((rand.Float64() - 0.5) * 1e6)
	}
	ids := [][]int{nil, {3}, {19, 0, 19}, {}, rand.Perm(count), {7}}
	start, order := []int{0}, []int(nil)
	for _, l := range ids {
		order = append(order, l...)
		start = append(start, len(order))
	}
	order = append(order, make([]int, prefetchRows)...)
	memory := make([]T, len(ids)*n+8+64)
	at := 0
	for uintptr(unsafe.Pointer(&memory[at]))%processor.Line != 0 {
		at++
	}
	dst := memory[at:][:len(ids)*n+8]
	base, want := make([]T, len(ids)*n), make([]T, len(dst))
	for _, from := range []unsafe.Pointer{nil, unsafe.Pointer(&base[0])} {
		for _, all := range []int{0, processor.Host.NonTemporalFrom} {
			for i := range base {
				base[i] = T(i)
				if want[i] = 0; from != nil {
					want[i] = base[i]
				}
				for _, k := range ids[i/n] {
					want[i] += src[k*n+i%n]
				}
			}
			clear(dst)
			if ok := (&Rows{cputest.UnderTest, row, all}).Sum(d, unsafe.Pointer(&dst[0]), from, b.Ptr(), start, order); ok != (cputest.UnderTest != jit.Portable) {
				t.Errorf("%s: done %v", d, ok)
			} else if ok && !slices.Equal(dst, want) {
				t.Errorf("%s with base %v: %v, want %v", d, from != nil, dst, want)
			}
		}
	}
}
