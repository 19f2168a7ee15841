package signal

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"
)

// TestElementaryFunctions compares with package math: within four units of the last place.
func TestElementaryFunctions(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	check := func(what string, x, got, want, scale float64) {
		t.Helper()
		if !(math.Abs(got-want) <= 4*0x1p-52*max(math.Abs(want), scale)) {
			t.Fatalf("%s of %v is %v, want %v", what, x, got, want)
		}
	}
	for range 20_000 {
		x := (r.Float64() - 0.5) * 8
		s, c := sincos(x)
		check("sine", x, s, math.Sin(x), 0.25)
		check("cosine", x, c, math.Cos(x), 0.25)
		x = r.Float64() * math.Pow(2, float64(r.IntN(40)-30))
		if x < 300 {
			check("expm1", x, expm1(x), math.Expm1(x), 0)
			sh, ch := sinhcosh(x)
			check("sinh", x, sh, math.Sinh(x), 0)
			check("cosh", x, ch, math.Cosh(x), 0)
		}
		x = r.Float64() * math.Pow(2, float64(r.IntN(200)-60))
		check("asinh", x, asinh(x), math.Asinh(x), 0)
		check("acosh", x, acosh(1+x), math.Acosh(1+x), 0)
		check("atan", x, atan(x), math.Atan(x), 0)
		check("ln", x, ln(x), math.Log(x), 0)
		if x < 700 {
			check("exp", -x, exp(-x), math.Exp(-x), 0)
		}
		a, b := complex(r.NormFloat64(), r.NormFloat64()), complex(x, -r.NormFloat64())
		check("modulus", x, modulus(b), cmplx.Abs(b), 0)
		check("quotient", x, modulus(divide(a, b)-a/b), 0, modulus(a/b))
		check("product", x, modulus(multiply(a, b)-a*b), 0, modulus(a)*modulus(b))
		check("root", x, modulus(root(a)-cmplx.Sqrt(a)), 0, modulus(root(a)))
	}
}
