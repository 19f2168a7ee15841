package half

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// value is the number that bits mean, by the definition of the format.
func value(bits uint16, exponent, fraction int) float64 {
	sign := 1.0
	if bits>>15 != 0 {
		sign = -1
	}
	bias := 1<<(exponent-1) - 1
	e := int(bits) >> fraction & (1<<exponent - 1)
	f := float64(int(bits) & (1<<fraction - 1))
	switch e {
	case 0:
		return sign * math.Ldexp(f, 1-bias-fraction)
	case 1<<exponent - 1:
		if f != 0 {
			return math.NaN()
		}
		return sign * math.Inf(1)
	}
	return sign * math.Ldexp(f+math.Ldexp(1, fraction), e-bias-fraction)
}

// Every number of either format has the value that its definition says, and is what its
// value rounds to.
func TestAllValues(t *testing.T) {
	for i := range 1 << 16 {
		f, b := Float16(i), BFloat16(i)
		for _, c := range []struct {
			name      string
			got, want float64
			back      uint16
		}{
			{"float16", float64(f.Float32()), value(uint16(i), 5, 10), uint16(NewFloat16(f.Float32()))},
			{"bfloat16", float64(b.Float32()), value(uint16(i), 8, 7), uint16(NewBFloat16(b.Float32()))},
		} {
			if math.IsNaN(c.want) {
				if !math.IsNaN(c.got) {
					t.Fatalf("%s %#04x is %v, want NaN", c.name, i, c.got)
				}
				continue
			}
			if c.got != c.want || c.back != uint16(i) {
				t.Fatalf("%s %#04x is %v, want %v; back %#04x", c.name, i, c.got, c.want, c.back)
			}
		}
	}
}

// nearest rounds x by exact comparison of its distances from all numbers of a format
// whose positive ones are in order.
func nearest(x float64, exponent, fraction int) uint16 {
	sign := uint16(0)
	if math.Signbit(x) {
		sign = 1 << 15
	}
	inf := uint16((1<<exponent - 1) << fraction)
	if math.IsInf(x, 0) {
		return sign | inf
	}
	x = math.Abs(x)
	lo, hi := uint16(0), inf // lo <= x, below hi
	for hi-lo > 1 {
		if m := (lo + hi) / 2; value(m, exponent, fraction) <= x {
			lo = m
		} else {
			hi = m
		}
	}
	above := value(hi, exponent, fraction)
	if hi == inf {
		// The number that would follow.
		above = value(inf-1, exponent, fraction) + (value(inf-1, exponent, fraction) - value(inf-2, exponent, fraction))
	}
	f := func(x float64) *big.Float { return new(big.Float).SetPrec(2200).SetFloat64(x) }
	below := new(big.Float).Sub(f(x), f(value(lo, exponent, fraction)))
	over := new(big.Float).Sub(f(above), f(x))
	c := below.Cmp(over)
	if c > 0 || c == 0 && lo&1 != 0 {
		return sign | hi
	}
	return sign | lo
}

// Rounding is to the nearest, from float32 and from float64, at once.
func TestRounding(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	check := func(x float64) {
		t.Helper()
		if got, want := uint16(NewFloat16(x)), nearest(x, 5, 10); got != want {
			t.Fatalf("float16 of %x is %#04x, want %#04x", x, got, want)
		}
		if got, want := uint16(NewBFloat16(x)), nearest(x, 8, 7); got != want {
			t.Fatalf("bfloat16 of %x is %#04x, want %#04x", x, got, want)
		}
		y := float32(x)
		if got, want := uint16(NewFloat16(y)), nearest(float64(y), 5, 10); got != want {
			t.Fatalf("float16 of %x is %#04x, want %#04x", y, got, want)
		}
		if got, want := uint16(NewBFloat16(y)), nearest(float64(y), 8, 7); got != want {
			t.Fatalf("bfloat16 of %x is %#04x, want %#04x", y, got, want)
		}
	}
	for range 20000 {
		check(math.Ldexp(r.Float64()*2-1, r.IntN(40)-28))
		check(math.Ldexp(r.Float64()*2-1, r.IntN(300)-160))
		// Beside the middle between two numbers.
		for _, m := range []float64{float64(Float16(r.IntN(0x7bff)).Float32()), float64(BFloat16(r.IntN(0x7f7f)).Float32())} {
			for _, ulps := range []float64{0x1p-9, 0x1p-10, 0x1p-11, 0x1p-12} {
				mid := m + m*ulps
				check(mid)
				check(math.Nextafter(mid, 0))
				check(-math.Nextafter(mid, math.Inf(1)))
			}
		}
	}
	for _, x := range []float64{0, math.Copysign(0, -1), 65504, 65519.999, 65520, 1e300, math.Inf(-1), 0x1p-25, 0x1.000001p-25, 0x1p-24, 0x1p-134, 0x1.8p-133, 0x1p-1074, math.MaxFloat32, math.MaxFloat64} {
		check(x)
	}
	if x := NewFloat16(math.NaN()).Float32(); x == x {
		t.Fatalf("NaN became %v", x)
	}
	if x := NewBFloat16(float32(math.NaN())).Float32(); x == x {
		t.Fatalf("NaN became %v", x)
	}
}

// Printed numbers are short and read back.
func TestString(t *testing.T) {
	for want, got := range map[string]string{"0.1": NewFloat16(0.1).String(), "6.55e+04": NewFloat16(65504.0).String(), "3.14": NewBFloat16(3.14).String(), "-Inf": NewFloat16(math.Inf(-1)).String(), "1": BFloat16(0x3f80).String()} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
