package weft

import (
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/op"
)

// Add is t + x, element by element; on Bool it is or, and integers wrap. x is a *Tensor or a Go
// number; shapes broadcast, types meet by promotion. It panics with *[Error] where shapes do not
// broadcast, or t's type does not hold a Go integer x.
func (t *Tensor) Add(x any) *Tensor { return binary(op.Add, t, x) }

// Sub is t - x, element by element; integers wrap, Bool is refused. x is a *Tensor or a Go
// number; shapes broadcast, types meet by promotion. It panics with *[Error] where shapes do not
// broadcast, or t's type does not hold a Go integer x.
func (t *Tensor) Sub(x any) *Tensor { return binary(op.Sub, t, x) }

// RSub is x - t, element by element: [Tensor.Sub] the other way round, for a number on the left.
// x is a *Tensor or a Go number; shapes broadcast, types meet by promotion. It panics with
// *[Error] where shapes do not broadcast, or t's type does not hold a Go integer x.
func (t *Tensor) RSub(x any) *Tensor {
	defer array.Named("rsub").End()
	return (*Tensor)(core.Apply(op.Sub, nil, core.AsOperand[Tensor]("sub", "x", x), core.Of("sub", t.c())))
}

// Mul is t * x, element by element; on Bool it is and, and integers wrap. x is a *Tensor or a Go
// number; shapes broadcast, types meet by promotion. It panics with *[Error] where shapes do not
// broadcast, or t's type does not hold a Go integer x. [Tensor.MatMul] is the product of
// matrices.
func (t *Tensor) Mul(x any) *Tensor { return binary(op.Mul, t, x) }

// Div is t / x, element by element: true division, so integers and Bool give float32, and a
// division by 0 gives infinities or NaN. x is a *Tensor or a Go number; shapes broadcast, types
// meet by promotion. It panics with *[Error] where shapes do not broadcast, or t's type does not
// hold a Go integer x. [Tensor.FloorDiv] divides integers.
func (t *Tensor) Div(x any) *Tensor { return binary(op.Div, t, x) }

// RDiv is x / t, element by element: [Tensor.Div] the other way round, for a number on the left.
// x is a *Tensor or a Go number; shapes broadcast, types meet by promotion. It panics with
// *[Error] where shapes do not broadcast, or t's type does not hold a Go integer x.
func (t *Tensor) RDiv(x any) *Tensor {
	defer array.Named("rdiv").End()
	return (*Tensor)(core.Apply(op.Div, nil, core.AsOperand[Tensor]("div", "x", x), core.Of("div", t.c())))
}

// FloorDiv is the quotient t / x rounded down, as NumPy and Python have it: it fits
// [Tensor.Mod], so that 1 by 0.1 is 9 (0.1 is a little more than a tenth). Floats by 0 give t/0,
// integers 0. x is a *Tensor or a Go number; shapes broadcast, types meet by promotion. Bool and
// complex numbers are refused. It panics with *[Error] where shapes do not broadcast, or t's
// type does not hold a Go integer x.
func (t *Tensor) FloorDiv(x any) *Tensor { return binary(op.FloorDiv, t, x) }

// Mod is the remainder of [Tensor.FloorDiv], which has the sign of x: t - x*floor(t/x). Floats
// by 0 give NaN, integers 0. x is a *Tensor or a Go number; shapes broadcast, types meet by
// promotion. Bool and complex numbers are refused. It panics with *[Error] where shapes do not
// broadcast, or t's type does not hold a Go integer x.
func (t *Tensor) Mod(x any) *Tensor { return binary(op.Mod, t, x) }

