package weft

import (
	"math"
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
