package signal_test

import (
	"fmt"
	"strings"

	"weft"
	"weft/signal"
)

type computation = func(x []*weft.Tensor) []*weft.Tensor

func first(y, _ *weft.Tensor) []*weft.Tensor { return []*weft.Tensor{y} }
func both(y, z *weft.Tensor) []*weft.Tensor  { return []*weft.Tensor{y, z} }
func only(y *weft.Tensor) []*weft.Tensor     { return []*weft.Tensor{y} }

// computations are what testdata/make.py calls, by the first words of its names.
var computations = map[string]computation{
	"lfilter": func(x []*weft.Tensor) []*weft.Tensor {
		return both(signal.LFilter(x[0], x[1], x[2], signal.FilterOpts{Zi: x[3]}))
	},
	"sosfilt": func(x []*weft.Tensor) []*weft.Tensor {
		return both(signal.SOSFilt(x[0], x[1], signal.FilterOpts{Zi: x[2]}))
	},
	"lfilter_zi": func(x []*weft.Tensor) []*weft.Tensor { return only(signal.LFilterZi(x[0], x[1])) },
	"sosfilt_zi": func(x []*weft.Tensor) []*weft.Tensor { return only(signal.SOSFiltZi(x[0])) },
	"lfilter_axis": func(x []*weft.Tensor) []*weft.Tensor {
		return first(signal.LFilter(x[0], x[1], x[2], signal.FilterOpts{Axis: new(0)}))
	},
	"sosfilt_axis": func(x []*weft.Tensor) []*weft.Tensor {
		return first(signal.SOSFilt(x[0], x[1], signal.FilterOpts{Axis: new(-2)}))
	},
	"sosfiltfilt_axis": func(x []*weft.Tensor) []*weft.Tensor {
		return only(signal.SOSFiltFilt(x[0], x[1], signal.FiltFiltOpts{Axis: new(0)}))
	},
}

func init() {
	for _, pad := range []string{"odd", "even", "constant"} {
		o := signal.FiltFiltOpts{PadType: pad}
		computations["filtfilt_"+pad] = func(x []*weft.Tensor) []*weft.Tensor { return only(signal.FiltFilt(x[0], x[1], x[2], o)) }
		computations["sosfiltfilt_"+pad] = func(x []*weft.Tensor) []*weft.Tensor { return only(signal.SOSFiltFilt(x[0], x[1], o)) }
	}
	for _, mode := range []signal.Mode{signal.Full, signal.Same, signal.Valid} {
		o := signal.ConvolveOpts{Mode: mode}
		for name, f := range map[string]func(a, b *weft.Tensor, opts ...signal.ConvolveOpts) *weft.Tensor{"convolve": signal.Convolve, "correlate": signal.Correlate} {
			computations[name+"_"+string(mode)] = func(x []*weft.Tensor) []*weft.Tensor { return only(f(x[0], x[1], o)) }
		}
	}
}

// computationOf is the computation whose name a name begins with, the longest one.
func computationOf(name string) (f computation, grad bool) {
	grad = strings.Contains(name, "_grad")
	length := 0
	for prefix, c := range computations {
		if strings.HasPrefix(name, prefix) && len(prefix) > length {
			f, length = c, len(prefix)
		}
	}
	return f, grad
}

var designs = map[string]func(n int, wn []float64, o signal.IIROpts) signal.ZPK{
	"butter": func(n int, wn []float64, o signal.IIROpts) signal.ZPK { return signal.Butter(n, wn, o) },
	"cheby1": func(n int, wn []float64, o signal.IIROpts) signal.ZPK { return signal.Cheby1(n, 1, wn, o) },
	"cheby2": func(n int, wn []float64, o signal.IIROpts) signal.ZPK { return signal.Cheby2(n, 40, wn, o) },
}

