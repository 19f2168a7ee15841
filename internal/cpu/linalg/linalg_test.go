package linalg

import (
	"math/rand/v2"
	"slices"
	"testing"

	"weft/internal/cpu/tile"
	"weft/internal/jit"
)

// noise returns a matrix of random elements.
func noise[T float32 | float64](seed uint64, rows, cols int) matrix[T] {
	r := rand.New(rand.NewPCG(seed, 1))
	m := matrix[T]{make([]T, rows*cols), rows, cols, cols}
	for i := range m.x {
		m.x[i] = T(r.NormFloat64())
	}
	return m
}

// TestBitsOfInstructionSets demands the same bits of machine code and portable Go, with one thread and two.
func TestBitsOfInstructionSets(t *testing.T) {
	if !jit.Available() {
		t.Skip("SKIPPED: no machine code here")
	}
	// All work is shared.
	defer func(hot, cold int) { tile.ThreadHot, tile.ThreadCold = hot, cold }(tile.ThreadHot, tile.ThreadCold)
	tile.ThreadHot, tile.ThreadCold = 0, 0
	bits[float32](t)
	bits[float64](t)
}

func bits[T float32 | float64](t *testing.T) {
	factored := func(isa jit.ISA, threads, m, n int) []T {
		k := &kit[T]{isa, threads}
		lu, qr := noise[T](1, m, n), noise[T](2, m, n)
		k.lu(lu, make([]int64, min(m, n)))
		h := k.qr(qr)
		defer h.free()
		q := matrix[T]{make([]T, m*m), m, m, m}
		for i := range m {
			q.x[i*m+i] = 1
		}
		k.formQ(h, q)
		square := noise[T](3, n, n)
		for i := range n {
			square.x[i*n+i] += T(3 * n)
		}
		k.cholesky(square)
		return slices.Concat(lu.x, qr.x, q.x, square.x)
	}
	for _, s := range [][2]int{{7, 5}, {70, 90}, {150, 131}, {40, 300}} {
		want := factored(jit.Portable, 1, s[0], s[1])
		for _, isa := range jit.ISAs() {
			for _, threads := range []int{1, 2} {
				if got := factored(isa, threads, s[0], s[1]); !slices.Equal(got, want) {
					t.Errorf("%v, %d threads, shape %v: other bits than portable Go", isa, threads, s)
				}
			}
		}
	}
}
