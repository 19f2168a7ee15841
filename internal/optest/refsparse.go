package optest

import (
	"math"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// References of products with sparse matrices, by entry in float64. The bound is that of a sum.

func init() {
	// entriesOf calls f for each entry of a sparse matrix.
	entriesOf := func(indices, off *Array, f func(row, entry, col int)) {
		for row := range len(off.I) - 1 {
			for k := off.I[row]; k < off.I[row+1]; k++ {
				f(row, int(k), int(indices.I[k]))
			}
		}
	}
	floats := func(x, y *Array) {
		if !x.DType.Float() || x.DType != y.DType {
			panic(refusal{})
		}
	}
	// sums adds products a*b to an element; finish gives the result.
	type sums struct {
		y     *Array
		sizes []float64 // sums of magnitudes
		terms []int
	}
	begin := func(d array.DType, shape []int) *sums {
		y := New(d, shape)
		return &sums{y, make([]float64, y.Size()), make([]int, y.Size())}
	}
	add := func(s *sums, at int, a, b float64) {
		s.y.F[at] += a * b
		s.sizes[at] += math.Abs(a * b)
		s.terms[at]++
	}
	finish := func(s *sums) Result {
		bound := make([]float64, len(s.sizes))
		for i, v := range s.y.F {
			bound[i] = float64(s.terms[i]+1) * s.sizes[i] * eps(computed(s.y.DType))
			s.y.F[i] = roundTo(s.y.DType, v)
		}
		return Result{Array: s.y, Bound: bound}
	}
	references["sparse_matmul"] = func(x []*Array, attrs ir.Attrs) Result {
		floats(x[0], x[2])
		a, _ := attrs.(op.SparseProduct)
		shape := append([]int{len(x[3].I) - 1}, x[2].Shape[1:]...)
		if a.Transposed {
			shape[0] = a.Rows
		}
		s, w := begin(x[2].DType, shape), array.Size(shape[1:])
		entriesOf(x[1], x[3], func(row, k, col int) {
			if a.Transposed {
				row, col = col, row
			}
			for j := range w {
				add(s, row*w+j, x[0].F[k], x[2].F[col*w+j])
			}
		})
		return finish(s)
	}
	references["sparse_sampled"] = func(x []*Array, _ ir.Attrs) Result {
		floats(x[0], x[2])
		s, w := begin(x[0].DType, x[1].Shape), array.Size(x[0].Shape[1:])
		entriesOf(x[1], x[3], func(row, k, col int) {
			for j := range w {
				add(s, k, x[0].F[row*w+j], x[2].F[col*w+j])
			}
		})
		return finish(s)
	}
}
