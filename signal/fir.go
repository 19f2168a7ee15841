package signal

import (
	"math"

	"weft"
	"weft/internal/array"
	"weft/ndimage"
)

// FirWinOpts are the options of [FirWin].
type FirWinOpts struct {
	BType  BType    // empty means LowPass, or BandStop for two frequencies, as in SciPy
	Window string   // a name of [GetWindow]; empty means "hamming"
	Beta   *float64 // of "kaiser", which needs it
	// NoScale leaves the coefficients as the window makes them. Else the gain is 1 at frequency 0, for HighPass
	// at half of the sampling rate, for BandPass in the middle of the band.
	NoScale bool
	FS      *float64 // sampling rate, the unit of frequencies; nil means 2
}

// FirWin designs a filter of n coefficients, [n], float64, by the window method: an ideal filter with the
// cutoff frequencies wn, one or, for bands, two, times a window. It panics with *[weft.Error] for n below 1,
// frequencies that do not ascend between 0 and half of the sampling rate, and even n for filters that pass
// half of the sampling rate. Source: Oppenheim and Schafer, "Discrete-Time Signal Processing", 3rd edition,
// section 7.5.
func FirWin(n int, wn []float64, opts ...FirWinOpts) *weft.Tensor {
	const name = "signal.firwin"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	if n < 1 || n > 1<<30 {
		array.Failf(name, "n", "is %d, want 1 or more coefficients", n)
	}
	if o.BType == "" && len(wn) == 2 {
		o.BType = BandStop
	}
	band := checkBand(name, wn, IIROpts{BType: o.BType, FS: o.FS}).BType
	if o.Window == "" {
		o.Window = "hamming"
	}
	var edges []float64 // of the bands that pass, in pairs, in units of half of the sampling rate
	if band == LowPass || band == BandStop {
		edges = append(edges, 0)
	}
	for _, w := range wn {
		edges = append(edges, w/(array.Or(o.FS, 2)/2))
	}
	if len(edges)%2 == 1 {
		if n%2 == 0 {
			array.Failf(name, "n", "is %d, want an odd number: %s passes half of the sampling rate", n, string(band))
		}
		edges = append(edges, 1)
	}
	at := weft.ArangeOf[int](weft.Float64, n).Sub(float64(n-1) / 2)
	h := weft.ZerosOf(weft.Float64, n)
	for i := 0; i < len(edges); i += 2 {
		h = h.Add(sinc(at, edges[i+1])).Sub(sinc(at, edges[i]))
	}
	h = h.Mul(GetWindow(o.Window, n, WindowOpts{Sym: true, Beta: o.Beta}))
	if o.NoScale {
		return h
	}
	middle := (edges[0] + edges[1]) / 2
	if edges[0] == 0 {
		middle = 0
	} else if edges[1] == 1 {
		middle = 1
	}
	return h.Div(h.Mul(at.Mul(math.Pi * middle).Cos()).Sum())
}

// sinc is sin(pi*f*x)/(pi*x), and f at 0.
func sinc(x *weft.Tensor, f float64) *weft.Tensor {
	zero := x.Eq(0)
	safe := weft.Where(zero, weft.OnesLike(x), x)
	return weft.Where(zero, weft.FullOf(weft.Float64, f), safe.Mul(math.Pi*f).Sin().Div(safe.Mul(math.Pi)))
}

// UpFirDnOpts are the options of [UpFirDn].
type UpFirDnOpts struct {
	Up   *int // zeros go between samples, so that there are Up times as many; nil means 1
	Down *int // each of Down samples of the result is computed; nil means 1
	Axis *int // nil means the last one
}

// UpFirDn puts zeros between the samples of x along an axis, convolves with the coefficients h, [m], and takes
// each of some samples: ((n-1)*Up+m-1)/Down + 1 of n. It panics with *[weft.Error] for other shapes, rates
// below 1, and axes out of range or without samples.
func UpFirDn(h, x *weft.Tensor, opts ...UpFirDnOpts) *weft.Tensor {
	const name = "signal.upfirdn"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	up, down := array.Or(o.Up, 1), array.Or(o.Down, 1)
	checkRates(name, "Up", "Down", up, down)
	c := meet(vectorOf(name, "h", h), samples(name, x, o.Axis))
	axis := array.Axis(name, array.Or(o.Axis, -1), x.Rank())
	return steps(name, c[0], c[1].MoveAxis(axis, -1), up, down).MoveAxis(-1, axis)
}

