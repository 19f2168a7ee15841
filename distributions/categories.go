package distributions

import (
	"weft"
	"weft/internal/array"
	"weft/internal/core"
)

// Distributions over classes, whose last axis of parameters has one number per class.

// A classes is a batch with probabilities p that add up to 1, and their logarithms l.
type classes struct {
	batch
	Probs, Logits *weft.Tensor // normalised
}

func newClasses(name, arg string, value any) classes {
	d := notNegative
	if arg == "logits" {
		d = anyNumber
	}
	t, ok := value.(*weft.Tensor)
	if !ok || t != nil && t.Rank() == 0 {
		array.Failf(name, arg, "is not a tensor with an axis of classes")
	}
	b := newBatch(name, 1, parameter{arg, "p", value, d})
	c := classes{batch: b}
	p := expand(b.of("p"), append(b.BatchShape(), t.Dim(-1)))
	if arg == "logits" {
		c.Logits = p.LogSoftmax(-1)
		c.Probs = p.Softmax(-1)
		return c
	}
	eps := array.Epsilon(b.dtype)
	c.Probs = weft.Expr("p/sum_keep(p, -1)", p)
	c.Logits = weft.Expr("log(clamp(p/sum_keep(p, -1), eps, 1-eps))", weft.Vars{"p": p, "eps": eps})
	return c
}

// count is the number of classes.
func (c classes) count() int {
	c.made()
	return c.Probs.Dim(-1)
}

// indices draws n classes per distribution, [batch... n].
func (c classes) indices(g *weft.Generator, n int) *weft.Tensor {
	g, shape := c.draws(g, nil, n)
	k := c.count()
	return g.Multinomial(c.Probs.Detach().Reshape(array.Size(c.shape), k), n).Reshape(shape...)
}

// entropy is the entropy of one class.
func (c classes) entropy() *weft.Tensor {
	c.made()
	return weft.Expr("-sum(p*l, -1)", weft.Vars{"p": c.Probs, "l": c.Logits})
}

// Categorical is the distribution of the classes 0 to k-1, int64, with k probabilities.
type Categorical struct{ classes }

// NewCategorical returns distributions of classes from weights probs of shape [batch... k], which need
// not add up to 1. It panics with *weft.Error where a weight is below 0 or there is no axis of classes.
func NewCategorical(probs *weft.Tensor) Categorical {
	return Categorical{newClasses("distributions.categorical", "probs", probs)}
}

// NewCategoricalLogits is [NewCategorical] of the logarithms of weights, as networks give them.
func NewCategoricalLogits(logits *weft.Tensor) Categorical {
	return Categorical{newClasses("distributions.categorical", "logits", logits)}
}

// EventShape implements [Distribution].
func (d Categorical) EventShape() []int { return nil }

// Sample implements [Distribution].
func (d Categorical) Sample(g *weft.Generator, shape ...int) *weft.Tensor {
	n := array.CheckShape("distributions.categorical.sample", append([]int{}, shape...), weft.Int64)
	x := d.indices(g, n)
	return x.MoveAxis(-1, 0).Reshape(append(append([]int{}, shape...), d.shape...)...)
}

// LogProb implements [Distribution], of classes x, integers.
func (d Categorical) LogProb(x *weft.Tensor) *weft.Tensor {
	d.events("log_prob", x)
	return weft.Expr("sum(where(x == k, l, 0), -1)", weft.Vars{"l": d.Logits, "x": d.inRange(x).Unsqueeze(-1), "k": d.device.ArangeOf(x.DType(), d.count())})
}

// inRange refuses classes that do not exist.
func (d Categorical) inRange(x *weft.Tensor) *weft.Tensor {
	if d := x.DType(); d.Float() || d == weft.Bool {
		array.Failf("distributions.categorical.log_prob", "x", "holds %s, want integers", d)
	}
	c := core.RangeCheck{Op: "distributions.categorical.log_prob", Arg: "x", Min: 0, Max: int64(d.count()) - 1, Text: "%d is not a class"}
	return (*weft.Tensor)(c.Of((*core.Tensor)(x)))
}

// Entropy implements [Entropic].
func (d Categorical) Entropy() *weft.Tensor { return d.entropy() }

// Mean implements [Distribution]: NaN, since classes are not numbers.
func (d Categorical) Mean() *weft.Tensor {
	d.made()
	return expand(d.device.FullOf(d.dtype, nan), d.shape)
}

// Variance implements [Distribution]: NaN.
func (d Categorical) Variance() *weft.Tensor { return d.Mean() }

// OneHotCategorical is [Categorical] with classes as rows of zeros and one 1.
type OneHotCategorical struct{ classes }

// NewOneHotCategorical returns distributions of rows, with weights as for [NewCategorical].
func NewOneHotCategorical(probs *weft.Tensor) OneHotCategorical {
	return OneHotCategorical{newClasses("distributions.one_hot_categorical", "probs", probs)}
}

