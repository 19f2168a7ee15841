package sparse

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"weft/internal/cpu/cputest"
	"weft/internal/jit"
)

// coupled returns a matrix of compressed columns: dense blocks on its diagonal whose elements are random, and couplings of
// each element with the first of the next block, small and with a symmetric pattern but for every fifth.
func coupled[T Element](blocks, size int, of func(x, y float64) T) (*Pattern, []T) {
	r := rand.New(rand.NewPCG(uint64(blocks), uint64(size)))
	n := blocks * size
	dense := make([]map[int]T, n) // by columns
	number := func(scale float64) T { return of(scale*r.NormFloat64(), scale*r.NormFloat64()) }
	for j := range dense {
		dense[j] = map[int]T{}
		for i := j / size * size; i < j/size*size+size; i++ {
			dense[j][i] = number(1)
		}
	}
	for k := range n - size {
		i, j := k, (k/size+1)*size
		dense[j][i] = number(1e-3)
		if k%5 != 0 {
			dense[i][j] = number(1e-3)
		}
	}
	p, values := &Pattern{Off: make([]int64, 1, n+1), Cols: n}, []T{}
	for _, col := range dense {
		for i := range n {
			if v, ok := col[i]; ok {
				p.Idx, values = append(p.Idx, int32(i)), append(values, v)
			}
		}
		p.Off = append(p.Off, int64(len(p.Idx)))
	}
	return p, values
}

func natural(n int) []int32 {
	order := make([]int32, n)
	for i := range order {
		order[i] = int32(i)
	}
	return order
}

// TestBlocksAreFactors multiplies factors, whose pivots are in other rows of their blocks, and solutions, on every instruction set.
func TestBlocksAreFactors(t *testing.T) {
	cputest.EveryISA(t, func(t *testing.T, _ jit.ISA) {
		testBlocks(t, 1e-4, func(x, _ float64) float32 { return float32(x) })
		testBlocks(t, 1e-12, func(x, _ float64) float64 { return x })
		testBlocks(t, 1e-12, func(x, y float64) complex128 { return complex(x, y) })
	})
}

func testBlocks[T Element](t *testing.T, tol float64, of func(x, y float64) T) {
	for _, shape := range [][2]int{{1, 1}, {3, 1}, {5, 7}, {3, 40}, {2, 70}} {
		p, values := coupled(shape[0], shape[1], of)
		n := p.rows()
		plan, err := PlanLU(p, natural(n), 16)
		if err != nil {
			t.Fatal(err)
		}
		threshold := 0.9
		if shape[1] > maxWidth { // pivots are in one of two nodes
			threshold = 0.01
		}
		f, err := FactorBlocks(plan, values, threshold, never)
		if f == nil {
			t.Fatalf("%v: no pivots: %v", shape, err)
		}
		swaps := 0
		for s := range f.nodes {
			for j := range f.nodes[s].width {
				if int(f.pivot[f.nodes[s].first+j]) != j {
					swaps++
				}
			}
		}
		if shape[1] > 1 && shape[1] <= maxWidth && swaps == 0 {
			t.Errorf("%v: all pivots are on the diagonal", shape)
		}
		testFactors(t, fmt.Sprint(shape), p, values, f, tol*100, of)
	}
}

// factors are what a factorization by panels or blocks gives.
type factors[T Element] interface {
	Perm() (rows, cols []int32)
	Lower() Triangular[T]
	Upper() Triangular[T]
	Solve(x []T, width int, adjoint bool)
}

// testFactors demands that L*U is the matrix in its new order, and that solutions of it and its adjoint have small residuals.
func testFactors[T Element](t *testing.T, name string, p *Pattern, values []T, f factors[T], tol float64, of func(x, y float64) T) {
	t.Helper()
	k, n := kernelsOf[T](), p.rows()
	rows, cols := f.Perm()
	l, u := f.Lower(), f.Upper()
	rest := make([]T, n*n)
	for j := range n {
		for e := u.Off[j]; e < u.Off[j+1]; e++ {
			c := u.Idx[e]
			for g := l.Off[c]; g < l.Off[c+1]; g++ {
				rest[int(l.Idx[g])*n+j] += l.Values[g] * u.Values[e]
			}
		}
	}
	at := make([]int32, n)
	for i, r := range rows {
		at[r] = int32(i)
	}
	for j, c := range cols {
		for e := p.Off[c]; e < p.Off[c+1]; e++ {
			rest[int(at[p.Idx[e]])*n+j] -= values[e]
		}
	}
	for i, x := range rest {
		if !(k.size(x) < tol) {
			t.Fatalf("%s: element %d of L*U errs by %v", name, i, x)
		}
	}
	for _, adjoint := range []bool{false, true} {
		for _, width := range []int{0, 1, 3} {
			b := make([]T, n*width)
			for i := range b {
				b[i] = of(math.Sin(float64(i)), 1)
			}
			x := slices.Clone(b)
			f.Solve(x, width, adjoint)
			most, worst := 1.0, 0.0
			for _, v := range x {
				most = max(most, k.size(v))
			}
			for j := range n {
				for e := p.Off[j]; e < p.Off[j+1]; e++ {
					to, from, v := int(p.Idx[e]), j, values[e]
					if adjoint {
						to, from, v = from, to, k.conj(v)
					}
					for c := range width {
						b[to*width+c] -= v * x[from*width+c]
					}
				}
			}
			for _, v := range b {
				worst = max(worst, k.size(v))
			}
			if !(worst < tol*most) {
				t.Errorf("%s, %d right sides, adjoint %v: the residual is %g of %g", name, width, adjoint, worst, most)
			}
		}
	}
}

// TestBlocksWithoutPivots factors matrices whose blocks lack pivots.
func TestBlocksWithoutPivots(t *testing.T) {
	p, values := coupled(3, 40, func(x, _ float64) float64 { return x })
	plan, err := PlanLU(p, natural(p.rows()), 16)
	if err != nil {
		t.Fatal(err)
	}
	try := func(what string, threshold float64, change func(row, col int, x float64) float64) {
		v := slices.Clone(values)
		for j := range p.rows() {
			for e := p.Off[j]; e < p.Off[j+1]; e++ {
				v[e] = change(int(p.Idx[e]), j, v[e])
			}
		}
		if f, err := FactorBlocks(plan, v, threshold, never); f != nil || err != nil {
			t.Errorf("%s: %v, %v", what, f != nil, err)
		}
	}
	try("a large element below a block", 1, func(row, col int, x float64) float64 {
		if row == 40 && col == 3 {
			return 100
		}
		return x
	})
	try("a column of zeros", 0, func(_, col int, x float64) float64 {
		if col == 12 {
			return 0
		}
		return x
	})
	try("a NaN", 0, func(row, col int, x float64) float64 {
		if row == 20 && col == 20 {
			return math.NaN()
		}
		return x
	})
}

func TestIsNearlySymmetric(t *testing.T) {
	for want, p := range map[bool][]*Pattern{
		true:  {{Off: []int64{0, 2, 4}, Idx: []int32{0, 1, 0, 1}, Cols: 2}, {Off: []int64{0}}, {Off: []int64{0, 1}, Idx: []int32{0}, Cols: 1}},
		false: {{Off: []int64{0, 2, 3}, Idx: []int32{0, 1, 1}, Cols: 2}, {Off: []int64{0, 1, 2}, Idx: []int32{1, 0}, Cols: 2}, {Off: []int64{0, 0}, Cols: 1}},
	} {
		for i, p := range p {
			if got := p.IsNearlySymmetric(); got != want {
				t.Errorf("pattern %d: %v, want %v", i, got, want)
			}
		}
	}
}
