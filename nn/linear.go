package nn

import (
	"weft"
	"weft/internal/array"
)

// Linear is x.MatMul(Weight.T()) plus Bias. The last axis of x has the layer's inputs.
type Linear struct {
	Weight *weft.Tensor // [out, in]
	Bias   *weft.Tensor // [out], nil for none
}

// NewLinear returns a layer of float32 parameters.
func NewLinear(in, out int, opts ...Opts) *Linear {
	defer array.Named("linear").End()
	o := array.Options("linear", opts)
	w := o.weight(out, in)
	return &Linear{Weight: w, Bias: o.bias(out, w)}
}

// Forward maps [..., in] to [..., out].
func (l *Linear) Forward(x *weft.Tensor) *weft.Tensor { return Call(l, x, (*Linear).forward) }

func (l *Linear) forward(x *weft.Tensor) *weft.Tensor {
	if l == nil || l.Weight == nil {
		array.Failf("linear", "Weight", "is nil: NewLinear makes a layer with weights")
	}
	return x.Linear(l.Weight, l.Bias)
}
