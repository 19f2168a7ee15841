package kernel_test

import (
	"math"
	"os"
	"strings"
	"testing"

	"weft"
	"weft/kernel"
)

// matlabNames are the functions that MATLAB's arrayfun and bsxfun take, each with what a kernel
// writes and its value for x = 0.75 and y = 2.5, which mpmath computed.
var matlabNames = []struct {
	name, text string
	want       float64
}{
	{"abs", "math.Abs(-x)", 0.75},
	{"acos", "math.Acos(x)", 0.7227342478134157},
	{"acosh", "math.Acosh(y)", 1.566799236972411},
	{"acot", "math.Atan(1/x)", 0.9272952180016122},
	{"acoth", "math.Atanh(1/y)", 0.4236489301936018},
	{"acsc", "math.Asin(1/y)", 0.411516846067488},
	{"acsch", "math.Asinh(1/x)", 1.0986122886681098},
	{"and", "truth(x > 0 && y > 0)", 1.0},
	{"asec", "math.Acos(1/y)", 1.1592794807274085},
	{"asech", "math.Acosh(1/x)", 0.7953654612239056},
	{"asin", "math.Asin(x)", 0.848062078981481},
	{"asinh", "math.Asinh(x)", 0.6931471805599453},
	{"atan", "math.Atan(x)", 0.6435011087932844},
	{"atan2", "math.Atan2(x, y)", 0.2914567944778671},
	{"atanh", "math.Atanh(x)", 0.9729550745276566},
	{"beta", "kernel.Beta(x, y)", 0.6390081251923159},
	{"betaln", "kernel.LogBeta(x, y)", -0.44783810920451084},
	{"bitand", "float64(int64(8*y) & 7)", 4.0},
	{"bitcmp", "float64(^uint8(4*x))", 252.0},
	{"bitget", "float64(int64(8*y) >> (3 - 1) & 1)", 1.0},
	{"bitor", "float64(int64(8*y) | 3)", 23.0},
	{"bitset", "float64(int64(8*y) | 1<<(1 - 1))", 21.0},
	{"bitshift", "float64(int64(8*y) << 2)", 80.0},
	{"bitxor", "float64(int64(8*y) ^ 7)", 19.0},
	{"cast", "float64(int32(y))", 2.0},
	{"ceil", "math.Ceil(y)", 3.0},
	{"complex", "imag(complex(x, y))", 2.5},
	{"conj", "imag(cmplx.Conj(complex(x, y)))", -2.5},
	{"cos", "math.Cos(x)", 0.7316888688738209},
	{"cosh", "math.Cosh(x)", 1.2946832846768448},
	{"cot", "1/math.Tan(x)", 1.0734261485493775},
	{"coth", "1/math.Tanh(x)", 1.5744338335777366},
	{"csc", "1/math.Sin(x)", 1.46705272447501},
	{"csch", "1/math.Sinh(x)", 1.2160764352269506},
	{"double", "float64(x)", 0.75},
	{"eps", "math.Nextafter(math.Abs(y), math.Inf(1)) - math.Abs(y)", 4.440892098500626e-16},
	{"eq", "truth(x == y)", 0.0},
	{"erf", "math.Erf(x)", 0.7111556336535151},
	{"erfc", "math.Erfc(y)", 0.0004069520174449589},
	{"erfcinv", "math.Erfcinv(x)", 0.2253120550121781},
	{"erfcx", "kernel.Erfcx(y)", 0.2108063640611436},
	{"erfinv", "math.Erfinv(x)", 0.8134198475976185},
	{"exp", "math.Exp(y)", 12.182493960703473},
	{"expm1", "math.Expm1(x)", 1.1170000166126746},
	{"false", "truth(false)", 0.0},
	{"fix", "math.Trunc(-y)", -2.0},
	{"floor", "math.Floor(-y)", -3.0},
	{"gamma", "math.Gamma(y)", 1.329340388179137},
	{"gammainc", "kernel.GammaInc(y, x)", 0.08693018545560453},
	{"gammaln", "logGamma(y)", 0.2846828704729192},
	{"ge", "truth(x >= y)", 0.0},
	{"gt", "truth(y > x)", 1.0},
	{"hypot", "math.Hypot(x, y)", 2.6100766272276377},
	{"imag", "imag(complex(x, y))", 2.5},
	{"Inf", "1 / math.Inf(1)", 0.0},
	{"int8", "float64(int8(y))", 2.0},
	{"int16", "float64(int16(y))", 2.0},
	{"int32", "float64(int32(y))", 2.0},
	{"int64", "float64(int64(y))", 2.0},
	{"intmax", "float64(int32(math.MaxInt32))", 2147483647.0},
	{"intmin", "float64(int32(math.MinInt32))", -2147483648.0},
	{"isfinite", "truth(x-x == 0)", 1.0},
	{"isinf", "truth(math.IsInf(1/(x-x), 0))", 1.0},
	{"isnan", "truth(math.IsNaN(x))", 0.0},
	{"ldivide", "y / x", 3.3333333333333335},
	{"le", "truth(x <= y)", 1.0},
	{"log", "math.Log(y)", 0.9162907318741551},
	{"log2", "math.Log2(y)", 1.3219280948873624},
	{"log10", "math.Log10(y)", 0.3979400086720376},
	{"log1p", "math.Log1p(x)", 0.5596157879354227},
	{"logical", "truth(x != 0)", 1.0},
	{"lt", "truth(x < y)", 1.0},
	{"max", "max(x, y)", 2.5},
	{"min", "min(x, y)", 0.75},
	{"minus", "x - y", -1.75},
	{"mod", "-y - math.Floor(-y/x)*x", 0.5},
	{"NaN", "truth(math.IsNaN(math.NaN()))", 1.0},
	{"nan", "truth(math.IsNaN(math.NaN()))", 1.0},
	{"ne", "truth(x != y)", 1.0},
	{"not", "truth(!(x < y))", 0.0},
	{"or", "truth(x > y || y > 0)", 1.0},
	{"pi", "math.Pi", 3.141592653589793},
	{"plus", "x + y", 3.25},
	{"pow2", "math.Exp2(y)", 5.656854249492381},
	{"power", "math.Pow(x, y)", 0.48713928962874675},
	{"psi", "kernel.Digamma(y)", 0.7031566406452432},
	{"rand", "truth(e.Rand64() < 1)", 1.0},
	{"randi", "truth(1+int32(e.Rand64()*6) <= 6)", 1.0},
	{"randn", "truth(math.Abs(e.Randn64()) < 10)", 1.0},
	{"rdivide", "x / y", 0.3},
	{"real", "real(complex(x, y))", 0.75},
	{"reallog", "math.Log(y)", 0.9162907318741551},
	{"realmax", "math.MaxFloat64 * 0x1p-1023", 1.9999999999999998},
	{"realmin", "0x1p-1022 * 0x1p1022", 1.0},
	{"realpow", "math.Pow(x, y)", 0.48713928962874675},
	{"realsqrt", "math.Sqrt(y)", 1.5811388300841898},
	{"rem", "math.Mod(-y, x)", -0.25},
	{"round", "math.Round(-y)", -3.0},
	{"sec", "1/math.Cos(x)", 1.366701124672226},
	{"sech", "1/math.Cosh(x)", 0.7723896738572645},
	{"sign", "sign(-x)", -1.0},
	{"sin", "math.Sin(x)", 0.6816387600233341},
	{"single", "float64(float32(y))", 2.5},
	{"sinh", "math.Sinh(x)", 0.82231673193583},
	{"sqrt", "math.Sqrt(y)", 1.5811388300841898},
	{"tan", "math.Tan(x)", 0.9315964599440725},
	{"tanh", "math.Tanh(x)", 0.6351489523872873},
	{"times", "x * y", 1.875},
	{"true", "truth(true)", 1.0},
	{"uint8", "float64(uint8(y))", 2.0},
	{"uint16", "float64(uint16(y))", 2.0},
	{"uint32", "float64(uint32(y))", 2.0},
	{"uint64", "float64(uint64(y))", 2.0},
	{"xor", "truth((x > 0) != (y > 0))", 0.0},
	{"uminus", "-x", -0.75},
	{"uplus", "+x", 0.75},
}

