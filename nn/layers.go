package nn

import (
	"weft"
	"weft/internal/array"
)

// A Layer computes one tensor from another.
type Layer interface {
	Forward(x *weft.Tensor) *weft.Tensor
}

// Sequential is layers one after the other. Parameters have the layer's index in
// their names: "0.weight".
type Sequential []Layer

// Forward passes x through all layers.
func (s Sequential) Forward(x *weft.Tensor) *weft.Tensor { return Call(s, x, Sequential.forward) }

func (s Sequential) forward(x *weft.Tensor) *weft.Tensor {
	for i := range s {
		if s[i] == nil {
			array.Failf("sequential", "", "layer %d is nil", i)
		}
		x = Call(&s[i], x, forwardAt)
	}
	return x
}

// Recompute is Forward with the layers in some segments of about equal length. A backward pass computes all
// segments but the last again ([weft.Recompute]), so that only the values between segments are kept. It is torch.utils.checkpoint.checkpoint_sequential. It panics with *[weft.Error] unless
// segments is from 1 to the number of layers.
func (s Sequential) Recompute(x *weft.Tensor, segments int) *weft.Tensor {
	if segments < 1 || segments > max(len(s), 1) {
		array.Failf("recompute", "segments", "is %d of %d layers", segments, len(s))
	}
	size := len(s) / segments
	for range segments - 1 {
		x = weft.Recompute(s[:size].Forward)(x)
		s = s[size:]
	}
	return s.Forward(x)
}

// forwardAt is the Forward of the layer at a place of a list.
func forwardAt(l *Layer, x *weft.Tensor) *weft.Tensor { return (*l).Forward(x) }

// Func makes a layer of a function, such as nn.Func((*weft.Tensor).Softplus).
type Func func(x *weft.Tensor) *weft.Tensor

// Forward is f(x).
func (f Func) Forward(x *weft.Tensor) *weft.Tensor { return Call(f, x, Func.forward) }

func (f Func) forward(x *weft.Tensor) *weft.Tensor {
	if f == nil {
		array.Failf("func", "", "the function is nil")
	}
	return f(x)
}

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
func (d *Dropout) Forward(x *weft.Tensor) *weft.Tensor { return Call(d, x, (*Dropout).forward) }

func (d *Dropout) forward(x *weft.Tensor) *weft.Tensor {
	d.notNil()
	if !(d.P >= 0 && d.P <= 1) {
		array.Failf("dropout", "P", "%v is not a probability: want 0 to 1", d.P)
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

// Training reports whether the layer is in training.
func (d *Dropout) Training() bool {
	d.notNil()
	return !d.eval
}

func (d *Dropout) notNil() {
	if d == nil {
		array.Failf("dropout", "", "the layer is nil")
	}
}

// String returns the probability.
func (d *Dropout) String() string {
	return array.Describe("nn.Dropout", "P", d.P)
}
