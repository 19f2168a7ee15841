package gokernel_test

import (
	"bufio"
	"fmt"
	"go/token"
	"go/types"
	"math"
	"math/bits"
	"math/cmplx"
	"math/rand/v2"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"weft/internal/gokernel/kerneltest"
)

// goFunctions are Go's own functions, which kernels call by the same names.
var goFunctions = map[string]any{
	"math.Abs": math.Abs, "math.Acos": math.Acos, "math.Acosh": math.Acosh, "math.Asin": math.Asin, "math.Asinh": math.Asinh, "math.Atan": math.Atan,
	"math.Atan2": math.Atan2, "math.Atanh": math.Atanh, "math.Cbrt": math.Cbrt, "math.Ceil": math.Ceil, "math.Copysign": math.Copysign, "math.Cos": math.Cos,
	"math.Cosh": math.Cosh, "math.Dim": math.Dim, "math.Erf": math.Erf, "math.Erfc": math.Erfc, "math.Erfcinv": erfcinv, "math.Erfinv": math.Erfinv,
	"math.Exp": math.Exp, "math.Exp2": math.Exp2, "math.Expm1": math.Expm1, "math.FMA": math.FMA, "math.Float32bits": math.Float32bits, "math.Float32frombits": math.Float32frombits,
	"math.Float64bits": math.Float64bits, "math.Float64frombits": math.Float64frombits, "math.Floor": math.Floor, "math.Frexp": math.Frexp, "math.Gamma": gamma, "math.Hypot": math.Hypot,
	"math.Ilogb": math.Ilogb, "math.Inf": math.Inf, "math.IsInf": math.IsInf, "math.IsNaN": math.IsNaN, "math.J0": math.J0, "math.J1": math.J1,
	"math.Jn": math.Jn, "math.Ldexp": math.Ldexp, "math.Lgamma": math.Lgamma, "math.Log": math.Log, "math.Log10": math.Log10, "math.Log1p": math.Log1p,
	"math.Log2": log2, "math.Logb": math.Logb, "math.Max": math.Max, "math.Min": math.Min, "math.Mod": math.Mod, "math.Modf": math.Modf,
	"math.NaN": math.NaN, "math.Nextafter": math.Nextafter, "math.Nextafter32": math.Nextafter32, "math.Pow": math.Pow, "math.Pow10": math.Pow10, "math.Remainder": math.Remainder,
	"math.Round": math.Round, "math.RoundToEven": math.RoundToEven, "math.Signbit": math.Signbit, "math.Sin": math.Sin, "math.Sincos": math.Sincos, "math.Sinh": math.Sinh,
	"math.Sqrt": math.Sqrt, "math.Tan": math.Tan, "math.Tanh": math.Tanh, "math.Trunc": math.Trunc, "math.Y0": math.Y0, "math.Y1": math.Y1,
	"math.Yn":  math.Yn,
	"bits.Add": bits.Add, "bits.Add32": bits.Add32, "bits.Add64": bits.Add64, "bits.Div": bits.Div, "bits.Div32": bits.Div32, "bits.Div64": bits.Div64,
	"bits.LeadingZeros": bits.LeadingZeros, "bits.LeadingZeros8": bits.LeadingZeros8, "bits.LeadingZeros16": bits.LeadingZeros16, "bits.LeadingZeros32": bits.LeadingZeros32, "bits.LeadingZeros64": bits.LeadingZeros64, "bits.Len": bits.Len,
	"bits.Len8": bits.Len8, "bits.Len16": bits.Len16, "bits.Len32": bits.Len32, "bits.Len64": bits.Len64, "bits.Mul": bits.Mul, "bits.Mul32": bits.Mul32,
	"bits.Mul64": bits.Mul64, "bits.OnesCount": bits.OnesCount, "bits.OnesCount8": bits.OnesCount8, "bits.OnesCount16": bits.OnesCount16, "bits.OnesCount32": bits.OnesCount32, "bits.OnesCount64": bits.OnesCount64,
	"bits.Rem": bits.Rem, "bits.Rem32": bits.Rem32, "bits.Rem64": bits.Rem64, "bits.Reverse": bits.Reverse, "bits.Reverse8": bits.Reverse8, "bits.Reverse16": bits.Reverse16,
	"bits.Reverse32": bits.Reverse32, "bits.Reverse64": bits.Reverse64, "bits.ReverseBytes": bits.ReverseBytes, "bits.ReverseBytes16": bits.ReverseBytes16, "bits.ReverseBytes32": bits.ReverseBytes32, "bits.ReverseBytes64": bits.ReverseBytes64,
	"bits.RotateLeft": bits.RotateLeft, "bits.RotateLeft8": bits.RotateLeft8, "bits.RotateLeft16": bits.RotateLeft16, "bits.RotateLeft32": bits.RotateLeft32, "bits.RotateLeft64": bits.RotateLeft64, "bits.Sub": bits.Sub,
	"bits.Sub32": bits.Sub32, "bits.Sub64": bits.Sub64, "bits.TrailingZeros": bits.TrailingZeros, "bits.TrailingZeros8": bits.TrailingZeros8, "bits.TrailingZeros16": bits.TrailingZeros16, "bits.TrailingZeros32": bits.TrailingZeros32,
	"bits.TrailingZeros64": bits.TrailingZeros64,
	"cmplx.Abs":            cmplx.Abs, "cmplx.Acos": cmplx.Acos, "cmplx.Acosh": cmplx.Acosh, "cmplx.Asin": cmplx.Asin, "cmplx.Asinh": cmplx.Asinh, "cmplx.Atan": cmplx.Atan,
	"cmplx.Atanh": cmplx.Atanh, "cmplx.Conj": cmplx.Conj, "cmplx.Cos": cmplx.Cos, "cmplx.Cosh": cmplx.Cosh, "cmplx.Cot": cmplx.Cot, "cmplx.Exp": cmplx.Exp,
	"cmplx.Inf": cmplx.Inf, "cmplx.IsInf": cmplx.IsInf, "cmplx.IsNaN": cmplx.IsNaN, "cmplx.Log": cmplx.Log, "cmplx.Log10": cmplx.Log10, "cmplx.NaN": cmplx.NaN,
	"cmplx.Phase": cmplx.Phase, "cmplx.Polar": cmplx.Polar, "cmplx.Pow": cmplx.Pow, "cmplx.Rect": cmplx.Rect, "cmplx.Sin": cmplx.Sin, "cmplx.Sinh": cmplx.Sinh,
	"cmplx.Sqrt": cmplx.Sqrt, "cmplx.Tan": cmplx.Tan, "cmplx.Tanh": cmplx.Tanh,
}

