package weft

import (
	"math"
	"slices"

	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/op"
)

// Reductions that leave out NaN. Integers and Bool have none; a complex number is NaN if a part is.

// number is t with x in the place of NaN.
func (t *Tensor) number(x float64) *Tensor {
	if d := t.v().DType; !d.Float() && !d.Complex() {
		return t
	}
	return Where(t.IsNaN(), x, t)
}

// counted is how many elements over axes are not NaN, in t's type, with the axes kept if asked for.
func (t *Tensor) counted(keep bool, axes []int) *Tensor {
	return t.Eq(t).To(Int64).reduce(op.Sum, keep, axes).To(t.v().DType)
}

// nanOf checks the receiver of a function of floats that leaves out NaN.
func (t *Tensor) nanOf(name string) {
	t.c().Check(name)
	if !t.v().DType.Float() {
		array.Failf(name, "", "takes floats, got %s: convert with To first", t.v().DType)
	}
}

// NanSum is [Tensor.Sum] of the elements over axes that are not NaN, over all if none is given: 0 where all
// are. Types and errors are as for Sum.
func (t *Tensor) NanSum(axes ...int) *Tensor { return t.filled("nansum", op.Sum, 0, false, axes) }

// NanSumKeep is [Tensor.NanSum] whose result keeps the reduced axes with size 1, so that it broadcasts
// against t: NumPy's keepdims. Types and errors are as for NanSum.
func (t *Tensor) NanSumKeep(axes ...int) *Tensor { return t.filled("nansum", op.Sum, 0, true, axes) }

// NanProd is [Tensor.Prod] of the elements over axes that are not NaN, over all if none is given: 1 where
// all are. Types and errors are as for Prod.
func (t *Tensor) NanProd(axes ...int) *Tensor { return t.filled("nanprod", op.Prod, 1, false, axes) }

// NanProdKeep is [Tensor.NanProd] whose result keeps the reduced axes with size 1, so that it broadcasts
// against t: NumPy's keepdims. Types and errors are as for NanProd.
func (t *Tensor) NanProdKeep(axes ...int) *Tensor { return t.filled("nanprod", op.Prod, 1, true, axes) }

// filled reduces t over axes with x in the place of NaN.
func (t *Tensor) filled(name string, d *op.Def, x float64, keep bool, axes []int) *Tensor {
	defer array.Named(name).End()
	t.c().Check(name)
	return t.number(x).reduce(d, keep, axes)
}

// NanMean is the mean of the elements over axes that are not NaN, over all if none is given: NaN where all
// are. It takes floats, whose type the result has, and panics with *[Error] for others.
func (t *Tensor) NanMean(axes ...int) *Tensor { return t.nanMean(false, axes) }

// NanMeanKeep is [Tensor.NanMean] whose result keeps the reduced axes with size 1, so that it broadcasts
// against t: NumPy's keepdims. Types and errors are as for NanMean.
func (t *Tensor) NanMeanKeep(axes ...int) *Tensor { return t.nanMean(true, axes) }

func (t *Tensor) nanMean(keep bool, axes []int) *Tensor {
	defer array.Named("nanmean").End()
	t.nanOf("nanmean")
	return t.wider(func(t *Tensor) *Tensor { return t.number(0).reduce(op.Sum, keep, axes).Div(t.counted(keep, axes)) })
}

// wider computes in float32 what 16 bits do not hold on the way.
func (t *Tensor) wider(f func(t *Tensor) *Tensor) *Tensor {
	if d := t.v().DType; d.Half() {
		return f(t.To(Float32)).To(d)
	}
	return f(t)
}

// NanVar is the mean squared distance from the mean of the elements over axes that are not NaN, over all
// if none is given: NaN where all are. It takes floats, whose type the result has, and panics with *[Error]
// for others.
func (t *Tensor) NanVar(axes ...int) *Tensor { return t.nanVar("nanvar", 0, false, axes) }

// NanVarKeep is [Tensor.NanVar] whose result keeps the reduced axes with size 1, so that it broadcasts
// against t: NumPy's keepdims. Types and errors are as for NanVar.
func (t *Tensor) NanVarKeep(axes ...int) *Tensor { return t.nanVar("nanvar", 0, true, axes) }

// NanSampleVar is [Tensor.SampleVar] of the elements over axes that are not NaN, divided by one less
// than their number: NaN where one or none is left. It takes floats, whose type the result has, and panics
// with *[Error] for others. NumPy's nanvar with ddof=1.
func (t *Tensor) NanSampleVar(axes ...int) *Tensor {
	return t.nanVar("nan_sample_var", 1, false, axes)
}

