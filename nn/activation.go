package nn

import "weft"

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
