package sparse

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"weft/internal/array"
	"weft/internal/cpu/cputest"
	"weft/internal/jit"
)

// unsymmetric returns patterns whose pivots lie far from the diagonal.
func unsymmetric(r *rand.Rand) map[string]*Pattern {
	out := map[string]*Pattern{}
	add := func(name string, n int, entry func(i, j int) bool) {
		p := &Pattern{Off: make([]int64, 1), Cols: n}
		for j := range n {
			for i := range n {
				if entry(i, j) {
					p.Idx = append(p.Idx, int32(i))
				}
			}
			p.Off = append(p.Off, int64(len(p.Idx)))
		}
		out[name] = p
	}
	perm := r.Perm(150)
	for _, n := range []int{0, 1, 2, 9, 150} {
		add(fmt.Sprintf("dense %d", n), n, func(i, j int) bool { return true })
	}
	add("random", 150, func(i, j int) bool { return perm[i] == j || r.IntN(60) == 0 })
	add("shuffled grid", 144, func(i, j int) bool {
		i = (i*35 + 7) % 144
		return i == j || i == j+12 || i+12 == j || (i/12 == j/12 && (i == j+1 || i+1 == j))
	})
	add("shuffled blocks", 120, func(i, j int) bool {
		i = (i*7 + 3) % 120
		return i/10 == j/10 || i/10 == j/10+1 && (i+j)%7 == 0
	})
	add("arrow against the diagonal", 120, func(i, j int) bool { return i+j == 119 || j == 0 || i == 60 })
	add("permutation", 150, func(i, j int) bool { return perm[i] == j })
	return out
}

// TestPanelsAreFactors demands L*U of panels, elements of L that are at most 1, solutions, and equal bits on every
// instruction set.
func TestPanelsAreFactors(t *testing.T) {
	bits := map[string]string{}
	cputest.EveryISA(t, func(t *testing.T, _ jit.ISA) {
		testPanels(t, bits, 1e-3, func(x, _ float64) float32 { return float32(x) })
		testPanels(t, bits, 1e-11, func(x, _ float64) float64 { return x })
		testPanels(t, bits, 1e-11, func(x, y float64) complex128 { return complex(x, y) })
	})
}

func testPanels[T Element](t *testing.T, bits map[string]string, tol float64, of func(x, y float64) T) {
	k := kernelsOf[T]()
	for name, p := range unsymmetric(rand.New(rand.NewPCG(3, 4))) {
		r := rand.New(rand.NewPCG(5, 6))
		n := p.rows()
		values := make([]T, len(p.Idx))
		for e := range values {
			values[e] = of(r.NormFloat64(), r.NormFloat64())
		}
		order, _, err := MinimumDegree(make([][]int32, n), p.Cliques(), func(int) error { return nil }, never)
		if err != nil {
			t.Fatal(err)
		}
		for _, order := range [][]int32{natural(n), p.ColumnOrder(order)} {
			f, bad, err := FactorPanels(p, values, order, 1, never)
			if bad >= 0 || err != nil {
				t.Fatalf("%s: column %d: %v", name, bad, err)
			}
			l, u := f.Lower(), f.Upper()
			rows, _ := f.Perm()
			for _, x := range l.Values {
				if _, ok := any(x).(complex128); k.size(x) > 1 && !(ok && k.size(x) < 2) { // of complex numbers sums of parts are compared
					t.Errorf("%s: L has %v", name, x)
				}
			}
			key := fmt.Sprintf("%s %T %v", name, values, len(order) > 0 && order[0] == 0 && slices.IsSorted(order))
			if now := fmt.Sprint(l, u, rows); bits[key] == "" {
				bits[key] = now
			} else if bits[key] != now {
				t.Errorf("%s: other bits", key)
			}
			testFactors(t, name, p, values, f, tol, of)
		}
	}
}

