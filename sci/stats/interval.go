package stats

import (
	"math"

	"weft"
	"weft/internal/array"
	"weft/special"
)

// An interval is what a confidence interval is made of.
type interval struct {
	by                  intervalKind
	a                   Alternative
	estimate, deviation float64 // of its inverse hyperbolic tangent for byFisher
}

type intervalKind int

const (
	noInterval intervalKind = iota
	byStudent
	byFisher // of a correlation (Fisher, "On the probable error of a coefficient of correlation", Metron 1, 1921)
)

// ConfidenceInterval returns the interval that has what was estimated with the probability level, 0.95 say: the mean for
// [TTest1Samp], the mean difference for [TTestRel], the difference of the means for [TTestInd], and the correlation for
// [PearsonR]. One end of the interval of a one-sided test is infinite, or -1 or 1 for a correlation. It panics with a
// [*weft.Error] for a level that is not from 0 to 1, and for results of other tests. SciPy's confidence_interval.
func (r Result) ConfidenceInterval(level float64) (low, high float64) {
	const name = "stats.confidenceinterval"
	if !(level >= 0 && level <= 1) {
		array.Failf(name, "level", "is %v: want a probability from 0 to 1", level)
	}
	v := r.interval
	if v.by == noInterval {
		array.Failf(name, "r", "is not a result of TTest1Samp, TTestRel, TTestInd or PearsonR")
	}
	p := level
	if v.a == TwoSided {
		p = (1 + level) / 2
	}
	at := weft.ScalarOf(weft.Float64, p)
	var quantile float64
	if v.by == byFisher {
		quantile = special.Ndtri(at).Item()
	} else {
		quantile = special.StdTrIt(r.DF, at).Item()
	}
	if math.IsNaN(v.estimate) {
		return v.estimate, v.estimate
	}
	width := quantile * v.deviation
	low, high = v.estimate-width, v.estimate+width
	if math.IsInf(quantile, 1) || v.by == byFisher && math.IsInf(v.deviation, 1) { // of three pairs nothing is known
		low, high = math.Inf(-1), math.Inf(1)
	}
	switch v.a {
	case Less:
		low = math.Inf(-1)
	case Greater:
		high = math.Inf(1)
	}
	if v.by == byFisher {
		low, high = math.Tanh(low), math.Tanh(high)
	}
	return low, high
}
