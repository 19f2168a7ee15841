package signal

import (
	"math"
	"slices"

	"weft"
	"weft/internal/array"
)

// PeakOpts are the conditions of [FindPeaks]. A condition is the least value, or the least and the greatest;
// nil means none. [PeakProminences] reads WLen alone, [PeakWidths] WLen and RelHeight.
type PeakOpts struct {
	Height      []float64 // of the peak
	Threshold   []float64 // how far it is above its neighbours
	Distance    float64   // least distance of peaks, in samples; the highest stay. 0 means none
	Prominence  []float64
	Width       []float64 // in samples, at RelHeight
	PlateauSize []float64 // samples of equal height
	WLen        int       // samples of the window in which prominences are measured; 0 means all
	RelHeight   *float64  // where widths are measured, as part of the prominence; nil means 0.5
}

// FindPeaks returns the indices, int64, of the peaks of a signal, [n], that meet all conditions. A peak is a sample
// with lower neighbours on both sides, or the middle of several equal ones. It reads x, so it is refused in
// compiled functions. It panics with *[weft.Error] for other shapes, complex numbers, and conditions of more than
// two numbers.
func FindPeaks(x *weft.Tensor, opts ...PeakOpts) *weft.Tensor {
	const name = "signal.find_peaks"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	v := hostRow(name, x)
	for _, c := range []struct {
		arg    string
		limits []float64
	}{{"Height", o.Height}, {"Threshold", o.Threshold}, {"Prominence", o.Prominence}, {"Width", o.Width}, {"PlateauSize", o.PlateauSize}} {
		if len(c.limits) > 2 {
			array.Failf(name, c.arg, "has %d numbers, want the least and the greatest", len(c.limits))
		}
	}
	if o.Distance != 0 && !(o.Distance >= 1) {
		array.Failf(name, "Distance", "is %v, want 1 or more samples", o.Distance)
	}
	peaks, sizes := maxima(v, o.PlateauSize != nil)
	keep := func(limits []float64, f func(i int) (low, high float64)) {
		if limits == nil {
			return
		}
		p := peaks[:0]
		for i := range peaks {
			low, high := f(i)
			if len(limits) > 0 && !(low >= limits[0]) || len(limits) > 1 && !(high <= limits[1]) {
				continue
			}
			p = append(p, peaks[i])
		}
		peaks = p
	}
	same := func(x float64) (float64, float64) { return x, x }
	keep(o.PlateauSize, func(i int) (float64, float64) { return same(float64(sizes[i])) })
	keep(o.Height, func(i int) (float64, float64) { return same(v[peaks[i]]) })
	keep(o.Threshold, func(i int) (float64, float64) {
		a, b := v[peaks[i]]-v[peaks[i]-1], v[peaks[i]]-v[peaks[i]+1]
		return min(a, b), max(a, b)
	})
	if o.Distance > 0 {
		peaks = apart(v, peaks, o.Distance)
	}
	if o.Prominence != nil || o.Width != nil {
		window := windowOf(name, o.WLen)
		keep(o.Prominence, func(i int) (float64, float64) {
			h, _, _ := prominence(v, peaks[i], window)
			return same(h)
		})
		rel := relHeight(name, o.RelHeight)
		keep(o.Width, func(i int) (float64, float64) {
			w, _, _, _ := width(v, peaks[i], window, rel)
			return same(w)
		})
	}
	return indices(x, peaks)
}

// indices returns places as a tensor on the device of x.
func indices(x *weft.Tensor, at []int) *weft.Tensor {
	out := make([]int64, len(at))
	for i, p := range at {
		out[i] = int64(p)
	}
	return weft.FromSlice(out, len(at)).On(x.Device())
}

// hostRow reads a signal.
func hostRow(name string, x *weft.Tensor) []float64 {
	x = numbers(name, "x", x)
	if x.Rank() != 1 || x.DType().Complex() {
		array.Failf(name, "x", "is %s, want real numbers along one axis", array.TypeString(x.DType(), x.Shape()))
	}
	return weft.Data[float64](x.Detach().To(weft.Float64).Contiguous())
}

// maxima are the peaks, and, if asked for, the numbers of equal samples that make each.
func maxima(v []float64, sized bool) (peaks, sizes []int) {
	peaks = make([]int, 0, len(v)/3+1) // noise has one in three
	for i := 1; i < len(v)-1; {
		if !(v[i-1] < v[i]) {
			i++
			continue
		}
		end := i + 1
		for end < len(v)-1 && v[end] == v[i] {
			end++
		}
		if v[end] < v[i] {
			peaks = append(peaks, (i+end-1)/2)
			if sized {
				sizes = append(sizes, end-i)
			}
		}
		i = end
	}
	return peaks, sizes
}

