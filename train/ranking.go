package train

import (
	"cmp"
	"math"
	"slices"

	"weft"
	"weft/internal/array"
)

// AUC is the area under the receiver operating characteristic, as "auc": how likely a positive example has
// a greater output than a negative one, half of ties counted (Mann and Whitney, 1947). Outputs are floats
// of the targets' shape, or [N, 2] whose difference ranks; targets are 0 or 1. All outputs are kept. AUC is
// NaN without positive or without negative examples, or if an output is NaN.
func AUC() *Metric { return ranking("auc", areaUnderROC) }

// AveragePrecision is the sum of the precisions at all thresholds, weighed by the rise of the recall, as
// "average_precision"; equal outputs are one threshold. It takes what [AUC] does, and is NaN without
// positive examples.
func AveragePrecision() *Metric { return ranking("average_precision", averagePrecision) }

// ranking is a metric of outputs in falling order. Its state is outputs and targets in turn.
func ranking(name string, value func(pairs [][2]float64) float64) *Metric {
	m := NewMetric(name, func(output, target *weft.Tensor) []float64 {
		if output.Rank() == 2 && target.Rank() == 1 && output.Dim(1) == 2 {
			requireClasses(name, output, target)
			output = output.Slice(weft.All, weft.Index(1)).Sub(output.Slice(weft.All, weft.Index(0)))
		}
		requireSame(name, output, target)
		scores := weft.Data[float64](output.To(weft.Float64).Flatten(0).On(weft.CPU))
		var state []float64
		for i, y := range weft.Data[float64](target.To(weft.Float64).Flatten(0).On(weft.CPU)) {
			if y != 0 && y != 1 {
				array.Failf(name, "target", "has %v at %d, want 0 or 1", y, i)
			}
			state = append(state, scores[i], y)
		}
		return state
	}, func(state []float64) float64 {
		pairs := make([][2]float64, len(state)/2)
		for i := range pairs {
			if pairs[i] = [2]float64{state[2*i], state[2*i+1]}; math.IsNaN(pairs[i][0]) {
				return math.NaN()
			}
		}
		slices.SortFunc(pairs, func(a, b [2]float64) int { return cmp.Compare(b[0], a[0]) })
		return value(pairs)
	})
	m.merge = appendTo
	return m
}

// tied calls f with the numbers of positive and negative examples of each run of equal outputs.
func tied(pairs [][2]float64, f func(positive, negative float64)) {
	for i := 0; i < len(pairs); {
		var n [2]float64
		x := pairs[i][0]
		for ; i < len(pairs) && pairs[i][0] == x; i++ {
			n[int(pairs[i][1])]++
		}
		f(n[1], n[0])
	}
}

func areaUnderROC(pairs [][2]float64) float64 {
	var area, above, negatives float64
	tied(pairs, func(positive, negative float64) {
		area += float64(negative * (above + positive/2))
		above += positive
		negatives += negative
	})
	return area / (above * negatives) // 0/0 is NaN
}

func averagePrecision(pairs [][2]float64) float64 {
	var s, right, all float64
	tied(pairs, func(positive, negative float64) {
		right += positive
		all += positive + negative
		s += float64(positive * (right / all))
	})
	return s / right
}
