package weft

import (
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/op"
)

// Reductions take the axes to reduce, counted from the back if negative; none
// means all. Methods whose names end in Keep keep the reduced axes with size 1.
// The order of additions depends on the shape and the axes alone, not on strides,
// threads or the processor.

func (t *Tensor) reduce(d *op.Def, keep bool, axes []int) *Tensor {
	return (*Tensor)(core.WithAttrs(d, op.Reduction{Axes: axes, Keep: keep}, t.c()))
}

// Sum adds up the elements over axes, which may count from the back. Without axes it reduces all.
// The result does not have the reduced axes. Integers and Bool give int64, Uint64 uint64, which
// wrap; floats and complex numbers their type. NaN if one is; 0 of no elements. The package comment
// bounds the error. It panics with *[Error] if an axis is out of range or given twice.
func (t *Tensor) Sum(axes ...int) *Tensor { return t.reduce(op.Sum, false, axes) }

// SumKeep is [Tensor.Sum] whose result keeps the reduced axes with size 1, so that it broadcasts
// against t: PyTorch's keepdim. Types, NaN and errors are as for Sum.
func (t *Tensor) SumKeep(axes ...int) *Tensor { return t.reduce(op.Sum, true, axes) }

// Prod multiplies the elements over axes, which may count from the back. Without axes it reduces
// all. The result does not have the reduced axes. Integers and Bool give int64, Uint64 uint64,
// which wrap; floats and complex numbers their type. NaN if one is; 1 of no elements. It panics
// with *[Error] if an axis is out of range or given twice.
func (t *Tensor) Prod(axes ...int) *Tensor { return t.reduce(op.Prod, false, axes) }

// ProdKeep is [Tensor.Prod] whose result keeps the reduced axes with size 1, so that it
// broadcasts against t: PyTorch's keepdim. Types, NaN and errors are as for Prod.
func (t *Tensor) ProdKeep(axes ...int) *Tensor { return t.reduce(op.Prod, true, axes) }

// Mean is the mean of the elements over axes: axes are those to reduce, which may count from the
// back, none for all; the result does not have them. It takes floats and complex numbers, whose
// type the result has; integers are converted first ([Tensor.To]). NaN if one is, and of no
// elements. It panics with *[Error] if an axis is out of range or given twice, or t holds
// integers or Bool.
func (t *Tensor) Mean(axes ...int) *Tensor { return t.reduce(op.Mean, false, axes) }

// MeanKeep is [Tensor.Mean] whose result keeps the reduced axes with size 1, so that it
// broadcasts against t: PyTorch's keepdim. Types, NaN and errors are as for Mean.
func (t *Tensor) MeanKeep(axes ...int) *Tensor { return t.reduce(op.Mean, true, axes) }

// Var is the mean squared distance from the mean over axes, divided by n as NumPy's default is:
// axes are those to reduce, which may count from the back, none for all; the result does not
// have them. It takes floats and complex numbers; the result is of floats. NaN if one is, and of
// no elements. It panics with *[Error] if an axis is out of range or given twice, or t holds
// integers or Bool. [Tensor.SampleVar] divides by n-1.
func (t *Tensor) Var(axes ...int) *Tensor { return t.reduce(op.Var, false, axes) }

// VarKeep is [Tensor.Var] whose result keeps the reduced axes with size 1, so that it broadcasts
// against t: PyTorch's keepdim. Types, NaN and errors are as for Var.
func (t *Tensor) VarKeep(axes ...int) *Tensor { return t.reduce(op.Var, true, axes) }

// SampleVar is the variance over axes, divided by n-1 as PyTorch's default is: axes are those to
// reduce, which may count from the back, none for all; the result does not have them. It takes
// floats and complex numbers; the result is of floats. NaN if one is, and of no elements, or of
// one. It panics with *[Error] if an axis is out of range or given twice, or t holds integers or
// Bool.
func (t *Tensor) SampleVar(axes ...int) *Tensor {
	return t.corrected("sample_var", op.Var, 1, false, axes)
}

// SampleVarKeep is [Tensor.SampleVar] whose result keeps the reduced axes with size 1, so that it
// broadcasts against t: PyTorch's keepdim. Types, NaN and errors are as for SampleVar.
func (t *Tensor) SampleVarKeep(axes ...int) *Tensor {
	return t.corrected("sample_var", op.Var, 1, true, axes)
}

