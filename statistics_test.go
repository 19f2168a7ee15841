package weft

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"
)

// What asks only where elements are must not stop the recording of what is computed from
// its result.
func TestPlacesRecordGradients(t *testing.T) {
	x := From([]float32{3, 0, 2}).RequireGrad()
	for name, index := range map[string]*Tensor{
		"NonZero":      x.NonZero(),
		"ArgSort":      x.ArgSort(0, SortOpts{}),
		"SearchSorted": x.SearchSorted(From([]float32{0, 2}), SearchOpts{}).Clamp(0, 2),
		"ArgMax":       x.ArgMax().Unsqueeze(0),
	} {
		x.SetGrad(nil)
		y := x.IndexSelect(0, index).Sum()
		if err := Try(func() { y.Backward() }); err != nil || x.Grad() == nil {
			t.Errorf("%s: no gradient of what it selects: %v", name, err)
		}
	}
}

func TestUniqueOfSpecials(t *testing.T) {
	nan, zero := math.NaN(), math.Copysign(0, -1)
	values, inverse, counts := From([]float64{nan, zero, 0, math.Inf(1), nan, math.Inf(-1)}).Unique()
	want := []float64{math.Inf(-1), zero, math.Inf(1), nan}
	for i, v := range Data[float64](values) {
		if math.Float64bits(v) != math.Float64bits(want[i]) && !(v != v && want[i] != want[i]) {
			t.Errorf("value %d is %v, want %v", i, v, want[i])
		}
	}
	if got := Data[int64](inverse); len(got) != 6 || got[0] != 3 || got[1] != 1 || got[2] != 1 || got[3] != 2 || got[4] != 3 || got[5] != 0 {
		t.Error("inverse", got)
	}
	if got := Data[int64](counts); len(got) != 4 || got[0] != 1 || got[1] != 2 || got[2] != 1 || got[3] != 2 {
		t.Error("counts", got)
	}
	for _, shape := range [][]int{{0}, {2, 0}, {}} {
		x := Zeros(shape...)
		values, inverse, counts := x.Unique()
		n := min(x.Size(), 1)
		if values.Size() != n || counts.Size() != n || !equalInts(inverse.Shape(), shape) {
			t.Errorf("unique of %v has shapes %v, %v, %v", shape, values.Shape(), inverse.Shape(), counts.Shape())
		}
	}
}

func equalInts(a, b []int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// Rows of evenly spaced elements, and almost such, with many values for each: the places that
// sort.Search finds.
func TestSearchInEvenRows(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	rows := map[string][]float64{"even": nil, "doubled": nil, "bent": nil, "zeros": {-2, -1, math.Copysign(0, -1), 0, 0, 1, 2, 3}, "infinite": {-inf, -1, 0, 1, 2, 3, 4, inf}, "nan": {0, 1, 2, 3, 4, 5, 6, nan}}
	for i := range 64 {
		rows["even"] = append(rows["even"], -1+float64(i)/32)
		rows["doubled"] = append(rows["doubled"], float64(i/2))
		rows["bent"] = append(rows["bent"], float64(i*i*i))
	}
	r := rand.New(rand.NewPCG(1, 2))
	for name, row := range rows {
		values := []float64{nan, -nan, inf, -inf, 0, math.Copysign(0, -1), -1e300, 1e300}
		for len(values) < 4*len(row)+100 {
			lo, hi := row[1], row[len(row)-2]
			values = append(values, lo-1+r.Float64()*(hi-lo+2), row[r.IntN(len(row))])
		}
		for _, d := range []DType{Float32, Float64} {
			// As the rounded elements have it.
			row, values := Data[float64](FromSlice(row).To(d).To(Float64)), Data[float64](FromSlice(values).To(d).To(Float64))
			for _, right := range []bool{false, true} {
				after := func(x, v float64) bool { // x comes after v, or is it; NaN is last
					if math.IsNaN(v) {
						return math.IsNaN(x) && !right
					}
					return math.IsNaN(x) || x > v || x == v && !right
				}
				both := FromSlice(slices.Concat(row, row)).Reshape(2, len(row)).To(d)
				got := Data[int64](both.SearchSorted(FromSlice(slices.Concat(values, values)).Reshape(2, len(values)).To(d), SearchOpts{Right: right}))
				for i, v := range slices.Concat(values, values) {
					if want := sort.Search(len(row), func(k int) bool { return after(row[k], v) }); got[i] != int64(want) {
						t.Fatalf("%s, %s, right %v: %v (number %d) goes to %d, want %d", name, d, right, v, i, got[i], want)
					}
				}
			}
		}
	}
}
