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

// TestExchangesOfRows compares exchanges in both directions with exchanges of numbers one by one, for columns that fill
// vectors and blocks or do not, and more pairs of rows than a call of the kernel takes.
func TestExchangesOfRows(t *testing.T) {
	exchanges[float32](t)
	exchanges[float64](t)
}

func exchanges[F float32 | float64](t *testing.T) {
	const rows = 2*exchangeMost + 10
	pivots := make([]int64, rows-1)
	for i := range pivots {
		pivots[i] = int64(i + i*i%7*(rows-1-i)/7)
	}
	for _, isa := range jit.ISAs() {
		k := &kit[F]{isa, 1}
		for _, columns := range []int{0, 1, 7, 16, 67, 100} {
			a, want := noise[F](3, rows, columns), noise[F](3, rows, columns)
			for _, back := range []bool{false, true} {
				for at := range pivots {
					i := at
					if back {
						i = len(pivots) - 1 - at
					}
					for j := range columns {
						x, y := &want.row(i)[j], &want.row(int(pivots[i]))[j]
						*x, *y = *y, *x
					}
				}
				k.exchange(a, pivots, back)
				if !slices.Equal(a.x, want.x) {
					t.Errorf("%v, %T, %d columns, back %t: rows in another order", isa, F(0), columns, back)
				}
			}
			if !slices.Equal(a.x, noise[F](3, rows, columns).x) {
				t.Errorf("%v, %T, %d columns: exchanges back do not restore rows", isa, F(0), columns)
			}
		}
	}
}

func fill[F float32 | float64](a matrix[F], x F) {
	for i := range a.x {
		a.x[i] = x
	}
}
