package distributions

import (
	"weft"
	"weft/internal/array"
)

// Distributions made of others.

// Independent is a distribution whose last batch axes are axes of its events: the numbers along them
// are drawn independently and their log-probabilities added.
type Independent struct {
	Base Distribution
	Axes int // how many
}

// NewIndependent returns base with axes of its batch as axes of events. It panics with *weft.Error
// where the batch has fewer.
func NewIndependent(base Distribution, axes int) Independent {
	array.Given("distributions.independent", "base", base != nil)
	if n := len(base.BatchShape()); axes < 0 || axes > n {
		array.Failf("distributions.independent", "axes", "is %d, want 0 to %d", axes, n)
	}
	return Independent{base, axes}
}

// base is Base, and checks that there is one with axes enough.
func (d Independent) base() Distribution {
	if d.Base == nil || d.Axes < 0 || d.Axes > len(d.Base.BatchShape()) {
		array.Failf("distributions.independent", "", "is the zero value or has wrong Axes: NewIndependent makes one")
	}
	return d.Base
}

// last are the last n axes.
func last(n int) []int {
	axes := make([]int, n)
	for i := range axes {
		axes[i] = -1 - i
	}
	return axes
}

// summed is t without its last axes.
func (d Independent) summed(t *weft.Tensor) *weft.Tensor {
	if d.Axes == 0 {
		return t
	}
	return t.Sum(last(d.Axes)...)
}

// BatchShape implements [Distribution].
func (d Independent) BatchShape() []int {
	s := d.base().BatchShape()
	return s[:len(s)-d.Axes]
}

// EventShape implements [Distribution].
func (d Independent) EventShape() []int {
	s := d.base().BatchShape()
	return append(append([]int{}, s[len(s)-d.Axes:]...), d.base().EventShape()...)
}

// Sample implements [Distribution].
func (d Independent) Sample(g *weft.Generator, shape ...int) *weft.Tensor {
	return d.base().Sample(g, shape...)
}

// RSample implements [Reparameterized]. It panics with *weft.Error where Base does not.
func (d Independent) RSample(g *weft.Generator, shape ...int) *weft.Tensor {
	b, ok := d.base().(Reparameterized)
	if !ok {
		array.Failf("distributions.independent.rsample", "", "%T is not reparameterized", d.Base)
	}
	return b.RSample(g, shape...)
}

// LogProb implements [Distribution].
func (d Independent) LogProb(x *weft.Tensor) *weft.Tensor {
	p := d.base().LogProb(x)
	if k := len(d.base().BatchShape()); p.Rank() < k || !array.Equal(p.Shape()[p.Rank()-d.Axes:], d.base().BatchShape()[k-d.Axes:]) {
		array.Failf("distributions.independent.log_prob", "x", "has shape %s, want events of shape %s", array.ShapeString(x.Shape()), array.ShapeString(d.EventShape()))
	}
	return d.summed(p)
}

// Entropy implements [Entropic]. It panics with *weft.Error where Base does not.
func (d Independent) Entropy() *weft.Tensor {
	b, ok := d.base().(Entropic)
	if !ok {
		array.Failf("distributions.independent.entropy", "", "%T does not know its entropy", d.Base)
	}
	return d.summed(b.Entropy())
}

// Mean implements [Distribution].
func (d Independent) Mean() *weft.Tensor { return d.base().Mean() }

// Variance implements [Distribution].
func (d Independent) Variance() *weft.Tensor { return d.base().Variance() }

// MixtureSameFamily is a mixture of the distributions along the last batch axis of Components, with
// probabilities Mixing.
type MixtureSameFamily struct {
	Mixing     Categorical
	Components Distribution
}

// NewMixtureSameFamily returns the mixtures of k components: mixing has k classes, and the batch of
// components ends with k. It panics with *weft.Error where they do not.
func NewMixtureSameFamily(mixing Categorical, components Distribution) MixtureSameFamily {
	const name = "distributions.mixture_same_family"
	mixing.made()
	array.Given(name, "components", components != nil)
	s := components.BatchShape()
	if k := mixing.count(); len(s) == 0 || s[len(s)-1] != k {
		array.Failf(name, "components", "have batch shape %s, want %d at the end", array.ShapeString(s), k)
	}
	if !array.BroadcastsTo(mixing.shape, s[:len(s)-1]) {
		array.Failf(name, "mixing", "has batch shape %s, the components %s", array.ShapeString(mixing.shape), array.ShapeString(s))
	}
	return MixtureSameFamily{mixing, components}
}

// components are Components, and checks that there are some.
func (d MixtureSameFamily) components() Distribution {
	d.Mixing.made()
	if d.Components == nil {
		array.Failf("distributions.mixture_same_family", "", "is the zero value: NewMixtureSameFamily makes one")
	}
	return d.Components
}

// BatchShape implements [Distribution].
func (d MixtureSameFamily) BatchShape() []int {
	s := d.components().BatchShape()
	return s[:len(s)-1]
}

// EventShape implements [Distribution].
func (d MixtureSameFamily) EventShape() []int { return d.components().EventShape() }

// axis is the axis of components from the back.
func (d MixtureSameFamily) axis() int { return -1 - len(d.components().EventShape()) }

// weighted is the mean over components of t, [batch... k event...].
func (d MixtureSameFamily) weighted(t *weft.Tensor) *weft.Tensor {
	p := d.Mixing.Probs
	for range d.EventShape() {
		p = p.Unsqueeze(-1)
	}
	return t.Mul(p).Sum(d.axis())
}

// Sample implements [Distribution]. It draws of all components and selects.
func (d MixtureSameFamily) Sample(g *weft.Generator, shape ...int) *weft.Tensor {
	mix := OneHotCategorical{d.Mixing.classes}
	k := mix.count()
	mix.Probs = expand(mix.Probs, append(d.BatchShape(), k))
	mix.shape = d.BatchShape()
	choice := mix.Sample(g, shape...)
	for range d.EventShape() {
		choice = choice.Unsqueeze(-1)
	}
	return weft.Where(choice.Ne(0), d.components().Sample(g, shape...), 0).Sum(d.axis())
}

// LogProb implements [Distribution].
func (d MixtureSameFamily) LogProb(x *weft.Tensor) *weft.Tensor {
	e := len(d.EventShape())
	if x == nil || x.Rank() < e {
		array.Failf("distributions.mixture_same_family.log_prob", "x", "is not a tensor with %d axes or more", e)
	}
	p := d.components().LogProb(x.Unsqueeze(d.axis()))
	return weft.Expr("logsumexp(p+l, -1)", weft.Vars{"p": p, "l": d.Mixing.Logits})
}

// CDF implements [Cumulative]. It panics with *weft.Error where Components does not.
func (d MixtureSameFamily) CDF(x *weft.Tensor) *weft.Tensor {
	c, ok := d.components().(Cumulative)
	if !ok {
		array.Failf("distributions.mixture_same_family.cdf", "", "%T does not know its distribution function", d.Components)
	}
	array.Given("distributions.mixture_same_family.cdf", "x", x != nil)
	return weft.Expr("sum(p*c, -1)", weft.Vars{"p": d.Mixing.Probs, "c": c.CDF(x.Unsqueeze(-1))})
}

// Mean implements [Distribution].
func (d MixtureSameFamily) Mean() *weft.Tensor { return d.weighted(d.components().Mean()) }

// Variance implements [Distribution].
func (d MixtureSameFamily) Variance() *weft.Tensor {
	m := d.components().Mean()
	return d.weighted(d.components().Variance()).Add(d.weighted(m.Sub(d.Mean().Unsqueeze(d.axis())).Square()))
}
