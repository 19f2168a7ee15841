package distributions

import (
	"weft"
	"weft/internal/array"
)

// Distributions of whole numbers. Their probabilities are given as such or as log-odds. A
// probability is first moved into the interval from eps to 1-eps, so that its log-odds are finite; eps is
// the distance from 1 to the next number of the type.

// newTrial returns a batch with probabilities p and log-odds l, of the argument arg, "probs" or "logits".
func newTrial(name, arg string, value any, d domain, more ...parameter) batch {
	if arg == "logits" {
		b := newBatch(name, 0, append(more, parameter{arg, "l", value, anyNumber})...)
		b.vars["p"] = b.of("l").Sigmoid()
		return b
	}
	b := newBatch(name, 0, append(more, parameter{arg, "p", value, d})...)
	eps := array.Epsilon(b.dtype)
	p := b.of("p").Clamp(eps, 1-eps)
	b.vars["l"] = weft.Expr("log(p) - log1p(-p)", p)
	return b
}

// Bernoulli is the distribution of 1 with probability Probs, else 0.
type Bernoulli struct {
	entropic
	Probs, Logits *weft.Tensor
}

var bernoulli = family{
	logProb:  within("(x == 0) || (x == 1)", "x*l - softplus(l)"),
	mean:     "p",
	variance: "p*(1-p)",
	entropy:  "softplus(l) - l*sigmoid(l)",
	draw: func(b batch, g *weft.Generator, shape []int) *weft.Tensor {
		of := b.dtype
		if of != weft.Float64 {
			of = weft.Float32
		}
		return g.RandOf(of, shape...).Lt(b.of("p").Detach()).To(b.dtype)
	},
}

// NewBernoulli returns Bernoulli distributions with probabilities probs, a *weft.Tensor or a Go number.
// It panics with *weft.Error where one is not from 0 to 1.
func NewBernoulli(probs any) Bernoulli { return newBernoulli("probs", probs) }

// NewBernoulliLogits is [NewBernoulli] of log-odds, log(p/(1-p)).
func NewBernoulliLogits(logits any) Bernoulli { return newBernoulli("logits", logits) }

func newBernoulli(arg string, value any) Bernoulli {
	b := newTrial("distributions.bernoulli", arg, value, probability)
	return Bernoulli{entropic{scalar{b, &bernoulli}}, b.of("p"), b.of("l")}
}

// Binomial is the distribution of the number of successes among Total independent trials that succeed
// with probability Probs.
type Binomial struct {
	scalar
	Total, Probs, Logits *weft.Tensor
}

var binomial = family{
	logProb: within("(x >= 0) && (x <= n) && (floor(x) == x)", "lgamma(n+1) - lgamma(where(x >= 0, x, 0)+1) - "+
		"lgamma(where(x <= n, n-x, 0)+1) + x*l - n*softplus(l)"),
	mean:     "n*p",
	variance: "n*p*(1-p)",
	draw: func(b batch, g *weft.Generator, shape []int) *weft.Tensor {
		return g.BinomialOf(b.dtype, b.of("n").Detach(), b.of("p").Detach(), shape...)
	},
}

// NewBinomial returns binomial distributions, each parameter a *weft.Tensor or a Go number. It panics
// with *weft.Error where total is not a whole number or a probability is not from 0 to 1.
func NewBinomial(total, probs any) Binomial { return newBinomial(total, "probs", probs) }

// NewBinomialLogits is [NewBinomial] of log-odds, log(p/(1-p)).
func NewBinomialLogits(total, logits any) Binomial { return newBinomial(total, "logits", logits) }

func newBinomial(total any, arg string, value any) Binomial {
	b := newTrial("distributions.binomial", arg, value, probability, parameter{"total", "n", total, count})
	return Binomial{scalar{b, &binomial}, b.of("n"), b.of("p"), b.of("l")}
}

// Entropy implements [Entropic]. It adds over all counts, so Total must be one number that is known when
// it is called: one inside of a compiled function is refused.
func (d Binomial) Entropy() *weft.Tensor {
	d.made()
	x := d.support()
	for range d.shape {
		x = x.Unsqueeze(-1)
	}
	p := d.LogProb(x)
	return expand(weft.Expr("-sum(exp(p)*p, 0)", p), d.shape)
}

// support returns the counts from 0 to Total, whose elements must be known and equal.
func (d Binomial) support() *weft.Tensor {
	n := -1
	for _, x := range weft.Data[float64](d.Total.Detach().To(weft.Float64)) {
		if n >= 0 && int(x) != n {
			array.Failf("distributions.binomial.entropy", "total", "differs: %d and %v", n, x)
		}
		n = int(x)
	}
	return d.device.ArangeOf(d.dtype, max(n, 0)+1)
}

// Geometric is the distribution of the number of failures before the first success, in trials that
// succeed with probability Probs.
type Geometric struct {
	entropic
	Probs, Logits *weft.Tensor
}

var geometric = family{
	logProb:  within("(x >= 0) && (floor(x) == x)", "x*log1p(-where((p == 1) && (x == 0), 0, p)) + log(p)"),
	mean:     "1/p - 1",
	variance: "(1/p - 1)/p",
	entropy:  "(softplus(l) - l*sigmoid(l))/p",
	draw: func(b batch, g *weft.Generator, shape []int) *weft.Tensor {
		return g.GeometricOf(b.dtype, b.of("p").Detach(), shape...).Sub(1)
	},
}

// NewGeometric returns geometric distributions. It panics with *weft.Error where a probability is not
// above 0 and at most 1.
func NewGeometric(probs any) Geometric { return newGeometric("probs", probs) }

// NewGeometricLogits is [NewGeometric] of log-odds, log(p/(1-p)).
func NewGeometricLogits(logits any) Geometric { return newGeometric("logits", logits) }

func newGeometric(arg string, value any) Geometric {
	b := newTrial("distributions.geometric", arg, value, chance)
	return Geometric{entropic{scalar{b, &geometric}}, b.of("p"), b.of("l")}
}

// Poisson is the distribution of the number of events that happen at a rate.
type Poisson struct {
	scalar
	Rate *weft.Tensor
}

var poisson = family{
	logProb:  within("(x >= 0) && (floor(x) == x)", "x*log(where((r == 0) && (x == 0), 1, r)) - r - lgamma(where(x >= 0, x, 0)+1)"),
	mean:     "r",
	variance: "r",
	draw: func(b batch, g *weft.Generator, shape []int) *weft.Tensor {
		return g.PoissonOf(b.dtype, b.of("r").Detach(), shape...)
	},
}

// NewPoisson returns Poisson distributions. It panics with *weft.Error where a rate is below 0.
func NewPoisson(rate any) Poisson {
	b := newBatch("distributions.poisson", 0, parameter{"rate", "r", rate, notNegative})
	return Poisson{scalar{b, &poisson}, b.of("r")}
}
