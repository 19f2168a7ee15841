package linalg

import (
	"math/rand/v2"
	"slices"
	"testing"

	"weft/internal/cpu/tile"
	"weft/internal/jit"
	"weft/internal/processor"
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

// TestFactorsOfWidePanels multiplies factors of matrices that have panels and blocks of each width by a vector. Small
// matrices have none of the wide ones.
func TestFactorsOfWidePanels(t *testing.T) {
	defer func(hot, cold int) { tile.ThreadHot, tile.ThreadCold = hot, cold }(tile.ThreadHot, tile.ThreadCold)
	tile.ThreadHot, tile.ThreadCold = 0, 0
	isas := jit.ISAs()
	k := kit[float32]{isas[len(isas)-1], 2}
	for _, n := range []int{300, 8*qrWide + 70} {
		if n > 300 && k.isa == jit.Portable {
			continue // slow
		}
		m := n + 7
		a := noise[float32](4, m, n)
		lu, qr := matrix[float32]{slices.Clone(a.x), m, n, n}, matrix[float32]{slices.Clone(a.x), m, n, n}
		q := matrix[float32]{make([]float32, m*n), m, n, n}
		for i := range n {
			q.x[i*n+i] = 1
		}
		pivots := make([]int64, n)
		k.lu(lu, pivots)
		h := k.qr(qr)
		k.formQ(h, q)
		h.free()
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(i%7 - 3)
		}
		full := func(int) (from, to int) { return 0, n }
		want := timesVector(a, x, full)
		upper := func(i int) (from, to int) { return min(i, n), n }
		ux, rx := timesVector(lu, x, upper), timesVector(qr, x, upper)
		near(t, "Q*R", n, timesVector(q, rx[:n], full), want)
		k.exchange(a, pivots, false)
		want = timesVector(a, x, full)
		got := timesVector(lu, ux[:n], func(i int) (from, to int) { return 0, min(i, n) })
		for i := range n {
			got[i] += ux[i]
		}
		near(t, "L*U", n, got, want)
	}
}

// timesVector returns a*x with elements outside part(i) of each row i taken as 0.
func timesVector(a matrix[float32], x []float64, part func(i int) (from, to int)) []float64 {
	y := make([]float64, a.rows)
	for i := range y {
		from, to := part(i)
		for j := from; j < to; j++ {
			y[i] += float64(a.x[i*a.ld+j]) * x[j]
		}
	}
	return y
}

// near fails where elements differ by more than rounding.
func near(t *testing.T, what string, n int, got, want []float64) {
	t.Helper()
	for i, w := range want {
		if d := got[i] - w; !(max(d, -d) < 2e-6*float64(n)) {
			t.Errorf("%s, %d columns: element %d is %v, want %v", what, n, i, got[i], w)
			return
		}
	}
}

// A batch of 10,000 factorizations of 8x8, which take 0.86 ms on one thread, is worth waking another one.
func TestSmallMatricesAreWorthThreads(t *testing.T) {
	m := lanesArray{size: 64}
	j := lanesJob[float64]{in: []lanesArray{m}, out: []lanesArray{m}, perMatrix: 8 * 8 * 8 / 3}
	if least := processor.MulAdds(processor.WakeSleeping); 10_000*j.work() < least {
		t.Errorf("a batch counts as %d multiply-adds, threads pay from %d", 10_000*j.work(), least)
	}
}
