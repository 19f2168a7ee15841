package stats

import (
	"math"
	"slices"

	"weft"
	"weft/internal/array"
)

// A Center says what [Levene] measures distances from.
type Center string

// The centers of [Levene].
const (
	Median  Center = "median" // also if it is empty: the test of Brown and Forsythe, for skewed samples
	Mean    Center = "mean"
	Trimmed Center = "trimmed" // the mean without the smallest and greatest elements
)

// LeveneOpts are the options of [Levene].
type LeveneOpts struct {
	Center          Center  // Median if it is empty
	ProportionToCut float64 // from each end of a sample, with Trimmed; 0.05 if it is 0
}

// Levene tests whether all samples, 2 or more, have the same variance: analysis of variance of the distances from each
// sample's center. It holds where samples are not from normal distributions. DF and DF2 of the result are the degrees
// of freedom between and within the samples. It panics with a [*weft.Error] where a sample is empty, or each has one
// element. SciPy's levene.
func Levene(samples []*weft.Tensor, opts ...LeveneOpts) Result {
	const name = "stats.levene"
	o := array.Options(name, opts)
	list, total := groups(name, samples, 1)
	if total == len(list) {
		array.Failf(name, "samples", "have one element each: want one with 2 or more")
	}
	if o.ProportionToCut == 0 {
		o.ProportionToCut = 0.05
	}
	if !(o.ProportionToCut > 0 && o.ProportionToCut < 0.5) {
		array.Failf(name, "ProportionToCut", "is %v: want a number between 0 and 0.5", o.ProportionToCut)
	}
	switch o.Center {
	case "", Median, Mean, Trimmed:
	default:
		array.Failf(name, "Center", "%q is unknown: want median, mean or trimmed", o.Center)
	}
	for i, s := range list {
		s = slices.Sorted(slices.Values(s))
		if len(s) > 0 && math.IsNaN(s[0]) { // NaN is sorted first
			return Result{Statistic: math.NaN(), PValue: math.NaN(), DF: float64(len(list) - 1), DF2: float64(total - len(list))}
		}
		var center float64
		switch o.Center {
		case "", Median:
			center = s[(len(s)-1)/2]/2 + s[len(s)/2]/2
		case Mean:
			center, _ = moments(s)
		case Trimmed:
			cut := int(o.ProportionToCut * float64(len(s)))
			center, _ = moments(s[cut : len(s)-cut])
		}
		for j, v := range s {
			s[j] = math.Abs(v - center)
		}
		list[i] = s
	}
	return oneway(list, total)
}

// Bartlett tests whether all samples, 2 or more, have the same variance. It requires samples from normal distributions;
// [Levene] does not. It panics with a [*weft.Error] where a sample has fewer than 2 elements. SciPy's bartlett.
func Bartlett(samples ...*weft.Tensor) Result {
	const name = "stats.bartlett"
	list, total := groups(name, samples, 2)
	k := float64(len(list))
	pooled, logs, inverses := 0.0, 0.0, 0.0
	for _, s := range list {
		_, v := moments(s)
		df := float64(len(s) - 1)
		pooled += df * v
		logs += df * math.Log(v)
		inverses += 1 / df
	}
	df := float64(total) - k
	x := (df*math.Log(pooled/df) - logs) / (1 + (inverses-1/df)/(3*(k-1)))
	return chi2(max(0, x), len(list)-1)
}