// Pow is t to the power x, element by element. A Go number x that is an integer from -64 to 64
// is a fixed chain of products. Integers to an integer power stay integers: products wrap, and a
// negative power leaves 0 of all but 1 and -1; to a float power they give float32. Negative
// numbers to powers that are not whole give NaN. x is a *Tensor or a Go number; shapes
// broadcast, types meet by promotion. Bool is refused. It panics with *[Error] where shapes do
// not broadcast, or t's type does not hold a Go integer x.
func (t *Tensor) Pow(x any) *Tensor {
	defer array.Named("pow").End()
	base, o := core.Of("pow", t.c()), core.AsOperand[Tensor]("pow", "x", x)
	if o.T == nil && o.Num.Kind != array.CatComplex {
		k := int(o.Num.Int)
		if o.Num.Kind == array.CatFloat {
			k = int(o.Num.Float)
			if float64(k) != o.Num.Float {
				return (*Tensor)(core.Apply(op.Pow, nil, base, o))
			}
			if !t.v().DType.Differentiable() {
				t = t.To(Float32)
			}
		}
		if k >= -op.MaxPower && k <= op.MaxPower && (k >= 0 || t.v().DType.Differentiable()) && t.v().DType != Bool {
			return (*Tensor)(core.Apply(op.PowInt, op.Power(k), core.Operand{T: t.c()}))
		}
	}
	return (*Tensor)(core.Apply(op.Pow, nil, base, o))
}

// Atan2 is the angle in radians, from -pi to pi, of the point with ordinate t and abscissa x;
// zeros count with their sign, as in C. Integers and Bool give float32, complex numbers are
// refused. x is a *Tensor or a Go number; shapes broadcast, types meet by promotion. It panics
// with *[Error] where shapes do not broadcast, or t's type does not hold a Go integer x.
func (t *Tensor) Atan2(x any) *Tensor { return binary(op.Atan2, t, x) }

// Minimum is the lesser of t and x, element by element; NaN if either is. x is a *Tensor or a Go
// number, which is taken as it is. Shapes broadcast and types are promoted. Uint64 and signed
// integers give int64, which holds the lesser of the two. Complex numbers are refused. It panics
// with *[Error] where shapes do not broadcast. [Tensor.Min] is over axes.
func (t *Tensor) Minimum(x any) *Tensor { return binary(op.Minimum, t, x) }

// Maximum is the greater of t and x, element by element; NaN if either is. x is a *Tensor or a Go
// number, which is taken as it is. Shapes broadcast and types are promoted. Uint64 and signed
// integers give uint64, which holds the greater of the two. Complex numbers are refused. It panics
// with *[Error] where shapes do not broadcast. [Tensor.Max] is over axes.
func (t *Tensor) Maximum(x any) *Tensor { return binary(op.Maximum, t, x) }

// Clamp limits each element to lo and hi: min(max(t, lo), hi). Both are tensors, which
// broadcast, or Go numbers; one that is beyond the range of t's type limits nothing. NaN stays;
// the type is that in which all three meet. Bool and complex numbers are refused. It panics with
// *[Error] where shapes do not broadcast.
func (t *Tensor) Clamp(lo, hi any) *Tensor {
	return (*Tensor)(core.Apply(op.Clamp, nil, core.Of("clamp", t.c()), core.AsOperand[Tensor]("clamp", "lo", lo), core.AsOperand[Tensor]("clamp", "hi", hi)))
}

// Neg is -t, element by element. The result has t's shape and type; integers wrap. Bool is
// refused.
func (t *Tensor) Neg() *Tensor { return unary(op.Neg, t) }

// Abs is |t|, element by element. The result has t's shape and type, of complex numbers the
// float type of their parts. The least integer of a signed type stays as it is. Bool is refused.
func (t *Tensor) Abs() *Tensor { return unary(op.Abs, t) }

// Sign is -1, 0 or 1, as t is below, equal to or above 0; of complex numbers z/|z|. The result
// has t's shape and type; NaN stays. Bool is refused.
func (t *Tensor) Sign() *Tensor { return unary(op.Sign, t) }

// Sqrt is the square root, element by element. The result has t's shape and type; integers and
// Bool give float32. Negative numbers give NaN. Complex numbers are taken too.
func (t *Tensor) Sqrt() *Tensor { return unary(op.Sqrt, t) }

// Rsqrt is 1/sqrt(t), each step rounded, element by element. The result has t's shape and type;
// integers and Bool give float32. 0 gives an infinity, negative numbers NaN. Complex numbers are
// taken too.
func (t *Tensor) Rsqrt() *Tensor { return unary(op.Rsqrt, t) }

// Reciprocal is 1/t, element by element. The result has t's shape and type; integers and Bool
// give float32. 0 gives an infinity. Complex numbers are taken too.
func (t *Tensor) Reciprocal() *Tensor { return unary(op.Reciprocal, t) }

