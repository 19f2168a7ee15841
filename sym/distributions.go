package sym

import (
	"slices"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
)

// Draws whose parameters may be variables.

// varying makes a random variable of parameters that are variables, tensors or Go numbers.
func (s *RandomStreams) varying(name string, params []any, shape []int, f func(g *weft.Generator, shape []int, x []any) *weft.Tensor) *Var {
	if s == nil {
		array.Failf(name, "", "the streams are nil (NewRandomStreams makes them)")
	}
	g := s.generator()
	o := operation{name: name, random: []*weft.Generator{g}}
	x := o.anys(params)
	shape = slices.Clone(shape)
	o.plain(shape)
	return o.one(func(ts []*weft.Tensor) *weft.Tensor { return f(g, shape, x(ts)) }, shape)
}

// scaled is varying of two parameters that scale and move numbers of type d.
func (s *RandomStreams) scaled(name string, d weft.DType, params [2]any, shape []int, f func(g *weft.Generator, shape []int, x [2]any) *weft.Tensor) *Var {
	return s.varying(name, params[:], shape, func(g *weft.Generator, shape []int, x []any) *weft.Tensor {
		if len(shape) == 0 {
			shapes := make([][]int, 0, 2)
			for _, p := range x {
				if t, ok := p.(*weft.Tensor); ok {
					shapes = append(shapes, t.Shape())
				}
			}
			shape = array.Broadcast(name, shapes...)
		}
		y := f(g, shape, [2]any(x))
		if !slices.Equal(y.Shape(), shape) {
			array.Failf(name, "", "the parameters do not broadcast to %s: they give %s", array.ShapeString(shape), array.ShapeString(y.Shape()))
		}
		return y
	})
}

// numbers returns two parameters that are Go numbers.
func numbers(x [2]any) (a, b float64, ok bool) {
	for _, p := range x {
		switch p.(type) {
		case *Var, *weft.Tensor:
			return 0, 0, false
		}
	}
	return numberOf(x[0]), numberOf(x[1]), true
}

// numberOf is a Go number as a float64.
func numberOf(x any) float64 {
	return core.AsOperand[weft.Tensor]("number", "", x).Num.Real(weft.Float64)
}

// tensor is a parameter as a tensor of type d.
func tensor(d weft.DType, x any) *weft.Tensor {
	if t, ok := x.(*weft.Tensor); ok {
		return t.To(d)
	}
	return weft.FullOf(d, numberOf(x))
}

// Poisson returns numbers of type d from [weft.Generator.PoissonOf]. The rate is a variable, a tensor or
// a Go number. No gradient goes through it.
func (s *RandomStreams) Poisson(d weft.DType, rate any, shape ...int) *Var {
	return s.varying("poisson", []any{rate}, shape, func(g *weft.Generator, shape []int, x []any) *weft.Tensor {
		return g.PoissonOf(d, x[0], shape...)
	})
}

// Binomial returns numbers of type d from [weft.Generator.BinomialOf]: successes among n trials of
// probability p. Both are a variable, a tensor or a Go number. No gradient goes through them.
func (s *RandomStreams) Binomial(d weft.DType, n, p any, shape ...int) *Var {
	return s.varying("binomial", []any{n, p}, shape, func(g *weft.Generator, shape []int, x []any) *weft.Tensor {
		return g.BinomialOf(d, x[0], x[1], shape...)
	})
}

// Gamma returns numbers of a float type d from [weft.Generator.GammaOf]. Both parameters are a variable,
// a tensor or a Go number. A gradient goes through the rate alone.
func (s *RandomStreams) Gamma(d weft.DType, concentration, rate any, shape ...int) *Var {
	return s.varying("gamma", []any{concentration, rate}, shape, func(g *weft.Generator, shape []int, x []any) *weft.Tensor {
		return g.GammaOf(d, x[0], x[1], shape...)
	})
}

// TruncatedNormal returns numbers of a float type d from [weft.Generator.TruncatedNormalOf]. The
// parameters are variables, tensors or Go numbers. No gradient goes through them.
func (s *RandomStreams) TruncatedNormal(d weft.DType, mean, deviation, lo, hi any, shape ...int) *Var {
	return s.varying("truncatednormal", []any{mean, deviation, lo, hi}, shape, func(g *weft.Generator, shape []int, x []any) *weft.Tensor {
		return g.TruncatedNormalOf(d, x[0], x[1], x[2], x[3], shape...)
	})
}

// Exponential returns numbers of a float type d of the exponential distribution with a rate, which is a
// variable, a tensor or a Go number. Gradients go through it.
func (s *RandomStreams) Exponential(d weft.DType, rate any, shape ...int) *Var {
	return s.scaled("exponential", d, [2]any{rate, 0}, shape, func(g *weft.Generator, shape []int, x [2]any) *weft.Tensor {
		if rate, _, ok := numbers(x); ok {
			return g.ExponentialOf(d, rate, shape...)
		}
		return g.ExponentialOf(d, 1, shape...).Div(tensor(d, x[0]))
	})
}

// Multinomial returns how often each of k outcomes comes in n draws, int64: p holds their
// probabilities along its last axis, as [weft.Generator.Multinomial] takes them, and gives its shape.
func (s *RandomStreams) Multinomial(n int, p *Var) *Var {
	p.notNil("multinomial")
	return s.varying("multinomial", []any{p}, nil, func(g *weft.Generator, _ []int, x []any) *weft.Tensor {
		p := x[0].(*weft.Tensor)
		places := g.Multinomial(p, n)
		counts := weft.FullOf(weft.Int64, 0, p.Shape()...)
		return counts.ScatterAdd(-1, places, weft.FullOf(weft.Int64, 1, places.Shape()...))
	})
}

// Choice returns n sub-arrays of x along its first axis, chosen as [weft.Generator.Choice] does: weights,
// unless nil, say how likely each is, and distinct that nothing is chosen twice.
func (s *RandomStreams) Choice(x *Var, n int, weights *Var, distinct bool) *Var {
	x.notNil("choice")
	params := []any{x}
	if weights != nil {
		params = append(params, weights)
	}
	return s.varying("choice", params, []int{n}, func(g *weft.Generator, _ []int, x []any) *weft.Tensor {
		o := weft.ChoiceOpts{Distinct: distinct}
		if len(x) > 1 {
			o.Weights = x[1].(*weft.Tensor)
		}
		return g.Choice(x[0].(*weft.Tensor), n, o)
	})
}

// Permutation returns the sub-arrays of x along its first axis in random order.
func (s *RandomStreams) Permutation(x *Var) *Var {
	x.notNil("permutation")
	return s.varying("permutation", []any{x}, nil, func(g *weft.Generator, _ []int, x []any) *weft.Tensor {
		return g.Permutation(x[0].(*weft.Tensor))
	})
}

// Randperm returns the numbers 0 to n-1, int64, in random order.
func (s *RandomStreams) Randperm(n int) *Var {
	return s.varying("randperm", nil, []int{n}, func(g *weft.Generator, _ []int, _ []any) *weft.Tensor { return g.Randperm(n) })
}