// rounds maps each function whose result may differ from Go's to the most units in the last place
// of difference. Most of that is Go's own error; TestLibraryVectors measures the error of the
// formulas. All other functions are exact.
var rounds = map[string]float64{
	"math.Acosh": 2, "math.Asinh": 2, "math.Atan": 2, "math.Atan2": 2, "math.Atanh": 2, "math.Cbrt": 2, "math.Cosh": 2, "math.Erf": 2, "math.Erfc": 4,
	"math.Exp": 2, "math.Exp2": 2, "math.Expm1": 2, "math.Hypot": 2, "math.Log": 2, "math.Log10": 2, "math.Log1p": 2, "math.Log2": 2, "math.Pow10": 2,
	"math.Sinh": 2, "math.Tanh": 2, "cmplx.Abs": 2, "cmplx.Phase": 2, "cmplx.Polar": 2, "cmplx.Sqrt": 3,
	// Of large angles Go's have many units off.
	"math.Sin": 1e5, "math.Cos": 1e5, "math.Tan": 1e5, "math.Sincos": 1e5, "cmplx.Rect": 1e5,
	"cmplx.Sin": 200, "cmplx.Cos": 200, "cmplx.Sinh": 200, "cmplx.Cosh": 200, "cmplx.Exp": 200,
	// Near 1 Go's lose half of the digits, or all of a real part near 0.
	"math.Acos": 2e6, "math.Asin": 100, "cmplx.Log": 1e4, "cmplx.Log10": 1e4,
	"cmplx.Asin": 1e5, "cmplx.Acos": 1e6, "cmplx.Asinh": 1e5, "cmplx.Acosh": 1e5, "cmplx.Atan": 1e5, "cmplx.Atanh": 1e5, "cmplx.Pow": 1e4,
	"cmplx.Tan": 1e6, "cmplx.Tanh": 1e6, "cmplx.Cot": 1e6, "math.Erfcinv": 1e5, "math.Erfinv": 5, "math.Gamma": 6, "math.Lgamma": 1e4, "math.Pow": 1e8,
}

