package sym

import (
	"slices"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/ir"
)

// Draws whose parameters may be variables.

// varying makes a random variable of parameters that are variables, tensors or Go numbers. typ gives its
// type where sizes are variables.
func (s *RandomStreams) varying(name string, params, shape []any, typ func(args []*Var, shape []int) ir.Type, f func(g *weft.Generator, shape []int, x []any) *weft.Tensor) *Var {
	if s == nil {
		array.Failf(name, "", "the streams are nil (NewRandomStreams makes them)")
	}
	o := sizing{operation: operation{name: name}}
	x := o.anys(params)
	ls := o.lengths("shape", shape)
	g := s.generator()
	o.random = []*weft.Generator{g}
	sizes := known(ls)
	if len(o.lens) == 0 {
		return o.operation.one(func(ts []*weft.Tensor) *weft.Tensor { return f(g, sizes, x(ts)) }, sizes)
	}
	return o.one(func(args []*Var) ir.Type { return typ(args, slices.Clone(sizes)) }, func(c *sized) *weft.Tensor {
		return f(g, c.ints(ls), x(c.args))
	})
}

// of is the type of draws of an element type.
func of(d weft.DType) func(args []*Var, shape []int) ir.Type {
	return func(_ []*Var, shape []int) ir.Type { return ir.Type{DType: d, Shape: shape} }
}

// scaled is varying of two parameters that scale and move numbers of type d.
func (s *RandomStreams) scaled(name string, d weft.DType, params [2]any, shape []any, f func(g *weft.Generator, shape []int, x [2]any) *weft.Tensor) *Var {
	return s.varying(name, params[:], shape, of(d), func(g *weft.Generator, shape []int, x []any) *weft.Tensor {
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
func (s *RandomStreams) Poisson(d weft.DType, rate any, shape ...any) *Var {
	return s.varying("poisson", []any{rate}, shape, of(d), func(g *weft.Generator, shape []int, x []any) *weft.Tensor {
		return g.PoissonOf(d, x[0], shape...)
	})
}

// Binomial returns numbers of type d from [weft.Generator.BinomialOf]: successes among n trials of
// probability p. Both are a variable, a tensor or a Go number. No gradient goes through them.
func (s *RandomStreams) Binomial(d weft.DType, n, p any, shape ...any) *Var {
	return s.varying("binomial", []any{n, p}, shape, of(d), func(g *weft.Generator, shape []int, x []any) *weft.Tensor {
		return g.BinomialOf(d, x[0], x[1], shape...)
	})
}

// Gamma returns numbers of a float type d from [weft.Generator.GammaOf]. Both parameters are a variable,
// a tensor or a Go number. Gradients go through both.
func (s *RandomStreams) Gamma(d weft.DType, concentration, rate any, shape ...any) *Var {
	return s.varying("gamma", []any{concentration, rate}, shape, of(d), func(g *weft.Generator, shape []int, x []any) *weft.Tensor {
		return g.GammaOf(d, x[0], x[1], shape...)
	})
}

// TruncatedNormal returns numbers of a float type d from [weft.Generator.TruncatedNormalOf]. The
// parameters are variables, tensors or Go numbers. No gradient goes through them.
func (s *RandomStreams) TruncatedNormal(d weft.DType, mean, deviation, lo, hi any, shape ...any) *Var {
	return s.varying("truncatednormal", []any{mean, deviation, lo, hi}, shape, of(d), func(g *weft.Generator, shape []int, x []any) *weft.Tensor {
		return g.TruncatedNormalOf(d, x[0], x[1], x[2], x[3], shape...)
	})
}

// Exponential returns numbers of a float type d of the exponential distribution with a rate, which is a
// variable, a tensor or a Go number. Gradients go through it.
func (s *RandomStreams) Exponential(d weft.DType, rate any, shape ...any) *Var {
	return s.scaled("exponential", d, [2]any{rate, 0}, shape, func(g *weft.Generator, shape []int, x [2]any) *weft.Tensor {
		if rate, _, ok := numbers(x); ok {
			return g.ExponentialOf(d, rate, shape...)
		}
		return g.ExponentialOf(d, 1, shape...).Div(tensor(d, x[0]))
	})
}

// Multinomial returns how often each of k outcomes comes in n draws, int64: p holds their
// probabilities along its last axis, as [weft.Generator.Multinomial] takes them, and gives its shape.
// That method returns the places that are drawn, not counts.
func (s *RandomStreams) Multinomial(n int, p *Var) *Var {
	p.notNil("multinomial")
	return s.varying("multinomial", []any{p}, nil, nil, func(g *weft.Generator, _ []int, x []any) *weft.Tensor {
		p := x[0].(*weft.Tensor)
		places := g.Multinomial(p, n)
		counts := weft.FullOf(weft.Int64, 0, p.Shape()...)
		return counts.ScatterAdd(-1, places, weft.FullOf(weft.Int64, 1, places.Shape()...))
	})
}

// Choice returns n sub-arrays of x along its first axis, chosen as [weft.Generator.Choice] does. n is an
// int or an integer variable without dimensions. weights,
// unless nil, say how likely each is, and distinct that nothing is chosen twice.
func (s *RandomStreams) Choice(x *Var, n any, weights *Var, distinct bool) *Var {
	x.notNil("choice")
	if len(x.shape) == 0 {
		array.Failf("choice", "x", "is %s, want a dimension%s", x, x.where())
	}
	params := []any{x}
	if weights != nil {
		params = append(params, weights)
	}
	typ := func(args []*Var, shape []int) ir.Type {
		return ir.Type{DType: args[0].dtype, Shape: append(shape, args[0].shape[1:]...)}
	}
	return s.varying("choice", params, []any{n}, typ, func(g *weft.Generator, shape []int, x []any) *weft.Tensor {
		o := weft.ChoiceOpts{Distinct: distinct}
		if len(x) > 1 {
			o.Weights = x[1].(*weft.Tensor)
		}
		return g.Choice(x[0].(*weft.Tensor), single("choice", shape), o)
	})
}

// single is n, which is given as a list of one size.
func single(name string, shape []int) int {
	if len(shape) != 1 {
		array.Failf(name, "n", "is a list of %d numbers, want one", len(shape))
	}
	return shape[0]
}

// Permutation returns the sub-arrays of x along its first axis in random order.
func (s *RandomStreams) Permutation(x *Var) *Var {
	x.notNil("permutation")
	return s.varying("permutation", []any{x}, nil, nil, func(g *weft.Generator, _ []int, x []any) *weft.Tensor {
		return g.Permutation(x[0].(*weft.Tensor))
	})
}

// Randperm returns the numbers 0 to n-1, int64, in random order. n is an int or an integer variable
// without dimensions.
func (s *RandomStreams) Randperm(n any) *Var {
	return s.varying("randperm", nil, []any{n}, of(weft.Int64), func(g *weft.Generator, shape []int, _ []any) *weft.Tensor {
		return g.Randperm(single("randperm", shape))
	})
}
