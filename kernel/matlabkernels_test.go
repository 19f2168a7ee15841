package kernel_test

import (
	"math"
	"math/bits"
	"math/cmplx"

	"weft/kernel"
)

// Functions of elements as MATLAB's arrayfun takes them.

func Five(a, b, c, d, e float64) float64 { return a + 10*b + 100*c + 1000*d + 10000*e }

// Collatz has every statement that arrayfun has: if, elseif and else, for, while, break,
// continue, return, and conditions that are evaluated as far as they need.
func Collatz(n, limit int64) (steps int64, odd int32, ok bool) {
	if n <= 0 {
		return -1, 0, false
	} else if n == 1 {
		return 0, 1, true
	}
	for n != 1 && (limit == 0 || steps < limit) {
		steps++
		if n%2 == 0 {
			n /= 2
			continue
		}
		odd++
		n = 3*n + 1
	}
	for i := range 100 {
		if int64(i) > steps {
			break
		}
		odd += int32(i) % 2
	}
	return steps, odd, n == 1
}

// Guarded divides where the left side of && lets it.
func Guarded(x, y int32) bool { return y != 0 && x/y > 1 || x < -100 }

// Alive is the step of the Game of Life of MATLAB's example: it reads the grid around its
// own place.
func Alive(e kernel.Elem, grid kernel.Wrapped2[int32]) int32 {
	i, j := e.Index(0), e.Index(1)
	n := grid.At(i-1, j-1) + grid.At(i-1, j) + grid.At(i-1, j+1) + grid.At(i, j-1) + grid.At(i, j+1) + grid.At(i+1, j-1) + grid.At(i+1, j) + grid.At(i+1, j+1)
	if n == 3 || n == 2 && grid.At(i, j) == 1 {
		return 1
	}
	return 0
}

func Thrown(e kernel.Elem, faces int32) (float32, float64, int32) {
	return e.Rand(), e.Randn64(), 1 + int32(e.Rand()*float32(faces))
}

func square(x float64) float64 { return x * x }

func Calls(x float64) float64 { return square(x) + square(square(x)) }

func Typed(x float64) (single float32, whole int8, word uint16, yes bool, z complex128) {
	return float32(x), int8(x), uint16(x), x > 0, complex(x, -x)
}

func AcotOf(x float64) float64       { return math.Atan(1 / x) }
func AcothOf(x float64) float64      { return math.Atanh(1 / x) }
func AcscOf(x float64) float64       { return math.Asin(1 / x) }
func AcschOf(x float64) float64      { return math.Asinh(1 / x) }
func AsecOf(x float64) float64       { return math.Acos(1 / x) }
func AsechOf(x float64) float64      { return math.Acosh(1 / x) }
func SecOf(x float64) float64        { return 1 / math.Cos(x) }
func CschOf(x float64) float64       { return 1 / math.Sinh(x) }
func BetaOf(x, y float64) float64    { return math.Exp(BetalnOf(x, y)) }
func BetalnOf(x, y float64) float64  { return gammaln(x) + gammaln(y) - gammaln(x+y) }
func gammaln(x float64) float64      { y, _ := math.Lgamma(x); return y }
func ErfcxOf(x float64) float64      { return math.Exp(x*x) * math.Erfc(x) }
func FixOf(x, y float64) float64     { return math.Trunc(x * y * 4) }
func ModOf(x, y float64) float64     { return x - math.Floor(x/y)*y }
func RemOf(x, y float64) float64     { return math.Mod(x, y) }
func Pow2Of(x, y float64) float64    { return x * math.Exp2(y) }
func HypotOf(x, y float64) float64   { return math.Hypot(x, y) }
func Atan2Of(x, y float64) float64   { return math.Atan2(x, y) }
func RealpowOf(x, y float64) float64 { return math.Pow(x, y) }
func RoundOf(x, y float64) float64   { return math.Round(10*x - 10*y) }

func SignOf(x, y float64) float64 {
	switch d := x - y; {
	case d > 0:
		return 1
	case d < 0:
		return -1
	default:
		return d
	}
}

func Bits8(x, y uint8) (and, or, xor, cmp, shift, get, set uint8, count int) {
	return x & y, x | y, x ^ y, ^x, x << (y % 8), x >> (y % 8) & 1, x | 1<<(y%8), bits.OnesCount8(x)
}

func ComplexRoot(z complex128) (root complex128, size, angle float64) {
	return cmplx.Sqrt(z), cmplx.Abs(z), cmplx.Phase(z)
}

func RealRoot(x float64) float64 { return math.Sqrt(x) }

func Wraps(x int8, y int8) (sum int8, quotient int8) { return x + y, x / y }
