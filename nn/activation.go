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
	Silu    struct{} // x*sigmoid(x)

	Relu6       struct{} // min(max(x, 0), 6)
	Hardsigmoid struct{} // min(max(x+3, 0), 6)/6
	Hardswish   struct{} // x*min(max(x+3, 0), 6)/6
	Mish        struct{} // x*tanh(softplus(x))
	LogSigmoid  struct{} // log(1/(1+exp(-x))), without overflow
	Softsign    struct{} // x/(1+|x|)
	Tanhshrink  struct{} // x - tanh(x)
)

// Forward keeps the shape.
func (l Relu) Forward(x *weft.Tensor) *weft.Tensor { return Call(l, x, Relu.forward) }

func (Relu) forward(x *weft.Tensor) *weft.Tensor { return x.Relu() }

// Forward keeps the shape.
func (l Tanh) Forward(x *weft.Tensor) *weft.Tensor { return Call(l, x, Tanh.forward) }

func (Tanh) forward(x *weft.Tensor) *weft.Tensor { return x.Tanh() }

// Forward keeps the shape.
func (l Sigmoid) Forward(x *weft.Tensor) *weft.Tensor { return Call(l, x, Sigmoid.forward) }

func (Sigmoid) forward(x *weft.Tensor) *weft.Tensor { return x.Sigmoid() }

// Forward keeps the shape.
func (l Silu) Forward(x *weft.Tensor) *weft.Tensor { return Call(l, x, Silu.forward) }

func (Silu) forward(x *weft.Tensor) *weft.Tensor { return x.Silu() }

// elementwise is a formula of x, floats, and numbers.
func elementwise(name, text string, x *weft.Tensor, numbers weft.Vars) *weft.Tensor {
	defer array.Named(name).End()
	floats(name, "x", x)
	vars := weft.Vars{"x": x}
	for k, v := range numbers {
		vars[k] = v
	}
	return weft.Expr(text, vars)
}

// Forward keeps the shape.
func (l Relu6) Forward(x *weft.Tensor) *weft.Tensor { return Call(l, x, Relu6.forward) }

func (Relu6) forward(x *weft.Tensor) *weft.Tensor {
	return elementwise("relu6", "where(x <= 0, 0, where(x >= 6, 6, x))", x, nil)
}

// Forward keeps the shape.
func (l Hardsigmoid) Forward(x *weft.Tensor) *weft.Tensor { return Call(l, x, Hardsigmoid.forward) }

func (Hardsigmoid) forward(x *weft.Tensor) *weft.Tensor {
	return elementwise("hardsigmoid", "where(x <= -3, 0, where(x >= 3, 1, (x+3)/6))", x, nil)
}

// Forward keeps the shape.
func (l Hardswish) Forward(x *weft.Tensor) *weft.Tensor { return Call(l, x, Hardswish.forward) }

func (Hardswish) forward(x *weft.Tensor) *weft.Tensor {
	return elementwise("hardswish", "where(x <= -3, 0, where(x >= 3, x, x*(x+3)/6))", x, nil)
}

// Forward keeps the shape (Misra, Mish: a self regularized non-monotonic activation function, 2019).
func (l Mish) Forward(x *weft.Tensor) *weft.Tensor { return Call(l, x, Mish.forward) }

func (Mish) forward(x *weft.Tensor) *weft.Tensor {
	return elementwise("mish", "x*tanh(softplus(x))", x, nil)
}

// Forward keeps the shape.
func (l LogSigmoid) Forward(x *weft.Tensor) *weft.Tensor { return Call(l, x, LogSigmoid.forward) }

func (LogSigmoid) forward(x *weft.Tensor) *weft.Tensor {
	return elementwise("log_sigmoid", "-softplus(-x)", x, nil)
}

// Forward keeps the shape.
func (l Softsign) Forward(x *weft.Tensor) *weft.Tensor { return Call(l, x, Softsign.forward) }

func (Softsign) forward(x *weft.Tensor) *weft.Tensor {
	return elementwise("softsign", "x/(1+abs(x))", x, nil)
}

