package weft

import (
	"math"

	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/op"
)

// Distributions whose parameters are tensors or Go numbers, which broadcast. The result has the shape
// that is asked for, or without one that of the parameters. Elements outside their domain, NaN
// included, give NaN, and -1 in integer types; a Go number outside is refused. Gradients go
// through parameters where a method says so.

// Uniform returns float32 numbers, uniform from lo to below hi; rounding may give hi. The bounds are
// Go numbers, or tensors as for [Generator.Poisson], whose type the result has then. Gradients go
// through both. [Generator.UniformOf] takes an element type.
func (g *Generator) Uniform(lo, hi any, shape ...int) *Tensor {
	return g.UniformOf(array.Invalid, lo, hi, shape...)
}

// UniformOf returns numbers of a float type d, uniform from lo to below hi; rounding may give hi.
// float16 and bfloat16 are drawn as float32 and rounded. It panics with *[Error] where Go numbers are
// not finite or lo is above hi; elements of tensors out of order give NaN.
func (g *Generator) UniformOf(d DType, lo, hi any, shape ...int) *Tensor {
	defer array.Named("uniform").End()
	ps := []parameter{{"lo", lo, -math.MaxFloat64, math.MaxFloat64}, {"hi", hi, -math.MaxFloat64, math.MaxFloat64}}
	g, d, shape = g.resultOf("uniform", d, shape, ps)
	if ps[0].tensor() || ps[1].tensor() {
		low, high := ps[0].as(d, g), ps[1].as(d, g)
		return g.moved("uniform", op.Uniform, d, shape, Where(high.Ge(low), high.Sub(low), math.NaN()), low)
	}
	a, b := ps[0].number(), ps[1].number()
	if a > b {
		array.Failf("uniform", "", "cannot be from %v to %v", lo, hi)
	}
	return g.drawn("uniform", op.Uniform, d, shape, b-a, a)
}

// drawn returns numbers of a distribution by scale plus offset, of a float type d.
func (g *Generator) drawn(opName string, kind op.Distribution, d DType, shape []int, scale, offset float64) *Tensor {
	of := d
	if halfBits[d] > 0 {
		of = Float32
	}
	x := g.draw(opName, kind, of, shape).Mul(scale)
	if kind != op.Exponential {
		x = x.Add(offset)
	}
	return x.To(d)
}

// moved is drawn by tensors, from [parameter.as].
func (g *Generator) moved(opName string, kind op.Distribution, d DType, shape []int, scale, offset *Tensor) *Tensor {
	x := g.draw(opName, kind, scale.DType(), shape).Mul(scale)
	return x.Add(offset).To(d)
}

// Normal returns float32 numbers of the normal distribution with a mean and a standard
// deviation. Both are Go numbers, or tensors as for [Generator.Poisson], whose type the result has
// then. Gradients go through both. [Generator.NormalOf] takes an element type.
func (g *Generator) Normal(mean, deviation any, shape ...int) *Tensor {
	return g.NormalOf(array.Invalid, mean, deviation, shape...)
}

// NormalOf returns numbers of a float type d from the normal distribution with a mean and a
// standard deviation. float16 and bfloat16 are drawn as float32 and rounded. It panics with
// *[Error] where Go numbers are not finite or the deviation is negative; such elements of tensors give
// NaN.
func (g *Generator) NormalOf(d DType, mean, deviation any, shape ...int) *Tensor {
	return g.locatedBy("normal", op.Normal, d, shape, parameter{"mean", mean, -math.MaxFloat64, math.MaxFloat64}, parameter{"deviation", deviation, 0, math.MaxFloat64})
}

// Exponential returns float32 numbers of the exponential distribution with a rate: their
// mean is 1/rate. The rate is a Go number, or a tensor as for [Generator.Poisson], whose type the
// result has then. A gradient goes through it. [Generator.ExponentialOf] takes an element type.
func (g *Generator) Exponential(rate any, shape ...int) *Tensor {
	return g.ExponentialOf(array.Invalid, rate, shape...)
}

