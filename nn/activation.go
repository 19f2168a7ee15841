package nn

import (
	"weft"
	"weft/internal/array"
)

// Elementwise layers.
type (
	Relu    struct{} // max(x, 0)
	Tanh    struct{} // the hyperbolic tangent
	Sigmoid struct{} // 1/(1+exp(-x))
	Gelu    struct{} // x times the normal distribution function of x
	Silu    struct{} // x*sigmoid(x)
)

// Forward keeps the shape.
func (Relu) Forward(x *weft.Tensor) *weft.Tensor { return x.Relu() }

// Forward keeps the shape.
func (Tanh) Forward(x *weft.Tensor) *weft.Tensor { return x.Tanh() }

// Forward keeps the shape.
func (Sigmoid) Forward(x *weft.Tensor) *weft.Tensor { return x.Sigmoid() }

// Forward keeps the shape.
func (Gelu) Forward(x *weft.Tensor) *weft.Tensor { return x.Gelu() }

// Forward keeps the shape.
func (Silu) Forward(x *weft.Tensor) *weft.Tensor { return x.Silu() }

// Identity is x itself, in the place of a layer.
type Identity struct{}

// Forward returns x.
func (Identity) Forward(x *weft.Tensor) *weft.Tensor { return x }

// LeakyRelu is x, times a slope where it is negative.
type LeakyRelu struct {
	Slope *float64 // nil means 0.01
}

// Forward keeps the shape.
func (l LeakyRelu) Forward(x *weft.Tensor) *weft.Tensor {
	defer array.Named("leaky_relu").End()
	return weft.Expr("where(x > 0, x, slope*x)", weft.Vars{"x": x, "slope": array.Or(l.Slope, 0.01)})
}

// Elu is x, or Alpha*(exp(x)-1) where it is negative (Clevert et al., Fast and accurate
// deep network learning by exponential linear units, 2016).
type Elu struct {
	Alpha *float64 // nil means 1
}

// Forward keeps the shape.
func (l Elu) Forward(x *weft.Tensor) *weft.Tensor {
	defer array.Named("elu").End()
	// The branch that is not taken must not overflow: its gradient would be NaN.
	return weft.Expr("where(x > 0, x, alpha*expm1(where(x > 0, 0, x)))", weft.Vars{"x": x, "alpha": array.Or(l.Alpha, 1)})
}