// Forward keeps the shape.
func (l Tanhshrink) Forward(x *weft.Tensor) *weft.Tensor { return Call(l, x, Tanhshrink.forward) }

func (Tanhshrink) forward(x *weft.Tensor) *weft.Tensor {
	return elementwise("tanhshrink", "x - tanh(x)", x, nil)
}

// Gelu is x times the normal distribution function of x (Hendrycks and Gimpel, Gaussian error
// linear units, 2016).
type Gelu struct {
	Tanh bool // approximates the distribution function with a hyperbolic tangent, as GPT-2 does
}

// Forward keeps the shape.
func (l Gelu) Forward(x *weft.Tensor) *weft.Tensor { return Call(l, x, Gelu.forward) }

func (l Gelu) forward(x *weft.Tensor) *weft.Tensor {
	if !l.Tanh {
		return x.Gelu()
	}
	return elementwise("gelu", "0.5*x*(1 + tanh(0.7978845608028654*(x + 0.044715*x*x*x)))", x, nil) // sqrt(2/pi)
}

// Identity is x itself, in the place of a layer.
type Identity struct{}

// Forward returns x.
func (l Identity) Forward(x *weft.Tensor) *weft.Tensor { return Call(l, x, Identity.forward) }

func (Identity) forward(x *weft.Tensor) *weft.Tensor { return x }

// LeakyRelu is x, times a slope where it is negative.
type LeakyRelu struct {
	Slope *float64 // nil means 0.01
}

// Forward keeps the shape.
func (l LeakyRelu) Forward(x *weft.Tensor) *weft.Tensor { return Call(l, x, LeakyRelu.forward) }

func (l LeakyRelu) forward(x *weft.Tensor) *weft.Tensor {
	defer array.Named("leaky_relu").End()
	return weft.Expr("where(x > 0, x, slope*x)", weft.Vars{"x": x, "slope": array.Or(l.Slope, 0.01)})
}

// Elu is x, or Alpha*(exp(x)-1) where it is negative (Clevert et al., Fast and accurate
// deep network learning by exponential linear units, 2016).
type Elu struct {
	Alpha *float64 // nil means 1
}

// Forward keeps the shape.
func (l Elu) Forward(x *weft.Tensor) *weft.Tensor { return Call(l, x, Elu.forward) }

func (l Elu) forward(x *weft.Tensor) *weft.Tensor {
	defer array.Named("elu").End()
	// The branch that is not taken must not overflow: its gradient would be NaN.
	return weft.Expr("where(x > 0, x, alpha*expm1(where(x > 0, 0, x)))", weft.Vars{"x": x, "alpha": array.Or(l.Alpha, 1)})
}

// Selu is an [Elu] whose numbers keep mean 0 and variance 1 (Klambauer et al., Self-normalizing
// neural networks, 2017).
type Selu struct{}

// Forward keeps the shape.
func (l Selu) Forward(x *weft.Tensor) *weft.Tensor { return Call(l, x, Selu.forward) }

func (Selu) forward(x *weft.Tensor) *weft.Tensor {
	return elementwise("selu", "scale*where(x > 0, x, alpha*expm1(where(x > 0, 0, x)))", x,
		weft.Vars{"alpha": 1.6732632423543772848170429916717, "scale": 1.0507009873554804934193349852946})
}

// Celu is x, or Alpha*(exp(x/Alpha)-1) where it is negative (Barron, Continuously differentiable
// exponential linear units, 2017).
type Celu struct {
	Alpha *float64 // not 0; nil means 1
}

// Forward keeps the shape.
func (l Celu) Forward(x *weft.Tensor) *weft.Tensor { return Call(l, x, Celu.forward) }

func (l Celu) forward(x *weft.Tensor) *weft.Tensor {
	alpha := array.Or(l.Alpha, 1)
	if alpha == 0 {
		array.Failf("celu", "Alpha", "is 0")
	}
	return elementwise("celu", "where(x > 0, x, alpha*expm1(where(x > 0, 0, x)/alpha))", x, weft.Vars{"alpha": alpha})
}

