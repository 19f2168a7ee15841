package distributions

import (
	"slices"

	"weft"
	"weft/internal/array"
)

// A Transform is a differentiable function of events that has an inverse.
type Transform interface {
	// Forward returns the values at x.
	Forward(x *weft.Tensor) *weft.Tensor
	// Inverse returns the x at which the values are y.
	Inverse(y *weft.Tensor) *weft.Tensor
	// LogAbsDet is the logarithm of the absolute value of the determinant of the derivative at x, where y
	// is Forward(x). Where EventAxes is 0 it has one number for each element, else those axes are gone.
	LogAbsDet(x, y *weft.Tensor) *weft.Tensor
	// EventAxes is how many of the last axes of x the function mixes: 0 for one of single numbers.
	EventAxes() int
	// Shape is the shape of the values for x of that shape, or the other way round.
	Shape(shape []int, inverse bool) []int
}

// A Monotone transform is one of single numbers that rises or falls.
type Monotone interface {
	Transform
	// Sign has elements of 1 where the function rises and -1 where it falls. Its shape broadcasts with
	// that of x.
	Sign() *weft.Tensor
}

// elementwise is what transforms of single numbers have in common.
type elementwise struct{}

// EventAxes implements [Transform].
func (elementwise) EventAxes() int { return 0 }

// Shape implements [Transform].
func (elementwise) Shape(shape []int, _ bool) []int { return shape }

// rising is an elementwise transform that rises.
type rising struct{ elementwise }

// Sign implements [Monotone].
func (rising) Sign() *weft.Tensor { return weft.Ones() }

// parameterized is what transforms of single numbers with parameters have in common.
type parameterized struct{ batch }

// EventAxes implements [Transform].
func (parameterized) EventAxes() int { return 0 }

// Shape implements [Transform].
func (t parameterized) Shape(shape []int, _ bool) []int {
	t.made()
	return array.Broadcast(t.name, shape, t.shape)
}

// at computes a formula of the parameters and of x.
func (t parameterized) at(text string, x *weft.Tensor) *weft.Tensor {
	t.made()
	array.Given(t.name, "x", x != nil)
	return t.formula(text, x)
}

// AffineTransform is Loc + Scale*x. [NewAffineTransform] makes one.
type AffineTransform struct {
	parameterized
	Loc, Scale *weft.Tensor
}

// NewAffineTransform returns the transform loc + scale*x, each a *weft.Tensor or a Go number that
// broadcasts with x. It panics with *weft.Error where a scale is 0.
func NewAffineTransform(loc, scale any) AffineTransform {
	b := newBatch("distributions.affine_transform", 0, parameter{"loc", "m", loc, anyNumber}, parameter{"scale", "s", scale, notZero})
	return AffineTransform{parameterized{b}, b.of("m"), b.of("s")}
}

var notZero = domain{"other than 0", "(p < 0) || (p > 0)", func(p float64) bool { return p < 0 || p > 0 }}

// Forward implements [Transform].
func (t AffineTransform) Forward(x *weft.Tensor) *weft.Tensor { return t.at("m + s*x", x) }

// Inverse implements [Transform].
func (t AffineTransform) Inverse(y *weft.Tensor) *weft.Tensor { return t.at("(x-m)/s", y) }

// LogAbsDet implements [Transform].
func (t AffineTransform) LogAbsDet(x, _ *weft.Tensor) *weft.Tensor {
	return t.at("log(abs(s)) + 0*x", x)
}

// Sign implements [Monotone].
func (t AffineTransform) Sign() *weft.Tensor { return t.formula("sign(s)", nil) }

// ExpTransform is exp(x).
type ExpTransform struct{ rising }

// Forward implements [Transform].
func (ExpTransform) Forward(x *weft.Tensor) *weft.Tensor {
	return ofEvents("distributions.exp_transform", "exp(x)", x)
}

// Inverse implements [Transform].
func (ExpTransform) Inverse(y *weft.Tensor) *weft.Tensor {
	return ofEvents("distributions.exp_transform", "log(x)", y)
}

// LogAbsDet implements [Transform].
func (ExpTransform) LogAbsDet(x, _ *weft.Tensor) *weft.Tensor {
	array.Given("distributions.exp_transform", "x", x != nil)
	return x
}

// SigmoidTransform is 1/(1+exp(-x)).
type SigmoidTransform struct{ rising }

// Forward implements [Transform].
func (SigmoidTransform) Forward(x *weft.Tensor) *weft.Tensor {
	return ofEvents("distributions.sigmoid_transform", "sigmoid(x)", x)
}

// Inverse implements [Transform].
func (SigmoidTransform) Inverse(y *weft.Tensor) *weft.Tensor {
	return ofEvents("distributions.sigmoid_transform", "log(x) - log1p(-x)", y)
}

