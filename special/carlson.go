package special

import (
	"weft"
	"weft/internal/op"
)

// ElliprC is Carlson's degenerate elliptic integral, RF(x, y, y): half the integral of 1/(sqrt(t+x)*(t+y)) over t
// from 0 on. For y below 0 it is the principal value. It is NaN at y = 0 and for x below 0.
func ElliprC(x, y any) *weft.Tensor {
	return several("special.elliprc", op.ElliprC, argument{"x", x}, argument{"y", y})
}

// ElliprD is Carlson's elliptic integral of the second kind, RJ(x, y, z, z): 3/2 of the integral of
// 1/(sqrt((t+x)*(t+y)*(t+z))*(t+z)) over t from 0 on. It is infinite at z = 0 and at x = y = 0, and NaN of numbers
// below 0.
func ElliprD(x, y, z any) *weft.Tensor {
	return several("special.elliprd", op.ElliprD, argument{"x", x}, argument{"y", y}, argument{"z", z})
}

// ElliprF is Carlson's elliptic integral of the first kind, half the integral of 1/sqrt((t+x)*(t+y)*(t+z)) over t
// from 0 on. It is infinite where two arguments are 0, and NaN where one is below.
func ElliprF(x, y, z any) *weft.Tensor {
	return several("special.elliprf", op.ElliprF, argument{"x", x}, argument{"y", y}, argument{"z", z})
}

// ElliprG is Carlson's symmetric elliptic integral of the second kind, a quarter of the integral of
// t/sqrt((t+x)*(t+y)*(t+z)) * (x/(t+x) + y/(t+y) + z/(t+z)) over t from 0 on. It is NaN of numbers below 0.
func ElliprG(x, y, z any) *weft.Tensor {
	return several("special.elliprg", op.ElliprG, argument{"x", x}, argument{"y", y}, argument{"z", z})
}

// ElliprJ is Carlson's elliptic integral of the third kind, 3/2 of the integral of
// 1/(sqrt((t+x)*(t+y)*(t+z))*(t+p)) over t from 0 on. For p below 0 it is the principal value, which loses digits near
// its zero. It is infinite where two of x, y, z are 0, and NaN at p = 0 and where one of the others is below 0.
func ElliprJ(x, y, z, p any) *weft.Tensor {
	return several("special.elliprj", op.ElliprJ, argument{"x", x}, argument{"y", y}, argument{"z", z}, argument{"p", p})
}