// Hardtanh is min(max(x, Min), Max).
type Hardtanh struct {
	Min *float64 // nil means -1
	Max *float64 // above Min; nil means 1
}

// Forward keeps the shape.
func (l Hardtanh) Forward(x *weft.Tensor) *weft.Tensor { return Call(l, x, Hardtanh.forward) }

func (l Hardtanh) forward(x *weft.Tensor) *weft.Tensor {
	lo, hi := array.Or(l.Min, -1), array.Or(l.Max, 1)
	if !(lo < hi) {
		array.Failf("hardtanh", "Max", "is %v, want more than Min, %v", hi, lo)
	}
	return elementwise("hardtanh", "where(x <= lo, lo, where(x >= hi, hi, x))", x, weft.Vars{"lo": lo, "hi": hi})
}

// Softplus is log(1+exp(Beta*x))/Beta, and x where Beta*x exceeds the threshold.
type Softplus struct {
	Beta      *float64 // not 0; nil means 1
	Threshold *float64 // nil means 20
}

// Forward keeps the shape.
func (l Softplus) Forward(x *weft.Tensor) *weft.Tensor { return Call(l, x, Softplus.forward) }

func (l Softplus) forward(x *weft.Tensor) *weft.Tensor {
	beta := array.Or(l.Beta, 1)
	if beta == 0 {
		array.Failf("softplus", "Beta", "is 0")
	}
	return elementwise("softplus", "where(beta*x > t, x, softplus(beta*x)/beta)", x, weft.Vars{"beta": beta, "t": array.Or(l.Threshold, 20)})
}

// Threshold is x where it exceeds a threshold, else Value.
type Threshold struct {
	Threshold float64
	Value     float64
}

// Forward keeps the shape.
func (l Threshold) Forward(x *weft.Tensor) *weft.Tensor { return Call(l, x, Threshold.forward) }

func (l Threshold) forward(x *weft.Tensor) *weft.Tensor {
	return elementwise("threshold", "where(x <= t, v, x)", x, weft.Vars{"t": l.Threshold, "v": l.Value})
}

// Hardshrink is x, and 0 from -Lambda to Lambda.
type Hardshrink struct {
	Lambda *float64 // nil means 0.5
}

// Forward keeps the shape.
func (l Hardshrink) Forward(x *weft.Tensor) *weft.Tensor { return Call(l, x, Hardshrink.forward) }

func (l Hardshrink) forward(x *weft.Tensor) *weft.Tensor {
	return elementwise("hardshrink", "where((x >= -l) && (x <= l), 0, x)", x, weft.Vars{"l": array.Or(l.Lambda, 0.5)})
}

// Softshrink moves x by Lambda towards 0, which it does not pass.
type Softshrink struct {
	Lambda *float64 // 0 or more; nil means 0.5
}

// Forward keeps the shape.
func (l Softshrink) Forward(x *weft.Tensor) *weft.Tensor { return Call(l, x, Softshrink.forward) }

func (l Softshrink) forward(x *weft.Tensor) *weft.Tensor {
	by := array.Or(l.Lambda, 0.5)
	if !(by >= 0) {
		array.Failf("softshrink", "Lambda", "is %v, want 0 or more", by)
	}
	return elementwise("softshrink", "where(x > l, x - l, where(x < -l, x + l, 0*x))", x, weft.Vars{"l": by})
}

// Glu is the first half of x along an axis times the sigmoid of the second (Dauphin et al.,
// Language modeling with gated convolutional networks, 2017).
type Glu struct {
	Axis *int // of an even size; nil means the last
}

// Forward maps [... 2n ...] to [... n ...].
func (l Glu) Forward(x *weft.Tensor) *weft.Tensor { return Call(l, x, Glu.forward) }