// Square is t*t, element by element. The result has t's shape and type; integers wrap. Bool is
// refused.
func (t *Tensor) Square() *Tensor { return unary(op.Square, t) }

// Exp is e to the t, element by element. The result has t's shape and type; integers and Bool
// give float32. What is too large gives an infinity. Complex numbers are taken too.
func (t *Tensor) Exp() *Tensor { return unary(op.Exp, t) }

// Expm1 is exp(t)-1, exact near 0, element by element. The result has t's shape and type;
// integers and Bool give float32. Complex numbers are taken too.
func (t *Tensor) Expm1() *Tensor { return unary(op.Expm1, t) }

// Exp2 is 2 to the t, element by element. The result has t's shape and type; integers and Bool
// give float32. Complex numbers are taken too.
func (t *Tensor) Exp2() *Tensor { return unary(op.Exp2, t) }

// Log is the natural logarithm, element by element. The result has t's shape and type; integers
// and Bool give float32. 0 gives -Inf, negative numbers NaN. Complex numbers are taken too.
func (t *Tensor) Log() *Tensor { return unary(op.Log, t) }

// Log1p is log(1+t), exact near 0, element by element. The result has t's shape and type;
// integers and Bool give float32. -1 gives -Inf, numbers below NaN. Complex numbers are taken too.
func (t *Tensor) Log1p() *Tensor { return unary(op.Log1p, t) }

// Log2 is the logarithm to base 2, element by element. The result has t's shape and type;
// integers and Bool give float32. 0 gives -Inf, negative numbers NaN. Complex numbers are taken
// too.
func (t *Tensor) Log2() *Tensor { return unary(op.Log2, t) }

// Log10 is the logarithm to base 10, element by element. The result has t's shape and type;
// integers and Bool give float32. 0 gives -Inf, negative numbers NaN. Complex numbers are taken
// too.
func (t *Tensor) Log10() *Tensor { return unary(op.Log10, t) }

// Sin is the sine of an angle in radians, element by element. The result has t's shape and type;
// integers and Bool give float32. Infinities give NaN. Complex numbers are taken too.
func (t *Tensor) Sin() *Tensor { return unary(op.Sin, t) }

// Cos is the cosine of an angle in radians, element by element. The result has t's shape and
// type; integers and Bool give float32. Infinities give NaN. Complex numbers are taken too.
func (t *Tensor) Cos() *Tensor { return unary(op.Cos, t) }

// Tan is the tangent of an angle in radians, element by element. The result has t's shape and
// type; integers and Bool give float32. Infinities give NaN. Complex numbers are taken too.
func (t *Tensor) Tan() *Tensor { return unary(op.Tan, t) }

// Asin is the arc sine in radians, from -pi/2 to pi/2, element by element. The result has t's
// shape and type; integers and Bool give float32. Numbers beyond -1 and 1 give NaN. Complex
// numbers are taken too.
func (t *Tensor) Asin() *Tensor { return unary(op.Asin, t) }

// Acos is the arc cosine in radians, from 0 to pi, element by element. The result has t's shape
// and type; integers and Bool give float32. Numbers beyond -1 and 1 give NaN. Complex numbers
// are taken too.
func (t *Tensor) Acos() *Tensor { return unary(op.Acos, t) }

// Atan is the arc tangent in radians, from -pi/2 to pi/2, element by element. The result has t's
// shape and type; integers and Bool give float32. Complex numbers are taken too.
func (t *Tensor) Atan() *Tensor { return unary(op.Atan, t) }

// Sinh is the hyperbolic sine, element by element. The result has t's shape and type; integers
// and Bool give float32. Complex numbers are taken too.
func (t *Tensor) Sinh() *Tensor { return unary(op.Sinh, t) }

// Cosh is the hyperbolic cosine, element by element. The result has t's shape and type; integers
// and Bool give float32. Complex numbers are taken too.
func (t *Tensor) Cosh() *Tensor { return unary(op.Cosh, t) }

// Tanh is the hyperbolic tangent, from -1 to 1, element by element. The result has t's shape and
// type; integers and Bool give float32. Complex numbers are taken too.
func (t *Tensor) Tanh() *Tensor { return unary(op.Tanh, t) }

// Asinh is the inverse of the hyperbolic sine, element by element. The result has t's shape and
// type; integers and Bool give float32. Complex numbers are taken too.
func (t *Tensor) Asinh() *Tensor { return unary(op.Asinh, t) }