// NanSampleVarKeep is [Tensor.NanSampleVar] whose result keeps the reduced axes with size 1, so that it broadcasts
// against t: NumPy's keepdims. Types and errors are as for NanSampleVar.
func (t *Tensor) NanSampleVarKeep(axes ...int) *Tensor {
	return t.nanVar("nan_sample_var", 1, true, axes)
}

// NanCorrectedVar is [Tensor.CorrectedVar] of the elements over axes that are not NaN, over all if none is given: the
// squared distances from their mean, added up and divided by their number less a correction. With 0 it is
// [Tensor.NanVar], with 1 [Tensor.NanSampleVar]. NaN where not more elements than the correction are left. It takes
// floats, whose type the result has, and panics with *[Error] for others and for a negative correction. NumPy's nanvar
// with ddof.
func (t *Tensor) NanCorrectedVar(correction int, axes ...int) *Tensor {
	return t.nanVar("nan_corrected_var", correction, false, axes)
}

// NanCorrectedVarKeep is [Tensor.NanCorrectedVar] whose result keeps the reduced axes with size 1, so that it
// broadcasts against t: NumPy's keepdims. Types, NaN and errors are as for NanCorrectedVar.
func (t *Tensor) NanCorrectedVarKeep(correction int, axes ...int) *Tensor {
	return t.nanVar("nan_corrected_var", correction, true, axes)
}

// nanVar divides by the number of elements that are not NaN less a correction; NaN where nothing is left.
func (t *Tensor) nanVar(name string, correction int, keep bool, axes []int) *Tensor {
	defer array.Named(name).End()
	t.nanOf(name)
	if correction < 0 {
		array.Failf(name, "correction", "%d is negative", correction)
	}
	return t.wider(func(t *Tensor) *Tensor {
		mean := t.number(0).SumKeep(axes...).Div(t.counted(true, axes))
		far := Where(t.IsNaN(), 0, t.Sub(mean))
		n := t.counted(keep, axes)
		if correction != 0 {
			n = n.Sub(correction)
			n = Where(n.Le(0), math.NaN(), n)
		}
		return far.Square().reduce(op.Sum, keep, axes).Div(n)
	})
}

// NanStd is the square root of [Tensor.NanVar] over axes, over all if none is given: NaN where all are. It
// takes floats, whose type the result has, and panics with *[Error] for others.
func (t *Tensor) NanStd(axes ...int) *Tensor { return t.nanStd("nanstd", 0, false, axes) }

// NanStdKeep is [Tensor.NanStd] whose result keeps the reduced axes with size 1, so that it broadcasts
// against t: NumPy's keepdims. Types and errors are as for NanStd.
func (t *Tensor) NanStdKeep(axes ...int) *Tensor { return t.nanStd("nanstd", 0, true, axes) }

// NanSampleStd is the square root of [Tensor.NanSampleVar] over axes, over all if none is given. Types, NaN
// and errors are as for NanSampleVar. NumPy's nanstd with ddof=1, pandas' std.
func (t *Tensor) NanSampleStd(axes ...int) *Tensor {
	return t.nanStd("nan_sample_std", 1, false, axes)
}

// NanSampleStdKeep is [Tensor.NanSampleStd] whose result keeps the reduced axes with size 1, so that it broadcasts
// against t: NumPy's keepdims. Types and errors are as for NanSampleStd.
func (t *Tensor) NanSampleStdKeep(axes ...int) *Tensor {
	return t.nanStd("nan_sample_std", 1, true, axes)
}

// NanCorrectedStd is the square root of [Tensor.NanCorrectedVar] over axes, over all if none is given. Types, NaN and
// errors are as for NanCorrectedVar. NumPy's nanstd with ddof.
func (t *Tensor) NanCorrectedStd(correction int, axes ...int) *Tensor {
	return t.nanStd("nan_corrected_std", correction, false, axes)
}

// NanCorrectedStdKeep is [Tensor.NanCorrectedStd] whose result keeps the reduced axes with size 1, so that it
// broadcasts against t: NumPy's keepdims. Types, NaN and errors are as for NanCorrectedVar.
func (t *Tensor) NanCorrectedStdKeep(correction int, axes ...int) *Tensor {
	return t.nanStd("nan_corrected_std", correction, true, axes)
}

func (t *Tensor) nanStd(name string, correction int, keep bool, axes []int) *Tensor {
	defer array.Named(name).End()
	t.nanOf(name)
	return t.wider(func(t *Tensor) *Tensor { return t.nanVar(name, correction, keep, axes).Sqrt() })
}

