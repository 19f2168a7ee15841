package weft

import (
	"math"

	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/op"
)

// Cbrt is the cube root, element by element, of negative numbers too. The result has t's shape and
// type; integers and Bool give float32. Complex numbers are refused.
func (t *Tensor) Cbrt() *Tensor { return unary(op.Cbrt, t) }

// Degrees is t, angles in radians, in degrees, element by element: NumPy's degrees and rad2deg. The
// result has t's shape and type; integers and Bool give float32. Complex numbers are refused.
func (t *Tensor) Degrees() *Tensor { return unary(op.Degrees, t) }

// Radians is t, angles in degrees, in radians, element by element: NumPy's radians and deg2rad. The
// result has t's shape and type; integers and Bool give float32. Complex numbers are refused.
func (t *Tensor) Radians() *Tensor { return unary(op.Radians, t) }

// FMod is the remainder of t by x, element by element, with the quotient rounded toward zero, so that
// it has the sign of t, as in C and Go; [Tensor.Mod] has the sign of x. It is exact. Floats by 0 give
// NaN, integers 0. x is a *Tensor or a Go number; shapes broadcast, types meet by promotion. Bool and
// complex numbers are refused.
func (t *Tensor) FMod(x any) *Tensor { return binary(op.FMod, t, x) }

// CopySign is the magnitude of t with the sign of x, element by element; zeros and NaN have signs too.
// Integers and Bool give float32, complex numbers are refused. x is a *Tensor or a Go number; shapes
// broadcast, types meet by promotion.
func (t *Tensor) CopySign(x any) *Tensor { return binary(op.CopySign, t, x) }

// FMin is the lesser of t and x, element by element, and where one is NaN the other; [Tensor.Minimum]
// gives NaN there. x is a *Tensor or a Go number; shapes broadcast, and types meet as for Minimum.
// Complex numbers are refused.
func (t *Tensor) FMin(x any) *Tensor { return binary(op.FMin, t, x) }

// FMax is the greater of t and x, element by element, and where one is NaN the other; [Tensor.Maximum]
// gives NaN there. x is a *Tensor or a Go number; shapes broadcast, and types meet as for Maximum.
// Complex numbers are refused.
func (t *Tensor) FMax(x any) *Tensor { return binary(op.FMax, t, x) }

// Heaviside is 0 where t is below 0, x where t is 0, and 1 above, element by element; NaN stays. x is a
// *Tensor or a Go number; shapes broadcast, types meet by promotion, integers give float32. The
// gradient by t is 0. Complex numbers are refused.
func (t *Tensor) Heaviside(x any) *Tensor { return binary(op.Heaviside, t, x) }

// SignBit is true where t has its sign bit set, element by element: of negative numbers, of -0, and of
// NaN that have it. The result is Bool in t's shape. Complex numbers are refused.
func (t *Tensor) SignBit() *Tensor { return unary(op.SignBit, t) }

// GCD is the greatest common divisor of the magnitudes of t and x, element by element; 0 of two zeros.
// x is an integer *Tensor or Go number; shapes broadcast, types meet by promotion. It panics with
// *[Error] for other types than integers.
func (t *Tensor) GCD(x any) *Tensor { return binary(op.GCD, t, x) }

// LCM is the least common multiple of the magnitudes of t and x, element by element; 0 where one is 0.
// It wraps where the type does not hold it. x is an integer *Tensor or Go number; shapes broadcast,
// types meet by promotion. It panics with *[Error] for other types than integers.
func (t *Tensor) LCM(x any) *Tensor { return binary(op.LCM, t, x) }

// NextAfter is the number of t's type next to t in the direction of x, element by element; x where they
// are equal. Integers and Bool give float32, complex numbers are refused. x is a *Tensor or a Go
// number; shapes broadcast, types meet by promotion.
func (t *Tensor) NextAfter(x any) *Tensor { return binary(op.NextAfter, t, x) }