// ExponentialOf returns numbers of a float type d of the exponential distribution with a rate:
// their mean is 1/rate. float16 and bfloat16 are drawn as float32 and rounded. It panics with
// *[Error] where a Go number is not above 0; such elements of a tensor give NaN.
func (g *Generator) ExponentialOf(d DType, rate any, shape ...int) *Tensor {
	defer array.Named("exponential").End()
	p := parameter{"rate", rate, math.SmallestNonzeroFloat64, math.MaxFloat64}
	g, d, shape = g.resultOf("exponential", d, shape, []parameter{p})
	if p.tensor() {
		by := p.as(d, g)
		by = Where(by.Gt(0), by, math.NaN())
		return g.draw("exponential", op.Exponential, by.DType(), shape).Div(by).To(d)
	}
	return g.drawn("exponential", op.Exponential, d, shape, 1/p.number(), 0)
}

// Poisson returns numbers of the Poisson distribution with a rate, a *Tensor or a Go number from 0 on.
// They have the rate's type; integers and Go numbers give float32. [Generator.PoissonOf] takes an
// element type.
func (g *Generator) Poisson(rate any, shape ...int) *Tensor {
	return g.PoissonOf(array.Invalid, rate, shape...)
}

// PoissonOf is [Generator.Poisson] in a type of integers or floats.
func (g *Generator) PoissonOf(d DType, rate any, shape ...int) *Tensor {
	return g.vary("poisson", op.Poisson, d, shape, parameter{"rate", rate, 0, math.MaxFloat64})
}

// Binomial returns the number of successes among n independent trials that succeed with probability p,
// both a *Tensor or a Go number; n is whole. The result has the type in which n and p meet as floats.
// [Generator.BinomialOf] takes an element type. Counts above 2^40 are drawn with errors above 1e-4 of
// each probability.
func (g *Generator) Binomial(n, p any, shape ...int) *Tensor {
	return g.BinomialOf(array.Invalid, n, p, shape...)
}

// BinomialOf is [Generator.Binomial] in a type of integers or floats.
func (g *Generator) BinomialOf(d DType, n, p any, shape ...int) *Tensor {
	return g.vary("binomial", op.Binomial, d, shape, parameter{"n", n, 0, math.MaxFloat64}, parameter{"p", p, 0, 1})
}

// Gamma returns numbers of the gamma distribution with a concentration, also called shape, from 0 on,
// and a rate above 0. Both are a *Tensor or a Go number; the mean is concentration/rate. Below a
// concentration of about 0.01 many numbers are too small for their type and 0. Gradients go through both
// parameters: by the concentration it is the implicit one of PyTorch's rsample, which holds the probability
// of a smaller number fixed, 0 for a number that is 0. It has no gradient itself. Elements of tensors
// outside their domain give NaN; a Go number outside is refused. [Generator.GammaOf] takes an element type.
func (g *Generator) Gamma(concentration, rate any, shape ...int) *Tensor {
	return g.GammaOf(array.Invalid, concentration, rate, shape...)
}

// GammaOf is [Generator.Gamma] in a type of floats.
func (g *Generator) GammaOf(d DType, concentration, rate any, shape ...int) *Tensor {
	defer array.Named("gamma").End()
	ps := []parameter{{"concentration", concentration, 0, math.MaxFloat64}, {"rate", rate, math.SmallestNonzeroFloat64, math.MaxFloat64}}
	g, d, shape = g.resultOf("gamma", d, shape, ps)
	floatsOnly("gamma", d)
	x := g.vary("gamma", op.StandardGamma, Float64, shape, ps[0])
	by := core.AsOperand[Tensor]("gamma", "rate", rate)
	if by.T != nil {
		r := (*Tensor)(by.T).To(Float64)
		by.T = Where(r.Gt(0), r, math.NaN()).c()
	}
	return (*Tensor)(core.Apply(op.Div, nil, core.Operand{T: x.c()}, by)).To(d)
}

// Beta returns numbers of the beta distribution with concentrations a of 1 and b of 0, above 0: the mean is
// a/(a+b). Both are a *Tensor or a Go number. Gradients go through both parameters: as through the
// concentrations of two numbers of [Generator.Gamma], the first over the sum of both. They have no gradient
// themselves. [Generator.BetaOf] takes an element type.
func (g *Generator) Beta(a, b any, shape ...int) *Tensor {
	return g.BetaOf(array.Invalid, a, b, shape...)
}

