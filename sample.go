package weft

import (
	"fmt"
	"math"

	"weft/internal/array"
	"weft/internal/op"
)

// What a [Generator] makes of its uniform numbers. Each call is one draw, of which element i
// depends on the seed, the draw and i alone, but for the orders of Permutation and of choices
// without replacement, which are of all elements together.

// Uniform returns float32 numbers, uniform from lo to below hi; rounding may give hi.
// [Generator.UniformOf] takes an element type.
func (g *Generator) Uniform(lo, hi float64, shape ...int) *Tensor {
	return g.UniformOf(Float32, lo, hi, shape...)
}

// UniformOf returns numbers of a float type d, uniform from lo to below hi; rounding may give hi.
// float16 and bfloat16 are drawn as float32 and rounded. It panics with *[Error] where lo is above
// hi.
func (g *Generator) UniformOf(d DType, lo, hi float64, shape ...int) *Tensor {
	g.c().NotNil("uniform")
	if !(lo <= hi) || lo-lo != 0 || hi-hi != 0 {
		array.Failf("uniform", "", "cannot be from %v to %v", lo, hi)
	}
	return g.drawn("uniform", op.Uniform, d, shape, hi-lo, lo)
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

// Normal returns float32 numbers of the normal distribution with a mean and a standard
// deviation. [Generator.NormalOf] takes an element type.
func (g *Generator) Normal(mean, deviation float64, shape ...int) *Tensor {
	return g.NormalOf(Float32, mean, deviation, shape...)
}

// NormalOf returns numbers of a float type d from the normal distribution with a mean and a
// standard deviation. float16 and bfloat16 are drawn as float32 and rounded. It panics with
// *[Error] where the mean is not finite or the deviation negative.
func (g *Generator) NormalOf(d DType, mean, deviation float64, shape ...int) *Tensor {
	g.c().NotNil("normal")
	if !(deviation >= 0) || math.IsInf(deviation, 0) || mean-mean != 0 {
		array.Failf("normal", "", "mean %v and standard deviation %v: want finite numbers, the latter not negative", mean, deviation)
	}
	return g.drawn("normal", op.Normal, d, shape, deviation, mean)
}

// Exponential returns float32 numbers of the exponential distribution with a rate: their
// mean is 1/rate. [Generator.ExponentialOf] takes an element type.
func (g *Generator) Exponential(rate float64, shape ...int) *Tensor {
	return g.ExponentialOf(Float32, rate, shape...)
}

// ExponentialOf returns numbers of a float type d of the exponential distribution with a rate:
// their mean is 1/rate. float16 and bfloat16 are drawn as float32 and rounded. It panics with
// *[Error] where the rate is not above 0.
func (g *Generator) ExponentialOf(d DType, rate float64, shape ...int) *Tensor {
	g.c().NotNil("exponential")
	if !(rate > 0) || math.IsInf(rate, 0) {
		array.Failf("exponential", "rate", "%v is not a finite number above 0", rate)
	}
	return g.drawn("exponential", op.Exponential, d, shape, 1/rate, 0)
}

// Bernoulli returns, in the shape and type of p, which holds floats, 1 with the probability
// that p says, else 0.
func (g *Generator) Bernoulli(p *Tensor) *Tensor {
	g.c().NotNil("bernoulli")
	p.c().Check("bernoulli")
	d := p.v().DType
	if !d.Float() {
		array.Failf("bernoulli", "p", "holds %s, want floats", d)
	}
	p = p.Detach()
	p = p.where("bernoulli", "p", "is not from 0 to 1 everywhere", p.Ge(0).LogicalAnd(p.Le(1)))
	of := d
	if d != Float64 {
		of = Float32
	}
	u := g.draw("bernoulli", op.Uniform, of, p.v().Shape).c().On(p.v().Store.Device)
	return (*Tensor)(u).Lt(p.To(of)).To(d)
}

// Permutation returns the sub-arrays of t along the first axis in random order.
func (g *Generator) Permutation(t *Tensor) *Tensor {
	g.c().NotNil("permutation")
	t.c().Check("permutation")
	if t.Rank() == 0 {
		array.Failf("permutation", "", "takes one dimension or more, got a number")
	}
	return t.IndexSelect(0, (*Tensor)(g.Randperm(t.v().Shape[0]).c().On(t.v().Store.Device)))
}

// ChoiceOpts are the options of [Generator.Choice].
type ChoiceOpts struct {
	Distinct bool    // nothing is chosen twice
	Weights  *Tensor // how likely each is, as for Multinomial; nil: all are equally likely
}

// Choice returns n sub-arrays of t along its first axis, chosen at random.
func (g *Generator) Choice(t *Tensor, n int, opts ...ChoiceOpts) *Tensor {
	defer array.Named("choice").End()
	o := array.Options("choice", opts)
	g.c().NotNil("choice")
	t.c().Check("choice")
	if t.Rank() == 0 {
		array.Failf("choice", "", "takes one dimension or more, got a number")
	}
	of := t.v().Shape[0]
	checkChoices("choice", n, of, o.Distinct)
	var places *Tensor
	switch {
	case o.Weights != nil:
		o.Weights.c().Check("choice")
		if !array.Equal(o.Weights.v().Shape, []int{of}) {
			array.Failf("choice", "weights", "have shape %s, want [%d]", array.ShapeString(o.Weights.v().Shape), of)
		}
		places = g.multinomial("choice", o.Weights, n, o.Distinct)
	case o.Distinct:
		places = g.Randperm(of).Slice(Range(0, n))
	case n == 0:
		places = ZerosOf(Int64, 0)
	default:
		places = g.Randint(0, int64(of), n)
	}
	return t.IndexSelect(0, (*Tensor)(places.c().On(t.v().Store.Device)))
}

// MultinomialOpts are the options of [Generator.Multinomial].
type MultinomialOpts struct {
	Distinct bool // no place is chosen twice
}

// Multinomial returns n places, int64, for each row of weights along the last axis, chosen
// with probabilities in proportion to them: [k] gives [n], [m k] gives [m n]. Weights are
// floats, finite and not negative, not all 0, and need not add up to 1; their sums are taken
// in float64. Distinct places are in the order in which they were chosen, and there must be
// as many with weights above 0.
func (g *Generator) Multinomial(weights *Tensor, n int, opts ...MultinomialOpts) *Tensor {
	o := array.Options("multinomial", opts)
	g.c().NotNil("multinomial")
	weights.c().Check("multinomial")
	if r := weights.Rank(); r < 1 || r > 2 {
		array.Failf("multinomial", "weights", "have shape %s, want one or two dimensions", array.ShapeString(weights.v().Shape))
	}
	checkChoices("multinomial", n, weights.v().Shape[weights.Rank()-1], o.Distinct)
	return g.multinomial("multinomial", weights, n, o.Distinct)
}

// checkChoices refuses numbers of choices that cannot be.
func checkChoices(opName string, n, of int, distinct bool) {
	if n < 0 || n > 0 && of == 0 || distinct && n > of {
		array.Failf(opName, "n", "%d of %d cannot be chosen", n, of)
	}
}

func (g *Generator) multinomial(opName string, weights *Tensor, n int, distinct bool) *Tensor {
	if !weights.v().DType.Float() {
		array.Failf(opName, "weights", "hold %s, want floats", weights.v().DType)
	}
	w := weights.Detach().To(Float64)
	w = w.where(opName, "weights", "are not finite and at least 0 everywhere", w.Ge(0).LogicalAnd(w.IsFinite()))
	least := min(n, 1)
	if distinct {
		least = n
	}
	if n > 0 {
		w = w.where(opName, "weights", fmt.Sprintf("are above 0 at too few places: want %d", least), w.Gt(0).To(Int64).Sum(-1).Ge(least))
	}
	number := w.v().Store.Device
	if distinct {
		// The first n of as many clocks, each of which runs as fast as its weight says.
		waits := (*Tensor)(g.draw(opName, op.Exponential, Float64, w.v().Shape).c().On(number)).Div(w)
		waits = Where(w.Gt(0), waits, math.NaN()) // behind those that wait without end
		_, places := waits.TopK(n, -1, TopKOpts{Smallest: true})
		return places
	}
	shape := append(append([]int{}, w.v().Shape[:w.Rank()-1]...), n)
	u := g.draw(opName, op.Uniform, Float64, shape).c().On(number)
	if w.Size() == 0 || u.Size() == 0 {
		return (*Tensor)(ZerosOf(Int64, shape...).c().On(number))
	}
	sums := w.CumSum(-1)
	last := make([]Span, w.Rank())
	for i := range last {
		last[i] = All
	}
	last[w.Rank()-1] = Range(-1, End)
	total := sums.Slice(last...)
	total = total.where(opName, "weights", "have a sum that is not finite", total.IsFinite())
	// A product is below the total, as u is below 1 by a unit or more.
	return sums.SearchSorted((*Tensor)(u).Mul(total), SearchOpts{Right: true})
}
