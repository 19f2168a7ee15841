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

// Linear is x.MatMul(W) plus B. The last axis of x has the layer's inputs.
type Linear struct {
	W *weft.Tensor // [in, out]
	B *weft.Tensor // [out], nil for none
}

// NewLinear returns a layer of float32 parameters.
func NewLinear(in, out int, opts ...Opts) *Linear {
	o := first(opts)
	return &Linear{W: o.weight(in, out), B: o.bias(out)}
}

// Forward maps [..., in] to [..., out].
func (l *Linear) Forward(x *weft.Tensor) *weft.Tensor {
	if l == nil || l.W == nil {
		array.Failf("linear", "W", "is nil: NewLinear makes a layer with weights")
	}
	if l.B == nil {
		return x.MatMul(l.W)
	}
	return x.Linear(l.W, l.B)
}

// MaxPool2d takes the greatest element of each window of the last two axes.
type MaxPool2d struct {
	Window  [2]int // vertical, horizontal
	Stride  [2]int // 0 means the window's size
	Padding [2]int
}

// Forward maps [..., h, w] to [..., oh, ow].
func (p MaxPool2d) Forward(x *weft.Tensor) *weft.Tensor { return x.MaxPool2d(weft.PoolOpts(p)) }

// AvgPool2d takes the mean of each window of the last two axes, zeros of the
// padding counted.
type AvgPool2d struct {
	Window  [2]int // vertical, horizontal
	Stride  [2]int // 0 means the window's size
	Padding [2]int
}

// Forward maps [..., h, w] to [..., oh, ow].
func (p AvgPool2d) Forward(x *weft.Tensor) *weft.Tensor { return x.AvgPool2d(weft.PoolOpts(p)) }

// Flatten merges all axes but the first.
type Flatten struct{}

// Forward maps [batch, ...] to [batch, features].
func (Flatten) Forward(x *weft.Tensor) *weft.Tensor { return x.Flatten(1) }

// Dropout sets elements to 0 in training, each with probability P, and divides
// the others by 1-P; else it does nothing (Srivastava et al., Dropout: a simple
// way to prevent neural networks from overfitting, 2014).
type Dropout struct {
	P float64
	// Generator chooses the elements, one draw a call; nil is the default
	// generator.
	Generator *weft.Generator

	eval bool
}

// Forward keeps the shape. It panics with *weft.Error if P is not in [0, 1].
func (d *Dropout) Forward(x *weft.Tensor) *weft.Tensor {
	d.notNil()
	if !(d.P >= 0 && d.P <= 1) {
		array.Failf("dropout", "P", "%v is no probability: want 0 to 1", d.P)
	}
	if d.eval || d.P == 0 {
		return x
	}
	return x.Dropout(d.P, d.Generator)
}

// SetTraining implements [Trainer].
func (d *Dropout) SetTraining(on bool) {
	d.notNil()
	d.eval = !on
}

func (d *Dropout) notNil() {
	if d == nil {
		array.Failf("dropout", "", "the layer is nil")
	}
}

// Sequential is layers one after the other. Parameters have the layer's index in
// their names: "0.W".
type Sequential []Layer

// Forward passes x through all layers.
func (s Sequential) Forward(x *weft.Tensor) *weft.Tensor {
	for i, l := range s {
		if l == nil {
			array.Failf("sequential", "", "layer %d is nil", i)
		}
		x = l.Forward(x)
	}
	return x
}

// Func makes a layer of a function, such as nn.Func((*weft.Tensor).Softplus).
type Func func(x *weft.Tensor) *weft.Tensor

// Forward is f(x).
func (f Func) Forward(x *weft.Tensor) *weft.Tensor {
	if f == nil {
		array.Failf("func", "", "the function is nil")
	}
	return f(x)
}

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
