package vmath

import (
	"math"
	"testing"

	"weft/internal/array"
	"weft/internal/loop"
)

var (
	inf  = math.Inf(1)
	nan  = math.NaN()
	zero = 0.0
	neg0 = math.Copysign(0, -1)
)

// same also tells zeros apart.
func same(a, b float64) bool {
	return math.IsNaN(a) && math.IsNaN(b) || a == b && math.Signbit(a) == math.Signbit(b)
}

// specials are exact values: pairs of argument and result.
var specials = map[string][]float64{
	"exp":      {zero, 1, neg0, 1, inf, inf, -inf, 0, 1e9, inf, -1e9, 0},
	"exp2":     {zero, 1, neg0, 1, inf, inf, -inf, 0, 1e9, inf, -1e9, 0, 10, 1024, -1, 0.5, -126, 0x1p-126, -149, 0x1p-149},
	"expm1":    {zero, 0, neg0, neg0, inf, inf, -inf, -1, 1e9, inf, -1e9, -1},
	"log":      {zero, -inf, neg0, -inf, 1, 0, inf, inf, -inf, nan, -1, nan},
	"log2":     {zero, -inf, neg0, -inf, 1, 0, inf, inf, -inf, nan, -1, nan, 8, 3, 0x1p-126, -126, 0x1p-149, -149, 0x1p127, 127},
	"log10":    {zero, -inf, neg0, -inf, 1, 0, inf, inf, -inf, nan, -1, nan, 10, 1, 100, 2, 1000, 3},
	"log1p":    {zero, 0, neg0, neg0, -1, -inf, inf, inf, -inf, nan, -2, nan},
	"sin":      {zero, 0, neg0, neg0, inf, nan, -inf, nan},
	"cos":      {zero, 1, neg0, 1, inf, nan, -inf, nan},
	"tan":      {zero, 0, neg0, neg0, inf, nan, -inf, nan},
	"asin":     {zero, 0, neg0, neg0, 1.5, nan, -1.5, nan, inf, nan, -inf, nan},
	"acos":     {1, 0, 1.5, nan, -1.5, nan, inf, nan, -inf, nan},
	"atan":     {zero, 0, neg0, neg0},
	"sinh":     {zero, 0, neg0, neg0, inf, inf, -inf, -inf, 1e9, inf, -1e9, -inf},
	"cosh":     {zero, 1, neg0, 1, inf, inf, -inf, inf, 1e9, inf, -1e9, inf},
	"tanh":     {zero, 0, neg0, neg0, inf, 1, -inf, -1, 1e9, 1, -1e9, -1},
	"erf":      {zero, 0, neg0, neg0, inf, 1, -inf, -1, 1e9, 1, -1e9, -1},
	"erfc":     {zero, 1, neg0, 1, inf, 0, -inf, 2, 1e9, 0, -1e9, 2},
	"sigmoid":  {zero, 0.5, neg0, 0.5, inf, 1, -inf, 0, 1e9, 1, -1e9, 0},
	"softplus": {inf, inf, -inf, 0, 1e9, 1e9, -1e9, 0},
	"silu":     {zero, 0, neg0, neg0, inf, inf, -inf, neg0, 1e9, 1e9, -1e9, neg0},
	"asinh":    {zero, 0, neg0, neg0, inf, inf, -inf, -inf},
	"acosh":    {1, 0, inf, inf, -inf, nan, 0.5, nan, -1, nan, zero, nan},
	"atanh":    {zero, 0, neg0, neg0, 1, inf, -1, -inf, 1.5, nan, -2, nan, inf, nan, -inf, nan},
	"erfinv":   {zero, 0, neg0, neg0, 1, inf, -1, -inf, 1.5, nan, -2, nan, inf, nan, -inf, nan},
	"erfcinv":  {zero, inf, neg0, inf, 1, 0, 2, -inf, 2.5, nan, -1, nan, inf, nan, -inf, nan},
	"cbrt":     {zero, 0, neg0, neg0, 1, 1, -8, -2, 27, 3, 0x1p-147, 0x1p-49, inf, inf, -inf, -inf},
	"gamma":    {zero, inf, neg0, -inf, 1, 1, 2, 1, 3, 2, 5, 24, -1, nan, -2, nan, -0x1p60, nan, inf, inf, -inf, nan, 1000, inf, -1000.5, neg0, -1001.5, 0, -170, nan},
	"j0":       {zero, 1, neg0, 1, inf, 0, -inf, 0},
	"j1":       {zero, 0, neg0, neg0, inf, 0, -inf, neg0},
	"y0":       {zero, -inf, neg0, -inf, -1, nan, inf, 0, -inf, nan},
	"y1":       {zero, -inf, neg0, -inf, -1, nan, inf, 0, -inf, nan},
	"lgamma":   {zero, inf, neg0, inf, 1, 0, 2, 0, -1, inf, -2, inf, -0x1p60, inf, inf, inf, -inf, inf},
	"digamma":  {zero, -inf, neg0, inf, -1, nan, -2, nan, -0x1p60, nan, inf, inf, -inf, nan},
	"trigamma": {zero, inf, neg0, inf, -1, inf, -2, inf, inf, 0, -inf, nan},
	"gelu":     {zero, 0, neg0, neg0, inf, inf, -inf, neg0, 1e9, 1e9, -1e9, neg0},
}