func checkRates(name, upName, downName string, up, down int) {
	for arg, v := range map[string]int{upName: up, downName: down} {
		if v < 1 || v > 1<<20 {
			array.Failf(name, arg, "is %d, want a rate from 1 on, at most %d", v, 1<<20)
		}
	}
}

// samples checks that an argument has samples along an axis.
func samples(name string, x *weft.Tensor, at *int) *weft.Tensor {
	x, axis := signalOf(name, "x", x, at)
	if x.Dim(axis) == 0 {
		array.Failf(name, "x", "has shape %s, want samples along axis %d", array.ShapeString(x.Shape()), axis)
	}
	return x
}

// steps is UpFirDn along the last axis. Result up*k+r begins at sample k*down of x for each k, with one phase of the
// coefficients (Vaidyanathan, "Multirate Systems and Filter Banks", section 4.3): a correlation with steps of down
// samples, which has a channel for each r.
func steps(name string, h, x *weft.Tensor, up, down int) *weft.Tensor {
	n, m, last := x.Dim(-1), h.Dim(0), x.Rank()-1
	count := ((n-1)*up + m + down - 1) / down
	per := (m + up - 1) / up // coefficients of a phase
	channels := min(up, count)
	length := per + (channels-1)*down/up
	array.CheckShape(name, []int{channels, length}, weft.Int64)
	at := make([]int64, channels*length)
	for r := range channels {
		for j := range length {
			k := per - 1 - (j - r*down/up)
			i := r*down%up + k*up
			if k < 0 || i < 0 || i >= m {
				i = m // 0
			}
			at[r*length+j] = int64(i)
		}
	}
	w := padded(h, 0, 0, 1).IndexSelect(0, weft.FromSlice(at, len(at)).On(h.Device())).Reshape(channels, length)
	groups := (count + up - 1) / up
	u := padded(x, last, per-1, max(0, (groups-1)*down+length-(n+per-1)))
	y := correlated(u, w, down).Transpose(-1, -2)
	return part(y.Reshape(shapeOf(x.Shape()[:last], y.Dim(-2)*channels)...), last, 0, count)
}

// ResamplePolyOpts are the options of [ResamplePoly].
type ResamplePolyOpts struct {
	Axis   *int         // nil means the last one
	Window *weft.Tensor // coefficients of the filter, [m]; nil means [FirWin] with a Kaiser window of Beta 5
}