// TestLibrary: a kernel can call every function of Go's packages math, math/bits and
// math/cmplx, as Go's own source lists them, and gets what Go computes.
func TestLibrary(t *testing.T) {
	imp := kerneltest.SourceImporter(token.NewFileSet())
	listed := 0
	for _, path := range []string{"math", "math/bits", "math/cmplx"} {
		pkg, err := imp.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range pkg.Scope().Names() {
			fn, ok := pkg.Scope().Lookup(name).(*types.Func)
			if !ok || !fn.Exported() {
				continue
			}
			full := pkg.Name() + "." + name
			if goFunctions[full] == nil {
				t.Errorf("%s is not compared with Go's", full)
				continue
			}
			listed++
			if strings.ContainsAny(name[:1], "JY") { // Bessel's functions: TestBessel, and vectors
				continue
			}
			t.Run(full, func(t *testing.T) {
				t.Parallel()
				libraryFunction(t, path, full, reflect.ValueOf(goFunctions[full]))
			})
		}
	}
	if listed != len(goFunctions) {
		t.Errorf("%d functions of %d are Go's", listed, len(goFunctions))
	}
}

// libraryFunction compares one function on all backends with Go's.
func libraryFunction(t *testing.T, path, full string, want reflect.Value) {
	typ := want.Type()
	var params, args, results []string
	for i := range typ.NumIn() {
		params = append(params, fmt.Sprintf("a%d %s", i, typ.In(i)))
		args = append(args, fmt.Sprintf("a%d", i))
	}
	for i := range typ.NumOut() {
		results = append(results, typ.Out(i).String())
	}
	in := typ
	if len(params) == 0 { // a kernel has one parameter at least
		params = append(params, "unused float64")
		in = reflect.FuncOf([]reflect.Type{reflect.TypeOf(0.0)}, nil, false)
	}
	f := kernelOf(t, fmt.Sprintf("import %q", path), fmt.Sprintf("func F(%s) (%s) { return %s(%s) }", strings.Join(params, ", "), strings.Join(results, ", "), full, strings.Join(args, ", ")))
	n := 4000
	cols := randomArgs(in, n, uint64(len(full)))
	r := rand.New(rand.NewPCG(7, uint64(len(full))))
	for i, c := range cols {
		for j := range n {
			libraryArgument(r, full, i, c.Index(j))
		}
	}
	var wants [][]reflect.Value
	for j := range n {
		var x []reflect.Value
		for i := range typ.NumIn() {
			x = append(x, cols[i].Index(j))
		}
		wants = append(wants, callGo(full, want, x))
	}
	bound := rounds[full]
	evaluate(t, f, cols, func(backend string, out columns) {
		worst, where := 0.0, ""
		for j, want := range wants {
			for k, w := range want {
				got := out[k].Index(j)
				if d := apart(got, w); d > worst && !lost(full, cols, j, w) {
					var x []any
					for _, c := range cols {
						x = append(x, c.Index(j).Interface())
					}
					worst, where = d, fmt.Sprintf("%v gives %v, as Go %v", x, got, w)
				}
			}
		}
		if worst > bound {
			t.Errorf("on %s %s is %.3g units off: of %s", backend, full, worst, where)
		}
	})
}

