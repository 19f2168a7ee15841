package nn

import (
	"weft"
	"weft/internal/array"
)

// A Layer computes one tensor from another.
type Layer interface {
	Forward(x *weft.Tensor) *weft.Tensor
}

// Opts are the options of the layers that have weights.
type Opts struct {
	// Weight draws the weights; nil is [KaimingUniform].
	Weight Init
	// Bias draws the biases; nil is zeros.
	Bias Init
	// NoBias leaves the biases out.
	NoBias bool
	// Generator is what weights are drawn from; nil is the default generator.
	Generator *weft.Generator
}

func (o *Opts) weight(shape ...int) *weft.Tensor {
	if o.Weight == nil {
		return Param(KaimingUniform(o.Generator, shape...))
	}
	return Param(o.Weight(o.Generator, shape...))
}

func (o *Opts) bias(n int) *weft.Tensor {
	switch {
	case o.NoBias:
		return nil
	case o.Bias == nil:
		return Param(weft.Zeros(n))
	}
	return Param(o.Bias(o.Generator, n))
}

func options(opts []Opts) Opts {
	if len(opts) > 0 {
		return opts[0]
	}
	return Opts{}
}

// Linear is x.MatMul(W) plus B. The last axis of x has the layer's inputs.
type Linear struct {
	W *weft.Tensor // [in, out]
	B *weft.Tensor // [out], nil for none
}

// NewLinear returns a layer of float32 parameters.
func NewLinear(in, out int, opts ...Opts) *Linear {
	o := options(opts)
	return &Linear{W: o.weight(in, out), B: o.bias(out)}
}

// Forward maps [..., in] to [..., out].
func (l *Linear) Forward(x *weft.Tensor) *weft.Tensor {
	if l.W == nil {
		array.Failf("linear", "W", "is nil: NewLinear makes a layer with weights")
	}
	if l.B == nil {
		return x.MatMul(l.W)
	}
	return x.Linear(l.W, l.B)
}