// BetaOf is [Generator.Beta] in a type of floats.
func (g *Generator) BetaOf(d DType, a, b any, shape ...int) *Tensor {
	defer array.Named("beta").End()
	ps := []parameter{{"a", a, math.SmallestNonzeroFloat64, math.MaxFloat64}, {"b", b, math.SmallestNonzeroFloat64, math.MaxFloat64}}
	g, d, shape = g.resultOf("beta", d, shape, ps)
	floatsOnly("beta", d)
	both := Stack([]*Tensor{ps[0].as(Float64, g).Expand(shape...), ps[1].as(Float64, g).Expand(shape...)}, -1)
	x := g.vary("beta", op.LogGamma, Float64, both.v().Shape, parameter{name: "a", x: both})
	return x.Slice(Ellipsis, Index(0)).Sub(x.Slice(Ellipsis, Index(1))).Sigmoid().To(d)
}

// Dirichlet returns points of the Dirichlet distribution: along their last axis numbers from 0 to 1 that add
// up to 1. Their means are in proportion to the concentrations, which are above 0: a *Tensor, or a Go number
// for all. The shape is that of all points, [..., k]; without one it is that of the concentration, which then
// has an axis. Gradients go through the concentration as through that of numbers of [Generator.Gamma], over
// their sum; they have no gradient themselves. [Generator.DirichletOf] takes an element type.
func (g *Generator) Dirichlet(concentration any, shape ...int) *Tensor {
	return g.DirichletOf(array.Invalid, concentration, shape...)
}

// DirichletOf is [Generator.Dirichlet] in a type of floats.
func (g *Generator) DirichletOf(d DType, concentration any, shape ...int) *Tensor {
	defer array.Named("dirichlet").End()
	p := parameter{"concentration", concentration, math.SmallestNonzeroFloat64, math.MaxFloat64}
	g, d, shape = g.resultOf("dirichlet", d, shape, []parameter{p})
	floatsOnly("dirichlet", d)
	if len(shape) == 0 {
		array.Failf("dirichlet", "concentration", "is one number: want an axis of them, or a shape")
	}
	return g.vary("dirichlet", op.LogGamma, Float64, shape, p).Softmax(-1).To(d)
}

// Geometric returns the number of the first trial that succeeds, from 1 on, of independent ones with
// probability p of success, above 0 and at most 1: a *Tensor or a Go number. It has the type of p; integers
// and Go numbers give float32. The number of failures before is one less. No gradient goes through p.
// [Generator.GeometricOf] takes an element type.
func (g *Generator) Geometric(p any, shape ...int) *Tensor {
	return g.GeometricOf(array.Invalid, p, shape...)
}

// GeometricOf is [Generator.Geometric] in a type of integers or floats.
func (g *Generator) GeometricOf(d DType, p any, shape ...int) *Tensor {
	return g.vary("geometric", op.Geometric, d, shape, parameter{"p", p, math.SmallestNonzeroFloat64, 1})
}

// Laplace returns numbers of the Laplace distribution with a location, which is the mean, and a scale from 0
// on: a *Tensor or a Go number. The variance is 2*scale^2. Gradients go through both.
// [Generator.LaplaceOf] takes an element type.
func (g *Generator) Laplace(location, scale any, shape ...int) *Tensor {
	return g.LaplaceOf(array.Invalid, location, scale, shape...)
}

// LaplaceOf is [Generator.Laplace] in a type of floats.
func (g *Generator) LaplaceOf(d DType, location, scale any, shape ...int) *Tensor {
	return g.locatedBy("laplace", op.Laplace, d, shape, parameter{"location", location, -math.MaxFloat64, math.MaxFloat64}, parameter{"scale", scale, 0, math.MaxFloat64})
}

// Cauchy returns numbers of the Cauchy distribution with a location, which is the median, and a scale from 0
// on: a *Tensor or a Go number. It has no mean. Gradients go through both. [Generator.CauchyOf] takes an
// element type.
func (g *Generator) Cauchy(location, scale any, shape ...int) *Tensor {
	return g.CauchyOf(array.Invalid, location, scale, shape...)
}

