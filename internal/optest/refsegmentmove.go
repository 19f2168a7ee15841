package optest

import (
	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

func init() {
	references["segment_pad"] = func(x []*Array, a ir.Attrs) Result {
		n, row := int(a.(op.PadTo)), array.Size(x[0].Shape[1:])
		out := New(x[0].DType, append([]int{x[2].Size() - 1, n}, x[0].Shape[1:]...))
		for i := range out.Size() {
			out.put(i, x[1], 0)
		}
		itemsOf(x[0].Shape, x[2], func(item, j int, at []int) {
			for k, from := range at[:min(len(at), n)] {
				out.put((item*n+k)*row+j, x[0], from)
			}
		})
		return Result{Array: out, Exact: true}
	}
	references["segment_unpad"] = func(x []*Array, a ir.Attrs) Result {
		n, row := x[0].Shape[1], array.Size(x[0].Shape[2:])
		out := New(x[0].DType, append([]int{int(a.(op.Rows))}, x[0].Shape[2:]...))
		itemsOf(out.Shape, x[1], func(item, j int, at []int) {
			for k, to := range at[:min(len(at), n)] {
				out.put(to, x[0], (item*n+k)*row+j)
			}
		})
		return Result{Array: out, Exact: true}
	}
	references["segment_take"] = func(x []*Array, a ir.Attrs) Result {
		out := New(x[0].DType, append([]int{int(a.(op.Rows))}, x[0].Shape[1:]...))
		row := array.Size(out.Shape[1:])
		itemsOf(out.Shape, x[2], func(item, j int, at []int) {
			for k, to := range at {
				if from := int(x[1].I[item]) + k; from >= 0 && from < x[0].Shape[0] {
					out.put(to, x[0], from*row+j)
				}
			}
		})
		return Result{Array: out, Exact: true}
	}
	several["segment_sort"] = func(x []*Array, a ir.Attrs) []Result {
		values, places := New(x[0].DType, x[0].Shape), New(array.Int64, x[0].Shape)
		itemsOf(x[0].Shape, x[1], func(_, _ int, at []int) {
			y := several["sort"]([]*Array{column(x[0], at)}, op.Sorting{Descending: a.(op.ItemOrder).Descending})
			for k, to := range at {
				values.put(to, y[0].Array, k)
				places.put(to, y[1].Array, k)
			}
		})
		return []Result{{Array: values, Exact: true}, {Array: places, Exact: true}}
	}
}
