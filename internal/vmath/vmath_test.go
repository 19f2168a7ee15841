package vmath

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"weft/internal/array"
	"weft/internal/interp"
	"weft/internal/loop"
)

// A unary is a function of one argument under test.
type unary struct {
	name string
	f    func(*loop.Builder, loop.Value) loop.Value
	ref  func(float64) float64 // in float64, right to some of its ULP
}

var unaries = []unary{
	{"exp", Exp, math.Exp},
	{"exp2", Exp2, math.Exp2},
	{"expm1", Expm1, math.Expm1},
	{"log", Log, math.Log},
	{"log1p", Log1p, math.Log1p},
	{"sin", Sin, math.Sin},
	{"cos", Cos, math.Cos},
	{"tan", Tan, math.Tan},
	{"tanh", Tanh, math.Tanh},
	{"log2", Log2, math.Log2},
	{"log10", Log10, math.Log10},
	{"sinh", Sinh, refSinh},
	{"cosh", Cosh, math.Cosh},
	{"asin", Asin, refAsin},
	{"acos", Acos, refAcos},
	{"atan", Atan, math.Atan},
	{"erf", Erf, math.Erf},
	{"erfc", Erfc, math.Erfc},
	{"sigmoid", Sigmoid, func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }},
	{"softplus", Softplus, func(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }},
	{"silu", Silu, func(x float64) float64 { return max(x, -1e3) / (1 + math.Exp(-max(x, -1e3))) }},
	{"asinh", Asinh, math.Asinh},
	{"acosh", Acosh, refAcosh},
	{"atanh", Atanh, refAtanh},
	{"erfinv", Erfinv, math.Erfinv},
	{"erfcinv", Erfcinv, refErfcinv},
	{"cbrt", Cbrt, math.Cbrt},
	{"gamma", Gamma, math.Gamma},
	{"j0", J0, math.J0},
	{"j1", J1, refJ1},
	{"y0", Y0, math.Y0},
	{"y1", Y1, math.Y1},
	{"lgamma", Lgamma, refLgamma},
	{"digamma", Digamma, refDigamma},
	{"trigamma", Trigamma, refTrigamma},
	{"gelu", Gelu, func(x float64) float64 { return max(x, -1e3) * 0.5 * math.Erfc(-x/math.Sqrt2) }},
}

// refSinh, refAcosh, refAtanh, refAsin and refAcos avoid what Go's functions lose to cancellation.
func refSinh(x float64) float64 {
	if a := math.Abs(x); a < 1 {
		e := math.Expm1(a)
		return math.Copysign((e+e/(e+1))/2, x)
	}
	return math.Sinh(x)
}

func refAcosh(x float64) float64 {
	if x < 1 {
		return math.NaN()
	}
	u := x - 1
	if u > 0x1p300 {
		return math.Log(x) + math.Ln2
	}
	return math.Log1p(u + math.Sqrt(u*(u+2)))
}

func refAtanh(x float64) float64 { return math.Log1p(2*x/(1-x)) / 2 }

func refAsin(x float64) float64 { return math.Atan2(x, math.Sqrt((1-x)*(1+x))) }
func refAcos(x float64) float64 { return math.Atan2(math.Sqrt((1-x)*(1+x)), x) }

// refErfcinv takes steps of Newton's method on the logarithm of erfc.
func refErfcinv(x float64) float64 {
	switch {
	case x < 0:
		return nan
	case x > 0.5 || !(x > 0):
		return math.Erfcinv(x)
	}
	ln := math.Log(x)
	y := math.Sqrt(-ln)
	for range 6 {
		e := math.Erfc(y)
		y += (math.Log(e) - ln) * e * math.Exp(y*y) * math.Sqrt(math.Pi) / 2
	}
	return y
}

// refLgamma is Go's, but for large numbers, where the error of its sine's argument shows.
func refLgamma(x float64) float64 {
	y, _ := math.Lgamma(x)
	if math.IsInf(x, -1) {
		return inf
	}
	return y
}

// refJ1 is Go's, which loses the sign of small numbers.
func refJ1(x float64) float64 {
	y := math.J1(math.Abs(x))
	if math.Signbit(x) {
		return -y
	}
	return y
}

// refDigamma and refTrigamma take steps up to 20 and sum the series of Bernoulli numbers there.
func refDigamma(x float64) float64 {
	switch {
	case x == 0:
		return -1 / x
	case x < 0 && x == math.Floor(x):
		return nan
	case x < 0:
		r := math.Pi * (x - math.RoundToEven(x))
		return refDigamma(1-x) - math.Pi/math.Tan(r)
	}
	y, c := 0.0, 0.0 // the steps' sum and what it has rounded away
	for ; x < 20; x++ {
		t := -1/x - c
		c = (y + t) - y - t
		y += t
	}
	z := 1 / (x * x)
	return y + (math.Log(x) - 0.5/x - z*(1./12-z*(1./120-z*(1./252-z*(1./240-z*(1./132-z*691/32760))))))
}

