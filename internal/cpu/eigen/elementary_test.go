package eigen

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Functions of numbers of all sizes are package math's within two ulps; a number divided by its root gives 1.
func TestElementaryFunctions(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	check := func(what string, got, want float64, args ...float64) {
		t.Helper()
		if got != want && !(got != got && want != want) && !(math.Abs(got-want) <= 2*math.Abs(math.Nextafter(want, math.Inf(1))-want)) {
			t.Fatalf("%s%v is %v, want %v", what, args, got, want)
		}
	}
	numbers := []float64{0, 1, math.SmallestNonzeroFloat64, math.MaxFloat64, math.Inf(1), math.NaN(), 0x1p-1022, math.Sqrt2, math.Sqrt2 / 2, 0.25, 0.5, 0.7}
	for range 20_000 {
		numbers = append(numbers, math.Ldexp(1+r.Float64(), r.IntN(2090)-1060), 1+r.NormFloat64()*0x1p-20, r.Float64())
	}
	for i, x := range numbers {
		if x >= 0 {
			want := math.Log(x)
			if x > 0 && x < 0x1p-1022 { // where package math's assembly errs
				want = math.Log(x*0x1p60) - 60*math.Ln2
			}
			check("ln", ln(x), want, x)
			for k := 2; k < 12; k += 2 {
				one := x
				for range k {
					one /= root(x, k)
				}
				if x > 0 && !math.IsInf(x, 0) && math.Abs(one-1) > float64(2*k)*0x1p-52 || (x == 0 || math.IsInf(x, 0)) && root(x, k) != x {
					t.Fatalf("root(%v, %d) is %v", x, k, root(x, k))
				}
			}
		}
		if v := r.NormFloat64() * 200; v < 709 && v > -708 {
			check("exp", exp(v), math.Exp(v), v)
		}
		if small := r.NormFloat64() * math.Pow(2, -float64(r.IntN(60))); small > -1 {
			check("ln1p", ln1p(small), math.Log1p(small), small)
		}
		y := numbers[len(numbers)-1-i]
		for _, p := range [][2]float64{{x, y}, {-x, y}, {x, -y}, {-x, -y}, {x, 1}, {1, -x}} {
			if q := p[1] / p[0]; q == 0 && p[1] != 0 || p[0]/p[1] == 0 && p[0] != 0 {
				continue // package math loses the sign
			}
			check("arctan2", arctan2(p[0], p[1]), math.Atan2(p[0], p[1]), p[0], p[1])
		}
	}
}
