package kernel_test

import (
	"fmt"
	"math"
	"math/big"
	"math/cmplx"
	"reflect"
	"strings"
	"testing"

	. "weft/internal/kernel"
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

var mathFloats = map[string]func(float64) float64{
	"Abs": math.Abs, "Acos": math.Acos, "Acosh": math.Acosh, "Asin": math.Asin, "Asinh": math.Asinh, "Atan": math.Atan, "Atanh": math.Atanh, "Cbrt": math.Cbrt, "Ceil": math.Ceil,
	"Cos": math.Cos, "Cosh": math.Cosh, "Erf": math.Erf, "Erfc": math.Erfc, "Exp": math.Exp, "Exp2": math.Exp2, "Expm1": math.Expm1, "Floor": math.Floor, "Log": math.Log,
	"Log10": math.Log10, "Log1p": math.Log1p, "Log2": log2, "Logb": math.Logb, "Round": math.Round, "RoundToEven": math.RoundToEven, "Sin": math.Sin, "Sinh": math.Sinh,
	"Erfinv": math.Erfinv, "Erfcinv": erfcinv, "Gamma": gamma, "Sqrt": math.Sqrt, "Tan": math.Tan, "Tanh": math.Tanh, "Trunc": math.Trunc,
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

var mathFloats2 = map[string]func(x, y float64) float64{
	"Atan2": math.Atan2, "Copysign": math.Copysign, "Dim": math.Dim, "Hypot": math.Hypot, "Max": math.Max, "Min": math.Min, "Mod": math.Mod, "Pow": math.Pow, "Remainder": math.Remainder,
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

// TestMath compares with Go's functions, whose own errors are below 2 units but for some.
func TestMath(t *testing.T) {
	loose := map[string]float64{"Sinh": 1e4, "Acosh": 1e12, "Atanh": 1e4, "Asin": 1e12, "Acos": 1e4, "Erf": 4, "Asinh": 1e4, "Tan": 1e4, "Sin": 1e4, "Cos": 1e4, "Erfc": 8, "Log2": 4, "Pow": 1e3, "Erfinv": 1e4, "Erfcinv": 1e5, "Gamma": 6}
	check := func(name string, n int, want func(a []reflect.Value) float64) {
		call, params := "x", "x float64"
		if n == 2 {
			call, params = "x, y", "x, y float64"
		}
		f := kernelOf(t, `import "math"`, fmt.Sprintf("func F(%s) float64 { return math.%s(%s) }", params, name, call))
		typ := reflect.FuncOf([]reflect.Type{reflect.TypeOf(0.0), reflect.TypeOf(0.0)}[:n], []reflect.Type{reflect.TypeOf(0.0)}, false)
		args := randomArgs(typ, 3000, 3)
		limit := max(loose[name], 2.5)
		evaluate(t, f, args, func(backend string, out columns) {
			for j := range args[0].Len() {
				in := []reflect.Value{args[0].Index(j)}
				if n == 2 {
					in = append(in, args[1].Index(j))
				}
				if x := math.Abs(in[0].Float()); (strings.HasPrefix(name, "Log") || name == "Pow" || name == "Erfcinv") && x > 0 && x < 0x1p-1022 {
					continue // Go's logarithms of these are wrong on amd64, and what builds on them
				}
				if e := off(out[0].Index(j).Float(), want(in)); e > limit {
					t.Errorf("on %s: %s(%v) = %v, as Go %v", backend, name, floats(in), out[0].Index(j), want(in))
					return
				}
			}
		})
	}
	for name, f := range mathFloats {
		check(name, 1, func(a []reflect.Value) float64 { return f(a[0].Float()) })
	}
	for name, f := range mathFloats2 {
		check(name, 2, func(a []reflect.Value) float64 { return f(a[0].Float(), a[1].Float()) })
	}
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

var cmplxOnes = map[string]func(complex128) complex128{
	"Acos": cmplx.Acos, "Acosh": cmplx.Acosh, "Asin": cmplx.Asin, "Asinh": cmplx.Asinh, "Atan": cmplx.Atan, "Atanh": cmplx.Atanh, "Conj": cmplx.Conj, "Cos": cmplx.Cos, "Cosh": cmplx.Cosh,
	"Cot": cmplx.Cot, "Exp": cmplx.Exp, "Log": cmplx.Log, "Log10": cmplx.Log10, "Sin": cmplx.Sin, "Sinh": cmplx.Sinh, "Sqrt": cmplx.Sqrt, "Tan": cmplx.Tan, "Tanh": cmplx.Tanh,
}

// TestCmplx compares with Go's functions, for numbers that are neither large nor tiny nor on
// branch cuts, where Go's lose digits or the sign.
func TestCmplx(t *testing.T) {
	pairs := func(name, expr string, want func(x, y complex128) complex128) {
		f := kernelOf(t, `import "math/cmplx"`, fmt.Sprintf("func F(x, y complex128) complex128 { return %s }", expr))
		z := complex(0, 0)
		args := randomArgs(reflect.FuncOf([]reflect.Type{reflect.TypeOf(z), reflect.TypeOf(z)}, nil, false), 2000, 9)
		for _, a := range args {
			for j := range a.Len() {
				if c := a.Index(j).Complex(); !(cmplx.Abs(c) < 50) || math.Abs(real(c)) < 1e-3 || math.Abs(imag(c)) < 1e-3 {
					a.Index(j).SetComplex(complex(float64(j%7)-3.3, 0.25*float64(j%5)-0.4))
				}
			}
		}
		evaluate(t, f, args, func(backend string, out columns) {
			for j := range args[0].Len() {
				x, y := args[0].Index(j).Complex(), args[1].Index(j).Complex()
				got, w := out[0].Index(j).Complex(), want(x, y)
				if cmplx.IsNaN(w) && cmplx.IsNaN(got) || cmplx.IsInf(w) && cmplx.IsInf(got) {
					continue
				}
				if d := cmplx.Abs(got - w); !(d <= 1e-11*cmplx.Abs(w)+1e-15) {
					t.Errorf("on %s: %s(%v, %v) = %v, as Go %v", backend, name, x, y, got, w)
					return
				}
			}
		})
	}
	for name, f := range cmplxOnes {
		pairs(name, "cmplx."+name+"(x)", func(x, y complex128) complex128 { return f(x) })
	}
	pairs("Pow", "cmplx.Pow(x, y)", cmplx.Pow)
	pairs("Abs", "complex(cmplx.Abs(x), cmplx.Phase(y))", func(x, y complex128) complex128 { return complex(cmplx.Abs(x), cmplx.Phase(y)) })
}

func floats(in []reflect.Value) []float64 {
	var out []float64
	for _, v := range in {
		out = append(out, v.Float())
	}
	return out
}