// Acosh is the inverse of the hyperbolic cosine, element by element. The result has t's shape
// and type; integers and Bool give float32. Numbers below 1 give NaN. Complex numbers are taken
// too.
func (t *Tensor) Acosh() *Tensor { return unary(op.Acosh, t) }

// Atanh is the inverse of the hyperbolic tangent, element by element. The result has t's shape
// and type; integers and Bool give float32. -1 and 1 give infinities, numbers beyond NaN.
// Complex numbers are taken too.
func (t *Tensor) Atanh() *Tensor { return unary(op.Atanh, t) }

// Erf is the error function, from -1 to 1, element by element. The result has t's shape and
// type; integers and Bool give float32. Complex numbers are refused.
func (t *Tensor) Erf() *Tensor { return unary(op.Erf, t) }

// Erfc is 1 less the error function, accurate where that is near 1, element by element. The
// result has t's shape and type; integers and Bool give float32. Complex numbers are refused.
func (t *Tensor) Erfc() *Tensor { return unary(op.Erfc, t) }

// Erfinv is the inverse of the error function, element by element. The result has t's shape and
// type; integers and Bool give float32. -1 and 1 give infinities, numbers beyond NaN. Complex
// numbers are refused.
func (t *Tensor) Erfinv() *Tensor { return unary(op.Erfinv, t) }

// Lgamma is the logarithm of the absolute value of the gamma function, element by element. The
// result has t's shape and type; integers and Bool give float32. It is infinite at 0, the
// negative integers and both infinities. Complex numbers are refused.
func (t *Tensor) Lgamma() *Tensor { return unary(op.Lgamma, t) }

// Digamma is the derivative of [Tensor.Lgamma], element by element. The result has t's shape and
// type; integers and Bool give float32. It is NaN at the negative integers, and infinite at 0
// and -0, with the other sign. Complex numbers are refused.
func (t *Tensor) Digamma() *Tensor { return unary(op.Digamma, t) }

// Trigamma is the derivative of [Tensor.Digamma], PyTorch's polygamma(1, t), element by element.
// The result has t's shape and type; integers and Bool give float32. It is infinite at 0 and the
// negative integers. The backward pass refuses it: it panics, naming the operation. Complex
// numbers are refused.
func (t *Tensor) Trigamma() *Tensor { return unary(op.Trigamma, t) }

// Sigmoid is 1/(1+exp(-t)), which does not overflow, element by element. The result has t's
// shape and type; integers and Bool give float32. Complex numbers are taken too.
func (t *Tensor) Sigmoid() *Tensor { return unary(op.Sigmoid, t) }

// Relu is max(t, 0), element by element. The result has t's shape and type; NaN stays. Its
// gradient at 0 is 0. Bool and complex numbers are refused.
func (t *Tensor) Relu() *Tensor { return unary(op.Relu, t) }

// Gelu is t times the normal distribution function of t (the exact form, by [Tensor.Erf]),
// element by element. The result has t's shape and type; integers and Bool give float32. Complex
// numbers are refused.
func (t *Tensor) Gelu() *Tensor { return unary(op.Gelu, t) }

// Silu is t*sigmoid(t), element by element. The result has t's shape and type; integers and Bool
// give float32. Complex numbers are refused.
func (t *Tensor) Silu() *Tensor { return unary(op.Silu, t) }

// Softplus is log(1+exp(t)), which does not overflow, element by element. The result has t's
// shape and type; integers and Bool give float32. Complex numbers are refused.
func (t *Tensor) Softplus() *Tensor { return unary(op.Softplus, t) }

// Floor rounds down to whole numbers. The result has t's shape and type: floats stay floats,
// integers are as they are; [Tensor.To] makes integers of floats. NaN and infinities stay. Bool
// and complex numbers are refused.
func (t *Tensor) Floor() *Tensor { return unary(op.Floor, t) }

// Ceil rounds up to whole numbers. The result has t's shape and type: floats stay floats,
// integers are as they are; [Tensor.To] makes integers of floats. NaN and infinities stay. Bool
// and complex numbers are refused.
func (t *Tensor) Ceil() *Tensor { return unary(op.Ceil, t) }