func refTrigamma(x float64) float64 {
	switch {
	case x <= 0 && x == math.Floor(x):
		if math.IsInf(x, -1) {
			return nan
		}
		return inf
	case x < 0:
		s := math.Sin(math.Pi * (x - math.RoundToEven(x)))
		return math.Pi*math.Pi/(s*s) - refTrigamma(1-x)
	}
	y := 0.0
	for ; x < 20; x++ {
		y += 1 / (x * x)
	}
	z := 1 / (x * x)
	return y + (1/x + z/2 + z/x*(1./6-z*(1./30-z*(1./42-z*(1./30-z*(5./66-z*691/2730))))))
}

// program makes a kernel that applies f to its arguments, of type d.
func program(t testing.TB, name string, d array.DType, n int, f func(b *loop.Builder, x []loop.Value) loop.Value) *loop.Program {
	b := loop.NewBuilder(name, []loop.Axis{{Kind: loop.Parallel}}, 0)
	var in []int
	for range n {
		in = append(in, b.Buf(d, false, loop.Unit))
	}
	out := b.Buf(d, true, loop.Unit)
	b.Pass(func() {
		var x []loop.Value
		for _, i := range in {
			x = append(x, b.Load(i))
		}
		b.Store(out, f(b, x))
	})
	p, err := b.Done()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// frame fills an argument block for buffers of n elements.
func frame(p *loop.Program, n int, bufs ...unsafe.Pointer) *loop.Frame {
	f := new(loop.Frame)
	f.Word[p.ExtentWord(0)] = uint64(n)
	for i, q := range bufs {
		f.Ptr[i] = q
		f.Word[p.StrideWord(i, 0)] = uint64(p.Bufs[i].DType.Size())
	}
	return f
}

func at[T any](s []T) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(s)) }

// evaluate runs p over x with the interpreter.
func evaluate[T any](p *loop.Program, x ...[]T) []T {
	out := make([]T, len(x[0]))
	bufs := make([]unsafe.Pointer, 0, 4)
	for _, s := range x {
		bufs = append(bufs, at(s))
	}
	f := frame(p, len(out), append(bufs, at(out))...)
	interp.Compile(p).Run(f, nil)
	return out
}

func apply1(f func(*loop.Builder, loop.Value) loop.Value) func(*loop.Builder, []loop.Value) loop.Value {
	return func(b *loop.Builder, x []loop.Value) loop.Value { return f(b, x[0]) }
}

// ulps32 is the distance of got from the exact result in units in the last place
// of float32, those at the exact result's binade. NaN for NaN, infinity for
// infinity and the sign of a zero must be right, or it is infinite. An overflow
// counts as 2^128.
func ulps32(got float32, want float64) float64 {
	g := float64(got)
	switch {
	case math.IsNaN(want) || math.IsNaN(g):
		return exactly(math.IsNaN(want) && math.IsNaN(g))
	case math.IsInf(want, 0):
		return exactly(g == want)
	case math.Signbit(want) != math.Signbit(g):
		return exactly(false)
	}
	if math.IsInf(g, 0) {
		g = math.Copysign(0x1p128, g)
	}
	_, e := math.Frexp(want)
	if math.Abs(want) >= 0x1p128 {
		if math.Abs(g) == 0x1p128 {
			return 0
		}
		e = 128
	}
	return math.Abs(g-want) / math.Ldexp(1, max(e-24, -149))
}

func exactly(ok bool) float64 {
	if ok {
		return 0
	}
	return math.Inf(1)
}

// inputs32 returns bit patterns: all corners, numbers next to them, and n random
// ones, some of any exponent and some around one.
func inputs32(n int) []float32 {
	var x []float32
	for _, c := range []float64{0, 0x1p-149, 0x1p-126, 0x1p-24, 0.25, 0.375, 0.5, math.Sqrt2 / 2, 0.75, 1, math.Sqrt2, 1.5, math.Pi / 2, 2, 2.5, math.E, 3, math.Pi, 4, 10,
		16, 17.3286, 88.0296, 88.3762, 88.7228, 89, 89.4159, 87.3365, 103.278, 103.9721, 126, 127, 128, 149, 150, 1e4, 0x1p17, 0x1p23, 0x1p24, 0x1p31, 0x1p63, 0x1p126, 0x1p127, math.MaxFloat32, math.Inf(1)} {
		for d := -2; d <= 2; d++ {
			v := math.Float32frombits(math.Float32bits(float32(c)) + uint32(d))
			x = append(x, v, -v)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range n {
		x = append(x, math.Float32frombits(r.Uint32()), float32(r.NormFloat64()*3), float32(r.NormFloat64()*40))
	}
	return x
}

// worst is the largest error over x.
func worst32(x, got []float32, ref func(float64) float64) (ulp float64, at float32) {
	for i, v := range x {
		if e := ulps32(got[i], ref(float64(v))); e > ulp {
			ulp, at = e, v
		}
	}
	return ulp, at
}

func TestFloat32(t *testing.T) {
	x := inputs32(70000)
	for _, u := range unaries {
		t.Run(u.name, func(t *testing.T) {
			t.Parallel()
			got := evaluate(program(t, u.name, array.Float32, 1, apply1(u.f)), x)
			ulp, at := worst32(x, got, u.ref)
			t.Logf("%s: %.4f ULP at %g (%#08x)", u.name, ulp, at, math.Float32bits(at))
			if ulp > 1 {
				t.Errorf("%s is %.4f ULP off at %g (%#08x)", u.name, ulp, at, math.Float32bits(at))
			}
		})
	}
}
