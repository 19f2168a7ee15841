package optest

import (
	"weft/internal/array"
	"weft/internal/ir"
)

func init() {
	references["index_select"] = func(x []*Array, a ir.Attrs) Result {
		shape := append([]int(nil), x[0].Shape...)
		shape[a.Int] = x[1].Size()
		return pick(x[0], shape, func(idx []int) []int {
			idx[a.Int] = int(x[1].I[idx[a.Int]])
			return idx
		})
	}
	references["gather"] = func(x []*Array, a ir.Attrs) Result {
		return pick(x[0], x[1].Shape, func(idx []int) []int {
			idx[a.Int] = int(x[1].I[flat(x[1].Shape, idx)])
			return idx
		})
	}
	// Sums of few elements, added in row-major order, so exact to the bit.
	sums := func(x *Array, shape []int, to func(idx []int) int, axis int) Result {
		out := New(x.DType, shape)
		for i := range x.Size() {
			idx := index(x.Shape, i)
			idx[axis] = to(idx)
			k := flat(shape, idx)
			if x.F != nil {
				out.set(k, out.F[k]+x.F[i], 0)
			} else {
				out.set(k, 0, out.I[k]+x.I[i])
			}
		}
		return Result{Array: out, Exact: true}
	}
	references["index_add"] = func(x []*Array, a ir.Attrs) Result {
		shape := append([]int(nil), x[0].Shape...)
		shape[a.Int] = a.Ints[0]
		return sums(x[0], shape, func(idx []int) int { return int(x[1].I[idx[a.Int]]) }, a.Int)
	}
	references["scatter_add"] = func(x []*Array, a ir.Attrs) Result {
		return sums(x[0], a.Ints, func(idx []int) int { return int(x[1].I[flat(x[1].Shape, idx)]) }, a.Int)
	}
	references["cross_entropy"] = func(x []*Array, _ ir.Attrs) Result {
		n, c := x[0].Shape[0], x[0].Shape[1]
		d := x[0].DType
		var sum, bound float64
		for i := range n {
			row := x[0].F[i*c : (i+1)*c]
			y, b := plainLogSumExp(row, eps(d))
			y -= row[x[1].I[i]]
			sum += y
			bound += b + eps(d)*(8+4*y)
		}
		out := New(array.DType(d), []int{})
		out.F[0] = sum / float64(n)
		return Result{Array: out, Bound: []float64{bound}}
	}
}