// Spacing is the distance from t to the next number of its type away from 0, element by element, with
// the sign of t, that of 0 being the least number. Infinities and NaN give NaN. The result has t's shape
// and type; integers and Bool give float32. It is NumPy's spacing.
func (t *Tensor) Spacing() *Tensor {
	defer array.Named("spacing").End()
	t.c().Check("spacing")
	x := t.Detach().floated()
	return x.NextAfter(Where(x.Lt(0), math.Inf(-1), math.Inf(1))).Sub(x)
}

// floated is t, converted to float32 if it holds integers or Bool.
func (t *Tensor) floated() *Tensor {
	if t.v().DType.Differentiable() {
		return t
	}
	return t.To(Float32)
}

// Ldexp is t times 2 to the n, element by element, rounded once, so that neither a great n nor a small
// result is lost on the way. n is an integer *Tensor or Go number; shapes broadcast. The result has t's
// type; integers and Bool give float32. The gradient by n is none. Complex numbers are refused.
func (t *Tensor) Ldexp(n any) *Tensor {
	t.c().Check("ldexp")
	o := core.AsOperand[Tensor]("ldexp", "n", n)
	d := o.Num.Kind
	if o.T != nil {
		o.T.Check("ldexp")
		d = o.T.View().DType.Category()
	}
	if d > CatInt {
		array.Failf("ldexp", "n", "is not of integers")
	}
	return (*Tensor)(core.Apply(op.Ldexp, nil, core.Operand{T: t.c()}, o))
}

// Frexp returns t as mantissa times 2 to the exponent, element by element: the mantissa, in t's shape
// and type, is from 1/2 to before 1 in magnitude, and the exponent is int32. Of zeros, infinities and
// NaN they are t and 0. Integers and Bool give float32. Complex numbers are refused.
func (t *Tensor) Frexp() (mantissa, exponent *Tensor) {
	r := core.ApplyAll(op.Frexp, nil, core.Of("frexp", t.c()))
	return (*Tensor)(r[0]), (*Tensor)(r[1])
}

// Modf returns the part of t behind the point and the whole part, element by element, both with the
// sign of t; of infinities zeros and infinities. Shapes and types are t's; integers and Bool give
// float32. Complex numbers are refused.
func (t *Tensor) Modf() (fraction, whole *Tensor) {
	defer array.Named("modf").End()
	t.c().Check("modf")
	x := t.floated()
	whole = x.Trunc()
	return Where(x.IsInf(), 0, x.Sub(whole)).CopySign(x), whole
}

// DivMod returns [Tensor.FloorDiv] and [Tensor.Mod] of t and x, element by element: Python's divmod.
// Types, shapes and errors are theirs.
func (t *Tensor) DivMod(x any) (quotient, remainder *Tensor) {
	defer array.Named("divmod").End()
	return t.FloorDiv(x), t.Mod(x)
}

// LogAddExp is log(exp(t)+exp(x)), element by element, without overflow. x is a *Tensor or a Go number;
// shapes broadcast, types meet by promotion; integers and Bool give float32, complex numbers are
// refused. [Tensor.LogSumExp] is over axes.
func (t *Tensor) LogAddExp(x any) *Tensor { return binary(op.LogAddExp, t, x) }

// LogAddExp2 is log2(2^t+2^x), element by element, without overflow. x is a *Tensor or a Go number;
// shapes broadcast, types meet by promotion; integers and Bool give float32, complex numbers are refused.
func (t *Tensor) LogAddExp2(x any) *Tensor { return binary(op.LogAddExp2, t, x) }

// Logit is log(t/(1-t)), element by element: the inverse of [Tensor.Sigmoid]. 0 and 1 give infinities,
// numbers beyond them NaN. The result has t's shape and type; integers and Bool give float32. Complex
// numbers are refused.
func (t *Tensor) Logit() *Tensor { return unary(op.Logit, t) }

// XLogY is t*log(x), element by element, and 0 where t is 0, unless x is NaN. x is a *Tensor or a Go
// number; shapes broadcast, types meet by promotion; integers and Bool give float32. Complex numbers
// are refused.
func (t *Tensor) XLogY(x any) *Tensor { return binary(op.XLogY, t, x) }

