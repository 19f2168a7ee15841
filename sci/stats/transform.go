package stats

import (
	"math"
	"slices"

	"weft"
	"weft/internal/array"
	"weft/sci/optimize"
	"weft/special"
)

// A Ties says which rank equal elements get.
type Ties string

// Ties of [RankData], SciPy's methods. The ranks are of the group's places in the order, from 1.
const (
	AverageRank Ties = "average" // the mean of the group's ranks, also if it is empty
	MinRank     Ties = "min"     // the least
	MaxRank     Ties = "max"     // the greatest
	DenseRank   Ties = "dense"   // the group's number, without gaps
	OrdinalRank Ties = "ordinal" // each its own, in their order in the sample
)

// RankOpts are the options of [RankData].
type RankOpts struct {
	Ties Ties // AverageRank if it is empty
}

// RankData returns the ranks of a sample's elements from 1, float64 of x's shape. A sample with NaN has ranks NaN.
// It panics with a [*weft.Error] for bad arguments. SciPy's rankdata.
func RankData(x *weft.Tensor, opts ...RankOpts) *weft.Tensor {
	const name = "stats.rankdata"
	o := array.Options(name, opts)
	if o.Ties == "" {
		o.Ties = AverageRank
	}
	if !slices.Contains([]Ties{AverageRank, MinRank, MaxRank, DenseRank, OrdinalRank}, o.Ties) {
		array.Failf(name, "Ties", "%q is unknown: want average, min, max, dense or ordinal", o.Ties)
	}
	ranks, _ := rank(sample(name, "x", x, 0), o.Ties)
	return weft.FromSlice(ranks)
}

// BoxCox returns Box and Cox's transformation of a sample of positive elements that differ, float64, by the lambda
// whose transformed sample fits a normal distribution best, and that lambda ("An analysis of transformations", 1964).
// [special.BoxCox] transforms by a given lambda. It panics with a [*weft.Error] where elements are not positive or all
// equal, and returns NaN for a sample with NaN. SciPy's boxcox.
func BoxCox(x *weft.Tensor) (y *weft.Tensor, lambda float64) {
	const name = "stats.boxcox"
	a := sample(name, "x", x, 2)
	if slices.ContainsFunc(a, math.IsNaN) {
		return weft.FromSlice(slices.Repeat([]float64{math.NaN()}, len(a))), math.NaN()
	}
	least, greatest := slices.Min(a), slices.Max(a)
	if !(least > 0) || math.IsInf(greatest, 0) {
		array.Failf(name, "x", "has elements from %v to %v: want positive finite numbers", least, greatest)
	}
	if least == greatest {
		array.Failf(name, "x", "has %v alone: want elements that differ", least)
	}
	logs := make([]float64, len(a))
	for i, v := range a {
		logs[i] = math.Log(v)
	}
	mean, _ := moments(logs)
	// The likelihood is that of x over its geometric mean, whose powers neither overflow early nor cancel.
	for i := range logs {
		logs[i] -= mean
	}
	best, err := optimize.MinimizeScalar(func(lambda float64) float64 { return -boxCoxLogLikelihood(logs, lambda) },
		optimize.MinimizeScalarOpts{Bracket: []float64{-2, 2}})
	if err != nil {
		array.Failf(name, "x", "has no lambda: %v", err)
	}
	return special.BoxCox(weft.FromSlice(a), best.X), best.X
}

// boxCoxLogLikelihood returns the logarithm of lambda's likelihood, without its constant, for the sample with these
// logarithms, whose mean is 0: -n/2 times the logarithm of the transformed sample's variance.
func boxCoxLogLikelihood(logs []float64, lambda float64) float64 {
	y, largest := logs, 0.0
	if lambda != 0 {
		for _, v := range logs {
			largest = max(largest, lambda*v)
		}
		if largest < 1 {
			largest = 0 // small exponents keep their digits
		}
		// Subtracting 1 does not change the variance.
		y = make([]float64, len(logs))
		for i, v := range logs {
			y[i] = math.Expm1(lambda*v-largest) / lambda
		}
	}
	_, variance := moments(y)
	return -float64(len(logs)) * (math.Log(variance)/2 + largest)
}
