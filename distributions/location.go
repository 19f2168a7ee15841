package distributions

import "weft"

// Distributions with a location and a scale, and distributions of exponentials and absolute values.

// Normal is the normal distribution with mean Loc and standard deviation Scale.
type Normal struct {
	cumulative
	Loc, Scale *weft.Tensor
}

var normal = family{
	logProb:  "-0.5*pow((x-m)/s, 2) - log(s) - 0.9189385332046727",
	mean:     "m",
	variance: "s*s",
	entropy:  "log(s) + 1.4189385332046727",
	cdf:      "0.5*erfc((m-x)/(s*1.4142135623730951))",
	icdf:     "m + s*ndtri(x)",
	draw:     drawOf((*weft.Generator).NormalOf, "m", "s"),
}

// NewNormal returns normal distributions with means loc and standard deviations scale, each a
// *weft.Tensor or a Go number. It panics with *weft.Error where a scale is not above 0.
func NewNormal(loc, scale any) Normal {
	return Normal(newLocationScale("distributions.normal", &normal, loc, scale))
}

// locationScale has the fields of the distributions that convert from it.
type locationScale struct {
	cumulative
	Loc, Scale *weft.Tensor
}

// newLocationScale returns distributions of a family with parameters m and s.
func newLocationScale(name string, f *family, loc, scale any) locationScale {
	b := newBatch(name, 0, parameter{"loc", "m", loc, anyNumber}, parameter{"scale", "s", scale, positive})
	return locationScale{numbers(b, f), b.of("m"), b.of("s")}
}

func numbers(b batch, f *family) cumulative {
	return cumulative{pathwise{entropic{scalar{b, f}}}}
}

// LogNormal is the distribution of the exponential of a normal number with mean Loc and standard
// deviation Scale.
type LogNormal struct {
	cumulative
	Loc, Scale *weft.Tensor
}

var logNormal = family{
	logProb:  "where(x <= 0, -inf, -0.5*pow((log(where(x <= 0, 1, x))-m)/s, 2) - log(s) - 0.9189385332046727 - log(where(x <= 0, 1, x)))",
	mean:     "exp(m + 0.5*s*s)",
	variance: "expm1(s*s) * exp(2*m + s*s)",
	entropy:  "m + log(s) + 1.4189385332046727",
	cdf:      "where(x <= 0, 0, 0.5*erfc((m-log(where(x <= 0, 1, x)))/(s*1.4142135623730951)))",
	icdf:     "exp(m + s*ndtri(x))",
	draw: func(b batch, g *weft.Generator, shape []int) *weft.Tensor {
		return g.NormalOf(b.dtype, b.of("m"), b.of("s"), shape...).Exp()
	},
}

// NewLogNormal returns log-normal distributions, with parameters as for [NewNormal].
func NewLogNormal(loc, scale any) LogNormal {
	return LogNormal(newLocationScale("distributions.log_normal", &logNormal, loc, scale))
}

// HalfNormal is the distribution of the absolute value of a normal number with mean 0 and standard
// deviation Scale.
type HalfNormal struct {
	cumulative
	Scale *weft.Tensor
}

var halfNormal = family{
	logProb:  "where(x < 0, -inf, -0.5*pow(x/s, 2) - log(s) - 0.22579135264472744)",
	mean:     "s*0.7978845608028654",
	variance: "s*s*0.3633802276324186",
	entropy:  "log(s) + 0.7257913526447274",
	cdf:      "where(x <= 0, 0, erf(x/(s*1.4142135623730951)))",
	icdf:     "s*1.4142135623730951*erfinv(x)",
	draw: func(b batch, g *weft.Generator, shape []int) *weft.Tensor {
		return g.RandnOf(b.dtype, shape...).Abs().Mul(b.of("s"))
	},
}

// NewHalfNormal returns half-normal distributions. It panics with *weft.Error where a scale is not
// above 0.
func NewHalfNormal(scale any) HalfNormal {
	b := newBatch("distributions.half_normal", 0, parameter{"scale", "s", scale, positive})
	return HalfNormal{numbers(b, &halfNormal), b.of("s")}
}

// Laplace is the distribution with density exp(-abs(x-Loc)/Scale)/(2*Scale).
type Laplace struct {
	cumulative
	Loc, Scale *weft.Tensor
}

var laplace = family{
	logProb:  "-abs(x-m)/s - log(2*s)",
	mean:     "m",
	variance: "2*s*s",
	entropy:  "1 + log(2*s)",
	cdf:      "where(x < m, 0.5*exp(-abs(x-m)/s), 0.5 - 0.5*expm1(-abs(x-m)/s))",
	icdf:     "where(x < 0.5, m + s*log(2*x), m - s*log(2 - 2*x))",
	draw:     drawOf((*weft.Generator).LaplaceOf, "m", "s"),
}

// NewLaplace returns Laplace distributions, with parameters as for [NewNormal].
func NewLaplace(loc, scale any) Laplace {
	return Laplace(newLocationScale("distributions.laplace", &laplace, loc, scale))
}

