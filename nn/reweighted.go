package nn

import (
	"fmt"
	"reflect"

	"weft"
	"weft/internal/array"
)

// Layers whose weight is computed from other parameters in each call. The layer inside has no weight of
// its own; each call runs a copy of it that has one, so that calls of several goroutines do not meet.

// takeWeight returns the weight of a layer, which is without one afterwards.
func takeWeight(name string, layer Layer) *weft.Tensor {
	field := weightField(name, layer)
	w := field.Interface().(*weft.Tensor)
	if w == nil {
		array.Failf(name, "layer", "is a %T without a Weight", layer)
	}
	w.Detach() // panics where the weight was released, before the layer loses it
	field.SetZero()
	return w
}

// weightField returns the field Weight of a layer.
func weightField(name string, layer Layer) reflect.Value {
	v := reflect.ValueOf(layer)
	if v.Kind() == reflect.Pointer && !v.IsNil() && v.Elem().Kind() == reflect.Struct {
		if f := v.Elem().FieldByName("Weight"); f.IsValid() && f.Type() == tensorType && f.CanSet() {
			return f
		}
	}
	array.Failf(name, "layer", "is %T, want a pointer to a struct with a field Weight of type *weft.Tensor", layer)
	panic("unreachable")
}

// forwardWith runs a copy of the layer that has a weight.
func forwardWith(name string, layer Layer, w, x *weft.Tensor) *weft.Tensor {
	weightField(name, layer)
	of := reflect.ValueOf(layer).Elem()
	c := reflect.New(of.Type())
	c.Elem().Set(of)
	copied := c.Interface().(Layer)
	weightField(name, copied).Set(reflect.ValueOf(w))
	return copied.Forward(x)
}

// restored returns the layer with a parameter that has the values of w.
func restored(name string, layer Layer, w *weft.Tensor) Layer {
	defer array.Named(name).End()
	p := w.Detach().Clone()
	weightField(name, layer).Set(reflect.ValueOf(Param(p)))
	return layer
}

// WeightNorm is a layer whose weight is Magnitude*Direction/|Direction|, with a norm for each index of
// one axis (Salimans and Kingma, Weight normalization, 2016). It is
// torch.nn.utils.parametrizations.weight_norm, and its parameters have the names of that in [State].
type WeightNorm struct {
	Layer     Layer        `nn:""`                                  // its Weight is nil
	Magnitude *weft.Tensor `nn:"parametrizations.weight.original0"` // the norms, with axes of size 1 for the others
	Direction *weft.Tensor `nn:"parametrizations.weight.original1"` // in the shape of the weight
	Axis      int          // whose indices have norms of their own
	All       bool         // one norm of the whole weight, in place of Axis
}

// WeightNormOpts are the options of [NewWeightNorm].
type WeightNormOpts struct {
	Axis int  // whose indices have norms of their own; it may count from the back
	All  bool // one norm of the whole weight, in place of Axis: dim=None of PyTorch
}

// NewWeightNorm returns a layer that computes what the given one does, until its parameters are trained. The layer is
// a pointer to a struct with a field Weight, which becomes nil. It panics with *weft.Error if it is
// not, or if the weight does not have the axis.
//
//	net := nn.Sequential{nn.NewWeightNorm(nn.NewLinear(3, 2)), nn.Relu{}}
func NewWeightNorm(layer Layer, opts ...WeightNormOpts) *WeightNorm {
	const name = "weight_norm"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	field := weightField(name, layer)
	if w := field.Interface().(*weft.Tensor); w != nil {
		o.Axis = array.Axis(name, o.Axis, w.Rank())
	}
	w := takeWeight(name, layer).Detach()
	n := &WeightNorm{Layer: layer, Axis: o.Axis, All: o.All, Direction: Param(w.Clone())}
	n.Magnitude = Param(n.norm(w).Clone())
	return n
}

// norm returns the norms of a direction.
func (n *WeightNorm) norm(v *weft.Tensor) *weft.Tensor {
	if n.All {
		return v.Norm(2)
	}
	return v.NormKeep(2, otherAxes(v.Rank(), n.Axis)...)
}

// otherAxes returns all axes of a rank but one.
func otherAxes(rank, axis int) (axes []int) {
	for i := range rank {
		if i != axis {
			axes = append(axes, i)
		}
	}
	return axes
}

// Weight returns the weight that calls compute with.
func (n *WeightNorm) Weight() *weft.Tensor {
	const name = "weight_norm"
	if n == nil || n.Layer == nil || n.Magnitude == nil || n.Direction == nil {
		failNil(name, "NewWeightNorm")
	}
	defer array.Named(name).End()
	if !n.All {
		array.Axis(name, n.Axis, n.Direction.Rank())
	}
	return n.Direction.Mul(n.Magnitude.Div(n.norm(n.Direction)))
}

// Forward is the layer's.
func (n *WeightNorm) Forward(x *weft.Tensor) *weft.Tensor {
	return Call(n, x, (*WeightNorm).forward)
}

func (n *WeightNorm) forward(x *weft.Tensor) *weft.Tensor {
	return forwardWith("weight_norm", n.Layer, n.Weight(), x)
}

// Remove returns the layer with the weight of now as a parameter. n must not be called afterwards.
func (n *WeightNorm) Remove() Layer { return restored("weight_norm", n.Layer, n.Weight()) }

