package cpu

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Runs of all lengths merge to what the standard library sorts, with equal numbers in both.
func TestMergeSortedRuns(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 40 {
		for m := range 40 {
			for _, most := range []uint64{2, 50, 1 << 63} {
				x, y := make([]uint64, n), make([]uint64, m)
				for _, run := range [][]uint64{x, y} {
					for i := range run {
						run[i] = r.Uint64N(most)
					}
					slices.Sort(run)
				}
				want := slices.Sorted(slices.Values(slices.Concat(x, y)))
				got := make([]uint64, n+m)
				merge(got, x, y)
				if !slices.Equal(got, want) {
					t.Fatalf("%v and %v give %v, want %v", x, y, got, want)
				}
			}
		}
	}
}
