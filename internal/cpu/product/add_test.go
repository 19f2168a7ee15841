package product

import (
	"math/rand/v2"
	"testing"

	"weft/internal/cpu/cputest"
	"weft/internal/cpu/tile"
	"weft/internal/jit"
	"weft/internal/numbers"
)

// TestProductAdds demands that a product with Add adds each block of terms to C, with the bits of a product of the
// block alone.
func TestProductAdds(t *testing.T) {
	cputest.EveryISA(t, func(t *testing.T, isa jit.ISA) {
		testAdds[float32](t)
		testAdds[float64](t)
	})
}

func testAdds[E tile.Element](t *testing.T) {
	r := rand.New(rand.NewPCG(9, 4))
	d := cputest.DtypeOf[E]()
	for i, s := range [][3]int{{1, 1, 1}, {1, 40, 7}, {40, 1, 7}, {3, 70, 300}, {70, 3, 300}, {33, 65, 16}, {5, 3, 4100}, {150, 100, 64}, {20, 30, 0}, {1, 300, 1111}} {
		m, n, k := s[0], s[1], s[2]
		for lc := range 4 {
			a, b := newTestMat[E](r, (i+lc)%len(layouts), m, k), newTestMat[E](r, (i+2*lc)%len(layouts), k, n)
			c := newTestMat[E](r, lc, m, n)
			want, block := c.clone(), newTestMat[E](r, 0, m, n)
			p := Product{ISA: cputest.UnderTest, DType: d, M: m, N: n, A: a.mat(), B: b.mat(), Threads: 1 + lc%2}
			for p0 := 0; p0 < k; p0 += numbers.KBlock {
				q := p
				q.K, q.C = min(numbers.KBlock, k-p0), block.mat()
				q.A, q.B = p.A.Offset(p0*a.col, d.Size()), p.B.Offset(p0*b.row, d.Size())
				q.Run()
				for i := range m {
					for j := range n {
						*want.at(i, j) += *block.at(i, j)
					}
				}
			}
			p.K, p.C, p.Add = k, c.mat(), true
			p.Run()
			for at, v := range want.data {
				if c.data[at] != v {
					t.Fatalf("%dx%dx%d, layout %s of C: element %d is %v, not %v", m, k, n, layouts[lc].name, at, c.data[at], v)
				}
			}
		}
	}
}
