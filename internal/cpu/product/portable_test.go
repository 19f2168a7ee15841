package product

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/cputest"
	"weft/internal/cpu/tile"
	"weft/internal/jit"
	"weft/internal/numbers"
)

// exactFMA is x*y+z rounded once, by way of exact arithmetic. The operands are finite.
func exactFMA(x, y, z float32) float32 {
	f := func(v float32) *big.Float { return new(big.Float).SetPrec(1000).SetFloat64(float64(v)) }
	s := f(x)
	s.Mul(s, f(y)).Add(s, f(z))
	if s.Sign() == 0 {
		return float32(float64(x)*float64(y) + float64(z)) // for the sign of zero
	}
	v, _ := s.Float32()
	return v
}

// TestPortableRounding compares portable products with exact arithmetic, for factors
// whose sums are often halfway between two float32, for exponents about those where
// the kernel changes, for underflow to either zero, and with many zeros.
func TestPortableRounding(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 1))
	short := func(bits int) float32 { return float32(r.IntN(2<<bits) - 1<<bits) }
	scaled := func(exp int) func() float32 {
		return func() float32 { return float32(math.Ldexp(r.NormFloat64(), exp+r.IntN(3))) }
	}
	zeros := func(f func() float32) func() float32 {
		return func() float32 {
			if r.IntN(2) > 0 {
				return float32(math.Copysign(0, r.Float64()-.5))
			}
			return f()
		}
	}
	// A product of two of these is 1 and up to an ulp, or less than a power of 2 by 2^-46
	// of it, so that added to the first, in float64, it looks like half an ulp.
	nearly := func(sign float64) func() float32 {
		return func() float32 {
			return float32(math.Ldexp(1+sign*float64(r.IntN(2))*0x1p-23, -r.IntN(13)))
		}
	}
	type source struct {
		name string
		a, b func() float32
	}
	sources := []source{
		{"random", scaled(0), scaled(0)},
		{"short", func() float32 { return short(12) }, func() float32 { return short(13) }},
		{"pixels", scaled(0), func() float32 { return float32(r.IntN(256)) / 256 }},
		{"nearly halfway", nearly(1), nearly(-1)},
		{"zeros", zeros(scaled(0)), zeros(scaled(1))},
		{"subnormal", func() float32 { return math.Float32frombits(uint32(r.IntN(1 << 23))) }, scaled(10)},
		{"underflow", zeros(scaled(-75)), zeros(scaled(-75))},
		{"zeros of both signs", zeros(scaled(-80)), zeros(scaled(-80))},
	}
	// Sums that cancel down to subnormal numbers, and positive ones that grow to
	// infinity.
	even := func(exp int) func() float32 {
		return func() float32 {
			return float32(math.Ldexp(float64(2*r.IntN(2)-1)*(1+r.Float64()), exp))
		}
	}
	for e := -64; e <= -50; e++ {
		sources = append(sources, source{"small", even(e), zeros(even(e))})
	}
	positive := func(exp int) func() float32 {
		f := scaled(exp)
		return func() float32 { return float32(math.Abs(float64(f()))) }
	}
	for e := 50; e <= 64; e += 2 {
		sources = append(sources, source{"large", scaled(e), scaled(e)}, source{"growing", positive(e), positive(e)})
	}
	const m, n, k = 3, 67, 270
	negative := 0
	for _, s := range sources {
		a, b, c := make([]float32, m*k), make([]float32, k*n), make([]float32, m*n)
		for i := range a {
			a[i] = s.a()
		}
		for i := range b {
			b[i] = s.b()
		}
		mat := func(v []float32, row int) tile.Mat { return tile.Mat{Ptr: unsafe.Pointer(&v[0]), Row: row, Col: 1} }
		Product{ISA: jit.Portable, DType: array.Float32, M: m, N: n, K: k, A: mat(a, k), B: mat(b, n), C: mat(c, n), Threads: 1}.Run()
		for i := range m {
			for j := range n {
				var want float32
				for p0 := 0; p0 < k; p0 += numbers.KBlock {
					var block float32
					for p := p0; p < min(k, p0+numbers.KBlock); p++ {
						if math.IsInf(float64(block), 0) || math.IsNaN(float64(block)) {
							block = float32(float64(a[i*k+p])*float64(b[p*n+j]) + float64(block))
							continue
						}
						block = exactFMA(a[i*k+p], b[p*n+j], block)
					}
					if p0 == 0 {
						want = block
					} else {
						want += block
					}
				}
				if want == 0 && math.Signbit(float64(want)) {
					negative++
				}
				if got := c[i*n+j]; !cputest.SameBits(got, want) {
					t.Fatalf("%s: element %d,%d is %v, not %v", s.name, i, j, got, want)
				}
			}
		}
	}
	if negative == 0 {
		t.Error("no sum is -0")
	}
}
