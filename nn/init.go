package nn

import (
	"math"

	"weft"
	"weft/internal/array"
)

// An Init draws a float32 tensor of a shape from a generator; nil is the default
// generator.
//
// The initialisers of this package look at the fans of a shape, the numbers of
// terms that reach an output and that an input reaches: [out, in] is a matrix of
// [Linear], [out, in, ...] with more axes the filters of a convolution. They
// panic with *weft.Error if the shape has fewer than two axes.
type Init func(g *weft.Generator, shape ...int) *weft.Tensor

// KaimingNormal draws from a normal distribution of mean 0 and standard deviation
// sqrt(2/in), which keeps the variance through layers with relu (He et al.,
// Delving Deep into Rectifiers, 2015).
func KaimingNormal(g *weft.Generator, shape ...int) *weft.Tensor {
	in, _ := fans("kaiming_normal", shape)
	return normal(g, math.Sqrt(2/in), shape)
}

// KaimingUniform is [KaimingNormal] with a uniform distribution of the same
// variance: between -sqrt(6/in) and sqrt(6/in).
func KaimingUniform(g *weft.Generator, shape ...int) *weft.Tensor {
	in, _ := fans("kaiming_uniform", shape)
	return uniform(g, math.Sqrt(6/in), shape)
}

// XavierNormal draws from a normal distribution of mean 0 and standard deviation
// sqrt(2/(in+out)), for layers with tanh (Glorot and Bengio, Understanding the
// difficulty of training deep feedforward neural networks, 2010).
func XavierNormal(g *weft.Generator, shape ...int) *weft.Tensor {
	in, out := fans("xavier_normal", shape)
	return normal(g, math.Sqrt(2/(in+out)), shape)
}

// XavierUniform is [XavierNormal] with a uniform distribution of the same
// variance: between -sqrt(6/(in+out)) and sqrt(6/(in+out)).
func XavierUniform(g *weft.Generator, shape ...int) *weft.Tensor {
	in, out := fans("xavier_uniform", shape)
	return uniform(g, math.Sqrt(6/(in+out)), shape)
}

// fans returns the numbers of inputs and outputs, at least 1.
func fans(op string, shape []int) (in, out float64) {
	if len(shape) < 2 {
		array.Failf(op, "shape", "%s has no fans: want two axes or more", array.ShapeString(shape))
	}
	field := float64(array.Size(shape[2:]))
	in, out = float64(shape[1])*field, float64(shape[0])*field
	return max(in, 1), max(out, 1)
}

func normal(g *weft.Generator, std float64, shape []int) *weft.Tensor {
	return source(g).Randn(shape...).MulAssign(std)
}

func uniform(g *weft.Generator, bound float64, shape []int) *weft.Tensor {
	return source(g).Rand(shape...).MulAssign(2 * bound).SubAssign(bound)
}

func source(g *weft.Generator) *weft.Generator {
	if g == nil {
		return weft.DefaultGenerator()
	}
	return g
}

// Opts are the options of the layers that have weights.
type Opts struct {
	// Weight draws the weights; nil is [KaimingUniform].
	Weight Init
	// Bias draws the biases; nil is zeros.
	Bias Init
	// NoBias leaves the biases out.
	NoBias bool
	// Generator is what weights are drawn from; nil is the default generator.
	Generator *weft.Generator
}

func (o *Opts) weight(shape ...int) *weft.Tensor {
	if o.Weight == nil {
		return Param(KaimingUniform(o.Generator, shape...))
	}
	return Param(o.Weight(o.Generator, shape...))
}

func (o *Opts) bias(n int) *weft.Tensor {
	switch {
	case o.NoBias:
		return nil
	case o.Bias == nil:
		return Param(weft.Zeros(n))
	}
	return Param(o.Bias(o.Generator, n))
}