// lost reports arguments where Go's function is wrong.
func lost(full string, args columns, j int, want reflect.Value) bool {
	x := func(i int) float64 { return args[i].Index(j).Float() }
	switch full {
	case "math.Log", "math.Log10", "math.Lgamma", "math.Pow": // on amd64 Go's take subnormal numbers for 2^-1023
		return subnormal(x(0))
	case "math.Gamma":
		return x(0) >= 171 && x(0) < 172
	case "math.Atan2": // the quotient underflows and loses its sign
		return x(0) < 0 && x(0)/x(1) == 0
	case "math.Erfcinv": // Go's takes 1-x, which is rounded
		return math.Abs(x(0)) < 0x1p-30
	}
	if !want.CanComplex() {
		return false
	}
	// Go's overflow where the result does not, or have NaN where there is a limit: of these
	// arguments this test says nothing.
	w := want.Complex()
	a := complex(1, 1)
	if v := args[0].Index(j); v.CanComplex() {
		a = v.Complex()
	}
	small, large := sizes(a)
	switch {
	case cmplx.IsNaN(w) || cmplx.IsInf(w) || small < 0x1p-1022:
		return true
	case full == "cmplx.Sqrt":
		return w == 0
	case full == "cmplx.Pow":
		_, most := sizes(args[1].Index(j).Complex())
		return w == 0 || most > 100
	}
	// Next to the axes Go's inverse functions lose digits and the side of the cut.
	return strings.HasPrefix(full, "cmplx.A") && (small < 1e-3 || large > 1e4)
}

// sizes are the absolute values of the smaller and the greater part.
func sizes(z complex128) (small, large float64) {
	a, b := math.Abs(real(z)), math.Abs(imag(z))
	return min(a, b), max(a, b)
}

func subnormal(x float64) bool { return x != 0 && math.Abs(x) < 0x1p-1022 }

// libraryArgument makes some of the arguments such as the function takes in earnest.
func libraryArgument(r *rand.Rand, full string, i int, v reflect.Value) {
	switch {
	case strings.HasPrefix(full, "math.Float") && r.IntN(2) == 0 && v.CanUint(): // bits of any number
		v.SetUint(r.Uint64() >> (64 - v.Type().Bits()))
	case full == "math.Ldexp" && i == 1, full == "math.Pow10":
		if r.IntN(8) > 0 {
			v.SetInt(int64(r.IntN(4400) - 2200))
		}
	case (full == "math.Jn" || full == "math.Yn") && i == 0:
		v.SetInt(int64(r.IntN(60) - 20))
	case strings.HasPrefix(full, "bits.RotateLeft") && i == 1:
		if r.IntN(4) > 0 {
			v.SetInt(int64(r.IntN(300) - 150))
		}
	case (strings.HasPrefix(full, "bits.Add") || strings.HasPrefix(full, "bits.Sub")) && i == 2: // a carry
		v.SetUint(r.Uint64() & 1)
	case v.CanUint() && r.IntN(4) == 0: // about as large as it gets
		v.SetUint(-(r.Uint64() >> r.IntN(64)) << (64 - v.Type().Bits()) >> (64 - v.Type().Bits()))
	case v.Kind() == reflect.Float64 && r.IntN(3) == 0: // any number
		v.SetFloat(math.Float64frombits(r.Uint64()))
	case v.Kind() == reflect.Float32 && r.IntN(3) == 0:
		v.SetFloat(float64(math.Float32frombits(r.Uint32())))
	case v.Kind() == reflect.Float64 && r.IntN(8) == 0: // halves and whole ones
		v.SetFloat(float64(r.IntN(400)-200) / 2)
	}
}

