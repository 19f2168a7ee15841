package weft

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSortMany sorts rows long enough for wide digits, and for values that are made of keys,
// beside Go's stable sort: with zeros of both signs, infinities and NaN.
func TestSortMany(t *testing.T) {
	const n = 1<<16 + 321
	r := rand.New(rand.NewPCG(21, 22))
	f, i, b := make([]float32, 2*n), make([]int32, 2*n), make([]uint8, 2*n)
	for k := range f {
		f[k] = math.Float32frombits(r.Uint32())
		switch r.IntN(8) {
		case 0:
			f[k] = []float32{0, float32(math.Copysign(0, -1)), float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), 1}[r.IntN(6)]
		}
		i[k], b[k] = int32(r.Uint32())>>r.IntN(32), uint8(r.Uint32())
	}
	orders := map[string][]int{}
	onBackends(t, func(t *testing.T) {
		for _, descending := range []bool{false, true} {
			for _, axis := range []int{0, 1} {
				sortedAs(t, orders, f, n, axis, descending)
				sortedAs(t, orders, i, n, axis, descending)
				sortedAs(t, orders, b, n, axis, descending)
			}
		}
	})
}

// sortedAs compares the order of two rows, or columns, of n elements with that of Go's stable
// sort, which orders keeps: there is one xs of each type.
func sortedAs[E float32 | int32 | uint8](t *testing.T, orders map[string][]int, xs []E, n, axis int, descending bool) {
	t.Helper()
	x := FromSlice(slices.Clone(xs), 2, n)
	step, next := 1, n
	if axis == 0 {
		x, step, next = FromSlice(slices.Clone(xs), n, 2), 2, 1
	}
	values, index := x.Sort(axis, SortOpts{Descending: descending})
	v, at := Data[E](values), Data[int64](index)
	for row := range 2 {
		of := fmt.Sprintf("%T, axis %d, row %d, %v", xs, axis, row, descending)
		want := orders[of]
		if want == nil {
			want = make([]int, n)
			for i := range want {
				want[i] = i
			}
			slices.SortStableFunc(want, func(i, j int) int {
				a, b := xs[row*next+i*step], xs[row*next+j*step]
				if descending {
					a, b = b, a
				}
				switch {
				case a != a && b != b:
					return 0
				case a != a:
					return 1
				case b != b:
					return -1
				}
				return cmp.Compare(a, b)
			})
			orders[of] = want
		}
		for i, p := range want {
			got, x := v[row*next+i*step], xs[row*next+p*step]
			same := got == x && math.Signbit(float64(got)) == math.Signbit(float64(x)) || got != got && x != x
			if !same || at[row*next+i*step] != int64(p) {
				t.Fatalf("axis %d, descending %v: place %d has %v of %d, not %v of %d", axis, descending, i, got, at[row*next+i*step], x, p)
			}
		}
	}
}
