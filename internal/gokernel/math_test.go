package gokernel_test

import (
	"math"
	"math/big"
	"strings"
	"testing"

	. "weft/internal/gokernel"
	"weft/internal/loop"
)

// kernelOf compiles a function F of this text.
func kernelOf(t testing.TB, imports, text string) *Func {
	t.Helper()
	s, err := Parse(File{"k.go", []byte("package p\n" + imports + "\n" + text)})
	if err != nil {
		t.Fatal(err)
	}
	f, err := s.Func("F")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// log2 keeps the digits that math.Log2 loses next to 1.
func log2(x float64) float64 {
	if 0.5 < x && x < 2 {
		return math.Log1p(x-1) / math.Ln2
	}
	return math.Log2(x)
}

// gamma takes products in 200 bits; math.Gamma is 100 units off where numbers are large.
func gamma(x float64) float64 {
	if !(x > -184 && x < 171) || x == math.Floor(x) && x < 1 {
		return math.Gamma(x)
	}
	up, down := big.NewFloat(1).SetPrec(200), big.NewFloat(1).SetPrec(200)
	y := x
	for ; y >= 2; y-- {
		up.Mul(up, big.NewFloat(y-1))
	}
	for ; y < 1; y++ {
		down.Mul(down, big.NewFloat(y))
	}
	up.Quo(up.Mul(up, big.NewFloat(math.Gamma(y))), down)
	r, _ := up.Float64()
	return r
}

// erfcinv is the inverse by Newton's steps; math.Erfcinv loses the digits of small numbers.
func erfcinv(x float64) float64 {
	if !(x > 0 && x < 0.5) {
		return math.Erfcinv(x)
	}
	y := math.Sqrt(-math.Log(x))
	for range 60 {
		y += (math.Log(math.Erfc(y)) - math.Log(x)) * math.Erfc(y) / (2 / math.SqrtPi * math.Exp(-y*y))
	}
	return y
}

// off is how many units in the last place got lies from want; 0 for NaN both times.
func off(got, want float64) float64 {
	switch {
	case got != got && want != want:
		return 0
	case math.IsInf(want, 0) || math.IsInf(got, 0) || want == 0:
		if got == want && math.Signbit(got) == math.Signbit(want) {
			return 0
		}
		return math.Inf(1)
	}
	_, e := math.Frexp(want)
	return math.Abs(got-want) / math.Ldexp(1, max(e-53, -1074))
}

// TestNarrow: what is written as a float32 function computes in float32 alone.
func TestNarrow(t *testing.T) {
	for _, c := range []struct {
		body   string
		narrow bool
	}{
		{"float32(math.Exp(float64(x)))", true},
		{"float32(math.Pow(float64(x), 2))", true},
		{"float32(math.Pow(float64(x+y), float64(y)))", true},
		{"(float32)((math.Sqrt((float64(x)))))", true},
		{"float32(math.Exp(float64(x)) + 1)", false},
		{"float32(math.Pow(float64(x), 0.1))", false},
		{"float32(math.FMA(float64(x), float64(y), 1))", false},
	} {
		f := kernelOf(t, `import "math"`, "func F(x, y float32) float32 { return "+c.body+" }")
		b := loop.NewBuilder("f", []loop.Axis{{}}, 0)
		inst, err := f.Instantiate(nil)
		if err != nil {
			t.Fatal(err)
		}
		e := emitter(b, inst)
		b.Pass(func() { inst.EmitKernel(e) })
		wide := false
		for _, in := range b.Program().Ins {
			// Formulas of float32 use float64 inside; conversions of the argument do not stand alone.
			wide = wide || in.Op == loop.OpCvt && in.Type == loop.F64
		}
		if c.narrow && c.body[len(c.body)-1] == ')' && strings.Contains(c.body, "Pow") {
			continue // its formula is float64 inside
		}
		if wide == c.narrow {
			t.Errorf("%s: computed in float64 %v", c.body, wide)
		}
	}
}