// CorrectedVar is the squared distances from the mean over axes, added up and divided by n less a
// correction: NumPy's ddof, PyTorch's correction. With 0 it is [Tensor.Var], with 1
// [Tensor.SampleVar]. Axes, types and NaN are as for Var. NaN or +Inf where n is not more than the
// correction. It panics with *[Error] if the correction is negative and where Var does.
func (t *Tensor) CorrectedVar(correction int, axes ...int) *Tensor {
	return t.corrected("corrected_var", op.Var, correction, false, axes)
}

// CorrectedVarKeep is [Tensor.CorrectedVar] whose result keeps the reduced axes with size 1, so that
// it broadcasts against t: PyTorch's keepdim. Types, NaN and errors are as for CorrectedVar.
func (t *Tensor) CorrectedVarKeep(correction int, axes ...int) *Tensor {
	return t.corrected("corrected_var", op.Var, correction, true, axes)
}

// corrected is the variance or its square root, divided by n less a correction.
func (t *Tensor) corrected(name string, d *op.Def, correction int, keep bool, axes []int) *Tensor {
	defer array.Named(name).End()
	t.c().Check(name)
	if correction < 0 {
		array.Failf(name, "correction", "%d is negative", correction)
	}
	return (*Tensor)(core.WithAttrs(d, op.Reduction{Axes: axes, Keep: keep, Correction: correction}, t.c()))
}

// VarMean returns [Tensor.Var] and [Tensor.Mean] over axes, computed together, with the same
// bits: axes are those to reduce, which may count from the back, none for all; the result does
// not have them. It panics with *[Error] if an axis is out of range or given twice, or t holds
// integers or Bool.
func (t *Tensor) VarMean(axes ...int) (variance, mean *Tensor) {
	r := core.ApplyAll(op.VarMean, op.Reduction{Axes: axes}, core.Of("var_mean", t.c()))
	return (*Tensor)(r[0]), (*Tensor)(r[1])
}

// Std is the square root of [Tensor.Var] over axes: axes are those to reduce, which may count
// from the back, none for all; the result does not have them. It takes floats and complex
// numbers; the result is of floats. NaN if one is, and of no elements. It panics with *[Error]
// if an axis is out of range or given twice, or t holds integers or Bool.
func (t *Tensor) Std(axes ...int) *Tensor { return t.reduce(op.Std, false, axes) }

// StdKeep is [Tensor.Std] whose result keeps the reduced axes with size 1, so that it broadcasts
// against t: PyTorch's keepdim. Types, NaN and errors are as for Std.
func (t *Tensor) StdKeep(axes ...int) *Tensor { return t.reduce(op.Std, true, axes) }

// SampleStd is the square root of [Tensor.SampleVar] over axes, divided by n-1 as PyTorch's
// default is: axes are those to reduce, which may count from the back, none for all; the result
// does not have them. It takes floats and complex numbers; the result is of floats. NaN if one
// is, and of no elements, or of one. It panics with *[Error] if an axis is out of range or given
// twice, or t holds integers or Bool.
func (t *Tensor) SampleStd(axes ...int) *Tensor {
	return t.corrected("sample_std", op.Std, 1, false, axes)
}

// SampleStdKeep is [Tensor.SampleStd] whose result keeps the reduced axes with size 1, so that it
// broadcasts against t: PyTorch's keepdim. Types, NaN and errors are as for SampleStd.
func (t *Tensor) SampleStdKeep(axes ...int) *Tensor {
	return t.corrected("sample_std", op.Std, 1, true, axes)
}

// CorrectedStd is the square root of [Tensor.CorrectedVar] over axes, over all if none is given:
// NumPy's std with ddof. Types, NaN and errors are as for CorrectedVar.
func (t *Tensor) CorrectedStd(correction int, axes ...int) *Tensor {
	return t.corrected("corrected_std", op.Std, correction, false, axes)
}

// CorrectedStdKeep is [Tensor.CorrectedStd] whose result keeps the reduced axes with size 1, so that
// it broadcasts against t: PyTorch's keepdim. Types, NaN and errors are as for CorrectedStd.
func (t *Tensor) CorrectedStdKeep(correction int, axes ...int) *Tensor {
	return t.corrected("corrected_std", op.Std, correction, true, axes)
}

