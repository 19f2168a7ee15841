package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"weft"
	"weft/internal/array"
)

// Polynomials of Royston's algorithm, the constant first.
var (
	roystonLast   = []float64{0, 0.221157, -0.147981, -2.07119, 4.434685, -2.706056}
	roystonSecond = []float64{0, 0.042981, -0.293762, -1.752461, 5.682633, -3.582633}
	roystonGamma  = []float64{-2.273, 0.459}
	roystonMean   = [2][]float64{{0.544, -0.39978, 0.025054, -6.714e-4}, {-1.5861, -0.31082, -0.083751, 0.0038915}}
	roystonSpread = [2][]float64{{1.3822, -0.77857, 0.062767, -0.0020322}, {-0.4803, -0.082676, 0.0030302}}
)

func polynomial(c []float64, x float64) (y float64) {
	for i := len(c) - 1; i >= 0; i-- {
		y = y*x + c[i]
	}
	return y
}

// Shapiro tests whether a sample of 3 to 5,000 elements is from a normal distribution, by the algorithm of Royston
// ("Remark AS R94", Applied Statistics 44, 1995). The statistic is W, NaN where all elements are equal. It panics with
// a [*weft.Error] for other sizes. SciPy's shapiro.
func Shapiro(x *weft.Tensor) Result {
	const name = "stats.shapiro"
	s := slices.Clone(sample(name, "x", x, 3))
	if len(s) > 5000 {
		array.Failf(name, "x", "has %d elements: want 5000 or fewer", len(s))
	}
	if slices.ContainsFunc(s, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }) {
		return Result{Statistic: math.NaN(), PValue: math.NaN()}
	}
	slices.Sort(s)
	n := len(s)
	top, middle := 0.0, s[n/2]
	for i, a := range roystonWeights(n) {
		top += a * (s[n-1-i] - s[i])
	}
	for i := range s {
		s[i] -= middle
	}
	_, v := moments(s)
	w := min(1, top*top/(v*float64(n-1)))
	if math.IsNaN(w) {
		return Result{Statistic: w, PValue: w}
	}
	if n == 3 { // the exact distribution
		w = max(w, 0.75)
		return Result{Statistic: w, PValue: min(1, max(0, 6/math.Pi*(math.Asin(math.Sqrt(w))-math.Asin(math.Sqrt(0.75)))))}
	}
	y, size, which := math.Log1p(-w), math.Log(float64(n)), 1
	if n <= 11 {
		gamma := polynomial(roystonGamma, float64(n))
		if y >= gamma {
			return Result{Statistic: w}
		}
		y, size, which = -math.Log(gamma-y), float64(n), 0
	}
	return Result{Statistic: w, PValue: normalAbove((y - polynomial(roystonMean[which], size)) / math.Exp(polynomial(roystonSpread[which], size)))}
}

// roystonWeights returns the weights of the differences of elements from both ends of a sorted sample.
func roystonWeights(n int) []float64 {
	a := make([]float64, n/2)
	if n == 3 {
		a[0] = math.Sqrt(0.5)
		return a
	}
	squares := 0.0
	for i := range a {
		a[i] = -distuv.UnitNormal.Quantile((float64(i) + 0.625) / (float64(n) + 0.25))
		squares += 2 * a[i] * a[i]
	}
	root := 1 / math.Sqrt(float64(n))
	fixed := []float64{polynomial(roystonLast, root) + a[0]/math.Sqrt(squares)}
	if n > 5 {
		fixed = append(fixed, polynomial(roystonSecond, root)+a[1]/math.Sqrt(squares))
	}
	rest := 1.0
	for i, v := range fixed {
		squares -= 2 * a[i] * a[i]
		rest -= 2 * v * v
	}
	for i := range a {
		a[i] /= math.Sqrt(squares / rest)
	}
	copy(a, fixed)
	return a
}
