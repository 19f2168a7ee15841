package signal

import (
	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/linalg"
)

// SavgolOpts are the options of [SavgolCoeffs] and [SavgolFilter].
type SavgolOpts struct {
	Deriv int      // which derivative of the polynomial is the result
	Delta *float64 // spacing of the samples; nil means 1
	Pos   *int     // of SavgolCoeffs: the sample of the window at which the polynomial is evaluated; nil means the middle
	Axis  *int     // of SavgolFilter; nil means the last one
	// Mode of SavgolFilter says what is at the ends: "interp", the default, evaluates the polynomials of
	// the first and the last window; "mirror", "nearest", "wrap" and "constant" continue the signal.
	Mode string
}

// SavgolCoeffs returns the coefficients, [window], float64, of the filter that fits polynomials of degree
// polyorder to windows of samples, in the order of [Convolve]. It panics with *[weft.Error] for windows that
// are even or not longer than the degree, and options out of range.
func SavgolCoeffs(window, polyorder int, opts ...SavgolOpts) *weft.Tensor {
	const name = "signal.savgol_coeffs"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	checkWindow(name, window, polyorder, o)
	pos := array.Or(o.Pos, window/2)
	if pos < 0 || pos >= window {
		array.Failf(name, "Pos", "is %d, want 0 to %d", pos, window-1)
	}
	return weights(window, polyorder, o, pos).Squeeze(1).Flip(0)
}

func checkWindow(name string, window, polyorder int, o SavgolOpts) {
	if window < 1 || window%2 == 0 || window > 1<<20 {
		array.Failf(name, "window", "is %d, want an odd number from 1 on", window)
	}
	if polyorder < 0 || polyorder >= window {
		array.Failf(name, "polyorder", "is %d, want 0 to %d", polyorder, window-1)
	}
	if o.Deriv < 0 {
		array.Failf(name, "Deriv", "is %d, want 0 or more", o.Deriv)
	}
	if d := array.Or(o.Delta, 1); d == 0 || d-d != 0 {
		array.Failf(name, "Delta", "is %v, want a finite number other than 0", d)
	}
}

// weights are the factors of the samples of a window whose sums are the polynomial, or its derivative, at
// samples: [window samples]. Distances are in halves of the window, so that their powers do not exceed 1.
func weights(window, polyorder int, o SavgolOpts, samples ...int) *weft.Tensor {
	if o.Deriv > polyorder {
		return weft.ZerosOf(weft.Float64, window, len(samples))
	}
	half := max(float64(window/2), 1)
	powers := make([]float64, core.CheckHeap("signal.savgol_coeffs", (polyorder+1)*window, weft.Float64))
	want := make([]float64, (polyorder+1)*len(samples))
	for i := range window {
		p := 1.0
		for k := range polyorder + 1 {
			powers[k*window+i] = p
			p *= (float64(i) - float64(window/2)) / half
		}
	}
	factor := 1.0 // of derivatives with respect to distances
	for range o.Deriv {
		factor /= half * array.Or(o.Delta, 1)
	}
	for i, at := range samples {
		p := factor
		for k := o.Deriv; k <= polyorder; k++ {
			v := p
			for d := range o.Deriv {
				v *= float64(k - d)
			}
			want[k*len(samples)+i] = v
			p *= (float64(at) - float64(window/2)) / half
		}
	}
	w, _, _, _ := linalg.LstSq(weft.FromSlice(powers, polyorder+1, window), weft.FromSlice(want, polyorder+1, len(samples)))
	return w
}

// SavgolFilter smooths x along an axis: it fits polynomials of degree polyorder to windows of samples, by
// least squares, and gives their values, or derivatives, at the middle. It panics with *[weft.Error] as
// [SavgolCoeffs] does, for unknown modes, and where interp has fewer samples than a window.
func SavgolFilter(x *weft.Tensor, window, polyorder int, opts ...SavgolOpts) *weft.Tensor {
	const name = "signal.savgol_filter"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	checkWindow(name, window, polyorder, o)
	x, axis := signalOf(name, "x", x, o.Axis)
	x = x.MoveAxis(axis, -1)
	n, last, half := x.Dim(-1), x.Rank()-1, window/2
	as := func(w *weft.Tensor) *weft.Tensor { return w.To(x.DType()).On(x.Device()) }
	pads := make([]int, 2*x.Rank())
	pads[2*last], pads[2*last+1] = half, half
	var before, behind *weft.Tensor
	switch o.Mode {
	case "", "interp":
		if n < window {
			array.Failf(name, "x", "has %s, fewer than the window of %d", array.Count(n, "sample"), window)
		}
		var ends []int
		for i := range window {
			if i != half {
				ends = append(ends, i)
			}
		}
		if half > 0 {
			e := as(weights(window, polyorder, o, ends...)) // [window, 2*half]
			before = part(x, last, 0, window).Unsqueeze(-2).MatMul(part(e, 1, 0, half)).Squeeze(-2)
			behind = part(x, last, n-window, n).Unsqueeze(-2).MatMul(part(e, 1, half, 2*half)).Squeeze(-2)
		}
	case "mirror":
		x = x.PadMode("reflect", pads)
	case "nearest":
		x = x.PadMode("edge", pads)
	case "wrap":
		x = x.PadMode("wrap", pads)
	case "constant":
		x = x.Pad(0, pads...)
	default:
		array.Failf(name, "Mode", "is %q, want interp, mirror, nearest, wrap or constant", o.Mode)
	}
	y := summed(x, as(weights(window, polyorder, o, half).Squeeze(1)))
	if before != nil {
		y = weft.Cat([]*weft.Tensor{before, y, behind}, last)
	}
	return y.MoveAxis(-1, axis)
}
