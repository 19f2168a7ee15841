package kernel_test

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"math/cmplx"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/kernel"
)

//go:embed numbakernels_test.go
var numbaSource string

//go:embed testdata/numba.json
var numbaResults []byte

// numbaArray is an array of testdata/numba.json; without values it counts from 0.
type numbaArray struct {
	DType  string
	Shape  []int
	Values []any
	Number any // instead, an argument that is a number
}

// numbaCall is a call of @stencil with its result.
type numbaCall struct {
	Args         []numbaArray
	Cval         any
	Neighborhood [][2]int
	Out          *numbaArray
	Result       numbaArray
	Error        string
}

func numbaNumber(x any) complex128 {
	switch x := x.(type) {
	case float64:
		return complex(x, 0)
	case bool:
		if x {
			return 1
		}
		return 0
	case []any:
		return complex(real(numbaNumber(x[0])), real(numbaNumber(x[1])))
	case string:
		return complex(map[string]float64{"nan": math.NaN(), "inf": math.Inf(1), "-inf": math.Inf(-1)}[x], 0)
	}
	panic(fmt.Sprintf("%T", x))
}

// goNumber is a number as a Go program writes it.
func goNumber(x any) any {
	if x == nil {
		return nil
	}
	if b, ok := x.(bool); ok {
		return b
	}
	switch c := numbaNumber(x); {
	case imag(c) != 0:
		return c
	case real(c) == math.Trunc(real(c)) && !math.IsInf(real(c), 0):
		return int(real(c))
	default:
		return real(c)
	}
}

func (a numbaArray) numbers() []complex128 {
	n := 1
	for _, d := range a.Shape {
		n *= d
	}
	out := make([]complex128, n)
	for i := range out {
		if out[i] = complex(float64(i), 0); a.Values != nil {
			out[i] = numbaNumber(a.Values[i])
		}
	}
	return out
}

func (a numbaArray) arg() any {
	if a.Number != nil {
		return goNumber(a.Number)
	}
	return weft.FromSlice(a.numbers(), a.Shape...).Real().To(numbaTypes[a.DType])
}

var numbaTypes = map[string]weft.DType{"bool": weft.Bool, "uint8": weft.Uint8, "int8": weft.Int8, "uint32": weft.Uint32, "int64": weft.Int64,
	"float32": weft.Float32, "float64": weft.Float64, "complex128": weft.Complex128}

// differs says where a result is not Numba's, "" if nowhere.
func (a numbaArray) differs(got *weft.Tensor) string {
	if got.DType().String() != a.DType || !slices.Equal(got.Shape(), a.Shape) {
		return fmt.Sprintf("%s of shape %v, want %s of shape %v", got.DType(), got.Shape(), a.DType, a.Shape)
	}
	want := a.numbers()
	for i, x := range weft.Data[complex128](got.To(weft.Complex128)) {
		y := want[i]
		same := x == y || cmplx.IsNaN(x) && cmplx.IsNaN(y)
		if !same && !(cmplx.Abs(x-y) <= 1e-13*cmplx.Abs(y)) {
			return fmt.Sprintf("element %d is %v, want %v", i, x, y)
		}
	}
	return ""
}

func numbaCalls(t *testing.T) map[string]numbaCall {
	t.Helper()
	calls := map[string]numbaCall{}
	if err := json.Unmarshal(numbaResults, &calls); err != nil {
		t.Fatal(err)
	}
	return calls
}

// numbaKernel is the kernel of a call: several share one.
func numbaKernel(call string) string {
	name := strings.TrimRight(strings.ToUpper(call[:1])+call[1:], "+")
	switch {
	case strings.HasPrefix(name, "OutCval") || name != "Cval300Uint8" && name != "CvalBoolOfInt" && strings.HasPrefix(name, "Cval") || name == "OutUntouched":
		return "Difference"
	case name == "Stencil1Out":
		return "Stencil1"
	case name == "SecondaryLarger" || name == "SecondarySmaller":
		return "ArraysUnited"
	}
	return map[string]string{"Basic37": "Basic36", "Basic38": "Basic36", "Basic39": "Basic36", "Basic41": "Basic40", "Basic42": "Basic40",
		"Basic67b": "Basic67", "Basic83": "Basic82", "Basic85": "Basic84", "Basic93": "Basic92"}[name] + ""
}

