package index

import (
	"fmt"
	"math/rand"
	"testing"
	"unsafe"

	"weft/internal/cpu/cputest"
	"weft/internal/jit"
	"weft/internal/mem/guard"
)

// guarded returns n elements of memory that begins or ends where no other may be touched.
func guarded[T any](t *testing.T, n int) []T {
	t.Helper()
	var x T
	at := guard.End
	if rand.Intn(2) == 0 {
		at = guard.Start
	}
	b, err := at(n * int(unsafe.Sizeof(x)))
	if err != nil {
		t.Skip("SKIPPED: no guard pages here")
	}
	t.Cleanup(func() { b.Close() })
	return unsafe.Slice((*T)(b.Ptr()), n)
}

func TestMask(t *testing.T) {
	cputest.EveryISA(t, func(t *testing.T, _ jit.ISA) {
		t.Run("8", testMask[uint8])
		t.Run("16", testMask[uint16])
		t.Run("32", testMask[uint32])
		t.Run("64", testMask[uint64])
		t.Run("128", testMaskPairs)
	})
}

// testMaskPairs has elements of two words.
func testMaskPairs(t *testing.T) {
	const n = maskBlock + 1077
	m, x, back := guarded[byte](t, n), guarded[[2]uint64](t, n), guarded[[2]uint64](t, n)
	count := 0
	for i := range n {
		x[i], m[i] = [2]uint64{rand.Uint64(), rand.Uint64()}, byte(rand.Intn(2))
		count += int(m[i])
	}
	few := guarded[[2]uint64](t, count)
	mask := &Mask{ISA: cputest.UnderTest, Ptr: unsafe.Pointer(&m[0]), N: n}
	mask.Select(unsafe.Pointer(&few[0]), unsafe.Pointer(&x[0]), 16, mask.Ranks())
	mask.Expand(unsafe.Pointer(&back[0]), unsafe.Pointer(&few[0]), 16, mask.Ranks())
	k := 0
	for i, b := range m {
		want := [2]uint64{}
		if b != 0 {
			if want = x[i]; few[k] != want {
				t.Fatalf("element %d is %x, want %x", k, few[k], want)
			}
			k++
		}
		if back[i] != want {
			t.Fatalf("element %d put back is %x, want %x", i, back[i], want)
		}
	}
}

func testMask[T word](t *testing.T) {
	for _, n := range []int{0, 1, 9, 64, 200, 1000, maskBlock, 3*maskBlock + 77} {
		for _, often := range []int{1, 2, 10, 1000, 1 << 30} {
			t.Run(fmt.Sprint(n, " ", often), func(t *testing.T) { testMaskOf[T](t, n, often) })
		}
	}
}

// testMaskOf has a mask that is true one time in often.
func testMaskOf[T word](t *testing.T, n, often int) {
	m, x := guarded[byte](t, n), guarded[T](t, n)
	var want []T
	var places []int64
	back := make([]T, n)
	for i := range n {
		x[i] = T(rand.Uint64())
		m[i] = 0
		if rand.Intn(often) == 0 {
			m[i] = 1
			want = append(want, x[i])
			places = append(places, int64(i))
			back[i] = x[i]
		}
	}
	mask, src := &Mask{cputest.UnderTest, unsafe.Pointer(unsafe.SliceData(m)), n}, unsafe.Pointer(unsafe.SliceData(x))
	r := mask.Ranks()
	if r[len(r)-1] != len(want) {
		t.Fatalf("%d ones of %d, want %d", r[len(r)-1], n, len(want))
	}
	got, again, at := guarded[T](t, len(want)), guarded[T](t, n), make([]int64, len(want))
	for i := range again {
		again[i] = 7
	}
	size := int(unsafe.Sizeof(T(0)))
	mask.Select(unsafe.Pointer(unsafe.SliceData(got)), src, size, r)
	mask.Expand(unsafe.Pointer(unsafe.SliceData(again)), unsafe.Pointer(unsafe.SliceData(got)), size, r)
	mask.NonZero(at, r)
	for i := range want {
		if got[i] != want[i] || at[i] != places[i] {
			t.Fatalf("element %d of %d: %d at %d, want %d at %d", i, n, got[i], at[i], want[i], places[i])
		}
	}
	for i := range back {
		if again[i] != back[i] {
			t.Fatalf("element %d put back is %d, want %d", i, again[i], back[i])
		}
	}
}

// BenchmarkSelect is of half of 10,000,000 elements, in an order that cannot be guessed.
func BenchmarkSelect(b *testing.B) {
	b.Run("32", benchmarkSelect[uint32])
	b.Run("64", benchmarkSelect[uint64])
}

func benchmarkSelect[T word](b *testing.B) {
	const n = 10_000_000
	m, x := make([]byte, n), make([]T, n)
	for i := range m {
		m[i], x[i] = byte(rand.Intn(2)), T(i)
	}
	mask := &Mask{cputest.UnderTest, unsafe.Pointer(&m[0]), n}
	r := mask.Ranks()
	out := make([]T, r[len(r)-1])
	b.Run("ranks", func(b *testing.B) {
		for b.Loop() {
			mask.Ranks()
		}
	})
	b.Run("select", func(b *testing.B) {
		for b.Loop() {
			mask.Select(unsafe.Pointer(&out[0]), unsafe.Pointer(&x[0]), int(unsafe.Sizeof(T(0))), r)
		}
	})
	b.Run("place", func(b *testing.B) {
		for b.Loop() {
			mask.Expand(unsafe.Pointer(&x[0]), unsafe.Pointer(&out[0]), int(unsafe.Sizeof(T(0))), r)
		}
	})
}
