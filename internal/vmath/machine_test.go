package vmath

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"

	"weft/internal/array"
	"weft/internal/interp"
	"weft/internal/jit"
	"weft/internal/loop"
	"weft/internal/x86"
)

// machine compiles p to machine code.
func machine(t testing.TB, p *loop.Program, isa jit.ISA) func(*loop.Frame) {
	k, err := x86.Compile(p, isa)
	if err != nil {
		t.Fatal(err)
	}
	code, err := k.Map()
	if err != nil {
		t.Fatal(err)
	}
	return func(f *loop.Frame) { code.Run(f, nil) }
}

// fastest compiles p by the best means there are.
func fastest(t testing.TB, p *loop.Program) func(*loop.Frame) {
	if isa := jit.ISAs(); len(isa) > 1 {
		return machine(t, p, isa[len(isa)-1])
	}
	k := interp.Compile(p)
	return func(f *loop.Frame) { k.Run(f, nil) }
}

// together holds functions whose many constants and exceptions make the compiler treat
// them in another way.
var together = []unary{
	{name: "exp sin log1p", f: func(b *loop.Builder, x loop.Value) loop.Value {
		return b.Add(b.Mul(Exp(b, b.Mul(b.Neg(x), x)), Sin(b, x)), Log1p(b, b.Abs(x)))
	}},
	{name: "sin tan log cos", f: func(b *loop.Builder, x loop.Value) loop.Value {
		y := b.Add(Sin(b, x), Tan(b, x))
		return b.Add(b.Mul(y, Log(b, b.Abs(x))), Cos(b, b.Mul(x, x)))
	}},
	{name: "log of sin", f: func(b *loop.Builder, x loop.Value) loop.Value {
		return b.Sub(Log2(b, Sin(b, x)), b.Mul(Tanh(b, x), Erf(b, Log10(b, x))))
	}},
}

// ofPackageSpecial are functions whose values package special tests.
var ofPackageSpecial = []unary{
	{name: "erfcx", f: Erfcx}, {name: "ndtr", f: Ndtr}, {name: "log_ndtr", f: LogNdtr}, {name: "ndtri", f: Ndtri}, {name: "dawsn", f: Dawsn},
	{name: "i0", f: I0}, {name: "i1", f: I1}, {name: "i0e", f: I0e}, {name: "i1e", f: I1e}, {name: "k0", f: K0}, {name: "k1", f: K1}, {name: "k0e", f: K0e}, {name: "k1e", f: K1e},
	{name: "exp1", f: Exp1}, {name: "expi", f: Expi}, {name: "si", f: Si}, {name: "ci", f: Ci}, {name: "spence", f: Spence},
	{name: "ellipk", f: EllipK}, {name: "ellipe", f: EllipE}, {name: "lambertw", f: LambertW}, {name: "lambertw_minus", f: LambertWMinus},
}

// TestMachineCode compares machine code with the interpreter, bit for bit but for
// the payload of NaN, rare paths included.
func TestMachineCode(t *testing.T) {
	if err := jit.Reason(); err != nil {
		t.Skip("SKIPPED: no machine code here: ", err)
	}
	x32 := inputs32(3000)
	x64 := make([]float64, len(x32))
	for i, v := range x32 {
		x64[i] = float64(v)
		if i%3 == 0 {
			x64[i] = math.Pow(float64(v), 5)
		}
	}
	have := jit.ISAs()[1:]
	if len(have) < 2 {
		t.Log("SKIPPED: this processor lacks an instruction set, it has ", have)
	}
	for _, isa := range have {
		for _, u := range slices.Concat(unaries, ofPackageSpecial, together) {
			p := program(t, u.name, array.Float32, 1, apply1(u.f))
			got := make([]float32, len(x32))
			machine(t, p, isa)(frame(p, len(x32), at(x32), at(got)))
			for i, want := range evaluate(p, x32) {
				if !same(float64(got[i]), float64(want)) {
					t.Fatalf("%s(%v) on %v = %v, interpreter %v", u.name, x32[i], isa, got[i], want)
				}
			}
			p = program(t, u.name, array.Float64, 1, apply1(u.f))
			got64 := make([]float64, len(x64))
			machine(t, p, isa)(frame(p, len(x64), at(x64), at(got64)))
			for i, want := range evaluate(p, x64) {
				if !same(got64[i], want) {
					t.Fatalf("%s(%v) float64 on %v = %v, interpreter %v", u.name, x64[i], isa, got64[i], want)
				}
			}
		}
		for _, u := range binaries {
			y64 := append(append([]float64{}, x64[1000:]...), x64[:1000]...)
			p := program(t, u.name, array.Float64, 2, apply2(u.f))
			got := make([]float64, len(x64))
			machine(t, p, isa)(frame(p, len(x64), at(x64), at(y64), at(got)))
			for i, want := range evaluate(p, x64, y64) {
				if !same(got[i], want) {
					t.Fatalf("%s(%v, %v) on %v = %v, interpreter %v", u.name, x64[i], y64[i], isa, got[i], want)
				}
			}
		}
	}
}