func init() {
	for n := range 9 {
		for _, w := range []string{"hann", "hamming", "blackman", "nuttall", "blackmanharris", "flattop", "boxcar", "bartlett", "triang", "cosine", "tukey", "kaiser", "gaussian"} {
			for sym := range 2 {
				computations[fmt.Sprintf("window_%s_%d_%d", w, n, sym)] = func([]*weft.Tensor) []*weft.Tensor {
					return only(signal.GetWindow(w, n, signal.WindowOpts{Sym: sym == 1, Beta: new(8.6), Std: new(2.5)}))
				}
			}
		}
		for d, f := range designs {
			for b, wn := range map[signal.BType][]float64{signal.LowPass: {0.2}, signal.HighPass: {0.3}, signal.BandPass: {0.2, 0.4}, signal.BandStop: {0.25, 0.5}} {
				computations[fmt.Sprintf("design_%s_%d_%s", d, n, b)] = func([]*weft.Tensor) []*weft.Tensor {
					zpk := f(n, wn, signal.IIROpts{BType: b})
					return append(both(zpk.TF()), zpk.SOS())
				}
			}
		}
	}
	for name, o := range map[string]signal.PeakOpts{"height": {Height: []float64{-1, 3}}, "threshold": {Threshold: []float64{0.4}}, "distance": {Distance: 5}, "prominence": {Prominence: []float64{1.1}}, "width": {Width: []float64{2, 9}}} {
		computations["peaks_"+name] = func(x []*weft.Tensor) []*weft.Tensor { return only(signal.FindPeaks(x[0], o)) }
	}
	computations["peaks_plateau"] = func(x []*weft.Tensor) []*weft.Tensor {
		return only(signal.FindPeaks(x[0].Round(), signal.PeakOpts{PlateauSize: []float64{2}}))
	}
	computations["peaks"] = func(x []*weft.Tensor) []*weft.Tensor {
		p := signal.FindPeaks(x[0])
		h, l, r := signal.PeakProminences(x[0], p)
		w, wh, wl, wr := signal.PeakWidths(x[0], p)
		return []*weft.Tensor{p, h, l, r, w, wh, wl, wr}
	}
	computations["savgol_coeffs"] = func([]*weft.Tensor) []*weft.Tensor {
		return []*weft.Tensor{signal.SavgolCoeffs(7, 2), signal.SavgolCoeffs(5, 3, signal.SavgolOpts{Deriv: 1, Delta: new(0.5)}), signal.SavgolCoeffs(9, 4, signal.SavgolOpts{Pos: new(1)})}
	}
	for _, mode := range []string{"interp", "mirror", "nearest", "wrap", "constant"} {
		computations["savgol_"+mode] = func(x []*weft.Tensor) []*weft.Tensor {
			return only(signal.SavgolFilter(x[0], 7, 3, signal.SavgolOpts{Mode: mode}))
		}
	}
	computations["savgol_deriv"] = func(x []*weft.Tensor) []*weft.Tensor {
		return only(signal.SavgolFilter(x[0], 5, 2, signal.SavgolOpts{Deriv: 1, Delta: new(0.5), Axis: new(0)}))
	}
	for _, mode := range []signal.Mode{signal.Full, signal.Same, signal.Valid} {
		o := signal.ConvolveOpts{Mode: mode}
		computations["twod_"+string(mode)] = func(x []*weft.Tensor) []*weft.Tensor {
			return []*weft.Tensor{signal.Convolve2D(x[0], x[1], o), signal.Correlate2D(x[0], x[1], o), signal.FFTConvolve(x[0], x[1], o)}
		}
	}
	computations["welch"] = func(x []*weft.Tensor) []*weft.Tensor {
		return both(signal.Welch(x[0], signal.SpectrumOpts{FS: new(4.0), NPerSeg: 16}))
	}
	computations["periodogram"] = func(x []*weft.Tensor) []*weft.Tensor {
		return both(signal.Periodogram(x[0], signal.SpectrumOpts{Window: "hamming", Scaling: "spectrum"}))
	}
	computations["csd"] = func(x []*weft.Tensor) []*weft.Tensor {
		return both(signal.CSD(x[0], x[1], signal.SpectrumOpts{NPerSeg: 15, NOverlap: new(4)}))
	}
	computations["coherence"] = func(x []*weft.Tensor) []*weft.Tensor {
		return both(signal.Coherence(x[0], x[1], signal.SpectrumOpts{NPerSeg: 16}))
	}
	computations["spectrogram"] = func(x []*weft.Tensor) []*weft.Tensor {
		f, t, p := signal.Spectrogram(x[0], signal.SpectrumOpts{FS: new(2.0), NPerSeg: 16})
		return []*weft.Tensor{f, t, p}
	}
	computations["hilbert"] = func(x []*weft.Tensor) []*weft.Tensor {
		return []*weft.Tensor{signal.Hilbert(x[0]), signal.Hilbert(x[0].Slice(weft.All, weft.Range(0, 9)))}
	}
	computations["resample"] = func(x []*weft.Tensor) (y []*weft.Tensor) {
		for _, n := range []int{20, 21, 50, 64, 77} {
			y = append(y, signal.Resample(x[0], n))
		}
		return y
	}
	computations["detrend"] = func(x []*weft.Tensor) []*weft.Tensor {
		return []*weft.Tensor{signal.Detrend(x[0]), signal.Detrend(x[0], signal.DetrendOpts{Type: "constant"})}
	}
}
