package kerneltest

import (
	"go/token"
	"math"
	"math/bits"
	"math/cmplx"
)

// library is the functions that kernels may import, as Go has them.
var library = map[string]any{
	"math.Abs": math.Abs, "math.Acos": math.Acos, "math.Acosh": math.Acosh, "math.Asin": math.Asin, "math.Asinh": math.Asinh, "math.Atan": math.Atan,
	"math.Atan2": math.Atan2, "math.Atanh": math.Atanh, "math.Cbrt": math.Cbrt, "math.Ceil": math.Ceil, "math.Copysign": math.Copysign, "math.Cos": math.Cos,
	"math.Cosh": math.Cosh, "math.Dim": math.Dim, "math.Erf": math.Erf, "math.Erfc": math.Erfc, "math.Erfcinv": math.Erfcinv, "math.Erfinv": math.Erfinv,
	"math.Exp": math.Exp, "math.Exp2": math.Exp2, "math.Expm1": math.Expm1, "math.FMA": math.FMA, "math.Float32bits": math.Float32bits,
	"math.Float32frombits": math.Float32frombits, "math.Float64bits": math.Float64bits, "math.Float64frombits": math.Float64frombits, "math.Floor": math.Floor,
	"math.Frexp": math.Frexp, "math.Gamma": math.Gamma, "math.Hypot": math.Hypot, "math.Ilogb": math.Ilogb, "math.Inf": math.Inf, "math.IsInf": math.IsInf,
	"math.IsNaN": math.IsNaN, "math.J0": math.J0, "math.J1": math.J1, "math.Jn": math.Jn, "math.Ldexp": math.Ldexp, "math.Lgamma": math.Lgamma, "math.Log": math.Log,
	"math.Log10": math.Log10, "math.Log1p": math.Log1p, "math.Log2": math.Log2, "math.Logb": math.Logb, "math.Max": math.Max, "math.Min": math.Min, "math.Mod": math.Mod,
	"math.Modf": math.Modf, "math.NaN": math.NaN, "math.Nextafter": math.Nextafter, "math.Nextafter32": math.Nextafter32, "math.Pow": math.Pow, "math.Pow10": math.Pow10,
	"math.Remainder": math.Remainder, "math.Round": math.Round, "math.RoundToEven": math.RoundToEven, "math.Signbit": math.Signbit, "math.Sin": math.Sin,
	"math.Sincos": math.Sincos, "math.Sinh": math.Sinh, "math.Sqrt": math.Sqrt, "math.Tan": math.Tan, "math.Tanh": math.Tanh, "math.Trunc": math.Trunc,
	"math.Y0": math.Y0, "math.Y1": math.Y1, "math.Yn": math.Yn,

	"bits.Add": bits.Add, "bits.Add32": bits.Add32, "bits.Add64": bits.Add64, "bits.LeadingZeros": bits.LeadingZeros, "bits.LeadingZeros16": bits.LeadingZeros16,
	"bits.LeadingZeros32": bits.LeadingZeros32, "bits.LeadingZeros64": bits.LeadingZeros64, "bits.LeadingZeros8": bits.LeadingZeros8, "bits.Len": bits.Len,
	"bits.Len16": bits.Len16, "bits.Len32": bits.Len32, "bits.Len64": bits.Len64, "bits.Len8": bits.Len8, "bits.Mul": bits.Mul, "bits.Mul32": bits.Mul32,
	"bits.Mul64": bits.Mul64, "bits.OnesCount": bits.OnesCount, "bits.OnesCount16": bits.OnesCount16, "bits.OnesCount32": bits.OnesCount32,
	"bits.OnesCount64": bits.OnesCount64, "bits.OnesCount8": bits.OnesCount8, "bits.Reverse": bits.Reverse, "bits.Reverse16": bits.Reverse16,
	"bits.Reverse32": bits.Reverse32, "bits.Reverse64": bits.Reverse64, "bits.Reverse8": bits.Reverse8, "bits.ReverseBytes": bits.ReverseBytes,
	"bits.ReverseBytes16": bits.ReverseBytes16, "bits.ReverseBytes32": bits.ReverseBytes32, "bits.ReverseBytes64": bits.ReverseBytes64,
	"bits.RotateLeft": bits.RotateLeft, "bits.RotateLeft16": bits.RotateLeft16, "bits.RotateLeft32": bits.RotateLeft32, "bits.RotateLeft64": bits.RotateLeft64,
	"bits.RotateLeft8": bits.RotateLeft8, "bits.Sub": bits.Sub, "bits.Sub32": bits.Sub32, "bits.Sub64": bits.Sub64, "bits.TrailingZeros": bits.TrailingZeros,
	"bits.TrailingZeros16": bits.TrailingZeros16, "bits.TrailingZeros32": bits.TrailingZeros32, "bits.TrailingZeros64": bits.TrailingZeros64,
	"bits.TrailingZeros8": bits.TrailingZeros8,

	"cmplx.Abs": cmplx.Abs, "cmplx.Acos": cmplx.Acos, "cmplx.Acosh": cmplx.Acosh, "cmplx.Asin": cmplx.Asin, "cmplx.Asinh": cmplx.Asinh, "cmplx.Atan": cmplx.Atan,
	"cmplx.Atanh": cmplx.Atanh, "cmplx.Conj": cmplx.Conj, "cmplx.Cos": cmplx.Cos, "cmplx.Cosh": cmplx.Cosh, "cmplx.Cot": cmplx.Cot, "cmplx.Exp": cmplx.Exp,
	"cmplx.Inf": cmplx.Inf, "cmplx.IsInf": cmplx.IsInf, "cmplx.IsNaN": cmplx.IsNaN, "cmplx.Log": cmplx.Log, "cmplx.Log10": cmplx.Log10, "cmplx.NaN": cmplx.NaN,
	"cmplx.Phase": cmplx.Phase, "cmplx.Polar": cmplx.Polar, "cmplx.Pow": cmplx.Pow, "cmplx.Rect": cmplx.Rect, "cmplx.Sin": cmplx.Sin, "cmplx.Sinh": cmplx.Sinh,
	"cmplx.Sqrt": cmplx.Sqrt, "cmplx.Tan": cmplx.Tan, "cmplx.Tanh": cmplx.Tanh,
}

// smaller is min of two, and greater max, as Go's builtin functions treat NaN and zeros.
func smaller(x, y any) any { return pick(x, y, token.LSS) }
func greater(x, y any) any { return pick(x, y, token.GTR) }

func pick(x, y any, op token.Token) any {
	switch a := x.(type) {
	case float32:
		b := y.(float32)
		if op == token.LSS {
			return min(a, b)
		}
		return max(a, b)
	case float64:
		b := y.(float64)
		if op == token.LSS {
			return min(a, b)
		}
		return max(a, b)
	}
	if binary(op, x, y).(bool) {
		return x
	}
	return y
}

func makeComplex(re, im any) any {
	if a, ok := re.(float32); ok {
		return complex(a, im.(float32))
	}
	return complex(re.(float64), im.(float64))
}

func realPart(z any) any {
	if a, ok := z.(complex64); ok {
		return real(a)
	}
	return real(z.(complex128))
}

func imagPart(z any) any {
	if a, ok := z.(complex64); ok {
		return imag(a)
	}
	return imag(z.(complex128))
}