// CauchyOf is [Generator.Cauchy] in a type of floats.
func (g *Generator) CauchyOf(d DType, location, scale any, shape ...int) *Tensor {
	return g.locatedBy("cauchy", op.Cauchy, d, shape, parameter{"location", location, -math.MaxFloat64, math.MaxFloat64}, parameter{"scale", scale, 0, math.MaxFloat64})
}

// StudentT returns numbers of Student's t distribution with df degrees of freedom above 0, a location and a
// scale from 0 on, all of them a *Tensor or a Go number. It makes two draws: a normal one, and a gamma one
// that divides it. Gradients go through all parameters; the one by df is that of [Generator.Gamma] and has no
// gradient itself. [Generator.StudentTOf] takes an element type.
func (g *Generator) StudentT(df, location, scale any, shape ...int) *Tensor {
	return g.StudentTOf(array.Invalid, df, location, scale, shape...)
}

// StudentTOf is [Generator.StudentT] in a type of floats.
func (g *Generator) StudentTOf(d DType, df, location, scale any, shape ...int) *Tensor {
	defer array.Named("studentt").End()
	ps := []parameter{{"location", location, -math.MaxFloat64, math.MaxFloat64}, {"scale", scale, 0, math.MaxFloat64},
		{"df", df, math.SmallestNonzeroFloat64, math.MaxFloat64}}
	g, d, shape = g.resultOf("studentt", d, shape, ps)
	floatsOnly("studentt", d)
	half := ps[2].as(Float64, g).Mul(0.5)
	z := g.draw("studentt", op.Normal, Float64, shape)
	// The square root of half over a gamma number of that concentration.
	logs := half.Log().Sub(g.vary("studentt", op.LogGamma, Float64, shape, parameter{name: "df", x: half}))
	z = z.Mul(logs.Mul(0.5).Exp())
	by := ps[1].as(Float64, g)
	return z.Mul(Where(by.Ge(0), by, math.NaN())).Add(ps[0].as(Float64, g)).To(d)
}

// locatedBy is a draw of a distribution by location and scale.
func (g *Generator) locatedBy(opName string, kind op.Distribution, d DType, shape []int, location, scale parameter) *Tensor {
	defer array.Named(opName).End()
	g, d, shape = g.resultOf(opName, d, shape, []parameter{location, scale})
	floatsOnly(opName, d)
	if location.tensor() || scale.tensor() {
		by := scale.as(d, g)
		return g.moved(opName, kind, d, shape, Where(by.Ge(0), by, math.NaN()), location.as(d, g))
	}
	return g.drawn(opName, kind, d, shape, scale.number(), location.number())
}

// TruncatedNormal returns numbers of the normal distribution with a mean and a standard deviation above
// 0, on condition that they lie from lo to hi, which may be infinite. All four are a *Tensor or a Go
// number. Numbers far from the mean are as exact as others. Elements of tensors outside their domain give
// NaN; a Go number outside is refused. [Generator.TruncatedNormalOf] takes an
// element type.
func (g *Generator) TruncatedNormal(mean, deviation, lo, hi any, shape ...int) *Tensor {
	return g.TruncatedNormalOf(array.Invalid, mean, deviation, lo, hi, shape...)
}

// TruncatedNormalOf is [Generator.TruncatedNormal] in a type of floats.
func (g *Generator) TruncatedNormalOf(d DType, mean, deviation, lo, hi any, shape ...int) *Tensor {
	ps := []parameter{{"mean", mean, -math.MaxFloat64, math.MaxFloat64}, {"deviation", deviation, math.SmallestNonzeroFloat64, math.MaxFloat64},
		{"lo", lo, math.Inf(-1), math.Inf(1)}, {"hi", hi, math.Inf(-1), math.Inf(1)}}
	g, d, shape = g.resultOf("truncatednormal", d, shape, ps)
	floatsOnly("truncatednormal", d)
	a, b := core.AsOperand[Tensor]("truncatednormal", "lo", lo), core.AsOperand[Tensor]("truncatednormal", "hi", hi)
	if a.T == nil && b.T == nil && !(a.Num.Real(Float64) <= b.Num.Real(Float64)) {
		array.Failf("truncatednormal", "hi", "%v is below lo, %v", hi, lo)
	}
	return g.vary("truncatednormal", op.TruncatedNormal, d, shape, ps...)
}