// Min is the least element over axes: axes are those to reduce, which may count from the back,
// none for all; the result does not have them. The type stays. NaN if one is. Elements that are
// equally small share the gradient. It panics with *[Error] if an axis is out of range or given
// twice, where there is no element, and for complex numbers. [Tensor.MinWithIndex] says where it
// is, [Tensor.Minimum] compares two tensors.
func (t *Tensor) Min(axes ...int) *Tensor { return t.reduce(op.Min, false, axes) }

// MinKeep is [Tensor.Min] whose result keeps the reduced axes with size 1, so that it broadcasts
// against t: PyTorch's keepdim. Types, NaN and errors are as for Min.
func (t *Tensor) MinKeep(axes ...int) *Tensor { return t.reduce(op.Min, true, axes) }

// Max is the greatest element over axes: axes are those to reduce, which may count from the
// back, none for all; the result does not have them. The type stays. NaN if one is. Elements
// that are equally great share the gradient. It panics with *[Error] if an axis is out of range
// or given twice, where there is no element, and for complex numbers. [Tensor.MaxWithIndex] says
// where it is, [Tensor.Maximum] compares two tensors.
func (t *Tensor) Max(axes ...int) *Tensor { return t.reduce(op.Max, false, axes) }

// MaxKeep is [Tensor.Max] whose result keeps the reduced axes with size 1, so that it broadcasts
// against t: PyTorch's keepdim. Types, NaN and errors are as for Max.
func (t *Tensor) MaxKeep(axes ...int) *Tensor { return t.reduce(op.Max, true, axes) }

// ArgMin is the place, int64, of the first least element along one axis, which the result does
// not have, or in the flattened tensor (row-major) if none is given. A NaN counts as least. The
// axis may count from the back. It panics with *[Error] if the axis is out of range, where there
// is no element, and for complex numbers.
func (t *Tensor) ArgMin(axis ...int) *Tensor { return t.reduce(op.ArgMin, false, axis) }

// ArgMinKeep is [Tensor.ArgMin] whose result keeps the reduced axes with size 1, so that it broadcasts
// against t: NumPy's keepdims. Types, NaN and errors are as for ArgMin.
func (t *Tensor) ArgMinKeep(axis ...int) *Tensor { return t.reduce(op.ArgMin, true, axis) }

// ArgMax is the place, int64, of the first greatest element along one axis, which the result
// does not have, or in the flattened tensor (row-major) if none is given. A NaN counts as
// greatest. The axis may count from the back. It panics with *[Error] if the axis is out of
// range, where there is no element, and for complex numbers.
func (t *Tensor) ArgMax(axis ...int) *Tensor { return t.reduce(op.ArgMax, false, axis) }

// ArgMaxKeep is [Tensor.ArgMax] whose result keeps the reduced axes with size 1, so that it broadcasts
// against t: NumPy's keepdims. Types, NaN and errors are as for ArgMax.
func (t *Tensor) ArgMaxKeep(axis ...int) *Tensor { return t.reduce(op.ArgMax, true, axis) }

// All is true if every element over axes is true (not 0): axes are those to reduce, which may
// count from the back, none for all; the result does not have them. It takes every type and
// gives Bool; NaN is not 0, and true of no elements. It panics with *[Error] if an axis is out
// of range or given twice.
func (t *Tensor) All(axes ...int) *Tensor { return t.reduce(op.All, false, axes) }

// AllKeep is [Tensor.All] whose result keeps the reduced axes with size 1, so that it broadcasts
// against t: NumPy's keepdims. Types, NaN and errors are as for All.
func (t *Tensor) AllKeep(axes ...int) *Tensor { return t.reduce(op.All, true, axes) }

// Any is true if some element over axes is true (not 0): axes are those to reduce, which may
// count from the back, none for all; the result does not have them. It takes every type and
// gives Bool; NaN is not 0, and false of no elements. It panics with *[Error] if an axis is out
// of range or given twice.
func (t *Tensor) Any(axes ...int) *Tensor { return t.reduce(op.Any, false, axes) }

// AnyKeep is [Tensor.Any] whose result keeps the reduced axes with size 1, so that it broadcasts
// against t: NumPy's keepdims. Types, NaN and errors are as for Any.
func (t *Tensor) AnyKeep(axes ...int) *Tensor { return t.reduce(op.Any, true, axes) }

