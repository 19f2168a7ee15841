package optest

import (
	"math"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// limit is the least or greatest element of a type.
func limit(d array.DType, greatest bool) (f float64, i int64) {
	bits := 8 * d.Size()
	switch {
	case d.Float() && greatest:
		return math.Inf(1), 0
	case d.Float():
		return math.Inf(-1), 0
	case d == array.Bool, d.Unsigned() && !greatest:
		return 0, truthInt(greatest)
	case d.Unsigned():
		return 0, int64(^uint64(0) >> (64 - bits))
	case greatest:
		return 0, math.MaxInt64 >> (64 - bits)
	}
	return 0, math.MinInt64 >> (64 - bits)
}

// itemsOf calls f for each item and column of a list with the positions of its elements.
func itemsOf(shape []int, offsets *Array, f func(item, column int, at []int)) {
	row := array.Size(shape[1:])
	for i := range offsets.Size() - 1 {
		for j := range row {
			var at []int
			for r := offsets.I[i]; r < offsets.I[i+1]; r++ {
				at = append(at, int(r)*row+j)
			}
			f(i, j, at)
		}
	}
}

// column is elements of x as an array of one dimension.
func column(x *Array, at []int) *Array {
	y := New(x.DType, []int{len(at)})
	for i, j := range at {
		y.put(i, x, j)
	}
	return y
}

// anItem is a reduction of each item, by the reference of that of an array; of none, what
// none gives.
func anItem(name string, none func(x *Array) Result) reference {
	return func(x []*Array, _ ir.Attrs) Result {
		shape := append([]int{x[1].Size() - 1}, x[0].Shape[1:]...)
		of := func(y *Array) Result {
			if y.Size() == 0 && none != nil {
				return none(x[0])
			}
			return references[name]([]*Array{y}, op.Reduction{Axes: []int{0}})
		}
		probe := of(New(x[0].DType, []int{1})) // a type that is refused
		all := Result{Array: New(probe.DType, shape), Exact: probe.Exact, Bound: make([]float64, array.Size(shape))}
		row := array.Size(x[0].Shape[1:])
		itemsOf(x[0].Shape, x[1], func(item, j int, at []int) {
			y := of(column(x[0], at))
			all.put(item*row+j, y.Array, 0)
			if y.Bound != nil {
				// Rows of several elements are added in order.
				all.Bound[item*row+j] = y.Bound[0] * (1 + float64(len(at))/depth(len(at)))
			}
		})
		return all
	}
}

// eachItem gives each element one of an array that is made of its item.
func eachItem(name string) reference {
	return func(x []*Array, _ ir.Attrs) Result {
		if x[0].F == nil {
			panic(refusal{})
		}
		all := Result{Array: New(x[0].DType, x[0].Shape), Bound: make([]float64, x[0].Size())}
		itemsOf(x[0].Shape, x[1], func(_, _ int, at []int) {
			y := references[name]([]*Array{column(x[0], at)}, op.Reduction{Axes: []int{0}})
			for k, j := range at {
				all.F[j] = y.F[k]
				all.Bound[j] = y.Bound[k] * (1 + float64(len(at))/depth(len(at)))
			}
		})
		return all
	}
}

func init() {
	none := func(greatest bool) func(x *Array) Result {
		return func(x *Array) Result {
			y := New(x.DType, []int{})
			f, i := limit(x.DType, greatest)
			y.set(0, f, i)
			return Result{Array: y, Exact: true}
		}
	}
	number := func(v float64) func(x *Array) Result {
		return func(x *Array) Result {
			if x.F == nil {
				panic(refusal{})
			}
			y := New(x.DType, []int{})
			y.set(0, v, 0)
			return Result{Array: y, Bound: []float64{0}}
		}
	}
	for name, f := range map[string]reference{
		"sum": anItem("sum", nil), "prod": anItem("prod", nil), "min": anItem("min", none(true)), "max": anItem("max", none(false)),
		"mean": anItem("mean", number(math.NaN())), "logsumexp": anItem("logsumexp", number(math.Inf(-1))),
		"softmax": eachItem("softmax"), "log_softmax": eachItem("log_softmax"),
	} {
		references["segment_"+name] = f
	}
	for _, name := range []string{"min", "max", "all", "any"} {
		f := references["segment_"+name]
		if f == nil {
			f = anItem(name, nil)
		}
		references["segment_reduce_"+name] = f
	}
	// Sums and products of integers keep the type.
	for _, name := range []string{"sum", "prod"} {
		f := references["segment_"+name]
		references["segment_reduce_"+name] = func(x []*Array, a ir.Attrs) Result {
			r := f(x, a)
			if x[0].F == nil {
				r.Array = convert(r.Array, x[0].DType)
			}
			return r
		}
	}
	references["segment_expand"] = func(x []*Array, a ir.Attrs) Result {
		shape := append([]int{int(a.(op.Rows))}, x[0].Shape[1:]...)
		out := New(x[0].DType, shape)
		row := array.Size(shape[1:])
		itemsOf(shape, x[1], func(item, j int, at []int) {
			for _, k := range at {
				out.put(k, x[0], item*row+j)
			}
		})
		return Result{Array: out, Exact: true}
	}
	arg := func(name string) reference {
		return func(x []*Array, _ ir.Attrs) Result {
			shape := append([]int{x[1].Size() - 1}, x[0].Shape[1:]...)
			out := New(array.Int64, shape)
			row := array.Size(shape[1:])
			itemsOf(x[0].Shape, x[1], func(item, j int, at []int) {
				out.I[item*row+j] = -1
				if len(at) > 0 {
					out.I[item*row+j] = references[name]([]*Array{column(x[0], at)}, op.Reduction{Axes: []int{0}}).I[0]
				}
			})
			return Result{Array: out, Exact: true}
		}
	}
	references["segment_argmin"], references["segment_argmax"] = arg("argmin"), arg("argmax")
}
