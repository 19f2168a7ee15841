package cpu

import (
	"math/rand/v2"
	"slices"
	"testing"

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
