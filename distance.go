package weft

import (
	"math"

	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/op"
)

// Norm is the norm of order p of the elements over axes, counted from the back if negative,
// all if none is given: (sum |t|^p)^(1/p). Of order 2 over two axes or all it is Frobenius's
// norm of matrices. An infinite order gives the greatest magnitude, minus infinity the
// least, order 0 the number of elements that are not 0. It takes floats; NaN gives NaN.
// Gradients are PyTorch's: 0 where a norm of order above 1 is 0; equal extremes share theirs.
func (t *Tensor) Norm(p float64, axes ...int) *Tensor {
	return (*Tensor)(core.WithAttrs(op.Norm, op.Measure{Axes: axes, Order: p}, t.c()))
}

// NormKeep is [Tensor.Norm] whose result keeps the reduced axes with size 1, so that it
// broadcasts against t: PyTorch's keepdim.
func (t *Tensor) NormKeep(p float64, axes ...int) *Tensor {
	return (*Tensor)(core.WithAttrs(op.Norm, op.Measure{Axes: axes, Keep: true, Order: p}, t.c()))
}

// Hypot is the square root of t*t + x*x without overflow on the way; infinite if t or x is.
// Its gradient is 0 at the origin.
func (t *Tensor) Hypot(x any) *Tensor { return binary(op.Hypot, t, x) }

// Lerp is t + w*(x-t), which is t for w = 0 and x for w = 1; x and w are tensors or Go
// numbers. It takes floats.
func (t *Tensor) Lerp(x, w any) *Tensor {
	defer array.Named("lerp").End()
	return (*Tensor)(core.Apply(op.Lerp, nil, core.TensorOperand("lerp", t.c()), asOperand("lerp", "x", x), asOperand("lerp", "w", w)))
}

// CloseOpts are the options of [Tensor.IsClose] and [Tensor.AllClose].
type CloseOpts struct {
	// Relative and Absolute are how far apart elements may be: Absolute + Relative*|x|. Nil
	// means 1e-5 and 1e-8, as in NumPy and PyTorch.
	Relative, Absolute *float64
	EqualNaN           bool // NaN is close to NaN
}

// IsClose is true where t is equal to x, a tensor or a Go number, or both are finite and
// |t-x| is at most Absolute + Relative*|x|. Integers are compared in float64. It is Bool, of
// the shape to which t and x broadcast.
func (t *Tensor) IsClose(x any, opts ...CloseOpts) *Tensor {
	defer array.Named("isclose").End()
	return t.isClose("isclose", x, array.Options("isclose", opts))
}

func (t *Tensor) isClose(opName string, x any, o CloseOpts) *Tensor {
	a := op.Nearness{Relative: array.Or(o.Relative, 1e-5), Absolute: array.Or(o.Absolute, 1e-8), EqualNaN: o.EqualNaN}
	if !(a.Relative >= 0 && a.Absolute >= 0) {
		array.Failf(opName, "", "tolerances %v and %v: want numbers that are not negative", a.Relative, a.Absolute)
	}
	return (*Tensor)(core.Apply(op.IsClose, a, core.TensorOperand(opName, t.c()), asOperand(opName, "x", x)))
}

// AllClose reports whether [Tensor.IsClose] is true everywhere: |t - x| <= Absolute + Relative*|x| for
// each element, x being a tensor that broadcasts or a Go number. NaN is close to nothing unless
// the options say so; of no elements it is true.
func (t *Tensor) AllClose(x any, opts ...CloseOpts) bool {
	defer array.Named("allclose").End()
	return t.isClose("allclose", x, array.Options("allclose", opts)).All().bool()
}

// NanToNum returns t with a number in the place of NaN and others in the place of
// infinities: the greatest and the least finite numbers of the type if none is given, else
// infinite and its negative, or for two numbers those. Integers stay.
func (t *Tensor) NanToNum(nan float64, infinite ...float64) *Tensor {
	t.c().Check("nan_to_num")
	most, ok := map[DType]float64{Float32: math.MaxFloat32, Float64: math.MaxFloat64, array.Float16: 65504, array.BFloat16: 0x1.fep127}[t.v().DType]
	if !ok && t.v().DType.Float() {
		array.Failf("nan_to_num", "", "is not defined for %s", t.v().DType)
	}
	a := op.Substitutes{NaN: nan, High: most, Low: -most}
	switch len(infinite) {
	case 0:
	case 1:
		a.High, a.Low = infinite[0], -infinite[0]
	case 2:
		a.High, a.Low = infinite[0], infinite[1]
	default:
		array.Failf("nan_to_num", "infinite", "takes two numbers at most, got %d", len(infinite))
	}
	return (*Tensor)(core.WithAttrs(op.NanToNum, a, t.c()))
}
