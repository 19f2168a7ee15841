package weft

import (
	"math"
	"math/rand/v2"
	"testing"

	"weft/internal/jit"
)

// everyBackend runs f on each backend of this processor.
func everyBackend(t *testing.T, f func(t *testing.T)) {
	have := jit.ISAs()
	defer setBackend(have[len(have)-1])
	for _, b := range have {
		setBackend(b)
		t.Run(b.String(), f)
	}
}

// Quotients rounded down as Python and NumPy give them.
func TestFloorDivOfFloats(t *testing.T) {
	inf, nan, zero := math.Inf(1), math.NaN(), math.Copysign(0, -1)
	everyBackend(t, func(t *testing.T) {
		for _, c := range []struct{ x, y, div, mod float64 }{
			{1, 0.1, 9, 0.09999999999999995}, {-1, 0.1, -10, 5.551115123125783e-17}, {6, 0.1, 59, 0.09999999999999967},
			{0.3, 0.1, 2, 0.09999999999999998}, {1, -0.1, -10, -5.551115123125783e-17},
			{7, 2, 3, 1}, {-7, 2, -4, 1}, {7, -2, -4, -1}, {-7, -2, 3, -1}, {6, 3, 2, 0}, {6, -3, -2, zero}, {-6, 3, -2, 0},
			{-1, inf, -1, inf}, {1, inf, 0, 1}, {1, -inf, -1, -inf}, {-1, -inf, 0, -1},
			{inf, 1, nan, nan}, {-inf, 2, nan, nan}, {inf, inf, nan, nan},
			{1, 0, inf, nan}, {-1, 0, -inf, nan}, {1, zero, -inf, nan}, {0, 0, nan, nan},
			{0, 5, 0, 0}, {zero, 5, zero, 0}, {0, -5, zero, zero}, {zero, -5, 0, zero},
			{nan, 1, nan, nan}, {1, nan, nan, nan}, {1e300, 1e-300, inf, math.Mod(1e300, 1e-300)},
		} {
			x, y := Scalar(c.x, Float64), Scalar(c.y, Float64)
			got := []float64{x.FloorDiv(y).Item(), x.Mod(y).Item(), Expr("floordiv(x, y)", x, y).Item(), Expr("x % y", x, y).Item(),
				Expr("0*z + floordiv(x, y)", Vars{"x": c.x, "y": c.y, "z": Scalar(0, Float64)}).Item()}
			want := []float64{c.div, c.mod, c.div, c.mod, c.div}
			for i := range got {
				same := math.Float64bits(got[i]) == math.Float64bits(want[i]) || got[i] != got[i] && want[i] != want[i]
				if i == 4 {
					same = got[i] == want[i] || got[i] != got[i] && want[i] != want[i] // 0 plus it
				}
				if !same {
					t.Errorf("%v by %v: result %d is %v, want %v", c.x, c.y, i, got[i], want[i])
				}
			}
		}
	})
}

// What floordiv and mod give together: x again, to rounding, a whole quotient, and a
// remainder between 0 and y.
func TestFloorDivFitsMod(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	everyBackend(t, func(t *testing.T) {
		const n = 1000
		x, y := make([]float32, n), make([]float32, n)
		for i := range x {
			x[i], y[i] = float32(r.NormFloat64()*math.Exp2(float64(r.IntN(20)))), float32(r.IntN(40)-20)/10
			if r.IntN(3) == 0 {
				x[i] = float32(r.IntN(100)-50) / 10
			}
		}
		q, m := Data[float32](FromSlice(x).FloorDiv(FromSlice(y))), Data[float32](FromSlice(x).Mod(FromSlice(y)))
		for i := range x {
			if y[i] == 0 {
				continue
			}
			a, b := float64(x[i]), float64(y[i])
			exact := math.Floor((a - math.Mod(a, b)) / b)
			if rem := math.Mod(a, b); rem != 0 && (rem < 0) != (b < 0) {
				exact = math.Round((a-rem)/b) - 1
			} else {
				exact = math.Round((a - rem) / b)
			}
			if math.Abs(float64(q[i])-exact) > math.Abs(exact)*0x1p-23 || float64(q[i]) != math.Floor(float64(q[i])) {
				t.Errorf("%v // %v = %v, want %v", x[i], y[i], q[i], exact)
			}
			if m[i] != 0 && ((m[i] < 0) != (y[i] < 0) || math.Abs(float64(m[i])) > math.Abs(b)) {
				t.Errorf("%v %% %v = %v", x[i], y[i], m[i])
			}
		}
	})
}
