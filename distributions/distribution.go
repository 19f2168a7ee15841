package distributions

import (
	"fmt"
	"maps"
	"math"
	"strings"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
)

// A Distribution has parameters of batch shape, one distribution per element, whose events have
// event shape. Both are empty for one distribution of numbers.
type Distribution interface {
	// BatchShape is the shape of the parameters, without the axes of one event.
	BatchShape() []int
	// EventShape is the shape of one event: empty for numbers.
	EventShape() []int
	// Sample draws events of shape [shape... batch... event...], without gradients. A nil generator
	// is the default one. In a compiled function each call draws anew.
	Sample(g *weft.Generator, shape ...int) *weft.Tensor
	// LogProb is the logarithm of the density or probability of events x, whose shape broadcasts
	// with [batch... event...]. It is -Inf outside of the support, and NaN for NaN.
	LogProb(x *weft.Tensor) *weft.Tensor
	// Mean is the mean in the shape [batch... event...].
	Mean() *weft.Tensor
	// Variance is the variance in the shape [batch... event...].
	Variance() *weft.Tensor
}

// A Reparameterized distribution draws events as differentiable functions of its parameters.
type Reparameterized interface {
	Distribution
	// RSample is Sample with gradients through the parameters.
	RSample(g *weft.Generator, shape ...int) *weft.Tensor
}

// An Entropic distribution knows its entropy.
type Entropic interface {
	Distribution
	// Entropy is the entropy in nats, in batch shape.
	Entropy() *weft.Tensor
}

// A Cumulative distribution is one of numbers that knows its distribution function.
type Cumulative interface {
	Distribution
	// CDF is the probability of an event of at most x.
	CDF(x *weft.Tensor) *weft.Tensor
}

var inf, nan = math.Inf(1), math.NaN()

// A domain says which elements a parameter may have: in words, as a formula of p, and of a number.
type domain struct {
	words, text string
	has         func(p float64) bool
}

var (
	anyNumber   = domain{"a number", "p == p", func(p float64) bool { return p == p }}
	positive    = domain{"above 0", "p > 0", func(p float64) bool { return p > 0 }}
	notNegative = domain{"at least 0", "p >= 0", func(p float64) bool { return p >= 0 }}
	probability = domain{"from 0 to 1", "(p >= 0) && (p <= 1)", func(p float64) bool { return p >= 0 && p <= 1 }}
	chance      = domain{"above 0 and at most 1", "(p > 0) && (p <= 1)", func(p float64) bool { return p > 0 && p <= 1 }}
	count       = domain{"a whole number of at least 0", "(p >= 0) && (floor(p) == p)", func(p float64) bool { return p >= 0 && math.Floor(p) == p }}
)

// A parameter of a distribution: a *weft.Tensor or a Go number.
type parameter struct {
	name, symbol string // the argument, and its name in formulas
	value        any
	domain       domain
}

// A batch is what distributions have in common: parameters of one float type on one device.
type batch struct {
	name   string // of the operation in errors
	params []parameter
	vars   weft.Vars // parameters by their symbols
	shape  []int     // that they broadcast to, without event axes
	dtype  weft.DType
	device weft.Device
}

// newBatch returns the parameters as tensors of the type in which they meet. Go numbers and integers
// alone are float32. Event axes come last, none for numbers. It panics with *weft.Error where a
// parameter is no tensor or number, lies outside of its domain or does not broadcast.
func newBatch(name string, event int, ps ...parameter) batch {
	b := batch{name: name, params: ps, vars: weft.Vars{}, dtype: array.Invalid}
	shapes := make([][]int, len(ps))
	for i, p := range ps {
		t, ok := p.value.(*weft.Tensor)
		if !ok {
			x := core.AsOperand[weft.Tensor](name, p.name, p.value)
			if x.Num.Kind == array.CatComplex {
				array.Failf(name, p.name, "is complex, want a real number")
			}
			if v := x.Num.Real(weft.Float64); !p.domain.has(v) {
				array.Failf(name, p.name, "is %v, want %s", p.value, p.domain.words)
			}
			continue
		}
		inner := (*core.Tensor)(t)
		inner.Argument(name, p.name)
		inner.CheckArgument(name, p.name)
		d := t.DType()
		if d.Complex() {
			array.Failf(name, p.name, "holds %s, want real numbers", d)
		}
		if t.Rank() < event {
			array.Failf(name, p.name, "has shape %s, want %d axes or more", array.ShapeString(t.Shape()), event)
		}
		shapes[i] = t.Shape()[:t.Rank()-event]
		switch b.device = t.Device(); {
		case !d.Float():
		case b.dtype == array.Invalid:
			b.dtype = d
		default:
			b.dtype = array.Promote(b.dtype, d)
		}
	}
	if b.dtype == array.Invalid {
		b.dtype = weft.Float32
	}
	b.shape = array.Broadcast(name, shapes...)
	for _, p := range ps {
		b.vars[p.symbol] = b.tensor(p)
	}
	return b
}

