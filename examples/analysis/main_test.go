package main

import (
	"math"
	"slices"
	"testing"

	"weft"
)

// What the program prints, column by column in plain Go.
func TestAnalysis(t *testing.T) {
	city, km, fare := Table(1)
	cs, ks, fs := weft.Data[int64](city), weft.Data[float64](km), weft.Data[float64](fare)
	var counts [5]int64
	var sums [5]float64
	for i, c := range cs {
		counts[c]++
		sums[c] += fs[i]
	}
	keys, group, n := city.Unique()
	total := weft.ZerosOf(weft.Float64, keys.Size()).IndexAdd(0, group, fare)
	for c := range counts {
		if n.At(c).ItemInt() != counts[c] || math.Abs(total.At(c).Item()-sums[c]) > 1e-8*sums[c] {
			t.Errorf("city %d: %v rides of %v, want %d of %v", c, n.At(c), total.At(c), counts[c], sums[c])
		}
	}
	sorted := slices.Sorted(slices.Values(ks))
	for _, q := range []float64{0.25, 0.5, 0.75} {
		at := q * float64(rides-1)
		lo := math.Floor(at)
		want := sorted[int(lo)] + (at-lo)*(sorted[int(lo)+1]-sorted[int(lo)])
		if got := km.Quantile(q).Item(); math.Abs(got-want) > 1e-12 {
			t.Errorf("quantile %v is %v, want %v", q, got, want)
		}
	}
	bins, _ := km.Histogram(weft.HistogramOpts{Bins: new(8), Min: new(0.0), Max: new(16.0)})
	var want [8]float64
	for _, k := range ks {
		if i := int(k / 2); i < 8 {
			want[i]++
		}
	}
	for i := range want {
		if bins.At(i).Item() != want[i] {
			t.Errorf("bin %d has %v, want %v", i, bins.At(i), want[i])
		}
	}
}
