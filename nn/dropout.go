package nn

import (
	"math"

	"weft"
	"weft/internal/array"
)

// ChannelDropout sets whole channels of examples to 0 in training, each with probability P, and
// divides the others by 1-P (Tompson et al., Efficient object localization using convolutional
// networks, 2015). It is Dropout1d, Dropout2d and Dropout3d of PyTorch.
type ChannelDropout struct {
	P float64
	// Generator chooses the channels, one draw a call; nil is the default generator.
	Generator *weft.Generator

	eval bool
}

// Forward keeps the shape [batch, channels, ...]. It panics with *weft.Error if P is not in [0, 1].
func (d *ChannelDropout) Forward(x *weft.Tensor) *weft.Tensor {
	return Call(d, x, (*ChannelDropout).forward)
}

func (d *ChannelDropout) forward(x *weft.Tensor) *weft.Tensor {
	const name = "channel_dropout"
	defer array.Named(name).End()
	d.notNil()
	checkDropout(name, x, d.P, 2)
	if d.eval || d.P == 0 {
		return x
	}
	return x.Mul(kept(x, d.P, true, d.Generator))
}

// SetTraining implements [Trainer].
func (d *ChannelDropout) SetTraining(on bool) {
	d.notNil()
	d.eval = !on
}

func (d *ChannelDropout) notNil() {
	if d == nil {
		array.Failf("channel_dropout", "", "the layer is nil")
	}
}

// AlphaDropout sets elements to the least value of [Selu] in training, each with probability P, and
// keeps mean and variance (Klambauer et al., Self-normalizing neural networks, 2017).
type AlphaDropout struct {
	P        float64
	Channels bool // whole channels at once, as FeatureAlphaDropout of PyTorch
	// Generator chooses the elements, one draw a call; nil is the default generator.
	Generator *weft.Generator

	eval bool
}

// Forward keeps the shape. It panics with *weft.Error if P is not in [0, 1].
func (d *AlphaDropout) Forward(x *weft.Tensor) *weft.Tensor {
	return Call(d, x, (*AlphaDropout).forward)
}

func (d *AlphaDropout) forward(x *weft.Tensor) *weft.Tensor {
	const name = "alpha_dropout"
	defer array.Named(name).End()
	d.notNil()
	least := 0
	if d.Channels {
		least = 2
	}
	checkDropout(name, x, d.P, least)
	switch {
	case d.eval || d.P == 0:
		return x
	case d.P == 1:
		return x.Mul(0)
	}
	const low = -1.7580993408473766 // of Selu: -scale*alpha
	a := 1 / math.Sqrt((1-d.P)*(1+d.P*low*low))
	return weft.Expr("a*where(m > 0, x, low) - a*low*p", weft.Vars{"x": x, "m": kept(x, d.P, d.Channels, d.Generator), "a": a, "low": low, "p": d.P})
}

// SetTraining implements [Trainer].
func (d *AlphaDropout) SetTraining(on bool) {
	d.notNil()
	d.eval = !on
}

func (d *AlphaDropout) notNil() {
	if d == nil {
		array.Failf("alpha_dropout", "", "the layer is nil")
	}
}

// checkDropout checks what layers that drop elements are given.
func checkDropout(name string, x *weft.Tensor, p float64, least int) {
	if !(p >= 0 && p <= 1) {
		array.Failf(name, "P", "%v is not a probability: want 0 to 1", p)
	}
	floats(name, "x", x)
	if x.Rank() < least {
		array.Failf(name, "x", "has shape %s, want [batch channels ...]", array.ShapeString(sizes(x)))
	}
}

// kept are factors that broadcast to x: 0 with probability p, else 1/(1-p), for elements or
// channels.
func kept(x *weft.Tensor, p float64, channels bool, g *weft.Generator) *weft.Tensor {
	shape := append([]int(nil), sizes(x)...)
	for i := 2; channels && i < len(shape); i++ {
		shape[i] = 1
	}
	return x.Device().OnesOf(x.DType(), shape...).Dropout(p, g)
}

// String returns the probability.
func (d *ChannelDropout) String() string {
	return array.Describe("nn.ChannelDropout", "P", d.P)
}

// String returns the probability.
func (d *AlphaDropout) String() string {
	return array.Describe("nn.AlphaDropout", "P", d.P, "Channels", d.Channels)
}
