package weft

import (
	"weft/internal/op"
)

// Reductions take the axes to reduce, counted from the back if negative; none
// means all. Methods whose names end in Keep keep the reduced axes with size 1.
// The order of additions depends on the shape and the axes alone, not on strides,
// threads or the processor.

func (t *Tensor) reduce(d *op.Def, keep bool, axes []int) *Tensor {
	return withAttrs(d, op.Reduction{Axes: axes, Keep: keep}, t)
}

// Sum adds up; integers and Bool give int64. The package comment bounds the error.
func (t *Tensor) Sum(axes ...int) *Tensor { return t.reduce(op.Sum, false, axes) }

// SumKeep is Sum with the axes kept.
func (t *Tensor) SumKeep(axes ...int) *Tensor { return t.reduce(op.Sum, true, axes) }

// Prod multiplies; integers and Bool give int64.
func (t *Tensor) Prod(axes ...int) *Tensor { return t.reduce(op.Prod, false, axes) }

// ProdKeep is Prod with the axes kept.
func (t *Tensor) ProdKeep(axes ...int) *Tensor { return t.reduce(op.Prod, true, axes) }

// Mean is the mean of floats.
func (t *Tensor) Mean(axes ...int) *Tensor { return t.reduce(op.Mean, false, axes) }

// MeanKeep is Mean with the axes kept.
func (t *Tensor) MeanKeep(axes ...int) *Tensor { return t.reduce(op.Mean, true, axes) }

// Var is the mean squared distance from the mean (NumPy's default, divided by n).
func (t *Tensor) Var(axes ...int) *Tensor { return t.reduce(op.Var, false, axes) }

// VarKeep is Var with the axes kept.
func (t *Tensor) VarKeep(axes ...int) *Tensor { return t.reduce(op.Var, true, axes) }

// SampleVar is the variance divided by n-1 (PyTorch's default).
func (t *Tensor) SampleVar(axes ...int) *Tensor {
	return withAttrs(op.Var, op.Reduction{Axes: axes, Correction: 1}, t)
}

// VarMean returns Var and Mean, computed together.
func (t *Tensor) VarMean(axes ...int) (variance, mean *Tensor) {
	r := applyAll(op.VarMean, op.Reduction{Axes: axes}, tensorOperand("var_mean", t))
	return r[0], r[1]
}

// Std is the square root of Var.
func (t *Tensor) Std(axes ...int) *Tensor { return t.reduce(op.Std, false, axes) }

// StdKeep is Std with the axes kept.
func (t *Tensor) StdKeep(axes ...int) *Tensor { return t.reduce(op.Std, true, axes) }

// SampleStd is the square root of SampleVar.
func (t *Tensor) SampleStd(axes ...int) *Tensor {
	return withAttrs(op.Std, op.Reduction{Axes: axes, Correction: 1}, t)
}

// Min is the least element; NaN if one is.
func (t *Tensor) Min(axes ...int) *Tensor { return t.reduce(op.Min, false, axes) }

// MinKeep is Min with the axes kept.
func (t *Tensor) MinKeep(axes ...int) *Tensor { return t.reduce(op.Min, true, axes) }

// Max is the greatest element; NaN if one is.
func (t *Tensor) Max(axes ...int) *Tensor { return t.reduce(op.Max, false, axes) }

// MaxKeep is Max with the axes kept.
func (t *Tensor) MaxKeep(axes ...int) *Tensor { return t.reduce(op.Max, true, axes) }

// ArgMin is the index, int64, of the first least element along one axis, or in
// the flattened tensor if none is given.
func (t *Tensor) ArgMin(axis ...int) *Tensor { return t.reduce(op.ArgMin, false, axis) }

// ArgMax is the index, int64, of the first greatest element along one axis, or in
// the flattened tensor if none is given.
func (t *Tensor) ArgMax(axis ...int) *Tensor { return t.reduce(op.ArgMax, false, axis) }

// All is true if every element is (not 0).
func (t *Tensor) All(axes ...int) *Tensor { return t.reduce(op.All, false, axes) }

// Any is true if some element is (not 0).
func (t *Tensor) Any(axes ...int) *Tensor { return t.reduce(op.Any, false, axes) }

// LogSumExp is log(sum(exp(t))) without overflow.
func (t *Tensor) LogSumExp(axes ...int) *Tensor { return t.reduce(op.LogSumExp, false, axes) }

// LogSumExpKeep is LogSumExp with the axes kept.
func (t *Tensor) LogSumExpKeep(axes ...int) *Tensor { return t.reduce(op.LogSumExp, true, axes) }

// Softmax is exp(t)/sum(exp(t)) along an axis, without overflow.
func (t *Tensor) Softmax(axis int) *Tensor {
	return withAttrs(op.Softmax, op.Reduction{Axes: []int{axis}}, t)
}

// LogSoftmax is log(softmax(t)) along an axis.
func (t *Tensor) LogSoftmax(axis int) *Tensor {
	return withAttrs(op.LogSoftmax, op.Reduction{Axes: []int{axis}}, t)
}
