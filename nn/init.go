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

// FanInUniform draws from a uniform distribution between -1/sqrt(in) and 1/sqrt(in). It is the
// default of the layers of this package, as in PyTorch, where it is kaiming_uniform_(a=sqrt(5)).
// Its variance is a sixth of [KaimingUniform]'s.
func FanInUniform(g *weft.Generator, shape ...int) *weft.Tensor {
	in, _ := fans("fan_in_uniform", shape)
	return uniform(g, math.Sqrt(1/in), shape)
}

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

// Normal draws from a normal distribution.
func Normal(mean, std float64) Init {
	return func(g *weft.Generator, shape ...int) *weft.Tensor { return normal(g, std, shape).AddAssign(mean) }
}

// Uniform draws from a uniform distribution between lo and hi.
func Uniform(lo, hi float64) Init {
	return func(g *weft.Generator, shape ...int) *weft.Tensor {
		return source(g).Rand(shape...).MulAssign(hi - lo).AddAssign(lo)
	}
}

// TruncNormal draws from a normal distribution truncated to the numbers from lo to hi. mean and std
// are the parameters before truncation, as in PyTorch. It panics with *weft.Error if lo is above hi
// or std is not above 0.
func TruncNormal(mean, std, lo, hi float64) Init {
	return func(g *weft.Generator, shape ...int) *weft.Tensor {
		if !(lo <= hi) || !(std > 0) {
			array.Failf("trunc_normal", "", "mean %v and standard deviation %v between %v and %v: want these in order, the deviation above 0", mean, std, lo, hi)
		}
		// The inverse of the distribution function, of uniform numbers between its values.
		below := func(x float64) float64 { return math.Erf((x - mean) / (std * math.Sqrt2)) }
		a, b := below(lo), below(hi)
		u := source(g).Rand(shape...).To(weft.Float64)
		x := u.MulAssign(b - a).AddAssign(a).Erfinv().MulAssign(std * math.Sqrt2).AddAssign(mean)
		return x.Maximum(lo).Minimum(hi).To(weft.Float32)
	}
}

// Scaled multiplies what init draws by a gain, as PyTorch's gain of xavier_uniform_ does.
func Scaled(gain float64, init Init) Init {
	return func(g *weft.Generator, shape ...int) *weft.Tensor { return init(g, shape...).Mul(gain) }
}

// Constant fills with x.
func Constant(x float64) Init {
	return func(_ *weft.Generator, shape ...int) *weft.Tensor { return weft.FullOf(weft.Float32, x, shape...) }
}

// Orthogonal draws a matrix; all axes but the first count as one. Its rows, or columns if
// there are fewer, have length gain and are at right angles to each other. It panics with
// *weft.Error if the shape has fewer than two axes.
//
// Source: Saxe et al., Exact solutions to the nonlinear dynamics of learning in deep linear
// neural networks, 2014.
func Orthogonal(gain float64) Init {
	return func(g *weft.Generator, shape ...int) *weft.Tensor {
		if len(shape) < 2 {
			array.Failf("orthogonal", "shape", "%s is not a matrix: want two axes or more", array.ShapeString(shape))
		}
		x := source(g).Randn(shape...)
		if x.Size() == 0 {
			return x
		}
		x = x.Flatten(1)
		tall := x.Dim(0) > x.Dim(1)
		if tall {
			x = x.T()
		}
		n, width := x.Dim(0), x.Dim(1)
		q := weft.Data[float64](x.To(weft.Float64))
		orthonormalize(q, width)
		y := weft.FromSlice(q, n, width)
		if tall {
			y = y.T()
		}
		return y.Mul(gain).To(weft.Float32).Reshape(shape...).Contiguous()
	}
}

// orthonormalize makes the rows of a matrix orthogonal to those before them, and of length 1.
func orthonormalize(q []float64, width int) {
	row := func(i int) []float64 { return q[i*width : (i+1)*width] }
	for i := range len(q) / width {
		// Twice, for what the first time leaves by rounding.
		for range 2 {
			for k := range i {
				axpy(row(i), -dot(row(i), row(k)), row(k))
			}
		}
		scale := 1 / math.Sqrt(dot(row(i), row(i)))
		for j := range row(i) {
			row(i)[j] *= scale
		}
	}
}

func dot(x, y []float64) float64 {
	sum := 0.0
	for i := range x {
		sum += float64(x[i] * y[i])
	}
	return sum
}

// axpy adds a*x to y.
func axpy(y []float64, a float64, x []float64) {
	for i := range y {
		y[i] += float64(a * x[i])
	}
}

// What activations need of the weights before them, for Gain of [KaimingOpts], [Scaled] and
// [Orthogonal]: PyTorch's calculate_gain.
const (
	GainLinear = 1.0 // of sigmoid too
	GainTanh   = 5.0 / 3
	GainRelu   = math.Sqrt2
	GainSelu   = 3.0 / 4
)

// GainLeakyRelu is the gain of leaky relu with a slope: sqrt(2/(1+slope*slope)).
func GainLeakyRelu(slope float64) float64 { return math.Sqrt(2 / (1 + float64(slope*slope))) }