// tensor is a parameter as a tensor whose elements lie in its domain. In a trace, where elements are not
// known, those outside become NaN.
func (b batch) tensor(p parameter) *weft.Tensor {
	t, ok := p.value.(*weft.Tensor)
	if !ok {
		return b.device.FullOf(b.dtype, p.value)
	}
	t = t.To(b.dtype)
	if core.TracingViews((*core.Tensor)(t).View()) != nil {
		if p.domain.text == anyNumber.text { // NaN stays
			return t
		}
		return weft.Expr("where("+p.domain.text+", p, nan)", weft.Vars{"p": t, "nan": nan})
	}
	if weft.Expr("all("+p.domain.text+")", weft.Vars{"p": t.Detach()}).Item() == 0 {
		array.Failf(b.name, p.name, "has elements that are not %s", p.domain.words)
	}
	return t
}

// of is the parameter with that symbol.
func (b batch) of(symbol string) *weft.Tensor { return b.vars[symbol].(*weft.Tensor) }

// made checks that a constructor made the distribution.
func (b batch) made() {
	if b.vars == nil {
		array.Failf("distributions", "", "the distribution is the zero value: functions such as NewNormal make one")
	}
}

// String is the distribution's name with its parameters: numbers, and the types of tensors with axes.
func (b batch) String() string {
	if b.vars == nil {
		return "zero value of a distribution"
	}
	var s []string
	for _, p := range b.params {
		text := fmt.Sprint(p.value)
		if t, ok := p.value.(*weft.Tensor); ok && t.Rank() > 0 {
			text = array.TypeString(t.DType(), t.Shape())
		}
		s = append(s, p.name+": "+text)
	}
	return strings.TrimPrefix(b.name, "distributions.") + "(" + strings.Join(s, ", ") + ")"
}

// BatchShape implements [Distribution].
func (b batch) BatchShape() []int {
	b.made()
	return append([]int{}, b.shape...)
}

// formula computes a formula of the parameters and of x, if not nil.
func (b batch) formula(text string, x *weft.Tensor) *weft.Tensor {
	b.made()
	vars := make(weft.Vars, len(b.vars)+3)
	maps.Copy(vars, b.vars)
	vars["inf"], vars["nan"] = inf, nan
	if x != nil {
		vars["x"] = x
	}
	return weft.Expr(text, vars)
}

// inBatch is a formula of the parameters in batch shape.
func (b batch) inBatch(text string) *weft.Tensor { return expand(b.formula(text, nil), b.shape) }

// expand returns t, or its view of that shape.
func expand(t *weft.Tensor, shape []int) *weft.Tensor {
	if array.Equal(t.Shape(), shape) {
		return t
	}
	return t.Expand(shape...)
}