// LogAbsDet implements [Transform].
func (SigmoidTransform) LogAbsDet(x, _ *weft.Tensor) *weft.Tensor {
	return ofEvents("distributions.sigmoid_transform", "-softplus(-x) - softplus(x)", x)
}

// TanhTransform is tanh(x). Where y rounds to 1 or -1 its inverse is infinite: keep x beside y.
type TanhTransform struct{ rising }

// Forward implements [Transform].
func (TanhTransform) Forward(x *weft.Tensor) *weft.Tensor {
	return ofEvents("distributions.tanh_transform", "tanh(x)", x)
}

// Inverse implements [Transform].
func (TanhTransform) Inverse(y *weft.Tensor) *weft.Tensor {
	return ofEvents("distributions.tanh_transform", "atanh(x)", y)
}

// LogAbsDet implements [Transform].
func (TanhTransform) LogAbsDet(x, _ *weft.Tensor) *weft.Tensor {
	return ofEvents("distributions.tanh_transform", "2*(0.6931471805599453 - x - softplus(-2*x))", x)
}

// PowerTransform is x to a power, for x above 0. [NewPowerTransform] makes one.
type PowerTransform struct {
	parameterized
	Exponent *weft.Tensor
}

// NewPowerTransform returns the transform of x to the exponent, a *weft.Tensor or a Go number that
// broadcasts with x. It panics with *weft.Error where an exponent is 0.
func NewPowerTransform(exponent any) PowerTransform {
	b := newBatch("distributions.power_transform", 0, parameter{"exponent", "p", exponent, notZero})
	return PowerTransform{parameterized{b}, b.of("p")}
}

// Forward implements [Transform].
func (t PowerTransform) Forward(x *weft.Tensor) *weft.Tensor { return t.at("pow(x, p)", x) }

// Inverse implements [Transform].
func (t PowerTransform) Inverse(y *weft.Tensor) *weft.Tensor { return t.at("pow(x, 1/p)", y) }

// LogAbsDet implements [Transform].
func (t PowerTransform) LogAbsDet(x, _ *weft.Tensor) *weft.Tensor {
	return t.at("log(abs(p)) + (p-1)*log(x)", x)
}

// Sign implements [Monotone].
func (t PowerTransform) Sign() *weft.Tensor { return t.formula("sign(p)", nil) }

// StickBreakingTransform maps k numbers to k+1 probabilities that add up to 1: each takes a part of the
// stick that those before it left. x of zeros gives equal ones.
type StickBreakingTransform struct{}

// Forward implements [Transform].
func (StickBreakingTransform) Forward(x *weft.Tensor) *weft.Tensor {
	const name = "distributions.stick_breaking_transform"
	vector(name, x)
	z := ofEvents(name, "sigmoid(x - o)", x, sticks(x, x.Dim(-1)))
	left := z.RSub(1).CumProd(-1)
	one := weft.OnesLike(left.Slice(weft.Ellipsis, weft.Range(0, 1)))
	return weft.Cat([]*weft.Tensor{z, one}, -1).Mul(weft.Cat([]*weft.Tensor{one, left}, -1))
}

// Inverse implements [Transform].
func (StickBreakingTransform) Inverse(y *weft.Tensor) *weft.Tensor {
	const name = "distributions.stick_breaking_transform"
	vector(name, y)
	k := y.Dim(-1) - 1
	y = y.Slice(weft.Ellipsis, weft.Range(0, k))
	left := y.CumSum(-1).RSub(1)
	return weft.Expr("log(y) - log(left) + o", weft.Vars{"y": y, "left": left, "o": sticks(y, k)})
}

// LogAbsDet implements [Transform].
func (StickBreakingTransform) LogAbsDet(x, y *weft.Tensor) *weft.Tensor {
	const name = "distributions.stick_breaking_transform"
	k := vector(name, x).Dim(-1)
	if vector(name, y).Dim(-1) != k+1 {
		array.Failf(name, "y", "has shape %s, want %d numbers at the end", array.ShapeString(y.Shape()), k+1)
	}
	return weft.Expr("sum(log(y) - softplus(x-o), -1)", weft.Vars{
		"x": x, "o": sticks(x, k), "y": y.Slice(weft.Ellipsis, weft.Range(0, k))})
}

// EventAxes implements [Transform].
func (StickBreakingTransform) EventAxes() int { return 1 }

// Shape implements [Transform].
func (StickBreakingTransform) Shape(shape []int, inverse bool) []int {
	if len(shape) == 0 || inverse && shape[len(shape)-1] < 1 {
		array.Failf("distributions.stick_breaking_transform", "x", "has shape %s, want an axis of numbers", array.ShapeString(shape))
	}
	shape = slices.Clone(shape)
	if shape[len(shape)-1]++; inverse {
		shape[len(shape)-1] -= 2
	}
	return shape
}

