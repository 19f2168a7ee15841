package distributions_test

import (
	"math"
	"testing"

	"weft"
	"weft/distributions"
)

// TestInversesOfIncompleteFunctions compares ICDF with scipy.stats' ppf, and CDF of it with its argument.
func TestInversesOfIncompleteFunctions(t *testing.T) {
	p := []float64{1e-6, 0.1, 0.45, 0.5, 0.6, 0.99}
	type both interface {
		CDF(*weft.Tensor) *weft.Tensor
		ICDF(*weft.Tensor) *weft.Tensor
	}
	wide := func(x float64) *weft.Tensor { return weft.FromSlice([]float64{x}) }
	for name, c := range map[string]struct {
		d    both
		want []float64
	}{
		"gamma":     {distributions.NewGamma(wide(2.5), wide(3)), gammaQuantiles},
		"beta":      {distributions.NewBeta(wide(0.7), wide(4.5)), betaQuantiles},
		"student t": {distributions.NewStudentT(wide(3.5), wide(1), wide(2)), studentQuantiles},
	} {
		x := c.d.ICDF(weft.FromSlice(p))
		back := weft.Data[float64](c.d.CDF(x))
		for i, v := range weft.Data[float64](x) {
			if math.Abs(v-c.want[i]) > 1e-13*math.Abs(c.want[i]) {
				t.Errorf("%s: ICDF(%v) is %v, want %v", name, p[i], v, c.want[i])
			}
			if math.Abs(back[i]-p[i]) > 1e-14 {
				t.Errorf("%s: CDF(ICDF(%v)) is %v", name, p[i], back[i])
			}
		}
	}
}

// scipy.stats: gamma(2.5, scale=1/3), beta(0.7, 4.5), t(3.5, 1, 2), each ppf([1e-6, 0.1, 0.45, 0.5, 0.6, 0.99]).
var (
	gammaQuantiles   = []float64{0.002149360034416181, 0.26838466449372045, 0.6659907425169084, 0.7252433651825877, 0.8553111790669699, 2.5143787448981647}
	betaQuantiles    = []float64{5.372257938099046e-10, 0.007582107817624865, 0.07454917157220611, 0.08929049125813977, 0.12435109783366938, 0.5884231596597804}
	studentQuantiles = []float64{-121.09024241544124, -2.15315321027281, 0.7299686996395816, 1.0, 1.5465309081115595, 9.121422718600162}
)