// Sinc is sin(pi*t)/(pi*t), element by element: 1 at 0, exactly 0 at other integers. The result has t's
// shape and type; integers and Bool give float32. Infinities give NaN. Complex numbers are taken too.
func (t *Tensor) Sinc() *Tensor { return unary(op.Sinc, t) }

// RoundTo rounds t to a number of digits behind the point, element by element, ties to even: NumPy's round
// with decimals. Negative decimals round to tens, hundreds and so on. Floats are multiplied by the power of 10,
// rounded and divided, as in NumPy; of complex numbers both parts are. The result has t's shape and type; integers are
// exact, and wrap. It panics with *[Error] for Bool.
func (t *Tensor) RoundTo(decimals int) *Tensor {
	const name = "roundto"
	defer array.Named(name).End()
	t.c().Check(name)
	d := t.v().DType
	switch {
	case d == Bool:
		array.Failf(name, "", "is not defined for %s", d)
	case d.Complex():
		return Complex(t.Real().RoundTo(decimals), t.Imag().RoundTo(decimals))
	case d.Integer() && decimals >= 0:
		return t.Clone()
	case d.Integer() && decimals < -18:
		return ZerosLike(t)
	case d.Integer():
		return t.roundInts(int64(math.Pow10(-decimals)))
	}
	x := t
	if d.Half() {
		x = x.To(Float32)
	}
	by := math.Pow10(max(-400, min(400, decimals)))
	switch down := math.Pow10(max(-400, min(400, -decimals))); {
	case decimals == 0:
		x = x.Round()
	case math.IsInf(by, 1) || x.v().DType == Float32 && by > math.MaxFloat32:
		return t.Clone() // finer than every number of the type
	case math.IsInf(down, 1) || x.v().DType == Float32 && down > math.MaxFloat32:
		x = x.Mul(0)
	case decimals > 0:
		y := x.Mul(by)
		x = Where(y.IsFinite(), y.Round().Div(by), x)
	default:
		x = x.Div(down).Round().Mul(down)
	}
	return x.To(d)
}

// roundInts rounds integers to multiples of unit, ties to even multiples.
func (t *Tensor) roundInts(unit int64) *Tensor {
	d := t.v().DType
	x := t.To(Int64)
	if d == Uint64 {
		x = t
	}
	down, rest := x.DivMod(unit)
	up := rest.Gt(unit / 2).LogicalOr(rest.Eq(unit / 2).LogicalAnd(down.Mod(2).Eq(1)))
	return down.Add(up.To(x.v().DType)).Mul(unit).To(d)
}

// InterpOpts are the options of [Tensor.Interp].
type InterpOpts struct {
	Left, Right *float64 // the value below the first and above the last point; nil means the first and the last ordinate
	// Period is that of the abscissas, whose order is free then and which wrap around, as t's elements do: 360 for
	// degrees. Left and Right mean nothing then. Its sign means nothing; it is finite and not 0. nil means none.
	Period *float64
}

