package gokernel

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"sync"
)

// What kernels import is declared here: the closed set of packages, as they look to the
// checker. Bodies are what lowering knows of them.

// Paths of the packages.
const (
	mathPath   = "math"
	bitsPath   = "math/bits"
	cmplxPath  = "math/cmplx"
	kernelPath = "weft/kernel"
)

var library = map[string]func() string{
	mathPath: mathText, bitsPath: bitsText, cmplxPath: cmplxText, kernelPath: kernelText,
}

// allowed names the packages in errors.
const allowed = "math, math/bits, math/cmplx and weft/kernel"

type libraryImporter struct{}

var packages struct {
	sync.Mutex
	made map[string]*types.Package
}

// Import implements types.Importer.
func (libraryImporter) Import(path string) (*types.Package, error) {
	text := library[path]
	if text == nil {
		return nil, fmt.Errorf("kernels import %s alone, not %q", allowed, path)
	}
	packages.Lock()
	defer packages.Unlock()
	if p := packages.made[path]; p != nil {
		return p, nil
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, path, text(), parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	p, err := (&types.Config{IgnoreFuncBodies: true}).Check(path, fset, []*ast.File{f}, nil)
	if err != nil {
		return nil, err
	}
	if packages.made == nil {
		packages.made = map[string]*types.Package{}
	}
	packages.made[path] = p
	return p, nil
}

func mathText() string {
	var b strings.Builder
	b.WriteString(`package math
const (
	E   = 2.71828182845904523536028747135266249775724709369995957496696763
	Pi  = 3.14159265358979323846264338327950288419716939937510582097494459
	Phi = 1.61803398874989484820458683436563811772030917980576286213544862
	Sqrt2   = 1.41421356237309504880168872420969807856967187537694807317667974
	SqrtE   = 1.64872127070012814684865078781416357165377610071014801157507931
	SqrtPi  = 1.77245385090551602729816748334114518279754945612238712821380779
	SqrtPhi = 1.27201964951406896425242246173749149171560804184009624861664038
	Ln2    = 0.693147180559945309417232121458176568075500134360255254120680009
	Log2E  = 1 / Ln2
	Ln10   = 2.30258509299404568401799145468436420760110148862877297603332790
	Log10E = 1 / Ln10
	MaxFloat32 = 0x1p127 * (1 + (1 - 0x1p-23))
	SmallestNonzeroFloat32 = 0x1p-126 * 0x1p-23
	MaxFloat64 = 0x1p1023 * (1 + (1 - 0x1p-52))
	SmallestNonzeroFloat64 = 0x1p-1022 * 0x1p-52
	MaxInt = 1<<63 - 1
	MinInt = -1 << 63
	MaxInt8 = 1<<7 - 1
	MinInt8 = -1 << 7
	MaxInt16 = 1<<15 - 1
	MinInt16 = -1 << 15
	MaxInt32 = 1<<31 - 1
	MinInt32 = -1 << 31
	MaxInt64 = 1<<63 - 1
	MinInt64 = -1 << 63
	MaxUint = 1<<64 - 1
	MaxUint8 = 1<<8 - 1
	MaxUint16 = 1<<16 - 1
	MaxUint32 = 1<<32 - 1
	MaxUint64 = 1<<64 - 1
)
func Float32bits(f float32) uint32
func Float32frombits(b uint32) float32
func Float64bits(f float64) uint64
func Float64frombits(b uint64) float64
func Inf(sign int) float64
func IsInf(f float64, sign int) bool
func IsNaN(f float64) (is bool)
func NaN() float64
func Signbit(x float64) bool
func Nextafter(x, y float64) (r float64)
func Nextafter32(x, y float32) (r float32)
func Frexp(f float64) (frac float64, exp int)
func Ldexp(frac float64, exp int) float64
func Modf(f float64) (int float64, frac float64)
func Sincos(x float64) (sin, cos float64)
func Lgamma(x float64) (lgamma float64, sign int)
func Ilogb(x float64) int
func Pow10(n int) float64
func Jn(n int, x float64) float64
func Yn(n int, x float64) float64
func FMA(x, y, z float64) float64
`)
	for _, f := range strings.Fields("Abs Acos Acosh Asin Asinh Atan Atanh Cbrt Ceil Cos Cosh Erf Erfc Erfinv Erfcinv Exp Exp2 Expm1 Floor Gamma J0 J1 Log Log10 Log1p Log2 Logb Round RoundToEven Sin Sinh Sqrt Tan Tanh Trunc Y0 Y1") {
		fmt.Fprintf(&b, "func %s(x float64) float64\n", f)
	}
	for _, f := range strings.Fields("Atan2 Copysign Dim Hypot Max Min Mod Pow Remainder") {
		fmt.Fprintf(&b, "func %s(x, y float64) float64\n", f)
	}
	return b.String()
}

func bitsText() string {
	var b strings.Builder
	b.WriteString("package bits\nconst UintSize = 64\n")
	for _, w := range []string{"", "8", "16", "32", "64"} {
		for _, f := range []string{"LeadingZeros", "TrailingZeros", "OnesCount", "Len"} {
			fmt.Fprintf(&b, "func %s%s(x uint%s) int\n", f, w, w)
		}
		fmt.Fprintf(&b, "func RotateLeft%s(x uint%s, k int) uint%s\n", w, w, w)
		fmt.Fprintf(&b, "func Reverse%s(x uint%s) uint%s\n", w, w, w)
		if w != "8" {
			fmt.Fprintf(&b, "func ReverseBytes%s(x uint%s) uint%s\n", w, w, w)
		}
		if w == "" || w == "32" || w == "64" {
			fmt.Fprintf(&b, "func Add%s(x, y, carry uint%s) (sum, carryOut uint%s)\n", w, w, w)
			fmt.Fprintf(&b, "func Sub%s(x, y, borrow uint%s) (diff, borrowOut uint%s)\n", w, w, w)
			fmt.Fprintf(&b, "func Div%s(hi, lo, y uint%s) (quo, rem uint%s)\n", w, w, w)
			fmt.Fprintf(&b, "func Rem%s(hi, lo, y uint%s) uint%s\n", w, w, w)
			fmt.Fprintf(&b, "func Mul%s(x, y uint%s) (hi, lo uint%s)\n", w, w, w)
		}
	}
	return b.String()
}

func cmplxText() string {
	var b strings.Builder
	b.WriteString(`package cmplx
func Abs(x complex128) float64
func Phase(x complex128) float64
func Polar(x complex128) (r, θ float64)
func Rect(r, θ float64) complex128
func Inf() complex128
func NaN() complex128
func IsInf(x complex128) bool
func IsNaN(x complex128) bool
func Pow(x, y complex128) complex128
`)
	for _, f := range strings.Fields("Acos Acosh Asin Asinh Atan Atanh Conj Cos Cosh Cot Exp Log Log10 Sin Sinh Sqrt Tan Tanh") {
		fmt.Fprintf(&b, "func %s(x complex128) complex128\n", f)
	}
	return b.String()
}

func kernelText() string {
	var b strings.Builder
	b.WriteString(`package kernel
type Elem struct { place int }
func (e *Elem) Index(axis int) int
func (e *Elem) Dim(axis int) int
func (e *Elem) Rand() float32
func (e *Elem) Rand64() float64
func (e *Elem) Randn() float32
func (e *Elem) Randn64() float64
func Digamma(x float64) float64
func Trigamma(x float64) float64
func Erfcx(x float64) float64
func GammaInc(a, x float64) float64
func GammaIncC(a, x float64) float64
func Beta(a, b float64) float64
func LogBeta(a, b float64) float64
type Seq[T any] func(yield func(T) bool)
type number interface { ~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64 }
type float interface { ~float32 | ~float64 }
func Sum[T number](s Seq[T]) (x T) { return }
func Mean[T float](s Seq[T]) (x T) { return }
func Median[T float](s Seq[T]) (x T) { return }
func Min[T number](s Seq[T]) (x T) { return }
func Max[T number](s Seq[T]) (x T) { return }
`)
	for _, name := range arrayTypes {
		for n := 1; n <= 6; n++ {
			fmt.Fprintf(&b, "type %s%d[T any] struct { of T }\n", name, n)
			args := make([]string, n)
			for i := range args {
				args[i] = fmt.Sprintf("i%d", i)
			}
			fmt.Fprintf(&b, "func (a %s%d[T]) At(%s int) (x T)\n", name, n, strings.Join(args, ", "))
			fmt.Fprintf(&b, "func (a %s%d[T]) Dim(axis int) int\n", name, n)
			if n > 1 {
				fmt.Fprintf(&b, "func (a %s%d[T]) Row(i int) (row %s%d[T])\n", name, n, name, n-1)
			}
			if n == 1 || name == "Near" {
				for i := range args {
					args[i] = fmt.Sprintf("lo%d, hi%d", i, i)
				}
				fmt.Fprintf(&b, "func (a %s%d[T]) Slice(%s int) Seq[T]\n", name, n, strings.Join(args, ", "))
			}
		}
	}
	return b.String()
}

// arrayTypes are the types of arrays of package kernel, without their rank, in the order of
// their roles from [Near] on.
var arrayTypes = []string{"Near", "Clamped", "Wrapped", "Zeroed", "Array"}