// Cauchy is the distribution with density 1/(pi*Scale*(1 + ((x-Loc)/Scale)^2)). Its mean is NaN and its
// variance infinite.
type Cauchy struct {
	cumulative
	Loc, Scale *weft.Tensor
}

var cauchy = family{
	logProb:  "-1.1447298858494002 - log(s) - where(abs(x-m)/s < 1e9, log1p(pow((x-m)/s, 2)), 2*log(maximum(abs(x-m)/s, 1)))",
	mean:     "m*nan",
	variance: "where(s > 0, s*inf, s*nan)",
	entropy:  "log(s) + 2.5310242469692907",
	cdf:      "atan2(1, (m-x)/s)/pi",
	icdf:     "m + s*where(x < 0.25, -1/tan(pi*x), where(x > 0.75, 1/tan(pi*(1-x)), tan(pi*(x-0.5))))",
	draw:     drawOf((*weft.Generator).CauchyOf, "m", "s"),
}

// NewCauchy returns Cauchy distributions, with parameters as for [NewNormal].
func NewCauchy(loc, scale any) Cauchy {
	return Cauchy(newLocationScale("distributions.cauchy", &cauchy, loc, scale))
}

// Gumbel is the distribution of the maximum of many numbers: its distribution function is
// exp(-exp(-(x-Loc)/Scale)).
type Gumbel struct {
	cumulative
	Loc, Scale *weft.Tensor
}

var gumbel = family{
	logProb:  "(m-x)/s - exp((m-x)/s) - log(s)",
	mean:     "m + s*0.5772156649015329",
	variance: "s*s*1.6449340668482264",
	entropy:  "log(s) + 1.5772156649015329",
	cdf:      "exp(-exp((m-x)/s))",
	icdf:     "m - s*log(-log(x))",
	draw: func(b batch, g *weft.Generator, shape []int) *weft.Tensor {
		// An exponential number may round to 0, whose logarithm has no mean.
		return b.formula("m - s*log(maximum(x, 1e-30))", g.ExponentialOf(b.dtype, 1, shape...))
	},
}

// NewGumbel returns Gumbel distributions, with parameters as for [NewNormal].
func NewGumbel(loc, scale any) Gumbel {
	return Gumbel(newLocationScale("distributions.gumbel", &gumbel, loc, scale))
}

// StudentT is Student's distribution with DF degrees of freedom, moved to Loc and stretched by Scale.
type StudentT struct {
	pathwise
	DF, Loc, Scale *weft.Tensor
}

// gammaRatio is the formula of lgamma((v+1)/2) - lgamma(v/2) - log(v/2)/2. For large v, where that cancels, it
// is a series in 1/z, z = v/2 (NIST Digital Library of Mathematical Functions, 5.11.13).
const (
	gammaRatio = "where(v < 30, lgamma(0.5*v + 0.5) - lgamma(0.5*v) - 0.5*log(0.5*v), " + largeRatio + ")"
	// With y = 1/z: -y/8 + y^3/192 - y^5/640 + 17*y^7/14336 - 31*y^9/18432.
	largeRatio = "-(2/v)*(0.125 - pow(2/v, 2)*(1/192 - pow(2/v, 2)*(1/640 - pow(2/v, 2)*(17/14336 - pow(2/v, 2)*(31/18432)))))"
)

var studentT = family{
	logProb:  "-0.5*(v+1)*where(abs(x-m)/(s*sqrt(v)) < 1e9, log1p(pow((x-m)/s, 2)/v), 2*log(maximum(abs(x-m)/(s*sqrt(v)), 1))) - log(s) - 0.9189385332046727 + " + gammaRatio,
	mean:     "where(v > 1, m, nan)",
	variance: "where(v > 2, s*s*v/(v-2), where(v > 1, inf, nan))",
	entropy: "log(s) + 0.9189385332046727 - (" + gammaRatio + ") + 0.5*(v+1)*" +
		"where(v < 30, digamma(0.5*v + 0.5) - digamma(0.5*v), " + slopeOfLarge + ")",
	draw: func(b batch, g *weft.Generator, shape []int) *weft.Tensor {
		return g.StudentTOf(b.dtype, b.of("v"), b.of("m"), b.of("s"), shape...)
	},
}

// slopeOfLarge is digamma((v+1)/2) - digamma(v/2) for large v: 1/v, and twice the derivative of largeRatio.
const slopeOfLarge = "(1/v)*(1 + (2/v)*(0.25 - pow(2/v, 2)*(1/32 - pow(2/v, 2)*(1/64 - pow(2/v, 2)*(17/1024 - pow(2/v, 2)*(31/1024))))))"

// NewStudentT returns Student's distributions, each parameter a *weft.Tensor or a Go number. It
// panics with *weft.Error where df or scale is not above 0.
func NewStudentT(df, loc, scale any) StudentT {
	b := newBatch("distributions.student_t", 0, parameter{"df", "v", df, positive}, parameter{"loc", "m", loc, anyNumber}, parameter{"scale", "s", scale, positive})
	return StudentT{pathwise{entropic{scalar{b, &studentT}}}, b.of("v"), b.of("m"), b.of("s")}
}
