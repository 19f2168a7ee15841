package signal_test

import (
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