// LogSumExp is log(sum(exp(t))) over axes, without overflow: axes are those to reduce, which may
// count from the back, none for all; the result does not have them. It takes floats, whose type
// the result has. NaN if one is; -Inf of no elements. It panics with *[Error] if an axis is out
// of range or given twice, or t holds no floats.
func (t *Tensor) LogSumExp(axes ...int) *Tensor { return t.reduce(op.LogSumExp, false, axes) }

// LogSumExpKeep is [Tensor.LogSumExp] whose result keeps the reduced axes with size 1, so that
// it broadcasts against t: PyTorch's keepdim. Types, NaN and errors are as for LogSumExp.
func (t *Tensor) LogSumExpKeep(axes ...int) *Tensor { return t.reduce(op.LogSumExp, true, axes) }

// Softmax is exp(t)/sum(exp(t)) along an axis, without overflow: the elements along it are from
// 0 to 1 and add up to 1. The axis may count from the back; shape and type stay. NaN makes all
// along the axis NaN. It takes floats, and panics with *[Error] for others and if the axis is
// out of range.
func (t *Tensor) Softmax(axis int) *Tensor {
	return (*Tensor)(core.WithAttrs(op.Softmax, op.Reduction{Axes: []int{axis}}, t.c()))
}

// LogSoftmax is log(softmax(t)) along an axis, computed without losing what softmax rounds to 0.
// The axis may count from the back; shape and type stay. NaN makes all along the axis NaN. It
// takes floats, and panics with *[Error] for others and if the axis is out of range.
func (t *Tensor) LogSoftmax(axis int) *Tensor {
	return (*Tensor)(core.WithAttrs(op.LogSoftmax, op.Reduction{Axes: []int{axis}}, t.c()))
}

// Cumulative results have the shape of t. Element i is computed from elements 0 to i along the
// axis, which may count from the back. Bits depend neither on threads nor on the processor.

// CumSum returns the sums of each element and all before it along an axis. Integers and
// Bool give int64, Uint64 uint64; float16 and bfloat16 are added in float32 and rounded at the
// end. Complex numbers are added part by part.
//
// Floats are added in blocks of 64 bytes: pairs first, then runs of 4, 8 and so on. The sums of 16
// blocks are added in order, then the sums of 16 such groups, and so on. An element is the result
// of at most A = 4 + 17L additions, where L is the number of levels of groups: 5 for a million
// elements. So the error is at most A * 2^-24 (float32) or A * 2^-53 (float64) times the sum of
// magnitudes. The order is the same along every axis, for every layout and device. The gradient
// uses it from the end.
func (t *Tensor) CumSum(axis int) *Tensor { return t.along(op.CumSum, axis) }

// CumProd returns the products of each element and all before it along an axis. Types are
// as for CumSum. Products are taken in order; of float32 they are kept in float64, and each is
// rounded. Complex numbers are multiplied in pairs, then in pairs of these and so on. The gradient is exact at zeros too.
func (t *Tensor) CumProd(axis int) *Tensor { return t.along(op.CumProd, axis) }

// CumMax returns the greatest of each element and all before it along an axis, and where it
// was, int64: at the last place of equal ones. From a NaN on there is nothing but NaN.
// Gradients go back to those places.
func (t *Tensor) CumMax(axis int) (values, index *Tensor) { return t.placedAlong(op.CumMax, axis) }

// CumMin is [Tensor.CumMax] for the least elements: the least of each element and all before it
// along an axis, in t's shape and type, and int64 places. It panics with *[Error] if the axis is
// out of range.
func (t *Tensor) CumMin(axis int) (values, index *Tensor) { return t.placedAlong(op.CumMin, axis) }

// along applies an operation that has an axis as its attribute.
func (t *Tensor) along(d *op.Def, axis int) *Tensor {
	t.c().Check(d.Name)
	return (*Tensor)(core.WithAttrs(d, op.Axis(array.Axis(d.Name, axis, t.Rank())), t.c()))
}

// placedAlong is along for an operation that gives elements and where they were.
func (t *Tensor) placedAlong(d *op.Def, axis int) (values, index *Tensor) {
	t.c().Check(d.Name)
	r := core.ApplyAll(d, op.Axis(array.Axis(d.Name, axis, t.Rank())), core.Operand{T: t.c()})
	return (*Tensor)(r[0]), (*Tensor)(r[1])
}