// NanMin is the least of the elements over axes that are not NaN, over all if none is given: NaN where all
// are. Types, gradients and errors are as for [Tensor.Min].
func (t *Tensor) NanMin(axes ...int) *Tensor { return t.nanExtreme("nanmin", op.Min, 1, false, axes) }

// NanMinKeep is [Tensor.NanMin] whose result keeps the reduced axes with size 1, so that it broadcasts
// against t: NumPy's keepdims. Types and errors are as for NanMin.
func (t *Tensor) NanMinKeep(axes ...int) *Tensor {
	return t.nanExtreme("nanmin", op.Min, 1, true, axes)
}

// NanMax is the greatest of the elements over axes that are not NaN, over all if none is given: NaN where
// all are. Types, gradients and errors are as for [Tensor.Max].
func (t *Tensor) NanMax(axes ...int) *Tensor { return t.nanExtreme("nanmax", op.Max, -1, false, axes) }

// NanMaxKeep is [Tensor.NanMax] whose result keeps the reduced axes with size 1, so that it broadcasts
// against t: NumPy's keepdims. Types and errors are as for NanMax.
func (t *Tensor) NanMaxKeep(axes ...int) *Tensor {
	return t.nanExtreme("nanmax", op.Max, -1, true, axes)
}

// nanExtreme is the least or greatest number: NaN's substitute is the infinity of that sign.
func (t *Tensor) nanExtreme(name string, d *op.Def, sign int, keep bool, axes []int) *Tensor {
	defer array.Named(name).End()
	t.c().Check(name)
	if !t.v().DType.Float() {
		return t.reduce(d, keep, axes)
	}
	return Where(t.IsNaN().reduce(op.All, keep, axes), math.NaN(), t.number(math.Inf(sign)).reduce(d, keep, axes))
}

// NanArgMin is the place, int64, of the first least element along one axis that is not NaN, flattened if
// none is given. It reads the elements: where all are NaN it panics with *[Error], as NumPy does; in a compiled
// function, which cannot know, it is 0 there. Other errors are as for [Tensor.ArgMin].
func (t *Tensor) NanArgMin(axis ...int) *Tensor {
	return t.nanPlace("nanargmin", op.ArgMin, 1, false, axis)
}

// NanArgMinKeep is [Tensor.NanArgMin] whose result keeps the reduced axes with size 1, so that it broadcasts
// against t: NumPy's keepdims. Types and errors are as for NanArgMin.
func (t *Tensor) NanArgMinKeep(axis ...int) *Tensor {
	return t.nanPlace("nanargmin", op.ArgMin, 1, true, axis)
}

// NanArgMax is the place, int64, of the first greatest element along one axis that is not NaN, flattened if
// none is given. It reads the elements: where all are NaN it panics with *[Error], as NumPy does; in a compiled
// function, which cannot know, it is 0 there. Other errors are as for [Tensor.ArgMax].
func (t *Tensor) NanArgMax(axis ...int) *Tensor {
	return t.nanPlace("nanargmax", op.ArgMax, -1, false, axis)
}

// NanArgMaxKeep is [Tensor.NanArgMax] whose result keeps the reduced axes with size 1, so that it broadcasts
// against t: NumPy's keepdims. Types and errors are as for NanArgMax.
func (t *Tensor) NanArgMaxKeep(axis ...int) *Tensor {
	return t.nanPlace("nanargmax", op.ArgMax, -1, true, axis)
}

// nanPlace is the place of the least or greatest number: NaN's substitute is the infinity of that sign.
func (t *Tensor) nanPlace(name string, d *op.Def, sign int, keep bool, axis []int) *Tensor {
	defer array.Named(name).End()
	t.c().Check(name)
	if !t.v().DType.Float() {
		return t.reduce(d, keep, axis)
	}
	if core.TracingViews(t.v()) == nil && t.Size() > 0 && t.Detach().IsNaN().reduce(op.All, false, axis).Any().bool() {
		array.Failf(name, "", "has no value where all elements are NaN: shape %s, axis %v", array.ShapeString(t.v().Shape), axis)
	}
	// Where NaN's substitute is what is left, the first number is taken.
	rest := math.Inf(sign)
	x := t.number(rest)
	return Where(x.Eq(rest).reduce(op.All, keep, axis), t.Eq(t).To(Int8).reduce(op.ArgMax, keep, axis), x.reduce(d, keep, axis))
}

