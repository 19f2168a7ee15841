package cudart_test

import (
	"testing"

	"weft"
	"weft/internal/ptxsim"
)

// Sorts, selections and searches run on the GPU, and have the CPU's bits.
func TestSortsAsOnCPU(t *testing.T) {
	gpu, d := simulated(t, ptxsim.Options{Seed: 7})
	x := weft.Arange(0, 6*50, 1).Mul(0.37).Sin().Mul(9).Round().Reshape(6, 50)
	both := func(values, places *weft.Tensor) *weft.Tensor { return values.Add(places.To(values.DType()).Mul(100)) }
	for name, f := range map[string]func(x *weft.Tensor) *weft.Tensor{
		"sort":       func(x *weft.Tensor) *weft.Tensor { return both(x.Sort(1)) },
		"descending": func(x *weft.Tensor) *weft.Tensor { return both(x.Sort(0, weft.SortOpts{Descending: true})) },
		"part":       func(x *weft.Tensor) *weft.Tensor { return both(x.Reshape(300).Slice(weft.Range(1, 260)).Sort(0)) },
		"top":        func(x *weft.Tensor) *weft.Tensor { return both(x.TopK(7, 1)) },
		"kth":        func(x *weft.Tensor) *weft.Tensor { return both(x.KthValue(3, 0)) },
		"median":     func(x *weft.Tensor) *weft.Tensor { return x.Median(1) },
		"unique": func(x *weft.Tensor) *weft.Tensor {
			values, inverse, _ := x.Unique()
			return values.IndexSelect(0, inverse.Reshape(300)).Add(inverse.Reshape(300).To(x.DType()))
		},
		"search": func(x *weft.Tensor) *weft.Tensor {
			rows, _ := x.Sort(1)
			return rows.SearchSorted(x.Mul(0.5))
		},
	} {
		for _, dt := range []weft.DType{weft.Float32, weft.Float64, weft.Int32, weft.BFloat16} {
			if name == "median" && dt == weft.Int32 {
				continue
			}
			y := x.To(dt)
			if w, g := weft.Digest(f(y)), weft.Digest(f(on(y, gpu))); w != g {
				t.Errorf("%s of %s: digest %v, want %v", name, dt, g, w)
			}
		}
	}
	if n := d.Counters().Fallbacks.Load(); n != 0 {
		t.Errorf("%d routines ran on the host", n)
	}
}