// NewOneHotCategoricalLogits is [NewOneHotCategorical] of the logarithms of weights.
func NewOneHotCategoricalLogits(logits *weft.Tensor) OneHotCategorical {
	return OneHotCategorical{newClasses("distributions.one_hot_categorical", "logits", logits)}
}

// EventShape implements [Distribution].
func (d OneHotCategorical) EventShape() []int { return []int{d.count()} }

// Sample implements [Distribution].
func (d OneHotCategorical) Sample(g *weft.Generator, shape ...int) *weft.Tensor {
	return Categorical(d).Sample(g, shape...).Unsqueeze(-1).Eq(d.device.ArangeOf(weft.Int64, d.count())).To(d.dtype)
}

// LogProb implements [Distribution].
func (d OneHotCategorical) LogProb(x *weft.Tensor) *weft.Tensor {
	d.events("log_prob", x, d.count())
	return weft.Expr("where(sum(x, -1) != sum(x, -1), nan, where((amax(x, -1) == 1) && (amin(x, -1) >= 0) && (sum(x, -1) == 1), sum(x*where((x == 0) && (l == -inf), 0, l), -1), -inf))",
		weft.Vars{"l": d.Logits, "x": x.To(d.dtype), "inf": inf, "nan": nan})
}

// Entropy implements [Entropic].
func (d OneHotCategorical) Entropy() *weft.Tensor { return d.entropy() }

// Mean implements [Distribution].
func (d OneHotCategorical) Mean() *weft.Tensor {
	d.made()
	return d.Probs
}

// Variance implements [Distribution].
func (d OneHotCategorical) Variance() *weft.Tensor {
	d.made()
	return weft.Expr("p*(1-p)", d.Probs)
}

// Multinomial is the distribution of how often each of k classes comes in Total draws.
type Multinomial struct {
	classes
	Total int
}

// NewMultinomial returns distributions of counts of total draws, with weights as for [NewCategorical].
// It panics with *weft.Error where total is negative.
func NewMultinomial(total int, probs *weft.Tensor) Multinomial {
	return newMultinomial(total, "probs", probs)
}

// NewMultinomialLogits is [NewMultinomial] of the logarithms of weights.
func NewMultinomialLogits(total int, logits *weft.Tensor) Multinomial {
	return newMultinomial(total, "logits", logits)
}

func newMultinomial(total int, arg string, value *weft.Tensor) Multinomial {
	if total < 0 {
		array.Failf("distributions.multinomial", "total", "is %d, want at least 0", total)
	}
	return Multinomial{newClasses("distributions.multinomial", arg, value), total}
}

// EventShape implements [Distribution].
func (d Multinomial) EventShape() []int { return []int{d.count()} }

// Sample implements [Distribution].
func (d Multinomial) Sample(g *weft.Generator, shape ...int) *weft.Tensor {
	c := Categorical{d.classes}
	x := c.Sample(g, append(append([]int{}, shape...), d.Total)...)
	x = x.MoveAxis(len(shape), -1) // [shape... batch... total]
	counts := d.device.ZerosOf(d.dtype, append(x.Shape()[:x.Rank()-1], d.count())...)
	return counts.ScatterAdd(-1, x, d.device.OnesOf(d.dtype, x.Shape()...))
}

// LogProb implements [Distribution].
func (d Multinomial) LogProb(x *weft.Tensor) *weft.Tensor {
	d.events("log_prob", x, d.count())
	return weft.Expr("where(sum(x, -1) != sum(x, -1), nan, where((amin(x, -1) >= 0) && (sum(x, -1) == n), lgamma(sum(x, -1)+1) + sum(x*where((x == 0) && (l == -inf), 0, l) - lgamma(where(x >= 0, x, 0)+1), -1), -inf))",
		weft.Vars{"l": d.Logits, "x": x.To(d.dtype), "n": float64(d.Total), "inf": inf, "nan": nan})
}

// Entropy implements [Entropic].
func (d Multinomial) Entropy() *weft.Tensor {
	d.made()
	x := d.device.ArangeOf(d.dtype, d.Total+1)
	for range d.Probs.Rank() {
		x = x.Unsqueeze(-1)
	}
	b := NewBinomial(d.Total, d.Probs)
	more := weft.Expr("sum(sum(exp(p)*lgamma(x+1), 0), -1)", weft.Vars{"p": b.LogProb(x), "x": x})
	return weft.Expr("n*h - lgamma(n+1) + more", weft.Vars{"n": float64(d.Total), "h": d.entropy(), "more": more})
}

// Mean implements [Distribution].
func (d Multinomial) Mean() *weft.Tensor {
	d.made()
	return d.Probs.Mul(d.Total)
}

// Variance implements [Distribution].
func (d Multinomial) Variance() *weft.Tensor {
	d.made()
	return weft.Expr("n*p*(1-p)", weft.Vars{"n": float64(d.Total), "p": d.Probs})
}
