package interpolate

import (
	"fmt"
	"testing"

	"weft"
)

// TestStrings compares what interpolators print as.
func TestStrings(t *testing.T) {
	x := weft.From([]float64{0, 1, 2, 3, 4})
	points := weft.From([][]float64{{0, 0}, {1, 0}, {0, 1}, {2, 2}, {3, 1}})
	pairs := weft.Ones(5, 2)
	for want, v := range map[string]any{
		"interpolate.BSpline of degree 3 for numbers: 5 coefficients, from 0 to 4":                   MakeInterpSpline(x, x),
		"interpolate.BSpline of degree 3 for values of shape [2]: 5 coefficients, from 0 to 4":       MakeInterpSpline(x, pairs),
		"interpolate.UnivariateSpline of degree 3: 4 coefficients, from 0 to 4, residual 0":          NewUnivariateSpline(x, weft.Zeros(5)),
		"interpolate.Curve through 5 points, from 0 to 4":                                            New(x, x),
		"interpolate.RegularGridInterpolator of numbers on a grid of [5 2] points":                   NewRegularGridInterpolator([]*weft.Tensor{x, weft.Arange(2)}, pairs),
		"interpolate.RBFInterpolator of values of shape [2] at 5 points of 2 coordinates":            NewRBFInterpolator(points, pairs),
		"interpolate.LinearNDInterpolator of numbers at 5 points of 2 coordinates":                   NewLinearNDInterpolator(points, x),
		"interpolate.CloughTocher2DInterpolator of values of shape [2] at 5 points of 2 coordinates": NewCloughTocher2DInterpolator(points, pairs),
		"interpolate.NearestNDInterpolator of numbers at 5 points of 2 coordinates":                  NewNearestNDInterpolator(points, x),
	} {
		if got := fmt.Sprint(v); got != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
}
