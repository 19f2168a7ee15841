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
	n := t.Eq(t).To(Int64)
	if keep {
		return n.SumKeep(axes...).To(t.v().DType)
	}
	return n.Sum(axes...).To(t.v().DType)
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
func (t *Tensor) NanSum(axes ...int) *Tensor {
	defer array.Named("nansum").End()
	t.c().Check("nansum")
	return t.number(0).Sum(axes...)
}

// NanProd is [Tensor.Prod] of the elements over axes that are not NaN, over all if none is given: 1 where
// all are. Types and errors are as for Prod.
func (t *Tensor) NanProd(axes ...int) *Tensor {
	defer array.Named("nanprod").End()
	t.c().Check("nanprod")
	return t.number(1).Prod(axes...)
}

// NanMean is the mean of the elements over axes that are not NaN, over all if none is given: NaN where all
// are. It takes floats, whose type the result has, and panics with *[Error] for others.
func (t *Tensor) NanMean(axes ...int) *Tensor {
	defer array.Named("nanmean").End()
	t.nanOf("nanmean")
	return t.wider(func(t *Tensor) *Tensor { return t.number(0).Sum(axes...).Div(t.counted(false, axes)) })
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
func (t *Tensor) NanVar(axes ...int) *Tensor {
	defer array.Named("nanvar").End()
	t.nanOf("nanvar")
	return t.wider(func(t *Tensor) *Tensor {
		mean := t.number(0).SumKeep(axes...).Div(t.counted(true, axes))
		far := Where(t.IsNaN(), 0, t.Sub(mean))
		return far.Square().Sum(axes...).Div(t.counted(false, axes))
	})
}

// NanStd is the square root of [Tensor.NanVar] over axes, over all if none is given: NaN where all are. It
// takes floats, whose type the result has, and panics with *[Error] for others.
func (t *Tensor) NanStd(axes ...int) *Tensor {
	defer array.Named("nanstd").End()
	t.nanOf("nanstd")
	return t.wider(func(t *Tensor) *Tensor { return t.NanVar(axes...).Sqrt() })
}

// NanMin is the least of the elements over axes that are not NaN, over all if none is given: NaN where all
// are. Types, gradients and errors are as for [Tensor.Min].
func (t *Tensor) NanMin(axes ...int) *Tensor {
	defer array.Named("nanmin").End()
	t.c().Check("nanmin")
	if !t.v().DType.Float() {
		return t.Min(axes...)
	}
	return Where(t.IsNaN().All(axes...), math.NaN(), t.number(math.Inf(1)).Min(axes...))
}

// NanMax is the greatest of the elements over axes that are not NaN, over all if none is given: NaN where
// all are. Types, gradients and errors are as for [Tensor.Max].
func (t *Tensor) NanMax(axes ...int) *Tensor {
	defer array.Named("nanmax").End()
	t.c().Check("nanmax")
	if !t.v().DType.Float() {
		return t.Max(axes...)
	}
	return Where(t.IsNaN().All(axes...), math.NaN(), t.number(math.Inf(-1)).Max(axes...))
}

// NanArgMin is the place, int64, of the first least element along one axis that is not NaN, flattened if
// none is given. Where all are NaN, which NumPy refuses, it is 0. Errors are as for [Tensor.ArgMin].
func (t *Tensor) NanArgMin(axis ...int) *Tensor {
	defer array.Named("nanargmin").End()
	t.c().Check("nanargmin")
	if !t.v().DType.Float() {
		return t.ArgMin(axis...)
	}
	// Where NaN's substitute is what is left, the first number is taken.
	rest := math.Inf(1)
	x := t.number(rest)
	return Where(x.Eq(rest).All(axis...), t.Eq(t).To(Int8).ArgMax(axis...), x.ArgMin(axis...))
}

// NanArgMax is the place, int64, of the first greatest element along one axis that is not NaN, flattened if
// none is given. Where all are NaN, which NumPy refuses, it is 0. Errors are as for [Tensor.ArgMax].
func (t *Tensor) NanArgMax(axis ...int) *Tensor {
	defer array.Named("nanargmax").End()
	t.c().Check("nanargmax")
	if !t.v().DType.Float() {
		return t.ArgMax(axis...)
	}
	// Where NaN's substitute is what is left, the first number is taken.
	rest := math.Inf(-1)
	x := t.number(rest)
	return Where(x.Eq(rest).All(axis...), t.Eq(t).To(Int8).ArgMax(axis...), x.ArgMax(axis...))
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
func (t *Tensor) NanMedian(axes ...int) *Tensor { return t.nanQuantile("nanmedian", 0.5, axes) }

// NanQuantile is [Tensor.Quantile] of the elements over axes that are not NaN, over all if none is given:
// NaN where all are. It takes floats, and panics with *[Error] for others and unless q is from 0 to 1.
func (t *Tensor) NanQuantile(q float64, axes ...int) *Tensor {
	return t.nanQuantile("nanquantile", q, axes)
}

// NanPercentile is [Tensor.NanQuantile] of p hundredths over axes, over all if none is given; p is from 0 to
// 100. It takes floats, and panics with *[Error] for others and for another p.
func (t *Tensor) NanPercentile(p float64, axes ...int) *Tensor {
	if !(p >= 0 && p <= 100) {
		array.Failf("nanpercentile", "p", "%v is not from 0 to 100", p)
	}
	return t.nanQuantile("nanpercentile", p/100, axes)
}

func (t *Tensor) nanQuantile(name string, q float64, axes []int) *Tensor {
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
	return (*Tensor)(interpolated(a, b, w).To(d).Reshape(shape...).c().Own())
}
