package methods_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"weft"
)

// TestNanQuantileBesideSort compares with a sort of the numbers of each row: none, few and many of its elements are NaN.
func TestNanQuantileBesideSort(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{1, 2, 3, 10, 90, 700} {
		for _, q := range []float64{0, 0.25, 0.5, 0.9, 1} {
			for _, holes := range []float64{0, 0.3, 0.9, 1} {
				row, numbers := make([]float64, n), []float64{}
				for i := range row {
					if row[i] = math.Round(r.NormFloat64() * 20); r.IntN(12) == 0 {
						row[i] = math.Inf(r.IntN(2)*2 - 1)
					}
					if r.Float64() < holes {
						row[i] = math.NaN()
					} else {
						numbers = append(numbers, row[i])
					}
				}
				slices.Sort(numbers)
				want := math.NaN()
				if len(numbers) > 0 {
					at := q * float64(len(numbers)-1)
					low, high := numbers[int(at)], numbers[int(math.Ceil(at))]
					if want = low; low != high {
						w := at - math.Floor(at)
						if want = low + w*(high-low); math.IsInf(high, 1) || math.IsInf(low, -1) {
							want = low*(1-w) + high*w
						}
						if w == 0 {
							want = low
						}
					}
				}
				x := weft.Stack([]*weft.Tensor{weft.From(row), weft.Zeros(n).To(weft.Float64)}, 0)
				got := x.NanQuantile(q, 1).At(0).Item()
				if math.Abs(got-want) > 1e-12*(1+math.Abs(want)) || math.IsNaN(got) != math.IsNaN(want) || math.IsInf(want, 0) && got != want {
					t.Fatalf("quantile %v of %v is %v, want %v", q, row, got, want)
				}
			}
		}
	}
}