func (l Glu) forward(x *weft.Tensor) *weft.Tensor {
	const name = "glu"
	defer array.Named(name).End()
	axis := axisOf(name, x, l.Axis)
	if n := x.Dim(axis); n%2 != 0 {
		array.Failf(name, "x", "has %d elements along axis %d, want an even number", n, axis)
	}
	halves := x.Chunk(axis, 2)
	if x.Dim(axis) == 0 {
		return x.Clone()
	}
	return weft.Expr("a*sigmoid(b)", weft.Vars{"a": halves[0], "b": halves[1]})
}

// axisOf checks that x holds floats and has an axis, the last one if not given, and returns its
// number.
func axisOf(name string, x *weft.Tensor, axis *int) int {
	floats(name, "x", x)
	a := array.Or(axis, -1)
	if a < -x.Rank() || a >= x.Rank() {
		array.Failf(name, "Axis", "is %d, x has shape %s", a, array.ShapeString(sizes(x)))
	}
	return (a + x.Rank()) % x.Rank()
}

// Softmax is exp(x) over its sum along an axis.
type Softmax struct {
	Axis *int // nil means the last
}

// Forward keeps the shape.
func (l Softmax) Forward(x *weft.Tensor) *weft.Tensor { return Call(l, x, Softmax.forward) }

func (l Softmax) forward(x *weft.Tensor) *weft.Tensor {
	defer array.Named("softmax").End()
	return x.Softmax(axisOf("softmax", x, l.Axis))
}

// LogSoftmax is the logarithm of [Softmax].
type LogSoftmax struct {
	Axis *int // nil means the last
}

// Forward keeps the shape.
func (l LogSoftmax) Forward(x *weft.Tensor) *weft.Tensor { return Call(l, x, LogSoftmax.forward) }

func (l LogSoftmax) forward(x *weft.Tensor) *weft.Tensor {
	defer array.Named("log_softmax").End()
	return x.LogSoftmax(axisOf("log_softmax", x, l.Axis))
}

// Softmin is [Softmax] of -x.
type Softmin struct {
	Axis *int // nil means the last
}

// Forward keeps the shape.
func (l Softmin) Forward(x *weft.Tensor) *weft.Tensor { return Call(l, x, Softmin.forward) }

func (l Softmin) forward(x *weft.Tensor) *weft.Tensor {
	defer array.Named("softmin").End()
	axis := axisOf("softmin", x, l.Axis)
	return x.Neg().Softmax(axis)
}

// PReluOpts are the options of [NewPRelu].
type PReluOpts struct {
	Channels *int     // slopes, one for each channel, or 1 for all; nil means 1
	Slope    *float64 // that all slopes begin with; nil means 0.25
}

// PRelu is x, times a slope that is trained where it is negative (He et al., Delving deep into
// rectifiers, 2015).
type PRelu struct {
	Weight *weft.Tensor // [1] or [channels], the slopes
}

// NewPRelu returns a layer of float32 slopes. It panics with *weft.Error if Channels is below 1.
func NewPRelu(opts ...PReluOpts) *PRelu {
	const name = "prelu"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	n := array.Or(o.Channels, 1)
	if n < 1 {
		array.Failf(name, "Channels", "is %d, want 1 or more", n)
	}
	return &PRelu{Param(weft.FullOf(weft.Float32, array.Or(o.Slope, 0.25), n))}
}

// Forward keeps the shape; channels are the second axis. It panics with *weft.Error if x has
// another number of channels than there are slopes.
func (l *PRelu) Forward(x *weft.Tensor) *weft.Tensor { return Call(l, x, (*PRelu).forward) }

func (l *PRelu) forward(x *weft.Tensor) *weft.Tensor {
	const name = "prelu"
	defer array.Named(name).End()
	if l == nil || l.Weight == nil {
		array.Failf(name, "Weight", "is nil: NewPRelu makes a layer with slopes")
	}
	floats(name, "x", x)
	w, n := l.Weight, l.Weight.Size()
	if n != 1 && (x.Rank() < 2 || x.Dim(1) != n) {
		array.Failf(name, "x", "has shape %s, want [N %d ...]: %d channels", array.ShapeString(sizes(x)), n, n)
	}
	shape := append([]int{n}, ones(max(x.Rank()-2, 0))...)
	if x.Rank() == 0 {
		shape = nil
	}
	return weft.Expr("where(x > 0, x, w*x)", weft.Vars{"x": x, "w": w.Reshape(shape...)})
}

