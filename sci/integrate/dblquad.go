package integrate

import (
	"errors"

	"weft"
	"weft/internal/array"
)

// DblQuad returns the integral of f over the area where x is between a and b and y between low(x) and high(x), a
// float64 of shape [], and an estimate of its error. f gets one x and points y, float64 of one axis, and returns a
// number for each. Each integral over y is one of [Quad], as is the one over x; the value carries gradients with
// respect to what f uses, but the bounds. Options hold for both; Points are x's.
//
// It returns an [*AccuracyError] and the best value where an integral does not meet the tolerances, and panics with a
// [*weft.Error] for bad arguments. SciPy's dblquad, whose f gets y before x.
func DblQuad(f func(x float64, y *weft.Tensor) *weft.Tensor, a, b float64, low, high func(x float64) float64, opts ...QuadOpts) (value *weft.Tensor, estimate float64, err error) {
	const name = "integrate.dblquad"
	array.Given(name, "f", f != nil)
	array.Given(name, "low", low != nil)
	array.Given(name, "high", high != nil)
	o := array.Options(name, opts)
	inner := o
	inner.Points = nil
	var inside error
	value, estimate, err = Quad(func(x *weft.Tensor) *weft.Tensor {
		values := make([]*weft.Tensor, x.Size())
		for i, at := range weft.Data[float64](x) {
			v, _, err := Quad(func(y *weft.Tensor) *weft.Tensor { return f(at, y) }, low(at), high(at), inner)
			if err != nil && inside == nil {
				inside = err
			}
			values[i] = v
		}
		return weft.Stack(values, 0)
	}, a, b, o)
	if err == nil {
		err = inside
	}
	var failed *AccuracyError
	if errors.As(err, &failed) {
		return value, estimate, &AccuracyError{Op: name, Reason: failed.Reason, Err: failed.Err}
	}
	return value, estimate, nil
}