// Round rounds to the nearest whole number, ties to the even one. The result has t's shape and
// type: floats stay floats, integers are as they are; [Tensor.To] makes integers of floats. NaN
// and infinities stay. Of complex numbers both parts are rounded. Bool is refused.
func (t *Tensor) Round() *Tensor { return unary(op.Round, t) }

// Trunc rounds toward zero to whole numbers. The result has t's shape and type: floats stay
// floats, integers are as they are; [Tensor.To] makes integers of floats. NaN and infinities
// stay. Bool and complex numbers are refused.
func (t *Tensor) Trunc() *Tensor { return unary(op.Trunc, t) }

// Eq is t == x, element by element, of any types. All comparisons compare integers of different
// types by value. NaN equals nothing. x is a *Tensor or a Go number, compared by value even if t's
// type does not hold it. Shapes broadcast. The result is Bool, and it panics with *[Error] where
// shapes do not broadcast.
func (t *Tensor) Eq(x any) *Tensor { return binary(op.Eq, t, x) }

// Ne is t != x, element by element, of any types. NaN differs from everything. x is a *Tensor or
// a Go number, which is taken as the number it is, also where t's type does not hold it; shapes
// broadcast. The result is Bool, and it panics with *[Error] where shapes do not broadcast.
func (t *Tensor) Ne(x any) *Tensor { return binary(op.Ne, t, x) }

// Lt is t < x, element by element; false where either is NaN. Complex numbers are refused. x is
// a *Tensor or a Go number, which is taken as the number it is, also where t's type does not
// hold it; shapes broadcast. The result is Bool, and it panics with *[Error] where shapes do not
// broadcast.
func (t *Tensor) Lt(x any) *Tensor { return binary(op.Lt, t, x) }

// Le is t <= x, element by element; false where either is NaN. Complex numbers are refused. x is
// a *Tensor or a Go number, which is taken as the number it is, also where t's type does not
// hold it; shapes broadcast. The result is Bool, and it panics with *[Error] where shapes do not
// broadcast.
func (t *Tensor) Le(x any) *Tensor { return binary(op.Le, t, x) }

// Gt is t > x, element by element; false where either is NaN. Complex numbers are refused. x is
// a *Tensor or a Go number, which is taken as the number it is, also where t's type does not
// hold it; shapes broadcast. The result is Bool, and it panics with *[Error] where shapes do not
// broadcast.
func (t *Tensor) Gt(x any) *Tensor { return binary(op.Gt, t, x) }

// Ge is t >= x, element by element; false where either is NaN. Complex numbers are refused. x is
// a *Tensor or a Go number, which is taken as the number it is, also where t's type does not
// hold it; shapes broadcast. The result is Bool, and it panics with *[Error] where shapes do not
// broadcast.
func (t *Tensor) Ge(x any) *Tensor { return binary(op.Ge, t, x) }

// LogicalAnd is true where both t and x are (not 0), Bool; of the bits of integers it is
// [Tensor.BitAnd].
func (t *Tensor) LogicalAnd(x any) *Tensor { return binary(op.LogicalAnd, t, x) }

// LogicalOr is true where t or x is (not 0), Bool; of the bits of integers it is
// [Tensor.BitOr].
func (t *Tensor) LogicalOr(x any) *Tensor { return binary(op.LogicalOr, t, x) }

// LogicalXor is true where one of t and x is (not 0), Bool; of the bits of integers it is
// [Tensor.BitXor].
func (t *Tensor) LogicalXor(x any) *Tensor { return binary(op.LogicalXor, t, x) }

// LogicalNot is true where t is 0, Bool; of the bits of integers it is [Tensor.BitNot].
func (t *Tensor) LogicalNot() *Tensor { return unary(op.LogicalNot, t) }

// BitAnd is t & x: the bits that both integers have; of Bool, and. Floats are refused.
func (t *Tensor) BitAnd(x any) *Tensor { return binary(op.BitAnd, t, x) }

// BitOr is t | x: the bits that either integer has; of Bool, or. Floats are refused.
func (t *Tensor) BitOr(x any) *Tensor { return binary(op.BitOr, t, x) }

// BitXor is t ^ x: the bits that one of two integers has; of Bool, exclusive or. Floats are
// refused.
func (t *Tensor) BitXor(x any) *Tensor { return binary(op.BitXor, t, x) }