// Interp is, for each element of t, the value at that place of the line through points with ascending abscissas
// x and ordinates y, vectors of floats of one size, y of complex numbers too; beyond them the first or the last
// ordinate. The result has t's shape, and the type in which all meet. NaN stays. Gradients go to t and y. It panics with
// *[Error] for no points, a period of 0 and where sizes differ. What x that does not ascend gives is not specified. NumPy's interp.
func (t *Tensor) Interp(x, y *Tensor, opts ...InterpOpts) *Tensor {
	const name = "interp"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	t.c().Check(name)
	x.c().CheckArgument(name, "x")
	y.c().CheckArgument(name, "y")
	if x.Rank() != 1 || !array.Equal(x.v().Shape, y.v().Shape) || x.Size() == 0 {
		array.Failf(name, "x", "has shape %s, y %s: want vectors of one size, 1 or more", array.ShapeString(x.v().Shape), array.ShapeString(y.v().Shape))
	}
	if y.v().DType.Complex() {
		none := o // ends are real numbers
		if o.Left != nil {
			none.Left = new(0.0)
		}
		if o.Right != nil {
			none.Right = new(0.0)
		}
		return Complex(t.Interp(x, y.Real(), o), t.Interp(x, y.Imag(), none))
	}
	ts := core.MeetWhole(name, core.Inner([]*Tensor{t.floated(), x.floated(), y.floated()}))
	q, x, y := (*Tensor)(ts[0]).Reshape(t.Size()), (*Tensor)(ts[1]), (*Tensor)(ts[2])
	if o.Period != nil {
		q, x, y = around(name, *o.Period, q, x, y)
		o = InterpOpts{}
	}
	n := x.Size()
	right := x.SearchSorted(q.Detach(), SearchOpts{Right: true}).Clamp(min(1, n-1), n-1)
	left := right.Sub(1).Maximum(0)
	x0, y0 := x.IndexSelect(0, left), y.IndexSelect(0, left)
	x1, y1 := x.IndexSelect(0, right), y.IndexSelect(0, right)
	dx := x1.Sub(x0)
	slope := y1.Sub(y0).Div(Where(dx.Eq(0), 1, dx))
	first, last := x.Slice(Index(0)), x.Slice(Index(-1))
	// Beyond the ends the line is taken at a point: an infinite or NaN q would make gradients of y NaN.
	at := Where(q.Gt(first).LogicalAnd(q.Lt(last)), q, x0)
	v := y0.Add(slope.Mul(at.Sub(x0)))
	// Beside an infinite ordinate the line is taken from the other point, as NumPy does.
	v = Where(v.IsNaN(), Where(y0.Eq(y1).LogicalOr(at.Eq(x0)), y0, y1.Add(slope.Mul(at.Sub(x1)))), v)
	v = Where(q.Le(first), y.Slice(Index(0)), Where(q.Ge(last), y.Slice(Index(-1)), v))
	if o.Left != nil {
		v = Where(q.Lt(first), *o.Left, v)
	}
	if o.Right != nil {
		v = Where(q.Gt(last), *o.Right, v)
	}
	return (*Tensor)(Where(q.IsNaN(), q, v).Reshape(t.v().Shape...).c().Own())
}

// around returns queries and points from 0 up to a period, in ascending order, with a point of the period before and of
// the one after.
func around(name string, period float64, q, x, y *Tensor) (queries, abscissas, ordinates *Tensor) {
	size := math.Abs(period)
	if !(size > 0) || math.IsInf(size, 1) {
		array.Failf(name, "Period", "is %v, want a finite number that is not 0", period)
	}
	if d := q.v().DType; size < FInfo(d).Subnormal {
		array.Failf(name, "Period", "is %v, which is 0 in %s", period, d)
	}
	period = size
	x, order := x.Mod(period).Sort(0)
	y = y.IndexSelect(0, order)
	x = Cat([]*Tensor{x.Slice(Range(-1, End)).Sub(period), x, x.Slice(Range(0, 1)).Add(period)}, 0)
	y = Cat([]*Tensor{y.Slice(Range(-1, End)), y, y.Slice(Range(0, 1))}, 0)
	return q.Mod(period), x, y
}

// Trapezoid is the integral of t along an axis by the trapezoidal rule. spacing is a Go number, the distance of
// neighbours, or a vector of floats, where they lie. The axis may count from the back; the result does not have
// it. The type is t's; integers give float32. 0 of fewer than two elements. NumPy's trapezoid.
func (t *Tensor) Trapezoid(axis int, spacing any) *Tensor {
	const name = "trapezoid"
	defer array.Named(name).End()
	x, _, h := t.samples(name, axis, spacing)
	if h == nil {
		return middles(x).Sum(-1).Mul(spacing)
	}
	return middles(x).Mul(h).Sum(-1)
}

// CumulativeTrapezoid is the integral of t from the first element to each later one along an axis, by the trapezoidal
// rule. spacing is that of [Tensor.Trapezoid]. The axis may count from the back; the result has one element less there,
// none of an empty axis. The type is t's; integers give float32. SciPy's cumulative_trapezoid without initial.
func (t *Tensor) CumulativeTrapezoid(axis int, spacing any) *Tensor {
	const name = "cumulativetrapezoid"
	defer array.Named(name).End()
	x, a, h := t.samples(name, axis, spacing)
	area := middles(x)
	if h != nil {
		return area.Mul(h).MoveAxis(-1, a).CumSum(a)
	}
	return area.MoveAxis(-1, a).CumSum(a).Mul(spacing)
}