// sticks are the logarithms of how many parts are left beside each of k, in the type and on the device of x.
func sticks(x *weft.Tensor, k int) *weft.Tensor {
	return x.Device().ArangeOf(x.DType(), k, 0, -1).Log()
}

func vector(name string, x *weft.Tensor) *weft.Tensor {
	if x == nil || x.Rank() == 0 || x.Dim(-1) == 0 || !x.DType().Float() {
		array.Failf(name, "x", "is not a tensor of floats with an axis of numbers")
	}
	return x
}

// ofEvents computes a formula of events x, and of o if there is one.
func ofEvents(name, text string, x *weft.Tensor, o ...*weft.Tensor) *weft.Tensor {
	array.Given(name, "x", x != nil)
	vars := weft.Vars{"x": x}
	if len(o) > 0 {
		vars["o"] = o[0]
	}
	return weft.Expr(text, vars)
}

// ComposeTransform applies transforms one after the other.
type ComposeTransform []Transform

// checked returns c, whose transforms are not nil.
func (c ComposeTransform) checked() ComposeTransform {
	for i, t := range c {
		if t == nil {
			array.Failf("distributions.compose_transform", "", "transform %d is nil", i)
		}
	}
	return c
}

// Forward implements [Transform].
func (c ComposeTransform) Forward(x *weft.Tensor) *weft.Tensor {
	array.Given("distributions.compose_transform", "x", x != nil)
	for _, t := range c.checked() {
		x = t.Forward(x)
	}
	return x
}

// Inverse implements [Transform].
func (c ComposeTransform) Inverse(y *weft.Tensor) *weft.Tensor {
	array.Given("distributions.compose_transform", "y", y != nil)
	for _, t := range slices.Backward(c.checked()) {
		y = t.Inverse(y)
	}
	return y
}

// LogAbsDet implements [Transform].
func (c ComposeTransform) LogAbsDet(x, _ *weft.Tensor) *weft.Tensor {
	array.Given("distributions.compose_transform", "x", x != nil)
	if len(c) == 0 {
		return weft.ZerosLike(x)
	}
	var sum *weft.Tensor
	axes := c.EventAxes()
	for _, t := range c.checked() {
		y := t.Forward(x)
		d := overEvents(t.LogAbsDet(x, y), axes-t.EventAxes())
		if x = y; sum == nil {
			sum = d
		} else {
			sum = sum.Add(d)
		}
	}
	return sum
}

// EventAxes implements [Transform].
func (c ComposeTransform) EventAxes() (axes int) {
	for _, t := range c.checked() {
		axes = max(axes, t.EventAxes())
	}
	return axes
}

// Shape implements [Transform].
func (c ComposeTransform) Shape(shape []int, inverse bool) []int {
	for i := range c.checked() {
		if inverse {
			i = len(c) - 1 - i
		}
		shape = c[i].Shape(shape, inverse)
	}
	return shape
}

// Sign implements [Monotone]. It panics with *weft.Error where one of the transforms does not.
func (c ComposeTransform) Sign() *weft.Tensor {
	s := weft.Ones()
	for _, t := range c.checked() {
		m, ok := t.(Monotone)
		if !ok {
			array.Failf("distributions.compose_transform", "", "%T does not rise or fall", t)
		}
		s = s.Mul(m.Sign())
	}
	return s
}

// overEvents sums t over its last n axes.
func overEvents(t *weft.Tensor, n int) *weft.Tensor {
	if n <= 0 {
		return t
	}
	return t.Sum(last(n)...)
}

// TransformedDistribution is the distribution of transforms, one after the other, of events of a base. Its
// mean and variance are NaN: they have no form in general.
type TransformedDistribution struct {
	base       Distribution
	transforms ComposeTransform
}

// NewTransformedDistribution returns the distribution of transforms of events of base. Where a transform
// mixes more axes than an event of base has, batch axes become axes of events. It panics with
// *weft.Error where base or a transform is nil, or shapes do not fit.
func NewTransformedDistribution(base Distribution, transforms ...Transform) TransformedDistribution {
	const name = "distributions.transformed_distribution"
	array.Given(name, "base", base != nil)
	for i, t := range transforms {
		if t == nil {
			array.Failf(name, "transforms", "%d is nil", i)
		}
	}
	c := ComposeTransform(slices.Clone(transforms))
	if more := c.EventAxes() - len(base.EventShape()); more > 0 {
		base = NewIndependent(base, more)
	}
	d := TransformedDistribution{base, c}
	d.shape()
	return d
}

// Base returns the distribution whose events are transformed.
func (d TransformedDistribution) Base() Distribution { return d.base }

