package hostile

import (
	"reflect"

	"weft"
	"weft/distributions"
)

// distributionMakers make distributions of p and q, tensors or numbers.
var distributionMakers = []func(p, q any) distributions.Distribution{
	func(p, q any) distributions.Distribution { return distributions.NewNormal(p, q) },
	func(p, q any) distributions.Distribution { return distributions.NewLogNormal(p, q) },
	func(p, q any) distributions.Distribution { return distributions.NewHalfNormal(q) },
	func(p, q any) distributions.Distribution { return distributions.NewLaplace(p, q) },
	func(p, q any) distributions.Distribution { return distributions.NewCauchy(p, q) },
	func(p, q any) distributions.Distribution { return distributions.NewGumbel(p, q) },
	func(p, q any) distributions.Distribution { return distributions.NewStudentT(q, p, q) },
	func(p, q any) distributions.Distribution { return distributions.NewExponential(q) },
	func(p, q any) distributions.Distribution { return distributions.NewUniform(p, q) },
	func(p, q any) distributions.Distribution { return distributions.NewGamma(q, q) },
	func(p, q any) distributions.Distribution { return distributions.NewBeta(q, q) },
	func(p, q any) distributions.Distribution { return distributions.NewBernoulliLogits(p) },
	func(p, q any) distributions.Distribution { return distributions.NewBinomialLogits(3, p) },
	func(p, q any) distributions.Distribution { return distributions.NewGeometricLogits(p) },
	func(p, q any) distributions.Distribution { return distributions.NewPoisson(q) },
	func(p, q any) distributions.Distribution {
		return distributions.NewCategoricalLogits(p.(*weft.Tensor))
	},
	func(p, q any) distributions.Distribution {
		return distributions.NewOneHotCategorical(q.(*weft.Tensor))
	},
	func(p, q any) distributions.Distribution { return distributions.NewMultinomial(3, q.(*weft.Tensor)) },
	func(p, q any) distributions.Distribution { return distributions.NewDirichlet(q.(*weft.Tensor)) },
	func(p, q any) distributions.Distribution {
		return distributions.NewMultivariateNormalTril(p.(*weft.Tensor), weft.Eye(p.(*weft.Tensor).Dim(-1)))
	},
	func(p, q any) distributions.Distribution {
		return distributions.NewIndependent(distributions.NewNormal(p, q), 1)
	},
	func(p, q any) distributions.Distribution {
		return distributions.NewMixtureSameFamily(distributions.NewCategorical(q.(*weft.Tensor)), distributions.NewNormal(p, q))
	},
}

// distribution is one of the makers with numbers n, the zero value of its type, or nil.
func (g *gen) distribution(n int) any {
	zero := distributionMakers[n](weft.Ones(1), weft.Ones(1))
	if g.chance(8) {
		return reflect.Zero(reflect.TypeOf(zero)).Interface()
	}
	shape := g.shapeOf(1 + g.r.IntN(2))
	d := any(zero)
	weft.Try(func() {
		p := g.tensorOf(pick(g, weft.Float32, weft.Float64), shape)
		d = distributionMakers[n](p, p.Detach().Abs().Add(0.5))
	})
	return d
}

func init() {
	for i, f := range distributionMakers {
		t := reflect.TypeOf(f(weft.Ones(1), weft.Ones(1)))
		makers[t] = func(g *gen) any { return g.distribution(i) }
	}
	for _, t := range []reflect.Type{typ[distributions.Distribution](), typ[distributions.Reparameterized](), typ[distributions.Entropic](), typ[distributions.Cumulative]()} {
		makers[t] = func(g *gen) any {
			for range 100 {
				if d := g.distribution(g.r.IntN(len(distributionMakers))); reflect.TypeOf(d).Implements(t) {
					return d
				}
			}
			return nil
		}
	}
	for _, t := range []reflect.Type{typ[distributions.Transform](), typ[distributions.Monotone]()} {
		makers[t] = func(g *gen) any { return g.transform() }
	}
}

// transform is one that rises or falls, a composition among them.
func (g *gen) transform() any {
	p := g.tensorOf(pick(g, weft.Float32, weft.Float64), g.shapeOf(1)).Abs().Add(0.5)
	return pick[any](g, distributions.ExpTransform{}, distributions.SigmoidTransform{}, distributions.TanhTransform{}, distributions.AffineTransform{},
		distributions.NewAffineTransform(1, p), distributions.NewPowerTransform(p), distributions.ComposeTransform{distributions.ExpTransform{}, nil},
		distributions.ComposeTransform{distributions.NewAffineTransform(p, -2), distributions.TanhTransform{}})
}