// RRelu is x, times a slope where it is negative: in training a number between Lower and Upper
// that is drawn for each element, else their mean (Xu et al., Empirical evaluation of rectified
// activations in convolutional network, 2015).
type RRelu struct {
	Lower *float64 // nil means 1/8
	Upper *float64 // nil means 1/3
	// Generator draws the slopes, one draw a call; nil is the default generator.
	Generator *weft.Generator

	eval bool
}

// Forward keeps the shape.
func (l *RRelu) Forward(x *weft.Tensor) *weft.Tensor { return Call(l, x, (*RRelu).forward) }

func (l *RRelu) forward(x *weft.Tensor) *weft.Tensor {
	const name = "rrelu"
	defer array.Named(name).End()
	if l == nil {
		array.Failf(name, "", "the layer is nil")
	}
	floats(name, "x", x)
	lo, hi := array.Or(l.Lower, 1.0/8), array.Or(l.Upper, 1.0/3)
	if !(lo <= hi) {
		array.Failf(name, "Upper", "is %v, want Lower, %v, or more", hi, lo)
	}
	if l.eval {
		return weft.Expr("where(x > 0, x, slope*x)", weft.Vars{"x": x, "slope": (lo + hi) / 2})
	}
	u := source(l.Generator).On(x.Device()).RandOf(x.DType(), sizes(x)...)
	return weft.Expr("where(x > 0, x, (lo + (hi-lo)*u)*x)", weft.Vars{"x": x, "u": u, "lo": lo, "hi": hi})
}

// SetTraining implements [Trainer].
func (l *RRelu) SetTraining(on bool) {
	if l == nil {
		array.Failf("rrelu", "", "the layer is nil")
	}
	l.eval = !on
}

// GumbelSoftmaxOpts are the options of [GumbelSoftmax].
type GumbelSoftmaxOpts struct {
	Tau  *float64 // the temperature, above 0; nil means 1
	Hard bool     // gives 1 at the greatest place and 0 elsewhere, with the gradient of what it rounds
	Axis *int     // nil means the last
	// Generator draws the noise, one draw a call; nil is the default generator.
	Generator *weft.Generator
}

// GumbelSoftmax draws one of the classes along an axis of logits, in a form that has a gradient:
// the softmax of (logits + noise)/Tau (Jang et al., Categorical reparameterization with
// Gumbel-softmax, 2017). It panics with *weft.Error if Tau is not above 0 or there is no such axis.
func GumbelSoftmax(logits *weft.Tensor, opts ...GumbelSoftmaxOpts) *weft.Tensor {
	const name = "gumbel_softmax"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	tau := array.Or(o.Tau, 1)
	if !(tau > 0) {
		array.Failf(name, "Tau", "is %v, want a number above 0", tau)
	}
	axis := axisOf(name, logits, o.Axis)
	noise := source(o.Generator).On(logits.Device()).ExponentialOf(logits.DType(), 1.0, sizes(logits)...)
	y := weft.Expr("(x - log(e0))/tau", weft.Vars{"x": logits, "e0": noise, "tau": tau}).Softmax(axis)
	if !o.Hard {
		return y
	}
	top := logits.Device().Arange(y.Dim(axis)).Reshape(append([]int{y.Dim(axis)}, ones(y.Rank()-1-axis)...)...).Eq(y.Detach().ArgMax(axis).Unsqueeze(axis))
	return weft.Expr("(h - d) + y", weft.Vars{"h": top.To(y.DType()), "d": y.Detach(), "y": y})
}

// String returns the bounds of the slopes.
func (r *RRelu) String() string {
	return array.Describe("nn.RRelu", "Lower", array.Or(r.Lower, 1.0/8), "Upper", array.Or(r.Upper, 1.0/3))
}