// KaimingOpts are the options of [Kaiming].
type KaimingOpts struct {
	// FanOut keeps the variance of gradients: it divides by the number of terms that an input reaches,
	// not by those that reach an output. It is PyTorch's mode="fan_out".
	FanOut  bool
	Gain    *float64 // 0 or more; nil means [GainRelu]
	Uniform bool     // draws from a uniform distribution of the same variance
}

// Kaiming draws with the standard deviation gain/sqrt(fan): [KaimingNormal] and [KaimingUniform] with
// PyTorch's mode and nonlinearity. It panics with *weft.Error if the gain is negative.
func Kaiming(opts ...KaimingOpts) Init {
	o := array.Options("kaiming", opts)
	gain := array.Or(o.Gain, GainRelu)
	if !(gain >= 0) {
		array.Failf("kaiming", "Gain", "is %v, want 0 or more", gain)
	}
	return func(g *weft.Generator, shape ...int) *weft.Tensor {
		fan, out := fans("kaiming", shape)
		if o.FanOut {
			fan = out
		}
		if std := gain / math.Sqrt(fan); !o.Uniform {
			return normal(g, std, shape)
		}
		return uniform(g, gain*math.Sqrt(3/fan), shape)
	}
}

// Eye is ones where the places along both axes are equal, and zeros elsewhere: a linear layer that
// gives its inputs back. It panics with *weft.Error if the shape has not two axes.
func Eye(_ *weft.Generator, shape ...int) *weft.Tensor {
	if len(shape) != 2 {
		array.Failf("eye", "shape", "%s is not a matrix", array.ShapeString(shape))
	}
	return centred(1, shape)
}

// Dirac makes filters [out, in, ...] of one axis to three that give channels back: filter i of each of
// some groups is 1 in the middle of channel i, and 0 elsewhere. It panics with *weft.Error if the shape has
// not three to five axes, or groups do not divide the number of filters.
func Dirac(groups int) Init {
	return func(_ *weft.Generator, shape ...int) *weft.Tensor {
		if len(shape) < 3 || len(shape) > 5 {
			array.Failf("dirac", "shape", "%s are not filters: want three to five axes", array.ShapeString(shape))
		}
		if groups < 1 || shape[0]%groups != 0 {
			array.Failf("dirac", "groups", "are %d, want a divisor of the %d filters", groups, shape[0])
		}
		return centred(groups, shape)
	}
}

// centred is 1 in the middle of element [i, i, ...] of each group of the first axis.
func centred(groups int, shape []int) *weft.Tensor {
	x := weft.Zeros(shape...)
	n := shape[0] / groups
	for g := range groups {
		for i := range min(n, shape[1]) {
			at := []int{g*n + i, i}
			for _, size := range shape[2:] {
				if size == 0 {
					return x
				}
				at = append(at, size/2)
			}
			x.At(at...).Fill(1)
		}
	}
	return x
}

// Sparse draws a matrix from a normal distribution of mean 0, and sets a part of each column, rounded up,
// to 0 (Martens, Deep learning via Hessian-free optimization, 2010). It panics with *weft.Error if the
// shape has not two axes or zeros is not in [0, 1].
func Sparse(zeros, std float64) Init {
	return func(g *weft.Generator, shape ...int) *weft.Tensor {
		if len(shape) != 2 {
			array.Failf("sparse", "shape", "%s is not a matrix", array.ShapeString(shape))
		}
		if !(zeros >= 0 && zeros <= 1) {
			array.Failf("sparse", "zeros", "are %v of a column, want 0 to 1", zeros)
		}
		x := normal(g, std, shape)
		n := int(math.Ceil(zeros * float64(shape[0])))
		if n == 0 || x.Size() == 0 {
			return x
		}
		rows := source(g).Rand(shape...).ArgSort(0).Slice(weft.Range(0, n))
		return x.Scatter(0, rows, weft.Zeros(n, shape[1]))
	}
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
	// Weight draws the weights; nil is [FanInUniform].
	Weight Init
	// Bias draws the biases; nil is a uniform distribution between -1/sqrt(in) and
	// 1/sqrt(in), in being that of the weights. Constant(0) gives zeros.
	Bias Init
	// NoBias leaves the biases out.
	NoBias bool
	// Generator is what weights are drawn from; nil is the default generator.
	Generator *weft.Generator
}

func (o *Opts) weight(shape ...int) *weft.Tensor {
	if o.Weight == nil {
		return Param(FanInUniform(o.Generator, shape...))
	}
	return Param(o.Weight(o.Generator, shape...))
}

// bias draws n biases beside weights.
func (o *Opts) bias(n int, weights *weft.Tensor) *weft.Tensor {
	switch {
	case o.NoBias:
		return nil
	case o.Bias == nil:
		in, _ := fans("bias", weights.Shape())
		return Param(uniform(o.Generator, math.Sqrt(1/in), []int{n}))
	}
	return Param(o.Bias(o.Generator, n))
}
