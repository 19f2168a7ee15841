package linalg

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"weft/internal/array"
	"weft/internal/jit"
)

// jacobiZoo returns m x n matrices on which decompositions fail when they are wrong, symmetric if square.
func jacobiZoo(m, n int) (names []string, all []float64) {
	r := rand.New(rand.NewPCG(uint64(m), uint64(n)))
	put := func(name string, f func(i, j int) float64) {
		names = append(names, name)
		at := len(all)
		for i := range m {
			for j := range n {
				if m == n && j < i {
					all = append(all, all[at+j*n+i])
				} else {
					all = append(all, f(i, j))
				}
			}
		}
	}
	for range 3 {
		put("random", func(i, j int) float64 { return r.NormFloat64() })
	}
	put("zero", func(i, j int) float64 { return 0 })
	put("identity", func(i, j int) float64 { return float64(max(0, 1-max(i-j, j-i))) })
	put("ones", func(i, j int) float64 { return 1 })
	put("exchange", func(i, j int) float64 { return math.Copysign(float64(max(0, 1-max(i+j-n+1, n-1-i-j))), float64(i-j)) })
	put("rank two", func(i, j int) float64 { return float64(i*j) + math.Sin(float64(i))*math.Sin(float64(j)) })
	put("graded", func(i, j int) float64 { return r.NormFloat64() * math.Pow(10, -float64(2*(i+j))) })
	put("steep", func(i, j int) float64 { return r.NormFloat64() * math.Pow(10, -float64(30*(i+j))) })
	put("hilbert", func(i, j int) float64 { return 1 / float64(i+j+1) })
	put("blocks", func(i, j int) float64 { return float64(max(0, 1-max(i/2-j/2, j/2-i/2))) })
	put("signs of zeros", func(i, j int) float64 { return math.Copysign(float64((i+j)%3%2), float64(i*j%2)-0.5) })
	put("huge", func(i, j int) float64 { return r.NormFloat64() * 1e300 })
	put("tiny", func(i, j int) float64 { return r.NormFloat64() * 1e-300 })
	put("tiniest", func(i, j int) float64 { return r.NormFloat64() * 1e-320 })
	put("moderate", func(i, j int) float64 { return r.NormFloat64() * 1e200 })
	return names, all
}

func newView(shape ...int) *array.View {
	x := make([]float64, array.Size(shape))
	store := array.NewStorage(unsafe.Pointer(&x[0]), 8*len(x), x)
	return &array.View{Store: store, DType: array.Float64, Shape: shape, Strides: array.RowMajor(shape)}
}

// decompose returns eigenvalues and vectors of square matrices, and u, s and vh of all, on an instruction set.
func decompose(t *testing.T, isa jit.ISA, x []float64, count, m, n int) (parts [][]float64) {
	k := min(m, n)
	a := newView(count, m, n)
	copy(whole[float64](a), x)
	results := func(shapes ...[]int) (views []*array.View) {
		for _, s := range shapes {
			v := newView(append([]int{count}, s...)...)
			views = append(views, v)
			parts = append(parts, whole[float64](v))
		}
		return views
	}
	fail := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	v := results([]int{m, k}, []int{k}, []int{k, n}, []int{k})
	fail(SVD(isa, v[0], v[1], v[2], a))
	fail(SVD(isa, nil, v[3], nil, a))
	if m == n {
		v := results([]int{n}, []int{n, n}, []int{n})
		fail(Eigh(isa, v[0], v[1], a))
		fail(Eigh(isa, v[2], nil, a))
	}
	return parts
}