// BitNot is ^t: the bits that an integer lacks; of Bool, not. Floats are refused.
func (t *Tensor) BitNot() *Tensor { return unary(op.BitNot, t) }

// Shl is t << x for integers: the low bits of t times two to the x. It is 0
// where x is negative or not below the width of the type in which both meet. Floats and
// Bool are refused.
func (t *Tensor) Shl(x any) *Tensor { return binary(op.Shl, t, x) }

// Shr is t >> x for integers: t divided by two to the x, rounded down. Where x is negative
// or not below the width of the type in which both meet it is 0, or -1 of negative
// numbers. Floats and Bool are refused.
func (t *Tensor) Shr(x any) *Tensor { return binary(op.Shr, t, x) }

// PopCount is the number of bits that are set in each integer, in the type of t. Floats and
// Bool are refused.
func (t *Tensor) PopCount() *Tensor { return unary(op.PopCount, t) }

// IsNaN is true where t is NaN; of a complex number where a part is. The result is Bool and has
// t's shape; integers and Bool have no NaN. [Tensor.NanToNum] replaces them.
func (t *Tensor) IsNaN() *Tensor { return unary(op.IsNaN, t) }

// IsInf is true where t is an infinity of either sign; of a complex number where a part is. The
// result is Bool and has t's shape; integers and Bool have none.
func (t *Tensor) IsInf() *Tensor { return unary(op.IsInf, t) }

// IsFinite is true where t is neither NaN nor infinite; of a complex number where both parts are
// finite. The result is Bool and has t's shape; integers and Bool are always finite.
func (t *Tensor) IsFinite() *Tensor { return unary(op.IsFinite, t) }

// Where is x where cond is true (not 0), else y, element by element. x and y are tensors or Go
// numbers, which meet by promotion; all three broadcast. Gradients flow to x and y where they
// were chosen. It panics with *[Error] where shapes do not broadcast, and for Uint64 and signed
// integers, which no integer type holds.
func Where(cond *Tensor, x, y any) *Tensor {
	return (*Tensor)(core.Apply(op.Where, nil, core.Of("where", cond.c()), core.AsOperand[Tensor]("where", "x", x), core.AsOperand[Tensor]("where", "y", y)))
}

// MatMul is the product of matrices, NumPy's matmul: [... n k] by [... k m] gives [... n m]. A
// vector is a row on the left and a column on the right, whose axis the result does not have;
// axes before the last two broadcast. Types meet by promotion; integer products wrap. Each
// element adds products in ascending order by fused multiply-add, in blocks of fixed size, so
// its bits do not depend on the rest of the matrix. It panics with *[Error] where the inner
// sizes differ, for tensors of no axes and for Bool.
func (t *Tensor) MatMul(x *Tensor) *Tensor { return binary(op.MatMul, t, x) }

// Linear is t.MatMul(w.T()) plus b: t [... in], w [out in], outputs first as PyTorch keeps them,
// and b [out], nil for none, give [... out]. Types meet by promotion. It panics with *[Error]
// where sizes do not fit.
func (t *Tensor) Linear(w, b *Tensor) *Tensor {
	t.c().NotNil("linear")
	w.c().Argument("linear", "w")
	if b == nil {
		return binary(op.Linear, t, w)
	}
	return (*Tensor)(core.Apply(op.Linear, nil, core.Of("linear", t.c()), core.Of("linear", w.c()), core.Of("linear", b.c())))
}

// Cat joins tensors along an axis, which may count from the back. They have the same sizes along
// the other axes, and meet in one type by promotion; the result is a copy. It panics with
// *[Error] for none, where sizes or ranks differ, and for Uint64 beside signed integers.
func Cat(ts []*Tensor, axis int) *Tensor { return (*Tensor)(core.Cat(core.Inner(ts), axis)) }

// Stack joins tensors of equal shape along a new axis of the result, which may count from the
// back: n of shape [a b] along axis 0 give [n a b]. Types meet by promotion. It panics with
// *[Error] for none, and where shapes differ.
func Stack(ts []*Tensor, axis int) *Tensor { return (*Tensor)(core.Stack(core.Inner(ts), axis)) }