// apart removes peaks that are nearer than distance to higher ones, or to later ones of equal height.
func apart(v []float64, peaks []int, distance float64) []int {
	d := int(math.Ceil(min(distance, float64(len(v))+1)))
	heights := make([]float64, len(peaks))
	for i, p := range peaks {
		heights[i] = v[p] + 0 // zeros of both signs are equal
	}
	_, order := weft.FromSlice(heights, len(heights)).Sort(0)
	gone := make([]bool, len(peaks))
	for _, o := range slices.Backward(weft.Data[int64](order)) {
		i := int(o)
		if gone[i] {
			continue
		}
		for k := i - 1; k >= 0 && peaks[i]-peaks[k] < d; k-- {
			gone[k] = true
		}
		for k := i + 1; k < len(peaks) && peaks[k]-peaks[i] < d; k++ {
			gone[k] = true
		}
	}
	var out []int
	for i, p := range peaks {
		if !gone[i] {
			out = append(out, p)
		}
	}
	return out
}

func windowOf(name string, wlen int) int {
	if wlen < 0 || wlen == 1 {
		array.Failf(name, "WLen", "is %d, want 2 or more samples, or 0 for all", wlen)
	}
	return wlen
}

func relHeight(name string, rel *float64) float64 {
	r := array.Or(rel, 0.5)
	if !(r >= 0) {
		array.Failf(name, "RelHeight", "is %v, want 0 or more", r)
	}
	return r
}

// prominence is how far peak p is above the higher of the lowest samples on its two sides, before a higher
// sample or the end of the window, and where these are.
func prominence(v []float64, p, window int) (height float64, left, right int) {
	lo, hi := 0, len(v)-1
	if window > 0 {
		lo, hi = max(p-window/2, 0), min(p+window/2, len(v)-1)
	}
	left, right = p, p
	for i := p; i >= lo && v[i] <= v[p]; i-- {
		if v[i] < v[left] {
			left = i
		}
	}
	for i := p; i <= hi && v[i] <= v[p]; i++ {
		if v[i] < v[right] {
			right = i
		}
	}
	return v[p] - max(v[left], v[right]), left, right
}

// width is the width of peak p at a part of its prominence below it, the height there, and both ends.
func width(v []float64, p, window int, rel float64) (w, height, left, right float64) {
	prom, lo, hi := prominence(v, p, window)
	height = v[p] - float64(prom*rel)
	i := p
	for lo < i && height < v[i] {
		i--
	}
	left = float64(i)
	if v[i] < height {
		left += (height - v[i]) / (v[i+1] - v[i])
	}
	i = p
	for i < hi && height < v[i] {
		i++
	}
	right = float64(i)
	if v[i] < height {
		right -= (height - v[i]) / (v[i-1] - v[i])
	}
	return right - left, height, left, right
}

// PeakProminences returns how far the peaks of a signal, [n], are above their surroundings, float64, and the
// indices of the lowest samples to the left and the right of each, int64. peaks are indices, as [FindPeaks]
// returns them. It reads both arguments: results have no gradient. It panics with *[weft.Error] for other shapes and indices out of range.
func PeakProminences(x, peaks *weft.Tensor, opts ...PeakOpts) (prominences, left, right *weft.Tensor) {
	const name = "signal.peak_prominences"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	v := hostRow(name, x)
	at := hostIndices(name, peaks, len(v))
	window := windowOf(name, o.WLen)
	heights, l, r := make([]float64, len(at)), make([]int, len(at)), make([]int, len(at))
	for i, p := range at {
		heights[i], l[i], r[i] = prominence(v, p, window)
	}
	return weft.FromSlice(heights, len(at)).On(x.Device()), indices(x, l), indices(x, r)
}

// PeakWidths returns the widths of the peaks of a signal, [n], the heights at which they are measured, and
// where the signal crosses those heights, all float64. peaks are indices, as [FindPeaks] returns them.
// Results have no gradient. It panics as [PeakProminences] does.
func PeakWidths(x, peaks *weft.Tensor, opts ...PeakOpts) (widths, heights, left, right *weft.Tensor) {
	const name = "signal.peak_widths"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	v := hostRow(name, x)
	at := hostIndices(name, peaks, len(v))
	window, rel := windowOf(name, o.WLen), relHeight(name, o.RelHeight)
	var out [4][]float64
	for _, p := range at {
		w, h, l, r := width(v, p, window, rel)
		for i, f := range []float64{w, h, l, r} {
			out[i] = append(out[i], f)
		}
	}
	t := func(i int) *weft.Tensor { return weft.FromSlice(out[i], len(at)).On(x.Device()) }
	return t(0), t(1), t(2), t(3)
}

func hostIndices(name string, peaks *weft.Tensor, n int) []int {
	checked := numbers(name, "peaks", peaks)
	if !peaks.DType().Integer() || checked.Rank() != 1 {
		array.Failf(name, "peaks", "is %s, want integers along one axis", array.TypeString(peaks.DType(), peaks.Shape()))
	}
	var out []int
	for i, p := range weft.Data[int64](peaks.To(weft.Int64).Contiguous()) {
		if p < 0 || p >= int64(n) {
			array.Failf(name, "peaks", "has %d at index %d, want 0 to %d", p, i, n-1)
		}
		out = append(out, int(p))
	}
	return out
}
