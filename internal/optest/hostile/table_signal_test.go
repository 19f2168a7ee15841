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
	{"signal.Decimate", signal.Decimate},
	{"signal.Detrend", signal.Detrend},
	{"signal.FFTConvolve", signal.FFTConvolve},
	{"signal.OAConvolve", signal.OAConvolve},
	{"signal.FiltFilt", signal.FiltFilt},
	{"signal.FindPeaks", signal.FindPeaks},
	{"signal.FirWin", signal.FirWin},
	{"signal.FreqZ", signal.FreqZ},
	{"signal.GetWindow", signal.GetWindow},
	{"signal.Hilbert", signal.Hilbert},
	{"signal.LFilter", signal.LFilter},
	{"signal.LFilterZi", signal.LFilterZi},
	{"signal.MedFilt", signal.MedFilt},
	{"signal.MedFilt2D", signal.MedFilt2D},
	{"signal.PeakProminences", signal.PeakProminences},
	{"signal.PeakWidths", signal.PeakWidths},
	{"signal.Periodogram", signal.Periodogram},
	{"signal.Resample", signal.Resample},
	{"signal.ResamplePoly", signal.ResamplePoly},
	{"signal.SOS2TF", signal.SOS2TF},
	{"signal.SOSFilt", signal.SOSFilt},
	{"signal.SOSFiltFilt", signal.SOSFiltFilt},
	{"signal.SOSFiltZi", signal.SOSFiltZi},
	{"signal.SOSFreqZ", signal.SOSFreqZ},
	{"signal.SavgolCoeffs", signal.SavgolCoeffs},
	{"signal.SavgolFilter", signal.SavgolFilter},
	{"signal.Spectrogram", signal.Spectrogram},
	{"signal.TF2SOS", signal.TF2SOS},
	{"signal.TF2ZPK", signal.TF2ZPK},
	{"signal.UpFirDn", signal.UpFirDn},
	{"signal.Welch", signal.Welch},
}

var signalTypes = []row[reflect.Type]{
	{"signal.AxisOpts", reflect.TypeFor[signal.AxisOpts]()},
	{"signal.BType", reflect.TypeFor[signal.BType]()},
	{"signal.ConvolveOpts", reflect.TypeFor[signal.ConvolveOpts]()},
	{"signal.DecimateOpts", reflect.TypeFor[signal.DecimateOpts]()},
	{"signal.DetrendOpts", reflect.TypeFor[signal.DetrendOpts]()},
	{"signal.FiltFiltOpts", reflect.TypeFor[signal.FiltFiltOpts]()},
	{"signal.FilterOpts", reflect.TypeFor[signal.FilterOpts]()},
	{"signal.FirWinOpts", reflect.TypeFor[signal.FirWinOpts]()},
	{"signal.FreqZOpts", reflect.TypeFor[signal.FreqZOpts]()},
	{"signal.IIROpts", reflect.TypeFor[signal.IIROpts]()},
	{"signal.Method", reflect.TypeFor[signal.Method]()},
	{"signal.Mode", reflect.TypeFor[signal.Mode]()},
	{"signal.PeakOpts", reflect.TypeFor[signal.PeakOpts]()},
	{"signal.ResamplePolyOpts", reflect.TypeFor[signal.ResamplePolyOpts]()},
	{"signal.SavgolOpts", reflect.TypeFor[signal.SavgolOpts]()},
	{"signal.SpectrumOpts", reflect.TypeFor[signal.SpectrumOpts]()},
	{"signal.UpFirDnOpts", reflect.TypeFor[signal.UpFirDnOpts]()},
	{"signal.WindowOpts", reflect.TypeFor[signal.WindowOpts]()},
	{"signal.ZPK", reflect.TypeFor[signal.ZPK]()},
}