// Simpson is the integral of t along an axis by Simpson's rule, parabolas through three neighbours. Of an even number
// of elements, the last two are integrated by the parabola through the last three (Cartwright, Simpson's rule cumulative
// integration with MS Excel and irregularly-spaced data, J. Math. Sci. Math. Educ. 12, 2017). Two elements give the
// trapezoid, fewer 0. spacing is that of [Tensor.Trapezoid]. The axis may count from the back; the result does not have
// it. The type is t's; integers give float32. SciPy's simpson.
func (t *Tensor) Simpson(axis int, spacing any) *Tensor {
	const name = "simpson"
	defer array.Named(name).End()
	x, _, h := t.samples(name, axis, spacing)
	n := x.Dim(-1)
	if n < 3 {
		if h == nil {
			return middles(x).Sum(-1).Mul(spacing)
		}
		return middles(x).Mul(h).Sum(-1)
	}
	odd := n - 1 + n%2 // elements of whole parabolas
	every := func(v *Tensor, from, to int) *Tensor { return v.Slice(Ellipsis, Range(from, to, 2)) }
	at := func(v *Tensor, i int) *Tensor { return v.Slice(Ellipsis, Index(i)) }
	y0, y1, y2 := every(x, 0, odd-2), every(x, 1, odd-1), every(x, 2, odd)
	if h == nil {
		sum := y0.Add(y1.Mul(4)).Add(y2).Sum(-1).Div(3)
		if odd < n {
			sum = sum.Add(at(x, n-1).Mul(5).Add(at(x, n-2).Mul(8)).Sub(at(x, n-3)).Div(12))
		}
		return sum.Mul(spacing)
	}
	h0, h1 := every(h, 0, odd-2), every(h, 1, odd-1)
	both := h0.Add(h1)
	sum := y0.Mul(over(h1, h0).RSub(2)).Add(y1.Mul(over(both, h0).Mul(over(both, h1)))).Add(y2.Mul(over(h0, h1).RSub(2))).Mul(both.Div(6)).Sum(-1)
	if odd == n {
		return sum
	}
	h0, h1 = at(h, n-3), at(h, n-2)
	both = h0.Add(h1)
	last := over(h1.Mul(h1.Mul(2).Add(h0.Mul(3))), both.Mul(6))
	middle := over(h1.Mul(h1.Add(h0.Mul(3))), h0.Mul(6))
	first := over(h1.Mul(h1).Mul(h1), h0.Mul(both).Mul(6))
	return sum.Add(at(x, n-1).Mul(last)).Add(at(x, n-2).Mul(middle)).Sub(at(x, n-3).Mul(first))
}

// over is a/b, and 0 where b is 0: points that lie in one place.
func over(a, b *Tensor) *Tensor {
	zero := b.Detach().Eq(0)
	return Where(zero, 0, a.Div(Where(zero, 1, b)))
}

// samples returns t as floats with an axis last, the axis, and the distances h along it: nil if spacing is a number.
func (t *Tensor) samples(name string, axis int, spacing any) (x *Tensor, a int, h *Tensor) {
	t.c().Check(name)
	at := core.AsOperand[Tensor](name, "spacing", spacing)
	a = array.Axis(name, axis, t.Rank())
	x = t.floated().MoveAxis(a, -1)
	if at.T == nil {
		return x, a, nil
	}
	at.T.Check(name)
	p := (*Tensor)(at.T)
	if n := t.v().Shape[a]; p.Rank() != 1 || p.Size() != n || !p.v().DType.Float() {
		array.Failf(name, "spacing", "is %s, want a number or %d floats", array.TypeString(p.v().DType, p.v().Shape), n)
	}
	return x, a, p.Diff(0, 1).To(x.v().DType)
}

// middles returns the means of neighbours along the last axis.
func middles(x *Tensor) *Tensor {
	n := x.Dim(-1)
	return x.Slice(Ellipsis, Range(1, End)).Add(x.Slice(Ellipsis, Range(0, max(n-1, 0)))).Mul(0.5)
}