// TestExhaustive measures all float32 arguments of the functions of one argument,
// and ten million pairs of the others. It takes a quarter of an hour on two cores;
// WEFT_EXHAUSTIVE=name measures one function.
func TestExhaustive(t *testing.T) {
	which := os.Getenv("WEFT_EXHAUSTIVE")
	if which == "" {
		t.Skip("SKIPPED: set WEFT_EXHAUSTIVE=1 to try every float32")
	}
	const n = 1 << 14
	for _, u := range unaries {
		if which != "1" && which != u.name {
			continue
		}
		p := program(t, u.name, array.Float32, 1, apply1(u.f))
		run := fastest(t, p)
		var mu sync.Mutex
		var worst float64
		var where float32
		var wg sync.WaitGroup
		const workers = 2
		for w := range workers {
			wg.Go(func() {
				x, y := make([]float32, n), make([]float32, n)
				f := frame(p, n, at(x), at(y))
				var top float64
				var arg float32
				for c := w; c < 1<<32/n; c += workers {
					for i := range x {
						x[i] = math.Float32frombits(uint32(c*n + i))
					}
					run(f)
					if e, v := worst32(x, y, u.ref); e > top {
						top, arg = e, v
					}
				}
				mu.Lock()
				if top > worst {
					worst, where = top, arg
				}
				mu.Unlock()
			})
		}
		wg.Wait()
		t.Logf("%s: %.4f ULP at %v (%#08x)", u.name, worst, where, math.Float32bits(where))
		if worst > 1 {
			t.Errorf("%s is %.4f ULP off at %v (%#08x)", u.name, worst, where, math.Float32bits(where))
		}
	}
	for _, u := range binaries {
		if which == "1" || which == u.name {
			measure2(t, u.name, u.f, 1e7, fastest)
		}
	}
}

// refs2 are float64 references of the functions of two arguments.
var refs2 = map[string]func(x, y float64) float64{"Pow": math.Pow, "Atan2": math.Atan2, "Hypot": math.Hypot}

// measure2 measures n random pairs of float32: of any bits, and such that a power
// is finite.
func measure2(t *testing.T, name string, fn func(b *loop.Builder, x, y loop.Value) loop.Value, n int, compile func(testing.TB, *loop.Program) func(*loop.Frame)) {
	p := program(t, name, array.Float32, 2, apply2(fn))
	run := compile(t, p)
	r := rand.New(rand.NewPCG(3, 4))
	x, y, z := make([]float32, n), make([]float32, n), make([]float32, n)
	for i := range x {
		x[i], y[i] = math.Float32frombits(r.Uint32()), math.Float32frombits(r.Uint32())
		if i%4 != 0 {
			x[i] = float32(math.Exp(r.NormFloat64() * []float64{0, 1e-3, 1, 20}[i%4]))
			y[i] = float32((r.Float64() - 0.5) * 200 / math.Abs(math.Log(float64(x[i]))))
		}
	}
	run(frame(p, n, at(x), at(y), at(z)))
	var worst float64
	var where int
	for i := range x {
		if e := ulps32(z[i], refs2[name](float64(x[i]), float64(y[i]))); e > worst {
			worst, where = e, i
		}
	}
	t.Logf("%s: %.4f ULP at %v, %v", name, worst, x[where], y[where])
	if worst > 1 {
		t.Errorf("%s is %.4f ULP off at %v, %v: %v", name, worst, x[where], y[where], z[where])
	}
}

func TestFloat32Pairs(t *testing.T) {
	for _, u := range binaries {
		measure2(t, u.name, u.f, 100000, func(_ testing.TB, p *loop.Program) func(*loop.Frame) {
			k := interp.Compile(p)
			return func(f *loop.Frame) { k.Run(f, nil) }
		})
	}
}