// Transforms returns the transforms, in the order in which they are applied.
func (d TransformedDistribution) Transforms() []Transform { return slices.Clone(d.transforms) }

// shape is the shape of a draw of all distributions of the batch.
func (d TransformedDistribution) shape() []int {
	if d.base == nil {
		array.Failf("distributions.transformed_distribution", "", "is the zero value: NewTransformedDistribution makes one")
	}
	return d.transforms.Shape(append(d.base.BatchShape(), d.base.EventShape()...), false)
}

// BatchShape implements [Distribution].
func (d TransformedDistribution) BatchShape() []int {
	s := d.shape()
	return s[:len(s)-len(d.base.EventShape())]
}

// EventShape implements [Distribution].
func (d TransformedDistribution) EventShape() []int {
	s := d.shape()
	return s[len(s)-len(d.base.EventShape()):]
}

// drawn transforms draws of Base: one for each distribution of the batch, also where parameters of
// transforms have more axes in front than Base has.
func (d TransformedDistribution) drawn(draw func(g *weft.Generator, shape ...int) *weft.Tensor, g *weft.Generator, shape []int) *weft.Tensor {
	base, all := d.base.BatchShape(), d.BatchShape()
	more := len(all) - len(base)
	if more < 0 || !array.Equal(base, all[more:]) {
		array.Failf("distributions.transformed_distribution.sample", "base", "has batch shape %s, the transforms make it %s: expand its parameters", array.ShapeString(base), array.ShapeString(all))
	}
	return d.transforms.Forward(draw(g, append(slices.Clone(shape), all[:more]...)...))
}

// Sample implements [Distribution].
func (d TransformedDistribution) Sample(g *weft.Generator, shape ...int) *weft.Tensor {
	d.shape()
	return sample(func(g *weft.Generator, shape ...int) *weft.Tensor { return d.drawn(d.base.Sample, g, shape) }, g, shape)
}

// RSample implements [Reparameterized]. It panics with *weft.Error where Base does not.
func (d TransformedDistribution) RSample(g *weft.Generator, shape ...int) *weft.Tensor {
	d.shape()
	b, ok := d.base.(Reparameterized)
	if !ok {
		array.Failf("distributions.transformed_distribution.rsample", "", "%T is not reparameterized", d.base)
	}
	return d.drawn(b.RSample, g, shape)
}

// LogProb implements [Distribution]. Events outside of the values of the transforms give NaN.
func (d TransformedDistribution) LogProb(y *weft.Tensor) *weft.Tensor {
	d.shape()
	array.Given("distributions.transformed_distribution.log_prob", "x", y != nil)
	axes := len(d.base.EventShape())
	var sum *weft.Tensor
	for _, t := range slices.Backward(d.transforms) {
		x := t.Inverse(y)
		det := overEvents(t.LogAbsDet(x, y), axes-t.EventAxes())
		if y = x; sum == nil {
			sum = det
		} else {
			sum = sum.Add(det)
		}
	}
	p := d.base.LogProb(y)
	if sum == nil {
		return p
	}
	return p.Sub(sum)
}

// CDF implements [Cumulative]. It panics with *weft.Error where Base does not, or a transform is not
// [Monotone].
func (d TransformedDistribution) CDF(y *weft.Tensor) *weft.Tensor {
	d.shape()
	const name = "distributions.transformed_distribution.cdf"
	b, ok := d.base.(Cumulative)
	if !ok {
		array.Failf(name, "", "%T does not know its distribution function", d.base)
	}
	array.Given(name, "x", y != nil)
	return weft.Expr("where(s > 0, p, 1-p)", weft.Vars{"s": d.transforms.Sign(), "p": b.CDF(d.transforms.Inverse(y))})
}

// ICDF is the number below which an event lies with probability p. It panics as CDF does.
func (d TransformedDistribution) ICDF(p *weft.Tensor) *weft.Tensor {
	d.shape()
	const name = "distributions.transformed_distribution.icdf"
	b, ok := d.base.(interface {
		ICDF(p *weft.Tensor) *weft.Tensor
	})
	if !ok {
		array.Failf(name, "", "%T does not know the inverse of its distribution function", d.base)
	}
	array.Given(name, "p", p != nil)
	p = weft.Expr("where(s > 0, p, 1-p)", weft.Vars{"s": d.transforms.Sign(), "p": p})
	return d.transforms.Forward(b.ICDF(p))
}

// Mean implements [Distribution]: NaN.
func (d TransformedDistribution) Mean() *weft.Tensor { return d.unknown() }

// Variance implements [Distribution]: NaN.
func (d TransformedDistribution) Variance() *weft.Tensor { return d.unknown() }

func (d TransformedDistribution) unknown() *weft.Tensor {
	shape := d.shape()
	m := d.base.Mean()
	return m.Device().FullOf(m.DType(), nan, shape...)
}
