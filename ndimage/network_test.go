package ndimage_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"weft"
	"weft/ndimage"
)

// TestRanksOfWindows compares every rank of short and long windows with sorts, among elements that repeat and NaN.
func TestRanksOfWindows(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	x := make([]float64, 90)
	for i := range x {
		if x[i] = float64(r.IntN(20)); i >= 60 && r.IntN(9) == 0 {
			x[i] = math.NaN()
		}
	}
	for _, n := range []int{2, 3, 5, 8, 25, 27} {
		for rank := range n {
			y := weft.Data[float64](ndimage.RankFilter(weft.FromSlice(x, len(x)), rank, []int{n}, ndimage.WindowOpts{Mode: ndimage.Nearest}).Contiguous())
			for i := range x {
				var w []float64
				for k := range n {
					w = append(w, x[min(max(i+k-n/2, 0), len(x)-1)])
				}
				slices.Sort(w) // NaN first
				want := w[rank]
				if math.IsNaN(w[0]) {
					want = w[0]
				}
				if y[i] != want && !(math.IsNaN(y[i]) && math.IsNaN(want)) {
					t.Fatalf("rank %d of %d at %d: %v, want %v", rank, n, i, y[i], want)
				}
			}
		}
	}
}