// ResamplePoly returns x at up/down of its sampling rate along an axis: it puts zeros between samples, filters,
// and takes each down-th sample, without delay. Samples beyond the ends are 0. n samples become n*up/down, rounded
// up. It panics with *[weft.Error] for rates below 1, and axes out of range or without samples.
func ResamplePoly(x *weft.Tensor, up, down int, opts ...ResamplePolyOpts) *weft.Tensor {
	const name = "signal.resample_poly"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	checkRates(name, "up", "down", up, down)
	x = samples(name, x, o.Axis)
	axis := array.Axis(name, array.Or(o.Axis, -1), x.Rank())
	common := gcd(up, down)
	up, down = up/common, down/common
	if up == 1 && down == 1 {
		return x.Clone()
	}
	var h *weft.Tensor
	if o.Window != nil {
		c := meet(x, vectorOf(name, "Window", o.Window))
		x, h = c[0], c[1]
	} else {
		rate := max(up, down)
		h = FirWin(20*rate+1, []float64{1 / float64(rate)}, FirWinOpts{Window: "kaiser", Beta: new(5.0)}).To(x.DType()).On(x.Device())
	}
	half := (h.Dim(0) - 1) / 2
	x = x.MoveAxis(axis, -1)
	n, last := x.Dim(-1), x.Rank()-1
	out := (n*up + down - 1) / down
	before := down - half%down
	skip := (half + before) / down
	behind := max(0, (out+skip-1)*down+1-((n-1)*up+h.Dim(0)+before))
	y := steps(name, padded(h.Mul(float64(up)), 0, before, behind), x, up, down)
	return part(y, last, skip, skip+out).MoveAxis(-1, axis)
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// DecimateOpts are the options of [Decimate].
type DecimateOpts struct {
	N     *int // order of the filter; nil means 8, for FIR 20*q
	FIR   bool // [FirWin] with a Hamming window instead of [Cheby1]
	Delay bool // filter once, forward; else the result has no delay
	Axis  *int // nil means the last one
}

// Decimate filters x along an axis and takes each q-th sample, n/q rounded up. It panics with *[weft.Error] for
// q below 1, orders out of range, and axes out of range or with too few samples for the filter.
func Decimate(x *weft.Tensor, q int, opts ...DecimateOpts) *weft.Tensor {
	const name = "signal.decimate"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	checkRates(name, "q", "q", q, q)
	x = samples(name, x, o.Axis)
	axis := array.Axis(name, array.Or(o.Axis, -1), x.Rank())
	n := array.Or(o.N, 8)
	if o.FIR {
		n = array.Or(o.N, 20*q)
	}
	if n < 1 || n > 1<<24 || !o.FIR && n > 500 {
		array.Failf(name, "N", "is %d, want an order from 1 on, for recursive filters at most 500", n)
	}
	if q == 1 && o.FIR {
		array.Failf(name, "q", "is 1, want 2 or more for FIR")
	}
	as := func(t *weft.Tensor) *weft.Tensor { return t.To(x.DType()).On(x.Device()) }
	x = x.MoveAxis(axis, -1)
	count, last := (x.Dim(-1)+q-1)/q, x.Rank()-1
	var y *weft.Tensor
	switch {
	case o.FIR && o.Delay:
		h := as(FirWin(n+1, []float64{1 / float64(q)}))
		return part(steps(name, h, x, 1, q), last, 0, count).MoveAxis(-1, axis)
	case o.FIR:
		h := as(FirWin(n+1, []float64{1 / float64(q)}))
		return ResamplePoly(x, 1, q, ResamplePolyOpts{Window: h}).MoveAxis(-1, axis)
	case o.Delay:
		y, _ = SOSFilt(as(Cheby1(n, 0.05, []float64{0.8 / float64(q)}).SOS()), x)
	default:
		y = SOSFiltFilt(as(Cheby1(n, 0.05, []float64{0.8 / float64(q)}).SOS()), x, FiltFiltOpts{PadLen: new(3 * (n + 1))})
	}
	return y.Slice(weft.Ellipsis, weft.Range(0, weft.End, q)).MoveAxis(-1, axis)
}

// MedFilt returns the medians of windows of x, beyond whose edges are zeros: size has an odd number for each
// axis, or one for all; none means 3. It is [ndimage.MedianFilter] with [ndimage.Constant]. The result
// has the type of x, integers too. It panics with *[weft.Error] for other sizes.
func MedFilt(x *weft.Tensor, size ...int) *weft.Tensor {
	const name = "signal.medfilt"
	defer array.Named(name).End()
	numbers(name, "x", x)
	return medians(name, x, size)
}

// MedFilt2D is [MedFilt] of matrices, [n m].
func MedFilt2D(x *weft.Tensor, size ...int) *weft.Tensor {
	const name = "signal.medfilt2d"
	defer array.Named(name).End()
	matrixOf(name, "x", x)
	return medians(name, x, size)
}

func medians(name string, x *weft.Tensor, size []int) *weft.Tensor {
	if len(size) == 0 {
		size = []int{3}
	}
	if len(size) == 1 {
		for len(size) < x.Rank() {
			size = append(size[:len(size):len(size)], size[0])
		}
	}
	if len(size) != x.Rank() {
		array.Failf(name, "size", "has %s, want 1, or as many as x, %s, has axes", array.Count(len(size), "number"), array.ShapeString(x.Shape()))
	}
	for _, s := range size {
		if s < 1 || s%2 == 0 {
			array.Failf(name, "size", "has %d, want odd numbers", s)
		}
	}
	return ndimage.MedianFilter(x, size, ndimage.WindowOpts{Mode: ndimage.Constant})
}
