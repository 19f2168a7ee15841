package distributions

import "weft"

// Distributions of positive numbers and of intervals.

// Exponential is the distribution with density Rate*exp(-Rate*x) from 0 on.
type Exponential struct {
	cumulative
	Rate *weft.Tensor
}

var exponential = family{
	logProb:  "where(x < 0, -inf, log(r) - r*x)",
	mean:     "1/r",
	variance: "1/(r*r)",
	entropy:  "1 - log(r)",
	cdf:      "where(x <= 0, 0, -expm1(-r*x))",
	icdf:     "-log1p(-x)/r",
	draw: func(b batch, g *weft.Generator, shape []int) *weft.Tensor {
		return g.ExponentialOf(b.dtype, b.of("r"), shape...)
	},
}

// NewExponential returns exponential distributions. It panics with *weft.Error where a rate is not
// above 0.
func NewExponential(rate any) Exponential {
	b := newBatch("distributions.exponential", 0, parameter{"rate", "r", rate, positive})
	return Exponential{numbers(b, &exponential), b.of("r")}
}

// Uniform is the uniform distribution from Low to below High.
type Uniform struct {
	cumulative
	Low, High *weft.Tensor
}

var uniform = family{
	logProb:  within("(x >= l) && (x < h)", "-log(h-l)"),
	mean:     "0.5*(l+h)",
	variance: "pow(h-l, 2)/12",
	entropy:  "log(h-l)",
	cdf:      "clamp((x-l)/(h-l), 0, 1)",
	icdf:     "l + x*(h-l)",
	draw:     drawOf((*weft.Generator).UniformOf, "l", "h"),
}

// NewUniform returns uniform distributions. It does not compare low and high: where high is not above
// low, no event has a density.
func NewUniform(low, high any) Uniform {
	b := newBatch("distributions.uniform", 0, parameter{"low", "l", low, anyNumber}, parameter{"high", "h", high, anyNumber})
	return Uniform{numbers(b, &uniform), b.of("l"), b.of("h")}
}

// Gamma is the distribution with density proportional to x^(Concentration-1) * exp(-Rate*x).
type Gamma struct {
	pathwise
	Concentration, Rate *weft.Tensor
}

var gamma = family{
	// At 0 and at infinity the power is 1 for a concentration of 1.
	logProb:  "where(x < 0, -inf, a*log(r) + (a-1)*log(where((a == 1) && ((x == 0) || (x == inf)) || (x < 0), 1, x)) - r*x - lgamma(a))",
	mean:     "a/r",
	variance: "a/(r*r)",
	entropy:  "a - log(r) + lgamma(a) + (1-a)*digamma(a)",
	draw:     drawOf((*weft.Generator).GammaOf, "a", "r"),
}

// NewGamma returns gamma distributions, each parameter a *weft.Tensor or a Go number. It panics with
// *weft.Error where one is not above 0. Chi-squared with k degrees of freedom is NewGamma(k/2, 0.5).
func NewGamma(concentration, rate any) Gamma {
	b := newBatch("distributions.gamma", 0, parameter{"concentration", "a", concentration, positive}, parameter{"rate", "r", rate, positive})
	return Gamma{pathwise{entropic{scalar{b, &gamma}}}, b.of("a"), b.of("r")}
}

// Beta is the distribution with density proportional to x^(A-1) * (1-x)^(B-1) from 0 to 1.
type Beta struct {
	pathwise
	A, B *weft.Tensor // PyTorch's concentration1 and concentration0
}

var beta = family{
	logProb: "where((x < 0) || (x > 1), -inf, (a-1)*log(where((a == 1) && (x == 0) || (x < 0), 1, x)) + " +
		"(b-1)*log1p(-where((b == 1) && (x == 1) || (x > 1), 0, x)) + lgamma(a+b) - lgamma(a) - lgamma(b))",
	mean:     "a/(a+b)",
	variance: "a*b/(pow(a+b, 2)*(a+b+1))",
	entropy:  "lgamma(a) + lgamma(b) - lgamma(a+b) - (a-1)*digamma(a) - (b-1)*digamma(b) + (a+b-2)*digamma(a+b)",
	draw:     drawOf((*weft.Generator).BetaOf, "a", "b"),
}

// NewBeta returns beta distributions, each parameter a *weft.Tensor or a Go number. It panics with
// *weft.Error where one is not above 0.
func NewBeta(a, b any) Beta {
	p := newBatch("distributions.beta", 0, parameter{"a", "a", a, positive}, parameter{"b", "b", b, positive})
	return Beta{pathwise{entropic{scalar{p, &beta}}}, p.of("a"), p.of("b")}
}
