package optest

import (
	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// place resolves index i into an axis of the given size; a negative i counts from the back.
func place(i int64, size int) int {
	if i < 0 {
		i += int64(size)
	}
	return int(i)
}

func init() {
	references["index_select"] = func(x []*Array, a ir.Attrs) Result {
		shape := append([]int(nil), x[0].Shape...)
		axis := int(a.(op.Axis))
		shape[axis] = x[1].Size()
		return pick(x[0], shape, func(idx []int) []int {
			idx[axis] = place(x[1].I[idx[axis]], x[0].Shape[axis])
			return idx
		})
	}
	references["gather"] = func(x []*Array, a ir.Attrs) Result {
		return pick(x[0], x[1].Shape, func(idx []int) []int {
			axis := a.(op.Axis)
			idx[axis] = place(x[1].I[flat(x[1].Shape, idx)], x[0].Shape[axis])
			return idx
		})
	}
	// Sums of few elements, added in row-major order, so exact to the bit.
	sums := func(x, base *Array, shape []int, to func(idx []int) int, axis int) Result {
		out := New(computed(x.DType), shape)
		if base != nil {
			copy(out.F, base.F)
			copy(out.I, base.I)
		}
		for i := range x.Size() {
			idx := index(x.Shape, i)
			idx[axis] = to(idx)
			k := flat(shape, idx)
			if x.F != nil {
				out.set(k, out.F[k]+x.F[i], 0)
			} else {
				v := out.I[k] + x.I[i]
				if x.DType == array.Bool {
					v = min(v, 1)
				}
				out.set(k, 0, v)
			}
		}
		return Result{Array: convert(out, x.DType), Exact: true}
	}
	references["index_add"] = func(x []*Array, a ir.Attrs) Result {
		to := a.(op.Target)
		var base *Array
		if len(x) == 3 {
			base = x[2]
		}
		return sums(x[0], base, to.Shape, func(idx []int) int { return place(x[1].I[idx[to.Axis]], to.Shape[to.Axis]) }, to.Axis)
	}
	references["scatter_sum"] = func(x []*Array, a ir.Attrs) Result {
		to := a.(op.Target)
		return sums(x[0], nil, to.Shape, func(idx []int) int { return place(x[1].I[flat(x[1].Shape, idx)], to.Shape[to.Axis]) }, to.Axis)
	}
	references["scatter_add"] = func(x []*Array, a ir.Attrs) Result {
		sum := references["scatter_sum"](x[:2], op.Target{Axis: int(a.(op.Axis)), Shape: x[2].Shape})
		return references["add"]([]*Array{x[2], sum.Array}, nil)
	}
	references["ravel_index"] = func(x []*Array, a ir.Attrs) Result {
		sizes := a.(op.Raveling).Sizes
		out := New(array.Int64, shapeOf(x))
		for i := range out.Size() {
			idx := make([]int, len(x))
			for k, y := range x {
				idx[k] = place(broadcast(y, out.Shape).I[i], sizes[k])
			}
			out.I[i] = int64(flat(sizes, idx))
		}
		return Result{Array: out, Exact: true}
	}
	// written is base with what f makes of its element and one of x at to(idx).
	written := func(x, base *Array, to func(idx []int) []int, f func(out *Array, k, i int)) Result {
		out := New(base.DType, base.Shape)
		for i := range out.Size() {
			out.put(i, base, i)
		}
		for i := range x.Size() {
			f(out, flat(base.Shape, to(index(x.Shape, i))), i)
		}
		return Result{Array: out, Exact: true}
	}
	references["index_copy"] = func(x []*Array, a ir.Attrs) Result {
		axis := a.(op.Axis)
		return written(x[0], x[2], func(idx []int) []int {
			idx[axis] = place(x[1].I[idx[axis]], x[2].Shape[axis])
			return idx
		}, func(out *Array, k, i int) { out.put(k, x[0], i) })
	}
	along := func(x []*Array, axis int) func(idx []int) []int {
		return func(idx []int) []int {
			idx[axis] = place(x[1].I[flat(x[1].Shape, idx)], x[2].Shape[axis])
			return idx
		}
	}
	references["scatter"] = func(x []*Array, a ir.Attrs) Result {
		return written(x[0], x[2], along(x, int(a.(op.Axis))), func(out *Array, k, i int) { out.put(k, x[0], i) })
	}
	// combined combines the elements that go to a place with its element, or with each other if it is Alone.
	combined := func(floats func(d array.DType, a, b float64) float64, ints func(d array.DType, a, b int64) int64) reference {
		return func(x []*Array, a ir.Attrs) Result {
			e := a.(op.Extreme)
			taken := map[int]bool{}
			return written(x[0], x[2], along(x, e.Axis), func(out *Array, k, i int) {
				switch first := e.Alone && !taken[k]; {
				case first:
					out.put(k, x[0], i)
				case x[0].F != nil:
					out.F[k] = floats(out.DType, out.F[k], x[0].F[i])
				default:
					out.I[k] = ints(out.DType, out.I[k], x[0].I[i])
				}
				taken[k] = true
			})
		}
	}
	extreme := func(sign float64) reference {
		return combined(func(_ array.DType, a, b float64) float64 {
			if b != b || sign*b > sign*a {
				return b
			}
			return a
		}, func(d array.DType, a, b int64) int64 {
			if (sign > 0) == (compareInts(d, b, a) > 0) {
				return b
			}
			return a
		})
	}
	references["scatter_min"], references["scatter_max"] = extreme(-1), extreme(1)
	references["scatter_prod"] = combined(func(d array.DType, a, b float64) float64 { return roundTo(d, a*b) }, func(d array.DType, a, b int64) int64 { return wrapTo(d, a*b) })
	references["mask_select"] = func(x []*Array, a ir.Attrs) Result {
		n := int(a.(op.Count))
		out := New(x[0].DType, []int{n})
		k := 0
		for i, m := range x[1].I {
			if m != 0 && k == n {
				panic(refusal{})
			}
			if m != 0 {
				if x[0].F != nil {
					out.F[k] = x[0].F[i]
				} else {
					out.I[k] = x[0].I[i]
				}
				k++
			}
		}
		if k != n {
			panic(refusal{})
		}
		return Result{Array: out, Exact: true}
	}
	references["mask_place"] = func(x []*Array, _ ir.Attrs) Result {
		out := New(x[0].DType, x[1].Shape)
		k := 0
		for i, m := range x[1].I {
			switch {
			case m == 0:
				continue
			case k == x[0].Size():
				panic(refusal{})
			case x[0].F != nil:
				out.F[i] = x[0].F[k]
			default:
				out.I[i] = x[0].I[k]
			}
			k++
		}
		if k != x[0].Size() {
			panic(refusal{})
		}
		return Result{Array: out, Exact: true}
	}
	references["count_true"] = func(x []*Array, _ ir.Attrs) Result {
		out := New(array.Int64, []int{})
		for _, m := range x[0].I {
			out.I[0] += m
		}
		return Result{Array: out, Exact: true}
	}
	references["nonzero"] = func(x []*Array, a ir.Attrs) Result {
		count := int(a.(op.Count))
		out := New(array.Int64, []int{count})
		k := 0
		for i, m := range x[0].I {
			if m != 0 {
				if k == count {
					panic(refusal{})
				}
				out.I[k] = int64(i)
				k++
			}
		}
		if k != count {
			panic(refusal{})
		}
		return Result{Array: out, Exact: true}
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