// SpectralNorm is a layer whose weight is Original divided by its greatest singular value, as a matrix
// with one row for each index of an axis (Miyato et al., Spectral normalization for generative
// adversarial networks, 2018). Each call in training estimates it better, from left and right singular
// vectors that it writes. It is torch.nn.utils.parametrizations.spectral_norm, with its names.
type SpectralNorm struct {
	Layer      Layer        `nn:""` // its Weight is nil
	Original   *weft.Tensor `nn:"parametrizations.weight.original"`
	U          *weft.Tensor `nn:"parametrizations.weight.0._u"` // [rows], a buffer
	V          *weft.Tensor `nn:"parametrizations.weight.0._v"` // [columns], a buffer
	Axis       int          // of the rows
	Iterations int          // of a call in training
	Eps        float64      // the least norm of a vector

	eval bool
}

// SpectralNormOpts are the options of [NewSpectralNorm].
type SpectralNormOpts struct {
	Axis       *int     // of the rows; nil means 0, or 1 for transposed convolutions
	Iterations *int     // of a call in training, at most 1000; nil means 1
	Eps        *float64 // the least norm of a vector; nil means 1e-12
	Generator  *weft.Generator
}

// NewSpectralNorm returns a layer with the weight of the given one, as [NewWeightNorm] does. The weight has two
// axes or more. Fifteen iterations from drawn vectors come first, as in PyTorch.
func NewSpectralNorm(layer Layer, opts ...SpectralNormOpts) *SpectralNorm {
	const name = "spectral_norm"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	axis := 0
	switch layer.(type) {
	case *ConvTranspose1d, *ConvTranspose2d, *ConvTranspose3d:
		axis = 1
	}
	axis = array.Or(o.Axis, axis)
	n := &SpectralNorm{Layer: layer, Iterations: array.Or(o.Iterations, 1), Eps: array.Or(o.Eps, 1e-12)}
	n.checkIterations(name)
	if !(n.Eps > 0) {
		array.Failf(name, "Eps", "is %v, want more than 0", n.Eps)
	}
	if w := weightField(name, layer).Interface().(*weft.Tensor); w != nil {
		if w.Rank() < 2 || w.Size() == 0 {
			array.Failf(name, "layer", "has a weight of shape %s, want two axes or more, with elements", array.ShapeString(sizes(w)))
		}
		n.Axis = array.Axis(name, axis, w.Rank())
	}
	n.Original = Param(takeWeight(name, layer).Detach().Clone())
	weft.WithoutGrad(func() {
		m := n.matrix()
		g := source(o.Generator).On(m.Device())
		n.U, n.V = n.unit(g.Randn(m.Dim(0)).To(m.DType())), n.unit(g.Randn(m.Dim(1)).To(m.DType()))
		n.U, n.V = n.iterate(m, 15)
	})
	return n
}

// maxIterations is the most steps of the power method in a call: more do not come closer.
const maxIterations = 1000

func (n *SpectralNorm) checkIterations(name string) {
	if n.Iterations < 1 || n.Iterations > maxIterations {
		array.Failf(name, "Iterations", "is %d, want 1 to %d", n.Iterations, maxIterations)
	}
}

// matrix returns the weight with one row for each index of the axis.
func (n *SpectralNorm) matrix() *weft.Tensor {
	if n.Axis == 0 {
		return n.Original.Flatten(1)
	}
	return n.Original.MoveAxis(n.Axis, 0).Flatten(1)
}

func (n *SpectralNorm) unit(x *weft.Tensor) *weft.Tensor {
	return Normalize(x, NormalizeOpts{Axis: new(0), Eps: &n.Eps})
}

// iterate returns singular vectors after more steps of the power method.
func (n *SpectralNorm) iterate(m *weft.Tensor, steps int) (u, v *weft.Tensor) {
	u, v = n.U, n.V
	for range steps {
		u = n.unit(m.MatMul(v))
		v = n.unit(m.T().MatMul(u))
	}
	return u, v
}

// SetTraining implements [Trainer].
func (n *SpectralNorm) SetTraining(on bool) {
	n.check()
	n.eval = !on
}

func (n *SpectralNorm) check() {
	const name = "spectral_norm"
	defer array.Named(name).End()
	if n == nil || n.Layer == nil || n.Original == nil || n.U == nil || n.V == nil {
		failNil(name, "NewSpectralNorm")
	}
	n.checkIterations(name)
	array.Axis(name, n.Axis, n.Original.Rank())
}

// weight returns the weight, with the vectors as they are or after the iterations of a call.
func (n *SpectralNorm) weight(steps int) *weft.Tensor {
	defer array.Named("spectral_norm").End()
	n.check()
	m := n.matrix()
	u, v := n.U.Clone(), n.V.Clone()
	if steps > 0 {
		weft.WithoutGrad(func() {
			u, v = n.iterate(m, steps)
			n.U.Assign(u)
			n.V.Assign(v)
		})
	}
	return n.Original.Div(u.Mul(m.MatMul(v)).Sum())
}

// Weight returns the weight that calls compute with outside of training.
func (n *SpectralNorm) Weight() *weft.Tensor { return n.weight(0) }

// Forward is the layer's.
func (n *SpectralNorm) Forward(x *weft.Tensor) *weft.Tensor {
	return Call(n, x, (*SpectralNorm).forward)
}

func (n *SpectralNorm) forward(x *weft.Tensor) *weft.Tensor {
	n.check()
	steps := n.Iterations
	if n.eval {
		steps = 0
	}
	return forwardWith("spectral_norm", n.Layer, n.weight(steps), x)
}

// Remove returns the layer with the weight of now as a parameter. n must not be called afterwards.
func (n *SpectralNorm) Remove() Layer { return restored("spectral_norm", n.Layer, n.Weight()) }

// String returns the type of the layer, and the options.
func (s *SpectralNorm) String() string {
	return array.Describe("nn.SpectralNorm", "Layer", fmt.Sprintf("%T", s.Layer), "Axis", s.Axis, "Iterations", s.Iterations, "Eps", s.Eps)
}