// TestPanelsWithoutPivots demands the column that has no pivot, NaN that comes out, and errors of stop.
func TestPanelsWithoutPivots(t *testing.T) {
	for name, p := range unsymmetric(rand.New(rand.NewPCG(3, 4))) {
		n := p.rows()
		if n < 2 {
			continue
		}
		for _, at := range []int{0, 1, n / 2, n - 1} {
			values := make([]float64, len(p.Idx))
			r := rand.New(rand.NewPCG(uint64(at), 8))
			for e := range values {
				values[e] = r.NormFloat64()
			}
			clear(values[p.Off[at]:p.Off[at+1]])
			if f, bad, err := FactorPanels(p, values, natural(n), 1, never); f != nil || bad != at || err != nil {
				t.Errorf("%s: column %d has no pivot, want %d", name, bad, at)
			}
			for e := p.Off[at]; e < p.Off[at+1]; e++ {
				values[e] = math.NaN()
			}
			f, bad, err := FactorPanels(p, values, natural(n), 1, never)
			if bad >= 0 || err != nil {
				t.Fatalf("%s with NaN: column %d: %v", name, bad, err)
			}
			x := make([]float64, n)
			x[p.Idx[p.Off[at]]] = 1
			if f.Solve(x, 1, false); !slices.ContainsFunc(x, math.IsNaN) {
				t.Errorf("%s: NaN does not come out", name)
			}
		}
		end := errors.New("end")
		if _, _, err := FactorPanels(p, make([]float64, len(p.Idx)), natural(n), 1, func() error { return end }); err != end {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPanelsTakeTheDiagonal demands the pivots of the diagonal that a threshold allows.
func TestPanelsTakeTheDiagonal(t *testing.T) {
	p := unsymmetric(rand.New(rand.NewPCG(3, 4)))["dense 150"]
	r := rand.New(rand.NewPCG(1, 2))
	values := make([]float64, len(p.Idx))
	for e := range values {
		values[e] = r.NormFloat64()
	}
	for threshold, want := range map[float64]bool{0: true, 1: false} {
		f, _, _ := FactorPanels(p, values, natural(150), threshold, never)
		if got := slices.Equal(f.Rows, natural(150)); got != want {
			t.Errorf("threshold %g: all pivots are on the diagonal: %v", threshold, got)
		}
	}
}

// TestPanelRowsHaveBitsOfGo demands on every instruction set chains of math.FMA.
func TestPanelRowsHaveBitsOfGo(t *testing.T) {
	cputest.EveryISA(t, func(t *testing.T, isa jit.ISA) {
		testPanelRows[float32](t, isa, array.Float32)
		testPanelRows[float64](t, isa, array.Float64)
	})
}

func testPanelRows[T float32 | float64](t *testing.T, isa jit.ISA, d array.DType) {
	w := panelBytes / d.Size()
	some := func(n, seed int) []T {
		x := make([]T, n)
		for i := range x {
			x[i] = T(math.Sin(float64(i*seed + 1)))
		}
		return x
	}
	for _, k := range []int{0, 1, 2, 3, 4, 5, 8, 13, 64} {
		for _, n := range []int{0, 1, 3, 4, 5, 9, rowChunk + 6} {
			if n > rowChunk && k != 5 {
				continue
			}
			for _, stride := range []int{k, k + 3} {
				rows, l, u, panel := make([]int32, n), some(n*stride, 3), some(k*w, 5), some(2*n*w, 7)
				for i := range rows {
					rows[i] = int32(2*(n-1-i)) + int32(i%2)
				}
				want := slices.Clone(panel)
				for i, r := range rows {
					for p := range k {
						for c := range w {
							at := int(r)*w + c
							want[at] = MultiplyAdd(-l[i*stride+p], u[p*w+c], want[at])
						}
					}
				}
				if panelRows(isa, d, panel, rows, l, stride, u, k); !slices.Equal(panel, want) {
					t.Errorf("%v: %d rows of %d elements, stride %d: other bits", d, n, k, stride)
				}
			}
		}
	}
}

// TestPanelsBesideColumns compares with [FactorLU] on random small matrices, of small integers too: the same pivots exist, and
// solutions have small residuals.
func TestPanelsBesideColumns(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	singular := 0
	for trial := range 3000 {
		n := r.IntN(40)
		each := 1 + r.IntN(6)
		p, values := &Pattern{Off: make([]int64, 1), Cols: n}, []float64{}
		for range n {
			rows := map[int32]bool{}
			for range each {
				rows[int32(r.IntN(n))] = true
			}
			for i := range int32(n) {
				if rows[i] {
					p.Idx = append(p.Idx, i)
					v := r.NormFloat64()
					switch trial % 3 {
					case 1:
						v = float64(r.IntN(5) - 2)
					case 2:
						v = math.Ldexp(v, r.IntN(600)-300)
					}
					values = append(values, v)
				}
			}
			p.Off = append(p.Off, int64(len(p.Idx)))
		}
		order := natural(n)
		if trial%2 == 0 {
			r.Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
			order = p.ColumnOrder(order)
		}
		threshold := []float64{1, 0.1, 0}[r.IntN(3)]
		f, bad, err := FactorPanels(p, values, order, threshold, never)
		g, want, err2 := FactorLU(p, values, order, threshold, never)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		if trial%3 == 0 && bad != want {
			t.Fatalf("trial %d: column %d has no pivot, want %d", trial, bad, want)
		}
		if bad >= 0 || want >= 0 {
			singular++
			continue
		}
		if threshold < 0.1 {
			continue
		}
		for _, adjoint := range []bool{false, true} {
			b := make([]float64, n)
			for i := range b {
				b[i] = r.NormFloat64()
			}
			if e, base := backwardError(p, values, f, b, adjoint), backwardError(p, values, g, b, adjoint); base < 1e-10 && !(e < 1e-12+100*base) { // else an element is out of range
				t.Fatalf("trial %d, adjoint %v: the error is %g, by columns %g", trial, adjoint, e, base)
			}
		}
	}
	if singular == 0 || singular == 3000 {
		t.Errorf("%d matrices are singular", singular)
	}
}

// backwardError returns the largest residual of a solution relative to the sum of the absolute values in its row.
func backwardError(p *Pattern, values []float64, f interface{ Solve([]float64, int, bool) }, b []float64, adjoint bool) (worst float64) {
	x, rest, sum := slices.Clone(b), slices.Clone(b), make([]float64, len(b))
	f.Solve(x, 1, adjoint)
	for i, v := range b {
		sum[i] = math.Abs(v)
	}
	for j := range p.rows() {
		for e := p.Off[j]; e < p.Off[j+1]; e++ {
			to, from := int(p.Idx[e]), j
			if adjoint {
				to, from = from, to
			}
			rest[to] -= values[e] * x[from]
			sum[to] += math.Abs(values[e] * x[from])
		}
	}
	for i, v := range rest {
		if v != 0 {
			worst = max(worst, math.Abs(v)/sum[i])
		}
	}
	return worst
}