func TestSpecials(t *testing.T) {
	for _, u := range unaries {
		table, ok := specials[u.name]
		if !ok {
			t.Fatalf("no special cases of %s", u.name)
		}
		table = append(table, nan, nan)
		var x, want []float64
		var x32 []float32
		for i := 0; i < len(table); i += 2 {
			x, want = append(x, table[i]), append(want, table[i+1])
			x32 = append(x32, float32(table[i]))
		}
		got := evaluate(program(t, u.name, array.Float64, 1, apply1(u.f)), x)
		got32 := evaluate(program(t, u.name, array.Float32, 1, apply1(u.f)), x32)
		for i := range x {
			if !same(got[i], want[i]) {
				t.Errorf("%s(%v) = %v, want %v", u.name, x[i], got[i], want[i])
			}
			if !same(float64(got32[i]), want[i]) {
				t.Errorf("%s(%v) float32 = %v, want %v", u.name, x[i], got32[i], want[i])
			}
		}
	}
}

// grid evaluates f on all pairs of xs, in both types, and compares with want, which
// in float64 may be some units off itself: TestFloat64 measures that.
func grid(t *testing.T, name string, f func(b *loop.Builder, x, y loop.Value) loop.Value, xs []float64, want func(x, y float64) float64) {
	var x, y []float64
	var x32, y32 []float32
	for _, a := range xs {
		for _, b := range xs {
			x, y = append(x, a), append(y, b)
			x32, y32 = append(x32, float32(a)), append(y32, float32(b))
		}
	}
	got := evaluate(program(t, name, array.Float64, 2, apply2(f)), x, y)
	got32 := evaluate(program(t, name, array.Float32, 2, apply2(f)), x32, y32)
	for i := range x {
		if w := want(x[i], y[i]); !same(got[i], w) && math.Abs(got[i]-w) > 1e-14*math.Abs(w) {
			t.Errorf("%s(%v, %v) = %v, want %v", name, x[i], y[i], got[i], w)
		}
		if w := want(float64(x32[i]), float64(y32[i])); !(ulps32(got32[i], w) <= 1) {
			t.Errorf("%s(%v, %v) float32 = %v, want %v", name, x32[i], y32[i], got32[i], w)
		}
	}
}

// TestPowSpecials compares with Go's Pow, which follows C99, on what C99's table
// tells apart: signs, zeros, infinities, NaN, odd, even and no integers, below and
// above one, subnormal numbers.
func TestPowSpecials(t *testing.T) {
	xs := []float64{zero, neg0, 1, -1, 0.5, -0.5, 1.5, -1.5, 2, -2, 3, -3, 4, -4, 0x1p-140, -0x1p-140, 0x1p-130, 33, -33, 0x1p23 + 1, -0x1p23 - 1, 0x1p24, -0x1p24, 0x1p30, -0x1p30,
		0x1p100, -0x1p100, math.MaxFloat32, -math.MaxFloat32, inf, -inf, nan}
	grid(t, "pow", Pow, xs, math.Pow)
	// The cases of C99 F.9.4.4 one by one.
	for _, c := range [][3]float64{
		{zero, -3, inf}, {neg0, -3, -inf}, {neg0, -2, inf}, {neg0, -2.5, inf}, {neg0, -inf, inf}, {zero, 3, 0}, {neg0, 3, neg0}, {neg0, 2, 0}, {neg0, 2.5, 0},
		{-1, inf, 1}, {-1, -inf, 1}, {1, nan, 1}, {nan, 0, 1}, {nan, neg0, 1}, {-2, 0.5, nan}, {0.5, -inf, inf}, {1.5, -inf, 0}, {0.5, inf, 0}, {1.5, inf, inf},
		{-inf, -3, neg0}, {-inf, -2, 0}, {-inf, -2.5, 0}, {-inf, 3, -inf}, {-inf, 2, inf}, {-inf, 2.5, inf}, {inf, -1, 0}, {inf, 1, inf},
	} {
		got := evaluate(program(t, "pow", array.Float64, 2, apply2(Pow)), []float64{c[0]}, []float64{c[1]})[0]
		if !same(got, c[2]) {
			t.Errorf("pow(%v, %v) = %v, want %v", c[0], c[1], got, c[2])
		}
	}
}

func TestAtan2Specials(t *testing.T) {
	grid(t, "atan2", Atan2, []float64{zero, neg0, 1, -1, 2, -2, 0x1p-140, -0x1p-140, 1e-30, -1e-30, math.MaxFloat32, -math.MaxFloat32, inf, -inf, nan}, math.Atan2)
}