// TestJacobiBits demands of every instruction set, and of a matrix alone, the bits of portable Go on a batch.
func TestJacobiBits(t *testing.T) {
	for _, s := range [][2]int{{1, 1}, {2, 2}, {3, 3}, {5, 5}, {8, 8}, {16, 8}, {7, 3}, {3, 7}, {5, 16}, {1, 4}} {
		m, n := s[0], s[1]
		names, x := jacobiZoo(m, n)
		want := decompose(t, jit.Portable, x, len(names), m, n)
		for _, isa := range jit.ISAs() {
			got := decompose(t, isa, x, len(names), m, n)
			for i, name := range names {
				alone := decompose(t, isa, x[i*m*n:(i+1)*m*n], 1, m, n)
				for p, w := range want {
					size := len(w) / len(names)
					one := w[i*size : (i+1)*size]
					if !sameBits(got[p][i*size:(i+1)*size], one) || !sameBits(alone[p], one) {
						t.Errorf("%v, shape %v, %s: part %d is %v, alone %v, want %v", isa, s, name, p, got[p][i*size:(i+1)*size], alone[p], one)
					}
				}
			}
		}
	}
}

func sameBits(x, y []float64) bool {
	return slices.EqualFunc(x, y, func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) })
}

// TestJacobiResiduals holds products of the parts against the matrices, and vectors against orthogonality.
func TestJacobiResiduals(t *testing.T) {
	for _, s := range [][2]int{{1, 1}, {2, 2}, {5, 5}, {8, 8}, {16, 8}, {3, 7}} {
		m, n := s[0], s[1]
		k := min(m, n)
		names, all := jacobiZoo(m, n)
		parts := decompose(t, jit.ISAs()[len(jit.ISAs())-1], all, len(names), m, n)
		for i, name := range names {
			of := func(p int) []float64 {
				size := len(parts[p]) / len(names)
				return parts[p][i*size : (i+1)*size]
			}
			a := all[i*m*n : (i+1)*m*n]
			what := fmt.Sprintf("shape %v, %s", s, name)
			u, vh := of(0), of(2)
			checkProduct(t, what, a, m, n, k, u, of(1), func(p, j int) float64 { return vh[p*n+j] })
			checkOrthonormal(t, what+", u", m, k, func(i, j int) float64 { return u[i*k+j] })
			checkOrthonormal(t, what+", vh", n, k, func(i, j int) float64 { return vh[j*n+i] })
			if !slices.IsSortedFunc(of(1), func(a, b float64) int { return -cmp.Compare[float64](a, b) }) || !sameBits(of(1), of(3)) {
				t.Errorf("%s: singular values %v, alone %v", what, of(1), of(3))
			}
			if m == n {
				v := of(5)
				checkProduct(t, what+", eigenvalues", a, n, n, n, v, of(4), func(p, j int) float64 { return v[j*n+p] })
				checkOrthonormal(t, what+", eigenvectors", n, n, func(i, j int) float64 { return v[i*n+j] })
				if !slices.IsSortedFunc(of(4), cmp.Compare[float64]) || !sameBits(of(4), of(6)) {
					t.Errorf("%s: eigenvalues %v, alone %v", what, of(4), of(6))
				}
			}
		}
	}
}

const roundoff = 0x1p-53

func checkProduct(t *testing.T, what string, a []float64, m, n, k int, u, s []float64, vh func(p, j int) float64) {
	most := 1e-320
	for _, x := range a {
		most = max(most, math.Abs(x))
	}
	for i := range m {
		for j := range n {
			sum := 0.0
			for p := range k {
				sum += u[i*k+p] * (s[p] / most) * vh(p, j)
			}
			if d := math.Abs(sum - a[i*n+j]/most); !(d <= 6*float64(m+n)*roundoff) && most > 1e-310 {
				t.Errorf("%s: element (%d, %d) of the product differs by %.3g", what, i, j, d)
			}
		}
	}
}

func checkOrthonormal(t *testing.T, what string, rows, cols int, at func(i, j int) float64) {
	for p := range cols {
		for q := range cols {
			sum := 0.0
			if p == q {
				sum = -1
			}
			for i := range rows {
				sum += at(i, p) * at(i, q)
			}
			if !(math.Abs(sum) <= 4*float64(rows+4)*roundoff) {
				t.Errorf("%s: columns %d and %d have the product %.3g", what, p, q, sum)
			}
		}
	}
}