// Every function of MATLAB's list is written as a kernel, with the value that MATLAB's definition
// gives, and has its name in docs/from-matlab.md.
func TestMATLABNames(t *testing.T) {
	guide, err := os.ReadFile("../docs/from-matlab.md")
	if err != nil {
		t.Fatal(err)
	}
	x, y := weft.FromSlice([]float64{0.75}), weft.FromSlice([]float64{2.5})
	for _, c := range matlabNames {
		s, err := kernel.Parse(`package k
import ("math"; "math/cmplx"; "weft/kernel")
func F(e kernel.Elem, x, y float64) float64 { return ` + c.text + ` }
func truth(b bool) float64 { if b { return 1 }; return 0 }
func sign(x float64) float64 { if x != 0 { return math.Copysign(1, x) }; return x }
func logGamma(x float64) float64 { y, _ := math.Lgamma(x); return y }
`)
		if err != nil {
			t.Fatal(err)
		}
		f, err := s.Lookup("F")
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := weft.Data[float64](f.Map(x, y))[0]; math.Abs(got-c.want) > 1e-14*math.Abs(c.want) {
			t.Errorf("%s: %s is %v, want %v", c.name, c.text, got, c.want)
		}
		if !strings.Contains(string(guide), "`"+c.name+"`") && !strings.Contains(string(guide), "`"+c.name+"(") {
			t.Errorf("%s is not in docs/from-matlab.md", c.name)
		}
	}
}