func TestHypotSpecials(t *testing.T) {
	grid(t, "hypot", Hypot, []float64{zero, neg0, 1, -1, 2, -2, 0x1p-140, -0x1p-140, 1e-30, -1e-30, math.MaxFloat32, -math.MaxFloat32, inf, -inf, nan}, math.Hypot)
}

func TestRound(t *testing.T) {
	x := []float64{zero, neg0, 0.5, -0.5, 0.49999999999999994, 1.5, 2.5, -2.5, 2.4, 0x1p51 + 0.5, 0x1p52 + 1, -0.3, 1e300, inf, -inf, nan, 0x1.fffffep-2, 0x1p22 + 0.5, 0x1p23 + 1}
	var x32 []float32
	for _, v := range x {
		x32 = append(x32, float32(v))
	}
	got := evaluate(program(t, "round", array.Float64, 1, apply1(Round)), x)
	got32 := evaluate(program(t, "round", array.Float32, 1, apply1(Round)), x32)
	for i := range x {
		if want := math.Round(x[i]); !same(got[i], want) {
			t.Errorf("round(%v) = %v, want %v", x[i], got[i], want)
		}
		if want := math.Round(float64(x32[i])); !same(float64(got32[i]), want) {
			t.Errorf("round(%v) float32 = %v, want %v", x32[i], got32[i], want)
		}
	}
}

func TestPowInt(t *testing.T) {
	x := []float32{0.3, -1.7, 2, 1e-20, 1e20}
	for _, n := range []int{0, 1, 2, 3, 5, 10, 13, -1, -3} {
		got := evaluate(program(t, "powint", array.Float32, 1, func(b *loop.Builder, x []loop.Value) loop.Value { return PowInt(b, x[0], n) }), x)
		for i, v := range x {
			// The chain by recursion: an even power is the square of half of it.
			var chain func(n int) float32
			chain = func(n int) float32 {
				switch {
				case n == 0:
					return 1
				case n == 1:
					return v
				case n%2 == 0:
					h := chain(n / 2)
					return h * h
				}
				return chain(n-1) * v
			}
			want := chain(max(n, -n))
			if n < 0 {
				want = 1 / want
			}
			if got[i] != want {
				t.Errorf("%v^%d = %v, want %v", v, n, got[i], want)
			}
		}
	}
	b := loop.NewBuilder("int", []loop.Axis{{Kind: loop.Parallel}}, 0)
	in, out := b.Buf(array.Int32, false, loop.Unit), b.Buf(array.Int32, true, loop.Unit)
	b.Pass(func() { b.Store(out, PowInt(b, b.Load(in), 5)) })
	p, err := b.Done()
	if err != nil {
		t.Fatal(err)
	}
	if got := evaluate(p, []int32{-3, 0, 7}); got[0] != -243 || got[1] != 0 || got[2] != 16807 {
		t.Errorf("int32 powers %v", got)
	}
}

// A function that is told the sign of its argument leaves out what only other arguments
// need: the result has the bits of the same argument loaded from memory.
func TestKnownSigns(t *testing.T) {
	forms := map[string]func(b *loop.Builder, x loop.Value) loop.Value{
		"abs":         (*loop.Builder).Abs,
		"-abs":        func(b *loop.Builder, x loop.Value) loop.Value { return b.Neg(b.Abs(x)) },
		"square":      func(b *loop.Builder, x loop.Value) loop.Value { return b.Mul(x, x) },
		"-(square)":   func(b *loop.Builder, x loop.Value) loop.Value { return b.Neg(b.Mul(x, x)) },
		"neg product": func(b *loop.Builder, x loop.Value) loop.Value { return b.Mul(b.Neg(x), x) },
	}
	x32 := inputs32(300)
	var x []float64
	for _, v := range x32 {
		x = append(x, float64(v), float64(v)*0x1p897, float64(v)*0x1p500) // up to the largest numbers
	}
	for name, form := range forms {
		for _, u := range unaries {
			apply := func(b *loop.Builder, x []loop.Value) loop.Value { return u.f(b, form(b, x[0])) }
			only := func(b *loop.Builder, x []loop.Value) loop.Value { return form(b, x[0]) }
			arg := evaluate(program(t, name, array.Float64, 1, only), x)
			arg32 := evaluate(program(t, name, array.Float32, 1, only), x32)
			want := evaluate(program(t, u.name, array.Float64, 1, apply1(u.f)), arg)
			want32 := evaluate(program(t, u.name, array.Float32, 1, apply1(u.f)), arg32)
			got := evaluate(program(t, u.name, array.Float64, 1, apply), x)
			got32 := evaluate(program(t, u.name, array.Float32, 1, apply), x32)
			for i := range got {
				if !same(got[i], want[i]) {
					t.Fatalf("%s of %s: %v at %v, want %v", u.name, name, got[i], x[i], want[i])
				}
			}
			for i := range got32 {
				if !same(float64(got32[i]), float64(want32[i])) {
					t.Fatalf("%s of %s float32: %v at %v, want %v", u.name, name, got32[i], x32[i], want32[i])
				}
			}
		}
	}
}
