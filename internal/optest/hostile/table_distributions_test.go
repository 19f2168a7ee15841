package hostile

import (
	"reflect"

	"weft/distributions"
)

// The exports of package distributions.

var distributionFunctions = []row[any]{
	{"distributions.KL", distributions.KL},
	{"distributions.NewBernoulli", distributions.NewBernoulli},
	{"distributions.NewBernoulliLogits", distributions.NewBernoulliLogits},
	{"distributions.NewBeta", distributions.NewBeta},
	{"distributions.NewBinomial", distributions.NewBinomial},
	{"distributions.NewBinomialLogits", distributions.NewBinomialLogits},
	{"distributions.NewCategorical", distributions.NewCategorical},
	{"distributions.NewCategoricalLogits", distributions.NewCategoricalLogits},
	{"distributions.NewCauchy", distributions.NewCauchy},
	{"distributions.NewDirichlet", distributions.NewDirichlet},
	{"distributions.NewExponential", distributions.NewExponential},
	{"distributions.NewGamma", distributions.NewGamma},
	{"distributions.NewGeometric", distributions.NewGeometric},
	{"distributions.NewGeometricLogits", distributions.NewGeometricLogits},
	{"distributions.NewGumbel", distributions.NewGumbel},
	{"distributions.NewHalfNormal", distributions.NewHalfNormal},
	{"distributions.NewIndependent", distributions.NewIndependent},
	{"distributions.NewLaplace", distributions.NewLaplace},
	{"distributions.NewLogNormal", distributions.NewLogNormal},
	{"distributions.NewMixtureSameFamily", distributions.NewMixtureSameFamily},
	{"distributions.NewMultinomial", distributions.NewMultinomial},
	{"distributions.NewMultinomialLogits", distributions.NewMultinomialLogits},
	{"distributions.NewMultivariateNormal", distributions.NewMultivariateNormal},
	{"distributions.NewMultivariateNormalTril", distributions.NewMultivariateNormalTril},
	{"distributions.NewNormal", distributions.NewNormal},
	{"distributions.NewOneHotCategorical", distributions.NewOneHotCategorical},
	{"distributions.NewOneHotCategoricalLogits", distributions.NewOneHotCategoricalLogits},
	{"distributions.NewPoisson", distributions.NewPoisson},
	{"distributions.NewStudentT", distributions.NewStudentT},
	{"distributions.NewUniform", distributions.NewUniform},
}

var distributionTypes = []row[reflect.Type]{
	{"distributions.Bernoulli", reflect.TypeFor[distributions.Bernoulli]()},
	{"distributions.Beta", reflect.TypeFor[distributions.Beta]()},
	{"distributions.Binomial", reflect.TypeFor[distributions.Binomial]()},
	{"distributions.Categorical", reflect.TypeFor[distributions.Categorical]()},
	{"distributions.Cauchy", reflect.TypeFor[distributions.Cauchy]()},
	{"distributions.Cumulative", reflect.TypeFor[distributions.Cumulative]()},
	{"distributions.Dirichlet", reflect.TypeFor[distributions.Dirichlet]()},
	{"distributions.Distribution", reflect.TypeFor[distributions.Distribution]()},
	{"distributions.Entropic", reflect.TypeFor[distributions.Entropic]()},
	{"distributions.Exponential", reflect.TypeFor[distributions.Exponential]()},
	{"distributions.Gamma", reflect.TypeFor[distributions.Gamma]()},
	{"distributions.Geometric", reflect.TypeFor[distributions.Geometric]()},
	{"distributions.Gumbel", reflect.TypeFor[distributions.Gumbel]()},
	{"distributions.HalfNormal", reflect.TypeFor[distributions.HalfNormal]()},
	{"distributions.Independent", reflect.TypeFor[distributions.Independent]()},
	{"distributions.Laplace", reflect.TypeFor[distributions.Laplace]()},
	{"distributions.LogNormal", reflect.TypeFor[distributions.LogNormal]()},
	{"distributions.MixtureSameFamily", reflect.TypeFor[distributions.MixtureSameFamily]()},
	{"distributions.Multinomial", reflect.TypeFor[distributions.Multinomial]()},
	{"distributions.MultivariateNormal", reflect.TypeFor[distributions.MultivariateNormal]()},
	{"distributions.Normal", reflect.TypeFor[distributions.Normal]()},
	{"distributions.OneHotCategorical", reflect.TypeFor[distributions.OneHotCategorical]()},
	{"distributions.Poisson", reflect.TypeFor[distributions.Poisson]()},
	{"distributions.Reparameterized", reflect.TypeFor[distributions.Reparameterized]()},
	{"distributions.StudentT", reflect.TypeFor[distributions.StudentT]()},
	{"distributions.Uniform", reflect.TypeFor[distributions.Uniform]()},
}
