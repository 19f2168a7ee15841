package hostile

import (
	"reflect"

	"weft/signal"
)

// The exports of package signal.

var signalFunctions = []row[any]{
	{"signal.Butter", signal.Butter},
	{"signal.CSD", signal.CSD},
	{"signal.Cheby1", signal.Cheby1},
	{"signal.Cheby2", signal.Cheby2},
	{"signal.Coherence", signal.Coherence},
	{"signal.Convolve", signal.Convolve},
	{"signal.Convolve2D", signal.Convolve2D},
	{"signal.Correlate", signal.Correlate},
	{"signal.Correlate2D", signal.Correlate2D},
	{"signal.CorrelationLags", signal.CorrelationLags},
	{"signal.Detrend", signal.Detrend},
	{"signal.FFTConvolve", signal.FFTConvolve},
	{"signal.FiltFilt", signal.FiltFilt},
	{"signal.FindPeaks", signal.FindPeaks},
	{"signal.GetWindow", signal.GetWindow},
	{"signal.Hilbert", signal.Hilbert},
	{"signal.LFilter", signal.LFilter},
	{"signal.LFilterZi", signal.LFilterZi},
	{"signal.PeakProminences", signal.PeakProminences},
	{"signal.PeakWidths", signal.PeakWidths},
	{"signal.Periodogram", signal.Periodogram},
	{"signal.Resample", signal.Resample},
	{"signal.SOSFilt", signal.SOSFilt},
	{"signal.SOSFiltFilt", signal.SOSFiltFilt},
	{"signal.SOSFiltZi", signal.SOSFiltZi},
	{"signal.SavgolCoeffs", signal.SavgolCoeffs},
	{"signal.SavgolFilter", signal.SavgolFilter},
	{"signal.Spectrogram", signal.Spectrogram},
	{"signal.Welch", signal.Welch},
}

var signalTypes = []row[reflect.Type]{
	{"signal.AxisOpts", reflect.TypeFor[signal.AxisOpts]()},
	{"signal.BType", reflect.TypeFor[signal.BType]()},
	{"signal.ConvolveOpts", reflect.TypeFor[signal.ConvolveOpts]()},
	{"signal.DetrendOpts", reflect.TypeFor[signal.DetrendOpts]()},
	{"signal.FiltFiltOpts", reflect.TypeFor[signal.FiltFiltOpts]()},
	{"signal.FilterOpts", reflect.TypeFor[signal.FilterOpts]()},
	{"signal.IIROpts", reflect.TypeFor[signal.IIROpts]()},
	{"signal.Method", reflect.TypeFor[signal.Method]()},
	{"signal.Mode", reflect.TypeFor[signal.Mode]()},
	{"signal.PeakOpts", reflect.TypeFor[signal.PeakOpts]()},
	{"signal.SavgolOpts", reflect.TypeFor[signal.SavgolOpts]()},
	{"signal.SpectrumOpts", reflect.TypeFor[signal.SpectrumOpts]()},
	{"signal.WindowOpts", reflect.TypeFor[signal.WindowOpts]()},
	{"signal.ZPK", reflect.TypeFor[signal.ZPK]()},
}