// numbaElsewhere are calls that Numba or Go refuses, or that Go says in another way; each
// has its row in TestNumbaErrors or in docs/from-numba.md.
var numbaElsewhere = []string{"basic24", "basic25", "basic29", "basic32", "basic44", "basic45", "basic46", "basic48", "basic51", "basic53", "basic60", "basic61",
	"basic63", "basic64", "basic79", "basic81", "basic86", "basic88", "cvalNanInt", "cval300Uint8"}

// Every call of Numba's own tests of @stencil, and of testdata/stencil.py, that has a result in
// Numba has the same result here.
func TestStencilsMatchNumba(t *testing.T) {
	source := kernel.MustParse(numbaSource)
	names := source.Names()
	for name, c := range numbaCalls(t) {
		if slices.Contains(numbaElsewhere, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			fn := numbaKernel(name)
			if fn == "" {
				fn = strings.TrimRight(strings.ToUpper(name[:1])+name[1:], "+")
			}
			if !slices.Contains(names, fn) {
				t.Fatalf("there is no kernel %s", fn)
			}
			var args []any
			for _, a := range c.Args {
				args = append(args, a.arg())
			}
			if name == "basic33" {
				args = append(args, weft.ScalarOf(weft.Float64, 1))
			}
			opts := kernel.StencilOpts{Cval: goNumber(c.Cval), Neighborhood: c.Neighborhood}
			if c.Out != nil {
				opts.Out = []*weft.Tensor{c.Out.arg().(*weft.Tensor)}
			}
			var got *weft.Tensor
			err := weft.Try(func() { got = source.Func(fn).Stencil(append(args, opts)...) })
			switch {
			case c.Error != "":
				if want := numbaErrors[name]; err == nil || want == "" || !strings.Contains(err.Error(), want) {
					t.Errorf("error %v, want one with %q where Numba says: %s", err, want, c.Error)
				}
			case err != nil:
				t.Fatal(err)
			default:
				if s := c.Result.differs(got); s != "" {
					t.Error(s)
				}
			}
		})
	}
}

func arange(n int) *weft.Tensor { return weft.Arange[int](n).To(weft.Float64) }

// numbaErrors are the texts where both refuse a call.
var numbaErrors = map[string]string{
	"basic38":          "Basic36: Cval: is complex, the result is float64",
	"basic41":          "b: of shape [1 1] is shorter than the first neighbourhood, of shape [3 4], along axis 0",
	"basic42":          "b: of shape [3 3] is shorter than the first neighbourhood, of shape [3 4], along axis 1",
	"basic67b":         "Neighborhood: has 1 axes, the first neighbourhood 2",
	"callConst":        "Neighborhood: is needed: the offsets at which a is read are not constant",
	"outCval1j":        "Cval: is complex, the result is int64",
	"cval1j":           "Cval: is complex, the result is int64",
	"secondarySmaller": "b: of shape [8] is shorter than the first neighbourhood, of shape [9], along axis 0",
}

