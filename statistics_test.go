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

// The first of long rows, of which few are wanted: those of a stable sort, with equal elements,
// zeros of both signs, infinities and NaN at random, ascending, and all the same.
func TestTopKOfLongRows(t *testing.T) {
	const rows, n = 3, 5000
	r := rand.New(rand.NewPCG(5, 6))
	special := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 7, -7}
	makes := map[string]func(i int) float64{
		"many":       func(int) float64 { return r.NormFloat64() },
		"few":        func(int) float64 { return float64(r.IntN(40) - 20) },
		"ascending":  func(i int) float64 { return float64(i) },
		"descending": func(i int) float64 { return float64(-i) },
		"equal":      func(int) float64 { return 3 },
		"special": func(int) float64 {
			if r.IntN(50) == 0 {
				return special[r.IntN(len(special))]
			}
			return r.Float64()
		},
		"nan": func(i int) float64 {
			if i%3 > 0 {
				return math.NaN()
			}
			return r.Float64()
		},
	}
	before := func(a, b float64) int { // NaN is the greatest
		switch {
		case a < b || !math.IsNaN(a) && math.IsNaN(b):
			return -1
		case a > b || math.IsNaN(a) && !math.IsNaN(b):
			return 1
		}
		return 0
	}
	for name, next := range makes {
		for _, d := range []DType{Float32, Float64, Float16, Int16, Int64} {
			if d.Integer() && (name == "special" || name == "nan" || name == "many") {
				continue
			}
			x := make([]float64, rows*n)
			for i := range x {
				x[i] = next(i % n)
			}
			full := FromSlice(x).Reshape(rows, n).To(d)
			x = Data[float64](full.To(Float64))
			order := map[bool][rows][]int{} // of all elements of a row, with the least first or the greatest
			for _, smallest := range []bool{false, true} {
				var of [rows][]int
				for u := range rows {
					of[u] = sorted(x[u*n:(u+1)*n], func(a, b float64) int {
						if smallest {
							return before(a, b)
						}
						return before(b, a)
					})
				}
				order[smallest] = of
			}
			for _, k := range []int{1, 7, 100, 300} {
				for _, smallest := range []bool{false, true} {
					for _, axis := range []int{0, 1} {
						in := full
						if axis == 0 {
							in = full.T()
						}
						values, index := in.TopK(k, axis, TopKOpts{Smallest: smallest})
						if axis == 0 {
							values, index = values.T(), index.T()
						}
						got, places := Data[float64](values.To(Float64)), Data[int64](index)
						for u := range rows {
							row, want := x[u*n:(u+1)*n], order[smallest][u]
							for i := range k {
								if p := places[u*k+i]; int(p) != want[i] || math.Float64bits(got[u*k+i]) != math.Float64bits(row[p]) {
									t.Fatalf("%s %s, k %d, smallest %v, axis %d, row %d: number %d is %v at %d, want %v at %d",
										name, d, k, smallest, axis, u, i, got[u*k+i], p, row[want[i]], want[i])
								}
							}
						}
					}
				}
			}
		}
	}
}

// sorted returns the places of the elements in order, equal ones as they stand.
func sorted(row []float64, compare func(a, b float64) int) []int {
	places := make([]int, len(row))
	for i := range places {
		places[i] = i
	}
	slices.SortStableFunc(places, func(a, b int) int { return compare(row[a], row[b]) })
	return places
}
