package optimize

import (
	"weft"
	"weft/internal/array"
)

// IsotonicOpts are the options of [IsotonicRegression].
type IsotonicOpts struct {
	Weights    *weft.Tensor // of y's shape, positive; nil: equal ones
	Decreasing bool         // the result does not increase
}

// IsotonicRegression returns the non-decreasing sequence x that makes the weighted sum of squares of x-y least, float64
// of y's shape [n], by pooling adjacent violators (Busing, "Monotone regression: a simple and fast O(n) PAVA
// implementation", Journal of Statistical Software 102, 2022). It panics with a [*weft.Error] for bad arguments.
// SciPy's isotonic_regression.
func IsotonicRegression(y *weft.Tensor, opts ...IsotonicOpts) *weft.Tensor {
	const name = "optimize.isotonicregression"
	o := array.Options(name, opts)
	values := realVector(name, "y", y, -1)
	weights := make([]float64, len(values))
	for i := range weights {
		weights[i] = 1
	}
	if o.Weights != nil {
		weights = realVector(name, "Weights", o.Weights, len(values))
	}
	for i, w := range weights {
		if w <= 0 {
			array.Failf(name, "Weights", "has %v at %d: want positive numbers", w, i)
		}
	}
	// A block is a run of elements that share their mean.
	type block struct {
		mean, weight float64
		size         int
	}
	sign := 1.0
	if o.Decreasing {
		sign = -1
	}
	var blocks []block
	for i, v := range values {
		b := block{v, weights[i], 1}
		for len(blocks) > 0 && sign*blocks[len(blocks)-1].mean >= sign*b.mean {
			last := blocks[len(blocks)-1]
			blocks = blocks[:len(blocks)-1]
			weight := last.weight + b.weight
			b = block{last.mean*(last.weight/weight) + b.mean*(b.weight/weight), weight, last.size + b.size}
		}
		blocks = append(blocks, b)
	}
	x := make([]float64, 0, len(values))
	for _, b := range blocks {
		for range b.size {
			x = append(x, b.mean)
		}
	}
	return weft.FromSlice(x)
}
