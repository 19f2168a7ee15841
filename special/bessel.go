package special

import (
	"weft"
	"weft/internal/op"
)

// J0 is Bessel's function of the first kind of order 0.
func J0(x *weft.Tensor) *weft.Tensor { return unary("special.j0", op.J0, x) }

// J1 is Bessel's function of the first kind of order 1.
func J1(x *weft.Tensor) *weft.Tensor { return unary("special.j1", op.J1, x) }

// Y0 is Bessel's function of the second kind of order 0: minus infinity at 0 and NaN below.
func Y0(x *weft.Tensor) *weft.Tensor { return unary("special.y0", op.Y0, x) }

// Y1 is Bessel's function of the second kind of order 1: minus infinity at 0 and NaN below.
func Y1(x *weft.Tensor) *weft.Tensor { return unary("special.y1", op.Y1, x) }

// I0 is the modified Bessel function of the first kind of order 0. PyTorch calls it i0 too.
func I0(x *weft.Tensor) *weft.Tensor { return unary("special.i0", op.I0, x) }

// I0e is exp(-|x|) times [I0].
func I0e(x *weft.Tensor) *weft.Tensor { return unary("special.i0e", op.I0e, x) }

// I1 is the modified Bessel function of the first kind of order 1.
func I1(x *weft.Tensor) *weft.Tensor { return unary("special.i1", op.I1, x) }

// I1e is exp(-|x|) times [I1].
func I1e(x *weft.Tensor) *weft.Tensor { return unary("special.i1e", op.I1e, x) }

// K0 is the modified Bessel function of the second kind of order 0: infinite at 0 and NaN below.
func K0(x *weft.Tensor) *weft.Tensor { return unary("special.k0", op.K0, x) }

// K0e is exp(x) times [K0].
func K0e(x *weft.Tensor) *weft.Tensor { return unary("special.k0e", op.K0e, x) }

// K1 is the modified Bessel function of the second kind of order 1: infinite at 0 and NaN below.
func K1(x *weft.Tensor) *weft.Tensor { return unary("special.k1", op.K1, x) }

// K1e is exp(x) times [K1].
func K1e(x *weft.Tensor) *weft.Tensor { return unary("special.k1e", op.K1e, x) }

// Kv is the modified Bessel function of the second kind of real order v: infinite at x = 0 and NaN below.
// From order 60 on its error grows with the order: some v/4 units in the last place. It has no gradient by v.
func Kv(v, x any) *weft.Tensor {
	return several("special.kv", op.Kv, argument{"v", v}, argument{"x", x})
}

// Kve is exp(x) times [Kv].
func Kve(v, x any) *weft.Tensor {
	return several("special.kve", op.Kve, argument{"v", v}, argument{"x", x})
}

// Jv is Bessel's function of the first kind of real order v. For negative x only whole orders have values,
// others are NaN, as are orders beyond 10,000 and below -10,000. It has no gradient by v.
func Jv(v, x any) *weft.Tensor {
	return several("special.jv", op.Jv, argument{"v", v}, argument{"x", x})
}

// Yv is Bessel's function of the second kind of real order v: minus infinity at 0 and NaN below, and NaN for
// orders beyond 10,000 and below -10,000. It has no gradient by v.
func Yv(v, x any) *weft.Tensor {
	return several("special.yv", op.Yv, argument{"v", v}, argument{"x", x})
}

// Iv is the modified Bessel function of the first kind of real order v. For negative x only whole orders have
// values, others are NaN. It has no gradient by v.
func Iv(v, x any) *weft.Tensor {
	return several("special.iv", op.Iv, argument{"v", v}, argument{"x", x})
}

// Ive is exp(-|x|) times [Iv].
func Ive(v, x any) *weft.Tensor {
	return several("special.ive", op.Ive, argument{"v", v}, argument{"x", x})
}

// Struve is Struve's function H of real order v. For negative x only whole orders have values, others are NaN, as are
// orders below -10,000, and orders v above 10,000 for |x| between v/2 and v. Orders far above an x of more than 36
// lose digits. It has no gradient by v.
func Struve(v, x any) *weft.Tensor {
	return several("special.struve", op.Struve, argument{"v", v}, argument{"x", x})
}

// ModStruve is the modified Struve function L of real order v. For negative x only whole orders have values, others
// are NaN, as are orders below -10,000, and orders v above 10,000 for |x| between v/2 and v. It has no gradient by v.
func ModStruve(v, x any) *weft.Tensor {
	return several("special.modstruve", op.ModStruve, argument{"v", v}, argument{"x", x})
}