// callGo is Go's function, but where it panics what the language of kernels says.
func callGo(full string, fn reflect.Value, x []reflect.Value) []reflect.Value {
	if strings.HasPrefix(full, "bits.Div") || strings.HasPrefix(full, "bits.Rem") {
		hi, y := x[0].Uint(), x[2].Uint()
		if y == 0 {
			return []reflect.Value{x[2], x[2]}[:fn.Type().NumOut()]
		}
		v := reflect.New(x[0].Type()).Elem()
		v.SetUint(hi % y)
		x = []reflect.Value{v, x[1], x[2]}
	}
	return fn.Call(x)
}

// apart is how far two results differ: of floats in units in the last place, of complex
// numbers in units of the greater part, and of others infinitely if they do.
func apart(got, want reflect.Value) float64 {
	switch {
	case same(got, want):
		return 0
	case want.Kind() == reflect.Float64:
		return off(got.Float(), want.Float())
	case want.CanComplex():
		g, w := got.Complex(), want.Complex()
		if cmplx.IsNaN(w) && cmplx.IsNaN(g) || cmplx.IsInf(w) && cmplx.IsInf(g) {
			return 0
		}
		if d := max(math.Abs(real(g-w)), math.Abs(imag(g-w))); d < math.Inf(1) {
			return d / ulp(max(math.Abs(real(w)), math.Abs(imag(w))))
		}
	}
	return math.Inf(1)
}

func ulp(x float64) float64 { return math.Nextafter(x, math.Inf(1)) - x }

// TestLibraryVectors compares with results that MPFR computed, in package vmath's file of
// vectors: within 2 units in the last place, and 4 where weft has no operation.
func TestLibraryVectors(t *testing.T) {
	file, err := os.Open("../vmath/testdata/float64.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows := map[string][][]float64{} // arguments, and the result as a sum of two
	for s := bufio.NewScanner(file); s.Scan(); {
		w := strings.Fields(s.Text())
		var row []float64
		for _, h := range w[1:] {
			u, err := strconv.ParseUint(h, 16, 64)
			if err != nil {
				t.Fatal(err)
			}
			row = append(row, math.Float64frombits(u))
		}
		rows[w[0]] = append(rows[w[0]], row)
	}
	seen := 0
	for name, rows := range rows {
		if goFunctions["math."+name] == nil {
			continue
		}
		seen++
		params, args, result := "x", "x", "y := math.%s(%s); return y"
		in := []reflect.Type{reflect.TypeOf(0.0)}
		if len(rows[0]) == 4 {
			params, args, in = "x, y", "x, y", append(in, in[0])
			result = "return math.%s(%s)"
		}
		if name == "Lgamma" {
			result = "y, _ := math.%s(%s); return y"
		}
		f := kernelOf(t, `import "math"`, fmt.Sprintf("func F("+params+" float64) float64 { "+result+" }", name, args))
		cols := randomArgs(reflect.FuncOf(in, nil, false), len(rows), 1)
		for j, row := range rows {
			for i, c := range cols {
				c.Index(j).SetFloat(row[i])
			}
		}
		evaluate(t, f, cols, func(backend string, out columns) {
			for j, row := range rows {
				x, got := row[:len(in)], out[0].Index(j).Float()
				hi, lo := row[len(in)], row[len(in)+1]
				unit := math.Abs(hi)
				limit := 2.0
				if name[0] == 'J' || name[0] == 'Y' { // beside the height of the wave
					limit = 4
					if a := math.Abs(x[0]); a >= 7.5 {
						unit = max(unit, math.Sqrt(2/(math.Pi*a)))
					}
				}
				if name == "Y0" && x[0] < 1.5 { // a logarithm and the rest cancel
					unit = max(unit, 1./16)
				}
				if name == "Lgamma" && x[0] < 0 { // two terms may cancel
					unit = max(unit, 1)
				}
				if e := math.Abs(got-hi-lo) / ulp(unit); !(e <= limit) && got != hi {
					t.Errorf("on %s: %s%v = %v, which is %.2f units off", backend, name, x, got, e)
				}
			}
		})
	}
	if seen < 33 {
		t.Errorf("vectors of %d functions", seen)
	}
}
