package hostile

import (
	"reflect"

	"weft/signal"
)

// The exports of package signal.

var signalFunctions = []row[any]{
	{"signal.Convolve", signal.Convolve},
	{"signal.Correlate", signal.Correlate},
	{"signal.CorrelationLags", signal.CorrelationLags},
	{"signal.FiltFilt", signal.FiltFilt},
	{"signal.LFilter", signal.LFilter},
	{"signal.LFilterZi", signal.LFilterZi},
	{"signal.SOSFilt", signal.SOSFilt},
	{"signal.SOSFiltFilt", signal.SOSFiltFilt},
	{"signal.SOSFiltZi", signal.SOSFiltZi},
}

var signalTypes = []row[reflect.Type]{
	{"signal.ConvolveOpts", reflect.TypeFor[signal.ConvolveOpts]()},
	{"signal.FiltFiltOpts", reflect.TypeFor[signal.FiltFiltOpts]()},
	{"signal.FilterOpts", reflect.TypeFor[signal.FilterOpts]()},
	{"signal.Mode", reflect.TypeFor[signal.Mode]()},
}
