package stats

import (
	"fmt"
	"math"
	"slices"

	"weft"
	"weft/internal/array"
)

// A Regression is the straight line through points by least squares, from [LinRegress].
type Regression struct {
	Slope, Intercept float64
	RValue           float64 // Pearson's correlation of x and y, NaN where all y are equal
	PValue           float64 // of the hypothesis that the slope is 0
	StdErr           float64 // standard error of Slope
	InterceptStdErr  float64 // standard error of Intercept
}

// String returns the numbers with their names, six digits of each.
func (r Regression) String() string {
	return fmt.Sprintf("Slope: %.6g, Intercept: %.6g, RValue: %.6g, PValue: %.6g, StdErr: %.6g, InterceptStdErr: %.6g",
		r.Slope, r.Intercept, r.RValue, r.PValue, r.StdErr, r.InterceptStdErr)
}

// LinRegress fits y = Intercept + Slope*x to pairs, two or more, by least squares. The p-value and the standard errors
// assume normal errors of one variance. Alternative is about the slope; two points have the p-value 0, or 1 where y has
// one value, and no errors. It panics with a [*weft.Error] where all x are equal. SciPy's linregress.
func LinRegress(x, y *weft.Tensor, opts ...TestOpts) Regression {
	const name = "stats.linregress"
	o := alternative(name, opts)
	a, b := pairs(name, x, y, 2)
	if slices.Min(a) == slices.Max(a) {
		array.Failf(name, "x", "has the one value %v: want two or more", a[0])
	}
	// With powers of two taken out no square overflows or vanishes.
	ea, eb := takeExponent(a), takeExponent(b)
	n := float64(len(a))
	ma, va := moments(a)
	mb, vb := moments(b)
	c := 0.0
	for i := range a {
		c += float64((a[i] - ma) * (b[i] - mb))
	}
	c /= n - 1
	slope := c / va
	r := Regression{Slope: slope, Intercept: mb - float64(slope*ma), RValue: max(-1, min(1, c/(math.Sqrt(va)*math.Sqrt(vb))))}
	if len(a) == 2 {
		if b[0] == b[1] {
			r.PValue = 1
		} else if math.IsNaN(slope) {
			r.PValue, r.StdErr, r.InterceptStdErr = slope, slope, slope
		}
	} else {
		df, rest := n-2, (1-r.RValue)*(1+r.RValue)
		r.PValue = o.Alternative.studentOf(r.RValue*math.Sqrt(df/rest), df).PValue
		r.StdErr = math.Sqrt(rest * vb / va / df)
		r.InterceptStdErr = r.StdErr * math.Sqrt(float64(va*(n-1)/n)+float64(ma*ma))
	}
	r.Slope, r.StdErr = math.Ldexp(r.Slope, eb-ea), math.Ldexp(r.StdErr, eb-ea)
	r.Intercept, r.InterceptStdErr = math.Ldexp(r.Intercept, eb), math.Ldexp(r.InterceptStdErr, eb)
	return r
}

// takeExponent divides x by the power of two that makes its greatest magnitude between 1/2 and 1, and returns the
// exponent. Infinities, NaN and zeros stay with the exponent 0.
func takeExponent(x []float64) int {
	size := 0.0
	for _, v := range x {
		size = max(size, math.Abs(v))
	}
	_, e := math.Frexp(size)
	for i, v := range x {
		x[i] = math.Ldexp(v, -e)
	}
	return e
}
