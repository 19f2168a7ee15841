package linalg

import (
	"math"
	"slices"
	"testing"

	"weft/internal/jit"
)

// TestPivotsOfSpecialColumns demands the pivots and factors of portable Go for equal magnitudes, columns of zeros, NaN,
// infinities, and pivots whose reciprocal overflows, at several places of a vector.
func TestPivotsOfSpecialColumns(t *testing.T) {
	specialColumns[float32](t, 0x1p-140)
	specialColumns[float64](t, 0x1p-1060)
}

func specialColumns[F float32 | float64](t *testing.T, tiny F) {
	nan, inf := F(math.NaN()), F(math.Inf(1))
	const m, n = 45, 20
	for name, change := range map[string]func(a matrix[F]){
		"equal magnitudes": func(a matrix[F]) {
			for i := range a.x {
				a.x[i] = F(1 - 2*(i*i%3%2))
			}
		},
		"zeros":     func(a matrix[F]) { clear(a.x) },
		"NaN":       func(a matrix[F]) { a.x[30*n+3] = nan },
		"NaN first": func(a matrix[F]) { a.x[0] = nan },
		"NaN alone": func(a matrix[F]) { fill(a, nan) },
		"infinity":  func(a matrix[F]) { a.x[44*n+9] = -inf },
		"tiny":      func(a matrix[F]) { fill(a, tiny) },
		"tiny column": func(a matrix[F]) {
			for i := range m {
				a.x[i*n] = tiny * F(i%7)
			}
		},
	} {
		factored := func(isa jit.ISA) ([]int64, matrix[F]) {
			a, p := noise[F](5, m, n), make([]int64, n)
			change(a)
			k := &kit[F]{isa, 1}
			k.lu(a, p)
			return p, a
		}
		wantP, want := factored(jit.Portable)
		for _, isa := range jit.ISAs() {
			p, a := factored(isa)
			same := func(x, y F) bool { return x == y || x != x && y != y }
			if !slices.Equal(p, wantP) || !slices.EqualFunc(a.x, want.x, same) {
				t.Errorf("%v, %s, %T: pivots %v, want %v, or other factors", isa, name, tiny, p, wantP)
			}
		}
	}
}

func fill[F float32 | float64](a matrix[F], x F) {
	for i := range a.x {
		a.x[i] = x
	}
}