// A parameter of a distribution: a *Tensor, or a Go number from lo to hi.
type parameter struct {
	name   string
	x      any
	lo, hi float64
}

// tensor reports a *Tensor.
func (p parameter) tensor() bool {
	_, ok := p.x.(*Tensor)
	return ok
}

// number is a Go number as a float64.
func (p parameter) number() float64 {
	return core.AsOperand[Tensor]("random", p.name, p.x).Num.Real(Float64)
}

// as is p as a tensor on the generator's device, of the type in which numbers of d are drawn.
func (p parameter) as(d DType, g *Generator) *Tensor {
	if halfBits[d] > 0 {
		d = Float32
	}
	if t, ok := p.x.(*Tensor); ok {
		return t.To(d)
	}
	return (*Tensor)(core.Full("random", core.AsOperand[Tensor]("random", p.name, p.x), g.c().Device(), d, nil))
}

func floatsOnly(opName string, d DType) {
	if !d.Float() {
		array.Failf(opName, "dtype", "%s is not a float", d)
	}
}

// resultOf returns g on the device of the parameters, and the type and the shape of a draw. It refuses
// parameters that do not broadcast to the shape and numbers outside their bounds.
func (g *Generator) resultOf(opName string, d DType, shape []int, ps []parameter) (*Generator, DType, []int) {
	g.c().NotNil(opName)
	meet := array.Invalid
	shapes := make([][]int, len(ps))
	for i, p := range ps {
		o := core.AsOperand[Tensor](opName, p.name, p.x)
		if o.T == nil {
			if x := o.Num.Real(Float64); o.Num.Kind == array.CatComplex || !(p.lo <= x && x <= p.hi) {
				array.Failf(opName, p.name, "%v is not a number from %v to %v", p.x, p.lo, p.hi)
			}
			continue
		}
		v := (*Tensor)(o.T).v()
		g = g.On((*Tensor)(o.T).Device())
		if shapes[i] = v.Shape; v.DType.Complex() {
			array.Failf(opName, p.name, "holds %s, want real numbers", v.DType)
		}
		if v.DType.Float() {
			if meet == array.Invalid {
				meet = v.DType
			}
			meet = array.Promote(meet, v.DType)
		}
	}
	switch {
	case d != array.Invalid:
		if !d.Supported() || d == Bool || d.Complex() {
			array.Failf(opName, "dtype", "%s is not a type of integers or floats", d)
		}
	case meet == array.Invalid:
		d = Float32
	default:
		d = meet
	}
	if len(shape) == 0 {
		return g, d, array.Broadcast(opName, shapes...)
	}
	shape = append([]int{}, shape...)
	array.CheckShape(opName, shape, Float64)
	for i, s := range shapes {
		if !array.BroadcastsTo(s, shape) {
			array.Failf(opName, ps[i].name, "of shape %s does not broadcast to %s", array.ShapeString(s), array.ShapeString(shape))
		}
	}
	return g, d, shape
}

// vary makes one draw of a distribution with parameters by element.
func (g *Generator) vary(opName string, def *op.Def, d DType, shape []int, ps ...parameter) *Tensor {
	g, d, shape = g.resultOf(opName, d, shape, ps)
	ops := make([]core.Operand, len(ps), len(ps)+2)
	tensors := false
	for i, p := range ps {
		ops[i] = core.AsOperand[Tensor](opName, p.name, p.x)
		if t := (*Tensor)(ops[i].T); t != nil {
			ops[i].T.Check(opName)
			if tensors = true; def != op.StandardGamma && def != op.LogGamma { // which have a gradient
				ops[i].T = t.Detach().c()
			}
		}
	}
	if !tensors {
		ops[0] = core.Operand{T: core.Full(opName, ops[0], g.c().Device(), Float64, nil)}
	}
	seed, draw := g.c().Words(opName)
	return (*Tensor)(core.Apply(def, op.Variate{DType: d, Shape: shape}, append(ops, seed, draw)...))
}
