package signal

import (
	"math"

	"weft"
	"weft/internal/array"
	"weft/special"
)

// WindowOpts are the options of [GetWindow]. A window ignores parameters of others.
type WindowOpts struct {
	Sym   bool     // symmetric, for filters; else periodic, for spectra
	Beta  *float64 // of "kaiser", which needs it
	Std   *float64 // of "gaussian", which needs it: more than 0 samples
	Alpha *float64 // of "tukey": the part of the window that is tapered; nil means 0.5
}

// cosines are the coefficients of windows that are sums of cosines.
var cosines = map[string][]float64{
	"hann":           {0.5, 0.5},
	"hamming":        {0.54, 0.46},
	"blackman":       {0.42, 0.5, 0.08},
	"nuttall":        {0.3635819, 0.4891775, 0.1365995, 0.0106411},
	"blackmanharris": {0.35875, 0.48829, 0.14128, 0.01168},
	"flattop":        {0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368},
}

// GetWindow returns a window of n samples, [n], float64. Its name is that of SciPy's function in
// scipy.signal.windows: "hann", "hamming", "blackman", "nuttall", "blackmanharris", "flattop", "boxcar",
// "bartlett", "triang", "cosine", "kaiser", "gaussian" or "tukey". It panics with *[weft.Error] for unknown
// names, n below 1, and where a parameter is missing or not finite.
func GetWindow(window string, n int, opts ...WindowOpts) *weft.Tensor {
	const name = "signal.get_window"
	defer array.Named(name).End()
	return windowSamples(name, "window", window, n, array.Options(name, opts))
}

// windowSamples is GetWindow for a function and an argument of other names.
func windowSamples(name, arg, window string, n int, o WindowOpts) *weft.Tensor {
	if n < 1 {
		array.Failf(name, "n", "is %d, want 1 or more samples", n)
	}
	array.CheckShape(name, []int{n, 2}, weft.Float64)
	m := n
	if !o.Sym {
		m++
	}
	if n == 1 {
		windowSamples(name, arg, window, 2, o) // for its errors
		return weft.OnesOf(weft.Float64, 1)
	}
	at := weft.ArangeOf[int](weft.Float64, m)
	middle := at.Sub(float64(m-1) / 2)
	var w *weft.Tensor
	switch window {
	case "boxcar":
		w = weft.OnesOf(weft.Float64, m)
	case "bartlett":
		w = middle.Abs().Mul(-2 / float64(m-1)).Add(1)
	case "triang":
		d := float64(m + m%2)
		if m%2 == 0 {
			w = middle.Abs().Mul(-2 / d).Add(1)
		} else {
			w = middle.Abs().Mul(-2 / float64(m+1)).Add(1)
		}
	case "cosine":
		w = at.Add(0.5).Mul(math.Pi / float64(m)).Sin()
	case "kaiser":
		beta := parameter(name, "Beta", o.Beta)
		r := middle.Mul(2 / float64(m-1)).Square().Mul(-1).Add(1)
		r = r.Maximum(0).Sqrt()
		if math.Abs(beta) < 700 {
			w = special.I0(r.Mul(beta)).Div(special.I0(weft.FullOf(weft.Float64, beta)))
		} else { // I0 overflows
			w = special.I0e(r.Mul(beta)).Div(special.I0e(weft.FullOf(weft.Float64, beta))).Mul(r.Sub(1).Mul(math.Abs(beta)).Exp())
		}
	case "gaussian":
		std := parameter(name, "Std", o.Std)
		if std <= 0 {
			array.Failf(name, "Std", "is %v, want more than 0 samples", std)
		}
		w = middle.Div(std).Square().Mul(-0.5).Exp()
	case "tukey":
		w = tukey(name, at, m, o)
	default:
		a := cosines[window]
		if a == nil {
			array.Failf(name, arg, "is %q, which is not the name of a window", window)
		}
		phase := middle.Mul(2 * math.Pi / float64(m-1))
		w = weft.FullOf(weft.Float64, a[0], m)
		for k, c := range a[1:] {
			w = w.Add(phase.Mul(float64(k + 1)).Cos().Mul(c))
		}
	}
	return part(w, 0, 0, n).Contiguous()
}

// tukey is ones between halves of a cosine.
func tukey(name string, at *weft.Tensor, m int, o WindowOpts) *weft.Tensor {
	if o.Alpha == nil {
		o.Alpha = new(0.5)
	}
	alpha := min(max(parameter(name, "Alpha", o.Alpha), 0), 1)
	if alpha == 0 {
		return weft.OnesOf(weft.Float64, m)
	}
	// The distance to the nearer end, in units of the tapered part.
	d := at.Minimum(at.Mul(-1).Add(float64(m - 1))).Mul(min(2/(alpha*float64(m-1)), math.MaxFloat64)).Minimum(1)
	return d.Sub(1).Mul(math.Pi).Cos().Add(1).Mul(0.5)
}

// parameter is a number that a window needs.
func parameter(name, arg string, x *float64) float64 {
	if x == nil || *x-*x != 0 {
		array.Failf(name, arg, "is %v, want a finite number", array.Or(x, math.NaN()))
	}
	return *x
}