// NanCumSum is [Tensor.CumSum] along an axis with NaN counted as 0. The axis may count from the back; the
// result has t's shape. Types and errors are as for CumSum.
func (t *Tensor) NanCumSum(axis int) *Tensor {
	defer array.Named("nancumsum").End()
	t.c().Check("nancumsum")
	return t.number(0).CumSum(axis)
}

// NanCumProd is [Tensor.CumProd] along an axis with NaN counted as 1. The axis may count from the back; the
// result has t's shape. Types and errors are as for CumProd.
func (t *Tensor) NanCumProd(axis int) *Tensor {
	defer array.Named("nancumprod").End()
	t.c().Check("nancumprod")
	return t.number(1).CumProd(axis)
}

// NanMedian is [Tensor.Median] of the elements over axes that are not NaN, over all if none is given: NaN
// where all are. It takes floats, and panics with *[Error] for others.
func (t *Tensor) NanMedian(axes ...int) *Tensor {
	return t.nanQuantile("nanmedian", 0.5, false, axes, middle)
}

// NanMedianKeep is [Tensor.NanMedian] whose result keeps the reduced axes with size 1, so that it
// broadcasts against t: NumPy's keepdims. Types and errors are as for NanMedian.
func (t *Tensor) NanMedianKeep(axes ...int) *Tensor {
	return t.nanQuantile("nanmedian", 0.5, true, axes, middle)
}

// NanQuantile is [Tensor.Quantile] of the elements over axes that are not NaN, over all if none is given:
// NaN where all are. It takes floats, and panics with *[Error] for others and unless q is from 0 to 1.
func (t *Tensor) NanQuantile(q float64, axes ...int) *Tensor {
	return t.nanQuantile("nanquantile", q, false, axes, interpolated)
}

// NanQuantileKeep is [Tensor.NanQuantile] whose result keeps the reduced axes with size 1, so that it
// broadcasts against t: NumPy's keepdims. Types and errors are as for NanQuantile.
func (t *Tensor) NanQuantileKeep(q float64, axes ...int) *Tensor {
	return t.nanQuantile("nanquantile", q, true, axes, interpolated)
}

// NanPercentile is [Tensor.NanQuantile] of p hundredths over axes, over all if none is given; p is from 0 to
// 100. It takes floats, and panics with *[Error] for others and for another p.
func (t *Tensor) NanPercentile(p float64, axes ...int) *Tensor {
	if !(p >= 0 && p <= 100) {
		array.Failf("nanpercentile", "p", "%v is not from 0 to 100", p)
	}
	return t.nanQuantile("nanpercentile", p/100, false, axes, interpolated)
}

func (t *Tensor) nanQuantile(name string, q float64, keep bool, axes []int, value blend) *Tensor {
	defer array.Named(name).End()
	t.nanOf(name)
	if !(q >= 0 && q <= 1) {
		array.Failf(name, "q", "%v is not from 0 to 1", q)
	}
	over := array.Axes(name, axes, t.Rank())
	order, shape, n := []int{}, []int{}, 1
	for a, size := range t.v().Shape {
		if slices.Contains(over, a) {
			n *= size
			if keep {
				shape = append(shape, 1)
			}
			continue
		}
		order, shape = append(order, a), append(shape, size)
	}
	if n == 0 {
		array.Failf(name, "", "has no value over no elements: shape %s, axes %s", array.ShapeString(t.v().Shape), array.ShapeString(over))
	}
	d := t.v().DType
	x := t.Permute(append(order, over...)...).Reshape(t.Size()/n, n)
	if d.Half() {
		x = x.To(Float32)
	}
	// The element is at a place of the sorted numbers that depends on their number. As much of NaN becomes -Inf as
	// brings it to the same place, rank, in every row. The rest of NaN counts as greatest.
	rank := int(math.Floor(q * float64(n-1)))
	none := x.IsNaN()
	last := none.LogicalNot().To(Int64).SumKeep(1).Sub(1).Maximum(0)
	at := last.To(Float64).Mul(q)
	low := at.Floor()
	w := at.Sub(low).To(x.v().DType)
	less := low.To(Int64).Neg().Add(rank)
	x = Where(none.LogicalAnd(none.To(Int64).CumSum(1).Le(less)), math.Inf(-1), x)
	places := op.Ranks{Axis: 1, At: []int{rank, min(rank+1, n-1)}}
	some := (*Tensor)(core.ApplyAll(op.KthValue, places, core.Operand{T: x.c()})[0])
	a, b := some.Slice(All, Range(0, 1)), some.Slice(All, Range(1, 2))
	b = Where(w.Eq(0), a, b)
	return (*Tensor)(value(a, b, w).To(d).Reshape(shape...).c().Own())
}