// Pad surrounds t with elements x, which are converted to t's type: pads are how many before and
// after each axis in turn, two numbers an axis, so x.Pad(0, 1, 0, 0, 2) puts a row of zeros
// before and two columns behind. It panics with *[Error] unless there are two for each axis,
// none of them negative. The result is a copy.
func (t *Tensor) Pad(x float64, pads ...int) *Tensor {
	return (*Tensor)(core.WithAttrs(op.Pad, op.Padding{Pads: pads, Value: x}, t.c()))
}

// Complex returns the complex numbers of real and imaginary parts, floats that
// broadcast: complex128 if a part is float64, else complex64. NumPy: re + 1j*im.
func Complex(re, im *Tensor) *Tensor {
	defer array.Named("complex").End()
	part := func(opName string, t *Tensor) *Tensor {
		t.c().Check("complex")
		if t.v().DType.Complex() {
			array.Failf("complex", opName, "is %s, want real numbers", t.v().DType)
		}
		return t
	}
	re, im = part("re", re), part("im", im)
	d := Float32
	if re.v().DType == Float64 || im.v().DType == Float64 {
		d = Float64
	}
	shape := array.Broadcast("complex", re.v().Shape, im.v().Shape)
	return (*Tensor)(core.Apply(op.Complex, nil, core.Operand{T: re.To(d).Expand(shape...).c()}, core.Operand{T: im.To(d).Expand(shape...).c()}))
}

// Polar returns the complex numbers of lengths and angles in radians, real numbers that
// broadcast. PyTorch: torch.polar.
func Polar(abs, angle *Tensor) *Tensor {
	return (*Tensor)(core.Apply(op.Polar, nil, core.Of("polar", abs.c()), core.Of("polar", angle.c())))
}

// Real returns a view of the real parts: writes show in t. Of real numbers it is t.
func (t *Tensor) Real() *Tensor {
	t.c().Check("real")
	if !t.v().DType.Complex() {
		return t
	}
	return (*Tensor)(core.Window(op.Real, nil, t.c()))
}

// Imag returns a view of the imaginary parts: writes show in t. t must be complex.
func (t *Tensor) Imag() *Tensor {
	t.c().Check("imag")
	if !t.v().DType.Complex() {
		array.Failf("imag", "", "takes complex numbers, got %s", t.v().DType)
	}
	return (*Tensor)(core.Window(op.Imag, nil, t.c()))
}

// Conj returns the complex conjugates, in t's shape and type; real numbers are as they are.
func (t *Tensor) Conj() *Tensor { return unary(op.Conj, t) }

// Angle returns the angles of complex numbers from the positive real axis in radians,
// from -pi to pi, floats. Of a real number it is 0, or pi if that is negative.
func (t *Tensor) Angle() *Tensor { return unary(op.Angle, t) }

// Norm is the norm of order p of the elements over axes, counted from the back if negative,
// all if none is given: (sum |t|^p)^(1/p). Of order 2 over two axes or all it is Frobenius's
// norm of matrices. An infinite order gives the greatest magnitude, minus infinity the
// least, order 0 the number of elements that are not 0. It takes floats; NaN gives NaN.
// Gradients are PyTorch's: 0 where a norm of order above 1 is 0; equal extremes share theirs.
// Second derivatives that are infinite, by elements of 0 for orders between 1 and 2, count as 0.
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
	return (*Tensor)(core.Apply(op.Lerp, nil, core.Of("lerp", t.c()), core.AsOperand[Tensor]("lerp", "x", x), core.AsOperand[Tensor]("lerp", "w", w)))
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
	return (*Tensor)(core.Apply(op.IsClose, a, core.Of(opName, t.c()), core.AsOperand[Tensor](opName, "x", x)))
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
// infinite and its negative, or for two numbers those. Integers stay. The parts of complex numbers are treated apart.
func (t *Tensor) NanToNum(nan float64, infinite ...float64) *Tensor {
	defer array.Named("nan_to_num").End()
	t.c().Check("nan_to_num")
	if t.v().DType.Complex() {
		return Complex(t.Real().NanToNum(nan, infinite...), t.Imag().NanToNum(nan, infinite...))
	}
	a, ok := op.FiniteLimits(t.v().DType)
	if !ok {
		array.Failf("nan_to_num", "", "is not defined for %s", t.v().DType)
	}
	a.NaN = nan
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
