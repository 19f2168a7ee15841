package cpu

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/cputest"
	"weft/internal/cpu/selection"
	"weft/internal/jit"
)

// TestPicked compares selections with a sort: many equal keys, ascending ones, extreme ones, and a sample that misleads.
func TestPicked(t *testing.T) {
	cputest.EveryISA(t, func(t *testing.T, isa jit.ISA) {
		r := new(rows[uint64])
		if selection.Runs(isa) {
			r.kernels = selection.Keys{Size: 8}.Kernels()
		}
		testPicked(t, r)
	})
}

func testPicked(t *testing.T, r *rows[uint64]) {
	rng := rand.New(rand.NewPCG(1, 2))
	for name, key := range map[string]func(i int) uint64{
		"equal":     func(int) uint64 { return 7 },
		"two":       func(int) uint64 { return rng.Uint64N(2) * ^uint64(0) },
		"few":       func(int) uint64 { return rng.Uint64N(5) },
		"ascending": func(i int) uint64 { return uint64(i) },
		"random":    func(int) uint64 { return rng.Uint64() },
		"sample":    func(i int) uint64 { return uint64(i % 4) }, // all that is sampled is equal
	} {
		const n = 20000
		keys, places := make([]uint64, n), make([]uint64, n)
		for i := range keys {
			keys[i] = key(i)
		}
		at := make([]int, n)
		for i := range at {
			at[i] = i
		}
		slices.SortStableFunc(at, func(i, j int) int { return ranked{keys[i], 0}.compare(ranked{keys[j], 0}) })
		for _, kth := range []int{0, 1, n / 3, n / 2, n - 2, n - 1} {
			k := slices.Clone(keys)
			for i := range places {
				places[i] = uint64(i)
			}
			if p := r.picked(k, places, kth, new(buffers)); p != (ranked{keys[at[kth]], uint64(at[kth])}) {
				t.Errorf("%s: %v is at %d, want %d", name, p, kth, at[kth])
			}
		}
	}
}

// TestRowsOfEveryOrder compares the kernel of rows with the portable ranks: signed, unsigned and floating elements, with
// NaN, infinities, denormal numbers and zeros of both signs, in both directions.
func TestRowsOfEveryOrder(t *testing.T) {
	cputest.EveryISA(t, func(t *testing.T, isa jit.ISA) {
		if !selection.Runs(isa) {
			return
		}
		testRowOrders(t, []uint16{0, 0x8000, 0x7C00, 0xFC00, 0x7E00, 0xFE01, 1, 0x8001, 0x3C00, 0xBC00}, array.Float16, array.BFloat16, array.Int16)
		testRowOrders(t, []uint32{0, 1 << 31, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00001, 1, 1<<31 | 1, 0x3F800000}, array.Float32, array.Int32)
		testRowOrders(t, []uint64{0, 1 << 63, 0x7FF << 52, 0xFFF << 52, 0xFFF8 << 48, 1, 1<<63 | 1, 0x3FF << 52}, array.Float64, array.Int64)
		testRowOrders(t, []uint8{0, 1, 127, 128, 255}, array.Uint8, array.Int8)
	})
}

func testRowOrders[U bitsOf](t *testing.T, pool []U, kinds ...array.DType) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, kind := range kinds {
		for i := range 60 {
			n := 1 + rng.IntN(90)
			src, at := make([]U, n), make([]int, n)
			for j := range src {
				at[j] = j
				if src[j] = pool[rng.IntN(len(pool))]; rng.IntN(3) == 0 {
					src[j] = U(rng.Uint64())
				}
			}
			r := rows[U]{order: orderOf(kind), descending: i%2 == 1, outer: 1, n: n, step: 1, src: unsafe.Pointer(&src[0])}
			r.kernels = selection.Keys{Size: int(unsafe.Sizeof(U(0))), Float: r.float, Signed: r.signed, Descending: r.descending, Infinity: r.inf}.Kernels()
			slices.SortStableFunc(at, func(a, b int) int { return cmp.Compare(r.rank(a), r.rank(b)) })
			for kth := range n {
				p, ok := r.row(selection.NoDivision, 0, kth, nil, work{room: make([]uint64, selection.Room(n))})
				if want := (ranked{r.rank(at[kth]), uint64(at[kth])}); !ok || p != want {
					t.Fatalf("%v: element %d of %x is %v (%v), want %v", kind, kth, src, p, ok, want)
				}
			}
		}
	}
}