// events checks that x are events with axes of that shape, and broadcasts with the batch.
func (b batch) events(opName string, x *weft.Tensor, event ...int) {
	b.made()
	opName = b.name + "." + opName
	(*core.Tensor)(x).Argument(opName, "x")
	(*core.Tensor)(x).CheckArgument(opName, "x")
	if x.DType().Complex() {
		array.Failf(opName, "x", "holds %s, want real numbers", x.DType())
	}
	s := x.Shape()
	k := len(s) - len(event)
	if k < 0 || !array.Equal(s[max(k, 0):], event) {
		array.Failf(opName, "x", "has shape %s, want events of shape %s", array.ShapeString(s), array.ShapeString(event))
	}
	for i := 1; i <= min(k, len(b.shape)); i++ {
		if m, n := s[k-i], b.shape[len(b.shape)-i]; m != n && m != 1 && n != 1 {
			array.Failf(opName, "x", "of shape %s does not broadcast with the batch %s", array.ShapeString(s), array.ShapeString(b.shape))
		}
	}
}

// draws is the generator on the parameters' device, and the shape of a draw.
func (b batch) draws(g *weft.Generator, shape []int, event ...int) (*weft.Generator, []int) {
	b.made()
	if g == nil {
		g = weft.DefaultGenerator()
	}
	return g.On(b.device), append(append(append([]int{}, shape...), b.shape...), event...)
}

// A family is a distribution of numbers as formulas of its parameters, and of an event or a probability x.
type family struct {
	logProb, mean, variance, entropy, cdf, icdf string

	draw func(b batch, g *weft.Generator, shape []int) *weft.Tensor
}

// drawOf is a draw by a method of the generator that takes the parameters of two symbols.
func drawOf(method func(g *weft.Generator, d weft.DType, a, b any, shape ...int) *weft.Tensor, a, b string) func(batch, *weft.Generator, []int) *weft.Tensor {
	return func(p batch, g *weft.Generator, shape []int) *weft.Tensor {
		return method(g, p.dtype, p.of(a), p.of(b), shape...)
	}
}

// within is the formula of a log-probability in a support, -inf outside of it and NaN for an x of NaN.
func within(support, logProb string) string {
	return "where(x == x, where(" + support + ", " + logProb + ", -inf), nan)"
}

// A scalar is a distribution of numbers.
type scalar struct {
	batch
	*family
}

// EventShape implements [Distribution].
func (s scalar) EventShape() []int { return nil }

// Sample implements [Distribution].
func (s scalar) Sample(g *weft.Generator, shape ...int) *weft.Tensor {
	return sample(s.drawn, g, shape)
}

func (s scalar) drawn(g *weft.Generator, shape ...int) *weft.Tensor {
	g, shape = s.draws(g, shape)
	return s.draw(s.batch, g, shape)
}

// sample is a draw without gradients.
func sample(draw func(g *weft.Generator, shape ...int) *weft.Tensor, g *weft.Generator, shape []int) (x *weft.Tensor) {
	weft.WithoutGrad(func() { x = draw(g, shape...) })
	return x
}

// LogProb implements [Distribution].
func (s scalar) LogProb(x *weft.Tensor) *weft.Tensor {
	s.events("log_prob", x)
	return s.formula(s.logProb, x)
}

// Mean implements [Distribution].
func (s scalar) Mean() *weft.Tensor {
	s.made()
	return s.inBatch(s.mean)
}

// Variance implements [Distribution].
func (s scalar) Variance() *weft.Tensor {
	s.made()
	return s.inBatch(s.variance)
}

// An entropic scalar knows its entropy.
type entropic struct{ scalar }

// Entropy implements [Entropic].
func (s entropic) Entropy() *weft.Tensor {
	s.made()
	return s.inBatch(s.entropy)
}

// A pathwise scalar has gradients through its draws.
type pathwise struct{ entropic }

// RSample implements [Reparameterized].
func (s pathwise) RSample(g *weft.Generator, shape ...int) *weft.Tensor { return s.drawn(g, shape...) }

// A cumulative scalar knows its distribution function and the inverse.
type cumulative struct{ pathwise }

// CDF implements [Cumulative].
func (s cumulative) CDF(x *weft.Tensor) *weft.Tensor {
	s.events("cdf", x)
	return s.formula(s.cdf, x)
}

// ICDF is the number below which an event lies with probability x.
func (s cumulative) ICDF(x *weft.Tensor) *weft.Tensor {
	s.events("icdf", x)
	return s.formula(s.icdf, x)
}