// What Numba refuses, or leaves undefined, is refused with a text that names the fault.
func TestNumbaErrors(t *testing.T) {
	a, b := arange(12).Reshape(3, 4), arange(12).Reshape(3, 4)
	line, whole := arange(60), weft.Arange[int](12)
	for _, c := range []struct {
		name, source string
		args         []any
		want         string
	}{
		{"basic24: one index for two dimensions", "(a kernel.Near2[float64]) float64 { return a.At(0) + 1 }", []any{a}, "source:3:56: not enough arguments in call to a.At"},
		{"too many indices", "(a kernel.Near1[float64]) float64 { return a.At(0, 1) }", []any{line}, "too many arguments in call to a.At"},
		{"basic25: no access", "(a kernel.Near2[float64]) float64 { return 1 }", []any{a}, "K: reads no neighbourhood"},
		{"basic29: an index that is computed", "(a kernel.Near2[float64], x float64) float64 { return a.At(0, int(math.Cos(x))) }", []any{a, 0.0}, "Neighborhood: is needed: the offsets at which a is read are not constant"},
		{"basic32: an index of another type", "(a kernel.Near2[float64]) float64 { return a.At(int8(1), 0) }", []any{a}, "cannot use int8(1)"},
		{"basic44: assignment", "(a, b kernel.Near2[float64]) float64 { a.At(0, 1) = 12; return a.At(0, 1) }", []any{a, b}, "cannot assign to a.At(0, 1)"},
		{"basic45: assignment to the data", "(a, b kernel.Near2[float64]) float64 { a.Data[1] = 12; return a.At(0, 1) + a.At(1, 0) }", []any{a, b}, "Data"},
		{"basic46: assignment from another", "(a, b kernel.Near2[float64]) float64 { a.At(0, 1) = b.At(1, 2); return a.At(0, 1) + a.At(1, 0) }", []any{a, b}, "cannot assign to a.At(0, 1)"},
		{"basic48: assignment by another name", "(a kernel.Near2[float64]) float64 { c := a.Data; c[0] = 10; return a.At(0, 1) }", []any{a}, "Data"},
		{"basic50: a standard index outside", "(a kernel.Near2[float64], b kernel.Array2[float64]) float64 { return a.At(0, 1) + b.At(0, 15) }", []any{a, b}, "source:3:"},
		{"basic51: all arrays by standard index", "(a, b kernel.Clamped2[float64]) float64 { return a.At(0, 1) + b.At(0, 2) }", []any{a, b}, "K: is not a stencil: its first parameter is not a neighbourhood"},
		{"basic61: the first array by standard index", "(a kernel.Clamped2[float64], b kernel.Near2[float64]) float64 { return a.At(0, 1) + b.At(1, 1) }", []any{a, b}, "K: is not a stencil: its first parameter is not a neighbourhood"},
		{"basic64: the one array by standard index", "(a kernel.Clamped2[float64]) float64 { return a.At(0, 0) }", []any{a}, "K: is not a stencil: its first parameter is not a neighbourhood"},
		{"basic63: an index from an array", "(a kernel.Near2[float64], b kernel.Clamped2[float64]) float64 { return a.At(0, int(b.At(0, 1))) }", []any{a, b}, "Neighborhood: is needed: the offsets at which a is read are not constant"},
		{"basic79: an array of more dimensions", "(a, b kernel.Near2[float64]) float64 { return a.At(-3, 0) + b.At(0, -3) }", []any{a, weft.Zeros(10, 10, 2).To(weft.Float64)}, "b: is kernel.Near2[float64], got a tensor of shape [10 10 2]"},
		{"basic81: a neighbourhood of other dimensions", "(a kernel.Near2[float64], b kernel.Near1[float64]) float64 { return a.At(-3, 0) + b.At(-3) }", []any{a, line}, "b: has 1 axes, the first neighbourhood 2"},
		{"a list of one", "(a kernel.Near2[float64], c float64) float64 { return a.At(0, 1) + c }", []any{a, []float64{10}}, "c: takes a tensor or a Go number, got []float64"},
		{"the first argument is a number", "(s float64, a kernel.Near1[float64]) float64 { return a.At(0) * s }", []any{1.0, line}, "K: is not a stencil"},
		{"a number for an array", "(a kernel.Near1[float64]) float64 { return a.At(0) }", []any{1.0}, "a: is kernel.Near1[float64]: it takes a tensor, got float64"},
		{"an array of another type", "(a kernel.Near1[float64]) float64 { return a.At(0) }", []any{whole}, "a: is kernel.Near1[float64], got a tensor of int64"},
		{"too few arguments", "(a, b kernel.Near1[float64]) float64 { return a.At(0) + b.At(0) }", []any{line}, "K: takes 2 arguments, got 1"},
		{"a result that is not a number", "(a kernel.Near1[float64]) [2]float64 { return [2]float64{a.At(0), a.At(1)} }", []any{line}, "a result of type [2]float64"},
		{"no result", "(a kernel.Near1[float64]) { _ = a.At(0) }", []any{line}, "kernel K has no result"},
		{"Cval is complex", "(a kernel.Near1[float64]) float64 { return a.At(1) }", []any{line, kernel.StencilOpts{Cval: 1i}}, "K: Cval: is complex, the result is float64"},
		{"Cval is not a number", "(a kernel.Near1[float64]) float64 { return a.At(1) }", []any{line, kernel.StencilOpts{Cval: "0"}}, "K: Cval: is a string, not a Go number"},
		{"Cval NaN of integers", "(a kernel.Near1[int64]) int64 { return a.At(1) }", []any{whole, kernel.StencilOpts{Cval: math.NaN()}}, "K: Cval: is NaN, which int64 does not hold"},
		{"Cval too great", "(a kernel.Near1[int64]) uint8 { return uint8(a.At(1)) }", []any{whole, kernel.StencilOpts{Cval: 300}}, "K: Cval: is 300, which uint8 does not hold"},
		{"Cval read as another type", "(a kernel.Near1[float64]) complex128 { return complex(a.At(1), 0) }", []any{line, kernel.StencilOpts{Cval: 1i, Border: kernel.Fill}}, "K: Cval: is complex, a is float64"},
		{"Neighborhood of too many axes", "(a kernel.Near1[float64]) float64 { return a.At(1) }", []any{line, kernel.StencilOpts{Neighborhood: [][2]int{{0, 1}, {0, 1}}}}, "K: Neighborhood: has 2 axes, the first neighbourhood 1"},
		{"Neighborhood the wrong way around", "(a kernel.Near1[float64]) float64 { return a.At(1) }", []any{line, kernel.StencilOpts{Neighborhood: [][2]int{{1, -1}}}}, "K: Neighborhood: runs from 1 to -1 along axis 0"},
		{"Neighborhood narrower than constant offsets", "(a kernel.Near1[float64]) float64 { return a.At(1) + a.At(-2) }", []any{line, kernel.StencilOpts{Neighborhood: [][2]int{{-1, 1}}}}, "K: Neighborhood: does not have offset -2 along axis 0, at which a is read"},
		{"Neighborhood narrower than a loop", "(a kernel.Near1[float64]) float64 {\ns := 0.0\nfor i := -5000; i < 1; i++ { s += a.At(i) }\nreturn s }", []any{line, kernel.StencilOpts{Neighborhood: [][2]int{{-29, 0}}}}, "K: Neighborhood: runs from -29 to 0 along axis 0, a is read at offsets from -5000 to 0"},
		{"Out of another shape", "(a kernel.Near1[float64]) float64 { return a.At(1) }", []any{line, kernel.StencilOpts{Out: []*weft.Tensor{weft.Zeros(59).To(weft.Float64)}}}, "K: Out: 0 is float64 of shape [59], the result float64 of shape [60]"},
		{"Out of another type", "(a kernel.Near1[float64]) float64 { return a.At(1) }", []any{line, kernel.StencilOpts{Out: []*weft.Tensor{weft.Zeros(60)}}}, "K: Out: 0 is float32 of shape [60], the result float64 of shape [60]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := kernel.Parse("package k\nimport (\"math\"; \"weft/kernel\")\nfunc K" + c.source + "\nvar _ = math.Pi\n")
			if err == nil {
				var f *kernel.Func
				if f, err = s.Lookup("K"); err == nil {
					err = weft.Try(func() { f.Stencil(c.args...) })
				}
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

// Offsets may be the numbers of an array where the neighbourhood is given.
func TestNumbaIndicesOfData(t *testing.T) {
	s := kernel.MustParse(`package k
import "weft/kernel"
func K(a kernel.Near1[float64], by kernel.Near1[int64]) float64 { return a.At(int(by.At(0))) }`)
	a, by := arange(6), weft.FromSlice([]int64{0, 1, -1, 1, 0, -1}, 6)
	got := s.Func("K").Stencil(a, by, kernel.StencilOpts{Neighborhood: [][2]int{{-1, 1}}})
	if s := fmt.Sprint(weft.Data[float64](got)); s != "[0 2 1 4 4 0]" {
		t.Errorf("%s", s)
	}
}
